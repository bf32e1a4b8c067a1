//! Replays witnesses: nothing here is shared with the algorithms that make them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::answer::Witness;
use super::memory::{INITIAL, Memory, MemoryOp};
use super::{Arbitration, Condition, Guarantees};
use crate::history::OpId;

/// Whether a witness shows that a register or a map satisfies a condition; `k` and `delta` are the numbers found.
pub(super) fn shows(
    memory: &Memory,
    condition: Condition,
    witness: &Witness,
    k: usize,
    delta: i64,
) -> bool {
    let replay = Replay {
        memory,
        at: memory.ops.iter().map(|op| (op.id, op)).collect(),
    };
    let by_process = |order: &[&MemoryOp]| replay.keeps_processes(order);
    match (witness, condition) {
        (Witness::EachRead | Witness::TooLong, _) => true,
        (Witness::Order(order), _) => {
            let Some(order) = replay.all_of(order) else {
                return false;
            };
            let keeps = match condition {
                Condition::Sequential => by_process(&order),
                Condition::WriteLinearizable => {
                    let writes = order.iter().copied().filter(|op| op.is_write());
                    by_process(&order) && keeps_time(writes, |op| op.call.into())
                }
                Condition::Strict => {
                    keeps_time(order.iter().copied(), |op| op.call.into()) && keeps_crashes(&order)
                }
                Condition::Quiescent => order.is_sorted_by_key(|op| op.stretch),
                Condition::DeltaAtomic(_) => {
                    let shift = |op: &MemoryOp| if op.is_write() { 0 } else { delta };
                    keeps_times(order.iter().copied(), |op| {
                        op.times.0.saturating_sub(shift(op))
                    })
                }
                _ => keeps_time(order.iter().copied(), |op| op.call.into()),
            };
            keeps && reads_fit(&order, k, &|_| true)
        }
        (Witness::Orders(orders), Condition::Coherent) => replay.coherent(orders),
        (Witness::Orders(orders), Condition::RegularAgreed) => replay.agreed(orders),
        (Witness::Orders(orders), _) => replay.of_processes(orders, condition),
        (Witness::Dependencies(order), _) => replay.depends(order, condition),
        (
            Witness::Visibility {
                visible,
                arbitrations,
            },
            Condition::Sessions(guarantees),
        ) => replay.sees(visible, arbitrations, guarantees),
        (Witness::Visibility { .. }, _) => false,
    }
}

/// No operation of the order returned before an earlier one of the order was called.
fn keeps_time<'m>(
    order: impl DoubleEndedIterator<Item = &'m MemoryOp>,
    call: impl Fn(&MemoryOp) -> i64,
) -> bool {
    let mut first_return = i64::MAX;
    order.rev().all(|op| {
        let keeps = call(op) < first_return;
        first_return = first_return.min(if op.is_pending() {
            i64::MAX
        } else {
            op.ret.into()
        });
        keeps
    })
}

/// No operation that was open at a crash comes after one that was called after the crash.
fn keeps_crashes(order: &[&MemoryOp]) -> bool {
    let mut latest_call = 0;
    order.iter().all(|op| {
        latest_call = latest_call.max(op.call);
        latest_call < op.deadline
    })
}

/// The same by recorded times, where operations that touch overlap.
fn keeps_times<'m>(
    order: impl DoubleEndedIterator<Item = &'m MemoryOp>,
    call: impl Fn(&MemoryOp) -> i64,
) -> bool {
    let mut first_return = i64::MAX;
    order.rev().all(|op| {
        let keeps = call(op) <= first_return;
        first_return = first_return.min(if op.is_pending() {
            i64::MAX
        } else {
            op.times.1
        });
        keeps
    })
}

/// Each read that counts returns one of the last `k` values of its key.
fn reads_fit(order: &[&MemoryOp], k: usize, counts: &dyn Fn(&MemoryOp) -> bool) -> bool {
    let mut values: HashMap<u32, Vec<u32>> = HashMap::new();
    order.iter().all(|op| {
        let values = values.entry(op.key).or_insert_with(|| vec![INITIAL]);
        if op.is_write() {
            values.push(op.value);
            return true;
        }
        !counts(op) || values.iter().rev().take(k).any(|&value| value == op.value)
    })
}

struct Replay<'m> {
    memory: &'m Memory,
    at: HashMap<OpId, &'m MemoryOp>,
}

