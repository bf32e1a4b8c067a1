//! The result of a command for one history.

use std::time::Duration;

use linpoint::condition::{Decision, Diagnosis};
use linpoint::engine::hitting::{Listing, Measured};
use linpoint::format::{Note, RecordedHistory};
use linpoint::history::NEVER;
use linpoint::object::{ObjectType, PartDepths};
use linpoint::proof::{Claim, Proof, Specification};
use linpoint::{Error, Report, Value, Verdict};

use crate::exit::Exit;

/// A decided history, or why it could not be decided at all.
pub type Outcome = Result<Checked, Error>;

/// A history with its verdict.
#[derive(Debug)]
pub struct Checked {
    /// The history.
    pub recorded: RecordedHistory,
    /// The type of the object, or what specifies it.
    pub type_name: String,
    /// What the verdict rests on that may not be meant, and what else may be the reason of a violation.
    pub(crate) advice: Vec<String>,
    /// What was left of its time when it was decided and explained.
    pub(crate) time_left: Duration,
    pub(crate) object: ObjectType,
    /// What a proof says about the object.
    pub(crate) specification: Specification,
    /// The verdict.
    pub report: Report,
    /// What still holds of a history that is not linearizable, where that was looked for.
    pub(crate) diagnosis: Option<Diagnosis>,
    /// The proof of the verdict, where one was asked for.
    pub proof: Option<Proof>,
    /// How long it took to decide it.
    pub time: Duration,
}

impl Checked {
    /// The least d that shows all parts, where hitting families decided them.
    pub(crate) fn shown_by(&self) -> Option<usize> {
        match &self.report.verdict {
            Verdict::Linearizable(witness) => witness.shown_by,
            _ => None,
        }
    }

    /// Notes beside the verdict: how the history was read, and whether anything in it was checked.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.recorded.notes.iter().map(|note| match note {
            Note::IndependentKeys => format!("{note}; --no-independent reads plain values"),
            note => note.to_string(),
        });
        let history = &self.recorded.history;
        let unchecked = if history.is_empty() {
            Some("it holds no operations: nothing was checked".to_owned())
        } else if history.rets().iter().all(|&ret| ret == NEVER) && !history.ends_stuck() {
            Some("none of its operations returned: nothing was checked".to_owned())
        } else {
            None
        };
        let notes = notes.chain(unchecked).chain(self.advice.clone());
        notes.chain(self.unproven()).collect()
    }

    /// What has to be known about verdicts whose proof was asked for and not made. An undecided part needs none.
    fn unproven(&self) -> impl Iterator<Item = String> {
        let missing = self.proof.iter().flat_map(Proof::missing);
        missing.filter_map(|(part, claim, reason)| {
            let of = match (&part.object, &part.key) {
                (Value::Nil, None) => String::new(),
                (Value::Nil, Some(key)) => format!(" of key {key}"),
                (object, None) => format!(" of object {object}"),
                (object, Some(key)) => format!(" of key {key} of object {object}"),
            };
            (claim != Claim::Undecided).then(|| format!("no proof{of} was made: {reason}"))
        })
    }

    /// Whether the verdict is what the history is labelled with; `None` where one of them is missing.
    pub(crate) fn as_labelled(&self) -> Option<bool> {
        let found = match self.report.verdict {
            Verdict::Linearizable(_) => true,
            Verdict::Violation(_) => false,
            Verdict::Undecided(_) => return None,
        };
        self.recorded.expected.map(|expected| expected == found)
    }
}

/// A history with what was decided about conditions.
#[derive(Debug)]
pub struct Decided {
    pub(crate) recorded: RecordedHistory,
    pub(crate) type_name: String,
    /// A decision about each condition that was asked about.
    pub decisions: Vec<Decision>,
}

impl Decided {
    pub(crate) fn exit(&self) -> Exit {
        let exits = self
            .decisions
            .iter()
            .map(|decision| match decision.holds() {
                Some(true) => Exit::Linearizable,
                Some(false) => Exit::Violation,
                None => Exit::Undecided,
            });
        exits.max().unwrap_or_default()
    }
}

/// A history with its depths.
pub(crate) struct Measurement {
    pub(crate) recorded: RecordedHistory,
    pub(crate) type_name: String,
    pub(crate) parts: Vec<PartDepths>,
    /// The schedules of a family for each part; none if they were not asked for.
    pub(crate) families: Vec<Listing>,
}

impl Measurement {
    pub(crate) fn exit(&self) -> Exit {
        let exit = |part: &PartDepths| match &part.depths.depth {
            Measured::Is(_) => Exit::Linearizable,
            Measured::Never => Exit::Violation,
            Measured::Above(_) | Measured::Unknown(_) => Exit::Undecided,
        };
        let unlisted = self.families.iter().any(|family| family.stopped.is_some());
        let listed = if unlisted {
            Exit::Undecided
        } else {
            Exit::default()
        };
        self.parts
            .iter()
            .map(exit)
            .max()
            .unwrap_or_default()
            .max(listed)
    }
}
