//! Sets, locks, and whatever else is on or off, for many keys at once and with any number of switches of each.
//!
//! Nothing is done until a return forces it. A read forces a switch only if the wrong state held all through it; a switch
//! forces its opposite if the state is not the one that it needs. The one to take is the one that returns first. This is
//! exact: with two states, every switch within a read passes through what was read, so that waiting never hurts; what
//! has been done is at all times the least that any order can do; and switches that may stand in for each other differ in
//! their deadlines only. A pending switch is one without a deadline. O(n log n) for n operations, O(n)
//! where few are open on a key at a time.
//!
//! Tested against the reference, witnesses and contradictions included.

use crate::engine::monitor::structure::{EMPTY, Heap, PairingHeaps};
use crate::engine::monitor::sweep_order::SweepOrder;
use crate::engine::monitor::{Contradiction, Finding, Log, ViolationKind};

/// ViolationKind an operation does to its key, which is the value of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bit {
    /// Finds it off and switches it on: a successful insertion or acquisition.
    TurnOn,
    /// Finds it on and switches it off: a successful removal or release.
    TurnOff,
    /// Finds it on: a failed insertion or acquisition, or a look at it. Not pending.
    SeesOn,
    /// Finds it off. Not pending.
    SeesOff,
}

impl Bit {
    /// ViolationKind the key must be: 1 for on.
    #[inline]
    fn needs(self) -> usize {
        usize::from(matches!(self, Bit::TurnOff | Bit::SeesOn))
    }

    #[inline]
    fn is_switch(self) -> bool {
        matches!(self, Bit::TurnOn | Bit::TurnOff)
    }
}

/// Decides a log of keys that are all on, or all off, at first.
pub fn decide(log: &Log<Bit>, initially_on: bool) -> Finding {
    match sweep(log, initially_on, &mut ()) {
        Ok(()) => Finding::Linearizable(()),
        Err(op) => Finding::Violation(contradiction(log, initially_on, op)),
    }
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Bit>, initially_on: bool) -> Vec<u32> {
    let mut witness = Witness {
        log,
        order: SweepOrder::default(),
        last: vec![0; log.distinct as usize],
    };
    sweep(log, initially_on, &mut witness).expect("bug: a violation has no witness");
    witness.order.finish()
}

/// Sees what a sweep does.
trait Watch {
    /// The operation takes effect right before the current event.
    fn now(&mut self, key: u32, op: u32);

    /// The read takes effect right before the last switch of its key.
    fn before_switch(&mut self, key: u32, read: u32);

    /// This read could not have its result without a switch.
    fn forces(&mut self, read: u32);
}

impl Watch for () {
    fn now(&mut self, _: u32, _: u32) {}
    fn before_switch(&mut self, _: u32, _: u32) {}
    fn forces(&mut self, _: u32) {}
}

/// One key, in the course of a sweep.
#[derive(Clone, Copy)]
struct Key {
    /// Switches that were called and not yet done, by what they need.
    open: [Heap; 2],
    /// 1 for on.
    state: u32,
    /// The event that forced the last switch; 0 if there was none, since the first event forces nothing.
    switched: u32,
}

/// Does what the events force, in their order. The operation whose return forces what cannot be, if there is one.
fn sweep(log: &Log<Bit>, initially_on: bool, watch: &mut impl Watch) -> Result<(), u32> {
    let fresh = Key {
        open: [EMPTY; 2],
        state: initially_on.into(),
        switched: 0,
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
        // Deadlines that have passed are met: a switch that returns is done or is the first one.
        if act.is_switch() && heaps.first(key.open[needs]) != Some(op as u32) {
            continue;
        }
        if key.state as usize != needs {
            if !act.is_switch() && key.switched > log.calls[op] {
                watch.before_switch(number, op as u32);
                continue;
            }
            let other = heaps.pop(&mut key.open[1 - needs]).ok_or(op as u32)?;
            key.state ^= 1;
            key.switched = rank;
            watch.now(number, other);
            if !act.is_switch() {
                watch.forces(op as u32);
            }
        }
        if act.is_switch() {
            heaps.pop(&mut key.open[needs]);
            key.state ^= 1;
            key.switched = rank;
        }
        watch.now(number, op as u32);
    }
    Ok(())
}

/// Makes a witness.
struct Witness<'a> {
    log: &'a Log<Bit>,
    order: SweepOrder,
    /// Where in the order the last switch of each key is.
    last: Vec<u32>,
}

impl Watch for Witness<'_> {
    fn now(&mut self, key: u32, op: u32) {
        let position = self.order.push(op);
        if self.log.acts[op as usize].is_switch() {
            self.last[key as usize] = position;
        }
    }

    fn before_switch(&mut self, key: u32, read: u32) {
        self.order.before(self.last[key as usize], read);
    }

    fn forces(&mut self, _: u32) {}
}

/// The beginning of what was done with one key, up to the return that cannot be: operations that returned later must be
/// seen as pending. Reads that forced nothing, and those that returned later, are left out: they changed nothing.
///
/// With one switch on and one switch off these are at most five operations.
fn contradiction(log: &Log<Bit>, initially_on: bool, failing: u32) -> Contradiction {
    let (key, cut) = (log.values[failing as usize], log.rets[failing as usize]);
    let ops: Vec<u32> = (0u32..log.len() as u32)
        .take_while(|&op| log.calls[op as usize] < cut)
        .filter(|&op| log.values[op as usize] == key)
        .collect();
    let mut forcing = Forcing(Vec::new());
    let _ = sweep(&log.restricted(&ops), initially_on, &mut forcing);
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

/// The reads that forced a switch.
struct Forcing(Vec<u32>);

impl Watch for Forcing {
    fn now(&mut self, _: u32, _: u32) {}
    fn before_switch(&mut self, _: u32, _: u32) {}
    fn forces(&mut self, read: u32) {
        self.0.push(read);
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

    fn random_acts(ops: usize, keys: u32, on: bool, rng: &mut ChaCha8Rng) -> Vec<(Bit, u32)> {
        let arbitrary = rng.random_range(0..3) == 0;
        let mut state = vec![on; keys as usize];
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
            random_acts(ops, self.0, false, rng)
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
            testing::assert_agrees(
                &Members(keys),
                |log| Some(decide(log, false)),
                |log| witness(log, false),
            );
        }
    }

    /// A lock that is held at first is one that is on while it is free.
    struct Lock {
        initially_on: bool,
    }

    impl Model for Lock {
        type Act = Bit;
        type Spec = Mutex;

        fn spec(&self) -> Mutex {
            Mutex
        }

        fn op(&self, act: Bit, _: u32) -> MutexOp {
            match (act, self.initially_on) {
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
            random_acts(ops, 1, self.initially_on, rng)
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
        for initially_on in [false, true] {
            testing::assert_agrees(
                &Lock { initially_on },
                |log| Some(decide(log, initially_on)),
                |log| witness(log, initially_on),
            );
        }
    }
}
