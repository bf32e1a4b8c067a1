//! The snapshot of Riany, Shavit and Touitou from LL/SC: every entry has a high and a low value, told apart by the sequence
//! number of the scan that may see them, and all help to fill the view of the scanner whose turn it is.
//!
//! A version of a view, and the turn, are only compared with an earlier copy, so it is enough to know who holds a current
//! copy: exact, and finite. Sequence numbers grow with the scans, so the operations have to be bounded. One set of links
//! serves a whole view, so storing one of its registers breaks the links on the others.

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

/// Bits of sequence numbers.
const SEQ_WIDTH: u32 = 6;

/// Registers; links are the processes whose next store-conditional would succeed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    high: u16,
    low: u16,
    high_seq: [u8; MOST_PROCESSES],
    seq: u8,
    seq_links: u16,
    /// Whose turn it is, and whether its view is being filled.
    turn: u8,
    fills: bool,
    /// Whose copy of the turn is current, which is to say linked.
    turn_links: u16,
    /// The view that each process proposes: none, its first or its second.
    proposed: [u8; MOST_PROCESSES],
    proposed_links: [u16; MOST_PROCESSES],
    /// Each process has two views. Sequence number 0 is none.
    view_seq: [u8; VIEWS],
    regs: [u16; VIEWS],
    filled: [u16; VIEWS],
    view_links: [u16; VIEWS],
    /// The view of whose version each process has a current copy, plus one.
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

