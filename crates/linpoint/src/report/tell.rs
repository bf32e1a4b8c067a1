//! From a report to a story: which operations are shown, and the evidence for each part.

use std::collections::HashMap;

use super::contradiction::{self, LONGEST_STATE};
use super::model::{CoreRow, CoreStory, PartStory, Story, ViolationStory};
use super::others;
use super::pack::{Packer, Texts, shortened};
use super::source::{Rows, Source};
use super::steps::{self, Steps};
use crate::engine::{Task, TaskOp};
use crate::error::Error;
use crate::history::{History, NEVER, OpId, Part, Partitioning, TypedHistory, partition};
use crate::spec::{Object, Spec};
use crate::value::Value;
use crate::verdict::{Core, Limit, PartReport, Report, Undecided, Verdict, Violation};

/// How many steps of orders are told with their states, in all parts together.
const MOST_STATES: usize = 20_000;

/// How many operations of a core are drawn.
const MOST_CORE_ROWS: usize = 80;

/// What a story is about.
#[derive(Clone, Copy, Debug)]
pub struct Told<'a> {
    /// What the history is called.
    pub name: &'a str,
    /// The type of the object.
    pub object_type: &'a str,
    /// How many operations the page may hold of it. Of longer histories, those around the core are taken.
    pub most_ops: usize,
}

/// Tells what a report says about a history of Rust values.
pub fn tell<S: Spec>(
    told: Told<'_>,
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    report: &Report,
) -> Story {
    story(told, spec, history, history, report)
}

/// Tells what a report says about a recorded history.
pub(crate) fn tell_recorded<S: Object>(
    told: Told<'_>,
    object: &S,
    history: &History,
    report: &Report,
) -> Result<Story, Error> {
    let typed = TypedHistory::decode(object, history)?;
    Ok(story(told, object, &typed, history, report))
}

fn story<S: Spec>(
    told: Told<'_>,
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    source: &dyn Source,
    report: &Report,
) -> Story {
    // The parts are those of the report.
    let how = if report.parts.iter().any(|part| part.key.is_some()) {
        Partitioning::ByKey
    } else {
        Partitioning::ByObject
    };
    let parts = partition(spec, history, how);
    let reports: HashMap<(u32, Option<&Value>), &PartReport> = report
        .parts
        .iter()
        .map(|part| ((part.object_number, part.key.as_ref()), part))
        .collect();
    let report_of = |part: &Part| reports.get(&(part.object, part.key.as_ref())).copied();

    let ids = shown(history.len(), report, told.most_ops);
    let mut texts = Texts::default();
    let rows = source.rows(&ids, &mut texts);
    let mut teller = Teller {
        spec,
        history,
        source,
        texts,
        states_left: MOST_STATES,
        orders: vec![Vec::new(); parts.len()],
        states: vec![Vec::new(); parts.len()],
        stories: vec![PartStory::default(); parts.len()],
    };
    // States are told of violations first.
    let (bad, fine): (Vec<usize>, Vec<usize>) = (0..parts.len()).partition(|&i| {
        let report = report_of(&parts[i]);
        report.is_some_and(|report| matches!(report.verdict, Verdict::Violation(_)))
    });
    for i in bad.into_iter().chain(fine) {
        teller.tell_part(i, &parts[i], report_of(&parts[i]));
    }

    let mut part_of = vec![0; history.len()];
    for (number, part) in (0u32..).zip(&parts) {
        part.ops.iter().for_each(|id| part_of[id.index()] = number);
    }
    Story {
        name: told.name.to_owned(),
        object_type: told.object_type.to_owned(),
        verdict: verdict_name(&report.verdict),
        operations: history.len(),
        embedded: ids.len(),
        packed: teller.pack(&ids, &rows, &part_of),
        parts: teller.stories,
        is_bare: rows.is_bare,
        line_unit: rows.line_unit,
        processes: rows.processes,
        methods: rows.methods,
        annotations: rows.annotations,
        headline: None,
        notes: Vec::new(),
        execution: Vec::new(),
    }
}

