//! Weak causal consistency and causal convergence, by clocks. The bad patterns are those of Bouajjani et al. (2017).

use std::sync::Arc;

use super::answer::{Answer, Decided, Link, Why, Witness};
use super::graph::{Graph, Reason};
use super::memory::{Linked, Source};
use crate::engine::{Budget, Limit, Ticker};

/// What each operation depends on: of each process, how many operations.
#[derive(Debug)]
pub(super) struct Pasts<'l> {
    linked: &'l Linked,
    /// What it knows of other processes. Operations that learnt nothing new share it with the one before.
    known: Vec<Arc<[u32]>>,
}

impl<'l> Pasts<'l> {
    /// The pasts of all operations; none if operations depend on each other.
    pub(super) fn of(linked: &'l Linked, budget: &Budget) -> Result<Option<Self>, Limit> {
        let processes = linked.lines.len();
        let nothing: Arc<[u32]> = vec![0; processes].into();
        budget.reserve_for(linked.len(), 4 * processes as u64)?;
        let mut ticker = Ticker::new(budget);
        let mut known: Vec<Arc<[u32]>> = vec![Arc::clone(&nothing); linked.len()];
        let mut next = vec![0usize; processes];
        let mut is_done = vec![false; linked.len()];
        // The processes that wait for a write.
        let mut waiting: std::collections::HashMap<u32, Vec<usize>> =
            std::collections::HashMap::new();
        let mut ready: Vec<usize> = (0..processes).collect();
        let mut done = 0;
        while let Some(line) = ready.pop() {
            while let Some(&op) = linked.lines[line].get(next[line]) {
                ticker.tick()?;
                let before = match next[line].checked_sub(1) {
                    None => Arc::clone(&nothing),
                    Some(last) => Arc::clone(&known[linked.lines[line][last] as usize]),
                };
                known[op as usize] = match linked.source[op as usize] {
                    Source::Write(write) if !is_done[write as usize] => {
                        waiting.entry(write).or_default().push(line);
                        break;
                    }
                    Source::Write(write) => joined(linked, before, write, &known[write as usize]),
                    Source::Itself | Source::Initial => before,
                };
                is_done[op as usize] = true;
                done += 1;
                next[line] += 1;
                ready.extend(waiting.remove(&op).unwrap_or_default());
            }
        }
        Ok((done == linked.len()).then_some(Pasts { linked, known }))
    }

    /// How many operations of a process come before `op`, as it depends on them.
    pub(super) fn count(&self, op: u32, line: usize) -> u32 {
        let known = self.known[op as usize][line];
        match self.linked.line_of(op) == line {
            true => known.max(self.linked.place_of(op)),
            false => known,
        }
    }

    /// Whether `op` depends on `earlier`.
    pub(super) fn is_before(&self, earlier: u32, op: u32) -> bool {
        self.count(op, self.linked.line_of(earlier)) > self.linked.place_of(earlier)
    }
}

/// What is known after a read of `write`, which knows `of_write`.
fn joined(linked: &Linked, before: Arc<[u32]>, write: u32, of_write: &[u32]) -> Arc<[u32]> {
    let (line, count) = (linked.line_of(write), linked.place_of(write) + 1);
    let is_new = before[line] < count || before.iter().zip(of_write).any(|(a, b)| a < b);
    if !is_new {
        return before;
    }
    let mut all: Vec<u32> = before
        .iter()
        .zip(of_write)
        .map(|(&a, &b)| a.max(b))
        .collect();
    all[line] = all[line].max(count);
    all.into()
}

/// The order of processes and what reads read, as a graph.
pub(super) fn dependencies(linked: &Linked) -> Graph {
    let mut graph = Graph::new(linked.len());
    for line in &linked.lines {
        line.windows(2)
            .for_each(|pair| graph.add(pair[0], pair[1], Reason::Process));
    }
    for (read, write) in linked.reads() {
        if let Some(write) = write {
            graph.add(write, read, Reason::ReadsFrom);
        }
    }
    graph
}

