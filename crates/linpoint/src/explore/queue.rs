//! Simple histories of queues: three values are enough to verify a queue that does not depend on the values it stores.
//!
//! A history of a queue is *simple* if 1 and 2 are enqueued at most once each, and all other operations enqueue 0. It is
//! judged by what happens to 1 and 2 alone, with a state of a few bits and one for each open dequeue: [`SimpleQueue`]. The
//! theorem, with its proof, is in `docs/verify.md`: a data-independent queue whose dequeues wait while it is empty, and whose
//! open operations can always be completed, is linearizable if and only if all its simple histories are accepted.
//!
//! The conditions are those of Henzinger, Sezgin and Vafeiadis, *Aspect-Oriented Linearizability Proofs* (CONCUR 2013).

use std::fmt;

use super::bits::Bits;
use super::method::{Outcome, confirm, history_of_events, run_within};
use super::observe::Observer;
use super::program::{Algorithm, Bounds, Client, Offers, Reductions};
use super::search::Explored;
use crate::engine::Budget;
use crate::error::Error;
use crate::spec::{Outcomes, Spec};

/// An operation of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueOp {
    /// Adds a value at the end.
    Enqueue(u8),
    /// Removes the first value; waits while there is none.
    Dequeue,
}

/// A result of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueRet {
    /// An enqueue returns.
    Done,
    /// A dequeue returns this value.
    Value(u8),
}

/// The specification: values leave in the order in which they came, and a dequeue waits for one.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl Spec for Fifo {
    type Op = QueueOp;
    type Ret = QueueRet;
    type State = Vec<u8>;

    fn init(&self) -> Vec<u8> {
        Vec::new()
    }

    fn apply(&self, queue: &Vec<u8>, op: &QueueOp) -> Outcomes<QueueRet, Vec<u8>> {
        match (op, &queue[..]) {
            (QueueOp::Enqueue(value), _) => {
                let mut next = queue.clone();
                next.push(*value);
                Outcomes::One(QueueRet::Done, next)
            }
            (QueueOp::Dequeue, []) => Outcomes::Blocked,
            (QueueOp::Dequeue, [first, rest @ ..]) => {
                Outcomes::One(QueueRet::Value(*first), rest.to_vec())
            }
        }
    }
}

/// One of the two values that a simple history is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Marked {
    One,
    Two,
}

impl Marked {
    const BOTH: [Marked; 2] = [Marked::One, Marked::Two];

    fn of(value: u8) -> Option<Self> {
        match value {
            1 => Some(Marked::One),
            2 => Some(Marked::Two),
            _ => None,
        }
    }

    fn value(self) -> u8 {
        self as u8 + 1
    }

    fn other(self) -> Self {
        match self {
            Marked::One => Marked::Two,
            Marked::Two => Marked::One,
        }
    }
}

/// Why a simple history of a queue is not linearizable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueViolation {
    /// This value was dequeued before it was enqueued.
    Fresh(u8),
    /// This value was dequeued twice.
    Repeat(u8),
    /// The first value was enqueued before the second, and the second was dequeued, although the first was not, or only
    /// by a dequeue that began later.
    Order(u8, u8),
}

impl fmt::Display for QueueViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueViolation::Fresh(value) => {
                write!(f, "{value} is dequeued before its enqueue has begun")
            }
            QueueViolation::Repeat(value) => write!(f, "{value} is dequeued twice"),
            QueueViolation::Order(first, second) => write!(
                f,
                "{second} is dequeued, but {first}, whose enqueue had finished before that of {second} began, by no dequeue that began in time"
            ),
        }
    }
}

/// How far the enqueue of a marked value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Progress {
    #[default]
    None,
    /// Its process has it open.
    Open(u8),
    Done,
}

/// Watches a simple history of a queue, event by event.
///
/// ```
/// use linpoint::explore::queue::{QueueOp, QueueRet, QueueViolation, SimpleQueue};
/// let mut queue = SimpleQueue::default();
/// for value in [1, 2] {
///     queue.called(0, QueueOp::Enqueue(value));
///     queue.returned(0, QueueRet::Done)?;
/// }
/// queue.called(1, QueueOp::Dequeue);
/// let second = queue.returned(1, QueueRet::Value(2));
/// assert_eq!(second, Err(QueueViolation::Order(1, 2)));
/// # Ok::<(), QueueViolation>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SimpleQueue {
    enqueued: [Progress; 2],
    dequeued: [bool; 2],
    /// The value whose enqueue had finished before that of the other began.
    ahead: Option<Marked>,
    /// The processes that have a dequeue open, as bits.
    open: u16,
    /// If not empty: the other value was dequeued, and one of these open dequeues must return the one ahead.
    owing: u16,
}

impl SimpleQueue {
    /// Process `p`, below 16, calls an operation.
    pub fn called(&mut self, p: usize, op: QueueOp) {
        match op {
            QueueOp::Dequeue => self.open |= 1 << p,
            QueueOp::Enqueue(value) => {
                let Some(value) = Marked::of(value) else {
                    return;
                };
                self.enqueued[value as usize] = Progress::Open(p as u8);
                if self.enqueued[value.other() as usize] == Progress::Done {
                    self.ahead = Some(value.other());
                }
            }
        }
    }

