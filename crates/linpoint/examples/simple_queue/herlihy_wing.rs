//! The queue of Herlihy and Wing (*Linearizability*, TOPLAS 1990): an array and the number of slots that were taken.
//!
//! An enqueue takes the next slot by fetch-and-add and then stores its value there. A dequeue goes through the slots that were
//! taken, again and again, swaps each with nothing, and returns the first value that it gets.

use linpoint::explore::queue::{QueueOp, QueueRet};
use linpoint::explore::{Algorithm, Bits, Interface, Step, width};

/// The most enqueues of one execution.
pub(crate) const SLOTS: usize = 12;
/// An empty slot.
const NOTHING: u8 = 15;

/// How an enqueue takes a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taking {
    /// By fetch-and-add.
    AtOnce,
    /// By a read and a write. Two enqueues can take the same slot, and one value is lost.
    InTwoSteps,
}

/// The algorithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HerlihyWing {
    pub(crate) processes: usize,
    pub(crate) taking: Taking,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shared {
    back: u8,
    items: [u8; SLOTS],
}

impl Default for Shared {
    fn default() -> Self {
        Shared {
            back: 0,
            items: [NOTHING; SLOTS],
        }
    }
}

linpoint::places! { enum At { Idle, Take, ReadBack, WriteBack, Store, ReadRange, Swap } }

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    at: At,
    value: u8,
    slot: u8,
    range: u8,
}

impl Interface for HerlihyWing {
    type Op = QueueOp;
    type Ret = QueueRet;

    fn processes(&self) -> usize {
        self.processes
    }
}

impl Algorithm for HerlihyWing {
    type Shared = Shared;
    type Local = Local;

    fn call(&self, _: usize, op: &QueueOp, my: &mut Local) {
        match (op, self.taking) {
            (QueueOp::Enqueue(value), Taking::AtOnce) => (my.at, my.value) = (At::Take, *value),
            (QueueOp::Enqueue(value), Taking::InTwoSteps) => {
                (my.at, my.value) = (At::ReadBack, *value);
            }
            (QueueOp::Dequeue, _) => my.at = At::ReadRange,
        }
    }

    fn step(&self, _: usize, shared: &mut Shared, my: &mut Local) -> Step<QueueRet> {
        match my.at {
            At::Idle => unreachable!("no operation is open"),
            // enqueue(value)
            At::Take => {
                (my.at, my.slot) = (At::Store, shared.back);
                shared.back += 1;
            }
            At::ReadBack => (my.at, my.slot) = (At::WriteBack, shared.back),
            At::WriteBack => {
                shared.back = my.slot + 1;
                my.at = At::Store;
            }
            At::Store => {
                shared.items[usize::from(my.slot)] = my.value;
                *my = Local::default();
                return Step::Return(QueueRet::Done);
            }
            // dequeue()
            At::ReadRange => {
                my.range = shared.back;
                if my.range > 0 {
                    my.at = At::Swap;
                }
            }
            At::Swap => {
                let slot = &mut shared.items[usize::from(my.slot)];
                let value = std::mem::replace(slot, NOTHING);
                if value != NOTHING {
                    *my = Local::default();
                    return Step::Return(QueueRet::Value(value));
                }
                my.slot += 1;
                if my.slot == my.range {
                    (my.at, my.slot, my.range) = (At::ReadRange, 0, 0);
                }
            }
        }
        Step::Go
    }

    fn next(&self, _: usize, my: &Local) -> String {
        match my.at {
            At::Idle => String::new(),
            At::Take => "slot := back; back := back + 1".into(),
            At::ReadBack => "slot := back".into(),
            At::WriteBack => format!("back := {}", my.slot + 1),
            At::Store => format!("items[{}] := {}", my.slot, my.value),
            At::ReadRange => "range := back".into(),
            At::Swap => format!("swap items[{}] with nothing", my.slot),
        }
    }

    fn registers(&self, shared: &Shared) -> String {
        let taken = shared.items[..usize::from(shared.back)].iter();
        let items: Vec<String> = taken
            .map(|item| match *item {
                NOTHING => "-".into(),
                value => value.to_string(),
            })
            .collect();
        format!("items={}", items.join(" "))
    }

    fn layout<B: Bits>(&self, shared: &mut Shared, bits: &mut B) {
        bits.int(&mut shared.back, width(SLOTS + 1));
        for item in &mut shared.items {
            bits.int(item, 4);
        }
    }

    fn layout_local<B: Bits>(&self, my: &mut Local, bits: &mut B) {
        bits.place(&mut my.at);
        bits.int(&mut my.value, 4);
        bits.int(&mut my.slot, width(SLOTS + 1));
        bits.int(&mut my.range, width(SLOTS + 1));
    }
}
