//! `Check(X, m)` of the paper: decides whether a deterministic specification explains all executions of a test.

mod allowance;
pub(crate) mod data_races;
pub(crate) mod extension;
mod gaps;
pub(crate) mod observations;
pub(crate) mod serial;
pub(crate) mod spec;
mod test;
#[cfg(test)]
mod tests;
pub(crate) mod witness;

use std::collections::HashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use allowance::Allowance;
use extension::Extensions;
use gaps::Gaps;
use serial::{Refused, Serial};
use spec::Ruling;
use witness::Unexplained;

pub(crate) use test::{Test, explore};

use crate::engine::Engine;
use crate::runtime::causality::Past;
use crate::runtime::execution::{Causality, Choice, End, Settings, Switches, Trace, Words};
use crate::runtime::history::History;
use crate::runtime::memory_event::{self, MemoryEvent};
use crate::runtime::program::qualified_label;
use crate::runtime::run::Flow;
use crate::runtime::search::Search;
use crate::runtime::{UNCONTROLLED, values};
use crate::search::dfs::Dfs;
use crate::search::dpor::Dpor;
use crate::search::random::Random;
use crate::search::replay::Replay;

/// Which executions of phase 2 are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strategy {
    /// [`Exhaustive`](Self::Exhaustive) as far as the budget goes, then [`Bounded`](Self::Bounded) with 0, 1, 2, ... preemptions.
    #[default]
    Automatic,
    /// One execution of each class of equivalent ones, all classes: dynamic partial-order reduction.
    Exhaustive,
    /// All executions with at most this many preemptions inside operations, up to equivalent states.
    Bounded(u32),
    /// The same, but each history is decided by itself, so a failure has the fewest preemptions.
    FewestPreemptions(u32),
    /// The same, without any reduction: for comparisons. Without a number, all executions.
    Plain(Option<u32>),
    /// This many executions, drawn at random.
    Random(u64),
    /// Executions drawn at random by priorities that change `depth - 1` times in each.
    Pct {
        /// The number of executions.
        executions: u64,
        /// The number of ordering constraints that a bug needs.
        depth: u32,
    },
}

/// The limits of a check.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) strategy: Strategy,
    pub(crate) preemptions: u32,
    /// The most executions of the bounded search after the exhaustive one.
    pub(crate) bounded: Option<u64>,
    pub(crate) deadline: Option<Instant>,
    pub(crate) at_deadline: AtDeadline,
    /// The most executions of the exhaustive search.
    pub(crate) exhaustive: u64,
    pub(crate) max_steps: usize,
    pub(crate) seed: u64,
}

/// What a check is that found no failure until its time was up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AtDeadline {
    /// A pass that says what it covers.
    #[default]
    Passes,
    /// Undecided.
    Undecided,
}

/// What a passed check covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Coverage {
    /// All executions that loom distinguishes, with at most this many preemptions: under weak memory, and no proof.
    #[cfg(feature = "loom")]
    WeakMemory(Option<u32>),
    /// The first executions of a search, so many, until the time was up.
    CutOff(u64),
    /// This many executions.
    Sampled(u64),
    /// All executions with at most this many preemptions inside operations.
    Preemptions(u32),
    /// All executions under sequential consistency.
    Exhaustive,
}

#[derive(Debug)]
pub(crate) enum Found {
    Pass(Coverage),
    Fail(Box<Violation>),
    Undecided(String),
    /// The time was up before any concurrent execution.
    OutOfTime(String),
}

#[derive(Debug)]
pub(crate) enum ViolationKind {
    /// No serial history has these results in an order that respects real time.
    Results,
    /// Nothing justifies that this operation is stuck.
    Stuck(usize),
    /// Two accesses of a cell that nothing orders.
    DataRace([MemoryEvent; 2]),
    /// An invariant of the object does not hold at the end, for this reason.
    Invariant(String),
    /// The same serial calls, and another answer than in this history.
    Nondeterministic(Box<History>),
    /// This operation blocks serially and was not declared to.
    Blocks {
        op: usize,
        /// The serial execution in which it does.
        schedule: Vec<Choice>,
    },
}

