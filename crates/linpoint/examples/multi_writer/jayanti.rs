//! A multi-writer snapshot with one scanner, after the second algorithm of Jayanti, *An Optimal Multi-Writer Snapshot
//! Algorithm* (STOC 2005): updates that happen during a scan are forwarded to the scanner.
//!
//! The scanner announces itself in X, clears B, reads A, withdraws X, and then prefers what was forwarded to B. An update
//! writes A; if a scan is announced, it forwards the current value of A to B by load-link and store-conditional, twice: the
//! first attempt can fail because another update forwards an older value.

use linpoint::Value;
use linpoint::explore::{Algorithm, Bits, Client, Interface, Step, width};
use linpoint::spec::SnapshotOp;

/// The number of entries.
pub(crate) const ENTRIES: usize = 2;
/// The scanner is the last of the processes; the others update.
pub(crate) const PROCESSES: usize = 3;
const SCANNER: usize = PROCESSES - 1;
/// Nothing was forwarded.
const NOTHING: u8 = 7;

/// The algorithm; an update forwards this often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Jayanti {
    pub(crate) forwards: u8,
}

/// Registers: the entries, what was forwarded, the processes whose links to each entry of B are intact, and whether a scan is
/// announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    a: [u8; ENTRIES],
    b: [u8; ENTRIES],
    linked: [u16; ENTRIES],
    x: bool,
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            a: [0; ENTRIES],
            b: [NOTHING; ENTRIES],
            linked: [0; ENTRIES],
            x: false,
        }
    }
}

linpoint::places! { enum At { Idle, Write, ReadX, Link, ReadA, TestX, Store, Announce, Clear, Collect, Withdraw, Merge } }

/// Variables: the entry, the value to write or to forward, the attempts to forward, and what a scan has read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    at: At,
    entry: u8,
    value: u8,
    attempts: u8,
    view: [u8; ENTRIES],
}

impl Local {
    /// Goes on with the next entry at the same place; at the place `then`, with the first entry, after the last.
    fn next_entry(&mut self, then: At) {
        self.entry += 1;
        if usize::from(self.entry) == ENTRIES {
            (self.at, self.entry) = (then, 0);
        }
    }
}

impl Interface for Jayanti {
    type Op = SnapshotOp;
    type Ret = Value;

    fn processes(&self) -> usize {
        PROCESSES
    }
}

impl Algorithm for Jayanti {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &SnapshotOp, my: &mut Local) {
        match op {
            SnapshotOp::Update(entry, value) => {
                let Value::Int(value) = value else {
                    unreachable!("values are numbers")
                };
                (my.at, my.entry, my.value) = (At::Write, *entry as u8, *value as u8);
            }
            SnapshotOp::Scan => my.at = At::Announce,
        }
    }

    fn step(&self, p: usize, shared: &mut Shared, my: &mut Local) -> Step<Value> {
        let i = usize::from(my.entry);
        let is_done = match my.at {
            At::Idle => unreachable!("no operation is open"),
            // update(entry, value)
            At::Write => {
                shared.a[i] = my.value;
                my.at = At::ReadX;
                false
            }
            At::ReadX => {
                my.at = At::Link;
                !shared.x
            }
            At::Link => {
                shared.linked[i] |= 1 << p;
                my.at = At::ReadA;
                false
            }
            At::ReadA => {
                (my.at, my.value) = (At::TestX, shared.a[i]);
                false
            }
            At::TestX => {
                my.at = At::Store;
                !shared.x
            }
            At::Store => {
                if shared.linked[i] >> p & 1 != 0 {
                    (shared.b[i], shared.linked[i]) = (my.value, 0);
                }
                my.attempts += 1;
                my.at = At::Link;
                my.attempts == self.forwards
            }
            // scan()
            At::Announce => {
                (shared.x, my.at) = (true, At::Clear);
                false
            }
            At::Clear => {
                (shared.b[i], shared.linked[i]) = (NOTHING, 0);
                my.next_entry(At::Collect);
                false
            }
            At::Collect => {
                my.view[i] = shared.a[i];
                my.next_entry(At::Withdraw);
                false
            }
            At::Withdraw => {
                (shared.x, my.at) = (false, At::Merge);
                false
            }
            At::Merge => {
                if shared.b[i] != NOTHING {
                    my.view[i] = shared.b[i];
                }
                my.next_entry(At::Idle);
                my.at == At::Idle
            }
        };
        if !is_done {
            return Step::Go;
        }
        let view = std::mem::take(my).view;
        Step::Return(match p {
            SCANNER => Value::list(view.map(|value| Value::Int(value.into()))),
            _ => Value::Nil,
        })
    }

    fn next(&self, _: usize, my: &Local) -> String {
        let (i, value) = (my.entry, my.value);
        match my.at {
            At::Idle => String::new(),
            At::Write => format!("A[{i}] := {value}"),
            At::ReadX | At::TestX => "read X".into(),
            At::Link => format!("LL(B[{i}])"),
            At::ReadA => format!("read A[{i}]"),
            At::Store => format!("SC(B[{i}], {value})"),
            At::Announce => "X := true".into(),
            At::Clear => format!("B[{i}] := nothing"),
            At::Collect => format!("a[{i}] := A[{i}]"),
            At::Withdraw => "X := false".into(),
            At::Merge => format!("b[{i}] := B[{i}]"),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let b = shared.b.map(|value| match value {
            NOTHING => "-".into(),
            value => value.to_string(),
        });
        format!("A={:?} B=[{}] X={}", shared.a, b.join(", "), shared.x)
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        for i in 0..ENTRIES {
            bits.int(&mut shared.a[i], 3);
            bits.int(&mut shared.b[i], 3);
            bits.set(&mut shared.linked[i], PROCESSES as u32);
        }
        bits.flag(&mut shared.x);
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        bits.place(&mut my.at);
        bits.int(&mut my.entry, width(ENTRIES));
        bits.int(&mut my.value, 3);
        bits.int(&mut my.attempts, 2);
        for value in &mut my.view {
            bits.int(value, 3);
        }
    }
}

/// The last process scans; the others update any entry. Each has two values of its own, one for its first update.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clients;

impl Client<SnapshotOp> for Clients {
    fn offers(&self, p: usize, updates: u8) -> Vec<(SnapshotOp, u8)> {
        if p == SCANNER {
            return vec![(SnapshotOp::Scan, 0)];
        }
        let value = Value::Int(1 + 2 * p as i64 + i64::from(updates));
        let update = |entry| (SnapshotOp::Update(entry, value.clone()), 1);
        (0..ENTRIES).map(update).collect()
    }
}
