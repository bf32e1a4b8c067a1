//! Decides sets, locks and all other objects that are on or off, for many keys at once.
//!
//! Ours; subsumes algorithm 2 of Lee and Mathur (2024), which allows one insertion and one removal of each key. (As printed, the
//! `else` of its line 11 belongs to line 8, or it rejects `add 0 [0,1]`, `add 0 = false [2,3]`; it accepts `contains 0 = true`
//! alone, since nothing checks that the key was added; and it accepts `add 0 [0,1]`, `remove 0 = false [2,3]`, since keys that
//! are never removed are missing.)
//!
//! Nothing takes effect until a return forces it. A read forces a switch only if the wrong state held while it ran; a switch
//! forces an opposite one if the state is not the one that it needs. Of several open switches the one that returns first takes
//! effect. This is exact. With two states, every switch while a read runs passes through the state that was read, so waiting
//! never hurts; the switches that took effect are at all times as few as in any linearization; and open switches in the same
//! direction differ only in their deadlines. A pending switch has no deadline. Switching as early as possible would be wrong.
//!
//! O(n log n), and O(n) where few operations are open on a key at a time.

use super::{INITIAL, slot_effect};
use crate::engine::monitor::structure::{EMPTY, Heap, PairingHeaps};
use crate::engine::monitor::sweep_order::{Forcing, Observer, SweepOrder};
use crate::engine::monitor::{
    Contradiction, Effect, Finding, Log, Monitor, NotApplicable, Reading, SlotEffect, ViolationKind,
};
use crate::history::precedes;

/// The monitor of keys that are each on or off. The value of an operation is its key.
#[derive(Clone, Copy, Debug)]
pub struct Bits {
    /// What all keys are at first.
    pub initially: BitState,
}

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitState {
    /// Not in the set; not locked.
    Off,
    /// In the set; locked.
    On,
}

/// What an operation does to its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bit {
    /// Finds it off and switches it on: a successful insertion or acquisition.
    TurnOn,
    /// Finds it on and switches it off: a successful removal or release.
    TurnOff,
    /// Finds it on: a failed insertion or acquisition, or a read. Not pending.
    SeesOn,
    /// Finds it off. Not pending.
    SeesOff,
}

impl Bit {
    /// What the key must be: 1 for on.
    #[inline]
    fn needs(self) -> usize {
        usize::from(matches!(self, Bit::TurnOff | Bit::SeesOn))
    }

    #[inline]
    fn is_switch(self) -> bool {
        matches!(self, Bit::TurnOn | Bit::TurnOff)
    }
}

impl Monitor for Bits {
    type Act = Bit;
    type Proof = ();

    fn name(&self) -> &'static str {
        "bit"
    }

    /// A slot with two values is one key that is off while it holds the initial value.
    fn read(&self, effect: Effect) -> Result<Reading<Bit>, NotApplicable> {
        const OTHER: u32 = 1;
        let other_than = |value: u32| if value == INITIAL { OTHER } else { INITIAL };
        let (found, left) = match slot_effect(effect)? {
            SlotEffect::Reads(value) => (value, value),
            SlotEffect::Replaces { from, to } => (from, to),
            SlotEffect::Differs { from, to } => (other_than(from), to.unwrap_or(other_than(from))),
            SlotEffect::Writes(_) => {
                return Err(NotApplicable("some operation does not tell what it found"));
            }
        };
        let act = match (found, left) {
            (INITIAL, INITIAL) => Bit::SeesOff,
            (INITIAL, OTHER) => Bit::TurnOn,
            (OTHER, INITIAL) => Bit::TurnOff,
            (OTHER, OTHER) => Bit::SeesOn,
            _ => return Err(NotApplicable("the slot has more than two values")),
        };
        Ok(Reading::of(act, 0))
    }

    fn decide(&self, log: &Log<Bit>) -> Result<Finding, NotApplicable> {
        let swept = sweep(log, self.initially, &mut ());
        Ok(swept
            .map_err(|op| contradiction(log, self.initially, op))
            .into())
    }

    fn witness(&self, log: &Log<Bit>, (): &()) -> Vec<u32> {
        let mut order = SweepOrder::new(log.distinct as usize);
        sweep(log, self.initially, &mut order).expect("bug: a witness of a violation");
        order.finish()
    }
}

/// One key, during a sweep.
#[derive(Clone, Copy)]
struct Key {
    /// Switches that are open and have not taken effect, by the state that they need.
    open: [Heap; 2],
    /// 1 for on.
    state: u32,
    /// The rank of the return that forced the last switch; [`NOT_SWITCHED`] if there was none.
    switched: u32,
}

/// Invariant: no return has this rank, since the first event is a call.
const NOT_SWITCHED: u32 = 0;

impl Key {
    /// Whether a switch was forced after the call with this rank.
    fn has_switched_since(&self, call: u32) -> bool {
        self.switched != NOT_SWITCHED && !precedes(self.switched, call)
    }
}

