//! Begins a walk over configurations close to the first bad event, after an operation that tells the whole state. Ours.
//!
//! Some operations tell the state that they leave, whatever was before: a read of everything, a `clear`. If nothing else
//! returns from the call of such an operation to its return, then right after it the object is in that state, and some
//! of the open operations took effect before it. The configurations with that state, one for each set of open operations,
//! include all that are possible, and a walk from there on is often left with a single one. If the order that an engine found
//! leads to the same configuration, that one is possible, and so it leads to all others that are.

use std::collections::VecDeque;

use super::configurations::{Configuration, Set, Walk, events};
use crate::engine::{Budget, Overlap, Task};
use crate::history::{EventKind, NEVER, OpId};
use crate::spec::{Spec, advance};

/// The most operations that are looked at, the latest ones, and the most of these from which a walk is tried.
const MOST_CANDIDATES: usize = 2_000;
const MOST_TRIED: usize = 24;

/// The most operations that may be open at such a point.
const MOST_OPEN: usize = 10;

/// The most configurations that are kept at a time, and the most events of a walk.
const MOST_CONFIGURATIONS: usize = 4_000;
const MOST_EVENTS: usize = 400;

/// A point at which everything that is possible is known.
pub(super) struct LateStart<S: Spec> {
    /// The number of events up to it.
    pub(super) events: usize,
    pub(super) open: Vec<u32>,
    pub(super) configurations: Set<S>,
}

/// A beginning of a task that is linearizable.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExplainedPrefix<'a> {
    /// The number of its events.
    pub(super) events: usize,
    /// An order that explains them.
    pub(super) order: &'a [OpId],
}

/// An operation such that nothing else returned from its call to its return.
struct Candidate {
    op: u32,
    /// The number of events up to its return.
    events: usize,
    /// The operations that were open then.
    open: Vec<u32>,
}

/// A point at least `distance` events before the end of an explained beginning of `task`, if one is found.
pub(super) fn start<S: Spec>(
    task: &Task<'_, S>,
    explained: ExplainedPrefix<'_>,
    distance: usize,
    budget: &Budget,
) -> Option<LateStart<S>> {
    let events = events(task);
    let explained_events = explained.events.min(events.len());
    let last = explained_events.checked_sub(distance)?;
    let order = Order::of(task, &events, explained_events, explained.order)?;
    let candidates = candidates(&events[..last]);
    let told = candidates.iter().rev().filter_map(|candidate| {
        let (operation, ret) = task.action(candidate.op as usize);
        Some((candidate, task.spec.state_after(operation, ret?)?))
    });
    let mut tried = told.take(MOST_TRIED);
    tried.find_map(|(candidate, state)| {
        budget.check().ok()?;
        let end = last.min(candidate.events + MOST_EVENTS);
        order.meet(&events[..end], candidate, &state, budget)
    })
}

/// The latest operations during which nothing else returned.
fn candidates(events: &[(u32, EventKind)]) -> VecDeque<Candidate> {
    let mut found = VecDeque::new();
    let mut overlap = Overlap::default();
    for (i, &(op, kind)) in events.iter().enumerate() {
        if overlap.event(op, kind) && overlap.len() <= MOST_OPEN {
            if found.len() == MOST_CANDIDATES {
                found.pop_front();
            }
            found.push_back(Candidate {
                op,
                events: i + 1,
                open: overlap.open(),
            });
        }
    }
    found
}

/// An order that explains a beginning of a task.
struct Order<'a, 'b, S: Spec> {
    task: &'a Task<'b, S>,
    /// The rank of the last event that it explains.
    last_rank: u32,
    /// The operations, by position in the task.
    ops: Vec<u32>,
    /// Where each operation of the task is in the order; `NOWHERE` if it is not.
    places: Vec<u32>,
}

/// No place in an order. Invariant: an order has fewer operations.
const NOWHERE: u32 = u32::MAX;

impl<'a, 'b, S: Spec> Order<'a, 'b, S> {
    fn of(
        task: &'a Task<'b, S>,
        events: &[(u32, EventKind)],
        explained: usize,
        order: &[OpId],
    ) -> Option<Self> {
        let &(op, kind) = events.get(explained.checked_sub(1)?)?;
        let mut ops = Vec::with_capacity(order.len());
        let mut places = vec![NOWHERE; task.ops.len()];
        for (place, id) in (0..).zip(order) {
            // The task may be a beginning of the one that the order is about.
            let Ok(op) = task.ops.binary_search_by_key(id, |op| op.id) else {
                break;
            };
            ops.push(op as u32);
            places[op] = place;
        }
        Some(Order {
            task,
            last_rank: rank(task, op, kind),
            ops,
            places,
        })
    }

