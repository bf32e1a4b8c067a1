//! An online checker and a check of the recorded history explain a violation in the same words.
//!
//! `LINPOINT_EXPLANATIONS` sets the number of histories for each kind and type.

use std::time::Duration;

use super::super::{Finding, Observable, OnlineChecker, Violation, explains};
use super::Event;
use crate::generate::Generator;
use crate::history::{Call, History, HistoryBuilder, NEVER, OpId, Ties};
use crate::object::{ObjectType, RecordedCall, object_type, types};
use crate::portfolio::{Checker, Config};
use crate::value::Value;
use crate::verdict::{Claim, PartReport, Verdict};

/// How many random histories are compared, by default.
const HISTORIES: u64 = 300;

pub(super) fn histories() -> u64 {
    let given = std::env::var("LINPOINT_EXPLANATIONS");
    given.map_or(HISTORIES, |n| n.parse().unwrap())
}

/// What a process does.
#[derive(Clone, Debug)]
enum Step {
    Call(Call),
    Return(Value),
    Fail,
    Crash,
}

/// Steps with their processes, in the order in which they happen.
type Stream = Vec<(Value, Step)>;

/// The events of clients, each operation by a process of its own.
fn stream_of_events(events: &[Event]) -> Stream {
    let mut calls = 0;
    let mut stream = Vec::new();
    for event in events {
        let (op, step) = match event.clone() {
            Event::Call(method, argument) => {
                calls += 1;
                (calls - 1, Step::Call(Call::new(method, argument)))
            }
            Event::Return(op, result) => (op, Step::Return(result)),
            Event::Fail(op) => (op, Step::Fail),
            Event::Crash(op) => (op, Step::Crash),
        };
        stream.push((Value::from(op as i64), step));
    }
    stream
}

fn stream_of_history(history: &History) -> Stream {
    let mut stream = Vec::new();
    for op in history.ops() {
        let call = Call::new(op.method, op.argument.clone());
        stream.push((op.call, (op.process.clone(), Step::Call(call))));
        if op.ret != NEVER {
            let result = op.result.cloned().unwrap_or(Value::Nil);
            stream.push((op.ret, (op.process.clone(), Step::Return(result))));
        }
    }
    stream.sort_by_key(|(rank, _)| *rank);
    stream.into_iter().map(|(_, step)| step).collect()
}

/// The steps as a recorded history, in which the number of a step, from 1, is its line.
fn record(stream: &Stream) -> History {
    let mut builder = HistoryBuilder::new();
    for (line, (process, step)) in (1..).zip(stream.clone()) {
        let recorded = match step {
            Step::Call(call) => builder.call(line, process, call),
            Step::Return(result) => builder.ret(line, &process, result),
            Step::Fail => builder.fail(line, &process),
            Step::Crash => builder.crash(line, &process),
        };
        recorded.unwrap();
    }
    builder.finish(Ties::default()).unwrap()
}

/// The violations that an online checker reports, each with the line of the step.
fn watch(object: ObjectType, stream: &Stream) -> Vec<(u64, Violation<ObjectType>)> {
    let mut checker = OnlineChecker::new(object).unwrap();
    let mut violations = Vec::new();
    for (line, (process, step)) in (1..).zip(stream.clone()) {
        let finding = match step {
            Step::Call(call) => {
                let mut call = RecordedCall::from(call);
                call.line = line;
                checker.call(process, call).unwrap()
            }
            Step::Return(result) => checker.ret(process, result).unwrap(),
            Step::Fail => checker.fail(process).unwrap(),
            Step::Crash => {
                checker.crash(process).unwrap();
                None
            }
        };
        if let Some(Finding::Violation(violation)) = finding {
            violations.push((line, *violation));
        }
    }
    violations
}

/// What was compared.
#[derive(Debug, Default)]
pub(super) struct Compared {
    pub(super) same: u64,
    /// Violations that the online checker reports at a later event.
    late: u64,
    /// Violations that the check does not explain in time.
    limited: u64,
    /// Violations of histories in which operations fail, and those of them that are explained in the same words.
    failing: u64,
    failing_same: u64,
}

impl Compared {
    /// Failures are known in a recorded history before they happen, so a few of these are explained in other words.
    pub(super) fn check(&self) {
        assert!(self.failing_same * 5 >= self.failing * 4, "{self:?}");
    }

    pub(super) fn compare_events(&mut self, object: ObjectType, events: &[Event], seed: u64) {
        self.compare(object, &stream_of_events(events), &format!("seed {seed}"));
    }

    fn compare(&mut self, object: ObjectType, stream: &Stream, name: &str) {
        let history = record(stream);
        // What is said must not depend on how busy the machine is.
        let config = Config::default().with_explanation(Duration::from_secs(60));
        let checker = Checker::new(config.with_all_parts());
        let report = checker.check_recorded(&object, &history).unwrap();
        let alike = object.kind().is_some_and(|kind| explains(&kind));
        for (line, violation) in watch(object, stream) {
            let part = report.parts.iter().find(|part| part.key == violation.key);
            let told = Told {
                name,
                stream,
                history: &history,
                line,
                violation: &violation,
                part: part.unwrap_or_else(|| panic!("{name}: {violation:?}")),
                alike,
            };
            told.compare(self);
        }
    }
}

