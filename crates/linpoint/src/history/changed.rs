//! Histories made from others: with another result, or with fewer operations.

use std::sync::Arc;

use super::{History, NEVER, OpId};
use crate::value::{Value, ValueId};

impl History {
    /// The same history with another result of one operation. A pending operation does not change.
    pub fn with_result(&self, id: OpId, result: &Value) -> History {
        let mut changed = self.clone();
        // Equal values must keep equal numbers.
        let number = changed.find_value(result).unwrap_or_else(|| {
            let values = changed.values.list_mut();
            values.push(result.clone());
            values.len() as u32 - 1
        });
        changed.result[id.index()] = ValueId(number);
        changed
    }

    /// The history of the operations for which `keep` holds, with ranks from 0 on.
    pub fn filtered(&self, keep: impl Fn(OpId) -> bool) -> History {
        let kept: Vec<usize> = (0..self.len()).filter(|&i| keep(OpId(i as u32))).collect();
        let mut ranks: Vec<u32> = kept
            .iter()
            .flat_map(|&i| [self.call[i], self.ret[i]])
            .filter(|&rank| rank != NEVER)
            .collect();
        ranks.sort_unstable();
        let rank_of = |rank: u32| {
            if rank == NEVER {
                NEVER
            } else {
                ranks.partition_point(|&r| r < rank) as u32
            }
        };
        let mut history = self.clone().picked(&kept);
        for column in [&mut history.call, &mut history.ret] {
            for rank in Arc::make_mut(column) {
                *rank = rank_of(*rank);
            }
        }
        for note in &mut history.annotations {
            note.rank = rank_of(note.rank);
        }
        for op in &mut history.failed {
            (op.called, op.failed) = (rank_of(op.called), rank_of(op.failed));
        }
        history
    }
}
