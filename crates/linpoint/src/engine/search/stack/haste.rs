//! Removals that take effect as soon as they can.

use super::{Does, Item};

/// For each value that was put there once and taken off once: the removal, and how many operations were called up to the
/// last peek of it.
///
/// When such a value lies on top, all its peeks took effect and its removal waits, the removal takes effect at once; see
/// [`implied`](crate::engine::search::implied) for the argument.
#[derive(Debug, Default)]
pub(super) struct Haste(Vec<Option<(u32, u32)>>);

impl Haste {
    pub(super) fn of(items: &[Item]) -> Self {
        #[derive(Clone, Copy, Default)]
        struct Life {
            pushes: u32,
            pops: u32,
            removal: u32,
            seen_by: u32,
        }
        let mut lives: Vec<Life> = Vec::new();
        for (op, item) in (0u32..).zip(items) {
            let (Does::Push(value) | Does::Pop(value) | Does::Peek(value)) = item.does else {
                continue;
            };
            if value as usize >= lives.len() {
                lives.resize(value as usize + 1, Life::default());
            }
            let life = &mut lives[value as usize];
            match item.does {
                Does::Push(_) => life.pushes += 1,
                Does::Pop(_) => {
                    life.pops += 1;
                    life.removal = op;
                }
                _ => life.seen_by = op + 1,
            }
        }
        let once = |life: Life| {
            (life.pushes == 1 && life.pops == 1).then_some((life.removal, life.seen_by))
        };
        Haste(lives.into_iter().map(once).collect())
    }

    /// The removal of `value` that takes effect as soon as it can, once so many operations were called.
    pub(super) fn removal(&self, value: u32, called: u32) -> Option<u32> {
        let (removal, seen_by) = (*self.0.get(value as usize)?)?;
        (seen_by <= called).then_some(removal)
    }
}
