//! Strong hits, and what the canonical family of d operations is without making it.

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
    let mut count = Count {
        poset,
        rank: ranks(poset, base),
        known: HashMap::new(),
    };
    count.from(&Down::default(), None, None, d)
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

struct Count<'p> {
    poset: &'p Poset,
    rank: Vec<u32>,
    known: HashMap<(Down, Option<u32>, Option<u32>, usize), u128>,
}

impl Count<'_> {
    /// How many ways there are to go on with at most so many new blocks.
    fn from(&mut self, done: &Down, last: Option<u32>, root: Option<u32>, left: usize) -> u128 {
        let mut minimal = Vec::new();
        done.minimal_outside(self.poset, &mut minimal);
        if minimal.is_empty() {
            return 1;
        }
        let key = (done.clone(), last, root, left);
        if let Some(&count) = self.known.get(&key) {
            return count;
        }
        let mut sum = 0u128;
        for op in minimal {
            let next = done.with(op);
            let more = if goes_on(self.poset, &self.rank, last, root, op) {
                self.from(&next, Some(op), root, left)
            } else if left > 0 {
                self.from(&next, Some(op), Some(op), left - 1)
            } else {
                0
            };
            sum = sum.saturating_add(more);
        }
        self.known.insert(key, sum);
        sum
    }
}
