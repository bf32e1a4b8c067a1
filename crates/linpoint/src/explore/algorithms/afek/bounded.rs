//! The algorithm with handshakes instead of sequence numbers: two handshake bits for each scanner and updater, and a toggle,
//! show a scanner whether a register was written while it read.
//!
//! Copying a handshake bit (a read, and a write of a register of the same process) is one step, as in the models that Amram,
//! Hayoun, Mizrahi and Weiss published.

use super::normal::Normal;
use super::{At, Borrow, Local, before};
use crate::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use crate::explore::{Algorithm, Bits, Step};

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub struct AfekBounded {
    form: Form,
    planted: bool,
    shifted: bool,
}

/// Registers: the value, toggle, handshake bits for all scanners, and view of each process, written together; and the
/// handshake bits of each scanner for all updaters.
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

impl AfekBounded {
    /// Whether the handshake bits of scanner `i` and updater `j` differ: `j` wrote after `i` copied its bit.
    fn is_shaken(&self, shared: &Shared, i: usize, j: usize) -> bool {
        let of_updater = match (self.shifted, i) {
            (false, _) => shared.p[j] >> i & 1,
            // One bit too early. The toggle is stored before the handshake bits.
            (true, 0) => shared.toggles >> j & 1,
            (true, _) => shared.p[j] >> (i - 1) & 1,
        };
        of_updater != shared.q[i] >> j & 1
    }

    /// Decides one handshake bit of an update.
    fn flip(&self, p: usize, shared: &Shared, my: &mut Local) {
        let j = usize::from(my.j);
        if j != p {
            let of_scanner = shared.q[j] >> p & 1 != 0;
            put(&mut my.f, j, of_scanner == self.planted);
        }
        my.next_register(&self.form, At::Shake);
    }

    /// Whether the bit that an update reads next cannot change before it is read: a scanner changes its bit only if it
    /// differs from that of the updater.
    fn is_settled(&self, p: usize, shared: &Shared, my: &Local) -> bool {
        my.at == At::Flip && (usize::from(my.j) == p || !self.is_shaken(shared, my.j.into(), p))
    }

    /// The handshake bits of an update that are already decided.
    fn flipped(&self, my: &Local) -> u16 {
        match my.at {
            At::Flip => before(my.j),
            _ if my.updates => u16::MAX,
            _ => 0,
        }
    }
}

impl Algorithm for AfekBounded {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        *my = Local::called(op, At::Flip, At::Shake);
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        let (j, bit) = (usize::from(my.j), 1u16 << my.j);
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(value), first part
            At::Flip => self.flip(p, shared, my),
            // scan(), also as part of an update
            At::Shake => {
                if j != p && self.is_shaken(shared, p, j) {
                    shared.q[p] ^= bit;
                }
                my.next_register(&self.form, At::First);
            }
            At::First => {
                if j != p && self.is_shaken(shared, p, j) {
                    my.differs |= bit;
                } else {
                    copy(shared.toggles, my.j, &mut my.a);
                }
                my.next_register(&self.form, At::Second);
            }
            At::Second => {
                let toggled = (my.a ^ shared.toggles) & bit != 0;
                if j != p && (toggled || self.is_shaken(shared, p, j)) {
                    my.differs |= bit;
                }
                my.a &= !bit;
                my.read_again(
                    &self.form,
                    shared.values,
                    shared.views[j],
                    Borrow::AfterTwoChanges,
                );
            }
            At::Decide => return my.decide(At::Shake),
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
        let form = &self.form;
        format!(
            "values={} toggles={} p={} q={} views={}",
            form.show(shared.values),
            form.show_set(shared.toggles),
            form.show_each(|k| form.show_set(shared.p[k])),
            form.show_each(|k| form.show_set(shared.q[k])),
            form.show_each(|k| form.show(shared.views[k])),
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
        my.layout(&self.form, bits);
        bits.set(&mut my.f, n as u32);
        bits.set(&mut my.a, n as u32);
    }

    fn is_local(&self, p: usize, shared: &Shared, my: &Local) -> bool {
        my.is_local(&self.form, p) || self.is_settled(p, shared, my)
    }

    /// Three arguments:
    ///
    /// * The bits of one handshake, or of one toggle and its copies, are only compared with each other or negated, so all of
    ///   them can be negated together.
    /// * A change that a scanner has yet to notice will be noticed, so it counts as noticed at once. This does not hold for
    ///   the bugs.
    /// * It does not matter when a register is read for the first time, if the handshake will show its next change anyway.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        if !self.shifted {
            self.negate(shared, locals);
        }
        // This comes second, because `negate` also negates dead toggles.
        for my in locals.iter_mut() {
            my.forget(&self.form);
        }
        if self.shifted || self.planted {
            return;
        }
        for (p, my) in locals.iter_mut().enumerate() {
            let to_notice = my.shaken() & !my.read_twice() & !(1 << p);
            for j in (0..self.form.processes).filter(|j| to_notice >> j & 1 != 0) {
                let toggled = my.read() & (my.a ^ shared.toggles) & 1 << j != 0;
                if toggled || self.is_shaken(shared, p, j) {
                    my.differs |= 1 << j;
                }
            }
        }
        for (p, my) in locals.iter_mut().enumerate() {
            while self.is_settled(p, shared, my) {
                self.flip(p, shared, my);
            }
        }
        let first_matters = |locals: &[Local], p: usize, j: usize| {
            let will_write = self.flipped(&locals[j]) >> p & 1 != 0;
            will_write && locals[j].f >> p & 1 == shared.q[p] >> j & 1
        };
        let normal = Normal {
            form: &self.form,
            round: At::Shake,
            borrow: Borrow::AfterTwoChanges,
            first_matters,
        };
        normal.apply(locals, shared.values, &mut shared.views);
    }
}

impl AfekBounded {
    /// Negates handshakes and toggles so that the handshake bits of scanners, and the toggles in registers, are 0.
    fn negate(&self, shared: &mut Shared, locals: &mut [Local]) {
        let n = self.form.processes;
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
                    my.a ^= 1 << j & my.read() & !my.read_twice() & !my.differs;
                }
            }
        }
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

    fn form(&self) -> &Form {
        &self.form
    }
}
