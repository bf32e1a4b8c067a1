//! Decides recorded histories from their columns, without decoding their operations.
//!
//! Where the [`Pattern`] of every method is known, the log of a monitor can be read off the columns of a history (`read`). The
//! monitors, and the table that chooses among them, are those of decoded histories; this is only another source of logs.
//! `audit` compares what was read with the specification. A history that does not fit is decoded and decided as all others
//! are. So is one with a violation, which has to be explained; what was found here is then not decided again ([`Findings`]).

mod audit;
mod read;

use rayon::prelude::*;

use audit::{Audit, Column, Described};
use read::{Acts, Columns, Reader, Turns, Unfit, Writes};

use super::{Config, EngineChoice, Witnesses};
use crate::engine::monitor::{
    self, Act, BitState, Bits, ContainerMonitor, Contradiction, Evidence, Finding, Log, Monitor,
    NotApplicable, Register, Source,
};
use crate::engine::{Answer, Budget, Facts, TaskOp};
use crate::error::Error;
use crate::history::{History, NEVER, OpId};
use crate::spec::{Discipline, Kind, Pattern, Recorded};
use crate::value::Value;
use crate::verdict::replay::Replay;
use crate::verdict::{PartReport, Verdict, Witness, certify};

/// Why a history is decided from its columns.
const REASON: &str = "decided from the columns in log-linear time";

/// Bytes that reading and deciding the columns may take for each operation.
const BYTES: u64 = 150;

/// What is known of a history from its columns.
pub(super) enum ByColumns {
    /// All objects are linearizable.
    Linearizable(Vec<PartReport>),
    /// The history has to be decoded; this is known of it.
    Undecided(Findings),
}

/// Violations that were found in the columns of a history.
#[derive(Default)]
pub(super) struct Findings {
    /// For each of them the operations that contradict each other, ascending.
    violations: Vec<Vec<ContradictingOp>>,
}

/// An operation of a contradiction.
#[derive(Clone, Copy)]
struct ContradictingOp {
    id: OpId,
    /// Its return does not count: it is to be seen as pending.
    is_pending: bool,
}

impl Findings {
    /// The answer for a task in which all operations of a contradiction are, which is the evidence.
    pub(super) fn answer(&self, task: &dyn Facts) -> Option<Answer> {
        let find = |found: &ContradictingOp| -> Option<TaskOp> {
            let ops = task.ops();
            let position = ops.binary_search_by_key(&found.id, |op| op.id).ok()?;
            let op = ops[position];
            Some(match found.is_pending {
                true => TaskOp { ret: NEVER, ..op },
                false => op,
            })
        };
        let mut violations = self.violations.iter();
        let contradicting =
            violations.find_map(|ops| ops.iter().map(find).collect::<Option<_>>())?;
        Some(Answer::NotLinearizable {
            partial: Vec::new(),
            reached: 0,
            contradicting: Some(contradicting),
            first_bad: None,
        })
    }

    /// Why an answer was given.
    pub(super) fn reason(&self) -> &'static str {
        REASON
    }
}

/// Decides a history from its columns, if that is possible.
pub(super) fn check<S: Recorded>(
    object: &S,
    history: &History,
    config: &Config,
    budget: &Budget,
) -> Result<ByColumns, Error> {
    let undecided = || Ok(ByColumns::Undecided(Findings::default()));
    if !matches!(config.engine, EngineChoice::Auto | EngineChoice::Monitor)
        || budget.check().is_err()
        || budget.reserve_for(history.len(), BYTES).is_err()
    {
        return undecided();
    }
    let methods = history.methods().iter();
    let patterns: Option<Vec<Pattern>> = methods.map(|method| object.pattern(method)).collect();
    let (Some(kind), Some(patterns)) = (object.kind(), patterns) else {
        return undecided();
    };
    let source = FromColumns {
        object,
        columns: Columns::new(history, patterns),
        evidence: match config.witnesses {
            Witnesses::Certified => Evidence::Order,
            Witnesses::Omitted => Evidence::Verdict,
        },
        budget,
    };
    decide(&kind, source)
}

fn decide(kind: &Kind, source: FromColumns<'_>) -> Result<ByColumns, Error> {
    match monitor::choose(kind, source) {
        Ok(decided) => decided,
        Err(NotApplicable(_)) => Ok(ByColumns::Undecided(Findings::default())),
    }
}

const NO_PATTERNS: NotApplicable = NotApplicable("no patterns describe such operations");

/// The columns of a history, as a source of operations.
struct FromColumns<'a> {
    object: &'a dyn Described,
    columns: Columns<'a>,
    evidence: Evidence,
    budget: &'a Budget,
}

