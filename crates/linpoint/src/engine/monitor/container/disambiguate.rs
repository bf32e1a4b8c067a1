//! Containers as they are recorded: with removals that never returned, and with values that were put in twice.
//!
//! The monitors want to know of every removal what it took out, and of every value which insertion it is from. ViolationKind the
//! record leaves open is tried, guided by what the monitor finds wrong, for a limited number of runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{
    Act, ContainerMonitor, Contradiction, CriticalIntervals, Decision, Finding, Log, Suspect,
    ViolationKind, stack,
};
use crate::engine::Budget;
use crate::engine::Limit;
use crate::history::NEVER;

/// Operations on a container, in the order of their calls; ranks may have gaps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ambiguous {
    acts: Vec<Act>,
    values: Vec<u32>,
    calls: Vec<u32>,
    rets: Vec<u32>,
    /// Their positions in the task.
    positions: Vec<u32>,
    /// Removals that never returned, so that nobody knows what they took out.
    lost: Vec<Lost>,
}

#[derive(Clone, Copy, Debug)]
struct Lost {
    position: u32,
    call: u32,
}

impl Ambiguous {
    pub(crate) fn push(&mut self, position: u32, act: Act, value: u32, call: u32, ret: u32) {
        self.acts.push(act);
        self.values.push(value);
        self.calls.push(call);
        self.rets.push(ret);
        self.positions.push(position);
    }

    pub(crate) fn push_lost(&mut self, position: u32, call: u32) {
        self.lost.push(Lost { position, call });
    }

    pub(crate) fn has_empties(&self) -> bool {
        self.acts.contains(&Act::Empty)
    }

    /// The log and its positions in the task, as if the lost removals had not happened.
    pub(crate) fn without_lost(self) -> (Log<Act>, Vec<u32>) {
        let log = Log::new(self.acts, self.values, self.calls, self.rets);
        (log, self.positions)
    }

    /// The operations of some values, and those about no value.
    fn about(&self, keep: impl Fn(u32) -> bool) -> Ambiguous {
        let mut case = Ambiguous {
            lost: self.lost.clone(),
            ..Ambiguous::default()
        };
        for i in 0..self.acts.len() {
            if self.acts[i] == Act::Empty || keep(self.values[i]) {
                let (call, ret) = (self.calls[i], self.rets[i]);
                case.push(self.positions[i], self.acts[i], self.values[i], call, ret);
            }
        }
        case
    }

    /// The log in which lost removals took out the given values, and those without one did not happen; with the
    /// positions in the task.
    fn log(&self, taken: &[Option<u32>]) -> (Log<Act>, Vec<u32>) {
        let mut taken = self
            .lost
            .iter()
            .zip(taken)
            .filter_map(|(lost, taken)| Some((lost, (*taken)?)))
            .peekable();
        if taken.peek().is_none() {
            let log = Log::new(
                self.acts.clone(),
                self.values.clone(),
                self.calls.clone(),
                self.rets.clone(),
            );
            return (log, self.positions.clone());
        }
        let mut merged = Ambiguous::default();
        for i in 0..=self.acts.len() {
            let next = self.calls.get(i).copied().unwrap_or(NEVER);
            while let Some((lost, value)) = taken.next_if(|(lost, _)| lost.call < next) {
                merged.push(lost.position, Act::Remove, value, lost.call, NEVER);
            }
            if i < self.acts.len() {
                let (call, ret) = (next, self.rets[i]);
                merged.push(self.positions[i], self.acts[i], self.values[i], call, ret);
            }
        }
        let log = Log::new(merged.acts, merged.values, merged.calls, merged.rets);
        (log, merged.positions)
    }
}

/// Why a case was not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The monitors cannot tell, for this reason.
    HandOn(&'static str),
    /// A limit was hit.
    Limit(Limit),
}

impl From<Limit> for Refusal {
    fn from(limit: Limit) -> Self {
        Refusal::Limit(limit)
    }
}

/// How often the monitors may run on one case.
const MOST_RUNS: u64 = 1000;

/// How many operations they may look at, all runs together: some seconds.
const MOST_WORK: u64 = 1 << 26;

/// Decides a case; with an order of the task's positions if that is wanted.
pub(crate) fn decide(
    case: Ambiguous,
    shelf: &ContainerMonitor,
    wants_order: bool,
    budget: &Budget,
) -> Result<Decision, Refusal> {
    let mut trial = Trial {
        wants_order,
        budget,
        runs: 0,
        work: 0,
        clashed: BTreeSet::new(),
    };
    let repeated = repeated_values(&case);
    if repeated.is_empty() {
        return trial.with_lost(&case, shelf);
    }
    // Leaving out values leaves a correct container.
    let rest = case.about(|value| !repeated.contains_key(&value));
    match trial.with_lost(&rest, shelf)? {
        Decision::Linearizable(_) => trial.with_copies(&case, shelf, &repeated),
        violation => Ok(violation),
    }
}

