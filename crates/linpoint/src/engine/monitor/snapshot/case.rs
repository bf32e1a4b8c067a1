//! Chooses the monitor for the recorded operations on a snapshot, and makes a witness or a contradiction of its finding.
//!
//! Ours. A pending update whose value no scan shows is left out: it need not have taken effect. Of a violation, the contradiction
//! has the scans of the fault and all updates with values that these scans show; where such a value was written several times, all
//! updates of its entry, since they decide which of them a scan saw.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;

use super::fault::Fault;
use super::general::{General, Unclear, UpdateEffect};
use super::simplify::{Changes, simple_entries};
use super::{simple, witness};
use crate::engine::monitor::admit::Prepared;
use crate::engine::monitor::{ContradictingOp, Decision, Evidence, Log, NotApplicable, relevant};
use crate::engine::{Budget, Cause, Facts, TaskOp};
use crate::history::NEVER;
use crate::spec::{Kind, Role};
use crate::value::{Value, ValueTable};

/// The number of the initial value.
pub(super) const INITIAL: u32 = 0;

/// The operations on a snapshot, with values as numbers.
#[derive(Debug)]
pub(crate) struct Case {
    pub(super) log: Log<Act>,
    /// The positions of the log's operations in the task.
    positions: Vec<u32>,
    /// The values of all scans, one scan after the other.
    shown: Vec<u32>,
    /// If the history is simple: the two entries that change, and the values that they get.
    pub(super) simple: Option<Changes>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Update {
        entry: u32,
        value: u32,
    },
    /// Shows `shown[from..to]`.
    Scan {
        from: u32,
        to: u32,
    },
}

/// Leaves out pending updates whose value no scan saw: these need not have taken effect.
fn drop_unseen_updates(ops: &mut Vec<(u32, TaskOp, Act)>, shown: &[u32]) {
    // Most histories have none that is pending.
    if ops.iter().all(|(_, op, _)| op.ret != NEVER) {
        return;
    }
    let mut seen = HashSet::with_hasher(FixedState::default());
    for (.., act) in &*ops {
        if let Act::Scan { from, to } = *act {
            let entries = &shown[from as usize..to as usize];
            seen.extend((0u32..).zip(entries.iter().copied()));
        }
    }
    ops.retain(|(_, op, act)| match act {
        Act::Update { entry, value } if op.ret == NEVER => {
            *value == INITIAL || seen.contains(&(*entry, *value))
        }
        _ => true,
    });
}

impl Case {
    /// The operations of a task, or why they are not those of a snapshot.
    pub(crate) fn new(task: &dyn Facts) -> Result<Self, NotApplicable> {
        let mut values = ValueTable::default();
        let mut number =
            |value: Option<Value>| value.map_or(INITIAL, |value| values.intern(value.into()) + 1);
        let mut shown = Vec::new();
        let mut ops: Vec<(u32, TaskOp, Act)> = Vec::new();
        for (position, op) in relevant(task) {
            let act = match task.role(op) {
                Role::Updates { entry, value } => Act::Update {
                    entry,
                    value: number(value),
                },
                Role::Scans(entries) => {
                    let from = shown.len() as u32;
                    shown.extend(entries.into_iter().map(&mut number));
                    let to = u32::try_from(shown.len());
                    let to = to.map_err(|_| NotApplicable("the scans show too many values"))?;
                    Act::Scan { from, to }
                }
                _ => {
                    return Err(NotApplicable(
                        "some operation is neither an update nor a scan",
                    ));
                }
            };
            ops.push((position, op, act));
        }
        drop_unseen_updates(&mut ops, &shown);
        let simple = simple_entries(ops.iter().map(|&(_, op, act)| (op, act)));
        let (calls, rets) = ops.iter().map(|(_, op, _)| (op.call, op.ret)).unzip();
        Ok(Case {
            positions: ops.iter().map(|&(position, ..)| position).collect(),
            log: Log::new(
                ops.iter().map(|&(.., act)| act).collect(),
                Vec::new(),
                calls,
                rets,
            ),
            shown,
            simple,
        })
    }

    /// What is wrong with a scan, by positions in the task, with what it shows there and what that is compared with.
    pub(crate) fn fault(&self, task: &dyn Facts) -> Option<(Fault<u32>, Value, Value)> {
        let Some(Kind::Snapshot(initial)) = task.kind() else {
            return None;
        };
        let fault = self.run().ok()?.fault?;
        let fault = fault.map(&|op: u32| self.positions[op as usize]);
        let shown = |scan: u32, entry: u32| {
            let value = match task.role(task.ops()[scan as usize]) {
                Role::Scans(values) => values.into_iter().nth(entry as usize).flatten(),
                _ => None,
            };
            value.unwrap_or_else(|| initial.clone())
        };
        let compared = fault.compared();
        let compared = compared.map_or(Value::Nil, |(scan, entry)| shown(*scan, entry));
        Some((fault.clone(), shown(fault.scan, fault.entry), compared))
    }

    pub(super) fn values(&self, act: Act) -> &[u32] {
        match act {
            Act::Scan { from, to } => &self.shown[from as usize..to as usize],
            Act::Update { .. } => &[],
        }
    }

