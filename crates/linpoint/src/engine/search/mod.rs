//! The general search: decides any history of any specification.
//!
//! Wing and Gong's search through the orders of operations, with Lowe's two improvements. *Just in time*: the events
//! are walked in order, and an operation takes effect only when some return forces a choice, either the one that
//! returns or one that must come before it. *Memory*: a configuration (position, open operations that took effect,
//! state) is tried once. Real-time order is obeyed because only open operations may take effect.
//!
//! Needs nothing of the history. Time is exponential in the width in the worst case and near-linear in the length;
//! memory is a few words for each configuration in which there was a choice.
//!
//! What is pruned, and why nothing is lost:
//!
//! * An operation that fits the state and never changes one takes effect at once ([`Machine::is_harmless`]).
//! * Of two open operations that do the same, the one that returns first goes first: in any order that works, the two
//!   can be swapped, since both are open now and the later one's deadline is the longer one.
//! * A pending operation that changes no state is left out.
//! * Objects that hold one value know their future ([`slot`]).
//! * Queues and stacks are searched without their contents ([`queue`], [`stack`]), in ways of their own.
//! * A search that failed far behind a point that every order passes in one of few configurations looks at those, and not
//!   at other ways to get there ([`backtrack`]).
//! * Order that follows from results or [hints](crate::Spec::hint) is kept, and removals that no other operation can notice take effect at once
//!   ([`implied`]).
//! * A step that contradicts results to come is not taken ([`Spec::foresight`]).
//! * Where every operation has a key, a return concerns its key only ([`keys`]).
//!
//! The candidates are tried in the order of their returns, the one that must return now first; pending ones in the reverse order
//! of their calls, since most take effect soon or never.
//!
//! Tested against [`brute`](crate::engine::brute) on random histories of every built-in type, with and without each of
//! these; every witness is replayed.

mod backtrack;
mod best;
mod hints;
mod implied;
mod keys;
mod layout;
mod machine;
mod memo;
mod queue;
mod slot;
mod stack;
mod stopped;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::engine::{
    Answer, Budget, Engine, Evidence, Facts, GaveUp, Outcome, Shortcut, Task, TaskOp,
};
use crate::history::{EventKind, NEVER, events_in_order};
use crate::spec::{Role, Spec};

use backtrack::{Search, SearchResult};
use implied::{Adjacency, Implied};
use keys::{ByKey, Independent};
use layout::Layout;
use machine::{Interned, Machine};
use slot::SlotMachine;
use stopped::{Stopped, events_of_whole};

/// The name of this engine in reports.
pub(crate) const NAME: &str = "search";

/// The general search as an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GeneralSearch;

impl<S: Spec> Engine<S> for GeneralSearch {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decide(&self, task: &Task<'_, S>, _: Evidence, budget: &Budget) -> Outcome {
        search(task, budget)
    }
}

/// Decides `task`, within `budget`.
pub(crate) fn decide<S: Spec>(task: &Task<'_, S>, budget: &Budget) -> Result<Answer, GaveUp> {
    search(task, budget).answer
}

fn search<S: Spec>(task: &Task<'_, S>, budget: &Budget) -> Outcome {
    let keeps_all = !task.shortcuts().has(Shortcut::PureOperations);
    let needed = |op: &TaskOp| keeps_all || op.ret != NEVER || !task.is_pure(*op);
    let whole = task;
    let filtered;
    let task = if task.ops.iter().all(needed) {
        task
    } else {
        filtered = task.with_ops(task.ops.iter().copied().filter(needed).collect());
        &filtered
    };
    let mut any = |problem: &Problem, eager: &[u32]| {
        let machine: &mut dyn Machine = &mut Interned::new(task, &problem.classes, eager);
        Search::new(problem, machine, budget).run()
    };
    let (answer, method) = search_by_facts(task, budget, &mut any);
    let mut answer = answer.map_err(|stopped| stopped.into_gave_up(whole, task));
    if let Ok(Answer::NotLinearizable { reached, .. }) = &mut answer
        && task.ops.len() < whole.ops.len()
    {
        *reached = events_of_whole(whole, task, *reached);
    }
    Outcome { answer, method }
}

