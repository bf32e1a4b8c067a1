//! The moments at which the queue can have been empty.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::super::{Observable, Time};
use super::Held;

/// Gaps, each named by the event before it, ascending: those in which the queue can have been empty, and of several that follow
/// the same held values the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Vec<Time>);

impl Gaps {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those after the event `from`.
    pub(super) fn since(&self, from: Time) -> Self {
        Gaps(self.0[self.0.partition_point(|&gap| gap < from)..].to_vec())
    }

    /// One more gap, after all that is held was put in and all removals were called.
    pub(super) fn push<O: Observable>(
        &mut self,
        gap: Time,
        held: &BTreeMap<Time, Held<O>>,
        removals: &BTreeSet<Time>,
    ) {
        if held.len() > removals.len() {
            return;
        }
        let last = held.last_key_value().map_or(0, |(&first, _)| first);
        self.0
            .truncate(self.0.partition_point(|&earlier| earlier < last));
        self.0.push(gap);
    }

    /// Drops those in which a value was critical, and those before which more values were put in that are held than removals
    /// were called that are open.
    pub(super) fn narrow<O: Observable>(
        &mut self,
        critical: Option<(Time, Time)>,
        held: &BTreeMap<Time, Held<O>>,
        removals: &BTreeSet<Time>,
    ) {
        if self.0.is_empty() {
            return;
        }
        let mut held = held.keys().peekable();
        let mut removals = removals.iter().peekable();
        let (mut values, mut open) = (0, 0);
        // How many values are held before the gap that is kept last.
        let mut before_last = None;
        let mut kept: Vec<Time> = Vec::with_capacity(self.0.len());
        for &gap in &self.0 {
            while removals.next_if(|&&call| call <= gap).is_some() {
                open += 1;
            }
            while values <= open && held.next_if(|&&first| first <= gap).is_some() {
                values += 1;
            }
            let is_critical = critical.is_some_and(|(from, until)| (from..until).contains(&gap));
            if is_critical || values > open {
                continue;
            }
            if before_last == Some(values) {
                kept.pop();
            }
            before_last = Some(values);
            kept.push(gap);
        }
        self.0 = kept;
    }

    /// Whether the queue was empty in one of them whatever open removals did.
    pub(super) fn is_settled<O: Observable>(&self, held: &BTreeMap<Time, Held<O>>) -> bool {
        let first = held
            .first_key_value()
            .map_or(Time::MAX, |(&first, _)| first);
        self.0.first().is_some_and(|&gap| gap < first)
    }

    /// Whether an operation that can take effect in one of `others` is right if one is that can in one of these.
    pub(super) fn imply<O: Observable>(
        &self,
        others: &Gaps,
        held: &BTreeMap<Time, Held<O>>,
    ) -> bool {
        let is_as_good = |gap: Time, other: Time| {
            let between = (Bound::Excluded(gap), Bound::Included(other));
            other >= gap && held.range(between).next().is_none()
        };
        let mut gaps = self.0.iter();
        gaps.all(|&gap| others.0.iter().any(|&other| is_as_good(gap, other)))
    }
}
