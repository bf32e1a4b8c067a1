//! Pairing heaps of operations by deadline, many of them in one pool.
//!
//! After Fredman, Sedgewick, Sleator and Tarjan, *The Pairing Heap* (1986): O(1) to insert, O(log n) amortized to remove the
//! first. A sweep over the events needs, for every key, the open operation that returns first. Most keys have one or two open
//! operations. A heap is one number, and the pool is no larger than the number of operations that are open at a time.

/// A heap: the index of the node of its first operation, or [`EMPTY`].
pub(in crate::engine::monitor) type Heap = u32;

/// The heap without operations.
pub(in crate::engine::monitor) const EMPTY: Heap = u32::MAX;

#[derive(Clone, Copy)]
struct Node {
    op: u32,
    deadline: u32,
    /// The first of the nodes below this one.
    child: Heap,
    /// The next node below the same one, or the next free one.
    sibling: Heap,
}

/// The nodes of all heaps.
pub(in crate::engine::monitor) struct PairingHeaps {
    nodes: Vec<Node>,
    free: Heap,
}

impl PairingHeaps {
    pub(in crate::engine::monitor) fn new() -> Self {
        PairingHeaps {
            nodes: Vec::new(),
            free: EMPTY,
        }
    }

    /// Adds an operation.
    #[inline]
    pub(in crate::engine::monitor) fn push(&mut self, heap: &mut Heap, op: u32, deadline: u32) {
        let node = Node {
            op,
            deadline,
            child: EMPTY,
            sibling: EMPTY,
        };
        let place = self.free;
        let new = if place == EMPTY {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            self.free = self.nodes[place as usize].sibling;
            self.nodes[place as usize] = node;
            place
        };
        *heap = if *heap == EMPTY {
            new
        } else {
            self.join(*heap, new)
        };
    }

    /// The operation with the first deadline.
    #[inline]
    pub(in crate::engine::monitor) fn first(&self, heap: Heap) -> Option<u32> {
        self.nodes.get(heap as usize).map(|node| node.op)
    }

    /// Removes the operation with the first deadline.
    #[inline]
    pub(in crate::engine::monitor) fn pop(&mut self, heap: &mut Heap) -> Option<u32> {
        let top = *self.nodes.get(*heap as usize)?;
        self.nodes[*heap as usize].sibling = self.free;
        self.free = *heap;
        *heap = if top.child == EMPTY {
            EMPTY
        } else {
            self.gather(top.child)
        };
        Some(top.op)
    }

    /// Joins two heaps that have no siblings.
    fn join(&mut self, a: Heap, b: Heap) -> Heap {
        let (above, below) = if self.nodes[a as usize].deadline <= self.nodes[b as usize].deadline {
            (a, b)
        } else {
            (b, a)
        };
        self.nodes[below as usize].sibling = self.nodes[above as usize].child;
        self.nodes[above as usize].child = below;
        above
    }

    /// Joins a node and its siblings: in pairs first, then all pairs from the last one on.
    fn gather(&mut self, mut node: Heap) -> Heap {
        let mut pairs = EMPTY;
        while node != EMPTY {
            let partner = self.detach(node);
            let pair = if partner == EMPTY {
                std::mem::replace(&mut node, EMPTY)
            } else {
                let next = self.detach(partner);
                let pair = self.join(node, partner);
                node = next;
                pair
            };
            self.nodes[pair as usize].sibling = pairs;
            pairs = pair;
        }
        let mut all = pairs;
        let mut rest = self.detach(all);
        while rest != EMPTY {
            let next = self.detach(rest);
            all = self.join(all, rest);
            rest = next;
        }
        all
    }

    /// Removes the siblings of a node, and returns them.
    fn detach(&mut self, node: Heap) -> Heap {
        std::mem::replace(&mut self.nodes[node as usize].sibling, EMPTY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    #[test]
    fn behave_like_binary_heaps() {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let mut heaps = PairingHeaps::new();
        let mut mine = [EMPTY; 3];
        let mut theirs = vec![BinaryHeap::new(); 3];
        for step in 0..20_000u32 {
            let i = rng.random_range(0..3);
            // Grow, then shrink, so that heaps become large and empty in turn.
            if rng.random_range(0..10) < if step / 1000 % 2 == 0 { 7 } else { 3 } {
                let deadline = rng.random_range(0..1000) << 16 | step;
                heaps.push(&mut mine[i], deadline, deadline);
                theirs[i].push(Reverse(deadline));
            } else {
                assert_eq!(heaps.first(mine[i]), theirs[i].peek().map(|first| first.0));
                assert_eq!(
                    heaps.pop(&mut mine[i]),
                    theirs[i].pop().map(|first| first.0)
                );
            }
        }
    }
}