#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) kind: ViolationKind,
    pub(crate) history: History,
    /// Empty for serial histories.
    pub(crate) schedule: Vec<Choice>,
    pub(crate) preemptions: u32,
    /// Waits that ended and weak compare-exchanges that failed for no reason.
    pub(crate) spurious: u32,
}

/// How much a check did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effort {
    /// Serial histories.
    pub serial: usize,
    /// Those of them that are stuck.
    pub stuck: usize,
    /// Concurrent executions, redundant ones included.
    pub executions: u64,
    /// Those of them that were found to be redundant before they ended.
    pub redundant: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Accesses to objects under control.
    pub accesses: u64,
    /// Time for the serial histories.
    pub phase1: Duration,
    /// Time for the concurrent ones.
    pub phase2: Duration,
}

pub(crate) struct Checked {
    pub(crate) found: Found,
    /// What a pass does not cover, beside what its coverage says.
    pub(crate) caveats: Vec<String>,
    pub(crate) effort: Effort,
    pub(crate) serial: Serial,
}

/// Checks one test.
pub(crate) fn check(program: &Rc<dyn Test>, limits: &Limits) -> Checked {
    let start = Instant::now();
    let mut effort = Effort::default();
    let serial = serial_histories(program, limits.max_steps, limits.deadline);
    effort.phase1 = start.elapsed();
    let mut caveats = Vec::new();
    let (found, serial) = match serial {
        Err(refused) => (refused.found(), Serial::default()),
        Ok(serial) => {
            effort.serial = serial.histories;
            effort.stuck = serial.stuck_histories;
            let start = Instant::now();
            let mut phase2 = Phase2 {
                program,
                serial: &serial,
                limits,
                effort: &mut effort,
                gaps: Gaps::default(),
                missed_cells: false,
            };
            let found = phase2.run();
            if phase2.missed_cells {
                return check(program, limits);
            }
            let most_spurious = program.most_spurious();
            caveats = phase2.gaps.caveats(most_spurious, limits.max_steps);
            effort.phase2 = start.elapsed();
            (found, serial)
        }
    };
    if !program.asserts() && values::found_statics() {
        return check(program, limits);
    }
    Checked {
        found,
        caveats,
        effort,
        serial,
    }
}

/// Returns the serial histories that explain the executions of a test: those of phase 1, or of an observation file; none if
/// a specification takes their place.
pub(crate) fn serial_histories(
    program: &Rc<dyn Test>,
    max_steps: usize,
    deadline: Option<Instant>,
) -> Result<Serial, Refused> {
    if program.has_spec() {
        return Ok(Serial::default());
    }
    match program.observed() {
        Some(observed) => observed.map_err(Refused::Fault),
        None => Serial::of(program, max_steps, deadline),
    }
}

impl Refused {
    /// The result of the check.
    pub(crate) fn found(self) -> Found {
        let fail = |kind, history| {
            Found::Fail(Box::new(Violation {
                kind,
                history,
                schedule: Vec::new(),
                preemptions: 0,
                spurious: 0,
            }))
        };
        match self {
            Refused::Nondeterministic(pair) => {
                let [first, second] = *pair;
                fail(ViolationKind::Nondeterministic(Box::new(first)), second)
            }
            Refused::Blocks {
                history,
                op,
                schedule,
            } => fail(ViolationKind::Blocks { op, schedule }, *history),
            Refused::Invariant(history, why) => fail(ViolationKind::Invariant(why), *history),
            Refused::TooLong => Found::Undecided(
                "a serial execution makes no progress within the bound on steps".to_owned(),
            ),
            Refused::Fault(why) => Found::Undecided(why),
            Refused::OutOfTime { executions, of } => Found::OutOfTime(format!(
                "the time was up in the serial phase, after {executions} of up to {of} executions"
            )),
        }
    }
}

