//! The set of configurations that were tried and led to no order: Lowe's cache.
//!
//! A configuration is the position in the event order, the set of open operations that took effect, and the state; of
//! the last two, the part that concerns the key of the operation that returns at the position. All operations that
//! returned before the position took effect, and no operation that is called after it did. So the bits of the open
//! operations determine the whole set, and the size of an entry depends on the width of the history, not on its length.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::engine::Budget;
use crate::engine::Limit;

/// A set of configurations.
///
/// Invariant: entry `i` of the table is the `i`th run of `stride` words in the chunks.
#[derive(Debug)]
pub(super) struct Memo {
    /// Words per entry: those of the longest mask, and one for position and state.
    stride: usize,
    /// Entries one after the other, in chunks that never move.
    chunks: Vec<Vec<u64>>,
    table: HashTable<u32>,
    hasher: FixedState,
    /// The words of the configuration that is looked up.
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

    /// Whether the configuration is in the set.
    pub(super) fn contains(&mut self, position: u32, mask: &[u64], state: u32) -> bool {
        if self.table.is_empty() {
            return false;
        }
        let hash = self.write_scratch(position, mask, state);
        self.contains_scratch(hash)
    }

    /// Writes the words of a configuration to `scratch` and returns their hash.
    fn write_scratch(&mut self, position: u32, mask: &[u64], state: u32) -> u64 {
        self.scratch.clear();
        self.scratch.extend_from_slice(mask);
        self.scratch.resize(self.stride - 1, 0);
        self.scratch
            .push(u64::from(position) << 32 | u64::from(state));
        self.hasher.hash_one(self.scratch.as_slice())
    }

    /// Whether the configuration in `scratch` is in the set; `hash` is the hash of its words.
    fn contains_scratch(&self, hash: u64) -> bool {
        let is_it = |&i: &u32| self.entry(i) == self.scratch.as_slice();
        self.table.find(hash, is_it).is_some()
    }

    fn entry(&self, i: u32) -> &[u64] {
        &self.chunks[i as usize / CHUNK][i as usize % CHUNK * self.stride..][..self.stride]
    }

    /// Adds a configuration, unless the set has it. Asks the budget before a table or a chunk grows.
    pub(super) fn insert(
        &mut self,
        budget: &Budget,
        position: u32,
        mask: &[u64],
        state: u32,
    ) -> Result<(), Limit> {
        let hash = self.write_scratch(position, mask, state);
        if self.contains_scratch(hash) {
            return Ok(());
        }
        let stride = self.stride;
        let count = self.table.len();
        if count == self.table.capacity() {
            if count > CHUNK {
                // The old table exists until the new one, with room for twice as many entries, is filled; an entry
                // takes five bytes.
                budget.reserve(count as u64 * 10)?;
            }
            let mut table = std::mem::take(&mut self.table);
            table.reserve(count.max(16), |&i| self.hasher.hash_one(self.entry(i)));
            self.table = table;
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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_across_chunks() {
        let budget = Budget::default();
        let mut memo = Memo::new(2);
        for i in 0..3 * CHUNK as u32 {
            let mask = [u64::from(i), 7];
            assert!(!memo.contains(i, &mask, i / 2));
            memo.insert(&budget, i, &mask, i / 2).unwrap();
        }
        for i in 0..3 * CHUNK as u32 {
            assert!(memo.contains(i, &[u64::from(i), 7], i / 2));
        }
        assert!(!memo.contains(0, &[0, 8], 0));
    }

    #[test]
    fn asks_before_it_grows() {
        let budget = Budget::new(None, Some(1));
        let mut memo = Memo::new(1);
        let grown = (0..=CHUNK as u32).try_for_each(|i| memo.insert(&budget, i, &[0], 0));
        assert_eq!(grown, Err(Limit::Memory(1)));
    }
}
