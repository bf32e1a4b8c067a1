//! The general search: decides any history of any specification.
//!
//! Wing and Gong's search through the orders of operations, with Lowe's two improvements. *Just in time*: the events are
//! walked in order, and an operation takes effect only when some return forces a choice, either the one that returns or
//! one that must come before it. *Memory*: a configuration (position, open operations that took effect, state) is tried
//! once. Real-time order is obeyed because only open operations may take effect.
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
//! * Order that follows from results is kept, and removals that nobody can notice take effect at once ([`implied`]).
//! * Where every operation has a key, a return concerns its key only ([`keys`]).
//!
//! The candidates are tried in the order of their returns, the one that must return now first.
//!
//! Tested against [`brute`](crate::engine::brute) on random histories of every built-in type, with and without each of
//! these; every witness is replayed.

mod best;
mod implied;
mod keys;
mod machine;
mod memo;
mod queue;
mod slot;
mod stack;
#[cfg(test)]
mod tests;

use crate::engine::{
    Answer, Budget, Cause, Engine, Evidence, Facts, GaveUp, Limit, Outcome, Shortcut, Task, TaskOp,
    Ticker,
};
use crate::history::{EventKind, NEVER, events_in_order};
use crate::spec::{Role, Spec};

use best::Best;
use implied::{Adjacency, Implied};
use keys::{ByKey, Independent};
use machine::{Interned, Machine};
use memo::Memo;
use slot::SlotMachine;

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
    let filtered;
    let task = if task.ops.iter().all(needed) {
        task
    } else {
        filtered = task.with_ops(task.ops.iter().copied().filter(needed).collect());
        &filtered
    };
    let mut any = |problem: &Problem, hasty: &[u32]| {
        let machine: &mut dyn Machine = &mut Interned::new(task, &problem.classes, hasty);
        Search::new(problem, machine, budget).run()
    };
    search_by_facts(task, budget, &mut any)
}

/// Searches by asking the specification; the operations given may take effect as soon as they fit.
type SearchAny<'a> = &'a mut dyn FnMut(&Problem, &[u32]) -> Result<Found, GaveUp>;

