//! Jayanti's snapshot from LL/SC (2005), with one writer for each entry: scanners drive a cycle of three phases, and
//! updaters forward the values that they write to the scanner of the cycle.
//!
//! Each update forwards its value once, since each entry has one writer. Each access to a register is a step; copying an
//! entry into the row of the scanner itself, a read and a write, is one step.

mod normal;
mod registers;
mod show;
mod symmetry;

use registers::{Shared, X};

use crate::explore::snapshot::{
    Answer, ENTRIES_READ_IN_ORDER, Form, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Jayanti {
    form: Form,
    planted: bool,
    wrong_link: bool,
}

crate::places! {
    enum At {
        Idle, Write, LinkX, LinkB, Validate, Forward,
        Look, Empty, SetB, LookB, Gather, SetA, LookA, TakeA, TakeB, LinkSs, ValidateSs, StoreSs, SetX, Result,
    }
}

/// Variables. Of an update: its value, and the scanner `q` to forward it to. Of a scan: whether this is its second push, what
/// it read from `X`, the next entry, and the view that it collects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    value: bool,
    q: u8,
    second: bool,
    x: X,
    entry: u8,
    v: u16,
}

impl Local {
    /// The variables after a push: a scan makes two, then returns the result.
    fn pushed(&self) -> Local {
        Local {
            at: if self.second { At::Result } else { At::Look },
            second: true,
            ..Local::default()
        }
    }

    /// The variables of an update whose forwarding will have no effect: it has one step left.
    fn given_up() -> Local {
        Local {
            at: At::Validate,
            ..Local::default()
        }
    }
}

impl Jayanti {
    /// Goes to the place `at`, with the first entry.
    fn entries(&self, my: &mut Local, at: At) {
        (my.at, my.entry) = (at, self.form.first_entry());
    }

    /// Goes to the next entry, or after the last one to the place `then`.
    fn next_entry(&self, my: &mut Local, then: At) {
        my.entry = self.form.entry_from(my.entry + 1);
        if self.form.is_past(my.entry) {
            match then {
                At::TakeB => self.entries(my, At::TakeB),
                _ => (my.at, my.entry) = (then, 0),
            }
        }
    }

    /// The next step of a scan: push, push, and read `SS`.
    #[inline]
    fn scan_step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        match my.at {
            At::Look => {
                my.x = shared.link_x(p);
                match my.x.phase {
                    0 => self.entries(my, At::Empty),
                    1 => self.entries(my, At::Gather),
                    _ => self.entries(my, At::TakeA),
                }
            }
            At::Empty => {
                shared.filled[p] &= !(1 << my.entry);
                put(&mut shared.row_b[p], usize::from(my.entry), false);
                // A plain write breaks the link of the entry's updater, which is the only process that can be linked.
                let mut owner = usize::from(my.entry);
                if self.wrong_link {
                    owner = usize::from(self.form.first_entry());
                }
                if shared.cell[owner] == p as u8 + 1 {
                    shared.cell[owner] = 0;
                }
                self.next_entry(my, At::SetB);
            }
            At::SetB => {
                let (phase, proc_b) = (1, p as u8);
                let x = X {
                    phase,
                    proc_b,
                    ..my.x
                };
                shared.store_x(p, x);
                (my.at, my.x) = (At::LookB, X::default());
            }
            At::LookB => {
                my.x = shared.link_x(p);
                match my.x.phase {
                    0 => *my = my.pushed(),
                    1 => self.entries(my, At::Gather),
                    _ => self.entries(my, At::TakeA),
                }
            }
            At::Gather => {
                copy(shared.a, my.entry, &mut shared.row_a[p]);
                self.next_entry(my, At::SetA);
            }
            At::SetA => {
                let (phase, proc_a) = (2, p as u8);
                let x = X {
                    phase,
                    proc_a,
                    ..my.x
                };
                shared.store_x(p, x);
                (my.at, my.x) = (At::LookA, X::default());
            }
            At::LookA => {
                my.x = shared.link_x(p);
                match my.x.phase {
                    2 => self.entries(my, At::TakeA),
                    _ => *my = my.pushed(),
                }
            }
            _ => return self.collect_step(p, shared, my),
        }
        Step::Go
    }

    /// The next step of the last phase of a push, which stores the view of the cycle in `SS`; or the read of `SS`.
    #[inline]
    fn collect_step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        match my.at {
            At::TakeA => {
                copy(shared.row_a[usize::from(my.x.proc_a)], my.entry, &mut my.v);
                self.next_entry(my, At::TakeB);
            }
            At::TakeB => {
                let q = usize::from(my.x.proc_b);
                if shared.filled[q] >> my.entry & 1 != 0 {
                    copy(shared.row_b[q], my.entry, &mut my.v);
                }
                self.next_entry(my, At::LinkSs);
            }
            At::LinkSs => {
                if !self.planted {
                    shared.ss_links |= 1 << p;
                }
                if shared.ss_toggle != my.x.toggle {
                    my.at = At::ValidateSs;
                } else {
                    (my.at, my.v) = (At::SetX, 0);
                }
            }
            At::ValidateSs if shared.x_links >> p & 1 != 0 => my.at = At::StoreSs,
            At::ValidateSs => (my.at, my.v) = (At::SetX, 0),
            At::StoreSs => {
                if self.planted || shared.ss_links >> p & 1 != 0 {
                    (shared.ss_toggle, shared.ss) = (my.x.toggle, my.v);
                    shared.ss_links = 0;
                }
                (my.at, my.v) = (At::SetX, 0);
            }
            At::SetX => {
                let toggle = !my.x.toggle;
                let x = X {
                    phase: 0,
                    toggle,
                    ..my.x
                };
                shared.store_x(p, x);
                *my = my.pushed();
            }
            At::Result => return done(my, Answer::View(shared.ss)),
            _ => unreachable!("no scan is open"),
        }
        Step::Go
    }
}

