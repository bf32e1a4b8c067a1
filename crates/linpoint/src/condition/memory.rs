//! Histories of registers and maps, as the algorithms of this module see them: reads and writes of keys.

use std::collections::HashMap;

use crate::history::{EventKind, NEVER, OpId, TypedHistory, events_in_order};
use crate::spec::{Kind, Need, Role, Spec};
use crate::value::{Interner, Value};

/// The number of the value that every key has at first.
pub(super) const INITIAL: u32 = 0;

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A read or a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryOp {
    pub(super) id: OpId,
    pub(super) process: u32,
    pub(super) key: u32,
    pub(super) access: Access,
    /// The number of the value read or written. Numbers are the same for the same value, also under different keys.
    pub(super) value: u32,
    pub(super) call: u32,
    pub(super) ret: u32,
    /// The rank before which it takes effect or never, if it was open when the whole system crashed; [`NEVER`] otherwise.
    pub(super) deadline: u32,
    /// The number of moments before it at which no operation of the whole history was open.
    pub(super) stretch: u32,
    /// The recorded times of call and return.
    pub(super) times: (i64, i64),
}

impl MemoryOp {
    pub(super) fn is_write(&self) -> bool {
        self.access == Access::Write
    }

    pub(super) fn is_pending(&self) -> bool {
        self.ret == NEVER
    }

    /// Whether it returned before `other` was called.
    pub(super) fn precedes(&self, other: &MemoryOp) -> bool {
        self.ret < other.call
    }

    /// Whether its process called it before `other`.
    pub(super) fn is_earlier_in_process(&self, other: &MemoryOp) -> bool {
        self.process == other.process && self.call < other.call
    }
}

/// The reads and writes of a history, in the order of their calls. Pending reads, which say nothing, are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) ops: Vec<MemoryOp>,
    /// Whether the history has times.
    pub(super) is_timed: bool,
}

/// Why a history is not one of a register or a map with reads and writes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoMemory {
    /// Its type holds no single value under each key.
    Type,
    /// This operation is neither a read nor a write.
    Other(OpId),
}

/// What an action does, as numbers.
#[derive(Clone, Copy)]
enum Does {
    This(Access, u32, u32),
    Nothing,
    Other,
}

impl Memory {
    /// The reads and writes of a history of `spec`; `times` has the recorded times, if there are any. The whole system crashed at
    /// the ranks `crashes`.
    pub(super) fn of<S: Spec>(
        spec: &S,
        history: &TypedHistory<S::Op, S::Ret>,
        times: Option<&dyn Fn(OpId) -> (i64, i64)>,
        crashes: &[u32],
    ) -> Result<Memory, NoMemory> {
        let Some(Kind::Slot(initial)) = spec.kind() else {
            return Err(NoMemory::Type);
        };
        let mut values: Interner<Value> = Interner::default();
        values.intern(initial);
        let mut keys: Interner<Option<Value>> = Interner::default();
        let does: Vec<Does> = history
            .actions()
            .iter()
            .map(|action| {
                let key = keys.intern(spec.key(&action.op));
                match spec.role(&action.op, action.ret.as_ref()) {
                    Role::Slot {
                        needs: Need::Is(value),
                        leaves: None,
                    } => Does::This(Access::Read, key, values.intern(value)),
                    Role::Slot {
                        needs: Need::Anything,
                        leaves: Some(value),
                    } => Does::This(Access::Write, key, values.intern(value)),
                    _ if action.ret.is_none() && spec.is_pure(&action.op, None) => Does::Nothing,
                    _ => Does::Other,
                }
            })
            .collect();
        let stretches = stretches(history.calls(), history.rets());
        let mut places: HashMap<(u32, u32), u32> = HashMap::new();
        let mut ops = Vec::with_capacity(history.len());
        for i in 0..history.len() {
            let id = OpId(i as u32);
            let (access, key, value) = match does[history.action_column()[i] as usize] {
                Does::This(access, key, value) => (access, key, value),
                Does::Nothing => continue,
                Does::Other => return Err(NoMemory::Other(id)),
            };
            if access == Access::Read && history.rets()[i] == NEVER {
                continue;
            }
            let next = places.len() as u32;
            ops.push(MemoryOp {
                id,
                process: history.process(id),
                key: *places
                    .entry((history.object_column()[i], key))
                    .or_insert(next),
                access,
                value,
                call: history.calls()[i],
                ret: history.rets()[i],
                deadline: deadline(crashes, history.calls()[i], history.rets()[i]),
                stretch: stretches[i],
                times: times.map_or((0, 0), |times| times(id)),
            });
        }
        Ok(Memory {
            ops,
            is_timed: times.is_some(),
        })
    }

