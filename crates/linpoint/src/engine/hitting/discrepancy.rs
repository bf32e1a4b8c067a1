//! A complete search that goes against the base order as little as it can.
//!
//! Wing and Gong's search, with a configuration (what took effect, states) expanded once, but not depth first: those come
//! first on the way to which the fewest operations were passed over. Each configuration keeps the operations that were
//! passed over when it was first met. A candidate that is not one of these passes over all candidates before it in the base
//! order; one that is passes over all that are not.
//!
//! Where one early choice is wrong and found out late, this finds a witness that a depth-first search buries under the
//! orders of everything after; where there is no witness, it looks at the same configurations.

use std::collections::{HashMap, hash_map::Entry};

use smallvec::SmallVec;

use super::blocks::ranks;
use super::lazy::{Cost, Walked};
use super::poset::{Base, Down, Poset};
use super::runs::Runs;
use crate::engine::Limit;
use crate::engine::Ticker;

/// A search that can be gone on with.
pub(super) struct Discrepancy {
    poset: Poset,
    rank: Vec<u32>,
    cost: Cost,
    /// Operations that change no state take effect as soon as they fit; empty if that is not wanted.
    pure: Vec<bool>,
    known: HashMap<(Down, u32), u32, foldhash::fast::FixedState>,
    nodes: Vec<Node>,
    buckets: Vec<Vec<u32>>,
    level: usize,
    expanded: usize,
}

struct Node {
    done: Down,
    states: u32,
    passed_over: SmallVec<[u32; 6]>,
    parent: u32,
    op: u32,
    cost: u32,
    is_expanded: bool,
}

const NONE: u32 = u32::MAX;

impl Discrepancy {
    pub(super) fn new(
        poset: Poset,
        base: Base,
        cost: Cost,
        pure: Vec<bool>,
        runs: &mut dyn Runs,
    ) -> Self {
        let mut search = Discrepancy {
            rank: ranks(&poset, base),
            poset,
            cost,
            pure,
            known: HashMap::default(),
            nodes: Vec::new(),
            buckets: Vec::new(),
            level: 0,
            expanded: 0,
        };
        search.push(Node {
            done: Down::default(),
            states: runs.start(),
            passed_over: SmallVec::new(),
            parent: NONE,
            op: NONE,
            cost: 0,
            is_expanded: false,
        });
        search
    }

    /// How many configurations were expanded.
    #[cfg(test)]
    pub(super) fn expanded(&self) -> usize {
        self.expanded
    }

    /// Goes on until it is decided.
    pub(super) fn go_on(
        &mut self,
        runs: &mut dyn Runs,
        ticker: &mut Ticker<'_>,
    ) -> Result<Walked, Limit> {
        while self.level < self.buckets.len() {
            let Some(&number) = self.buckets[self.level].last() else {
                self.level += 1;
                continue;
            };
            // Whatever ends here, the node stays where it is, so that one can go on.
            ticker.tick()?;
            let node = &mut self.nodes[number as usize];
            if node.done.is_done(&self.poset) {
                return Ok(Walked::Shown(self.level, self.order(number)));
            }
            self.buckets[self.level].pop();
            if !std::mem::replace(&mut node.is_expanded, true) {
                self.expanded += 1;
                self.expand(number, runs);
            }
        }
        Ok(Walked::Never)
    }

    fn expand(&mut self, number: u32, runs: &mut dyn Runs) {
        let node = &self.nodes[number as usize];
        let (done, states, cost) = (node.done.clone(), node.states, node.cost);
        let before = node.passed_over.clone();
        let mut minimal = Vec::new();
        done.minimal_outside(&self.poset, &mut minimal);
        minimal.sort_unstable_by_key(|&op| self.rank[op as usize]);
        let child = |op: u32, states: u32, passed_over: SmallVec<[u32; 6]>, cost| Node {
            done: done.with(op),
            states,
            passed_over,
            parent: number,
            op,
            cost,
            is_expanded: false,
        };
        // It fits all states and leaves them as they are, so whatever order works, it works with this operation moved here.
        let is_pure = |op: u32| self.pure.get(op as usize).is_some_and(|&pure| pure);
        let mut pure = minimal.iter().copied().filter(|&op| is_pure(op));
        if let Some(op) = pure.find(|&op| runs.step(states, op) == Some(states)) {
            let mut passed_over = before;
            passed_over.retain(|other| *other != op);
            let next = child(op, states, passed_over, cost);
            self.push(next);
            return;
        }
        // The last one that is put aside is the first one to be taken up, so the first in the base order comes last.
        let fresh: Vec<u32> = minimal
            .iter()
            .copied()
            .filter(|op| !before.contains(op))
            .collect();
        let mut children = Vec::new();
        for &op in &minimal {
            let Some(next) = runs.step(states, op) else {
                continue;
            };
            let place = fresh.iter().position(|&other| other == op);
            let newly = &fresh[..place.unwrap_or(fresh.len())];
            let mut passed_over = before.clone();
            passed_over.retain(|other| *other != op);
            passed_over.extend_from_slice(newly);
            let cost = match self.cost {
                Cost::Sum => cost + newly.len() as u32,
                Cost::Most => cost.max(passed_over.len() as u32),
            };
            children.push(child(op, next, passed_over, cost));
        }
        while let Some(child) = children.pop() {
            self.push(child);
        }
    }

    fn push(&mut self, node: Node) {
        let cost = node.cost as usize;
        let number = match self.known.entry((node.done.clone(), node.states)) {
            Entry::Occupied(known) => {
                let number = *known.get();
                let earlier = &mut self.nodes[number as usize];
                if earlier.is_expanded || earlier.cost <= node.cost {
                    return;
                }
                *earlier = node;
                number
            }
            Entry::Vacant(free) => {
                let number = self.nodes.len() as u32;
                free.insert(number);
                self.nodes.push(node);
                number
            }
        };
        if self.buckets.len() <= cost {
            self.buckets.resize_with(cost + 1, Vec::new);
        }
        self.buckets[cost].push(number);
    }

    fn order(&self, number: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut at = &self.nodes[number as usize];
        while at.op != NONE {
            order.push(at.op);
            at = &self.nodes[at.parent as usize];
        }
        order.reverse();
        order
    }
}
