//! What the levels up to causal consistency say about the order of writes. After Biswas and Enea: if a transaction reads a key from
//! `t1`, and in some sense sees `t2`, which writes the key too, then `t2` comes before `t1`. The level says in which sense.

use crate::budget::{Limit, Ticker};

use super::graph::{Graph, GraphBuilder, Kind, Paths, Shape};
use super::log::Txn;
use super::observed::Observed;
use super::table::Table;

/// The edges from `t2` to `t1`, which is [`Observed::initial`] where the initial value was read.
pub(super) type Edges = Vec<(Txn, Txn)>;

const NONE: u32 = u32::MAX;

/// Read committed: a transaction sees what it read from earlier.
///
/// The reads of a transaction are looked at from the last to the first. Of each key, the two nearest later writers that differ are
/// kept: the others follow from the edges of the nearest.
pub(super) fn read_committed(observed: &Observed, ticker: &mut Ticker<'_>) -> Result<Edges, Limit> {
    let mut edges = Vec::new();
    let mut near: Vec<[Txn; 2]> = vec![[NONE; 2]; observed.keys];
    let mut keys: Vec<u32> = Vec::new();
    // By writer, the last transaction that was found to read from it, and its first read from it.
    let mut first: Vec<(Txn, u32)> = vec![(NONE, 0); observed.initial as usize + 1];
    for &txn in &observed.txns {
        let reads = observed.reads(txn);
        for (i, read) in reads.iter().enumerate() {
            let known = &mut first[read.from as usize];
            if known.0 != txn {
                *known = (txn, i as u32);
            }
        }
        for (i, read) in reads.iter().enumerate().rev() {
            ticker.tick()?;
            let writer = read.from;
            // All edges of the initial transaction are there anyway.
            if writer != observed.initial && first[writer as usize].1 == i as u32 {
                let mut add = |key: u32| {
                    let [nearest, next] = near[key as usize];
                    let later = if nearest == writer { next } else { nearest };
                    if later != NONE {
                        edges.push((writer, later));
                    }
                };
                let written = observed.writes(writer);
                if written.len() <= keys.len() {
                    written.iter().copied().for_each(&mut add);
                } else {
                    let both = |key: &&u32| observed.has_write(writer, **key);
                    keys.iter().filter(both).copied().for_each(&mut add);
                }
            }
            let near = &mut near[read.key as usize];
            if near[0] == NONE {
                keys.push(read.key);
            }
            if near[0] != writer {
                *near = [writer, near[0]];
            }
        }
        for key in keys.drain(..) {
            near[key as usize] = [NONE; 2];
        }
    }
    Ok(edges)
}

/// Read atomic: a transaction sees what it reads from, and the earlier ones of its session. Each key is read from one transaction only.
pub(super) fn read_atomic(observed: &Observed, ticker: &mut Ticker<'_>) -> Result<Edges, Limit> {
    let mut edges = Vec::new();
    // By key: whom the transaction reads it from.
    let mut source: Vec<(Txn, Txn)> = vec![(NONE, NONE); observed.keys];
    // By key: the last transaction of the session that writes it.
    let mut last: Vec<(u32, Txn)> = vec![(NONE, NONE); observed.keys];
    let mut asked: Vec<Txn> = vec![NONE; observed.initial as usize + 1];
    for session in 0..observed.sessions.rows() {
        for &txn in observed.sessions.row(session) {
            let reads = observed.reads(txn);
            for read in reads {
                source[read.key as usize] = (txn, read.from);
                let (of, writer) = last[read.key as usize];
                if of == session as u32 && writer != read.from {
                    edges.push((writer, read.from));
                }
            }
            for read in reads {
                let writer = read.from;
                if writer == observed.initial || asked[writer as usize] == txn {
                    continue;
                }
                asked[writer as usize] = txn;
                let written = observed.writes(writer);
                if written.len() <= reads.len() {
                    for &key in written {
                        ticker.tick()?;
                        let (reader, other) = source[key as usize];
                        if reader == txn && other != writer {
                            edges.push((writer, other));
                        }
                    }
                } else {
                    for other in reads {
                        ticker.tick()?;
                        if other.from != writer && observed.has_write(writer, other.key) {
                            edges.push((writer, other.from));
                        }
                    }
                }
            }
            for &key in observed.writes(txn) {
                last[key as usize] = (session as u32, txn);
            }
        }
    }
    Ok(edges)
}

/// The transactions from which sessions and reads lead to this one.
pub(super) fn happened_before(observed: &Observed, txn: Txn) -> Vec<Txn> {
    let mut seen = vec![false; observed.place.len()];
    let mut open = vec![txn];
    let mut found = Vec::new();
    while let Some(at) = open.pop() {
        let from = observed.reads(at).iter().map(|read| read.from);
        let from = from.filter(|from| *from != observed.initial);
        for before in from.chain(observed.previous(at)) {
            if !std::mem::replace(&mut seen[before as usize], true) {
                open.push(before);
                found.push(before);
            }
        }
    }
    found
}

/// The graph of sessions and reads, whose paths say what happened before what.
pub(super) fn before(observed: &Observed) -> (Graph, Paths) {
    let mut graph = GraphBuilder::new(observed.initial as usize + 1);
    add_sessions_and_reads(&mut graph, observed);
    (graph.build(), Paths::of(&[Kind::Session, Kind::Wr]))
}

pub(super) fn add_sessions_and_reads(graph: &mut GraphBuilder, observed: &Observed) {
    add_sessions(graph, observed);
    for &txn in &observed.txns {
        for read in observed.reads(txn) {
            if read.from != observed.initial {
                graph.edge(read.from, txn, Kind::Wr);
            }
        }
    }
}

