//! Verifies the built-in snapshot algorithms: decides which explorations are needed and in which order they are made.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::algorithms::{
    AfekBounded, AfekUnbounded, AttiyaWelch, Bowman, Jayanti, Locked, Riany, SingleCollect,
};
use super::method::{Method, Outcome, Task, exchanges, explore};
use super::program::{Bounds, Reductions};
use super::search::Explored;
use super::snapshot::{Answer, MOST_PROCESSES, Request, SnapshotAlgorithm};
use crate::engine::{Budget, Stopwatch};
use crate::error::{Error, did_you_mean};

/// A snapshot algorithm that can be verified.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmInfo {
    /// Its name.
    pub name: &'static str,
    /// Its authors and year.
    pub source: &'static str,
    /// The bugs that can be planted in it: a name and a description each.
    pub bugs: &'static [(&'static str, &'static str)],
    /// Why it is enough to explore one pair of entries, where it is.
    pub one_pair: Option<&'static str>,
    /// Whether its registers grow without bound if states are not brought into normal form.
    pub unbounded: bool,
    explore: Explore,
    exchanges: fn(&Task, Option<&str>) -> bool,
}

type Explore =
    fn(&Task, Option<&str>, &Budget, &Explored) -> Result<Outcome<Request, Answer>, Error>;

impl AlgorithmInfo {
    /// The algorithm that a type implements; [`verify`](Self::verify) verifies one that is not built in.
    pub const fn of<A: SnapshotAlgorithm>() -> Self {
        AlgorithmInfo {
            name: A::NAME,
            source: A::SOURCE,
            bugs: A::BUGS,
            one_pair: A::ONE_PAIR,
            unbounded: A::UNBOUNDED,
            explore: explore::<A>,
            exchanges: exchanges::<A>,
        }
    }
}

/// The built-in snapshot algorithms. A `static`, since a constant would compile the explorations in each crate that uses it.
pub static ALGORITHMS: &[AlgorithmInfo] = &[
    AlgorithmInfo::of::<Bowman>(),
    AlgorithmInfo::of::<Jayanti>(),
    AlgorithmInfo::of::<AfekBounded>(),
    AlgorithmInfo::of::<AfekUnbounded>(),
    AlgorithmInfo::of::<Riany>(),
    AlgorithmInfo::of::<AttiyaWelch>(),
    AlgorithmInfo::of::<SingleCollect>(),
    AlgorithmInfo::of::<Locked>(),
];

/// What to verify, and how.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The algorithm, by name.
    pub algorithm: String,
    /// The number of processes.
    pub processes: usize,
    /// The bug to plant, by name.
    pub bug: Option<String>,
    /// The method.
    pub method: Method,
    /// The pairs of entries that change; by default all pairs, or one where one is enough.
    pub pairs: Option<Vec<(usize, usize)>>,
    /// The largest number of operations that each process calls.
    pub ops_per_process: Option<u8>,
    /// Whether to explore executions of two processes first, then of three, and so on: most bugs need few processes.
    pub staged: bool,
    /// Whether to watch the scans of one process at a time, instead of all at once: more explorations of fewer states
    /// each ([`Method::Automata`] only).
    pub watch_each: bool,
    /// Which reductions.
    pub reductions: Reductions,
}

impl Plan {
    /// The algorithm without a bug, with default settings.
    ///
    /// ```
    /// use linpoint::engine::Budget;
    /// use linpoint::explore::{Explored, Outcome, Plan, verify};
    /// let mut plan = Plan::new("bowman", 4);
    /// let found = verify(&plan, &Budget::default(), &Explored::default())?;
    /// assert!(matches!(found.outcome, Outcome::Verified));
    /// plan.bug = Some("planted".into());
    /// let found = verify(&plan, &Budget::default(), &Explored::default())?;
    /// let Outcome::Bug(execution) = found.outcome else { panic!() };
    /// println!("{}", execution.reason);
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn new(algorithm: &str, processes: usize) -> Self {
        Plan {
            algorithm: algorithm.to_owned(),
            processes,
            bug: None,
            method: Method::default(),
            pairs: None,
            ops_per_process: None,
            staged: true,
            watch_each: false,
            reductions: Reductions::default(),
        }
    }

