//! Runs the tests of an object on all cores, and reduces the first one that fails.

mod coverage;
pub(crate) mod minimise;
mod observations;
mod replay;
mod weak_memory;

use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::artefact;
use crate::check::{self, AtDeadline, Coverage, Found, Limits, Test};
use crate::matrix::Matrix;
use crate::object::Object;
use crate::object::Progress;
use crate::object::plan::{Planned, Tests, planned};
use crate::object::settings::Settings;
use crate::object::test::ObjectTest;
use crate::report::explain;
use crate::report::{Failure, FailureKind, Report, TestReport, TestResult, Verdict};
use crate::runtime::execution::Choice;

impl<X: 'static> Object<X> {
    /// Runs the tests.
    pub fn check(&self) -> Report {
        let mut report = run(self);
        if let Some(path) = &self.settings.html {
            report.write_page(path.clone());
        }
        report
    }

    /// Runs the tests. Prints the report if they pass; `cargo test -- --nocapture` shows it.
    ///
    /// # Panics
    /// With the report, unless all tests pass.
    #[track_caller]
    pub fn run(&self) {
        require_pass(self.check(), &self.settings);
    }
}

/// Prints the report if it passes, else panics with it. Writes its page beside the other artefacts of tests unless the settings
/// name a file.
#[track_caller]
pub(crate) fn require_pass(mut report: Report, settings: &Settings) {
    if settings.html.is_none() {
        let name = format!("{}.html", artefact::test_name());
        report.write_page(artefact::folder().join(name));
    }
    assert!(report.passed(), "\n{report}");
    print!("{report}");
}

/// Runs the tests of an object on new OS threads. Thread-local values that stuck executions leave behind end with them.
fn run<X: 'static>(object: &Object<X>) -> Report {
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run_here(object));
        run.join()
            .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    })
}

fn run_here<X: 'static>(object: &Object<X>) -> Report {
    let start = Instant::now();
    let mut notes = Vec::new();
    if let Some(path) = &object.settings.from_observations {
        notes.push(format!(
            "phase 1 did not run: the serial histories are those of {}, and results are compared as text",
            path.display()
        ));
    }
    let (verdict, tests) = match planned(object, &mut notes) {
        Ok(Planned::Tests(tests, total)) => run_tests(object, start, tests, total, &mut notes),
        Ok(Planned::Replay(token)) => replay::run(object, start, &token, &mut notes),
        Err(problem) => (Verdict::Undecided(problem), Vec::new()),
    };
    let mut caveats: Vec<String> = Vec::new();
    for caveat in tests.iter().flat_map(|test: &TestReport| &test.caveats) {
        if !caveats.contains(caveat) {
            caveats.push(caveat.clone());
        }
    }
    let mut report = Report {
        verdict,
        caveats,
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
    if let Verdict::Fail(failure) = &report.verdict
        && object.settings.engine.searches_itself()
        && failure.kind == FailureKind::NoWitness
    {
        report.verdict = Verdict::Fail(Box::new(weak_memory::reviewed(object, failure)));
    }
    report
}

pub(crate) fn program<X: 'static>(object: &Object<X>, matrix: &Matrix) -> Rc<dyn Test> {
    Rc::new(ObjectTest::new(object, matrix))
}

