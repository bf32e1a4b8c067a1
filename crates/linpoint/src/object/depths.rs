//! Measures depths of operations, and evaluates hitting families on a history.

use super::ObjectType;
use crate::engine::hitting::{Base, Depths, Evaluation, Extent, Family, Listing, Poset};
use crate::engine::{Budget, Task};
use crate::error::Error;
use crate::history::{History, OpId, Part, Partitioning, TypedHistory, partition};
use crate::portfolio::measure_depths;
use crate::spec::{Recorded, unless_failed};
use crate::value::Value;

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

pub(super) trait MeasureDepths {
    fn depths(
        &self,
        history: &History,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<PartDepths>, Error>;

    fn families(
        &self,
        history: &History,
        family: Family,
        d: usize,
        budget: &Budget,
    ) -> Result<Vec<Listing>, Error>;

    fn evaluate(
        &self,
        history: &History,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error>;
}

impl<S: Recorded> MeasureDepths for S {
    fn depths(
        &self,
        history: &History,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<PartDepths>, Error> {
        refuse_stuck(history)?;
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
        unless_failed(self, parts.into_iter().map(measure).collect())
    }

    fn families(
        &self,
        history: &History,
        family: Family,
        d: usize,
        budget: &Budget,
    ) -> Result<Vec<Listing>, Error> {
        let typed = TypedHistory::decode(self, history)?;
        let parts = partition(self, &typed, Partitioning::ByObject);
        let list = |part: Part| {
            let task = Task::new(self, &typed, &part.ops);
            Listing::of(&task, family, d, budget)
        };
        unless_failed(self, Ok(parts.into_iter().map(list).collect()))
    }

    fn evaluate(
        &self,
        history: &History,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error> {
        refuse_stuck(history)?;
        if history.objects().len() > 1 {
            let reason = "operations on several objects: a family is one of a single object";
            return Err(Error::malformed(reason));
        }
        let typed = TypedHistory::decode(self, history)?;
        let ids: Vec<OpId> = (0..history.len() as u32).map(OpId).collect();
        let task = Task::new(self, &typed, &ids);
        let evaluation = Evaluation::of(&task, &Poset::of(history), family, extent, budget);
        unless_failed(self, evaluation)
    }
}

fn refuse_stuck(history: &History) -> Result<(), Error> {
    match history.ends_stuck() {
        true => Err(Error::malformed(
            "the history ends stuck: depths are those of orders, which do not say why operations wait",
        )),
        false => Ok(()),
    }
}

impl ObjectType {
    /// Measures the depths of the operations of each object of a history, up to `most`.
    pub fn depths(
        &self,
        history: &History,
        base: Base,
        most: usize,
        budget: &Budget,
    ) -> Result<Vec<PartDepths>, Error> {
        self.0.depths(history, base, most, budget)
    }

    /// Lists the schedules of the d-th family for the operations of each object of a history, in the order of
    /// [`depths`](Self::depths).
    pub fn families(
        &self,
        history: &History,
        family: Family,
        d: usize,
        budget: &Budget,
    ) -> Result<Vec<Listing>, Error> {
        self.0.families(history, family, d, budget)
    }

    /// Evaluates a hitting family on a history of one object.
    pub fn evaluate(
        &self,
        history: &History,
        family: Family,
        extent: Extent,
        budget: &Budget,
    ) -> Result<Evaluation, Error> {
        self.0.evaluate(history, family, extent, budget)
    }
}
