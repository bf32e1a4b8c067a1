//! From the two orders at the ends of a queue to one.

use super::{EMPTY, Item, Queue};
use crate::history::NEVER;

/// An operation in the order in which it was placed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placed {
    /// An insertion.
    Add(u32),
    /// A removal, a peek, or an empty result.
    Front(u32),
    /// A removal that never returned.
    Lost(u32),
}

impl Queue {
    /// An order of the positions of all operations that took effect, given how everything at the front was placed.
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

    /// How many events are explained by what was placed, and the order that does.
    pub(super) fn explained(&self, placed: &[Placed]) -> (Vec<u32>, usize) {
        let mut order = self.by_moment(placed);
        let mut left = vec![NEVER; self.adds.len() + self.fronts.len() + self.lost.len()];
        for item in self.items() {
            left[item.position as usize] = item.ret;
        }
        for &(_, position) in &order {
            left[position as usize] = NEVER;
        }
        // Up to there, everything that returned was placed; what takes effect later is not needed for that.
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

    fn items(&self) -> impl Iterator<Item = &Item> {
        self.adds.iter().chain(&self.fronts).chain(&self.lost)
    }

    /// Each operation takes effect right after the latest call among itself and all that must come before it. That is
    /// before its return; see the condition in the [module](super). As these moments ascend along what must come before
    /// what, so does the order in which operations were placed, which decides between equal ones.
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
            Placed::Lost(op) => {
                let item = &self.lost[op as usize];
                front = front.max(back).max(item.call);
                (front, item.position)
            }
        };
        let mut order: Vec<(u32, u32)> = placed.iter().map(moment).collect();
        order.sort_by_key(|&(moment, _)| moment);
        order
    }
}
