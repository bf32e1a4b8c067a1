//! Explains a violation: what happened, which threads are blocked, and which serial outcomes are nearest.

use std::rc::Rc;

use super::{Event, Failure, FailureKind};
use super::{blocked, page};
use crate::check::Test;
use crate::check::serial::{Group, Serial};
use crate::check::spec::Ruling;
use crate::check::{Violation, ViolationKind, run_once};
use crate::matrix::Matrix;
use crate::runtime::UNCONTROLLED;
use crate::runtime::execution::{BlockedThread, Outcome, Settings, Switches, Trace, Wait};
use crate::runtime::history::{self, History};
use crate::runtime::memory_event::{Action, MemoryEvent};
use crate::runtime::program::qualified_label as name;
use crate::runtime::thread_name;
use crate::token::Token;

/// How many serial outcomes are shown.
const NEAREST: usize = 3;

/// The way in which a test of this program fails.
pub(crate) fn kind_in(program: &dyn Test, violation: &ViolationKind) -> FailureKind {
    match violation {
        ViolationKind::Results if program.asserts() => FailureKind::Panics,
        ViolationKind::Stuck(_) if program.asserts() => FailureKind::Deadlock,
        violation => kind(violation),
    }
}

pub(crate) fn kind(violation: &ViolationKind) -> FailureKind {
    match violation {
        ViolationKind::Results => FailureKind::NoWitness,
        ViolationKind::Stuck(_) => FailureKind::NoStuckWitness,
        ViolationKind::DataRace(_) => FailureKind::DataRace,
        ViolationKind::Invariant(_) => FailureKind::Invariant,
        ViolationKind::Nondeterministic(_) => FailureKind::Nondeterministic,
        ViolationKind::Blocks { .. } => FailureKind::Blocks,
    }
}

pub(crate) fn failure(
    program: &Rc<dyn Test>,
    matrix: &Matrix,
    serial: &Serial,
    violation: &Violation,
    found_in: String,
    max_steps: usize,
) -> Failure {
    let history = &violation.history;
    let mut interleaving = Vec::new();
    let mut blocked = Vec::new();
    let mut signature = 0;
    let mut sentence = sentence(&**program, violation);
    let mut moves = Vec::new();
    let mut spec_page = None;
    if !violation.schedule.is_empty() {
        run_once(
            program,
            violation.schedule.clone(),
            Settings::verbose(Switches::Everywhere, max_steps),
            |trace| {
                interleaving = steps(&**program, trace);
                moves = page::moves(&**program, trace);
                signature = trace.fingerprint();
                blocked = blocked::lines(&**program, trace);
                if let ViolationKind::DataRace(_) | ViolationKind::Invariant(_) = violation.kind {
                    return;
                }
                spec_page = program.page(trace, &page::test_name(&**program));
                if let Some(Ruling::Unexplained(_, why)) = program.rule(trace) {
                    sentence = match program.asserts() {
                        true => why,
                        false => format!("The specification does not allow it: {why}."),
                    };
                }
            },
        );
    }
    if let ViolationKind::Blocks { schedule, .. } = &violation.kind {
        let settings = Settings::verbose(Switches::BetweenOperations, max_steps);
        run_once(program, schedule.clone(), settings, |trace| {
            blocked = blocked::lines(&**program, trace);
        });
    }
    let page_data = match program.has_spec() {
        true => spec_page.map(|page| page::with_execution(page, moves)),
        false => {
            let told = page::of_violation(&**program, serial, violation, &sentence, moves);
            told.map(|(page, told)| {
                sentence = told;
                page
            })
        }
    };
    let token = Token {
        object: program.identity(),
        matrix: matrix.clone(),
        schedule: violation.schedule.clone(),
        signature,
    };
    Failure {
        found_in,
        history: events(&**program, history),
        other_history: match &violation.kind {
            ViolationKind::Nondeterministic(other) => events(&**program, other),
            _ => Vec::new(),
        },
        interleaving,
        blocked,
        nearest: match violation.kind {
            ViolationKind::Results | ViolationKind::Stuck(_) => {
                nearest(&**program, serial, history)
            }
            _ => Vec::new(),
        },
        preemptions: violation.preemptions,
        page_data,
        ..failure_of_test(
            &**program,
            &token,
            kind_in(&**program, &violation.kind),
            sentence,
        )
    }
}