/// Searches by asking the specification; the operations given may take effect as soon as they fit.
type SearchAny<'a> = &'a mut dyn FnMut(&Problem, &[u32]) -> Result<SearchResult, Stopped>;

/// The answer of a search, and how it went about it, in words.
type Searched = (Result<Answer, Stopped>, Cow<'static, str>);

/// The same, in terms of facts; `search_any` searches where the specification itself must be asked.
fn search_by_facts(task: &dyn Facts, budget: &Budget, search_any: SearchAny<'_>) -> Searched {
    if queue::admits(task) {
        let method = "searched at both ends of the queue at once";
        return (queue::decide(task, budget), method.into());
    }
    if stack::admits(task) {
        let method = "searched without what lies below";
        return (stack::decide(task, budget), method.into());
    }
    let ops = task.ops();
    let calls: Vec<u32> = ops.iter().map(|op| op.call).collect();
    let rets: Vec<u32> = ops.iter().map(|op| op.ret).collect();
    let events = events_in_order(&calls, &rets);
    let keys = Independent::of(task);
    let implied = match &keys {
        None => Implied::of(task),
        Some(keys) => keys.implied(task),
    };
    if let Some(contradiction) = implied.contradiction(&events, ops.len()) {
        let method = "the order that follows from values or hints contradicts real time";
        let contradicting = contradiction.iter().map(|&op| ops[op as usize]);
        let mut contradicting: Vec<TaskOp> = contradicting.collect();
        contradicting.sort_unstable_by_key(|op| op.id);
        let answer = Answer::NotLinearizable {
            partial: Vec::new(),
            reached: 0,
            contradicting: Some(contradicting),
            first_bad: None,
        };
        return (Ok(answer), method.into());
    }
    let problem = Problem {
        successors: implied.successors(ops.len()),
        layout: Layout::new(&events, rets, keys.as_ref()),
        classes: classes(task),
        remembers: task.shortcuts().has(Shortcut::Memory),
        events,
    };
    let on_slots = match &keys {
        _ if !task.shortcuts().has(Shortcut::SlotSearch) => None,
        None => SlotMachine::new(task, &problem.events)
            .map(|machine| Search::new(&problem, machine, budget).run()),
        Some(keys) => ByKey::slots(task, keys, &problem.events)
            .map(|machine| Search::new(&problem, machine, budget).run()),
    };
    let method = match (keys.is_some(), on_slots.is_some()) {
        (true, _) => "searched, with the knowledge that keys do not affect each other",
        (false, true) => "the object holds one value: searched with a full view of the future",
        (false, false) if problem.successors.is_empty() => "searched: decides any specification",
        (false, false) => "searched, with the order that follows from values or hints",
    };
    let found = on_slots.unwrap_or_else(|| search_any(&problem, implied.eager_removals()));
    let ids = |order: Vec<u32>| order.into_iter().map(|i| ops[i as usize].id).collect();
    let answer = found.map(|found| match found {
        SearchResult::Order(order) => Answer::in_order(ids(order)),
        SearchResult::NoOrder { partial, reached } => Answer::explains_only(ids(partial), reached),
    });
    (answer, method.into())
}

/// A number for each operation, the same for those of which one may go before the other.
fn classes(task: &dyn Facts) -> Vec<u32> {
    let ops = task.ops();
    if task.shortcuts().has(Shortcut::EqualOperations) {
        ops.iter().map(|&op| task.class(op)).collect()
    } else {
        (0..ops.len() as u32).collect()
    }
}

/// Whether every operation of a container adds, removes, peeks or finds nothing, and its result is known where that
/// matters.
fn are_known(task: &dyn Facts) -> bool {
    task.ops().iter().all(|&op| match task.role(op) {
        Role::Adds(_) | Role::RemovesSome => true,
        Role::Removes(_) | Role::Peeks(_) | Role::Empty => op.ret != NEVER,
        _ => false,
    })
}

/// Everything about a task that the search reads and never changes.
struct Problem {
    events: Vec<(u32, EventKind)>,
    successors: Adjacency,
    layout: Layout,
    classes: Vec<u32>,
    /// Whether a configuration of which nothing came is not tried again.
    remembers: bool,
}