impl<'m> Replay<'m> {
    /// The operations of an order, if none comes twice and all that `must` be there are.
    fn found(&self, order: &[OpId], must: impl Fn(&MemoryOp) -> bool) -> Option<Vec<&'m MemoryOp>> {
        let ops: Option<Vec<&MemoryOp>> = order.iter().map(|id| self.at.get(id).copied()).collect();
        let distinct: HashSet<&OpId> = order.iter().collect();
        let has = |op: &&MemoryOp| distinct.contains(&op.id);
        let mut needed = self
            .memory
            .ops
            .iter()
            .filter(|op| !op.is_pending() && must(op));
        let complete = distinct.len() == order.len() && needed.all(|op| has(&op));
        ops.filter(|_| complete)
    }

    fn all_of(&self, order: &[OpId]) -> Option<Vec<&'m MemoryOp>> {
        self.found(order, |_| true)
    }

    fn keeps_processes(&self, order: &[&MemoryOp]) -> bool {
        let mut last: HashMap<u32, u32> = HashMap::new();
        order.iter().all(|op| {
            last.insert(op.process, op.call)
                .is_none_or(|call| call < op.call)
        })
    }

    fn coherent(&self, orders: &[Vec<OpId>]) -> bool {
        let keys: HashSet<u32> = self.memory.ops.iter().map(|op| op.key).collect();
        let of_key = |order: &[OpId]| Some(self.at.get(order.first()?)?.key);
        keys.iter().all(|&key| {
            let has_any = self
                .memory
                .ops
                .iter()
                .any(|op| op.key == key && !op.is_pending());
            let order = orders.iter().find(|order| of_key(order) == Some(key));
            let Some(order) = order else { return !has_any };
            let ops = self.found(order, |op| op.key == key);
            ops.is_some_and(|ops| {
                let same = ops.iter().all(|op| op.key == key);
                same && self.keeps_processes(&ops) && reads_fit(&ops, 1, &|_| true)
            })
        })
    }

    fn agreed(&self, orders: &[Vec<OpId>]) -> bool {
        let mut place: HashMap<OpId, usize> = HashMap::new();
        let mut of_key: HashMap<u32, Vec<&MemoryOp>> = HashMap::new();
        for order in orders {
            let Some(ops) = self.found(order, |_| false) else {
                return false;
            };
            let Some(first) = ops.first() else { continue };
            if !keeps_time(ops.iter().copied(), |op| op.call.into()) {
                return false;
            }
            place.extend(order.iter().enumerate().map(|(i, &id)| (id, i)));
            of_key.insert(first.key, ops);
        }
        let none = Vec::new();
        let mut writes = self
            .memory
            .ops
            .iter()
            .filter(|op| op.is_write() && !op.is_pending());
        writes.all(|op| place.contains_key(&op.id))
            && of_key
                .values()
                .all(|order| each_read_has_a_place(&self.memory.ops, order))
            && self
                .memory
                .ops
                .iter()
                .filter(|op| !op.is_write())
                .all(|op| {
                    op.value != INITIAL
                        || of_key
                            .get(&op.key)
                            .unwrap_or(&none)
                            .iter()
                            .all(|w| op.call < w.ret)
                })
    }

    fn of_processes(&self, orders: &[Vec<OpId>], condition: Condition) -> bool {
        let processes: HashSet<u32> = self.memory.ops.iter().map(|op| op.process).collect();
        let pasts = match condition {
            Condition::CausalMemory => Some(self.pasts()),
            _ => None,
        };
        processes.iter().all(|&process| {
            let own = |op: &MemoryOp| op.process == process && !op.is_write();
            if !self.memory.ops.iter().any(&own) {
                return true;
            }
            let explains = |order: &Vec<OpId>| match &pasts {
                None => {
                    let ops = self.found(order, |op| op.is_write() || own(op));
                    ops.is_some_and(|ops| self.keeps_processes(&ops) && reads_fit(&ops, 1, &own))
                }
                Some(pasts) => self.explains_past(order, process, pasts),
            };
            orders.iter().any(explains)
        })
    }

    /// What each operation depends on, and itself; as sets. For short histories only: long ones are trusted.
    fn pasts(&self) -> Option<HashMap<OpId, HashSet<OpId>>> {
        const MOST_OPS: usize = 1_000;
        if self.memory.ops.len() > MOST_OPS {
            return None;
        }
        let mut pasts: HashMap<OpId, HashSet<OpId>> = HashMap::new();
        for op in &self.memory.ops {
            let is_before = |other: &&MemoryOp| {
                let is_earlier = other.is_earlier_in_process(op);
                let is_read = !op.is_write() && other.is_write();
                is_earlier || is_read && other.key == op.key && other.value == op.value
            };
            let before = self
                .memory
                .ops
                .iter()
                .filter(is_before)
                .map(|other| other.id);
            pasts.insert(op.id, before.chain([op.id]).collect());
        }
        loop {
            let mut is_new = false;
            for op in &self.memory.ops {
                let own = &pasts[&op.id];
                let all: HashSet<OpId> = own.iter().flat_map(|id| &pasts[id]).copied().collect();
                is_new |= all.len() > own.len();
                pasts.insert(op.id, all);
            }
            if !is_new {
                return Some(pasts);
            }
        }
    }

    fn explains_past(
        &self,
        order: &[OpId],
        process: u32,
        pasts: &Option<HashMap<OpId, HashSet<OpId>>>,
    ) -> bool {
        let own = |op: &MemoryOp| op.process == process && !op.is_write();
        let Some(ops) = self.found(order, own) else {
            return false;
        };
        let keeps = pasts.as_ref().is_none_or(|pasts| {
            let mut seen = HashSet::new();
            order.iter().all(|id| {
                seen.insert(*id);
                pasts[id].is_subset(&seen)
            })
        });
        keeps && self.keeps_processes(&ops) && reads_fit(&ops, 1, &own)
    }

    /// Each operation comes after its dependencies, and each read returns what it must.
    fn depends(&self, order: &[OpId], condition: Condition) -> bool {
        let Some(ops) = self.all_of(order) else {
            return false;
        };
        if !self.keeps_processes(&ops) {
            return false;
        }
        type Known = Rc<BTreeMap<u32, u32>>;
        let mut known: HashMap<u32, Known> = HashMap::new();
        // The writes of each key so far, with what they know.
        let mut writes: HashMap<u32, Vec<(&MemoryOp, Known)>> = HashMap::new();
        ops.iter().all(|op| {
            let own = known.entry(op.process).or_default();
            let of_key = writes.entry(op.key).or_default();
            if op.is_write() {
                of_key.push((op, Rc::clone(own)));
                return true;
            }
            let source = of_key.iter().rev().find(|(w, _)| w.value == op.value);
            if let Some((write, theirs)) = source {
                let is_new =
                    |(process, call): (&u32, &u32)| own.get(process).is_none_or(|own| own < call);
                let write_call = write.call + 1;
                if own.get(&write.process).is_none_or(|&own| own < write_call)
                    || theirs.iter().any(is_new)
                {
                    let all = Rc::make_mut(own);
                    for (&process, &call) in theirs.iter().chain([(&write.process, &write_call)]) {
                        let entry = all.entry(process).or_default();
                        *entry = (*entry).max(call);
                    }
                }
            }
            let is_seen = |w: &MemoryOp| {
                w.process == op.process || own.get(&w.process).is_some_and(|&calls| w.call < calls)
            };
            if condition == Condition::CausalConvergence {
                let last = of_key.iter().rev().find(|(w, _)| is_seen(w));
                return last.map_or(INITIAL, |(w, _)| w.value) == op.value;
            }
            match source {
                None => op.value == INITIAL && !of_key.iter().any(|(w, _)| is_seen(w)),
                Some((write, _)) => !of_key.iter().any(|(w, theirs)| {
                    let follows = w.process == write.process && write.call < w.call
                        || theirs
                            .get(&write.process)
                            .is_some_and(|&calls| write.call < calls);
                    w.id != write.id && is_seen(w) && follows
                }),
            }
        })
    }

    /// The visibility and the arbitrations keep the guarantees.
    fn sees(
        &self,
        visible: &[(OpId, Vec<OpId>)],
        arbitrations: &[(Option<u32>, Vec<OpId>)],
        guarantees: Guarantees,
    ) -> bool {
        let sees: HashMap<OpId, HashSet<OpId>> = visible
            .iter()
            .map(|(read, writes)| (*read, writes.iter().copied().collect()))
            .collect();
        let ops = &self.memory.ops;
        let reads = || ops.iter().filter(|op| !op.is_write());
        if !reads().all(|read| sees.contains_key(&read.id)) {
            return false;
        }
        let asks = |guarantee| guarantees.contains(guarantee);
        // Pairs of writes of which the first must come along with the second.
        let mut pairs: HashSet<(OpId, OpId)> = HashSet::new();
        for later in ops {
            for earlier in ops.iter().filter(|op| op.is_earlier_in_process(later)) {
                match (earlier.is_write(), later.is_write()) {
                    (true, true) if asks(Guarantees::MONOTONIC_WRITES) => {
                        pairs.insert((earlier.id, later.id));
                    }
                    (false, true) if asks(Guarantees::WRITES_FOLLOW_READS) => {
                        pairs.extend(sees[&earlier.id].iter().map(|&w| (w, later.id)));
                    }
                    (true, false)
                        if asks(Guarantees::READ_YOUR_WRITES)
                            && !sees[&later.id].contains(&earlier.id) =>
                    {
                        return false;
                    }
                    (false, false)
                        if asks(Guarantees::MONOTONIC_READS)
                            && !sees[&earlier.id].is_subset(&sees[&later.id]) =>
                    {
                        return false;
                    }
                    _ => {}
                }
            }
        }
        let brings = sees.values().all(|set| {
            pairs
                .iter()
                .all(|(first, second)| !set.contains(second) || set.contains(first))
        });
        let explains = |process: Option<u32>, order: &Vec<OpId>| {
            let place: HashMap<OpId, usize> =
                order.iter().enumerate().map(|(i, &id)| (id, i)).collect();
            let keeps = pairs.iter().all(|(first, second)| {
                let both = (place.get(first), place.get(second));
                matches!(both, (Some(first), Some(second)) if first < second)
                    || both.1.is_none() && self.at.get(second).is_none_or(|op| op.is_pending())
            });
            keeps
                && reads()
                    .filter(|read| process.is_none_or(|of| read.process == of))
                    .all(|read| {
                        let of_key = order.iter().rev().filter_map(|id| self.at.get(id));
                        let mut seen =
                            of_key.filter(|w| w.key == read.key && sees[&read.id].contains(&w.id));
                        seen.next().map_or(INITIAL, |w| w.value) == read.value
                    })
        };
        let processes: HashSet<u32> = reads().map(|read| read.process).collect();
        brings
            && match guarantees.arbitration() {
                Arbitration::One => arbitrations.iter().any(|(_, order)| explains(None, order)),
                Arbitration::Own => processes.iter().all(|&process| {
                    let own = arbitrations
                        .iter()
                        .filter(|(of, _)| of.is_none_or(|of| of == process));
                    own.into_iter()
                        .any(|(_, order)| explains(Some(process), order))
                }),
            }
    }
}

