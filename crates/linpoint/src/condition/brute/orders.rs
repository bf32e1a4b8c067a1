//! Total orders.

use super::super::memory::{INITIAL, MemoryOp};

/// Whether some total order of the operations that take part extends `before` and lets each read return one of the last `window`
/// values of its key. Pending writes may be left out.
pub(super) fn some_order(
    ops: &[MemoryOp],
    takes_part: &dyn Fn(&MemoryOp) -> bool,
    before: &dyn Fn(&MemoryOp, &MemoryOp) -> bool,
    window: usize,
) -> bool {
    let left: Vec<&MemoryOp> = ops.iter().filter(|op| takes_part(op)).collect();
    extend(&left, before, window, &mut Vec::new())
}

fn extend<'m>(
    left: &[&'m MemoryOp],
    before: &dyn Fn(&MemoryOp, &MemoryOp) -> bool,
    window: usize,
    order: &mut Vec<&'m MemoryOp>,
) -> bool {
    if left.iter().all(|op| op.is_pending()) {
        return true;
    }
    for (i, &op) in left.iter().enumerate() {
        if left
            .iter()
            .any(|&other| other.id != op.id && before(other, op))
        {
            continue;
        }
        if !op.is_write() && !sees(order, op, window) {
            continue;
        }
        let mut rest = left.to_vec();
        rest.remove(i);
        order.push(op);
        if extend(&rest, before, window, order) {
            return true;
        }
        order.pop();
    }
    false
}

/// Whether a read after these operations may return what it does.
fn sees(order: &[&MemoryOp], read: &MemoryOp, window: usize) -> bool {
    let writes = order
        .iter()
        .filter(|op| op.is_write() && op.key == read.key);
    let mut values: Vec<u32> = vec![INITIAL];
    values.extend(writes.map(|op| op.value));
    values
        .iter()
        .rev()
        .take(window)
        .any(|&value| value == read.value)
}

/// All orders of these numbers.
pub(super) fn permutations(items: &[usize]) -> Vec<Vec<usize>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, &first) in items.iter().enumerate() {
        let mut rest = items.to_vec();
        rest.remove(i);
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// All subsets of these numbers, each in the same order.
pub(super) fn subsets(items: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &item in items {
        let with: Vec<Vec<usize>> = all
            .iter()
            .map(|set: &Vec<usize>| set.iter().copied().chain([item]).collect())
            .collect();
        all.extend(with);
    }
    all
}

/// Whether one order of the writes of a key, some pending ones among them, extends the order of time and has a place for each read.
pub(super) fn agreed(ops: &[MemoryOp], key: u32) -> bool {
    let writes: Vec<usize> = (0..ops.len())
        .filter(|&i| ops[i].is_write() && ops[i].key == key)
        .collect();
    let by_time = |a: &MemoryOp, b: &MemoryOp| a.ret < b.call;
    let has_all = |set: &Vec<usize>| {
        writes
            .iter()
            .all(|i| ops[*i].is_pending() || set.contains(i))
    };
    let keeps_time = |order: &Vec<usize>| {
        (0..order.len()).all(|i| (0..i).all(|j| !by_time(&ops[order[i]], &ops[order[j]])))
    };
    let has_place = |order: &[usize], read: &MemoryOp| {
        (0..=order.len()).any(|place| {
            let (earlier, later) = order.split_at(place);
            let value = earlier.last().map_or(INITIAL, |&i| ops[i].value);
            value == read.value
                && !earlier.iter().any(|&i| by_time(read, &ops[i]))
                && !later.iter().any(|&i| by_time(&ops[i], read))
        })
    };
    let reads: Vec<&MemoryOp> = ops
        .iter()
        .filter(|op| !op.is_write() && op.key == key)
        .collect();
    let sets = subsets(&writes).into_iter().filter(has_all);
    let mut orders = sets.flat_map(|set| permutations(&set)).filter(keeps_time);
    orders.any(|order| reads.iter().all(|read| has_place(&order, read)))
}
