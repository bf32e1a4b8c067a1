//! Deciding recorded histories straight from their columns.
//!
//! Where the [`Pattern`] of every method is known, a monitor can read what it needs off the columns of a history: no call is
//! decoded, no value looked at. Whatever does not fit, and every history that is not linearizable, goes the long way, where
//! values are checked, violations explained, and the search stands ready.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rayon::prelude::*;

use super::{Config, EngineChoice, Witnesses};
use crate::engine::Budget;
use crate::engine::monitor::bits::{self, Bit};
use crate::engine::monitor::register::{self, Rw};
use crate::engine::monitor::{self, Act, Finding, Log, Shelf};
use crate::error::Error;
use crate::history::{History, NEVER, OpId};
use crate::spec::{Kind, Object, Pattern};
use crate::value::Value;
use crate::verdict::replay::Replayed;
use crate::verdict::{PartReport, Verdict, Witness, certify};

/// The reports on all objects of a history, if each one is found linearizable; `None` to go the long way.
pub(super) fn check<S: Object>(
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
        Kind::Queue => columns.decide_container(certify, &Shelf::Queue),
        Kind::Stack => columns.decide_container(certify, &Shelf::Stack),
        Kind::Bag => columns.decide_container(certify, &Shelf::Bag),
        Kind::MaxPriorityQueue | Kind::MinPriorityQueue => {
            let priorities = priorities(history.values(), kind == Kind::MinPriorityQueue);
            match priorities {
                Some(priorities) => columns.decide_container(certify, &Shelf::Priority(priorities)),
                None => Ok(None),
            }
        }
        Kind::Slot(initial) => {
            let is_register =
                |pattern: &Pattern| matches!(pattern, Pattern::Reads | Pattern::Writes);
            if columns.patterns.iter().all(is_register) {
                let initial = find(history.values(), &initial);
                columns.decide(certify, Columns::rw, &|log, certify| {
                    register_orders(log, initial, certify)
                })
            } else {
                columns.decide(certify, Columns::bit, &bit_orders)
            }
        }
        _ => Ok(None),
    }
}

/// The number of a value; [`NEVER`] if it does not occur.
fn find(values: &[Value], wanted: &Value) -> u32 {
    let found = values.iter().position(|value| value == wanted);
    found.map_or(NEVER, |number| number as u32)
}

struct Columns<'a> {
    history: &'a History,
    /// By method.
    patterns: Vec<Pattern>,
    nil: u32,
}

/// What an operation does with which value; `None` if it cannot matter, an error if it does not fit the pattern.
type Reading<A> = Result<Option<(A, u32)>, Unfit>;

/// Something that only the long way can tell.
struct Unfit;

/// Decides a log, with an order that was replayed if that is wanted; `None` if it is not linearizable or not decided.
type Orders<'a, A> = &'a (dyn Fn(&Log<A>, bool) -> Result<Option<Vec<u32>>, Error> + Sync);

/// The operations of one object.
struct Gathered<A> {
    acts: Vec<A>,
    values: Vec<u32>,
    calls: Vec<u32>,
    rets: Vec<u32>,
    /// Their numbers in the history; `None` if these are their positions.
    ids: Option<Vec<u32>>,
}

impl<'a> Columns<'a> {
    fn new(history: &'a History, patterns: Vec<Pattern>) -> Self {
        Columns {
            history,
            patterns,
            nil: find(history.values(), &Value::Nil),
        }
    }

    fn decide_container(
        &self,
        certify: bool,
        shelf: &Shelf,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        self.decide(certify, Columns::act, &|log, certify| {
            container_orders(shelf, log, certify)
        })
    }

