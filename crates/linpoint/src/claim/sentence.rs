//! The sentences that say claims in words.

use super::{Change, Claim, Listed, Since};
use crate::spec::{Keys, Vocabulary};
use crate::value::Value;

/// The most values that a sentence lists.
const MOST_VALUES: usize = 6;

/// Names an operation: its call, its result, its process, and its line.
pub(super) type Describe<'d, I> = &'d dyn Fn(&I) -> String;

impl<I> Claim<I> {
    /// The claim in words. `describe` names an operation: its call, its result, its process, and its line.
    pub fn sentence(&self, words: &Vocabulary, describe: &dyn Fn(&I) -> String) -> String {
        match self {
            Claim::OnlyAnswers {
                op,
                states,
                answers,
            } => {
                let (what, states) = (describe(op), states.alternatives());
                format!(
                    "{what} is impossible: by the other results, {states}, whatever the order, so the answer can only be {}",
                    answers.other_answers()
                )
            }
            Claim::CannotHappen { op, states } => {
                let (what, states) = (describe(op), states.alternatives());
                format!(
                    "{what} is impossible: no order that explains the other results lets it take effect; without it, {states} when it returned, whatever the order"
                )
            }
            Claim::NotBlocked { op, states } => {
                let what = describe(op);
                match states.count {
                    0 => format!(
                        "{what} is stuck for no reason: no order of the operations that returned leads to a state in which it waits"
                    ),
                    _ => format!(
                        "{what} is stuck for no reason: in the end {}, whatever the order, and it does not wait then",
                        states.alternatives()
                    ),
                }
            }
            Claim::WrongScan {
                fault,
                shown,
                compared,
            } => fault.sentence(describe, |scan, entry| {
                let is_wrong = std::ptr::eq(scan, &fault.scan) && entry == fault.entry;
                if is_wrong { shown } else { compared }.to_string()
            }),
            Claim::Detailed(detailed) => detailed.sentence(describe),
            Claim::Stuck { op, states } => {
                let stuck = format!(
                    "no order found so far goes past the return of {}",
                    describe(op)
                );
                match states.len() {
                    0 => stuck,
                    count => {
                        let states = Listed::of(states.iter().cloned(), count).alternatives();
                        format!("{stuck}; in orders that reach it, {states} just before")
                    }
                }
            }
            Claim::Contradiction { op, others } => {
                let what = describe(op);
                match others.as_slice() {
                    [] => format!("{what} is impossible, whatever the order"),
                    [other] => format!(
                        "{what} is impossible together with {}, whatever the order",
                        describe(other)
                    ),
                    _ => format!(
                        "{what} is impossible together with the results of {} other operations, whatever the order",
                        others.len()
                    ),
                }
            }
            Claim::AgainstHints {
                op,
                hint,
                before,
                larger,
            } => {
                let took_effect = words.took_effect;
                format!(
                    "{} {took_effect} {hint}, but {}, which had returned before it was called, {took_effect} {larger}",
                    describe(op),
                    describe(before)
                )
            }
            Claim::CountedTwice { .. }
            | Claim::CountTooLow { .. }
            | Claim::CountTooHigh { .. }
            | Claim::CountFell { .. }
            | Claim::BetweenSteps { .. } => self.sentence_on_counts(describe),
            Claim::NotChanged { .. } | Claim::NoOther { .. } => {
                self.sentence_on_changes(words, describe)
            }
            Claim::Missed { .. } | Claim::AtPlace { .. } => self.sentence_on_place(words, describe),
            Claim::NeverPut { .. }
            | Claim::TakenBefore { .. }
            | Claim::LongGone { .. }
            | Claim::Replaced { .. } => self.sentence_on_absence(words, describe),
            _ => self.sentence_on_values(words, describe),
        }
    }

