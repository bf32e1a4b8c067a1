//! Decides registers whose values are each written once, in O(n).
//!
//! After P. B. Gibbons and E. Korach, *Testing Shared Memories* (1997): the zones of the values decide, see `zones`. The paper
//! sorts the zones; counting where they begin and end needs no order (ours). Pending writes are ours, too: a pending write that
//! was read takes effect in time for its readers, one that was not read is left out. The initial value counts as written
//! before the first event, if it was read.

use super::clusters::{self, PlaceInCluster, Step};
use super::slot_effect;
use super::zones::{self, Zone};
use crate::engine::monitor::{
    Contradiction, Effect, Finding, Log, Monitor, NotApplicable, REPEATED_VALUE, Reading,
    SlotEffect, ViolationKind,
};
use crate::history::{NEVER, precedes};

/// The monitor of registers whose values are each written once, and the initial one never.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// The number of the initial value, if it has one.
    pub initial: Option<u32>,
}

/// What an operation does to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rw {
    /// Puts the value in.
    Write,
    /// Sees the value. Not pending.
    Read,
}

/// The operations on one value.
#[derive(Clone, Copy)]
struct Cluster {
    zone: Zone,
    /// The call of the write; [`NEVER`] if there is none.
    written: u32,
    /// The first return of a read.
    read_by: u32,
}

impl Monitor for Register {
    type Act = Rw;
    type Proof = ();

    fn name(&self) -> &'static str {
        "register"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Rw>, NotApplicable> {
        Ok(match slot_effect(effect)? {
            SlotEffect::Writes(value) => Reading::of(Rw::Write, value),
            SlotEffect::Reads(value) => Reading::of(Rw::Read, value),
            SlotEffect::Replaces { .. } | SlotEffect::Differs { .. } => {
                return Err(NotApplicable("some operation is not a plain read or write"));
            }
        })
    }

    fn decide(&self, log: &Log<Rw>) -> Result<Finding, NotApplicable> {
        let clusters = all_clusters(log, self.initial)?;
        for (value, cluster) in (0u32..).zip(&clusters) {
            let flaw = match cluster.written {
                _ if Some(value) == self.initial || cluster.read_by == NEVER => continue,
                NEVER => ViolationKind::NeverAdded,
                written if precedes(cluster.read_by, written) => ViolationKind::SeenBeforeAdded,
                _ => continue,
            };
            return Ok(Finding::Violation(contradiction(log, flaw, &[value])));
        }
        let zone = |value: u32| clusters[value as usize].zone;
        Ok(match zones::conflict(log.distinct, log.end(), zone) {
            None => Finding::Linearizable(()),
            Some((one, other)) => {
                let values = [one, other];
                Finding::Violation(contradiction(log, ViolationKind::Replaced, &values))
            }
        })
    }

    fn witness(&self, log: &Log<Rw>, (): &()) -> Vec<u32> {
        let clusters = all_clusters(log, self.initial).expect("bug: a value is written twice");
        let zone = |value: u32| clusters[value as usize].zone;
        let order = zones::in_order(log, read_initial(&clusters, self.initial), zone);
        let steps = order.into_iter().map(|(_, value)| Step::Value(value));
        clusters::lined_up(log, steps, |act| match act {
            Rw::Write => PlaceInCluster::First,
            Rw::Read => PlaceInCluster::Between,
        })
    }
}

/// The clusters of all values, by number.
fn all_clusters(log: &Log<Rw>, initial: Option<u32>) -> Result<Vec<Cluster>, NotApplicable> {
    let none = Cluster {
        zone: Zone {
            first_return: NEVER,
            last_call: 0,
        },
        written: NEVER,
        read_by: NEVER,
    };
    let mut clusters = vec![none; log.distinct as usize];
    let mut is_repeated = false;
    let columns = log.acts.iter().zip(&log.values);
    for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(log.rets.iter())) {
        // Minima instead of branches: which operation is a write is hard to predict.
        let cluster = &mut clusters[value as usize];
        let (written, read_by) = match act {
            Rw::Write => (call, NEVER),
            Rw::Read => (NEVER, ret),
        };
        is_repeated |= written.max(cluster.written) != NEVER;
        cluster.written = cluster.written.min(written);
        cluster.read_by = cluster.read_by.min(read_by);
        cluster.zone.first_return = cluster.zone.first_return.min(ret);
        // Operations stand in the order of their calls.
        cluster.zone.last_call = call;
    }
    if is_repeated {
        return Err(REPEATED_VALUE);
    }
    if let Some(value) = initial
        && let Some(cluster) = clusters.get_mut(value as usize)
    {
        if cluster.written != NEVER {
            return Err(REPEATED_VALUE);
        }
        // It is held before the first event.
        if cluster.read_by != NEVER {
            cluster.zone.first_return = 0;
        }
    }
    Ok(clusters)
}

