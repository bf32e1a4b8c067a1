//! Two snapshots to test with: one that reads entry by entry and is not linearizable, and one that takes a lock and is.

use crate::explore::snapshot::{Answer, Form, Request, SnapshotAlgorithm, copy, put};
use crate::explore::{Algorithm, Bits, Step, width};

/// A scan that reads one entry after the other and returns what it read, in an operation with a lock around it or without.
#[derive(Clone, Copy, Debug)]
pub struct Collect<const LOCKED: bool> {
    form: Form,
}

/// Without a lock a scan is right only if no update takes effect while it reads.
pub type SingleCollect = Collect<false>;

/// With a lock around each operation, operations never overlap.
pub type Locked = Collect<true>;

/// Registers: the entries, and whether the lock is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    a: u16,
    held: bool,
}

crate::places! { enum At { Idle, Lock, Write, Read, Unlock } }

/// Variables: the value to write, the entry to read next, the entries read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    scans: bool,
    value: bool,
    entry: u8,
    b: u16,
}

impl<const LOCKED: bool> Algorithm for Collect<LOCKED> {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        let scans = *op == Request::Scan;
        *my = Local {
            at: match LOCKED {
                true => At::Lock,
                false => body(scans),
            },
            scans,
            value: *op == Request::Update(true),
            entry: self.form.first_entry(),
            ..Local::default()
        };
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            At::Lock if shared.held => return Step::Go,
            At::Lock => {
                shared.held = true;
                my.at = body(my.scans);
                return Step::Go;
            }
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.a, p, my.value);
                }
            }
            At::Read => {
                copy(shared.a, my.entry, &mut my.b);
                my.entry = self.form.entry_from(my.entry + 1);
                if !self.form.is_past(my.entry) {
                    return Step::Go;
                }
                my.entry = 0;
            }
            At::Unlock => shared.held = false,
        }
        if LOCKED && my.at != At::Unlock {
            my.at = At::Unlock;
            return Step::Go;
        }
        let answer = match my.scans {
            true => Answer::View(my.b),
            false => Answer::Done,
        };
        *my = Local::default();
        Step::Return(answer)
    }

    fn next(&self, p: usize, my: &Local) -> String {
        match my.at {
            At::Idle => String::new(),
            At::Lock => "lock".into(),
            At::Write => format!("A[{p}] := {}", u8::from(my.value)),
            At::Read => format!("b[{0}] := A[{0}]", my.entry),
            At::Unlock => "unlock".into(),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let held = if shared.held { " locked" } else { "" };
        format!("A={}{held}", self.form.show(shared.a))
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        bits.subset(&mut shared.a, self.form.entries);
        bits.flag(&mut shared.held);
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        bits.place(&mut my.at);
        bits.flag(&mut my.scans);
        bits.flag(&mut my.value);
        bits.int(&mut my.entry, width(self.form.processes));
        bits.subset(&mut my.b, self.form.entries);
    }

    /// Registers and variables hold no process numbers.
    fn is_symmetric(&self) -> bool {
        true
    }
}

/// The place at which an operation does its work, after the lock is taken.
fn body(scans: bool) -> At {
    if scans { At::Read } else { At::Write }
}

impl<const LOCKED: bool> SnapshotAlgorithm for Collect<LOCKED> {
    const NAME: &'static str = match LOCKED {
        true => "locked",
        false => "single-collect",
    };
    const SOURCE: &'static str = match LOCKED {
        true => "one with a lock, to test with",
        false => "a wrong one, to test with",
    };
    const BUGS: &'static [(&'static str, &'static str)] = &[];

    fn new(form: Form, _: Option<&str>) -> Self {
        Collect { form }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
