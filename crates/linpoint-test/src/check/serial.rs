//! Phase 1: all serial executions of a test, stuck ones included. They are the specification of phase 2.
//!
//! The phase has no bound. So all that a deterministic specification allows in this test has been observed, and every
//! failure of phase 2 is a proof. The phase runs twice to detect objects that depend on time, chance or state that survives
//! between executions; their serial executions are no specification.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Instant;

use smallvec::SmallVec;

use crate::Map;
use crate::runtime::causality::Past;
use crate::runtime::execution::{
    Causality, Choice, End, Outcome, Settings, Switches, Trace, Words,
};
use crate::runtime::history::History;
use crate::runtime::run::Flow;
use crate::search::dfs::Dfs;

use super::{Test, explore};

/// Serial histories with the same results.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The orders of the operations.
    pub(crate) orders: Vec<Box<[u8]>>,
    /// For each order and each operation, the mask of the operations before it.
    before: Vec<u64>,
    /// See [`prefixes`](Self::prefixes).
    prefixes: OnceCell<Vec<Vec<(u64, Orders)>>>,
    /// By operation and set of operations: the orders in which the set precedes the operation.
    after: RefCell<Map<(usize, u64), Orders>>,
    /// The order that explained the last history. It is tried first, since it often explains the next one, too.
    recent: Cell<usize>,
}

/// Up to this many orders are tried one after the other.
const FEW: usize = 64;

/// A set of orders of a group, one bit each.
pub(crate) type Orders = SmallVec<[u64; 4]>;

impl Group {
    fn add(&mut self, order: Box<[u8]>, ops: usize) {
        let start = self.before.len();
        self.before.resize(start + ops, 0);
        let mut done = 0;
        for &op in &order {
            self.before[start + usize::from(op)] = done;
            done |= 1 << op;
        }
        self.orders.push(order);
    }

    /// For each operation, the mask of the operations before it in this order.
    pub(crate) fn before(&self, order: usize) -> &[u64] {
        let ops = self.before.len() / self.orders.len();
        &self.before[order * ops..(order + 1) * ops]
    }

    /// Whether some order explains a history with these outcomes, where `before` has, for each operation, the mask of those
    /// that returned before its call: the order must have them before the operation, too.
    pub(crate) fn explains(&self, outcomes: &[Outcome], before: &[u64]) -> bool {
        let ops = outcomes.len();
        let fits = |&order: &usize| {
            let serial = &self.before[order * ops..(order + 1) * ops];
            let mut ops = outcomes.iter().zip(before.iter().zip(serial));
            ops.all(|(outcome, (before, serial))| {
                before & !serial == 0 || *outcome == Outcome::ABSENT
            })
        };
        if fits(&self.recent.get()) {
            return true;
        }
        let found = match self.orders.len() {
            ..=FEW => (0..self.orders.len()).find(fits),
            _ => self.find(outcomes, before),
        };
        self.recent.set(found.unwrap_or_default());
        found.is_some()
    }

    /// Returns an order that explains the history; see [`explains`](Self::explains). Intersects the sets of orders that fit
    /// each operation, which is faster for many orders.
    fn find(&self, outcomes: &[Outcome], before: &[u64]) -> Option<usize> {
        let mut left = self.all();
        let mut after = self.after.borrow_mut();
        for op in (0..outcomes.len()).filter(|&op| outcomes[op] != Outcome::ABSENT) {
            let orders = after.entry((op, before[op])).or_insert_with(|| {
                let mut orders: Orders = SmallVec::from_elem(0, left.len());
                let prefixes = self.prefixes(op).iter();
                for (_, some) in prefixes.filter(|(prefix, _)| before[op] & !prefix == 0) {
                    orders
                        .iter_mut()
                        .zip(some)
                        .for_each(|(all, some)| *all |= some);
                }
                orders
            });
            left.iter_mut()
                .zip(orders)
                .for_each(|(left, orders)| *left &= *orders);
        }
        let word = left.iter().position(|&word| word != 0)?;
        Some(word * 64 + left[word].trailing_zeros() as usize)
    }

    /// All orders.
    pub(crate) fn all(&self) -> Orders {
        let mut all = SmallVec::from_elem(u64::MAX, self.orders.len().div_ceil(64));
        if let (Some(last), rest @ 1..) = (all.last_mut(), self.orders.len() % 64) {
            *last = (1 << rest) - 1;
        }
        all
    }

    /// The sets of operations that precede `op` in some order, each with these orders. There are few sets, even of many orders.
    pub(crate) fn prefixes(&self, op: usize) -> &[(u64, Orders)] {
        let ops = self.before.len() / self.orders.len();
        &self.prefixes.get_or_init(|| {
            let mut prefixes: Vec<Map<u64, Orders>> = vec![Map::default(); ops];
            for (order, before) in self.before.chunks_exact(ops).enumerate() {
                for (&prefix, known) in before.iter().zip(&mut prefixes) {
                    let orders = known
                        .entry(prefix)
                        .or_insert_with(|| SmallVec::from_elem(0, self.orders.len().div_ceil(64)));
                    orders[order / 64] |= 1 << (order % 64);
                }
            }
            let sets = prefixes.into_iter();
            sets.map(|known| known.into_iter().collect()).collect()
        })[op]
    }
}

