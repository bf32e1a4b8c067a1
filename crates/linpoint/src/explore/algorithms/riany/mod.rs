//! The snapshot of Riany, Shavit and Touitou from LL/SC (2001): every entry has a high and a low value; the sequence number of
//! a scan decides which of them it returns. All scanners help to fill the view of the scanner whose turn it is.
//!
//! The version of a view, and the turn, are only compared with an earlier copy. So the model keeps instead which processes
//! hold a current copy: it can do exactly what the algorithm can, and is finite. Sequence numbers grow with the number of
//! scans, unless states are brought into normal form. A view has one set of links for all its registers, as in the models
//! that Amram, Hayoun, Mizrahi and Weiss published, so storing one of its registers breaks the links on the others.

mod fill;
mod normal;
mod show;

use crate::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Riany {
    form: Form,
    planted: bool,
    copies_two: bool,
}

const VIEWS: usize = 2 * MOST_PROCESSES;

/// The registers. A set of links holds the processes whose next store-conditional would succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    high: u16,
    low: u16,
    high_seq: [u8; MOST_PROCESSES],
    seq: u8,
    seq_links: u16,
    /// The process whose turn it is, and whether its view is being filled.
    turn: u8,
    fills: bool,
    /// The processes whose copy of the turn is current: those that are linked to it.
    turn_links: u16,
    /// The view that each process proposes: 0 for none, 1 for its first, 2 for its second.
    proposed: [u8; MOST_PROCESSES],
    proposed_links: [u16; MOST_PROCESSES],
    /// The sequence number of each view; 0 for none. Each process has two views.
    view_seq: [u8; VIEWS],
    regs: [u16; VIEWS],
    filled: [u16; VIEWS],
    view_links: [u16; VIEWS],
    /// For each process, one more than the view of whose version it has a current copy; 0 for none.
    copied: [u8; MOST_PROCESSES],
}

crate::places! {
    enum At {
        Idle, ReadSeq, MoveLow, SetHigh,
        CheckOwn, ReadTurn, Init, Propose, LinkTurn, ReadProposed, Advance, ReadNext, SetTurn,
        Version, SameTurn, LinkViewSeq, SameForSeq, SetViewSeq, ReadViewSeq, LinkSeq, SameForCurr, SetSeq,
        High, Low, LinkReg, SameForReg, SetReg, LinkProposed, SameTurnAgain, Withdraw, Copy, SameForCopy,
    }
}

/// Variables. `second_view` says which of its views a process used last, and keeps its value from scan to scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    value: bool,
    /// A sequence number: of the update, or of the view being filled.
    s: u8,
    is_late: bool,
    second_view: bool,
    helped: u8,
    turn: u8,
    fills: bool,
    view: u8,
    entry: u8,
    high: bool,
    high_seq: u8,
    low: bool,
    result: u16,
}

impl Riany {
    /// The number of bits of a sequence number. Each scan makes at most one, and with normal forms few are in use.
    fn seq_width(&self) -> u32 {
        let n = self.form.processes;
        match self.form.most_ops {
            Some(bound) => width(n * usize::from(bound) + 3),
            None => width(3 * n + 3).max(6),
        }
    }

    /// Whether no process scans often enough to use a view twice.
    fn uses_views_once(&self) -> bool {
        self.form.most_ops.is_some_and(|bound| bound <= 2)
    }

    fn own_view(p: usize, my: &Local) -> usize {
        2 * p + usize::from(my.second_view)
    }

    /// Starts the next round of the loop of a scan, without links.
    fn again(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        self.unlink(p, shared);
        *my = Local {
            at: At::CheckOwn,
            is_late: my.is_late,
            second_view: my.second_view,
            helped: my.helped,
            result: if self.planted { my.result } else { 0 },
            ..Local::default()
        };
        Step::Go
    }

    fn done(&self, p: usize, shared: &mut Shared, my: &mut Local, answer: Answer) -> Step<Answer> {
        self.unlink(p, shared);
        *my = Local {
            second_view: my.second_view,
            // Only the planted bug returns this result again.
            result: if self.planted { my.result } else { 0 },
            ..Local::default()
        };
        Step::Return(answer)
    }

    fn unlink(&self, p: usize, shared: &mut Shared) {
        let others = !(1 << p);
        shared.seq_links &= others;
        shared.turn_links &= others;
        for k in 0..self.form.processes {
            shared.proposed_links[k] &= others;
            shared.view_links[2 * k] &= others;
            shared.view_links[2 * k + 1] &= others;
        }
        shared.copied[p] = 0;
    }
}

