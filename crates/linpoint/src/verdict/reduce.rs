//! Reduces a violation to its core, by steps that keep linearizable histories linearizable. Ours.
//!
//! Dropping operations at will is unsound: a read without its write looks wrong. What is allowed, and why:
//!
//! * **Cut** to a beginning: what was linearizable stays so, with the operations open at the cut left pending.
//! * **Drop an operation that changes no state**: no other operation can notice it.
//! * **Drop all operations on some values** of a container, a slot, or the entries of a snapshot ([`Role`]): that is
//!   the contract of the roles. In a slot, values that one operation exchanges for each other go together, and nothing
//!   may need the slot to *differ* from a value, since dropping a write uncovers an older value.
//! * **Drop an update of a snapshot that writes what its entry holds**: no other update of the entry overlaps it, and
//!   the last one before it wrote the same.
//! * **Relax** an operation: forget its result and its return. It may then have happened at any time after its call,
//!   with any result, or not at all; that includes what it did.
//!
//! What is left unrelaxed is the core: these results at these times contradict each other, whatever the others did.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::certify;
use crate::engine::{
    Answer, Budget, Facts, GaveUp, Stopwatch, TaskOp, count_events, first_return_after, until,
};
use crate::history::{NEVER, OpId};
use crate::spec::{Need, Role};
use crate::value::Value;

/// A smaller history that is not linearizable either.
#[derive(Clone, Debug)]
pub(crate) struct Reduced {
    /// What is left.
    pub(crate) ops: Vec<TaskOp>,
    /// The rank up to which the history was kept.
    pub(crate) cut: u32,
    /// Whether no further reduction keeps the contradiction.
    pub(crate) minimal: bool,
}

/// Where the history stops being linearizable.
pub(crate) struct BadPrefix {
    /// Events of the shortest beginning that is not linearizable.
    pub(crate) events: usize,
    /// Events of the longest beginning that is known to be linearizable.
    pub(crate) explained: usize,
    /// Explains these.
    pub(crate) partial: Vec<OpId>,
    /// Whether it is known to be the shortest.
    pub(crate) shortest: bool,
}

/// How long it may take to find out whether an operation is a premise.
const PREMISE_PATIENCE: Duration = Duration::from_millis(50);

/// Decides whether some operations of a task are linearizable.
pub(crate) type Decide<'d> = &'d dyn Fn(&[TaskOp], &Budget) -> Result<Answer, GaveUp>;

/// The values that an operation with this role is about; `None` if that is not known.
pub(super) fn values_of(role: &Role) -> Option<Vec<Value>> {
    match role {
        // What an append leaves depends on what others wrote; a count has no values.
        Role::Opaque | Role::Appends(_) | Role::Counts { .. } => None,
        Role::Slot { needs, leaves } => {
            let needs = match needs {
                Need::Anything => None,
                Need::Is(value) | Need::IsNot(value) => Some(value),
            };
            Some(needs.into_iter().chain(leaves).cloned().collect())
        }
        Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) => Some(vec![value.clone()]),
        Role::RemovesSome | Role::Empty => Some(Vec::new()),
        Role::Updates { entry, value } => Some(vec![entry_value(*entry, value.as_ref())]),
        // Every scan sees the initial value in the entries that it leaves out.
        Role::Scans(entries) => {
            let seen = (0..).zip(entries).filter(|(_, value)| value.is_some());
            let seen = seen.map(|(entry, value)| entry_value(entry, value.as_ref()));
            Some(seen.chain([entry_value(0, None)]).collect())
        }
    }
}

/// A value together with its entry of a snapshot; the initial value is the same in all entries.
fn entry_value(entry: u32, value: Option<&Value>) -> Value {
    value.map_or(Value::Nil, |value| {
        Value::list([Value::Int(entry.into()), value.clone()])
    })
}

