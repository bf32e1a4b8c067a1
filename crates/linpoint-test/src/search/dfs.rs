//! Depth-first search: every schedule, or every one with few preemptions.
//!
//! With a memory of states, a state that was reached before with as many preemptions to spare is not explored again
//! (happens-before caching, as in CHESS): two executions whose threads have the same causal past are in the same state.

use crate::Map;
use crate::runtime::causality::Past;
use crate::runtime::execution::{Threads, Trace};
use crate::runtime::search::{Decision, Point, Search};

#[derive(Debug)]
struct Node {
    /// How many choices came before it.
    choices: usize,
    /// Choices left, one bit each.
    left: u16,
    chosen: u8,
    /// The choices that were offered. Invariant: each execution that reaches the node offers the same.
    offered: Offer,
    /// Preemptions before this choice.
    spent: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offer {
    Threads(Point),
    Ways(usize),
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Dfs {
    bound: Option<u32>,
    /// Threads change between operations only.
    is_serial: bool,
    /// Whether the bound kept the search from some schedule.
    bounded: bool,
    nodes: Vec<Node>,
    depth: usize,
    seen: Option<Map<(Past, u8), u32>>,
    /// The rest of this execution was explored before.
    pruned: bool,
}

impl Dfs {
    /// All schedules with at most this many preemptions.
    pub(crate) fn new(bound: Option<u32>) -> Self {
        Dfs {
            bound,
            is_serial: false,
            bounded: false,
            nodes: Vec::new(),
            depth: 0,
            seen: None,
            pruned: false,
        }
    }

    /// All serial schedules.
    pub(crate) fn serial() -> Self {
        Dfs {
            is_serial: true,
            ..Dfs::new(None)
        }
    }

    /// The same, with a memory of states.
    pub(crate) fn remembering(mut self) -> Self {
        self.seen = Some(Map::default());
        self
    }

    /// The next choice at a node of an earlier execution; `None` if something else is offered now.
    fn at_node(&mut self, offered: Offer) -> Option<usize> {
        let node = &self.nodes[self.depth];
        self.depth += 1;
        (node.offered == offered).then_some(usize::from(node.chosen))
    }

    fn new_node(&mut self, trace: &Trace, offered: Offer, spent: u32, options: u16, chosen: usize) {
        self.nodes.push(Node {
            choices: trace.schedule().len(),
            left: options & !(1 << chosen),
            chosen: chosen as u8,
            offered,
            spent,
        });
        self.depth += 1;
    }

    /// The decision of the last node.
    fn decision(&self) -> Option<Decision> {
        let node = self.nodes.last()?;
        let is_exhausted = self.bound.is_some_and(|bound| self.spent() >= bound);
        Some(Decision {
            thread: usize::from(node.chosen),
            may_change: node.left != 0,
            // With the bound used up, the search is asked only to set `bounded`, or to remember each state.
            settled: self.seen.is_none() && (self.is_serial || self.bounded && is_exhausted),
        })
    }

    /// Preemptions so far.
    fn spent(&self) -> u32 {
        let Some(node) = self.nodes.get(self.depth.wrapping_sub(1)) else {
            return 0;
        };
        let preempts = matches!(node.offered, Offer::Threads(point)
            if point.costs && node.chosen != point.current);
        node.spent + u32::from(preempts)
    }
}

impl Search for Dfs {
    fn choose(&mut self, trace: &Trace, threads: &Threads, point: Point) -> Option<Decision> {
        if self.pruned {
            return Some(Decision::now(point.default_choice()));
        }
        if self.depth < self.nodes.len() {
            self.at_node(Offer::Threads(point))?;
            return self.decision();
        }
        let spent = self.spent();
        if let Some(seen) = &mut self.seen {
            let running = if point.costs { point.current } else { u8::MAX };
            let least = seen
                .entry((threads.state(trace.layout().threads.len()), running))
                .or_insert(u32::MAX);
            if *least <= spent {
                self.pruned = true;
                return Some(Decision::now(point.default_choice()));
            }
            *least = spent;
        }
        let exhausted = point.costs && self.bound.is_some_and(|bound| spent >= bound);
        self.bounded |= exhausted && point.enabled != 1 << point.current;
        let options = match exhausted {
            true => 1 << point.current,
            false => point.enabled,
        };
        let chosen = point.default_choice();
        self.new_node(trace, Offer::Threads(point), spent, options, chosen);
        self.decision()
    }

    fn pick(&mut self, trace: &Trace, ways: usize) -> Option<usize> {
        if self.pruned {
            return Some(0);
        }
        if self.depth < self.nodes.len() {
            return self.at_node(Offer::Ways(ways));
        }
        let spent = self.spent();
        self.new_node(trace, Offer::Ways(ways), spent, (1 << ways) - 1, 0);
        Some(0)
    }

    fn closed(&mut self, _: &Trace) {}

    fn advance(&mut self, _: &Trace) -> Option<usize> {
        self.pruned = false;
        while let Some(node) = self.nodes.last_mut() {
            if node.left != 0 {
                node.chosen = node.left.trailing_zeros() as u8;
                node.left &= node.left - 1;
                self.depth = self.nodes.len() - 1;
                return Some(self.nodes[self.depth].choices);
            }
            self.nodes.pop();
        }
        None
    }

    fn pruned(&self) -> bool {
        self.pruned
    }

    fn bounded(&self) -> bool {
        self.bounded
    }
}
