//! What must come before what in every order that explains some reads, to a fixed point.
//!
//! For a read `r` of `w` and another write `x` of the key: if `x` comes before `r`, it comes before `w`; if it comes after `w`, it
//! comes after `r`. A cycle shows that there is no order. Where the reads are of one process, there is one otherwise; that is what
//! makes PRAM and causal memory polynomial (Bouajjani et al., 2017).

use super::answer::Why;
use super::causal::dependencies;
use super::graph::{Graph, Reason};
use super::memory::{Linked, Source};
use crate::engine::{Budget, Limit, Ticker};
use crate::history::OpId;

/// The most numbers in a table of clocks.
const MOST_NUMBERS: usize = 1 << 27;

/// A history with what must come before what.
#[derive(Debug)]
pub(super) struct Saturation {
    pub(super) graph: Graph,
    /// An order in which all edges lead forward.
    pub(super) order: Vec<u32>,
    /// For each operation and process, how many operations of the process come before it.
    before: Vec<u32>,
    processes: usize,
}

impl Saturation {
    /// How many operations of each process come before `op`.
    pub(super) fn needs(&self, op: u32) -> &[u32] {
        &self.before[op as usize * self.processes..][..self.processes]
    }
}

/// Saturates the order of processes and reads. `binds` are the reads whose results count; `more` are further pairs.
pub(super) fn saturate(
    linked: &Linked,
    binds: &dyn Fn(u32) -> bool,
    more: &[(u32, u32)],
    budget: &Budget,
) -> Result<Result<Saturation, Why>, Limit> {
    let processes = linked.lines.len();
    if linked.len().saturating_mul(processes) > MOST_NUMBERS {
        return Err(Limit::Capacity(
            "it has too many operations and processes for saturation",
        ));
    }
    budget.reserve_for(linked.len(), 8 * processes as u64)?;
    let mut graph = dependencies(linked);
    more.iter()
        .for_each(|&(a, b)| graph.add(a, b, Reason::Time));
    let reads: Vec<(u32, Option<u32>)> = linked.reads().filter(|&(read, _)| binds(read)).collect();
    for &(read, _) in reads.iter().filter(|(_, write)| write.is_none()) {
        for write in linked.first_writes(linked.op(read).key, |_| 0) {
            graph.add(read, write, Reason::Initial);
        }
    }
    let mut rounds = Vec::new();
    let mut ticker = Ticker::new(budget);
    loop {
        budget.check()?;
        rounds.push(graph.edges.len());
        let order = match graph.sorted_by(|node| linked.op(node).call) {
            Ok(order) => order,
            Err(cycle) => return Ok(Err(why(linked, &graph, &rounds, &cycle))),
        };
        let (before, after) = clocks(linked, &graph, &order);
        let clocks = Clocks {
            linked,
            before: &before,
            after: &after,
        };
        let mut new = Vec::new();
        for &(read, write) in &reads {
            ticker.tick()?;
            if let Some(write) = write {
                clocks.follow(read, write, &mut new);
            }
        }
        if new.is_empty() {
            return Ok(Ok(Saturation {
                graph,
                order,
                before,
                processes,
            }));
        }
        new.iter()
            .for_each(|&(from, to, reason)| graph.add(from, to, reason));
    }
}

/// For each operation and process: how many operations come before it, and the place of the first one that comes after it.
fn clocks(linked: &Linked, graph: &Graph, order: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let processes = linked.lines.len();
    let outgoing = graph.outgoing();
    let row = |op: u32| op as usize * processes;
    let mut before = vec![0u32; linked.len() * processes];
    for &op in order {
        for edge in outgoing.of(op) {
            let (from, to) = (row(op), row(edge.to));
            for i in 0..processes {
                before[to + i] = before[to + i].max(before[from + i]);
            }
            let own = &mut before[to + linked.line_of(op)];
            *own = (*own).max(linked.place_of(op) + 1);
        }
    }
    let mut after = vec![u32::MAX; linked.len() * processes];
    for &op in order.iter().rev() {
        for edge in outgoing.of(op) {
            let (from, to) = (row(op), row(edge.to));
            for i in 0..processes {
                after[from + i] = after[from + i].min(after[to + i]);
            }
            let own = &mut after[from + linked.line_of(edge.to)];
            *own = (*own).min(linked.place_of(edge.to));
        }
    }
    (before, after)
}

