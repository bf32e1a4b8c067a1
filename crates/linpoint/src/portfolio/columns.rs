//! Deciding recorded histories straight from their columns.
//!
//! Where the [`Pattern`] of every method is known, a monitor can read what it needs off the columns of a history: no call is
//! decoded, no value looked at. Whatever does not fit, and every history that is not linearizable, goes the long way, where
//! values are checked, violations explained, and the search stands ready.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::hint::select_unpredictable;
use std::ops::Range;

use rayon::prelude::*;

use super::{Config, EngineChoice, Witnesses};
use crate::engine::Budget;
use crate::engine::monitor::bits::{self, Bit};
use crate::engine::monitor::register::{self, Rw};
use crate::engine::monitor::{self, Act, Finding, Log, Shelf};
use crate::error::Error;
use crate::history::{History, MethodId, NEVER, OpId};
use crate::spec::{Kind, Object, Pattern};
use crate::value::{Value, ValueId};
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
                let initial = find(history, &initial);
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

/// What methods of a pattern do to a container.
fn act(pattern: Pattern) -> Option<Act> {
    match pattern {
        Pattern::Adds => Some(Act::Add),
        Pattern::Removes => Some(Act::Remove),
        Pattern::Peeks => Some(Act::Peek),
        _ => None,
    }
}

/// The number of a value; [`NEVER`] if it does not occur.
fn find(history: &History, wanted: &Value) -> u32 {
    history.find_value(wanted).unwrap_or(NEVER)
}

struct Columns<'a> {
    history: &'a History,
    methods: &'a [MethodId],
    arguments: &'a [ValueId],
    results: &'a [ValueId],
    rets: &'a [u32],
    /// By method.
    patterns: Vec<Pattern>,
    nil: u32,
}

/// One operation.
#[derive(Clone, Copy)]
struct Row {
    method: MethodId,
    argument: u32,
    /// Any number while pending.
    result: u32,
    is_pending: bool,
}

impl Row {
    /// The number of the result; `None` while pending.
    #[inline]
    fn result(&self) -> Option<u32> {
        (!self.is_pending).then_some(self.result)
    }
}

/// What an operation does with which value; `None` if it cannot matter, an error if it does not fit the pattern.
type Reading<A> = Result<Option<(A, u32)>, Unfit>;

/// Something that only the long way can tell.
struct Unfit;

/// Decides a log, with an order that was replayed if that is wanted; `None` if it is not linearizable or not decided.
type Orders<'a, A> = &'a (dyn Fn(&Log<A>, bool) -> Result<Option<Vec<u32>>, Error> + Sync);

/// The operations of one object.
struct Gathered<A> {
    log: Log<A>,
    /// Their numbers in the history; `None` if these are their positions.
    ids: Option<Vec<u32>>,
}

impl<'a> Columns<'a> {
    fn new(history: &'a History, patterns: Vec<Pattern>) -> Self {
        Columns {
            history,
            methods: history.method_column(),
            arguments: history.argument_column(),
            results: history.result_column(),
            rets: history.rets(),
            patterns,
            nil: find(history, &Value::Nil),
        }
    }

    fn decide_container(
        &self,
        certify: bool,
        shelf: &Shelf,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        let acts: Option<Vec<Act>> = self.patterns.iter().map(|&pattern| act(pattern)).collect();
        let Some(acts) = acts else {
            return Ok(None);
        };
        self.decide(
            certify,
            |columns, row| columns.act(acts[row.method.0 as usize], row),
            &|log, certify| container_orders(shelf, log, certify),
        )
    }

