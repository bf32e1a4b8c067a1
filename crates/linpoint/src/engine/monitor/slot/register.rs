//! Registers whose values are each written once.
//!
//! The values of such a register follow each other, so their zones (`zones.rs`) decide. A pending write that was read
//! took effect, in time for its readers; one that was not read is left out. O(n) for n operations.
//!
//! Tested against the reference, witnesses and contradictions included.

use super::clusters::{self, Place, Step};
use super::zones::{self, Zone};
use crate::engine::monitor::{Contradiction, Finding, Log, ViolationKind};
use crate::history::NEVER;

/// ViolationKind an operation does to a register.
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

/// Decides a register that holds the value `initial` at first, if that has a number. If a value is written twice, or
/// the initial one is written, that value.
pub fn decide(log: &Log<Rw>, initial: Option<u32>) -> Result<Finding, u32> {
    let clusters = all_clusters(log, initial)?;
    for (value, cluster) in (0u32..).zip(&clusters) {
        let wrong = match cluster.written {
            _ if Some(value) == initial || cluster.read_by == NEVER => continue,
            NEVER => ViolationKind::NeverAdded,
            written if cluster.read_by < written => ViolationKind::SeenBeforeAdded,
            _ => continue,
        };
        return Ok(Finding::Violation(contradiction(log, wrong, &[value])));
    }
    let zone = |value: u32| clusters[value as usize].zone;
    Ok(match zones::conflict(log.distinct, log.end(), zone) {
        None => Finding::Linearizable(()),
        Some((one, other)) => {
            Finding::Violation(contradiction(log, ViolationKind::Replaced, &[one, other]))
        }
    })
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Rw>, initial: Option<u32>) -> Vec<u32> {
    let clusters = all_clusters(log, initial).expect("bug: a value is written twice");
    let zone = |value: u32| clusters[value as usize].zone;
    let order = zones::in_order(log, held(&clusters, initial), zone);
    let steps = order.into_iter().map(|(_, value)| Step::Value(value));
    clusters::lined_up(log, steps, |act| match act {
        Rw::Write => Place::First,
        Rw::Read => Place::Between,
    })
}

fn all_clusters(log: &Log<Rw>, initial: Option<u32>) -> Result<Vec<Cluster>, u32> {
    let none = Cluster {
        zone: Zone {
            first_return: NEVER,
            last_call: 0,
        },
        written: NEVER,
        read_by: NEVER,
    };
    let mut clusters = vec![none; log.distinct as usize];
    let mut twice = None;
    let columns = log.acts.iter().zip(&log.values);
    for ((&act, &value), (&call, &ret)) in columns.zip(log.calls.iter().zip(log.rets.iter())) {
        // Minima instead of branches: nobody can predict which operation is a write.
        let cluster = &mut clusters[value as usize];
        let (written, read_by) = match act {
            Rw::Write => (call, NEVER),
            Rw::Read => (NEVER, ret),
        };
        if written.max(cluster.written) != NEVER {
            twice = Some(value);
        }
        cluster.written = cluster.written.min(written);
        cluster.read_by = cluster.read_by.min(read_by);
        cluster.zone.first_return = cluster.zone.first_return.min(ret);
        // Operations stand in the order of their calls.
        cluster.zone.last_call = call;
    }
    if let Some(value) = twice {
        return Err(value);
    }
    if let Some(value) = initial
        && let Some(cluster) = clusters.get_mut(value as usize)
    {
        if cluster.written != NEVER {
            return Err(value);
        }
        // It was there before everything.
        if cluster.read_by != NEVER {
            cluster.zone.first_return = 0;
        }
    }
    Ok(clusters)
}

/// The initial value, if somebody saw it.
fn held(clusters: &[Cluster], initial: Option<u32>) -> Option<u32> {
    initial.filter(|&value| {
        let cluster = clusters.get(value as usize);
        cluster.is_some_and(|cluster| cluster.read_by != NEVER)
    })
}

/// A register stays correct when everything about a value is left out, and when reads are: what remains of each value is
/// its write, the first operation to return and the last one to be called. At most six operations.
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
    use crate::spec::{Register, RegisterOp};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    struct UniqueWrites;

    impl Model for UniqueWrites {
        type Act = Rw;
        type Spec = Register;

        fn spec(&self) -> Register {
            Register {
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
        testing::assert_agrees(
            &UniqueWrites,
            |log| {
                let finding = decide(log, Some(0)).expect("no value is written twice");
                if let Finding::Violation(contradiction) = &finding {
                    assert!(contradiction.ops.len() <= 6);
                }
                Some(finding)
            },
            |log| witness(log, Some(0)),
        );
    }

    #[test]
    fn a_value_written_twice_is_handed_on() {
        let log = |values: [u32; 2]| {
            Log::new(
                vec![Rw::Write; 2],
                values.to_vec(),
                vec![0, 2],
                vec![1, NEVER],
            )
        };
        assert_eq!(decide(&log([1, 1]), Some(0)), Err(1));
        assert_eq!(decide(&log([1, 0]), Some(0)), Err(0));
        assert!(decide(&log([1, 0]), None).unwrap().is_linearizable());
    }
}