/// The operations that a page of limited size holds: those around the violation, and its core.
fn shown(len: usize, report: &Report, most: usize) -> Vec<OpId> {
    if len <= most {
        return (0..len as u32).map(OpId).collect();
    }
    let violation = report.parts.iter().find_map(|part| match &part.verdict {
        Verdict::Violation(violation) => Some(violation),
        _ => None,
    });
    // More of what led to it than of what came after.
    let middle = violation.map_or(0, |violation| violation.last.index());
    let start = middle.saturating_sub(most / 4 * 3).min(len - most);
    let mut ids: Vec<OpId> = (start..start + most).map(|i| OpId(i as u32)).collect();
    if let Some(violation) = violation {
        let core = &violation.core;
        ids.extend(core.ops.iter().chain(&core.relaxed).take(MOST_CORE_ROWS));
        ids.sort_unstable();
        ids.dedup();
    }
    ids
}

fn verdict_name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Linearizable(_) => "linearizable",
        Verdict::Violation(_) => "not linearizable",
        Verdict::Undecided(_) => "undecided",
    }
}

/// Which limit was hit, and how far it got.
fn undecided(undecided: &Undecided) -> String {
    let Undecided {
        limit,
        engine,
        prefix_events,
        events,
    } = undecided;
    let limit = match limit {
        Limit::Time(time) => format!("the time limit of {time:?} came first"),
        Limit::TotalTime(time) => {
            format!("the time limit of {time:?} for all histories came first")
        }
        Limit::Memory(bytes) => format!("the memory limit of {bytes} bytes came first"),
        Limit::Cancelled => "it was interrupted".to_owned(),
        Limit::Engine(why) => format!("engine {engine} cannot tell: {why}"),
        Limit::Depth(d) => format!("no witness up to d = {d}"),
    };
    format!("{limit}; the first {prefix_events} of {events} events are known to be linearizable")
}

struct Teller<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    source: &'a dyn Source,
    texts: Texts,
    states_left: usize,
    /// For each part its order, and the texts of the states after its steps.
    orders: Vec<Vec<OpId>>,
    states: Vec<Vec<u32>>,
    stories: Vec<PartStory>,
}