/// The first `events` calls and returns of `ops`: what was open then is pending.
pub(crate) fn prefix(ops: &[TaskOp], events: usize) -> Vec<TaskOp> {
    let mut ranks: Vec<u32> = ops
        .iter()
        .flat_map(|op| [op.call, op.ret])
        .filter(|&rank| rank != NEVER)
        .collect();
    ranks.sort_unstable();
    let Some(&last) = events.checked_sub(1).and_then(|last| ranks.get(last)) else {
        return Vec::new();
    };
    until(ops, last)
}

/// The shortest beginning of `ops` that is not linearizable; the first `bad` events are not.
///
/// The first `reached` events are known to be explained by `partial`.
pub(crate) fn shortest_bad_prefix(
    ops: &[TaskOp],
    bad: usize,
    reached: usize,
    partial: Vec<OpId>,
    budget: &Budget,
    decide: Decide<'_>,
) -> BadPrefix {
    let mut found = BadPrefix {
        events: bad,
        explained: reached,
        partial,
        shortest: true,
    };
    // The engines usually come close: look near what they know first, be it what is good or what is bad.
    let knows_bad = bad < count_events(ops);
    let mut stride = 1;
    while found.explained + 1 < found.events {
        let good = found.explained;
        let middle = good + (found.events - good) / 2;
        let probe = if knows_bad {
            (found.events - 1).saturating_sub(stride - 1).max(middle)
        } else {
            (good + stride).min(middle).max(good + 1)
        };
        match decide(&prefix(ops, probe), budget) {
            Ok(Answer::Linearizable { order, .. }) => {
                (found.explained, found.partial) = (probe, order);
                stride = if knows_bad {
                    1.max(stride / 4)
                } else {
                    stride * 2
                };
            }
            Ok(Answer::NotLinearizable { .. }) => {
                found.events = probe;
                stride = if knows_bad {
                    stride * 2
                } else {
                    1.max(stride / 4)
                };
            }
            Err(_) => {
                found.shortest = false;
                return found;
            }
        }
    }
    found
}

/// The operations that an engine found contradictory as a history that follows from the whole one by sound reductions: [few](few_from)
/// if other operations may be dropped, or else together with all others, relaxed.
pub(super) fn start_from(whole: &dyn Facts, contradicting: &[TaskOp]) -> Vec<TaskOp> {
    few_from(whole, contradicting).unwrap_or_else(|| with_relaxed(whole, contradicting, &|_| true))
}

/// The same, if all operations may be dropped but for these, those on the same values, and those that are open in the end, which
/// are relaxed.
pub(super) fn few_from(whole: &dyn Facts, contradicting: &[TaskOp]) -> Option<Vec<TaskOp>> {
    let cut = last_rank(contradicting);
    let is_open = |op: &TaskOp| op.ret > cut;
    let is_sound = |ops: &Vec<TaskOp>| {
        let reduced = Reduced {
            ops: ops.clone(),
            cut,
            minimal: false,
        };
        certify::reductions(whole, &reduced).is_ok()
    };
    let alone = contradicting.to_vec();
    let with_values = || with_same_values(whole, contradicting);
    let with_open = |ops: &[TaskOp]| with_relaxed(whole, ops, &is_open);
    Some(alone)
        .filter(is_sound)
        .or_else(|| with_values().filter(is_sound))
        .or_else(|| Some(with_open(contradicting)).filter(is_sound))
        .or_else(|| with_values().map(|ops| with_open(&ops)).filter(is_sound))
}

/// These operations and, relaxed, those of the others that are kept, up to the last rank of these.
fn with_relaxed(
    whole: &dyn Facts,
    ops: &[TaskOp],
    is_kept: &dyn Fn(&TaskOp) -> bool,
) -> Vec<TaskOp> {
    let cut = last_rank(ops);
    let mut ops = ops.iter().peekable();
    let called = whole.ops().iter().filter(|op| op.call <= cut);
    let kept = called.filter_map(|op| {
        let found = ops.next_if(|found| found.id == op.id).copied();
        found.or_else(|| is_kept(op).then_some(op.relaxed()))
    });
    kept.collect()
}

