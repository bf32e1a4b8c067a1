//! Repeats one execution, from the token that a report printed.

use std::time::Instant;

use super::minimise::failure;
use super::{limits, program, run_tests, test_report};
use crate::check::{self, Effort};
use crate::object::Object;
use crate::report::{TestReport, TestResult, Verdict};
use crate::runtime::execution::{Settings, Switches};
use crate::token::Token;

/// Runs the execution of a token, or its whole test if that execution no longer exists or no longer fails.
pub(crate) fn run<X: 'static>(
    object: &Object<X>,
    start: Instant,
    token: &Token,
    notes: &mut Vec<String>,
) -> (Verdict, Vec<TestReport>) {
    let matrix = token.matrix.clone();
    let is_unknown = |op: usize| op >= object.invocations.len();
    if token.object != object.identity() || matrix.invocations().any(is_unknown) {
        let why = "the replay token belongs to another object: its type or its operations have other names";
        return (Verdict::Undecided(why.to_owned()), Vec::new());
    }
    if let Some(why) = object.problem_of(&matrix) {
        return (Verdict::Undecided(why), Vec::new());
    }
    if !token.schedule.is_empty() {
        let program = program(object, &matrix);
        let limits = limits(object, 1, None);
        let schedule = || token.schedule.clone();
        let mut is_same = false;
        let settings = Settings::verbose(Switches::Everywhere, limits.max_steps);
        check::run_once(&program, schedule(), settings, |trace| {
            is_same = trace.fingerprint() == token.signature;
        });
        let serial = check::serial_histories(&program, limits.max_steps, None).ok();
        let violation = serial.and_then(|serial| {
            Some((
                check::replay(&program, &serial, schedule(), limits.max_steps)?,
                serial,
            ))
        });
        if let Some((violation, serial)) = violation {
            if !is_same {
                notes.push(
                    "the object has changed since the token was made: this schedule runs other steps now, and still fails".to_owned(),
                );
            }
            let failure = failure(object, &program, &matrix, &matrix, &serial, &violation);
            let effort = Effort {
                serial: serial.histories,
                stuck: serial.stuck_histories,
                executions: 1,
                ..Effort::default()
            };
            let test = test_report(object, &matrix, TestResult::Fail(failure.kind), effort);
            return (Verdict::Fail(Box::new(failure)), vec![test]);
        }
        let what = match is_same {
            true => "no longer fails",
            false => "no longer exists, since the object has changed",
        };
        notes.push(format!(
            "the interleaving of the token {what}; its test was searched again"
        ));
    }
    run_tests(object, start, Box::new(std::iter::once(matrix)), 1, notes)
}
