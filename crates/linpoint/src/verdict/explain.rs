//! Makes the evidence of a violation: the shortest bad prefix, the core, and a sentence.

use std::time::Duration;

use super::anchor::{self, Anchor, Approach};
use super::late::ExplainedPrefix;
use super::reduce::{self, BadPrefix, Decide, Pure, Reduced};
use super::{
    Claim, Confirmation, Core, Since, Stuck, Violation, certify, projection, propose, used_up,
};
use crate::engine::{Answer, Budget, Facts, Task, TaskOp, first_return_after};
use crate::error::Error;
use crate::history::{NEVER, OpId};
use crate::online::{self, Explained};
use crate::spec::{Kind, Spec};
use crate::value::Value;

/// If an engine finds more operations than these contradictory, fewer of them are looked for.
const MOST_GIVEN: usize = 100;

/// The most operations of an object without values among which those that an engine finds contradictory are looked at.
const MOST_WITHOUT_VALUES: usize = 1_000;

/// How long the independent check of one core may take.
const CERTIFICATION_TIME: Duration = Duration::from_millis(200);

/// How long it may take to find out whether an operation of a core about one place is a premise.
const PREMISE_TIME: Duration = Duration::from_millis(20);

/// What an engine found out about a task that is not linearizable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EngineFindings<'a> {
    /// The number of events of a prefix that is known to be linearizable.
    pub(crate) reached: usize,
    /// An order that explains this prefix.
    pub(crate) partial: &'a [OpId],
    /// The rank of the first bad event, if it is known.
    pub(crate) first_bad: Option<u32>,
    /// These operations may contradict each other by themselves.
    pub(crate) contradicting: Option<&'a [TaskOp]>,
}

/// The evidence for a task that is not linearizable.
///
/// It takes as long as `budget` allows, and what the independent check of the core takes, which is within `whole`.
/// `describe` names an operation: its call, its result, and its process.
pub(crate) fn violation<S: Spec>(
    task: &Task<'_, S>,
    findings: EngineFindings<'_>,
    budget: &Budget,
    whole: &Budget,
    decide: Decide<'_>,
    describe: &dyn Fn(OpId) -> String,
) -> Result<Violation, Error> {
    let clashes = Clashes::find(task, findings, budget, decide);
    let known_bad = clashes.known_bad(task, budget, decide);
    let Clashes {
        ops: clash,
        at_place,
        events: clash_events,
    } = clashes;
    let has_clash = clash.is_some();
    let explained = ExplainedPrefix {
        events: findings.reached,
        order: findings.partial,
    };
    let approach = Approach::to_bad(&known_bad, explained, &budget.slice(budget.left() / 2));
    let approach = approach.ok().flatten();
    let prefix = shortest_bad_prefix(
        task,
        &known_bad,
        findings,
        approach.as_ref(),
        budget,
        decide,
    );
    let beginning = reduce::prefix(&task.ops, prefix.events);
    let Some(last) = last_return(&beginning).map(|op| op.id) else {
        return Err(Error::bug(
            "a history in which nothing returned was called a violation",
        ));
    };
    let beginning = task.with_ops(beginning);
    let here = clash.filter(|_| prefix.events >= clash_events);
    let here = here.and_then(|clash| clash_in(task, &beginning, &clash, budget, decide));
    let smaller = match has_clash && here.is_none() {
        // The prefix is bad for another reason, and these operations contradict each other later.
        true => other_clash(task, findings, &beginning, budget, decide),
        false => here,
    };
    let at_place = at_place.filter(|clash| {
        smaller.is_none() && prefix.events == task.events_until(clash.last_return())
    });
    let observed = match approach {
        Some(approach) if prefix.shortest => {
            let walk = budget.slice(budget.left() / 2);
            approach.observe(&beginning, &walk).ok()
        }
        _ => None,
    };
    let told = match prefix.shortest && at_place.is_none() {
        true => told(task, &beginning, budget),
        false => None,
    };
    let smaller = match &told {
        Some(told) => clash_of_told(task, &beginning, told, smaller, budget, decide),
        None => smaller,
    };
    let evidence = Evidence {
        told: told.as_ref(),
        task,
        beginning: &beginning,
        observed: observed.as_ref(),
        budget,
        whole,
        decide,
    };
    let (found, at_place) = evidence.found(at_place, smaller)?;
    let possible = evidence.observed.map(|observed| observed.possible.clone());
    let claim = match at_place {
        Some(clash) => clash.claim(&beginning),
        None => {
            let about_possible = possible.as_ref().map(|possible| possible.claim(last));
            evidence.claim(&found, about_possible, &prefix)
        }
    };
    let core = Core {
        sentence: propose::sentence(task, &claim, &|id| describe(*id)),
        premises: match found.minimal {
            true => premises(&beginning, &found, claim.op().copied(), budget, decide),
            false => Vec::new(),
        },
        stopped_by: whole.stopped_by().filter(|_| !found.minimal),
        ..found.with_claim(claim)
    };
    Ok(Violation {
        last,
        prefix_events: prefix.events,
        shortest: prefix.shortest,
        partial: prefix.partial,
        possible,
        core,
        blocked: None,
    })
}

