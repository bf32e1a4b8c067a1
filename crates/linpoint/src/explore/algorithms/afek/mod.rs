//! The snapshots of Afek, Attiya, Dolev, Gafni, Merritt and Shavit (1993). A scanner reads all registers twice until none
//! changed in between, or until it noticed a second change of some process: then the scan inside that update lies within
//! its own scan, and it borrows its view. The two algorithms differ in how a change is noticed.

mod bounded;
mod normal;
mod unbounded;

pub use bounded::AfekBounded;
pub use unbounded::AfekUnbounded;

use crate::explore::snapshot::{Answer, Form, Request, copy};
use crate::explore::{Bits, Step, width};

crate::places! { enum At { Idle, Flip, Shake, First, Second, Decide, Write } }

/// Variables: whether the scan is part of an update, and its value; the next register; the values read; the registers that
/// differ in this round (`differs`), and those that did in an earlier one (`moved`); the view borrowed or to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    updates: bool,
    value: bool,
    j: u8,
    b: u16,
    differs: u16,
    moved: u16,
    borrowed: bool,
    view: u16,
    /// With handshakes only: the handshake bits that the update will write, and the toggles of the first collect.
    f: u16,
    a: u16,
}

/// When a scanner may borrow the view of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Borrow {
    /// At the first change that it notices: a mistake, since the view may be older than the scan.
    AfterOneChange,
    /// At the second change that it notices, as the algorithm says.
    AfterTwoChanges,
}

/// The registers before this one.
fn before(j: u8) -> u16 {
    (1 << j) - 1
}

impl Local {
    /// The variables of an operation that was just called; updates begin at the place `update`, scans at `scan`.
    fn called(op: &Request, update: At, scan: At) -> Local {
        let updates = *op != Request::Scan;
        Local {
            at: if updates { update } else { scan },
            updates,
            value: *op == Request::Update(true),
            ..Local::default()
        }
    }

    /// The registers whose handshake bits were copied in this round.
    fn shaken(&self) -> u16 {
        match self.at {
            At::Shake => before(self.j),
            At::First | At::Second => u16::MAX,
            _ => 0,
        }
    }

    /// The registers that were read in this round.
    fn read(&self) -> u16 {
        match self.at {
            At::First => before(self.j),
            At::Second => u16::MAX,
            _ => 0,
        }
    }

    /// The registers that were read twice in this round.
    fn read_twice(&self) -> u16 {
        match self.at {
            At::Second => before(self.j),
            At::Decide => u16::MAX,
            _ => 0,
        }
    }

    /// Goes to the next register, or after the last one to the place `then`.
    fn next_register(&mut self, form: &Form, then: At) {
        if form.is_last_register(&mut self.j) {
            self.at = then;
        }
    }

    /// Reads a register for the second time.
    fn read_again(&mut self, form: &Form, values: u16, view: u16, borrow: Borrow) {
        let bit = 1 << self.j;
        let may_borrow = borrow == Borrow::AfterOneChange || self.moved & bit != 0;
        if self.differs & bit != 0 && may_borrow && !self.borrowed {
            (self.borrowed, self.view) = (true, view);
        }
        if form.keeps(usize::from(self.j)) {
            copy(values, self.j, &mut self.b);
        }
        self.next_register(form, At::Decide);
    }

    /// Ends a scan, or begins the next round at the place `round`.
    fn decide(&mut self, round: At) -> Step<Answer> {
        let view = match (self.borrowed, self.differs) {
            (true, _) => self.view,
            (false, 0) => self.b,
            (false, _) => {
                self.go_round(round);
                return Step::Go;
            }
        };
        if self.updates {
            self.go_to_write(view);
            return Step::Go;
        }
        *self = Local::default();
        Step::Return(Answer::View(view))
    }

    fn go_round(&mut self, round: At) {
        self.moved |= self.differs;
        (self.at, self.j, self.b, self.differs) = (round, 0, 0, 0);
    }

    /// Ends the scan of an update with this view.
    fn go_to_write(&mut self, view: u16) {
        *self = Local {
            at: At::Write,
            updates: true,
            value: self.value,
            f: self.f,
            view,
            ..Local::default()
        };
    }

    /// Clears dead variables. Once a register differs, the values read in this round are dead; once a view is borrowed,
    /// everything else that the scan has read is dead.
    fn forget(&mut self, form: &Form) {
        if self.differs != 0 {
            self.b = 0;
            self.a &= !self.differs;
        }
        if self.borrowed && matches!(self.at, At::Second | At::Decide) {
            (self.moved, self.differs, self.a, self.b) = (0, 0, 0, 0);
            if self.at == At::Second {
                self.j = form.processes as u8 - 1;
            }
            if self.updates {
                self.go_to_write(self.view);
            }
        }
    }

    /// No other process writes the register of this one, the registers of processes that call no operations are never
    /// written, what is read after a view was borrowed is not used, and a comparison accesses no register.
    fn is_local(&self, form: &Form, p: usize) -> bool {
        match self.at {
            At::Second if self.borrowed => true,
            At::Flip | At::Shake | At::First | At::Second => form.is_private(p, self.j),
            at => at == At::Decide,
        }
    }

    /// Visits the variables that both algorithms use.
    fn layout<B: Bits>(&mut self, form: &Form, bits: &mut B) {
        let n = form.processes;
        bits.place(&mut self.at);
        bits.flag(&mut self.updates);
        bits.flag(&mut self.value);
        bits.int(&mut self.j, width(n));
        bits.subset(&mut self.b, form.entries);
        bits.set(&mut self.differs, n as u32);
        bits.set(&mut self.moved, n as u32);
        bits.flag(&mut self.borrowed);
        bits.subset(&mut self.view, form.entries);
    }
}
