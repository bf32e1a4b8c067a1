//! An object under test: how to make one, what it can do, and which tests to run.

use std::fmt::{self, Debug};
use std::hash::{BuildHasher as _, Hash, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::artefact;
use crate::campaign;
use crate::check::Strategy;
use crate::engine::Engine;
use crate::invocation::Invocation;
use crate::report::{Failure, Report, Verdict};
use crate::spec::{Meaning, Probed, Specification};
use crate::token::Token;

/// An object under test. `construct` makes a new one for every execution.
///
/// ```
/// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
///
/// let report = linpoint_test::object(|| AtomicU32::new(0))
///     .op("add", [1, 2], |counter, n| counter.fetch_add(n, SeqCst))
///     .op0("get", |counter| counter.load(SeqCst))
///     .matrix([["add(1)", "get"], ["add(2)", "get"]])
///     .check();
/// assert!(report.passed(), "{report}");
/// ```
pub fn object<X: 'static>(construct: impl Fn() -> X + Send + Sync + 'static) -> Object<X> {
    Object {
        construct: Arc::new(construct),
        invocations: Vec::new(),
        sequences: Vec::new(),
        init: Vec::new(),
        last: Vec::new(),
        spec: None,
        twin: None,
        plan: Plan::Auto(2),
        settings: Settings::default(),
        problem: None,
    }
}

/// An object under test, made by [`object`].
#[must_use = "nothing runs before `check` or `run`"]
pub struct Object<X> {
    pub(crate) construct: Arc<dyn Fn() -> X + Send + Sync>,
    pub(crate) invocations: Vec<Invocation<X>>,
    pub(crate) sequences: Vec<Vec<usize>>,
    pub(crate) init: Vec<usize>,
    pub(crate) last: Vec<usize>,
    pub(crate) spec: Option<Arc<dyn Specification>>,
    /// What the same object does in the test of a failure, under sequential consistency.
    pub(crate) twin: Option<Twin>,
    pub(crate) plan: Plan,
    pub(crate) settings: Settings,
    /// The first thing that does not make sense; told when it runs.
    pub(crate) problem: Option<String>,
}

pub(crate) type Twin = Arc<dyn Fn(&Failure) -> Verdict + Send + Sync>;

/// Which tests are run.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Matrix(Vec<Vec<usize>>),
    Random {
        threads: usize,
        ops: usize,
        tests: usize,
    },
    Auto(usize),
    All {
        threads: usize,
        ops: usize,
    },
    Replay(Token),
}

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

