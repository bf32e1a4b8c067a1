//! Graphs of dependencies between transactions: which cycles they have, and orders without one.
//!
//! A node is a transaction or a *junction*: many edges into many others go through one, so that graphs stay linear. A path from a
//! transaction through junctions to the next transaction stands for one edge, of the kind of its first part.

use std::collections::VecDeque;
use std::ops::Range;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::table::Table;

/// Why one transaction comes before another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// The first wrote a version of a key, and the second a later one.
    Ww,
    /// The second read what the first wrote.
    Wr,
    /// The first read a version of a key, and the second wrote a later one.
    Rw,
    /// Both are of one session, in this order.
    Session,
    /// The first returned before the second was called.
    Time,
    /// Both wrote a key, and a transaction that saw the first in the sense of the level read the key from the second.
    Observed,
    /// A further part of a path through junctions.
    Through,
}

const KINDS: usize = 7;

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    kind: Kind,
}

impl Default for Edge {
    fn default() -> Self {
        Edge {
            to: 0,
            kind: Kind::Through,
        }
    }
}

/// Edges on the way to a [`Graph`].
#[derive(Clone, Debug)]
pub(super) struct GraphBuilder {
    /// Nodes from this number on are junctions.
    transactions: u32,
    nodes: u32,
    edges: Vec<(u32, u32, Kind)>,
}

impl GraphBuilder {
    pub(super) fn new(transactions: usize) -> Self {
        GraphBuilder {
            transactions: transactions as u32,
            nodes: transactions as u32,
            edges: Vec::new(),
        }
    }

    /// The number of nodes that are transactions.
    pub(super) fn transaction_count(&self) -> usize {
        self.transactions as usize
    }

    pub(super) fn edge(&mut self, from: u32, to: u32, kind: Kind) {
        self.edges.push((from, to, kind));
    }

    pub(super) fn junction(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    /// Junctions, each of which leads to the transaction at its place and to all after it.
    pub(super) fn suffixes(&mut self, txns: &[u32]) -> Vec<u32> {
        let junctions: Vec<u32> = txns.iter().map(|_| self.junction()).collect();
        for (&junction, &txn) in junctions.iter().zip(txns) {
            self.edge(junction, txn, Kind::Through);
        }
        for pair in junctions.windows(2) {
            self.edge(pair[0], pair[1], Kind::Through);
        }
        junctions
    }

    /// Edges of a kind from each of some transactions to each of others but itself.
    pub(super) fn all_to_all(&mut self, from: &[u32], to: &[u32], kind: Kind) {
        if from.len() * to.len() <= 2 * (from.len() + to.len()) {
            for &a in from {
                for &b in to.iter().filter(|b| **b != a) {
                    self.edge(a, b, kind);
                }
            }
            return;
        }
        // Junctions that lead to the first ones, and others that lead to the last ones.
        let mut beginnings = Vec::with_capacity(to.len() + 1);
        let mut endings = Vec::with_capacity(to.len() + 1);
        for i in 0..to.len() {
            let (beginning, ending) = (self.junction(), self.junction());
            self.edge(beginning, to[i], Kind::Through);
            self.edge(ending, to[to.len() - 1 - i], Kind::Through);
            if let (Some(&shorter), Some(&later)) = (beginnings.last(), endings.last()) {
                self.edge(beginning, shorter, Kind::Through);
                self.edge(ending, later, Kind::Through);
            }
            beginnings.push(beginning);
            endings.push(ending);
        }
        let positions: HashMap<u32, usize, FixedState> =
            to.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        for &a in from {
            match positions.get(&a).copied() {
                None => self.edge(a, beginnings[to.len() - 1], kind),
                Some(own) => {
                    if own > 0 {
                        self.edge(a, beginnings[own - 1], kind);
                    }
                    if own + 1 < to.len() {
                        self.edge(a, endings[to.len() - 2 - own], kind);
                    }
                }
            }
        }
    }

    pub(super) fn build(self) -> Graph {
        let edges = self
            .edges
            .iter()
            .map(|&(from, to, kind)| (from, Edge { to, kind }));
        Graph {
            transactions: self.transactions,
            edges: Table::of(self.nodes as usize, edges),
        }
    }
}

/// A graph of dependencies.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    transactions: u32,
    edges: Table<Edge>,
}