/// What the online monitor of the object says about the last event, which no order explains.
fn told<S: Spec>(
    task: &Task<'_, S>,
    beginning: &Task<'_, S>,
    budget: &Budget,
) -> Option<Explained> {
    let never_returns = |id: OpId| task.op(id).is_some_and(|op| op.ret == NEVER);
    let time = budget.slice(budget.left() / 4);
    let mut told = online::explain(beginning, &never_returns, &time)?;
    if let Some(key) = beginning.only_key() {
        told.claim = told.claim.at_key(beginning.spec.vocabulary().keys, &key);
    }
    Some(told)
}

/// The operations that the online monitor names, if they are known to be not linearizable and easier to reduce than what the
/// engine found.
fn clash_of_told<S: Spec>(
    task: &Task<'_, S>,
    beginning: &Task<'_, S>,
    told: &Explained,
    found: Option<Vec<TaskOp>>,
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    let start = reduce::start_from(task, &returned(beginning, &told.ops));
    // Relaxed operations make it harder.
    if found.is_some() && start.iter().any(|op| op.ret == NEVER) {
        return found;
    }
    clash_within(start, &budget.slice(budget.left() / 4), decide)
        .filter(|clash| follows_in(beginning, clash))
        .or(found)
}

/// Those of the operations that returned.
fn returned<S: Spec>(beginning: &Task<'_, S>, ids: &[OpId]) -> Vec<TaskOp> {
    let ops = ids.iter().filter_map(|&id| beginning.op(id));
    ops.filter(|op| op.ret != NEVER).collect()
}

/// Whether a claim about changes follows from all operations up to the first bad event. It is derived from what was `observed`
/// there, and by a decision about fewer operations.
fn follows_from_others<S: Spec>(
    claim: &Claim,
    beginning: &Task<'_, S>,
    observed: Option<&anchor::Observed<S>>,
    budget: &Budget,
    decide: Decide<'_>,
) -> bool {
    match claim {
        Claim::NotChanged {
            member,
            state,
            since,
            ..
        } => {
            let words = beginning.spec.vocabulary();
            let only = words.two_states(*state, member.as_ref());
            observed.is_some_and(|observed| {
                let cannot_happen = observed.possible.answers.count == 0;
                let states = match since {
                    // An operation that cannot take effect may have been called in the other state.
                    Since::Change(_) | Since::Sight(_) if cannot_happen => &observed.at_return,
                    _ => &observed.while_open,
                };
                states.shown == [only]
            })
        }
        Claim::NoOther { op, .. } => {
            let others = beginning.ops.iter().filter(|other| other.id != *op);
            let others: Vec<TaskOp> = others.copied().collect();
            matches!(decide(&others, budget), Ok(Answer::NotLinearizable { .. }))
        }
        _ => true,
    }
}

/// Operations that contradict each other by themselves, as far as that is known before anything is reduced.
struct Clashes {
    /// A reduced history that is not linearizable.
    ops: Option<Vec<TaskOp>>,
    /// Operations on one place of an object that has no values.
    at_place: Option<projection::Clash>,
    /// The number of events of the task up to the last return of these; of the whole task, if there are none.
    events: usize,
}

