//! Decides multisets, and bags that were never found empty: a value may be added several times.
//!
//! Ours. It is best to add a value at the call and to remove it at the return: no linearization has more copies of it at any
//! moment, given the removals that have returned. So each removal needs a copy at its return, and each peek needs one at some
//! moment while it runs. Values do not affect each other. Pending insertions take effect, pending removals do not.
//! Results that find a value missing would ask for fewer copies at some moments; such histories are not decided here. O(n).

use super::read;
use crate::engine::monitor::sweep_order::{Observer, SweepOrder};
use crate::engine::monitor::{
    Act, Contradiction, Effect, Finding, Log, Monitor, NotApplicable, Reading, ViolationKind,
};
use crate::history::precedes;

/// The monitor of multisets that are empty at first.
#[derive(Clone, Copy, Debug)]
pub struct Multiset;

impl Monitor for Multiset {
    type Act = Act;
    type Proof = ();

    fn name(&self) -> &'static str {
        "multiset"
    }

    fn read(&self, effect: Effect) -> Result<Reading<Act>, NotApplicable> {
        read(effect)
    }

    fn decide(&self, log: &Log<Act>) -> Result<Finding, NotApplicable> {
        if log.acts.contains(&Act::Empty) {
            return Err(NotApplicable("something was found missing"));
        }
        Ok(sweep(log, &mut ())
            .map_err(|op| contradiction(log, op))
            .into())
    }

    fn witness(&self, log: &Log<Act>, (): &()) -> Vec<u32> {
        let mut order = SweepOrder::new(log.distinct as usize);
        sweep(log, &mut order).expect("bug: a witness of a violation");
        order.finish()
    }
}

/// One value, during a sweep.
#[derive(Clone, Copy, Default)]
struct Copies {
    /// How many copies of it are in the multiset.
    there: u32,
    /// The return at which the last copy was removed; [`NOT_GONE`] if that has not happened.
    gone: u32,
}

/// Invariant: no return has this rank, since the first event is a call.
const NOT_GONE: u32 = 0;

impl Copies {
    /// Whether the last copy was removed after the call with this rank.
    fn were_there_after(&self, call: u32) -> bool {
        self.gone != NOT_GONE && !precedes(self.gone, call)
    }
}

/// Adds at calls and removes at returns. Returns the first operation that removes or sees a value that is not there.
fn sweep(log: &Log<Act>, observer: &mut impl Observer) -> Result<(), u32> {
    let mut by_value = vec![Copies::default(); log.distinct as usize];
    for (rank, event) in (0u32..).zip(log.events()) {
        let (op, act, value) = (
            event.op() as u32,
            log.acts[event.op()],
            log.values[event.op()],
        );
        let copies = &mut by_value[value as usize];
        match (act, event.is_return()) {
            (Act::Add, false) => {
                copies.there += 1;
                observer.takes_effect(op, None);
            }
            (Act::Add, true) | (_, false) => {}
            (Act::Remove, true) => match copies.there {
                0 => return Err(op),
                1 => {
                    *copies = Copies {
                        there: 0,
                        gone: rank,
                    };
                    observer.takes_effect(op, Some(value));
                }
                _ => {
                    copies.there -= 1;
                    observer.takes_effect(op, None);
                }
            },
            _ if copies.there > 0 => observer.takes_effect(op, None),
            _ if copies.were_there_after(log.calls[op as usize]) => {
                observer.takes_effect_before(value, op)
            }
            _ => return Err(op),
        }
    }
    Ok(())
}

/// The operations on the value that were called before the failing return; those that returned later are seen as pending. Peeks
/// other than the failing operation are left out, since they change nothing.
fn contradiction(log: &Log<Act>, failing: u32) -> Contradiction {
    let (value, cut) = (log.values[failing as usize], log.rets[failing as usize]);
    let matters = |&op: &u32| {
        let (act, on) = (log.acts[op as usize], log.values[op as usize]);
        on == value && (act != Act::Peek || op == failing)
    };
    Contradiction {
        kind: ViolationKind::NeverAdded,
        ops: log.called_before(cut).filter(matters).collect(),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::containers::unbounded;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{Container, ContainerOp, Discipline};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    /// A bag to which few values are added again and again.
    struct FewValues;

    impl Model for FewValues {
        type Act = Act;
        type Spec = Container;

        fn spec(&self) -> Container {
            unbounded(Discipline::Any)
        }

        fn op(&self, act: Act, value: u32) -> ContainerOp {
            self.spec().op(act, value)
        }

        fn ret(&self, act: Act, value: u32) -> Value {
            self.spec().ret(act, value)
        }
    }

    impl Subject for FewValues {
        fn acts(&self, ops: usize, rng: &mut ChaCha8Rng) -> Vec<(Act, u32)> {
            let arbitrary = rng.random();
            let mut held = Vec::new();
            let one = |_| {
                let kind = rng.random_range(0..6);
                if kind < 3 || held.is_empty() {
                    held.push(rng.random_range(0..2));
                    return (Act::Add, held[held.len() - 1]);
                }
                let i = rng.random_range(0..held.len());
                let value = if arbitrary {
                    rng.random_range(0..3)
                } else {
                    held[i]
                };
                if kind < 5 {
                    held.swap_remove(i);
                    (Act::Remove, value)
                } else {
                    (Act::Peek, value)
                }
            };
            (0..ops).map(one).collect()
        }

        fn may_be_pending(&self, act: Act) -> bool {
            act != Act::Peek
        }

        fn may_move(&self, _: Act) -> bool {
            true
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        testing::assert_agrees(&FewValues, &Multiset);
    }
}
