//! Guarantees of sessions, by the least visibility that satisfies them. All that is forbidden grows with visibility, so the least one
//! decides.

use std::collections::{BTreeMap, HashMap};

use super::answer::{Answer, Decided, Link, Why, Witness};
use super::causal::{Pasts, between, circle_of_dependencies, dependencies};
use super::graph::{Graph, Reason};
use super::least;
use super::memory::{Linked, Source};
use super::{Arbitration, Guarantees};
use crate::engine::{Budget, Limit, Ticker};
use crate::history::OpId;

/// What the least visibility and the guarantees say about the order of writes.
pub(super) struct Arbitrated {
    /// What holds for all sessions: nodes are operations, and others that stand for several.
    pub(super) graph: Graph,
    /// `x` comes before what `read` returned, since it is visible to it: (x, write, read).
    pub(super) seen: Vec<(u32, u32, u32)>,
    /// What the graph has.
    pub(super) base: Base,
    /// A read of the initial value to which a write is visible, for each session.
    pub(super) missed: BTreeMap<u32, (u32, u32)>,
}

/// What holds for the arbitrations of all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// Nothing.
    Nothing,
    /// The writes of each process come in its order.
    Writes,
    /// What depends on each other, and possibly more.
    Dependencies,
}

/// What is violated, in which sessions.
pub(super) struct Verdicts {
    pub(super) why: Option<Why>,
    /// The processes whose own reads have no arbitration; with one arbitration for all, only that of the violation found.
    pub(super) failing: Vec<u32>,
    pub(super) witness: Witness,
}

pub(super) fn decide(linked: &Linked, guarantees: Guarantees, budget: &Budget) -> Decided {
    let verdicts = verdicts(linked, guarantees, budget)?;
    Ok(match verdicts.why {
        Some(why) => Answer::Fails(why),
        None => Answer::Holds(verdicts.witness),
    })
}

/// Decides guarantees and finds the sessions that they fail in.
pub(super) fn verdicts(
    linked: &Linked,
    guarantees: Guarantees,
    budget: &Budget,
) -> Result<Verdicts, Limit> {
    let has = |guarantee| guarantees.contains(guarantee);
    let writes_matter = has(Guarantees::MONOTONIC_WRITES) || has(Guarantees::WRITES_FOLLOW_READS);
    let arbitrated = if guarantees.contains(Guarantees::ALL) {
        by_pasts(linked, budget)?
    } else if has(Guarantees::WRITES_FOLLOW_READS) {
        least::by_sets(linked, guarantees, budget)?
    } else if writes_matter {
        Ok(by_prefixes(linked, guarantees, budget)?)
    } else {
        Ok(by_keys(linked, guarantees, budget)?)
    };
    let arbitrated = match arbitrated {
        Ok(arbitrated) => arbitrated,
        Err(why) => {
            return Ok(Verdicts {
                why: Some(why),
                failing: Vec::new(),
                witness: Witness::TooLong,
            });
        }
    };
    let groups = groups(linked, &arbitrated, guarantees.arbitration());
    let mut verdicts = Verdicts {
        why: None,
        failing: Vec::new(),
        witness: Witness::TooLong,
    };
    let mut arbitrations = Vec::new();
    for (process, seen) in groups {
        budget.check()?;
        match arbitration(linked, &arbitrated, process, &seen, guarantees) {
            Ok(order) => arbitrations.push((process, order)),
            Err(why) => {
                verdicts.failing.extend(process);
                verdicts.why.get_or_insert(why);
            }
        }
    }
    if verdicts.why.is_none() {
        verdicts.witness = least::witness(linked, guarantees, arbitrations);
    }
    Ok(verdicts)
}

/// What binds one arbitration: for each session, or for all together.
type Group = (Option<u32>, Vec<(u32, u32, u32)>);

