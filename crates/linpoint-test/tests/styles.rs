//! One object, tested in every style there is: copy the one that suits yours.

use linpoint::{Outcomes, Spec};
use linpoint_test::sync::atomic::{AtomicI64, Ordering::SeqCst};
use linpoint_test::{fresh, object, stress, stress_spec};

/// Holds one message. Under control its atomics are scheduling points; on real threads they are those of `std`.
#[derive(Default)]
struct Mailbox {
    /// 0 if there is none.
    message: AtomicI64,
}

impl Mailbox {
    /// Whether there was room.
    fn put(&self, message: i64) -> bool {
        let placed = self.message.compare_exchange(0, message, SeqCst, SeqCst);
        placed.is_ok()
    }

    fn take(&self) -> Option<i64> {
        Some(self.message.swap(0, SeqCst)).filter(|&message| message != 0)
    }

    fn run(&self, op: &Op) -> Ret {
        match op {
            Op::Put(message) => Ret::Placed(self.put(*message)),
            Op::Take => Ret::Taken(self.take()),
        }
    }
}

/// What a mailbox should do, for the styles with a specification.
struct Slot;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Put(i64),
    Take,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Ret {
    Placed(bool),
    Taken(Option<i64>),
}

impl Spec for Slot {
    type Op = Op;
    type Ret = Ret;
    type State = Option<i64>;

    fn init(&self) -> Option<i64> {
        None
    }

    fn apply(&self, held: &Option<i64>, op: &Op) -> Outcomes<Ret, Option<i64>> {
        match op {
            Op::Put(message) => Outcomes::One(Ret::Placed(held.is_none()), held.or(Some(*message))),
            Op::Take => Outcomes::One(Ret::Taken(*held), None),
        }
    }
}

const OPS: [Op; 3] = [Op::Put(1), Op::Put(2), Op::Take];

/// All schedules of small tests; what it does serially is the specification.
#[test]
fn against_itself() {
    object(Mailbox::default)
        .op("put", [1, 2], Mailbox::put)
        .op0("take", Mailbox::take)
        .random(2, 3, 10)
        .run();
}

/// All schedules of small tests; compared with what it should do.
#[test]
fn against_a_specification() {
    object(Mailbox::default)
        .against(Slot, OPS, Mailbox::run)
        .random(2, 3, 5)
        .run();
    object(Mailbox::default)
        .against(Slot, OPS, Mailbox::run)
        .matrix([["Put(1)", "Take"], ["Put(2)", "Take"]])
        .run();
}

/// Real threads; compared with a type that linpoint knows.
#[test]
fn under_stress_against_a_built_in_type() {
    stress(Mailbox::default)
        .op("enq", fresh, Mailbox::put)
        .op0("deq", Mailbox::take)
        .object_type("bounded-queue")
        .param("capacity", 1)
        .runs(200)
        .run();
}

/// Real threads; compared with what it should do.
#[test]
fn under_stress_against_a_specification() {
    stress_spec(Mailbox::default, Slot, OPS, Mailbox::run)
        .ops(10)
        .runs(200)
        .run();
}
