//! The elements of a collection in little memory.

use std::fmt;

use super::Element;

/// The most elements that are kept in place.
const MOST_IN_PLACE: usize = 22;

/// The elements of a collection, in order.
///
/// A search keeps every state that it comes to. Few small integers, as most collections hold in histories of tests, need no
/// allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Elements(Storage);

// Invariant: the first form that can hold the elements does, so that equal elements are stored equally.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Storage {
    /// So many integers; zeros after them.
    InPlace(u8, [i8; MOST_IN_PLACE]),
    Integers(Box<[i64]>),
    Any(Box<[Element]>),
}

impl Elements {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::InPlace(count, _) => usize::from(*count),
            Storage::Integers(integers) => integers.len(),
            Storage::Any(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, with room for one more.
    pub fn to_vec(&self) -> Vec<Element> {
        let mut elements = Vec::with_capacity(self.len() + 1);
        match &self.0 {
            Storage::InPlace(count, small) => {
                let small = small.iter().take(usize::from(*count));
                elements.extend(small.map(|&integer| Element::Int(integer.into())));
            }
            Storage::Integers(integers) => {
                elements.extend(integers.iter().copied().map(Element::Int));
            }
            Storage::Any(all) => elements.extend_from_slice(all),
        }
        elements
    }
}

impl Default for Elements {
    fn default() -> Self {
        Elements(Storage::InPlace(0, [0; MOST_IN_PLACE]))
    }
}

impl From<Vec<Element>> for Elements {
    fn from(elements: Vec<Element>) -> Self {
        let integer = |element: &Element| match element {
            Element::Int(integer) => Some(*integer),
            _ => None,
        };
        let mut small = [0; MOST_IN_PLACE];
        let has_room = elements.len() <= MOST_IN_PLACE;
        let is_small = has_room
            && elements.iter().zip(&mut small).all(|(element, place)| {
                let fits = integer(element).and_then(|integer| i8::try_from(integer).ok());
                fits.map(|integer| *place = integer).is_some()
            });
        if is_small {
            // There are at most `MOST_IN_PLACE`.
            return Elements(Storage::InPlace(elements.len() as u8, small));
        }
        let integers: Option<Box<[i64]>> = elements.iter().map(integer).collect();
        Elements(match integers {
            Some(integers) => Storage::Integers(integers),
            None => Storage::Any(elements.into()),
        })
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.to_vec()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    #[test]
    fn few_and_many_small_and_large_elements_are_kept() {
        let lengths = [0, 1, MOST_IN_PLACE, MOST_IN_PLACE + 1, 100];
        for (length, largest) in lengths.into_iter().flat_map(|n| [(n, 127), (n, 128)]) {
            let all = (0..length as i64).map(|i| Element::Int(largest - i));
            let all: Vec<Element> = all.collect();
            let elements = Elements::from(all.clone());
            assert_eq!(elements.to_vec(), all);
            assert_eq!((elements.len(), elements.is_empty()), (length, length == 0));
            assert_eq!(format!("{elements:?}"), format!("{all:?}"));
        }
    }

    #[test]
    fn elements_of_any_kind_are_kept() {
        let recorded = [Value::Int(1), "1".into(), true.into(), i64::MIN.into()];
        let all = recorded.iter().map(Element::of);
        let all: Vec<Element> = all.collect::<Result<_, _>>().expect("elements");
        let elements = Elements::from(all.clone());
        assert_eq!(elements.to_vec(), all);
        assert_eq!(
            format!("{elements:?}"),
            r#"[1, "1", true, -9223372036854775808]"#
        );
    }

    #[test]
    fn small_collections_take_little_memory() {
        assert_eq!(size_of::<Elements>(), 24);
        let elements =
            |all: &[i64]| Elements::from(all.iter().copied().map(Element::Int).collect::<Vec<_>>());
        assert!(matches!(elements(&[-128, 127]).0, Storage::InPlace(2, _)));
        assert!(matches!(elements(&[-129]).0, Storage::Integers(_)));
        assert_ne!(elements(&[0]), elements(&[0, 0]));
    }
}
