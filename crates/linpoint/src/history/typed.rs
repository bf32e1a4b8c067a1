//! Histories of typed operations, which the engines decide. They are decoded from a recorded history, or recorded by a program.

use std::hash::{BuildHasher, Hash};
use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::erased::OpNumber;
use super::{History, NEVER, OpId};
use crate::budget::{Budget, Ticker};
use crate::error::Error;
use crate::spec::{CallView, DecodeError, Recorded};
use crate::value::{Interner, Value};

/// The number of the result of a pending operation, which has none. Invariant: no value has this number, since there are
/// fewer than 2^32 values.
const NO_RESULT: u32 = u32::MAX;

/// An operation together with its result; `None` while pending.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Action<O, R> {
    /// The operation.
    pub op: O,
    /// Its result.
    pub ret: Option<R>,
}

/// A history of typed operations.
///
/// Record one by hand, or through [`crate::Checker`] from a [`History`]:
///
/// ```
/// use linpoint::TypedHistory;
/// let mut history = TypedHistory::new();
/// let write = history.call(0, "write 1");
/// let read = history.call(1, "read");
/// history.ret(write, 0);
/// history.ret(read, 1);
/// assert_eq!(history.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct TypedHistory<O, R> {
    actions: Vec<Action<O, R>>,
    /// What does not depend on the types of operations and results. Histories that differ only in these share it.
    rows: Arc<Rows>,
}

/// The columns of a history without types: a row for each operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// The positions of their actions.
    pub(super) action: Vec<u32>,
    process: Vec<u32>,
    object: Vec<u32>,
    /// The ranks of the calls, in ascending order.
    call: Vec<u32>,
    /// The ranks of the returns; [`NEVER`] for pending operations.
    pub(super) ret: Vec<u32>,
    /// The number of calls and returns so far, which is the next rank.
    pub(super) events: u32,
    /// Whether the operations that are pending at the end wait for ever.
    ends_stuck: bool,
}

impl<O, R> Default for TypedHistory<O, R> {
    fn default() -> Self {
        TypedHistory {
            actions: Vec::new(),
            rows: Arc::default(),
        }
    }
}

impl<O, R> TypedHistory<O, R> {
    /// An empty history.
    pub fn new() -> Self {
        Self::default()
    }

    /// `process` calls `op` now, on the only object.
    pub fn call(&mut self, process: u32, op: O) -> OpId {
        self.call_on(0, process, op)
    }

    /// `process` calls `op` now, on the given object.
    pub fn call_on(&mut self, object: u32, process: u32, op: O) -> OpId {
        let id = OpId(self.len() as u32);
        let rows = Arc::make_mut(&mut self.rows);
        rows.action.push(self.actions.len() as u32);
        self.actions.push(Action { op, ret: None });
        rows.process.push(process);
        rows.object.push(object);
        rows.call.push(rows.events);
        rows.ret.push(NEVER);
        rows.events += 1;
        id
    }

    /// The operation returns now. An operation that never returns is pending: it may or may not have taken effect.
    ///
    /// # Panics
    /// If the operation has returned before.
    pub fn ret(&mut self, id: OpId, ret: R) {
        let rows = Arc::make_mut(&mut self.rows);
        assert_eq!(
            rows.ret[id.index()],
            NEVER,
            "operation {} returns twice",
            id.0
        );
        self.actions[rows.action[id.index()] as usize].ret = Some(ret);
        rows.ret[id.index()] = rows.events;
        rows.events += 1;
    }

    /// The history ends stuck: the operations that are pending wait, and will wait for ever. See [`History::ends_stuck`].
    ///
    /// # Panics
    /// If no operation is pending.
    pub fn end_stuck(&mut self) {
        assert!(
            self.rows.ret.contains(&NEVER),
            "a history that ends stuck has a pending operation"
        );
        Arc::make_mut(&mut self.rows).ends_stuck = true;
    }

    /// Whether the history [ends stuck](History::ends_stuck).
    pub fn ends_stuck(&self) -> bool {
        self.rows.ends_stuck
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.rows.call.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.rows.call.is_empty()
    }

    /// The operation with its result.
    pub fn action(&self, id: OpId) -> &Action<O, R> {
        &self.actions[self.rows.action[id.index()] as usize]
    }

    /// The history of these actions and rows, which name them by number.
    pub(super) fn of_rows(actions: Vec<Action<O, R>>, rows: Arc<Rows>) -> Self {
        TypedHistory { actions, rows }
    }

    pub(super) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The actions, by number. Operations with the same number differ only in their times and processes.
    pub(crate) fn actions(&self) -> &[Action<O, R>] {
        &self.actions
    }

    pub(crate) fn action_column(&self) -> &[u32] {
        &self.rows.action
    }

    pub(crate) fn object_column(&self) -> &[u32] {
        &self.rows.object
    }

    /// The number of the process that called the operation.
    pub fn process(&self, id: OpId) -> u32 {
        self.rows.process[id.index()]
    }

    /// The ranks of the calls, by operation.
    pub fn calls(&self) -> &[u32] {
        &self.rows.call
    }

    /// The ranks of the returns, by operation; [`NEVER`] for pending ones.
    pub fn rets(&self) -> &[u32] {
        &self.rows.ret
    }
}

