//! Claims: what an explanation says, as data, with the sentence that says it.
//!
//! A claim about values or members is checked against the whole beginning of the history by its definition before it is
//! shown ([`held`](super::held)), so a sentence never says more than the recorded operations do.

use super::Stuck;
use crate::history::OpId;
use crate::spec::Vocabulary;
use crate::value::Value;

/// What is wrong with a history, as data. [`Claim::sentence`] says it in words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Claim {
    /// In every order of what came before, the operation could only have answered otherwise.
    OnlyAnswers {
        /// The operation.
        op: OpId,
        /// The states in which it could have taken effect, each as a clause.
        states: Listed,
        /// What it could have answered.
        answers: Listed,
    },
    /// In no order of what came before could the operation have taken effect.
    CannotHappen {
        /// The operation.
        op: OpId,
        /// The states that were possible until it returned, each as a clause.
        states: Listed,
    },
    /// The operation saw a value that no operation had put there by then.
    NeverPut {
        /// The operation.
        op: OpId,
        /// The value.
        value: Value,
        /// A value that was put there and is written alike: 1 and "1".
        alike: Option<Value>,
    },
    /// A value was taken out more often than it was put in.
    TakenTooOften {
        /// The value.
        value: Value,
        /// The operations that took it out.
        taken: Vec<OpId>,
        /// How many operations had put it in, or may have.
        put: usize,
    },
    /// A member was added more often than it was absent.
    AddedTooOften {
        /// The member.
        value: Value,
        /// The operations that added it.
        added: Vec<OpId>,
        /// How many operations had removed it, or may have.
        removed: usize,
    },
    /// A value was used after it had been taken out, and it was put in only once.
    UsedAfterRemoval {
        /// The value.
        value: Value,
        /// The operation that took it out.
        removal: OpId,
        /// The later operation on it.
        later: OpId,
    },
    /// The operation found the container empty, and at every moment of it one of these values was there.
    NotEmpty {
        /// The operation.
        op: OpId,
        /// The values.
        values: Vec<Value>,
    },
    /// Of two values in a queue, the one that was put in later was served first.
    Overtaken {
        /// The value that was put in first.
        first: Value,
        /// The value that was served first.
        second: Value,
        /// The operation that served it.
        op: OpId,
    },
    /// A value was served from under a later one that was on top of it in a stack.
    Buried {
        /// The value below.
        lower: Value,
        /// The value on top of it.
        upper: Value,
        /// The operation that served the lower one.
        op: OpId,
    },
    /// An operation served a value while a more urgent one was there.
    PassedOver {
        /// The operation.
        op: OpId,
        /// The value that should have been served.
        urgent: Value,
        /// How it compares to the one that was served: "larger" or "smaller".
        how: &'static str,
    },
    /// Two operations that raise a counter saw the same count, and no operation lowers it.
    CountedTwice {
        /// The operation that returned last.
        op: OpId,
        /// The other one.
        other: OpId,
        /// The count that both saw.
        count: i64,
    },
    /// An operation saw a lower count than operations before it had left, and no operation lowers it.
    CountTooLow {
        /// The operation.
        op: OpId,
        /// The count that it saw.
        count: i64,
        /// The least count when it was called.
        least: i64,
        /// How many operations that raise the count had returned by then.
        raised: usize,
    },
    /// An operation saw a higher count than all operations that were called before it returned can leave.
    CountTooHigh {
        /// The operation.
        op: OpId,
        /// The count that it saw.
        count: i64,
        /// The largest count until it returned.
        most: i64,
    },
    /// The operation does not show a member that had been added, and that no operation removed.
    Missed {
        /// The operation.
        op: OpId,
        /// The member.
        value: Value,
        /// The operation that had added it.
        put: OpId,
    },
    /// Operations contradict each other by what they say about one place of the object.
    AtPlace {
        /// The operation that returned last.
        op: OpId,
        /// The place.
        place: Value,
        /// The other operations.
        others: Vec<OpId>,
    },
    /// A scan of a snapshot shows what it cannot have seen; the sentence names the property that it breaks.
    WrongScan {
        /// The scan.
        op: OpId,
        /// The sentence.
        sentence: String,
    },
    /// The limits ended before anything was reduced: no order that was found goes past the return of the operation.
    Stuck(Stuck),
    /// The results and times of the operations contradict each other; nothing simpler is known.
    Contradiction {
        /// The operation that returned last.
        op: OpId,
        /// The other operations whose results count.
        others: Vec<OpId>,
    },
}

/// Some texts of a larger number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The first ones, in ascending order.
    pub shown: Vec<String>,
    /// How many there are.
    pub count: usize,
}

impl Listed {
    /// The least `most` of these texts.
    pub(super) fn of(texts: impl IntoIterator<Item = String>, most: usize) -> Self {
        let mut shown: Vec<String> = texts.into_iter().collect();
        // Numbers of different lengths are in their order so.
        shown.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        shown.dedup();
        let count = shown.len();
        shown.truncate(most);
        Listed { shown, count }
    }

