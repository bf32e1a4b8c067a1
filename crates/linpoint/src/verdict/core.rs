//! The core of a violation: operations that contradict each other, and what confirmed that they do.
//!
//! The fields of [`Core`] are private, so that a core cannot claim a confirmation it did not get: only
//! [`certify`](super::certify) answers [`Confirmation::IndependentCheck`], and a test harness has a
//! [constructor](Core::confirmed_by_harness) that says so.

use std::fmt;

use super::{Anchor, Claim, Limit};
use crate::history::{NEVER, OpId};
use crate::value::Value;

/// Operations whose recorded results and times contradict each other, whatever the other operations did.
#[derive(Clone, Debug)]
pub struct Core {
    pub(super) anchor: Option<Anchor>,
    pub(super) place: Option<Value>,
    pub(super) ops: Vec<OpId>,
    pub(super) premises: Vec<OpId>,
    pub(super) relaxed: Vec<OpId>,
    /// The rank up to which the part was kept.
    pub(super) cut: u32,
    pub(super) minimal: bool,
    pub(super) stopped_by: Option<Limit>,
    pub(super) confirmation: Confirmation,
    pub(super) claim: Claim,
    pub(super) sentence: String,
}

/// What confirmed that the operations of a core contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confirmation {
    /// A check that shares no code with the engine that found the violation.
    IndependentCheck,
    /// The walk over all that was possible from which the core was made, which shares no code with the engine that found the
    /// violation.
    Walk,
    /// Executions of the object itself, run by a test harness.
    Harness(HarnessEvidence),
    /// Nothing: the core was too large for the independent check.
    Unconfirmed,
}

/// What a test harness has run to confirm a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HarnessEvidence {
    /// All serial executions of the test, this many: none explains the results.
    SerialExecutions(usize),
    /// One serial execution, which shows the error by itself.
    OneExecution,
}

impl Core {
    /// A core whose operations a test harness has found to contradict each other by running the object under test. It
    /// counts as minimal: a harness reduces the test, not the history.
    pub fn confirmed_by_harness(
        ops: Vec<OpId>,
        sentence: String,
        evidence: HarnessEvidence,
    ) -> Self {
        let others = ops.split_last().map_or(&[][..], |(_, others)| others);
        Core {
            anchor: None,
            place: None,
            claim: Claim::Contradiction {
                op: ops.last().copied().unwrap_or(OpId(0)),
                others: others.to_vec(),
            },
            ops,
            premises: Vec::new(),
            relaxed: Vec::new(),
            cut: NEVER - 1,
            minimal: true,
            stopped_by: None,
            confirmation: Confirmation::Harness(evidence),
            sentence,
        }
    }

    /// Names the object in the sentence, for histories that have several.
    pub(crate) fn name_object(&mut self, object: &Value) {
        if !object.is_nil() {
            self.sentence = format!("on object {object}, {}", self.sentence);
        }
    }

    /// The operations that contradict each other, in the order of their calls.
    pub fn ops(&self) -> &[OpId] {
        &self.ops
    }

    /// What the core starts from instead of the initial state: a fact about everything before it.
    pub fn anchor(&self) -> Option<&Anchor> {
        self.anchor.as_ref()
    }

    /// The place of the object that the core is about, if it is about one alone.
    pub fn place(&self) -> Option<&Value> {
        self.place.as_ref()
    }

    /// Operations of the core that changed nothing, as their results tell: a failed compare-and-set. With another result
    /// they would explain the contradiction.
    pub fn premises(&self) -> &[OpId] {
        &self.premises
    }

    /// Operations that may still have happened, as if pending, with any result: they do not help either.
    pub fn relaxed(&self) -> &[OpId] {
        &self.relaxed
    }

    /// Whether no further reduction keeps the contradiction; `false` if the budget ended first.
    pub fn is_minimal(&self) -> bool {
        self.minimal
    }

    /// The limit of the check that ended the reduction, if one did. Reductions have a limit of their own besides.
    pub fn stopped_by(&self) -> Option<Limit> {
        self.stopped_by
    }

    /// How far the core is reduced, in words.
    pub fn extent(&self) -> String {
        match self.stopped_by {
            _ if self.minimal => "minimal".to_owned(),
            Some(limit) => format!("not reduced further: {limit}"),
            None => "reduced as far as the time allowed".to_owned(),
        }
    }

    /// What confirmed the core.
    pub fn confirmation(&self) -> Confirmation {
        self.confirmation
    }

    /// Whether code confirmed the core that shares nothing with the engines; `false` if the core was too large for that.
    pub fn is_certified(&self) -> bool {
        matches!(
            self.confirmation,
            Confirmation::IndependentCheck | Confirmation::Walk
        )
    }

    /// What is wrong, as data.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// What is wrong, in one sentence.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Confirmation::IndependentCheck => f.write_str("confirmed by an independent check"),
            Confirmation::Walk => {
                f.write_str("confirmed by following every state that was possible")
            }
            Confirmation::Unconfirmed => f.write_str("too large for an independent check"),
            Confirmation::Harness(HarnessEvidence::OneExecution) => {
                f.write_str("a serial execution of the object shows it")
            }
            Confirmation::Harness(HarnessEvidence::SerialExecutions(1)) => {
                f.write_str("no serial execution of the object explains it (the only one was run)")
            }
            Confirmation::Harness(HarnessEvidence::SerialExecutions(count)) => write!(
                f,
                "no serial execution of the object explains it (all {count} serial executions were run)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_core_of_a_harness_is_not_called_certified() {
        let evidence = HarnessEvidence::SerialExecutions(6);
        let core = Core::confirmed_by_harness(vec![OpId(0)], "it is wrong".to_owned(), evidence);
        assert!(!core.is_certified());
        assert_eq!(core.extent(), "minimal");
        assert_eq!(
            core.confirmation().to_string(),
            "no serial execution of the object explains it (all 6 serial executions were run)"
        );
    }

    #[test]
    fn a_core_that_is_not_minimal_says_why() {
        let evidence = HarnessEvidence::OneExecution;
        let core = Core::confirmed_by_harness(vec![OpId(0)], "it is wrong".to_owned(), evidence);
        let core = Core {
            minimal: false,
            ..core
        };
        assert_eq!(core.extent(), "reduced as far as the time allowed");
        let core = Core {
            stopped_by: Some(Limit::Memory(1 << 30)),
            ..core
        };
        assert_eq!(
            core.extent(),
            "not reduced further: the memory limit of 1.0 GiB came first"
        );
    }
}