/// The same, in terms of facts; `search_any` searches where the specification itself must be asked.
fn search_by_facts(task: &dyn Facts, budget: &Budget, search_any: SearchAny<'_>) -> Outcome {
    if queue::admits(task) {
        return Outcome {
            answer: queue::decide(task, budget),
            method: "searched at both ends of the queue at once".into(),
        };
    }
    if stack::admits(task) {
        return Outcome {
            answer: stack::decide(task, budget),
            method: "searched without what lies below".into(),
        };
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
    if !implied.is_consistent(&events, ops.len()) {
        return Outcome {
            answer: Ok(Answer::nothing_fits()),
            method: "the order that follows from the values contradicts real time".into(),
        };
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
        (false, false) => "searched, with the order that follows from the values",
    };
    let found = on_slots.unwrap_or_else(|| search_any(&problem, implied.hasty()));
    let ids = |order: Vec<u32>| order.into_iter().map(|i| ops[i as usize].id).collect();
    let answer = found.map(|found| match found {
        Found::Order(order) => Answer::in_order(ids(order)),
        Found::Nothing { partial, reached } => Answer::explains_only(ids(partial), reached),
    });
    Outcome {
        answer,
        method: method.into(),
    }
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

/// Whether every operation of a container adds, removes, peeks or finds nothing, and its result is known where that matters.
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

/// Where operations are found while they are open.
#[derive(Debug)]
struct Layout {
    rets: Vec<u32>,
    /// The key of each operation; empty if there is one only.
    keys: Vec<u32>,
    /// The bit that stands for an operation while it is open: the lowest one of its key that is free at its call.
    bit: Vec<u32>,
    /// Where the words of each key begin, and the end.
    words: Vec<usize>,
}

impl Layout {
    fn new(events: &[(u32, EventKind)], rets: Vec<u32>, keys: Option<&Independent>) -> Self {
        let mut layout = Layout {
            bit: vec![0; rets.len()],
            rets,
            keys: keys.map_or_else(Vec::new, Independent::numbers),
            words: vec![0],
        };
        let mut free = vec![std::collections::BinaryHeap::new(); keys.map_or(1, Independent::len)];
        let mut width = vec![0; free.len()];
        for &(op, kind) in events {
            let key = layout.key(op);
            let bit = &mut layout.bit[op as usize];
            match kind {
                EventKind::Call => {
                    let std::cmp::Reverse(lowest) = free[key].pop().unwrap_or_else(|| {
                        width[key] += 1;
                        std::cmp::Reverse(width[key] - 1)
                    });
                    *bit = lowest;
                }
                EventKind::Return => free[key].push(std::cmp::Reverse(*bit)),
            }
        }
        let mut words = 0;
        for width in width {
            words += width.div_ceil(64).max(1) as usize;
            layout.words.push(words);
        }
        for op in 0..layout.keys.len() as u32 {
            layout.bit[op as usize] += layout.words[layout.key(op)] as u32 * 64;
        }
        layout
    }

    fn key(&self, op: u32) -> usize {
        self.keys.get(op as usize).map_or(0, |&key| key as usize)
    }

    fn key_count(&self) -> usize {
        self.words.len() - 1
    }

    /// The words of the operations of this key.
    fn words_of(&self, key: usize) -> std::ops::Range<usize> {
        self.words[key]..self.words[key + 1]
    }
}

/// What the search came to.
enum Found {
    Order(Vec<u32>),
    Nothing { partial: Vec<u32>, reached: usize },
}

/// An operation that took effect.
#[derive(Clone, Copy)]
struct Step {
    op: u32,
    /// The state of its key before.
    state: u32,
    /// How many events were walked by then.
    position: u32,
}

/// A return that forced a choice.
#[derive(Clone, Copy)]
struct Choice {
    /// Length of the trail.
    trail: u32,
    position: u32,
    /// Where its alternatives begin, and the next one to try.
    start: u32,
    next: u32,
    /// Whether operations other than the one that returns were added to the alternatives.
    expanded: bool,
}

/// A choice that was left because of another key.
struct Aside {
    position: u32,
    expanded: bool,
    /// The alternative that was taken, and those after it.
    alternatives: Vec<(u32, u32)>,
}

struct Search<'a, M> {
    problem: &'a Problem,
    machine: M,
    ticker: Ticker<'a>,
    memo: Memo,

    position: usize,
    /// The state of each key.
    states: Vec<u32>,
    /// Open operations, by bit; and those of them that took effect.
    open: Vec<u64>,
    mask: Vec<u64>,
    at_bit: Vec<u32>,
    /// For each operation, how many that must precede it did not take effect yet.
    blocked: Vec<u32>,

    trail: Vec<Step>,
    choices: Vec<Choice>,
    /// Alternatives of all choices, one after the other: an operation and the state it leaves.
    alternatives: Vec<(u32, u32)>,
    /// Choices to be taken up again, for each key, the earliest last.
    aside: Vec<Vec<Aside>>,
    scratch: Vec<u32>,
    best: Best<u32>,
}

/// What walking the events came to.
enum Walked {
    End,
    /// This operation returns, but did not take effect.
    Forced(u32),
}

impl<M: Machine + ?Sized> Machine for &mut M {
    fn start(&mut self, key: usize) -> Option<u32> {
        (**self).start(key)
    }
    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        (**self).successors(state, op, out);
    }
    fn is_harmless(&self, state: u32, op: u32) -> bool {
        (**self).is_harmless(state, op)
    }
    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32> {
        (**self).commit(op, state, next)
    }
    fn retract(&mut self, op: u32) {
        (**self).retract(op);
    }
    fn growth(&self, op: u32) -> usize {
        (**self).growth(op)
    }
}

/// Bits of a set, lowest first.
fn bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    words.enumerate().flat_map(|(w, mut word)| {
        std::iter::from_fn(move || {
            let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
            word &= word - 1;
            Some(w * 64 + bit)
        })
    })
}

impl<'a, M: Machine> Search<'a, M> {
    fn new(problem: &'a Problem, machine: M, budget: &'a Budget) -> Self {
        let layout = &problem.layout;
        let ops = layout.rets.len();
        let keys = layout.key_count();
        let words = layout.words[keys];
        let words_per_key = (0..keys).map(|key| layout.words_of(key).len()).max();
        let mut blocked = vec![
            0;
            if problem.successors.is_empty() {
                0
            } else {
                ops
            }
        ];
        if !problem.successors.is_empty() {
            (0..ops as u32)
                .flat_map(|op| problem.successors.of(op))
                .for_each(|&later| blocked[later as usize] += 1);
        }
        Search {
            problem,
            machine,
            ticker: Ticker::new(budget),
            memo: Memo::new(words_per_key.unwrap_or(1)),
            position: 0,
            states: Vec::with_capacity(keys),
            open: vec![0; words],
            mask: vec![0; words],
            at_bit: vec![0; words * 64],
            blocked,
            trail: Vec::with_capacity(ops),
            choices: Vec::new(),
            alternatives: Vec::new(),
            aside: std::iter::repeat_with(Vec::new).take(keys).collect(),
            scratch: Vec::new(),
            best: Best::default(),
        }
    }

