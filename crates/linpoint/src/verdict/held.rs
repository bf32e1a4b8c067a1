//! Checks claims about values and members against the operations that a history has up to a cut, by their definitions.
//!
//! It shares no code with the engines, knows only the [roles](Role) of operations, and takes one pass for each claim.

use super::{Claim, details};
use crate::engine::{Facts, TaskOp};
use crate::history::{NEVER, OpId, precedes};
use crate::spec::{Kind, Need, Role};
use crate::value::Value;

/// What all operations up to the cut did with one value of a container.
#[derive(Default)]
struct Uses {
    insertions: Vec<TaskOp>,
    removals: Vec<TaskOp>,
    peeks: Vec<TaskOp>,
    /// Some operation may have removed this value or another and does not say which.
    has_takers: bool,
    /// Some operation may have put the value in that does not say so.
    may_be_put: bool,
}

impl Uses {
    fn of(facts: &dyn Facts, value: &Value) -> Self {
        let mut uses = Uses::default();
        for &op in facts.ops() {
            match facts.role(op) {
                Role::Adds(other) if other == *value => uses.insertions.push(op),
                Role::Removes(other) if other == *value => uses.removals.push(op),
                Role::Peeks(other) if other == *value => uses.peeks.push(op),
                Role::RemovesSome => uses.has_takers = true,
                Role::Opaque if !facts.is_pure(op) => {
                    uses.has_takers = true;
                    uses.may_be_put = true;
                }
                _ => {}
            }
        }
        uses
    }

    /// Whether some operation may have removed the value that does not say so. If the value was put in at most once, an
    /// operation that says that it removed it leaves none for the others.
    fn may_be_removed(&self) -> bool {
        self.has_takers && self.removals.is_empty()
    }

    /// The uses since the last insertion, if what was put in before had been taken out by then.
    fn latest(mut self) -> Self {
        let Some(begin) = self.insertions.iter().map(|op| op.call).max() else {
            return self;
        };
        let is_over = |op: &TaskOp| precedes(op.ret, begin);
        let over = |ops: &[TaskOp]| ops.iter().filter(|op| is_over(op)).count();
        let all = self.insertions.iter().chain(&self.removals);
        let overlaps = |op: &TaskOp| op.call < begin && !is_over(op);
        let is_balanced = over(&self.insertions) == over(&self.removals);
        if is_balanced && !all.chain(&self.peeks).any(overlaps) {
            self.insertions.retain(|op| !is_over(op));
            self.removals.retain(|op| !is_over(op));
            self.peeks.retain(|op| !is_over(op));
        }
        self
    }

    /// The only insertion, if there is one.
    fn insertion(&self) -> Option<TaskOp> {
        match self.insertions.as_slice() {
            [only] if !self.may_be_put => Some(*only),
            _ => None,
        }
    }

    /// The ranks after and before which the value was certainly there, if it was put in once.
    fn presence(&self) -> Option<(u32, u32)> {
        match self.may_be_removed() {
            true => None,
            false => self.presence_but_for_takers(),
        }
    }

    /// The same if the operations that may have removed it, and do not say so, did not.
    fn presence_but_for_takers(&self) -> Option<(u32, u32)> {
        let to = self.removals.iter().map(|op| op.call).min();
        let to = to.map(|to| to.max(self.last_peek()));
        Some((self.in_by()?, to.unwrap_or(NEVER)))
    }

    /// The rank by which the value was certainly put in, if it was put in once. `None` if an operation used it before that was
    /// called, so that nothing is certain.
    fn in_by(&self) -> Option<u32> {
        let insertion = self.insertion()?;
        let uses = self.removals.iter().chain(&self.peeks);
        let by = uses.map(|op| op.ret).fold(insertion.ret, u32::min);
        (insertion.call < by).then_some(by)
    }

    /// The rank of the last call of an operation that saw the value; 0 if there is none.
    fn last_peek(&self) -> u32 {
        let returned = self.peeks.iter().filter(|op| op.ret != NEVER);
        returned.map(|op| op.call).max().unwrap_or(0)
    }

    /// Whether the value was certainly there during the whole operation.
    fn spans(&self, op: TaskOp) -> bool {
        self.presence()
            .is_some_and(|(from, to)| precedes(from, op.call) && precedes(op.ret, to))
    }
}

pub(super) fn find(facts: &dyn Facts, id: OpId) -> Option<TaskOp> {
    let ops = facts.ops();
    let place = ops.binary_search_by_key(&id, |op| op.id).ok()?;
    Some(ops[place])
}

