//! Multisets and bags that nobody found empty; equal values may be in it several times.
//!
//! A value is best put in at the call and taken out at the return: no order has more of it at any moment, for what has
//! been taken out by then. Values do not affect each other. A pending insertion is used, a pending removal is not. Results
//! that find a value missing would ask for fewer at times, so they are handed on. O(n) for n operations.
//!
//! Tested against the reference, witnesses and contradictions included.

use super::{Act, Contradiction, Finding, Log, ViolationKind};
use crate::engine::monitor::sweep_order::SweepOrder;

/// Decides a multiset that is empty at first. If that is not possible, why.
pub fn decide(log: &Log<Act>) -> Result<Finding, &'static str> {
    if log.acts.contains(&Act::Empty) {
        return Err("something was found missing");
    }
    Ok(match sweep(log, &mut ()) {
        Ok(()) => Finding::Linearizable(()),
        Err(op) => Finding::Violation(contradiction(log, op)),
    })
}

/// An order that explains everything, if [`decide`] found that there is one.
pub fn witness(log: &Log<Act>) -> Vec<u32> {
    let mut witness = Witness {
        order: SweepOrder::default(),
        gone: vec![0; log.distinct as usize],
    };
    sweep(log, &mut witness).expect("bug: a violation has no witness");
    witness.order.finish()
}

/// Sees what a sweep does.
trait Watch {
    /// The operation takes effect next to the current event.
    fn now(&mut self, op: u32);

    /// The removal takes the last one out.
    fn last(&mut self, value: u32, op: u32);

    /// The look at a value takes effect right before the last one was taken out.
    fn before_last(&mut self, value: u32, op: u32);
}

impl Watch for () {
    fn now(&mut self, _: u32) {}
    fn last(&mut self, _: u32, _: u32) {}
    fn before_last(&mut self, _: u32, _: u32) {}
}

/// One value, in the course of a sweep.
#[derive(Clone, Copy, Default)]
struct Stock {
    /// How many there are.
    there: u32,
    /// The return that took the last one out; 0 if there was none.
    gone: u32,
}

/// The operation that returns what cannot be there, if there is one.
fn sweep(log: &Log<Act>, watch: &mut impl Watch) -> Result<(), u32> {
    let mut stocks = vec![Stock::default(); log.distinct as usize];
    for (rank, event) in (0u32..).zip(log.events()) {
        let (op, act, value) = (
            event.op() as u32,
            log.acts[event.op()],
            log.values[event.op()],
        );
        let stock = &mut stocks[value as usize];
        match (act, event.is_return()) {
            (Act::Add, false) => {
                stock.there += 1;
                watch.now(op);
            }
            (Act::Add, true) | (_, false) => {}
            (Act::Remove, true) => match stock.there {
                0 => return Err(op),
                1 => {
                    *stock = Stock {
                        there: 0,
                        gone: rank,
                    };
                    watch.last(value, op);
                }
                _ => {
                    stock.there -= 1;
                    watch.now(op);
                }
            },
            _ if stock.there > 0 => watch.now(op),
            _ if stock.gone > log.calls[op as usize] => watch.before_last(value, op),
            _ => return Err(op),
        }
    }
    Ok(())
}

/// Makes a witness.
struct Witness {
    order: SweepOrder,
    /// Where in the order the last one of each value was taken out.
    gone: Vec<u32>,
}

impl Watch for Witness {
    fn now(&mut self, op: u32) {
        self.order.push(op);
    }

    fn last(&mut self, value: u32, op: u32) {
        self.gone[value as usize] = self.order.push(op);
    }

    fn before_last(&mut self, value: u32, op: u32) {
        self.order.before(self.gone[value as usize], op);
    }
}

/// The beginning of what was done with one value, up to the return that cannot be: operations that returned later must be
/// seen as pending. Other looks at it are left out: they changed nothing.
fn contradiction(log: &Log<Act>, failing: u32) -> Contradiction {
    let (value, cut) = (log.values[failing as usize], log.rets[failing as usize]);
    let called = (0u32..log.len() as u32).take_while(|&op| log.calls[op as usize] < cut);
    let matters = |&op: &u32| {
        let (act, on) = (log.acts[op as usize], log.values[op as usize]);
        on == value && (act != Act::Peek || op == failing)
    };
    Contradiction {
        kind: ViolationKind::NeverAdded,
        ops: called.filter(matters).collect(),
        cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::monitor::testing::{self, Model, Subject};
    use crate::spec::{Container, ContainerOp, Discipline};
    use crate::value::Value;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;

    struct Multiset;

    impl Model for Multiset {
        type Act = Act;
        type Spec = Container;

        fn spec(&self) -> Container {
            Container::unbounded(Discipline::Any)
        }

        fn op(&self, act: Act, value: u32) -> ContainerOp {
            Discipline::Any.op(act, value)
        }

        fn ret(&self, act: Act, value: u32) -> Value {
            Discipline::Any.ret(act, value)
        }
    }

    impl Subject for Multiset {
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
        testing::assert_agrees(&Multiset, |log| decide(log).ok(), witness);
    }
}
