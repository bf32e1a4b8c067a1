//! The words in which explanations speak of an object and its states.

use std::fmt::Display;

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
    /// What the keys of a history are that is split by key.
    pub keys: Keys,
}

/// What the keys of an object are in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keys {
    /// Names of places that hold values.
    #[default]
    Places,
    /// The members of a set.
    Members,
}

impl Default for Vocabulary {
    fn default() -> Self {
        Vocabulary {
            object: "the object",
            put: "put in",
            taken: "taken out",
            place: "place",
            keys: Keys::Places,
        }
    }
}

/// The words for locks.
pub(super) const LOCK: Vocabulary = Vocabulary {
    object: "the lock",
    put: "acquired",
    taken: "released",
    place: "place",
    keys: Keys::Places,
};

/// The words for maps.
pub(super) const MAP: Vocabulary = Vocabulary {
    object: "the map",
    put: "put",
    taken: "removed",
    place: "key",
    keys: Keys::Places,
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
