//! The settings of a check.

use std::path::PathBuf;
use std::time::Duration;

use super::Object;
use crate::check::{AtDeadline, Strategy};
use crate::engine::Engine;

/// The settings of a check; see the methods of [`Object`].
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) engine: Engine,
    pub(crate) strategy: Strategy,
    /// Unless the object says otherwise, as many as [`DEFAULT_PREEMPTIONS`].
    pub(crate) preemptions: Option<u32>,
    pub(crate) exhaustive: u64,
    pub(crate) budget: Option<Duration>,
    pub(crate) at_deadline: AtDeadline,
    pub(crate) seed: u64,
    pub(crate) max_steps: usize,
    pub(crate) stack_size: usize,
    pub(crate) spurious: u32,
    pub(crate) jobs: Option<usize>,
    pub(crate) keep_going: bool,
    pub(crate) minimise: bool,
    pub(crate) progress: Option<fn(Progress)>,
    pub(crate) write_observations: Option<PathBuf>,
    pub(crate) expect_observations: Option<PathBuf>,
    pub(crate) from_observations: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            engine: Engine::Linpoint,
            strategy: Strategy::Automatic,
            preemptions: None,
            exhaustive: 200_000,
            budget: None,
            at_deadline: AtDeadline::Passes,
            seed: 0,
            max_steps: 20_000,
            stack_size: 256 << 10,
            spurious: 0,
            jobs: None,
            keep_going: false,
            minimise: true,
            progress: None,
            write_observations: None,
            expect_observations: None,
            from_observations: None,
            html: None,
        }
    }
}

/// The most preemptions of a bounded search.
const DEFAULT_PREEMPTIONS: u32 = 2;

/// So many executions of bounded searches are shared by all tests: a minute or two on two cores.
const ALL_BOUNDED: u64 = 20_000_000;

/// But each test may have so many.
const LEAST_BOUNDED: u64 = 200_000;

impl Settings {
    /// The most preemptions, and the most executions with a bound on them in each of so many tests. Both are what is asked for, and if
    /// nothing is, neither a bound nor a time, the executions are limited.
    pub(crate) fn bounded(&self, tests: usize) -> (u32, Option<u64>) {
        let is_limited = self.preemptions.is_none()
            && self.budget.is_none()
            && self.at_deadline == AtDeadline::Passes
            && tests != usize::MAX;
        let share = ALL_BOUNDED / (tests as u64).max(1);
        (
            self.preemptions.unwrap_or(DEFAULT_PREEMPTIONS),
            is_limited.then(|| share.max(LEAST_BOUNDED)),
        )
    }
}

/// The progress of a series of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Tests that have ended.
    pub done: usize,
    /// The number of all tests; `usize::MAX` if they go on until the time is up.
    pub total: usize,
    /// Tests that failed.
    pub failed: usize,
}

impl Progress {
    pub(crate) fn none(total: usize) -> Self {
        Progress {
            done: 0,
            total,
            failed: 0,
        }
    }

    /// Writes the progress over the last line of the terminal, if the standard error is one.
    pub fn print(self) {
        use std::io::{IsTerminal as _, Write as _};
        let mut out = std::io::stderr();
        if out.is_terminal() {
            let Progress {
                done,
                total,
                failed,
            } = self;
            let end = if done == total { "\n" } else { "" };
            let of = match total {
                usize::MAX => String::new(),
                total => format!(" of {total}"),
            };
            let _ = write!(out, "\r{done}{of} tests, {failed} failed{end}");
        }
    }
}