/// The value that an operation served, if it returned.
fn served(facts: &dyn Facts, op: TaskOp) -> Option<Value> {
    match facts.role(op) {
        Role::Removes(value) | Role::Peeks(value) if op.ret != NEVER => Some(value),
        _ => None,
    }
}

impl Claim {
    /// Whether the claim follows from the operations of `facts`, which must be all that the history has up to some event.
    ///
    /// Claims about states and places are made from all configurations that are possible, and claims about scans by the monitor
    /// that found them; they are not derived again.
    pub(super) fn holds(&self, facts: &dyn Facts) -> bool {
        self.follows(facts).unwrap_or(false)
    }

    fn follows(&self, facts: &dyn Facts) -> Option<bool> {
        match self {
            Claim::OnlyAnswers { .. }
            | Claim::CannotHappen { .. }
            | Claim::NotBlocked { .. }
            | Claim::Missed { .. }
            | Claim::AtPlace { .. }
            | Claim::WrongScan { .. }
            | Claim::Stuck { .. }
            | Claim::Contradiction { .. } => Some(true),
            // These are derived from the states that were possible, and by a decision about fewer operations.
            Claim::NotChanged { .. } | Claim::NoOther { .. } => Some(true),
            // What is forgotten in a stream is known of a recorded history.
            Claim::LongGone { .. } => Some(false),
            Claim::Detailed(detailed) => details::follows(detailed, facts),
            Claim::Replaced { .. } => self.follows_from_writes(facts),
            Claim::AgainstHints {
                op,
                hint,
                before,
                larger,
            } => {
                let (op, before) = (find(facts, *op)?, find(facts, *before)?);
                Some(
                    before.precedes(op)
                        && facts.hint(op)? == *hint
                        && facts.hint(before)? == *larger
                        && hint < larger,
                )
            }
            Claim::CountedTwice { .. }
            | Claim::CountTooLow { .. }
            | Claim::CountTooHigh { .. }
            | Claim::CountFell { .. }
            | Claim::BetweenSteps { .. } => self.follows_from_counts(facts),
            Claim::NeverPut { .. } | Claim::TakenTooOften { .. } | Claim::AddedTooOften { .. } => {
                self.follows_from_changes(facts)
            }
            Claim::UsedAfterRemoval { .. }
            | Claim::NotEmpty { .. }
            | Claim::Overtaken { .. }
            | Claim::Buried { .. }
            | Claim::TakenBefore { .. }
            | Claim::PassedOver { .. } => self.follows_from_uses(facts),
        }
    }

    /// Whether a claim about a count follows.
    fn follows_from_counts(&self, facts: &dyn Facts) -> Option<bool> {
        Some(match self {
            Claim::CountedTwice { op, other, count } => {
                let raises = |id: OpId| {
                    let op = find(facts, id).filter(|op| op.ret != NEVER);
                    op.and_then(|op| count_of(facts, op)) == Some((1, Some(*count)))
                };
                only_raises(facts) && op != other && raises(*op) && raises(*other)
            }
            Claim::CountTooLow {
                op,
                count,
                least,
                raised,
            } => {
                let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
                let (sum, number) = counted(facts, |other| other.precedes(op))?;
                only_raises(facts)
                    && (sum, number) == (*least, *raised)
                    && seen_count(facts, op)? == *count
                    && count < least
            }
            Claim::CountTooHigh { op, count, most } => {
                let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
                let (sum, _) = counted(facts, |other| !op.precedes(*other) && other.id != op.id)?;
                only_raises(facts)
                    && sum == *most
                    && seen_count(facts, op)? == *count
                    && count > most
            }
            Claim::CountFell {
                op,
                count,
                least,
                since,
            } => {
                let (op, since) = (find(facts, *op)?, find(facts, *since)?);
                only_raises(facts)
                    && op.ret != NEVER
                    && since.precedes(op)
                    && seen_count(facts, op)? == *count
                    && count < least
                    && least_count(facts, since.ret)? >= *least
            }
            Claim::BetweenSteps {
                op,
                count,
                initial,
                by,
            } => {
                let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
                let is_step = |op: &TaskOp| matches!(facts.role(*op), Role::Counts { by: other, .. } if other == 0 || other == *by);
                let distance = i128::from(*count) - i128::from(*initial);
                *by > 0
                    && matches!(facts.kind(), Some(Kind::Counter(first)) if first == initial)
                    && facts.ops().iter().all(is_step)
                    && counted(facts, |_| true).is_some()
                    && seen_count(facts, op)? == *count
                    && distance % i128::from(*by) != 0
            }
            _ => return None,
        })
    }