/// Each read of the key of these writes has a place in their order that keeps to time.
fn each_read_has_a_place(ops: &[MemoryOp], order: &[&MemoryOp]) -> bool {
    let Some(key) = order.first().map(|op| op.key) else {
        return true;
    };
    let place: HashMap<u32, usize> = order
        .iter()
        .enumerate()
        .map(|(i, op)| (op.value, i + 1))
        .collect();
    // The latest place of those that had returned, by return; the earliest of those called later, by call.
    let mut returned: Vec<(u32, usize)> = order
        .iter()
        .zip(1..)
        .filter(|(op, _)| !op.is_pending())
        .map(|(op, i)| (op.ret, i))
        .collect();
    returned.sort_unstable();
    let mut most = 0;
    returned.iter_mut().for_each(|(_, i)| {
        most = most.max(*i);
        *i = most;
    });
    let mut called: Vec<(u32, usize)> = order.iter().zip(1..).map(|(op, i)| (op.call, i)).collect();
    called.sort_unstable();
    let mut least = usize::MAX;
    called.iter_mut().rev().for_each(|(_, i)| {
        least = least.min(*i);
        *i = least;
    });
    ops.iter()
        .filter(|op| op.key == key && !op.is_write())
        .all(|read| {
            let own = if read.value == INITIAL {
                0
            } else {
                place.get(&read.value).copied().unwrap_or(0)
            };
            let known = read.value == INITIAL || own > 0;
            let ended = returned.partition_point(|&(ret, _)| ret < read.call);
            let before = ended.checked_sub(1).map_or(0, |last| returned[last].1);
            let later = called.partition_point(|&(call, _)| call <= read.ret);
            let after = called.get(later).map_or(usize::MAX, |&(_, i)| i);
            known && before <= own && own < after
        })
}
