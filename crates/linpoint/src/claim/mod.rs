//! Claims: what an explanation says, as data, with the sentence that says it.
//!
//! Checks of recorded histories and online monitors make the same claims, so they explain a violation in the same words. A
//! check compares a claim about values or members with the whole beginning of the history by its definition before it shows
//! it, so a sentence never says more than the recorded operations do.

mod detailed;
mod listed;
mod place;
mod sentence;

use crate::engine::monitor::snapshot::Fault;
use crate::history::OpId;
use crate::spec::Keys;
use crate::value::Value;

pub use detailed::Detailed;
pub use listed::Listed;
pub use place::PlaceConflict;

/// What is wrong with a history, as data. [`Claim::sentence`] says it in words. `I` names operations.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Claim<I = OpId> {
    /// In every order of what came before, the operation could only have answered otherwise.
    OnlyAnswers {
        /// The operation.
        op: I,
        /// The states in which it could have taken effect, each as a clause.
        states: Listed,
        /// What it could have answered.
        answers: Listed,
    },
    /// In no order of what came before could the operation have taken effect.
    CannotHappen {
        /// The operation.
        op: I,
        /// The states in which the others can have left the object when it returned, each as a clause. It can take effect in none.
        states: Listed,
    },
    /// The operation waits for ever, and in no order of the operations that returned would it wait.
    NotBlocked {
        /// The operation.
        op: I,
        /// The states in which they can have left the object, each as a clause; none if they are too many to be known.
        states: Listed,
    },
    /// The operation saw a value that no operation had put there by then.
    NeverPut {
        /// The operation.
        op: I,
        /// The key that it is on, where keys name places that hold values.
        key: Option<Value>,
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
        taken: Vec<I>,
        /// How many operations had put it in, or may have.
        put: usize,
    },
    /// A member was added more often than it was absent.
    AddedTooOften {
        /// The member.
        value: Value,
        /// The operations that added it.
        added: Vec<I>,
        /// How many operations had removed it, or may have.
        removed: usize,
    },
    /// A value was used after it had been taken out, and it was put in only once.
    UsedAfterRemoval {
        /// The value.
        value: Value,
        /// The operation that took it out.
        removal: I,
        /// The later operation on it.
        later: I,
    },
    /// The operation found the container empty, and at every moment of it one of these values was there.
    NotEmpty {
        /// The operation.
        op: I,
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
        op: I,
    },
    /// A value was served from under a later one that was on top of it in a stack.
    Buried {
        /// The value below.
        lower: Value,
        /// The value on top of it.
        upper: Value,
        /// The operation that served the lower one.
        op: I,
    },
    /// An operation served a value, and at every moment of it one of these more urgent ones was there.
    PassedOver {
        /// The operation.
        op: I,
        /// The values that should have been served.
        urgent: Vec<Value>,
        /// How they compare to the one that was served: "larger" or "smaller".
        how: &'static str,
    },
    /// Another operation had taken out what the operation saw, and no operation put it in again.
    TakenBefore {
        /// The operation.
        op: I,
        /// The value.
        value: Value,
        /// The operation that took it out.
        by: I,
    },
    /// The operation saw a value that no operation had put there, or that was gone long before: which is forgotten.
    LongGone {
        /// The operation.
        op: I,
        /// The key that it is on, where keys name places that hold values.
        key: Option<Value>,
        /// The value.
        value: Value,
    },
    /// The operation saw a value of a register that had been replaced before it was called.
    Replaced {
        /// The operation.
        op: I,
        /// The value that it saw.
        value: Value,
        /// An operation that had written or seen this value; `None` for the initial value.
        before: Option<I>,
        /// An operation that wrote or saw another value, and was called when `before` had returned.
        by: I,
        /// An operation on that other value that returned before `op` was called; `None` if `by` did.
        until: Option<I>,
    },
    /// An object of two states was in the one in which the operation is impossible, and no operation changed that.
    NotChanged {
        /// The operation.
        op: I,
        /// The member that the states are about, where the object is a set.
        member: Option<Value>,
        /// The state.
        state: bool,
        /// Since when the object was in it.
        since: Since<I>,
        /// An operation that overlaps the one that the state is known from, and had changed it before.
        used_up: Option<UsedUp<I>>,
    },
    /// An earlier result shows a change that only the operation can have made, and it did not.
    NoOther {
        /// The operation.
        op: I,
        /// The operation whose result shows the change.
        shown_by: I,
        /// The change.
        change: Change,
    },
    /// The system numbered the operation before another one that had returned before it was called.
    AgainstHints {
        /// The operation.
        op: I,
        /// Its [hint](crate::Spec::hint).
        hint: i64,
        /// The operation that had returned.
        before: I,
        /// The hint of that one.
        larger: i64,
    },
    /// Two operations that raise a counter found the same count, and no operation had lowered it.
    CountedTwice {
        /// The operation that returned last.
        op: I,
        /// The other one.
        other: I,
        /// The count that both found.
        count: i64,
    },
    /// An operation found a lower count than operations before it had left, and no operation had lowered it.
    CountTooLow {
        /// The operation.
        op: I,
        /// The count that it found.
        count: i64,
        /// The least count when it was called.
        least: i64,
        /// How many operations that raise the count had returned by then.
        raised: usize,
    },
    /// An operation found a higher count than all operations that were called before it returned can leave.
    CountTooHigh {
        /// The operation.
        op: I,
        /// The count that it found.
        count: i64,
        /// The largest count until it returned.
        most: i64,
    },
    /// An operation found a lower count than an earlier operation shows, and no operation had lowered it.
    CountFell {
        /// The operation.
        op: I,
        /// The count that it found.
        count: i64,
        /// The least count when the earlier operation had returned.
        least: i64,
        /// The earlier operation, which returned before `op` was called.
        since: I,
    },
    /// An operation found a count that is not reached by steps of the amount that every operation adds.
    BetweenSteps {
        /// The operation.
        op: I,
        /// The count that it found.
        count: i64,
        /// The count at first.
        initial: i64,
        /// What every operation adds that raises the count.
        by: i64,
    },
    /// The operation misses a member that had been added, and that no operation had removed.
    Missed {
        /// The operation.
        op: I,
        /// The member.
        value: Value,
        /// The operation that had added it.
        put: I,
    },
    /// Operations contradict each other by what they say about one place of the object.
    AtPlace {
        /// The operation that returned last.
        op: I,
        /// The place.
        place: Value,
        /// The other operations.
        others: Vec<I>,
        /// Why.
        conflict: PlaceConflict<I>,
    },
    /// A scan of a snapshot shows what it cannot have seen.
    WrongScan {
        /// What is wrong with it.
        fault: Fault<I>,
        /// What it shows in the entry in which it is wrong.
        shown: Value,
        /// What the scan shows there that it is compared with, or what it shows in the entry that it is compared with.
        compared: Value,
    },
    /// Something is wrong with a lock that has owners, a semaphore, logs or a bank.
    Detailed(Box<Detailed<I>>),
    /// The limits ended before anything was reduced: no order that was found goes past the return of the operation.
    Stuck {
        /// The operation.
        op: I,
        /// Some of the states, each as a clause, that were reached before that return.
        states: Vec<String>,
    },
    /// The results and times of the operations contradict each other; nothing simpler is known.
    Contradiction {
        /// The operation that returned last.
        op: I,
        /// The other operations whose results count.
        others: Vec<I>,
    },
}

