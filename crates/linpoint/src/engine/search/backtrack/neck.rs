//! Ends a search that failed far behind a point that every order passes in one of few configurations. Ours.
//!
//! Some operations tell the state that they leave, whatever was before. If nothing else returns from the call of such an
//! operation to its return, then in every order all operations that have returned by then are not after it. So an
//! order, as far as it matters later, is the told state and the set of open operations that took effect before. If no order
//! follows from any of these configurations, there is none, and other ways to get there need not be tried.

use super::super::machine::Machine;
use super::{Search, bits};
use crate::engine::{Limit, Overlap};

/// How many events the search must have gone back before a neck is looked for, at first. Tests have short histories.
const FIRST_DISTANCE: usize = if cfg!(test) { 2 } else { 40 };

/// The most operations that are open at a neck.
const MOST_OPEN: usize = 4;

/// When a neck is looked for, and where.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NextNeck {
    /// The furthest event that was reached when one was looked for.
    furthest: usize,
    /// How many events before that the search must have gone back to.
    distance: usize,
    /// The event number up to which no neck was looked for yet.
    end: usize,
}

/// A point with few configurations.
struct Neck {
    /// The number of events up to it.
    events: usize,
    state: u32,
    /// The operations that are open there.
    open: Vec<u32>,
}

impl<M: Machine> Search<'_, M> {
    /// Returns whether there is no order, since the search failed with every configuration of a neck. It has just gone back to a
    /// choice, so that nothing followed from what it tried up to the furthest event.
    #[inline]
    pub(super) fn has_failed_at_neck(&mut self) -> Result<bool, Limit> {
        match self.position + FIRST_DISTANCE < self.best.reached {
            true => self.has_failed_far_back(),
            false => Ok(false),
        }
    }

    /// The same, if the search has gone back far enough for the first neck.
    fn has_failed_far_back(&mut self) -> Result<bool, Limit> {
        let problem = self.problem;
        let furthest = self.best.reached;
        if furthest > self.next_neck.furthest {
            self.next_neck = NextNeck {
                furthest,
                distance: FIRST_DISTANCE,
                end: furthest,
            };
        }
        let NextNeck { distance, end, .. } = self.next_neck;
        if self.position + distance >= furthest
            || !problem.remembers
            || !problem.successors.is_empty()
            || problem.layout.key_count() != 1
        {
            return Ok(false);
        }
        self.next_neck.distance = distance * 2;
        self.next_neck.end = self.position;
        let Some(neck) = self.narrowest_neck(end) else {
            return Ok(false);
        };
        let horizon = furthest + distance;
        for subset in 0..1u32 << neck.open.len() {
            let machine: &mut dyn Machine = &mut self.machine;
            let mut probe = Search::new(problem, machine, self.ticker.budget());
            probe.position = neck.events;
            probe.horizon = horizon;
            probe.states.push(neck.state);
            for (i, &op) in neck.open.iter().enumerate() {
                let bit = problem.layout.bit[op as usize] as usize;
                let (word, flag) = (bit / 64, 1 << (bit % 64));
                probe.open[word] |= flag;
                probe.at_bit[bit] = op;
                if subset >> i & 1 == 1 {
                    probe.mask[word] |= flag;
                }
            }
            // What has no future in one of the searches has none in the other.
            std::mem::swap(&mut probe.memo, &mut self.memo);
            probe.settle(0);
            let may_have_order = probe.walk();
            std::mem::swap(&mut probe.memo, &mut self.memo);
            if may_have_order? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The point with the fewest open operations after the current position, up to the event number `end`.
    fn narrowest_neck(&mut self, end: usize) -> Option<Neck> {
        let problem = self.problem;
        let mut narrowest: Option<Neck> = None;
        let open = bits(self.open.iter().copied());
        let mut overlap = Overlap::of_open(open.map(|bit| self.at_bit[bit]));
        for (i, &(op, kind)) in problem.events[..end].iter().enumerate().skip(self.position) {
            let is_alone = overlap.event(op, kind);
            let most = narrowest
                .as_ref()
                .map_or(MOST_OPEN + 1, |neck| neck.open.len());
            if is_alone
                && overlap.len() < most
                && let Some(state) = self.machine.told(op)
            {
                narrowest = Some(Neck {
                    events: i + 1,
                    state,
                    open: overlap.open(),
                });
            }
        }
        narrowest
    }
}
