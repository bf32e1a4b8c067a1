//! The configurations that a part of a history can be in, event by event: the exact meaning of "possible so far".
//!
//! A configuration is a set of open operations that took effect, and a state. A call only makes an operation open. A
//! return closes the set under letting open operations take effect, keeps the configurations in which the operation that
//! returns took effect with its result, and forgets that operation there. The operations are not linearizable exactly if
//! some return leaves no configuration.
//!
//! What open operations did after the last operation that has returned is left out until a return asks for it, which
//! keeps the sets small: every order of a beginning that ends with an operation that has returned leads to one of these
//! configurations, or to one that [saturation](Walk::saturated) covers.
//!
//! A walk with [foresight](Results) uses results before they are returned, and so keeps fewer configurations; whether any
//! is left in the end is the same. Without it, the sets are those of the beginning by itself.
//!
//! Breadth first, without preferences and without knowledge of the object: it shares no code with the engines, and
//! certifies what they find.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use foldhash::fast::FixedState;

use crate::engine::{Budget, Facts, Limit, Task, Ticker};
use crate::history::{EventKind, NEVER, events_in_order};
use crate::spec::Spec;

/// An open operation that took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Taken {
    /// Its position.
    pub(super) op: u32,
    /// Whether it did so with the result that it will return.
    fits: bool,
    /// Whether that result tells what the state after the operation [leaves open](Spec::stands_for) until it returns.
    foretold: bool,
}

/// Which results a walk may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    /// All that are recorded.
    Foreseen,
    /// Those that have been returned; until then an operation may have any result.
    Returned,
}

/// The open operations that took effect, in ascending order, and the state that they left.
pub(super) struct Configuration<S: Spec> {
    pub(super) taken: Vec<Taken>,
    pub(super) state: S::State,
    /// How the operation that is [asked about](Walk::asking) took effect, if it did.
    asked: Option<Effect<S>>,
}

/// How an operation took effect.
pub(super) struct Effect<S: Spec> {
    /// The state before it.
    pub(super) before: S::State,
    /// `None` where only the state is asked for.
    pub(super) answer: Option<S::Ret>,
}

/// What an open operation may have done by now.
pub(super) struct Effects<S: Spec> {
    /// How it can have taken effect.
    pub(super) possible: Vec<Effect<S>>,
    /// The states in which it may not have done so yet.
    pub(super) waiting: HashSet<S::State>,
}

/// What is asked about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// In which states it can take effect, and what it answers there.
    Effects,
    /// Which states are possible while it is open, as if it took effect in each and changed nothing.
    States,
}

// Not derived: that would ask for traits of `S`, not of its state.
impl<S: Spec> Clone for Effect<S> {
    fn clone(&self) -> Self {
        Effect {
            before: self.before.clone(),
            answer: self.answer.clone(),
        }
    }
}

impl<S: Spec> Clone for Configuration<S> {
    fn clone(&self) -> Self {
        Configuration {
            taken: self.taken.clone(),
            state: self.state.clone(),
            asked: self.asked.clone(),
        }
    }
}

impl<S: Spec> PartialEq for Configuration<S> {
    fn eq(&self, other: &Self) -> bool {
        let is_same = match (&self.asked, &other.asked) {
            (None, None) => true,
            (Some(a), Some(b)) => a.before == b.before && a.answer == b.answer,
            _ => false,
        };
        is_same && self.taken == other.taken && self.state == other.state
    }
}

impl<S: Spec> Eq for Configuration<S> {}

impl<S: Spec> Configuration<S> {
    /// The state after these operations, among others, took effect with the results that they return.
    pub(super) fn with_taken(ops: impl IntoIterator<Item = u32>, state: S::State) -> Self {
        let fitting = |op| Taken {
            op,
            fits: true,
            foretold: false,
        };
        let mut taken: Vec<Taken> = ops.into_iter().map(fitting).collect();
        taken.sort_unstable();
        Configuration {
            taken,
            state,
            asked: None,
        }
    }

