//! Searches sorted keys, as the navigable collections of Java do.

use super::Element;
use super::argument::Argument;
use super::render::{CLASS_CAST, ILLEGAL_ARGUMENT, NULL_POINTER};

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
    pub(super) fn find<'a>(
        self,
        mut sorted: impl DoubleEndedIterator<Item = &'a Element>,
        key: &Element,
    ) -> Option<&'a Element> {
        match self {
            Relation::Lower => sorted.rfind(|&k| k < key),
            Relation::Floor => sorted.rfind(|&k| k <= key),
            Relation::Ceiling => sorted.find(|&k| k >= key),
            Relation::Higher => sorted.find(|&k| k > key),
        }
    }
}

/// Whether a bound belongs to a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// It does.
    Inclusive,
    /// It does not.
    Exclusive,
}

impl From<bool> for Edge {
    fn from(is_inclusive: bool) -> Self {
        match is_inclusive {
            true => Edge::Inclusive,
            false => Edge::Exclusive,
        }
    }
}

/// The bounds of a view: where it begins, and where it ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Bounds {
    /// The least key.
    pub from: Option<(Element, Edge)>,
    /// The greatest key.
    pub to: Option<(Element, Edge)>,
}

impl Bounds {
    /// From this key on.
    pub(super) fn from(key: &Element, edge: Edge) -> Self {
        Bounds {
            from: Some((key.clone(), edge)),
            to: None,
        }
    }

    /// Up to this key.
    pub(super) fn to(key: &Element, edge: Edge) -> Self {
        Bounds {
            from: None,
            to: Some((key.clone(), edge)),
        }
    }

    /// From one key to the other.
    pub(super) fn between(from: (&Element, Edge), to: (&Element, Edge)) -> Self {
        Bounds {
            from: Some((from.0.clone(), from.1)),
            to: Some((to.0.clone(), to.1)),
        }
    }

    /// The bounds of the view that a call makes, if it makes one.
    pub(super) fn of(method: &str, arguments: &[Argument]) -> Option<Self> {
        use Argument::Single;
        use Edge::{Exclusive, Inclusive};
        use Element::Bool;
        Some(match (method, arguments) {
            ("headSet" | "headMap", [Single(to)]) => Bounds::to(to, Exclusive),
            ("headSet" | "headMap", [Single(to), Single(Bool(edge))]) => {
                Bounds::to(to, (*edge).into())
            }
            ("tailSet" | "tailMap", [Single(from)]) => Bounds::from(from, Inclusive),
            ("tailSet" | "tailMap", [Single(from), Single(Bool(edge))]) => {
                Bounds::from(from, (*edge).into())
            }
            ("subSet" | "subMap", [Single(from), Single(to)]) => {
                Bounds::between((from, Inclusive), (to, Exclusive))
            }
            (
                "subSet" | "subMap",
                [
                    Single(from),
                    Single(Bool(first)),
                    Single(to),
                    Single(Bool(last)),
                ],
            ) => Bounds::between((from, (*first).into()), (to, (*last).into())),
            _ => return None,
        })
    }

    pub(super) fn contains(&self, key: &Element) -> bool {
        let is_from = self.from.as_ref().is_none_or(|(from, edge)| match edge {
            Edge::Inclusive => from <= key,
            Edge::Exclusive => from < key,
        });
        let is_to = self.to.as_ref().is_none_or(|(to, edge)| match edge {
            Edge::Inclusive => key <= to,
            Edge::Exclusive => key < to,
        });
        is_from && is_to
    }

    /// The exception that Java throws when a view with these bounds is made of such keys, or when it is listed; one of the keys
    /// tells.
    pub(super) fn exception(&self, some_key: Option<&Element>) -> Option<&'static str> {
        let bounds = || [&self.from, &self.to].into_iter().flatten();
        if bounds().any(|(bound, _)| bound.is_null()) {
            return Some(NULL_POINTER);
        }
        if let (Some((from, _)), Some((to, _))) = (&self.from, &self.to) {
            if !from.compares_with(to) {
                return Some(CLASS_CAST);
            }
            if from > to {
                return Some(ILLEGAL_ARGUMENT);
            }
        }
        let compare = |key: &Element| bounds().all(|(bound, _)| bound.compares_with(key));
        (!some_key.is_none_or(compare)).then_some(CLASS_CAST)
    }
}
