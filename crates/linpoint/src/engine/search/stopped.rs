//! What a search knows when it hits a limit.

use crate::engine::{Cause, GaveUp, Limit, Task, first_return_after};
use crate::spec::Spec;

/// A search that hit a limit.
pub(super) struct Stopped {
    pub(super) limit: Limit,
    /// How many events were shown to be linearizable.
    pub(super) reached: usize,
    /// An order that explains them, by position.
    pub(super) order: Vec<u32>,
    /// States, each as a clause, to which such orders lead; empty if the search keeps no whole states.
    pub(super) states: Vec<String>,
}

impl From<Limit> for Stopped {
    fn from(limit: Limit) -> Self {
        Stopped {
            limit,
            reached: 0,
            order: Vec::new(),
            states: Vec::new(),
        }
    }
}

impl Stopped {
    /// The same in terms of `whole`, of which `searched` has all operations that matter.
    pub(super) fn into_gave_up<S: Spec>(
        self,
        whole: &Task<'_, S>,
        searched: &Task<'_, S>,
    ) -> GaveUp {
        let id = |position: u32| searched.ops[position as usize].id;
        GaveUp {
            cause: Cause::Limit(self.limit),
            reached: events_of_whole(whole, searched, self.reached),
            states: self.states,
            order: self.order.into_iter().map(id).collect(),
        }
    }
}

/// How many events of `whole` there are before the return that is the first one after the first `reached` events of
/// `searched`, which has all operations of `whole` that matter.
pub(super) fn events_of_whole<S: Spec>(
    whole: &Task<'_, S>,
    searched: &Task<'_, S>,
    reached: usize,
) -> usize {
    match first_return_after(&searched.ops, reached) {
        Some(next) if reached > 0 => whole.events_until(next.ret) - 1,
        _ => reached,
    }
}
