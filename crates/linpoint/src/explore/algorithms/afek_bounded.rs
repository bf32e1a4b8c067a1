//! The snapshot of Afek and others with handshakes instead of sequence numbers: a scanner sees by two bits for each updater,
//! and a toggle, whether a register was written while it read.
//!
//! Copying a handshake bit (a read and a write of an own register) is one step, as in the published models of the algorithm.

use crate::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step, width};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AfekBounded {
    form: Form,
    planted: bool,
    shifted: bool,
}

/// Registers: of each process value, toggle, handshakes with all scanners and a view, written together; and of each scanner
/// its handshakes with all updaters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shared {
    values: u16,
    toggles: u16,
    /// Updater j's bit for scanner i is bit i of `p[j]`.
    p: [u16; MOST_PROCESSES],
    views: [u16; MOST_PROCESSES],
    /// Scanner i's bit for updater j is bit j of `q[i]`.
    q: [u16; MOST_PROCESSES],
}

crate::places! { enum At { Idle, Flip, Shake, First, Second, Decide, Write } }

/// Variables: the update that the scan is part of, if it is, and the handshakes it will write; the register that comes
/// next; what was read; which registers differ in this round, and which did in one before; the view borrowed or to be
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Local {
    at: At,
    updates: bool,
    value: bool,
    f: u16,
    j: u8,
    a: u16,
    b: u16,
    differs: u16,
    moved: u16,
    borrowed: bool,
    view: u16,
}

impl AfekBounded {
    /// Whether updater `j` has shaken hands with scanner `i` since that did.
    fn is_shaken(&self, shared: &Shared, i: usize, j: usize) -> bool {
        let of_updater = match (self.shifted, i) {
            (false, _) => shared.p[j] >> i & 1,
            // One place too early: the toggle stands before the handshakes.
            (true, 0) => shared.toggles >> j & 1,
            (true, _) => shared.p[j] >> (i - 1) & 1,
        };
        of_updater != shared.q[i] >> j & 1
    }

    fn next_register(&self, my: &mut Local, then: At) {
        my.j += 1;
        if usize::from(my.j) == self.form.processes {
            (my.at, my.j) = (then, 0);
        }
    }

    /// The handshakes of an update that are decided already.
    fn flipped(&self, my: &Local) -> u16 {
        match my.at {
            At::Flip => (1 << my.j) - 1,
            _ if my.updates => u16::MAX,
            _ => 0,
        }
    }
}

