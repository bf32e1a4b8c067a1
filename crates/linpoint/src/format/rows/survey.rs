//! Looks at the objects and the call times of an input, before it is decided how to read it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use super::{RowInput, RowOrder, RowProgress, Source};
use crate::error::Error;
#[cfg(feature = "parquet")]
use crate::error::Unit;
use crate::format::jsonl::Events;
use crate::value::Value;

/// The order in which an input has its operations.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// The number of operations.
    pub rows: u64,
    /// The number of objects.
    pub objects: usize,
    /// The number of operations of the object that has most of them.
    pub largest: u64,
    /// Whether the operations of each object are in one piece.
    pub by_object: bool,
    /// Whether the operations are in the order of their calls.
    pub by_call: bool,
    /// What the times are.
    pub order: RowOrder,
}

/// Counts the operations of objects.
#[derive(Debug, Default)]
pub(in crate::format) struct Surveyor {
    rows: u64,
    by_object: HashMap<Value, u64>,
    last: Option<Value>,
    is_scattered: bool,
    last_call: Option<i64>,
    is_out_of_order: bool,
}

impl Surveyor {
    /// Takes operations of one object, so many, that follow each other.
    pub(in crate::format) fn run(&mut self, object: &Value, rows: u64) {
        self.rows += rows;
        if self.last.as_ref() == Some(object) {
            if let Some(count) = self.by_object.get_mut(object) {
                *count += rows;
            }
            return;
        }
        match self.by_object.get_mut(object) {
            Some(count) => {
                self.is_scattered = true;
                *count += rows;
            }
            None => {
                self.by_object.insert(object.clone(), rows);
            }
        }
        self.last = Some(object.clone());
    }

    /// Takes the call times of operations that follow each other.
    pub(in crate::format) fn calls(&mut self, calls: &[i64]) {
        let (Some(&first), Some(&last)) = (calls.first(), calls.last()) else {
            return;
        };
        let follows = self.last_call.is_none_or(|before| before <= first);
        self.is_out_of_order |= !follows || !calls.is_sorted();
        self.last_call = Some(last);
    }

    pub(in crate::format) fn finish(self, order: RowOrder) -> Survey {
        Survey {
            rows: self.rows,
            objects: self.by_object.len(),
            largest: self.by_object.values().copied().max().unwrap_or(0),
            // Events of several objects overlap, and those of one object come in pairs.
            by_object: !self.is_scattered && order == RowOrder::Times,
            by_call: !self.is_out_of_order && order == RowOrder::Times,
            order,
        }
    }
}

impl RowInput {
    /// Reads the input once to see in which order it is.
    pub fn survey(self, progress: &RowProgress) -> Result<Survey, Error> {
        let name = self.name;
        let surveyed = match self.source {
            Source::Lines(lines) => {
                let mut surveyor = Surveyor::default();
                let read = lines.each(Events::Paired, progress, &mut |row| {
                    surveyor.run(&row.object, 1);
                    surveyor.calls(&[row.called]);
                    Ok(ControlFlow::Continue(()))
                });
                read.map(|read| surveyor.finish(read.order))
            }
            #[cfg(feature = "parquet")]
            Source::Parquet(file) => file
                .survey(&self.options, progress)
                .map_err(|error| error.counting(Unit::Row)),
        };
        surveyed.map_err(|error| error.in_file(&name))
    }
}
