//! The double collect: a scan reads all registers again and again until none has changed since the previous time.
//!
//! Each register has a sequence number that its writer increments. A scan compares two reads of one register for equality only,
//! so the model keeps one bit for each register and scanner instead, *written since the scanner's last read*, and has
//! finitely many states.

use linpoint::explore::snapshot::{
    Answer, Form, MOST_PROCESSES, Request, SnapshotAlgorithm, copy, put,
};
use linpoint::explore::{Algorithm, Bits, Step, width};

/// How a scan tells that a register has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compares {
    /// By its sequence number.
    Numbers,
    /// By one bit that each update flips: two updates go unnoticed.
    Toggles,
    /// By its value: an update with the same value goes unnoticed, and so do updates that restore it.
    Values,
}

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DoubleCollect {
    form: Form,
    compares: Compares,
}

/// Registers: values and toggles of all entries. For each writer, the scanners that have not read its register since it was
/// written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shared {
    values: u16,
    toggles: u16,
    changed: [u16; MOST_PROCESSES],
}

linpoint::places! { enum At { Idle, Write, Read } }

/// Variables: the value to write; of a scan, the register to read next, what it read last, whether this is its first
/// collect, and whether a register has changed in this collect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    at: At,
    value: bool,
    register: u8,
    values: u16,
    toggles: u16,
    is_first: bool,
    differs: bool,
}

impl DoubleCollect {
    /// Whether the register that process `p` reads next has changed since `p` read it last.
    fn has_changed(&self, p: usize, shared: &Shared, my: &Local) -> bool {
        let differs = match self.compares {
            Compares::Numbers => shared.changed[usize::from(my.register)] >> p,
            Compares::Toggles => (shared.toggles ^ my.toggles) >> my.register,
            Compares::Values => (shared.values ^ my.values) >> my.register,
        };
        differs & 1 != 0
    }
}

impl Algorithm for DoubleCollect {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &Request, my: &mut Local) {
        match *op {
            Request::Update(value) => (my.at, my.value) = (At::Write, value),
            Request::Scan => (my.at, my.is_first) = (At::Read, true),
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Answer> {
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            At::Write => {
                if self.form.keeps(p) {
                    put(&mut shared.values, p, my.value);
                }
                match self.compares {
                    Compares::Numbers => shared.changed[p] = self.form.active,
                    Compares::Toggles => shared.toggles ^= 1 << p,
                    Compares::Values => {}
                }
                *my = Local::default();
                Step::Return(Answer::Done)
            }
            At::Read => {
                my.differs |= my.is_first || self.has_changed(p, shared, my);
                shared.changed[usize::from(my.register)] &= !(1 << p);
                copy(shared.values, my.register, &mut my.values);
                copy(shared.toggles, my.register, &mut my.toggles);
                if !self.form.is_last_register(&mut my.register) {
                    return Step::Go;
                }
                my.is_first = false;
                if std::mem::take(&mut my.differs) {
                    return Step::Go;
                }
                let view = my.values;
                *my = Local::default();
                Step::Return(Answer::View(view))
            }
        }
    }

    fn next(&self, p: usize, my: &Local) -> String {
        match my.at {
            At::Idle => String::new(),
            At::Write => format!("A[{p}] := {}", u8::from(my.value)),
            At::Read => format!("read A[{}]", my.register),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        format!("A={}", self.form.show(shared.values))
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        let n = self.form.processes;
        bits.subset(&mut shared.values, self.form.entries);
        match self.compares {
            Compares::Numbers => {
                for changed in &mut shared.changed[..n] {
                    bits.set(changed, n as u32);
                }
            }
            Compares::Toggles => bits.set(&mut shared.toggles, n as u32),
            Compares::Values => {}
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        let n = self.form.processes;
        bits.place(&mut my.at);
        bits.flag(&mut my.value);
        bits.int(&mut my.register, width(n));
        bits.subset(&mut my.values, self.form.entries);
        if self.compares == Compares::Toggles {
            bits.set(&mut my.toggles, n as u32);
        }
        bits.flag(&mut my.is_first);
        bits.flag(&mut my.differs);
    }

    /// A process that is not scanning, or has not read a register in its first collect, will read the register before it
    /// compares: that the register was written is dead. So is it once a change is known.
    fn normalize(&self, shared: &mut Shared, locals: &mut [Local]) {
        for (p, my) in locals.iter().enumerate() {
            for q in 0..self.form.processes as u8 {
                let is_read = !my.is_first || q < my.register;
                let will_compare = !my.differs || q < my.register;
                if my.at != At::Read || !is_read || !will_compare {
                    shared.changed[usize::from(q)] &= !(1 << p);
                }
            }
        }
    }
}

impl SnapshotAlgorithm for DoubleCollect {
    const NAME: &'static str = "double-collect";
    const SOURCE: &'static str = "the scan of Afek et al. 1993 without borrowing";
    const BUGS: &'static [(&'static str, &'static str)] = &[
        ("toggles", "one bit takes the place of the sequence number"),
        (
            "values",
            "a scan compares values instead of sequence numbers",
        ),
    ];

    fn new(form: Form, bug: Option<&str>) -> Self {
        let compares = match bug {
            Some("toggles") => Compares::Toggles,
            Some("values") => Compares::Values,
            _ => Compares::Numbers,
        };
        DoubleCollect { form, compares }
    }

    fn form(&self) -> &Form {
        &self.form
    }
}