impl Clashes {
    fn find<S: Spec>(
        task: &Task<'_, S>,
        findings: EngineFindings<'_>,
        budget: &Budget,
        decide: Decide<'_>,
    ) -> Self {
        let neighbours = || {
            let unexplained = || first_return_after(&task.ops, findings.reached);
            let end = findings.first_bad.or_else(|| Some(unexplained()?.ret))?;
            let part = budget.slice(budget.left() / 8);
            reduce::contradictory_neighbours(task, end, &part, decide)
        };
        let family = || {
            // Most families are not contradictory, and there may be many.
            let part = budget.slice(budget.left() / 16);
            reduce::contradictory_family(task, findings.reached, &part, decide).or_else(neighbours)
        };
        // Without values nothing can be dropped, so that a long history stays as long.
        let stays_long = task.kind().is_none() && task.ops.len() > MOST_WITHOUT_VALUES;
        let ops = match findings.contradicting {
            Some(_) if stays_long => None,
            Some(few) if few.len() <= MOST_GIVEN => {
                // If many others have to be relaxed, a search may take long.
                let part = budget.slice(budget.left() / 2);
                clashing(task, few, &part, decide).or_else(family)
            }
            Some(many) => neighbours().or_else(|| clashing(task, many, budget, decide)),
            None => family(),
        };
        let at_place = match task.kind() {
            // Values tell more.
            Some(_) => None,
            None => {
                let part = budget.slice(budget.left() / 2);
                projection::clash(task, findings.reached, &part)
            }
        };
        let last_rank = match (&ops, &at_place) {
            (Some(ops), _) => last_return(ops).map(|op| op.ret),
            (None, Some(clash)) => Some(clash.last_return()),
            (None, None) => None,
        };
        Clashes {
            ops,
            at_place,
            events: last_rank.map_or(task.events(), |rank| task.events_until(rank)),
        }
    }

    /// A beginning of the task that is known to be bad.
    fn known_bad<'b, S: Spec>(
        &self,
        task: &Task<'b, S>,
        budget: &Budget,
        decide: Decide<'_>,
    ) -> Task<'b, S> {
        let cut = task.with_ops(reduce::prefix(&task.ops, self.events));
        // The operations may contradict each other only with results of some that returned after the prefix.
        let is_bad = || {
            let clash = self.ops.as_deref();
            clash.is_some_and(|ops| clash_in(task, &cut, ops, budget, decide).is_some())
                || matches!(decide(&cut.ops, budget), Ok(Answer::NotLinearizable { .. }))
        };
        // Those on one place do so with the results that they had returned by then.
        let is_of_place = self.ops.is_none() && self.at_place.is_some();
        match self.events < task.events() && (is_of_place || is_bad()) {
            true => cut,
            false => task.with_ops(task.ops.clone()),
        }
    }
}

/// Whether a reduced history follows from a beginning of the task: operations may have been left out because of results that
/// they returned later.
fn follows_in<S: Spec>(beginning: &Task<'_, S>, clash: &[TaskOp]) -> bool {
    let clash = Reduced {
        ops: clash.to_vec(),
        cut: reduce::last_rank(clash),
        minimal: false,
    };
    certify::reductions(beginning, &clash).is_ok()
}

/// What is left of a task if only these operations are kept, as far as that is sound, if it is not linearizable.
fn clashing<S: Spec>(
    task: &Task<'_, S>,
    contradicting: &[TaskOp],
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    clash_within(reduce::start_from(task, contradicting), budget, decide)
}

/// These operations, if they are known to be not linearizable.
fn clash_within(ops: Vec<TaskOp>, budget: &Budget, decide: Decide<'_>) -> Option<Vec<TaskOp>> {
    let answer = decide(&ops, budget);
    matches!(answer, Ok(Answer::NotLinearizable { .. })).then_some(ops)
}

/// A reduced history of a task, not linearizable, as one of a beginning that has all its events: together with what is open in the end if
/// that cannot be left out without the results that it returned later. `None` if it is not known to be contradictory then.
fn clash_in<S: Spec>(
    task: &Task<'_, S>,
    beginning: &Task<'_, S>,
    clash: &[TaskOp],
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    if follows_in(beginning, clash) {
        return Some(clash.to_vec());
    }
    let few = reduce::few_from(beginning, clash).filter(|few| follows_in(task, few))?;
    clash_within(few, &budget.slice(budget.left() / 4), decide)
}

