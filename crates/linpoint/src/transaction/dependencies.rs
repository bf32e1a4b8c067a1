//! The graphs of dependencies that decide the levels from snapshot isolation on.

use super::graph::{GraphBuilder, Kind};
use super::lists::Versions;
use super::log::{Log, Txn};
use super::observed::Observed;
use super::weak::Edges;

const NONE: Txn = Txn::MAX;

/// All dependencies of transactions on lists but for those between appends that no read shows, whose order is open.
pub(super) fn of_lists(observed: &Observed, versions: &Versions) -> GraphBuilder {
    let mut graph = GraphBuilder::new(observed.initial as usize + 1);
    // By key: the transactions that read all that is seen of it.
    let mut readers: Vec<Vec<Txn>> = vec![Vec::new(); observed.keys];
    add_lists_ww(&mut graph, observed, versions);
    for &txn in &observed.txns {
        let heads = versions.heads.row(txn as usize);
        for (read, &head) in observed.reads(txn).iter().zip(heads) {
            if read.from != observed.initial && read.from != txn {
                graph.edge(read.from, txn, Kind::Wr);
            }
            match versions.seen.row(read.key as usize).get(head as usize) {
                Some(&next) if next != txn => graph.edge(txn, next, Kind::Rw),
                Some(_) => {}
                None => {
                    let readers = &mut readers[read.key as usize];
                    if readers.last() != Some(&txn) {
                        readers.push(txn);
                    }
                }
            }
        }
    }
    for (key, readers) in readers.iter().enumerate() {
        graph.all_to_all(readers, versions.unseen.row(key), Kind::Rw);
    }
    graph
}

/// The order of the appends that reads show.
pub(super) fn add_lists_ww(graph: &mut GraphBuilder, observed: &Observed, versions: &Versions) {
    for key in 0..observed.keys {
        let seen = versions.seen.row(key);
        for pair in seen.windows(2).filter(|pair| pair[0] != pair[1]) {
            graph.edge(pair[0], pair[1], Kind::Ww);
        }
        if let Some(&last) = seen.last() {
            let unseen = versions.unseen.row(key).iter();
            for &txn in unseen.filter(|txn| **txn != last) {
                graph.edge(last, txn, Kind::Ww);
            }
        }
    }
}

/// Two transactions that read the same version of a key and write the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LostUpdate {
    pub(super) key: u32,
    pub(super) first: Txn,
    pub(super) second: Txn,
}

/// The first update of a list that is lost, if one is.
pub(super) fn lost_append(observed: &Observed, versions: &Versions) -> Option<LostUpdate> {
    // By key: the length of a list, and who read and appended to it, where the next element is of another transaction.
    let mut updates: Vec<(u32, u32, Txn)> = Vec::new();
    for &txn in &observed.txns {
        let heads = versions.heads.row(txn as usize);
        for (read, &head) in observed.reads(txn).iter().zip(heads) {
            if observed.has_write(txn, read.key) {
                updates.push((read.key, head, txn));
            }
        }
    }
    updates.sort_unstable();
    updates.dedup();
    let same = |pair: &&[(u32, u32, Txn)]| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1;
    let pair = updates.windows(2).find(same)?;
    Some(LostUpdate {
        key: pair[0].0,
        first: pair[0].2,
        second: pair[1].2,
    })
}

/// Which write follows directly on each version of a register, where a transaction reads it and writes the key.
pub(super) struct Successors {
    /// By [slot](Observed::slot).
    next: Vec<Txn>,
    pub(super) lost: Vec<LostUpdate>,
}

impl Successors {
    pub(super) fn new(observed: &Observed) -> Self {
        let mut next = vec![NONE; observed.slots()];
        let mut lost = Vec::new();
        for &txn in &observed.txns {
            for read in observed.reads(txn) {
                if !observed.has_write(txn, read.key) {
                    continue;
                }
                let Some(slot) = observed.slot(read.from, read.key) else {
                    continue;
                };
                match next[slot] {
                    NONE => next[slot] = txn,
                    first if first != txn => lost.push(LostUpdate {
                        key: read.key,
                        first,
                        second: txn,
                    }),
                    _ => {}
                }
            }
        }
        Successors { next, lost }
    }

    /// Who follows directly on this writer of a key.
    pub(super) fn of(&self, observed: &Observed, writer: Txn, key: u32) -> Option<Txn> {
        let next = self.next[observed.slot(writer, key)?];
        (next != NONE).then_some(next)
    }
}

