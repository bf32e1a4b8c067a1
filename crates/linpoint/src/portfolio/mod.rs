//! The public entry: one check, the right engine behind it.

use std::time::Duration;

use crate::error::Error;
use crate::history::{History, Partitioning, TypedHistory};
use crate::spec::{Object, Sampler, Spec};
use crate::value::Value;
use crate::verdict::Report;

/// How a check is done.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Stop after this long.
    pub timeout: Option<Duration>,
    /// Use at most this many bytes of memory.
    pub memory: Option<u64>,
    /// Threads; `None` for all cores.
    pub threads: Option<usize>,
    /// How finely the history is split.
    pub partitioning: Partitioning,
}

/// A built-in type without its Rust type: what the command line works with.
pub trait AnyObject: Send + Sync {
    /// Checks a recorded history.
    fn check(&self, history: &History, config: &Config) -> Result<Report, Error>;

    /// Whether the history can be read as one of this type.
    fn validate(&self, history: &History) -> Result<(), Error>;

    /// Starts a simulated object of this type.
    fn simulate(&self) -> Box<dyn Simulation + '_>;
}

/// A simulated object, for generating histories.
pub trait Simulation {
    /// A call that a random client might make now: method and argument.
    fn sample(&self, process: u32, sampler: &mut Sampler) -> (&'static str, Value);

    /// Lets a call take effect now; `None` if it is blocked.
    fn apply(
        &mut self,
        process: &Value,
        method: &str,
        argument: &Value,
        sampler: &mut Sampler,
    ) -> Option<Value>;
}

impl<S: Object> AnyObject for S {
    fn check(&self, history: &History, config: &Config) -> Result<Report, Error> {
        let _ = (TypedHistory::decode(self, history)?, config);
        Err(Error::usage("not yet"))
    }

    fn validate(&self, history: &History) -> Result<(), Error> {
        TypedHistory::decode(self, history).map(|_| ())
    }

    fn simulate(&self) -> Box<dyn Simulation + '_> {
        Box::new(Simulated {
            object: self,
            state: self.init(),
        })
    }
}

struct Simulated<'a, S: Spec> {
    object: &'a S,
    state: S::State,
}

impl<S: Object> Simulation for Simulated<'_, S> {
    fn sample(&self, process: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        self.object.sample(&self.state, process, sampler)
    }

    fn apply(
        &mut self,
        process: &Value,
        method: &str,
        argument: &Value,
        sampler: &mut Sampler,
    ) -> Option<Value> {
        use crate::spec::{CallView, Outcomes};
        let op = self
            .object
            .decode(CallView {
                process,
                method,
                argument,
            })
            .expect("bug: a sampled call is malformed");
        let (ret, next) = match self.object.apply(&self.state, &op) {
            Outcomes::Blocked => return None,
            Outcomes::One(ret, next) => (ret, next),
            Outcomes::Many(all) if all.is_empty() => return None,
            Outcomes::Many(all) => sampler.pick(&all),
        };
        self.state = next;
        Some(ret)
    }
}
