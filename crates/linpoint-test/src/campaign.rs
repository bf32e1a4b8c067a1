//! Many tests, on all cores; then the smallest form of the first that fails.

use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::again;
use crate::check::serial::Serial;
use crate::check::{self, Checked, Coverage, Found, Limits, Violation};
use crate::explain;
use crate::invocation::Test;
use crate::matrix::{self, Matrix};
use crate::minimise;
use crate::object::{Object, Plan, Progress};
use crate::observations::Observations;
use crate::report::{Failure, FailureKind, Report, TestReport, TestResult, Verdict};
use crate::runtime::run::Program;
use crate::token::Token;

/// Runs what an object plans, on OS threads of its own: what a stuck execution leaves behind stays there.
pub(crate) fn run<X: 'static>(object: &Object<X>) -> Report {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run_here(object));
        run.join()
            .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

fn run_here<X: 'static>(object: &Object<X>) -> Report {
    let start = Instant::now();
    let mut notes = Vec::new();
    let (verdict, tests) = match planned(object, &mut notes) {
        Ok(Planned::Tests(tests, total)) => run_tests(object, start, tests, total, &mut notes),
        Ok(Planned::Replay(token)) => again::run(object, start, &token, &mut notes),
        Err(problem) => (Verdict::Undecided(problem), Vec::new()),
    };
    let mut report = Report {
        verdict,
        notes,
        tests,
        elapsed: start.elapsed(),
        page: None,
    };
    if let Some(types) = object.settings.engine.types()
        && report.failure().is_none()
        && (report.effort().executions > 0 && report.effort().accesses == 0)
    {
        report.verdict = Verdict::Undecided(format!(
            "no operation touched anything under control: does the object use std::sync instead of {types}?"
        ));
    }
    if let (Verdict::Fail(failure), Some(_)) =
        (&report.verdict, object.settings.engine.own_search())
        && failure.kind == FailureKind::NoWitness
    {
        report.verdict = Verdict::Fail(Box::new(reviewed(object, failure)));
    }
    report
}

/// A failure under weak memory: is it one under sequential consistency, too?
fn reviewed<X>(object: &Object<X>, failure: &Failure) -> Failure {
    let caveat = match &object.twin {
        None => {
            "WEAK MEMORY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is, and not compared with \
             sequential consistency."
                .to_owned()
        }
        Some(twin) => match twin(failure) {
            Verdict::Fail(proof) => return *proof,
            Verdict::Pass(coverage) => format!(
                "WEAK MEMORY ONLY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is; otherwise the test \
                 passes, {coverage}."
            ),
            Verdict::Undecided(why) => format!(
                "WEAK MEMORY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is; whether sequential \
                 consistency shows it is undecided: {why}."
            ),
        },
    };
    Failure {
        caveat: Some(caveat),
        ..failure.clone()
    }
}

pub(crate) type Tests = Box<dyn Iterator<Item = Matrix> + Send>;

enum Planned {
    Tests(Tests, usize),
    Replay(Token),
}

fn planned<X: 'static>(object: &Object<X>, notes: &mut Vec<String>) -> Result<Planned, String> {
    if let Some(problem) = &object.problem {
        return Err(problem.clone());
    }
    let settings = &object.settings;
    let observed = settings.write_observations.is_some() || settings.expect_observations.is_some();
    if observed && (!matches!(object.plan, Plan::Matrix(_)) || object.spec.is_some()) {
        return Err("observation files belong to one matrix, and to no specification".to_owned());
    }
    let choices = object.invocations.len();
    if choices == 0 {
        return Err("the object has no operations".to_owned());
    }
    if let Ok(token) = std::env::var("LINPOINT_REPLAY")
        && !token.is_empty()
    {
        let token: Token = token.parse()?;
        if token.object == object.identity() {
            return Ok(Planned::Replay(token));
        }
        notes.push(
            "the token of LINPOINT_REPLAY belongs to another object; this test ran as ever"
                .to_owned(),
        );
    }
    let (tests, total): (Box<dyn Iterator<Item = Vec<Vec<usize>>> + Send>, usize) =
        match &object.plan {
            Plan::Matrix(threads) => (Box::new(std::iter::once(threads.clone())), 1),
            &Plan::Random {
                threads,
                ops,
                tests,
            } => (Box::new(random(object, threads, ops).take(tests)), tests),
            &Plan::Auto(n) => {
                let sizes = (1..=n).map(move |k| (k, k.min(choices)));
                let total = sizes
                    .clone()
                    .map(|(k, first)| multisets(first, k, k))
                    .fold(0, usize::saturating_add);
                (
                    Box::new(sizes.flat_map(|(k, first)| matrix::all(first, k, k))),
                    total,
                )
            }
            &Plan::All { threads, ops } => (
                Box::new(matrix::all(choices, threads, ops)),
                multisets(choices, threads, ops),
            ),
            Plan::Replay(token) => return Ok(Planned::Replay(token.clone())),
        };
    let (init, last) = (object.init.clone(), object.last.clone());
    let tests = tests.map(move |threads| Matrix {
        init: init.clone(),
        threads,
        last: last.clone(),
    });
    Ok(Planned::Tests(Box::new(tests), total))
}

