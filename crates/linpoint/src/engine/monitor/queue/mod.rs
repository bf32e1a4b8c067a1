//! Queues, after Gibbons, Bruno and Phillips, *Black-Box Correctness Tests for Basic Parallel Data Structures* (2002), and
//! Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues*, section 6.
//!
//! Decides histories in which every value was put in once, in linear time. Value `a` must be ahead of `b` if it was put in
//! before `b` was, or if it was served before the last operation on `b` began. The history is linearizable iff these two
//! orders go together and empty results have a gap each. Without peeks both are interval orders, and it is enough that no
//! two values contradict each other; with peeks the second one is made an interval order first, see `fronts`. Tested
//! against the reference on small random histories.

mod fronts;
mod sweep;

use super::cover::clash;
use super::lives::{judge, known};
use super::users::Users;
use super::{Act, Clash, Finding, Life, Lives, Log, What, empties};
use crate::history::NEVER;
use fronts::{Fronts, is_solid};

/// Decides a queue whose values were each put in once; the value that was not, otherwise.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    judge(Lives::of(log), |lives| {
        let (ordered, placed) = log.both(|| in_order(log, lives), || empties::place(log, lives));
        ordered?;
        placed.map(|_| ())
    })
}

/// Two values that cannot pass through the queue together.
#[derive(Clone, Copy, Debug)]
enum Disorder {
    /// Both were at the front at the same time.
    Together(u32, u32),
    /// The first was put in before the second, but served after it.
    Overtaken(u32, u32),
}

/// Whether the values can pass through the queue one after the other.
fn in_order(log: &Log<Act>, lives: &Lives) -> Result<(), Clash> {
    let (fronts, blocks) = log.both(|| Fronts::of(log, lives), || sweep::blocks(lives));
    let checked = fronts.and_then(|fronts| sweep::check(log, lives, &fronts, blocks));
    checked.map_err(|disorder| match disorder {
        Disorder::Together(one, other) => clash(log, What::OutOfOrder, &[one, other], &[]),
        Disorder::Overtaken(first, second) => out_of_order(log, lives, first, second),
    })
}

/// The two values alone, or with a third one that was served after the second and before the first.
fn out_of_order(log: &Log<Act>, lives: &Lives, first: u32, second: u32) -> Clash {
    let is_served_before = |a: u32, b: u32| lives.at(a).seen_by < lives.at(b).out_from;
    let mut values = vec![first, second];
    if !is_served_before(second, first) {
        let between = lives
            .iter()
            .map(|(value, _)| value)
            .find(|&value| is_served_before(second, value) && is_served_before(value, first));
        values.push(between.expect("bug: two values are in order"));
    }
    clash(log, What::OutOfOrder, &values, &[])
}

/// An order that explains a log that was found to be linearizable, as positions.
pub fn witness(log: &Log<Act>) -> Vec<u32> {
    let lives = known(log);
    let Ok(empties) = empties::place(log, &lives) else {
        panic!("bug: a witness is asked for, and an empty result has no gap");
    };
    let clipped = Fronts::of(log, &lives).and_then(|fronts| fronts.clip(&lives));
    let Ok(clipped) = clipped else {
        panic!("bug: a witness is asked for, and two values are at the front");
    };
    let mut values = arrange(log, &clipped);
    let gone_by = |value: u32, gap: u32| lives.at(value).out_from <= gap;
    if !empties.is_empty() {
        // Between two empty results there are the values that cannot be gone by the first one.
        let mut before = vec![0u32; log.end() as usize + 1];
        for &(_, gap) in &empties {
            before[gap as usize + 1] += 1;
        }
        for rank in 1..before.len() {
            before[rank] += before[rank - 1];
        }
        values.sort_by_key(|&value| before[lives.at(value).out_from as usize]);
    }
    let mut run = Run {
        log,
        lives: &lives,
        users: Users::of(log, &lives),
        gap: 0,
        order: Vec::with_capacity(log.len()),
    };
    let mut rest = values.as_slice();
    for (op, gap) in empties {
        let group = rest.iter().take_while(|&&value| gone_by(value, gap));
        let (group, others) = rest.split_at(group.count());
        run.pass(group);
        run.gap = run.gap.max(gap);
        run.order.push(op);
        rest = others;
    }
    run.pass(rest);
    run.order
}

/// A run of the queue that grows.
struct Run<'a> {
    log: &'a Log<Act>,
    lives: &'a Lives,
    users: Users,
    /// The gap in which the latest operation takes effect.
    gap: u32,
    order: Vec<u32>,
}

