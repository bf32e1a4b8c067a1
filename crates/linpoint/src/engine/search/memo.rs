//! The set of configurations already tried.
//!
//! A configuration is the position in the event order, the set of open operations that took effect already, and the
//! state; of all these, what concerns the key of the operation that returns there. All operations that returned before that position took effect, and none that is called after it did, so the
//! bits of the open operations tell the whole set: the size of an entry depends on the width of the history, not on
//! its length.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::engine::Budget;
use crate::engine::Limit;

#[derive(Debug)]
pub(super) struct Memo {
    /// Words per entry: those of the longest mask, and one for position and state.
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

    /// Whether the configuration is here.
    pub(super) fn contains(&mut self, position: u32, mask: &[u64], state: u32) -> bool {
        !self.table.is_empty() && self.find(position, mask, state).is_none()
    }

    /// The hash of a configuration that is not here, whose words are then in `scratch`; `None` if it is here.
    fn find(&mut self, position: u32, mask: &[u64], state: u32) -> Option<u64> {
        self.scratch.clear();
        self.scratch.extend_from_slice(mask);
        self.scratch.resize(self.stride - 1, 0);
        self.scratch
            .push(u64::from(position) << 32 | u64::from(state));
        let hash = self.hasher.hash_one(self.scratch.as_slice());
        let found = self
            .table
            .find(hash, |&i| self.entry(i) == self.scratch.as_slice());
        found.is_none().then_some(hash)
    }

    fn entry(&self, i: u32) -> &[u64] {
        &self.chunks[i as usize / CHUNK][i as usize % CHUNK * self.stride..][..self.stride]
    }

    /// Adds a configuration, unless it is here. Asks the budget before anything grows much.
    pub(super) fn insert(
        &mut self,
        budget: &Budget,
        position: u32,
        mask: &[u64],
        state: u32,
    ) -> Result<(), Limit> {
        let Some(hash) = self.find(position, mask, state) else {
            return Ok(());
        };
        let stride = self.stride;
        let count = self.table.len();
        if count == self.table.capacity() {
            if count > CHUNK {
                // The old table is still there while the new one is filled: five bytes an entry, twice as many entries.
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
