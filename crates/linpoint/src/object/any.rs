//! Built-in types without their Rust types: what the command line works with.

use crate::engine::hitting::{Base, Depths, Evaluation, Extent, Family, Poset};
use crate::engine::{Budget, Task};
use crate::error::Error;
use crate::history::{History, OpId, Part, Partitioning, TypedHistory, partition};
use crate::portfolio::{Checker, measure_depths};
use crate::report::{Story, Told, tell_recorded};
use crate::spec::{CallView, Kind, Object, Pattern, Role, Sampler, Spec};
use crate::value::Value;
use crate::verdict::Report;

/// A type of object whose histories stand in files.
pub trait AnyObject: Send + Sync {
    /// Checks a recorded history within `budget`, which carries progress and can be cancelled.
    fn check(&self, history: &History, checker: &Checker, budget: &Budget)
    -> Result<Report, Error>;

    /// Whether the history can be read as one of this type.
    fn validate(&self, history: &History) -> Result<(), Error>;

    /// Starts a simulated object of this type.
    fn simulate(&self) -> Box<dyn Simulation + '_>;

    /// The depths of the operations of each object of a history, none measured beyond `most`.
    fn depths(
        &self,
        history: &History,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<PartDepths>, Error>;

    /// What a hitting family makes of a history of one object.
    fn evaluate(
        &self,
        history: &History,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error>;

    /// Which well-known object this is, as seen on one key.
    fn known_as(&self) -> Option<Kind>;

    /// Tells what a report says about a history, for a [page](crate::report::Page).
    fn tell(&self, told: Told<'_>, history: &History, report: &Report) -> Result<Story, Error>;

    /// What a recorded operation does, or why it cannot be one of this type; `result` is `None` while it is open.
    fn reading(&self, call: CallView<'_>, result: Option<&Value>) -> Result<Reading, String>;
}

/// The depths of the operations of one object.
#[derive(Clone, Debug)]
pub struct PartDepths {
    /// The object; nil where the history names none.
    pub object: Value,
    /// Its operations, in the order of their calls.
    pub ops: Vec<OpId>,
    /// What was measured.
    pub depths: Depths,
}

/// What a recorded operation does.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The key that it is about; see [`Spec::key`].
    pub key: Option<Value>,
    /// Its role; see [`Spec::role`].
    pub role: Role,
    /// Whether it never changes any state; see [`Spec::is_pure`].
    pub is_pure: bool,
}

impl std::fmt::Debug for dyn AnyObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AnyObject")
    }
}

/// A simulated object, for generating histories.
pub trait Simulation {
    /// A call that a random client might make now: method and argument.
    fn sample(&self, process: u32, sampler: &mut Sampler) -> (&'static str, Value);

    /// Whether calls of this method put something in: insertions and writes.
    fn produces(&self, method: &str) -> bool;

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
    fn check(
        &self,
        history: &History,
        checker: &Checker,
        budget: &Budget,
    ) -> Result<Report, Error> {
        let named = |mut report: Report| {
            for part in &mut report.parts {
                let object = history.objects().get(part.object_number as usize);
                part.object = object.cloned().unwrap_or_default();
            }
            report
        };
        let describe = |id| {
            let op = history.op(id);
            format!("{} by process {}", shortened(&op.text()), op.process)
        };
        Ok(named(
            checker.check_recorded(self, history, budget, &describe)?,
        ))
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

    fn depths(
        &self,
        history: &History,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<PartDepths>, Error> {
        let typed = TypedHistory::decode(self, history)?;
        // Keys stay together: the depth is that of the object.
        let parts = partition(self, &typed, Partitioning::ByObject);
        let measure = |part: Part| {
            let task = Task::new(self, &typed, &part.ops);
            Ok(PartDepths {
                object: history.objects()[part.object as usize].clone(),
                depths: measure_depths(&task, base, most, budget)?,
                ops: part.ops,
            })
        };
        parts.into_iter().map(measure).collect()
    }

    fn evaluate(
        &self,
        history: &History,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error> {
        if history.objects().len() > 1 {
            let reason = "operations on several objects: a family is one of a single object";
            return Err(Error::malformed(reason));
        }
        let typed = TypedHistory::decode(self, history)?;
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let task = Task::new(self, &typed, &ids);
        Evaluation::of(&task, &Poset::of(history), family, extent, budget)
    }

    fn known_as(&self) -> Option<Kind> {
        self.kind()
    }

    fn tell(&self, told: Told<'_>, history: &History, report: &Report) -> Result<Story, Error> {
        tell_recorded(told, self, history, report)
    }

    fn reading(&self, call: CallView<'_>, result: Option<&Value>) -> Result<Reading, String> {
        let op = self.decode(call)?;
        let ret = result.map(|result| self.decode_result(&op, result));
        let ret = ret.transpose()?;
        Ok(Reading {
            key: self.key(&op),
            role: self.role(&op, ret.as_ref()),
            is_pure: self.is_pure(&op, ret.as_ref()),
        })
    }
}

/// Sentences stay readable; the whole values are in the history.
fn shortened(text: &str) -> String {
    const MAX: usize = 80;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
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
        let op = self
            .object
            .decode(CallView {
                process,
                method,
                argument,
            })
            .expect("bug: a sampled call is malformed");
        self.object.perform(&mut self.state, &op, sampler)
    }
}
