//! From the roles of operations to the monitor that can decide them.

use super::container::disambiguate::{self, Ambiguous, Refusal};
use super::container::{ContainerMonitor, multiset, with_order};
use super::count::counter::{self, Count};
use super::count::semaphore::{self, Permits};
use super::slot::bit::{self as bits, Bit};
use super::slot::cell;
use super::slot::register::{self, Rw};
use super::{Act, Decision, Finding, Log, Suspect, snapshot};
use crate::engine::{Budget, Evidence, Facts, NotApplicable, TaskOp};
use crate::history::NEVER;
use crate::spec::{Kind, Need, Role};
use crate::value::{Value, ValueTable};

use Refusal::HandOn;

const NO_DEQUES: &str = "no monitor knows deques";

/// Whether some monitor decides objects of this kind.
pub(crate) fn knows(kind: &Kind) -> Result<(), NotApplicable> {
    match kind {
        Kind::Deque => Err(NotApplicable(NO_DEQUES)),
        _ => Ok(()),
    }
}

/// A task in the terms of one monitor.
#[derive(Debug)]
pub(crate) struct Monitored {
    monitor: Monitor,
    /// The positions of the log's operations in the task. Those that cannot matter are left out of the log.
    positions: Vec<u32>,
}

#[derive(Debug)]
enum Monitor {
    Container(ContainerMonitor, Ambiguous),
    Cell(Log<Act>),
    Bits(Log<Bit>, bool),
    Register(Log<Rw>, Option<u32>),
    Counter(Log<Count>, i64),
    Semaphore(Log<Permits>, u64),
    Multiset(Log<Act>),
    Snapshot(snapshot::Case),
}

impl Monitored {
    /// The monitor for a task, or why there is none.
    pub(crate) fn admit(task: &dyn Facts) -> Result<Self, Refusal> {
        let Some(kind) = task.kind() else {
            return Err(HandOn("no monitor knows this object"));
        };
        match kind {
            Kind::Queue => container(task, |_| ContainerMonitor::Queue),
            Kind::Stack => container(task, |_| ContainerMonitor::Stack),
            Kind::Bag => container(task, |_| ContainerMonitor::Bag).map(Monitored::or_multiset),
            Kind::MaxPriorityQueue => {
                container(task, |values| ContainerMonitor::Priority(ranks(values)))
            }
            Kind::MinPriorityQueue => container(task, |values| {
                let mut ranks = ranks(values);
                let last = ranks.len() as u32 - 1;
                ranks.iter_mut().for_each(|rank| *rank = last - *rank);
                ContainerMonitor::Priority(ranks)
            }),
            Kind::Deque => Err(HandOn(NO_DEQUES)),
            Kind::Slot(initial) => slot(task, initial),
            Kind::Counter(initial) => {
                let (log, positions) = counts(task, |count| count)?;
                let monitor = Monitor::Counter(log, *initial);
                Ok(Monitored { monitor, positions })
            }
            Kind::Semaphore(permits) => {
                let (log, positions) = counts(task, |Count { by, .. }| match by {
                    ..0 => Permits::Acquire(by.unsigned_abs()),
                    0.. => Permits::Release(by.unsigned_abs()),
                })?;
                let monitor = Monitor::Semaphore(log, *permits);
                Ok(Monitored { monitor, positions })
            }
            Kind::Snapshot(_) => Ok(Monitored {
                monitor: Monitor::Snapshot(snapshot::Case::new(task)?),
                positions: Vec::new(),
            }),
        }
    }

    /// A bag that nobody found empty, as a multiset: there, values may be in it several times, and pending removals need not
    /// have happened.
    fn or_multiset(self) -> Self {
        match self.monitor {
            Monitor::Container(ContainerMonitor::Bag, case) if !case.has_empties() => {
                let (log, positions) = case.without_lost();
                let monitor = Monitor::Multiset(log);
                Monitored { monitor, positions }
            }
            _ => self,
        }
    }

