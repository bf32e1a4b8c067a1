//! A list that shares its values with the lists that it was appended to.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::FixedState;

use crate::value::Value;

/// A list of values that are only ever appended.
///
/// Cloning takes no time. Appending takes none either, unless another value was appended to the same list before: the values
/// are then copied.
#[derive(Clone, Default)]
pub struct Appended {
    /// Begins with the values of this list. Invariant: those are never changed.
    shared: Arc<RwLock<Vec<Value>>>,
    length: usize,
    /// A digest of the values. Invariant: equal lists have equal ones.
    digest: u64,
}

impl Appended {
    /// How many values there are.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The value at `index`.
    pub fn get(&self, index: usize) -> Option<Value> {
        self.with(|values| values.get(index).cloned())
    }

    /// Calls `work` with the values.
    pub fn with<T>(&self, work: impl FnOnce(&[Value]) -> T) -> T {
        // A panic of a reader leaves the values as they are.
        let shared = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        work(&shared[..self.length])
    }

    /// The list with one more value.
    pub fn with_appended(&self, value: Value) -> Self {
        let digest = FixedState::with_seed(self.digest).hash_one(&value);
        let mut shared = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        let shared = match shared.len() == self.length {
            true => {
                shared.push(value);
                Arc::clone(&self.shared)
            }
            false => {
                let mut values = Vec::with_capacity(self.length + 1);
                values.extend_from_slice(&shared[..self.length]);
                values.push(value);
                Arc::new(RwLock::new(values))
            }
        };
        Appended {
            shared,
            length: self.length + 1,
            digest,
        }
    }
}

impl PartialEq for Appended {
    fn eq(&self, other: &Self) -> bool {
        if self.length != other.length || self.digest != other.digest {
            return false;
        }
        // The lower address is locked first, so that no two threads wait for each other.
        match Arc::as_ptr(&self.shared).cmp(&Arc::as_ptr(&other.shared)) {
            Ordering::Equal => true,
            Ordering::Less => self.with(|values| other.with(|others| values == others)),
            Ordering::Greater => other.with(|others| self.with(|values| values == others)),
        }
    }
}

impl Eq for Appended {}

impl Hash for Appended {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.digest);
    }
}

impl fmt::Debug for Appended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with(|values| f.debug_list().entries(values).finish())
    }
}

impl FromIterator<Value> for Appended {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        let empty = Appended::default();
        values
            .into_iter()
            .fold(empty, |list, value| list.with_appended(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(list: &Appended) -> Vec<Value> {
        list.with(<[Value]>::to_vec)
    }

    #[test]
    fn lists_that_share_values_do_not_see_what_was_appended_to_others() {
        let one: Appended = [Value::Int(1)].into_iter().collect();
        let with_two = one.with_appended(Value::Int(2));
        let with_three = one.with_appended(Value::Int(3));
        let longer = with_two.with_appended(Value::Int(3));
        assert_eq!(values(&one), [1].map(Value::Int));
        assert_eq!(values(&with_two), [1, 2].map(Value::Int));
        assert_eq!(values(&with_three), [1, 3].map(Value::Int));
        assert_eq!(values(&longer), [1, 2, 3].map(Value::Int));
        assert_eq!(one.get(1), None);
        assert_eq!(longer.get(2), Some(Value::Int(3)));
    }

    #[test]
    fn lists_are_equal_by_their_values() {
        let list = |values: [i64; 2]| -> Appended { values.into_iter().map(Value::Int).collect() };
        let hash = |list: &Appended| FixedState::default().hash_one(list);
        assert_eq!(list([1, 2]), list([1, 2]));
        assert_eq!(hash(&list([1, 2])), hash(&list([1, 2])));
        assert_ne!(list([1, 2]), list([2, 1]));
        let one: Appended = [Value::Int(1)].into_iter().collect();
        let ways = [
            one.with_appended(Value::Int(2)),
            one.with_appended(Value::Int(2)),
        ];
        assert_eq!(ways[0], ways[1]);
        assert_ne!(ways[0], one);
    }
}