struct Clocks<'a> {
    linked: &'a Linked,
    before: &'a [u32],
    after: &'a [u32],
}

impl Clocks<'_> {
    fn is_before(&self, a: u32, b: u32) -> bool {
        let row = b as usize * self.linked.lines.len();
        self.before[row + self.linked.line_of(a)] > self.linked.place_of(a)
    }

    /// Adds what follows from a read and the write that it returns.
    fn follow(&self, read: u32, write: u32, new: &mut Vec<(u32, u32, Reason)>) {
        let processes = self.linked.lines.len();
        let key = self.linked.op(read).key;
        let before = &self.before[read as usize * processes..];
        for x in self.linked.last_writes(key, |line| before[line]) {
            if x != write && !self.is_before(x, write) {
                new.push((x, write, Reason::Overwritten(read)));
            }
        }
        let after = &self.after[write as usize * processes..];
        for x in self.linked.first_writes(key, |line| after[line]) {
            if x != write && !self.is_before(read, x) {
                new.push((read, x, Reason::NotYet));
            }
        }
    }
}

/// The cycle, with all operations from which its edges follow. `rounds` are the numbers of edges at the start of each round.
fn why(linked: &Linked, graph: &Graph, rounds: &[usize], cycle: &[u32]) -> Why {
    /// The most edges that are traced back to others; a cycle that needs more has all operations as its core at first.
    const MOST_TRACED: usize = 4_000;
    let outgoing = graph.outgoing();
    let mut because: Vec<u32> = Vec::new();
    let mut is_traced = vec![false; graph.edges.len()];
    let mut open: Vec<u32> = cycle.to_vec();
    let mut traced = 0;
    while let Some(number) = open.pop() {
        if std::mem::replace(&mut is_traced[number as usize], true) {
            continue;
        }
        traced += 1;
        if traced > MOST_TRACED {
            because = (0..linked.len() as u32).collect();
            break;
        }
        let edge = graph.edge(number);
        because.extend([edge.from, edge.to]);
        // It follows from the edges that were there when its round began.
        let begun = rounds.partition_point(|&start| start <= number as usize);
        let known = begun.checked_sub(1).map_or(0, |round| rounds[round]);
        let (from, to) = match edge.reason {
            Reason::Overwritten(read) => (edge.from, read),
            Reason::NotYet => match linked.source[edge.from as usize] {
                Source::Write(write) => (write, edge.to),
                _ => continue,
            },
            _ => continue,
        };
        because.extend([from, to]);
        let found = graph.path_by(&outgoing, from, to, |_, number| (number as usize) < known);
        open.extend(found.unwrap_or_default());
    }
    let because: Vec<OpId> = linked.ids(&because);
    Why::Circle {
        links: linked.links(graph, cycle),
        because,
    }
}

/// An order of all operations in which each of `reads`, which are of one process in its order, comes as early as it can.
pub(super) fn reads_early(saturation: &Saturation, reads: &[u32]) -> Vec<u32> {
    let nodes = saturation.order.len();
    let mut incoming: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    saturation
        .graph
        .edges
        .iter()
        .for_each(|edge| incoming[edge.to as usize].push(edge.from));
    let mut is_placed = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    let starts = reads.iter().chain(&saturation.order);
    for &start in starts {
        let mut stack = vec![(start, false)];
        while let Some((node, is_ready)) = stack.pop() {
            if is_placed[node as usize] {
                continue;
            }
            if is_ready {
                is_placed[node as usize] = true;
                order.push(node);
                continue;
            }
            stack.push((node, true));
            let before = incoming[node as usize].iter();
            stack.extend(
                before
                    .filter(|&&node| !is_placed[node as usize])
                    .map(|&node| (node, false)),
            );
        }
    }
    order
}