impl<O, R: Clone> TypedHistory<O, R> {
    /// The same history, with the numbers of actions as operations.
    pub(super) fn with_numbers(&self) -> TypedHistory<OpNumber, R> {
        let actions = (0u32..).zip(&self.actions).map(|(number, action)| Action {
            op: OpNumber(number),
            ret: action.ret.clone(),
        });
        TypedHistory {
            actions: actions.collect(),
            rows: Arc::clone(&self.rows),
        }
    }
}

impl<O: Clone + Eq + Hash, R: Clone + Eq + Hash> TypedHistory<O, R> {
    /// The same history in which equal actions have the same number, so that engines know which operations are equivalent.
    pub(crate) fn interned(&self) -> Self {
        let mut table = Interner::default();
        let renumbered: Vec<u32> = self
            .actions
            .iter()
            .map(|action| table.intern(action.clone()))
            .collect();
        let action = self.rows.action.iter();
        let action = action.map(|&a| renumbered[a as usize]).collect();
        let rows = Rows {
            action,
            ..(*self.rows).clone()
        };
        TypedHistory {
            actions: table.items().to_vec(),
            rows: Arc::new(rows),
        }
    }
}

impl<O> TypedHistory<O, Value> {
    /// Reads the methods and values of a recorded history as operations of `object`.
    pub fn decode<S: Recorded<Op = O>>(object: &S, history: &History) -> Result<Self, Error> {
        Self::decode_within(object, history, &Budget::default())
    }

    /// The same within the limits of `budget`.
    pub(crate) fn decode_within<S: Recorded<Op = O>>(
        object: &S,
        history: &History,
        budget: &Budget,
    ) -> Result<Self, Error> {
        object
            .check_together(&mut history.recorded_ops())
            .map_err(DecodeError::into_error)?;
        let mut ticker = Ticker::new(budget);
        let mut actions = Vec::new();
        let mut action = Vec::with_capacity(history.len());
        // Equal calls with equal results are one action. The table holds the first operation of each action.
        let (processes, methods) = (history.process_column(), history.method_column());
        let (arguments, results) = (history.argument_column(), history.result_column());
        let rets = history.rets();
        let key = |i: u32| {
            let i = i as usize;
            let process = if S::DEPENDS_ON_PROCESS {
                processes[i].0
            } else {
                0
            };
            let result = if rets[i] == NEVER {
                NO_RESULT
            } else {
                results[i].0
            };
            // Few words are hashed faster than many.
            let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
            [pair(process, methods[i].0), pair(arguments[i].0, result)]
        };
        let hint = |i: u32| history.hint(OpId(i));
        let hasher = foldhash::fast::FixedState::default();
        // Equal numbers help only operations that overlap, so the table is kept small enough for the processor's caches.
        const REMEMBERED: usize = 1 << 14;
        let mut firsts: HashTable<(u32, u32)> = HashTable::new();
        actions.reserve(history.count_values().min(history.len()));
        let values = history.values();
        for i in 0..history.len() as u32 {
            if firsts.len() == REMEMBERED {
                firsts.clear();
            }
            let own = key(i);
            let entry = firsts.entry(
                hasher.hash_one(own),
                |&(first, _)| key(first) == own && hint(first) == hint(i),
                |&(first, _)| hasher.hash_one(key(first)),
            );
            let number = match entry {
                Entry::Occupied(found) => found.get().1,
                Entry::Vacant(slot) => {
                    ticker.tick().map_err(Error::limit)?;
                    let number = actions.len() as u32;
                    let value = |number: u32| &values[number as usize];
                    actions.push(decode_with(object, history, OpId(i), value)?);
                    slot.insert((i, number));
                    number
                }
            };
            action.push(number);
        }
        let ids = (0..history.len() as u32).map(OpId);
        let (call, ret) = (history.calls().to_vec(), rets.to_vec());
        let returned = ret.iter().filter(|&&ret| ret != NEVER).count();
        let rows = Rows {
            action,
            process: processes.iter().map(|process| process.0).collect(),
            object: ids.map(|id| history.object_number(id).0).collect(),
            events: (call.len() + returned) as u32,
            call,
            ret,
            ends_stuck: history.ends_stuck(),
        };
        Ok(TypedHistory {
            actions,
            rows: Arc::new(rows),
        })
    }
}

/// What one operation does, without listing all values of the history.
pub(crate) fn decode_action<S: Recorded>(
    object: &S,
    history: &History,
    id: OpId,
) -> Result<Action<S::Op, Value>, Error> {
    decode_with(object, history, id, |number| history.value(number))
}

/// What one operation does; `value` finds values by their numbers.
#[inline]
fn decode_with<S: Recorded, V: Deref<Target = Value>>(
    object: &S,
    history: &History,
    id: OpId,
    value: impl Fn(u32) -> V,
) -> Result<Action<S::Op, Value>, Error> {
    let row = id.index();
    let at = |error: DecodeError| history.locate(id, error.into_error());
    let argument = value(history.argument[row].0);
    let call = CallView {
        process: history.client(&history.processes[history.process[row].0 as usize]),
        method: &history.methods[history.method[row].0 as usize],
        argument: &argument,
        hint: history.hint(id),
    };
    let result = (history.ret[row] != NEVER).then(|| value(history.result[row].0));
    let op = object
        .decode_returned(call, result.as_deref())
        .map_err(at)?;
    let ret = result
        .map(|result| object.decode_result(&op, &result))
        .transpose();
    Ok(Action {
        ret: ret.map_err(at)?,
        op,
    })
}