impl<S: Spec> Teller<'_, S> {
    fn tell_part(&mut self, number: usize, part: &Part, report: Option<&PartReport>) {
        let mut story = PartStory {
            object: self.source.object_name(part.object),
            key: part.key.as_ref().map(Value::to_string),
            operations: part.ops.len(),
            verdict: "not looked at",
            ..PartStory::default()
        };
        if let Some(report) = report {
            story.verdict = verdict_name(&report.verdict);
            story.engine = report.engine;
            story.reason = report.reason.clone();
            match &report.verdict {
                Verdict::Linearizable(witness) => {
                    let task = Task::new(self.spec, self.history, &part.ops);
                    let steps = self.steps(number, &task, &witness.order, None);
                    story.initial = steps.initial;
                }
                Verdict::Undecided(found) => story.undecided = Some(undecided(found)),
                Verdict::Violation(violation) => {
                    let task = Task::new(self.spec, self.history, &part.ops);
                    let mut steps = self.steps(number, &task, &violation.partial, Some(violation));
                    // In the words of the recording, which may say more than the specification keeps.
                    let mut others = others::others(&task, violation);
                    let refused = others.iter_mut().flat_map(|other| &mut other.refused);
                    for refused in refused.chain(&mut steps.refused) {
                        let recorded = self.source.result_text(OpId(refused.op));
                        refused.recorded = recorded.unwrap_or_default();
                    }
                    story.initial = steps.initial;
                    story.violation = Some(ViolationStory {
                        core: self.core(&task, &violation.core),
                        last: violation.last.0,
                        prefix_events: violation.prefix_events,
                        shortest: violation.shortest,
                        refused: steps.refused,
                        others,
                    });
                }
            }
        }
        self.stories[number] = story;
    }

    /// Replays the order of a part; of a violation the last states are kept, of others the first.
    fn steps(
        &mut self,
        number: usize,
        task: &Task<'_, S>,
        order: &[OpId],
        violation: Option<&Violation>,
    ) -> Steps {
        let kept = match violation {
            Some(_) => order.len().saturating_sub(self.states_left)..order.len(),
            None => 0..order.len().min(self.states_left),
        };
        self.states_left -= kept.len();
        self.orders[number] = order.to_vec();
        // Without states there is nothing to replay for.
        if kept.is_empty() && violation.is_none() {
            return Steps::default();
        }
        let mut steps = steps::replay(task, order, violation, kept, &mut self.texts);
        self.states[number] = std::mem::take(&mut steps.states);
        steps
    }

    fn core(&self, task: &Task<'_, S>, core: &Core) -> CoreStory {
        let mut ops: Vec<TaskOp> = Vec::new();
        let (calls, rets) = (self.history.calls(), self.history.rets());
        let op = |id: OpId, ret: u32| TaskOp {
            id,
            call: calls[id.index()],
            ret,
        };
        ops.extend(core.ops.iter().map(|&id| op(id, rets[id.index()])));
        ops.extend(core.relaxed.iter().map(|&id| op(id, NEVER)));
        ops.sort_unstable_by_key(|op| op.call);
        let task = task.with_ops(ops);
        let found = contradiction::look_at(&task);
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
        CoreStory {
            sentence: core.sentence.clone(),
            minimal: core.minimal,
            certified: core.certified,
            operations: core.ops.len(),
            relaxed: core.relaxed.len(),
            rows: ops.iter().map(row).collect(),
            events: events.len(),
            arrows: found.arrows,
            attempts: found.attempts,
            initial: shortened(&format!("{:?}", self.spec.init()), LONGEST_STATE).into_owned(),
        }
    }

    /// All columns, in the order in which `page/data.js` reads them.
    fn pack(&mut self, ids: &[OpId], rows: &Rows, part_of: &[u32]) -> String {
        let mut packer = Packer::default();
        packer.number(ids.len() as u64);
        packer.number(u64::from(rows.times.is_some()));
        let (calls, rets) = (self.history.calls(), self.history.rets());
        // What goes without saying is left out.
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
        if self.stories.len() > 1 {
            packer.differences(ids.iter().map(|id| i64::from(part_of[id.index()])));
        }
        if let Some(times) = &rows.times {
            // Times are told from the first one on.
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
        // What is read when somebody asks for it: orders, by place among the operations of the page, and lines.
        let place = |id: &OpId| ids.binary_search(id).ok();
        for (number, order) in self.orders.iter().enumerate() {
            let states = &self.states[number];
            let first = order.iter().position(|id| place(id).is_some());
            self.stories[number].steps_before = first.unwrap_or(0);
            let steps: Vec<(usize, u32)> = order
                .iter()
                .enumerate()
                .filter_map(|(i, id)| Some((place(id)?, states.get(i).copied().unwrap_or(0))))
                .collect();
            packer.number(steps.len() as u64);
            packer.differences(steps.iter().map(|&(place, _)| place as i64));
            // States are kept of some steps in a row.
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

    /// Reads of 1 after a write of 1, and at the end one that sees nothing.
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

    fn told(most_ops: usize) -> Told<'static> {
        Told {
            name: "stale",
            object_type: "register",
            most_ops,
        }
    }

    #[test]
    fn a_violation_is_told_with_its_reasons() {
        let (register, history) = stale(3);
        let report = Checker::default().check(&register, &history);
        let story = tell(told(100), &register, &history, &report.expect("a verdict"));
        assert_eq!((story.operations, story.embedded), (8, 8));
        let [part] = story.parts.as_slice() else {
            panic!("one part")
        };
        let violation = part.violation.as_ref().expect("a violation");
        assert_eq!(violation.last, 4);
        let refused = &violation.refused[0];
        assert_eq!((refused.op, refused.state.as_str()), (4, "1"));
        assert_eq!(refused.expected, ["1"]);
        assert_eq!(violation.core.arrows, [(0, 1)]);
        let json = serde_json::to_string(&story).expect("JSON");
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
        let story = tell(told(100), &register, &history, &report);
        assert_eq!((story.operations, story.embedded), (1002, ids.len()));
        // Nothing at all is a page too.
        assert_eq!(shown(0, &report, 0), []);
    }
}