/// The values that were put in more than once, with the places of all operations on them.
fn repeated_values(case: &Ambiguous) -> BTreeMap<u32, Vec<usize>> {
    let distinct = case.values.iter().map(|&value| value as usize + 1).max();
    let mut added = vec![0u8; distinct.unwrap_or(0)];
    for (&act, &value) in case.acts.iter().zip(&case.values) {
        if act == Act::Add {
            added[value as usize] = added[value as usize].saturating_add(1);
        }
    }
    let mut repeated: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    if added.iter().any(|&times| times > 1) {
        for i in (0..case.acts.len()).filter(|&i| case.acts[i] != Act::Empty) {
            if added[case.values[i] as usize] > 1 {
                repeated.entry(case.values[i]).or_default().push(i);
            }
        }
    }
    repeated
}

/// Runs of the monitor on variants of a case.
struct Trial<'a> {
    wants_order: bool,
    budget: &'a Budget,
    runs: u64,
    work: u64,
    /// Positions in the task of all operations that some run found contradictory.
    clashed: BTreeSet<u32>,
}

/// The monitor's answer for one variant.
enum Run {
    Linearizable(Option<Vec<u32>>),
    Violation {
        log: Log<Act>,
        positions: Vec<u32>,
        contradiction: Contradiction,
    },
}

impl Trial<'_> {
    fn run(
        &mut self,
        case: &Ambiguous,
        shelf: &ContainerMonitor,
        taken: &[Option<u32>],
    ) -> Result<Run, Refusal> {
        self.budget.check()?;
        self.runs += 1;
        self.work += case.acts.len() as u64;
        if self.runs > MOST_RUNS || (self.runs > 8 && self.work > MOST_WORK) {
            return Err(Refusal::HandOn(
                "too many ways to tell what pending removals or repeated values stand for",
            ));
        }
        let (log, positions) = case.log(taken);
        let at = |op: &u32| positions[*op as usize];
        let finding = shelf
            .decide(&log, self.wants_order)
            .map_err(|_| Refusal::HandOn("values are put in more than once"))?;
        Ok(match finding {
            Finding::Linearizable(order) => {
                Run::Linearizable(order.map(|order| order.iter().map(at).collect()))
            }
            Finding::Violation(contradiction) => {
                self.clashed.extend(contradiction.ops.iter().map(at));
                Run::Violation {
                    log,
                    positions,
                    contradiction,
                }
            }
        })
    }

    /// Decides a case in which every value is put in once.
    fn with_lost(
        &mut self,
        case: &Ambiguous,
        shelf: &ContainerMonitor,
    ) -> Result<Decision, Refusal> {
        let mut taken = vec![None; case.lost.len()];
        let (contradiction, positions) = match self.run(case, shelf, &taken)? {
            Run::Linearizable(order) => return Ok(Decision::Linearizable(order)),
            Run::Violation {
                contradiction,
                positions,
                ..
            } => (contradiction, positions),
        };
        if case.lost.is_empty() || contradiction.kind.is_about_one_value() {
            let at = |&op: &u32| Suspect::whole(positions[op as usize]);
            return Ok(Decision::Violation(
                contradiction.ops.iter().map(at).collect(),
            ));
        }
        match self.assign(case, shelf, &mut taken)? {
            Some(order) => Ok(Decision::Linearizable(order)),
            None => Ok(self.violation(case)),
        }
    }

    /// Everything that contradicted something, and the lost removals: most often that is contradictory by itself.
    fn violation(&self, case: &Ambiguous) -> Decision {
        let lost = case.lost.iter().map(|lost| lost.position);
        let ops: BTreeSet<u32> = self.clashed.iter().copied().chain(lost).collect();
        Decision::Violation(ops.into_iter().map(Suspect::whole).collect())
    }

    /// Looks for values that the lost removals took out such that everything fits: an order, if there is one.
    ///
    /// ViolationKind the monitor finds wrong tells which values must have been taken out by someone, so only these are tried.
    #[allow(clippy::type_complexity, reason = "an order only if it is wanted")]
    fn assign(
        &mut self,
        case: &Ambiguous,
        shelf: &ContainerMonitor,
        taken: &mut Vec<Option<u32>>,
    ) -> Result<Option<Option<Vec<u32>>>, Refusal> {
        let (log, positions, contradiction) = match self.run(case, shelf, taken)? {
            Run::Linearizable(order) => return Ok(Some(order)),
            Run::Violation {
                log,
                positions,
                contradiction,
            } => (log, positions, contradiction),
        };
        let (values, before) = blockers(shelf, &log, &contradiction);
        // Ranks in the log have no gaps; those of the case are wanted.
        let before = before.map_or(NEVER, |op| {
            let place = case.positions.binary_search(&positions[op as usize]);
            place.map_or(NEVER, |place| case.rets[place])
        });
        for value in values {
            for i in 0..taken.len() {
                if taken[i].is_none() && case.lost[i].call < before {
                    taken[i] = Some(value);
                    let found = self.assign(case, shelf, taken)?;
                    if found.is_some() {
                        return Ok(found);
                    }
                    taken[i] = None;
                }
            }
        }
        Ok(None)
    }

    /// Decides a case in which some values are put in several times: each insertion makes a copy of its own, and every
    /// other operation is about one of the copies.
    fn with_copies(
        &mut self,
        case: &Ambiguous,
        shelf: &ContainerMonitor,
        repeated: &BTreeMap<u32, Vec<usize>>,
    ) -> Result<Decision, Refusal> {
        let (mut case, mut shelf) = (case.clone(), shelf.clone());
        let mut fresh = case.values.iter().max().map_or(0, |&value| value + 1);
        let mut open = Vec::new();
        let mut ways = 1u64;
        for (&value, ops) in repeated {
            let first = fresh;
            let mut copied_at = Vec::new();
            for &i in ops.iter().filter(|&&i| case.acts[i] == Act::Add) {
                shelf.copy(value, fresh);
                case.values[i] = fresh;
                copied_at.push(case.calls[i]);
                fresh += 1;
            }
            for &i in ops.iter().filter(|&&i| case.acts[i] != Act::Add) {
                // The copies stand in the order of their calls.
                let copies = copied_at.partition_point(|&call| call < case.rets[i]) as u32;
                if copies == 0 {
                    let about = ops.iter().map(|&i| case.positions[i]);
                    self.clashed.extend(about);
                    return Ok(self.violation(&case));
                }
                ways = ways.saturating_mul(u64::from(copies));
                open.push(Choice {
                    op: i,
                    copies: first..first + copies,
                });
            }
        }
        if ways > MOST_RUNS {
            return Err(Refusal::HandOn("values are put in more than once"));
        }
        let all = repeated.values().flatten();
        let about: Vec<u32> = all.map(|&i| case.positions[i]).collect();
        match self.choose(&mut case, &shelf, &open)? {
            Some(order) => Ok(Decision::Linearizable(order)),
            None => {
                self.clashed.extend(about);
                Ok(self.violation(&case))
            }
        }
    }

    #[allow(clippy::type_complexity, reason = "an order only if it is wanted")]
    fn choose(
        &mut self,
        case: &mut Ambiguous,
        shelf: &ContainerMonitor,
        open: &[Choice],
    ) -> Result<Option<Option<Vec<u32>>>, Refusal> {
        let Some((first, rest)) = open.split_first() else {
            return Ok(match self.with_lost(case, shelf)? {
                Decision::Linearizable(order) => Some(order),
                Decision::Violation(_) | Decision::FirstViolation(_) => None,
            });
        };
        for copy in first.copies.clone() {
            case.values[first.op] = copy;
            if let Some(order) = self.choose(case, shelf, rest)? {
                return Ok(Some(order));
            }
        }
        Ok(None)
    }
}

