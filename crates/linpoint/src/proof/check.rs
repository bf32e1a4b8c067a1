//! Checks proofs: a page of code that asks the specification.

use super::read::{Line, ProofError, ProofReader};
use super::reduction::{self, Contract, Reduction};
use super::replay::Replay;
use super::sets::{Induction, Stopped, events};
use super::{Claim, Header, PartOp};
use crate::budget::Ticker;
use crate::history::{Erasure, EventKind, NEVER, OpId, Part, TypedHistory, partition};
use crate::spec::{Kind, Role, Spec};

/// The most configurations that are looked at for one return, so that a file cannot take all memory. Proofs are made with
/// fewer.
const MOST_CONFIGURATIONS: usize = 1_000_000;

/// What an accepted proof shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The verdict on the history.
    pub verdict: Proven,
    /// How many parts are shown to be linearizable or not.
    pub parts: usize,
    /// The size of the largest set of configurations.
    pub largest_set: usize,
}

/// A verdict that is shown by a proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proven {
    /// Some order explains every result.
    Linearizable,
    /// No order does.
    NotLinearizable,
    /// None: the file says that no proof was made, and why.
    Nothing(String),
}

impl ProofReader<'_> {
    /// Checks the proof with this header, which was read last, on `history`. The error says why it is refused, or which
    /// limit came first; the proofs that follow in the file cannot be read then.
    ///
    /// The caller compares what the header says of the specification and the order of the history with what the history was
    /// read as.
    pub fn verify<S: Spec>(
        &mut self,
        header: &Header,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
    ) -> Result<Verified, ProofError> {
        let erasure = Erasure::of(spec, history);
        self.verify_erased(header, &erasure.spec(), erasure.history())
    }

    fn verify_erased<S: Spec>(
        &mut self,
        header: &Header,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
    ) -> Result<Verified, ProofError> {
        if header.operations != history.len() {
            let reason = format!(
                "the proof is about {} operations, and the history has {}",
                header.operations,
                history.len()
            );
            return Err(self.refuse(reason).into());
        }
        let parts = partition(spec, history, header.split);
        let mut proven: Vec<Option<Claim>> = vec![None; parts.len()];
        let (mut missing, mut largest_set) = (None, 0);
        for _ in 0..header.parts {
            let line = self.expect_line()?;
            let (number, claim) = self.locate(part_of(&line, &parts, &proven))?;
            let check = PartCheck::new(spec, history, &parts[number]);
            match (line.get("unproven"), claim) {
                (Some(reason), _) => {
                    let reason = reason.as_str().unwrap_or("no reason is given");
                    missing.get_or_insert_with(|| reason.to_owned());
                    continue;
                }
                (None, Claim::Linearizable) if check.has_stuck() => {
                    let reason = "the history ends stuck, and an order does not say why its pending operations wait";
                    return Err(self.refuse(reason).into());
                }
                (None, Claim::Linearizable) => self.verify_order(&line, &check)?,
                (None, Claim::NotLinearizable) => {
                    largest_set = largest_set.max(self.verify_refutation(&line, &check)?);
                }
                (None, Claim::Undecided) => {
                    let reason = "a part is undecided, and \"unproven\" does not say why";
                    return Err(self.refuse(reason).into());
                }
            }
            proven[number] = Some(claim);
        }
        let verdict = if proven.contains(&Some(Claim::NotLinearizable)) {
            Proven::NotLinearizable
        } else if proven
            .iter()
            .all(|claim| *claim == Some(Claim::Linearizable))
        {
            Proven::Linearizable
        } else {
            let not_all = "only some parts of the history are looked at".to_owned();
            Proven::Nothing(missing.unwrap_or(not_all))
        };
        let is_as_claimed = match verdict {
            Proven::Linearizable => header.verdict == Claim::Linearizable,
            Proven::NotLinearizable => header.verdict == Claim::NotLinearizable,
            Proven::Nothing(_) => true,
        };
        if !is_as_claimed {
            let reason = format!(
                "the header says that the history is {}, and the parts show another verdict",
                header.verdict
            );
            return Err(self.refuse(reason).into());
        }
        Ok(Verified {
            verdict,
            parts: proven.iter().flatten().count(),
            largest_set,
        })
    }

    fn verify_order<S: Spec>(
        &mut self,
        line: &Line,
        check: &PartCheck<'_, S>,
    ) -> Result<(), ProofError> {
        let mut left: usize = self.locate(line.number("order"))?;
        let mut replay = Replay::new(check.spec, check.history, &check.ops);
        let budget = self.budget();
        let mut ticker = Ticker::new(&budget);
        let mut last = 0;
        while left > 0 {
            let line = self.expect_line()?;
            let ops = self.locate(line.differences("order", &mut last))?;
            let Some(fewer) = left.checked_sub(ops.len()) else {
                let reason = "the order has more operations than the part says";
                return Err(self.refuse(reason).into());
            };
            left = fewer;
            for op in ops {
                ticker.tick()?;
                self.locate(replay.take(op))?;
            }
        }
        Ok(self.locate(replay.finish())?)
    }

    /// Returns the size of the largest set.
    fn verify_refutation<S: Spec>(
        &mut self,
        line: &Line,
        check: &PartCheck<'_, S>,
    ) -> Result<usize, ProofError> {
        let cut: u32 = self.locate(line.number("cut"))?;
        let keep = self.locate(line.number("keep"))?;
        let relax = self.locate(line.number("relax"))?;
        let mut sets: usize = self.locate(line.number("sets"))?;
        let kept = self.numbers("keep", keep)?;
        let relaxed = self.numbers("relax", relax)?;
        let kept = self.locate(check.kept(cut, &kept, &relaxed))?;
        let reduction = Reduction { cut, kept: &kept };
        self.locate(reduction::check(check, &check.ops, reduction))?;

        let budget = self.budget();
        let most = MOST_CONFIGURATIONS;
        let mut induction = Induction::new(check.spec, check.history, most, &budget);
        let mut next = self.next_set(&mut sets)?;
        for (op, event) in events(&kept) {
            if event == EventKind::Call {
                induction.call(op);
                continue;
            }
            induction.ret(op).map_err(|stopped| match stopped {
                Stopped::Limit(limit) => ProofError::Limit(limit),
                Stopped::TooMany(most) => {
                    let reason = format!(
                        "more than {most} configurations follow when operation {} returns: it is not checked",
                        op.id.0
                    );
                    self.refuse(reason).into()
                }
            })?;
            if let Some((_, line)) = next.take_if(|(listed, _)| *listed == op.id) {
                let replaced = line.list("set").and_then(|set| induction.replace(set));
                self.locate(replaced)?;
                next = self.next_set(&mut sets)?;
            }
            if induction.is_contradiction() {
                break;
            }
        }
        if !induction.is_contradiction() {
            let reason = "the operations that are kept do not contradict each other";
            return Err(self.refuse(reason).into());
        }
        match next {
            Some((op, _)) => {
                let reason = format!(
                    "a set after the return of operation {}, which is out of order or after the contradiction",
                    op.0
                );
                Err(self.refuse(reason).into())
            }
            None => Ok(induction.largest()),
        }
    }

    /// The line of the next set and the operation whose return it comes after, if any of so many is left.
    fn next_set(&mut self, left: &mut usize) -> Result<Option<(OpId, Line)>, ProofError> {
        let Some(fewer) = left.checked_sub(1) else {
            return Ok(None);
        };
        *left = fewer;
        let line = self.expect_line()?;
        let op = self.locate(line.number("return"))?;
        Ok(Some((OpId(op), line)))
    }
}

