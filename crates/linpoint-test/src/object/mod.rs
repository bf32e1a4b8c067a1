//! Objects under test: their constructor, their operations, and their tests.

pub mod ends;
mod futures;
pub(crate) mod invocation;
mod observed;
pub(crate) mod plan;
pub(crate) mod settings;
pub(crate) mod test;

use std::fmt::{self, Debug};
use std::hash::{BuildHasher as _, Hash, Hasher as _};
use std::sync::Arc;

use ends::{Cast, Holders, Kind};

use crate::report::{Failure, Verdict};
use invocation::{Blocking, Invocation, Results};
use plan::Plan;
use settings::Settings;

pub use settings::Progress;

use crate::check::spec::{Probed, SpecOps, Specification};
use crate::matrix::Matrix;

/// Returns an object under test. `construct` creates a new one for every execution.
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
    Object::made_by(move |_| construct())
}

/// An object under test, made by [`object()`].
#[must_use = "nothing runs before `check` or `run`"]
pub struct Object<X> {
    pub(crate) construct: Construct<X>,
    /// The ends of which it consists; none if it is a single shared value.
    pub(crate) ends: Vec<Kind>,
    /// Runs after the initial sequence.
    pub(crate) after_init: Option<fn(&X, &Cast)>,
    pub(crate) invocations: Vec<Invocation<X>>,
    pub(crate) sequences: Vec<Vec<usize>>,
    pub(crate) init: Vec<usize>,
    pub(crate) last: Vec<usize>,
    pub(crate) spec: Option<SpecFor>,
    /// Runs the test of a failure with the same object under sequential consistency.
    pub(crate) under_sc: Option<UnderSc>,
    /// What must hold when all threads have ended.
    pub(crate) invariants: Vec<Invariant<X>>,
    pub(crate) plans: Vec<Plan>,
    pub(crate) settings: Settings,
    /// The first mistake in the declarations; the check reports it.
    pub(crate) problem: Option<String>,
}

/// Makes an object for a test in which these threads use these ends.
pub(crate) type Construct<X> = Arc<dyn Fn(&Cast) -> X + Send + Sync>;

/// The specification of a test that begins with so many handles.
pub(crate) type SpecFor = Arc<dyn Fn(&Holders) -> Arc<dyn Specification> + Send + Sync>;

/// Panics unless it holds.
pub(crate) type Invariant<X> = Arc<dyn Fn(&X) + Send + Sync>;

pub(crate) type UnderSc = Arc<dyn Fn(&Failure) -> Verdict + Send + Sync>;

/// An operation with its argument, as in "add(200)".
fn label<A: Debug>(name: &str, arg: &A) -> String {
    let text = format!("{arg:?}");
    match text.starts_with('(') {
        true => format!("{name}{text}"),
        false => format!("{name}({text})"),
    }
}

