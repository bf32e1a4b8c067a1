//! Witnesses of monitors that sweep over the events and let operations take effect when a return forces them.

/// Sees which operations take effect during a sweep, in their order.
pub(super) trait Observer {
    /// The operation takes effect now, after all before. With `mark`, operations may later be put before it.
    fn takes_effect(&mut self, op: u32, mark: Option<u32>);

    /// The operation took effect right before the last one with this mark.
    fn takes_effect_before(&mut self, mark: u32, op: u32);

    /// This read could not have its result without a change.
    fn forces(&mut self, read: u32);
}

impl Observer for () {
    fn takes_effect(&mut self, _: u32, _: Option<u32>) {}
    fn takes_effect_before(&mut self, _: u32, _: u32) {}
    fn forces(&mut self, _: u32) {}
}

/// The reads that forced a change.
#[derive(Default)]
pub(super) struct Forcing(pub(super) Vec<u32>);

impl Observer for Forcing {
    fn takes_effect(&mut self, _: u32, _: Option<u32>) {}
    fn takes_effect_before(&mut self, _: u32, _: u32) {}
    fn forces(&mut self, read: u32) {
        self.0.push(read);
    }
}

/// The order in which operations took effect.
pub(super) struct SweepOrder {
    ops: Vec<u32>,
    /// Where in `ops` the last operation with each mark is.
    marked: Vec<u32>,
    /// Operations that took effect earlier than they were reported: before which place in `ops`, and the operation.
    early: Vec<(u32, u32)>,
}

impl SweepOrder {
    /// No operations yet; marks are below `marks`.
    pub(super) fn new(marks: usize) -> Self {
        SweepOrder {
            ops: Vec::new(),
            marked: vec![0; marks],
            early: Vec::new(),
        }
    }

    /// The whole order.
    pub(super) fn finish(mut self) -> Vec<u32> {
        if self.early.is_empty() {
            return self.ops;
        }
        self.early.sort_unstable();
        let mut ops = Vec::with_capacity(self.ops.len() + self.early.len());
        let mut early = self.early.into_iter().peekable();
        for (place, op) in (0u32..).zip(self.ops) {
            while let Some((_, read)) = early.next_if(|&(before, _)| before == place) {
                ops.push(read);
            }
            ops.push(op);
        }
        ops
    }
}

impl Observer for SweepOrder {
    fn takes_effect(&mut self, op: u32, mark: Option<u32>) {
        if let Some(mark) = mark {
            self.marked[mark as usize] = self.ops.len() as u32;
        }
        self.ops.push(op);
    }

    fn takes_effect_before(&mut self, mark: u32, op: u32) {
        self.early.push((self.marked[mark as usize], op));
    }

    fn forces(&mut self, _: u32) {}
}
