//! A condition decided for a history, as callers see it.

use super::answer::{Answer, Stopped, Why, Witness};
use super::any::Any;
use super::certify;
use super::decide::decide;
use super::memory::{Linked, Memory, NoMemory, Unlinked};
use super::shrink::shrink;
use super::staleness::{smallest_delta, smallest_k};
use super::{Condition, Lateness, Versions, words};
use crate::engine::Budget;
use crate::error::Error;
use crate::history::{Erased, ErasedHistory, NEVER, OpId};
use crate::value::Value;

/// Whether a condition holds of a history.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The condition.
    pub condition: Condition,
    /// What was found out.
    pub outcome: Outcome,
    /// The condition that was decided, where the outcome follows from that of another one.
    pub decided: Condition,
}

/// What was found out about a condition.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// It holds.
    Holds {
        /// Why; it was replayed.
        witness: Witness,
        /// The number that was asked for.
        measure: Option<Measure>,
    },
    /// It does not hold.
    Violated(Refutation),
    /// It is not known whether it holds, for this reason.
    Undecided(String),
}

impl Outcome {
    /// It holds, as this order shows.
    pub(crate) fn in_order(order: Vec<OpId>) -> Self {
        Outcome::Holds {
            witness: Witness::Order(order),
            measure: None,
        }
    }
}

/// A number that a condition asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How many versions reads are behind.
    Versions(Versions),
    /// How late reads are.
    Lateness(Lateness),
}

/// Why a condition does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// Operations that violate it by themselves, in the order of their calls; together with what the sentence says was known at some
    /// earlier return, if it does.
    pub core: Vec<OpId>,
    /// Whether none of them can be left out.
    pub is_minimal: bool,
    /// Whether the definition of the condition was asked about them too, and says the same. It is asked about small cores.
    pub is_confirmed: bool,
    /// What is wrong, in words.
    pub sentence: String,
}

impl Decision {
    /// A decision that follows from no other one.
    pub(crate) fn of(condition: Condition, outcome: Outcome) -> Self {
        Decision {
            condition,
            outcome,
            decided: condition,
        }
    }

    /// Gives each condition that is undecided the outcome that follows from another one of these, if one does.
    pub(crate) fn settle(decisions: &mut [Decision]) {
        for i in 0..decisions.len() {
            let condition = decisions[i].condition;
            let follows = |known: &&Decision| match known.outcome {
                Outcome::Holds { .. } => known.condition.implies(condition),
                Outcome::Violated(_) => condition.implies(known.condition),
                Outcome::Undecided(_) => false,
            };
            if let Outcome::Undecided(_) = decisions[i].outcome
                && let Some(known) = decisions.iter().find(follows)
            {
                decisions[i] = Decision {
                    condition,
                    ..known.clone()
                };
            }
        }
    }

    /// Whether it holds; `None` if that is not known.
    pub fn holds(&self) -> Option<bool> {
        match self.outcome {
            Outcome::Holds { .. } => Some(true),
            Outcome::Violated(_) => Some(false),
            Outcome::Undecided(_) => None,
        }
    }
}

/// What is known of crashes of the whole system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Crashes {
    None,
    Some,
    /// This operation was open at one, and returned after it.
    Survived(OpId),
}

impl Crashes {
    fn of(crashes: &[u32], history: &ErasedHistory<Value>) -> Self {
        let survives = |call: u32, ret: u32| {
            let next = crashes.partition_point(|&crash| crash <= call);
            ret != NEVER && crashes.get(next).is_some_and(|&crash| crash <= ret)
        };
        let mut ops = (0..).zip(history.calls().iter().zip(history.rets()));
        match ops.find(|&(_, (&call, &ret))| survives(call, ret)) {
            Some((number, _)) => Crashes::Survived(OpId(number)),
            None if crashes.is_empty() => Crashes::None,
            None => Crashes::Some,
        }
    }
}

/// A history that is asked about conditions.
pub(crate) struct Subject<'a> {
    any: Any<'a, Erased<'a, Value>>,
    pub(super) memory: Result<Memory, NoMemory>,
    crashes: Crashes,
    pub(super) describe: &'a dyn Fn(OpId) -> String,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject")
            .field("memory", &self.memory)
            .finish_non_exhaustive()
    }
}

