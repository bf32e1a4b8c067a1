//! Decides the linearizability depth (Definition 4.2 of the paper): the least number of operations such that every schedule
//! that strongly hits them explains the history. The search for a shortest path is ours.
//!
//! A schedule that strongly hits (x0, .., xk) consists of blocks: first the operations at or after no member, in any order;
//! then for each member the operations at or after it and no later one, the member first and the others in any order. So
//! a tuple is a path from no operation to all of them, one block at a time. The depth is the length of a shortest path on
//! which every result fits in every order of each block. A node holds the operations that took effect and the states that
//! the orders so far lead to.
//!
//! The search is A*: its lower bound is the number of operations that can come next, since each of them begins a block of its
//! own. Pending operations do not count, as they need not take effect.

use std::collections::{HashMap, hash_map::Entry};

use super::poset::{Down, Poset};
use super::runs::Runs;
use crate::engine::Limit;
use crate::engine::Ticker;

/// The states that the orders of a set of operations lead to, sorted.
type States = Vec<u32>;

/// The result of a search for the depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DepthResult {
    /// A shortest tuple, which is empty if every schedule explains the history.
    Tuple(Vec<u32>),
    /// No tuple within the limit.
    NotYet,
    /// No tuple at all: the history is not linearizable.
    Never,
}

/// Finds a shortest tuple with at most `most` operations.
pub(super) fn shortest_tuple(
    poset: &Poset,
    runs: &mut dyn Runs,
    most: usize,
    ticker: &mut Ticker<'_>,
) -> Result<DepthResult, Limit> {
    let mut search = TupleSearch {
        growth: Growth::new(poset, runs),
        nodes: Vec::new(),
        known: HashMap::new(),
        buckets: Vec::new(),
        minimal: Vec::new(),
    };
    let start = (Down::default(), vec![search.growth.runs.start()]);
    let free = search.growth.grow(&start.0, start.1, &|_| true, ticker)?;
    for (done, states) in free {
        search.push(done, states, NONE, NONE, 0);
    }
    let mut bucket = 0;
    while bucket < search.buckets.len() {
        if bucket > most {
            return Ok(DepthResult::NotYet);
        }
        let Some(number) = search.buckets[bucket].pop() else {
            bucket += 1;
            continue;
        };
        if std::mem::replace(&mut search.nodes[number as usize].is_expanded, true) {
            continue;
        }
        ticker.tick()?;
        if search.nodes[number as usize].done.is_done(poset) {
            return Ok(DepthResult::Tuple(search.tuple(number)));
        }
        search.expand(number, ticker)?;
    }
    Ok(DepthResult::Never)
}

/// Whether every schedule that strongly hits a feasible tuple explains the history.
pub(super) fn always_explains(
    poset: &Poset,
    runs: &mut dyn Runs,
    tuple: &[u32],
    ticker: &mut Ticker<'_>,
) -> Result<bool, Limit> {
    let mut growth = Growth::new(poset, runs);
    let mut states = vec![growth.runs.start()];
    let mut done = Down::default();
    // The block of each position in the tuple; the first block holds the operations at or after no member.
    for place in 0..=tuple.len() {
        let later = &tuple[place..];
        let in_block = |op: u32| !later.iter().any(|&root| poset.is_at_or_after(op, root));
        if let Some(&root) = place.checked_sub(1).and_then(|place| tuple.get(place)) {
            match growth.after(&states, root) {
                Some(next) => (done, states) = (done.with(root), next),
                None => return Ok(false),
            }
        }
        let end = growth.grow(&done, states, &in_block, ticker)?;
        let mut minimal = Vec::new();
        let full = end.into_iter().find(|(all, _)| {
            all.minimal_outside(poset, &mut minimal);
            !minimal.iter().any(|&op| in_block(op))
        });
        match full {
            Some(block) => (done, states) = block,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// Marks the absence of a node or an operation. Invariant: none has this number.
const NONE: u32 = u32::MAX;

struct TupleSearch<'a> {
    growth: Growth<'a>,
    nodes: Vec<TupleNode>,
    known: HashMap<(Down, States), u32>,
    buckets: Vec<Vec<u32>>,
    minimal: Vec<u32>,
}

struct TupleNode {
    done: Down,
    states: States,
    parent: u32,
    /// The first operation of the last block.
    root: u32,
    blocks: u32,
    is_expanded: bool,
}

impl TupleSearch<'_> {
    fn push(&mut self, done: Down, states: States, parent: u32, root: u32, blocks: u32) {
        done.minimal_outside(self.growth.poset, &mut self.minimal);
        let poset = self.growth.poset;
        let roots = self.minimal.iter().filter(|&&op| !poset.is_pending(op));
        let least = blocks as usize + roots.count();
        let number = match self.known.entry((done, states)) {
            Entry::Occupied(known) => {
                let number = *known.get();
                let node = &mut self.nodes[number as usize];
                if node.is_expanded || node.blocks <= blocks {
                    return;
                }
                (node.parent, node.root, node.blocks) = (parent, root, blocks);
                number
            }
            Entry::Vacant(free) => {
                let (done, states) = free.key().clone();
                free.insert(self.nodes.len() as u32);
                self.nodes.push(TupleNode {
                    done,
                    states,
                    parent,
                    root,
                    blocks,
                    is_expanded: false,
                });
                self.nodes.len() as u32 - 1
            }
        };
        if self.buckets.len() <= least {
            self.buckets.resize_with(least + 1, Vec::new);
        }
        self.buckets[least].push(number);
    }

    /// Adds the nodes that are one block further, for each first operation and each size of the block.
    fn expand(&mut self, number: u32, ticker: &mut Ticker<'_>) -> Result<(), Limit> {
        let node = &self.nodes[number as usize];
        let (done, states, blocks) = (node.done.clone(), node.states.clone(), node.blocks);
        let mut roots = Vec::new();
        done.minimal_outside(self.growth.poset, &mut roots);
        for root in roots {
            let Some(next) = self.growth.after(&states, root) else {
                continue;
            };
            let poset = self.growth.poset;
            let in_block = |op: u32| poset.is_at_or_after(op, root);
            let grown = self
                .growth
                .grow(&done.with(root), next, &in_block, ticker)?;
            for (done, states) in grown {
                self.push(done, states, number, root, blocks + 1);
            }
        }
        Ok(())
    }

    fn tuple(&self, number: u32) -> Vec<u32> {
        let mut tuple = Vec::new();
        let mut at = number;
        while at != NONE {
            let node = &self.nodes[at as usize];
            tuple.extend((node.root != NONE).then_some(node.root));
            at = node.parent;
        }
        tuple.reverse();
        tuple
    }
}

/// Finds blocks of which every order fits.
struct Growth<'a> {
    poset: &'a Poset,
    runs: &'a mut dyn Runs,
    /// By operation: the operations that are open when it is called, itself included.
    open: Vec<Vec<u32>>,
}