/// Since when an object of two states was in one of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Since<I = OpId> {
    /// Since the beginning, or since a change that is forgotten.
    Beginning,
    /// Since this operation returned, which was before the other one was called.
    Return(I),
    /// Since this operation, which overlaps the other one, made the change that the other one claims to have made.
    Change(I),
    /// Since this operation, which overlaps the other one, saw the change; that was made by a further operation.
    Sight(I),
}

/// An operation that changed a state which an earlier operation had left, so it did not change that state again later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedUp<I = OpId> {
    /// The operation.
    pub by: I,
    /// The earlier operation.
    pub after: I,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// The object of two states got into the second one, as a set does that is given this member.
    Put(Option<Value>),
    /// It got back.
    Taken(Option<Value>),
    /// A count was raised.
    Raised,
}

impl<I> Claim<I> {
    /// The operation that the claim is about, if it is about one.
    pub fn op(&self) -> Option<&I> {
        match self {
            Claim::OnlyAnswers { op, .. }
            | Claim::CannotHappen { op, .. }
            | Claim::NotBlocked { op, .. }
            | Claim::NeverPut { op, .. }
            | Claim::NotEmpty { op, .. }
            | Claim::Overtaken { op, .. }
            | Claim::Buried { op, .. }
            | Claim::PassedOver { op, .. }
            | Claim::TakenBefore { op, .. }
            | Claim::LongGone { op, .. }
            | Claim::Replaced { op, .. }
            | Claim::NotChanged { op, .. }
            | Claim::NoOther { op, .. }
            | Claim::AgainstHints { op, .. }
            | Claim::CountedTwice { op, .. }
            | Claim::CountTooLow { op, .. }
            | Claim::CountTooHigh { op, .. }
            | Claim::CountFell { op, .. }
            | Claim::BetweenSteps { op, .. }
            | Claim::Missed { op, .. }
            | Claim::AtPlace { op, .. }
            | Claim::Stuck { op, .. }
            | Claim::Contradiction { op, .. } => Some(op),
            Claim::UsedAfterRemoval { later, .. } => Some(later),
            Claim::WrongScan { fault, .. } => Some(&fault.scan),
            Claim::Detailed(detailed) => Some(detailed.op()),
            Claim::TakenTooOften { .. } | Claim::AddedTooOften { .. } => None,
        }
    }

