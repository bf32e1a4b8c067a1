//! Deciding recorded histories straight from their columns.
//!
//! Where the [`Pattern`] of every method is known, a monitor can read what it needs off the columns of a history: no call is
//! decoded, no value looked at. Whatever does not fit, and every history that is not linearizable, goes the long way, where
//! values are checked, violations explained, and the search stands ready.

mod read;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rayon::prelude::*;

use read::{Acts, Columns, Reader, Turns, Unfit, Writes};

use super::{Config, EngineChoice, Witnesses};
use crate::engine::Budget;
use crate::engine::monitor::slot::bit::{self as bits, Bit};
use crate::engine::monitor::slot::register::{self, Rw};
use crate::engine::monitor::{self, Act, ContainerMonitor, Finding, Log};
use crate::error::Error;
use crate::history::{History, NEVER, OpId};
use crate::spec::{Kind, Pattern, Recorded};
use crate::value::Value;
use crate::verdict::replay::Replayed;
use crate::verdict::{PartReport, Verdict, Witness, certify};

/// The reports on all objects of a history, if each one is found linearizable; `None` to go the long way.
pub(super) fn check<S: Recorded>(
    object: &S,
    history: &History,
    config: &Config,
    budget: &Budget,
) -> Result<Option<Vec<PartReport>>, Error> {
    if !matches!(config.engine, EngineChoice::Auto | EngineChoice::Monitor)
        || budget.check().is_err()
        || budget.reserve_for(history.len(), 150).is_err()
    {
        return Ok(None);
    }
    let patterns: Option<Vec<Pattern>> = history
        .methods()
        .iter()
        .map(|method| object.pattern(method))
        .collect();
    let (Some(kind), Some(patterns)) = (object.kind(), patterns) else {
        return Ok(None);
    };
    let columns = Columns::new(history, patterns);
    let certify = config.witnesses == Witnesses::Certified;
    match kind {
        Kind::Queue => columns.decide_container(certify, &ContainerMonitor::Queue),
        Kind::Stack => columns.decide_container(certify, &ContainerMonitor::Stack),
        Kind::Bag => columns.decide_container(certify, &ContainerMonitor::Bag),
        Kind::MaxPriorityQueue | Kind::MinPriorityQueue => {
            let priorities = priorities(history.values(), kind == Kind::MinPriorityQueue);
            match priorities {
                Some(priorities) => {
                    columns.decide_container(certify, &ContainerMonitor::Priority(priorities))
                }
                None => Ok(None),
            }
        }
        Kind::Slot(initial) => {
            let is_register =
                |pattern: &Pattern| matches!(pattern, Pattern::Reads | Pattern::Writes);
            if columns.patterns.iter().all(is_register) {
                let initial = find(history, &initial);
                columns.decide(certify, Writes, &|log, certify| {
                    register_orders(log, initial, certify)
                })
            } else {
                columns.decide(certify, Turns, &bit_orders)
            }
        }
        _ => Ok(None),
    }
}

/// The number of a value; [`NEVER`] if it does not occur.
fn find(history: &History, wanted: &Value) -> u32 {
    history.find_value(wanted).unwrap_or(NEVER)
}

/// Decides a log, with an order that was replayed if that is wanted; `None` if it is not linearizable or not decided.
type Orders<'a, A> = &'a (dyn Fn(&Log<A>, bool) -> Result<Option<Vec<u32>>, Error> + Sync);

/// The operations of one object.
struct Gathered<A> {
    log: Log<A>,
    /// Their numbers in the history; `None` if these are their positions.
    ids: Option<Vec<u32>>,
}

impl Columns<'_> {
    fn decide_container(
        &self,
        certify: bool,
        shelf: &ContainerMonitor,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        let Some(acts) = Acts::of(self) else {
            return Ok(None);
        };
        self.decide(certify, acts, &|log, certify| {
            container_orders(shelf, log, certify)
        })
    }

    fn decide<A: Copy + Send + Sync>(
        &self,
        certify: bool,
        reader: impl Reader<A>,
        orders: Orders<'_, A>,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        let Ok(gathered) = self.gather(&reader) else {
            return Ok(None);
        };
        let decide = |(number, of): (usize, Gathered<A>)| {
            let ops = of.log.len();
            let Some(order) = orders(&of.log, certify)? else {
                return Ok(None);
            };
            let id = |op: u32| OpId(of.ids.as_ref().map_or(op, |ids| ids[op as usize]));
            let order = order.into_iter().map(id).collect();
            Ok(Some(PartReport {
                object: Value::Nil,
                object_number: number as u32,
                key: None,
                ops,
                verdict: Verdict::Linearizable(Witness {
                    order,
                    shown_by: None,
                }),
                engine: monitor::NAME,
                reason: "decided from the columns in log-linear time".into(),
            }))
        };
        let reports: Result<Vec<Option<PartReport>>, Error> = match gathered.len() {
            // Waking another thread takes longer than most small histories do.
            0 | 1 => gathered.into_iter().enumerate().map(decide).collect(),
            _ => gathered.into_par_iter().enumerate().map(decide).collect(),
        };
        Ok(reports?.into_iter().collect())
    }

    /// The operations of each object.
    fn gather<A: Copy + Send>(&self, reader: &impl Reader<A>) -> Result<Vec<Gathered<A>>, Unfit> {
        let history = self.history;
        let objects = history.objects().len();
        if objects == 1
            && !history.is_empty()
            && let Some(log) = self.whole(reader)
        {
            return Ok(vec![Gathered { log, ids: None }]);
        }
        let mut gathered: Vec<(Vec<A>, Vec<u32>, Vec<u32>)> = Vec::new();
        gathered.resize_with(objects, Default::default);
        for (op, row) in (0..).zip(self.rows(0..history.len())) {
            let Some((act, value)) = reader.one(self, row)? else {
                continue;
            };
            let object = history.object_number(OpId(op));
            let (acts, values, ids) = &mut gathered[object.0 as usize];
            acts.push(act);
            values.push(value);
            ids.push(op);
        }
        let gathered = gathered.into_iter().map(|(acts, values, ids)| {
            let pick = |ranks: &[u32]| ids.iter().map(|&i| ranks[i as usize]).collect();
            Gathered {
                log: Log::new(acts, values, pick(history.calls()), pick(history.rets())),
                ids: Some(ids),
            }
        });
        Ok(gathered.collect())
    }

    /// All operations, if each of them fits and matters: the ranks are those of the history.
    fn whole<A: Copy + Send>(&self, reader: &impl Reader<A>) -> Option<Log<A>> {
        /// Fewer operations are read before another thread is awake.
        const SHARE: usize = 1 << 14;
        let ops = self.history.len();
        let (first, _) = reader.one(self, self.rows(0..1).next()?).ok()??;
        let (mut acts, mut values) = (vec![first; ops], vec![0; ops]);
        let read_share = |(number, (acts, values)): (usize, (&mut [A], &mut [u32]))| {
            reader.many(self, number * SHARE, acts, values)
        };
        let are_read = if ops <= SHARE {
            read_share((0, (&mut acts, &mut values)))
        } else {
            let shares = acts.par_chunks_mut(SHARE).zip(values.par_chunks_mut(SHARE));
            shares.enumerate().all(read_share)
        };
        let distinct = self.history.count_values() as u32;
        are_read.then(|| Log::of_history(acts, values, distinct, self.history.shared_ranks()))
    }
}