/// The limits of one of so many tests.
pub(crate) fn limits<X>(object: &Object<X>, tests: usize, deadline: Option<Instant>) -> Limits {
    let (preemptions, bounded) = object.settings.bounded(tests);
    Limits {
        strategy: object.settings.strategy,
        preemptions,
        bounded,
        deadline,
        at_deadline: object.settings.at_deadline,
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
    let endless = (total == usize::MAX).then_some(DEFAULT_BUDGET);
    let budget = settings.budget.or(endless);
    let deadline = budget.map(|budget| start + budget);
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
            if check::past(deadline) {
                return;
            }
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((index, matrix)) = next else { return };
            let left = (total != usize::MAX).then(|| total - index);
            let share = deadline.map(|deadline| share(deadline, left, jobs));
            let (tested, failed_as) = run_test(object, &matrix, &limits(object, total, share));
            let failed = failed_as.is_some();
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
                results.push((index, matrix, tested, failed_as));
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
    let failing = results.iter().find_map(|(_, matrix, _, failed_as)| {
        let failed_as = failed_as.as_ref()?;
        Some((matrix, failed_as.clone()))
    });
    let verdict = match failing {
        Some((matrix, failed_as)) => failed_as.verdict(object, matrix),
        None => {
            let tests: Vec<&TestReport> = results.iter().map(|(_, _, test, _)| test).collect();
            let out_of_time = check::past(deadline) && tests.len() < total;
            notes.extend(coverage::note(
                &tests,
                total,
                budget.filter(|_| out_of_time),
            ));
            let is_cut_short = out_of_time && settings.at_deadline == AtDeadline::Undecided;
            match merged(&tests) {
                Verdict::Pass(_) if is_cut_short && total != usize::MAX => {
                    let why = "the time was up before all tests were run";
                    Verdict::Undecided(coverage::of_undecided(why, &tests, total, budget))
                }
                Verdict::Undecided(why) => {
                    let limit = budget.filter(|_| check::past(deadline));
                    Verdict::Undecided(coverage::of_undecided(&why, &tests, total, limit))
                }
                verdict => verdict,
            }
        }
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

/// How long the default plan runs.
const DEFAULT_BUDGET: Duration = Duration::from_secs(10);

/// A test gets this part of the time that is left, if it is not known how many there are.
const SHARES: usize = 20;

/// A test gets at least this time, so that it comes through with its serial executions.
const LEAST_SHARE: Duration = Duration::from_millis(500);

/// The deadline of a test if so many are left.
fn share(deadline: Instant, left: Option<usize>, jobs: usize) -> Instant {
    let now = Instant::now();
    let time = deadline.saturating_duration_since(now);
    let shares = left.map_or(SHARES, |left| left.div_ceil(jobs));
    let share = time / u32::try_from(shares).unwrap_or(u32::MAX);
    deadline.min(now + share.max(LEAST_SHARE))
}

/// A test with this many serial executions gets a note, since their number grows fast.
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

/// The verdict without a failure: undecided if a test is, otherwise the least coverage.
fn merged(tests: &[&TestReport]) -> Verdict {
    let mut least = None::<Coverage>;
    let mut undecided = None;
    for test in tests {
        match &test.result {
            TestResult::Undecided(why) if test.out_of_time => undecided = Some(why.clone()),
            TestResult::Undecided(why) => return Verdict::Undecided(why.clone()),
            TestResult::Pass(coverage) => {
                least = Some(least.map_or(*coverage, |least| least.min(*coverage)));
            }
            TestResult::Fail(_) => {}
        }
    }
    match least {
        Some(coverage) => Verdict::Pass(coverage),
        None => Verdict::Undecided(undecided.unwrap_or("there was no test to run".to_owned())),
    }
}

/// How a test failed.
#[derive(Clone)]
pub(crate) enum FailedAs {
    /// An execution has no explanation: with this schedule, or without one in a serial execution.
    Violation(Vec<Choice>),
    /// Its serial histories are others than those of a file.
    Changed(Box<Failure>),
}

impl FailedAs {
    /// The verdict on an object of which this test failed.
    fn verdict<X: 'static>(self, object: &Object<X>, matrix: &Matrix) -> Verdict {
        match self {
            FailedAs::Changed(failure) => Verdict::Fail(failure),
            FailedAs::Violation(schedule) => match minimise::smallest(object, matrix, schedule) {
                Ok(failure) => Verdict::Fail(Box::new(failure)),
                Err(why) => Verdict::Undecided(why),
            },
        }
    }
}

pub(crate) fn run_test<X: 'static>(
    object: &Object<X>,
    matrix: &Matrix,
    limits: &Limits,
) -> (TestReport, Option<FailedAs>) {
    if let Some(problem) = object.problem_of(matrix) {
        let result = TestResult::Undecided(problem);
        let report = test_report(object, matrix, result, check::Effort::default());
        return (report, None);
    }
    let program = program(object, matrix);
    let checked = check::check(&program, limits);
    let (mut failed_as, mut out_of_time) = (None, false);
    let mut result = match checked.found {
        Found::Pass(coverage) => TestResult::Pass(coverage),
        Found::Fail(violation) => {
            failed_as = Some(FailedAs::Violation(violation.schedule));
            TestResult::Fail(explain::kind(&violation.kind))
        }
        Found::Undecided(why) => TestResult::Undecided(why),
        Found::OutOfTime(why) => {
            out_of_time = object.settings.at_deadline == AtDeadline::Passes;
            TestResult::Undecided(why)
        }
    };
    let is_pass = matches!(result, TestResult::Pass(_));
    if checked.serial.histories > 0
        && let Err(why) = observations::write(object, matrix, &program, &checked.serial)
        && is_pass
    {
        result = TestResult::Undecided(why);
    }
    if matches!(result, TestResult::Pass(_)) {
        match observations::compare(object, matrix, &program, &checked.serial) {
            Ok(None) => {}
            Ok(Some(failure)) => {
                result = TestResult::Fail(failure.kind);
                failed_as = Some(FailedAs::Changed(Box::new(failure)));
            }
            Err(why) => result = TestResult::Undecided(why),
        }
    }
    let report = TestReport {
        caveats: checked.caveats,
        out_of_time,
        ..test_report(object, matrix, result, checked.effort)
    };
    (report, failed_as)
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
        caveats: Vec::new(),
        out_of_time: false,
        effort,
    }
}