    /// The kind of the claim in one word, for machines.
    pub fn kind(&self) -> &'static str {
        match self {
            Claim::OnlyAnswers { .. } => "only-answers",
            Claim::CannotHappen { .. } => "cannot-happen",
            Claim::NotBlocked { .. } => "not-blocked",
            Claim::NeverPut { .. } => "never-put",
            Claim::TakenTooOften { .. } => "taken-too-often",
            Claim::AddedTooOften { .. } => "added-too-often",
            Claim::UsedAfterRemoval { .. } => "used-after-removal",
            Claim::NotEmpty { .. } => "not-empty",
            Claim::Overtaken { .. } => "overtaken",
            Claim::Buried { .. } => "buried",
            Claim::PassedOver { .. } => "passed-over",
            Claim::TakenBefore { .. } => "taken-before",
            Claim::LongGone { .. } => "long-gone",
            Claim::Replaced { .. } => "replaced",
            Claim::NotChanged { .. } => "not-changed",
            Claim::NoOther { .. } => "no-other",
            Claim::AgainstHints { .. } => "against-hints",
            Claim::CountedTwice { .. } => "counted-twice",
            Claim::CountTooLow { .. } => "count-too-low",
            Claim::CountTooHigh { .. } => "count-too-high",
            Claim::CountFell { .. } => "count-fell",
            Claim::BetweenSteps { .. } => "between-steps",
            Claim::Missed { .. } => "missed",
            Claim::AtPlace { .. } => "at-place",
            Claim::WrongScan { .. } => "wrong-scan",
            Claim::Detailed(detailed) => detailed.kind(),
            Claim::Stuck { .. } => "stuck",
            Claim::Contradiction { .. } => "contradiction",
        }
    }

    /// The operations beside the [one](Self::op) that the claim is about.
    pub fn others(&self) -> Vec<&I> {
        match self {
            Claim::TakenTooOften { taken: ops, .. }
            | Claim::AddedTooOften { added: ops, .. }
            | Claim::AtPlace { others: ops, .. }
            | Claim::Contradiction { others: ops, .. } => ops.iter().collect(),
            Claim::UsedAfterRemoval { removal: other, .. }
            | Claim::TakenBefore { by: other, .. }
            | Claim::NoOther {
                shown_by: other, ..
            }
            | Claim::AgainstHints { before: other, .. }
            | Claim::CountedTwice { other, .. }
            | Claim::CountFell { since: other, .. }
            | Claim::Missed { put: other, .. }
            | Claim::NotChanged {
                since: Since::Return(other) | Since::Change(other) | Since::Sight(other),
                ..
            } => vec![other],
            Claim::Replaced {
                before, by, until, ..
            } => before.iter().chain([by]).chain(until).collect(),
            Claim::WrongScan { fault, .. } => fault.others(),
            Claim::Detailed(detailed) => detailed.others(),
            _ => Vec::new(),
        }
    }

    /// The same claim about operations that have other names.
    pub(crate) fn map<J>(self, name: &dyn Fn(I) -> J) -> Claim<J> {
        let names = |ops: Vec<I>| ops.into_iter().map(name).collect();
        match self {
            Claim::OnlyAnswers {
                op,
                states,
                answers,
            } => Claim::OnlyAnswers {
                op: name(op),
                states,
                answers,
            },
            Claim::CannotHappen { op, states } => Claim::CannotHappen {
                op: name(op),
                states,
            },
            Claim::NotBlocked { op, states } => Claim::NotBlocked {
                op: name(op),
                states,
            },
            Claim::NotChanged {
                op,
                member,
                state,
                since,
                used_up,
            } => Claim::NotChanged {
                op: name(op),
                member,
                state,
                since: since.map(name),
                used_up: used_up.map(|UsedUp { by, after }| UsedUp {
                    by: name(by),
                    after: name(after),
                }),
            },
            Claim::NoOther {
                op,
                shown_by,
                change,
            } => Claim::NoOther {
                op: name(op),
                shown_by: name(shown_by),
                change,
            },
            Claim::AgainstHints {
                op,
                hint,
                before,
                larger,
            } => Claim::AgainstHints {
                op: name(op),
                hint,
                before: name(before),
                larger,
            },
            Claim::Missed { op, value, put } => Claim::Missed {
                op: name(op),
                value,
                put: name(put),
            },
            Claim::AtPlace {
                op,
                place,
                others,
                conflict,
            } => Claim::AtPlace {
                op: name(op),
                place,
                others: names(others),
                conflict: conflict.map(name),
            },
            Claim::WrongScan {
                fault,
                shown,
                compared,
            } => Claim::WrongScan {
                fault: fault.map(name),
                shown,
                compared,
            },
            Claim::Detailed(detailed) => Claim::Detailed(Box::new(detailed.map(name))),
            Claim::Stuck { op, states } => Claim::Stuck {
                op: name(op),
                states,
            },
            Claim::Contradiction { op, others } => Claim::Contradiction {
                op: name(op),
                others: names(others),
            },
            Claim::CountedTwice { .. }
            | Claim::CountTooLow { .. }
            | Claim::CountTooHigh { .. }
            | Claim::CountFell { .. }
            | Claim::BetweenSteps { .. } => self.map_counts(name),
            _ => self.map_values(name),
        }
    }

    fn map_counts<J>(self, name: &dyn Fn(I) -> J) -> Claim<J> {
        match self {
            Claim::CountedTwice { op, other, count } => Claim::CountedTwice {
                op: name(op),
                other: name(other),
                count,
            },
            Claim::CountTooLow {
                op,
                count,
                least,
                raised,
            } => Claim::CountTooLow {
                op: name(op),
                count,
                least,
                raised,
            },
            Claim::CountTooHigh { op, count, most } => Claim::CountTooHigh {
                op: name(op),
                count,
                most,
            },
            Claim::CountFell {
                op,
                count,
                least,
                since,
            } => Claim::CountFell {
                op: name(op),
                count,
                least,
                since: name(since),
            },
            Claim::BetweenSteps {
                op,
                count,
                initial,
                by,
            } => Claim::BetweenSteps {
                op: name(op),
                count,
                initial,
                by,
            },
            _ => unreachable!("bug: {} is not about counts", self.kind()),
        }
    }

    fn map_values<J>(self, name: &dyn Fn(I) -> J) -> Claim<J> {
        let names = |ops: Vec<I>| ops.into_iter().map(name).collect();
        match self {
            Claim::NeverPut {
                op,
                key,
                value,
                alike,
            } => Claim::NeverPut {
                op: name(op),
                key,
                value,
                alike,
            },
            Claim::TakenTooOften { value, taken, put } => Claim::TakenTooOften {
                value,
                taken: names(taken),
                put,
            },
            Claim::AddedTooOften {
                value,
                added,
                removed,
            } => Claim::AddedTooOften {
                value,
                added: names(added),
                removed,
            },
            Claim::UsedAfterRemoval {
                value,
                removal,
                later,
            } => Claim::UsedAfterRemoval {
                value,
                removal: name(removal),
                later: name(later),
            },
            Claim::NotEmpty { op, values } => Claim::NotEmpty {
                op: name(op),
                values,
            },
            Claim::Overtaken { first, second, op } => Claim::Overtaken {
                first,
                second,
                op: name(op),
            },
            Claim::Buried { lower, upper, op } => Claim::Buried {
                lower,
                upper,
                op: name(op),
            },
            Claim::PassedOver { op, urgent, how } => Claim::PassedOver {
                op: name(op),
                urgent,
                how,
            },
            Claim::TakenBefore { op, value, by } => Claim::TakenBefore {
                op: name(op),
                value,
                by: name(by),
            },
            Claim::LongGone { op, key, value } => Claim::LongGone {
                op: name(op),
                key,
                value,
            },
            Claim::Replaced {
                op,
                value,
                before,
                by,
                until,
            } => Claim::Replaced {
                op: name(op),
                value,
                before: before.map(name),
                by: name(by),
                until: until.map(name),
            },
            _ => unreachable!("bug: {} is not about values", self.kind()),
        }
    }

    /// That the operation saw a value that no operation had put there; these are some that were.
    pub(crate) fn never_put<'v>(
        op: I,
        value: &Value,
        put: impl Iterator<Item = &'v Value>,
    ) -> Self {
        let plain = |value: &Value| value.plain_text().trim_end_matches(".0").to_owned();
        let text = plain(value);
        Claim::NeverPut {
            op,
            key: None,
            value: value.clone(),
            // The most common slip of recorders: 1 here, "1" or 1.0 there.
            alike: put
                .filter(|put| *put != value && plain(put) == text)
                .min()
                .cloned(),
        }
    }

    /// The same claim about a part of the object: a member of a set, or what is at a key.
    pub(crate) fn at_key(mut self, keys: Keys, of_part: &Value) -> Self {
        match (keys, &mut self) {
            (
                Keys::Members | Keys::Identifiers,
                Claim::NotChanged { member: part, .. }
                | Claim::NoOther {
                    change: Change::Put(part) | Change::Taken(part),
                    ..
                },
            )
            | (
                Keys::Places,
                Claim::NeverPut { key: part, .. } | Claim::LongGone { key: part, .. },
            ) => {
                *part = Some(of_part.clone());
            }
            _ => {}
        }
        self
    }
}

impl<I> Since<I> {
    fn map<J>(self, name: &dyn Fn(I) -> J) -> Since<J> {
        match self {
            Since::Beginning => Since::Beginning,
            Since::Return(op) => Since::Return(name(op)),
            Since::Change(op) => Since::Change(name(op)),
            Since::Sight(op) => Since::Sight(name(op)),
        }
    }
}