    /// How this monitor decides, in words.
    pub(crate) fn method(&self) -> &'static str {
        match &self.monitor {
            Monitor::Container(ContainerMonitor::Queue, _) => {
                "the queue monitor decides it in log-linear time"
            }
            Monitor::Container(ContainerMonitor::Stack, _) => {
                "the stack monitor decides it in log-linear time"
            }
            Monitor::Container(ContainerMonitor::Priority(_), _) => {
                "the priority queue monitor decides it in log-linear time"
            }
            Monitor::Container(ContainerMonitor::Bag, _) => {
                "the bag monitor decides it in log-linear time"
            }
            Monitor::Multiset(_) => "the multiset monitor decides it in log-linear time",
            Monitor::Cell(_) => "the cell monitor decides it in log-linear time",
            Monitor::Bits(..) => "the bit monitor decides it in log-linear time",
            Monitor::Register(..) => "the register monitor decides it in log-linear time",
            Monitor::Counter(..) => "the counter monitor decides it in log-linear time",
            Monitor::Semaphore(..) => "the semaphore monitor decides it in log-linear time",
            Monitor::Snapshot(case) => case.method(),
        }
    }

    /// Decides the task; positions are those of the task.
    pub(crate) fn decide(self, evidence: Evidence, budget: &Budget) -> Result<Decision, Refusal> {
        let wants_order = evidence == Evidence::Order;
        let repeated = |_| HandOn("values are put in more than once");
        let at = &self.positions;
        match self.monitor {
            Monitor::Container(shelf, case) => {
                disambiguate::decide(case, &shelf, wants_order, budget)
            }
            Monitor::Multiset(log) => {
                let finding = multiset::decide(&log).map_err(HandOn)?;
                let finding = with_order(finding, wants_order, |()| multiset::witness(&log));
                Ok(decision(&log, at, finding))
            }
            Monitor::Cell(log) => {
                let finding = cell::decide(&log).map_err(repeated)?;
                let finding = with_order(finding, wants_order, |()| cell::witness(&log));
                Ok(decision(&log, at, finding))
            }
            Monitor::Bits(log, on) => {
                let finding = bits::decide(&log, on);
                let finding = with_order(finding, wants_order, |()| bits::witness(&log, on));
                Ok(decision(&log, at, finding))
            }
            Monitor::Register(log, initial) => {
                let finding = register::decide(&log, initial).map_err(repeated)?;
                let witness = |()| register::witness(&log, initial);
                Ok(decision(
                    &log,
                    at,
                    with_order(finding, wants_order, witness),
                ))
            }
            Monitor::Counter(log, initial) => {
                let finding = counter::decide(&log, initial).map_err(HandOn)?;
                let witness = |()| counter::witness(&log, initial);
                Ok(decision(
                    &log,
                    at,
                    with_order(finding, wants_order, witness),
                ))
            }
            Monitor::Semaphore(log, permits) => {
                let finding = semaphore::decide(&log, permits).map_err(HandOn)?;
                let finding = with_order(finding, wants_order, |()| semaphore::witness(&log));
                Ok(decision(&log, at, finding))
            }
            Monitor::Snapshot(case) => case.decide(wants_order),
        }
    }
}

/// ViolationKind a finding says about the task in which the operations of the log stand at these positions.
fn decision<A>(log: &Log<A>, at: &[u32], finding: Finding<Option<Vec<u32>>>) -> Decision {
    match finding {
        Finding::Linearizable(order) => Decision::Linearizable(
            order.map(|order| order.into_iter().map(|op| at[op as usize]).collect()),
        ),
        Finding::Violation(contradiction) => {
            let suspect = |&op: &u32| Suspect {
                position: at[op as usize],
                is_open: log.rets[op as usize] > contradiction.cut,
            };
            Decision::Violation(contradiction.ops.iter().map(suspect).collect())
        }
    }
}

/// The operations that can matter, with their positions: pending ones that change nothing do not.
pub(crate) fn relevant(task: &dyn Facts) -> impl Iterator<Item = (u32, TaskOp)> + '_ {
    (0u32..)
        .zip(task.ops().iter().copied())
        .filter(|(_, op)| op.ret != NEVER || !task.is_pure(*op))
}

fn container(
    task: &dyn Facts,
    shelf: impl Fn(&[Value]) -> ContainerMonitor,
) -> Result<Monitored, Refusal> {
    let mut values = ValueTable::default();
    let mut case = Ambiguous::default();
    for (position, op) in relevant(task) {
        let (act, value) = match task.role(op) {
            Role::Adds(value) => (Act::Add, values.intern(value.into())),
            Role::Removes(value) => (Act::Remove, values.intern(value.into())),
            Role::Peeks(value) => (Act::Peek, values.intern(value.into())),
            Role::Empty => (Act::Empty, 0),
            Role::RemovesSome => {
                case.push_lost(position, op.call);
                continue;
            }
            _ => return Err(HandOn("some operation is about all values at once")),
        };
        case.push(position, act, value, op.call, op.ret);
    }
    Ok(Monitored {
        monitor: Monitor::Container(shelf(values.items()), case),
        positions: Vec::new(),
    })
}

/// Where each value stands among all of them, in their order. Without values there is still number 0, which empty results
/// carry.
fn ranks(values: &[Value]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..values.len() as u32).collect();
    sorted.sort_unstable_by(|&a, &b| values[a as usize].cmp(&values[b as usize]));
    let mut ranks = vec![0; values.len().max(1)];
    (0u32..)
        .zip(sorted)
        .for_each(|(rank, value)| ranks[value as usize] = rank);
    ranks
}

/// ViolationKind an operation does to a slot, in value numbers.
#[derive(Clone, Copy)]
enum SlotAct {
    Reads(u32),
    Writes(u32),
    Replaces(u32, u32),
    /// Finds something other than the first; leaves the second, if that is told.
    Differs(u32, Option<u32>),
}

/// The number of the slot's first value.
const INITIAL: u32 = 0;

