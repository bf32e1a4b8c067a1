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
use crate::runtime::execution::Choice;
use crate::runtime::{UNCONTROLLED, values};

/// The most preemptions of the search for an execution with fewer ones.
const MAX_PREEMPTIONS: u32 = 4;

/// Returns the failure of the smallest test that still fails. This one fails with this schedule; without one, in its serial
/// executions.
pub(crate) fn smallest<X: 'static>(
    object: &Object<X>,
    matrix: &Matrix,
    schedule: Vec<Choice>,
) -> Result<Failure, String> {
    // Enough for small tests; a large one is not reduced.
    let time = object.settings.budget.unwrap_or(Duration::from_secs(20));
    let limits = limits(object, 1, Some(Instant::now() + time));
    let check = |matrix: &Matrix| check::check(&program(object, matrix), &limits);
    // An observation file has the serial histories of its own test, and not those of smaller ones.
    let has_smaller = object.settings.from_observations.is_none();
    let (small, schedule) = match object.settings.minimise && has_smaller {
        true => self::matrix(matrix, schedule, check),
        false => (matrix.clone(), schedule),
    };
    // Results are numbered by the program that ran them, so the execution runs once more with the program that explains it.
    let program = program(object, &small);
    let found = again(&program, &schedule, limits.max_steps).ok_or_else(|| {
        format!(
            "a test failed, and its execution did not when it was run again: the object depends on {UNCONTROLLED}"
        )
    })?;
    let (violation, serial) = preemptions(&program, &limits, &found.0).unwrap_or(found);
    Ok(failure(
        object, &program, &small, matrix, &serial, &violation,
    ))
}

/// Runs an execution that fails again, however long that takes. Without a schedule, the serial executions.
fn again(
    program: &Rc<dyn Test>,
    schedule: &[Choice],
    max_steps: usize,
) -> Option<(Violation, Serial)> {
    let attempt = || match check::serial_histories(program, max_steps, None) {
        Ok(_) if schedule.is_empty() => None,
        Ok(serial) => {
            let violation = check::replay(program, &serial, schedule.to_vec(), max_steps)?;
            Some((violation, serial))
        }
        Err(refused) => match refused.found() {
            Found::Fail(violation) => Some((*violation, Serial::default())),
            _ => None,
        },
    };
    let mut found = attempt();
    while values::found_statics() {
        found = attempt();
    }
    found
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

/// Removes threads and operations while the test still fails. Returns the smallest test, and with which schedule it fails.
fn matrix(
    matrix: &Matrix,
    schedule: Vec<Choice>,
    check: impl Fn(&Matrix) -> Checked,
) -> (Matrix, Vec<Choice>) {
    let mut current = (matrix.clone(), schedule);
    loop {
        let smaller = smaller(&current.0).find_map(|candidate| match check(&candidate).found {
            Found::Fail(violation) => Some((candidate, violation.schedule)),
            _ => None,
        });
        match smaller {
            Some(smaller) => current = smaller,
            None => return current,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};

    /// What was found is reported even if there is no time to find it once more. The search comes to it after everything else.
    #[test]
    fn a_failure_outlives_the_time_for_its_reduction() {
        let counters = object(|| [AtomicU32::new(0), AtomicU32::new(0)])
            .op0("lossy", |[count, _]| {
                let value = count.load(SeqCst);
                count.store(value + 1, SeqCst);
                value
            })
            .op0("safe", |[_, count]| count.fetch_add(1, SeqCst))
            .as_found()
            .budget(Duration::ZERO);
        let matrix = Matrix {
            threads: vec![vec![0, 1, 1, 1], vec![0, 1, 1, 1], vec![1, 1]],
            ..Matrix::default()
        };
        let checked = check::check(&program(&counters, &matrix), &limits(&counters, 1, None));
        let Found::Fail(violation) = checked.found else {
            panic!("{:?}", checked.found);
        };
        // The time is looked at after 256 executions.
        assert!(checked.effort.executions > 256, "{:?}", checked.effort);
        let failure = smallest(&counters, &matrix, violation.schedule).expect("it failed");
        assert_eq!(failure.matrix.concat().len(), 10, "{failure}");
    }
}