/// Of values that cannot be priorities, such as nil.
const NO_PRIORITY: u32 = u32::MAX - 1;

/// The rank of each value, larger ones served first, and [`NO_PRIORITY`] for what cannot be one; `None` if some are not plain
/// integers, which need a closer look.
fn priorities(values: &[Value], smallest_first: bool) -> Option<Vec<u32>> {
    let mut sorted = Vec::with_capacity(values.len());
    for (number, value) in (0u32..).zip(values) {
        match value {
            Value::Int(i) => sorted.push((*i, number)),
            Value::Nil | Value::Bool(_) => {}
            _ => return None,
        }
    }
    if smallest_first {
        sorted.sort_unstable_by_key(|&(value, _)| Reverse(value));
    } else {
        sorted.sort_unstable();
    }
    let mut ranks = vec![NO_PRIORITY; values.len()];
    for (rank, (_, number)) in (0u32..).zip(sorted) {
        ranks[number as usize] = rank;
    }
    Some(ranks)
}

/// Replays the order of a linearizable log on the object itself.
fn replayed<A: Copy, P>(
    log: &Log<A>,
    finding: Finding<P>,
    certify: bool,
    order: impl FnOnce(P) -> Vec<u32>,
    mut happens: impl FnMut(A, u32) -> bool,
) -> Result<Option<Vec<u32>>, Error> {
    match finding {
        Finding::Violation(_) => Ok(None),
        Finding::Linearizable(_) if !certify => Ok(Some(Vec::new())),
        Finding::Linearizable(proof) => {
            let order = order(proof);
            certify::log_order(&log.calls, &log.rets, &order, |op| {
                happens(log.acts[op], log.values[op])
            })?;
            Ok(Some(order))
        }
    }
}

fn container_orders(
    shelf: &ContainerMonitor,
    log: &Log<Act>,
    certify: bool,
) -> Result<Option<Vec<u32>>, Error> {
    let mut object = match shelf {
        ContainerMonitor::Queue => Replayed::Queue(VecDeque::new()),
        ContainerMonitor::Stack => Replayed::Stack(Vec::new()),
        ContainerMonitor::Bag => Replayed::Bag(vec![false; log.distinct as usize], 0),
        ContainerMonitor::Priority(of) => {
            let mut columns = log.acts.iter().zip(&log.values);
            let without = |(&act, &value): (&Act, &u32)| {
                act != Act::Empty && of[value as usize] == NO_PRIORITY
            };
            if columns.any(without) {
                return Ok(None);
            }
            Replayed::Heap(BinaryHeap::new(), of)
        }
    };
    let Ok(finding) = shelf.decide(log, certify) else {
        return Ok(None);
    };
    replayed(
        log,
        finding,
        certify,
        Option::unwrap_or_default,
        |act, value| object.happens(act, value),
    )
}

fn register_orders(log: &Log<Rw>, initial: u32, certify: bool) -> Result<Option<Vec<u32>>, Error> {
    let known = (initial != NEVER).then_some(initial);
    let Ok(finding) = register::decide(log, known) else {
        return Ok(None);
    };
    let mut held = initial;
    let witness = |()| register::witness(log, known);
    replayed(log, finding, certify, witness, |act, value| match act {
        Rw::Write => {
            held = value;
            true
        }
        Rw::Read => held == value,
    })
}

fn bit_orders(log: &Log<Bit>, certify: bool) -> Result<Option<Vec<u32>>, Error> {
    let finding = bits::decide(log, false);
    let mut on = vec![false; log.distinct as usize];
    let witness = |()| bits::witness(log, false);
    replayed(log, finding, certify, witness, |act, key| {
        let on = &mut on[key as usize];
        match act {
            Bit::TurnOn => !std::mem::replace(on, true),
            Bit::TurnOff => std::mem::replace(on, false),
            Bit::SeesOn => *on,
            Bit::SeesOff => !*on,
        }
    })
}