impl Algorithm for Jayanti {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (At::Write, value),
            Request::Scan => my.at = At::Look,
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let is_linked = shared.x_links >> p & 1 != 0;
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(value)
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.a, p, my.value);
                }
                my.at = At::LinkX;
            }
            At::LinkX => {
                my.x = shared.link_x(p);
                if my.x.phase != 1 {
                    return done(my, Answer::Done);
                }
                (my.at, my.q) = (At::LinkB, my.x.proc_b);
                my.x = X::default();
            }
            At::LinkB => {
                shared.cell[p] = my.q + 1;
                my.at = At::Validate;
            }
            At::Validate if is_linked => my.at = At::Forward,
            At::Validate => return done(my, Answer::Done),
            At::Forward => {
                if shared.cell[p] == my.q + 1 && self.form.keeps(p) {
                    let q = usize::from(my.q);
                    put(&mut shared.row_b[q], p, my.value);
                    shared.filled[q] |= 1 << p;
                    shared.cell[p] = 0;
                }
                return done(my, Answer::Done);
            }
            _ => return self.scan_step(p, shared, my),
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
        shared.layout(&self.form, bits);
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.value);
        bits.int(&mut my.q, width(n));
        bits.flag(&mut my.second);
        my.x.layout(n, bits);
        bits.int(&mut my.entry, width(n));
        bits.subset(&mut my.v, self.form.entries);
    }

    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        self.forget(shared, locals);
    }

    fn is_symmetric(&self) -> bool {
        true
    }

    fn standing(&self, shared: &Shared, p: usize) -> u64 {
        shared.standing(p)
    }

    fn exchange(&self, shared: &mut Shared, locals: &mut [Local], a: usize, b: usize) {
        shared.exchange(a, b);
        for my in locals {
            my.rename(a, b);
        }
    }
}

fn done(my: &mut Local, answer: Answer) -> Step<Answer> {
    *my = Local::default();
    Step::Return(answer)
}

impl SnapshotAlgorithm for Jayanti {
    const NAME: &'static str = "jayanti";
    const SOURCE: &'static str = "Jayanti 2005, one writer for each entry";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        (
            "planted",
            "SS is a plain register: it is read without a link and written whatever happened since",
        ),
        (
            "wrong-link",
            "emptying a row breaks the link of the first entry's updater, whichever entry it empties",
        ),
    ];
    const OTHERS_MATTER: bool = false;
    const ONE_PAIR: Option<&'static str> = Some(ENTRIES_READ_IN_ORDER);

    fn new(form: Form, bug: Option<&str>) -> Self {
        Jayanti {
            form,
            planted: bug == Some("planted"),
            wrong_link: bug == Some("wrong-link"),
        }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
