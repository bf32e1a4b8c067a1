//! Where the orders end that were found before a limit was hit.

use super::Claim;
use crate::engine::{Budget, Facts, MOST_STATES, Task, TaskOp, first_return_after};
use crate::history::OpId;
use crate::spec::{Spec, Vocabulary};

/// Where the orders end that were found before a limit was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// No order that was found goes past the return of this operation.
    pub op: OpId,
    /// Some of the states, each as a clause, that were reached before that return. Others may be possible.
    pub states: Vec<String>,
}

impl Stuck {
    /// Where the orders end that explain the first `reached` events of `task`. They lead to `states`, each a clause; if that
    /// is empty, to the states that follow from `order`, which explains so many events. The time of `budget` is for replaying
    /// the order.
    pub(crate) fn after<S: Spec>(
        task: &Task<'_, S>,
        reached: usize,
        states: &[String],
        order: &[OpId],
        budget: &Budget,
    ) -> Option<Self> {
        // An engine that explains nothing did not come anywhere.
        let next = first_return_after(&task.ops, reached).filter(|_| reached > 0)?;
        let states = match (states, order) {
            ([], []) => Vec::new(),
            ([], order) => states_after(task, order, next, budget),
            (states, _) => states.to_vec(),
        };
        Some(Stuck {
            op: next.id,
            states,
        })
    }

    /// The same as a claim.
    pub(super) fn into_claim(self) -> Claim {
        Claim::Stuck {
            op: self.op,
            states: self.states,
        }
    }

    /// The same as a sentence. `describe` names an operation: its call, its result, and its process.
    pub fn sentence(&self, describe: impl Fn(OpId) -> String) -> String {
        let claim = self.clone().into_claim();
        claim.sentence(&Vocabulary::default(), &|op| describe(*op))
    }
}

/// The states to which an order leads, each as a clause about the key of `next`; none if the replay takes too long.
///
/// Of the budget only the time counts: the memory may be what ended the check, and a few states take little.
fn states_after<S: Spec>(
    task: &Task<'_, S>,
    order: &[OpId],
    next: TaskOp,
    budget: &Budget,
) -> Vec<String> {
    const STEPS: usize = 64;
    let mut states = vec![task.spec.init()];
    for (i, &id) in order.iter().enumerate() {
        if states.len() > STEPS || i.is_multiple_of(STEPS) && budget.left().is_zero() {
            return Vec::new();
        }
        let Some(op) = task.op(id) else {
            return Vec::new();
        };
        let (operation, ret) = task.action_of(op);
        let mut after: Vec<S::State> = Vec::new();
        for state in &states {
            for state in task.spec.step(state, operation, ret) {
                if !after.contains(&state) {
                    after.push(state);
                }
            }
        }
        states = after;
    }
    let key = task.key(next);
    let words = |state| task.spec.state_words(state, key.as_ref());
    states.iter().take(MOST_STATES).map(words).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::super::reduce::prefix;
    use super::super::tests::random::for_each_part;
    use super::*;
    use crate::engine::hitting::Hitting;
    use crate::engine::{Engine, Evidence, brute};
    use crate::history::NEVER;
    use crate::spec::Simulated;
    use crate::spec::laws::{Visit, for_each_type};

    /// All states to which orders of a task lead that have every operation which returned, by the definition.
    fn states_of_all_orders<S: Spec>(task: &Task<'_, S>) -> HashSet<S::State> {
        let mut seen = HashSet::from([(vec![false; task.ops.len()], task.spec.init())]);
        let mut frontier: Vec<_> = seen.iter().cloned().collect();
        let mut found = HashSet::new();
        while let Some((taken, state)) = frontier.pop() {
            let waiting = || (0..taken.len()).filter(|&i| !taken[i]);
            let first_return = waiting().map(|i| task.ops[i].ret).min().unwrap_or(NEVER);
            if first_return == NEVER {
                found.insert(state.clone());
            }
            for i in waiting().filter(|&i| task.ops[i].call < first_return) {
                let (operation, ret) = task.action(i);
                for next in task.spec.step(&state, operation, ret) {
                    let mut taken = taken.clone();
                    taken[i] = true;
                    if seen.insert((taken.clone(), next.clone())) {
                        frontier.push((taken, next));
                    }
                }
            }
        }
        found
    }

    /// Whether brute force finds an order; `None` if there are too many.
    fn has_order<S: Spec>(task: &Task<'_, S>) -> Option<bool> {
        let mut steps = 0;
        let few = &mut || {
            steps += 1;
            if steps > 100_000 { Err(()) } else { Ok(()) }
        };
        Some(brute::try_all_orders(task, few).ok()?.is_some())
    }

    /// What engines say that have time for a few steps only.
    #[derive(Default)]
    struct Told {
        places: std::cell::Cell<usize>,
        states: std::cell::Cell<usize>,
        confirmed: std::cell::Cell<usize>,
    }

    impl Told {
        fn compare<S: Spec>(&self, name: &str, task: &Task<'_, S>, engine: &dyn Engine<S>) {
            let over = Budget::new(Some(Duration::ZERO), None);
            let Err(gave_up) = engine.decide(task, Evidence::Order, &over).answer else {
                return;
            };
            let (reached, order) = (gave_up.reached, &gave_up.order);
            let all = &Budget::default();
            let Some(stuck) = Stuck::after(task, reached, &gave_up.states, order, all) else {
                return;
            };
            let told = || format!("{name}, engine {}: {gave_up:?}", engine.name());
            let op = task.op(stuck.op).unwrap_or_else(|| panic!("{}", told()));
            assert_eq!(task.events_until(op.ret), reached + 1, "{}", told());
            let before = task.with_ops(prefix(&task.ops, reached));
            let possible = states_of_all_orders(&before);
            assert!(!possible.is_empty(), "{}", told());
            if let Some(has_order) = has_order(&before) {
                assert!(has_order, "{}", told());
                self.confirmed.set(self.confirmed.get() + 1);
            }
            let key = task.key(op);
            let words = |state| task.spec.state_words(state, key.as_ref());
            let possible: HashSet<String> = possible.iter().map(words).collect();
            for state in &stuck.states {
                assert!(
                    possible.contains(state),
                    "{state}: {possible:?}\n{}",
                    told()
                );
            }
            self.places.set(self.places.get() + 1);
            self.states.set(self.states.get() + stuck.states.len());
        }
    }

    impl Visit for Told {
        fn visit<S: Simulated>(&self, name: &str, object: &S) {
            // Engines use the tokens and offsets that operations return later. Without them, a pending operation has more outcomes
            // than can be listed.
            if matches!(name, "fenced-lock" | "kafka-log") {
                return;
            }
            for_each_part((name, object), 0..40, (24, 40), &mut |task| {
                task.erased(|task| {
                    self.compare(name, task, &crate::engine::search::GeneralSearch);
                    self.compare(name, task, &brute::Brute);
                    self.compare(name, task, &Hitting { d_max: None });
                });
            });
        }
    }

    #[test]
    fn the_place_where_engines_give_up_is_reached_in_the_states_they_tell() {
        let told = Told::default();
        for_each_type(&told);
        let counts = [&told.places, &told.states, &told.confirmed].map(std::cell::Cell::get);
        assert!(counts.iter().all(|&count| count > 2_000), "{counts:?}");
    }
}
