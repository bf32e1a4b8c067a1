//! Correctness conditions of recorded histories.

use super::ObjectType;
use crate::condition::{Condition, Decision, Depth, Diagnosis, Outcome, Refutation, Subject};
use crate::engine::Budget;
use crate::error::Error;
use crate::history::{Erasure, History, OpId, TypedHistory};
use crate::portfolio::Checker;
use crate::spec::{Recorded, unless_failed};
use crate::verdict::{Report, Verdict};

pub(super) trait DecideConditions {
    fn decide_conditions(
        &self,
        conditions: &[Condition],
        checker: &Checker,
        history: &History,
        budget: &Budget,
    ) -> Result<Vec<Decision>, Error>;

    fn diagnose(
        &self,
        depth: Depth,
        history: &History,
        budget: &Budget,
    ) -> Result<Diagnosis, Error>;
}

impl<S: Recorded> DecideConditions for S {
    fn decide_conditions(
        &self,
        conditions: &[Condition],
        checker: &Checker,
        history: &History,
        budget: &Budget,
    ) -> Result<Vec<Decision>, Error> {
        let decide = |subject: &Subject<'_>| -> Result<Vec<Decision>, Error> {
            let decided = conditions.iter().map(|&condition| match condition {
                Condition::Linearizable => {
                    let report = checker.check_recorded_within(self, history, budget)?;
                    Ok(of_report(&report, history))
                }
                other => subject.decide(other, budget),
            });
            let mut decided = decided.collect::<Result<Vec<Decision>, Error>>()?;
            Decision::settle(&mut decided);
            Ok(decided)
        };
        unless_failed(self, with_subject(self, history, budget, &decide))
    }

    fn diagnose(
        &self,
        depth: Depth,
        history: &History,
        budget: &Budget,
    ) -> Result<Diagnosis, Error> {
        let diagnose = |subject: &Subject<'_>| subject.diagnose(depth, budget);
        unless_failed(self, with_subject(self, history, budget, &diagnose))
    }
}

fn with_subject<S: Recorded, T>(
    object: &S,
    history: &History,
    budget: &Budget,
    work: &dyn Fn(&Subject<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let typed = TypedHistory::decode_within(object, history, &budget.of_memory())?;
    let erasure = Erasure::of(object, &typed);
    let times = |id: OpId| history.times(id.index()).unwrap_or_default();
    let is_timed = !history.is_empty() && history.times(0).is_some();
    let times = is_timed.then_some(&times as &dyn Fn(OpId) -> (i64, i64));
    let describe = |id: OpId| history.describe(id);
    let spec = erasure.spec();
    let crashes: Vec<u32> = history.crashes().collect();
    let subject = Subject::new(&spec, erasure.history(), times, &crashes, &describe);
    work(&subject)
}

/// A verdict on linearizability as a decision.
fn of_report(report: &Report, history: &History) -> Decision {
    let outcome = match &report.verdict {
        Verdict::Linearizable(witness) => Outcome::in_order(witness.order.clone()),
        Verdict::Violation(violation) => Outcome::Violated(Refutation {
            core: violation.core.ops().to_vec(),
            is_minimal: violation.core.is_minimal(),
            is_confirmed: violation.core.is_certified(),
            sentence: match violation.core.anchor() {
                Some(anchor) => {
                    let [when, what] = anchor.clauses(|id| history.describe(id));
                    format!("{when}, {what}; after that, {}", violation.core.sentence())
                }
                None => violation.core.sentence().to_owned(),
            },
        }),
        Verdict::Undecided(undecided) => Outcome::Undecided(undecided.to_string()),
    };
    Decision::of(Condition::Linearizable, outcome)
}

impl Checker {
    /// Decides [conditions](Condition) of a recorded history of a built-in type.
    ///
    /// A condition that is undecided by itself takes the outcome of another one of these from which it follows.
    ///
    /// Returns an error if the history has operations that are none of `object`, or if a condition is not defined for it.
    ///
    /// ```
    /// use linpoint::condition::Condition;
    /// use linpoint::format::{ReadOptions, parse};
    /// use linpoint::{Checker, object_type};
    ///
    /// let text = r#"
    /// {"process": 0, "method": "put", "arg": ["x", 1], "call": 0, "return": 1}
    /// {"process": 1, "method": "get", "arg": "x", "ret": null, "call": 2, "return": 3}
    /// "#;
    /// let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0)?;
    /// let map = object_type("kv", &Default::default())?;
    /// let conditions = [Condition::Linearizable, Condition::Sequential];
    /// let checker = Checker::default();
    /// let decisions = checker.check_conditions(&map, &recorded.history, &conditions)?;
    /// assert_eq!(decisions[0].holds(), Some(false)); // the read is stale
    /// assert_eq!(decisions[1].holds(), Some(true)); // and nothing else is wrong
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn check_conditions(
        &self,
        object: &ObjectType,
        history: &History,
        conditions: &[Condition],
    ) -> Result<Vec<Decision>, Error> {
        self.check_conditions_within(object, history, conditions, &self.budget())
    }

    /// The same within `budget`.
    pub fn check_conditions_within(
        &self,
        object: &ObjectType,
        history: &History,
        conditions: &[Condition],
        budget: &Budget,
    ) -> Result<Vec<Decision>, Error> {
        object
            .0
            .decide_conditions(conditions, self, history, budget)
    }

    /// Finds out what still holds of a recorded history that is not linearizable, within `budget`.
    pub fn diagnose(
        &self,
        object: &ObjectType,
        history: &History,
        depth: Depth,
        budget: &Budget,
    ) -> Result<Diagnosis, Error> {
        object.0.diagnose(depth, history, budget)
    }
}
