//! Bits and words for the operations that are open at the same time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::keys::Independent;
use crate::history::EventKind;

/// Where operations are found while they are open.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) rets: Vec<u32>,
    /// The key of each operation; empty if there is one only.
    keys: Vec<u32>,
    /// The bit that stands for an operation while it is open: the lowest one of its key that is free at its call.
    pub(super) bit: Vec<u32>,
    /// Where the words of each key begin, and the end.
    words: Vec<usize>,
}

impl Layout {
    pub(super) fn new(
        events: &[(u32, EventKind)],
        rets: Vec<u32>,
        keys: Option<&Independent>,
    ) -> Self {
        let mut layout = Layout {
            bit: vec![0; rets.len()],
            rets,
            keys: keys.map_or_else(Vec::new, Independent::numbers),
            words: vec![0],
        };
        let mut free = vec![BinaryHeap::new(); keys.map_or(1, Independent::len)];
        let mut width = vec![0; free.len()];
        for &(op, kind) in events {
            let key = layout.key(op);
            let bit = &mut layout.bit[op as usize];
            match kind {
                EventKind::Call => {
                    let Reverse(lowest) = free[key].pop().unwrap_or_else(|| {
                        width[key] += 1;
                        Reverse(width[key] - 1)
                    });
                    *bit = lowest;
                }
                EventKind::Return => free[key].push(Reverse(*bit)),
            }
        }
        let mut words = 0;
        for width in width {
            words += width.div_ceil(64).max(1) as usize;
            layout.words.push(words);
        }
        for op in 0..layout.keys.len() as u32 {
            layout.bit[op as usize] += layout.words[layout.key(op)] as u32 * 64;
        }
        layout
    }

    pub(super) fn key(&self, op: u32) -> usize {
        self.keys.get(op as usize).map_or(0, |&key| key as usize)
    }

    pub(super) fn key_count(&self) -> usize {
        self.words.len() - 1
    }

    /// How many words all keys have together.
    pub(super) fn word_count(&self) -> usize {
        self.words[self.key_count()]
    }

    /// The words of the operations of this key.
    pub(super) fn words_of(&self, key: usize) -> std::ops::Range<usize> {
        self.words[key]..self.words[key + 1]
    }
}