fn groups(linked: &Linked, arbitrated: &Arbitrated, arbitration: Arbitration) -> Vec<Group> {
    if arbitration == Arbitration::One {
        return vec![(None, arbitrated.seen.clone())];
    }
    let mut groups: BTreeMap<u32, Vec<(u32, u32, u32)>> = BTreeMap::new();
    for &process in arbitrated.missed.keys() {
        groups.entry(process).or_default();
    }
    for (read, _) in linked.reads() {
        groups.entry(linked.op(read).process).or_default();
    }
    for &seen in &arbitrated.seen {
        groups
            .entry(linked.op(seen.2).process)
            .or_default()
            .push(seen);
    }
    if groups.is_empty() {
        return vec![(None, Vec::new())];
    }
    groups
        .into_iter()
        .map(|(process, seen)| (Some(process), seen))
        .collect()
}

/// An order of the writes, or why there is none.
fn arbitration(
    linked: &Linked,
    arbitrated: &Arbitrated,
    process: Option<u32>,
    seen: &[(u32, u32, u32)],
    guarantees: Guarantees,
) -> Result<Vec<OpId>, Why> {
    let missed = match process {
        Some(process) => arbitrated.missed.get(&process),
        None => arbitrated.missed.values().next(),
    };
    if let Some(&(read, write)) = missed {
        let because = support(linked, write, read, guarantees);
        return Err(Why::Missed {
            read: linked.id(read),
            write: linked.id(write),
            because,
        });
    }
    let graph = match linked.len() <= least::MOST_WRITTEN {
        true => arbitrated.with(seen),
        false => arbitrated.compact(linked, seen),
    };
    let order = graph.graph.sorted().map_err(|cycle| {
        let links = graph.links(linked, &cycle);
        let mut because = Vec::new();
        for &(from, _, reason) in &links {
            if let Reason::Seen(read) = reason {
                because.extend(support(linked, from, read, guarantees));
            }
        }
        let link = |&(from, to, reason): &(u32, u32, Reason)| Link {
            from: linked.id(from),
            to: linked.id(to),
            reason: linked.reason(reason),
        };
        Why::Circle {
            links: links.iter().map(link).collect(),
            because,
        }
    })?;
    let writes = order.into_iter().filter_map(|node| graph.op(linked, node));
    let writes = writes.filter(|&i| linked.op(i).is_write());
    Ok(writes.map(|i| linked.id(i)).collect())
}

/// A graph of operations, and of nodes that stand for several.
struct Named {
    graph: Graph,
    /// The operation of each node; none if each node is its own.
    names: Option<Vec<u32>>,
}

impl Named {
    fn op(&self, linked: &Linked, node: u32) -> Option<u32> {
        let name = self
            .names
            .as_ref()
            .map_or(node, |names| names[node as usize]);
        ((name as usize) < linked.len()).then_some(name)
    }

    /// The edges of a cycle between operations, past the nodes that stand for several.
    fn links(&self, linked: &Linked, cycle: &[u32]) -> Vec<(u32, u32, Reason)> {
        let ends = |number: u32| {
            let edge = self.graph.edge(number);
            (
                self.op(linked, edge.from),
                self.op(linked, edge.to),
                edge.reason,
            )
        };
        let first = cycle
            .iter()
            .position(|&number| ends(number).0.is_some())
            .unwrap_or(0);
        let mut links = Vec::new();
        let mut start = None;
        for &number in cycle[first..].iter().chain(&cycle[..first]) {
            let (from, to, reason) = ends(number);
            start = from.or(start);
            if let (Some(from), Some(to)) = (start, to) {
                links.push((from, to, reason));
            }
        }
        links
    }
}

impl Arbitrated {
    /// What holds for all sessions, and these pairs.
    fn with(&self, seen: &[(u32, u32, u32)]) -> Named {
        let mut graph = self.graph.clone();
        seen.iter()
            .for_each(|&(x, to, read)| graph.add(x, to, Reason::Seen(read)));
        Named { graph, names: None }
    }