    /// Walks on from an operation that tells the `state`, to a point with a single configuration that is one of the order.
    fn meet(
        &self,
        events: &[(u32, EventKind)],
        candidate: &Candidate,
        state: &S::State,
        budget: &Budget,
    ) -> Option<LateStart<S>> {
        let open = candidate.open.clone();
        let subsets = (0..1u32 << open.len()).map(|subset| {
            let taken = open.iter().enumerate();
            let taken = taken.filter(|(i, _)| subset >> i & 1 == 1);
            Configuration::with_taken(taken.map(|(_, &op)| op), state.clone())
        });
        let subsets = subsets.collect();
        let mut walk = Walk::from(self.task, open, subsets, MOST_CONFIGURATIONS, budget);
        let before = candidate.events - 1;
        let mut point = (before, events[before]);
        let mut later = events.iter().copied().enumerate().skip(candidate.events);
        loop {
            let (i, (op, kind)) = point;
            if walk.possible().len() == 1
                && kind == EventKind::Return
                && let Some(known) =
                    self.configuration(candidate.op, state, rank(self.task, op, kind), walk.open())
                && walk.is_only(known)
            {
                return Some(LateStart {
                    events: i + 1,
                    open: walk.open().to_vec(),
                    configurations: walk.possible().clone(),
                });
            }
            point = later.next()?;
            let (_, (op, kind)) = point;
            if !walk.event(op, kind).ok()? {
                return None;
            }
        }
    }

    /// The configuration that the order leads to, as soon as all operations took effect that returned up to a `rank`. The
    /// operation `told` left the `state`, and all that returned before its call are before it in the order.
    fn configuration(
        &self,
        told: u32,
        state: &S::State,
        rank: u32,
        open: &[u32],
    ) -> Option<Configuration<S>> {
        let ops = &self.task.ops;
        let first = self.places[told as usize];
        let later = self.ops.get(first as usize + 1..)?;
        // What was called later must come after everything that has returned.
        let by_then = later
            .iter()
            .take_while(|&&op| ops[op as usize].call <= rank);
        let has_returned = |op: &u32| ops[*op as usize].ret <= rank;
        let count = by_then.enumerate().filter(|(_, op)| has_returned(op));
        let count = count.last().map_or(0, |(i, _)| i + 1);
        // The order need not explain what returned after its end.
        let is_known = |op: u32| {
            let ret = ops[op as usize].ret;
            ret == NEVER || ret <= self.last_rank
        };
        let mut states = vec![state.clone()];
        for &op in &later[..count] {
            let (operation, ret) = self.task.action(op as usize);
            advance(self.task.spec, &mut states, operation, ret);
            (states.len() == 1 && is_known(op)).then_some(())?;
        }
        let [state] = <[S::State; 1]>::try_from(states).ok()?;
        let end = first + count as u32;
        let taken = open.iter().copied().filter(|&op| {
            let place = self.places[op as usize];
            place != NOWHERE && place <= end
        });
        let taken: Vec<u32> = taken.collect();
        let all_known = taken.iter().all(|&op| is_known(op));
        all_known.then(|| Configuration::with_taken(taken, state))
    }
}

/// The rank of an event.
fn rank<S: Spec>(task: &Task<'_, S>, op: u32, kind: EventKind) -> u32 {
    let op = task.ops[op as usize];
    match kind {
        EventKind::Call => op.call,
        EventKind::Return => op.ret,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::super::tests::random::for_each_part;
    use super::*;
    use crate::engine::{Answer, search};
    use crate::spec::Simulated;
    use crate::spec::laws::{Visit, for_each_type};

    #[derive(Default)]
    struct Met {
        starts: Cell<usize>,
        later_events: Cell<usize>,
    }

    impl Met {
        /// Compares a walk that starts late with one over all events.
        fn compare<S: Spec>(&self, name: &str, task: &Task<'_, S>) {
            let all = &Budget::default();
            let (explained, order) = match search::decide(task, all) {
                Ok(Answer::Linearizable { order, .. }) => (task.events(), order),
                Ok(Answer::NotLinearizable {
                    reached, partial, ..
                }) => (reached, partial),
                Err(gave_up) => panic!("{name}: {gave_up:?}"),
            };
            let explained = ExplainedPrefix {
                events: explained,
                order: &order,
            };
            for distance in [0, 10, 20] {
                let Some(late) = start(task, explained, distance, all) else {
                    continue;
                };
                let told = || format!("{name}, {} events: {:?}", late.events, task.history);
                let (before, after) = (&events(task)[..late.events], &events(task)[late.events..]);
                let mut walk = Walk::new(task, usize::MAX, all);
                for &(op, kind) in before {
                    assert_eq!(walk.event(op, kind), Ok(true), "{}", told());
                }
                assert_eq!(walk.open(), late.open, "{}", told());
                let (open, configurations) = (late.open.clone(), late.configurations.clone());
                let mut late_walk = Walk::from(task, open, configurations, usize::MAX, all);
                for &(op, kind) in after {
                    let is_left = walk.event(op, kind);
                    assert_eq!(late_walk.event(op, kind), is_left, "{}", told());
                    assert!(late_walk.closed() == walk.closed(), "{}", told());
                    self.later_events.set(self.later_events.get() + 1);
                    if is_left == Ok(false) {
                        break;
                    }
                }
                self.starts.set(self.starts.get() + 1);
            }
        }
    }

    impl Visit for Met {
        fn visit<S: Simulated>(&self, name: &str, object: &S) {
            for_each_part((name, object), 0..200, (30, 60), &mut |task| {
                task.erased(|task| self.compare(name, task));
            });
        }
    }

    #[test]
    fn what_is_possible_at_a_late_start_is_what_a_walk_over_all_events_finds() {
        let met = Met::default();
        for_each_type(&met);
        let counts = [&met.starts, &met.later_events].map(Cell::get);
        assert!(counts.iter().all(|&count| count > 2_000), "{counts:?}");
    }
}
