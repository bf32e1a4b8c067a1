//! The distinct arguments and results of a history, by number.

use std::sync::OnceLock;

use crate::value::Value;

/// The values of a history. If they are small integers, the list is made when it is first needed.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The values that occur, unless `list` is set.
    small: SmallValues,
    list: OnceLock<Vec<Value>>,
}

/// Nil and small integers: bit 0 is for nil, bit `i + 1` for the integer `i`.
#[derive(Clone, Debug, Default)]
pub(crate) struct SmallValues {
    pub(crate) bits: Vec<u64>,
}

impl SmallValues {
    fn iter(&self) -> impl Iterator<Item = Value> {
        let bits = self.bits.iter().enumerate();
        let bits = bits.flat_map(|(i, &bits)| {
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| 64 * i as i64 + bit)
        });
        bits.map(|bit| match bit {
            0 => Value::Nil,
            bit => Value::Int(bit - 1),
        })
    }

    /// The number of a value: how many values come before it.
    fn find(&self, wanted: &Value) -> Option<u32> {
        let bit = match wanted {
            Value::Nil => 0,
            Value::Int(i) => usize::try_from(*i).ok()?.checked_add(1)?,
            _ => return None,
        };
        let (before, bits) = (self.bits.get(..bit / 64)?, *self.bits.get(bit / 64)?);
        let is_there = bits >> (bit % 64) & 1 == 1;
        let among = (bits & ((1 << (bit % 64)) - 1)).count_ones();
        is_there.then(|| count(before) + among)
    }
}

fn count(bits: &[u64]) -> u32 {
    bits.iter().map(|bits| bits.count_ones()).sum()
}

impl Default for Values {
    fn default() -> Self {
        Values::from(Vec::new())
    }
}

impl From<Vec<Value>> for Values {
    fn from(list: Vec<Value>) -> Self {
        Values {
            small: SmallValues::default(),
            list: list.into(),
        }
    }
}

impl From<SmallValues> for Values {
    fn from(small: SmallValues) -> Self {
        Values {
            small,
            list: OnceLock::new(),
        }
    }
}

impl Values {
    /// All values, by number.
    pub(crate) fn list(&self) -> &[Value] {
        self.list.get_or_init(|| self.small.iter().collect())
    }

    /// All values, by number, to change them.
    pub(super) fn list_mut(&mut self) -> &mut Vec<Value> {
        self.list();
        self.list.get_mut().expect("bug: it was listed just now")
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        match self.list.get() {
            Some(list) => list.len(),
            None => count(&self.small.bits) as usize,
        }
    }

    /// The number of a value, if it is one of them.
    pub(super) fn find(&self, wanted: &Value) -> Option<u32> {
        match self.list.get() {
            Some(list) => {
                let found = list.iter().position(|value| value == wanted);
                found.map(|number| number as u32)
            }
            None => self.small.find(wanted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_where_they_are_listed() {
        for bits in [
            vec![],
            vec![1],
            vec![0b1011, 0, 1 << 63 | 1],
            vec![u64::MAX - 1; 2],
        ] {
            let small = Values::from(SmallValues { bits });
            let listed = Values::from(small.clone().list().to_vec());
            assert_eq!(small.len(), listed.len());
            let integers = (-2..200).chain([i64::MIN, i64::MAX]).map(Value::Int);
            for value in integers.chain([Value::Nil, Value::from("x")]) {
                assert_eq!(small.find(&value), listed.find(&value), "{value}");
            }
        }
        let bits = vec![0b1011, 1];
        let listed = Values::from(SmallValues { bits });
        assert_eq!(listed.list(), [Value::Nil, 0.into(), 2.into(), 63.into()]);
    }
}