    /// The same history with these operations only, by position in ascending order.
    pub(super) fn only(&self, positions: &[usize]) -> Memory {
        let ops = positions.iter().map(|&i| self.ops[i]).collect();
        Memory { ops, ..*self }
    }

    /// Whether the times between its events fit into 64 bits.
    pub(super) fn span_fits(&self) -> bool {
        let times = self.ops.iter().flat_map(|op| [op.times.0, op.times.1]);
        let known = times.filter(|&time| time != i64::MAX);
        let ends = known.clone().min().zip(known.max());
        ends.is_none_or(|(first, last)| last.checked_sub(first).is_some())
    }

    /// The number of keys and of processes, by their largest numbers.
    pub(super) fn keys(&self) -> usize {
        self.ops
            .iter()
            .map(|op| op.key as usize + 1)
            .max()
            .unwrap_or(0)
    }
}

/// The rank before which an operation takes effect or never: that of the first crash after its call, if it did not return.
pub(super) fn deadline(crashes: &[u32], call: u32, ret: u32) -> u32 {
    let crash = crashes.get(crashes.partition_point(|&crash| crash <= call));
    crash.copied().filter(|_| ret == NEVER).unwrap_or(NEVER)
}

/// The number of quiet moments before each operation: moments at which no operation is open.
pub(super) fn stretches(calls: &[u32], rets: &[u32]) -> Vec<u32> {
    let mut stretches = vec![0; calls.len()];
    let (mut open, mut quiet) = (0u32, 0u32);
    for (i, kind) in events_in_order(calls, rets) {
        match kind {
            EventKind::Call => {
                stretches[i as usize] = quiet;
                open += 1;
            }
            EventKind::Return => {
                open -= 1;
                quiet += u32::from(open == 0);
            }
        }
    }
    stretches
}

/// A history in which it is known which write each read returns. Pending writes that no read returns are left out: they precede
/// nothing, and may have taken no effect.
#[derive(Clone, Debug)]
pub(super) struct Linked {
    pub(super) ops: Vec<MemoryOp>,
    /// For each read, the position of the write that it returns.
    pub(super) source: Vec<Source>,
    /// The positions of the operations of each process, in its order.
    pub(super) lines: Vec<Vec<u32>>,
    /// The process of each operation, as a position in `lines`.
    pub(super) line: Vec<u32>,
    /// The place of each operation in its process.
    pub(super) place: Vec<u32>,
    /// The writes of each key by process: (process, positions in its order).
    pub(super) writers: Vec<Vec<(u32, Vec<u32>)>>,
}

/// Where the value of a read is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// It is a write.
    Itself,
    /// Written by the operation at this position.
    Write(u32),
    /// There from the start.
    Initial,
}

/// Why it is not known which write a read returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unlinked {
    /// This read returns what was never written: no condition but *safe* allows it.
    ThinAir(OpId),
    /// These two write the same value.
    Repeated(OpId, OpId),
    /// This writes what was there from the start.
    Restored(OpId),
}

