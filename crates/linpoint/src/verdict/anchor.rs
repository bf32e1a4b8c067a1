//! Explains a violation by what was possible: the states before the first bad event, and a core that starts from an
//! anchor instead of the initial state. Ours.
//!
//! An anchor is an earlier return after which few configurations are possible, whatever the order. The operations before
//! it need not be looked at again: the core has only operations after it whose results and times contradict each other
//! from every one of these configurations on.

use std::collections::VecDeque;

use super::configurations::{
    About, Configuration, Effect, Effects, Results, Set, Stopped, Walk, events, initial,
};
use super::explain::Found;
use super::late::{self, ExplainedPrefix};
use super::reduce::last_rank;
use super::{Claim, Confirmation, Listed};
use crate::engine::{Budget, Facts, Task};
use crate::history::{EventKind, NEVER, OpId};
use crate::spec::Spec;

/// The most configurations that are kept at a time.
const MOST_CONFIGURATIONS: usize = 20_000;

/// The most configurations of a point that serves as an anchor.
const MOST_ANCHORED: usize = 4;

/// The most anchors that are tried.
const MOST_ANCHORS: usize = 12;

/// How many events before the first bad one are looked at closely, at least.
const WINDOW: usize = 200;

/// The most states and answers that a sentence lists.
const MOST_STATES: usize = 3;
const MOST_ANSWERS: usize = 4;

/// What was known of the object at some return before the first bad event, whatever the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The operation that returned.
    pub after: OpId,
    /// The states that were possible then, each as a clause, apart from what the operations in `open` made of them.
    pub states: Listed,
    /// Operations that were open then and had taken effect in each of these states, if they could change it or the core depends on that.
    pub taken: Vec<OpId>,
    /// Operations that were open then, of which some had taken effect, but not the same ones whatever the order. The states have
    /// such an effect only where the results need it.
    pub counted: Vec<OpId>,
    /// Other operations that were open then and may have changed the state by that time. They had not taken effect in these states.
    pub open: Vec<OpId>,
}

impl Anchor {
    /// When it was known, and what, as two clauses. `describe` names an operation.
    pub fn clauses(&self, describe: impl Fn(OpId) -> String) -> [String; 2] {
        let named = |ids: &[OpId], both: &str, of: &str| match ids {
            [one] => describe(*one),
            [one, other] => format!("{} {both} {}", describe(*one), describe(*other)),
            many => format!("{of}{} operations", many.len()),
        };
        let mut what = format!("{}, whatever the order", self.states.alternatives());
        if !self.taken.is_empty() {
            let effects = if self.taken.len() == 1 {
                "effect"
            } else {
                "effects"
            };
            let taken = named(&self.taken, "and", "");
            what += &format!(", with the {effects} of {taken}, still open");
        }
        if !self.counted.is_empty() {
            let counted = named(&self.counted, "and", "");
            what += &format!(
                ", counting what {counted}, still open, had done only as far as the results need it"
            );
        }
        if !self.open.is_empty() {
            let open = named(&self.open, "or", "one of ");
            what += &format!(", unless {open}, still open, had taken effect by then");
        }
        [format!("when {} had returned", describe(self.after)), what]
    }
}

/// What was possible when an operation returned that no order explains.
#[derive(Clone, Debug, PartialEq)]
pub struct Possible {
    /// The states in which the operation might have taken effect, each as a clause. If no order lets it do so, those in which the
    /// others left the object when it returned.
    pub states: Listed,
    /// What it could have answered in them; none if no order lets it take effect.
    pub answers: Listed,
}

impl Possible {
    /// The claim that the operation cannot have answered what it did.
    pub(super) fn claim(&self, op: OpId) -> Claim {
        let states = self.states.clone();
        match self.answers.count {
            0 => Claim::CannotHappen { op, states },
            _ => Claim::OnlyAnswers {
                op,
                states,
                answers: self.answers.clone(),
            },
        }
    }
}

/// What a walk over a beginning of a history found that ends with the first bad event.
pub(super) struct Observed<S: Spec> {
    pub(super) possible: Possible,
    /// The states, each as a clause, that were possible before the last operation took effect, as long as it was open. If no order
    /// lets it take effect, those of orders without it.
    pub(super) while_open: Listed,
    /// The states, each as a clause, in which the last operation may not have taken effect yet when it returned.
    pub(super) at_return: Listed,
    anchors: Vec<Point<S>>,
}

