//! Whole tests: closures that start threads, join them and assert.

mod page;
mod test;

use std::hash::BuildHasher as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::campaign::{self, minimise};
use crate::check::{self, Checked, Effort, Found, Limits, Test};
use crate::matrix::Matrix;
use crate::object::settings::{Settings, setters};
use crate::report::{Failure, Report, TestReport, TestResult, Verdict};
use crate::runtime::{MAX_WORKERS, UNCONTROLLED, start, values};
use crate::token::Token;
use test::WholeTest;

/// Runs a whole test in all interleavings of its threads, as far as the budget goes: with [`Model::run`].
///
/// The closure is what the body of a test is: it starts threads with [`thread::spawn`](crate::thread::spawn) or
/// [`thread::scope`](crate::thread::scope), joins them and asserts. It runs once for each execution, so it must do the same each time apart from
/// what the interleaving decides, and make all that it shares anew.
///
/// ```should_panic
/// use linpoint_test::sync::Arc;
/// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use linpoint_test::thread;
///
/// linpoint_test::model(|| {
///     let count = Arc::new(AtomicU32::new(0));
///     let inc = |count: &AtomicU32| count.store(count.load(SeqCst) + 1, SeqCst);
///     let other = Arc::clone(&count);
///     let thread = thread::spawn(move || inc(&other));
///     inc(&count);
///     thread.join().unwrap();
///     assert_eq!(count.load(SeqCst), 2, "an increment was lost");
/// });
/// ```
///
/// # Panics
/// With the report, if an execution panics or is stuck, or the test cannot be decided.
#[track_caller]
pub fn model(test: impl Fn() + Send + Sync + 'static) {
    Model::new(test).run();
}

/// A whole test with the settings of its search; see [`model`].
#[must_use = "nothing runs before `check` or `run`"]
#[derive(Clone)]
pub struct Model {
    test: Arc<dyn Fn() + Send + Sync>,
    identity: u16,
    settings: Settings,
    token: Option<String>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Model {
    /// A whole test.
    pub fn new<F: Fn() + Send + Sync + 'static>(test: F) -> Self {
        let hasher = foldhash::fast::FixedState::default();
        Model {
            test: Arc::new(test),
            identity: hasher.hash_one(std::any::type_name::<F>()) as u16,
            settings: Settings::default(),
            token: None,
        }
    }

    setters!();