/// Which of the two conditions is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Causal {
    Weak,
    Convergence,
}

pub(super) fn decide(linked: &Linked, which: Causal, budget: &Budget) -> Decided {
    let mut graph = dependencies(linked);
    let Some(pasts) = Pasts::of(linked, budget)? else {
        return Ok(Answer::Fails(circle_of_dependencies(linked, &graph)));
    };
    let mut ticker = Ticker::new(budget);
    let mut overwritten = Vec::new();
    for (read, write) in linked.reads() {
        ticker.tick()?;
        let key = linked.op(read).key;
        for seen in linked.last_writes(key, |line| pasts.count(read, line)) {
            match write {
                Some(write) if write == seen => {}
                Some(write) if pasts.is_before(write, seen) => {
                    return Ok(Answer::Fails(overwritten_before(
                        linked, &graph, read, write, seen,
                    )));
                }
                Some(write) => overwritten.push((seen, write, read)),
                None => return Ok(Answer::Fails(missed(linked, &graph, read, seen))),
            }
        }
    }
    if which == Causal::Convergence {
        budget.reserve_for(overwritten.len(), 24)?;
        for &(seen, write, read) in &overwritten {
            graph.add(seen, write, Reason::Overwritten(read));
        }
    }
    Ok(match graph.sorted() {
        Ok(order) => Answer::Holds(Witness::Dependencies(linked.ids(&order))),
        Err(cycle) => Answer::Fails(why_conflict(linked, &graph, &cycle)),
    })
}

pub(super) fn circle_of_dependencies(linked: &Linked, graph: &Graph) -> Why {
    let cycle = graph.sorted().err().unwrap_or_default();
    Why::Circle {
        links: linked.links(graph, &cycle),
        because: Vec::new(),
    }
}

/// The operations on a shortest path, and the links between them.
fn path(linked: &Linked, graph: &Graph, from: u32, to: u32) -> Vec<Link> {
    let is_dependency = |number: u32| {
        matches!(
            graph.edge(number).reason,
            Reason::Process | Reason::ReadsFrom
        )
    };
    let found = graph.path_by(&graph.outgoing(), from, to, |_, number| {
        is_dependency(number)
    });
    linked.links(graph, &found.unwrap_or_default())
}

/// The operations on a shortest path of dependencies.
pub(super) fn between(
    linked: &Linked,
    graph: &Graph,
    from: u32,
    to: u32,
) -> Vec<crate::history::OpId> {
    path(linked, graph, from, to)
        .iter()
        .flat_map(|link| [link.from, link.to])
        .collect()
}

/// The read did not see a write that it depends on.
pub(super) fn missed(linked: &Linked, graph: &Graph, read: u32, seen: u32) -> Why {
    let mut links = path(linked, graph, seen, read);
    links.push(Link {
        from: linked.id(read),
        to: linked.id(seen),
        reason: Reason::Initial,
    });
    Why::Circle {
        links,
        because: Vec::new(),
    }
}

/// The read depends on `seen`, which overwrote what it returned.
fn overwritten_before(linked: &Linked, graph: &Graph, read: u32, write: u32, seen: u32) -> Why {
    let mut links = path(linked, graph, write, seen);
    let because = between(linked, graph, seen, read);
    let reason = Reason::Overwritten(linked.id(read));
    links.push(Link {
        from: linked.id(seen),
        to: linked.id(write),
        reason,
    });
    Why::Circle { links, because }
}

fn why_conflict(linked: &Linked, graph: &Graph, cycle: &[u32]) -> Why {
    let mut because = Vec::new();
    for &number in cycle {
        let edge = graph.edge(number);
        if let Reason::Overwritten(read) = edge.reason {
            because.extend(between(linked, graph, edge.from, read));
        }
    }
    Why::Circle {
        links: linked.links(graph, cycle),
        because,
    }
}
