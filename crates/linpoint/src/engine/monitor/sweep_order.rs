//! Witnesses that a sweep over the events finds: most operations take effect when it comes to them, some reads did so
//! before.

/// A witness in the making.
#[derive(Default)]
pub(crate) struct SweepOrder {
    ops: Vec<u32>,
    /// Operations that go in elsewhere: before which position, and the operation.
    early: Vec<(u32, u32)>,
}

impl SweepOrder {
    /// The operation comes next. Its position, for [`before`](Self::before).
    pub(crate) fn push(&mut self, op: u32) -> u32 {
        self.ops.push(op);
        self.ops.len() as u32 - 1
    }

    /// The operation comes right before the one at a position.
    pub(crate) fn before(&mut self, position: u32, op: u32) {
        self.early.push((position, op));
    }

    /// The whole order.
    pub(crate) fn finish(mut self) -> Vec<u32> {
        if self.early.is_empty() {
            return self.ops;
        }
        self.early.sort_unstable();
        let mut ops = Vec::with_capacity(self.ops.len() + self.early.len());
        let mut early = self.early.into_iter().peekable();
        for (position, op) in (0u32..).zip(self.ops) {
            while let Some((_, read)) = early.next_if(|&(before, _)| before == position) {
                ops.push(read);
            }
            ops.push(op);
        }
        ops
    }
}