/// Which sequences of edges count as paths: two states, and where an edge of each kind leads from them; `None` where it does not
/// count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paths {
    next: [[Option<u8>; KINDS]; 2],
    has_two_states: bool,
    /// Whether a path in the state [`FREE`] may also go on as from [`BOUND`].
    is_relaxed: bool,
}

/// The state of all paths that begin.
const BOUND: u8 = 0;
/// The state in which an edge `rw` may follow, where that is restricted.
const FREE: u8 = 1;

impl Paths {
    /// Paths of edges of these kinds.
    pub(super) fn of(kinds: &[Kind]) -> Self {
        let mut next = [[None; KINDS]; 2];
        for kind in kinds.iter().chain([&Kind::Through]) {
            next[0][*kind as usize] = Some(BOUND);
        }
        Paths {
            next,
            has_two_states: false,
            is_relaxed: false,
        }
    }

    /// Paths of one edge `rw`, and then edges of these kinds. They begin in the state [`FREE`].
    fn of_one_rw(kinds: &[Kind]) -> Self {
        let mut paths = Paths::of(kinds);
        paths.has_two_states = true;
        paths.next[usize::from(FREE)][Kind::Rw as usize] = Some(BOUND);
        paths
    }

    /// Paths of edges of these kinds, and of `rw` directly after one of the kinds `before`.
    pub(super) fn with_rw_after(kinds: &[Kind], before: &[Kind]) -> Self {
        let mut paths = Paths::of(kinds);
        paths.has_two_states = true;
        paths.is_relaxed = true;
        for kind in before {
            paths.next[0][*kind as usize] = Some(FREE);
        }
        paths.next[1] = paths.next[0];
        paths.next[1][Kind::Rw as usize] = Some(BOUND);
        paths.next[1][Kind::Through as usize] = Some(FREE);
        paths
    }

    fn states(&self) -> usize {
        1 + usize::from(self.has_two_states)
    }
}

/// An edge between transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dependency {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) kind: Kind,
}

/// What paths make of a graph.
pub(super) enum Shape {
    /// There is no cycle; here are the transactions in an order in which every path goes on.
    Order(Vec<u32>),
    /// The strongly connected parts with a cycle: nodes and their states.
    Cycles(Vec<Vec<u32>>),
}

impl Graph {
    fn nodes(&self) -> usize {
        self.edges.rows()
    }

    /// The number of nodes that are transactions.
    pub(super) fn transaction_count(&self) -> usize {
        self.transactions as usize
    }

