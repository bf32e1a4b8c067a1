//! Builds the data of the report page from a report: chooses the operations to show, and adds the evidence for each part.

use std::collections::HashMap;
use std::time::Duration;

use super::contradiction::{self, state_text};
use super::model::{CoreData, CoreRow, PageData, PartData, ViolationData};
use super::others;
use super::pack::{Packer, Texts};
use super::source::{Rows, Source};
use super::steps::{self, Steps};
use crate::engine::{Budget, Task, TaskOp};
use crate::error::Error;
use crate::history::{Blocking, Erasure, History, NEVER, OpId, Part, TypedHistory, partition};
use crate::spec::{Recorded, Spec};
use crate::value::Value;
use crate::verdict::{Core, PartReport, Report, Stuck, Undecided, Verdict, Violation};

/// The largest number of steps that are shown with their states, in all parts together.
const MOST_STATES: usize = 20_000;

/// The same if there is little time.
const MOST_STATES_IN_SHORT: usize = 500;
const SHORT: Duration = Duration::from_millis(200);

/// The largest number of operations of a core that are drawn.
const MOST_CORE_ROWS: usize = 80;

/// The names on a report page, and how much it may hold.
#[derive(Clone, Copy, Debug)]
pub struct PageOptions<'a> {
    /// The name of the history.
    pub name: &'a str,
    /// The type of the object.
    pub object_type: &'a str,
    /// The largest number of operations that the page holds. Of a longer history, it holds the operations around the core.
    pub most_ops: usize,
}

/// The data that shows a history of Rust values and its report.
pub fn page_data<S: Spec>(
    options: PageOptions<'_>,
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    report: &Report,
) -> PageData {
    let erasure = Erasure::of(spec, history);
    let budget = Budget::default();
    build(
        options,
        &erasure.spec(),
        erasure.history(),
        history,
        report,
        &budget,
    )
}

/// The data that shows a recorded history and its report, made within `budget`: states and orders that would take longer are
/// left out.
pub(crate) fn recorded_page_data<S: Recorded>(
    options: PageOptions<'_>,
    object: &S,
    history: &History,
    report: &Report,
    budget: &Budget,
) -> Result<PageData, Error> {
    let typed = TypedHistory::decode_within(object, history, &budget.of_memory())?;
    let erasure = Erasure::of(object, &typed);
    let (spec, typed) = (erasure.spec(), erasure.history());
    Ok(build(options, &spec, typed, history, report, budget))
}

fn build<S: Spec>(
    options: PageOptions<'_>,
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    source: &dyn Source,
    report: &Report,
    budget: &Budget,
) -> PageData {
    let parts = partition(spec, history, report.partitioning);
    let reports: HashMap<(u32, Option<&Value>), &PartReport> = report
        .parts
        .iter()
        .map(|part| ((part.object_number, part.key.as_ref()), part))
        .collect();
    let report_of = |part: &Part| reports.get(&(part.object, part.key.as_ref())).copied();

    let ids = shown(history.len(), report, options.most_ops);
    let mut texts = Texts::default();
    let rows = source.rows(&ids, &mut texts);
    let mut builder = Builder {
        spec,
        history,
        source,
        line_unit: rows.line_unit,
        texts,
        states_left: match budget.left() < SHORT {
            true => MOST_STATES_IN_SHORT,
            false => MOST_STATES,
        },
        budget,
        orders: vec![Vec::new(); parts.len()],
        states: vec![Vec::new(); parts.len()],
        parts: vec![PartData::default(); parts.len()],
    };
    // States of violations are kept first, as long as there is room.
    let (bad, fine): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(|&i| {
        let report = report_of(&parts[i]);
        report.is_some_and(|report| matches!(report.verdict, Verdict::Violation(_)))
    });
    for i in bad.into_iter().chain(fine) {
        builder.build_part(i, &parts[i], report_of(&parts[i]));
    }

    let mut part_of = vec![0; history.len()];
    for (number, part) in (0u32..).zip(&parts) {
        part.ops.iter().for_each(|id| part_of[id.index()] = number);
    }
    PageData {
        name: options.name.to_owned(),
        object_type: options.object_type.to_owned(),
        verdict: verdict_name(&report.verdict),
        operations: history.len(),
        embedded: ids.len(),
        packed: builder.pack(&ids, &rows, &part_of),
        parts: builder.parts,
        is_bare: rows.is_bare,
        line_unit: rows.line_unit,
        processes: rows.processes,
        methods: rows.methods,
        annotations: rows.annotations,
        headline: match history.ends_stuck() {
            true => stuck_headline(&report.verdict),
            false => None,
        },
        notes: Vec::new(),
        lattice: Vec::new(),
        execution: Vec::new(),
    }
}

