//! What lies on top, and how it came there and goes.

use super::{Does, Haste, Item, NEVER, Sets};
use crate::engine::Limit;
use crate::engine::{Budget, Ticker};
use crate::value::Interner;

/// Frames and configurations found so far, all by number.
pub(super) struct Frames<'a> {
    sets: Sets,
    haste: Haste,
    /// The set of operations when the value had just been put there, and the value; none for the empty stack.
    frames: Interner<(u32, Option<u32>)>,
    ties: Vec<Ties>,
    /// Which frame was put on which.
    stacked: Interner<(u32, u32)>,
    /// Which frame was taken off with which set left.
    left: Interner<(u32, u32)>,
    /// A frame on top and a set of operations.
    configurations: Interner<(u32, u32)>,
    origins: Vec<Origin>,
    /// Configurations of which nothing was tried yet; the latest goes first.
    open: Vec<u32>,
    /// The configuration with the latest deadline.
    furthest: u32,
    ticker: Ticker<'a>,
}

/// What a frame is tied to.
#[derive(Debug, Default)]
struct Ties {
    /// From which configurations it was put there, one for each frame below, by which operations.
    below: Vec<(u32, u32)>,
    /// From which configurations it was taken off, by which operations, and what set that left.
    taken_off: Vec<(u32, u32, u32)>,
}

/// How a configuration was reached first.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// The frame was just put there, or it is the start.
    Entered,
    /// By an operation that left the stack as it was.
    Looked { from: u32, op: u32 },
    /// The frame above was put on it and taken off.
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
    pub(super) fn new(mut sets: Sets, haste: Haste, budget: &'a Budget) -> Self {
        let start = sets.start();
        let mut frames = Frames {
            haste,
            sets,
            frames: Interner::default(),
            ties: Vec::new(),
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

    /// Looks for a configuration in which everything that returned took effect; whether there is one.
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
        if frame as usize == self.ties.len() {
            self.ties.push(Ties::default());
        }
        frame
    }

    /// Notes a configuration, if it is new.
    fn reach(&mut self, frame: u32, set: u32, origin: Origin) {
        let configuration = self.configurations.intern((frame, set));
        if configuration as usize == self.origins.len() {
            self.origins.push(origin);
            self.open.push(configuration);
        }
    }

    fn item(&self, op: u32) -> Item {
        self.sets.items[op as usize]
    }

    /// Tries all that can take effect next.
    fn expand(&mut self, from: u32) {
        let &(frame, set) = self.configurations.get(from);
        let &(_, top) = self.frames.get(frame);
        let mut waiting = self.sets.waiting(set).to_vec();
        let fits = |op: &&u32| match self.item(**op).does {
            Does::Peek(value) => top == Some(value),
            Does::FindNothing => top.is_none(),
            _ => false,
        };
        if let Some(&op) = waiting.iter().find(fits) {
            let set = self.sets.with(set, op);
            return self.reach(frame, set, Origin::Looked { from, op });
        }
        let called = self.sets.called(set);
        let hasty = top.and_then(|value| self.haste.removal(value, called));
        if let Some(op) = hasty.filter(|op| waiting.contains(op)) {
            let set = self.sets.with(set, op);
            return self.pop(from, op, set);
        }
        waiting.sort_unstable_by_key(|&op| (self.item(op).ret, op));
        let mut tried: Vec<Does> = Vec::new();
        let mut moves: Vec<(u32, Does)> = Vec::new();
        for op in waiting {
            let does = self.item(op).does;
            let is_possible = match does {
                Does::Push(_) => true,
                Does::Pop(value) => top == Some(value),
                // One that returned goes first.
                Does::PopSome => top.is_some_and(|top| !tried.contains(&Does::Pop(top))),
                Does::Peek(_) | Does::FindNothing => false,
            };
            if is_possible && !tried.contains(&does) {
                tried.push(does);
                moves.push((op, does));
            }
        }
        // What is found last is tried first.
        for (op, does) in moves.into_iter().rev() {
            let set = self.sets.with(set, op);
            match does {
                Does::Push(value) => self.push(from, op, set, value),
                _ => self.pop(from, op, set),
            }
        }
    }

    /// The operation puts `value` on the frame of a configuration, which leaves `set`.
    fn push(&mut self, from: u32, op: u32, set: u32, value: u32) {
        let &(below, _) = self.configurations.get(from);
        let frame = self.frame(set, Some(value));
        let ties = self.stacked.len();
        if (self.stacked.intern((frame, below)) as usize) < ties {
            return;
        }
        self.ties[frame as usize].below.push((from, op));
        self.reach(frame, set, Origin::Entered);
        for i in 0..self.ties[frame as usize].taken_off.len() {
            let (above, pop, set) = self.ties[frame as usize].taken_off[i];
            let origin = Origin::Returned {
                from,
                push: op,
                above,
                pop,
            };
            self.reach(below, set, origin);
        }
    }

    /// The operation takes the frame of a configuration off, which leaves `set`.
    fn pop(&mut self, above: u32, op: u32, set: u32) {
        let &(frame, _) = self.configurations.get(above);
        let ties = self.left.len();
        if (self.left.intern((frame, set)) as usize) < ties {
            return;
        }
        self.ties[frame as usize].taken_off.push((above, op, set));
        for i in 0..self.ties[frame as usize].below.len() {
            let (from, push) = self.ties[frame as usize].below[i];
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
        while let Some(&(from, push)) = self.ties[frame as usize].below.first() {
            order.push(push);
            self.write_back(from, &mut order);
            (frame, _) = *self.configurations.get(from);
        }
        order.reverse();
        (order, reached)
    }

    /// Appends what happened since the frame of a configuration was put there, the latest first.
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
