//! Small maps as parts of states.

use crate::value::Value;

/// A map from keys to values, sorted by key in one allocation: states are cloned, compared and hashed all the time, and
/// after splitting by key most have one entry.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Entries(Vec<(Value, Value)>);

impl std::fmt::Debug for Entries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let pairs = self.0.iter().map(|(key, value)| (key, value));
        f.debug_map().entries(pairs).finish()
    }
}

impl Entries {
    /// What `key` holds.
    pub fn get(&self, key: &Value) -> Option<&Value> {
        let found = self.0.binary_search_by(|(k, _)| k.cmp(key)).ok()?;
        Some(&self.0[found].1)
    }

    /// The pairs of key and value as a list, sorted by key.
    pub(super) fn as_pairs(&self) -> Value {
        let pair = |(key, value): &(Value, Value)| Value::list([key.clone(), value.clone()]);
        Value::list(self.0.iter().map(pair))
    }

    /// Lets `key` hold `value`, or nothing.
    pub fn set(&mut self, key: &Value, value: Option<Value>) {
        match (self.0.binary_search_by(|(k, _)| k.cmp(key)), value) {
            (Ok(found), Some(value)) => self.0[found].1 = value,
            (Ok(found), None) => {
                self.0.remove(found);
            }
            (Err(place), Some(value)) => self.0.insert(place, (key.clone(), value)),
            (Err(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_a_state_leaves_no_trace() {
        let mut there = Entries::default();
        for key in [3, 1, 2] {
            there.set(&key.into(), Some(Value::from(10 * key)));
        }
        there.set(&2.into(), None);
        there.set(&5.into(), None);
        let mut here = Entries::default();
        here.set(&1.into(), Some(10.into()));
        here.set(&3.into(), Some(30.into()));
        assert_eq!(there, here);
        assert_eq!(here.get(&3.into()), Some(&30.into()));
        assert_eq!(here.get(&2.into()), None);
    }
}
