//! Simulated objects, for generating histories.

use super::ObjectType;
use crate::spec::{CallView, Pattern, Sampler, Simulated, Spec};
use crate::value::Value;

/// A simulated object with its random clients.
pub trait Simulation<'a> {
    /// Returns a call that a random client makes now: method and argument.
    fn sample(&self, process: u32, sampler: &mut Sampler) -> (&'a str, Value);

    /// Whether calls of this method put something in: insertions and writes.
    fn produces(&self, method: &str) -> bool;

    /// Lets a call take effect now and returns its result; `None` if it is blocked.
    fn apply(
        &mut self,
        process: &Value,
        method: &str,
        argument: &Value,
        sampler: &mut Sampler,
    ) -> Option<Value>;
}

pub(super) trait Simulate {
    fn simulate(&self) -> Box<dyn Simulation<'_> + '_>;
}

impl<S: Simulated> Simulate for S {
    fn simulate(&self) -> Box<dyn Simulation<'_> + '_> {
        Box::new(Running {
            object: self,
            state: self.init(),
        })
    }
}

impl ObjectType {
    /// Starts a simulated object of this type.
    pub fn simulate(&self) -> Box<dyn Simulation<'_> + '_> {
        self.0.simulate()
    }
}

struct Running<'a, S: Spec> {
    object: &'a S,
    state: S::State,
}

impl<'a, S: Simulated> Simulation<'a> for Running<'a, S> {
    fn sample(&self, process: u32, sampler: &mut Sampler) -> (&'a str, Value) {
        self.object.sample(&self.state, process, sampler)
    }

    fn produces(&self, method: &str) -> bool {
        matches!(
            self.object.pattern(method),
            Some(Pattern::Adds | Pattern::Writes | Pattern::Inserts)
        )
    }

    fn apply(
        &mut self,
        process: &Value,
        method: &str,
        argument: &Value,
        sampler: &mut Sampler,
    ) -> Option<Value> {
        let call = CallView {
            process,
            method,
            argument,
            hint: None,
        };
        match self.object.decode(call) {
            Ok(op) => self.object.perform(&mut self.state, &op, sampler),
            Err(_) if self.object.failure().is_some() => None,
            Err(error) => panic!("bug: a sampled call is malformed: {error:?}"),
        }
    }
}