/// These operations and all others on their values, up to the last rank of these; `None` if there are none, or many.
fn with_same_values(whole: &dyn Facts, ops: &[TaskOp]) -> Option<Vec<TaskOp>> {
    /// The most operations that are added.
    const MOST_ADDED: usize = 100;
    let cut = last_rank(ops);
    let recorded = |op: &TaskOp| {
        let place = whole.ops().binary_search_by_key(&op.id, |op| op.id).ok()?;
        values_of(&whole.role(whole.ops()[place]))
    };
    let values: HashSet<Value> = ops.iter().filter_map(recorded).flatten().collect();
    let mut given = ops.iter().peekable();
    let (mut all, most) = (Vec::new(), ops.len() + MOST_ADDED);
    for op in whole.ops().iter().filter(|op| op.call <= cut) {
        let found = given.next_if(|found| found.id == op.id).copied();
        let is_on_values = || {
            let of_op = values_of(&whole.role(*op)).unwrap_or_default();
            of_op.iter().any(|value| values.contains(value))
        };
        let as_kept = |op: TaskOp| if op.ret > cut { op.relaxed() } else { op };
        all.extend(found.or_else(|| is_on_values().then(|| as_kept(*op))));
        if all.len() > most {
            return None;
        }
    }
    (all.len() > ops.len()).then_some(all)
}

/// The last rank of a call or a return of these operations.
pub(super) fn last_rank(ops: &[TaskOp]) -> u32 {
    let ranks = ops.iter().flat_map(|op| [op.call, op.ret]);
    ranks.filter(|&rank| rank != NEVER).max().unwrap_or(0)
}

/// Which operations are dropped because they change nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pure {
    /// Those that change nothing with the results that they have.
    AsRecorded,
    /// Those that never do, whatever their results.
    Always,
}

/// Reduces `ops`, which are not linearizable, as far as the budget allows.
pub(super) fn reduce(
    facts: &dyn Facts,
    ops: Vec<TaskOp>,
    pure: Pure,
    budget: &Budget,
    decide: Decide<'_>,
) -> Reduced {
    let whole = Reduced {
        cut: last_rank(&ops),
        ops,
        minimal: false,
    };
    reduce_further(facts, whole, pure, budget, decide)
}

/// Reduces a history further that was reduced before.
pub(super) fn reduce_further(
    facts: &dyn Facts,
    Reduced { ops, cut, .. }: Reduced,
    pure: Pure,
    budget: &Budget,
    decide: Decide<'_>,
) -> Reduced {
    let stopwatch = Stopwatch::start();
    let _ = decide(&ops, budget);
    // A reduced history may be far harder to decide than the whole one. Most of them are not worth waiting for: first
    // take what is cheap, then look at what is left with more patience.
    let quick = (stopwatch.elapsed() * 8).max(Duration::from_millis(2));
    let mut reducer = Reducer {
        facts,
        cut,
        ops,
        budget,
        decide,
        patience: quick,
        undecided: false,
    };
    for patience in [quick, quick * 64] {
        reducer.patience = patience;
        loop {
            let before = reducer.ops.clone();
            reducer.undecided = false;
            reducer.drop_pure(pure);
            reducer.drop_families();
            reducer.relax();
            if budget.check().is_err() || reducer.ops == before {
                break;
            }
        }
        if !reducer.undecided {
            break;
        }
    }
    Reduced {
        ops: reducer.ops,
        cut,
        minimal: !reducer.undecided,
    }
}