impl Algorithm for AfekBounded {
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
            at: match op {
                Request::Update(_) => At::Flip,
                Request::Scan => At::Shake,
            },
            updates: *op != Request::Scan,
            value: *op == Request::Update(true),
            ..Local::default()
        };
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let (j, bit) = (usize::from(my.j), 1u16 << my.j);
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(value), first part
            At::Flip => {
                if j != p {
                    let of_scanner = shared.q[j] >> p & 1 != 0;
                    put(&mut my.f, j, of_scanner == self.planted);
                }
                self.next_register(my, At::Shake);
            }
            // scan(), also as part of an update
            At::Shake => {
                if j != p && self.is_shaken(shared, p, j) {
                    shared.q[p] ^= bit;
                }
                self.next_register(my, At::First);
            }
            At::First => {
                if j != p && self.is_shaken(shared, p, j) {
                    my.differs |= bit;
                } else {
                    copy(shared.toggles, my.j, &mut my.a);
                }
                self.next_register(my, At::Second);
            }
            At::Second => {
                let toggled = (my.a ^ shared.toggles) & bit != 0;
                if j != p && (toggled || self.is_shaken(shared, p, j)) {
                    my.differs |= bit;
                }
                my.a &= !bit;
                if my.differs & my.moved & bit != 0 && !my.borrowed {
                    (my.borrowed, my.view) = (true, shared.views[j]);
                }
                if self.form.keeps(j) {
                    copy(shared.values, my.j, &mut my.b);
                }
                self.next_register(my, At::Decide);
            }
            At::Decide => {
                let view = match (my.borrowed, my.differs) {
                    (true, _) => my.view,
                    (false, 0) => my.b,
                    (false, differs) => {
                        (my.at, my.b, my.differs) = (At::Shake, 0, 0);
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
            // update(value), last part
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.values, p, my.value);
                }
                shared.toggles ^= 1 << p;
                shared.p[p] = my.f;
                shared.views[p] = my.view;
                *my = Local::default();
                return Step::Return(Answer::Done);
            }
        }
        Step::Go
    }

    fn next(&self, p: usize, my: &Local) -> String {
        let j = my.j;
        match my.at {
            At::Idle => String::new(),
            At::Flip if self.planted => format!("f[{j}] := q[{j}][{p}]"),
            At::Flip => format!("f[{j}] := not q[{j}][{p}]"),
            At::Shake => format!("q[{p}][{j}] := p[{j}][{p}]"),
            At::First => format!("a[{j}] := r[{j}]"),
            At::Second => format!("b[{j}] := r[{j}]"),
            At::Decide => "compare a and b".into(),
            At::Write => {
                let view = self.form.show(my.view);
                format!("r[{p}] := ({}, f, not toggle, {view})", u8::from(my.value))
            }
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let n = self.form.processes;
        let all = |text: &dyn Fn(usize) -> String| {
            let texts: Vec<String> = (0..n).map(text).collect();
            texts.join(",")
        };
        let bits = |set: u16| -> String {
            let bit = |k| if set >> k & 1 == 0 { '0' } else { '1' };
            (0..n).map(bit).collect()
        };
        format!(
            "values={} toggles={} p={} q={} views={}",
            self.form.show(shared.values),
            bits(shared.toggles),
            all(&|k| bits(shared.p[k])),
            all(&|k| bits(shared.q[k])),
            all(&|k| self.form.show(shared.views[k])),
        )
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let n = self.form.processes;
        bits.subset(&mut shared.values, self.form.entries);
        bits.set(&mut shared.toggles, n as u32);
        for p in 0..n {
            bits.set(&mut shared.p[p], n as u32);
            bits.subset(&mut shared.views[p], self.form.entries);
            bits.set(&mut shared.q[p], n as u32);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.updates);
        bits.flag(&mut my.value);
        bits.set(&mut my.f, n as u32);
        bits.int(&mut my.j, width(n));
        bits.set(&mut my.a, n as u32);
        bits.subset(&mut my.b, self.form.entries);
        bits.set(&mut my.differs, n as u32);
        bits.set(&mut my.moved, n as u32);
        bits.flag(&mut my.borrowed);
        bits.subset(&mut my.view, self.form.entries);
    }

    /// Nobody else writes the own register, those of idle processes are never written, and comparing is nobody's business.
    fn is_local(&self, p: usize, my: &Local) -> bool {
        match my.at {
            At::Flip | At::Shake | At::First | At::Second => self.form.is_private(p, my.j),
            at => at == At::Decide,
        }
    }

    /// Once something differs, the values read are dead; once a view is borrowed, all that comes before its use is. And
    /// bits of handshakes and toggles are only ever compared with each other or negated, so all bits of one handshake, or
    /// of one toggle and its copies, can be negated at once.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        let n = self.form.processes;
        for my in locals.iter_mut() {
            if my.differs != 0 {
                my.b = 0;
                my.a &= !my.differs;
            }
            if my.borrowed && matches!(my.at, At::Second | At::Decide) {
                (my.moved, my.differs, my.a, my.b) = (0, 0, 0, 0);
                if my.at == At::Second {
                    my.j = n as u8 - 1;
                }
                if my.updates {
                    *my = to_write(my, my.view);
                }
            }
        }
        if self.shifted {
            return;
        }
        for j in 0..n {
            for i in 0..n {
                if shared.q[i] >> j & 1 != 0 {
                    shared.q[i] ^= 1 << j;
                    shared.p[j] ^= 1 << i;
                    locals[j].f ^= 1 << i & self.flipped(&locals[j]);
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
                    my.a ^= 1 << j & read & !my.differs;
                }
            }
        }
    }
}

/// The scan of an update is over, with this view.
fn to_write(my: &Local, view: u16) -> Local {
    Local {
        at: At::Write,
        updates: true,
        value: my.value,
        f: my.f,
        view,
        ..Local::default()
    }
}

impl SnapshotAlgorithm for AfekBounded {
    const NAME: &'static str = "afek-bounded";
    const SOURCE: &'static str = "Afek, Attiya, Dolev, Gafni, Merritt, Shavit 1993, handshakes";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        (
            "planted",
            "updaters copy the handshake instead of its negation",
        ),
        (
            "shifted-handshake",
            "scanners look for their handshake one place too early: the first one at the toggle",
        ),
    ];

    fn new(form: Form, bug: Option<&str>) -> Self {
        AfekBounded {
            form,
            planted: bug == Some("planted"),
            shifted: bug == Some("shifted-handshake"),
        }
    }
}
