//! Decides histories of queues, with any values, by a search at both ends of the queue at once. Ours.
//!
//! A general search keeps the contents of the queue in its state. That is hopeless where the queue is long and values
//! repeat: every order of overlapping insertions is another content, and the difference shows only when the values are
//! removed. This search keeps no contents. Every order of the operations is made of two: the order of the insertions,
//! `e1 e2 …`, and the order of the operations at the front, which are removals `d1 d2 …`, peeks, and empty results. The
//! search builds both from the start, value by value, and matches them: `e1`, then the peeks of its value, then `d1`,
//! then empty results, then `e2`. The number of values in the queue between `e1` and `d1` does not matter.
//!
//! **When two such orders fit together.** Let `P` be the order that the two impose: the order of the insertions, the
//! order at the front, `ek` before all operations on the `k`th value or a later one, and an empty result after the
//! `k`th removal before `ek+1`. There is an order that obeys `P` and real time exactly if there are no `x` and `y` such
//! that `x` comes before `y` in `P` and `y` returned before the call of `x`. For if `P` and real time contradict each
//! other, they do so in a cycle with a single step of real time: of two such steps, `y` returned before `x'` was called
//! and `y'` before `x` was, with `x` before `y` and `x'` before `y'` in `P`, the later one of the calls of `x` and `x'`
//! is after both returns, so one step is enough. Hence it suffices to know *which* operations were placed, and to check
//! for each new one:
//!
//! * an insertion is called before the return of every insertion and every operation at the front that was not placed
//!   yet;
//! * an operation at the front is called before the return of every such operation that was not placed yet;
//! * at an empty result, all operations at the front that were placed, and the empty result itself, are called before
//!   the return of every insertion that was not placed yet.
//!
//! So a configuration is a set of insertions and a set of operations at the front, with as many values each; both obey
//! real time, so each is given by a position and a few bits ([`Side`]). The number of configurations depends on how
//! many operations overlap, not on the length of the queue. When all operations at the front are placed, an order is
//! found: the insertions that are left follow in the order of their returns.
//!
//! [`search`] says what need not be tried. Pending removals may remove any value, or none; they differ by their calls
//! only, so they are used in the order of their calls.
//!
//! A history with operations that see more of the queue (its size, for instance) is not decided by this search.

mod order;
mod search;
mod side;

use super::Stopped;
use crate::engine::{Answer, Budget, Facts, Shortcut};
use crate::spec::{Kind, Role};
use crate::value::ValueTable;

use search::QueueSearch;
use side::Side;

/// An operation on a queue.
#[derive(Clone, Copy, Debug)]
struct QueueOp {
    /// Its position in the task.
    position: u32,
    call: u32,
    ret: u32,
    /// On the side of the insertions: the number of the value. At the front: an encoded [`FrontAction`].
    class: u32,
}

/// The class of empty results. Invariant: no removal and no peek has this class.
const EMPTY: u32 = 0;

/// The class of the removals of a value.
fn removal_of(value: u32) -> u32 {
    2 * value + 1
}

/// The class of the peeks of a value.
fn peek_of(value: u32) -> u32 {
    2 * value + 2
}

/// The action of an operation at the front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontAction {
    FindsNothing,
    Removes(u32),
    Peeks(u32),
}

impl FrontAction {
    /// The action of a class.
    fn of(class: u32) -> Self {
        match class.checked_sub(1) {
            None => FrontAction::FindsNothing,
            Some(class) if class % 2 == 0 => FrontAction::Removes(class / 2),
            Some(class) => FrontAction::Peeks(class / 2),
        }
    }
}

/// Bytes that the search takes for each operation, besides the memo.
const BYTES: u64 = 160;

/// Whether this search can decide the task.
pub(super) fn admits(task: &dyn Facts) -> bool {
    task.kind() == Some(&Kind::Queue)
        && task.shortcuts().has(Shortcut::QueueSearch)
        && super::are_known(task)
}

/// Decides a task that is [admitted](admits).
pub(super) fn decide(task: &dyn Facts, budget: &Budget) -> Result<Answer, Stopped> {
    budget.reserve_for(task.ops().len(), BYTES)?;
    let queue = Queue::of(task);
    let mut search = QueueSearch::new(&queue, budget);
    let found = search.run();
    let ids = |order: Vec<u32>| {
        let id = |position| task.ops()[position as usize].id;
        order.into_iter().map(id).collect()
    };
    match found {
        Ok(true) => Ok(Answer::in_order(ids(queue.order(&search.trail())))),
        Ok(false) => {
            let (partial, reached) = queue.explained(search.best());
            Ok(Answer::explains_only(ids(partial), reached))
        }
        Err(limit) => {
            let (order, reached) = queue.explained(search.best());
            Err(Stopped {
                limit,
                reached,
                order,
                states: Vec::new(),
            })
        }
    }
}

/// The operations of a task by what they do, each in the order of their calls.
#[derive(Debug, Default)]
struct Queue {
    adds: Vec<QueueOp>,
    /// Removals, peeks, and empty results.
    fronts: Vec<QueueOp>,
    /// Pending removals.
    pending: Vec<QueueOp>,
    /// The number of different values.
    values: u32,
}

impl Queue {
    fn of(task: &dyn Facts) -> Self {
        let mut values = ValueTable::default();
        let mut queue = Queue::default();
        for (position, &op) in (0u32..).zip(task.ops()) {
            let (side, class) = match task.role(op) {
                Role::Adds(value) => (&mut queue.adds, values.intern(value.into())),
                Role::Removes(value) => {
                    (&mut queue.fronts, removal_of(values.intern(value.into())))
                }
                Role::Peeks(value) => (&mut queue.fronts, peek_of(values.intern(value.into()))),
                Role::Empty => (&mut queue.fronts, EMPTY),
                _ => (&mut queue.pending, EMPTY),
            };
            side.push(QueueOp {
                position,
                call: op.call,
                ret: op.ret,
                class,
            });
        }
        queue.values = values.items().len() as u32;
        queue
    }
}
