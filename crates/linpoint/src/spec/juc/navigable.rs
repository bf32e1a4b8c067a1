//! Searches sorted keys, as the navigable collections of Java do.

/// Which neighbour of a key is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// The largest key below.
    Lower,
    /// The largest key not above.
    Floor,
    /// The smallest key not below.
    Ceiling,
    /// The smallest key above.
    Higher,
}

impl Relation {
    /// The neighbour of `key` among `sorted` keys.
    pub(super) fn find(
        self,
        mut sorted: impl DoubleEndedIterator<Item = i64>,
        key: i64,
    ) -> Option<i64> {
        match self {
            Relation::Lower => sorted.rfind(|&k| k < key),
            Relation::Floor => sorted.rfind(|&k| k <= key),
            Relation::Ceiling => sorted.find(|&k| k >= key),
            Relation::Higher => sorted.find(|&k| k > key),
        }
    }
}

/// The bounds of a view: from the first, inclusive, to the second, exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bounds(pub Option<i64>, pub Option<i64>);

impl Bounds {
    pub(super) fn contains(self, key: i64) -> bool {
        self.0.is_none_or(|from| from <= key) && self.1.is_none_or(|to| key < to)
    }

    /// Whether the lower bound is above the upper one, for which Java throws.
    pub(super) fn are_crossed(self) -> bool {
        matches!(self, Bounds(Some(from), Some(to)) if from > to)
    }
}
