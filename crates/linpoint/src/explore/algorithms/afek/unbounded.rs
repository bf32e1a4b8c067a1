//! The algorithm with sequence numbers: each write has a higher one.
//!
//! Sequence numbers grow without bound, but a scanner only compares those of its two reads of a register. So the model keeps
//! one bit for each scanner and register instead: whether the register was written since the scanner's first read. The
//! model can do exactly what the algorithm can, and has finitely many states.

use super::normal::Normal;
use super::{At, Borrow, Local};
use crate::explore::snapshot::{Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, put};
use crate::explore::{Algorithm, Bits, Step};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AfekUnbounded {
    form: Form,
    planted: bool,
    borrow: Borrow,
}

/// Registers: the value and the view of each process, written together. For each scanner, the registers that it has read
/// once and will read again, and which of these were written since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    values: u16,
    views: [u16; MOST_PROCESSES],
    watched: [u16; MOST_PROCESSES],
    changed: [u16; MOST_PROCESSES],
}

impl Algorithm for AfekUnbounded {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        *my = Local::called(op, At::First, At::First);
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let (j, bit) = (usize::from(my.j), 1 << my.j);
        match my.at {
            At::Idle | At::Flip | At::Shake => unreachable!("no operation is open"),
            // scan(), also as part of an update
            At::First => {
                shared.watched[p] |= bit;
                my.next_register(&self.form, At::Second);
            }
            At::Second => {
                my.differs |= shared.changed[p] & bit;
                shared.watched[p] &= !bit;
                shared.changed[p] &= !bit;
                my.read_again(&self.form, shared.values, shared.views[j], self.borrow);
            }
            At::Decide => return my.decide(At::First),
            // the rest of update(value)
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.values, p, my.value);
                }
                shared.views[p] = my.view;
                for q in 0..self.form.processes {
                    if !self.planted {
                        shared.changed[q] |= shared.watched[q] & 1 << p;
                    }
                }
                *my = Local::default();
                return Step::Return(Answer::Done);
            }
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        match my.at {
            At::Idle | At::Flip | At::Shake => String::new(),
            At::First => format!("a[{0}] := seq of r[{0}]", my.j),
            At::Second => format!("b[{0}] := r[{0}]", my.j),
            At::Decide => "compare a and b".into(),
            At::Write => {
                let view = self.form.show(my.view);
                format!("r[{p}] := ({}, seq + 1, {view})", u8::from(my.value))
            }
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let form = &self.form;
        format!(
            "values={} views={}",
            form.show(shared.values),
            form.show_each(|k| form.show(shared.views[k])),
        )
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let n = self.form.processes;
        bits.subset(&mut shared.values, self.form.entries);
        for p in 0..n {
            bits.subset(&mut shared.views[p], self.form.entries);
            bits.set(&mut shared.watched[p], n as u32);
            bits.set(&mut shared.changed[p], n as u32);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        my.layout(&self.form, bits);
    }

    fn is_local(&self, p: usize, _: &Shared, my: &Local) -> bool {
        my.is_local(&self.form, p)
    }

    /// A change that a scanner has yet to notice will be noticed, so it counts as noticed at once. Registers whose changes
    /// will not be noticed need not be watched.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        for (p, my) in locals.iter_mut().enumerate() {
            my.differs |= shared.changed[p];
            shared.changed[p] = 0;
        }
        let normal = Normal {
            form: &self.form,
            round: At::First,
            borrow: self.borrow,
            first_matters: |_: &[Local], _, _| true,
        };
        normal.apply(locals, shared.values, &mut shared.views);
        for (p, my) in locals.iter().enumerate() {
            shared.watched[p] &= normal.watched(p, my);
        }
    }
}

impl SnapshotAlgorithm for AfekUnbounded {
    const NAME: &'static str = "afek-unbounded";
    const SOURCE: &'static str =
        "Afek, Attiya, Dolev, Gafni, Merritt, Shavit 1993, sequence numbers";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        ("planted", "updates do not increase the sequence number"),
        (
            "eager-borrow",
            "a view is borrowed from a process that changed once, not twice",
        ),
    ];

    fn new(form: Form, bug: Option<&str>) -> Self {
        AfekUnbounded {
            form,
            planted: bug == Some("planted"),
            borrow: match bug {
                Some("eager-borrow") => Borrow::AfterOneChange,
                _ => Borrow::AfterTwoChanges,
            },
        }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
