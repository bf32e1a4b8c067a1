//! Builds the data of the report page from a violation.
//!
//! The page needs a specification. Here it is the serial behaviour of the object in this test, and a state is the list of operations
//! that were run so far. It is defined for the calls of this test only, in the orders in which its threads make them, so no operation
//! can be removed to make the history smaller: the test itself has been reduced.

use std::collections::HashMap;
use std::fmt;

use linpoint::report::{Move, PageData, PageOptions, page_data};
use linpoint::verdict::{Core, HarnessEvidence};
use linpoint::{Checker, OpId, Outcomes, Spec, TypedHistory, Verdict};

use super::explain::step_text;
use crate::check::Test;
use crate::check::serial::Serial;
use crate::check::spec::NEVER_RETURNS;
use crate::check::{Violation, ViolationKind};
use crate::runtime::execution::{Outcome, Trace};
use crate::runtime::history::{Event, History};
use crate::runtime::program::qualified_label as name;
use crate::runtime::thread_name;

/// The text for the unknown result of an operation that should not have waited.
const SOME_ANSWER: &str = "some answer";

/// A test has at most 64 operations.
const MOST_OPS: usize = 1000;

/// The page about a violation, with the steps of its execution, and its sentence with what the serial executions allow.
pub(crate) fn of_violation(
    program: &dyn Test,
    serial: &Serial,
    violation: &Violation,
    sentence: &str,
    execution: Vec<Move>,
) -> Option<(PageData, String)> {
    let history = &violation.history;
    let mut behaviour = Behaviour::default();
    match &violation.kind {
        ViolationKind::Results | ViolationKind::Stuck(_) => {
            behaviour.learn_all(program, serial, &history.outcomes)
        }
        // The history may be right.
        ViolationKind::DataRace(_) | ViolationKind::Invariant(_) => return None,
        ViolationKind::Nondeterministic(other) => {
            let order: Vec<u8> = other.call_order().collect();
            behaviour.learn(program, &order, &other.outcomes);
        }
        ViolationKind::Blocks { op, .. } => {
            let order = history.call_order();
            let order: Vec<u8> = order.filter(|&other| usize::from(other) != *op).collect();
            let past = behaviour.learn(program, &order, &history.outcomes);
            behaviour.add(
                past,
                *op,
                name(program, *op),
                Answer(SOME_ANSWER.to_owned()),
            );
        }
    }
    let evidence = match violation.kind {
        ViolationKind::Results | ViolationKind::Stuck(_) => {
            HarnessEvidence::SerialExecutions(serial.histories)
        }
        ViolationKind::Nondeterministic(_)
        | ViolationKind::Blocks { .. }
        | ViolationKind::DataRace(_)
        | ViolationKind::Invariant(_) => HarnessEvidence::OneExecution,
    };
    let typed = typed(program, history, &violation.kind);
    let mut report = Checker::default().check(&behaviour, &typed).ok()?;
    let mut sentence = sentence.trim_end_matches('.').to_owned();
    for part in &mut report.parts {
        let Verdict::Violation(found) = &mut part.verdict else {
            return None;
        };
        if let (ViolationKind::Results, Some(clause)) =
            (&violation.kind, instead(program, &typed, found))
        {
            sentence = format!("{sentence}: {clause}");
        }
        let ids = (0..typed.len() as u32).map(OpId);
        let returned = ids.filter(|&id| typed.action(id).ret.is_some()).collect();
        // The operations that did not return had no effect, so the core leaves them out.
        found.core = Core::confirmed_by_harness(returned, sentence.clone(), evidence);
        part.engine = program.engine().name();
        part.reason = "the serial executions of the test are its specification".to_owned();
    }
    let options = PageOptions {
        name: &test_name(program),
        object_type: "live object",
        most_ops: MOST_OPS,
    };
    let data = page_data(options, &behaviour, &typed, &report);
    Some((with_execution(data, execution), format!("{sentence}.")))
}

/// What the first operation that no serial order explains could have answered, given what happened before it returned.
fn instead(
    program: &dyn Test,
    typed: &TypedHistory<Call, Answer>,
    found: &linpoint::verdict::Violation,
) -> Option<String> {
    let action = typed.action(found.last);
    let (op, answer) = (action.op.op?, action.ret.as_ref()?);
    let answers = &found.possible.as_ref().filter(|_| found.shortest)?.answers;
    let could = match answers.count {
        0 => "could not have returned yet".to_owned(),
        _ => format!("could only answer {}", answers.alternatives()),
    };
    let (name, answer) = (name(program, op), &answer.0);
    Some(format!(
        "{name} answered {answer}, but after the answers before it, it {could}"
    ))
}

/// Adds the names of the threads and the steps of the execution to a page.
pub(crate) fn with_execution(mut data: PageData, execution: Vec<Move>) -> PageData {
    data.name_processes(|number| number.parse().map_or_else(|_| number.to_owned(), long_name));
    data.execution = execution;
    data
}

fn long_name(thread: usize) -> String {
    match thread_name(thread).as_str() {
        "main" => "main thread".to_owned(),
        letter => format!("thread {letter}"),
    }
}

/// The steps of an execution.
pub(crate) fn moves(program: &dyn Test, trace: &Trace) -> Vec<Move> {
    let moves = trace
        .steps()
        .iter()
        .enumerate()
        .map(|(position, step)| Move {
            process: long_name(usize::from(step.thread)),
            text: format!(
                "{}: {}",
                program.label(step.op as usize),
                step_text(program, trace, position)
            ),
            memory: String::new(),
        });
    moves.collect()
}

