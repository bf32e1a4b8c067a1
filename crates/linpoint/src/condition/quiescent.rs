//! Quiescent consistency of any object: operations do not cross moments at which no operation is open. Between two such moments they
//! may take effect in any order, also those of one process.

use std::collections::HashSet;
use std::hash::Hash;
use std::rc::Rc;

use super::answer::{Answer, Decided, Why, Witness};
use super::search::Machine;
use crate::engine::{Budget, Limit, Ticker};
use crate::history::OpId;

/// The operations so far, latest first.
struct Past {
    op: u32,
    before: Option<Rc<Past>>,
}

type Trail = Option<Rc<Past>>;

/// Decides operations that are given by stretches between quiet moments. Pending ones, in the last stretch, are optional.
pub(super) fn decide<M: Machine>(
    machine: &M,
    stretches: &[Vec<u32>],
    is_pending: &dyn Fn(u32) -> bool,
    id: &dyn Fn(u32) -> OpId,
    budget: &Budget,
) -> Decided {
    let mut ticker = Ticker::new(budget);
    let mut reached: Vec<(M::State, Trail)> = vec![(machine.init(), None)];
    for stretch in stretches {
        let mut next: Vec<(M::State, Trail)> = Vec::new();
        let mut ends: HashSet<M::State> = HashSet::new();
        let mut tried = HashSet::new();
        for (state, trail) in reached {
            let mut walk = Walk {
                machine,
                stretch,
                is_pending,
                ticker: &mut ticker,
                tried: &mut tried,
            };
            walk.all_ends(state, trail, &mut |state, trail| {
                if ends.insert(state.clone()) {
                    next.push((state, trail));
                }
            })?;
        }
        if next.is_empty() {
            return Ok(Answer::Fails(Why::NoOrder));
        }
        reached = next;
    }
    let mut order = Vec::new();
    let mut at = reached.pop().and_then(|(_, trail)| trail);
    while let Some(past) = at {
        order.push(id(past.op));
        at = past.before.clone();
    }
    order.reverse();
    Ok(Answer::Holds(Witness::Order(order)))
}

/// The orders of one stretch.
struct Walk<'w, 'b, M: Machine> {
    machine: &'w M,
    stretch: &'w [u32],
    is_pending: &'w dyn Fn(u32) -> bool,
    ticker: &'w mut Ticker<'b>,
    tried: &'w mut HashSet<(Vec<u64>, M::State)>,
}

impl<M: Machine> Walk<'_, '_, M>
where
    M::State: Eq + Hash,
{
    /// Visits each state that some order of the stretch leaves, with a trail that leads there.
    fn all_ends(
        &mut self,
        state: M::State,
        trail: Trail,
        visit: &mut dyn FnMut(M::State, Trail),
    ) -> Result<(), Limit> {
        let none = vec![0u64; self.stretch.len().div_ceil(64)];
        let mut open = vec![(none, state, trail)];
        while let Some((mut done, state, mut trail)) = open.pop() {
            self.ticker.tick()?;
            let mut choices = Vec::new();
            for (i, &op) in self.stretch.iter().enumerate() {
                if done[i / 64] >> (i % 64) & 1 == 1 {
                    continue;
                }
                let next = self.machine.step(&state, op);
                // What changes nothing holds up no other one.
                if self.machine.is_pure(op) && !next.is_empty() {
                    done[i / 64] |= 1 << (i % 64);
                    trail = Some(Rc::new(Past { op, before: trail }));
                } else {
                    choices.extend(next.into_iter().map(|next| (i, op, next)));
                }
            }
            if !self.tried.insert((done.clone(), state.clone())) {
                continue;
            }
            let is_open =
                |i: usize, op: u32| done[i / 64] >> (i % 64) & 1 == 0 && !(self.is_pending)(op);
            if !self
                .stretch
                .iter()
                .enumerate()
                .any(|(i, &op)| is_open(i, op))
            {
                visit(state, trail.clone());
            }
            for (i, op, next) in choices.into_iter().rev() {
                let mut done = done.clone();
                done[i / 64] |= 1 << (i % 64);
                let before = trail.clone();
                open.push((done, next, Some(Rc::new(Past { op, before }))));
            }
        }
        Ok(())
    }
}
