//! Bowman's obstruction-free snapshot from read-write registers (2011): a scan announces itself and reads all entries; it
//! repeats this until no other scan was announced, and no update made, in between.

use crate::explore::snapshot::{
    Answer, ENTRIES_READ_IN_ORDER, Form, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Bowman {
    form: Form,
    planted: bool,
}

/// Registers: bit `k` of `a` is entry `k`. `x` is the process whose scan was announced last, or [`Bowman::none`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    a: u16,
    x: u8,
}

crate::places! { enum At { Idle, Clear, Write, Claim, Read, Test } }

/// Variables: the value to write, the entry to read next, the entries read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    value: bool,
    entry: u8,
    b: u16,
}

impl Bowman {
    /// The value of `x` if no scan is announced: one more than the last process.
    fn none(&self) -> u8 {
        self.form.processes as u8
    }
}

impl Algorithm for Bowman {
    type Shared = Shared;
    type Local = Local;

    fn shared(&self) -> Shared {
        let x = self.none();
        Shared { a: 0, x }
    }

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (At::Clear, value),
            Request::Scan => my.at = At::Claim,
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(value)
            At::Clear => {
                shared.x = self.none();
                if self.form.short && !self.form.keeps(p) {
                    *my = Local::default();
                    return Step::Return(Answer::Done);
                }
                my.at = At::Write;
            }
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.a, p, my.value);
                }
                *my = Local::default();
                return Step::Return(Answer::Done);
            }
            // scan()
            At::Claim => {
                shared.x = p as u8;
                (my.at, my.entry, my.b) = (At::Read, self.form.first_entry(), 0);
            }
            At::Read => {
                copy(shared.a, my.entry, &mut my.b);
                my.entry = self.form.entry_from(my.entry + 1);
                if self.form.is_past(my.entry) {
                    (my.at, my.entry) = (At::Test, 0);
                }
            }
            At::Test => {
                let is_mine = shared.x == p as u8 || self.planted && shared.x != self.none();
                if is_mine {
                    let view = my.b;
                    *my = Local::default();
                    return Step::Return(Answer::View(view));
                }
                (my.at, my.b) = (At::Claim, 0);
            }
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        match my.at {
            At::Idle => String::new(),
            At::Clear => "X := none".into(),
            At::Write => format!("A[{p}] := {}", u8::from(my.value)),
            At::Claim => format!("X := {p}"),
            At::Read => format!("b[{0}] := A[{0}]", my.entry),
            At::Test => "test X".into(),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let a = self.form.show(shared.a);
        match shared.x {
            x if x == self.none() => format!("A={a} X=none"),
            x => format!("A={a} X={x}"),
        }
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        bits.subset(&mut shared.a, self.form.entries);
        bits.int(&mut shared.x, width(self.form.processes + 1));
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        bits.place(&mut my.at);
        bits.flag(&mut my.value);
        bits.int(&mut my.entry, width(self.form.processes));
        bits.subset(&mut my.b, self.form.entries);
    }

    /// A scanner that is no longer announced will fail its test and start again, so what it has read is dead.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        for (p, my) in locals.iter_mut().enumerate() {
            let fails = shared.x != p as u8 && !self.planted;
            if fails && matches!(my.at, At::Read | At::Test) {
                *my = Local {
                    at: At::Claim,
                    ..Local::default()
                };
            }
        }
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn standing(&self, shared: &Shared, p: usize) -> u64 {
        u64::from(shared.x == p as u8)
    }

    fn exchange(&self, shared: &mut Shared, _: &mut [Local], a: usize, b: usize) {
        let (a, b) = (a as u8, b as u8);
        shared.x = match shared.x {
            x if x == a => b,
            x if x == b => a,
            x => x,
        };
    }
}

impl SnapshotAlgorithm for Bowman {
    const NAME: &'static str = "bowman";
    const SOURCE: &'static str = "Bowman 2011";
    const BUGS: &'static [(&'static str, &'static str)] = &[(
        "planted",
        "a scan ends if any scan is announced, not only its own",
    )];
    const ONE_PAIR: Option<&'static str> = Some(ENTRIES_READ_IN_ORDER);

    fn new(form: Form, bug: Option<&str>) -> Self {
        Bowman {
            form,
            planted: bug == Some("planted"),
        }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
