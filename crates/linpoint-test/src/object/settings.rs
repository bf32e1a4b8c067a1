//! How tests are run, and what else is to be done with them.

use std::path::PathBuf;
use std::time::Duration;

use super::Object;
use crate::check::Strategy;
use crate::engine::Engine;

/// How tests are run.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) engine: Engine,
    pub(crate) strategy: Strategy,
    pub(crate) preemptions: u32,
    pub(crate) exhaustive: u64,
    pub(crate) budget: Option<Duration>,
    pub(crate) seed: u64,
    pub(crate) max_steps: usize,
    pub(crate) stack_size: usize,
    pub(crate) jobs: Option<usize>,
    pub(crate) keep_going: bool,
    pub(crate) minimise: bool,
    pub(crate) progress: Option<fn(Progress)>,
    pub(crate) write_observations: Option<PathBuf>,
    pub(crate) expect_observations: Option<PathBuf>,
    pub(crate) html: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            engine: Engine::Linpoint,
            strategy: Strategy::Automatic,
            preemptions: 2,
            exhaustive: 200_000,
            budget: None,
            seed: 0,
            max_steps: 20_000,
            stack_size: 256 << 10,
            jobs: None,
            keep_going: false,
            minimise: true,
            progress: None,
            write_observations: None,
            expect_observations: None,
            html: None,
        }
    }
}

/// How far a series of tests has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Tests that have ended.
    pub done: usize,
    /// All tests.
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

    /// Writes it over the last line of a terminal; nothing if there is none.
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
            let _ = write!(out, "\r{done} of {total} tests, {failed} failed{end}");
        }
    }
}

impl<X> Object<X> {
    /// Who runs the threads; [`Engine::Linpoint`] unless told otherwise.
    pub fn under(mut self, engine: Engine) -> Self {
        self.settings.engine = engine;
        self
    }

    /// Which executions are run; [`Strategy::Automatic`] unless told otherwise.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.settings.strategy = strategy;
        self
    }

    /// How many preemptions inside operations the bounded search allows; 2 unless told otherwise. Switches between
    /// operations are free.
    pub fn preemptions(mut self, most: u32) -> Self {
        self.settings.preemptions = most;
        self
    }

    /// How many executions the exhaustive search may take before the bounded one takes over.
    pub fn exhaustive_executions(mut self, most: u64) -> Self {
        self.settings.exhaustive = most;
        self
    }

    /// How long it may take in all.
    pub fn budget(mut self, time: Duration) -> Self {
        self.settings.budget = Some(time);
        self
    }

    /// Which random tests and schedules; the same number always means the same ones.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// How many steps an execution may take before it counts as making no progress.
    pub fn max_steps(mut self, most: usize) -> Self {
        self.settings.max_steps = most;
        self
    }

    /// How large the stacks of the threads are, in bytes.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.settings.stack_size = bytes;
        self
    }

    /// How many OS threads run tests side by side; as many as there are cores unless told otherwise.
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.settings.jobs = Some(jobs.max(1));
        self
    }

    /// Runs all tests, even if one has failed.
    pub fn keep_going(mut self) -> Self {
        self.settings.keep_going = true;
        self
    }

    /// Reports the first failing test as it is, not a smaller one.
    pub fn as_found(mut self) -> Self {
        self.settings.minimise = false;
        self
    }

    /// Calls `show` whenever a test has ended; [`Progress::print`] is one that suits a terminal.
    pub fn on_progress(mut self, show: fn(Progress)) -> Self {
        self.settings.progress = Some(show);
        self
    }

    /// Writes the serial histories of the [matrix](Self::matrix) to a file, in the XML of the paper.
    pub fn write_observations(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.write_observations = Some(path.into());
        self
    }

    /// Fails unless the serial histories of the [matrix](Self::matrix) are those of a file that
    /// [`write_observations`](Self::write_observations) made: the file is a specification of what the object did then.
    pub fn expect_observations(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.expect_observations = Some(path.into());
        self
    }

    /// Where a failure is shown as a page for the browser. Unless told otherwise, [`run`](Self::run) writes it to `linpoint`
    /// in the target directory of cargo, under the name of the test, and [`check`](Self::check) to nowhere.
    pub fn html(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.html = Some(path.into());
        self
    }
}
