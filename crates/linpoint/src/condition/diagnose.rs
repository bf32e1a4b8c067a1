//! What still holds of a history that is not linearizable.

use super::check::Subject;
use super::memory::{Linked, Memory};
use super::sessions::verdicts;
use super::staleness::{smallest_delta, smallest_k};
use super::{Condition, Decision, Guarantees, Lateness, Outcome, Versions};
use crate::engine::Budget;
use crate::error::Error;

/// How much of a history is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// What is told in a few lines.
    Short,
    /// Every condition.
    All,
}

/// What still holds of a history that is not linearizable.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The conditions that are defined for the history.
    pub defined: Vec<Condition>,
    /// The conditions that were decided, with what was found out.
    pub decisions: Vec<Decision>,
    /// How many versions reads are behind.
    pub versions: Option<Versions>,
    /// How late reads are, where the history has times.
    pub lateness: Option<Lateness>,
    /// Guarantees, each for a session by itself, with the numbers of the processes in which they fail.
    pub failing: Vec<(Guarantees, Vec<u32>)>,
    /// A read that returned before what it read was written: the clocks or the recording are wrong, and nothing else is said.
    pub is_implausible: bool,
}

impl Diagnosis {
    /// Whether a condition holds, as far as the decisions tell.
    pub fn holds(&self, condition: Condition) -> Option<bool> {
        let implied = |decision: &Decision| match decision.holds()? {
            true => decision.condition.implies(condition).then_some(true),
            false => condition.implies(decision.condition).then_some(false),
        };
        self.decisions.iter().find_map(implied)
    }

    /// The strongest conditions that are known to hold: those that no other one of them implies.
    pub fn strongest(&self) -> Vec<Condition> {
        let defined = self.defined.iter().copied();
        let holding: Vec<Condition> = defined
            .filter(|&condition| self.holds(condition) == Some(true))
            .collect();
        let is_implied = |weak: Condition| {
            let stronger = |strong: &&Condition| strong.implies(weak) && !weak.implies(**strong);
            holding.iter().any(|strong| stronger(&strong))
        };
        holding
            .iter()
            .copied()
            .filter(|&condition| !is_implied(condition))
            .collect()
    }
}

impl Subject<'_> {
    /// Looks for what still holds, cheapest conditions first.
    pub(crate) fn diagnose(&self, depth: Depth, budget: &Budget) -> Result<Diagnosis, Error> {
        let mut diagnosis = Diagnosis::default();
        let Ok(memory) = &self.memory else {
            use Condition::*;
            diagnosis.defined = vec![Linearizable, WriteLinearizable, Sequential, Quiescent];
            for condition in [Sequential, WriteLinearizable, Quiescent] {
                self.ask(condition, depth, &mut diagnosis, budget)?;
            }
            return Ok(diagnosis);
        };
        diagnosis.defined = Condition::all();
        if says_nothing(memory) {
            return Ok(diagnosis);
        }
        if let Ok(linked) = Linked::of(memory) {
            if linked.future_read().is_some() {
                diagnosis.is_implausible = true;
                return Ok(diagnosis);
            }
            measure(memory, &linked, &mut diagnosis, budget);
        }
        use Condition::*;
        let first = [
            Regular,
            CausalConvergence,
            Coherent,
            CausalMemory,
            Sequential,
        ];
        let more = [
            WriteLinearizable,
            Quiescent,
            RegularAgreed,
            Safe,
            WeakCausal,
            Pram,
        ];
        for condition in first.into_iter().chain(more) {
            self.ask(condition, depth, &mut diagnosis, budget)?;
        }
        if depth == Depth::All {
            for guarantees in Guarantees::meaningful() {
                self.ask(Sessions(guarantees), depth, &mut diagnosis, budget)?;
            }
        }
        Ok(diagnosis)
    }

    /// Decides a condition, unless it follows from what is known.
    fn ask(
        &self,
        condition: Condition,
        depth: Depth,
        diagnosis: &mut Diagnosis,
        budget: &Budget,
    ) -> Result<(), Error> {
        if depth == Depth::Short && diagnosis.holds(condition).is_some() {
            return Ok(());
        }
        let decision = match budget.check() {
            Ok(()) => self.decide(condition, budget)?,
            Err(limit) => Decision::of(condition, Outcome::Undecided(limit.to_string())),
        };
        diagnosis.decisions.push(decision);
        Ok(())
    }
}

/// Whether nothing is to be seen: no read returned, or there is one process only.
fn says_nothing(memory: &Memory) -> bool {
    memory.ops.iter().all(|op| op.is_write())
}

fn measure(memory: &Memory, linked: &Linked, diagnosis: &mut Diagnosis, budget: &Budget) {
    if let Ok(Ok((versions, _))) = smallest_k(linked, None, budget) {
        diagnosis.versions = Some(versions);
    }
    if let Ok(Some(Ok((lateness, _)))) = smallest_delta(memory, linked, budget) {
        diagnosis.lateness = Some(lateness);
    }
    let sets = [
        Guarantees::READ_YOUR_WRITES,
        Guarantees::MONOTONIC_READS,
        Guarantees::MONOTONIC_READS.with(Guarantees::MONOTONIC_WRITES),
    ];
    for set in sets.map(Guarantees::of_each_session) {
        if let Ok(verdicts) = verdicts(linked, set, budget) {
            diagnosis.failing.push((set, verdicts.failing));
        }
    }
}