/// Adds the premises to a reduced history: operations that were dropped because they changed nothing, as their results
/// tell, but that would explain the contradiction with another result. They may return after the reduced history was cut, up to
/// the rank `end`. `None` if they do not go with what was dropped besides.
pub(super) fn with_premises(
    facts: &dyn Facts,
    reduced: &Reduced,
    end: u32,
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Reduced> {
    let kept = |op: &TaskOp| {
        let place = reduced.ops.binary_search_by_key(&op.id, |op| op.id);
        place.ok().map(|place| reduced.ops[place])
    };
    let is_premise =
        |op: &TaskOp| op.ret <= end && facts.is_pure(*op) && !facts.is_pure(op.relaxed());
    let values = |op: TaskOp| values_of(&facts.role(op)).unwrap_or_default();
    let in_core: HashSet<Value> = reduced.ops.iter().flat_map(|&op| values(op)).collect();
    let is_in_core = |value: &Value| in_core.contains(value);
    // What an operation might have put into a container explains nothing about other values, unless a result depends on how many
    // there are.
    let tells_values = |op: &TaskOp| op.ret == NEVER || values_of(&facts.role(*op)).is_some();
    let is_about_values = reduced.ops.iter().all(tells_values);
    let puts_other = |op: &TaskOp| match facts.role(op.relaxed()) {
        Role::Adds(value) => is_about_values && !is_in_core(&value),
        _ => false,
    };
    let dropped = facts.ops().iter().filter(|op| kept(op).is_none());
    let candidates: Vec<OpId> = dropped
        .filter(|op| is_premise(op) && !puts_other(op))
        .map(|op| op.id)
        .collect();
    let is_candidate = |op: &TaskOp| candidates.binary_search(&op.id).is_ok();
    // A candidate that exchanges a value of the core for one that was dropped could not do so any more.
    let exchanges = |op: &&TaskOp| {
        let values = values(op.relaxed());
        values.iter().any(is_in_core) && !values.iter().all(is_in_core)
    };
    let of_candidates = || facts.ops().iter().filter(|op| is_candidate(op));
    if of_candidates().any(|op| exchanges(&op)) {
        return None;
    }
    let all = |op: &TaskOp| kept(op).or_else(|| is_candidate(op).then_some(*op));
    let mut reducer = Reducer {
        facts,
        cut: end,
        ops: facts.ops().iter().filter_map(all).collect(),
        budget,
        decide,
        patience: PREMISE_PATIENCE,
        undecided: false,
    };
    reducer.in_chunks(
        candidates.iter().map(|&id| vec![id]).collect(),
        |ops, chosen| relax_all(ops, chosen),
    );
    let needed = |op: &TaskOp| op.ret != NEVER && is_candidate(op);
    if reducer.undecided || !reducer.ops.iter().any(needed) {
        return Some(reduced.clone());
    }
    // With the premises, other operations may not be needed any more.
    reducer.relax();
    let with_premises = Reduced {
        ops: reducer.ops,
        minimal: reduced.minimal && !reducer.undecided,
        cut: end,
    };
    let is_sound = certify::reductions(facts, &with_premises).is_ok();
    is_sound.then_some(with_premises)
}

/// Makes the chosen operations pending.
fn relax_all(ops: &mut [TaskOp], chosen: &HashSet<OpId>) {
    let chosen = ops.iter_mut().filter(|op| chosen.contains(&op.id));
    chosen.for_each(|op| *op = op.relaxed());
}

struct Reducer<'a> {
    facts: &'a dyn Facts,
    /// The rank up to which the history was kept.
    cut: u32,
    ops: Vec<TaskOp>,
    budget: &'a Budget,
    decide: Decide<'a>,
    /// How long one attempt may take.
    patience: Duration,
    /// Some attempt of the current round was not decided.
    undecided: bool,
}