/// The operations that a page of limited size holds: those around the violation, and its core; or those around the place
/// where the orders of an undecided part end.
fn shown(len: usize, report: &Report, most: usize) -> Vec<OpId> {
    if len <= most {
        return (0..len as u32).map(OpId).collect();
    }
    let verdicts = || report.parts.iter().map(|part| &part.verdict);
    let violation = verdicts().find_map(|verdict| match verdict {
        Verdict::Violation(violation) => Some(violation),
        _ => None,
    });
    let stuck = || {
        verdicts().find_map(|verdict| match verdict {
            Verdict::Undecided(undecided) => Some(undecided.stuck.as_ref()?.op),
            _ => None,
        })
    };
    // Three quarters of the operations come before the violation, or before where the orders end.
    let middle = violation.map(|violation| violation.last).or_else(stuck);
    let middle = middle.map_or(0, OpId::index);
    let start = middle.saturating_sub(most / 4 * 3).min(len - most);
    let mut ids: Vec<OpId> = (start..start + most).map(|i| OpId(i as u32)).collect();
    if let Some(violation) = violation {
        let core = &violation.core;
        ids.extend(core.ops().iter().chain(core.relaxed()).take(MOST_CORE_ROWS));
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}

/// The headline for a history that ends stuck, if that is what the verdict is about.
fn stuck_headline(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Linearizable(_) => Some(
            "Linearizable: some order explains all results, and what never returned waits for a reason"
                .to_owned(),
        ),
        Verdict::Violation(violation) => violation
            .blocked
            .map(|_| "Not linearizable: no order explains why the history ends stuck".to_owned()),
        Verdict::Undecided(_) => None,
    }
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable(_) => "linearizable",
        Verdict::Violation(_) => "not linearizable",
        Verdict::Undecided(_) => "undecided",
    }
}

struct Builder<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    source: &'a dyn Source,
    /// The unit of line numbers.
    line_unit: &'static str,
    texts: Texts,
    states_left: usize,
    budget: &'a Budget,
    /// For each part its order, and the texts of the states after its steps.
    orders: Vec<Vec<OpId>>,
    states: Vec<Vec<u32>>,
    parts: Vec<PartData>,
}

