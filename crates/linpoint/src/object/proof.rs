//! Proofs of verdicts on recorded histories.

use super::ObjectType;
use crate::engine::Budget;
use crate::error::Error;
use crate::history::{History, Ties, TypedHistory};
use crate::portfolio::Subject;
use crate::proof::{Header, Proof, ProofError, ProofReader, Specification, Verified};
use crate::spec::{Recorded, unless_failed};
use crate::verdict::Report;

pub(super) trait Proofs {
    fn prove(
        &self,
        subject: Subject<'_>,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<Proof, Error>;

    fn verify_proof(
        &self,
        reader: &mut ProofReader<'_>,
        header: &Header,
        history: &History,
    ) -> Result<Verified, ProofError>;
}

impl<S: Recorded> Proofs for S {
    fn prove(
        &self,
        subject: Subject<'_>,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<Proof, Error> {
        let typed = TypedHistory::decode_within(self, history, &budget.of_memory())?;
        unless_failed(self, subject.prove(self, &typed, report, budget))
    }

    fn verify_proof(
        &self,
        reader: &mut ProofReader<'_>,
        header: &Header,
        history: &History,
    ) -> Result<Verified, ProofError> {
        let typed = TypedHistory::decode(self, history)?;
        let verified = reader.verify(header, self, &typed);
        match self.failure() {
            Some(reason) => Err(Error::specification(reason).into()),
            None => verified,
        }
    }
}

impl ObjectType {
    /// A proof of the verdict of `report` on `history`, within `budget`. `name` is the name of the history, for readers.
    ///
    /// A part whose proof would exceed a limit is listed [without one](Proof::missing).
    pub fn prove(
        &self,
        name: &str,
        specification: Specification,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<Proof, Error> {
        let subject = Subject {
            history: name,
            specification,
            ties: history.ties(),
        };
        self.0.prove(subject, history, report, budget)
    }

    /// Checks the proof with this header, which `reader` read last, on `history`.
    ///
    /// The caller makes sure that this is the type that the header names.
    pub fn verify_proof(
        &self,
        reader: &mut ProofReader<'_>,
        header: &Header,
        history: &History,
    ) -> Result<Verified, ProofError> {
        if header.ties != history.ties() {
            let first = match header.ties {
                Some(Ties::CallFirst) => "puts calls first",
                Some(Ties::ReturnFirst) => "puts returns first",
                None => "knows no times",
            };
            let reason =
                format!("the proof {first} at equal times, and the history was read otherwise");
            return Err(reader.refuse(reason).into());
        }
        self.0.verify_proof(reader, header, history)
    }
}
