//! Claims about one place of an object: an index of a list, one of several registers, a member of a set.

use super::Claim;
use super::sentence::Describe;
use crate::history::OpId;
use crate::spec::Vocabulary;

/// Why operations contradict each other about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlaceConflict<I = OpId> {
    /// The operation and the only other one both answer that they got the place.
    GotTwice,
    /// Both found the same there and changed it, and no operation can have changed it back in between.
    ChangedTwice,
    /// Only the other operation can have put in what the operation found there, and it put that in elsewhere.
    PutElsewhere,
    /// This operation had left another value there and had returned before the operation was called, and no operation can have put
    /// back since what that found.
    ChangedBefore(I),
    /// The place is a member of a set: this operation had taken it out and had returned before the operation was called, which found it.
    TakenBefore(I),
    /// No operation can have put in by then what the operation found there.
    NeverPut,
    /// Nothing simpler is known.
    Other,
}

impl<I> PlaceConflict<I> {
    /// The kind of the conflict in a word or two, for machines; `None` if nothing simpler is known.
    pub fn kind(&self) -> Option<&'static str> {
        match self {
            PlaceConflict::GotTwice => Some("got-twice"),
            PlaceConflict::ChangedTwice => Some("changed-twice"),
            PlaceConflict::PutElsewhere => Some("put-elsewhere"),
            PlaceConflict::ChangedBefore(_) => Some("changed-before"),
            PlaceConflict::TakenBefore(_) => Some("taken-before"),
            PlaceConflict::NeverPut => Some("never-put"),
            PlaceConflict::Other => None,
        }
    }

    pub(super) fn map<J>(self, name: &dyn Fn(I) -> J) -> PlaceConflict<J> {
        match self {
            PlaceConflict::GotTwice => PlaceConflict::GotTwice,
            PlaceConflict::ChangedTwice => PlaceConflict::ChangedTwice,
            PlaceConflict::PutElsewhere => PlaceConflict::PutElsewhere,
            PlaceConflict::ChangedBefore(by) => PlaceConflict::ChangedBefore(name(by)),
            PlaceConflict::TakenBefore(by) => PlaceConflict::TakenBefore(name(by)),
            PlaceConflict::NeverPut => PlaceConflict::NeverPut,
            PlaceConflict::Other => PlaceConflict::Other,
        }
    }
}

impl<I> Claim<I> {
    pub(super) fn sentence_on_place(
        &self,
        words: &Vocabulary,
        describe: Describe<'_, I>,
    ) -> String {
        let Vocabulary {
            taken,
            put,
            place: name,
            ..
        } = words;
        let (op, place, others, conflict) = match self {
            Claim::Missed { op, value, put: by } => {
                return format!(
                    "{} misses {value}, although {} had returned before it was called, and no operation had {taken} it",
                    describe(op),
                    describe(by)
                );
            }
            Claim::AtPlace {
                op,
                place,
                others,
                conflict,
            } => (op, place, others, conflict),
            _ => unreachable!("bug: {} is not about a place", self.kind()),
        };
        let what = describe(op);
        match (conflict, others.as_slice()) {
            (PlaceConflict::GotTwice, [other]) => format!(
                "{what} is impossible: {} got {name} {place} too, and no two values have the same {name}",
                describe(other)
            ),
            (PlaceConflict::ChangedTwice, [other]) => format!(
                "{what} is impossible: {} found the same at {name} {place} and changed it too, and no operation can have changed it back",
                describe(other)
            ),
            (PlaceConflict::PutElsewhere, [other]) => format!(
                "{what} is impossible: only {} can have {put} what it found at {name} {place}, and that has another {name}",
                describe(other)
            ),
            (PlaceConflict::ChangedBefore(by), _) => format!(
                "{what} is impossible: {}, which had returned before it was called, left another value at {name} {place}, and no operation can have put back what it found there",
                describe(by)
            ),
            (PlaceConflict::TakenBefore(by), _) => format!(
                "{what} is impossible: {}, which had returned before it was called, had {taken} {place}, and no operation can have {put} it since",
                describe(by)
            ),
            (PlaceConflict::NeverPut, _) => format!(
                "{what} is impossible: by then, no operation can have {put} what it found at {name} {place}"
            ),
            (_, []) => format!("{what} cannot be true about {name} {place}"),
            _ => {
                let named: Vec<String> = others.iter().map(describe).collect();
                let named = named.join(", ");
                format!("{named} and {what} contradict each other about {name} {place}")
            }
        }
    }
}