impl Linked {
    pub(super) fn of(memory: &Memory) -> Result<Linked, Unlinked> {
        let mut writers: HashMap<(u32, u32), usize> = HashMap::new();
        let mut repeated = None;
        for (i, op) in memory
            .ops
            .iter()
            .enumerate()
            .filter(|(_, op)| op.is_write())
        {
            if op.value == INITIAL {
                repeated = repeated.or(Some(Unlinked::Restored(op.id)));
            }
            if let Some(first) = writers.insert((op.key, op.value), i) {
                repeated = repeated.or(Some(Unlinked::Repeated(memory.ops[first].id, op.id)));
            }
        }
        let mut is_read = vec![false; memory.ops.len()];
        for op in memory.ops.iter().filter(|op| !op.is_write()) {
            match writers.get(&(op.key, op.value)) {
                Some(&write) => is_read[write] = true,
                None if op.value == INITIAL => {}
                None => return Err(Unlinked::ThinAir(op.id)),
            }
        }
        if let Some(repeated) = repeated {
            return Err(repeated);
        }
        let is_kept = |&i: &usize| !memory.ops[i].is_pending() || is_read[i];
        let kept: Vec<usize> = (0..memory.ops.len()).filter(is_kept).collect();
        let mut new = vec![0; memory.ops.len()];
        kept.iter().zip(0u32..).for_each(|(&old, i)| new[old] = i);
        let ops: Vec<MemoryOp> = kept.iter().map(|&i| memory.ops[i]).collect();
        let source = ops
            .iter()
            .map(|op| match (op.access, writers.get(&(op.key, op.value))) {
                (Access::Write, _) => Source::Itself,
                (Access::Read, Some(&write)) => Source::Write(new[write]),
                (Access::Read, None) => Source::Initial,
            });
        let source = source.collect();
        Ok(Linked::in_lines(ops, source))
    }

    fn in_lines(ops: Vec<MemoryOp>, source: Vec<Source>) -> Linked {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut lines: Vec<Vec<u32>> = Vec::new();
        let (mut line, mut place) = (Vec::new(), Vec::new());
        let keys = ops.iter().map(|op| op.key as usize + 1).max().unwrap_or(0);
        let mut writers: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); keys];
        let mut at: HashMap<(u32, u32), usize> = HashMap::new();
        for (op, i) in ops.iter().zip(0u32..) {
            let next = lines.len() as u32;
            let number = *numbers.entry(op.process).or_insert(next);
            if number == next {
                lines.push(Vec::new());
            }
            let own = &mut lines[number as usize];
            line.push(number);
            place.push(own.len() as u32);
            own.push(i);
            if op.is_write() {
                let of_key = &mut writers[op.key as usize];
                let entry = *at.entry((op.key, number)).or_insert_with(|| {
                    of_key.push((number, Vec::new()));
                    of_key.len() - 1
                });
                of_key[entry].1.push(i);
            }
        }
        Linked {
            ops,
            source,
            lines,
            line,
            place,
            writers,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    pub(super) fn reads(&self) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
        let positions = 0u32..;
        positions
            .zip(&self.source)
            .filter_map(|(i, source)| match *source {
                Source::Itself => None,
                Source::Write(write) => Some((i, Some(write))),
                Source::Initial => Some((i, None)),
            })
    }

    pub(super) fn op(&self, position: u32) -> &MemoryOp {
        &self.ops[position as usize]
    }

    /// The position of an operation in its process.
    pub(super) fn place_of(&self, position: u32) -> u32 {
        self.place[position as usize]
    }

    /// The process of an operation.
    pub(super) fn line_of(&self, position: u32) -> usize {
        self.line[position as usize] as usize
    }

    /// Of the writes of `key` by each process that has some among its first `upto(process)` operations, the last one.
    pub(super) fn last_writes<'a>(
        &'a self,
        key: u32,
        upto: impl Fn(usize) -> u32 + 'a,
    ) -> impl Iterator<Item = u32> + 'a {
        self.writers[key as usize]
            .iter()
            .filter_map(move |(process, writes)| {
                let upto = upto(*process as usize);
                let count = writes.partition_point(|&write| self.place_of(write) < upto);
                Some(writes[count.checked_sub(1)?])
            })
    }

    /// Of the writes of `key` by each process, the first one at place `from(process)` or later.
    pub(super) fn first_writes<'a>(
        &'a self,
        key: u32,
        from: impl Fn(usize) -> u32 + 'a,
    ) -> impl Iterator<Item = u32> + 'a {
        self.writers[key as usize]
            .iter()
            .filter_map(move |(process, writes)| {
                let from = from(*process as usize);
                let skipped = writes.partition_point(|&write| self.place_of(write) < from);
                writes.get(skipped).copied()
            })
    }

    /// A read of what was written only after it had returned, with that write.
    pub(super) fn future_read(&self) -> Option<(u32, u32)> {
        let pairs = self
            .reads()
            .filter_map(|(read, write)| Some((read, write?)));
        let mut pairs = pairs;
        pairs.find(|&(read, write)| self.op(read).precedes(self.op(write)))
    }
}
