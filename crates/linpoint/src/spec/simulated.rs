//! Specifications of simulated objects: random clients, and an object that answers them.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Outcomes, Recorded};
use crate::value::Value;

/// A specification whose histories can be generated: it also describes random clients.
pub trait Simulated: Recorded {
    /// Lets a simulated object in `state` take `op`. Returns its answer, one of the possible ones if there are several, or
    /// `None` if the operation is blocked.
    ///
    /// Override it where [`apply`](crate::Spec::apply) copies a large state to change little of it.
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

    /// Returns a call that a random client `process` makes when the object is in `state`: method and argument.
    fn sample(&self, state: &Self::State, process: u32, sampler: &mut Sampler) -> (&str, Value);
}

/// Randomness and fresh values for [`Simulated::sample`].
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

    /// A value that [`value`](Self::value) returned before, or may return later.
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