impl<S: Spec> Builder<'_, S> {
    fn build_part(&mut self, number: usize, part: &Part, report: Option<&PartReport>) {
        let mut data = PartData {
            object: self.source.object_name(part.object),
            key: part.key.as_ref().map(Value::to_string),
            operations: part.ops.len(),
            verdict: "not looked at",
            ..PartData::default()
        };
        if let Some(report) = report {
            data.verdict = verdict_name(&report.verdict);
            data.engine = report.engine;
            data.reason = report.reason.clone();
            match &report.verdict {
                Verdict::Linearizable(witness) => {
                    let task = Task::new(self.spec, self.history, &part.ops);
                    let steps = self.steps(number, &task, &witness.order, None);
                    data.initial = steps.initial;
                }
                Verdict::Undecided(found) => data.undecided = Some(self.undecided(found)),
                Verdict::Violation(violation) => {
                    let (initial, violation) = match violation.blocked {
                        None => {
                            let task = Task::new(self.spec, self.history, &part.ops);
                            self.violation(number, &task, violation)
                        }
                        Some(blocked) => {
                            let erasure = Erasure::of(self.spec, self.history);
                            let spec = Blocking::of(&erasure);
                            let history = Blocking::history(&erasure, blocked);
                            let ops = Blocking::ops(self.history, &part.ops, blocked);
                            let task = Task::new(&spec, &history, &ops);
                            self.violation(number, &task, violation)
                        }
                    };
                    data.initial = initial;
                    data.violation = Some(violation);
                }
            }
        }
        self.parts[number] = data;
    }

    /// The initial state of a task, and why the task is not linearizable.
    fn violation<T: Spec>(
        &mut self,
        number: usize,
        task: &Task<'_, T>,
        violation: &Violation,
    ) -> (String, ViolationData) {
        let mut steps = self.steps(number, task, &violation.partial, Some(violation));
        let blocked = violation.blocked.map(|id| id.0);
        let mut core = self.core(task, &violation.core);
        // The recorded result may say more than the decoded one.
        let mut others = others::others(task, violation, self.budget);
        let refused = others.iter_mut().flat_map(|other| &mut other.refused);
        for refused in refused.chain(&mut steps.refused) {
            let recorded = self.source.result_text(OpId(refused.op));
            refused.recorded = recorded.unwrap_or_default();
            refused.returns = Some(refused.op) == blocked;
        }
        let waiting = core.rows.iter().position(|row| Some(row.op) == blocked);
        if let Some(waiting) = waiting {
            core.rows[waiting].result = Some("waits".to_owned());
            let attempts = core.attempts.iter_mut();
            for refused in attempts.flat_map(|attempt| &mut attempt.refused) {
                refused.returns = refused.op as usize == waiting;
            }
        }
        let data = ViolationData {
            core,
            last: violation.last.0,
            prefix_events: violation.prefix_events,
            shortest: violation.shortest,
            blocked,
            refused: steps.refused,
            others,
        };
        (steps.initial, data)
    }

    /// Replays the order of a part. If there are too many states, the last ones of a violation are kept, else the first ones.
    fn steps<T: Spec>(
        &mut self,
        number: usize,
        task: &Task<'_, T>,
        order: &[OpId],
        violation: Option<&Violation>,
    ) -> Steps {
        let kept = match violation {
            Some(_) => order.len().saturating_sub(self.states_left)..order.len(),
            None => 0..order.len().min(self.states_left),
        };
        self.states_left -= kept.len();
        self.orders[number] = order.to_vec();
        // A replay is needed for states and for violations only.
        if kept.is_empty() && violation.is_none() {
            return Steps::default();
        }
        let mut steps = steps::replay(task, order, violation, kept, &mut self.texts, self.budget);
        self.states[number] = std::mem::take(&mut steps.states);
        steps
    }

    fn core<T: Spec>(&self, task: &Task<'_, T>, core: &Core) -> CoreData {
        let mut ops: Vec<TaskOp> = Vec::new();
        let (calls, rets) = (task.history.calls(), task.history.rets());
        let op = |id: OpId, ret: u32| TaskOp {
            id,
            call: calls[id.index()],
            ret,
        };
        ops.extend(core.ops().iter().map(|&id| op(id, rets[id.index()])));
        ops.extend(core.relaxed().iter().map(|&id| op(id, NEVER)));
        ops.sort_unstable_by_key(|op| op.call);
        let task = task.with_ops(ops);
        // From an anchor on, the orders of the core begin with other states than the initial one.
        let found = match core.anchor() {
            None => contradiction::look_at(&task, self.budget),
            Some(_) => contradiction::Findings::default(),
        };
        let ops = &task.ops[task.ops.len().saturating_sub(MOST_CORE_ROWS)..];

        let mut events: Vec<u32> = ops.iter().flat_map(|op| [op.call, op.ret]).collect();
        events.retain(|&rank| rank != NEVER);
        events.sort_unstable();
        let place = |rank: u32| events.binary_search(&rank).ok();
        let row = |op: &TaskOp| CoreRow {
            op: op.id.0,
            process: self.source.process_name(op.id),
            call: self.source.call_text(op.id),
            result: self.source.result_text(op.id).filter(|_| op.ret != NEVER),
            relaxed: op.ret == NEVER,
            from: place(op.call).unwrap_or(0),
            to: place(op.ret),
            line: self.source.line_of(op.id),
        };
        CoreData {
            sentence: core.sentence().to_owned(),
            anchor: core
                .anchor()
                .map(|anchor| anchor.clauses(|id| self.describe(id)).join(", ")),
            extent: core.extent(),
            confirmation: core.confirmation().to_string(),
            operations: core.ops().len(),
            relaxed: core.relaxed().len(),
            rows: ops.iter().map(row).collect(),
            events: events.len(),
            arrows: found.arrows,
            attempts: found.attempts,
            initial: state_text(&task.spec.init()),
        }
    }

    /// Why a part is undecided, and where the orders end that were tried.
    fn undecided(&self, undecided: &Undecided) -> String {
        let sentence = |stuck: &Stuck| stuck.sentence(|id| self.describe(id));
        match undecided.stuck.as_ref().map(sentence) {
            Some(stuck) => format!("{undecided}; {stuck}"),
            None => undecided.to_string(),
        }
    }

    /// An operation with its result and its process.
    fn describe(&self, id: OpId) -> String {
        let call = self.source.call_text(id);
        let result = self.source.result_text(id);
        let result = result.map_or_else(String::new, |result| format!(" → {result}"));
        let process = self.source.process_name(id);
        let line = match self.source.line_of(id) {
            0 => String::new(),
            line => format!(" ({} {line})", self.line_unit),
        };
        format!("{call}{result} of process {process}{line}")
    }

    /// All columns, in the order in which `page/data.js` reads them.
    fn pack(&mut self, ids: &[OpId], rows: &Rows, part_of: &[u32]) -> String {
        let mut packer = Packer::default();
        packer.number(ids.len() as u64);
        packer.number(u64::from(rows.times.is_some()));
        let (calls, rets) = (self.history.calls(), self.history.rets());
        // If the page holds all operations, their numbers are not stored.
        if ids.len() < self.history.len() {
            packer.differences(ids.iter().map(|id| i64::from(id.0)));
        }
        packer.differences(ids.iter().map(|id| i64::from(calls[id.index()])));
        for id in ids {
            let (call, ret) = (calls[id.index()], rets[id.index()]);
            packer.number(if ret == NEVER {
                0
            } else {
                u64::from(ret - call)
            });
        }
        for numbers in [&rows.process, &rows.method] {
            numbers
                .iter()
                .for_each(|&number| packer.number(number.into()));
        }
        packer.sparse(&rows.argument);
        packer.sparse(&rows.result);
        if self.parts.len() > 1 {
            packer.differences(ids.iter().map(|id| i64::from(part_of[id.index()])));
        }
        if let Some(times) = &rows.times {
            // Times are counted from the first one on.
            let start = times.iter().map(|time| time.0).min().unwrap_or(0);
            packer.differences(times.iter().map(|time| time.0.saturating_sub(start)));
            for (id, &(call, ret)) in ids.iter().zip(times) {
                let is_open = rets[id.index()] == NEVER;
                packer.number(if is_open {
                    0
                } else {
                    ret.saturating_sub(call).max(0) as u64
                });
            }
        }
        packer.texts(&self.texts);
        // The page reads the rest when it is first needed: orders, as positions among its operations, and lines.
        let place = |id: &OpId| ids.binary_search(id).ok();
        for (number, order) in self.orders.iter().enumerate() {
            let states = &self.states[number];
            let first = order.iter().position(|id| place(id).is_some());
            self.parts[number].steps_before = first.unwrap_or(0);
            let steps: Vec<(usize, u32)> = order
                .iter()
                .enumerate()
                .filter_map(|(i, id)| Some((place(id)?, states.get(i).copied().unwrap_or(0))))
                .collect();
            packer.number(steps.len() as u64);
            packer.differences(steps.iter().map(|&(place, _)| place as i64));
            // The steps with states are consecutive.
            let first = steps.iter().position(|&(_, state)| state != 0);
            let kept = &steps[first.unwrap_or(steps.len())..];
            let count = kept.iter().rposition(|&(_, state)| state != 0);
            let kept = &kept[..count.map_or(0, |last| last + 1)];
            packer.number(first.unwrap_or(0) as u64);
            packer.number(kept.len() as u64);
            packer.differences(kept.iter().map(|&(_, state)| i64::from(state)));
        }
        packer.differences(rows.line.iter().map(|&number| i64::from(number)));
        packer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Checker;
    use crate::report::samples::register;
    use crate::spec::{Register, RegisterOp};

    /// A write of 1, reads of 1, one read of nil, and reads of 1 again.
    fn stale(reads: usize) -> (Register, TypedHistory<RegisterOp, Value>) {
        let mut history = TypedHistory::new();
        let mut happen = |op: RegisterOp, answer: Value| {
            let op = history.call(0, op);
            history.ret(op, answer);
        };
        happen(RegisterOp::Write(1.into()), Value::Nil);
        (0..reads).for_each(|_| happen(RegisterOp::Read, 1.into()));
        happen(RegisterOp::Read, Value::Nil);
        (0..reads).for_each(|_| happen(RegisterOp::Read, 1.into()));
        (register(), history)
    }

    fn options(most_ops: usize) -> PageOptions<'static> {
        PageOptions {
            name: "stale",
            object_type: "register",
            most_ops,
        }
    }

    #[test]
    fn a_violation_is_told_with_its_reasons() {
        let (register, history) = stale(3);
        let report = Checker::default().check(&register, &history);
        let data = page_data(
            options(100),
            &register,
            &history,
            &report.expect("a verdict"),
        );
        assert_eq!((data.operations, data.embedded), (8, 8));
        let [part] = data.parts.as_slice() else {
            panic!("one part")
        };
        let violation = part.violation.as_ref().expect("a violation");
        assert_eq!(violation.last, 4);
        let refused = &violation.refused[0];
        assert_eq!((refused.op, refused.state.as_str()), (4, "1"));
        assert_eq!(refused.expected, ["1"]);
        assert_eq!(violation.core.arrows, [(0, 1)]);
        let json = serde_json::to_string(&data).expect("JSON");
        assert!(json.contains("\"not linearizable\""));
    }

    #[test]
    fn a_small_page_holds_what_is_around_the_core_and_the_core() {
        let (register, history) = stale(500);
        let report = Checker::default().check(&register, &history);
        let report = report.expect("a verdict");
        let ids = shown(history.len(), &report, 100);
        assert!(ids.len() <= 102, "{}", ids.len());
        assert!(ids.is_sorted());
        for wanted in [OpId(0), OpId(501), OpId(520)] {
            assert!(ids.contains(&wanted), "{wanted:?}");
        }
        let data = page_data(options(100), &register, &history, &report);
        assert_eq!((data.operations, data.embedded), (1002, ids.len()));
        // A page can be empty.
        assert_eq!(shown(0, &report, 0), []);
    }
}
