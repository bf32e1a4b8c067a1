//! Makes a linearization of a history of a snapshot. Ours.

use super::general::General;
use crate::engine::monitor::Log;
use crate::history::NEVER;

/// The operations in the order in which they took effect.
///
/// Scans stand in the order of their numbers, each after the updates that it saw and before those that it did not. Updates
/// between the same scans, and scans that saw the same, stand in the order of their calls. `repeats` change nothing and take
/// effect at their calls.
pub(super) fn order<A>(
    log: &Log<A>,
    snapshot: &General<u32, u32>,
    mut scans: Vec<(u64, u32)>,
    repeats: Vec<u32>,
) -> Vec<u32> {
    let call = |op: u32| log.calls[op as usize];
    scans.sort_unstable_by_key(|&(sum, op)| (sum, call(op)));
    let mut order = Vec::with_capacity(log.len());
    let last = snapshot.last_updates();
    let mut done = vec![0; last.len()];
    let mut advance = |order: &mut Vec<u32>, place: usize, to: u64| {
        let indices = done[place] + 1..=to;
        order.extend(indices.filter_map(|index| snapshot.update(place, index)));
        done[place] = to.max(done[place]);
    };
    let mut scans = scans.into_iter().peekable();
    for (&sum, link) in snapshot.chain() {
        let begin = order.len();
        for (place, &seen) in link.seen.iter().enumerate() {
            advance(&mut order, place, seen);
        }
        order[begin..].sort_unstable_by_key(|&op| call(op));
        while let Some((_, scan)) = scans.next_if(|&(of, _)| of == sum) {
            order.push(scan);
        }
    }
    // Updates that no scan saw take effect after all scans, or not at all if they are pending.
    let begin = order.len();
    for (place, &last) in last.iter().enumerate() {
        advance(&mut order, place, last);
    }
    order[begin..].sort_unstable_by_key(|&op| call(op));
    let seen = order[..begin].to_vec();
    let unseen = order[begin..]
        .iter()
        .copied()
        .filter(|&op| log.rets[op as usize] != NEVER);
    insert_repeats(log, seen.into_iter().chain(unseen), repeats)
}

/// Inserts operations that may take effect anywhere between their calls and returns.
///
/// Each operation of the order takes effect right after the latest call among itself and those before it, which is before its
/// return. Sorting by these moments merges the two.
fn insert_repeats<A>(
    log: &Log<A>,
    order: impl Iterator<Item = u32>,
    repeats: Vec<u32>,
) -> Vec<u32> {
    let mut moment = 0;
    let mut moments: Vec<(u32, u32)> = order
        .map(|op| {
            moment = moment.max(log.calls[op as usize]);
            (moment, op)
        })
        .collect();
    let returned = repeats
        .into_iter()
        .filter(|&op| log.rets[op as usize] != NEVER);
    moments.extend(returned.map(|op| (log.calls[op as usize], op)));
    moments.sort_by_key(|&(moment, _)| moment);
    moments.into_iter().map(|(_, op)| op).collect()
}