impl Reducer<'_> {
    /// Keeps `ops` instead if the contradiction survives, and if all steps together are sound: a relaxed operation may
    /// depend on other values than it did with its result.
    fn try_with(&mut self, ops: Vec<TaskOp>) -> bool {
        match (self.decide)(&ops, &self.budget.slice(self.patience)) {
            Ok(Answer::NotLinearizable { .. }) => {
                let reduced = Reduced {
                    ops,
                    cut: self.cut,
                    minimal: false,
                };
                let is_sound = certify::reductions(self.facts, &reduced).is_ok();
                if is_sound {
                    self.ops = reduced.ops;
                }
                is_sound
            }
            Ok(Answer::Linearizable { .. }) => false,
            Err(_) => {
                self.undecided = true;
                false
            }
        }
    }

    fn drop_pure(&mut self, pure: Pure) {
        let as_dropped = |op: TaskOp| match pure {
            Pure::AsRecorded => op,
            Pure::Always => op.relaxed(),
        };
        let is_pure = |op: &&TaskOp| self.facts.is_pure(as_dropped(**op));
        let pure = self.ops.iter().filter(is_pure).map(|op| vec![op.id]);
        self.in_chunks(pure.collect(), |ops, chosen| {
            ops.retain(|op| !chosen.contains(&op.id))
        });
    }

    fn drop_families(&mut self) {
        if let Some(families) = families(self.facts, &self.ops) {
            self.in_chunks(families, |ops, chosen| {
                ops.retain(|op| !chosen.contains(&op.id))
            });
        }
    }

    fn relax(&mut self) {
        let returned = self.ops.iter().filter(|op| op.ret != NEVER);
        let returned = returned.map(|op| vec![op.id]).collect();
        self.in_chunks(returned, |ops, chosen| relax_all(ops, chosen));
    }

    /// Applies a reduction to as many groups of operations as possible: many groups at once first, down to single ones.
    fn in_chunks(
        &mut self,
        groups: Vec<Vec<OpId>>,
        reduction: impl Fn(&mut Vec<TaskOp>, &HashSet<OpId>),
    ) {
        let mut size = groups.len();
        let mut left: Vec<&[Vec<OpId>]> = vec![&groups];
        while size >= 1 {
            let mut next = Vec::new();
            for chunk in left.into_iter().flat_map(|chunk| chunk.chunks(size)) {
                if self.budget.check().is_err() {
                    self.undecided = true;
                    return;
                }
                let mut ops = self.ops.clone();
                reduction(&mut ops, &chunk.iter().flatten().copied().collect());
                if !self.try_with(ops) {
                    next.push(chunk);
                }
            }
            left = next;
            size /= 2;
        }
    }
}

/// Groups of operations that may be dropped together, if any may.
fn families(facts: &dyn Facts, ops: &[TaskOp]) -> Option<Vec<Vec<OpId>>> {
    facts.kind()?;
    let mut union = Union::default();
    let mut first_value = Vec::new();
    for &op in ops {
        let role = facts.role(op);
        if matches!(
            role,
            Role::Slot {
                needs: Need::IsNot(_),
                ..
            }
        ) {
            return None;
        }
        let values: Vec<usize> = values_of(&role)?
            .into_iter()
            .map(|value| union.number(value))
            .collect();
        values
            .windows(2)
            .for_each(|pair| union.join(pair[0], pair[1]));
        first_value.push(values.first().copied());
    }
    let mut families: HashMap<usize, Vec<OpId>> = HashMap::new();
    for (op, value) in ops.iter().zip(first_value) {
        if let Some(value) = value {
            families.entry(union.root(value)).or_default().push(op.id);
        }
    }
    let mut families: Vec<_> = families.into_values().collect();
    families.sort_unstable();
    Some(families)
}

/// The operations of the whole that were called up to the rank `end`, but for those that changed nothing and tell no values, such
/// as refused insertions: these may be dropped, and the values of the others then depend on none of them.
fn about_values(facts: &dyn Facts, end: u32) -> Vec<TaskOp> {
    let called = facts.ops().iter().filter(|op| op.call <= end);
    let tells = |op: &&TaskOp| !facts.is_pure(**op) || values_of(&facts.role(**op)).is_some();
    called.filter(tells).copied().collect()
}

/// The operations on some value, or on values that belong together, that contradict each other by themselves, if there are
/// such; of several, those that do so first. The first `explained` events of the whole are linearizable.
pub(super) fn contradictory_family(
    facts: &dyn Facts,
    explained: usize,
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    /// Larger families are not looked at.
    const MOST_OPS: usize = 12;
    // What returned earlier contradicts nothing, so neither does a family of which everything did.
    let unexplained = first_return_after(facts.ops(), explained)?.ret;
    let of_family = |id: &OpId| {
        let place = facts.ops().binary_search_by_key(id, |op| op.id).ok()?;
        Some(facts.ops()[place])
    };
    let families = families(facts, &about_values(facts, NEVER))?.into_iter();
    let families = families.filter(|family| family.len() <= MOST_OPS);
    let families = families.map(|family| family.iter().filter_map(of_family).collect());
    let mut suspects: Vec<(u32, Vec<TaskOp>)> = families
        .map(|ops: Vec<TaskOp>| (last_rank(&ops), ops))
        .filter(|(last, _)| *last >= unexplained)
        .collect();
    suspects.sort_unstable_by_key(|(last, _)| *last);
    for (cut, ops) in suspects {
        budget.check().ok()?;
        if matches!(decide(&ops, budget), Ok(Answer::NotLinearizable { .. })) {
            let alone = Reduced {
                cut,
                ops,
                minimal: false,
            };
            if certify::reductions(facts, &alone).is_ok() {
                return Some(alone.ops);
            }
        }
    }
    None
}

