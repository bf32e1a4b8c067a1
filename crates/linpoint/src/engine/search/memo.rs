//! The set of configurations already tried.
//!
//! A configuration is the position in the event order, the set of open operations that took effect already, and the
//! state. All operations that returned before that position took effect, and none that is called after it did, so the
//! bits of the open operations tell the whole set: the size of an entry depends on the width of the history, not on
//! its length.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::engine::Budget;
use crate::verdict::Limit;

#[derive(Debug)]
pub(super) struct Memo {
    /// Words per entry: those of the mask, and one for position and state.
    stride: usize,
    /// Entries one after the other, in chunks that never move.
    chunks: Vec<Vec<u64>>,
    table: HashTable<u32>,
    hasher: FixedState,
    scratch: Vec<u64>,
}

/// Entries in a chunk.
const CHUNK: usize = 1 << 12;

impl Memo {
    pub(super) fn new(mask_words: usize) -> Self {
        Memo {
            stride: mask_words + 1,
            chunks: Vec::new(),
            table: HashTable::new(),
            hasher: FixedState::default(),
            scratch: Vec::with_capacity(mask_words + 1),
        }
    }

    /// Adds a configuration; `false` if it was there. Asks the budget before anything grows much.
    pub(super) fn insert(
        &mut self,
        budget: &Budget,
        position: u32,
        mask: &[u64],
        state: u32,
    ) -> Result<bool, Limit> {
        self.scratch.clear();
        self.scratch.extend_from_slice(mask);
        self.scratch
            .push(u64::from(position) << 32 | u64::from(state));
        let hash = self.hasher.hash_one(self.scratch.as_slice());

        let (stride, chunks, scratch) = (self.stride, &self.chunks, &self.scratch);
        let entry = |i: u32| &chunks[i as usize / CHUNK][i as usize % CHUNK * stride..][..stride];
        if self
            .table
            .find(hash, |&i| entry(i) == scratch.as_slice())
            .is_some()
        {
            return Ok(false);
        }
        let count = self.table.len();
        if count == self.table.capacity() {
            if count > CHUNK {
                // The old table is still there while the new one is filled: five bytes an entry, twice as many entries.
                budget.reserve(count as u64 * 10)?;
            }
            let hasher = &self.hasher;
            self.table
                .reserve(count.max(16), |&i| hasher.hash_one(entry(i)));
        }
        let id = u32::try_from(count)
            .map_err(|_| Limit::Memory(u64::from(u32::MAX) * stride as u64 * 8))?;
        if count == 0 {
            // Most histories are small: the first chunk grows as it is needed.
            self.chunks.push(Vec::new());
        } else if count.is_multiple_of(CHUNK) {
            budget.reserve((CHUNK * stride * 8) as u64)?;
            self.chunks.push(Vec::with_capacity(CHUNK * stride));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(&self.scratch);
        }
        self.table
            .insert_unique(hash, id, |_| unreachable!("bug: the table has room"));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_across_chunks() {
        let budget = Budget::default();
        let mut memo = Memo::new(2);
        for round in 0..2 {
            for i in 0..3 * CHUNK as u32 {
                let fresh = memo.insert(&budget, i, &[u64::from(i), 7], i / 2).unwrap();
                assert_eq!(fresh, round == 0, "entry {i}");
            }
        }
        assert!(memo.insert(&budget, 0, &[0, 8], 0).unwrap());
    }

    #[test]
    fn asks_before_it_grows() {
        let budget = Budget::new(None, Some(1));
        let mut memo = Memo::new(1);
        let grown =
            (0..=CHUNK as u32).try_for_each(|i| memo.insert(&budget, i, &[0], 0).map(|_| ()));
        assert_eq!(grown, Err(Limit::Memory(1)));
    }
}