/// The part that a line is about, and its verdict.
fn part_of(
    line: &Line,
    parts: &[Part],
    proven: &[Option<Claim>],
) -> Result<(usize, Claim), String> {
    let number: usize = line.number("part")?;
    let part = parts.get(number);
    let part = part.ok_or_else(|| format!("the history has no part {number}"))?;
    if proven[number].is_some() {
        return Err(format!("part {number} comes twice"));
    }
    let operations: usize = line.number("operations")?;
    if operations != part.ops.len() {
        return Err(format!(
            "part {number} has {} operations, not {operations}",
            part.ops.len()
        ));
    }
    if line.get("key") != part.key.as_ref().map(|key| key.to_json()).as_ref() {
        return Err(format!("part {number} has another key"));
    }
    Ok((number, line.claim()?))
}

/// The operations of a part and what the specification says of them.
struct PartCheck<'a, S: Spec> {
    spec: &'a S,
    history: &'a TypedHistory<S::Op, S::Ret>,
    ops: Vec<PartOp>,
    /// What the object is, if all operations are on the same key.
    kind: Option<Kind>,
}

impl<'a, S: Spec> PartCheck<'a, S> {
    fn new(spec: &'a S, history: &'a TypedHistory<S::Op, S::Ret>, part: &Part) -> Self {
        let op = |&id: &OpId| PartOp {
            id,
            call: history.calls()[id.index()],
            ret: history.rets()[id.index()],
        };
        let mut keys = part.ops.iter().map(|&id| spec.key(&history.action(id).op));
        let first = keys.next();
        let is_one_key = keys.all(|key| Some(key) == first);
        PartCheck {
            spec,
            history,
            ops: part.ops.iter().map(op).collect(),
            kind: spec.kind().filter(|_| is_one_key),
        }
    }

    /// Whether some operation waits for ever.
    fn has_stuck(&self) -> bool {
        self.history.ends_stuck() && self.ops.iter().any(|op| op.ret == NEVER)
    }

    /// The kept operations with their times; those that are relaxed, or returned after the cut, are pending.
    fn kept(&self, cut: u32, kept: &[OpId], relaxed: &[OpId]) -> Result<Vec<PartOp>, String> {
        let mut relaxed = relaxed.iter().peekable();
        let mut timed = Vec::with_capacity(kept.len());
        for &id in kept {
            let place = self.ops.binary_search_by_key(&id, |op| op.id);
            let Ok(place) = place else {
                return Err(format!("operation {} is not in the part", id.0));
            };
            let op = self.ops[place];
            let is_relaxed = relaxed.next_if(|other| **other == id).is_some();
            let ret = match is_relaxed || op.ret > cut {
                true => NEVER,
                false => op.ret,
            };
            timed.push(PartOp { ret, ..op });
        }
        if !timed.is_sorted_by(|a, b| a.id < b.id) {
            return Err("the operations that are kept are not in the order of their calls".into());
        }
        match relaxed.next() {
            Some(op) => Err(format!(
                "operation {} is relaxed but not kept, or out of order",
                op.0
            )),
            None => Ok(timed),
        }
    }
}

impl<S: Spec> Contract for PartCheck<'_, S> {
    fn kind(&self) -> Option<&Kind> {
        self.kind.as_ref()
    }

    fn role(&self, op: PartOp) -> Role {
        let (operation, ret) = op.action(self.history);
        self.spec.role(operation, ret)
    }

    fn is_pure(&self, op: PartOp) -> bool {
        let (operation, ret) = op.action(self.history);
        self.spec.is_pure(operation, ret)
    }
}