impl Algorithm for Riany {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (At::ReadSeq, value),
            Request::Scan => my.at = At::CheckOwn,
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let bit = 1u16 << p;
        let n = self.form.processes as u8;
        let turn = usize::from(my.turn);
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(value)
            At::ReadSeq => {
                my.s = shared.seq;
                let moves = my.s != shared.high_seq[p];
                my.at = if moves { At::MoveLow } else { At::SetHigh };
            }
            At::MoveLow => {
                copy(shared.high, p as u8, &mut shared.low);
                my.at = At::SetHigh;
            }
            At::SetHigh => {
                if self.form.keeps(p) {
                    put(&mut shared.high, p, my.value);
                    shared.high_seq[p] = my.s;
                }
                return self.done(p, shared, my, Answer::Done);
            }
            // scan()
            At::CheckOwn => match (shared.proposed[p], my.is_late) {
                (0, true) => {
                    let mut view = shared.regs[Self::own_view(p, my)];
                    if self.copies_two {
                        view &= 0b11;
                    }
                    return self.done(p, shared, my, Answer::View(view));
                }
                (0, false) => my.at = At::ReadTurn,
                _ => my.at = At::LinkTurn,
            },
            At::ReadTurn => {
                let is_mine = usize::from(shared.turn) == p && shared.fills;
                my.at = if is_mine { At::LinkTurn } else { At::Init };
            }
            At::Init => {
                my.is_late = true;
                my.second_view = !my.second_view;
                let view = Self::own_view(p, my);
                shared.view_seq[view] = 0;
                shared.regs[view] = 0;
                shared.filled[view] = 0;
                shared.view_links[view] = 0;
                for copied in &mut shared.copied {
                    if usize::from(*copied) == view + 1 {
                        *copied = 0;
                    }
                }
                my.at = At::Propose;
            }
            At::Propose => {
                shared.proposed[p] = 1 + u8::from(my.second_view);
                shared.proposed_links[p] = 0;
                my.at = At::LinkTurn;
            }
            At::LinkTurn => {
                (my.turn, my.fills) = (shared.turn, shared.fills);
                shared.turn_links |= bit;
                my.at = At::ReadProposed;
            }
            At::ReadProposed => match (my.fills, shared.proposed[turn]) {
                (false, _) => my.at = At::ReadNext,
                (true, 0) => my.at = At::Advance,
                (true, which) => (my.at, my.view) = (At::Version, 2 * my.turn + which - 1),
            },
            At::Advance => {
                if shared.turn_links & bit != 0 {
                    shared.fills = false;
                    shared.turn_links = 0;
                }
                return self.again(p, shared, my);
            }
            At::ReadNext => {
                my.fills = shared.proposed[usize::from((my.turn + 1) % n)] != 0;
                my.at = At::SetTurn;
            }
            At::SetTurn => {
                if shared.turn_links & bit != 0 {
                    (shared.turn, shared.fills) = ((my.turn + 1) % n, my.fills);
                    shared.turn_links = 0;
                }
                return self.again(p, shared, my);
            }
            _ => return self.help(p, shared, my),
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        self.show_step(p, my)
    }

    fn registers(&self, shared: &Shared) -> String {
        self.show(shared)
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let (n, entries) = (self.form.processes, self.form.entries);
        bits.subset(&mut shared.high, entries);
        bits.subset(&mut shared.low, entries);
        bits.int(&mut shared.seq, self.seq_width());
        bits.set(&mut shared.seq_links, n as u32);
        bits.int(&mut shared.turn, width(n));
        bits.flag(&mut shared.fills);
        bits.set(&mut shared.turn_links, n as u32);
        for p in 0..n {
            if self.form.keeps(p) {
                bits.int(&mut shared.high_seq[p], self.seq_width());
            }
            bits.int(&mut shared.proposed[p], 2);
            bits.set(&mut shared.proposed_links[p], n as u32);
            bits.int(&mut shared.copied[p], width(2 * n + 1));
        }
        for view in 0..2 * n {
            bits.int(&mut shared.view_seq[view], self.seq_width());
            bits.subset(&mut shared.regs[view], entries);
            bits.subset(&mut shared.filled[view], entries);
            bits.set(&mut shared.view_links[view], n as u32);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.value);
        bits.int(&mut my.s, self.seq_width());
        bits.flag(&mut my.is_late);
        bits.flag(&mut my.second_view);
        bits.int(&mut my.helped, 2);
        bits.int(&mut my.turn, width(n));
        bits.flag(&mut my.fills);
        bits.int(&mut my.view, width(2 * n));
        bits.int(&mut my.entry, width(n));
        bits.flag(&mut my.high);
        bits.int(&mut my.high_seq, self.seq_width());
        bits.flag(&mut my.low);
        bits.subset(&mut my.result, self.form.entries);
    }

    /// A proposal that was withdrawn stays withdrawn, and a full view does not change. If views are used once, only its
    /// scanner accesses a view before it is proposed, and its version and number do not change afterwards.
    fn is_local(&self, p: usize, shared: &Shared, my: &Local) -> bool {
        let is_full = |view: usize| shared.filled[view] == self.form.entries;
        match my.at {
            At::CheckOwn => {
                shared.proposed[p] == 0 && (!my.is_late || is_full(Self::own_view(p, my)))
            }
            At::Init | At::Version | At::ReadViewSeq => self.uses_views_once(),
            At::SameForSeq | At::SameForCurr | At::SameForReg | At::SameForCopy => {
                self.uses_views_once()
            }
            At::Copy => self.uses_views_once() && is_full(my.view.into()),
            _ => false,
        }
    }

    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        self.forget(shared, locals);
    }
}

impl SnapshotAlgorithm for Riany {
    const NAME: &'static str = "riany";
    const SOURCE: &'static str = "Riany, Shavit, Touitou 2001";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        (
            "planted",
            "a scan that helped to fill two views returns an old result instead of the second view",
        ),
        (
            "copies-two",
            "a scan that finds its own view filled returns entries 0 and 1 of it only",
        ),
    ];
    const OTHERS_MATTER: bool = false;
    const UNBOUNDED: bool = true;

    fn new(form: Form, bug: Option<&str>) -> Self {
        Riany {
            form,
            planted: bug == Some("planted"),
            copies_two: bug == Some("copies-two"),
        }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
