//! Makes schedules by insertion: Algorithm 1 of the paper, corrected, and the variant behind its tables.
//!
//! Operations are inserted in an order that obeys real time. Members of the tuple and of the chain are placed as late
//! as possible, all others as early as possible, depending on the operations that were inserted before.
//!
//! Corrections of the printed algorithm:
//!
//! * Only [feasible](Poset::is_feasible) tuples are inserted. For others the result need not hit the tuple. The
//!   smallest counterexample has three operations: 0 before 1 on one thread (calls 1 and 4, returns 3 and 5), and 2 on
//!   another (call 2, return 6). For the chain of 2 and the tuple (1, 0) the printed algorithm gives 0, 2, 1, which
//!   does not strongly hit (2, 1, 0).
//! * An operation without a predecessor in the schedule is put at the front; lines 25 and 26 do not cover it.
//! * d is at most the number of operations; for a larger d the printed loop gives an empty family.
//!
//! [`Rule::Artifact`] keeps a defect of the published program, to reproduce its tables: it compares an operation of the
//! chain with the member that was inserted last, not with the last member of the tuple. The smallest counterexample has
//! calls 2, 3, 5, 1, 8, returns 10, 4, 6, 7, 9 and threads 0, 1, 2, 3, 3: for d = 3, no schedule hits (3, 2, 0).

use super::family::Rule;
use super::poset::Poset;

/// A schedule that is being made.
#[derive(Clone, Debug)]
pub(super) struct Insertion<'p> {
    poset: &'p Poset,
    rule: Rule,
    chain: Option<u32>,
    pub(super) schedule: Vec<u32>,
    /// Members of the tuple that were inserted, in the order of the tuple, and in that of their insertion.
    members: Vec<u32>,
    recent: Vec<u32>,
}

impl<'p> Insertion<'p> {
    pub(super) fn new(poset: &'p Poset, rule: Rule, chain: Option<u32>) -> Self {
        Insertion {
            poset,
            rule,
            chain,
            schedule: Vec::with_capacity(poset.len()),
            members: Vec::new(),
            recent: Vec::new(),
        }
    }

    /// The schedule of a feasible tuple.
    pub(super) fn schedule(mut self, topological: &[u32], tuple: &[u32]) -> Vec<u32> {
        let place_in_tuple = |op| tuple.iter().position(|&member| member == op);
        for &op in topological {
            match place_in_tuple(op) {
                None => {
                    self.insert(op);
                }
                Some(place) => {
                    let earlier = |member: &&u32| place_in_tuple(**member) < Some(place);
                    let at = self.members.iter().filter(earlier).count();
                    self.insert_member(op, at);
                }
            }
        }
        self.schedule
    }

    pub(super) fn members(&self) -> &[u32] {
        &self.members
    }

    /// Inserts an operation that is no member, and tells where.
    pub(super) fn insert(&mut self, op: u32) -> usize {
        let at = if self.chain == Some(self.poset.chain_of(op)) {
            self.place_in_chain(op)
        } else {
            self.after_predecessors(op)
        };
        self.schedule.insert(at, op);
        at
    }

    /// Inserts a member as the one numbered `place` of those that are there, and tells where in the schedule.
    pub(super) fn insert_member(&mut self, op: u32, place: usize) -> usize {
        let at = self.place_of_member(op, place);
        self.schedule.insert(at, op);
        self.members.insert(place, op);
        self.recent.push(op);
        at
    }

    /// Undoes the last insertion, which was not of a member.
    pub(super) fn remove(&mut self, at: usize) {
        self.schedule.remove(at);
    }

    /// Undoes the last insertion, which was of a member.
    pub(super) fn remove_member(&mut self, at: usize, place: usize) {
        self.schedule.remove(at);
        self.members.remove(place);
        self.recent.pop();
    }

    fn place_of_member(&self, op: u32, place: usize) -> usize {
        let later = &self.members[place..];
        match self.rule {
            _ if later.is_empty() => self.schedule.len(),
            Rule::Artifact => {
                let comes_after = |&member: &u32| self.poset.precedes(member, op);
                if self.members.iter().all(comes_after) {
                    return self.schedule.len();
                }
                let first = self.first_concurrent(op, later);
                first.max(self.after_predecessors(op))
            }
            _ => self.place_in_schedule(later[0]),
        }
    }

    fn place_in_chain(&self, op: u32) -> usize {
        let comes_after = |&member: &u32| self.poset.precedes(member, op);
        if self.rule == Rule::Artifact {
            // The member inserted last is not always the one that comes last: this is what misses tuples.
            return match self.recent.last() {
                Some(last) if !comes_after(last) => {
                    let first = self.first_concurrent(op, &self.members);
                    first.max(self.after_predecessors(op))
                }
                _ => self.schedule.len(),
            };
        }
        let next = self.members.iter().rposition(comes_after);
        match self.members.get(next.map_or(0, |last| last + 1)) {
            Some(&next) => self.place_in_schedule(next),
            None => self.schedule.len(),
        }
    }

    /// Where the first of these members stands that is concurrent with `op`; at the front if none is.
    fn first_concurrent(&self, op: u32, members: &[u32]) -> usize {
        let is_it = |&scheduled: &u32| {
            members.contains(&scheduled) && self.poset.are_concurrent(scheduled, op)
        };
        self.schedule.iter().position(is_it).unwrap_or(0)
    }

    fn after_predecessors(&self, op: u32) -> usize {
        let precedes = |&scheduled: &u32| self.poset.precedes(scheduled, op);
        self.schedule
            .iter()
            .rposition(precedes)
            .map_or(0, |last| last + 1)
    }

    fn place_in_schedule(&self, op: u32) -> usize {
        let found = self.schedule.iter().position(|&scheduled| scheduled == op);
        found.expect("bug: an inserted member is not in the schedule")
    }
}