    /// Where an operation is among those that took effect, or would be.
    fn place(&self, op: u32) -> Result<usize, usize> {
        self.taken.binary_search_by_key(&op, |taken| taken.op)
    }

    /// Whether the state tells what no operation has returned yet.
    pub(super) fn is_foretold(&self) -> bool {
        self.taken.iter().any(|taken| taken.foretold)
    }

    /// Whether an operation took effect.
    pub(super) fn has_taken(&self, op: u32) -> bool {
        self.place(op).is_ok()
    }
}

impl<S: Spec> Hash for Configuration<S> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.taken.hash(hasher);
        self.state.hash(hasher);
    }
}

/// The position of no operation. Invariant: a history has fewer operations.
const NO_OP: u32 = u32::MAX;

/// Configurations that are possible after some event, and lead to all others that are.
pub(super) type Set<S> = HashSet<Configuration<S>, FixedState>;

/// Why a walk stopped before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// More configurations were possible at once than the walk may keep.
    TooMany,
    /// A limit was hit.
    Limit(Limit),
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Stopped::Limit(limit)
    }
}

/// A walk over the events of a task.
pub(super) struct Walk<'w, S: Spec> {
    task: &'w Task<'w, S>,
    /// The operations that were called and did not return, in the order of their calls.
    open: Vec<u32>,
    possible: Set<S>,
    /// The operation whose effects are noted, whatever it answers.
    asked: Option<(u32, About)>,
    results: Results,
    /// The most configurations that are kept at a time.
    most: usize,
    ticker: Ticker<'w>,
}

impl<'w, S: Spec> Walk<'w, S> {
    /// A walk that begins before the first event.
    pub(super) fn new(task: &'w Task<'w, S>, most: usize, budget: &'w Budget) -> Self {
        Walk::from(task, Vec::new(), initial(task), most, budget)
    }

    /// A walk that begins with these open operations and possible configurations.
    pub(super) fn from(
        task: &'w Task<'w, S>,
        open: Vec<u32>,
        possible: Set<S>,
        most: usize,
        budget: &'w Budget,
    ) -> Self {
        Walk {
            task,
            open,
            possible,
            asked: None,
            results: Results::Foreseen,
            most,
            ticker: Ticker::new(budget),
        }
    }

    /// The possible configurations after the events so far.
    pub(super) fn possible(&self) -> &Set<S> {
        &self.possible
    }

    /// The open operations after the events so far.
    pub(super) fn open(&self) -> &[u32] {
        &self.open
    }

    /// Whether this configuration, or one that is as good, is the only possible one.
    pub(super) fn is_only(&self, configuration: Configuration<S>) -> bool {
        let configuration = self.saturated(configuration, NO_OP);
        let mut possible = self.possible.iter();
        possible.all(|other| self.saturated(other.clone(), NO_OP) == configuration)
    }

    /// The possible configurations after the events so far, with all others that open operations lead to.
    #[cfg(test)]
    pub(super) fn closed(&mut self) -> Set<S> {
        let (closed, _) = self.close(NO_OP).expect("no limit");
        closed
    }

    /// Walks over one event. Returns whether any configuration is left.
    pub(super) fn event(&mut self, op: u32, kind: EventKind) -> Result<bool, Stopped> {
        match kind {
            EventKind::Call => self.open.push(op),
            EventKind::Return => {
                let (_, with_op) = self.close(op)?;
                self.open.retain(|&other| other != op);
                self.possible = self.generators(with_op)?;
            }
        }
        Ok(!self.possible.is_empty())
    }

    /// From here on the walk may use these results. Results that it has used already stay so.
    pub(super) fn use_results(&mut self, results: Results) {
        self.results = results;
    }

    /// The same walk, which notes how `op` takes effect. The task must have it as a pending operation.
    pub(super) fn asking(mut self, op: u32, about: About) -> Self {
        self.asked = Some((op, about));
        self
    }