/// The operations of each thread.
pub(crate) fn test_name(program: &dyn Test) -> String {
    let layout = program.layout();
    let labels = |thread| {
        let labels: Vec<&str> = layout
            .of_thread(thread)
            .map(|op| program.label(op))
            .collect();
        labels.join(" ")
    };
    let threads: Vec<String> = (0..layout.threads.len()).map(labels).collect();
    threads.join(" ‖ ")
}

/// The history for the checker. Of the pending operations, the one that is stuck for no reason "never returns"; the others stay
/// pending and have no effect.
fn typed(
    program: &dyn Test,
    history: &History,
    kind: &ViolationKind,
) -> TypedHistory<Call, Answer> {
    let stuck = match kind {
        ViolationKind::Stuck(op) | ViolationKind::Blocks { op, .. } => Some(*op),
        ViolationKind::Nondeterministic(_) => history.pending().next(),
        ViolationKind::Results | ViolationKind::DataRace(_) | ViolationKind::Invariant(_) => None,
    };
    let mut typed = TypedHistory::new();
    let mut ids = HashMap::new();
    for event in &history.events {
        let op = event.op();
        if matches!(event, Event::Return(_)) {
            typed.ret(ids[&op], Answer::of(program, op, history.outcomes[op]));
            continue;
        }
        let is_pending = history.outcomes[op] == Outcome::PENDING && stuck != Some(op);
        let call = Call {
            op: (!is_pending).then_some(op),
            label: program.label(op).to_owned(),
        };
        ids.insert(op, typed.call(history.layout.thread_of(op) as u32, call));
    }
    if let Some(op) = stuck {
        typed.ret(ids[&op], Answer(NEVER_RETURNS.to_owned()));
    }
    typed
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Call {
    /// The number of the operation; none if it does nothing.
    op: Option<usize>,
    label: String,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Answer(String);

impl Answer {
    fn of(program: &dyn Test, op: usize, outcome: Outcome) -> Self {
        Answer(match outcome {
            Outcome::PENDING => NEVER_RETURNS.to_owned(),
            outcome => program.describe(op, outcome),
        })
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Operations that were run one after the other, with their answers.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Past(Vec<(usize, String, Answer)>);

impl fmt::Debug for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("as constructed");
        }
        f.write_str("after ")?;
        for (i, (_, name, answer)) in self.0.iter().enumerate() {
            let comma = if i > 0 { ", " } else { "" };
            match answer.0.as_str() {
                "()" => write!(f, "{comma}{name}")?,
                NEVER_RETURNS => write!(f, "{comma}{name}, which {NEVER_RETURNS}")?,
                answer => write!(f, "{comma}{name} = {answer}")?,
            }
        }
        Ok(())
    }
}

/// The serial behaviour of an object.
#[derive(Default)]
struct Behaviour {
    /// For each sequence of operations: the next operation, its answer, and the sequence with it.
    next: HashMap<Past, Vec<(usize, Answer, Past)>>,
}

impl Behaviour {
    /// Adds the serial histories. A stuck one counts if all operations have returned in it that returned in the observed history.
    fn learn_all(&mut self, program: &dyn Test, serial: &Serial, seen: &[Outcome]) {
        let has_all = |outcomes: &[Outcome]| {
            let mut both = outcomes.iter().zip(seen);
            both.all(|(outcome, seen)| seen.value().is_none() || outcome.value().is_some())
        };
        let stuck = serial
            .stuck
            .iter()
            .filter(|(outcomes, _)| has_all(outcomes));
        for (outcomes, group) in serial.full.iter().chain(stuck) {
            for order in &group.orders {
                self.learn(program, order, outcomes);
            }
        }
    }

    /// Adds the answers of a serial history. Returns the state after it.
    fn learn(&mut self, program: &dyn Test, order: &[u8], outcomes: &[Outcome]) -> Past {
        order.iter().fold(Past::default(), |past, &op| {
            let op = usize::from(op);
            self.add(
                past,
                op,
                name(program, op),
                Answer::of(program, op, outcomes[op]),
            )
        })
    }

    fn add(&mut self, past: Past, op: usize, name: String, answer: Answer) -> Past {
        let mut after = past.clone();
        after.0.push((op, name, answer.clone()));
        let known = self.next.entry(past).or_default();
        let step = (op, answer, after.clone());
        if !known.contains(&step) {
            known.push(step);
        }
        after
    }
}

impl Spec for Behaviour {
    type Op = Call;
    type Ret = Answer;
    type State = Past;

    fn init(&self) -> Past {
        Past::default()
    }

    fn apply(&self, past: &Past, call: &Call) -> Outcomes<Answer, Past> {
        let steps = self.next.get(past).into_iter().flatten();
        let steps = steps.filter(|(op, ..)| call.op == Some(*op));
        let mut answers: Vec<(Answer, Past)> = steps
            .map(|(_, answer, after)| (answer.clone(), after.clone()))
            .collect();
        match answers.len() {
            0 => Outcomes::Blocked,
            1 => {
                let (answer, after) = answers.remove(0);
                Outcomes::One(answer, after)
            }
            _ => Outcomes::Many(answers),
        }
    }
}
