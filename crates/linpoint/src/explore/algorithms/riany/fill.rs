//! The steps of a scan that fill the view of the scanner whose turn it is.

use super::{At, Local, Riany, Shared};
use crate::explore::Step;
use crate::explore::snapshot::{Answer, copy, put};

impl Riany {
    /// The next step of process `p`, which has found a view to fill: agrees on the sequence number of the view.
    pub(super) fn help(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let bit = 1u16 << p;
        let view = usize::from(my.view);
        let is_same_view = shared.copied[p] == my.view + 1;
        match my.at {
            At::Version => {
                shared.copied[p] = my.view + 1;
                my.at = At::SameTurn;
            }
            At::SameTurn if shared.turn_links & bit == 0 => return self.again(p, shared, my),
            At::SameTurn => my.at = At::LinkViewSeq,
            At::LinkViewSeq => {
                shared.view_links[view] |= bit;
                let is_none = shared.view_seq[view] == 0;
                my.at = if is_none {
                    At::SameForSeq
                } else {
                    At::ReadViewSeq
                };
            }
            At::SameForSeq | At::SameForCurr if !is_same_view => {
                return self.again(p, shared, my);
            }
            At::SameForSeq => my.at = At::SetViewSeq,
            At::SetViewSeq => {
                if shared.view_links[view] & bit != 0 {
                    shared.view_seq[view] = shared.seq + 1;
                    shared.view_links[view] = 0;
                }
                my.at = At::ReadViewSeq;
            }
            At::ReadViewSeq => {
                my.s = shared.view_seq[view];
                my.at = At::LinkSeq;
            }
            At::LinkSeq => {
                if shared.seq + 1 == my.s {
                    shared.seq_links |= bit;
                    my.at = At::SameForCurr;
                } else {
                    self.fill(my);
                }
            }
            At::SameForCurr => my.at = At::SetSeq,
            At::SetSeq => {
                if shared.seq_links & bit != 0 {
                    shared.seq = my.s;
                    shared.seq_links = 0;
                }
                self.fill(my);
            }
            _ => return self.fill_step(p, shared, my),
        }
        Step::Go
    }

    /// The next step of process `p`, which fills a view, ends the turn, or copies the view.
    #[inline]
    fn fill_step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let bit = 1u16 << p;
        let (turn, view) = (usize::from(my.turn), usize::from(my.view));
        let is_same_view = shared.copied[p] == my.view + 1;
        match my.at {
            At::SameForReg if !is_same_view => return self.again(p, shared, my),
            At::High => {
                my.high = shared.high >> my.entry & 1 != 0;
                my.high_seq = shared.high_seq[usize::from(my.entry)];
                my.at = At::Low;
            }
            At::Low => {
                my.low = shared.low >> my.entry & 1 != 0;
                my.at = At::LinkReg;
            }
            At::LinkReg => {
                shared.view_links[view] |= bit;
                if shared.filled[view] >> my.entry & 1 == 0 {
                    my.at = At::SameForReg;
                } else {
                    self.next_register(my);
                }
            }
            At::SameForReg => my.at = At::SetReg,
            At::SetReg => {
                if shared.view_links[view] & bit != 0 {
                    let value = if my.high_seq < my.s { my.high } else { my.low };
                    put(&mut shared.regs[view], usize::from(my.entry), value);
                    shared.filled[view] |= 1 << my.entry;
                    shared.view_links[view] = 0;
                }
                self.next_register(my);
            }
            At::LinkProposed => {
                shared.proposed_links[turn] |= bit;
                if 2 * my.turn + shared.proposed[turn] != my.view + 1 {
                    return self.count(p, shared, my);
                }
                my.at = At::SameTurnAgain;
            }
            At::SameTurnAgain if shared.turn_links & bit == 0 => {
                return self.count(p, shared, my);
            }
            At::SameTurnAgain => my.at = At::Withdraw,
            At::Withdraw => {
                if shared.proposed_links[turn] & bit != 0 {
                    shared.proposed[turn] = 0;
                    shared.proposed_links[turn] = 0;
                }
                return self.count(p, shared, my);
            }
            At::Copy => {
                copy(shared.regs[view], my.entry, &mut my.result);
                my.entry = self.form.entry_from(my.entry + 1);
                if self.form.is_past(my.entry) {
                    (my.at, my.entry) = (At::SameForCopy, 0);
                }
            }
            At::SameForCopy if is_same_view && my.helped == 2 => {
                return self.done(p, shared, my, Answer::View(my.result));
            }
            At::SameForCopy => return self.again(p, shared, my),
            _ => unreachable!("there is no view to fill"),
        }
        Step::Go
    }

    /// Begins to fill the registers of a view.
    pub(super) fn fill(&self, my: &mut Local) {
        (my.at, my.entry) = (At::High, self.form.first_entry());
    }

    pub(super) fn next_register(&self, my: &mut Local) {
        (my.high, my.high_seq, my.low) = (false, 0, false);
        my.entry = self.form.entry_from(my.entry + 1);
        my.at = At::High;
        if self.form.is_past(my.entry) {
            (my.at, my.entry) = (At::LinkProposed, 0);
        }
    }

    /// Counts one more view that this scan helped to fill.
    pub(super) fn count(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        my.helped = (my.helped + 1).min(3);
        if my.helped < 2 {
            return self.again(p, shared, my);
        }
        if self.planted && my.helped == 2 {
            return self.done(p, shared, my, Answer::View(my.result));
        }
        (my.at, my.entry) = (At::Copy, self.form.first_entry());
        Step::Go
    }
}