/// How many tests with so many threads and operations per thread there are, threads being alike.
fn multisets(choices: usize, threads: usize, ops: usize) -> usize {
    let columns = choices.saturating_pow(ops as u32) as u128;
    let count = (0..threads as u128).try_fold(1u128, |product, i| {
        product
            .checked_mul(columns + i)
            .map(|product| product / (i + 1))
    });
    count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX)
}

/// Random tests; a sequence of operations may stand in the place of one.
fn random<X>(
    object: &Object<X>,
    threads: usize,
    ops: usize,
) -> impl Iterator<Item = Vec<Vec<usize>>> + Send + 'static {
    let entries: Vec<Vec<usize>> = (0..object.invocations.len())
        .map(|op| vec![op])
        .chain(object.sequences.iter().cloned())
        .collect();
    let mut rng = ChaCha8Rng::seed_from_u64(object.settings.seed);
    std::iter::repeat_with(move || {
        (0..threads)
            .map(|_| {
                (0..ops)
                    .flat_map(|_| entries[rng.random_range(0..entries.len())].clone())
                    .collect()
            })
            .collect()
    })
}

pub(crate) fn program<X: 'static>(object: &Object<X>, matrix: &Matrix) -> Rc<dyn Program> {
    Rc::new(Test::new(object, matrix))
}

pub(crate) fn limits<X>(object: &Object<X>, deadline: Option<Instant>) -> Limits {
    Limits {
        strategy: object.settings.strategy,
        preemptions: object.settings.preemptions,
        deadline,
        exhaustive: object.settings.exhaustive,
        max_steps: object.settings.max_steps,
        seed: object.settings.seed,
    }
}

pub(crate) fn run_tests<X: 'static>(
    object: &Object<X>,
    start: Instant,
    tests: Tests,
    total: usize,
    notes: &mut Vec<String>,
) -> (Verdict, Vec<TestReport>) {
    let settings = &object.settings;
    let deadline = settings.budget.map(|budget| start + budget);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = settings.jobs.unwrap_or(cores).min(total).max(1);
    let queue = Mutex::new(tests.enumerate());
    let done = Mutex::new((Progress::none(total), Vec::new()));
    let first_failure = AtomicUsize::new(usize::MAX);
    let work = || {
        loop {
            if first_failure.load(Ordering::Relaxed) != usize::MAX && !settings.keep_going {
                return;
            }
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((index, matrix)) = next else { return };
            let out_of_time = deadline.is_some_and(|deadline| Instant::now() > deadline);
            let (tested, changed) = run_test(object, &matrix, deadline, out_of_time);
            let failed = matches!(tested.result, TestResult::Fail(_));
            if failed {
                first_failure.fetch_min(index, Ordering::Relaxed);
            }
            if let Ok(mut done) = done.lock() {
                let (progress, results) = &mut *done;
                progress.done += 1;
                progress.failed += usize::from(failed);
                if let Some(show) = settings.progress {
                    show(*progress);
                }
                results.push((index, matrix, tested, changed));
            }
            if out_of_time {
                return;
            }
        }
    };
    if jobs == 1 {
        work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(work);
            }
        });
    }
    let mut results = done
        .into_inner()
        .map(|(_, results)| results)
        .unwrap_or_default();
    results.sort_by_key(|(index, ..)| *index);
    let failing = results
        .iter()
        .find(|(_, _, test, _)| matches!(test.result, TestResult::Fail(_)));
    let verdict = match failing {
        Some((_, _, _, Some(changed))) => Verdict::Fail(Box::new(changed.clone())),
        Some((_, matrix, _, None)) => match smallest(object, matrix) {
            Ok(failure) => Verdict::Fail(Box::new(failure)),
            Err(why) => Verdict::Undecided(why),
        },
        None => match merged(results.iter().map(|(_, _, test, _)| &test.result)) {
            Verdict::Undecided(why) => {
                let is_pass = |test: &TestReport| matches!(test.result, TestResult::Pass(_));
                let passed = results
                    .iter()
                    .filter(|(_, _, test, _)| is_pass(test))
                    .count();
                let limit = match settings.budget {
                    Some(limit) if check::past(deadline) => format!("; the limit was {limit:?}"),
                    _ => String::new(),
                };
                Verdict::Undecided(format!(
                    "{why} ({passed} of {total} tests passed, none failed{limit})"
                ))
            }
            verdict => verdict,
        },
    };
    let largest = results
        .iter()
        .map(|(_, matrix, ..)| matrix)
        .max_by_key(|m| m.layout().serial_executions());
    notes.extend(largest.and_then(many_serial_executions));
    (
        verdict,
        results.into_iter().map(|(_, _, test, _)| test).collect(),
    )
}

/// Serial executions grow faster than one may think: from here on it is worth a word.
const MANY_SERIAL: u64 = 100_000;

fn many_serial_executions(matrix: &Matrix) -> Option<String> {
    let serial = matrix.layout().serial_executions();
    (serial >= MANY_SERIAL).then(|| {
        format!(
            "a {} test has up to {serial} serial executions, and each is run twice before any concurrent one: smaller tests show \
             most errors, and sooner",
            matrix.dimension()
        )
    })
}

