//! Finds the worst kind of cycle that a graph of dependencies has, and a short one of that kind.

use super::graph::{Dependency, Graph, Kind, Paths, Shape};
use super::level::Level;
use super::violation::Anomaly;

/// At most so many nodes are tried as the beginning of a shortest cycle.
const STARTS: usize = 2000;

/// How many nodes of so many are tried.
fn starts(nodes: usize) -> usize {
    STARTS.min(4_000_000 / nodes.max(1)).max(1)
}

/// A cycle of a kind.
pub(super) struct Cycle {
    pub(super) anomaly: Anomaly,
    pub(super) edges: Vec<Dependency>,
    /// Whether no cycle of this kind is shorter.
    pub(super) is_shortest: bool,
}

/// The paths that may not be cycles at a level. `None` for levels that more than dependencies decide.
pub(super) fn paths(level: Level) -> Paths {
    use Kind::{Rw, Session, Time, Wr, Ww};
    match level {
        Level::Pl2 => Paths::of(&[Ww, Wr]),
        Level::Prefix => Paths::with_rw_after(&[Ww, Wr, Session], &[Wr, Session]),
        Level::SnapshotIsolation => Paths::with_rw_after(&[Ww, Wr], &[Ww, Wr]),
        Level::SessionSnapshotIsolation => {
            Paths::with_rw_after(&[Ww, Wr, Session], &[Ww, Wr, Session])
        }
        Level::Serializable => Paths::of(&[Ww, Wr, Rw]),
        Level::SessionSerializable => Paths::of(&[Ww, Wr, Rw, Session]),
        Level::StrictSerializable => Paths::of(&[Ww, Wr, Rw, Session, Time]),
        Level::ReadCommitted | Level::ReadAtomic | Level::Causal => {
            Paths::of(&[Ww, Wr, Session, Kind::Observed])
        }
    }
}

/// The orders that a level keeps besides dependencies, in the order in which cycles are looked for: none, sessions, time.
fn orders(level: Level) -> &'static [&'static [Kind]] {
    match level {
        Level::StrictSerializable => &[&[], &[Kind::Session], &[Kind::Session, Kind::Time]],
        level if level.keeps_sessions() => &[&[], &[Kind::Session]],
        _ => &[&[]],
    }
}

/// The worst cycle that the level forbids, of those within these parts.
pub(super) fn worst(graph: &Graph, level: Level, parts: &[Vec<u32>]) -> Cycle {
    let all = paths(level);
    let graph = graph.within(&all, parts);
    for order in orders(level) {
        let with = |kinds: &[Kind]| [kinds, order].concat();
        let dependencies = with(&[Kind::Ww, Kind::Wr]);
        if let Some(cycle) = shortest(&graph, &Paths::of(&with(&[Kind::Ww])), Anomaly::G0) {
            return cycle;
        }
        if let Some(cycle) = shortest(&graph, &Paths::of(&dependencies), Anomaly::G1c) {
            return cycle;
        }
        if matches!(level, Level::Pl2 | Level::Prefix) {
            continue;
        }
        if let Some(cycle) = single(&graph, &all, parts, &dependencies) {
            return cycle;
        }
        let nonadjacent = Paths::with_rw_after(&dependencies, &dependencies);
        if let Some(cycle) = shortest(&graph, &nonadjacent, Anomaly::GNonadjacent) {
            return cycle;
        }
        if matches!(
            level,
            Level::SnapshotIsolation | Level::SessionSnapshotIsolation
        ) {
            continue;
        }
        if let Some(cycle) = shortest(
            &graph,
            &Paths::of(&with(&[Kind::Ww, Kind::Wr, Kind::Rw])),
            Anomaly::G2Item,
        ) {
            return cycle;
        }
    }
    let mut cycle = short(&graph, &all, parts, Anomaly::GNonadjacent);
    if cycle
        .edges
        .iter()
        .filter(|edge| edge.kind == Kind::Rw)
        .count()
        == 1
    {
        cycle.anomaly = Anomaly::GSingle;
    }
    cycle
}

/// A cycle that a level up to causal consistency forbids: of dependencies and sessions alone if there is one.
pub(super) fn worst_weak(graph: &Graph, level: Level, parts: &[Vec<u32>]) -> Cycle {
    use Kind::{Session, Wr, Ww};
    let all = paths(level);
    let graph = graph.within(&all, parts);
    let kinds: [(&[Kind], Anomaly); 4] = [
        (&[Ww], Anomaly::G0),
        (&[Ww, Wr], Anomaly::G1c),
        (&[Ww, Session], Anomaly::G0),
        (&[Ww, Wr, Session], Anomaly::G1c),
    ];
    let allowed = match level {
        Level::Pl2 => &kinds[..2],
        _ => &kinds[..],
    };
    allowed
        .iter()
        .find_map(|&(kinds, anomaly)| shortest(&graph, &Paths::of(kinds), anomaly))
        .unwrap_or_else(|| short(&graph, &all, parts, named_by(level)))
}

/// What a violation of a level up to causal consistency is called.
pub(super) fn named_by(level: Level) -> Anomaly {
    match level {
        Level::ReadCommitted => Anomaly::NonMonotonicRead,
        Level::ReadAtomic => Anomaly::FracturedRead,
        _ => Anomaly::CausalityViolation,
    }
}

/// A shortest cycle along these paths, if they have one.
fn shortest(graph: &Graph, paths: &Paths, anomaly: Anomaly) -> Option<Cycle> {
    match graph.shape(paths) {
        Shape::Order(_) => None,
        Shape::Cycles(parts) => Some(short(graph, paths, &parts, anomaly)),
    }
}

/// A short cycle within the smallest of the parts.
fn short(graph: &Graph, paths: &Paths, parts: &[Vec<u32>], anomaly: Anomaly) -> Cycle {
    let smallest = parts.iter().min_by_key(|part| part.len());
    let (edges, is_shortest) = match smallest {
        Some(part) => graph.short_cycle(paths, part, starts(part.len())),
        None => (Vec::new(), false),
    };
    Cycle {
        anomaly,
        is_shortest: is_shortest && (parts.len() == 1 || edges.len() == 2),
        edges,
    }
}

/// A short cycle with one edge `rw`, all others of these kinds.
fn single(graph: &Graph, all: &Paths, parts: &[Vec<u32>], kinds: &[Kind]) -> Option<Cycle> {
    let parts = parts.iter();
    let among: Vec<u32> = parts
        .flat_map(|part| graph.transactions_of(all, part))
        .collect();
    let (edges, is_shortest) = graph.cycle_of_one_rw(kinds, &among, starts(among.len()))?;
    Some(Cycle {
        anomaly: Anomaly::GSingle,
        is_shortest,
        edges,
    })
}