impl Source for FromColumns<'_> {
    type Answer = Result<ByColumns, Error>;

    fn container(self, discipline: Discipline) -> Result<Self::Answer, NotApplicable> {
        let acts = Acts::of(&self.columns).ok_or(NO_PATTERNS)?;
        let gathered = self.columns.gather(&acts)?;
        // Only priorities are compared with each other.
        let mut values: &[Value] = &[];
        if matches!(discipline, Discipline::Largest | Discipline::Smallest) {
            values = self.columns.history.values();
            check_priorities(values, &gathered)?;
        }
        let monitor = ContainerMonitor::new(discipline, values);
        Ok(self.decide(&monitor, &Column::Value, gathered))
    }

    fn slot(self, initial: &Value) -> Result<Self::Answer, NotApplicable> {
        let is_access = |pattern: &Pattern| matches!(pattern, Pattern::Reads | Pattern::Writes);
        if self.columns.patterns.iter().all(is_access) {
            let gathered = self.columns.gather(&Writes)?;
            let register = Register {
                initial: self.columns.history.find_value(initial),
            };
            return Ok(self.decide(&register, &Column::Value, gathered));
        }
        let gathered = self.columns.gather(&Turns)?;
        let bits = Bits {
            initially: BitState::Off,
        };
        let column = Column::Key {
            initial: initial.clone(),
        };
        Ok(self.decide(&bits, &column, gathered))
    }

    fn plain<M: Monitor + 'static>(self, _: M) -> Result<Self::Answer, NotApplicable> {
        Err(NO_PATTERNS)
    }

    fn snapshot(self) -> Result<Self::Answer, NotApplicable> {
        Err(NO_PATTERNS)
    }
}

/// Checks that all values of some logs are integers: others may be no priorities, which decoding tells the user.
fn check_priorities(values: &[Value], gathered: &[Gathered<Act>]) -> Result<(), NotApplicable> {
    const NO_INTEGER: NotApplicable = NotApplicable("some priority is not an integer");
    let mut others = Vec::new();
    for (number, value) in (0u32..).zip(values) {
        match value {
            Value::Int(_) => {}
            // What operations return that find nothing, or that add a value.
            Value::Nil | Value::Bool(_) => others.push(number),
            Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {
                return Err(NO_INTEGER);
            }
        }
    }
    let has_others = |of: &Gathered<Act>| {
        let acts = (0u32..).zip(&of.log.acts);
        let mut acts = acts.filter(|(_, act)| **act != Act::Empty);
        acts.any(|(op, _)| others.contains(&of.value(op)))
    };
    match gathered.iter().any(has_others) {
        true => Err(NO_INTEGER),
        false => Ok(()),
    }
}

/// The operations of one object.
struct Gathered<A> {
    log: Log<A>,
    /// What these numbers are in the history; `None` if they are the same there.
    shared: Option<Shared>,
}

/// Where one of several objects is in a history.
struct Shared {
    /// The numbers of its operations.
    ids: Vec<u32>,
    /// The numbers of its values: a monitor takes time and memory for every number, so an object has numbers of its own.
    values: Vec<u32>,
}

impl<A> Gathered<A> {
    fn id(&self, op: u32) -> OpId {
        OpId(match &self.shared {
            Some(shared) => shared.ids[op as usize],
            None => op,
        })
    }

    /// The number in the history of the value of an operation.
    fn value(&self, op: u32) -> u32 {
        let value = self.log.values[op as usize];
        match &self.shared {
            Some(shared) => shared.values[value as usize],
            None => value,
        }
    }
}

/// What was found out about one object.
enum Decided {
    /// Linearizable, in this order if one was asked for.
    Linearizable(Vec<OpId>),
    Violation(Vec<ContradictingOp>),
    Undecided,
}

