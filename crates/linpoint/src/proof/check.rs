//! Checks proofs: a page of code that asks the specification.

use serde_json::Value as Json;

use super::read::{Line, ProofReader, Refusal};
use super::reduction::{self, Contract, Reduction};
use super::replay::Replay;
use super::sets::Induction;
use super::{Claim, Header, PartOp};
use crate::history::{EventKind, NEVER, OpId, Part, TypedHistory, events_in_order, partition};
use crate::spec::{Kind, Role, Spec};

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
    /// Checks the proof with this header, which was read last, on `history`. The error says why it is refused.
    ///
    /// The caller compares what the header says of the specification and the order of the history with what the history was
    /// read as.
    pub fn verify<S: Spec>(
        &mut self,
        header: &Header,
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
    ) -> Result<Verified, Refusal> {
        if header.operations != history.len() {
            return Err(self.refuse(format!(
                "the proof is about {} operations, and the history has {}",
                header.operations,
                history.len()
            )));
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
                (None, Claim::Linearizable) => self.verify_order(&line, &check)?,
                (None, Claim::NotLinearizable) => {
                    largest_set = largest_set.max(self.verify_refutation(&line, &check)?);
                }
                (None, Claim::Undecided) => {
                    return Err(
                        self.refuse("a part is undecided, and \"unproven\" does not say why")
                    );
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
            return Err(self.refuse(format!(
                "the header says that the history is {}, and the parts show another verdict",
                header.verdict
            )));
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
    ) -> Result<(), Refusal> {
        let mut left: usize = self.locate(line.number("order"))?;
        let mut replay = Replay::new(check.spec, check.history, &check.ops);
        let mut last = 0;
        while left > 0 {
            let line = self.expect_line()?;
            let ops = self.locate(line.differences("order", &mut last))?;
            let Some(fewer) = left.checked_sub(ops.len()) else {
                return Err(self.refuse("the order has more operations than the part says"));
            };
            left = fewer;
            let replayed = ops.into_iter().try_for_each(|op| replay.take(op));
            self.locate(replayed)?;
        }
        self.locate(replay.finish())
    }

    /// Returns the size of the largest set.
    fn verify_refutation<S: Spec>(
        &mut self,
        line: &Line,
        check: &PartCheck<'_, S>,
    ) -> Result<usize, Refusal> {
        let cut: u32 = self.locate(line.number("cut"))?;
        let keep = self.locate(line.number("keep"))?;
        let relax = self.locate(line.number("relax"))?;
        let kept = self.numbers("keep", keep)?;
        let relaxed = self.numbers("relax", relax)?;
        let kept = self.locate(check.kept(cut, &kept, &relaxed))?;
        let reduction = Reduction { cut, kept: &kept };
        self.locate(reduction::check(check, &check.ops, reduction))?;

        let calls: Vec<u32> = kept.iter().map(|op| op.call).collect();
        let rets: Vec<u32> = kept.iter().map(|op| op.ret).collect();
        let mut induction = Induction::new(check.spec, check.history);
        for (position, event) in events_in_order(&calls, &rets) {
            let op = kept[position as usize];
            if event == EventKind::Call {
                induction.call(op);
                continue;
            }
            let line = self.expect_line()?;
            let added = self.locate(set_after(&line, op.id))?;
            self.locate(induction.ret(op, added))?;
            if induction.is_contradiction() {
                return Ok(induction.largest());
            }
        }
        Err(self.refuse("the operations that are kept do not contradict each other"))
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

/// The configurations that are added after the return of `op`.
fn set_after(line: &Line, op: OpId) -> Result<&[Json], String> {
    match line.number::<u32>("return") {
        Ok(number) if number == op.0 => line.list("add"),
        _ => Err(format!(
            "here must be the set after operation {} returned",
            op.0
        )),
    }
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
