//! The snapshot of Afek and others with sequence numbers: collect twice until nothing changed, or until some process changed
//! twice, whose last view is then recent enough to be borrowed.
//!
//! Sequence numbers grow without bound, but all that a scanner does with them is to compare those of its two reads of a
//! register. So a bit for each scanner and register says the same: whether the register was written since the scanner's
//! first read of it. That is exact, and makes the states finite.

use crate::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AfekUnbounded {
    form: Form,
    planted: bool,
    eager: bool,
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

crate::places! { enum At { Idle, First, Second, Decide, Write } }

/// Variables: the update that the scan is part of, if it is; the register that comes next; what was read; which registers
/// differ in this round, and which did in one before; the view that was borrowed or is to be written.
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
}

impl Algorithm for AfekUnbounded {
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
        *my = Local {
            at: At::First,
            updates: *op != Request::Scan,
            value: *op == Request::Update(true),
            ..Local::default()
        };
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let (j, bit) = (usize::from(my.j), 1 << my.j);
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // scan(), also as part of an update
            At::First => {
                shared.watched[p] |= bit;
                self.next_register(my, At::Second);
            }
            At::Second => {
                if shared.changed[p] & bit != 0 {
                    my.differs |= bit;
                    if (my.moved & bit != 0 || self.eager) && !my.borrowed {
                        (my.borrowed, my.view) = (true, shared.views[j]);
                    }
                } else if self.form.keeps(j) {
                    copy(shared.values, my.j, &mut my.b);
                }
                shared.watched[p] &= !bit;
                shared.changed[p] &= !bit;
                self.next_register(my, At::Decide);
            }
            At::Decide => {
                let view = match (my.borrowed, my.differs) {
                    (true, _) => my.view,
                    (false, 0) => my.b,
                    (false, differs) => {
                        (my.at, my.b, my.differs) = (At::First, 0, 0);
                        my.moved |= differs;
                        return Step::Go;
                    }
                };
                if my.updates {
                    *my = to_write(my, view);
                    return Step::Go;
                }
                *my = Local::default();
                return Step::Return(Answer::View(view));
            }
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
            At::Idle => String::new(),
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
        let views: Vec<String> = (0..self.form.processes)
            .map(|p| self.form.show(shared.views[p]))
            .collect();
        format!(
            "values={} views={}",
            self.form.show(shared.values),
            views.join(",")
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
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.updates);
        bits.flag(&mut my.value);
        bits.int(&mut my.j, width(n));
        bits.subset(&mut my.b, self.form.entries);
        bits.set(&mut my.differs, n as u32);
        bits.set(&mut my.moved, n as u32);
        bits.flag(&mut my.borrowed);
        bits.subset(&mut my.view, self.form.entries);
    }

    /// Nobody else writes the own register, those of idle processes are never written, and comparing is nobody's business.
    fn is_local(&self, p: usize, my: &Local) -> bool {
        match my.at {
            At::First | At::Second => self.form.is_private(p, my.j),
            at => at == At::Decide,
        }
    }

    /// Once something differs, the values read are dead; once a view is borrowed, all that comes before its use is.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        for (p, my) in locals.iter_mut().enumerate() {
            if my.differs != 0 {
                my.b = 0;
            }
            if my.borrowed && matches!(my.at, At::Second | At::Decide) {
                (shared.watched[p], shared.changed[p]) = (0, 0);
                (my.moved, my.differs, my.b) = (0, 0, 0);
                if my.at == At::Second {
                    my.j = self.form.processes as u8 - 1;
                }
                if my.updates {
                    *my = to_write(my, my.view);
                }
            }
        }
    }
}

impl AfekUnbounded {
    fn next_register(&self, my: &mut Local, then: At) {
        my.j += 1;
        if usize::from(my.j) == self.form.processes {
            (my.at, my.j) = (then, 0);
        }
    }
}

/// The scan of an update is over, with this view.
fn to_write(my: &Local, view: u16) -> Local {
    Local {
        at: At::Write,
        updates: true,
        value: my.value,
        view,
        ..Local::default()
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
            eager: bug == Some("eager-borrow"),
        }
    }
}
