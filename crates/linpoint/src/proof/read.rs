//! Reads the lines of proofs.

use std::fmt;
use std::io::{BufRead, Read};
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::write::{split_name, ties_name};
use super::{Claim, Header, Specification, VERSION};
use crate::budget::{Budget, Limit};
use crate::error::Error;
use crate::history::{OpId, Partitioning, Ties};
use crate::value::Value;

/// The length of a line from which on the memory for it is asked for, in bytes.
const LONG_LINE: usize = 1 << 20;

/// How much memory the JSON values of a line take at most, for each of its bytes.
const PARSED_SIZE: u64 = 40;

/// Reads and checks the proofs of a file, one after the other.
pub struct ProofReader<'a> {
    input: Box<dyn BufRead + 'a>,
    /// The line that was read last.
    line: u64,
    budget: Arc<Budget>,
}

impl fmt::Debug for ProofReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProofReader(line {})", self.line)
    }
}

/// Why a proof was not accepted.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ProofError {
    /// The proof is refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A limit was hit before the proof was checked.
    #[error("{0}")]
    Limit(Limit),
    /// The history is not one of the type that the proof names.
    #[error(transparent)]
    History(#[from] Error),
}

impl From<Limit> for ProofError {
    fn from(limit: Limit) -> Self {
        ProofError::Limit(limit)
    }
}

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct Refusal {
    /// The line of the proof, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// A line, which is a JSON object.
pub(super) struct Line(Map<String, Json>);

impl Line {
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    pub(super) fn number<N: TryFrom<u64>>(&self, name: &str) -> Result<N, String> {
        let number = self.get(name).and_then(Json::as_u64);
        let number = number.and_then(|number| number.try_into().ok());
        number.ok_or_else(|| format!("{name:?} must be a number"))
    }

    pub(super) fn text(&self, name: &str) -> Result<&str, String> {
        let text = self.get(name).and_then(Json::as_str);
        text.ok_or_else(|| format!("{name:?} must be text"))
    }

    pub(super) fn list(&self, name: &str) -> Result<&[Json], String> {
        let list = self.get(name).and_then(Json::as_array);
        let list = list.ok_or_else(|| format!("here must be a line with a list {name:?}"))?;
        Ok(list)
    }

    pub(super) fn claim(&self) -> Result<Claim, String> {
        let name = self.text("verdict")?;
        let known = Claim::ALL.into_iter().find(|claim| claim.name() == name);
        known.ok_or_else(|| format!("{name:?} is no verdict"))
    }

    fn header(&self) -> Result<Header, String> {
        match self.number::<u64>("linpoint-proof") {
            Ok(VERSION) => {}
            Ok(other) => return Err(format!("version {other} of proofs is not known")),
            Err(_) => {
                return Err(
                    "here must be the header of a proof, a file that `check --proof` writes".into(),
                );
            }
        }
        let ties = match self.get("ties") {
            None | Some(Json::Null) => None,
            Some(name) => {
                let known = [Ties::CallFirst, Ties::ReturnFirst].into_iter();
                let mut known = known.filter(|ties| name.as_str() == Some(ties_name(*ties)));
                Some(known.next().ok_or("\"ties\" is not known")?)
            }
        };
        let split = [Partitioning::ByKey, Partitioning::ByObject].into_iter();
        let name = self.text("split")?;
        let split = split.into_iter().find(|split| split_name(*split) == name);
        let specification = match self.get("specification") {
            Some(_) => Specification::Own(self.text("specification")?.to_owned()),
            None => {
                let params = self.get("params").and_then(Json::as_object);
                let params = params.ok_or("\"params\" must be an object")?.iter();
                Specification::Type {
                    name: self.text("type")?.to_owned(),
                    params: params
                        .map(|(name, value)| (name.clone(), Value::from(value.clone())))
                        .collect(),
                }
            }
        };
        Ok(Header {
            history: self.text("history")?.to_owned(),
            specification,
            ties,
            operations: self.number("operations")?,
            split: split.ok_or("\"split\" is \"keys\" or \"objects\"")?,
            parts: self.number("parts")?,
            verdict: self.claim()?,
        })
    }
}

impl<'a> ProofReader<'a> {
    /// Reads proofs from `input`, which is not compressed.
    pub fn new(input: impl BufRead + 'a) -> Self {
        ProofReader {
            input: Box::new(input),
            line: 0,
            budget: Arc::default(),
        }
    }

    /// From here on, reading and checking end when `budget` does.
    pub fn limit_to(&mut self, budget: Budget) {
        self.budget = Arc::new(budget);
    }

    pub(super) fn budget(&self) -> Arc<Budget> {
        Arc::clone(&self.budget)
    }

    /// The header of the next proof; `None` if there is none.
    pub fn next_header(&mut self) -> Result<Option<Header>, ProofError> {
        let Some(line) = self.next_line()? else {
            return Ok(None);
        };
        Ok(Some(self.locate(line.header())?))
    }

    /// Adds the line to a reason.
    pub(super) fn locate<T>(&self, outcome: Result<T, String>) -> Result<T, Refusal> {
        outcome.map_err(|reason| self.refuse(reason))
    }

    /// A refusal at the line that was read last.
    pub fn refuse(&self, reason: impl Into<String>) -> Refusal {
        Refusal {
            line: self.line,
            reason: reason.into(),
        }
    }

    /// The next line; an error if there is none.
    pub(super) fn expect_line(&mut self) -> Result<Line, ProofError> {
        let line = self.next_line()?;
        Ok(line.ok_or_else(|| self.refuse("the proof ends too early"))?)
    }

    fn next_line(&mut self) -> Result<Option<Line>, ProofError> {
        self.line += 1;
        let text = self.next_text()?;
        if text.is_empty() {
            return Ok(None);
        }
        self.budget.check()?;
        if text.len() >= LONG_LINE {
            self.budget.reserve(PARSED_SIZE * text.len() as u64)?;
        }
        match serde_json::from_slice(&text) {
            Ok(Json::Object(fields)) => Ok(Some(Line(fields))),
            Ok(_) => Err(self.refuse("it is no JSON object").into()),
            Err(error) => Err(self.refuse(format!("it is no JSON: {error}")).into()),
        }
    }

    /// The bytes of the next line; none at the end. A line may be as long as the file, so the limits are looked at
    /// while it is read.
    fn next_text(&mut self) -> Result<Vec<u8>, ProofError> {
        let mut text = Vec::new();
        loop {
            let mut some = (&mut self.input).take(LONG_LINE as u64);
            match some.read_until(b'\n', &mut text) {
                Ok(0) => return Ok(text),
                Ok(_) if text.ends_with(b"\n") => return Ok(text),
                Ok(_) => self.budget.reserve(text.len() as u64)?,
                Err(error) => {
                    return Err(self.refuse(format!("it cannot be read: {error}")).into());
                }
            }
        }
    }

    /// The numbers of `count` operations, from lines with a list of this name.
    pub(super) fn numbers(&mut self, name: &str, count: usize) -> Result<Vec<OpId>, ProofError> {
        let mut numbers = Vec::new();
        let mut last = 0;
        while numbers.len() < count {
            let line = self.expect_line()?;
            numbers.extend(self.locate(line.differences(name, &mut last))?);
        }
        match numbers.len() > count {
            true => {
                let reason = format!("{name:?} has more than {count} operations");
                Err(self.refuse(reason).into())
            }
            false => Ok(numbers),
        }
    }
}

impl Line {
    /// The operations of a list of differences; `last` is the number before.
    pub(super) fn differences(&self, name: &str, last: &mut i64) -> Result<Vec<OpId>, String> {
        let list = self.list(name)?;
        if list.is_empty() {
            return Err(format!("{name:?} is empty"));
        }
        let mut next = |difference: &Json| {
            *last = last.checked_add(difference.as_i64()?)?;
            Some(OpId(u32::try_from(*last).ok()?))
        };
        let numbers: Option<Vec<OpId>> = list.iter().map(&mut next).collect();
        numbers.ok_or_else(|| format!("{name:?} lists something that is no operation"))
    }
}