impl Progress {
    fn none(total: usize) -> Self {
        Progress {
            done: 0,
            total,
            failed: 0,
        }
    }
}

/// Without a failure: undecided if some test is, else the least coverage.
fn merged<'a>(results: impl Iterator<Item = &'a TestResult>) -> Verdict {
    let mut least = None::<Coverage>;
    for result in results {
        match result {
            TestResult::Undecided(why) => return Verdict::Undecided(why.clone()),
            TestResult::Pass(coverage) => {
                least = Some(least.map_or(*coverage, |least| least.min(*coverage)));
            }
            TestResult::Fail(_) => {}
        }
    }
    match least {
        Some(coverage) => Verdict::Pass(coverage),
        None => Verdict::Undecided("there was no test to run".to_owned()),
    }
}

fn run_test<X: 'static>(
    object: &Object<X>,
    matrix: &Matrix,
    deadline: Option<Instant>,
    out_of_time: bool,
) -> (TestReport, Option<Failure>) {
    let problem = match out_of_time {
        true => Some("the time was up before all tests were run".to_owned()),
        false => matrix.problem(),
    };
    let mut changed = None;
    let (result, effort) = match problem {
        Some(problem) => (TestResult::Undecided(problem), check::Effort::default()),
        None => {
            let program = program(object, matrix);
            let checked = check::check(&program, &limits(object, deadline));
            let mut result = match checked.found {
                Found::Pass(coverage) => TestResult::Pass(coverage),
                Found::Fail(violation) => TestResult::Fail(explain::kind(&violation.what)),
                Found::Undecided(why) => TestResult::Undecided(why),
            };
            if matches!(result, TestResult::Pass(_)) {
                match compare_observations(object, matrix, &program, &checked.serial) {
                    Ok(None) => {}
                    Ok(Some(failure)) => {
                        result = TestResult::Fail(failure.kind);
                        changed = Some(failure);
                    }
                    Err(why) => result = TestResult::Undecided(why),
                }
            }
            (result, checked.effort)
        }
    };
    (test_report(object, matrix, result, effort), changed)
}

pub(crate) fn test_report<X>(
    object: &Object<X>,
    matrix: &Matrix,
    result: TestResult,
    effort: check::Effort,
) -> TestReport {
    let label = |&op: &usize| object.invocations[op].label.clone();
    TestReport {
        matrix: matrix
            .threads
            .iter()
            .map(|ops| ops.iter().map(label).collect())
            .collect(),
        dimension: matrix.dimension(),
        result,
        effort,
    }
}

/// So many serial histories are shown that an observation file has and the object has not, or the other way round.
const MOST_DIFFERENCES: usize = 8;

/// Writes and compares observation files, as far as that was asked for. A failure if there is a difference.
fn compare_observations<X>(
    object: &Object<X>,
    matrix: &Matrix,
    program: &Rc<dyn Program>,
    serial: &Serial,
) -> Result<Option<Failure>, String> {
    let settings = &object.settings;
    if let Some(path) = &settings.write_observations {
        Observations::of(&**program, serial).write(path)?;
    }
    let Some(path) = &settings.expect_observations else {
        return Ok(None);
    };
    let expected = Observations::read(path)?
        .lines()
        .map_err(|why| format!("{}: {why}", path.display()))?;
    let now = Observations::of(&**program, serial).lines()?;
    if expected == now {
        return Ok(None);
    }
    let gone = expected
        .difference(&now)
        .map(|line| format!("no longer: {line}"));
    let new = now.difference(&expected).map(|line| format!("new: {line}"));
    let mut differences: Vec<String> = gone.chain(new).collect();
    let left_out = differences.len().saturating_sub(MOST_DIFFERENCES);
    if left_out > 0 {
        differences.truncate(MOST_DIFFERENCES);
        differences.push(format!("and {left_out} more"));
    }
    let path = path.display().to_string();
    Ok(Some(explain::changed(program, matrix, &path, differences)))
}

/// A test failed: the report about the smallest one that still does.
fn smallest<X: 'static>(object: &Object<X>, matrix: &Matrix) -> Result<Failure, String> {
    // Enough for any test that is small; a large one stays as it is.
    let time = object.settings.budget.unwrap_or(Duration::from_secs(20));
    let limits = limits(object, Some(Instant::now() + time));
    let check = |matrix: &Matrix| check::check(&program(object, matrix), &limits);
    let (small, checked) = match object.settings.minimise {
        true => minimise::matrix(matrix, check),
        false => (matrix.clone(), check(matrix)),
    };
    let program = program(object, &small);
    let Found::Fail(violation) = checked.found else {
        return Err("a test failed, and did not when it was run again: the object depends on something that is not under control".to_owned());
    };
    // Results are numbered by the program that saw them: look again with one that lives on.
    let violation = match minimise::preemptions(&program, &limits, &violation) {
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

pub(crate) fn failure<X: 'static>(
    object: &Object<X>,
    program: &Rc<dyn Program>,
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