/// Variables. `second_view` tells the own view that was used last, and stays from scan to scan.
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
    fn own_view(p: usize, my: &Local) -> usize {
        2 * p + usize::from(my.second_view)
    }

    /// Once more round the loop of a scan; links are made anew.
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
            // Only the planted mistake ever returns it again.
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

    /// One more view was filled.
    fn count(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
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

impl Algorithm for Riany {
    type Op = Request;
    type Ret = Answer;
    type Shared = Shared;
    type Local = Local;

    fn processes(&self) -> usize {
        self.form.processes
    }

    fn shared(&self) -> Shared {
        Shared::default()
    }

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (At::ReadSeq, value),
            Request::Scan => my.at = At::CheckOwn,
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let bit = 1u16 << p;
        let n = self.form.processes as u8;
        let (turn, view) = (usize::from(my.turn), usize::from(my.view));
        let is_same_view = shared.copied[p] == my.view + 1;
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
            // filling a view
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
            At::SameForSeq | At::SameForCurr | At::SameForReg if !is_same_view => {
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
                    (my.at, my.entry) = (At::High, self.form.first_entry());
                }
            }
            At::SameForCurr => my.at = At::SetSeq,
            At::SetSeq => {
                if shared.seq_links & bit != 0 {
                    shared.seq = my.s;
                    shared.seq_links = 0;
                }
                (my.at, my.entry) = (At::High, self.form.first_entry());
            }
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
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        let Local {
            turn, view, entry, ..
        } = my;
        match my.at {
            At::Idle => String::new(),
            At::ReadSeq => "s := curr_seq".into(),
            At::MoveLow => format!("memory[{p}].low := high"),
            At::SetHigh => format!("memory[{p}].high := ({}, {})", u8::from(my.value), my.s),
            At::CheckOwn => format!("read A[{p}]"),
            At::ReadTurn => "ix := curr_index".into(),
            At::Init => format!("init views[{}]", 2 * p + usize::from(!my.second_view)),
            At::Propose => format!("A[{p}] := {}", 2 * p + usize::from(my.second_view)),
            At::LinkTurn => "ix := LL(curr_index)".into(),
            At::ReadProposed => format!("hv := A[{turn}]"),
            At::Advance => "SC(curr_index, advance)".into(),
            At::ReadNext => format!("read A[{}]", (usize::from(*turn) + 1) % self.form.processes),
            At::SetTurn => "SC(curr_index, next)".into(),
            At::Version => format!("ver := views[{view}].version"),
            At::SameTurn | At::SameTurnAgain => "test curr_index".into(),
            At::LinkViewSeq => format!("LL(views[{view}].sequence)"),
            At::SameForSeq | At::SameForCurr | At::SameForReg | At::SameForCopy => {
                format!("test views[{view}].version")
            }
            At::SetViewSeq => format!("SC(views[{view}].sequence, curr_seq + 1)"),
            At::ReadViewSeq => format!("s := views[{view}].sequence"),
            At::LinkSeq => "LL(curr_seq)".into(),
            At::SetSeq => format!("SC(curr_seq, {})", my.s),
            At::High => format!("h := memory[{entry}].high"),
            At::Low => format!("l := memory[{entry}].low"),
            At::LinkReg => format!("LL(views[{view}].regs[{entry}])"),
            At::SetReg => format!("SC(views[{view}].regs[{entry}])"),
            At::LinkProposed => format!("LL(A[{turn}])"),
            At::Withdraw => format!("SC(A[{turn}], null)"),
            At::Copy => format!("result[{entry}] := views[{view}].regs[{entry}]"),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let proposed: Vec<String> = (0..self.form.processes)
            .map(|k| match shared.proposed[k] {
                0 => "-".into(),
                which => (2 * k + usize::from(which) - 1).to_string(),
            })
            .collect();
        let mut text = format!(
            "high={} low={} seq={} index={}{} A={}",
            self.form.show(shared.high),
            self.form.show(shared.low),
            shared.seq,
            shared.turn,
            if shared.fills { "f" } else { "a" },
            proposed.join(","),
        );
        for view in (0..2 * self.form.processes).filter(|&view| shared.view_seq[view] != 0) {
            let regs = self.form.show(shared.regs[view]);
            text += &format!(" views[{view}]={}/{regs}", shared.view_seq[view]);
        }
        text
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let (n, entries) = (self.form.processes, self.form.entries);
        bits.subset(&mut shared.high, entries);
        bits.subset(&mut shared.low, entries);
        bits.int(&mut shared.seq, SEQ_WIDTH);
        bits.set(&mut shared.seq_links, n as u32);
        bits.int(&mut shared.turn, width(n));
        bits.flag(&mut shared.fills);
        bits.set(&mut shared.turn_links, n as u32);
        for p in 0..n {
            if self.form.keeps(p) {
                bits.int(&mut shared.high_seq[p], SEQ_WIDTH);
            }
            bits.int(&mut shared.proposed[p], 2);
            bits.set(&mut shared.proposed_links[p], n as u32);
            bits.int(&mut shared.copied[p], width(2 * n + 1));
        }
        for view in 0..2 * n {
            bits.int(&mut shared.view_seq[view], SEQ_WIDTH);
            bits.subset(&mut shared.regs[view], entries);
            bits.subset(&mut shared.filled[view], entries);
            bits.set(&mut shared.view_links[view], n as u32);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.value);
        bits.int(&mut my.s, SEQ_WIDTH);
        bits.flag(&mut my.is_late);
        bits.flag(&mut my.second_view);
        bits.int(&mut my.helped, 2);
        bits.int(&mut my.turn, width(n));
        bits.flag(&mut my.fills);
        bits.int(&mut my.view, width(2 * n));
        bits.int(&mut my.entry, width(n));
        bits.flag(&mut my.high);
        bits.int(&mut my.high_seq, SEQ_WIDTH);
        bits.flag(&mut my.low);
        bits.subset(&mut my.result, self.form.entries);
    }
}

impl Riany {
    fn next_register(&self, my: &mut Local) {
        (my.high, my.high_seq, my.low) = (false, 0, false);
        my.entry = self.form.entry_from(my.entry + 1);
        my.at = At::High;
        if self.form.is_past(my.entry) {
            (my.at, my.entry) = (At::LinkProposed, 0);
        }
    }
}

impl SnapshotAlgorithm for Riany {
    const NAME: &'static str = "riany";
    const SOURCE: &'static str = "Riany, Shavit, Touitou 2001";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        (
            "planted",
            "whoever helped to fill two views returns an old result instead of the second view",
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
}