/// Operations that contradict each other in a beginning of the task, other than those that are known to do so later.
fn other_clash<S: Spec>(
    task: &Task<'_, S>,
    findings: EngineFindings<'_>,
    beginning: &Task<'_, S>,
    budget: &Budget,
    decide: Decide<'_>,
) -> Option<Vec<TaskOp>> {
    if findings.contradicting.is_none() {
        // Deciding the beginning would be a search that names no operations either.
        let (end, part) = (
            reduce::last_rank(&beginning.ops),
            budget.slice(budget.left() / 8),
        );
        let near = reduce::contradictory_neighbours(task, end, &part, decide);
        return near.filter(|clash| follows_in(beginning, clash));
    }
    // A search for it may take all the time, and find no operations.
    match decide(&beginning.ops, &budget.slice(budget.left() / 4)) {
        Ok(Answer::NotLinearizable { contradicting, .. }) => {
            let clash = clashing(task, &contradicting?, budget, decide)?;
            clash_in(task, beginning, &clash, budget, decide)
        }
        _ => None,
    }
}

/// The shortest bad beginning of a task, of which a beginning is known to be bad.
fn shortest_bad_prefix<S: Spec>(
    task: &Task<'_, S>,
    known_bad: &Task<'_, S>,
    findings: EngineFindings<'_>,
    approach: Option<&Approach<S>>,
    budget: &Budget,
    decide: Decide<'_>,
) -> BadPrefix {
    let part = budget.slice(budget.left() / 2);
    // The walk leaves time for decisions about beginnings.
    let walk = part.slice(part.left() / 2);
    let walked = approach.and_then(|approach| approach.first_bad(known_bad, &walk).ok()?);
    let known = findings.first_bad.map(|rank| task.events_until(rank));
    let Some(events) = known.or(walked) else {
        let (reached, partial) = (findings.reached, findings.partial.to_vec());
        let bad = known_bad.events();
        return reduce::shortest_bad_prefix(&task.ops, bad, reached, partial, &part, decide);
    };
    let explained = reduce::prefix(&task.ops, events - 1);
    let partial = match findings.reached == events - 1 {
        true => findings.partial.to_vec(),
        false => match decide(&explained, &part) {
            Ok(Answer::Linearizable { order, .. }) => order,
            _ => findings.partial.to_vec(),
        },
    };
    BadPrefix {
        events,
        explained: events - 1,
        partial,
        shortest: true,
    }
}

/// A core of so few operations, with so few relaxed ones, is small.
const FEW_OPS: usize = 4;
const FEW_RELAXED: usize = 40;

/// The most operations of a history that is reduced by many searches.
const MOST_SEARCHED: usize = 20_000;

/// A core, before it is put in words.
pub(super) struct Found {
    /// Where it starts; `None` for the initial state.
    pub(super) anchor: Option<Anchor>,
    /// The operations whose results and times contradict each other.
    pub(super) ops: Vec<OpId>,
    /// Operations that may have happened with any result, or not at all.
    pub(super) relaxed: Vec<OpId>,
    /// The rank up to which the part was kept.
    pub(super) cut: u32,
    /// The place that it is about, if it is about one alone.
    pub(super) place: Option<Value>,
    pub(super) minimal: bool,
    pub(super) confirmation: Confirmation,
}

impl Found {
    /// The core with a claim, without its sentence and its premises.
    fn with_claim(self, claim: Claim) -> Core {
        Core {
            claim,
            ops: self.ops,
            relaxed: self.relaxed,
            cut: self.cut,
            anchor: self.anchor,
            place: self.place,
            minimal: self.minimal,
            confirmation: self.confirmation,
            premises: Vec::new(),
            stopped_by: None,
            sentence: String::new(),
        }
    }
}

/// What a core is made from.
struct Evidence<'a, 'b, S: Spec> {
    task: &'a Task<'b, S>,
    /// The shortest bad beginning of the task.
    beginning: &'a Task<'b, S>,
    observed: Option<&'a anchor::Observed<S>>,
    budget: &'a Budget,
    whole: &'a Budget,
    decide: Decide<'a>,
    /// What the online monitor of the object says about the first bad event.
    told: Option<&'a Explained>,
}

impl<S: Spec> Evidence<'_, '_, S> {
    fn reduce(&self, ops: Vec<TaskOp>, pure: Pure, budget: &Budget) -> Reduced {
        reduce::reduce(self.task, ops, pure, budget, self.decide)
    }