/// Why a search stopped early.
enum Stopped {
    Violates(Vec<Choice>),
    /// There may be more executions.
    Unfinished(String),
    /// Nothing can be said of the test.
    Fault(String),
}

/// What a complete search has covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All executions.
    All,
    /// The executions that its bound allows.
    Bounded,
}

/// What decides whether an execution is explained.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Oracle {
    /// A serial witness of its history.
    Witness,
    /// The same. The search compares states, which differ if operations overlap differently.
    WitnessPerState,
    /// The specification. The search compares states as with `WitnessPerState`.
    SpecPerState,
    /// Serial witnesses of all executions that are equivalent to it.
    Extension,
    /// The execution itself: whether a thread panicked, or it is stuck. Equivalent executions agree in that.
    Assertions,
}

struct Phase2<'a> {
    program: &'a Rc<dyn Test>,
    serial: &'a Serial,
    limits: &'a Limits,
    effort: &'a mut Effort,
    gaps: Gaps,
    /// The executions came to cells, and did not record what happens to them: all must run again.
    missed_cells: bool,
}

impl Phase2<'_> {
    fn run(&mut self) -> Found {
        // A specification decides single histories, so classes of executions do not apply; equal states do.
        let sees_accesses = self.program.engine().sees_accesses();
        let unless_spec = |oracle| match self.program.has_spec() {
            true if self.program.asserts() => Oracle::Assertions,
            true => Oracle::SpecPerState,
            false if !sees_accesses => Oracle::Witness,
            false => oracle,
        };
        let by_class = unless_spec(Oracle::Extension);
        let by_state = unless_spec(Oracle::WitnessPerState);
        let by_history = unless_spec(Oracle::Witness);
        if let Some(coverage) = own_coverage(self.program.engine()) {
            let stopped = self.explore(Dfs::new(None), by_history, self.limits.all_that_is_left());
            return self.conclude(stopped, coverage);
        }
        let seed = self.limits.seed;
        match self.limits.strategy {
            Strategy::Automatic if !sees_accesses => self.bounded(
                self.limits.preemptions,
                by_history,
                self.limits.second_half(),
            ),
            Strategy::Automatic => match self.exhaust(by_class, self.limits.first_half()) {
                Err(Stopped::Unfinished(_)) => {
                    self.bounded(self.limits.preemptions, by_class, self.limits.second_half())
                }
                stopped => self.conclude(stopped, Coverage::Exhaustive),
            },
            Strategy::Exhaustive => {
                let stopped = self.exhaust(by_class, self.limits.all_that_is_left());
                self.conclude(stopped, Coverage::Exhaustive)
            }
            Strategy::Bounded(bound) => {
                self.bounded(bound, by_class, self.limits.all_that_is_left())
            }
            Strategy::FewestPreemptions(bound) => {
                self.bounded(bound, by_state, self.limits.all_that_is_left())
            }
            Strategy::Plain(bound) => {
                let stopped =
                    self.explore(Dfs::new(bound), by_history, self.limits.all_that_is_left());
                let coverage = bound.map_or(Coverage::Exhaustive, Coverage::Preemptions);
                self.conclude(stopped, coverage)
            }
            Strategy::Random(executions) => {
                self.sampled(Random::uniform(seed, executions), by_class)
            }
            Strategy::Pct { executions, depth } => {
                self.sampled(Random::pct(seed, executions, depth), by_class)
            }
        }
    }

    /// All executions: one of each class if the oracle decides classes, otherwise up to equal states.
    fn exhaust(&mut self, oracle: Oracle, allowed: Allowance) -> Result<Extent, Stopped> {
        match oracle {
            Oracle::Extension | Oracle::Assertions => self.explore(Dpor::new(), oracle, allowed),
            _ => self.explore(self.depth_first(None), oracle, allowed),
        }
    }

    /// A depth-first search, with a memory of states if the engine reports accesses.
    fn depth_first(&self, bound: Option<u32>) -> Dfs {
        let search = Dfs::new(bound);
        match self.program.engine().sees_accesses() {
            true => search.remembering(),
            false => search,
        }
    }

    fn sampled(&mut self, search: Random, oracle: Oracle) -> Found {
        let stopped = self.explore(search, oracle, self.limits.all_that_is_left());
        match stopped {
            // The deadline passed: the sample is smaller.
            Err(Stopped::Unfinished(_)) if past(self.limits.deadline) => {
                Found::Pass(Coverage::Sampled(self.effort.executions))
            }
            stopped => self.conclude(stopped, Coverage::Sampled(self.effort.executions)),
        }
    }

    /// All executions with 0, 1, 2, ... preemptions, as far as it may. Those without any are run in any case.
    fn bounded(&mut self, most: u32, oracle: Oracle, allowed: Allowance) -> Found {
        let before = self.effort.executions;
        // How many executions each bound has taken.
        let mut taken: Vec<u64> = Vec::new();
        for bound in 0..=most {
            let done = self.effort.executions - before;
            let allowed = match taken[..] {
                [] => self.limits.all_that_is_left(),
                _ => allowed.after(done),
            };
            let passed = Found::Pass(Coverage::Preemptions(bound.saturating_sub(1)));
            if allowed.is_too_small_after(&taken) {
                return passed;
            }
            match self.explore(self.depth_first(Some(bound)), oracle, allowed) {
                Err(Stopped::Unfinished(_)) if bound > 0 => return passed,
                Ok(Extent::Bounded) => taken.push(self.effort.executions - before - done),
                // A larger bound would add no execution.
                Ok(Extent::All) => break,
                stopped => return self.conclude(stopped, Coverage::Preemptions(bound)),
            }
        }
        Found::Pass(Coverage::Preemptions(most))
    }

    fn conclude(&mut self, stopped: Result<Extent, Stopped>, coverage: Coverage) -> Found {
        match stopped {
            Ok(_) => Found::Pass(coverage),
            Err(Stopped::Unfinished(why)) => self.unfinished(why),
            Err(Stopped::Fault(why)) => Found::Undecided(why),
            Err(Stopped::Violates(schedule)) => {
                match replay(self.program, self.serial, schedule, self.limits.max_steps) {
                    Some(violation) if self.contradicts_phase_1(&violation) => {
                        Found::Undecided(format!(
                            "the object is not deterministic: it depends on {UNCONTROLLED}"
                        ))
                    }
                    Some(violation) => Found::Fail(Box::new(violation)),
                    None => Found::Undecided(
                        "a violating execution could not be repeated: the object depends on something that is not under \
                         control"
                            .to_owned(),
                    ),
                }
            }
        }
    }

    /// The result of a search that stopped before its end without a failure.
    fn unfinished(&self, why: String) -> Found {
        let is_cut_off = past(self.limits.deadline);
        match self.limits.at_deadline {
            AtDeadline::Passes if is_cut_off => {
                Found::Pass(Coverage::CutOff(self.effort.executions))
            }
            _ => Found::Undecided(why),
        }
    }

    /// Whether phase 1 would have had this history if the object were deterministic.
    fn contradicts_phase_1(&self, violation: &Violation) -> bool {
        let history = &violation.history;
        let has_weak_memory = self.program.engine().searches_itself();
        let has_phase_1 = !self.program.has_spec() && self.program.observed().is_none();
        // Serial executions try no cancellation after a future has woken itself.
        let mut ops = 0..history.outcomes.len();
        let is_cancelled = ops.any(|op| self.program.may_be_cancelled(op));
        let is_race = matches!(violation.kind, ViolationKind::DataRace(_));
        let is_phase_1 = history.is_serial() && violation.spurious == 0 && !is_race;
        is_phase_1 && has_phase_1 && !has_weak_memory && !is_cancelled
    }

    fn explore<S: Search>(
        &mut self,
        search: S,
        oracle: Oracle,
        allowed: Allowance,
    ) -> Result<Extent, Stopped> {
        if self.missed_cells {
            return Err(Stopped::Unfinished("cells were missed".to_owned()));
        }
        let (program, serial, limits) = (self.program, self.serial, self.limits);
        let mut extensions = Extensions::default();
        let mut known = Allowed::default();
        let mut stopped = None;
        let start = Instant::now();
        let (mut executions, mut redundant) = (0u64, 0u64);
        let (mut steps, mut accesses) = (0u64, 0u64);
        let mut gaps = std::mem::take(&mut self.gaps);
        let settings = Settings {
            switches: Switches::Everywhere,
            causality: match oracle {
                Oracle::Witness => Causality::Ignored,
                Oracle::WitnessPerState | Oracle::SpecPerState => Causality::RealTime,
                Oracle::Extension | Oracle::Assertions => Causality::Accesses,
            },
            words: Words::Omitted,
            max_steps: limits.max_steps,
        };
        let search = explore(self.program, settings, search, |trace, search| {
            executions += trace.repetitions();
            steps += trace.totals().steps as u64;
            accesses += trace.totals().accesses as u64;
            stopped = match trace.end() {
                End::Fault(why) => Some(Stopped::Fault(why.clone())),
                _ if search.pruned() => {
                    redundant += 1;
                    None
                }
                _ if memory_event::missed_cells() => {
                    Some(Stopped::Unfinished("cells were missed".to_owned()))
                }
                _ if fails_by_itself(trace).is_some() => {
                    Some(Stopped::Violates(trace.schedule().to_vec()))
                }
                End::Complete | End::Stuck => match oracle {
                    Oracle::Witness | Oracle::WitnessPerState => {
                        witness::explained(serial, trace.history())
                            .err()
                            .map(|_| Stopped::Violates(trace.schedule().to_vec()))
                    }
                    Oracle::SpecPerState => known.stopped(program, trace),
                    Oracle::Assertions => judged(program.rule(trace), trace),
                    Oracle::Extension => extensions
                        .explained(serial, trace)
                        .err()
                        .map(|violating| Stopped::Violates(violating.schedule)),
                },
                End::Livelock => {
                    gaps.livelock.get_or_insert_with(|| running(program, trace));
                    None
                }
                _ => {
                    gaps.endless.get_or_insert_with(|| running(program, trace));
                    Some(Stopped::Unfinished(format!(
                        "no progress within {} steps",
                        limits.max_steps
                    )))
                }
            };
            gaps.assumed.join(trace.assumed());
            if stopped.is_none() && executions.is_multiple_of(256) {
                if past(allowed.deadline) {
                    stopped = Some(Stopped::Unfinished("the time was up".to_owned()));
                } else if allowed.is_too_small(start, executions, search.progress()) {
                    stopped = Some(Stopped::Unfinished(format!(
                        "there are far more than {executions} executions"
                    )));
                }
            }
            if stopped.is_none() && allowed.executions.is_some_and(|most| executions >= most) {
                stopped = Some(Stopped::Unfinished(format!(
                    "{executions} executions were not all"
                )));
            }
            match stopped {
                None => Flow::More,
                Some(_) => Flow::Enough,
            }
        });
        self.gaps = gaps;
        self.missed_cells = memory_event::missed_cells();
        self.effort.executions += executions;
        self.effort.redundant += redundant;
        self.effort.steps += steps;
        self.effort.accesses += accesses;
        match stopped {
            Some(stopped) => Err(stopped),
            None if search.bounded() => Ok(Extent::Bounded),
            None => Ok(Extent::All),
        }
    }
}