fn slot(task: &dyn Facts, initial: &Value) -> Result<Monitored, Refusal> {
    let mut values = ValueTable::default();
    assert_eq!(values.intern(initial.clone().into()), INITIAL);
    let mut ops = Vec::new();
    let (mut overwrites, mut exchanges) = (false, false);
    for (position, op) in relevant(task) {
        let Role::Slot { needs, leaves } = task.role(op) else {
            return Err(HandOn(
                "some operation is not a plain read, write or exchange",
            ));
        };
        let leaves = leaves.map(|value| values.intern(value.into()));
        let act = match (needs, leaves) {
            (Need::Anything, None) => continue,
            (Need::Anything, Some(value)) => SlotAct::Writes(value),
            (Need::IsNot(value), leaves) => SlotAct::Differs(values.intern(value.into()), leaves),
            (Need::Is(value), leaves) => match (values.intern(value.into()), leaves) {
                (value, Some(left)) if left != value => SlotAct::Replaces(value, left),
                (value, _) => SlotAct::Reads(value),
            },
        };
        overwrites |= matches!(act, SlotAct::Writes(_));
        exchanges |= matches!(act, SlotAct::Replaces(..) | SlotAct::Differs(..));
        // As soon as that is plain, so that a long history is not read in vain.
        if overwrites && exchanges {
            return Err(HandOn("values are overwritten and exchanged"));
        }
        ops.push((position, op, act));
    }
    if !exchanges {
        Ok(register(&ops))
    } else if values.items().len() <= 2 {
        Ok(bit(&ops))
    } else {
        one_place(&ops)
    }
}

type SlotOp = (u32, TaskOp, SlotAct);

fn log_of<A>(ops: &[SlotOp], acts: Vec<A>, values: Vec<u32>) -> Log<A> {
    let (calls, rets) = ops.iter().map(|(_, op, _)| (op.call, op.ret)).unzip();
    Log::new(acts, values, calls, rets)
}

fn positions(ops: &[SlotOp]) -> Vec<u32> {
    ops.iter().map(|&(position, ..)| position).collect()
}

fn register(ops: &[SlotOp]) -> Monitored {
    let (acts, values) = ops
        .iter()
        .map(|&(.., act)| match act {
            SlotAct::Writes(value) => (Rw::Write, value),
            SlotAct::Reads(value) | SlotAct::Replaces(value, _) | SlotAct::Differs(value, _) => {
                (Rw::Read, value)
            }
        })
        .unzip();
    Monitored {
        monitor: Monitor::Register(log_of(ops, acts, values), Some(INITIAL)),
        positions: positions(ops),
    }
}

/// Two values, the initial one and another: a bit, on when it holds the other one.
fn bit(ops: &[SlotOp]) -> Monitored {
    let other = |value: u32| 1 - value;
    let act = |&(.., act): &SlotOp| {
        let (found, left) = match act {
            SlotAct::Reads(value) | SlotAct::Writes(value) => (value, value),
            SlotAct::Replaces(from, to) => (from, to),
            SlotAct::Differs(from, to) => (other(from), to.unwrap_or(other(from))),
        };
        match (found, left) {
            (INITIAL, INITIAL) => Bit::SeesOff,
            (INITIAL, _) => Bit::TurnOn,
            (_, INITIAL) => Bit::TurnOff,
            _ => Bit::SeesOn,
        }
    };
    let acts = ops.iter().map(act).collect();
    Monitored {
        monitor: Monitor::Bits(log_of(ops, acts, vec![0; ops.len()]), false),
        positions: positions(ops),
    }
}

/// Values come in only when the initial value is there, and it comes back only in their place: a container for one.
fn one_place(ops: &[SlotOp]) -> Result<Monitored, Refusal> {
    let act = |&(_, op, act): &SlotOp| match act {
        SlotAct::Reads(INITIAL) => Ok((Act::Empty, 0)),
        SlotAct::Reads(value) => Ok((Act::Peek, value)),
        SlotAct::Replaces(INITIAL, value) => Ok((Act::Add, value)),
        SlotAct::Replaces(value, INITIAL) if op.ret != NEVER => Ok((Act::Remove, value)),
        SlotAct::Replaces(..) => Err(HandOn("values are exchanged for each other")),
        SlotAct::Writes(_) => Err(HandOn("values are overwritten and exchanged")),
        SlotAct::Differs(..) => Err(HandOn("some operation only tells what was not there")),
    };
    let acts: Result<Vec<_>, _> = ops.iter().map(act).collect();
    let (acts, values) = acts?.into_iter().unzip();
    Ok(Monitored {
        monitor: Monitor::Cell(log_of(ops, acts, values)),
        positions: positions(ops),
    })
}

/// The operations on a count, as `read` sees them.
fn counts<A>(task: &dyn Facts, read: impl Fn(Count) -> A) -> Result<(Log<A>, Vec<u32>), Refusal> {
    let (mut acts, mut calls, mut rets, mut positions) = (vec![], vec![], vec![], vec![]);
    for (position, op) in relevant(task) {
        let Role::Counts { by, seen } = task.role(op) else {
            return Err(HandOn("some operation depends on the count"));
        };
        acts.push(read(Count { by, seen }));
        calls.push(op.call);
        rets.push(op.ret);
        positions.push(position);
    }
    let values = vec![0; acts.len()];
    Ok((Log::new(acts, values, calls, rets), positions))
}