/// A return, and what was possible after it.
struct Point<S: Spec> {
    /// The number of events up to it.
    events: usize,
    op: u32,
    open: Vec<u32>,
    configurations: Set<S>,
}

/// A point near the first bad event, from which walks begin that look more closely.
pub(super) struct Approach<S: Spec> {
    /// The number of events up to it.
    events: usize,
    open: Vec<u32>,
    /// The open operations whose results were used already.
    foreseen: Vec<u32>,
    configurations: Set<S>,
}

impl<S: Spec> Approach<S> {
    /// The point before the first event.
    fn start(task: &Task<'_, S>) -> Self {
        Approach::at(task, 0, Vec::new(), initial(task))
    }

    /// The point after so many events that a walk with foresight came to.
    fn at(task: &Task<'_, S>, events: usize, open: Vec<u32>, configurations: Set<S>) -> Self {
        let returns = |op: &u32| task.ops[*op as usize].ret != NEVER;
        Approach {
            events,
            foreseen: open.iter().copied().filter(returns).collect(),
            open,
            configurations,
        }
    }

    /// Walks over the events of `task`, with foresight, until no configuration is left. Returns a point at least [`WINDOW`]
    /// events before that, or the start; `None` if some configuration is left in the end.
    ///
    /// The walk begins close to the end of what is `explained`, if all that is possible there is known.
    pub(super) fn to_bad(
        task: &Task<'_, S>,
        explained: ExplainedPrefix<'_>,
        budget: &Budget,
    ) -> Result<Option<Self>, Stopped> {
        let late = late::start(task, explained, WINDOW, &budget.slice(budget.left() / 4));
        let start = match late {
            Some(late) => Approach::at(task, late.events, late.open, late.configurations),
            None => Approach::start(task),
        };
        let (open, configurations) = (start.open.clone(), start.configurations.clone());
        let mut walk = Walk::from(task, open, configurations, MOST_CONFIGURATIONS, budget);
        let (first, mut earlier, mut later) = (start.events, None, start);
        for (i, (op, kind)) in events(task).into_iter().enumerate().skip(first) {
            if i - later.events == WINDOW {
                let open = walk.open().to_vec();
                let point = Approach::at(task, i, open, walk.possible().clone());
                earlier = Some(std::mem::replace(&mut later, point));
            }
            if !walk.event(op, kind)? {
                return Ok(Some(earlier.unwrap_or(later)));
            }
        }
        Ok(None)
    }

