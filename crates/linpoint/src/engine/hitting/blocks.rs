//! Decides strong hits (Definition 4.1 of the paper) and membership in the canonical family of d operations, and counts that
//! family without constructing it.
//!
//! The block form is ours: a schedule strongly hits a tuple iff it consists of one block for each member, in the order of
//! the tuple, and each block begins with its member.

use std::collections::HashMap;

use super::poset::{Base, Down, Poset};

/// Whether a schedule strongly hits a tuple: every operation at or after a member in the schedule is, in real time, at or
/// after that member or a later one. So the members are in the order of the tuple, each as late as possible.
///
/// ```
/// use linpoint::engine::hitting::{Poset, strongly_hits};
/// let antichain = Poset::new(&[(0, 10, 0), (1, 11, 1), (2, 12, 2)]);
/// assert!(strongly_hits(&antichain, &[1, 0, 2], &[0, 2]));
/// assert!(!strongly_hits(&antichain, &[0, 1, 2], &[0, 2]));
/// ```
pub fn strongly_hits(poset: &Poset, schedule: &[u32], tuple: &[u32]) -> bool {
    (0..tuple.len()).all(|i| {
        let from = schedule.iter().position(|&op| op == tuple[i]);
        let later = &schedule[from.unwrap_or(schedule.len())..];
        later.iter().all(|&op| {
            let is_allowed = |&member: &u32| poset.is_at_or_after(op, member);
            tuple[i..].iter().any(is_allowed)
        })
    })
}

/// Returns the operations that begin the blocks of a schedule. Their number is the least d whose canonical family of d
/// operations contains the schedule. A block continues while the base order ascends and all its operations are at or after
/// its first one.
pub fn blocks(poset: &Poset, base: Base, schedule: &[u32]) -> Vec<u32> {
    let rank = ranks(poset, base);
    let mut roots: Vec<u32> = Vec::new();
    let mut last = None;
    for &op in schedule {
        if !goes_on(poset, &rank, last, roots.last().copied(), op) {
            roots.push(op);
        }
        last = Some(op);
    }
    roots
}

/// Returns the number of schedules in the canonical family of d operations ([`Index::Tuples`](super::Index::Tuples)).
pub fn family_size(poset: &Poset, base: Base, d: usize) -> u128 {
    let rank = ranks(poset, base);
    let mut minimal = Vec::new();
    // The numbers of prefixes, by what their continuations depend on: the operations done, the last one, the first one of the
    // last block, and how many blocks may still begin.
    let mut beginnings = HashMap::from([((Down::default(), None, None, d), 1u128)]);
    for _ in 0..poset.len() {
        let mut longer = HashMap::new();
        for ((done, last, root, left), count) in beginnings {
            done.minimal_outside(poset, &mut minimal);
            for &op in &minimal {
                let (root, left) = match goes_on(poset, &rank, last, root, op) {
                    true => (root, left),
                    false if left > 0 => (Some(op), left - 1),
                    false => continue,
                };
                let ways = longer.entry((done.with(op), Some(op), root, left));
                let ways: &mut u128 = ways.or_default();
                *ways = ways.saturating_add(count);
            }
        }
        beginnings = longer;
    }
    beginnings.into_values().fold(0, u128::saturating_add)
}

/// Returns the position of each operation in the base order.
pub(super) fn ranks(poset: &Poset, base: Base) -> Vec<u32> {
    let mut rank = vec![0; poset.len()];
    (0u32..)
        .zip(poset.base_order(base))
        .for_each(|(i, op)| rank[op as usize] = i);
    rank
}

fn goes_on(poset: &Poset, rank: &[u32], last: Option<u32>, root: Option<u32>, op: u32) -> bool {
    last.is_none_or(|last| rank[last as usize] < rank[op as usize])
        && root.is_none_or(|root| poset.is_at_or_after(op, root))
}
