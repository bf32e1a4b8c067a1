//! The snapshots of Afek and others: collect twice until nothing changed, or until some process changed twice, whose last view
//! is then recent enough to be borrowed. How a change is noticed is what the two differ in.

mod bounded;
mod normal;
mod unbounded;

pub use bounded::AfekBounded;
pub use unbounded::AfekUnbounded;

use crate::explore::snapshot::{Answer, Form, Request, copy};
use crate::explore::{Bits, Step, width};

crate::places! { enum At { Idle, Flip, Shake, First, Second, Decide, Write } }

/// Variables: the update that the scan is part of, if it is; the register that comes next; the values read; which registers
/// differ in this round, and which did in one before; the view borrowed or to be written.
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
    /// With handshakes: those that the update will write, and the toggles of the first collect.
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
    /// An operation at its first step, an update or a scan.
    fn called(op: &Request, update: At, scan: At) -> Local {
        let updates = *op != Request::Scan;
        Local {
            at: if updates { update } else { scan },
            updates,
            value: *op == Request::Update(true),
            ..Local::default()
        }
    }

    /// Registers with which hands were shaken in this round.
    fn shaken(&self) -> u16 {
        match self.at {
            At::Shake => before(self.j),
            At::First | At::Second => u16::MAX,
            _ => 0,
        }
    }

    /// Registers that were read in this round.
    fn read(&self) -> u16 {
        match self.at {
            At::First => before(self.j),
            At::Second => u16::MAX,
            _ => 0,
        }
    }

    /// Registers that were read twice in this round.
    fn read_twice(&self) -> u16 {
        match self.at {
            At::Second => before(self.j),
            At::Decide => u16::MAX,
            _ => 0,
        }
    }

    /// The next register, and after the last one the next place.
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

    /// Ends a scan, or begins the next round at this place.
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

    /// The scan of an update is over, with this view.
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

    /// Once something differs, the values read are dead; once a view is borrowed, so is all that comes before its use.
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

    /// Nobody else writes the own register, those of idle processes are never written, what is read once a view is borrowed
    /// is forgotten, and comparing is nobody's business.
    fn is_local(&self, form: &Form, p: usize) -> bool {
        match self.at {
            At::Second if self.borrowed => true,
            At::Flip | At::Shake | At::First | At::Second => form.is_private(p, self.j),
            at => at == At::Decide,
        }
    }

    /// The bits that both algorithms need.
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
