//! Two snapshots to test with: one that reads entry by entry and is wrong, one that takes a lock and is right.

use crate::explore::snapshot::{Answer, Form, Request, SnapshotAlgorithm, copy, put};
use crate::explore::{Algorithm, Bits, Step, width};

/// A single collect: a scan reads one entry after the other and returns what it saw. Right only when nothing happens
/// meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct SingleCollect {
    form: Form,
}

/// The same with a lock around each operation.
#[derive(Clone, Copy, Debug)]
pub struct Locked {
    form: Form,
}

/// Registers: the entries, and whether the lock is held.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// What both have in common; with the lock or without.
fn step(form: &Form, locks: bool, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
    let body = if my.scans { At::Read } else { At::Write };
    match my.at {
        At::Idle => unreachable!("no operation is open"),
        At::Lock if shared.held => return Step::Go,
        At::Lock => {
            shared.held = true;
            my.at = body;
            return Step::Go;
        }
        At::Write => {
            if form.keeps(p) {
                put(&mut shared.a, p, my.value);
            }
        }
        At::Read => {
            copy(shared.a, my.entry, &mut my.b);
            my.entry = form.entry_from(my.entry + 1);
            if !form.is_past(my.entry) {
                return Step::Go;
            }
            my.entry = 0;
        }
        At::Unlock => shared.held = false,
    }
    if locks && my.at != At::Unlock {
        my.at = At::Unlock;
        return Step::Go;
    }
    let answer = if my.scans {
        Answer::View(my.b)
    } else {
        Answer::Done
    };
    *my = Local::default();
    Step::Return(answer)
}

fn call(form: &Form, first: Option<At>, op: &Request, my: &mut Local) {
    *my = Local {
        scans: *op == Request::Scan,
        value: *op == Request::Update(true),
        entry: form.first_entry(),
        ..Local::default()
    };
    my.at = first.unwrap_or(if my.scans { At::Read } else { At::Write });
}

macro_rules! algorithm {
    ($name:ident, $locks:literal, $first:expr) => {
        impl Algorithm for $name {
            type Op = Request;
            type Ret = Answer;
            type Shared = Shared;
            type Local = Local;

            fn processes(&self) -> usize {
                self.form.processes
            }

            fn shared(&self) -> Shared {
                Shared { a: 0, held: false }
            }

            fn call(&self, _: usize, op: &Request, my: &mut Local) {
                call(&self.form, $first, op, my);
            }

            fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
                step(&self.form, $locks, p, shared, my)
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

            /// Nothing holds the number of a process.
            fn is_symmetric(&self) -> bool {
                true
            }
        }
    };
}

algorithm!(SingleCollect, false, None);
algorithm!(Locked, true, Some(At::Lock));

impl SnapshotAlgorithm for SingleCollect {
    const NAME: &'static str = "single-collect";
    const SOURCE: &'static str = "a wrong one, to test with";
    const BUGS: &'static [(&'static str, &'static str)] = &[];

    fn new(form: Form, _: Option<&str>) -> Self {
        SingleCollect { form }
    }
}

impl SnapshotAlgorithm for Locked {
    const NAME: &'static str = "locked";
    const SOURCE: &'static str = "one with a lock, to test with";
    const BUGS: &'static [(&'static str, &'static str)] = &[];

    fn new(form: Form, _: Option<&str>) -> Self {
        Locked { form }
    }
}