/// The dependencies of transactions on registers that are known. `causal` are the [edges of causal consistency](super::weak::causal),
/// where the level keeps sessions.
pub(super) fn of_registers(
    observed: &Observed,
    successors: &Successors,
    causal: Option<&Edges>,
) -> GraphBuilder {
    let mut graph = GraphBuilder::new(observed.initial as usize + 1);
    for lost in &successors.lost {
        graph.edge(lost.first, lost.second, Kind::Rw);
        graph.edge(lost.second, lost.first, Kind::Rw);
    }
    for &txn in &observed.txns {
        for read in observed.reads(txn) {
            if read.from != observed.initial {
                graph.edge(read.from, txn, Kind::Wr);
                if observed.has_write(txn, read.key) {
                    graph.edge(read.from, txn, Kind::Ww);
                }
            }
            if let Some(next) = successors.of(observed, read.from, read.key)
                && next != txn
            {
                graph.edge(txn, next, Kind::Rw);
            }
        }
    }
    add_initial_reads(&mut graph, observed);
    if let Some(edges) = causal {
        add_overwritten(&mut graph, observed, successors, edges);
    }
    graph
}

/// Who reads the initial value of a key comes before all who write the key.
fn add_initial_reads(graph: &mut GraphBuilder, observed: &Observed) {
    let mut readers: Vec<Vec<Txn>> = vec![Vec::new(); observed.keys];
    let mut writers: Vec<Vec<Txn>> = vec![Vec::new(); observed.keys];
    // Where every writer reads the key, the edges to the next writer suffice.
    let mut has_blind_writes = vec![false; observed.keys];
    for &txn in &observed.txns {
        for read in observed.reads(txn) {
            let readers = &mut readers[read.key as usize];
            if read.from == observed.initial && readers.last() != Some(&txn) {
                readers.push(txn);
            }
        }
        for &key in observed.writes(txn) {
            writers[key as usize].push(txn);
            has_blind_writes[key as usize] |=
                observed.reads(txn).iter().all(|read| read.key != key);
        }
    }
    for key in (0..observed.keys).filter(|key| has_blind_writes[*key]) {
        graph.all_to_all(&readers[key], &writers[key], Kind::Rw);
    }
}

/// What follows from sessions and causality: which of two writes of a key is the later one, so that who reads the earlier one comes
/// before the later one.
fn add_overwritten(
    graph: &mut GraphBuilder,
    observed: &Observed,
    successors: &Successors,
    causal: &Edges,
) {
    // By write: the junction that readers lead to.
    let mut junctions: Vec<u32> = vec![NONE; observed.slots()];
    let mut overwritten: Vec<(Txn, u32, Txn)> = Vec::new();
    let mut last: Vec<(u32, Txn)> = vec![(NONE, NONE); observed.keys];
    for session in 0..observed.sessions.rows() {
        for &txn in observed.sessions.row(session) {
            for &key in observed.writes(txn) {
                let (of, earlier) = last[key as usize];
                if of == session as u32 {
                    overwritten.push((earlier, key, txn));
                }
                last[key as usize] = (session as u32, txn);
            }
        }
    }
    for &(earlier, later) in causal {
        graph.edge(earlier, later, Kind::Ww);
        if later == observed.initial {
            continue;
        }
        let (a, b) = (observed.writes(earlier), observed.writes(later));
        let (few, other) = if a.len() <= b.len() {
            (a, later)
        } else {
            (b, earlier)
        };
        let both = few.iter().filter(|key| observed.has_write(other, **key));
        overwritten.extend(both.map(|&key| (earlier, key, later)));
    }
    for (earlier, key, later) in overwritten {
        let Some(slot) = observed.slot(earlier, key) else {
            continue;
        };
        // A transaction that reads the earlier version and writes the key precedes all later versions already.
        let reads_it = |read: &super::observed::Read| read.key == key && read.from == earlier;
        if successors.of(observed, earlier, key) == Some(later)
            || observed.reads(later).iter().any(reads_it)
        {
            continue;
        }
        if junctions[slot] == NONE {
            junctions[slot] = graph.junction();
        }
        graph.edge(junctions[slot], later, Kind::Through);
    }
    for &txn in &observed.txns {
        for read in observed.reads(txn) {
            if let Some(slot) = observed.slot(read.from, read.key)
                && junctions[slot] != NONE
            {
                graph.edge(txn, junctions[slot], Kind::Rw);
            }
        }
    }
}

/// Adds the order of time: through one junction for each return.
pub(super) fn add_time(graph: &mut GraphBuilder, log: &Log<'_>, observed: &Observed) {
    let (calls, rets) = (log.history.calls(), log.history.rets());
    let mut events: Vec<(u32, Txn, Event)> = Vec::with_capacity(observed.txns.len() * 2);
    for &txn in &observed.txns {
        events.push((calls[txn as usize], txn, Event::Call));
        if rets[txn as usize] != crate::history::NEVER {
            events.push((rets[txn as usize], txn, Event::Return));
        }
    }
    events.sort_unstable_by_key(|(rank, ..)| *rank);
    let mut latest: Option<u32> = None;
    for (_, txn, event) in events {
        match (event, latest) {
            (Event::Call, Some(junction)) => graph.edge(junction, txn, Kind::Through),
            (Event::Call, None) => {}
            (Event::Return, before) => {
                let junction = graph.junction();
                if let Some(before) = before {
                    graph.edge(before, junction, Kind::Through);
                }
                graph.edge(txn, junction, Kind::Time);
                latest = Some(junction);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Event {
    Call,
    Return,
}