    /// Repeats one execution, from the token that a report printed. If it no longer fails, the test is searched again.
    ///
    /// The environment variable `LINPOINT_REPLAY` does the same without a change to the source.
    pub fn replay(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Runs the test.
    pub fn check(&self) -> Report {
        // On a new OS thread: values of threads that stuck executions leave behind end with it.
        let mut report = std::thread::scope(|scope| {
            let run = scope.spawn(|| self.check_here());
            run.join()
                .unwrap_or_else(|payload| std::panic::resume_unwind(payload))
        });
        if let Some(path) = &self.settings.html {
            report.write_page(path.clone());
        }
        report
    }

    /// Runs the test. Prints the report if it passes; `cargo test -- --nocapture` shows it.
    ///
    /// # Panics
    /// With the report, unless it passes.
    #[track_caller]
    pub fn run(&self) {
        campaign::require_pass(self.check(), &self.settings);
    }

    fn check_here(&self) -> Report {
        let began = Instant::now();
        let mut notes = Vec::new();
        let deadline = self.settings.budget.map(|budget| began + budget);
        let mut caveats = Vec::new();
        let mut effort = Effort::default();
        let repeated = self.token(&mut notes).map(|token| {
            let token = token?;
            let failure = self.repeated(&token, &mut notes)?;
            Some((failure, token.matrix.threads.len()))
        });
        let (verdict, threads) = match repeated {
            Err(why) => (Verdict::Undecided(why), 1),
            Ok(Some((failure, threads))) => {
                effort.executions = 1;
                (Verdict::Fail(Box::new(failure)), threads)
            }
            Ok(None) => {
                let limits = self.limits(deadline);
                let (checked, threads) = self.searched(&limits);
                effort = checked.effort;
                caveats.clone_from(&checked.caveats);
                (self.verdict(checked, threads, &limits), threads)
            }
        };
        let result = match &verdict {
            Verdict::Pass(coverage) => TestResult::Pass(*coverage),
            Verdict::Fail(failure) => TestResult::Fail(failure.kind),
            Verdict::Undecided(why) => TestResult::Undecided(why.clone()),
        };
        let matrix = matrix_of(threads);
        let tests = vec![TestReport {
            matrix: (0..threads)
                .map(|thread| vec![test::label(thread).to_owned()])
                .collect(),
            dimension: matrix.dimension(),
            result,
            caveats: caveats.clone(),
            out_of_time: false,
            effort,
        }];
        Report {
            verdict,
            caveats,
            notes,
            tests,
            elapsed: began.elapsed(),
            page: None,
        }
    }

    /// The token that is to be repeated, if there is one.
    fn token(&self, notes: &mut Vec<String>) -> Result<Option<Token>, String> {
        if let Ok(token) = std::env::var("LINPOINT_REPLAY")
            && !token.is_empty()
        {
            let token: Token = token.parse()?;
            if token.object == self.identity {
                return Ok(Some(token));
            }
            notes.push(
                "the token of LINPOINT_REPLAY belongs to another test; this one ran as usual"
                    .to_owned(),
            );
        }
        let Some(token) = &self.token else {
            return Ok(None);
        };
        let token: Token = token.parse()?;
        match token.object == self.identity && token.matrix.threads.len() <= MAX_WORKERS {
            true => Ok(Some(token)),
            false => Err("the replay token belongs to another test".to_owned()),
        }
    }

    fn limits(&self, deadline: Option<Instant>) -> Limits {
        let (preemptions, bounded) = self.settings.bounded(1);
        Limits {
            strategy: self.settings.strategy,
            preemptions,
            bounded,
            deadline,
            at_deadline: self.settings.at_deadline,
            exhaustive: self.settings.exhaustive,
            max_steps: self.settings.max_steps,
            seed: self.settings.seed,
        }
    }

    fn program(&self, threads: usize) -> Rc<dyn Test> {
        Rc::new(WholeTest::new(
            Arc::clone(&self.test),
            self.identity,
            threads,
            &self.settings,
        ))
    }

    /// Searches the test with as few threads as it needs.
    fn searched(&self, limits: &Limits) -> (Checked, usize) {
        let mut threads = 1;
        loop {
            let checked = check::check(&self.program(threads), limits);
            let more = start::needed_more() && threads < MAX_WORKERS;
            // Statics that an execution has found are made before the others begin.
            if !values::found_statics() && !more {
                return (checked, threads);
            }
            threads += usize::from(more);
        }
    }

    fn verdict(&self, checked: Checked, threads: usize, limits: &Limits) -> Verdict {
        let violation = match checked.found {
            Found::Pass(coverage) => return Verdict::Pass(coverage),
            Found::Undecided(why) | Found::OutOfTime(why) => return Verdict::Undecided(why),
            Found::Fail(violation) => violation,
        };
        let program = self.program(threads);
        let limits = Limits {
            deadline: Some(Instant::now() + Duration::from_secs(10)),
            ..*limits
        };
        let fewest = minimise::preemptions(&program, &limits, &violation);
        let violation = fewest.map(|(violation, _)| violation).or_else(|| {
            let schedule = violation.schedule.clone();
            check::replay(&program, &checked.serial, schedule, limits.max_steps)
        });
        match violation {
            Some(violation) => {
                let matrix = matrix_of(threads);
                let serial = &checked.serial;
                let failure = minimise::explained(&program, &matrix, serial, &violation, &limits);
                Verdict::Fail(Box::new(failure))
            }
            None => Verdict::Undecided(format!(
                "the test failed, and did not when it was run again: it depends on {UNCONTROLLED}"
            )),
        }
    }

    /// The failure of the execution of a token, if it still fails.
    fn repeated(&self, token: &Token, notes: &mut Vec<String>) -> Option<Failure> {
        let (program, limits) = (self.program(token.matrix.threads.len()), self.limits(None));
        let schedule = || token.schedule.clone();
        let serial = check::serial::Serial::default();
        let repeat = || check::replay(&program, &serial, schedule(), limits.max_steps);
        let mut violation = repeat();
        while values::found_statics() {
            violation = repeat();
        }
        let Some(violation) = violation else {
            notes.push(
                "the interleaving of the token no longer fails, or no longer exists; the test was searched again".to_owned(),
            );
            return None;
        };
        let matrix = &token.matrix;
        Some(minimise::explained(
            &program, matrix, &serial, &violation, &limits,
        ))
    }
}

/// Each thread has one operation, which is all that it does.
fn matrix_of(threads: usize) -> Matrix {
    Matrix {
        threads: vec![vec![0]; threads],
        ..Matrix::default()
    }
}