    /// A walk over `task` from here on, which uses no result before it is returned.
    fn walk<'w>(&self, task: &'w Task<'w, S>, budget: &'w Budget) -> Walk<'w, S> {
        let (open, configurations) = (self.open.clone(), self.configurations.clone());
        let mut walk = Walk::from(task, open, configurations, MOST_CONFIGURATIONS, budget);
        walk.use_results(Results::Returned);
        walk
    }

    /// The number of events of `task` up to the first bad one; `None` if that is not known.
    pub(super) fn first_bad(
        &self,
        task: &Task<'_, S>,
        budget: &Budget,
    ) -> Result<Option<usize>, Stopped> {
        let mut walk = self.walk(task, budget);
        let mut foreseen = self.foreseen.clone();
        for (i, (op, kind)) in events(task).into_iter().enumerate().skip(self.events) {
            let is_left = walk.event(op, kind)?;
            foreseen.retain(|&other| kind == EventKind::Call || other != op);
            if !is_left {
                return Ok(foreseen.is_empty().then_some(i + 1));
            }
        }
        Ok(None)
    }

    /// Walks over the rest of `beginning`, whose last event is a return that no order explains, with the operation that returns
    /// as a pending one.
    pub(super) fn observe(
        &self,
        beginning: &Task<'_, S>,
        budget: &Budget,
    ) -> Result<Observed<S>, Stopped> {
        let events = events(beginning);
        let Some((&(last, EventKind::Return), before)) = events.split_last() else {
            unreachable!("bug: the first bad event is no return");
        };
        let has_ended = |op: &u32| {
            beginning
                .ops
                .get(*op as usize)
                .is_some_and(|op| op.ret != NEVER)
        };
        if self.foreseen.contains(&last) || !self.foreseen.iter().all(has_ended) {
            // A result was used that must not be.
            return Approach::start(beginning).observe(beginning, budget);
        }
        let mut explained = beginning.clone();
        explained.ops[last as usize].ret = NEVER;
        let mut walk = self.walk(&explained, budget).asking(last, About::Effects);
        let mut anchors = VecDeque::new();
        let mut foreseen = self.foreseen.clone();
        for (i, &(op, kind)) in before.iter().enumerate().skip(self.events) {
            walk.event(op, kind)?;
            foreseen.retain(|&other| kind == EventKind::Call || other != op);
            // What the state tells must have been known by then, and must not depend on the last operation.
            let is_unfit = |configuration: &Configuration<S>| {
                configuration.has_taken(last) || configuration.is_foretold()
            };
            if kind == EventKind::Return
                && foreseen.is_empty()
                && walk.possible().len() <= MOST_ANCHORED
                && !walk.possible().iter().any(is_unfit)
            {
                if anchors.len() == MOST_ANCHORS {
                    anchors.pop_front();
                }
                anchors.push_back(Point {
                    events: i + 1,
                    op,
                    open: walk.open().to_vec(),
                    configurations: walk.possible().clone(),
                });
            }
        }
        let Effects {
            possible: effects,
            waiting,
        } = walk.effects(last)?;
        let (asked, _) = beginning.action(last as usize);
        let words = |effect: &Effect<S>| {
            let answer = effect.answer.as_ref()?;
            Some(beginning.spec.answer_words(&effect.before, asked, answer))
        };
        let answers: Vec<String> = effects.iter().filter_map(words).collect();
        let before_effect =
            |effects: &[Effect<S>]| clauses(beginning, effects.iter().map(|effect| &effect.before));
        let at_return = clauses(beginning, waiting.iter());
        let (states, while_open) = match effects.is_empty() {
            true => {
                let mut walk = self.walk(&explained, budget).asking(last, About::States);
                for &(op, kind) in before.iter().skip(self.events) {
                    walk.event(op, kind)?;
                }
                let while_open = before_effect(&walk.effects(last)?.possible);
                (at_return.clone(), while_open)
            }
            false => (before_effect(&effects), before_effect(&effects)),
        };
        Ok(Observed {
            possible: Possible {
                states,
                answers: Listed::of(answers, MOST_ANSWERS),
            },
            while_open,
            at_return,
            anchors: anchors.into(),
        })
    }
}

/// What the states say, each as a clause; of the key alone that the task is about, where the history was split by key.
fn clauses<'s, S: Spec>(task: &Task<'_, S>, states: impl Iterator<Item = &'s S::State>) -> Listed
where
    S::State: 's,
{
    let key = task.only_key();
    let words = |state| task.spec.state_words(state, key.as_ref());
    Listed::of(states.map(words), MOST_STATES)
}

/// The smallest core that starts from one of the anchors, if there is any. The operations that are `told` may contradict
/// each other, so a core of these, or an anchor at one of them, is preferred.
pub(super) fn core<S: Spec>(
    beginning: &Task<'_, S>,
    observed: &Observed<S>,
    told: &[OpId],
    budget: &Budget,
) -> Option<Found> {
    let mut best: Option<(usize, Found)> = None;
    for point in observed.anchors.iter().rev() {
        if budget.check().is_err() {
            break;
        }
        let Some(core) = from_point(beginning, point, told, budget) else {
            continue;
        };
        // A second possible state is as much to read as three operations.
        let states = core.anchor.as_ref().map_or(1, |anchor| anchor.states.count);
        let after = beginning.ops[point.op as usize].id;
        let length = 2 * (core.ops.len() + 3 * (states - 1)) + usize::from(!told.contains(&after));
        if best.as_ref().is_none_or(|(least, _)| length < *least) {
            best = Some((length, core));
        }
    }
    best.map(|(_, core)| core)
}

