//! Columns of small integers, which number themselves.

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
    /// No integer has a bit that this has not.
    bits: u64,
}

impl Small {
    /// Nothing yet, and room for some. Integers that count as small are not many more than rows.
    pub(super) fn with_room(rows: usize) -> Self {
        Small {
            ids: Vec::with_capacity(rows),
            occurs: vec![0; (2 * rows).next_power_of_two().max(1 << 10) + 1],
            bits: 0,
        }
    }

    /// Adds the integers of `array`; whether they are small.
    pub(super) fn add(&mut self, array: &dyn Array) -> Result<bool, BadRow> {
        let integers = integers(array)?;
        let start = self.ids.len();
        let mut bits = 0;
        match nulls(array) {
            None => {
                bits = integers.iter().fold(0, |bits, &i| bits | i as u64);
                let ids = integers
                    .iter()
                    .map(|&i| ValueId((i as u32).wrapping_add(1)));
                self.ids.extend(ids);
            }
            Some(nulls) => {
                self.ids.resize(start + array.len(), ValueId(0));
                let valid = nulls.inner().bit_chunks();
                let words = valid.iter().chain(iter::once(valid.remainder_bits()));
                let columns = self.ids[start..].chunks_mut(64).zip(integers.chunks(64));
                for (word, (ids, integers)) in words.zip(columns) {
                    for (bit, (id, &i)) in ids.iter_mut().zip(integers).enumerate() {
                        // Without a branch: which rows are null is hard to foresee.
                        let is_valid = word >> bit & 1;
                        let i = i as u64 & is_valid.wrapping_neg();
                        bits |= i;
                        *id = ValueId((i as u32).wrapping_add(is_valid as u32));
                    }
                }
            }
        }
        self.bits |= bits;
        if self.bits >= self.occurs.len() as u64 - 1 {
            return Ok(false);
        }
        for id in &self.ids[start..] {
            self.occurs[id.0 as usize] = 1;
        }
        Ok(true)
    }

    /// The columns with the numbers of the values that occur in them, and these values.
    pub(super) fn numbered(self, other: Self) -> (Vec<ValueId>, Vec<ValueId>, Values) {
        let (mut ids, mut other_ids) = (self.ids, other.ids);
        let mut occurs = self.occurs;
        // Beyond these there is nothing, and memory that nobody looked at yet.
        occurs.truncate(((self.bits | other.bits) + 1).next_power_of_two() as usize + 1);
        for (occurs, in_other) in occurs.iter_mut().zip(&other.occurs) {
            *occurs |= in_other;
        }
        let has_gaps = occurs
            .iter()
            .rposition(|&occurs| occurs == 1)
            .is_some_and(|last| occurs[..last].contains(&0));
        let (closed, values) = Closed::of(occurs);
        if has_gaps {
            rayon::join(
                || ids.iter_mut().for_each(|id| closed.renumber(id)),
                || other_ids.iter_mut().for_each(|id| closed.renumber(id)),
            );
        }
        (ids, other_ids, values.into())
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
