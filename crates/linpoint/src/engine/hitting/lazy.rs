//! Decides which canonical families contain a schedule that explains the history, by a walk in the order of execution that
//! drops a schedule at its first wrong result. Ours; the paper constructs every schedule.
//!
//! A node holds the operations that took effect, the delayed operations, the chain that is delayed as a whole, and the states.
//! The next operation of a block is the first one in the base order that is not delayed. It takes effect, or it is delayed
//! from here on, which makes it a member of the tuple and costs one. When all possible operations are delayed, the block ends
//! and one of them begins the next block. So the nodes of cost up to d are exactly the prefixes of schedules of the d-th
//! family that explain their results. Each node is expanded once, at its least cost, and the walk for d + 1 continues
//! that for d.
//!
//! Delayed operations are concurrent with each other, so the number of nodes is the length of the history times a factor that
//! depends on its width and on d. Keys of nodes are exact, so a walk that ends without a schedule is a proof.

use hashbrown::HashTable;
use smallvec::SmallVec;
use std::hash::BuildHasher;

use super::blocks::ranks;
use super::family::{Family, Index};
use super::poset::{Down, Poset};
use super::runs::Runs;
use crate::engine::{Limit, MOST_STATES, Ticker};

/// The result of a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// The cost of a schedule that explains all results, and the schedule.
    Shown(usize, Vec<u32>),
    /// No schedule up to the given cost.
    NotYet,
    /// No schedule at all.
    Never,
}

/// The cost of delaying operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// The number of delayed operations: the d of the family.
    Sum,
    /// The largest number of operations that are delayed at the same time: the width.
    Most,
}

/// A walk through the families of a history, from small to large ones.
pub(super) struct FamilyWalk {
    poset: Poset,
    rank: Vec<u32>,
    cost: Cost,
    hasher: foldhash::fast::FixedState,
    table: HashTable<u32>,
    /// The keys of all nodes, one after the other.
    words: Vec<u32>,
    /// The capacity of `words` that the budget has granted.
    granted: usize,
    nodes: Vec<FamilyNode>,
    /// The nodes to be expanded, by cost.
    buckets: Vec<Vec<u32>>,
    level: usize,
    scratch: Vec<u32>,
    minimal: Vec<u32>,
    furthest: Furthest,
}

/// How far schedules explain the history.
#[derive(Debug, Default)]
pub(super) struct Furthest {
    /// The rank of the latest return to which some schedule comes.
    pub(super) ret: u32,
    /// Some sets of states to which such schedules lead.
    pub(super) sets: SmallVec<[u32; MOST_STATES]>,
}

impl Furthest {
    fn note(&mut self, ret: u32, states: u32) {
        if ret > self.ret {
            self.ret = ret;
            self.sets.clear();
        }
        if ret == self.ret && self.sets.len() < MOST_STATES && !self.sets.contains(&states) {
            self.sets.push(states);
        }
    }
}

struct FamilyNode {
    start: usize,
    parent: u32,
    /// The operation that took effect last; [`NONE`] if the last step delayed one instead.
    op: u32,
    cost: u32,
    is_expanded: bool,
}

/// Marks the absence of a node, an operation or a chain. Invariant: none has this number.
const NONE: u32 = u32::MAX;

/// The contents of the key of a node.
#[derive(Clone)]
struct NodeKey {
    chain: u32,
    states: u32,
    done: Down,
    /// In the order of their calls.
    delayed: SmallVec<[u32; 6]>,
}

impl FamilyWalk {
    /// Starts a walk of a canonical family.
    pub(super) fn new(poset: Poset, family: Family, cost: Cost, runs: &mut dyn Runs) -> Self {
        let chains = match family.index {
            Index::Chains => 0..poset.chains().len() as u32,
            Index::Tuples => 0..0,
        };
        let mut walk = FamilyWalk {
            rank: ranks(&poset, family.base),
            poset,
            cost,
            hasher: foldhash::fast::FixedState::default(),
            table: HashTable::new(),
            words: Vec::new(),
            granted: 0,
            nodes: Vec::new(),
            buckets: Vec::new(),
            level: 0,
            scratch: Vec::new(),
            minimal: Vec::new(),
            furthest: Furthest::default(),
        };
        let start = NodeKey {
            chain: NONE,
            states: runs.start(),
            done: Down::default(),
            delayed: SmallVec::new(),
        };
        if chains.is_empty() {
            walk.push(start, 0, NONE, NONE);
        } else {
            for chain in chains.rev() {
                let start = NodeKey {
                    chain,
                    ..start.clone()
                };
                walk.push(start, 1, NONE, NONE);
            }
        }
        walk
    }

    /// How far the schedules explain the history that were tried so far.
    pub(super) fn furthest(&self) -> &Furthest {
        &self.furthest
    }

    /// The number of nodes found so far.
    pub(super) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Continues until a schedule is found, or all nodes of cost up to `most` are expanded.
    pub(super) fn go_on(
        &mut self,
        most: usize,
        runs: &mut dyn Runs,
        ticker: &mut Ticker<'_>,
    ) -> Result<Walked, Limit> {
        while self.level < self.buckets.len() {
            if self.level > most {
                return Ok(Walked::NotYet);
            }
            let Some(&number) = self.buckets[self.level].last() else {
                self.level += 1;
                continue;
            };
            // If a limit ends the walk here, the node stays in its bucket, so that the walk can be continued.
            ticker.tick()?;
            self.ask_to_grow(ticker)?;
            if self.is_done(number) {
                return Ok(Walked::Shown(self.level, self.order(number)));
            }
            self.buckets[self.level].pop();
            // A node that is expanded already was found again at a lower cost.
            if !std::mem::replace(&mut self.nodes[number as usize].is_expanded, true) {
                self.expand(number, runs);
            }
        }
        Ok(Walked::Never)
    }

