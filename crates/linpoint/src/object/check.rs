//! Checking recorded histories.

use super::ObjectType;
use crate::engine::Budget;
use crate::error::Error;
use crate::history::{History, TypedHistory};
use crate::portfolio::{Checker, Cores};
use crate::spec::{Recorded, Spec};
use crate::verdict::{Report, Verdict};

/// An object whose recorded histories a [`Checker`] decides: every [`Recorded`] type, and [`ObjectType`].
pub trait CheckRecorded {
    /// Decides `history` within `budget`. Use [`Checker::check_recorded`] instead.
    fn check_history(
        &self,
        checker: &Checker,
        history: &History,
        budget: &Budget,
    ) -> Result<Report, Error>;

    /// Reads `history` without deciding it. The error names the first operation that is none of this type.
    fn validate(&self, history: &History) -> Result<(), Error>;

    /// What it took to ask the specification; see [`Spec::effort`](crate::Spec::effort).
    fn effort(&self) -> Option<String>;

    /// Why the specification cannot be relied on any more; see [`Spec::failure`](crate::Spec::failure).
    fn failure(&self) -> Option<String>;
}

impl<S: Recorded> CheckRecorded for S {
    fn check_history(
        &self,
        checker: &Checker,
        history: &History,
        budget: &Budget,
    ) -> Result<Report, Error> {
        let named = |mut report: Report| {
            for part in &mut report.parts {
                let object = history.objects().get(part.object_number as usize);
                part.object = object.cloned().unwrap_or_default();
                if history.objects().len() > 1
                    && let Verdict::Violation(violation) = &mut part.verdict
                {
                    violation.core.name_object(&part.object);
                    if let Verdict::Violation(first) = &mut report.verdict
                        && first.last == violation.last
                    {
                        first.core.name_object(&part.object);
                    }
                }
            }
            report
        };
        let describe = |id| history.describe(id);
        let mut decided = None;
        let explains = checker.config().cores == Cores::Reduced;
        if S::FITS_SLOWLY && explains {
            let config = checker.config().clone().verdicts_only();
            let report = checker
                .configured(config)
                .check_history(self, history, budget, &describe)?;
            if !matches!(report.verdict, Verdict::Violation(_)) {
                return Ok(named(report));
            }
            decided = Some(report);
        }
        let fit = || self.fitted_to(&mut history.recorded_ops());
        let fitted = explains.then(fit).flatten();
        let object = fitted.as_ref().unwrap_or(self);
        let explained = checker.check_history(object, history, budget, &describe)?;
        Ok(named(match (&explained.verdict, decided) {
            // There was time for one decision only.
            (Verdict::Undecided(_), Some(decided)) => decided,
            _ => explained,
        }))
    }

    fn validate(&self, history: &History) -> Result<(), Error> {
        TypedHistory::decode(self, history).map(drop)
    }

    fn effort(&self) -> Option<String> {
        Spec::effort(self)
    }

    fn failure(&self) -> Option<String> {
        Spec::failure(self)
    }
}

impl CheckRecorded for ObjectType {
    fn check_history(
        &self,
        checker: &Checker,
        history: &History,
        budget: &Budget,
    ) -> Result<Report, Error> {
        self.0.check_history(checker, history, budget)
    }

    fn validate(&self, history: &History) -> Result<(), Error> {
        self.0.validate(history)
    }

    fn effort(&self) -> Option<String> {
        self.0.effort()
    }

    fn failure(&self) -> Option<String> {
        self.0.failure()
    }
}

impl ObjectType {
    /// What it took to ask the specification; see [`Spec::effort`](crate::Spec::effort).
    pub fn effort(&self) -> Option<String> {
        self.0.effort()
    }

    /// Reads `history` without deciding it. The error names the first operation that is none of this type.
    pub fn validate(&self, history: &History) -> Result<(), Error> {
        self.0.validate(history)
    }
}

impl Checker {
    /// Decides whether a recorded history is linearizable. `object` is a built-in type, or any [`Recorded`] type.
    ///
    /// Returns an error if the history has operations that are none of `object`. Another error is a failed certificate: a
    /// bug in linpoint, or a specification that breaks its contract.
    ///
    /// ```
    /// use linpoint::format::{ReadOptions, parse};
    /// use linpoint::{Checker, Verdict, object_type};
    ///
    /// let text = br#"{"process": 0, "method": "deq", "ret": 2, "call": 4, "return": 5}"#;
    /// let recorded = parse(text, &ReadOptions::default()).remove(0)?;
    /// let queue = object_type("queue", &Default::default())?;
    /// let report = Checker::default().check_recorded(&queue, &recorded.history)?;
    /// assert!(matches!(report.verdict, Verdict::Violation(_)));
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn check_recorded(
        &self,
        object: &impl CheckRecorded,
        history: &History,
    ) -> Result<Report, Error> {
        self.check_recorded_within(object, history, &self.budget())
    }

    /// The same within `budget`, which carries progress and can be cancelled.
    pub fn check_recorded_within(
        &self,
        object: &impl CheckRecorded,
        history: &History,
        budget: &Budget,
    ) -> Result<Report, Error> {
        object.check_history(self, history, budget)
    }
}
