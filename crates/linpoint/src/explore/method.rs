//! The methods of verification: which executions are explored, and which observer decides whether they are linearizable.

use super::execution::Execution;
use super::observe::{Observer, SimpleMonitor};
use super::product::{self, Product};
use super::program::{Algorithm, Bounds, Client, Offers, Reductions};
use super::refine::{Refinement, SnapshotRefinement};
use super::search::{self, Ended, Explored};
use super::snapshot::{
    Answer, Bitwise, FULL_CLIENT, Form, Request, SimpleClient, SnapshotAlgorithm, history_of,
    spec_of,
};
use crate::engine::Budget;
use crate::error::Error;
use crate::history::TypedHistory;
use crate::portfolio::{Checker, Config, EngineChoice};
use crate::spec::Spec;
use crate::verdict::{Limit, Verdict};

/// The result of exploring an algorithm.
#[derive(Clone, Debug)]
pub enum Outcome<Op, Ret> {
    /// Every execution within the bounds is linearizable.
    Verified,
    /// This execution is not linearizable. No execution within the bounds with fewer moves is wrong.
    Bug(Execution<Op, Ret>),
    /// A limit was hit first.
    Undecided(Limit),
}

/// How a snapshot algorithm is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Simple executions, observed by the monitor of simple histories.
    #[default]
    Automata,
    /// Simple executions, compared with the specification.
    Simple,
    /// All executions, compared with the specification.
    Full,
}

impl Method {
    /// All methods with their names.
    pub const NAMES: &'static [(&'static str, Method)] = &[
        ("automata", Method::Automata),
        ("simple", Method::Simple),
        ("full", Method::Full),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }
}

/// One exploration of a snapshot algorithm.
#[derive(Clone, Debug)]
pub struct Task {
    /// The number of processes.
    pub processes: usize,
    /// The method.
    pub method: Method,
    /// The two entries that change. [`Method::Full`] ignores it.
    pub pair: (usize, usize),
    /// The only process whose scans are checked for being too old ([`Method::Automata`] only). To verify an algorithm, each
    /// process must be watched in turn.
    pub watched: Option<usize>,
    /// The bounds of the executions.
    pub bounds: Bounds,
    /// Which reductions.
    pub reductions: Reductions,
}

impl Task {
    /// The form in which an algorithm is explored.
    pub fn form(&self) -> Form {
        let form = match self.method {
            Method::Full => Form::full(self.processes),
            Method::Automata | Method::Simple => Form {
                short: self.reductions.fake_operations,
                ..Form::simple(self.processes, self.pair)
            },
        };
        form.within(&self.bounds)
    }

    /// The operations of the client. If `others_matter`, updates of entries that are not kept are among them.
    fn offers(&self, others_matter: bool) -> Offers<Request> {
        let client = SimpleClient {
            pair: self.pair,
            others: others_matter || !self.reductions.fake_operations,
        };
        match self.method {
            Method::Full => Offers::of(FULL_CLIENT, self.processes, &self.bounds),
            Method::Automata | Method::Simple => Offers::of(&client, self.processes, &self.bounds),
        }
    }

    fn monitor(&self) -> SimpleMonitor {
        SimpleMonitor {
            processes: self.processes,
            pair: self.pair,
            normal_form: self.reductions.monitor_form,
            watched: self.watched,
        }
    }

    /// The processes that differ only in their numbers.
    fn alike(&self) -> Vec<usize> {
        let form = self.form();
        let is_alike = |p: &usize| !form.keeps(*p) && self.watched != Some(*p);
        (0..self.processes).filter(is_alike).collect()
    }
}

/// The states that [`Method::Automata`] explores, reductions and monitor included, for use with another search engine.
pub struct States<'a>(Box<dyn search::Model + Send + 'a>);

impl std::fmt::Debug for States<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("States").finish_non_exhaustive()
    }
}

impl<'a> States<'a> {
    /// The states of an algorithm that was made with the [form](Task::form) of the task.
    pub fn new<A: SnapshotAlgorithm>(algorithm: &'a A, task: &Task) -> Result<Self, Error> {
        let product = Product::new(
            algorithm,
            task.offers(A::OTHERS_MATTER),
            task.monitor(),
            task.bounds.clone(),
            task.reductions,
            task.alike(),
        )?;
        Ok(States(Box::new(product)))
    }

    /// The number of words of a state.
    pub fn words(&self) -> usize {
        self.0.words()
    }

    /// The state at the start.
    pub fn initial(&self) -> Vec<u64> {
        self.0.initial()
    }

    /// The successors of a state, one after the other; `None` if one of its steps cannot be linearized.
    pub fn next(&self, state: &[u64]) -> Option<Vec<u64>> {
        let mut found = search::Found::default();
        self.0.expand(state, &mut found);
        (!found.is_bad).then_some(found.states)
    }
}

/// Whether the exploration of a task exchanges processes: there are two that can be.
pub(super) fn exchanges<A: SnapshotAlgorithm>(task: &Task, bug: Option<&str>) -> bool {
    let alike = task.alike().into_iter();
    task.method == Method::Automata
        && task.reductions.symmetry
        && alike.filter(|&p| task.bounds.is_active(p)).count() > 1
        && product::can_exchange(&A::new(task.form(), bug))
}

