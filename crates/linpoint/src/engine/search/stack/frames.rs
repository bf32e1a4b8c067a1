//! Frames and configurations of the search of a stack: which values can be on top, with which operations done.

use super::{EagerRemovals, NEVER, Sets, StackAction, StackOp};
use crate::engine::Limit;
use crate::engine::{Budget, Ticker};
use crate::value::Interner;

/// Frames and configurations found so far, all by number.
pub(super) struct Frames<'a> {
    sets: Sets,
    eager_removals: EagerRemovals,
    /// The set of operations when the value had just been pushed, and the value; `None` for the empty stack.
    frames: Interner<(u32, Option<u32>)>,
    edges: Vec<FrameEdges>,
    /// Pairs of a frame and a frame below it.
    stacked: Interner<(u32, u32)>,
    /// Pairs of a frame and a set with which it was popped.
    left: Interner<(u32, u32)>,
    /// Pairs of the frame on top and a set of operations.
    configurations: Interner<(u32, u32)>,
    origins: Vec<Origin>,
    /// Configurations that were not expanded yet; the latest is expanded first.
    open: Vec<u32>,
    /// The configuration with the latest deadline.
    furthest: u32,
    ticker: Ticker<'a>,
}

/// How a frame is entered and left.
#[derive(Debug, Default)]
struct FrameEdges {
    /// The configurations from which it was pushed, one for each frame below, and the operations that did.
    below: Vec<(u32, u32)>,
    /// The configurations from which it was popped, the operations that did, and the sets after that.
    taken_off: Vec<(u32, u32, u32)>,
}

/// How a configuration was reached first.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// The frame was just pushed, or it is the start.
    Entered,
    /// By an operation that did not change the stack.
    Looked { from: u32, op: u32 },
    /// The frame above was pushed and popped.
    Returned {
        from: u32,
        push: u32,
        above: u32,
        pop: u32,
    },
}

/// Bytes for a configuration: in its tables, its origin, and what its set and frame may take.
const BYTES: u64 = 160;

impl<'a> Frames<'a> {
    pub(super) fn new(mut sets: Sets, eager_removals: EagerRemovals, budget: &'a Budget) -> Self {
        let start = sets.start();
        let mut frames = Frames {
            eager_removals,
            sets,
            frames: Interner::default(),
            edges: Vec::new(),
            stacked: Interner::default(),
            left: Interner::default(),
            configurations: Interner::default(),
            origins: Vec::new(),
            open: Vec::new(),
            furthest: 0,
            ticker: Ticker::new(budget),
        };
        let bottom = frames.frame(start, None);
        frames.reach(bottom, start, Origin::Entered);
        frames
    }

    /// Returns whether a configuration can be reached in which all operations that returned took effect.
    pub(super) fn find(&mut self) -> Result<bool, Limit> {
        while let Some(configuration) = self.open.pop() {
            self.ticker.tick()?;
            let known = self.origins.len();
            if known.is_power_of_two() && known > 1 << 14 {
                self.ticker.budget().reserve(known as u64 * BYTES)?;
            }
            let &(_, set) = self.configurations.get(configuration);
            let deadline = self.sets.deadline(set);
            let &(_, furthest) = self.configurations.get(self.furthest);
            if deadline > self.sets.deadline(furthest) {
                self.furthest = configuration;
            }
            if deadline == NEVER {
                return Ok(true);
            }
            self.expand(configuration);
        }
        Ok(false)
    }

    fn frame(&mut self, set: u32, value: Option<u32>) -> u32 {
        let frame = self.frames.intern((set, value));
        if frame as usize == self.edges.len() {
            self.edges.push(FrameEdges::default());
        }
        frame
    }

    /// Records a configuration, if it is new.
    fn reach(&mut self, frame: u32, set: u32, origin: Origin) {
        let configuration = self.configurations.intern((frame, set));
        if configuration as usize == self.origins.len() {
            self.origins.push(origin);
            self.open.push(configuration);
        }
    }

    fn item(&self, op: u32) -> StackOp {
        self.sets.items[op as usize]
    }