    fn run(mut self) -> Result<Found, GaveUp> {
        let found = self.find_order();
        self.best.note(self.position, &self.trail, |step| step.op);
        match found {
            Ok(true) => Ok(Found::Order(
                self.trail.iter().map(|step| step.op).collect(),
            )),
            Ok(false) => Ok(Found::Nothing {
                partial: self.best.order,
                reached: self.best.reached,
            }),
            Err(limit) => Err(GaveUp {
                cause: Cause::Limit(limit),
                reached: self.best.reached,
            }),
        }
    }

    fn find_order(&mut self) -> Result<bool, Limit> {
        let layout = &self.problem.layout;
        for key in 0..layout.key_count() {
            let Some(start) = self.machine.start(key) else {
                return Ok(false);
            };
            self.states.push(start);
        }
        loop {
            self.ticker.tick()?;
            let forced = match self.walk() {
                Walked::End => return Ok(true),
                Walked::Forced(op) => op,
            };
            self.best.note(self.position, &self.trail, |step| step.op);
            self.best.report(self.ticker.budget(), self.position);
            let key = layout.key(forced);
            let mask = &self.mask[layout.words_of(key)];
            if !self
                .memo
                .contains(self.position as u32, mask, self.states[key])
            {
                self.choose(forced)?;
            }
            if !self.take_next_alternative(key)? {
                return Ok(false);
            }
        }
    }

    /// The open operations of a key that did not take effect.
    fn waiting(&self, key: usize) -> impl Iterator<Item = u32> + use<'_, 'a, M> {
        let words = self.problem.layout.words_of(key);
        let at_bit = &self.at_bit[words.start * 64..];
        let (open, mask) = (&self.open[words.clone()], &self.mask[words]);
        bits(open.iter().zip(mask).map(|(open, mask)| open & !mask)).map(|bit| at_bit[bit])
    }

    /// Walks the events until a return forces a choice. On the way, whatever is harmless takes effect.
    fn walk(&mut self) -> Walked {
        while let Some(&(op, kind)) = self.problem.events.get(self.position) {
            let bit = self.problem.layout.bit[op as usize] as usize;
            let (word, flag) = (bit / 64, 1 << (bit % 64));
            match kind {
                EventKind::Call => {
                    self.open[word] |= flag;
                    self.at_bit[bit] = op;
                    self.position += 1;
                    if self.take_if_harmless(op) {
                        self.settle(self.problem.layout.key(op));
                    }
                }
                EventKind::Return if self.mask[word] & flag == 0 => return Walked::Forced(op),
                EventKind::Return => {
                    self.open[word] &= !flag;
                    self.mask[word] &= !flag;
                    self.position += 1;
                }
            }
        }
        Walked::End
    }

