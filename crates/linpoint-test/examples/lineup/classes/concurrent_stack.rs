//! ConcurrentStack: last in, first out, without locks (Treiber).

use std::sync::Mutex as Plain;

use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::Seed;

/// A node never changes once it is made, so reading one is not worth a scheduling point.
#[derive(Clone, Copy, Debug)]
struct Node {
    item: u32,
    below: usize,
}

#[derive(Debug)]
pub struct ConcurrentStack {
    seed: Seed,
    /// The number of the node on top, counted from 1; 0 if there is none. Numbers are not used again.
    top: AtomicUsize,
    nodes: Plain<Vec<Node>>,
}

impl ConcurrentStack {
    pub fn new(seed: Seed) -> Self {
        ConcurrentStack {
            seed,
            top: AtomicUsize::new(0),
            nodes: Plain::default(),
        }
    }

    /// The chain of nodes from one downwards.
    fn below(&self, top: usize) -> impl Iterator<Item = Node> {
        let node = |number: usize| {
            let nodes = self.nodes.lock().expect("no holder panics");
            Some(nodes[number.checked_sub(1)?])
        };
        std::iter::successors(node(top), move |above| node(above.below))
    }

    fn swap(&self, from: usize, to: usize) -> bool {
        self.top.compare_exchange(from, to, SeqCst, SeqCst).is_ok()
    }

    pub fn push(&self, item: u32) {
        self.push_range([item]);
    }

    /// All at once, the last one on top.
    pub fn push_range(&self, items: impl IntoIterator<Item = u32> + Clone) {
        loop {
            let top = self.top.load(SeqCst);
            let mut new_top = top;
            for item in items.clone() {
                let mut nodes = self.nodes.lock().expect("no holder panics");
                nodes.push(Node {
                    item,
                    below: new_top,
                });
                new_top = nodes.len();
            }
            if self.swap(top, new_top) {
                return;
            }
        }
    }

    pub fn try_pop(&self) -> Option<u32> {
        self.try_pop_range(1).pop()
    }

    /// Up to so many at once, the topmost first.
    pub fn try_pop_range(&self, count: usize) -> Vec<u32> {
        loop {
            let top = self.top.load(SeqCst);
            let popped: Vec<Node> = self.below(top).take(count).collect();
            let Some(last) = popped.last() else {
                return Vec::new();
            };
            let is_ours = if self.seed == Seed::Mutant {
                // That another thread popped the same nodes meanwhile is not noticed.
                self.top.store(last.below, SeqCst);
                true
            } else {
                self.swap(top, last.below)
            };
            if is_ours {
                return popped.iter().map(|node| node.item).collect();
            }
        }
    }

    pub fn try_peek(&self) -> Option<u32> {
        let top = self.top.load(SeqCst);
        self.below(top).next().map(|node| node.item)
    }

    pub fn clear(&self) {
        self.top.store(0, SeqCst);
    }

    pub fn to_array(&self) -> Vec<u32> {
        let top = self.top.load(SeqCst);
        self.below(top).map(|node| node.item).collect()
    }

    /// All items in ascending order.
    pub fn to_array_order_by(&self) -> Vec<u32> {
        let mut items = self.to_array();
        items.sort_unstable();
        items
    }

    pub fn count(&self) -> usize {
        self.to_array().len()
    }
}