impl<X: 'static> Object<X> {
    fn made_by(construct: impl Fn(&Cast) -> X + Send + Sync + 'static) -> Self {
        Object {
            construct: Arc::new(construct),
            ends: Vec::new(),
            after_init: None,
            invocations: Vec::new(),
            sequences: Vec::new(),
            init: Vec::new(),
            last: Vec::new(),
            spec: None,
            under_sc: None,
            invariants: Vec::new(),
            plans: Vec::new(),
            settings: Settings::default(),
            problem: None,
        }
    }

    /// Adds an operation with an argument: one invocation for each of `args`, labelled like `add(200)`. A tuple stands for
    /// several arguments.
    ///
    /// The operation must not wait for another one unless [`may_block`](Self::may_block) allows it.
    pub fn op<A, R>(
        mut self,
        name: &str,
        args: impl IntoIterator<Item = A>,
        run: impl Fn(&X, A) -> R + Send + Sync + 'static,
    ) -> Self
    where
        A: Debug + Clone + Send + Sync + 'static,
        R: Debug + Eq + Hash + 'static,
    {
        let run = Arc::new(run);
        for arg in args {
            let run = Arc::clone(&run);
            let label = label(name, &arg);
            let run = move |object: &X| run(object, arg.clone());
            self = self.with(name, label, Blocking::Never, run);
        }
        self
    }

    /// Adds an operation without arguments; otherwise like [`op`](Self::op).
    pub fn op0<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        self.with(name, name.to_owned(), Blocking::Never, run)
    }

    fn with<R: Debug + Eq + Hash + 'static>(
        self,
        name: &str,
        label: String,
        blocking: Blocking,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        let run = move |object: &X, _| run(object);
        self.add(Invocation::new(name, label, blocking, run))
    }

    fn add(mut self, invocation: Invocation<X>) -> Self {
        let label = &invocation.label;
        if self.invocations.iter().any(|known| known.label == *label) {
            let problem = format!("there are two operations \"{label}\"");
            self.set_problem(problem);
        }
        self.invocations.push(invocation);
        self
    }

    /// Adds operations of a specification, which `run` runs on the object. Executions are then checked against the
    /// specification, not against the serial behaviour of the object. The specification may be nondeterministic.
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
            self = self.with(&label.clone(), label, Blocking::Allowed, move |object| {
                run(object, &op)
            });
        }
        let spec: Arc<dyn Specification> = Arc::new(SpecOps {
            spec: Probed(spec),
            first,
            ops,
        });
        self.set_spec(move |_| Arc::clone(&spec))
    }

    fn set_spec(
        mut self,
        spec: impl Fn(&Holders) -> Arc<dyn Specification> + Send + Sync + 'static,
    ) -> Self {
        if self.spec.is_some() {
            self.set_problem("an object has only one specification".to_owned());
        }
        self.spec = Some(Arc::new(spec));
        self
    }

    /// Why a test of this object cannot run, if it cannot.
    pub(crate) fn problem_of(&self, matrix: &Matrix) -> Option<String> {
        let engine = self.settings.engine;
        if self.settings.spurious > 0 && !engine.sees_accesses() {
            return Some(format!(
                "spurious wake-ups and failures are choices of the types of linpoint_test::sync alone: remove `.spurious(..)` from a \
                 test under {}",
                engine.name()
            ));
        }
        if !self.invariants.is_empty() && !engine.sees_accesses() {
            return Some(format!(
                "invariants are not checked under {}: remove `.invariant(..)`",
                engine.name()
            ));
        }
        matrix.problem().or_else(|| ends::problem(self, matrix))
    }

    /// Operations to run before the threads start.
    pub fn init<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        self.init = self.find_all(ops);
        self
    }

    /// Operations to run after all threads have ended. They do not run if the threads are stuck.
    pub fn finally<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        self.last = self.find_all(ops);
        self
    }

    /// What must hold of the object whenever all threads have ended, serial executions included: `holds` panics if it does not. It runs
    /// after the [final](Self::finally) operations, and must not change the object.
    ///
    /// ```
    /// use linpoint_test::FailureKind;
    /// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// // Two counters that should agree. No operation looks at both.
    /// let report = linpoint_test::object(|| [AtomicU32::new(0), AtomicU32::new(0)])
    ///     .op0("inc", |counters| {
    ///         counters[0].fetch_add(1, SeqCst);
    ///         let second = counters[1].load(SeqCst);
    ///         counters[1].store(second + 1, SeqCst);
    ///     })
    ///     .invariant(|counters| assert_eq!(counters[0].load(SeqCst), counters[1].load(SeqCst)))
    ///     .matrix([["inc"], ["inc"]])
    ///     .check();
    /// assert_eq!(report.failure().unwrap().kind, FailureKind::Invariant);
    /// ```
    pub fn invariant(mut self, holds: impl Fn(&X) + Send + Sync + 'static) -> Self {
        self.invariants.push(Arc::new(holds));
        self
    }

    /// Adds a sequence of operations that may take the place of one operation in [random](Self::random) tests.
    pub fn sequence<S: AsRef<str>>(mut self, ops: impl IntoIterator<Item = S>) -> Self {
        let ops = self.find_all(ops);
        self.sequences.push(ops);
        self
    }

    /// The operation may return different results after the same serial calls. Its results in concurrent executions must
    /// still be those of a serial one.
    pub fn nondeterministic_ok(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.varies = true)
    }

    /// The results of the operation are not compared; its effects on the object are.
    pub fn ignore_result(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.results = Results::Ignored)
    }

    /// The operation may wait for another one. A serial execution in which it waits for ever is then part of what the
    /// object does, not a failure.
    pub fn may_block(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.blocking = Blocking::Allowed)
    }

    /// The operation never waits for another one, although operations of a [specification](Self::against) may.
    pub fn never_blocks(self, name: &str) -> Self {
        self.mark(name, |invocation| invocation.blocking = Blocking::Never)
    }

    /// Only these threads, counted from 0, call the operation in generated tests ([`random`](Self::random),
    /// [`all`](Self::all), [`auto`](Self::auto)): for objects with one owner or one consumer, or of which each thread has a part.
    ///
    /// ```
    /// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
    ///
    /// // One thread writes, so that a load and a store are enough.
    /// let report = linpoint_test::object(|| AtomicU32::new(0))
    ///     .op0("inc", |counter| counter.store(counter.load(SeqCst) + 1, SeqCst))
    ///     .only_on("inc", [0])
    ///     .op0("get", |counter| counter.load(SeqCst))
    ///     .all(2, 2)
    ///     .check();
    /// assert!(report.passed(), "{report}");
    /// ```
    pub fn only_on(self, name: &str, threads: impl IntoIterator<Item = usize>) -> Self {
        let threads: Vec<usize> = threads.into_iter().collect();
        self.mark(name, |invocation| {
            invocation.threads = Some(threads.clone());
        })
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
            self.set_problem(problem);
        }
        self
    }

    pub(crate) fn find_all<S: AsRef<str>>(
        &mut self,
        ops: impl IntoIterator<Item = S>,
    ) -> Vec<usize> {
        ops.into_iter()
            .filter_map(|op| {
                let found = self.find(op.as_ref());
                if found.is_none() {
                    let problem = self.unknown(op.as_ref());
                    self.set_problem(problem);
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

    /// A hash of the type and of the labels of the operations, by which a token identifies its object.
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

    pub(crate) fn set_problem(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }
}

impl<X> fmt::Debug for Object<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ops: Vec<&str> = self.invocations.iter().map(|i| i.label.as_str()).collect();
        f.debug_struct("Object")
            .field("operations", &ops)
            .field("plans", &self.plans)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