    /// `a`, `a or b`, `a, b or c`, or `one of 7: a, b, c, …`. Words that all begin with stand once.
    pub fn alternatives(&self) -> String {
        let common = match self.shown.as_slice() {
            [] | [_] => 0,
            [first, rest @ ..] => rest
                .iter()
                .map(|text| common_words(first, text))
                .min()
                .unwrap_or(0),
        };
        let ends: Vec<&str> = self.shown.iter().map(|text| &text[common..]).collect();
        let start = self.shown.first().map_or("", |text| &text[..common]);
        match ends.as_slice() {
            [] => String::new(),
            _ if self.count > ends.len() => {
                format!("{start}one of {}: {}, …", self.count, ends.join(", "))
            }
            [only] => format!("{start}{only}"),
            [all @ .., last] => format!("{start}{} or {last}", all.join(", ")),
        }
    }
}

/// How many bytes of whole words two texts have in common at their beginnings, before any list or quoted text.
fn common_words(a: &str, b: &str) -> usize {
    let is_plain = |byte: u8| !matches!(byte, b'[' | b'{' | b'"');
    let pairs = a.bytes().zip(b.bytes());
    let same = pairs.take_while(|(a, b)| a == b && is_plain(*a)).count();
    a.as_bytes()[..same]
        .iter()
        .rposition(|&byte| byte == b' ')
        .map_or(0, |space| space + 1)
}

impl Claim {
    /// The operation that the claim is about, if it is about one.
    pub fn op(&self) -> Option<OpId> {
        match self {
            Claim::OnlyAnswers { op, .. }
            | Claim::CannotHappen { op, .. }
            | Claim::NeverPut { op, .. }
            | Claim::NotEmpty { op, .. }
            | Claim::Overtaken { op, .. }
            | Claim::Buried { op, .. }
            | Claim::PassedOver { op, .. }
            | Claim::CountedTwice { op, .. }
            | Claim::CountTooLow { op, .. }
            | Claim::CountTooHigh { op, .. }
            | Claim::Missed { op, .. }
            | Claim::AtPlace { op, .. }
            | Claim::WrongScan { op, .. }
            | Claim::Contradiction { op, .. } => Some(*op),
            Claim::UsedAfterRemoval { later, .. } => Some(*later),
            Claim::Stuck(stuck) => Some(stuck.op),
            Claim::TakenTooOften { .. } | Claim::AddedTooOften { .. } => None,
        }
    }