    /// Whether the operations on a register that a claim names are what it says. That the value was no longer there then
    /// follows: the operation is one that no order explains.
    fn follows_from_writes(&self, facts: &dyn Facts) -> Option<bool> {
        let Claim::Replaced {
            op,
            value,
            before,
            by,
            until,
        } = self
        else {
            return None;
        };
        let Some(Kind::Slot(initial)) = facts.kind() else {
            return None;
        };
        let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
        let by = find(facts, *by)?;
        let until = match until {
            Some(until) => find(facts, *until)?,
            None => by,
        };
        let other = written_or_seen(facts, by)?;
        let is_before = match before {
            Some(before) => {
                let before = find(facts, *before)?;
                written_or_seen(facts, before)? == *value && before.precedes(by)
            }
            None => *initial == *value && by.precedes(op),
        };
        Some(
            written_or_seen(facts, op)? == *value
                && other != *value
                && written_or_seen(facts, until)? == other
                && until.precedes(op)
                && is_before,
        )
    }

    /// Whether a claim about what was put somewhere, and taken from there, follows.
    fn follows_from_changes(&self, facts: &dyn Facts) -> Option<bool> {
        Some(match self {
            Claim::NeverPut { op, value, .. } => {
                let op = find(facts, *op)?;
                let sees = match facts.role(op) {
                    Role::Slot {
                        needs: Need::Is(seen),
                        ..
                    }
                    | Role::Removes(seen)
                    | Role::Peeks(seen) => op.ret != NEVER && seen == *value,
                    _ => false,
                };
                sees && !facts
                    .ops()
                    .iter()
                    .any(|other| may_put(facts, *other, value))
            }
            Claim::TakenTooOften { value, taken, put } => {
                let counts = Changes::count(facts, value)?;
                let all_taken = taken
                    .iter()
                    .all(|&id| find(facts, id).is_some_and(|op| has_taken(facts, op, value)));
                all_taken && counts.put == *put && counts.put < taken.len()
            }
            Claim::AddedTooOften {
                value,
                added,
                removed,
            } => {
                let counts = Changes::count(facts, value)?;
                let all_added = added.iter().all(|&id| {
                    let op = find(facts, id).filter(|op| op.ret != NEVER);
                    op.is_some_and(|op| found_and_left(facts, op, value) == Some((false, true)))
                });
                all_added && counts.taken == *removed && counts.taken + 1 < added.len()
            }
            _ => return None,
        })
    }

    /// Whether a claim about the values of a container follows.
    fn follows_from_uses(&self, facts: &dyn Facts) -> Option<bool> {
        Some(match self {
            Claim::UsedAfterRemoval {
                value,
                removal,
                later,
            } => {
                let (removal, later) = (find(facts, *removal)?, find(facts, *later)?);
                let uses = Uses::of(facts, value);
                let is_used = uses.peeks.contains(&later) || uses.insertions.contains(&later);
                uses.insertion().is_some()
                    && uses.removals.contains(&removal)
                    && is_used
                    && later.ret != NEVER
                    && removal.precedes(later)
            }
            Claim::NotEmpty { op, values } => {
                let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
                facts.role(op) == Role::Empty && has_one_of(facts, values, op.call, op.ret)?
            }
            Claim::TakenBefore { op, value, by } => {
                let op = find(facts, *op).filter(|op| op.ret != NEVER)?;
                let by = find(facts, *by)?;
                let uses = Uses::of(facts, value);
                let removals = uses.removals.iter().filter(|other| other.id != op.id);
                // A removal that overlaps a peek may come after it.
                let removals = match facts.role(op) {
                    Role::Removes(_) => removals.count(),
                    _ => removals.filter(|other| other.precedes(op)).count(),
                };
                served(facts, op).as_ref() == Some(value)
                    && by.id != op.id
                    && uses.removals.contains(&by)
                    && !uses.may_be_put
                    && removals >= uses.insertions.len()
            }
            Claim::Overtaken { first, second, op } => {
                let op = find(facts, *op)?;
                let (a, b) = (Uses::of(facts, first), Uses::of(facts, second));
                let (from, to) = a.presence()?;
                let is_first = precedes(from, b.insertion()?.call);
                first != second
                    && served(facts, op).as_ref() == Some(second)
                    && is_first
                    && precedes(op.ret, to)
            }
            Claim::Buried { lower, upper, op } => {
                let op = find(facts, *op)?;
                let (a, b) = (Uses::of(facts, lower), Uses::of(facts, upper));
                lower != upper
                    && served(facts, op).as_ref() == Some(lower)
                    && precedes(a.in_by()?, b.insertion()?.call)
                    && b.spans(op)
            }
            Claim::PassedOver { op, urgent, how } => {
                let op = find(facts, *op)?;
                let served = served(facts, op)?;
                let is_urgent = |value: &Value| match *how {
                    "larger" => *value > served,
                    _ => *value < served,
                };
                // It cannot have taken effect before its value was put in, nor have taken that out before it was seen.
                let uses = Uses::of(facts, &served).latest();
                let begun = match (uses.insertion(), facts.role(op)) {
                    (Some(insertion), Role::Removes(_)) => insertion.call.max(uses.last_peek()),
                    (Some(insertion), _) => insertion.call,
                    (None, _) => 0,
                };
                urgent.iter().all(is_urgent)
                    && begun < op.ret
                    && has_one_of(facts, urgent, op.call.max(begun), op.ret)?
            }
            _ => return None,
        })
    }
}