impl<'a> Subject<'a> {
    /// The subject of a history; `times` has the recorded times of operations, if there are any, `crashes` the ranks at which the whole
    /// system crashed, and `describe` names operations.
    pub(crate) fn new(
        spec: &'a Erased<'a, Value>,
        history: &'a ErasedHistory<Value>,
        times: Option<&dyn Fn(OpId) -> (i64, i64)>,
        crashes: &[u32],
        describe: &'a dyn Fn(OpId) -> String,
    ) -> Self {
        Subject {
            any: Any::of(spec, history, crashes),
            memory: Memory::of(spec, history, times, crashes),
            crashes: Crashes::of(crashes, history),
            describe,
        }
    }

    /// Decides a condition. The error is a condition that is not defined for the type, or a bug.
    pub(crate) fn decide(&self, condition: Condition, budget: &Budget) -> Result<Decision, Error> {
        if condition == Condition::Strict {
            self.has_crashes()?;
        }
        let outcome = match &self.memory {
            // Values repeat: the search needs not know which write a read returns.
            Ok(memory) if condition == Condition::Quiescent && repeats(memory) => {
                self.of_any(NoMemory::Type, condition, budget)?
            }
            Ok(memory) => self.of_memory(memory, condition, budget)?,
            Err(none) => self.of_any(*none, condition, budget)?,
        };
        Ok(Decision::of(condition, outcome))
    }

    /// The error says why strict linearizability is not defined for the history.
    fn has_crashes(&self) -> Result<(), Error> {
        match self.crashes {
            Crashes::Some => Ok(()),
            Crashes::None => Err(Error::usage(
                "strict needs a history that says when the whole system crashed: an event {\"event\":\"crash\"} without a process; \
                 without crashes it is linearizable",
            )),
            Crashes::Survived(id) => Err(Error::usage(format!(
                "strict is about crashes of the whole system, but {} was open at one and returned after it",
                (self.describe)(id)
            ))),
        }
    }

    fn of_memory(
        &self,
        memory: &Memory,
        condition: Condition,
        budget: &Budget,
    ) -> Result<Outcome, Error> {
        if let Condition::DeltaAtomic(_) = condition
            && !memory.is_timed
        {
            return Err(Error::usage(
                "delta-atomic needs a history with times; this one has none",
            ));
        }
        if let Condition::DeltaAtomic(_) = condition
            && !memory.span_fits()
        {
            let reason =
                "the first and the last time of the history are further apart than 64 bits can say";
            return Ok(Outcome::Undecided(reason.to_owned()));
        }
        let answer = match decide(memory, condition, budget) {
            Ok(answer) => answer,
            Err(stopped) => return Ok(Outcome::Undecided(self.stopped(stopped))),
        };
        match answer {
            Answer::Holds(witness) => {
                let measure = measure(memory, condition, budget);
                let (k, delta) = match (measure, condition) {
                    (Some(Measure::Versions(versions)), _) => (versions.at_most as usize, 0),
                    (Some(Measure::Lateness(lateness)), _) => (1, lateness.delta),
                    // The time is over, or values repeat: the number is not known, but the order may be of the bound.
                    (None, Condition::KAtomic(Some(k))) => (k as usize, 0),
                    (None, Condition::DeltaAtomic(Some(delta))) => (1, delta),
                    (None, Condition::KAtomic(None) | Condition::DeltaAtomic(None))
                        if budget.check().is_err() =>
                    {
                        let limit = budget.check().err();
                        let reason = limit.map_or_else(String::new, |limit| limit.to_string());
                        return Ok(Outcome::Undecided(reason));
                    }
                    (None, _) => (1, 0),
                };
                if !certify::shows(memory, condition, &witness, k, delta) {
                    return Err(Error::bug(format!(
                        "the witness of {condition} does not hold"
                    )));
                }
                Ok(Outcome::Holds { witness, measure })
            }
            Answer::Fails(why) => Ok(Outcome::Violated(
                self.refutation(memory, condition, why, budget),
            )),
        }
    }