/// The serial behaviour is not what an observation file says.
pub(crate) fn changed(
    program: &Rc<dyn Test>,
    matrix: &Matrix,
    path: &str,
    differences: Vec<String>,
) -> Failure {
    let token = Token {
        object: program.identity(),
        matrix: matrix.clone(),
        schedule: Vec::new(),
        signature: 0,
    };
    let sentence = format!("The serial histories are not those of {path}.");
    Failure {
        differences,
        ..failure_of_test(&**program, &token, FailureKind::Changed, sentence)
    }
}

/// The part of a failure that follows from its test, without an execution.
fn failure_of_test(
    program: &dyn Test,
    token: &Token,
    kind: FailureKind,
    sentence: String,
) -> Failure {
    let layout = program.layout();
    let label = |ops: std::ops::Range<usize>| -> Vec<String> {
        ops.map(|op| program.label(op).to_owned()).collect()
    };
    Failure {
        kind,
        sentence,
        caveat: None,
        init: label(0..layout.init),
        matrix: (0..layout.threads.len())
            .map(|thread| label(layout.of_thread(thread)))
            .collect(),
        finally: label(layout.finals()),
        found_in: token.matrix.dimension(),
        history: Vec::new(),
        other_history: Vec::new(),
        interleaving: Vec::new(),
        blocked: Vec::new(),
        nearest: Vec::new(),
        differences: Vec::new(),
        preemptions: 0,
        token: token.to_string(),
        page_data: None,
    }
}

fn sentence(program: &dyn Test, violation: &Violation) -> String {
    let history = &violation.history;
    match &violation.kind {
        ViolationKind::Results => {
            "No serial order of the operations that respects real time gives these results."
                .to_owned()
        }
        ViolationKind::Stuck(op) => {
            let others = history.pending().count() - 1;
            let with = match others {
                0 => String::new(),
                1 => ", and another operation with it".to_owned(),
                n => format!(", and {n} operations with it"),
            };
            format!(
                "{} never returns{with}; after no serial order of the operations that returned, with these results, would it \
                 have to wait.",
                name(program, *op)
            )
        }
        ViolationKind::DataRace([first, second]) => format!(
            "Nothing orders {} and {}: no lock, no release that an acquire reads, no start or end of a thread.",
            access(program, first),
            access(program, second)
        ),
        ViolationKind::Invariant(why) => {
            format!("When all threads have ended, an invariant of the object does not hold: {why}.")
        }
        ViolationKind::Nondeterministic(other) => {
            let differs = history
                .call_order()
                .map(usize::from)
                .find(|&op| history.outcomes[op] != other.outcomes[op]);
            match differs {
                Some(op) if (0..history.outcomes.len()).any(|op| program.may_be_cancelled(op)) => {
                    format!(
                        "{} answers {} in one serial execution and {} in another, after the same calls: an operation that was \
                     cancelled had an effect, or the object depends on {UNCONTROLLED}.",
                        name(program, op),
                        program.describe(op, other.outcomes[op]),
                        program.describe(op, history.outcomes[op]),
                    )
                }
                Some(op) => format!(
                    "{} answers {} in one serial execution and {} in another, after the same calls. If it is meant to, say \
                     `nondeterministic_ok`; otherwise it depends on {UNCONTROLLED}.",
                    name(program, op),
                    program.describe(op, other.outcomes[op]),
                    program.describe(op, history.outcomes[op]),
                ),
                None => "Two serial executions with the same calls differ.".to_owned(),
            }
        }
        ViolationKind::Blocks { op, .. } => format!(
            "{} waits for ever although no other operation runs, and it was not declared to block.",
            name(program, *op)
        ),
    }
}

/// An access of memory in words.
pub(crate) fn access(program: &dyn Test, event: &MemoryEvent) -> String {
    let what = match event.action {
        Action::Load(_) | Action::FailedUpdate(_) | Action::ReadCell => "read",
        Action::Update(_) => "update",
        _ => "write",
    };
    let place = event.location.map_or(String::new(), |location| {
        format!(" at {}:{}", location.file(), location.line())
    });
    format!("the {what} of {}{place}", name(program, event.op))
}

fn events(program: &dyn Test, history: &History) -> Vec<Event> {
    let event = |event: &history::Event| {
        let op = event.op();
        let returns = matches!(event, history::Event::Return(_));
        Event {
            thread: thread_name(history.layout.thread_of(op)),
            operation: program.label(op).to_owned(),
            result: returns.then(|| program.describe(op, history.outcomes[op])),
        }
    };
    history.events.iter().map(event).collect()
}