/// The operations that have not returned.
fn running(program: &Rc<dyn Test>, trace: &Trace) -> Vec<String> {
    let pending = trace.history().pending();
    pending.map(|op| qualified_label(&**program, op)).collect()
}

/// The coverage of an engine that chooses the executions itself.
fn own_coverage(engine: Engine) -> Option<Coverage> {
    match engine {
        #[cfg(feature = "loom")]
        Engine::Loom(loom) => Some(Coverage::WeakMemory(loom.preemptions)),
        _ => None,
    }
}

/// The histories that the specification allows. Equal ones are decided once.
#[derive(Default)]
struct Allowed {
    known: HashSet<Past, foldhash::fast::FixedState>,
}

impl Allowed {
    fn stopped(&mut self, program: &Rc<dyn Test>, trace: &Trace) -> Option<Stopped> {
        let history = trace.history();
        let mut key = Past::default().then(u64::from(history.stuck));
        for (outcome, before) in history.outcomes.iter().zip(&history.before) {
            key = key.then(u64::from(outcome.0)).then(*before);
        }
        if self.known.contains(&key) {
            return None;
        }
        let stopped = judged(program.rule(trace), trace);
        if stopped.is_none() {
            self.known.insert(key);
        }
        stopped
    }
}

fn judged(ruling: Option<Ruling>, trace: &Trace) -> Option<Stopped> {
    match ruling {
        Some(Ruling::Unexplained(..)) => Some(Stopped::Violates(trace.schedule().to_vec())),
        Some(Ruling::Undecided(why)) => Some(Stopped::Unfinished(why)),
        Some(Ruling::Explained) | None => None,
    }
}