    /// That an operation saw a value that was not there.
    fn sentence_on_absence(&self, words: &Vocabulary, describe: Describe<'_, I>) -> String {
        let put = words.put;
        let at = |key: &Option<Value>| {
            let key = key.as_ref();
            key.map_or_else(String::new, |key| format!(" at {} {key}", words.place))
        };
        match self {
            Claim::NeverPut {
                op,
                key,
                value,
                alike,
            } => {
                let (what, at) = (describe(op), at(key));
                let hint = alike.as_ref().map_or_else(String::new, |alike| {
                    format!(
                        "; {} {alike} had been, and that is not {} {value}",
                        alike.kind_name(),
                        value.kind_name()
                    )
                });
                format!("{what} is impossible: {value} had not been {put}{at} by then{hint}")
            }
            Claim::TakenBefore { op, value, by } => format!(
                "{} is impossible: {} took {value} out, and it was not {put} again by then",
                describe(op),
                describe(by)
            ),
            Claim::LongGone { op, key, value } => format!(
                "{} is impossible: {value} was never {put}{}, or gone long before it was called",
                describe(op),
                at(key)
            ),
            Claim::Replaced {
                op,
                value,
                before,
                by,
                until,
            } => {
                let (what, by) = (describe(op), describe(by));
                match (before.as_ref().map(describe), until.as_ref().map(describe)) {
                    (None, _) => format!(
                        "{what} is impossible: {by} had returned before it was called, so {value}, the initial value, was no longer there"
                    ),
                    (Some(before), None) => format!(
                        "{what} is impossible: {by} was called after {before} had returned, and had itself returned before this was called, so {value} was no longer there"
                    ),
                    (Some(before), Some(until)) => format!(
                        "{what} is impossible: {by} was called after {before} had returned, and {until} had returned before it was called, so {value} was no longer there"
                    ),
                }
            }
            _ => unreachable!("bug: {} is not about a value that is missing", self.kind()),
        }
    }

    fn sentence_on_values(&self, words: &Vocabulary, describe: Describe<'_, I>) -> String {
        let Vocabulary {
            object, put, taken, ..
        } = words;
        match self {
            Claim::TakenTooOften {
                value,
                taken: ops,
                put: count,
            } => {
                let (often, seldom) = (times(ops.len()), at_most(*count));
                let by = all_named(ops, describe);
                format!("{value} was {taken} {often} and {put} {seldom} by then: {by}")
            }
            Claim::AddedTooOften {
                value,
                added,
                removed,
            } => {
                let (often, by) = (times(added.len()), all_named(added, describe));
                match removed {
                    0 if words.keys == Keys::Identifiers => {
                        format!("{value} was {put} {often}: by {by}")
                    }
                    0 => format!("{value} was {put} {often} and never {taken} in between: {by}"),
                    _ => {
                        format!(
                            "{value} was {put} {often} and {taken} {} by then: {by}",
                            at_most(*removed)
                        )
                    }
                }
            }
            Claim::UsedAfterRemoval {
                value,
                removal,
                later,
            } => format!(
                "{} was called after {} had returned, and {value} was {put} only once by then",
                describe(later),
                describe(removal)
            ),
            Claim::NotEmpty { op, values } => {
                let what = describe(op);
                match values.as_slice() {
                    [only] => {
                        format!("{what} found {object} empty, but {only} was in it all the time")
                    }
                    _ => format!(
                        "{what} found {object} empty, but at any time one of {} was in it",
                        listed(values)
                    ),
                }
            }
            Claim::Overtaken { first, second, op } => format!(
                "{first} was {put} before {second}, but {} served {second} before {first}",
                describe(op)
            ),
            Claim::Buried { lower, upper, op } => format!(
                "{} served {lower} while {upper}, {put} after it, was on top of it",
                describe(op)
            ),
            Claim::PassedOver { op, urgent, how } => match urgent.as_slice() {
                [only] => format!(
                    "{} passed over {only}, which is {how} and was in {object} whenever it can have taken effect",
                    describe(op)
                ),
                _ => format!(
                    "{} passed over {how} values: whenever it can have taken effect, one of {} was in {object}",
                    describe(op),
                    listed(urgent)
                ),
            },
            _ => unreachable!("bug: {} is not about values", self.kind()),
        }
    }