    /// Asks the budget before the keys, the largest table, are copied into one twice as large.
    fn ask_to_grow(&mut self, ticker: &Ticker<'_>) -> Result<(), Limit> {
        const LARGE: usize = 1 << 18;
        let (used, room) = (self.words.len(), self.words.capacity());
        if room > LARGE && room > self.granted && used > room - room / 16 {
            ticker.budget().reserve(room as u64 * 8)?;
            self.granted = room;
        }
        Ok(())
    }

    /// Adds the successors of a node.
    fn expand(&mut self, number: u32, runs: &mut dyn Runs) {
        let at = self.read(number);
        let ret = at.done.first_return_outside(&self.poset);
        self.furthest.note(ret, at.states);
        let mut minimal = std::mem::take(&mut self.minimal);
        at.done.minimal_outside(&self.poset, &mut minimal);
        let is_in_chain = |op: u32| self.poset.chain_of(op) == at.chain;
        let free = || {
            minimal
                .iter()
                .copied()
                .filter(|op| !at.delayed.contains(op))
        };
        let others = free().filter(|&op| !is_in_chain(op));
        let next = others.min_by_key(|&op| self.rank[op as usize]);
        let next = next.or_else(|| free().next());
        let cost = self.nodes[number as usize].cost as usize;
        if let Some(op) = next {
            self.delay(&at, op, number);
            if let Some(states) = runs.step(at.states, op) {
                let done = at.done.with(op);
                self.push(NodeKey { states, done, ..at }, cost, number, op);
            }
        } else {
            for &root in &at.delayed {
                if let Some(states) = runs.step(at.states, root) {
                    let mut delayed = at.delayed.clone();
                    delayed.retain(|op| *op != root);
                    let next = NodeKey {
                        chain: NONE,
                        states,
                        done: at.done.with(root),
                        delayed,
                    };
                    self.push(next, cost, number, root);
                }
            }
        }
        self.minimal = minimal;
    }

    /// Adds the node after which `op` is delayed.
    fn delay(&mut self, at: &NodeKey, op: u32, number: u32) {
        let cost = self.nodes[number as usize].cost as usize;
        let mut later = at.clone();
        let place = later.delayed.partition_point(|&other| other < op);
        later.delayed.insert(place, op);
        let cost = match self.cost {
            Cost::Sum => cost + 1,
            Cost::Most => cost.max(later.delayed.len()),
        };
        self.push(later, cost, number, NONE);
    }

    fn push(&mut self, mut state: NodeKey, cost: usize, parent: u32, op: u32) {
        // A chain without remaining operations has no effect.
        if state.chain != NONE {
            let last = self.poset.chains()[state.chain as usize].last();
            if last.is_none_or(|&last| state.done.contains(last)) {
                state.chain = NONE;
            }
        }
        self.scratch.clear();
        self.scratch.extend([
            state.chain,
            state.states,
            state.done.hi,
            state.done.holes.len() as u32,
        ]);
        self.scratch.extend_from_slice(&state.done.holes);
        self.scratch.extend_from_slice(&state.delayed);
        let hash = self.hasher.hash_one(self.scratch.as_slice());
        let (nodes, words) = (&self.nodes, &self.words);
        let found = self.table.find(hash, |&number| {
            key(nodes, words, number) == self.scratch.as_slice()
        });
        let number = match found {
            Some(&number) => {
                let node = &mut self.nodes[number as usize];
                if node.is_expanded || node.cost as usize <= cost {
                    return;
                }
                (node.cost, node.parent, node.op) = (cost as u32, parent, op);
                number
            }
            None => {
                let number = self.nodes.len() as u32;
                self.nodes.push(FamilyNode {
                    start: self.words.len(),
                    parent,
                    op,
                    cost: cost as u32,
                    is_expanded: false,
                });
                self.words.extend_from_slice(&self.scratch);
                let (nodes, words, hasher) = (&self.nodes, &self.words, &self.hasher);
                self.table.insert_unique(hash, number, |&number| {
                    hasher.hash_one(key(nodes, words, number))
                });
                number
            }
        };
        if self.buckets.len() <= cost {
            self.buckets.resize_with(cost + 1, Vec::new);
        }
        self.buckets[cost].push(number);
    }

    fn is_done(&self, number: u32) -> bool {
        let key = key(&self.nodes, &self.words, number);
        let holes = &key[4..][..key[3] as usize];
        self.poset.all_returned_are_in(key[2], holes)
    }

    fn read(&self, number: u32) -> NodeKey {
        let key = key(&self.nodes, &self.words, number);
        let (holes, delayed) = key[4..].split_at(key[3] as usize);
        NodeKey {
            chain: key[0],
            states: key[1],
            done: Down {
                hi: key[2],
                holes: SmallVec::from_slice(holes),
            },
            delayed: SmallVec::from_slice(delayed),
        }
    }

    /// The operations that took effect on the way to a node.
    fn order(&self, number: u32) -> Vec<u32> {
        let mut order = Vec::new();
        let mut at = number;
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.op != NONE {
                order.push(node.op);
            }
            at = node.parent;
        }
        order.reverse();
        order
    }
}

/// Returns the words of a node, which end where those of the next one begin.
fn key<'w>(nodes: &[FamilyNode], words: &'w [u32], number: u32) -> &'w [u32] {
    let start = nodes[number as usize].start;
    let end = nodes
        .get(number as usize + 1)
        .map_or(words.len(), |next| next.start);
    &words[start..end]
}