pub(crate) fn past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() > deadline)
}

/// In which way an execution fails whatever its history, if it does.
fn fails_by_itself(trace: &Trace) -> Option<ViolationKind> {
    let events = trace.memory_events();
    if let Some(race) = data_races::of_cells(events) {
        let accesses = [events[race.first], events[race.second]];
        return Some(ViolationKind::DataRace(accesses));
    }
    let broken = trace.broken()?;
    Some(ViolationKind::Invariant(broken.to_owned()))
}

/// In which way an execution fails, if it does.
fn kind_of(program: &Rc<dyn Test>, serial: &Serial, trace: &Trace) -> Option<ViolationKind> {
    if let Some(kind) = fails_by_itself(trace) {
        return Some(kind);
    }
    let why = match (trace.end(), program.rule(trace)) {
        (End::Complete | End::Stuck, None) => witness::explained(serial, trace.history()).err(),
        (End::Complete | End::Stuck, Some(Ruling::Unexplained(why, _))) => Some(why),
        _ => None,
    };
    why.map(|why| match why {
        Unexplained::Results => ViolationKind::Results,
        Unexplained::Stuck(op) => ViolationKind::Stuck(op),
    })
}

/// Runs a schedule. Returns its violation, if it has one.
pub(crate) fn replay(
    program: &Rc<dyn Test>,
    serial: &Serial,
    schedule: Vec<Choice>,
    max_steps: usize,
) -> Option<Violation> {
    let mut violation = None;
    let settings = Settings::verbose(Switches::Everywhere, max_steps);
    run_once(program, schedule, settings, |trace| {
        violation = kind_of(program, serial, trace).map(|kind| Violation {
            kind,
            history: trace.history().clone(),
            schedule: trace.schedule().to_vec(),
            preemptions: trace.totals().preemptions,
            spurious: trace.totals().spurious,
        });
    });
    violation
}

/// Runs a schedule.
pub(crate) fn run_once(
    program: &Rc<dyn Test>,
    schedule: Vec<Choice>,
    settings: Settings,
    mut look: impl FnMut(&Trace),
) {
    explore(program, settings, Replay::new(schedule), |trace, _| {
        look(trace);
        Flow::Enough
    });
}