    fn decide<A: Copy + Send + Sync>(
        &self,
        certify: bool,
        read: impl Fn(&Self, usize, Pattern) -> Reading<A>,
        orders: Orders<'_, A>,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        let Ok(gathered) = self.gather(read) else {
            return Ok(None);
        };
        let decide = |(number, of): (usize, Gathered<A>)| {
            let ops = of.acts.len();
            let log = Log::new(of.acts, of.values, of.calls, of.rets);
            let Some(order) = orders(&log, certify)? else {
                return Ok(None);
            };
            let id = |op: u32| OpId(of.ids.as_ref().map_or(op, |ids| ids[op as usize]));
            let order = order.into_iter().map(id).collect();
            Ok(Some(PartReport {
                object: Value::Nil,
                object_number: number as u32,
                key: None,
                ops,
                verdict: Verdict::Linearizable(Witness { order }),
                engine: monitor::NAME,
                reason: "decided from the columns in log-linear time".into(),
                shown_by: None,
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
    fn gather<A>(
        &self,
        read: impl Fn(&Self, usize, Pattern) -> Reading<A>,
    ) -> Result<Vec<Gathered<A>>, Unfit> {
        let history = self.history;
        let objects = history.objects().len();
        if objects == 1
            && let Some(whole) = self.gather_whole(&read)?
        {
            return Ok(vec![whole]);
        }
        let mut gathered: Vec<Gathered<A>> = (0..objects)
            .map(|_| Gathered {
                acts: Vec::new(),
                values: Vec::new(),
                calls: Vec::new(),
                rets: Vec::new(),
                ids: Some(Vec::new()),
            })
            .collect();
        for i in 0..history.len() {
            let pattern = self.patterns[history.method_column()[i].0 as usize];
            let Some((act, value)) = read(self, i, pattern)? else {
                continue;
            };
            let of = &mut gathered[history.object_column()[i].0 as usize];
            of.acts.push(act);
            of.values.push(value);
            of.calls.push(history.calls()[i]);
            of.rets.push(history.rets()[i]);
            of.ids.get_or_insert_default().push(i as u32);
        }
        Ok(gathered)
    }

    /// All operations, if each of them matters: ranks are copied as they are.
    fn gather_whole<A>(
        &self,
        read: &impl Fn(&Self, usize, Pattern) -> Reading<A>,
    ) -> Result<Option<Gathered<A>>, Unfit> {
        let history = self.history;
        let mut acts = Vec::with_capacity(history.len());
        let mut values = Vec::with_capacity(history.len());
        for (i, method) in history.method_column().iter().enumerate() {
            let Some((act, value)) = read(self, i, self.patterns[method.0 as usize])? else {
                return Ok(None);
            };
            acts.push(act);
            values.push(value);
        }
        Ok(Some(Gathered {
            acts,
            values,
            calls: history.calls().to_vec(),
            rets: history.rets().to_vec(),
            ids: None,
        }))
    }

    #[inline]
    fn argument(&self, i: usize) -> u32 {
        self.history.argument_column()[i].0
    }

    /// The number of the result; `None` while pending.
    #[inline]
    fn result(&self, i: usize) -> Option<u32> {
        let pending = self.history.rets()[i] == NEVER;
        (!pending).then(|| self.history.result_column()[i].0)
    }

    fn value(&self, number: u32) -> &Value {
        &self.history.values()[number as usize]
    }

    /// That the call has no argument.
    #[inline]
    fn without_argument(&self, i: usize) -> Result<(), Unfit> {
        if self.argument(i) == self.nil {
            Ok(())
        } else {
            Err(Unfit)
        }
    }

    #[inline]
    fn act(&self, i: usize, pattern: Pattern) -> Reading<Act> {
        let act = match pattern {
            Pattern::Adds => {
                let argument = self.argument(i);
                let done = |result: u32| {
                    result == self.nil
                        || result == argument
                        || *self.value(result) == Value::Bool(true)
                };
                if argument == self.nil || !self.result(i).is_none_or(done) {
                    return Err(Unfit);
                }
                return Ok(Some((Act::Add, argument)));
            }
            Pattern::Removes => Act::Remove,
            Pattern::Peeks => Act::Peek,
            _ => return Err(Unfit),
        };
        self.without_argument(i)?;
        match self.result(i) {
            // What a removal took that never returned has to be found out.
            None if act == Act::Remove => Err(Unfit),
            None => Ok(None),
            Some(result) if result == self.nil => Ok(Some((Act::Empty, result))),
            Some(result) => Ok(Some((act, result))),
        }
    }

    #[inline]
    fn rw(&self, i: usize, pattern: Pattern) -> Reading<Rw> {
        if pattern == Pattern::Writes {
            return Ok(Some((Rw::Write, self.argument(i))));
        }
        self.without_argument(i)?;
        Ok(self.result(i).map(|result| (Rw::Read, result)))
    }

    #[inline]
    fn bit(&self, i: usize, pattern: Pattern) -> Reading<Bit> {
        let answer = match self.result(i) {
            None => None,
            Some(result) => Some(self.value(result).as_bool().ok_or(Unfit)?),
        };
        let key = self.argument(i);
        if key == self.nil {
            return Err(Unfit);
        }
        let bit = match (pattern, answer) {
            (Pattern::Inserts, None | Some(true)) => Bit::TurnOn,
            (Pattern::Deletes, None | Some(true)) => Bit::TurnOff,
            (Pattern::Contains, None) => return Ok(None),
            (Pattern::Inserts, Some(false)) | (Pattern::Contains, Some(true)) => Bit::SeesOn,
            (Pattern::Deletes, Some(false)) | (Pattern::Contains, Some(false)) => Bit::SeesOff,
            _ => return Err(Unfit),
        };
        Ok(Some((bit, key)))
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
    shelf: &Shelf,
    log: &Log<Act>,
    certify: bool,
) -> Result<Option<Vec<u32>>, Error> {
    let mut object = match shelf {
        Shelf::Queue => Replayed::Queue(VecDeque::new()),
        Shelf::Stack => Replayed::Stack(Vec::new()),
        Shelf::Bag => Replayed::Bag(vec![false; log.distinct as usize], 0),
        Shelf::Priority(of) => {
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