    /// The nodes that edges of these kinds lead to from a node.
    pub(super) fn next_of<'a>(
        &'a self,
        node: u32,
        kinds: &'a [Kind],
    ) -> impl Iterator<Item = u32> + 'a {
        let edges = self.edges.row(node as usize).iter();
        let edges = edges.filter(|edge| kinds.contains(&edge.kind));
        edges.map(|edge| edge.to)
    }

    /// The steps of paths that go on from a node in a state: the next node in its state, and the edge's kind.
    fn steps(&self, paths: &Paths, at: u32) -> impl Iterator<Item = (u32, Option<Kind>)> {
        let states = paths.states() as u32;
        let (node, state) = (at / states, (at % states) as u8);
        let next = paths.next[usize::from(state)];
        let edges = self.edges.row(node as usize).iter();
        let steps = edges.filter_map(move |edge| {
            let state = next[edge.kind as usize]?;
            Some((edge.to * states + u32::from(state), Some(edge.kind)))
        });
        // What may follow a bound path may follow a free one.
        let bound = (paths.is_relaxed && state == FREE).then_some((node * states, None));
        bound.into_iter().chain(steps)
    }

    /// Whether there are cycles along these paths (Tarjan's algorithm).
    pub(super) fn shape(&self, paths: &Paths) -> Shape {
        let total = self.nodes() * paths.states();
        let mut search = Components::new(total);
        for root in 0..total as u32 {
            if search.index[root as usize] == UNSEEN {
                search.visit(root, |at| self.steps(paths, at).map(|(to, _)| to));
            }
        }
        if !search.cycles.is_empty() {
            return Shape::Cycles(search.cycles);
        }
        let states = paths.states() as u32;
        let transactions = self.transactions;
        let is_place = |at: &u32| at % states == u32::from(BOUND) && at / states < transactions;
        let places = search.finished.iter().rev().copied().filter(is_place);
        Shape::Order(places.map(|at| at / states).collect())
    }

    /// A short cycle within a strongly connected part, and whether none along these paths is shorter. At most `starts` nodes are
    /// tried as its beginning.
    pub(super) fn short_cycle(
        &self,
        paths: &Paths,
        part: &[u32],
        starts: usize,
    ) -> (Vec<Dependency>, bool) {
        let mut inside = vec![false; self.nodes() * paths.states()];
        for &at in part {
            inside[at as usize] = true;
        }
        let states = paths.states() as u32;
        let transactions = self.transactions;
        let begins = part.iter().filter(|at| *at / states < transactions);
        let mut best: Option<Vec<Dependency>> = None;
        let mut walk = Walk::new(self, paths, &inside);
        for &start in begins.clone().take(starts) {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            best = walk.search(start, |at| at == start, 2..limit).or(best);
            if best.as_ref().is_some_and(|best| best.len() == 2) {
                break;
            }
        }
        let best = best.unwrap_or_default();
        let is_shortest = best.len() == 2 || begins.count() <= starts;
        (best, is_shortest)
    }

    /// A shortest path along these paths from one transaction to another one, of at least one edge and fewer than `limit`.
    pub(super) fn path(
        &self,
        paths: &Paths,
        from: u32,
        to: u32,
        limit: usize,
    ) -> Option<Vec<Dependency>> {
        let states = paths.states() as u32;
        let inside = vec![true; self.nodes() * paths.states()];
        let mut walk = Walk::new(self, paths, &inside);
        walk.search(from * states, |at| at / states == to, 1..limit)
    }

    /// A short cycle with one edge `rw`, all others of these kinds, and whether none is shorter. At most `starts` of these transactions
    /// are tried as its beginning.
    pub(super) fn cycle_of_one_rw(
        &self,
        kinds: &[Kind],
        among: &[u32],
        starts: usize,
    ) -> Option<(Vec<Dependency>, bool)> {
        let paths = Paths::of_one_rw(kinds);
        let states = paths.states() as u32;
        let inside = vec![true; self.nodes() * paths.states()];
        let mut walk = Walk::new(self, &paths, &inside);
        let mut best: Option<Vec<Dependency>> = None;
        for &txn in among.iter().take(starts) {
            let limit = best.as_ref().map_or(usize::MAX, Vec::len);
            let (start, end) = (txn * states + u32::from(FREE), txn * states);
            best = walk.search(start, |at| at == end, 2..limit).or(best);
            if best.as_ref().is_some_and(|best| best.len() == 2) {
                break;
            }
        }
        best.map(|best| {
            let is_shortest = best.len() == 2 || among.len() <= starts;
            (best, is_shortest)
        })
    }

    /// The transactions among the nodes of a part.
    pub(super) fn transactions_of(&self, paths: &Paths, part: &[u32]) -> Vec<u32> {
        let nodes = part.iter().map(|at| at / paths.states() as u32);
        let mut txns: Vec<u32> = nodes.filter(|node| *node < self.transactions).collect();
        txns.sort_unstable();
        txns.dedup();
        txns
    }

    /// The graph with only the edges between nodes of these parts.
    pub(super) fn within(&self, paths: &Paths, parts: &[Vec<u32>]) -> Graph {
        let mut inside = vec![false; self.nodes()];
        for at in parts.iter().flatten() {
            inside[*at as usize / paths.states()] = true;
        }
        let mut edges = Table::default();
        for node in 0..self.nodes() {
            if inside[node] {
                let kept = self.edges.row(node).iter();
                for edge in kept.filter(|edge| inside[edge.to as usize]) {
                    edges.push(*edge);
                }
            }
            edges.end_row();
        }
        Graph {
            transactions: self.transactions,
            edges,
        }
    }
}

const UNSEEN: u32 = u32::MAX;