/// A line for each step, and one for each switch.
fn steps(program: &dyn Test, trace: &Trace) -> Vec<String> {
    let mut lines = Vec::new();
    let mut last: Option<usize> = None;
    for (position, step) in trace.steps().iter().enumerate() {
        let thread = usize::from(step.thread);
        if let Some(before) = last.filter(|&before| before != thread) {
            let left = trace.steps()[..position]
                .iter()
                .rfind(|earlier| usize::from(earlier.thread) == before);
            lines.push(match left {
                Some(left) if !left.returns => {
                    format!(
                        "---- switch inside {} ----",
                        name(program, left.op as usize)
                    )
                }
                _ => "---- switch ----".to_owned(),
            });
        }
        last = Some(thread);
        let what = step_text(program, trace, position);
        lines.push(format!("{} {what}", name(program, step.op as usize)));
    }
    let mut lines = counted_once(lines);
    let spins = |thread: &BlockedThread| matches!(thread.wait, Wait::Change { .. });
    if trace.blocked().iter().any(spins) {
        lines.push("---- no thread makes progress from here on ----".to_owned());
    }
    lines
}

/// Replaces the repetitions of a line by their number.
fn counted_once(lines: Vec<String>) -> Vec<String> {
    let mut counted = Vec::new();
    for same in lines.chunk_by(|a, b| a == b) {
        counted.push(same[0].clone());
        match same.len() - 1 {
            0 => {}
            1 => counted.push("     the same again".to_owned()),
            again => counted.push(format!("     the same again, {again} times")),
        }
    }
    counted
}

/// What a step did, and where.
pub(crate) fn step_text(program: &dyn Test, trace: &Trace, position: usize) -> String {
    let step = &trace.steps()[position];
    let words: Vec<&str> = trace.descriptions_of(position).collect();
    let mut words = words.join(", ");
    if step.blocked {
        words = "has to wait".to_owned();
    }
    if step.returns {
        let arrow = if words.is_empty() { "-> " } else { "  -> " };
        words = format!(
            "{words}{arrow}{}",
            program.describe(step.op as usize, trace.history().outcomes[step.op as usize])
        );
    }
    let place = step.location.map_or(String::new(), |location| {
        format!("   {}:{}", location.file(), location.line())
    });
    format!("{words}{place}")
}

/// The serial outcomes that differ least: in few results, then in few pairs that real time ordered the other way.
fn nearest(program: &dyn Test, serial: &Serial, history: &History) -> Vec<String> {
    let differing = |results: &[Outcome]| -> Vec<usize> {
        (0..results.len())
            .filter(|&op| results[op] != history.outcomes[op])
            .collect()
    };
    let inversions = |group: &Group, order: usize| -> u32 {
        let before = group.before(order);
        (0..before.len())
            .filter(|&op| history.outcomes[op] != Outcome::ABSENT)
            .map(|op| (history.before[op] & !before[op]).count_ones())
            .sum()
    };
    let mut all: Vec<(usize, u32, &[u8], &[Outcome])> = Vec::new();
    for (results, group) in serial.full.iter().chain(&serial.stuck) {
        let best = (0..group.orders.len())
            .map(|order| (inversions(group, order), order))
            .min();
        if let Some((inversions, order)) = best {
            all.push((
                differing(results).len(),
                inversions,
                &group.orders[order],
                results,
            ));
        }
    }
    all.sort();
    let describe = |&(_, inversions, order, results): &(usize, u32, &[u8], &[Outcome])| {
        let order: Vec<String> = order.iter().map(|&op| name(program, op.into())).collect();
        let differs: Vec<String> = differing(results)
            .into_iter()
            .map(|op| {
                let then = match results[op] {
                    Outcome::ABSENT => "is not called".to_owned(),
                    Outcome::PENDING => "never returns".to_owned(),
                    outcome => format!("= {}", program.describe(op, outcome)),
                };
                format!("{} {then}", name(program, op))
            })
            .collect();
        match (differs.is_empty(), inversions) {
            (false, _) => format!("{} : {}", order.join(" "), differs.join(", ")),
            (true, _) => format!("{} : the same results, against real time", order.join(" ")),
        }
    };
    all.iter().take(NEAREST).map(describe).collect()
}