/// An operation that is about one of several copies.
struct Choice {
    op: usize,
    copies: Range<u32>,
}

/// Values of which some must be taken out by a lost removal if the contradiction is to go away, and an operation before whose
/// return that has to happen.
fn blockers(
    shelf: &ContainerMonitor,
    log: &Log<Act>,
    contradiction: &Contradiction,
) -> (Vec<u32>, Option<u32>) {
    let Ok(intervals) = CriticalIntervals::of(log) else {
        return (Vec::new(), None);
    };
    let stays = |value: &u32| !intervals.at(*value).is_removed();
    let earliest = |values: &mut dyn Iterator<Item = u32>| {
        let mut values: Vec<u32> = values.filter(stays).collect();
        values.sort_unstable_by_key(|&value| intervals.at(value).first_return);
        values
    };
    match contradiction.kind {
        // Every gap in which the operation could have its result is covered by a value that stays: gaps before the
        // first of these are covered by values about which nothing is open. So the first one must go.
        ViolationKind::NotEmpty(op) | ViolationKind::Overtaken(op) => {
            let (act, value) = (log.acts[op as usize], log.values[op as usize]);
            let higher = |other: &u32| act == Act::Empty || shelf.overtakes(*other, value);
            let mut values = earliest(&mut intervals.iter().map(|(value, _)| value).filter(higher));
            values.truncate(1);
            (values, Some(op))
        }
        ViolationKind::OutOfOrder => {
            let mut involved = contradiction.ops.iter().map(|&op| log.values[op as usize]);
            let mut values = earliest(&mut involved);
            values.dedup();
            (values, None)
        }
        // The lowest value that stays lies under something in every order, unless it is the one whose peek has no place.
        ViolationKind::Buried => {
            let stuck = stack::layer(log, &intervals)
                .err()
                .map_or_else(Vec::new, |stuck| stuck.values);
            let mut values = earliest(&mut stuck.into_iter());
            let peeked = |value: u32| intervals.at(value).first_served != NEVER;
            let tried = if values.first().is_some_and(|&first| peeked(first)) {
                2
            } else {
                1
            };
            values.truncate(tried);
            (values, None)
        }
        _ => (Vec::new(), None),
    }
}