    fn refutation(
        &self,
        memory: &Memory,
        condition: Condition,
        why: Why,
        budget: &Budget,
    ) -> Refutation {
        let core = shrink(memory, condition, why, &budget.slice_with_grace(SHRINKING));
        let sentence = match (&core.why, condition) {
            (Why::NoOrder, Condition::DeltaAtomic(Some(delta))) => {
                format!(
                    "these operations are not linearizable if reads are moved {delta} into the past"
                )
            }
            (why, _) => words::sentence(why, self.describe),
        };
        Refutation {
            core: core.ops,
            is_minimal: core.is_minimal,
            is_confirmed: core.is_confirmed,
            sentence,
        }
    }

    fn of_any(
        &self,
        none: NoMemory,
        condition: Condition,
        budget: &Budget,
    ) -> Result<Outcome, Error> {
        let Some(decided) = self.any.decide(&self.any.all(), condition, budget) else {
            return Err(Error::usage(self.undefined(none, condition)));
        };
        Ok(match decided {
            Err(stopped) => Outcome::Undecided(self.stopped(stopped)),
            Ok(Answer::Holds(witness)) => {
                if !self.any.shows(condition, &witness) {
                    return Err(Error::bug(format!(
                        "the witness of {condition} does not hold"
                    )));
                }
                Outcome::Holds {
                    witness,
                    measure: None,
                }
            }
            Ok(Answer::Fails(why)) => {
                let budget = budget.slice_with_grace(SHRINKING);
                let (core, is_minimal) = self.any.shrink(condition, &budget);
                Outcome::Violated(Refutation {
                    core,
                    is_minimal,
                    is_confirmed: false,
                    sentence: words::sentence(&why, self.describe),
                })
            }
        })
    }

    fn undefined(&self, none: NoMemory, condition: Condition) -> String {
        const INSTEAD: &str =
            "strict, sequential, write-linearizable and quiescent are for any type";
        match none {
            NoMemory::Type => format!(
                "{condition} is defined for registers and maps of reads and writes only; {INSTEAD}"
            ),
            NoMemory::Other(id) => format!(
                "{condition} is decided for reads and writes only, and {} is neither; {INSTEAD}",
                (self.describe)(id)
            ),
        }
    }

    fn stopped(&self, stopped: Stopped) -> String {
        const INSTEAD: &str = "strict, sequential, write-linearizable, quiescent, regular and safe are decided for repeated values; values that \
                               differ, such as a counter for each process, let all conditions be decided";
        let describe = self.describe;
        match stopped {
            Stopped::Limit(limit) => limit.to_string(),
            Stopped::Unlinked(Unlinked::ThinAir(id)) => {
                format!("{} returned what was never written", describe(id))
            }
            Stopped::Unlinked(Unlinked::Repeated(a, b)) => {
                format!(
                    "{} and {} write the same value; {INSTEAD}",
                    describe(a),
                    describe(b)
                )
            }
            Stopped::Unlinked(Unlinked::Restored(id)) => {
                format!("{} writes the initial value again; {INSTEAD}", describe(id))
            }
        }
    }
}

/// Whether it cannot be told which write some read returns.
fn repeats(memory: &Memory) -> bool {
    matches!(
        Linked::of(memory),
        Err(Unlinked::Repeated(..) | Unlinked::Restored(_))
    )
}

/// The time for making a core small.
const SHRINKING: std::time::Duration = std::time::Duration::from_millis(300);

fn measure(memory: &Memory, condition: Condition, budget: &Budget) -> Option<Measure> {
    let linked = Linked::of(memory).ok()?;
    match condition {
        Condition::KAtomic(bound) => {
            let (versions, _) = smallest_k(&linked, bound, budget).ok()?.ok()?;
            Some(Measure::Versions(versions))
        }
        Condition::DeltaAtomic(_) => {
            let (lateness, _) = smallest_delta(memory, &linked, budget).ok()??.ok()?;
            Some(Measure::Lateness(lateness))
        }
        _ => None,
    }
}
