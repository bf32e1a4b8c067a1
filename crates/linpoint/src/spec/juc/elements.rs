//! The elements of a collection in little memory.

use std::fmt;

/// The most elements that are kept in place.
const MOST_IN_PLACE: usize = 22;

/// The elements of a collection, in order.
///
/// A search keeps every state that it comes to. Few small elements, as most collections hold in histories of tests, need no
/// allocation.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Elements(Storage);

// Invariant: what can be kept in place is, so that equal elements are stored equally.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Storage {
    /// So many elements; zeros after them.
    InPlace(u8, [i8; MOST_IN_PLACE]),
    Allocated(Box<[i64]>),
}

impl Elements {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.0 {
            Storage::InPlace(count, _) => usize::from(*count),
            Storage::Allocated(elements) => elements.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, with room for one more.
    pub fn to_vec(&self) -> Vec<i64> {
        let mut elements = Vec::with_capacity(self.len() + 1);
        match &self.0 {
            Storage::InPlace(count, small) => {
                let small = small.iter().take(usize::from(*count));
                elements.extend(small.map(|&element| i64::from(element)));
            }
            Storage::Allocated(all) => elements.extend_from_slice(all),
        }
        elements
    }
}

impl Default for Elements {
    fn default() -> Self {
        Elements::from(Vec::new())
    }
}

impl From<Vec<i64>> for Elements {
    fn from(elements: Vec<i64>) -> Self {
        let mut small = [0; MOST_IN_PLACE];
        let has_room = elements.len() <= MOST_IN_PLACE;
        let is_small = has_room
            && elements.iter().zip(&mut small).all(|(&element, place)| {
                let fits = i8::try_from(element);
                fits.map(|element| *place = element).is_ok()
            });
        Elements(match is_small {
            // There are at most `MOST_IN_PLACE`.
            true => Storage::InPlace(elements.len() as u8, small),
            false => Storage::Allocated(elements.into()),
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

    #[test]
    fn few_and_many_small_and_large_elements_are_kept() {
        let lengths = [0, 1, MOST_IN_PLACE, MOST_IN_PLACE + 1, 100];
        for (length, largest) in lengths.into_iter().flat_map(|n| [(n, 127), (n, 128)]) {
            let all: Vec<i64> = (0..length as i64).map(|i| largest - i).collect();
            let elements = Elements::from(all.clone());
            assert_eq!(elements.to_vec(), all);
            assert_eq!((elements.len(), elements.is_empty()), (length, length == 0));
            assert_eq!(format!("{elements:?}"), format!("{all:?}"));
        }
    }

    #[test]
    fn small_collections_take_little_memory() {
        assert_eq!(size_of::<Elements>(), 24);
        let elements = |all: &[i64]| Elements::from(all.to_vec());
        assert!(matches!(elements(&[-128, 127]).0, Storage::InPlace(2, _)));
        assert_ne!(elements(&[0]), elements(&[0, 0]));
    }
}