    /// The same, with the nodes of these pairs only, if all that holds for all sessions is the order of the writes of each.
    fn compact(&self, linked: &Linked, seen: &[(u32, u32, u32)]) -> Named {
        if self.base == Base::Dependencies {
            return self.with(seen);
        }
        let mut names: Vec<u32> = seen.iter().flat_map(|&(x, to, _)| [x, to]).collect();
        let place = |&i: &u32| match (i as usize) < linked.len() {
            true => (linked.line[i as usize], i),
            false => (u32::MAX, i),
        };
        names.sort_unstable_by_key(place);
        names.dedup();
        let mut graph = Graph::new(names.len());
        if self.base == Base::Writes {
            for (i, pair) in (0u32..).zip(names.windows(2)) {
                if place(&pair[0]).0 == place(&pair[1]).0 && (pair[1] as usize) < linked.len() {
                    graph.add(i, i + 1, Reason::Process);
                }
            }
        }
        let number = |i: u32| names.binary_search_by_key(&place(&i), place).unwrap_or(0) as u32;
        for &(x, to, read) in seen {
            graph.add(number(x), number(to), Reason::Seen(read));
        }
        Named {
            graph,
            names: Some(names),
        }
    }
}

/// Operations that show that `write` is visible to `read`.
fn support(linked: &Linked, write: u32, read: u32, guarantees: Guarantees) -> Vec<OpId> {
    if guarantees.contains(Guarantees::ALL) {
        return between(linked, &dependencies(linked), write, read);
    }
    let prefixes = guarantees.contains(Guarantees::MONOTONIC_WRITES);
    let own_line = linked.line_of(read);
    if linked.line_of(write) == own_line && guarantees.contains(Guarantees::READ_YOUR_WRITES) {
        return Vec::new();
    }
    let earlier = &linked.lines[own_line][..=linked.place_of(read) as usize];
    let shows = earlier
        .iter()
        .find_map(|&i| match linked.source[i as usize] {
            Source::Write(source) => {
                let is_it = source == write;
                let is_later = prefixes
                    && linked.line_of(source) == linked.line_of(write)
                    && linked.place_of(source) >= linked.place_of(write);
                (is_it || is_later).then_some([i, source])
            }
            _ => None,
        });
    shows.map_or_else(Vec::new, |pair| linked.ids(&pair))
}

/// All four guarantees: visible is what a read depends on.
fn by_pasts(linked: &Linked, budget: &Budget) -> Result<Result<Arbitrated, Why>, Limit> {
    let graph = dependencies(linked);
    let Some(pasts) = Pasts::of(linked, budget)? else {
        return Ok(Err(circle_of_dependencies(linked, &graph)));
    };
    let mut arbitrated = Arbitrated::new(graph, Base::Dependencies);
    let mut ticker = Ticker::new(budget);
    for (read, write) in linked.reads() {
        ticker.tick()?;
        let key = linked.op(read).key;
        let visible = linked.last_writes(key, |line| pasts.count(read, line));
        arbitrated.note(linked, read, write, visible);
    }
    Ok(Ok(arbitrated))
}

impl Arbitrated {
    pub(super) fn new(graph: Graph, base: Base) -> Self {
        Arbitrated {
            graph,
            base,
            seen: Vec::new(),
            missed: BTreeMap::new(),
        }
    }

    /// These writes of its key are visible to a read.
    pub(super) fn note(
        &mut self,
        linked: &Linked,
        read: u32,
        write: Option<u32>,
        visible: impl Iterator<Item = u32>,
    ) {
        for x in visible {
            match write {
                Some(write) if x != write => self.seen.push((x, write, read)),
                Some(_) => {}
                None => {
                    self.missed
                        .entry(linked.op(read).process)
                        .or_insert((read, x));
                }
            }
        }
    }
}