/// Whether at any time between two ranks one of these values was in the container.
fn has_one_of(facts: &dyn Facts, values: &[Value], from: u32, to: u32) -> Option<bool> {
    /// More values are not looked at: each takes a pass.
    const MOST_VALUES: usize = 64;
    if values.len() > MOST_VALUES {
        return None;
    }
    let uses = values.iter().map(|value| Uses::of(facts, value).latest());
    let uses: Vec<Uses> = uses.collect();
    let mut presences = Vec::new();
    for uses in &uses {
        presences.push((uses, uses.presence_but_for_takers()?));
    }
    let may_take = |op: &&TaskOp| match facts.role(**op) {
        Role::RemovesSome => true,
        Role::Opaque => !facts.is_pure(**op),
        _ => false,
    };
    let takers: Vec<u32> = facts
        .ops()
        .iter()
        .filter(may_take)
        .map(|op| op.call)
        .collect();
    // Only after these events can there be fewer values than before.
    let ends = presences
        .iter()
        .flat_map(|(uses, (_, to))| [*to, uses.last_peek()]);
    let mut moments: Vec<u32> = ends.chain(takers.iter().copied()).chain([from]).collect();
    moments.retain(|rank| (from..to).contains(rank));
    Some(moments.into_iter().all(|moment| {
        let is_there = |(_, (begin, end)): &&(&Uses, (u32, u32))| *begin <= moment && moment < *end;
        let is_sure =
            |(uses, _): &&(&Uses, (u32, u32))| !uses.may_be_removed() || moment < uses.last_peek();
        let there: Vec<_> = presences.iter().filter(is_there).collect();
        let taken = takers.iter().filter(|call| **call <= moment).count();
        there.iter().copied().any(|value| is_sure(&value)) || there.len() > taken
    }))
}

/// The value that an operation on a register wrote or saw; one that saw it must have returned.
fn written_or_seen(facts: &dyn Facts, op: TaskOp) -> Option<Value> {
    match facts.role(op) {
        Role::Slot {
            needs: Need::Anything,
            leaves: Some(value),
        } => Some(value),
        Role::Slot {
            needs: Need::Is(value),
            leaves: None,
        } if op.ret != NEVER => Some(value),
        _ => None,
    }
}

/// The least count after the return with this rank, of a counter that no operation lowers: what an operation shows that returned by
/// then, and what later ones have added.
fn least_count(facts: &dyn Facts, rank: u32) -> Option<i64> {
    let Some(Kind::Counter(initial)) = facts.kind() else {
        return None;
    };
    let returned = || facts.ops().iter().filter(|op| op.ret <= rank);
    let mut amounts: Vec<(u32, i64)> = Vec::new();
    let mut shown = vec![(0, *initial)];
    for op in returned() {
        let Role::Counts { by, seen } = facts.role(*op) else {
            return None;
        };
        amounts.push((op.call, by));
        shown.extend(seen.map(|seen| (op.ret, seen.saturating_add(by))));
    }
    amounts.sort_unstable_by_key(|(call, _)| std::cmp::Reverse(*call));
    shown.sort_unstable_by_key(|(ret, _)| std::cmp::Reverse(*ret));
    let mut later = amounts.into_iter().peekable();
    let (mut added, mut least) = (0i64, *initial);
    for (ret, count) in shown {
        while let Some((_, by)) = later.next_if(|(call, _)| ret == 0 || precedes(ret, *call)) {
            added = added.saturating_add(by);
        }
        least = least.max(count.saturating_add(added));
    }
    Some(least)
}