    /// Tries all operations that can take effect next.
    fn expand(&mut self, from: u32) {
        let &(frame, set) = self.configurations.get(from);
        let &(_, top) = self.frames.get(frame);
        let mut waiting = self.sets.waiting(set).to_vec();
        let fits = |op: &&u32| match self.item(**op).action {
            StackAction::Peek(value) => top == Some(value),
            StackAction::FindNothing => top.is_none(),
            _ => false,
        };
        if let Some(&op) = waiting.iter().find(fits) {
            let set = self.sets.with(set, op);
            return self.reach(frame, set, Origin::Looked { from, op });
        }
        let called = self.sets.called(set);
        let eager = top.and_then(|value| self.eager_removals.removal(value, called));
        if let Some(op) = eager.filter(|op| waiting.contains(op)) {
            let set = self.sets.with(set, op);
            return self.pop(from, op, set);
        }
        waiting.sort_unstable_by_key(|&op| (self.item(op).ret, op));
        let mut tried: Vec<StackAction> = Vec::new();
        let mut moves: Vec<(u32, StackAction)> = Vec::new();
        for op in waiting {
            let action = self.item(op).action;
            let is_possible = match action {
                StackAction::Push(_) => true,
                StackAction::Pop(value) => top == Some(value),
                // A pop that returned is tried instead.
                StackAction::PopSome => {
                    top.is_some_and(|top| !tried.contains(&StackAction::Pop(top)))
                }
                StackAction::Peek(_) | StackAction::FindNothing => false,
            };
            if is_possible && !tried.contains(&action) {
                tried.push(action);
                moves.push((op, action));
            }
        }
        // The configuration that is reached last is expanded first.
        for (op, action) in moves.into_iter().rev() {
            let set = self.sets.with(set, op);
            match action {
                StackAction::Push(value) => self.push(from, op, set, value),
                _ => self.pop(from, op, set),
            }
        }
    }

    /// The operation pushes `value` on the frame of a configuration, which leaves `set`.
    fn push(&mut self, from: u32, op: u32, set: u32, value: u32) {
        let &(below, _) = self.configurations.get(from);
        let frame = self.frame(set, Some(value));
        let edges = self.stacked.len();
        if (self.stacked.intern((frame, below)) as usize) < edges {
            return;
        }
        self.edges[frame as usize].below.push((from, op));
        self.reach(frame, set, Origin::Entered);
        for i in 0..self.edges[frame as usize].taken_off.len() {
            let (above, pop, set) = self.edges[frame as usize].taken_off[i];
            let origin = Origin::Returned {
                from,
                push: op,
                above,
                pop,
            };
            self.reach(below, set, origin);
        }
    }

    /// The operation pops the frame of a configuration, which leaves `set`.
    fn pop(&mut self, above: u32, op: u32, set: u32) {
        let &(frame, _) = self.configurations.get(above);
        let edges = self.left.len();
        if (self.left.intern((frame, set)) as usize) < edges {
            return;
        }
        self.edges[frame as usize].taken_off.push((above, op, set));
        for i in 0..self.edges[frame as usize].below.len() {
            let (from, push) = self.edges[frame as usize].below[i];
            let &(below, _) = self.configurations.get(from);
            let origin = Origin::Returned {
                from,
                push,
                above,
                pop: op,
            };
            self.reach(below, set, origin);
        }
    }

    /// The order that leads to the configuration with the latest deadline, and how many events that explains.
    pub(super) fn furthest(&self) -> (Vec<u32>, usize) {
        let &(mut frame, set) = self.configurations.get(self.furthest);
        let deadline = self.sets.deadline(set);
        let explained = |rank: u32| usize::from(rank != NEVER && rank < deadline);
        let items = self.sets.items.iter();
        let reached = items
            .map(|item| explained(item.call) + explained(item.ret))
            .sum();
        let mut order = Vec::new();
        self.write_back(self.furthest, &mut order);
        while let Some(&(from, push)) = self.edges[frame as usize].below.first() {
            order.push(push);
            self.write_back(from, &mut order);
            (frame, _) = *self.configurations.get(from);
        }
        order.reverse();
        (order, reached)
    }

    /// Appends the operations since the frame of a configuration was pushed, the latest first.
    fn write_back(&self, configuration: u32, order: &mut Vec<u32>) {
        enum Part {
            Since(u32),
            Op(u32),
        }
        let mut parts = vec![Part::Since(configuration)];
        while let Some(part) = parts.pop() {
            let configuration = match part {
                Part::Op(op) => {
                    order.push(op);
                    continue;
                }
                Part::Since(configuration) => configuration,
            };
            match self.origins[configuration as usize] {
                Origin::Entered => {}
                Origin::Looked { from, op } => {
                    order.push(op);
                    parts.push(Part::Since(from));
                }
                Origin::Returned {
                    from,
                    push,
                    above,
                    pop,
                } => {
                    order.push(pop);
                    parts.extend([Part::Since(from), Part::Op(push), Part::Since(above)]);
                }
            }
        }
    }
}
