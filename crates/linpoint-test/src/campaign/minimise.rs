//! Reduces a failing test: fewer threads, fewer operations, then fewer preemptions.

use std::rc::Rc;
use std::time::{Duration, Instant};

use super::{limits, program};
use crate::check::serial::Serial;
use crate::check::{self, Checked, Found, Limits, Strategy, Test, Violation};
use crate::matrix::Matrix;
use crate::object::Object;
use crate::report::Failure;
use crate::report::explain;
use crate::runtime::UNCONTROLLED;

/// The most preemptions of the search for an execution with fewer ones.
const MAX_PREEMPTIONS: u32 = 4;

/// Returns the failure of the smallest test that still fails.
pub(crate) fn smallest<X: 'static>(object: &Object<X>, matrix: &Matrix) -> Result<Failure, String> {
    // Enough for small tests; a large one is not reduced.
    let time = object.settings.budget.unwrap_or(Duration::from_secs(20));
    let limits = limits(object, Some(Instant::now() + time));
    let check = |matrix: &Matrix| check::check(&program(object, matrix), &limits);
    // An observation file has the serial histories of its own test, and not those of smaller ones.
    let has_smaller = object.settings.from_observations.is_none();
    let (small, checked) = match object.settings.minimise && has_smaller {
        true => self::matrix(matrix, check),
        false => (matrix.clone(), check(matrix)),
    };
    let program = program(object, &small);
    let Found::Fail(violation) = checked.found else {
        return Err(format!(
            "a test failed, and did not when it was run again: the object depends on {UNCONTROLLED}"
        ));
    };
    // Results are numbered by the program that ran them, so the test runs once more with the program that explains them.
    let violation = match preemptions(&program, &limits, &violation) {
        Some((violation, serial)) => {
            return Ok(failure(
                object, &program, &small, matrix, &serial, &violation,
            ));
        }
        None => *violation,
    };
    let Checked { found, serial, .. } = check::check(&program, &limits);
    match found {
        Found::Fail(again) => Ok(failure(object, &program, &small, matrix, &serial, &again)),
        _ => Err(format!(
            "a test failed with {} preemptions, and did not when it was run again",
            violation.preemptions
        )),
    }
}

/// Returns the failure that a report shows for a violation.
pub(crate) fn failure<X: 'static>(
    object: &Object<X>,
    program: &Rc<dyn Test>,
    small: &Matrix,
    found: &Matrix,
    serial: &Serial,
    violation: &Violation,
) -> Failure {
    explain::failure(
        program,
        small,
        serial,
        violation,
        found.dimension(),
        object.settings.max_steps,
    )
}

/// Returns the failure that a report shows for a violation of a test that is not reduced.
pub(crate) fn explained(
    program: &Rc<dyn Test>,
    matrix: &Matrix,
    serial: &Serial,
    violation: &Violation,
    limits: &Limits,
) -> Failure {
    let found_in = matrix.dimension();
    explain::failure(
        program,
        matrix,
        serial,
        violation,
        found_in,
        limits.max_steps,
    )
}

/// Removes threads and operations while the test still fails. Returns the smallest test.
pub(crate) fn matrix(matrix: &Matrix, check: impl Fn(&Matrix) -> Checked) -> (Matrix, Checked) {
    let mut current = matrix.clone();
    let mut checked = check(&current);
    loop {
        let smaller = smaller(&current).find_map(|candidate| {
            let checked = check(&candidate);
            matches!(checked.found, Found::Fail(_)).then_some((candidate, checked))
        });
        match smaller {
            Some((candidate, again)) => (current, checked) = (candidate, again),
            None => return (current, checked),
        }
    }
}

/// Returns the tests with one thread or one operation less.
fn smaller(matrix: &Matrix) -> impl Iterator<Item = Matrix> + '_ {
    let without_thread = (0..matrix.threads.len())
        .filter(|_| matrix.threads.len() > 1)
        .map(|thread| {
            let mut smaller = matrix.clone();
            smaller.threads.remove(thread);
            smaller
        });
    let places = matrix
        .threads
        .iter()
        .enumerate()
        .flat_map(|(thread, ops)| (0..ops.len()).map(move |op| (thread, op)));
    let without_op = places
        .filter(|&(thread, _)| matrix.threads[thread].len() > 1)
        .map(|(thread, op)| {
            let mut smaller = matrix.clone();
            smaller.threads[thread].remove(op);
            smaller
        });
    let without_init = (0..matrix.init.len()).map(|op| {
        let mut smaller = matrix.clone();
        smaller.init.remove(op);
        smaller
    });
    let without_last = (0..matrix.last.len()).map(|op| {
        let mut smaller = matrix.clone();
        smaller.last.remove(op);
        smaller
    });
    without_thread
        .chain(without_op)
        .chain(without_init)
        .chain(without_last)
}

/// Searches an execution of the same test that fails with the fewest preemptions.
pub(crate) fn preemptions(
    program: &Rc<dyn Test>,
    limits: &Limits,
    violation: &Violation,
) -> Option<(Violation, Serial)> {
    let limits = Limits {
        strategy: Strategy::FewestPreemptions(violation.preemptions.min(MAX_PREEMPTIONS)),
        ..*limits
    };
    let Checked { found, serial, .. } = check::check(program, &limits);
    match found {
        Found::Fail(violation) => Some((*violation, serial)),
        _ => None,
    }
}