/// The sign of what an operation adds to a counter, and the count before it, if it returned that.
fn count_of(facts: &dyn Facts, op: TaskOp) -> Option<(i64, Option<i64>)> {
    match facts.role(op) {
        Role::Counts { by, seen } => Some((by.signum(), seen)),
        _ => None,
    }
}

/// The count before an operation, if it returned that.
pub(super) fn seen_count(facts: &dyn Facts, op: TaskOp) -> Option<i64> {
    count_of(facts, op)?.1
}

/// Whether all operations are on a counter, and none lowers the count or makes it wrap around.
fn only_raises(facts: &dyn Facts) -> bool {
    let raises = |op: &TaskOp| count_of(facts, *op).is_some_and(|(sign, _)| sign >= 0);
    facts.ops().iter().all(raises) && counted(facts, |_| true).is_some()
}

/// The count after those operations that `count`, in any order, and how many of them raise it. `None` if this is no
/// counter, or if the sum is no number of 64 bits.
pub(super) fn counted(facts: &dyn Facts, count: impl Fn(&TaskOp) -> bool) -> Option<(i64, usize)> {
    let Some(Kind::Counter(initial)) = facts.kind() else {
        return None;
    };
    let (mut sum, mut raised) = (*initial, 0);
    for op in facts.ops().iter().filter(|op| count(op)) {
        let Role::Counts { by, .. } = facts.role(*op) else {
            return None;
        };
        sum = sum.checked_add(by)?;
        raised += usize::from(by > 0);
    }
    Some((sum, raised))
}

/// Whether the operation puts the value in, or may do so.
fn may_put(facts: &dyn Facts, op: TaskOp, value: &Value) -> bool {
    match facts.role(op) {
        Role::Slot {
            leaves: Some(put), ..
        }
        | Role::Adds(put) => put == *value,
        Role::Appends(_) => true,
        Role::Opaque => !facts.is_pure(op),
        _ => false,
    }
}

/// What an operation on one member of a set found there and left, where it says so.
fn found_and_left(facts: &dyn Facts, op: TaskOp, member: &Value) -> Option<(bool, bool)> {
    match facts.role(op) {
        Role::Slot {
            needs: Need::Is(Value::Bool(found)),
            leaves: Some(Value::Bool(left)),
        } if facts.key(op).as_ref() == Some(member) => Some((found, left)),
        _ => None,
    }
}

/// Whether the operation returned and says that it took the value out.
fn has_taken(facts: &dyn Facts, op: TaskOp, value: &Value) -> bool {
    let takes = match facts.role(op) {
        Role::Removes(other) => other == *value,
        _ => found_and_left(facts, op, value) == Some((true, false)),
    };
    takes && op.ret != NEVER
}

/// Whether an operation put the value in (`true`) or took it out.
fn change(facts: &dyn Facts, op: TaskOp, value: &Value) -> Option<bool> {
    match facts.role(op) {
        Role::Adds(other) if other == *value => Some(true),
        Role::Removes(other) if other == *value => Some(false),
        Role::Slot {
            leaves: Some(Value::Bool(left)),
            ..
        } if facts.key(op).as_ref() == Some(value) => Some(left),
        _ => None,
    }
}

/// How many operations put a value in or took it out, or may have done so.
struct Changes {
    put: usize,
    taken: usize,
}

impl Changes {
    /// `None` if some operation may have done so without saying it.
    fn count(facts: &dyn Facts, value: &Value) -> Option<Self> {
        let mut changes = Changes { put: 0, taken: 0 };
        for &op in facts.ops() {
            match (change(facts, op, value), facts.role(op)) {
                (Some(true), _) => changes.put += 1,
                (Some(false), _) => changes.taken += 1,
                (None, Role::Opaque | Role::Appends(_)) if !facts.is_pure(op) => return None,
                (
                    None,
                    Role::Slot {
                        needs: Need::IsNot(_),
                        ..
                    },
                ) => return None,
                _ => {}
            }
        }
        Some(changes)
    }
}
