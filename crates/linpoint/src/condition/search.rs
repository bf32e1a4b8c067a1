//! The search for one order that extends the order of each process: how far each process is, and the state.

use std::collections::HashSet;
use std::hash::Hash;

use crate::engine::{Budget, Limit, Ticker};
use crate::history::NEVER;

/// What an order does with an object: operations are numbers.
pub(super) trait Machine {
    /// A state of the object.
    type State: Clone + Eq + Hash;

    fn init(&self) -> Self::State;

    /// The states that the operation may leave with its result.
    fn step(&self, state: &Self::State, op: u32) -> Vec<Self::State>;

    /// Whether it leaves every state as it was.
    fn is_pure(&self, op: u32) -> bool;

    /// Whether the operation, done now, makes the result of another one impossible that is still to come.
    fn strands(&self, state: &Self::State, op: u32) -> bool;

    /// Whether the state follows from how far each process is, unless the attempt fails anyway.
    fn positions_tell(&self) -> bool;

    /// The operation is done.
    fn placed(&mut self, op: u32);

    /// It is not done any more.
    fn undone(&mut self, op: u32);
}

/// The operations of each process, and what has to come before each.
pub(super) struct Lines<'l> {
    /// In the order of each process.
    pub(super) lines: &'l [Vec<u32>],
    /// Whether an operation is pending.
    pub(super) is_pending: &'l dyn Fn(u32) -> bool,
    /// The rank of the call.
    pub(super) call: &'l dyn Fn(u32) -> u32,
    /// The rank before which a pending operation takes effect or never: before all operations that are called later.
    pub(super) deadline: &'l dyn Fn(u32) -> u32,
    /// How many operations of each process have to come before an operation; none if only its own process counts.
    pub(super) needs: &'l dyn Fn(u32) -> Option<&'l [u32]>,
}

/// Looks for an order; none if there is none.
pub(super) fn search<M: Machine>(
    machine: &mut M,
    lines: &Lines<'_>,
    budget: &Budget,
) -> Result<Option<Vec<u32>>, Limit> {
    let mut search = Search {
        machine,
        lines,
        positions: vec![0; lines.lines.len()],
        order: Vec::new(),
        failed: HashSet::new(),
    };
    search.run(budget)
}

/// Operations that can come next, with their processes and the states that they leave.
type Choices<S> = Vec<(u32, usize, S)>;

/// A choice that was made, and those that are left.
struct Frame<S> {
    /// How many operations were in the order before.
    length: usize,
    left: Choices<S>,
}

struct Search<'s, 'l, M: Machine> {
    machine: &'s mut M,
    lines: &'s Lines<'l>,
    positions: Vec<u32>,
    /// The operations with their processes.
    order: Vec<(u32, usize)>,
    failed: HashSet<(Vec<u32>, Option<M::State>)>,
}

impl<M: Machine> Search<'_, '_, M> {
    fn run(&mut self, budget: &Budget) -> Result<Option<Vec<u32>>, Limit> {
        let mut ticker = Ticker::new(budget);
        let mut frames: Vec<Frame<M::State>> = Vec::new();
        let mut state = self.machine.init();
        loop {
            ticker.tick()?;
            self.pure_ones(&state, &mut ticker)?;
            if self.is_complete() {
                return Ok(Some(self.order.iter().map(|&(op, _)| op).collect()));
            }
            let known = (!self.machine.positions_tell()).then(|| state.clone());
            let left = match self.failed.insert((self.positions.clone(), known)) {
                true => self.choices(&state, &mut ticker)?,
                false => Vec::new(),
            };
            frames.push(Frame {
                length: self.order.len(),
                left,
            });
            // The latest choice that is left.
            state = loop {
                let Some(frame) = frames.last_mut() else {
                    return Ok(None);
                };
                let (length, next) = (frame.length, frame.left.pop());
                self.back_to(length);
                match next {
                    Some((op, line, next)) => {
                        self.place(op, line);
                        break next;
                    }
                    None => drop(frames.pop()),
                }
            };
        }
    }

    fn place(&mut self, op: u32, line: usize) {
        self.positions[line] += 1;
        self.order.push((op, line));
        self.machine.placed(op);
    }

    fn back_to(&mut self, length: usize) {
        for (op, line) in self.order.drain(length..).rev() {
            self.positions[line] -= 1;
            self.machine.undone(op);
        }
    }

    /// The next operation of a process, if all that has to come before it was placed.
    fn next(&self, line: usize) -> Option<u32> {
        let &op = self.lines.lines[line].get(self.positions[line] as usize)?;
        let needs = (self.lines.needs)(op);
        let is_ready = needs.is_none_or(|needs| {
            let own = needs.iter().zip(&self.positions).enumerate();
            own.into_iter()
                .all(|(other, (needed, done))| other == line || needed <= done)
        });
        (is_ready && !self.is_late(op)).then_some(op)
    }

    /// Whether an operation was placed that was called after the deadline of this one.
    fn is_late(&self, op: u32) -> bool {
        let deadline = (self.lines.deadline)(op);
        let mut last = self.lines.lines.iter().zip(&self.positions);
        deadline != NEVER
            && last.any(|(line, &done)| {
                let last = (done as usize).checked_sub(1).map(|last| line[last]);
                last.is_some_and(|last| (self.lines.call)(last) >= deadline)
            })
    }

    /// Whether the operation, placed now, would make another one late that can still take effect.
    fn makes_late(&self, op: u32) -> bool {
        let call = (self.lines.call)(op);
        let mut next = self.lines.lines.iter().zip(&self.positions);
        next.any(|(line, &done)| {
            let next = line.get(done as usize);
            next.is_some_and(|&next| (self.lines.deadline)(next) <= call && !self.is_late(next))
        })
    }

    /// Places operations that change nothing as soon as they fit: that holds up no other one.
    fn pure_ones(&mut self, state: &M::State, ticker: &mut Ticker<'_>) -> Result<(), Limit> {
        let mut is_new = true;
        while is_new {
            is_new = false;
            for line in 0..self.positions.len() {
                ticker.tick()?;
                while let Some(op) = self.next(line) {
                    let fits = self.machine.is_pure(op)
                        && !self.makes_late(op)
                        && !self.machine.step(state, op).is_empty();
                    if !fits {
                        break;
                    }
                    self.place(op, line);
                    is_new = true;
                }
            }
        }
        Ok(())
    }

    /// Whether all operations that returned are placed.
    fn is_complete(&self) -> bool {
        let mut ends = self.lines.lines.iter().zip(&self.positions);
        ends.all(|(line, &done)| {
            line[done as usize..]
                .iter()
                .all(|&op| (self.lines.is_pending)(op))
        })
    }

    /// What can come next, the best last: the operation that was called first.
    fn choices(
        &self,
        state: &M::State,
        ticker: &mut Ticker<'_>,
    ) -> Result<Choices<M::State>, Limit> {
        let mut choices = Vec::new();
        for line in 0..self.positions.len() {
            ticker.tick()?;
            let Some(op) = self.next(line) else { continue };
            let is_placed_at_once = self.machine.is_pure(op) && !self.makes_late(op);
            if is_placed_at_once || self.machine.strands(state, op) {
                continue;
            }
            let next = self.machine.step(state, op);
            choices.extend(next.into_iter().map(|next| (op, line, next)));
        }
        choices.sort_by_key(|&(op, ..)| std::cmp::Reverse((self.lines.call)(op)));
        Ok(choices)
    }
}