    /// The built-in algorithm of this name.
    fn built_in(&self) -> Result<&'static AlgorithmInfo, Error> {
        let found = ALGORITHMS.iter().find(|info| info.name == self.algorithm);
        found.ok_or_else(|| {
            let names: Vec<_> = ALGORITHMS.iter().map(|info| info.name).collect();
            let meant = did_you_mean(&self.algorithm, names.iter().copied());
            Error::usage(format!(
                "unknown algorithm {:?}; {meant}known are {}",
                self.algorithm,
                names.join(", ")
            ))
        })
    }

    /// Refuses a plan that the algorithm cannot follow.
    fn validate(&self, info: &AlgorithmInfo) -> Result<(), Error> {
        if self.algorithm != info.name {
            return Err(Error::usage(format!(
                "the plan is for {:?}, not for {:?}",
                self.algorithm, info.name
            )));
        }
        if !(2..=MOST_PROCESSES - 1).contains(&self.processes) {
            return Err(Error::usage(format!(
                "the number of processes can be from 2 to {}, not {}",
                MOST_PROCESSES - 1,
                self.processes
            )));
        }
        if let Some(bug) = &self.bug
            && !info.bugs.iter().any(|(name, _)| name == bug)
        {
            let names: Vec<_> = info.bugs.iter().map(|(name, _)| *name).collect();
            let known = match names[..] {
                [] => "it has none".into(),
                _ => {
                    let meant = did_you_mean(bug, names.iter().copied());
                    format!("{meant}known are {}", names.join(", "))
                }
            };
            return Err(Error::usage(format!(
                "{} has no bug {bug:?}; {known}",
                info.name
            )));
        }
        match self.ops_per_process {
            None if info.unbounded && !self.reductions.dead_values => {
                return Err(Error::usage(format!(
                    "without dead-values the sequence numbers of {} grow without bound: say by --ops-per-process how many operations each process may call",
                    info.name
                )));
            }
            Some(bound) if info.unbounded && usize::from(bound) * self.processes > 60 => {
                return Err(Error::usage(format!(
                    "{} can be explored with at most 60 operations in all (--ops-per-process), or with any number",
                    info.name
                )));
            }
            _ => {}
        }
        Ok(())
    }

    fn pairs(&self, info: &AlgorithmInfo) -> Result<Vec<(usize, usize)>, Error> {
        let n = self.processes;
        if self.method == Method::Full {
            return Ok(vec![(0, 1)]);
        }
        match &self.pairs {
            Some(pairs) => {
                if let Some((i, j)) = pairs.iter().find(|(i, j)| i >= j || *j >= n) {
                    return Err(Error::usage(format!(
                        "there is no pair {i},{j}: the first entry comes before the second, and both are below {n}"
                    )));
                }
                let mut pairs = pairs.clone();
                pairs.sort_unstable();
                pairs.dedup();
                Ok(pairs)
            }
            None if info.one_pair.is_some() => Ok(vec![(0, 1)]),
            None => Ok((0..n)
                .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
                .collect()),
        }
    }

    fn watched(&self) -> Vec<Option<usize>> {
        if self.watch_each && self.method == Method::Automata {
            (0..self.processes).map(Some).collect()
        } else {
            vec![None]
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug)]
pub struct Verification {
    /// The verdict.
    pub outcome: Outcome<Request, Answer>,
    /// The pairs of entries of the plan; empty where all entries change.
    pub pairs: Vec<(usize, usize)>,
    /// Why one pair is enough, if only one was explored.
    pub one_pair: Option<&'static str>,
    /// The explorations, in order.
    pub runs: Vec<Exploration>,
    /// Whether processes were exchanged in one of them.
    exchanged: bool,
}