/// Explores a snapshot algorithm once.
///
/// ```
/// use linpoint::engine::Budget;
/// use linpoint::explore::algorithms::Bowman;
/// use linpoint::explore::{Bounds, Explored, Method, Outcome, Reductions, Task, explore};
/// let task = Task {
///     processes: 3,
///     method: Method::Automata,
///     pair: (0, 1),
///     watched: None,
///     bounds: Bounds::default(),
///     reductions: Reductions::ALL,
/// };
/// let outcome = explore::<Bowman>(&task, None, &Budget::default(), &Explored::default())?;
/// assert!(matches!(outcome, Outcome::Verified));
/// let outcome = explore::<Bowman>(&task, Some("planted"), &Budget::default(), &Explored::default())?;
/// assert!(matches!(outcome, Outcome::Bug(_)));
/// # Ok::<(), linpoint::Error>(())
/// ```
pub fn explore<A: SnapshotAlgorithm>(
    task: &Task,
    bug: Option<&str>,
    budget: &Budget,
    explored: &Explored,
) -> Result<Outcome<Request, Answer>, Error> {
    let n = task.processes;
    let form = task.form();
    let algorithm = A::new(form, bug);
    let offers = task.offers(A::OTHERS_MATTER);
    let spec = Bitwise {
        entries: form.entries,
    };
    let outcome = match task.method {
        Method::Automata => {
            let (monitor, alike) = (task.monitor(), task.alike());
            run(&algorithm, &offers, monitor, task, alike, budget, explored)
        }
        Method::Simple | Method::Full => {
            let judge = SnapshotRefinement(Refinement::new(&spec, n));
            run(&algorithm, &offers, judge, task, vec![], budget, explored)
        }
    }?;
    if let Outcome::Bug(execution) = &outcome {
        confirm(&spec_of(n), &history_of(n, execution.events()))?;
    }
    Ok(outcome)
}

fn run<A: Algorithm>(
    algorithm: &A,
    offers: &Offers<A::Op>,
    observer: impl Observer<A::Op, A::Ret> + Clone,
    task: &Task,
    alike: Vec<usize>,
    budget: &Budget,
    explored: &Explored,
) -> Result<Outcome<A::Op, A::Ret>, Error> {
    let product = |reductions, alike| {
        let (offers, bounds) = (offers.clone(), task.bounds.clone());
        Product::new(
            algorithm,
            offers,
            observer.clone(),
            bounds,
            reductions,
            alike,
        )
    };
    let reduced = product(task.reductions, alike)?;
    let way = match search::run(&reduced, budget, explored) {
        Ended::Exhausted => return Ok(Outcome::Verified),
        Ended::Limit(limit) => return Ok(Outcome::Undecided(limit)),
        Ended::Bad(way) => way,
    };
    let replayed = reduced.replay(&way);
    if replayed.is_ok() || !task.reductions.symmetry {
        return replayed.map(Outcome::Bug);
    }
    // Sorting the processes need not map all states that differ only in process numbers to the same one, so the states
    // found may not be a path. Then the search is repeated without symmetry.
    let reductions = Reductions {
        symmetry: false,
        ..task.reductions
    };
    let plain = product(reductions, Vec::new())?;
    match search::run(&plain, budget, explored) {
        Ended::Bad(way) => plain.replay(&way).map(Outcome::Bug),
        Ended::Limit(limit) => Ok(Outcome::Undecided(limit)),
        Ended::Exhausted => Err(Error::bug(
            "bug in linpoint: a bug is found only with symmetry",
        )),
    }
}

/// Explores any algorithm against any specification with the same operations and results.
///
/// Every execution of the client within the bounds is compared with the specification. A bug comes with an execution that
/// has the fewest moves of the search. The general search confirms that its history is not linearizable.
pub fn refine<A: Algorithm>(
    algorithm: &A,
    client: &(impl Client<A::Op> + ?Sized),
    spec: &impl Spec<Op = A::Op, Ret = A::Ret>,
    bounds: &Bounds,
    reductions: Reductions,
    budget: &Budget,
    explored: &Explored,
) -> Result<Outcome<A::Op, A::Ret>, Error> {
    let n = algorithm.processes();
    let offers = Offers::of(client, n, bounds);
    let judge = Refinement::new(spec, n);
    let outcome = run_within(
        algorithm, &offers, judge, bounds, reductions, budget, explored,
    )?;
    if let Outcome::Bug(execution) = &outcome {
        confirm(spec, &history_of_events(n, execution.events()))?;
    }
    Ok(outcome)
}

/// Explores an algorithm that is no snapshot once.
pub(super) fn run_within<A: Algorithm>(
    algorithm: &A,
    offers: &Offers<A::Op>,
    observer: impl Observer<A::Op, A::Ret> + Clone,
    bounds: &Bounds,
    reductions: Reductions,
    budget: &Budget,
    explored: &Explored,
) -> Result<Outcome<A::Op, A::Ret>, Error> {
    let task = Task {
        processes: algorithm.processes(),
        method: Method::Full,
        pair: (0, 0),
        watched: None,
        bounds: bounds.clone(),
        reductions,
    };
    run(
        algorithm,
        offers,
        observer,
        &task,
        Vec::new(),
        budget,
        explored,
    )
}

/// The history of these calls and returns.
pub(super) fn history_of_events<Op, Ret>(
    processes: usize,
    events: impl IntoIterator<Item = (usize, Result<Op, Ret>)>,
) -> TypedHistory<Op, Ret> {
    let mut history = TypedHistory::new();
    let mut open = vec![None; processes];
    for (p, event) in events {
        match event {
            Ok(op) => open[p] = Some(history.call(p as u32, op)),
            Err(ret) => {
                if let Some(id) = open[p].take() {
                    history.ret(id, ret);
                }
            }
        }
    }
    history
}

/// Confirms a bug: the general search must find that its history is not linearizable.
pub(super) fn confirm<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
) -> Result<(), Error> {
    let config = Config::default().with_engine(EngineChoice::Search);
    match Checker::new(config).check(spec, history)?.verdict {
        Verdict::Violation(_) => Ok(()),
        _ => Err(Error::bug(
            "bug in linpoint: the general search can explain the history of a counterexample",
        )),
    }
}