    /// The kind of the claim in one word, for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::OnlyAnswers { .. } => "only-answers",
            Claim::CannotHappen { .. } => "cannot-happen",
            Claim::NeverPut { .. } => "never-put",
            Claim::TakenTooOften { .. } => "taken-too-often",
            Claim::AddedTooOften { .. } => "added-too-often",
            Claim::UsedAfterRemoval { .. } => "used-after-removal",
            Claim::NotEmpty { .. } => "not-empty",
            Claim::Overtaken { .. } => "overtaken",
            Claim::Buried { .. } => "buried",
            Claim::PassedOver { .. } => "passed-over",
            Claim::CountedTwice { .. } => "counted-twice",
            Claim::CountTooLow { .. } => "count-too-low",
            Claim::CountTooHigh { .. } => "count-too-high",
            Claim::Missed { .. } => "missed",
            Claim::AtPlace { .. } => "at-place",
            Claim::WrongScan { .. } => "wrong-scan",
            Claim::Stuck(_) => "stuck",
            Claim::Contradiction { .. } => "contradiction",
        }
    }

    /// The claim in words. `describe` names an operation: its call, its result, its process, and its line.
    pub fn sentence(&self, words: &Vocabulary, describe: &dyn Fn(OpId) -> String) -> String {
        match self {
            Claim::OnlyAnswers {
                op,
                states,
                answers,
            } => {
                let (what, states) = (describe(*op), states.alternatives());
                format!(
                    "{what} is impossible: {states}, whatever the order, so the answer can only be {}",
                    answers.alternatives()
                )
            }
            Claim::CannotHappen { op, states } => {
                let (what, states) = (describe(*op), states.alternatives());
                format!(
                    "{what} is impossible: {states} as long as it was open, whatever the order, so it could not take effect"
                )
            }
            Claim::WrongScan { sentence, .. } => sentence.clone(),
            Claim::Stuck(stuck) => stuck.sentence(describe),
            Claim::Contradiction { op, others } => {
                let what = describe(*op);
                match others.as_slice() {
                    [] => format!("{what} is impossible, whatever the order"),
                    [other] => format!(
                        "{what} is impossible together with {}, whatever the order",
                        describe(*other)
                    ),
                    _ => format!(
                        "{what} is impossible together with the results of {} other operations, whatever the order",
                        others.len()
                    ),
                }
            }
            Claim::CountedTwice { .. } | Claim::CountTooLow { .. } | Claim::CountTooHigh { .. } => {
                self.sentence_on_counts(describe)
            }
            Claim::Missed { .. } | Claim::AtPlace { .. } => self.sentence_on_place(words, describe),
            _ => self.sentence_on_values(words, describe),
        }
    }

    fn sentence_on_values(&self, words: &Vocabulary, describe: &dyn Fn(OpId) -> String) -> String {
        let Vocabulary {
            object, put, taken, ..
        } = words;
        match self {
            Claim::NeverPut { op, value, alike } => {
                let what = describe(*op);
                let hint = alike.as_ref().map_or_else(String::new, |alike| {
                    format!(
                        "; {} {alike} had been, and that is not {} {value}",
                        alike.kind_name(),
                        value.kind_name()
                    )
                });
                format!("{what} is impossible: {value} had not been {put} by then{hint}")
            }
            Claim::TakenTooOften {
                value,
                taken: ops,
                put: count,
            } => {
                let (often, seldom) = (times(ops.len()), at_most(*count));
                format!("{value} was {taken} {often} and {put} {seldom}")
            }
            Claim::AddedTooOften {
                value,
                added,
                removed,
            } => {
                let often = times(added.len());
                match removed {
                    0 => format!("{value} was {put} {often} and never {taken} in between"),
                    _ => {
                        format!(
                            "{value} was {put} {often} and {taken} {}",
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
                "{} was called after {} had returned, and {value} was {put} only once",
                describe(*later),
                describe(*removal)
            ),
            Claim::NotEmpty { op, values } => {
                let what = describe(*op);
                let listed: Vec<String> = values.iter().map(Value::to_string).collect();
                match listed.as_slice() {
                    [only] => {
                        format!("{what} found {object} empty, but {only} was in it all the time")
                    }
                    _ => format!(
                        "{what} found {object} empty, but at any time one of {} was in it",
                        listed.join(", ")
                    ),
                }
            }
            Claim::Overtaken { first, second, op } => format!(
                "{first} was {put} before {second}, but {} served {second} before {first}",
                describe(*op)
            ),
            Claim::Buried { lower, upper, op } => format!(
                "{} served {lower} while {upper}, {put} after it, was on top of it",
                describe(*op)
            ),
            Claim::PassedOver { op, urgent, how } => format!(
                "{} passed over {urgent}, which is {how} and was in {object} all the time",
                describe(*op)
            ),
            _ => unreachable!("bug: {} is not about values", self.kind()),
        }
    }

    fn sentence_on_counts(&self, describe: &dyn Fn(OpId) -> String) -> String {
        match self {
            Claim::CountedTwice { op, other, count } => format!(
                "{} and {} both saw the count {count}, but each raises it and no operation lowers it",
                describe(*op),
                describe(*other)
            ),
            Claim::CountTooLow {
                op, least, raised, ..
            } => {
                let raised = match raised {
                    1 => "1 operation that raises it".to_owned(),
                    n => format!("{n} operations that raise it"),
                };
                format!(
                    "{} is too low: {raised} had returned before it was called, so the count was at least {least}",
                    describe(*op)
                )
            }
            Claim::CountTooHigh { op, most, .. } => format!(
                "{} is too high: with everything that was called before it returned, the count was at most {most}",
                describe(*op)
            ),
            _ => unreachable!("bug: {} is not about counts", self.kind()),
        }
    }

    fn sentence_on_place(&self, words: &Vocabulary, describe: &dyn Fn(OpId) -> String) -> String {
        let taken = words.taken;
        match self {
            Claim::Missed { op, value, put: by } => format!(
                "{} does not show {value}, although {} had returned before it was called, and no operation {taken} it",
                describe(*op),
                describe(*by)
            ),
            Claim::AtPlace { op, place, others } => {
                let named: Vec<String> = others.iter().map(|&id| describe(id)).collect();
                let place_name = words.place;
                match named.as_slice() {
                    [] => format!(
                        "{} cannot be true about {place_name} {place}",
                        describe(*op)
                    ),
                    _ => format!(
                        "{} and {} contradict each other about {place_name} {place}",
                        named.join(", "),
                        describe(*op)
                    ),
                }
            }
            _ => unreachable!("bug: {} is not about a place", self.kind()),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_share_their_first_words() {
        let listed = |texts: &[&str]| Listed::of(texts.iter().map(|&text| text.to_owned()), 3);
        let queue = listed(&["the queue held [2]", "the queue held [1]"]);
        assert_eq!(queue.alternatives(), "the queue held [1] or [2]");
        assert_eq!(listed(&["5"]).alternatives(), "5");
        let many = listed(&["1", "2", "3", "4", "4"]);
        assert_eq!(many.alternatives(), "one of 4: 1, 2, 3, …");
        let lists = listed(&["held [1, 2, 3]", "held [1, 2, 4]"]);
        assert_eq!(lists.alternatives(), "held [1, 2, 3] or [1, 2, 4]");
        let lock = listed(&["the lock was free", "the lock was held"]);
        assert_eq!(lock.alternatives(), "the lock was free or held");
    }
}