    /// Runs the general monitor on all events, up to the first violation.
    pub(super) fn run(&self) -> Result<GeneralRun, NotApplicable> {
        let mut run = GeneralRun {
            snapshot: General::new(INITIAL),
            fault: None,
            scans: Vec::new(),
            repeats: Vec::new(),
        };
        let mut open = HashMap::with_hasher(FixedState::default());
        for event in self.log.events() {
            let op = event.op();
            match (self.log.acts[op], event.is_return()) {
                (Act::Update { entry, value }, false) => {
                    match run.snapshot.call_update(op as u32, entry, value) {
                        Ok(UpdateEffect::Changes) => {}
                        Ok(UpdateEffect::Nothing) => run.repeats.push(op as u32),
                        Err(Unclear::Overlap(_)) => {
                            return Err(NotApplicable(
                                "updates of one entry overlap, as with several writers",
                            ));
                        }
                        Err(Unclear::Repeated(_)) => {
                            return Err(NotApplicable(
                                "an entry is given a value again that scans may still show from before",
                            ));
                        }
                    }
                }
                (Act::Update { entry, .. }, true) => run.snapshot.return_update(entry),
                (Act::Scan { .. }, false) => {
                    open.insert(op, run.snapshot.call_scan(op as u32));
                }
                (act @ Act::Scan { .. }, true) => {
                    let scan = open
                        .remove(&op)
                        .expect("bug: a scan returns that was not called");
                    match run.snapshot.return_scan(scan, self.values(act)) {
                        Ok(sum) => run.scans.push((sum, op as u32)),
                        Err(fault) => {
                            run.fault = Some(fault);
                            break;
                        }
                    }
                }
            }
        }
        Ok(run)
    }

    /// The operations that contradict each other by themselves: those of the fault, and all updates with what the scans among them
    /// show or the updates among them write, except those that change nothing. Values can be dropped only as a whole, so an
    /// update is kept together with all others of the same value.
    fn contradicting_ops(&self, fault: &Fault<u32>, repeats: &[u32]) -> Vec<u32> {
        let mut ops: HashSet<u32> = fault.others().into_iter().copied().collect();
        ops.insert(fault.scan);
        let scans = ops
            .iter()
            .map(|&op| self.values(self.log.acts[op as usize]));
        let scans: Vec<&[u32]> = scans.filter(|values| !values.is_empty()).collect();
        let cut = self.log.rets[fault.scan as usize];
        let repeats: HashSet<u32> = repeats.iter().copied().collect();
        let written: HashSet<(u32, u32)> = ops
            .iter()
            .filter_map(|&op| match self.log.acts[op as usize] {
                Act::Update { entry, value } => Some((entry, value)),
                Act::Scan { .. } => None,
            })
            .collect();
        // Which update a value is from that was written several times depends on those between.
        let mut writes: HashMap<(u32, u32), u32> = HashMap::new();
        let mut again = HashSet::new();
        let updates = || {
            let called = self.log.called_before(cut);
            called.filter_map(|op| match self.log.acts[op as usize] {
                Act::Update { entry, value } if !repeats.contains(&op) => Some((op, entry, value)),
                _ => None,
            })
        };
        let is_kept = |entry: u32, value: u32| {
            value == INITIAL
                || written.contains(&(entry, value))
                || scans
                    .iter()
                    .any(|shown| shown.get(entry as usize) == Some(&value))
        };
        for (_, entry, value) in updates() {
            if is_kept(entry, value) {
                let times = writes
                    .entry((entry, value))
                    .or_insert(u32::from(value == INITIAL));
                *times += 1;
                if *times > 1 {
                    again.insert(entry);
                }
            }
        }
        for (op, entry, value) in updates() {
            if is_kept(entry, value) || again.contains(&entry) {
                ops.insert(op);
            }
        }
        let mut ops: Vec<u32> = ops.into_iter().collect();
        ops.sort_unstable();
        ops
    }
}

impl Prepared for Case {
    fn name(&self) -> &'static str {
        match self.simple {
            Some(_) => "simple snapshot",
            None => "snapshot",
        }
    }

    fn decide(self: Box<Self>, evidence: Evidence, _: &Budget) -> Result<Decision, Cause> {
        if evidence == Evidence::Verdict
            && let Some((events, slots)) = self.simple_events()
            && simple::decide(&events, slots).is_ok()
        {
            return Ok(Decision::Linearizable(None));
        }
        let run = self.run()?;
        let position = |&op: &u32| self.positions[op as usize];
        Ok(match (run.fault, evidence) {
            (None, Evidence::Verdict) => Decision::Linearizable(None),
            (None, Evidence::Order) => {
                let order = witness::order(&self.log, &run.snapshot, run.scans, run.repeats);
                Decision::Linearizable(Some(order.iter().map(position).collect()))
            }
            (Some(fault), _) => {
                let cut = self.log.rets[fault.scan as usize];
                let contradicting = |op: u32| ContradictingOp {
                    position: position(&op),
                    is_pending: self.log.rets[op as usize] > cut,
                };
                let ops = self.contradicting_ops(&fault, &run.repeats);
                Decision::FirstViolation(ops.into_iter().map(contradicting).collect())
            }
        })
    }
}

/// What the general monitor found out.
pub(super) struct GeneralRun {
    snapshot: General<u32, u32>,
    pub(super) fault: Option<Fault<u32>>,
    /// The scans, each with the number by which they are ordered.
    scans: Vec<(u64, u32)>,
    /// The updates that change nothing.
    repeats: Vec<u32>,
}
