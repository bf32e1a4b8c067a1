//! Operations with different keys do not affect each other: neither what they answer, nor what state they leave together.

use std::collections::HashSet;

use linpoint::Value;

use super::{INDEPENDENT, Test, call_text};
use crate::model::{ModelError, StateId};

impl Test<'_> {
    pub(super) fn check_independence(&mut self, state: StateId) -> Result<(), ModelError> {
        for a in 0..self.calls.len() {
            for b in 0..self.calls.len() {
                if let (Some(key), Some(other)) = (&self.keys[a], &self.keys[b])
                    && key != other
                {
                    let broken = self.dependence(state, a, b)?;
                    self.check(INDEPENDENT, state, broken)?;
                }
            }
        }
        Ok(())
    }

    /// How `a` affects `b` in a state, if it does.
    fn dependence(
        &mut self,
        state: StateId,
        a: usize,
        b: usize,
    ) -> Result<Option<String>, ModelError> {
        let alone = self.outcomes(state, b)?;
        let answers = |outcomes: &[(Value, StateId)]| -> HashSet<Value> {
            outcomes.iter().map(|(answer, _)| answer.clone()).collect()
        };
        for (_, after) in self.outcomes(state, a)? {
            let then = self.outcomes(after, b)?;
            if answers(&alone) != answers(&then) {
                return Ok(Some(format!(
                    "{} affects {}: {} without it, {} after it",
                    self.with_key(a),
                    self.with_key(b),
                    shown(&alone),
                    shown(&then)
                )));
            }
        }
        if a < b && self.both(state, a, b)? != self.both(state, b, a)? {
            return Ok(Some(format!(
                "{} and {} leave another state in the other order",
                self.with_key(a),
                self.with_key(b),
            )));
        }
        Ok(None)
    }

    /// What `first` and then `second` may answer and leave, in the order of their numbers.
    fn both(
        &mut self,
        state: StateId,
        first: usize,
        second: usize,
    ) -> Result<HashSet<(Value, Value, StateId)>, ModelError> {
        let mut all = HashSet::new();
        for (answer, between) in self.outcomes(state, first)? {
            for (other, after) in self.outcomes(between, second)? {
                let (low, high) = match first < second {
                    true => (answer.clone(), other),
                    false => (other, answer.clone()),
                };
                all.insert((low, high, after));
            }
        }
        Ok(all)
    }

    fn with_key(&self, call: usize) -> String {
        let key = self.keys[call].clone().unwrap_or_default();
        format!("{} (key {key})", call_text(&self.calls[call]))
    }
}

fn shown(outcomes: &[(Value, StateId)]) -> String {
    let mut answers: Vec<String> = outcomes
        .iter()
        .map(|(answer, _)| answer.to_string())
        .collect();
    answers.sort();
    answers.dedup();
    match answers.is_empty() {
        true => "it is blocked".to_owned(),
        false => format!("it answers {}", answers.join(" or ")),
    }
}