/// Reduces the operations after a point to those that contradict each other from there on.
fn from_point<S: Spec>(
    beginning: &Task<'_, S>,
    point: &Point<S>,
    told: &[OpId],
    budget: &Budget,
) -> Option<Found> {
    let events = events(beginning);
    let later = &events[point.events..];
    let mut window = Window {
        point,
        later,
        task: beginning.clone(),
        budget,
        undecided: false,
    };
    if !window.is_contradictory() {
        return None;
    }
    let returns = later.iter().filter(|(_, kind)| *kind == EventKind::Return);
    let returns: Vec<u32> = returns.map(|&(op, _)| op).collect();
    let is_told = |op: &u32| told.contains(&beginning.ops[*op as usize].id);
    let (told, others): (Vec<u32>, Vec<u32>) = returns.into_iter().partition(is_told);
    window.relax(others);
    window.relax(told);
    let needed = window.needed_taken()?;
    let Still {
        taken,
        counted,
        open,
    } = Still::at(beginning, point, &needed);
    let is_needed = |op: u32| {
        let mut alike = alike(beginning, point, op);
        alike.any(|op| needed.contains(&beginning.ops[op as usize].id))
    };
    let returned = |op: u32| window.task.ops[op as usize].ret != NEVER;
    let kept = later
        .iter()
        .filter(|&&(op, kind)| kind == EventKind::Return && returned(op));
    let mut ops: Vec<OpId> = kept.map(|&(op, _)| beginning.ops[op as usize].id).collect();
    ops.sort_unstable();
    let called = later.iter().filter(|(_, kind)| *kind == EventKind::Call);
    let others = point.open.iter().copied().chain(called.map(|&(op, _)| op));
    let others = others.filter(|&op| !is_needed(op));
    let others = others.map(|op| window.task.ops[op as usize]);
    let mut relaxed: Vec<OpId> = others
        .filter(|&op| op.ret == NEVER && !beginning.is_pure(op) && !taken.contains(&op.id))
        .map(|op| op.id)
        .collect();
    relaxed.sort_unstable();
    let states = point
        .configurations
        .iter()
        .map(|configuration| &configuration.state);
    Some(Found {
        anchor: Some(Anchor {
            after: beginning.ops[point.op as usize].id,
            states: clauses(beginning, states),
            taken,
            counted,
            open,
        }),
        ops,
        relaxed,
        place: None,
        cut: last_rank(&beginning.ops),
        minimal: !window.undecided,
        confirmation: Confirmation::Walk,
    })
}

/// What became of the operations that are open at a point, in the configurations there: all of those that may change the state,
/// and those that a core needs.
struct Still {
    /// They took effect in all.
    taken: Vec<OpId>,
    /// They took effect in some, or others that are alike did.
    counted: Vec<OpId>,
    /// Neither they nor others that are alike took effect in any.
    open: Vec<OpId>,
}

impl Still {
    /// `needed` are operations whose effect the core depends on.
    fn at<S: Spec>(beginning: &Task<'_, S>, point: &Point<S>, needed: &[OpId]) -> Self {
        let mut still = Still {
            taken: Vec::new(),
            counted: Vec::new(),
            open: Vec::new(),
        };
        let is_pure = |op: u32| beginning.is_pure(beginning.ops[op as usize].relaxed());
        for &op in &point.open {
            let task_op = beginning.ops[op as usize];
            if is_pure(op) && !needed.contains(&task_op.id) {
                continue;
            }
            let (mut in_all, mut in_none) = (true, true);
            for other in alike(beginning, point, op) {
                for configuration in &point.configurations {
                    match configuration.has_taken(other) {
                        true => in_none = false,
                        false => in_all = false,
                    }
                }
            }
            match (in_all, in_none) {
                (true, _) => still.taken.push(task_op.id),
                (false, true) => still.open.push(task_op.id),
                (false, false) => still.counted.push(task_op.id),
            }
        }
        // Where each state is possible without the effects of any of them too, no more need be said.
        let taken = |op: u32| still.taken.contains(&beginning.ops[op as usize].id);
        let is_plain = |configuration: &&Configuration<S>| {
            let mut open = point.open.iter().copied();
            open.all(|op| !configuration.has_taken(op) || taken(op) || is_pure(op))
        };
        let mut configurations = point.configurations.iter();
        let is_possible_without = |of: &Configuration<S>| {
            let mut plain = point.configurations.iter().filter(is_plain);
            plain.any(|other| other.state == of.state)
        };
        if configurations.all(is_possible_without) {
            still.open.append(&mut still.counted);
        }
        for ids in [&mut still.taken, &mut still.counted, &mut still.open] {
            ids.sort_unstable();
        }
        still
    }
}