/// Operations on values that were used shortly before the event with the rank `end`, or that the object may have held then, if
/// they contradict each other by themselves by then.
pub(super) fn contradictory_neighbours(
    facts: &dyn Facts,
    end: u32,
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    /// The numbers of families that are tried, and the most operations of these.
    const NEAREST: [usize; 3] = [4, 16, 64];
    const MOST_OPS: usize = 4_000;
    let beginning = until(facts.ops(), end);
    let near = nearest_families(facts, &beginning, end)?;
    let is_open = |op: &&TaskOp| op.ret == NEVER;
    let open: HashSet<OpId> = beginning.iter().filter(is_open).map(|op| op.id).collect();
    let held = near.iter().filter(|family| family.is_held);
    let held: HashSet<OpId> = held.flat_map(|family| &family.ops).copied().collect();
    let with_held = NEAREST.len() - 1;
    for (i, count) in NEAREST.into_iter().enumerate() {
        let nearest = near.iter().take(count).flat_map(|family| &family.ops);
        let nearest: HashSet<OpId> = nearest.copied().collect();
        let is_kept = |op: &&TaskOp| {
            let is_held = i == with_held && held.contains(&op.id);
            nearest.contains(&op.id) || open.contains(&op.id) || is_held
        };
        let ops: Vec<TaskOp> = beginning.iter().filter(is_kept).copied().collect();
        if ops.len() > MOST_OPS {
            return None;
        }
        let answer = decide(&ops, &budget.slice(budget.left() / 2));
        let kept = Reduced {
            cut: end,
            ops,
            minimal: false,
        };
        if matches!(answer, Ok(Answer::NotLinearizable { .. }))
            && certify::reductions(facts, &kept).is_ok()
        {
            return Some(kept.ops);
        }
    }
    None
}

/// Operations of a beginning that may be dropped together.
struct Family {
    ops: Vec<OpId>,
    /// Whether their value was put and not taken, as far as operations have returned.
    is_held: bool,
}

/// The families of a beginning up to the rank `end`, those first that were used last.
fn nearest_families(facts: &dyn Facts, beginning: &[TaskOp], end: u32) -> Option<Vec<Family>> {
    let families = families(facts, &about_values(facts, end))?;
    let in_beginning = |id: &OpId| {
        let place = beginning.binary_search_by_key(id, |op| op.id).ok()?;
        Some(beginning[place])
    };
    let near = families.into_iter().map(|ops| {
        let (mut held, mut last) = (0, 0);
        for op in ops.iter().filter_map(in_beginning) {
            last = last.max(if op.ret == NEVER { op.call } else { op.ret });
            held += match facts.role(op) {
                Role::Adds(_) => 1,
                Role::Removes(_) => -1,
                _ => 0,
            };
        }
        let is_held = held > 0;
        (last, Family { ops, is_held })
    });
    let mut near: Vec<(u32, Family)> = near.collect();
    near.sort_by_key(|(last, _)| Reverse(*last));
    Some(near.into_iter().map(|(_, family)| family).collect())
}

/// Disjoint sets of values.
#[derive(Default)]
struct Union {
    numbers: HashMap<Value, usize>,
    parent: Vec<usize>,
}

impl Union {
    fn number(&mut self, value: Value) -> usize {
        let next = self.parent.len();
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.parent.push(next);
        }
        number
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b;
    }
}