impl<X: 'static> Object<X> {
    /// An operation with an argument: one invocation for each of `args`, named like `add(200)`. It never waits for another
    /// operation.
    pub fn op<A, R>(
        self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl Fn(&X, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        self.with_args(name, args, false, run)
    }

    /// An operation without arguments that never waits for another operation.
    pub fn op0<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        self.with(name, name.to_owned(), false, run)
    }

    /// An operation with an argument that may wait for another operation.
    pub fn blocking<A, R>(
        self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl Fn(&X, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        self.with_args(name, args, true, run)
    }

    /// An operation without arguments that may wait for another operation.
    pub fn blocking0<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        self.with(name, name.to_owned(), true, run)
    }

    fn with_args<A, R>(
        mut self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        blocking: bool,
        run: impl Fn(&X, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        let run = Arc::new(run);
        for arg in args {
            let run = Arc::clone(&run);
            let text = format!("{arg:?}");
            // Several arguments come as a tuple.
            let label = match text.starts_with('(') {
                true => format!("{name}{text}"),
                false => format!("{name}({text})"),
            };
            self = self.with(name, label, blocking, move |object| {
                run(object, arg.clone())
            });
        }
        self
    }

    fn with<R: Debug + Eq + Hash + 'static>(
        mut self,
        name: &str,
        label: String,
        blocking: bool,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        if self.invocations.iter().any(|known| known.label == label) {
            self.complain(format!("there are two operations \"{label}\""));
        }
        self.invocations
            .push(Invocation::new(name, label, blocking, run));
        self
    }

    /// The operations of a specification, each run by `run`. What the object does is then compared with the specification,
    /// not with its own serial behaviour; the specification may be nondeterministic.
    ///
    /// ```
    /// # use linpoint::{Outcomes, Spec};
    /// # struct Register;
    /// # #[derive(Clone, Debug, PartialEq, Eq, Hash)] enum Op { Write(u32), Read }
    /// # impl Spec for Register {
    /// #     type Op = Op; type Ret = Option<u32>; type State = u32;
    /// #     fn init(&self) -> u32 { 0 }
    /// #     fn apply(&self, state: &u32, op: &Op) -> Outcomes<Option<u32>, u32> {
    /// #         match op { Op::Write(value) => Outcomes::One(None, *value), Op::Read => Outcomes::One(Some(*state), *state) }
    /// #     }
    /// # }
    /// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// // `Register` is a `linpoint::Spec` with the operations `Write(u32)` and `Read`.
    /// let report = linpoint_test::object(|| AtomicU32::new(0))
    ///     .against(Register, [Op::Write(1), Op::Read], |cell, op| match op {
    ///         Op::Write(value) => { cell.store(*value, SeqCst); None }
    ///         Op::Read => Some(cell.load(SeqCst)),
    ///     })
    ///     .matrix([["Write(1)", "Read"], ["Read", "Write(1)"]])
    ///     .check();
    /// assert!(report.passed(), "{report}");
    /// ```
    pub fn against<S>(
        mut self,
        spec: S,
        ops: impl IntoIterator<Item = S::Op>,
        run: impl Fn(&X, &S::Op) -> S::Ret + Send + Sync + 'static,
    ) -> Self
    where
        S: linpoint::Spec + 'static,
        S::Op: 'static,
        S::Ret: 'static,
    {
        let first = self.invocations.len();
        let ops: Vec<S::Op> = ops.into_iter().collect();
        let run = Arc::new(run);
        for op in ops.clone() {
            let run = Arc::clone(&run);
            let label = format!("{op:?}");
            self = self.with(&label.clone(), label, true, move |object| run(object, &op));
        }
        if self.spec.is_some() {
            self.complain("an object has one specification, not two".to_owned());
        }
        self.spec = Some(Arc::new(Meaning {
            spec: Probed(spec),
            first,
            ops,
        }));
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

    /// Operations to run before the threads start.
    pub fn init<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        self.init = self.find_all(ops);
        self
    }

    /// Operations to run after all threads have ended; left out if they are stuck.
    pub fn finally<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        self.last = self.find_all(ops);
        self
    }

    /// A sequence of operations that may stand in the place of one operation in [random](Self::random) tests.
    pub fn sequence<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        let ops = self.find_all(ops);
        self.sequences.push(ops);
        self
    }

    /// Runs this test: the operations of each thread.
    pub fn matrix<T, S>(mut self, threads: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let threads = threads.into_iter().map(|ops| self.find_all(ops)).collect();
        self.plan = Plan::Matrix(threads);
        self
    }

    /// Runs so many random tests with this many threads and operations per thread (`RandomCheck` of the paper).
    pub fn random(mut self, threads: usize, ops: usize, tests: usize) -> Self {
        self.plan = Plan::Random {
            threads,
            ops,
            tests,
        };
        self
    }

    /// Runs all tests with k threads of k of the first k operations, for k = 1 to `n` (`AutoCheck` of the paper).
    pub fn auto(mut self, n: usize) -> Self {
        self.plan = Plan::Auto(n);
        self
    }

    /// Runs all tests with this many threads and operations per thread.
    pub fn all(mut self, threads: usize, ops: usize) -> Self {
        self.plan = Plan::All { threads, ops };
        self
    }

    /// Runs one execution again, from the token that a report printed. If it no longer fails, its test is searched anew, and the
    /// report [says so](Report::notes).
    ///
    /// The environment variable `LINPOINT_REPLAY` does the same without a change to the test. It holds for all tests of the
    /// program that runs; those to whose object the token does not belong run as ever.
    pub fn replay(mut self, token: &str) -> Self {
        match token.parse() {
            Ok(token) => self.plan = Plan::Replay(token),
            Err(error) => self.complain(error),
        }
        self
    }

    /// Who runs the threads; [`Engine::Linpoint`] unless told otherwise.
    pub fn under(mut self, engine: Engine) -> Self {
        self.settings.engine = engine;
        self
    }

    /// The same object with the same operations over the types of [`linpoint_test::sync`](crate::sync). A failure of this one under
    /// weak memory is tried there: if it fails as well, that is a proof, and reported instead.
    #[cfg(feature = "loom")]
    pub fn same_under_sc<Y: 'static>(mut self, same: Object<Y>) -> Self {
        self.twin = Some(Arc::new(move |failure: &Failure| {
            let same = Object {
                construct: Arc::clone(&same.construct),
                invocations: same.invocations.clone(),
                sequences: Vec::new(),
                init: Vec::new(),
                last: Vec::new(),
                spec: same.spec.clone(),
                twin: None,
                plan: Plan::Auto(0),
                settings: same.settings.clone(),
                problem: same.problem.clone(),
            };
            let same = same.init(&failure.init).finally(&failure.finally);
            same.matrix(&failure.matrix).check().verdict
        }));
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

    /// The operation may answer differently in the same serial situation. What it then answers concurrently must still be
    /// among the serial answers.
    pub fn nondeterministic_ok(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.varies = true)
    }

    /// What the operation answers is not looked at; what it does to the object is.
    pub fn ignore_result(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.ignored = true)
    }

    /// The operation never waits for another one, although it was declared with [`blocking`](Self::blocking).
    pub fn never_blocks(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.blocking = false)
    }

    fn mark(mut self, name: &str, mark: impl Fn(&mut Invocation<X>)) -> Self {
        let name = name.trim_end_matches("()");
        let mut found = false;
        for invocation in &mut self.invocations {
            if invocation.name == name || invocation.label == name {
                mark(invocation);
                found = true;
            }
        }
        if !found {
            let problem = self.unknown(name);
            self.complain(problem);
        }
        self
    }

    /// Where a failure is shown as a page for the browser. Unless told otherwise, [`run`](Self::run) writes it to `linpoint`
    /// in the target directory of cargo, under the name of the test, and [`check`](Self::check) to nowhere.
    pub fn html(mut self, path: impl Into<PathBuf>) -> Self {
        self.settings.html = Some(path.into());
        self
    }

    /// Runs the tests.
    pub fn check(&self) -> Report {
        let mut report = campaign::run(self);
        if let Some(path) = &self.settings.html {
            report.write_page(path.clone());
        }
        report
    }

    /// Runs the tests. Prints the report if they pass, so that `cargo test -- --nocapture` tells what was covered.
    ///
    /// # Panics
    /// With the report, unless all tests pass.
    #[track_caller]
    pub fn run(&self) {
        let mut report = self.check();
        if self.settings.html.is_none() {
            let name = format!("{}.html", artefact::test_name());
            report.write_page(artefact::folder().join(name));
        }
        assert!(report.passed(), "\n{report}");
        print!("{report}");
    }

    fn find_all<S: AsRef<str>>(&mut self, ops: impl IntoIterator<Item = S>) -> Vec<usize> {
        ops.into_iter()
            .filter_map(|op| {
                let found = self.find(op.as_ref());
                if found.is_none() {
                    let problem = self.unknown(op.as_ref());
                    self.complain(problem);
                }
                found
            })
            .collect()
    }

    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let text = text.trim().trim_end_matches("()");
        self.invocations
            .iter()
            .position(|invocation| invocation.label == text)
    }

    /// A hash by which a token knows its object: the type, and what its operations are called.
    pub(crate) fn identity(&self) -> u16 {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        std::any::type_name::<X>().hash(&mut hasher);
        for invocation in &self.invocations {
            invocation.label.hash(&mut hasher);
        }
        hasher.finish() as u16
    }

    fn unknown(&self, op: &str) -> String {
        let known: Vec<&str> = self.invocations.iter().map(|i| i.label.as_str()).collect();
        format!(
            "there is no operation \"{op}\"; known so far: {}",
            known.join(", ")
        )
    }

    fn complain(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}

impl<X> fmt::Debug for Object<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops: Vec<&str> = self.invocations.iter().map(|i| i.label.as_str()).collect();
        f.debug_struct("Object")
            .field("operations", &ops)
            .field("plan", &self.plan)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
