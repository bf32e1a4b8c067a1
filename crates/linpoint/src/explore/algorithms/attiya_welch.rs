//! The snapshot in the book of Attiya and Welch (*Distributed Computing*, 2nd edition, 2004, Algorithm 30). It differs from
//! that of Afek and others with handshakes in two ways: handshake bits are separate registers, and an updater sets them
//! after it wrote its value.
//!
//! Copying a handshake bit (a read, and a write of a register of the same process) is one step. One correction: a view is
//! borrowed by reading it again. The view that was collected may belong to the update before, since a handshake can show a
//! change that was made after the collect. The bug `collected-view` is the algorithm without this correction.

use crate::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AttiyaWelch {
    form: Form,
    planted: bool,
    last_flag: bool,
    collected_view: bool,
}

/// Registers: the value, toggle and view of each process, written together; and the handshake bits of each scanner and of
/// each updater.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    values: u16,
    toggles: u16,
    views: [u16; MOST_PROCESSES],
    /// Scanner i's bit for updater j is bit j of `hi[i]`.
    hi: [u16; MOST_PROCESSES],
    /// Updater j's bit for scanner i is bit i of `hj[j]`.
    hj: [u16; MOST_PROCESSES],
}

crate::places! { enum At { Idle, Shake, First, Second, Check, Borrow, Decide, Write, Answer } }

/// The number of changes of a process that a scanner must have noticed before it borrows its view.
const SHAKES: u8 = 2;

/// Variables: whether the scan is part of an update, and its value; the next register; the toggles and values read; the
/// registers that differ in this round, and how often each did before; the view to write. The collected views, `lent`, are
/// used by the bug `collected-view` only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    updates: bool,
    value: bool,
    j: u8,
    a: u16,
    b: u16,
    lent: [u16; MOST_PROCESSES],
    differs: u16,
    shook: [u8; MOST_PROCESSES],
    view: u16,
}

impl Local {
    /// Goes to the next register, or after the last one to the place `then`.
    fn next_register(&mut self, form: &Form, then: At) {
        if form.is_last_register(&mut self.j) {
            self.at = then;
        }
    }
}

impl AttiyaWelch {
    fn is_shaken(shared: &Shared, i: usize, j: usize) -> bool {
        shared.hi[i] >> j & 1 != shared.hj[j] >> i & 1
    }
}

