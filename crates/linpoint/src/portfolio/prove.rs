//! Makes proofs of reports.

use std::collections::HashMap;

use super::Checker;
use crate::engine::{Budget, Task};
use crate::error::Error;
use crate::history::{Erasure, NEVER, OpId, Part, Partitioning, Ties, TypedHistory, partition};
use crate::proof::{Claim, Evidence, Header, PartProof, Proof, Specification};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{Report, Unproven, Verdict, refute};

impl Checker {
    /// A proof of the verdict of `report`, which this checker gave on `history`, within the limits of the configuration.
    /// `name` is the name of the specification, for readers.
    ///
    /// A part whose proof would exceed a limit is listed [without one](Proof::missing). The error is a failed certificate.
    pub fn prove<S: Spec>(
        &self,
        name: &str,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        report: &Report,
    ) -> Result<Proof, Error> {
        let subject = Subject {
            history: "",
            specification: Specification::Own(name.to_owned()),
            ties: None,
        };
        subject.prove(spec, history, report, &self.budget())
    }
}

/// What a proof is about, as its header says it.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) history: &'a str,
    pub(crate) specification: Specification,
    pub(crate) ties: Option<Ties>,
}

impl Subject<'_> {
    /// A proof of the verdict of `report`.
    pub(crate) fn prove<S: Spec>(
        self,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        report: &Report,
        budget: &Budget,
    ) -> Result<Proof, Error> {
        let erasure = Erasure::of(spec, history);
        let prover = Prover {
            spec: &erasure.spec(),
            history: erasure.history(),
            report,
            budget,
        };
        let (split, parts) = match &report.verdict {
            Verdict::Linearizable(witness) => (Partitioning::ByKey, prover.orders(&witness.order)),
            Verdict::Violation(_) | Verdict::Undecided(_) => (report.partitioning, prover.parts()?),
        };
        let header = Header {
            history: self.history.to_owned(),
            specification: self.specification,
            ties: self.ties,
            operations: history.len(),
            split,
            parts: parts.len(),
            verdict: claim(&report.verdict),
        };
        Ok(Proof { header, parts })
    }
}

/// Why a verdict on operations that wait for ever has no proof.
const ABOUT_WAITING: &str =
    "the history ends stuck, and proofs do not say why operations wait for ever";

struct Prover<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    report: &'a Report,
    budget: &'a Budget,
}

impl<S: Spec> Prover<'_, S> {
    /// The order of a linearizable history, by parts. Keys are split even where the check did not, because small states are
    /// checked faster.
    fn orders(&self, order: &[OpId]) -> Vec<PartProof> {
        let names = self.report.parts.iter();
        let names: HashMap<u32, &Value> = names
            .map(|part| (part.object_number, &part.object))
            .collect();
        let parts = partition(self.spec, self.history, Partitioning::ByKey);
        let mut part_of = vec![0; self.history.len()];
        for (number, part) in parts.iter().enumerate() {
            part.ops.iter().for_each(|op| part_of[op.index()] = number);
        }
        let mut orders = vec![Vec::new(); parts.len()];
        order
            .iter()
            .for_each(|op| orders[part_of[op.index()]].push(*op));
        let part = |(number, (part, order)): (usize, (Part, Vec<OpId>))| {
            let evidence = self.order(&part, order);
            PartProof {
                number,
                object: names
                    .get(&part.object)
                    .copied()
                    .cloned()
                    .unwrap_or_default(),
                key: part.key,
                operations: part.ops.len(),
                evidence,
            }
        };
        parts
            .into_iter()
            .zip(orders)
            .enumerate()
            .map(part)
            .collect()
    }

    /// The parts of a report that has a part which is not linearizable, or undecided.
    fn parts(&self) -> Result<Vec<PartProof>, Error> {
        let parts = partition(self.spec, self.history, self.report.partitioning);
        let numbered = parts.iter().enumerate();
        let numbers: HashMap<_, usize> = numbered
            .map(|(number, part)| ((part.object, part.key.as_ref()), number))
            .collect();
        let mut proofs = Vec::new();
        for report in &self.report.parts {
            let number = numbers.get(&(report.object_number, report.key.as_ref()));
            let Some(&number) = number else {
                return Err(Error::bug(
                    "a report is about a part that the history has not",
                ));
            };
            proofs.push(PartProof {
                number,
                object: report.object.clone(),
                key: report.key.clone(),
                operations: parts[number].ops.len(),
                evidence: self.evidence(&parts[number], &report.verdict)?,
            });
        }
        Ok(proofs)
    }

    /// The order of a linearizable part, unless the check made none.
    fn order(&self, part: &Part, order: Vec<OpId>) -> Evidence {
        let is_pending = |op: &&OpId| self.history.rets()[op.index()] == NEVER;
        if self.history.ends_stuck() && part.ops.iter().any(|op| is_pending(&op)) {
            return Evidence::Missing {
                claim: Claim::Linearizable,
                reason: ABOUT_WAITING.to_owned(),
            };
        }
        let returned = part.ops.iter().filter(|op| !is_pending(op));
        match order.len() < returned.count() {
            true => Evidence::Missing {
                claim: Claim::Linearizable,
                reason: "the check made no witness".to_owned(),
            },
            false => Evidence::Order(order),
        }
    }

    fn evidence(&self, part: &Part, verdict: &Verdict) -> Result<Evidence, Error> {
        let missing = |reason: String| Evidence::Missing {
            claim: claim(verdict),
            reason,
        };
        Ok(match verdict {
            Verdict::Linearizable(witness) => self.order(part, witness.order.clone()),
            Verdict::Undecided(undecided) => missing(undecided.to_string()),
            Verdict::Violation(violation) if violation.blocked.is_some() => {
                missing(ABOUT_WAITING.to_owned())
            }
            Verdict::Violation(violation) => {
                let task = Task::new(self.spec, self.history, &part.ops);
                match refute(&task, violation, self.budget) {
                    Ok(refutation) => Evidence::Refutation(refutation),
                    Err(Unproven::Limit(reason)) => missing(reason),
                    Err(Unproven::Bug(error)) => return Err(error),
                }
            }
        })
    }
}

fn claim(verdict: &Verdict) -> Claim {
    match verdict {
        Verdict::Linearizable(_) => Claim::Linearizable,
        Verdict::Violation(_) => Claim::NotLinearizable,
        Verdict::Undecided(_) => Claim::Undecided,
    }
}