/// The open operations that configurations do not tell from this one, and itself: where several pending operations are equal, a
/// walk lets the earliest take effect for all of them.
fn alike<'p, S: Spec>(
    beginning: &'p Task<'_, S>,
    point: &'p Point<S>,
    op: u32,
) -> impl Iterator<Item = u32> + 'p {
    let pending = |op: u32| {
        let is_pending = beginning.ops[op as usize].ret == NEVER;
        is_pending.then(|| beginning.action(op as usize).0)
    };
    let same = pending(op);
    let open = point.open.iter().copied();
    open.filter(move |&other| other == op || same.is_some() && pending(other) == same)
}

/// The events after a point, of which some operations are relaxed.
struct Window<'a, 'b, S: Spec> {
    point: &'a Point<S>,
    later: &'a [(u32, EventKind)],
    task: Task<'b, S>,
    budget: &'a Budget,
    /// Some attempt was not decided.
    undecided: bool,
}

impl<S: Spec> Window<'_, '_, S> {
    /// Whether the result or the effect of an operation counts.
    fn matters(&self, op: u32) -> bool {
        let op = self.task.ops[op as usize];
        op.ret != NEVER || !self.task.is_pure(op)
    }

    /// Whether no configuration of the point is left after the events, of which relaxed operations have no return.
    fn is_contradictory(&mut self) -> bool {
        self.has_no_order_from(self.point.configurations.clone())
    }

    /// The open operations that must have taken effect at the point for the contradiction. `None` if they are not the same in
    /// all configurations.
    fn needed_taken(&mut self) -> Option<Vec<OpId>> {
        const MOST_TAKEN: usize = 4;
        let mut free = Set::default();
        for configuration in &self.point.configurations {
            let count = configuration.taken.len();
            let subsets = match count <= MOST_TAKEN {
                true => 0..1u32 << count,
                false => 0..1,
            };
            free.extend(subsets.map(|subset| {
                let mut some = configuration.clone();
                let mut i = 0;
                some.taken.retain(|_| {
                    i += 1;
                    subset >> (i - 1) & 1 == 1
                });
                some
            }));
        }
        if self.has_no_order_from(free) {
            return Some(Vec::new());
        }
        let taken = |configuration: &Configuration<S>| -> Vec<OpId> {
            let taken = configuration.taken.iter().map(|taken| taken.op);
            let taken = taken.filter(|&op| self.matters(op));
            taken.map(|op| self.task.ops[op as usize].id).collect()
        };
        let mut all = self.point.configurations.iter().map(taken);
        let first = all.next()?;
        all.all(|other| other == first).then_some(first)
    }

    fn has_no_order_from(&mut self, configurations: Set<S>) -> bool {
        let matters = |op: u32| self.matters(op);
        let open = self.point.open.iter().copied().filter(|&op| matters(op));
        let configurations = configurations.into_iter().map(|mut configuration| {
            configuration.taken.retain(|taken| matters(taken.op));
            configuration
        });
        let mut walk = Walk::from(
            &self.task,
            open.collect(),
            configurations.collect(),
            MOST_CONFIGURATIONS,
            self.budget,
        );
        // Configurations in which an operation took effect with another result than it returns end when it returns.
        for &(op, kind) in self.later {
            let is_relaxed = self.task.ops[op as usize].ret == NEVER;
            if kind == EventKind::Return && is_relaxed || !matters(op) {
                continue;
            }
            match walk.event(op, kind) {
                Ok(true) => {}
                Ok(false) => return true,
                Err(_) => {
                    self.undecided = true;
                    return false;
                }
            }
        }
        false
    }

    /// Relaxes as many of these operations as possible: many at once first, down to single ones.
    fn relax(&mut self, returned: Vec<u32>) {
        let mut left = returned;
        let mut size = left.len();
        let was_undecided = self.undecided;
        while size >= 1 {
            // Smaller attempts follow those that were not decided.
            self.undecided = was_undecided;
            let mut next = Vec::new();
            for chunk in left.chunks(size) {
                if self.budget.check().is_err() {
                    self.undecided = true;
                    return;
                }
                let before = self.task.ops.clone();
                for &op in chunk {
                    self.task.ops[op as usize].ret = NEVER;
                }
                if !self.is_contradictory() {
                    self.task.ops = before;
                    next.extend_from_slice(chunk);
                }
            }
            left = next;
            size /= 2;
        }
    }
}
