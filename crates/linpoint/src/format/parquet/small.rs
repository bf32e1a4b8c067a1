//! Columns of small integers: each integer serves as the number of its value.

use std::iter;

use arrow_array::Array;

use super::ids::{BadRow, integers, nulls};
use crate::history::{SmallValues, Values};
use crate::value::ValueId;

/// A column of small integers and nulls, as far as it was read.
pub(super) struct Small {
    /// One more than each integer; 0 for null.
    ids: Vec<ValueId>,
    /// By these numbers: 1 for those that occur.
    occurs: Vec<u8>,
    /// The bitwise or of all integers.
    bits: u64,
}

impl Small {
    /// Returns an empty column with capacity for `rows`. Integers are small if they are not much larger than that.
    pub(super) fn with_room(rows: usize) -> Self {
        Small {
            ids: Vec::with_capacity(rows),
            occurs: vec![0; (2 * rows).next_power_of_two().max(1 << 10) + 1],
            bits: 0,
        }
    }

    /// Adds the integers of `array`. Returns whether they are small.
    pub(super) fn add(&mut self, array: &dyn Array) -> Result<bool, BadRow> {
        let (integers, nulls) = (integers(array)?, nulls(array));
        self.occurs[0] |= u8::from(nulls.is_some());
        let start = self.ids.len();
        self.ids.resize(start + array.len(), ValueId(0));
        let (ids, occurs) = (&mut self.ids[start..], &mut self.occurs[1..]);
        let mut put = |row: usize| {
            let i = integers[row] as u64;
            self.bits |= i;
            ids[row] = ValueId((i as u32).wrapping_add(1));
            occurs.get_mut(i as usize).map(|place| *place = 1).is_some()
        };
        let Some(nulls) = nulls else {
            return Ok((0..array.len()).all(put));
        };
        let valid = nulls.inner().bit_chunks();
        let words = valid.iter().chain(iter::once(valid.remainder_bits()));
        Ok((0..).step_by(64).zip(words).all(|(first, mut word)| {
            let mut are_small = true;
            while word != 0 {
                are_small &= put(first + word.trailing_zeros() as usize);
                word &= word - 1;
            }
            are_small
        }))
    }

    /// The columns with the numbers of the values that occur in them, and these values.
    pub(super) fn numbered(self, other: Self) -> (Vec<ValueId>, Vec<ValueId>, Values) {
        let (mut ids, mut other_ids) = (self.ids, other.ids);
        let mut occurs = self.occurs;
        // No integer has a larger number, and the rest of the memory has not been touched yet.
        occurs.truncate(((self.bits | other.bits) + 1).next_power_of_two() as usize + 1);
        for (occurs, in_other) in occurs.iter_mut().zip(&other.occurs) {
            *occurs |= in_other;
        }
        let numbers = Numbers::of(&occurs);
        let (closed, values) = Closed::of(occurs);
        let renumber = |ids: &mut [ValueId]| match numbers {
            Numbers::Dense => {}
            Numbers::From(first) => ids
                .iter_mut()
                .for_each(|id| id.0 = id.0.saturating_sub(first)),
            Numbers::Sparse => ids.iter_mut().for_each(|id| closed.renumber(id)),
        };
        rayon::join(|| renumber(&mut ids), || renumber(&mut other_ids));
        (ids, other_ids, values.into())
    }
}

/// Which numbers occur.
enum Numbers {
    /// Without gaps.
    Dense,
    /// Without gaps from the first integer on; this many numbers are missing before it.
    From(u32),
    Sparse,
}

impl Numbers {
    fn of(occurs: &[u8]) -> Self {
        let is_some = |&occurs: &u8| occurs == 1;
        let (Some(first), Some(last)) = (
            occurs[1..].iter().position(is_some),
            occurs.iter().rposition(is_some),
        ) else {
            return Numbers::Dense;
        };
        let missing = first + usize::from(occurs[0] == 0);
        if occurs[first + 1..=last].contains(&0) {
            Numbers::Sparse
        } else if missing > 0 {
            Numbers::From(missing as u32)
        } else {
            Numbers::Dense
        }
    }
}

/// Numbers for what occurs, in the same order but without gaps.
struct Closed {
    /// By 64 old numbers: how many are before all of them.
    before: Vec<u32>,
    /// By old number: how many are before it among its 64.
    among: Vec<u8>,
}

impl Closed {
    fn of(occurs: Vec<u8>) -> (Self, SmallValues) {
        let words = occurs.len().div_ceil(64);
        let (mut before, mut bits) = (Vec::with_capacity(words), Vec::with_capacity(words));
        let mut among = occurs;
        let mut total = 0;
        for places in among.chunks_mut(64) {
            before.push(total);
            let (mut word, mut count) = (0, 0);
            for (bit, place) in places.iter_mut().enumerate() {
                let occurs = std::mem::replace(place, count);
                word |= u64::from(occurs) << bit;
                count += occurs;
            }
            bits.push(word);
            total += u32::from(count);
        }
        (Closed { before, among }, SmallValues { bits })
    }

    #[inline]
    fn renumber(&self, id: &mut ValueId) {
        let old = id.0 as usize;
        id.0 = self.before[old / 64] + u32::from(self.among[old]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use arrow_array::Int64Array;

    use super::*;
    use crate::value::Value;

    fn column(integers: &[Option<i64>]) -> Small {
        let mut small = Small::with_room(integers.len());
        let array = Int64Array::from(integers.to_vec());
        assert!(small.add(&array).unwrap(), "{integers:?}");
        small
    }

    #[test]
    fn numbers_are_those_of_the_values() {
        let (nil, some) = (None, |i: i64| Some(i));
        let range = |integers: std::ops::Range<i64>| integers.map(Some).collect::<Vec<_>>();
        for (one, other) in [
            (range(0..200), range(0..200)),
            (range(1..200), vec![some(1), nil, some(199)]),
            (range(1..200), range(5..200)),
            (range(300..400), vec![nil]),
            (vec![some(3), nil, some(70), some(500)], vec![some(4), nil]),
            (vec![some(9)], vec![some(700)]),
            (vec![nil, nil], vec![nil]),
            (vec![], vec![]),
        ] {
            let (ids, other_ids, values) = column(&one).numbered(column(&other));
            let all = one.iter().chain(&other);
            let value = |i: &Option<i64>| i.map_or(Value::Nil, Value::Int);
            for (id, integer) in ids.iter().chain(&other_ids).zip(all.clone()) {
                assert_eq!(
                    values.list()[id.0 as usize],
                    value(integer),
                    "{one:?} {other:?}"
                );
            }
            let distinct: BTreeSet<_> = all.collect();
            assert_eq!(values.list().len(), distinct.len(), "{one:?} {other:?}");
        }
    }

    #[test]
    fn integers_that_are_not_small_are_told() {
        for integer in [-1, i64::MIN, i64::MAX, 1 << 20, (1 << 32) - 1] {
            for null in [None, Some(1)] {
                let array = Int64Array::from(vec![Some(0), Some(integer), null]);
                assert!(!Small::with_room(3).add(&array).unwrap(), "{integer}");
            }
        }
    }
}
