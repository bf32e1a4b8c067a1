//! What the algorithms answer: witnesses, and why there is none.

use super::graph::{Graph, Reason};
use super::memory::{Linked, Unlinked};
use crate::engine::Limit;
use crate::history::OpId;

/// What an algorithm found out.
pub(super) type Decided = Result<Answer, Stopped>;

/// Whether a condition holds.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Holds(Witness),
    Fails(Why),
}

/// Why an algorithm has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// A limit came first.
    Limit(Limit),
    /// It works only for histories in which it is known what each read returns.
    Unlinked(Unlinked),
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Stopped::Limit(limit)
    }
}

/// Why a condition holds, in a form that can be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Witness {
    /// One order of the operations; pending ones that are missing had no effect.
    Order(Vec<OpId>),
    /// An order for each process or key, of the operations that it is about.
    Orders(Vec<Vec<OpId>>),
    /// An order of all operations in which each one comes after those that it depends on: earlier ones of its process, and what
    /// it reads, directly or through others. Where the condition asks for one arbitration, the order of the writes in it is that.
    Dependencies(Vec<OpId>),
    /// The writes that each read sees, and an order of the writes: one for all, or one for each session with the process that it is
    /// for.
    Visibility {
        /// Each read, with the writes that it sees.
        visible: Vec<(OpId, Vec<OpId>)>,
        /// The orders of the writes.
        arbitrations: Vec<(Option<u32>, Vec<OpId>)>,
    },
    /// Each read by itself was looked at: there is nothing to write down.
    EachRead,
    /// It is too long to write down: it was checked while it was made.
    TooLong,
}

/// Why no witness exists.
#[derive(Clone, Debug)]
pub(super) enum Why {
    /// The read returned a value that was never written.
    ThinAir(OpId),
    /// The read returned before what it read was written.
    Future { read: OpId, write: OpId },
    /// Each of these has to come before the next, and the last before the first. `because` are others that the reasons name or
    /// rest on.
    Circle {
        links: Vec<Link>,
        because: Vec<OpId>,
    },
    /// The read returned the initial value, but must have seen this write.
    Missed {
        read: OpId,
        write: OpId,
        because: Vec<OpId>,
    },
    /// What the read returned had been overwritten by `later` before the read began. Without a write, it is the initial value.
    Overtaken {
        read: OpId,
        write: Option<OpId>,
        later: OpId,
    },
    /// Each of these wrote what the read returned, or it was there from the start, but came after the read, or had been overwritten by
    /// `later` before the read began.
    NoneOf {
        read: OpId,
        candidates: Vec<OpId>,
        later: Option<OpId>,
    },
    /// Between what the read returned and the read there were these writes, in every order.
    Behind {
        read: OpId,
        write: Option<OpId>,
        between: Vec<OpId>,
    },
    /// All ways were tried.
    NoOrder,
}

/// One operation has to come before another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: OpId,
    pub(super) to: OpId,
    pub(super) reason: Reason<OpId>,
}

impl Why {
    /// The operations that it names.
    pub(super) fn ops(&self) -> Vec<OpId> {
        let mut ops = match self {
            Why::ThinAir(read) => vec![*read],
            Why::Future { read, write } => vec![*read, *write],
            Why::Circle { links, because } => {
                let mut ops = because.clone();
                for link in links {
                    ops.extend([link.from, link.to]);
                    match link.reason {
                        Reason::Overwritten(read) | Reason::Seen(read) => ops.push(read),
                        Reason::Members(a, b) => ops.extend([a, b]),
                        _ => {}
                    }
                }
                ops
            }
            Why::Missed {
                read,
                write,
                because,
            } => {
                let mut ops = because.clone();
                ops.extend([*read, *write]);
                ops
            }
            Why::Overtaken { read, write, later } => {
                let mut ops = vec![*read, *later];
                ops.extend(write);
                ops
            }
            Why::NoneOf {
                read,
                candidates,
                later,
            } => {
                let mut ops = candidates.clone();
                ops.push(*read);
                ops.extend(later);
                ops
            }
            Why::Behind {
                read,
                write,
                between,
            } => {
                let mut ops = between.clone();
                ops.push(*read);
                ops.extend(write);
                ops
            }
            Why::NoOrder => Vec::new(),
        };
        ops.sort_unstable();
        ops.dedup();
        ops
    }
}

impl Linked {
    pub(super) fn id(&self, position: u32) -> OpId {
        self.op(position).id
    }

    pub(super) fn ids(&self, positions: &[u32]) -> Vec<OpId> {
        positions
            .iter()
            .map(|&position| self.id(position))
            .collect()
    }

    /// Edges of a graph of positions, as links between operations.
    pub(super) fn links(&self, graph: &Graph, edges: &[u32]) -> Vec<Link> {
        let link = |&number: &u32| {
            let edge = graph.edge(number);
            Link {
                from: self.id(edge.from),
                to: self.id(edge.to),
                reason: self.reason(edge.reason),
            }
        };
        edges.iter().map(link).collect()
    }

    pub(super) fn reason(&self, reason: Reason) -> Reason<OpId> {
        match reason {
            Reason::Process => Reason::Process,
            Reason::Quiet => Reason::Quiet,
            Reason::SameValue => Reason::SameValue,
            Reason::ReadsFrom => Reason::ReadsFrom,
            Reason::Time => Reason::Time,
            Reason::Crash => Reason::Crash,
            Reason::Initial => Reason::Initial,
            Reason::NotYet => Reason::NotYet,
            Reason::Overwritten(read) => Reason::Overwritten(self.id(read)),
            Reason::Seen(read) => Reason::Seen(self.id(read)),
            Reason::Members(a, b) => Reason::Members(self.id(a), self.id(b)),
        }
    }
}