    fn decide<A: Copy + Send + Sync>(
        &self,
        certify: bool,
        read: impl Fn(&Self, Row) -> Reading<A> + Sync,
        orders: Orders<'_, A>,
    ) -> Result<Option<Vec<PartReport>>, Error> {
        let Ok(gathered) = self.gather(read) else {
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
    fn gather<A: Copy + Send>(
        &self,
        read: impl Fn(&Self, Row) -> Reading<A> + Sync,
    ) -> Result<Vec<Gathered<A>>, Unfit> {
        let history = self.history;
        let read = |row: Row| read(self, row);
        let objects = history.objects().len();
        if objects == 1
            && !history.is_empty()
            && let Some(log) = self.whole(&read)
        {
            return Ok(vec![Gathered { log, ids: None }]);
        }
        let mut gathered: Vec<(Vec<A>, Vec<u32>, Vec<u32>)> = Vec::new();
        gathered.resize_with(objects, Default::default);
        for (op, row) in (0..).zip(self.rows(0..history.len())) {
            let Some((act, value)) = read(row)? else {
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
    fn whole<A: Copy + Send>(&self, read: &(impl Fn(Row) -> Reading<A> + Sync)) -> Option<Log<A>> {
        /// Fewer operations are read before another thread is awake.
        const SHARE: usize = 1 << 14;
        let ops = self.history.len();
        let (first, _) = read(self.rows(0..1).next()?).ok()??;
        let (mut acts, mut values) = (vec![first; ops], vec![0; ops]);
        let read_share = |(number, (acts, values)): (usize, (&mut [A], &mut [u32]))| {
            let start = number * SHARE;
            let rows = self.rows(start..start + acts.len());
            for (row, (act, value)) in rows.zip(acts.iter_mut().zip(values)) {
                match read(row) {
                    Ok(Some(read)) => (*act, *value) = read,
                    _ => return false,
                }
            }
            true
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

    fn rows(&self, ops: Range<usize>) -> impl Iterator<Item = Row> {
        let methods = self.methods[ops.clone()].iter();
        let values = self.arguments[ops.clone()]
            .iter()
            .zip(&self.results[ops.clone()]);
        let rows = methods.zip(values).zip(&self.rets[ops]);
        rows.map(|((&method, (argument, result)), &ret)| Row {
            method,
            argument: argument.0,
            result: result.0,
            is_pending: ret == NEVER,
        })
    }

    #[inline]
    fn pattern(&self, row: Row) -> Pattern {
        self.patterns[row.method.0 as usize]
    }

    fn value(&self, number: u32) -> &Value {
        &self.history.values()[number as usize]
    }

    /// What an operation does that does `act`, unless it finds nothing. Chooses values where it can, not ways to go: what the
    /// next operation does is hard to foresee.
    #[inline]
    fn act(&self, act: Act, row: Row) -> Reading<Act> {
        let adds = act == Act::Add;
        let value = select_unpredictable(adds, row.argument, row.result);
        let other = select_unpredictable(adds, row.result, row.argument);
        let is_empty = value == self.nil;
        let is_usual = (other == self.nil) | (adds & (other == value));
        if !is_usual | (adds & is_empty) | row.is_pending {
            return self.unusual_act(act, row.argument, row.result());
        }
        Ok(Some((
            select_unpredictable(is_empty, Act::Empty, act),
            value,
        )))
    }

    #[cold]
    fn unusual_act(&self, act: Act, argument: u32, result: Option<u32>) -> Reading<Act> {
        let is_true = |result: u32| *self.value(result) == Value::Bool(true);
        match (act, result) {
            (Act::Add, result) if argument != self.nil && result.is_none_or(is_true) => {
                Ok(Some((Act::Add, argument)))
            }
            (Act::Peek, None) if argument == self.nil => Ok(None),
            // What a removal took that never returned has to be found out.
            _ => Err(Unfit),
        }
    }

    #[inline]
    fn rw(&self, row: Row) -> Reading<Rw> {
        let writes = self.pattern(row) == Pattern::Writes;
        if !writes & (row.argument != self.nil) {
            return Err(Unfit);
        }
        if !writes & row.is_pending {
            return Ok(None);
        }
        Ok(Some((
            select_unpredictable(writes, Rw::Write, Rw::Read),
            select_unpredictable(writes, row.argument, row.result),
        )))
    }

    #[inline]
    fn bit(&self, row: Row) -> Reading<Bit> {
        let answer = match row.result() {
            None => None,
            Some(result) => Some(self.value(result).as_bool().ok_or(Unfit)?),
        };
        let key = row.argument;
        if key == self.nil {
            return Err(Unfit);
        }
        let bit = match (self.pattern(row), answer) {
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