impl Verification {
    /// The names of the reductions that were in use: of those of the plan, the ones that its method and algorithm have.
    pub fn reductions(&self, plan: &Plan) -> Vec<&'static str> {
        let is_used = |name: &str| match name {
            "symmetry" => self.exchanged,
            "monitor-form" => plan.method == Method::Automata,
            "fake-operations" => plan.method != Method::Full,
            _ => true,
        };
        let on = plan.reductions.named().into_iter().filter(|(_, on)| *on);
        on.map(|(name, _)| name)
            .filter(|name| is_used(name))
            .collect()
    }

    /// Whether all pairs of entries are covered, so that a verdict holds for every client.
    pub fn covers_all(&self, plan: &Plan) -> bool {
        let n = plan.processes;
        plan.method == Method::Full
            || self.one_pair.is_some()
            || self.pairs.len() == n * (n - 1) / 2
    }
}

/// One exploration.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The entries that change.
    pub pair: (usize, usize),
    /// How many processes take part.
    pub active: usize,
    /// The only process whose scans were watched.
    pub watched: Option<usize>,
    /// States reached.
    pub states: u64,
    /// Steps between them.
    pub transitions: u64,
    /// The largest number of steps from the start, including the step of a bug.
    pub depth: u64,
    /// Bytes used for the states.
    pub bytes: u64,
    /// How long it took.
    pub time: Duration,
}

/// Makes the explorations of the plan for a built-in algorithm, until a bug is found or a limit is hit.
pub fn verify(plan: &Plan, budget: &Budget, explored: &Explored) -> Result<Verification, Error> {
    plan.built_in()?.verify(plan, budget, explored)
}

impl AlgorithmInfo {
    /// Makes the explorations of the plan, which names this algorithm, until a bug is found or a limit is hit.
    pub fn verify(
        &self,
        plan: &Plan,
        budget: &Budget,
        explored: &Explored,
    ) -> Result<Verification, Error> {
        plan.validate(self)?;
        let pairs = plan.pairs(self)?;
        let all = pairs.len() == plan.processes * (plan.processes - 1) / 2;
        let one_pair = self.one_pair.filter(|_| !all && pairs.len() == 1);
        let mut runs = Vec::new();
        let mut outcome = Outcome::Verified;
        let mut exchanged = false;
        let fewest = if plan.staged { 2 } else { plan.processes };
        'all: for active in fewest..=plan.processes {
            for &pair in &pairs {
                for watched in plan.watched() {
                    let task = Task {
                        processes: plan.processes,
                        method: plan.method,
                        pair,
                        watched,
                        bounds: Bounds {
                            ops_per_process: plan.ops_per_process,
                            active: Some(participants(plan.processes, pair, active)),
                        },
                        reductions: plan.reductions,
                    };
                    exchanged |= (self.exchanges)(&task, plan.bug.as_deref());
                    let stopwatch = Stopwatch::start();
                    let found = (self.explore)(&task, plan.bug.as_deref(), budget, explored)?;
                    runs.push(Exploration {
                        pair,
                        active,
                        watched,
                        states: explored.states.load(Relaxed),
                        transitions: explored.transitions.load(Relaxed),
                        depth: explored.depth.load(Relaxed),
                        bytes: explored.bytes.load(Relaxed),
                        time: stopwatch.elapsed(),
                    });
                    if !matches!(found, Outcome::Verified) {
                        outcome = found;
                        break 'all;
                    }
                }
            }
        }
        Ok(Verification {
            outcome,
            pairs: if plan.method == Method::Full {
                Vec::new()
            } else {
                pairs
            },
            one_pair,
            runs,
            exchanged,
        })
    }
}

/// The first `count` processes to take part: those of the pair, then the others.
fn participants(processes: usize, (i, j): (usize, usize), count: usize) -> Vec<usize> {
    let others = (0..processes).filter(|&p| p != i && p != j);
    [i, j].into_iter().chain(others).take(count).collect()
}
