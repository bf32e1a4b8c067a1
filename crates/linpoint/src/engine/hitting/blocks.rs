//! Decides strong hits (Definition 4.1 of the paper), membership in the canonical family of d operations, and its size,
//! without making the family. Block form is ours: a schedule strongly hits a tuple exactly if it is made of one block
//! for each member, in order, the member first.

use std::collections::HashMap;

use super::poset::{Base, Down, Poset};

/// Whether a schedule strongly hits a tuple: whatever stands at or after a member is, in real time, at or after that
/// member or a later one. So members come in their order, and each as late as it can.
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

/// The least d for which the canonical family of d operations has this schedule, and the operations that begin its
/// blocks: a block goes on as long as the base order does and everything is at or after its first operation.
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

/// How many schedules the canonical family of d operations has: [`Index::Tuples`](super::Index::Tuples).
pub fn family_size(poset: &Poset, base: Base, d: usize) -> u128 {
    let rank = ranks(poset, base);
    let mut minimal = Vec::new();
    // Ways to begin, by what matters for how they can go on: what is done, the last operation, the first of the last
    // block, and how many blocks may still begin.
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

/// The place of each operation in the base order.
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