/// A violation as both tell it.
struct Told<'a> {
    name: &'a str,
    stream: &'a Stream,
    history: &'a History,
    line: u64,
    violation: &'a Violation<ObjectType>,
    part: &'a PartReport,
    /// Whether both must say the same.
    alike: bool,
}

impl Told<'_> {
    fn compare(&self, compared: &mut Compared) {
        let Verdict::Violation(checked) = &self.part.verdict else {
            panic!("{}: {:?}\n{:#?}", self.name, self.part, self.stream);
        };
        let core = &checked.core;
        let watched = self.violation;
        let sentence = watched.claim.sentence(&watched.words, &|op| match self
            .history
            .ops()
            .find(|other| u64::from(other.line) == op.call.line)
        {
            Some(op) => self.history.describe(op.id),
            None => op.call_text(),
        });
        let shown = || {
            let steps = (1..)
                .zip(self.stream)
                .map(|(line, (process, step))| match step {
                    Step::Call(call) => {
                        format!("{line}: {process} {} {}", call.method, call.argument)
                    }
                    Step::Return(result) => format!("{line}: {process} → {result}"),
                    Step::Fail | Step::Crash => format!("{line}: {process} {step:?}"),
                });
            let (name, steps) = (self.name, steps.collect::<Vec<_>>().join("\n"));
            format!(
                "{name}: {sentence}\nbut: {}\n{watched:?}\n{core:?}\n{steps}",
                core.sentence()
            )
        };
        let blamed = core
            .claim()
            .op()
            .map(|id| u64::from(self.history.op(*id).line));
        if !self.alike {
            // The same event, whatever is said of it.
            compared.same += u64::from(self.return_line(checked.last) == self.line);
            return;
        }
        // The recorded history has no operations that fail, whenever that is.
        if self
            .stream
            .iter()
            .any(|(_, step)| matches!(step, Step::Fail))
        {
            compared.failing += 1;
            compared.failing_same += u64::from(sentence == core.sentence());
            return;
        }
        // On a busy machine, the time for explanations may end before what was possible is known.
        if !checked.shortest || checked.possible.is_none() {
            compared.limited += 1;
            return;
        }
        if self.return_line(checked.last) < self.line {
            compared.late += 1;
            return;
        }
        assert_eq!(Some(watched.op.call.line), blamed, "{}", shown());
        // Which operation had changed the state before depends on operations that a stream has forgotten.
        let adds_to_it = matches!(
            core.claim(),
            Claim::NotChanged {
                used_up: Some(_),
                ..
            }
        );
        match adds_to_it {
            true => assert!(core.sentence().starts_with(&sentence), "{}", shown()),
            false => assert_eq!(sentence, core.sentence(), "{}", shown()),
        }
        // A count, and that no other operation is left, depend on operations that a stream has forgotten.
        let is_counted = matches!(
            watched.claim,
            Claim::CountTooLow { .. } | Claim::NoOther { .. }
        );
        assert!(
            core.ops().len() - core.premises().len() <= watched.others.len() + 1 || is_counted,
            "{}",
            shown()
        );
        compared.same += 1;
    }

    /// The line of the return of an operation.
    fn return_line(&self, id: OpId) -> u64 {
        let op = self.history.op(id);
        let mut later = (1..).zip(self.stream).skip(op.line as usize);
        let found = later.find(|(_, (process, _))| process == op.process);
        found.expect("it returns").0
    }
}

#[test]
fn every_type_that_can_be_watched_is_explained_in_the_same_words() {
    for info in types() {
        let object = || object_type(info.name, &Default::default());
        let is_explained = |object: &ObjectType| object.kind().is_some_and(|kind| explains(&kind));
        // Types that need a parameter cannot be watched either.
        if !object().is_ok_and(|object| is_explained(&object) && OnlineChecker::new(object).is_ok())
        {
            continue;
        }
        let object = || object().unwrap();
        let confirms = Checker::new(Config::default().verdicts_only());
        let mut compared = Compared::default();
        for seed in 0..histories() / 3 {
            let generator = Generator {
                ops: 10 + seed as usize % 20,
                processes: 2 + seed as usize % 4,
                pending_per_million: 20_000,
                universe: [None, Some(4)][seed as usize % 2],
                seed,
                ..Generator::default()
            };
            let Ok(history) = generator.violating(&object(), &confirms) else {
                continue;
            };
            let name = format!("{} with seed {seed}", info.name);
            compared.compare(object(), &stream_of_history(&history), &name);
        }
        println!("{}: {compared:?}", info.name);
        compared.check();
        // Hardly any of the generated histories of these can be watched: they compare and set, or add different amounts.
        let is_rare = ["cas-register", "counter"].contains(&info.name);
        assert!(
            compared.same > histories() / 100 || is_rare,
            "{}: {compared:?}",
            info.name
        );
    }
}