impl FromColumns<'_> {
    /// Decides all objects, and combines what was found.
    fn decide<M>(
        &self,
        monitor: &M,
        column: &Column,
        gathered: Vec<Gathered<M::Act>>,
    ) -> Result<ByColumns, Error>
    where
        M: Replay + Sync,
        M::Act: PartialEq + Send + Sync,
    {
        let audit = Audit {
            object: self.object,
            history: self.columns.history,
            monitor,
            column,
        };
        let decide = |of: &Gathered<M::Act>| self.decide_one(&audit, of);
        let decided: Result<Vec<Decided>, Error> = match gathered.len() {
            // Waking another thread takes longer than most small histories do.
            0 | 1 => gathered.iter().map(decide).collect(),
            _ => gathered.par_iter().map(decide).collect(),
        };
        let (mut reports, mut findings) = (Vec::new(), Findings::default());
        for (number, (decided, of)) in (0u32..).zip(decided?.into_iter().zip(&gathered)) {
            match decided {
                Decided::Linearizable(order) => reports.push(PartReport {
                    object: Value::Nil,
                    object_number: number,
                    key: None,
                    ops: of.log.len(),
                    verdict: Verdict::Linearizable(Witness {
                        order,
                        ..Witness::default()
                    }),
                    engine: monitor::NAME,
                    reason: REASON.into(),
                }),
                Decided::Violation(ops) => findings.violations.push(ops),
                Decided::Undecided => {}
            }
        }
        Ok(match reports.len() == gathered.len() {
            true => ByColumns::Linearizable(reports),
            false => ByColumns::Undecided(findings),
        })
    }

    /// Decides one object, and certifies what was found.
    fn decide_one<M>(&self, audit: &Audit<'_, M>, of: &Gathered<M::Act>) -> Result<Decided, Error>
    where
        M: Replay,
        M::Act: PartialEq,
    {
        if self.budget.check().is_err() {
            return Ok(Decided::Undecided);
        }
        let log = &of.log;
        audit.sample(of)?;
        let own = of.shared.as_ref();
        let own = own.map(|shared| audit.monitor.renumbered(&shared.values));
        let monitor = own.as_ref().unwrap_or(audit.monitor);
        let Ok(finding) = monitor.judge(log, self.evidence) else {
            return Ok(Decided::Undecided);
        };
        match finding {
            Finding::Linearizable(None) => Ok(Decided::Linearizable(Vec::new())),
            Finding::Linearizable(Some(order)) => {
                let mut object = monitor.object(log.distinct);
                certify::log_order(&log.calls, &log.rets, &order, |op| {
                    M::apply(&mut object, log.acts[op], log.values[op])
                })?;
                audit.replay(of, &order)?;
                let order = order.into_iter().map(|op| of.id(op)).collect();
                Ok(Decided::Linearizable(order))
            }
            Finding::Violation(Contradiction { ops, cut, .. }) => {
                audit.compare(of, ops.iter().copied())?;
                let contradicting = |op: u32| ContradictingOp {
                    id: of.id(op),
                    is_pending: log.rets[op as usize] > cut,
                };
                Ok(Decided::Violation(
                    ops.into_iter().map(contradicting).collect(),
                ))
            }
        }
    }
}

impl Columns<'_> {
    /// The operations of each object.
    fn gather<A: Copy + Send>(
        &self,
        reader: &impl Reader<A>,
    ) -> Result<Vec<Gathered<A>>, NotApplicable> {
        let history = self.history;
        let objects = history.objects().len();
        if objects == 1
            && !history.is_empty()
            && let Some(log) = self.whole(reader)
        {
            return Ok(vec![Gathered { log, shared: None }]);
        }
        let mut gathered: Vec<(Vec<A>, Vec<u32>, Vec<u32>)> = Vec::new();
        gathered.resize_with(objects, Default::default);
        for (op, row) in (0..).zip(self.rows(0..history.len())) {
            let read = reader.one(self, row);
            let Some((act, value)) = read.map_err(|Unfit| NO_PATTERNS)? else {
                continue;
            };
            let object = history.object_number(OpId(op));
            let (acts, values, ids) = &mut gathered[object.0 as usize];
            acts.push(act);
            values.push(value);
            ids.push(op);
        }
        // By number in the history: the number in the object that was renumbered last, if it is below what that has.
        let mut numbers = vec![0u32; history.count_values()];
        let gathered = gathered.into_iter().map(|(acts, mut of_ops, ids)| {
            let mut values: Vec<u32> = Vec::new();
            for value in &mut of_ops {
                let number = &mut numbers[*value as usize];
                if values.get(*number as usize) != Some(&*value) {
                    *number = values.len() as u32;
                    values.push(*value);
                }
                *value = *number;
            }
            let pick = |ranks: &[u32]| ids.iter().map(|&i| ranks[i as usize]).collect();
            Gathered {
                log: Log::new(acts, of_ops, pick(history.calls()), pick(history.rets())),
                shared: Some(Shared { ids, values }),
            }
        });
        Ok(gathered.collect())
    }

    /// All operations, if each of them fits its pattern and can matter: the ranks are those of the history.
    fn whole<A: Copy + Send>(&self, reader: &impl Reader<A>) -> Option<Log<A>> {
        /// Fewer operations are read before another thread wakes up.
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