/// A block of the next size, while it is found.
struct Partial {
    states: States,
    /// The number of its maximal operations by which it was reached from a smaller block.
    reached_by: usize,
}

impl<'a> Growth<'a> {
    fn new(poset: &'a Poset, runs: &'a mut dyn Runs) -> Self {
        let mut open: Vec<Vec<u32>> = Vec::with_capacity(poset.len());
        for op in 0..poset.len() as u32 {
            let before = open.last().map_or(&[][..], |before| before.as_slice());
            let still = before.iter().filter(|&&other| !poset.precedes(other, op));
            let now = still.copied().chain([op]).collect();
            open.push(now);
        }
        Growth { poset, runs, open }
    }

    /// Returns the states after one more operation; `None` unless it fits in all states.
    fn after(&mut self, states: &[u32], op: u32) -> Option<States> {
        let next = states.iter().map(|&states| self.runs.step(states, op));
        let mut next = next.collect::<Option<States>>()?;
        next.sort_unstable();
        next.dedup();
        Some(next)
    }

    /// Returns all blocks after `start`, of operations for which `in_block` holds, of which every order fits.
    ///
    /// Every order of a block fits iff, for each of its maximal operations, every order of the block without it fits and
    /// leads only to states in which it fits. So blocks are found by size.
    fn grow(
        &mut self,
        start: &Down,
        states: States,
        in_block: &dyn Fn(u32) -> bool,
        ticker: &mut Ticker<'_>,
    ) -> Result<Vec<(Down, States)>, Limit> {
        let mut good = Vec::new();
        let mut layer = vec![(start.clone(), states)];
        let mut minimal = Vec::new();
        while !layer.is_empty() {
            let mut larger: HashMap<Down, Partial> = HashMap::new();
            for (done, states) in &layer {
                done.minimal_outside(self.poset, &mut minimal);
                for &op in minimal.iter().filter(|&&op| in_block(op)) {
                    ticker.tick()?;
                    let Some(next) = self.after(states, op) else {
                        continue;
                    };
                    let partial = larger.entry(done.with(op)).or_insert(Partial {
                        states: Vec::new(),
                        reached_by: 0,
                    });
                    partial.states.extend(next);
                    partial.reached_by += 1;
                }
            }
            good.append(&mut layer);
            for (done, mut partial) in larger {
                if partial.reached_by == self.last_ones(start, &done) {
                    partial.states.sort_unstable();
                    partial.states.dedup();
                    layer.push((done, partial.states));
                }
            }
            // Sorted, since the order of a hash map differs between runs.
            layer.sort_unstable_by(|a, b| (a.0.hi, &a.0.holes).cmp(&(b.0.hi, &b.0.holes)));
        }
        Ok(good)
    }

    /// Returns the number of maximal operations of the block between `start` and `done`.
    fn last_ones(&self, start: &Down, done: &Down) -> usize {
        let is_new = |op: &u32| done.contains(*op) && !start.contains(*op);
        let last = (0..done.hi).rev().find(is_new);
        let Some(last) = last else { return 0 };
        let open = &self.open[last as usize];
        open.iter().filter(|op| is_new(op)).count()
    }
}