pub(super) fn add_sessions(graph: &mut GraphBuilder, observed: &Observed) {
    for session in 0..observed.sessions.rows() {
        for pair in observed.sessions.row(session).windows(2) {
            graph.edge(pair[0], pair[1], Kind::Session);
        }
    }
}

/// What happened before each transaction: of each session, how many transactions.
pub(super) struct Clocks {
    sessions: usize,
    counts: Vec<u32>,
}

impl Clocks {
    /// The clocks of all transactions; `None` if sessions and reads have a cycle.
    pub(super) fn new(observed: &Observed, ticker: &mut Ticker<'_>) -> Result<Option<Self>, Limit> {
        let (graph, paths) = before(observed);
        let Shape::Order(order) = graph.shape(&paths) else {
            return Ok(None);
        };
        drop(graph);
        let sessions = observed.sessions.rows();
        let size = sessions * observed.place.len();
        ticker.budget().reserve(4 * size as u64)?;
        let mut counts = vec![0; size];
        let mut clock = vec![0; sessions];
        for txn in order {
            if txn == observed.initial || observed.place[txn as usize].0 == NONE {
                continue;
            }
            clock.fill(0);
            let from = observed.reads(txn).iter().map(|read| read.from);
            let from = from.filter(|from| *from != observed.initial);
            for before in from.chain(observed.previous(txn)) {
                ticker.tick()?;
                let row = &counts[before as usize * sessions..][..sessions];
                for (mine, theirs) in clock.iter_mut().zip(row) {
                    *mine = (*mine).max(*theirs);
                }
                let (session, position) = observed.place[before as usize];
                let mine = &mut clock[session as usize];
                *mine = (*mine).max(position + 1);
            }
            counts[txn as usize * sessions..][..sessions].copy_from_slice(&clock);
        }
        Ok(Some(Clocks { sessions, counts }))
    }

    /// How many transactions of each session happened before this one.
    fn of(&self, txn: Txn) -> &[u32] {
        &self.counts[txn as usize * self.sessions..][..self.sessions]
    }

    /// Whether `a` happened before `b`.
    pub(super) fn is_before(&self, observed: &Observed, a: Txn, b: Txn) -> bool {
        let (session, position) = observed.place[a as usize];
        self.of(b)[session as usize] > position
    }
}

/// The writers of each key by session.
struct Writers {
    /// By write, as in [`Observed::writes`]: its place in `last`.
    cell: Vec<u32>,
    /// By key: its cells, one for each session that writes it.
    cells: Table<u32>,
    /// By cell: the session.
    session: Vec<u32>,
}

impl Writers {
    fn new(observed: &Observed) -> Self {
        let mut cell = vec![NONE; observed.writes.items().len()];
        // By key: the session that was looked at last, and its cell.
        let mut known: Vec<(u32, u32)> = vec![(NONE, 0); observed.keys];
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        let mut sessions = Vec::new();
        for session in 0..observed.sessions.rows() as u32 {
            for &txn in observed.sessions.row(session as usize) {
                for write in observed.writes.range(txn as usize) {
                    let key = observed.writes.items()[write];
                    let known = &mut known[key as usize];
                    if known.0 != session {
                        *known = (session, sessions.len() as u32);
                        pairs.push((key, sessions.len() as u32));
                        sessions.push(session);
                    }
                    cell[write] = known.1;
                }
            }
        }
        Writers {
            cell,
            cells: Table::of(observed.keys, pairs.iter().copied()),
            session: sessions,
        }
    }
}

/// Causal consistency: a transaction sees what happened before it. Only the last writer of a key in each session matters: the earlier
/// ones come before it.
///
/// The transactions of a session are looked at in order. What they see of another session only grows, so each of its transactions is
/// looked at once.
pub(super) fn causal(
    observed: &Observed,
    clocks: &Clocks,
    ticker: &mut Ticker<'_>,
) -> Result<Edges, Limit> {
    let mut edges = Vec::new();
    let writers = Writers::new(observed);
    let cells = writers.session.len();
    let sessions = observed.sessions.rows();
    // By cell: the last writer that the session at hand sees, and the edge that was added last.
    let mut last: Vec<Txn> = vec![NONE; cells];
    let mut added: Vec<(Txn, Txn)> = vec![(NONE, NONE); cells];
    let mut seen: Vec<u32> = vec![0; sessions];
    for session in 0..sessions {
        last.fill(NONE);
        seen.fill(0);
        for &txn in observed.sessions.row(session) {
            let clock = clocks.of(txn);
            for (other, seen) in seen.iter_mut().enumerate() {
                while *seen < clock[other] {
                    ticker.tick()?;
                    let writer = observed.sessions.row(other)[*seen as usize];
                    for write in observed.writes.range(writer as usize) {
                        last[writers.cell[write] as usize] = writer;
                    }
                    *seen += 1;
                }
            }
            for read in observed.reads(txn) {
                for &cell in writers.cells.row(read.key as usize) {
                    ticker.tick()?;
                    let writer = last[cell as usize];
                    if writer == NONE || writer == read.from {
                        continue;
                    }
                    let edge = (writer, read.from);
                    let is_known = added[cell as usize] == edge
                        || (read.from != observed.initial
                            && clocks.is_before(observed, writer, read.from));
                    if !is_known {
                        added[cell as usize] = edge;
                        edges.push(edge);
                    }
                }
            }
        }
    }
    Ok(edges)
}