/// Monotonic writes without writes-follow-reads: who sees a write sees all earlier writes of its process, and nothing else follows.
fn by_prefixes(
    linked: &Linked,
    guarantees: Guarantees,
    budget: &Budget,
) -> Result<Arbitrated, Limit> {
    let mut graph = Graph::new(linked.len());
    for line in &linked.lines {
        let writes: Vec<u32> = line
            .iter()
            .copied()
            .filter(|&i| linked.op(i).is_write())
            .collect();
        writes
            .windows(2)
            .for_each(|pair| graph.add(pair[0], pair[1], Reason::Process));
    }
    let mut arbitrated = Arbitrated::new(graph, Base::Writes);
    let mut ticker = Ticker::new(budget);
    let keeps = guarantees.contains(Guarantees::MONOTONIC_READS);
    let sees_own = guarantees.contains(Guarantees::READ_YOUR_WRITES);
    for (number, line) in linked.lines.iter().enumerate() {
        let mut seen = vec![0u32; linked.lines.len()];
        for &i in line.iter().filter(|&&i| !linked.op(i).is_write()) {
            ticker.tick()?;
            if !keeps {
                seen.fill(0);
            }
            if sees_own {
                seen[number] = seen[number].max(linked.place_of(i));
            }
            let write = match linked.source[i as usize] {
                Source::Write(write) => Some(write),
                _ => None,
            };
            if let Some(write) = write {
                let of = &mut seen[linked.line_of(write)];
                *of = (*of).max(linked.place_of(write) + 1);
            }
            let visible = linked.last_writes(linked.op(i).key, |line| seen[line]);
            arbitrated.note(linked, i, write, visible);
        }
    }
    Ok(arbitrated)
}

/// What a session sees of a key.
#[derive(Default)]
struct View {
    /// The write after which all others come that were visible when it was read.
    latest: Option<u32>,
    /// Writes that became visible since.
    since: Vec<u32>,
    /// A node that stands for `latest` and the first `covered` of `since`.
    together: Option<(u32, usize)>,
}

/// Read-your-writes, monotonic reads, or both: keys do not matter for each other.
fn by_keys(linked: &Linked, guarantees: Guarantees, budget: &Budget) -> Result<Arbitrated, Limit> {
    let mut arbitrated = Arbitrated::new(Graph::new(linked.len()), Base::Nothing);
    let mut ticker = Ticker::new(budget);
    let keeps = guarantees.contains(Guarantees::MONOTONIC_READS);
    let sees_own = guarantees.contains(Guarantees::READ_YOUR_WRITES);
    let mut views: HashMap<(u32, usize), View> = HashMap::new();
    for i in 0..linked.len() as u32 {
        ticker.tick()?;
        let op = linked.op(i);
        let view = views.entry((op.key, linked.line_of(i))).or_default();
        if op.is_write() {
            if sees_own {
                view.since.push(i);
            }
            continue;
        }
        let write = match linked.source[i as usize] {
            Source::Write(write) => write,
            _ => {
                let visible = view.latest.or(view.since.first().copied());
                if let Some(visible) = visible {
                    arbitrated.missed.entry(op.process).or_insert((i, visible));
                }
                continue;
            }
        };
        let is_own = linked.op(write).is_earlier_in_process(op);
        let stays = keeps || sees_own && is_own;
        view.read(write, i, stays, &mut arbitrated);
    }
    Ok(arbitrated)
}

impl View {
    /// A read returned `write`, which is visible from now on if it `stays`.
    fn read(&mut self, write: u32, read: u32, stays: bool, arbitrated: &mut Arbitrated) {
        let visible = self.latest.iter().chain(&self.since).copied();
        if stays {
            let others = visible.filter(|&x| x != write);
            arbitrated.seen.extend(others.map(|x| (x, write, read)));
            *self = View {
                latest: Some(write),
                ..View::default()
            };
            return;
        }
        let covered = self.together.map_or(0, |(_, covered)| covered);
        if self.since.len() + 1 - covered > 1 && self.since.len() > 1 {
            let node = arbitrated.graph.add_node();
            let new = &self.since[covered..];
            let old = self.together.map(|(node, _)| node).or(self.latest);
            arbitrated
                .seen
                .extend(old.iter().chain(new).map(|&x| (x, node, read)));
            self.together = Some((node, self.since.len()));
        }
        match self.together {
            Some((node, _)) => arbitrated.seen.push((node, write, read)),
            None => arbitrated.seen.extend(visible.map(|x| (x, write, read))),
        }
    }
}