/// Tarjan's algorithm, without recursion.
struct Components {
    index: Vec<u32>,
    low: Vec<u32>,
    on_stack: Vec<bool>,
    stack: Vec<u32>,
    next: u32,
    /// All nodes, each after those that it leads to.
    finished: Vec<u32>,
    /// The parts with more than one node.
    cycles: Vec<Vec<u32>>,
}

impl Components {
    fn new(nodes: usize) -> Self {
        Components {
            index: vec![UNSEEN; nodes],
            low: vec![0; nodes],
            on_stack: vec![false; nodes],
            stack: Vec::new(),
            next: 0,
            finished: Vec::with_capacity(nodes),
            cycles: Vec::new(),
        }
    }

    fn enter(&mut self, node: u32) {
        self.index[node as usize] = self.next;
        self.low[node as usize] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node as usize] = true;
    }

    fn visit<I: Iterator<Item = u32>>(&mut self, root: u32, steps: impl Fn(u32) -> I) {
        self.enter(root);
        let mut path = vec![(root, steps(root))];
        while let Some((node, rest)) = path.last_mut() {
            let node = *node as usize;
            match rest.next() {
                Some(to) if self.index[to as usize] == UNSEEN => {
                    self.enter(to);
                    path.push((to, steps(to)));
                }
                Some(to) => {
                    if self.on_stack[to as usize] {
                        self.low[node] = self.low[node].min(self.index[to as usize]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        let parent = *parent as usize;
                        self.low[parent] = self.low[parent].min(self.low[node]);
                    }
                    if self.low[node] == self.index[node] {
                        self.close(node as u32);
                    }
                }
            }
        }
    }

    /// Takes the part of this node off the stack.
    fn close(&mut self, node: u32) {
        let start = self.stack.iter().rposition(|&other| other == node);
        let part = self.stack.split_off(start.unwrap_or(0));
        for &member in &part {
            self.on_stack[member as usize] = false;
            self.finished.push(member);
        }
        if part.len() > 1 {
            self.cycles.push(part);
        }
    }
}

/// How a search came to a node.
#[derive(Clone, Copy)]
struct Arrival {
    /// The number of the search.
    search: u32,
    length: u32,
    before: u32,
    kind: Option<Kind>,
}

