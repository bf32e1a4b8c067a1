//! Pops that take effect as soon as they can.

use super::{StackAction, StackOp};

/// For each value that is pushed once and popped once: the pop, and the number of operations that are called up to its
/// last peek.
///
/// When such a value is on top, all its peeks took effect and its pop waits, the pop takes effect at once;
/// [`implied`](crate::engine::search::implied) has the argument.
#[derive(Debug, Default)]
pub(super) struct EagerRemovals(Vec<Option<(u32, u32)>>);

impl EagerRemovals {
    pub(super) fn of(items: &[StackOp]) -> Self {
        #[derive(Clone, Copy, Default)]
        struct ValueCounts {
            pushes: u32,
            pops: u32,
            removal: u32,
            seen_by: u32,
        }
        let mut counts_of: Vec<ValueCounts> = Vec::new();
        for (op, item) in (0u32..).zip(items) {
            let (StackAction::Push(value) | StackAction::Pop(value) | StackAction::Peek(value)) =
                item.action
            else {
                continue;
            };
            if value as usize >= counts_of.len() {
                counts_of.resize(value as usize + 1, ValueCounts::default());
            }
            let counts = &mut counts_of[value as usize];
            match item.action {
                StackAction::Push(_) => counts.pushes += 1,
                StackAction::Pop(_) => {
                    counts.pops += 1;
                    counts.removal = op;
                }
                _ => counts.seen_by = op + 1,
            }
        }
        let once = |counts: ValueCounts| {
            (counts.pushes == 1 && counts.pops == 1).then_some((counts.removal, counts.seen_by))
        };
        EagerRemovals(counts_of.into_iter().map(once).collect())
    }

    /// The pop of `value` that takes effect as soon as it can, when `called` operations were called.
    pub(super) fn removal(&self, value: u32, called: u32) -> Option<u32> {
        let (removal, seen_by) = (*self.0.get(value as usize)?)?;
        (seen_by <= called).then_some(removal)
    }
}
