//! The words in which explanations speak of an object and its states.

use std::fmt::Display;

use crate::value::Value;

/// The words in which explanations speak of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    /// The object, with its article: "the queue".
    pub object: &'static str,
    /// What happens to a value that gets in, as a participle: "enqueued".
    pub put: &'static str,
    /// What happens to a value that gets out: "dequeued".
    pub taken: &'static str,
    /// What a [place](super::Spec::places) of the object is called: "index".
    pub place: &'static str,
    /// What the object is, if it has two states: "free" at first, "held" after a value got in.
    pub states: [&'static str; 2],
    /// What the keys of a history are that is split by key.
    pub keys: Keys,
    /// How to say that an operation took effect with a certain [hint](super::Spec::hint): "took effect at revision".
    pub took_effect: &'static str,
}

impl Vocabulary {
    /// Says which of its two states the object is in, or whether it is a set that has this member, or has given it out.
    pub(crate) fn two_states(&self, state: bool, member: Option<&Value>) -> String {
        let object = self.object;
        match (member, state) {
            (Some(id), true) if self.keys == Keys::Identifiers => {
                format!("{id} had been given out")
            }
            (Some(id), false) if self.keys == Keys::Identifiers => {
                format!("{id} had not been given out")
            }
            (Some(member), true) => format!("{member} was in {object}"),
            (Some(member), false) => format!("{member} was not in {object}"),
            (None, _) => format!("{object} was {}", self.states[usize::from(state)]),
        }
    }
}

/// What the keys of an object are in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// Names of places that hold values.
    #[default]
    Places,
    /// The members of a set.
    Members,
    /// Identifiers, each of which is given out once at most.
    Identifiers,
}

impl Keys {
    /// Whether an operation on a key puts it into a set or takes it out.
    pub(crate) fn are_members(self) -> bool {
        self != Keys::Places
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Vocabulary {
            object: "the object",
            put: "put in",
            taken: "taken out",
            place: "place",
            states: ["false", "true"],
            keys: Keys::Places,
            took_effect: TOOK_EFFECT,
        }
    }
}

const TOOK_EFFECT: &str = "took effect as number";

/// The words for locks.
pub(super) const LOCK: Vocabulary = Vocabulary {
    object: "the lock",
    put: "acquired",
    taken: "released",
    place: "place",
    states: ["free", "held"],
    keys: Keys::Places,
    took_effect: TOOK_EFFECT,
};

/// The words for maps.
pub(super) const MAP: Vocabulary = Vocabulary {
    object: "the map",
    put: "put",
    taken: "removed",
    place: "key",
    states: ["false", "true"],
    keys: Keys::Places,
    took_effect: TOOK_EFFECT,
};

/// The most members that a sentence lists.
const MOST_MEMBERS: usize = 12;

/// Says what `object` held: "the queue held [1, 2]", "the queue was empty".
pub(super) fn members<T: Display>(
    object: &str,
    members: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>,
) -> String {
    let members = members.into_iter();
    let count = members.len();
    if count == 0 {
        return format!("{object} was empty");
    }
    let listed: Vec<String> = members
        .take(MOST_MEMBERS)
        .map(|member| member.to_string())
        .collect();
    let listed = listed.join(", ");
    match count {
        ..=MOST_MEMBERS => format!("{object} held [{listed}]"),
        _ => format!("{object} held [{listed}, …] ({count} values)"),
    }
}

/// That a container with a capacity was "full" or "not full".
pub(super) fn limit(how: &str, capacity: Option<usize>) -> Option<String> {
    capacity.map(|most| format!("it was {how}, with a capacity of {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_states_are_cut() {
        assert_eq!(members("the queue", [1, 2]), "the queue held [1, 2]");
        assert_eq!(members("the queue", [0; 0]), "the queue was empty");
        let long = members("the queue", 0..20);
        assert!(long.ends_with("10, 11, …] (20 values)"), "{long}");
    }
}
