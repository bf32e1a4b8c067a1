//! Merges the two orders at the ends of a queue into one order of all operations.

use super::{EMPTY, Queue, QueueOp};
use crate::history::NEVER;

/// An operation in the order in which it was placed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placed {
    /// An insertion.
    Add(u32),
    /// A removal, a peek, or an empty result.
    Front(u32),
    /// A pending removal.
    Pending(u32),
}

impl Queue {
    /// The positions of all operations that take effect, in an order that explains them. All operations at the front
    /// must have been placed.
    pub(super) fn order(&self, placed: &[Placed]) -> Vec<u32> {
        let mut placed = placed.to_vec();
        let mut is_placed = vec![false; self.adds.len()];
        for &one in &placed {
            if let Placed::Add(op) = one {
                is_placed[op as usize] = true;
            }
        }
        let ret = |op: &u32| self.adds[*op as usize].ret;
        let left = |op: &u32| !is_placed[*op as usize] && ret(op) != NEVER;
        let mut rest: Vec<u32> = (0..self.adds.len() as u32).filter(left).collect();
        rest.sort_unstable_by_key(ret);
        placed.extend(rest.into_iter().map(Placed::Add));
        let order = self.by_moment(&placed);
        order.into_iter().map(|(_, position)| position).collect()
    }

    /// The longest prefix that the placed operations explain: their order, and the number of its events.
    pub(super) fn explained(&self, placed: &[Placed]) -> (Vec<u32>, usize) {
        let mut order = self.by_moment(placed);
        let mut left = vec![NEVER; self.adds.len() + self.fronts.len() + self.pending.len()];
        for item in self.items() {
            left[item.position as usize] = item.ret;
        }
        for &(_, position) in &order {
            left[position as usize] = NEVER;
        }
        // All operations that returned before `until` were placed; those that take effect later are not needed.
        let until = left.into_iter().min().unwrap_or(NEVER);
        order.truncate(order.partition_point(|&(moment, _)| moment < until));
        let explained = |rank: u32| usize::from(rank != NEVER && rank < until);
        let events = self
            .items()
            .map(|item| explained(item.call) + explained(item.ret));
        let reached = events.sum();
        let order = order.into_iter().map(|(_, position)| position).collect();
        (order, reached)
    }

    fn items(&self) -> impl Iterator<Item = &QueueOp> {
        self.adds.iter().chain(&self.fronts).chain(&self.pending)
    }

    /// The placed operations with the moments at which they take effect, in this order. An operation takes effect right
    /// after the latest call among itself and all operations that must come before it, which is before its return by
    /// the condition in the [module](super). Equal moments keep the order of placement, which obeys the same
    /// constraints.
    fn by_moment(&self, placed: &[Placed]) -> Vec<(u32, u32)> {
        let (mut back, mut front) = (0, 0);
        let moment = |&one: &Placed| match one {
            Placed::Add(op) => {
                let item = &self.adds[op as usize];
                back = back.max(item.call);
                (back, item.position)
            }
            Placed::Front(op) => {
                let item = &self.fronts[op as usize];
                front = front.max(back).max(item.call);
                if item.class == EMPTY {
                    back = front;
                }
                (front, item.position)
            }
            Placed::Pending(op) => {
                let item = &self.pending[op as usize];
                front = front.max(back).max(item.call);
                (front, item.position)
            }
        };
        let mut order: Vec<(u32, u32)> = placed.iter().map(moment).collect();
        order.sort_by_key(|&(moment, _)| moment);
        order
    }
}