    /// How the operation that is asked about, which is open, can have taken effect by now.
    pub(super) fn effects(&mut self, op: u32) -> Result<Effects<S>, Stopped> {
        let (without, with_op) = self.close(op)?;
        let effects = with_op.into_iter().filter_map(|with_op| with_op.asked);
        let waiting = without.into_iter().map(|without| without.state);
        Ok(Effects {
            possible: effects.collect(),
            waiting: waiting.collect(),
        })
    }

    /// The configurations that open operations lead to: those in which `op` did not take effect, and those in which it
    /// was the last to do so or had done so before, with `op` forgotten.
    fn close(&mut self, op: u32) -> Result<(Set<S>, Set<S>), Stopped> {
        let (mut without, mut with_op) = (Set::default(), Set::default());
        let mut frontier = Vec::new();
        for configuration in &self.possible {
            self.ticker.tick()?;
            let mut configuration = configuration.clone();
            if let Ok(place) = configuration.place(op) {
                if configuration.taken.remove(place).fits {
                    with_op.insert(configuration);
                }
                continue;
            }
            let saturated = self.saturated(configuration, op);
            if without.insert(saturated.clone()) {
                frontier.push(saturated);
            }
        }
        while let Some(configuration) = frontier.pop() {
            for (i, &other) in self.open.iter().enumerate() {
                self.ticker.tick()?;
                let Err(place) = configuration.place(other) else {
                    continue;
                };
                if self.repeats_earlier(i, &configuration) {
                    continue;
                }
                for (taken, mut next) in self.successors(&configuration, other, op) {
                    if other == op {
                        with_op.insert(next);
                        continue;
                    }
                    next.taken.insert(place, taken);
                    let next = self.saturated(next, op);
                    if without.insert(next.clone()) {
                        frontier.push(next);
                    }
                }
                if with_op.len() + without.len() > self.most {
                    return Err(Stopped::TooMany);
                }
            }
        }
        Ok((without, with_op))
    }

    /// The configurations of a set that no other one of it leads to. Those lead to all others when they are asked for.
    fn generators(&mut self, set: Set<S>) -> Result<Set<S>, Stopped> {
        if set.len() < 2 {
            return Ok(set);
        }
        let set: Set<S> = set
            .into_iter()
            .map(|configuration| self.saturated(configuration, NO_OP))
            .collect();
        let mut reached = Set::default();
        for configuration in &set {
            for &op in &self.open {
                self.ticker.tick()?;
                let Err(place) = configuration.place(op) else {
                    continue;
                };
                for (taken, mut next) in self.successors(configuration, op, NO_OP) {
                    next.taken.insert(place, taken);
                    let next = self.saturated(next, NO_OP);
                    if let Some(known) = set.get(&next) {
                        reached.insert(known.clone());
                    }
                }
            }
        }
        let is_generator = |configuration: &Configuration<S>| !reached.contains(configuration);
        Ok(set.into_iter().filter(is_generator).collect())
    }