/// Breadth-first search by the number of transactions on the way.
struct Walk<'a> {
    graph: &'a Graph,
    paths: &'a Paths,
    /// The nodes, with their states, that may be on the way.
    inside: &'a [bool],
    arrivals: Vec<Arrival>,
    searches: u32,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph, paths: &'a Paths, inside: &'a [bool]) -> Self {
        let none = Arrival {
            search: 0,
            length: 0,
            before: 0,
            kind: None,
        };
        Walk {
            graph,
            paths,
            inside,
            arrivals: vec![none; inside.len()],
            searches: 0,
        }
    }

    fn node(&self, at: u32) -> u32 {
        at / self.paths.states() as u32
    }

    /// A shortest way from `start` to where `is_end` holds, with a number of edges in this range.
    fn search(
        &mut self,
        start: u32,
        is_end: impl Fn(u32) -> bool,
        lengths: Range<usize>,
    ) -> Option<Vec<Dependency>> {
        self.searches += 1;
        let limit = u32::try_from(lengths.end).unwrap_or(u32::MAX);
        let mut best: Option<(u32, Arrival)> = None;
        let mut queue = VecDeque::from([(start, 0u32)]);
        while let Some((at, length)) = queue.pop_front() {
            let shortest = best.map_or(limit, |(_, arrival)| arrival.length);
            if length >= shortest {
                break;
            }
            for (to, kind) in self.graph.steps(self.paths, at) {
                // A step into another state of the same node, or on through junctions, is free.
                let is_free = matches!(kind, None | Some(Kind::Through));
                let arrival = Arrival {
                    search: self.searches,
                    length: length + u32::from(!is_free),
                    before: at,
                    kind,
                };
                let shortest = best.map_or(limit, |(_, arrival)| arrival.length);
                if !self.inside[to as usize] || arrival.length >= shortest {
                    continue;
                }
                if is_end(to) {
                    // Through junctions, a transaction may lead to itself: that is no edge.
                    if arrival.length as usize >= lengths.start {
                        best = Some((to, arrival));
                    }
                    continue;
                }
                let known = &mut self.arrivals[to as usize];
                if known.search == arrival.search && known.length <= arrival.length {
                    continue;
                }
                *known = arrival;
                match is_free {
                    true => queue.push_front((to, arrival.length)),
                    false => queue.push_back((to, arrival.length)),
                }
            }
        }
        best.map(|(end, arrival)| self.trace(start, end, arrival))
    }

    /// The dependencies on the way from `start` to `end`.
    fn trace(&self, start: u32, end: u32, last: Arrival) -> Vec<Dependency> {
        let (mut to, mut arrival) = (self.node(end), last);
        let mut found = Vec::new();
        loop {
            let at = arrival.before;
            let node = self.node(at);
            if let Some(kind) = arrival.kind.filter(|kind| *kind != Kind::Through) {
                found.push(Dependency {
                    from: node,
                    to,
                    kind,
                });
            }
            if node < self.graph.transactions {
                to = node;
            }
            if at == start {
                break;
            }
            arrival = self.arrivals[at as usize];
        }
        found.reverse();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(transactions: usize, edges: &[(u32, u32, Kind)]) -> Graph {
        let mut builder = GraphBuilder::new(transactions);
        for &(from, to, kind) in edges {
            builder.edge(from, to, kind);
        }
        builder.build()
    }

    #[test]
    fn an_order_follows_all_edges() {
        let graph = graph(4, &[(3, 1, Kind::Wr), (1, 0, Kind::Ww), (0, 2, Kind::Rw)]);
        let paths = Paths::of(&[Kind::Wr, Kind::Ww, Kind::Rw]);
        let Shape::Order(order) = graph.shape(&paths) else {
            panic!()
        };
        assert_eq!(order, [3, 1, 0, 2]);
    }

    #[test]
    fn adjacent_rw_edges_are_no_path_of_snapshot_isolation() {
        let paths = Paths::with_rw_after(&[Kind::Ww, Kind::Wr], &[Kind::Ww, Kind::Wr]);
        let skew = graph(2, &[(0, 1, Kind::Rw), (1, 0, Kind::Rw)]);
        assert!(matches!(skew.shape(&paths), Shape::Order(_)));
        let single = graph(2, &[(0, 1, Kind::Rw), (1, 0, Kind::Wr)]);
        let Shape::Cycles(parts) = single.shape(&paths) else {
            panic!()
        };
        let (cycle, is_shortest) = single.short_cycle(&paths, &parts[0], 10);
        assert!(is_shortest);
        assert_eq!(cycle.len(), 2);
    }

    #[test]
    fn junctions_lead_from_all_to_all_but_themselves() {
        let (from, to) = ([0, 1, 2, 3, 4, 9], [2, 3, 4, 5, 6, 7]);
        let mut builder = GraphBuilder::new(10);
        builder.all_to_all(&from, &to, Kind::Rw);
        assert!(builder.nodes > 10);
        let graph = builder.build();
        let paths = Paths::of(&[Kind::Rw]);
        for a in 0..10 {
            for b in (0..10).filter(|b| *b != a) {
                let is_edge = graph.path(&paths, a, b, 2).is_some();
                assert_eq!(is_edge, from.contains(&a) && to.contains(&b), "{a} {b}");
            }
            assert_eq!(graph.path(&paths, a, a, 2), None, "{a}");
        }
    }

    #[test]
    fn a_path_through_junctions_is_one_edge() {
        let mut builder = GraphBuilder::new(3);
        let junction = builder.junction();
        builder.edge(0, junction, Kind::Time);
        builder.edge(junction, 1, Kind::Through);
        builder.edge(1, 0, Kind::Rw);
        let graph = builder.build();
        let paths = Paths::of(&[Kind::Time, Kind::Rw]);
        let Shape::Cycles(parts) = graph.shape(&paths) else {
            panic!()
        };
        let (mut cycle, _) = graph.short_cycle(&paths, &parts[0], 10);
        cycle.sort_by_key(|edge| edge.from);
        let kinds: Vec<_> = cycle
            .iter()
            .map(|edge| (edge.from, edge.to, edge.kind))
            .collect();
        assert_eq!(kinds, [(0, 1, Kind::Time), (1, 0, Kind::Rw)]);
    }
}