impl Algorithm for AttiyaWelch {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        *my = Local {
            at: At::Shake,
            updates: *op != Request::Scan,
            value: *op == Request::Update(true),
            ..Local::default()
        };
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let (j, bit) = (usize::from(my.j), 1u16 << my.j);
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // scan(), also as part of an update
            At::Shake => {
                if j != p && Self::is_shaken(shared, p, j) {
                    shared.hi[p] ^= bit;
                }
                my.next_register(&self.form, At::First);
            }
            At::First => {
                copy(shared.toggles, my.j, &mut my.a);
                my.next_register(&self.form, At::Second);
            }
            At::Second => {
                if (my.a ^ shared.toggles) & bit != 0 {
                    my.differs |= bit;
                }
                my.a &= !bit;
                if self.form.keeps(j) {
                    copy(shared.values, my.j, &mut my.b);
                }
                if self.collected_view && my.shook[j] == SHAKES {
                    my.lent[j] = shared.views[j];
                }
                my.next_register(&self.form, At::Check);
            }
            At::Check => {
                if j != p && Self::is_shaken(shared, p, j) {
                    my.differs |= bit;
                }
                if my.differs & bit != 0 && my.shook[j] == SHAKES {
                    if self.collected_view {
                        return scanned(my, my.lent[j]);
                    }
                    *my = Local {
                        at: At::Borrow,
                        updates: my.updates,
                        value: my.value,
                        j: my.j,
                        ..Local::default()
                    };
                    return Step::Go;
                }
                my.lent[j] = 0;
                my.next_register(&self.form, At::Decide);
            }
            At::Borrow => return scanned(my, shared.views[j]),
            At::Decide => {
                let last = 1 << (self.form.processes - 1);
                let retries = if self.last_flag {
                    my.differs & last != 0
                } else {
                    my.differs != 0
                };
                if !retries {
                    return scanned(my, my.b);
                }
                for (k, shook) in my.shook.iter_mut().enumerate() {
                    *shook += (my.differs >> k & 1) as u8;
                }
                (my.at, my.b, my.differs) = (At::Shake, 0, 0);
            }
            // the rest of update(value)
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.values, p, my.value);
                }
                shared.toggles ^= 1 << p;
                shared.views[p] = my.view;
                *my = Local {
                    at: At::Answer,
                    updates: true,
                    ..Local::default()
                };
            }
            At::Answer => {
                if j != p {
                    let of_scanner = shared.hi[j] >> p & 1 != 0;
                    put(&mut shared.hj[p], j, of_scanner == self.planted);
                }
                my.next_register(&self.form, At::Idle);
                if my.at == At::Idle {
                    *my = Local::default();
                    return Step::Return(Answer::Done);
                }
            }
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        let j = my.j;
        match my.at {
            At::Idle => String::new(),
            At::Shake => format!("hi[{p}][{j}] := hj[{j}][{p}]"),
            At::First => format!("a[{j}] := toggle of seg[{j}]"),
            At::Second => format!("b[{j}] := seg[{j}]"),
            At::Check => format!("test hj[{j}][{p}]"),
            At::Borrow => format!("read view of seg[{j}]"),
            At::Decide => "decide".into(),
            At::Write => {
                let view = self.form.show(my.view);
                format!("seg[{p}] := ({}, not toggle, {view})", u8::from(my.value))
            }
            At::Answer if self.planted => format!("hj[{p}][{j}] := hi[{j}][{p}]"),
            At::Answer => format!("hj[{p}][{j}] := not hi[{j}][{p}]"),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let form = &self.form;
        format!(
            "values={} toggles={} hi={} hj={} views={}",
            form.show(shared.values),
            form.show_set(shared.toggles),
            form.show_each(|k| form.show_set(shared.hi[k])),
            form.show_each(|k| form.show_set(shared.hj[k])),
            form.show_each(|k| form.show(shared.views[k])),
        )
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let n = self.form.processes;
        bits.subset(&mut shared.values, self.form.entries);
        bits.set(&mut shared.toggles, n as u32);
        for p in 0..n {
            bits.subset(&mut shared.views[p], self.form.entries);
            bits.set(&mut shared.hi[p], n as u32);
            bits.set(&mut shared.hj[p], n as u32);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.updates);
        bits.flag(&mut my.value);
        bits.int(&mut my.j, width(n));
        bits.set(&mut my.a, n as u32);
        bits.subset(&mut my.b, self.form.entries);
        bits.set(&mut my.differs, n as u32);
        bits.subset(&mut my.view, self.form.entries);
        for j in 0..n {
            bits.int(&mut my.shook[j], 2);
            if self.collected_view {
                bits.subset(&mut my.lent[j], self.form.entries);
            }
        }
    }

    /// No other process writes the registers of this one, those of processes that call no operations are never written, and
    /// a decision accesses no register.
    fn is_local(&self, p: usize, _: &Shared, my: &Local) -> bool {
        match my.at {
            At::Shake | At::First | At::Second | At::Check | At::Answer => {
                self.form.is_private(p, my.j)
            }
            at => at == At::Decide,
        }
    }

    /// The bits of one handshake, or of one toggle and its copies, are only compared with each other or negated, so all of
    /// them can be negated together.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        let n = self.form.processes;
        for j in 0..n {
            for i in 0..n {
                if shared.hi[i] >> j & 1 != 0 {
                    shared.hi[i] ^= 1 << j;
                    shared.hj[j] ^= 1 << i;
                }
            }
            if shared.toggles >> j & 1 != 0 {
                shared.toggles ^= 1 << j;
                for my in locals.iter_mut() {
                    let read = match my.at {
                        At::First => (1 << my.j) - 1,
                        At::Second => !((1 << my.j) - 1),
                        _ => 0,
                    };
                    my.a ^= 1 << j & read;
                }
            }
        }
        for my in locals
            .iter_mut()
            .filter(|my| my.differs != 0 && !self.last_flag)
        {
            my.b = 0;
        }
    }
}

/// Ends a scan with this view. If the scan is part of an update, the update goes on and writes the view.
fn scanned(my: &mut Local, view: u16) -> Step<Answer> {
    let (updates, value) = (my.updates, my.value);
    *my = Local::default();
    if !updates {
        return Step::Return(Answer::View(view));
    }
    (my.at, my.updates, my.value, my.view) = (At::Write, true, value, view);
    Step::Go
}

impl SnapshotAlgorithm for AttiyaWelch {
    const NAME: &'static str = "attiya-welch";
    const SOURCE: &'static str = "Attiya, Welch: Distributed Computing, 2nd edition, 2004";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        (
            "planted",
            "updaters copy the handshake instead of its negation",
        ),
        (
            "last-flag",
            "only the last process decides whether a scan was disturbed",
        ),
        (
            "collected-view",
            "a view is borrowed as it was collected, not read anew",
        ),
    ];

    fn new(form: Form, bug: Option<&str>) -> Self {
        AttiyaWelch {
            form,
            planted: bug == Some("planted"),
            last_flag: bug == Some("last-flag"),
            collected_view: bug == Some("collected-view"),
        }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
