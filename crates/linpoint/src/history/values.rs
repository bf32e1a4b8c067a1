//! The distinct arguments and results of a history, by number.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::value::Value;

/// The values of a history. If they are small integers, the list is made when it is first needed.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    /// The values that occur, unless `list` is set.
    small: SmallValues,
    list: OnceLock<Vec<Value>>,
    /// See [`SmallValues::blocks`].
    blocks: OnceLock<Vec<u32>>,
}

/// The number of words of a block of [`SmallValues`].
const BLOCK: usize = 64;

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
        bits.map(value_of_bit)
    }

    /// The number of values before each block of words.
    fn blocks(&self) -> Vec<u32> {
        let mut end = 0;
        let starts = self.bits.chunks(BLOCK).map(|block| {
            let start = end;
            end += count(block);
            start
        });
        starts.collect()
    }

    /// The value with this number.
    fn get(&self, blocks: &[u32], number: u32) -> Option<Value> {
        let block = blocks
            .partition_point(|&before| before <= number)
            .checked_sub(1)?;
        let mut before = blocks[block];
        for (i, &bits) in self.bits.iter().enumerate().skip(block * BLOCK).take(BLOCK) {
            let here = bits.count_ones();
            if number < before + here {
                let mut there = (0..64).filter(|bit| bits >> bit & 1 == 1);
                let bit = there.nth((number - before) as usize)?;
                return Some(value_of_bit(64 * i as i64 + bit));
            }
            before += here;
        }
        None
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

fn value_of_bit(bit: i64) -> Value {
    match bit {
        0 => Value::Nil,
        bit => Value::Int(bit - 1),
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
            blocks: OnceLock::new(),
        }
    }
}

impl From<SmallValues> for Values {
    fn from(small: SmallValues) -> Self {
        Values {
            small,
            list: OnceLock::new(),
            blocks: OnceLock::new(),
        }
    }
}

impl Values {
    /// All values, by number.
    pub(crate) fn list(&self) -> &[Value] {
        self.list.get_or_init(|| self.small.iter().collect())
    }

    /// The value with this number, without listing all of them.
    pub(super) fn get(&self, number: u32) -> Option<Cow<'_, Value>> {
        match self.list.get() {
            Some(list) => list.get(number as usize).map(Cow::Borrowed),
            None => {
                let blocks = self.blocks.get_or_init(|| self.small.blocks());
                self.small.get(blocks, number).map(Cow::Owned)
            }
        }
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
            vec![0b101; 3 * BLOCK + 1],
        ] {
            let small = Values::from(SmallValues { bits });
            let listed = Values::from(small.clone().list().to_vec());
            assert_eq!(small.len(), listed.len());
            for number in 0..small.len() as u32 + 2 {
                assert_eq!(small.get(number), listed.get(number));
            }
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