/// The serial histories of a test.
#[derive(Debug, Default)]
pub(crate) struct Serial {
    /// By the results of all operations.
    pub(crate) full: Map<Box<[Outcome]>, Group>,
    /// By the results of the operations that returned. Invariant: exactly one operation is pending.
    pub(crate) stuck: Map<Box<[Outcome]>, Group>,
    pub(crate) histories: usize,
    pub(crate) stuck_histories: usize,
}

/// Why the serial executions are no specification.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Two histories agree up to a call and differ in its result.
    Nondeterministic(Box<[History; 2]>),
    /// An operation blocks that was not declared to.
    Blocks {
        history: Box<History>,
        op: usize,
        schedule: Vec<Choice>,
    },
    /// An invariant does not hold after this history, for this reason.
    Invariant(Box<History>, String),
    /// A serial execution does not end.
    TooLong,
    Fault(String),
    /// The deadline passed after `executions`, of at most `of`, both rounds together.
    OutOfTime {
        executions: u64,
        of: u64,
    },
}

impl Serial {
    /// Enumerates the serial histories of a test.
    pub(crate) fn of(
        program: &Rc<dyn Test>,
        max_steps: usize,
        deadline: Option<Instant>,
    ) -> Result<Serial, Refused> {
        let mut serial = Serial::default();
        let mut observed = Observed::default();
        let of = program.layout().serial_executions().saturating_mul(2);
        let mut executions = 0u64;
        for round in 0..2 {
            let mut refused = None;
            let settings = Settings {
                switches: Switches::BetweenOperations,
                causality: Causality::Ignored,
                words: Words::Omitted,
                max_steps,
            };
            explore(program, settings, Dfs::serial(), |trace, _| {
                executions += 1;
                let seen = if executions.is_multiple_of(1024)
                    && deadline.is_some_and(|deadline| Instant::now() > deadline)
                {
                    Err(Refused::OutOfTime { executions, of })
                } else {
                    examine(program, trace, &mut observed)
                };
                match seen {
                    Ok(()) if round == 0 => {
                        let history = trace.history();
                        let told = history
                            .outcomes
                            .iter()
                            .map(|&outcome| program.told(outcome));
                        let told: SmallVec<[Outcome; 16]> = told.collect();
                        serial.insert(&told, history.call_order().collect());
                    }
                    Ok(()) => {}
                    Err(why) => {
                        refused = Some(why);
                        return Flow::Enough;
                    }
                }
                Flow::More
            });
            if let Some(why) = refused {
                return Err(why);
            }
        }
        Ok(serial)
    }

    /// Adds a serial history: the results of all operations, and the order of those that were called. It is stuck if one is
    /// pending.
    pub(super) fn insert(&mut self, outcomes: &[Outcome], order: Box<[u8]>) {
        let ops = outcomes.len();
        let groups = if outcomes.contains(&Outcome::PENDING) {
            self.stuck_histories += 1;
            &mut self.stuck
        } else {
            &mut self.full
        };
        self.histories += 1;
        match groups.get_mut(outcomes) {
            Some(group) => group.add(order, ops),
            None => groups.entry(outcomes.into()).or_default().add(order, ops),
        }
    }
}

/// The outcome after each prefix that ends in a call, and the number of the history in which it was first observed.
#[derive(Default)]
struct Observed {
    known: Map<Past, (Outcome, usize)>,
    histories: Vec<History>,
}

/// Checks an execution against those before it, and notes its outcomes.
fn examine(program: &Rc<dyn Test>, trace: &Trace, observed: &mut Observed) -> Result<(), Refused> {
    match trace.end() {
        End::Complete | End::Stuck => {}
        End::Fault(why) => return Err(Refused::Fault(why.clone())),
        _ => return Err(Refused::TooLong),
    }
    let history = trace.history();
    if let Some(broken) = trace.broken() {
        let history = Box::new(history.clone());
        return Err(Refused::Invariant(history, broken.to_owned()));
    }
    let mut prefix = Past::default();
    let mut noted = None;
    for op in history.call_order().map(usize::from) {
        let outcome = history.outcomes[op];
        prefix = prefix.then(op as u64);
        if outcome == Outcome::PENDING && !program.may_block(op) {
            return Err(Refused::Blocks {
                history: Box::new(history.clone()),
                op,
                schedule: trace.schedule().to_vec(),
            });
        }
        match observed.known.get(&prefix) {
            None => {
                let histories = &mut observed.histories;
                let number = *noted.get_or_insert_with(|| {
                    histories.push(history.clone());
                    histories.len() - 1
                });
                observed.known.insert(prefix, (outcome, number));
            }
            Some(&(known, number)) if known != outcome && !program.may_vary(op) => {
                let other = observed.histories[number].clone();
                return Err(Refused::Nondeterministic(Box::new([
                    other,
                    history.clone(),
                ])));
            }
            Some(_) => {}
        }
        prefix = prefix.then(u64::from(outcome.0));
    }
    Ok(())
}
