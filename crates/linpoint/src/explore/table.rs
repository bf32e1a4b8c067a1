//! The set of reached states, in the order in which they were found: packed words and a hash index of their numbers.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::engine::Budget;
use crate::engine::Limit;

/// The number of states in one piece of the table. Pieces never move, so that the table grows without being copied.
const PIECE: usize = 1 << 14;

/// A set of states of `words` words each, numbered in the order in which they were added.
#[derive(Debug)]
pub(crate) struct Table {
    words: usize,
    pieces: Vec<Vec<u64>>,
    len: usize,
    index: HashTable<u32>,
}

/// The hash of a state: the same in every run.
pub(crate) fn hash(state: &[u64]) -> u64 {
    FixedState::default().hash_one(state)
}

impl Table {
    pub(crate) fn new(words: usize) -> Self {
        Table {
            words,
            pieces: Vec::new(),
            len: 0,
            index: HashTable::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces.len() * PIECE * self.words * 8 + self.index.allocation_size()
    }

    pub(crate) fn get(&self, number: usize) -> &[u64] {
        state_of(&self.pieces, self.words, number)
    }

    /// Asks the budget for the memory that `more` states may need.
    pub(crate) fn reserve(&self, more: usize, budget: &Budget) -> Result<(), Limit> {
        if self.len + more > u32::MAX as usize {
            return Err(Limit::Capacity("there are more than 2^32 states"));
        }
        let states = more * self.words * 8;
        // While the index grows, the old one and the new one, which is twice as large, exist together.
        let grows = self.index.len() + more > self.index.capacity();
        let index = if grows { 10 * self.index.capacity() } else { 0 };
        budget.reserve((states + index) as u64)
    }

    /// Adds a state. Returns whether it is new.
    pub(crate) fn insert(&mut self, state: &[u64], hash: u64) -> bool {
        let (pieces, words) = (&self.pieces, self.words);
        let same = |&number: &u32| state_of(pieces, words, number as usize) == state;
        if self.index.find(hash, same).is_some() {
            return false;
        }
        let rehash = |&number: &u32| self::hash(state_of(pieces, words, number as usize));
        self.index.insert_unique(hash, self.len as u32, rehash);
        if self.len.is_multiple_of(PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE * words));
        }
        self.pieces[self.len / PIECE].extend_from_slice(state);
        self.len += 1;
        true
    }
}

fn state_of(pieces: &[Vec<u64>], words: usize, number: usize) -> &[u64] {
    let from = number % PIECE * words;
    &pieces[number / PIECE][from..from + words]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_keep_their_numbers() {
        let mut table = Table::new(2);
        let state = |i: u64| [i * 7, i / 3];
        for round in 0..2 {
            for i in 0..40_000 {
                assert_eq!(table.insert(&state(i), hash(&state(i))), round == 0);
            }
        }
        assert_eq!(table.len(), 40_000);
        assert!((0..40_000).all(|i| table.get(i as usize) == state(i)));
        assert!(table.bytes() >= 40_000 * 16);
    }
}