    /// The open operation of process `p` returns; an error if the history is not linearizable from here on.
    pub fn returned(&mut self, p: usize, ret: QueueRet) -> Result<(), QueueViolation> {
        match ret {
            QueueRet::Done => {
                for progress in &mut self.enqueued {
                    if *progress == Progress::Open(p as u8) {
                        *progress = Progress::Done;
                    }
                }
                Ok(())
            }
            QueueRet::Value(value) => {
                self.open &= !(1 << p);
                match Marked::of(value) {
                    Some(value) => self.dequeue(p, value),
                    None => self.owe(p),
                }
            }
        }
    }

    fn dequeue(&mut self, p: usize, value: Marked) -> Result<(), QueueViolation> {
        if self.enqueued[value as usize] == Progress::None {
            return Err(QueueViolation::Fresh(value.value()));
        }
        if std::mem::replace(&mut self.dequeued[value as usize], true) {
            return Err(QueueViolation::Repeat(value.value()));
        }
        if self.ahead == Some(value.other()) && !self.dequeued[value.other() as usize] {
            self.owing = self.open;
            return match self.owing {
                0 => Err(QueueViolation::Order(value.other().value(), value.value())),
                _ => Ok(()),
            };
        }
        // The value ahead is dequeued after the other one: by a dequeue that had begun by then.
        match std::mem::take(&mut self.owing) {
            0 => Ok(()),
            owing if owing >> p & 1 != 0 => Ok(()),
            _ => Err(QueueViolation::Order(value.value(), value.other().value())),
        }
    }

    /// The dequeue of process `p` did not return a marked value.
    fn owe(&mut self, p: usize) -> Result<(), QueueViolation> {
        let before = self.owing;
        self.owing &= !(1 << p);
        match self.ahead {
            Some(ahead) if before != 0 && self.owing == 0 => {
                Err(QueueViolation::Order(ahead.value(), ahead.other().value()))
            }
            _ => Ok(()),
        }
    }
}

/// The monitor as an observer.
#[derive(Clone, Copy, Debug)]
struct Watch {
    processes: u32,
}

impl Observer<QueueOp, QueueRet> for Watch {
    type State = SimpleQueue;

    fn start(&self) -> SimpleQueue {
        SimpleQueue::default()
    }

    fn called(&self, state: &mut SimpleQueue, p: usize, op: &QueueOp) {
        state.called(p, *op);
    }

    fn returned(&self, state: &mut SimpleQueue, p: usize, ret: &QueueRet) -> Result<(), String> {
        let returned = state.returned(p, *ret);
        returned.map_err(|violation| violation.to_string())
    }

    fn layout<B: Bits>(&self, state: &mut SimpleQueue, bits: &mut B) {
        for (progress, dequeued) in state.enqueued.iter_mut().zip(&mut state.dequeued) {
            let mut code = match *progress {
                Progress::None => 0,
                Progress::Done => 1,
                Progress::Open(p) => 2 + p,
            };
            bits.int(&mut code, 5);
            *progress = match code {
                0 => Progress::None,
                1 => Progress::Done,
                code => Progress::Open(code - 2),
            };
            bits.flag(dequeued);
        }
        let mut ahead = state.ahead.map_or(0, Marked::value);
        bits.int(&mut ahead, 2);
        state.ahead = Marked::of(ahead);
        bits.set(&mut state.open, self.processes);
        bits.set(&mut state.owing, self.processes);
    }
}

/// The client of simple histories: every process enqueues 0 and dequeues; one process enqueues 1 once, and one, which may be
/// the same, 2.
#[derive(Clone, Copy, Debug)]
pub struct SimpleQueueClient {
    /// The processes that enqueue 1 and 2.
    pub enqueuers: [usize; 2],
}

impl Client<QueueOp> for SimpleQueueClient {
    fn offers(&self, p: usize, done: u8) -> Vec<(QueueOp, u8)> {
        let marked = Marked::BOTH.into_iter().filter_map(|value| {
            let bit = 1 << value as u8;
            let may = self.enqueuers[value as usize] == p && done & bit == 0;
            may.then_some((QueueOp::Enqueue(value.value()), done | bit))
        });
        let others = [(QueueOp::Enqueue(0), done), (QueueOp::Dequeue, done)];
        marked.chain(others).collect()
    }
}

/// Explores all simple executions of a queue within the bounds, for all processes that may enqueue 1 and 2.
///
/// The algorithm must not depend on the values it stores; then it is linearizable if and only if all its simple executions
/// are. The general search confirms a bug.
pub fn verify_queue<A: Algorithm<Op = QueueOp, Ret = QueueRet>>(
    algorithm: &A,
    bounds: &Bounds,
    reductions: Reductions,
    budget: &Budget,
    explored: &Explored,
) -> Result<Outcome<QueueOp, QueueRet>, Error> {
    let n = algorithm.processes();
    let watch = Watch {
        processes: n as u32,
    };
    let enqueuers = (0..n).flat_map(|first| (0..n).map(move |second| [first, second]));
    for enqueuers in enqueuers {
        let offers = Offers::of(&SimpleQueueClient { enqueuers }, n, bounds);
        let outcome = run_within(
            algorithm, &offers, watch, bounds, reductions, budget, explored,
        )?;
        match outcome {
            Outcome::Verified => {}
            Outcome::Bug(execution) => {
                confirm(&Fifo, &history_of_events(n, execution.events()))?;
                return Ok(Outcome::Bug(execution));
            }
            Outcome::Undecided(limit) => return Ok(Outcome::Undecided(limit)),
        }
    }
    Ok(Outcome::Verified)
}