impl Run<'_> {
    /// Puts these values in and serves them, each as early as can be after the one before.
    fn pass(&mut self, values: &[u32]) {
        let mut outside = values;
        for &value in values {
            let life = self.lives.at(value);
            self.gap = self.gap.max(life.added);
            for i in 0..self.users.peeks(value).len() {
                let peek = self.users.peeks(value)[i];
                self.gap = self.gap.max(self.log.calls[peek as usize]);
                self.put_in(&mut outside);
                self.order.push(peek);
            }
            if life.is_removed() {
                self.gap = self.gap.max(life.out_from);
                self.put_in(&mut outside);
                self.order.push(self.users.remove(value));
            }
        }
        for &value in outside {
            self.order.push(self.users.add(value));
        }
    }

    /// Puts in the first values as long as they can be in the current gap.
    fn put_in(&mut self, outside: &mut &[u32]) {
        while let Some((&value, rest)) = outside.split_first()
            && self.lives.at(value).added <= self.gap
        {
            self.order.push(self.users.add(value));
            *outside = rest;
        }
    }
}

/// All values in an order in which they can pass through the queue, from lives that are clipped.
///
/// Takes a value when all are taken that must be ahead of it: those put in for sure before it was, and those served
/// before it.
fn arrange(log: &Log<Act>, lives: &Lives) -> Vec<u32> {
    let Milestones {
        added,
        in_by,
        out_from,
        seen_by,
    } = Milestones::of(log, lives);
    let mut order: Vec<u32> = Vec::with_capacity(added.len());
    // How many of the two conditions are met, and then that it is taken.
    let mut ready = vec![0u8; log.distinct as usize];
    let (mut in_next, mut seen_next) = (0, 0);
    let (mut add_next, mut out_next) = (0, 0);
    while order.len() < added.len() {
        let before = order.len();
        let mut meet = |value: u32, ready: &mut [u8]| {
            ready[value as usize] += 1;
            if ready[value as usize] == 2 {
                order.push(value);
            }
        };
        while in_by.get(in_next).is_some_and(|&v| ready[v as usize] == 2) {
            in_next += 1;
        }
        let limit = in_by.get(in_next).map_or(NEVER, |&v| lives.at(v).in_by);
        while let Some(&value) = added.get(add_next)
            && lives.at(value).added < limit
        {
            meet(value, &mut ready);
            add_next += 1;
        }
        while seen_by
            .get(seen_next)
            .is_some_and(|&v| ready[v as usize] == 2)
        {
            seen_next += 1;
        }
        let limit = seen_by
            .get(seen_next)
            .map_or(u64::MAX, |&v| last(&lives.at(v)));
        while let Some(&value) = out_from.get(out_next)
            && first(&lives.at(value)) <= limit
        {
            meet(value, &mut ready);
            out_next += 1;
        }
        assert!(order.len() > before, "bug: values overtake each other");
    }
    order
}

/// The moments of lives in order: the values that have them.
struct Milestones {
    added: Vec<u32>,
    in_by: Vec<u32>,
    out_from: Vec<u32>,
    seen_by: Vec<u32>,
}

/// The first moment when the value can have left, with room between any two ranks for that of a solid value.
fn first(life: &Life) -> u64 {
    if is_solid(life) {
        last(life)
    } else {
        2 * u64::from(life.out_from)
    }
}

/// The last such moment.
fn last(life: &Life) -> u64 {
    2 * u64::from(life.seen_by) + u64::from(is_solid(life))
}

impl Milestones {
    fn of(log: &Log<Act>, lives: &Lives) -> Self {
        let values = log.distinct as usize;
        let empty = || Vec::with_capacity(values);
        let mut all = Milestones {
            added: empty(),
            in_by: empty(),
            out_from: empty(),
            seen_by: empty(),
        };
        for (rank, event) in (0u32..).zip(log.events()) {
            let op = event.op();
            if log.acts[op] == Act::Empty {
                continue;
            }
            let value = log.values[op];
            let life = lives.at(value);
            if event.is_return() {
                if rank == life.in_by {
                    all.in_by.push(value);
                }
                if rank == life.seen_by {
                    all.seen_by.push(value);
                }
            } else {
                if rank == life.added {
                    all.added.push(value);
                }
                if rank == life.out_from {
                    all.out_from.push(value);
                }
            }
        }
        if lives.has_peeks || lives.has_open {
            // Moments that are no events of the value itself.
            all.seen_by.clear();
            all.out_from.clear();
            for (value, life) in lives.iter() {
                if life.seen_by != NEVER {
                    all.seen_by.push(value);
                }
                all.out_from.push(value);
            }
            all.seen_by.sort_by_key(|&value| last(&lives.at(value)));
            all.out_from.sort_by_key(|&value| first(&lives.at(value)));
        } else {
            let stays = |(_, life): &(u32, Life)| !life.is_removed();
            let staying = lives.iter().filter(stays).map(|(value, _)| value);
            all.out_from.extend(staying);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::super::{random, trial};
    use super::*;
    use crate::spec::Discipline;

    fn judge_alike(log: &Log<Act>) -> bool {
        let finding = decide(log).expect("no value is put in twice");
        random::judge_alike(&Discipline::Fifo, log, finding, |()| witness(log))
    }

    #[test]
    fn agrees_with_the_reference() {
        random::assert_judged_alike(&Discipline::Fifo, |log| Some(judge_alike(log)));
    }

    #[test]
    fn pending_removals_take_effect_sometime() {
        trial::assert_pending_removals_may_happen(Discipline::Fifo, judge_alike);
    }
}