    fn sentence_on_counts(&self, describe: Describe<'_, I>) -> String {
        match self {
            Claim::CountedTwice { op, other, count } => format!(
                "{} and {} both raised the count from {count}, and no operation had lowered it",
                describe(op),
                describe(other)
            ),
            Claim::CountTooLow {
                op, least, raised, ..
            } => {
                let raised = match raised {
                    1 => "1 operation that raises it".to_owned(),
                    n => format!("{n} operations that raise it"),
                };
                format!(
                    "{} is too low: {raised} had returned before it was called, so the count was at least {least} when it was called",
                    describe(op)
                )
            }
            Claim::CountTooHigh { op, most, .. } => format!(
                "{} is too high: with everything else that was called before it returned, the count before it was at most {most}",
                describe(op)
            ),
            Claim::CountFell {
                op, least, since, ..
            } => format!(
                "{} is too low: when {} had returned, before it was called, the count was at least {least}",
                describe(op),
                describe(since)
            ),
            Claim::BetweenSteps {
                op, initial, by, ..
            } => format!(
                "{} is impossible: the count was {initial} at first, and every operation that raises it adds {by}",
                describe(op)
            ),
            _ => unreachable!("bug: {} is not about counts", self.kind()),
        }
    }

    fn sentence_on_changes(&self, words: &Vocabulary, describe: Describe<'_, I>) -> String {
        let verb = |to: bool| if to { words.put } else { words.taken };
        match self {
            Claim::NotChanged {
                op,
                member,
                state,
                since,
                used_up,
            } => {
                let (what, undone) = (describe(op), verb(!state));
                let clause = |state| words.two_states(state, member.as_ref());
                let was = clause(*state);
                let by_whom = used_up.as_ref().map_or_else(String::new, |used| {
                    let (by, after) = (describe(&used.by), describe(&used.after));
                    format!(": {by} is the one that {undone} it after {after}")
                });
                let sentence = match since {
                    Since::Return(first) | Since::Change(first)
                        if words.keys == Keys::Identifiers && *state =>
                    {
                        let id = member.as_ref().map_or("an id".to_owned(), Value::to_string);
                        let put = words.put;
                        format!("{id} was {put} twice: by {} and by {what}", describe(first))
                    }
                    Since::Beginning => format!(
                        "{what} is impossible: {was}, and no operation was open that can have {undone} it"
                    ),
                    Since::Return(since) => format!(
                        "{what} is impossible: when {} had returned, {was}, and no operation can have {undone} it since",
                        describe(since)
                    ),
                    Since::Change(other) => format!(
                        "{what} is impossible together with {}: both tell that {} before, and no operation is left that can have {undone} it in between",
                        describe(other),
                        clause(!state)
                    ),
                    Since::Sight(other) => format!(
                        "{what} is impossible: when {} returned, {was} by another operation, and no operation is left that can have {undone} it in between",
                        describe(other)
                    ),
                };
                sentence + &by_whom
            }
            Claim::NoOther {
                op,
                shown_by,
                change,
            } => {
                let subject = |member: &Option<Value>| match member {
                    Some(member) => member.to_string(),
                    None => words.object.to_owned(),
                };
                let changed = match change {
                    Change::Put(member) => format!("{} had been {}", subject(member), words.put),
                    Change::Taken(member) => {
                        format!("{} had been {}", subject(member), words.taken)
                    }
                    Change::Raised => "the count had been raised".to_owned(),
                };
                format!(
                    "{} is impossible: {} shows that {changed} by then, and no other operation is left that can have done so",
                    describe(op),
                    describe(shown_by)
                )
            }
            _ => unreachable!("bug: {} is not about changes", self.kind()),
        }
    }
}

/// `a`, `a and b`, `a, b and c`, or `a, b, c and 7 more`.
pub(super) fn all_named<I>(ops: &[I], describe: Describe<'_, I>) -> String {
    const MOST_NAMED: usize = 3;
    let mut named: Vec<String> = ops.iter().take(MOST_NAMED).map(describe).collect();
    if ops.len() > MOST_NAMED {
        named.push(format!("{} more", ops.len() - MOST_NAMED));
    }
    match named.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

/// `5, 7`, or `80 values (1, 2, 3, 4, 5, 6, …)`.
fn listed(values: &[Value]) -> String {
    let first = values.iter().take(MOST_VALUES).map(Value::to_string);
    let first = first.collect::<Vec<_>>().join(", ");
    match values.len() {
        ..=MOST_VALUES => first,
        count => format!("{count} values ({first}, …)"),
    }
}

fn times(count: usize) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

fn at_most(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "only once".to_owned(),
        n => format!("only {}", times(n)),
    }
}