    /// What is wrong with a core of the beginning. `about_possible` says of the first bad operation what was possible.
    fn claim(&self, found: &Found, about_possible: Option<Claim>, prefix: &BadPrefix) -> Claim {
        let is_sure = |claim: &&Claim| {
            let (beginning, observed) = (self.beginning, self.observed);
            claim.holds(beginning)
                && follows_from_others(claim, beginning, observed, self.budget, self.decide)
        };
        if let Some(claim) = self.told.map(|told| &told.claim).filter(is_sure) {
            return used_up::completed(claim.clone(), self.beginning);
        }
        match propose::claim(self.beginning, found, about_possible) {
            // Which operation is to blame is not known yet.
            claim @ Claim::Contradiction { .. } if !prefix.shortest && !found.minimal => {
                let (reached, order) = (prefix.explained, &prefix.partial);
                let stuck = Stuck::after(self.task, reached, &[], order, self.budget);
                stuck.map_or(claim, Stuck::into_claim)
            }
            claim => claim,
        }
    }

    /// The operations that the online monitor names.
    fn told_ops(&self) -> &[OpId] {
        self.told.map_or(&[], |told| &told.ops)
    }

    /// The core: that of a place, if operations contradict each other there, unless one that starts from an anchor is smaller.
    /// It comes with the place that it is about.
    fn found(
        &self,
        at_place: Option<projection::Clash>,
        smaller: Option<Vec<TaskOp>>,
    ) -> Result<(Found, Option<projection::Clash>), Error> {
        let Some(clash) = at_place else {
            return Ok((self.core(smaller)?, None));
        };
        // Operations that change a place step by step are many.
        if clash.ops.len() > FEW_OPS
            && let Some(core) = self.anchored(&self.budget.slice(self.budget.left() / 2))
            && core.ops.len() < clash.ops.len()
        {
            return Ok((core, None));
        }
        Ok((clash.found(), Some(clash)))
    }

    /// The smallest core that starts from an anchor, if there is any.
    fn anchored(&self, budget: &Budget) -> Option<Found> {
        let observed = self.observed?;
        anchor::core(self.beginning, observed, self.told_ops(), budget)
    }

    /// The smaller one of the cores that start from the initial state and from an anchor. `smaller` is a reduced history
    /// that is not linearizable either, if one is known.
    fn core(&self, smaller: Option<Vec<TaskOp>>) -> Result<Found, Error> {
        let is_told = smaller.as_ref().is_some_and(|ops| {
            let returned = ops.iter().filter(|op| op.ret != NEVER);
            returned.count() <= self.told_ops().len()
        });
        if !self.told_ops().is_empty()
            && !is_told
            && let Some(core) = self.anchored(&self.budget.slice(self.budget.left() / 2))
            && core.ops.len() <= self.told_ops().len()
        {
            return Ok(core);
        }
        // Reductions by values are quick and make small cores. Without them, relaxing operations one by one is slow.
        let has_values = !matches!(
            self.task.kind(),
            None | Some(Kind::Counter(_) | Kind::Semaphore(_))
        );
        // Each decision about a long history of a deque, or about a limit, takes a search.
        let is_searched = matches!(self.task.kind(), Some(Kind::Deque | Kind::Limited(_)));
        let is_slow = smaller.is_none() && is_searched && self.beginning.ops.len() > MOST_SEARCHED;
        if (!has_values || is_slow)
            && let Some(core) = self.anchored(&self.budget.slice(self.budget.left() / 2))
        {
            return Ok(core);
        }
        let reduced = self.reduced_with_premises(smaller);
        let is_told = |count: usize| self.told_ops().is_empty() || count <= self.told_ops().len();
        let is_enough = |reduced: &Reduced| is_small(reduced) && is_told(count_returned(reduced));
        if !reduced.as_ref().is_some_and(is_enough) {
            let share = reduced
                .as_ref()
                .map_or(self.budget.left() / 2, |_| self.budget.left());
            let is_better = |core: &Found| {
                reduced.as_ref().is_none_or(|reduced| {
                    let count = count_returned(reduced);
                    core.ops.len() < count || !is_small(reduced) && count <= FEW_OPS
                })
            };
            if let Some(core) = self.anchored(&self.budget.slice(share)).filter(is_better) {
                return Ok(core);
            }
        }
        let reduced = match reduced {
            Some(reduced) if reduced.minimal => reduced,
            Some(reduced) => self.reduced_further(reduced),
            None => self.reduce(self.beginning.ops.clone(), Pure::Always, self.budget),
        };
        let certification = match self.whole.check() {
            Ok(()) => self.whole.slice(CERTIFICATION_TIME),
            // What is left of the grace.
            Err(_) => self.budget.slice(CERTIFICATION_TIME),
        };
        let confirmation = certify::core(self.task, &reduced, &certification)?;
        let (ops, relaxed): (Vec<TaskOp>, Vec<TaskOp>) =
            reduced.ops.iter().partition(|op| op.ret != NEVER);
        Ok(Found {
            anchor: None,
            place: None,
            cut: reduced.cut,
            ops: ops.into_iter().map(|op| op.id).collect(),
            relaxed: relaxed.into_iter().map(|op| op.id).collect(),
            minimal: reduced.minimal,
            confirmation,
        })
    }

