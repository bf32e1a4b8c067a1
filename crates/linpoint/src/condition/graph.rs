//! Directed graphs whose edges say why they are there.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Why one operation comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason<T = u32> {
    /// They are of one process.
    Process,
    /// No operation was open at some moment between them.
    Quiet,
    /// They read or write the same value, and all operations on one value come together.
    SameValue,
    /// It reads what was written.
    ReadsFrom,
    /// It returned before the other was called.
    Time,
    /// It was open at a crash, so it took effect before that, and the other was called after the crash.
    Crash,
    /// It read the initial value, which the other overwrites.
    Initial,
    /// The operation came before this read, which returned what the other had written.
    Overwritten(T),
    /// It read a value that was written before the other overwrote it.
    NotYet,
    /// They stand for groups of operations, and the first of these came before the second.
    Members(T, T),
    /// It is visible to this read, which returned what the other had written.
    Seen(T),
}

/// An edge of a graph.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) reason: Reason,
}

/// A directed graph. Nodes are numbers.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    nodes: usize,
    pub(super) edges: Vec<Edge>,
}

/// No edge.
const NONE: u32 = u32::MAX;

impl Graph {
    pub(super) fn new(nodes: usize) -> Self {
        Graph {
            nodes,
            edges: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, from: u32, to: u32, reason: Reason) {
        self.edges.push(Edge { from, to, reason });
    }

    pub(super) fn edge(&self, number: u32) -> Edge {
        self.edges[number as usize]
    }

    /// Adds a node; returns its number.
    pub(super) fn add_node(&mut self) -> u32 {
        self.nodes += 1;
        (self.nodes - 1) as u32
    }

    /// The edges by the node that they start from: the first edge of each node, and the next one of each edge.
    pub(super) fn outgoing(&self) -> Outgoing<'_> {
        let mut first = vec![NONE; self.nodes];
        let mut next = vec![NONE; self.edges.len()];
        for (i, edge) in self.edges.iter().enumerate().rev() {
            next[i] = first[edge.from as usize];
            first[edge.from as usize] = i as u32;
        }
        Outgoing {
            graph: self,
            first,
            next,
        }
    }

    /// The nodes in an order in which all edges lead forward, or the edges of a cycle, by number, as short as a quick search finds.
    pub(super) fn sorted(&self) -> Result<Vec<u32>, Vec<u32>> {
        self.sorted_by(|_| 0)
    }

    /// The same; of the nodes that could come next, those in the lower ranks come first.
    pub(super) fn sorted_by(&self, rank: impl Fn(u32) -> u32) -> Result<Vec<u32>, Vec<u32>> {
        let outgoing = self.outgoing();
        let mut missing = vec![0u32; self.nodes];
        self.edges
            .iter()
            .for_each(|edge| missing[edge.to as usize] += 1);
        let free = (0..self.nodes as u32).filter(|&node| missing[node as usize] == 0);
        let mut ready: BinaryHeap<Reverse<(u32, u32)>> =
            free.map(|node| Reverse((rank(node), node))).collect();
        let mut order = Vec::with_capacity(self.nodes);
        while let Some(Reverse((_, node))) = ready.pop() {
            order.push(node);
            for edge in outgoing.of(node) {
                missing[edge.to as usize] -= 1;
                if missing[edge.to as usize] == 0 {
                    ready.push(Reverse((rank(edge.to), edge.to)));
                }
            }
        }
        match order.len() == self.nodes {
            true => Ok(order),
            false => Err(self.short_cycle(&outgoing, &missing)),
        }
    }

    /// A cycle among the nodes for which `missing` is not 0.
    fn short_cycle(&self, outgoing: &Outgoing<'_>, missing: &[u32]) -> Vec<u32> {
        /// The most nodes from which a cycle is looked for.
        const STARTS: usize = 64;
        let on_cycle = self.a_node_on_a_cycle(outgoing, missing);
        let is_in = |node: u32| missing[node as usize] > 0;
        let mut shortest = self
            .path(outgoing, on_cycle, on_cycle, is_in)
            .unwrap_or_default();
        let starts: Vec<u32> = shortest
            .iter()
            .map(|&edge| self.edge(edge).from)
            .take(STARTS)
            .collect();
        for start in starts {
            if let Some(cycle) = self.path(outgoing, start, start, is_in)
                && cycle.len() < shortest.len()
            {
                shortest = cycle;
            }
        }
        shortest
    }

    /// Follows edges among the nodes that could not be sorted backwards until a node comes twice.
    fn a_node_on_a_cycle(&self, outgoing: &Outgoing<'_>, missing: &[u32]) -> u32 {
        let mut before = vec![NONE; self.nodes];
        for node in (0..self.nodes as u32).filter(|&node| missing[node as usize] > 0) {
            for edge in outgoing.of(node) {
                before[edge.to as usize] = node;
            }
        }
        let start = missing.iter().position(|&count| count > 0);
        let mut node = start.expect("bug: a graph without a cycle cannot be sorted") as u32;
        let mut is_seen = vec![false; self.nodes];
        while !std::mem::replace(&mut is_seen[node as usize], true) {
            node = before[node as usize];
        }
        node
    }

    /// The edges of a shortest path, with one edge at least, through the nodes that `is_in` allows.
    pub(super) fn path(
        &self,
        outgoing: &Outgoing<'_>,
        from: u32,
        to: u32,
        is_in: impl Fn(u32) -> bool,
    ) -> Option<Vec<u32>> {
        self.path_by(outgoing, from, to, |edge, _| is_in(edge.to))
    }

    /// A shortest path, with one edge at least, of edges that `allows`, given their numbers.
    pub(super) fn path_by(
        &self,
        outgoing: &Outgoing<'_>,
        from: u32,
        to: u32,
        allows: impl Fn(&Edge, u32) -> bool,
    ) -> Option<Vec<u32>> {
        let mut reached_by = vec![NONE; self.nodes];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            let mut number = outgoing.first[node as usize];
            while number != NONE {
                let edge = &self.edges[number as usize];
                if allows(edge, number) && reached_by[edge.to as usize] == NONE {
                    reached_by[edge.to as usize] = number;
                    if edge.to == to {
                        return Some(self.edges_back(&reached_by, from, to));
                    }
                    queue.push_back(edge.to);
                }
                number = outgoing.next[number as usize];
            }
        }
        None
    }

    fn edges_back(&self, reached_by: &[u32], from: u32, to: u32) -> Vec<u32> {
        let mut edges = Vec::new();
        let mut node = to;
        loop {
            let edge = reached_by[node as usize];
            edges.push(edge);
            node = self.edge(edge).from;
            if node == from {
                break;
            }
        }
        edges.reverse();
        edges
    }
}

/// The edges of a graph by the node that they start from.
#[derive(Debug)]
pub(super) struct Outgoing<'g> {
    graph: &'g Graph,
    first: Vec<u32>,
    next: Vec<u32>,
}

impl<'g> Outgoing<'g> {
    pub(super) fn of(&self, node: u32) -> impl Iterator<Item = &'g Edge> + '_ {
        let mut number = self.first[node as usize];
        std::iter::from_fn(move || {
            if number == NONE {
                return None;
            }
            let edge = &self.graph.edges[number as usize];
            number = self.next[number as usize];
            Some(edge)
        })
    }
}