/// The initial value, if it was read.
fn read_initial(clusters: &[Cluster], initial: Option<u32>) -> Option<u32> {
    initial.filter(|&value| {
        let cluster = clusters.get(value as usize);
        cluster.is_some_and(|cluster| cluster.read_by != NEVER)
    })
}

/// The contradiction of one or two values. Deleting all operations on a value from a linearizable history of a register leaves
/// a linearizable one, and so does deleting a read. So of each value only the write, the first operation to return and the
/// last one to be called are needed: at most six operations.
fn contradiction(log: &Log<Rw>, kind: ViolationKind, values: &[u32]) -> Contradiction {
    let mut ops = Vec::new();
    for &value in values {
        let on_it = || (0..log.len()).filter(|&op| log.values[op] == value);
        ops.extend(on_it().find(|&op| log.acts[op] == Rw::Write));
        ops.extend(on_it().min_by_key(|&op| log.rets[op]));
        if values.len() > 1 {
            ops.extend(on_it().next_back());
        }
    }
    ops.sort_unstable();
    ops.dedup();
    Contradiction {
        kind,
        ops: ops.into_iter().map(|op| op as u32).collect(),
        cut: log.end(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{self, RegisterOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    struct UniqueWrites;

    impl Model for UniqueWrites {
        type Act = Rw;
        type Spec = spec::Register;

        fn spec(&self) -> spec::Register {
            spec::Register {
                initial: Value::Int(0),
                cas: false,
            }
        }

        fn op(&self, act: Rw, value: u32) -> RegisterOp {
            match act {
                Rw::Write => RegisterOp::Write(Value::Int(value.into())),
                Rw::Read => RegisterOp::Read,
            }
        }

        fn ret(&self, act: Rw, value: u32) -> Value {
            match act {
                Rw::Write => Value::Nil,
                Rw::Read => Value::Int(value.into()),
            }
        }
    }

    impl Subject for UniqueWrites {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Rw, u32)> {
            let arbitrary = rng.random_range(0..3) == 0;
            let reads = rng.random_range(1..6);
            let mut last = 0;
            let one = |_| {
                if rng.random_range(0..6) >= reads {
                    last += 1;
                    (Rw::Write, last)
                } else if arbitrary {
                    (Rw::Read, rng.random_range(0..=last + 1))
                } else {
                    (Rw::Read, last)
                }
            };
            (0..ops).map(one).collect()
        }

        fn may_be_pending(&self, act: Rw) -> bool {
            act == Rw::Write
        }

        fn may_move(&self, _: Rw) -> bool {
            true
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        let register = Register { initial: Some(0) };
        testing::assert_agrees(&UniqueWrites, &register);
        testing::for_random_logs(&UniqueWrites, |log| {
            if let Ok(Finding::Violation(contradiction)) = register.decide(&log) {
                assert!(contradiction.ops.len() <= 6);
            }
        });
    }

    #[test]
    fn a_value_written_twice_is_not_decided() {
        let log = |values: [u32; 2]| {
            Log::new(
                vec![Rw::Write; 2],
                values.to_vec(),
                vec![0, 2],
                vec![1, NEVER],
            )
        };
        let decide = |initial, values| Register { initial }.decide(&log(values));
        assert!(decide(Some(0), [1, 1]).is_err());
        assert!(decide(Some(0), [1, 0]).is_err());
        assert!(decide(None, [1, 0]).unwrap().is_linearizable());
    }
}