    /// The configurations that `op` leads to, in which it is not yet among those that took effect, and how it did.
    /// `returning` is the operation that returns next: of that, only what fits counts.
    fn successors(
        &self,
        configuration: &Configuration<S>,
        op: u32,
        returning: u32,
    ) -> Vec<(Taken, Configuration<S>)> {
        let Configuration {
            taken,
            state,
            asked,
        } = configuration;
        let (spec, task_op) = (self.task.spec, self.task.ops[op as usize]);
        let (operation, ret) = self.task.action(op as usize);
        let fitting = Taken {
            op,
            fits: true,
            foretold: false,
        };
        let with = |how: Taken, state, asked| {
            let taken = taken.clone();
            let next = Configuration {
                taken,
                state,
                asked,
            };
            (how, next)
        };
        if let Some((_, about)) = self.asked.filter(|(asked, _)| *asked == op) {
            let effect = |answer| Effect {
                before: state.clone(),
                answer,
            };
            if about == About::States {
                return vec![with(fitting, state.clone(), Some(effect(None)))];
            }
            let outcomes = spec.apply(state, operation).into_pairs().into_iter();
            return outcomes
                .map(|(answer, next)| with(fitting, next, Some(effect(Some(answer)))))
                .collect();
        }
        let left = spec.step(state, operation, ret);
        let mut others = Vec::new();
        // An operation is never better off with a result that it will not return, unless that changes the state otherwise.
        if self.results == Results::Returned
            && op != returning
            && ret.is_some()
            && !self.task.is_pure(task_op.relaxed())
        {
            others = spec.step(state, operation, None);
            others.retain(|next| !left.contains(next));
        }
        let foretold = |next: &S::State| others.iter().any(|other| spec.stands_for(other, next));
        let mut all = Vec::with_capacity(left.len() + others.len());
        for next in left {
            let foretold = foretold(&next);
            let how = Taken {
                foretold,
                ..fitting
            };
            all.push(with(how, next, asked.clone()));
        }
        for next in others {
            let how = Taken {
                fits: false,
                ..fitting
            };
            all.push(with(how, next, asked.clone()));
        }
        all
    }

    /// The same configuration, in which all open operations but `op` took effect whose recorded results fit the state and
    /// that leave it as it is. Whatever is possible without them is possible with them, so the others need not be kept.
    fn saturated(&self, mut configuration: Configuration<S>, op: u32) -> Configuration<S> {
        for &other in self.open.iter().filter(|&&other| other != op) {
            let Err(place) = configuration.place(other) else {
                continue;
            };
            let (operation, ret) = self.task.action(other as usize);
            let is_pure = match self.results {
                Results::Foreseen => self.task.spec.is_pure(operation, ret),
                // Until it returns, it may have another result that changes the state.
                Results::Returned => self.task.spec.is_pure(operation, None),
            };
            let fits = || {
                let next = self.task.spec.step(&configuration.state, operation, ret);
                !next.is_empty()
            };
            if ret.is_some() && is_pure && fits() {
                let taken = Taken {
                    op: other,
                    fits: true,
                    foretold: false,
                };
                configuration.taken.insert(place, taken);
            }
        }
        configuration
    }

    /// Whether the open operation at a position is pending and an earlier one that did not take effect does the same:
    /// exchanging the two changes nothing, so only the earlier one is tried.
    fn repeats_earlier(&self, i: usize, configuration: &Configuration<S>) -> bool {
        let action = |op: u32| {
            let is_asked = self.asked.is_some_and(|(asked, _)| asked == op);
            let is_free = self.task.ops[op as usize].ret == NEVER && !is_asked;
            is_free.then(|| self.task.action(op as usize).0)
        };
        action(self.open[i]).is_some_and(|same| {
            let mut earlier = self.open[..i].iter();
            earlier.any(|&op| action(op) == Some(same) && !configuration.has_taken(op))
        })
    }
}

/// What is possible before the first event.
pub(super) fn initial<S: Spec>(task: &Task<'_, S>) -> Set<S> {
    let start = Configuration::with_taken([], task.spec.init());
    [start].into_iter().collect()
}

/// The calls and returns of a task in the order of time, by position.
pub(super) fn events<S: Spec>(task: &Task<'_, S>) -> Vec<(u32, EventKind)> {
    let calls: Vec<u32> = task.ops.iter().map(|op| op.call).collect();
    let rets: Vec<u32> = task.ops.iter().map(|op| op.ret).collect();
    events_in_order(&calls, &rets)
}

/// Returns whether no order explains `task`; `None` if that takes more than `most` configurations at a time, or more than
/// the budget allows.
pub(crate) fn has_no_order<S: Spec>(
    task: &Task<'_, S>,
    most: usize,
    budget: &Budget,
) -> Option<bool> {
    let mut walk = Walk::new(task, most, budget);
    for (op, kind) in events(task) {
        if !walk.event(op, kind).ok()? {
            return Some(true);
        }
    }
    Some(false)
}