    /// Lets every open operation of a key take effect that does no harm, until none is left.
    fn settle(&mut self, key: usize) {
        loop {
            let mut changed = false;
            for word in self.problem.layout.words_of(key) {
                let mut waiting = self.open[word] & !self.mask[word];
                while waiting != 0 {
                    let bit = word * 64 + waiting.trailing_zeros() as usize;
                    waiting &= waiting - 1;
                    let before = self.states[key];
                    changed |=
                        self.take_if_harmless(self.at_bit[bit]) && self.states[key] != before;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn take_if_harmless(&mut self, op: u32) -> bool {
        let state = self.states[self.problem.layout.key(op)];
        if !self.machine.is_harmless(state, op) || self.is_blocked(op) {
            return false;
        }
        self.scratch.clear();
        self.machine.successors(state, op, &mut self.scratch);
        match self.scratch.first() {
            Some(&next) => self.take(op, next),
            None => false,
        }
    }

    fn is_blocked(&self, op: u32) -> bool {
        self.blocked
            .get(op as usize)
            .is_some_and(|&count| count > 0)
    }

    /// The operation takes effect and leaves `next`; `false` if nothing can come of it.
    fn take(&mut self, op: u32, next: u32) -> bool {
        let state = &mut self.states[self.problem.layout.key(op)];
        let Some(normal) = self.machine.commit(op, *state, next) else {
            self.machine.retract(op);
            return false;
        };
        self.trail.push(Step {
            op,
            state: *state,
            position: self.position as u32,
        });
        *state = normal;
        let bit = self.problem.layout.bit[op as usize] as usize;
        self.mask[bit / 64] |= 1 << (bit % 64);
        if !self.blocked.is_empty() {
            self.problem
                .successors
                .of(op)
                .iter()
                .for_each(|&later| self.blocked[later as usize] -= 1);
        }
        true
    }

    /// Opens a choice at the return of `forced`; the first alternatives are those in which it takes effect right now.
    ///
    /// If the choice was open before and nothing has changed for its key since, goes on where it was.
    fn choose(&mut self, forced: u32) -> Result<(), Limit> {
        let start = self.alternatives.len() as u32;
        let aside = self.aside[self.problem.layout.key(forced)].pop();
        self.choices.push(Choice {
            trail: self.trail.len() as u32,
            position: self.position as u32,
            start,
            next: start,
            expanded: aside.as_ref().is_some_and(|aside| aside.expanded),
        });
        let Some(aside) = aside else {
            return self.add_alternatives(forced);
        };
        debug_assert_eq!(aside.position as usize, self.position);
        self.alternatives.extend(aside.alternatives);
        Ok(())
    }

    fn add_alternatives(&mut self, op: u32) -> Result<(), Limit> {
        if self.is_blocked(op) {
            return Ok(());
        }
        let growth = self.machine.growth(op);
        if growth > 1 << 20 {
            self.ticker.budget().reserve(growth as u64)?;
        }
        self.scratch.clear();
        let state = self.states[self.problem.layout.key(op)];
        self.machine.successors(state, op, &mut self.scratch);
        self.alternatives
            .extend(self.scratch.iter().map(|&next| (op, next)));
        Ok(())
    }

    /// Goes back to the latest choice on this key that has an alternative left and takes it; `false` if there is none.
    fn take_next_alternative(&mut self, key: usize) -> Result<bool, Limit> {
        let layout = &self.problem.layout;
        while let Some(&choice) = self.choices.last() {
            self.go_back(choice);
            let (forced, _) = self.problem.events[self.position];
            if layout.key(forced) != key {
                self.put_aside(choice, layout.key(forced));
            } else if (choice.next as usize) < self.alternatives.len() {
                if let Some(top) = self.choices.last_mut() {
                    top.next += 1;
                }
                let (op, next) = self.alternatives[choice.next as usize];
                if self.take(op, next) {
                    self.settle(key);
                    return Ok(true);
                }
            } else if choice.expanded {
                // Nothing came of it: not to be tried again. No configuration comes back below itself, so it is early enough
                // to remember it now, and a search that finds an order at once remembers nothing.
                if self.problem.remembers {
                    self.memo.insert(
                        self.ticker.budget(),
                        self.position as u32,
                        &self.mask[layout.words_of(key)],
                        self.states[key],
                    )?;
                }
                self.alternatives.truncate(choice.start as usize);
                self.choices.pop();
            } else {
                if let Some(top) = self.choices.last_mut() {
                    top.expanded = true;
                }
                self.expand()?;
            }
        }
        Ok(false)
    }

    /// Leaves the latest choice, which is on `key`, until the walk comes to it again.
    fn put_aside(&mut self, choice: Choice, key: usize) {
        let taken = choice.next as usize - 1;
        self.aside[key].push(Aside {
            position: choice.position,
            expanded: choice.expanded,
            alternatives: self.alternatives.split_off(taken),
        });
        self.alternatives.truncate(choice.start as usize);
        self.choices.pop();
    }

    /// Adds the other open operations of the same key to the alternatives of the latest choice, in the order of their
    /// returns.
    fn expand(&mut self) -> Result<(), Limit> {
        let Problem {
            classes, layout, ..
        } = self.problem;
        let rets = &layout.rets;
        let (forced, _) = self.problem.events[self.position];
        let mut others: Vec<u32> = self.waiting(layout.key(forced)).collect();
        others.sort_unstable_by_key(|&op| (rets[op as usize], op));
        for (i, &op) in others.iter().enumerate() {
            let class = classes[op as usize];
            let twin_goes_first = others[..i]
                .iter()
                .any(|&earlier| classes[earlier as usize] == class);
            if op != forced && !twin_goes_first {
                self.add_alternatives(op)?;
            }
        }
        Ok(())
    }

    /// Undoes everything since the choice was opened.
    fn go_back(&mut self, choice: Choice) {
        while self.trail.len() > choice.trail as usize {
            let Some(step) = self.trail.pop() else { break };
            self.walk_back(step.position as usize);
            let bit = self.problem.layout.bit[step.op as usize] as usize;
            self.mask[bit / 64] &= !(1 << (bit % 64));
            self.states[self.problem.layout.key(step.op)] = step.state;
            self.machine.retract(step.op);
            if !self.blocked.is_empty() {
                self.problem
                    .successors
                    .of(step.op)
                    .iter()
                    .for_each(|&later| self.blocked[later as usize] += 1);
            }
        }
        self.walk_back(choice.position as usize);
        self.best.go_back(self.trail.len());
    }

    fn walk_back(&mut self, position: usize) {
        while self.position > position {
            self.position -= 1;
            let (op, kind) = self.problem.events[self.position];
            let bit = self.problem.layout.bit[op as usize] as usize;
            let (word, flag) = (bit / 64, 1 << (bit % 64));
            match kind {
                EventKind::Call => self.open[word] &= !flag,
                EventKind::Return => {
                    self.open[word] |= flag;
                    self.mask[word] |= flag;
                    self.at_bit[bit] = op;
                }
            }
        }
    }
}