    /// The beginning, or the smaller history, reduced as far as half of the time allows, with its premises. `None` if these
    /// depend on operations that were dropped.
    fn reduced_with_premises(&self, smaller: Option<Vec<TaskOp>>) -> Option<Reduced> {
        let start = smaller.unwrap_or_else(|| self.beginning.ops.clone());
        let share = self
            .observed
            .map_or(self.budget.left(), |_| self.budget.left() / 2);
        let reduced = self.reduce(start, Pure::AsRecorded, &self.budget.slice(share));
        match reduced.minimal {
            true => self.with_premises(&reduced),
            false => Some(reduced),
        }
    }

    fn with_premises(&self, reduced: &Reduced) -> Option<Reduced> {
        let end = reduce::last_rank(&self.beginning.ops);
        reduce::with_premises(self.task, reduced, end, self.budget, self.decide)
    }

    /// The same history, reduced as far as most of the time allows that was left for an anchor.
    fn reduced_further(&self, reduced: Reduced) -> Reduced {
        let time = self.budget.slice(self.budget.left() * 3 / 4);
        let decide = self.decide;
        let further = reduce::reduce_further(self.task, reduced, Pure::AsRecorded, &time, decide);
        let with_premises = match further.minimal {
            true => self.with_premises(&further),
            false => None,
        };
        with_premises.unwrap_or(further)
    }
}

/// How many operations of a reduced history have their results and returns.
fn count_returned(reduced: &Reduced) -> usize {
    reduced.ops.iter().filter(|op| op.ret != NEVER).count()
}

/// Whether a reduced history is not worth replacing by one that starts from an anchor.
fn is_small(reduced: &Reduced) -> bool {
    let returned = count_returned(reduced);
    returned <= FEW_OPS && reduced.ops.len() - returned <= FEW_RELAXED
}

/// The operations beside the one that the claim is about that changed nothing, as their results tell, but might have done so
/// with another result, which would explain the contradiction.
fn premises<S: Spec>(
    task: &Task<'_, S>,
    core: &Found,
    claimed: Option<OpId>,
    budget: &Budget,
    decide: Decide<'_>,
) -> Vec<OpId> {
    let is_premise = |id: &OpId| {
        let op = task.op(*id);
        op.is_some_and(|op| task.is_pure(op) && !task.is_pure(op.relaxed()))
    };
    // A core about one place may be contradictory at other places too, whatever this operation answers.
    let explains = |id: &OpId| {
        let counts = |op: &TaskOp| op.id != *id && core.ops.contains(&op.id);
        let ops = task.ops.iter();
        let ops = ops.map(|op| if counts(op) { *op } else { op.relaxed() });
        let answer = decide(&ops.collect::<Vec<_>>(), &budget.slice(PREMISE_TIME));
        matches!(answer, Ok(Answer::Linearizable { .. }))
    };
    let others = core.ops.iter().copied().filter(|&id| Some(id) != claimed);
    let premises = others.filter(is_premise);
    premises
        .filter(|id| core.place.is_none() || explains(id))
        .collect()
}

/// The operation that returned last.
fn last_return(ops: &[TaskOp]) -> Option<&TaskOp> {
    ops.iter()
        .filter(|op| op.ret != NEVER)
        .max_by_key(|op| op.ret)
}
