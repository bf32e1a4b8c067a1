//! Measures the depths of a task with the hitting engine, and certifies them.

use crate::engine::hitting::{Base, Depths};
use crate::engine::{Budget, Task};
use crate::error::Error;
use crate::spec::Spec;
use crate::verdict::certify;

/// Measures the depths of a task up to `most`, and replays the schedules that prove them.
///
/// Returns an error only if linpoint has a bug: a schedule does not explain the history, or the numbers contradict each other.
pub(crate) fn measure_depths<S: Spec>(
    task: &Task<'_, S>,
    base: Base,
    most: usize,
    budget: &Budget,
) -> Result<Depths, Error> {
    let depths = task.erased(|task| Depths::measure(task, base, most, budget));
    if let Some(shown) = depths.shown_by.known() {
        certify::witness(task, &shown.order)?;
    }
    if let Some(delayed) = depths.depth.known() {
        certify::witness(task, &delayed.order)?;
    }
    let numbers = depths.shown_by.known().zip(depths.depth.known());
    if numbers.is_some_and(|(shown, delayed)| shown.d > delayed.depth) {
        return Err(Error::bug("a history is shown later than its depth"));
    }
    Ok(depths)
}
