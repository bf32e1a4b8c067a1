//! Specifications that can read recorded histories: methods and values in, typed operations out.

use std::collections::BTreeMap;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Outcomes, Spec};
use crate::value::Value;

/// Parameters of a type: `capacity`, `initial`, ...
pub type Params = BTreeMap<String, Value>;

/// What there is to know about a method.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// How it is called: `cas([from, to])`.
    pub call: &'static str,
    /// What it answers.
    pub answers: &'static str,
}

/// A call as it stands in a recorded history.
#[derive(Clone, Copy, Debug)]
pub struct CallView<'a> {
    /// The process that called.
    pub process: &'a Value,
    /// The method's name.
    pub method: &'a str,
    /// The argument, a list of several, or [`Value::Nil`].
    pub argument: &'a Value,
}

/// A specification of an object whose histories stand in files.
///
/// Errors are reasons in words ("enqueue takes a value"); the caller adds file and line.
pub trait Object: Spec<Ret = Value> {
    /// Whether what a call does depends on the process that makes it.
    const DEPENDS_ON_PROCESS: bool = false;

    /// The typed operation of a recorded call.
    fn decode(&self, call: CallView<'_>) -> Result<Self::Op, String>;

    /// The result of `op` in the form that [`apply`](Spec::apply) answers, or why it cannot be one.
    fn decode_result(&self, op: &Self::Op, result: &Value) -> Result<Value, String>;

    /// How the roles of all calls of a method can be read off the columns of a history, if they can.
    ///
    /// Calls and results that fit the pattern must be well-formed, and their [roles](Spec::role) as it says. Makes large
    /// histories much faster to decide.
    fn pattern(&self, method: &str) -> Option<Pattern> {
        let _ = method;
        None
    }

    /// Lets a simulated object do `op`: its answer, or `None` if it is blocked. Any of several outcomes will do.
    ///
    /// Override it where [`apply`](Spec::apply) copies much for little.
    fn perform(
        &self,
        state: &mut Self::State,
        op: &Self::Op,
        sampler: &mut Sampler,
    ) -> Option<Value> {
        let (answer, next) = match self.apply(state, op) {
            Outcomes::Blocked => return None,
            Outcomes::One(answer, next) => (answer, next),
            Outcomes::Many(all) if all.is_empty() => return None,
            Outcomes::Many(all) => sampler.pick(&all),
        };
        *state = next;
        Some(answer)
    }

    /// A call that a random client `process` might make when the object is in `state`: method and argument.
    fn sample(
        &self,
        state: &Self::State,
        process: u32,
        sampler: &mut Sampler,
    ) -> (&'static str, Value);
}

/// What all calls of a method have in common. Where it speaks of no argument, nil is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// Adds its argument, which is not nil, to a container, and answers nil, true, or the argument.
    Adds,
    /// Takes its result out of a container, without an argument; nil if there is none.
    Removes,
    /// Sees its result as the next to be served, without an argument; nil if there is none.
    Peeks,
    /// Puts its argument into a slot, and answers nil, true, or the argument.
    Writes,
    /// Answers what a slot holds, without an argument.
    Reads,
    /// Puts its argument, which is not nil, into a set, and answers true or false: whether it is new.
    Inserts,
    /// Takes its argument, which is not nil, out of a set, and answers true or false: whether it was there.
    Deletes,
    /// Answers true or false: whether its argument, which is not nil, is in a set.
    Contains,
}

/// Randomness and fresh values for [`Object::sample`].
#[derive(Debug)]
pub struct Sampler {
    rng: ChaCha8Rng,
    fresh: i64,
    universe: Option<i64>,
}

impl Sampler {
    /// A sampler with this seed. Values are all distinct, or drawn from `0..universe`.
    pub fn new(seed: u64, universe: Option<i64>) -> Self {
        Sampler {
            rng: ChaCha8Rng::seed_from_u64(seed),
            fresh: 0,
            universe,
        }
    }

    /// The next value to write or insert.
    pub fn value(&mut self) -> Value {
        if let Some(universe) = self.universe {
            return Value::Int(self.rng.random_range(0..universe.max(1)));
        }
        self.fresh += 1;
        Value::Int(self.fresh)
    }

    /// A value that was handed out before, or may be later.
    pub fn guess(&mut self) -> Value {
        let recent = self.fresh.min(8);
        match self.universe {
            Some(universe) => Value::Int(self.rng.random_range(0..universe.max(1))),
            None => Value::Int(self.fresh - self.rng.random_range(0..=recent)),
        }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.rng.random_range(0..bound)
    }

    /// True with the given probability in percent.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.rng.random_range(0..100) < percent
    }

    /// One of `choices`.
    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    /// The generator itself.
    pub fn rng(&mut self) -> &mut impl Rng {
        &mut self.rng
    }
}

/// Whether the single value that some formats record for a call of `method` is its result, not its argument.
pub fn value_is_result(method: &str) -> bool {
    const OBSERVERS: &[&str] = &[
        "read",
        "get",
        "scan",
        "size",
        "peek",
        "top",
        "peek_front",
        "peek_back",
        "peekFirst",
        "peekLast",
        "deq",
        "dequeue",
        "pop",
        "poll",
        "take",
        "extract",
        "extract_max",
        "extract_min",
        "pop_front",
        "pop_back",
        "pollFirst",
        "pollLast",
        "get_and_inc",
        "inc_and_get",
    ];
    OBSERVERS.contains(&method)
}