/// Lets operations take effect as the events force it. Returns the first operation whose return forces a switch that is not open.
fn sweep(log: &Log<Bit>, initially: BitState, observer: &mut impl Observer) -> Result<(), u32> {
    let fresh = Key {
        open: [EMPTY; 2],
        state: (initially == BitState::On).into(),
        switched: NOT_SWITCHED,
    };
    let mut keys = vec![fresh; log.distinct as usize];
    let mut heaps = PairingHeaps::new();
    for (rank, event) in (0u32..).zip(log.events()) {
        let op = event.op();
        let (act, number) = (log.acts[op], log.values[op]);
        let needs = act.needs();
        if !event.is_return() {
            if act.is_switch() {
                let heap = &mut keys[number as usize].open[needs];
                heaps.push(heap, op as u32, log.rets[op]);
            }
            continue;
        }
        let key = &mut keys[number as usize];
        // All earlier deadlines are met: a switch that returns has taken effect or is the first of its heap.
        if act.is_switch() && heaps.first(key.open[needs]) != Some(op as u32) {
            continue;
        }
        if key.state as usize != needs {
            if !act.is_switch() && key.has_switched_since(log.calls[op]) {
                observer.takes_effect_before(number, op as u32);
                continue;
            }
            let other = heaps.pop(&mut key.open[1 - needs]).ok_or(op as u32)?;
            key.state ^= 1;
            key.switched = rank;
            observer.takes_effect(other, Some(number));
            if !act.is_switch() {
                observer.forces(op as u32);
            }
        }
        if act.is_switch() {
            heaps.pop(&mut key.open[needs]);
            key.state ^= 1;
            key.switched = rank;
        }
        observer.takes_effect(op as u32, act.is_switch().then_some(number));
    }
    Ok(())
}

/// The operations on the key that were called before the failing return; those that returned later are seen as pending. Reads
/// that forced nothing, and those that returned later, are left out, since they change nothing.
///
/// Where the key is switched on once and off once these are at most five operations.
fn contradiction(log: &Log<Bit>, initially: BitState, failing: u32) -> Contradiction {
    let (key, cut) = (log.values[failing as usize], log.rets[failing as usize]);
    let ops: Vec<u32> = log
        .called_before(cut)
        .filter(|&op| log.values[op as usize] == key)
        .collect();
    let mut forcing = Forcing::default();
    let _ = sweep(&log.restricted(&ops), initially, &mut forcing);
    let mut kept: Vec<u32> = forcing.0.iter().map(|&i| ops[i as usize]).collect();
    kept.push(failing);
    kept.extend(ops.iter().filter(|&&op| log.acts[op as usize].is_switch()));
    kept.sort_unstable();
    kept.dedup();
    Contradiction {
        kind: ViolationKind::WrongState,
        ops: kept,
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{Mutex, MutexOp, Set, SetOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    fn random_acts(
        ops: usize,
        keys: u32,
        initially: BitState,
        rng: &mut ChaCha8Rng,
    ) -> Vec<(Bit, u32)> {
        let arbitrary = rng.random_range(0..3) == 0;
        let mut state = vec![initially == BitState::On; keys as usize];
        let one = |_| {
            let key = rng.random_range(0..keys);
            let state = &mut state[key as usize];
            let switches = rng.random_range(0..5) < 3;
            if arbitrary {
                *state = rng.random();
            }
            let act = match (*state, switches) {
                (false, true) => Bit::TurnOn,
                (true, true) => Bit::TurnOff,
                (true, false) => Bit::SeesOn,
                (false, false) => Bit::SeesOff,
            };
            *state ^= switches;
            (act, key)
        };
        (0..ops).map(one).collect()
    }

    /// A set with this many keys.
    struct Members(u32);

    impl Model for Members {
        type Act = Bit;
        type Spec = Set;

        fn spec(&self) -> Set {
            Set
        }

        fn op(&self, act: Bit, key: u32) -> SetOp {
            let key = Value::Int(key.into());
            match act {
                Bit::TurnOn => SetOp::Add(key),
                Bit::TurnOff => SetOp::Remove(key),
                Bit::SeesOn | Bit::SeesOff => SetOp::Contains(key),
            }
        }

        fn ret(&self, act: Bit, _: u32) -> Value {
            Value::Bool(act != Bit::SeesOff)
        }
    }

    impl Subject for Members {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Bit, u32)> {
            random_acts(ops, self.0, BitState::Off, rng)
        }

        fn may_be_pending(&self, act: Bit) -> bool {
            act.is_switch()
        }

        fn may_move(&self, _: Bit) -> bool {
            true
        }
    }

    #[test]
    fn sets_agree_with_the_reference() {
        for keys in 1..=3 {
            let bits = Bits {
                initially: BitState::Off,
            };
            testing::assert_agrees(&Members(keys), &bits);
        }
    }

    /// A lock that is held at first is one that is on while it is free.
    struct Lock {
        initially: BitState,
    }

    impl Model for Lock {
        type Act = Bit;
        type Spec = Mutex;

        fn spec(&self) -> Mutex {
            Mutex
        }

        fn op(&self, act: Bit, _: u32) -> MutexOp {
            match (act, self.initially == BitState::On) {
                (Bit::TurnOn, false) | (Bit::TurnOff, true) => MutexOp::Acquire,
                (Bit::TurnOn, true) | (Bit::TurnOff, false) => MutexOp::Release,
                (Bit::SeesOn, false) | (Bit::SeesOff, true) => MutexOp::TryAcquire,
                (Bit::SeesOn, true) | (Bit::SeesOff, false) => MutexOp::TryRelease,
            }
        }

        fn ret(&self, act: Bit, _: u32) -> Value {
            if act.is_switch() {
                Value::Nil
            } else {
                Value::Bool(false)
            }
        }
    }

    impl Subject for Lock {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Bit, u32)> {
            random_acts(ops, 1, self.initially, rng)
        }

        fn may_be_pending(&self, act: Bit) -> bool {
            act.is_switch()
        }

        fn may_move(&self, _: Bit) -> bool {
            true
        }
    }

    #[test]
    fn locks_agree_with_the_reference() {
        for initially in [BitState::Off, BitState::On] {
            testing::assert_agrees(&Lock { initially }, &Bits { initially });
        }
    }
}