/// The settings that objects and whole tests have in common, as methods.
macro_rules! setters {
    () => {
        /// The executions that are run; [`Strategy::Automatic`](crate::Strategy::Automatic) by default.
        pub fn strategy(mut self, strategy: crate::Strategy) -> Self {
            self.settings.strategy = strategy;
            self
        }

        /// The most preemptions in the bounded search. To switch away from a thread that waits, or that is between two operations, is
        /// none. By default 2, or fewer if that takes more than 20 million executions of all tests together, or 200,000 of a test.
        pub fn preemptions(mut self, most: u32) -> Self {
            self.settings.preemptions = Some(most);
            self
        }

        /// The most executions of the exhaustive search, after which the bounded search begins; 200,000 by default.
        pub fn exhaustive_executions(mut self, most: u64) -> Self {
            self.settings.exhaustive = most;
            self
        }

        /// The most time that the check may take, for the default plan of an object 10 seconds. Each of several tests gets its share;
        /// what is not done by then is not covered, and the report says how far each test got.
        pub fn budget(mut self, time: std::time::Duration) -> Self {
            self.settings.budget = Some(time);
            self
        }

        /// The seed of random tests and schedules; equal seeds give equal ones.
        pub fn seed(mut self, seed: u64) -> Self {
            self.settings.seed = seed;
            self
        }

        /// An execution with more steps makes no progress, and its test is undecided; 20,000 by default.
        pub fn max_steps(mut self, most: usize) -> Self {
            self.settings.max_steps = most;
            self
        }

        /// The size of the stack of each thread, in bytes; 256 KiB by default.
        pub fn stack_size(mut self, bytes: usize) -> Self {
            self.settings.stack_size = bytes;
            self
        }

        /// In each execution, up to `most` times, a wait of a condition variable or [`park`](crate::thread::park) ends for no reason, or
        /// a weak compare-exchange fails although the value is the expected one; never by default. Serial executions of an object
        /// are without them: what an operation does must not depend on them.
        ///
        /// When they happen is a choice of the search. That a spurious wake-up could help a thread does not excuse that it is stuck.
        ///
        /// ```
        /// use linpoint_test::sync::atomic::{AtomicBool, Ordering::SeqCst};
        ///
        /// // It gives up although the lock is free.
        /// let report = linpoint_test::object(|| AtomicBool::new(false))
        ///     .op0("try_lock", |lock| lock.compare_exchange_weak(false, true, SeqCst, SeqCst).is_ok())
        ///     .matrix([["try_lock"], ["try_lock"]])
        ///     .spurious(1)
        ///     .check();
        /// assert!(report.failure().is_some(), "{report}");
        /// ```
        pub fn spurious(mut self, most: u32) -> Self {
            self.settings.spurious = most;
            self
        }

        /// Writes the page of a failure to this file. By default, [`run`](Self::run) writes it to `linpoint` in the target
        /// directory of cargo, with the name of the test, and [`check`](Self::check) writes none.
        pub fn html(mut self, path: impl Into<std::path::PathBuf>) -> Self {
            self.settings.html = Some(path.into());
            self
        }
    };
}

pub(crate) use setters;

impl<X> Object<X> {
    setters!();

    /// The engine that runs the threads; [`Engine::Linpoint`] by default.
    pub fn under(mut self, engine: Engine) -> Self {
        self.settings.engine = engine;
        self
    }

    /// The verdict is undecided if the time is up before all tests are done; otherwise it is a pass that says what it covers.
    pub fn complete(mut self) -> Self {
        self.settings.at_deadline = AtDeadline::Undecided;
        self
    }

    /// The number of OS threads that run tests in parallel; by default that of the cores.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.settings.jobs = Some(jobs.max(1));
        self
    }

    /// Runs all tests, also after one has failed.
    pub fn keep_going(mut self) -> Self {
        self.settings.keep_going = true;
        self
    }

    /// Reports the first failing test without reducing it.
    pub fn as_found(mut self) -> Self {
        self.settings.minimise = false;
        self
    }

    /// Calls `show` whenever a test has ended; for a terminal use [`Progress::print`].
    pub fn on_progress(mut self, show: fn(Progress)) -> Self {
        self.settings.progress = Some(show);
        self
    }

    /// Writes the serial histories of each test to a file, in the XML of the paper. A path that ends in `.xml` is the file of a
    /// single [matrix](Self::matrix); any other path is a folder, which gets a file for each test.
    pub fn write_observations(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.write_observations = Some(path.into());
        self
    }

    /// Fails unless the serial histories of each test are those that [`write_observations`](Self::write_observations) wrote to
    /// this file or folder: they are a specification of the earlier behaviour.
    pub fn expect_observations(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.expect_observations = Some(path.into());
        self
    }

    /// Runs phase 2 alone: the serial histories are those that [`write_observations`](Self::write_observations) wrote to this
    /// file or folder, perhaps with another version of the object. Results are compared as text. A failing test is not reduced,
    /// since there is no file for the smaller ones.
    pub fn from_observations(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.from_observations = Some(path.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_searches_are_limited_unless_a_bound_or_a_time_is_given() {
        let settings = Settings::default();
        assert_eq!(settings.bounded(1), (2, Some(ALL_BOUNDED)));
        assert_eq!(settings.bounded(1000), (2, Some(LEAST_BOUNDED)));
        assert_eq!(settings.bounded(usize::MAX), (2, None));
        let bound = Settings {
            preemptions: Some(1),
            ..Settings::default()
        };
        assert_eq!(bound.bounded(100), (1, None));
        let time = Settings {
            budget: Some(Duration::from_secs(1)),
            ..Settings::default()
        };
        assert_eq!(time.bounded(100), (2, None));
        let complete = Settings {
            at_deadline: AtDeadline::Undecided,
            ..Settings::default()
        };
        assert_eq!(complete.bounded(100), (2, None));
    }
}
