//! Edges that follow from others. Whether there is a cycle is decided without them, since a path leads wherever they lead; with them, a
//! shortest cycle has no transaction that is there only because it stands between two others.

use crate::budget::{Limit, Ticker};

use super::dependencies::Successors;
use super::graph::{GraphBuilder, Kind};
use super::level::Level;
use super::lists::Versions;
use super::log::Txn;
use super::observed::Observed;
use super::weak::{Clocks, Edges};

/// From each transaction of a session to all later ones.
pub(super) fn of_sessions(graph: &mut GraphBuilder, observed: &Observed) {
    for session in 0..observed.sessions.rows() {
        let row = observed.sessions.row(session);
        if row.len() > 2 {
            let later = graph.suffixes(row);
            for (txn, next) in row.iter().zip(&later[1..]) {
                graph.edge(*txn, *next, Kind::Session);
            }
        }
    }
}

/// From each append of a list to all later ones and to all reads that show it, and from each read to all appends that it does not show.
pub(super) fn of_lists(graph: &mut GraphBuilder, observed: &Observed, versions: &Versions) {
    // By key: junctions to the appends from a position on, and from those up to a position.
    let mut later: Vec<Vec<u32>> = Vec::with_capacity(observed.keys);
    let mut shown: Vec<Vec<u32>> = Vec::with_capacity(observed.keys);
    for key in 0..observed.keys {
        let (seen, unseen) = (versions.seen.row(key), versions.unseen.row(key));
        let mut suffixes = graph.suffixes(seen);
        let end = graph.junction();
        unseen
            .iter()
            .for_each(|&txn| graph.edge(end, txn, Kind::Through));
        if let Some(&last) = suffixes.last() {
            graph.edge(last, end, Kind::Through);
        }
        suffixes.push(end);
        let prefixes: Vec<u32> = seen.iter().map(|_| graph.junction()).collect();
        for pair in prefixes.windows(2) {
            graph.edge(pair[0], pair[1], Kind::Through);
        }
        for (i, &txn) in seen.iter().enumerate() {
            graph.edge(txn, prefixes[i], Kind::Wr);
            if seen.get(i + 1) != Some(&txn) {
                graph.edge(txn, suffixes[i + 1], Kind::Ww);
            }
        }
        later.push(suffixes);
        shown.push(prefixes);
    }
    for &txn in &observed.txns {
        let heads = versions.heads.row(txn as usize);
        for (read, &head) in observed.reads(txn).iter().zip(heads) {
            let (key, head) = (read.key as usize, head as usize);
            let seen = versions.seen.row(key);
            if let Some(last) = head.checked_sub(1) {
                graph.edge(shown[key][last], txn, Kind::Through);
            }
            // What it appends itself, next, is not what it did not see.
            let own = seen[head..].iter().take_while(|owner| **owner == txn);
            let next = head + own.count();
            if next < seen.len() {
                graph.edge(txn, later[key][next], Kind::Rw);
            }
        }
    }
}

/// From each update of a register to all later ones, and from each read of it to all later updates.
pub(super) fn of_registers(graph: &mut GraphBuilder, observed: &Observed, successors: &Successors) {
    // By write: the junction to all that follow on it.
    let mut later = vec![u32::MAX; observed.slots()];
    for key in 0..observed.keys as u32 {
        let mut chain = vec![observed.initial];
        while let Some(next) = successors.of(observed, chain[chain.len() - 1], key)
            && chain.len() <= observed.txns.len()
        {
            chain.push(next);
        }
        let suffixes = graph.suffixes(&chain[1..]);
        for (i, &junction) in suffixes.iter().enumerate() {
            if let Some(slot) = observed.slot(chain[i], key) {
                later[slot] = junction;
            }
            if i > 0 {
                graph.edge(chain[i], junction, Kind::Ww);
            }
        }
    }
    for &txn in &observed.txns {
        for read in observed.reads(txn) {
            // Who updates the version comes before all later updates as a writer.
            let is_update = successors.of(observed, read.from, read.key) == Some(txn);
            let slot = match is_update {
                true => observed.slot(txn, read.key),
                false => observed.slot(read.from, read.key),
            };
            let junction = slot.map_or(u32::MAX, |slot| later[slot]);
            if junction != u32::MAX {
                graph.edge(txn, junction, Kind::Rw);
            }
        }
    }
}

/// At most so many pairs of a read and a writer are looked at.
const MOST_PAIRS: usize = 4_000_000;

/// All edges of a level up to causal consistency between transactions of these, as the level defines them; `None` if they are too many.
pub(super) fn observed(
    observed: &Observed,
    level: Level,
    among: &[Txn],
    ticker: &mut Ticker<'_>,
) -> Result<Option<Edges>, Limit> {
    let clocks = match level {
        Level::Causal => match Clocks::new(observed, ticker)? {
            Some(clocks) => Some(clocks),
            // Sessions and reads have a cycle, which no edge of the level is needed for.
            None => return Ok(None),
        },
        _ => None,
    };
    let mut writers: Vec<Vec<Txn>> = vec![Vec::new(); observed.keys];
    for &txn in among {
        for &key in observed.writes(txn) {
            writers[key as usize].push(txn);
        }
    }
    let mut edges = Vec::new();
    let mut pairs = 0;
    for &txn in &observed.txns {
        for (i, read) in observed.reads(txn).iter().enumerate() {
            if among.binary_search(&read.from).is_err() {
                continue;
            }
            pairs += writers[read.key as usize].len();
            if pairs > MOST_PAIRS {
                return Ok(None);
            }
            for &other in &writers[read.key as usize] {
                ticker.tick()?;
                if other == txn || other == read.from {
                    continue;
                }
                let reads = observed.reads(txn);
                let from_it = |reads: &[super::observed::Read]| {
                    reads.iter().any(|earlier| earlier.from == other)
                };
                let is_seen = match (&clocks, level) {
                    (Some(clocks), _) => clocks.is_before(observed, other, txn),
                    (None, Level::ReadCommitted) => from_it(&reads[..i]),
                    (None, _) => from_it(reads) || observed.in_session_order(other, txn),
                };
                if is_seen {
                    edges.push((other, read.from));
                }
            }
        }
    }
    edges.sort_unstable();
    edges.dedup();
    Ok(Some(edges))
}
