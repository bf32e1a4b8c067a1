//! Queues, searched at both ends at once.
//!
//! A general search keeps what is in the queue. That is hopeless where the queue is long and values repeat: every order of
//! overlapping insertions is another content, and it shows only when the values come out. Here nothing is kept. Every
//! order of the operations is made of two: that of the insertions, `e1 e2 …`, and that of the operations at the front,
//! which are removals `d1 d2 …`, peeks, and empty results. The search builds both from the start, value by value, and
//! matches them: after `e1` the peeks that see its value, then `d1`, then empty results, then `e2`. At the time of `d1` the
//! queue may be a million values long; nobody has to know.
//!
//! **When two such orders fit together.** Let `P` be what must come before what: the order of the insertions, that at the
//! front, `ek` before all that is about the `k`th value or later, and an empty result after the `k`th removal before
//! `ek+1`. There is an order that obeys `P` and real time exactly if no `y` returned before the call of an `x` that must
//! not come after it. For if `P` and real time contradict each other, they do so in a cycle with a single step of real
//! time: of two such steps, `y` returned before `x'` was called and `y'` before `x` was, with `x` before `y` and `x'`
//! before `y'` in `P`, the later one of the calls of `x` and `x'` is after both returns, so one step is enough. Hence it is
//! enough to know, of what was placed, *which* operations these are, and to ask of each new one:
//!
//! * an insertion is called before any insertion returned that was not placed yet, and before any operation at the front
//!   did;
//! * an operation at the front is called before any such operation returned that was not placed yet;
//! * at an empty result, all operations at the front that were placed, and itself, are called before any insertion
//!   returned that was not placed yet.
//!
//! So a configuration is a set of insertions and a set of operations at the front, as many values each; both obey real
//! time, so each is told by a position and a few bits ([`Side`]). There are as many as the number of overlapping operations
//! allows, whatever the length of the queue. When everything at the front is placed, all is well: the insertions that are
//! left come in the order of their returns.
//!
//! What need not be tried is in [`walk`]. Removals that never returned may take out anything, or nothing; since nothing
//! distinguishes them but their calls, they are used in that order.
//!
//! A history with operations that see more of the queue (its size, say) is not searched this way.

mod order;
mod side;
mod walk;

use crate::engine::{Answer, Budget, Cause, Facts, GaveUp, Shortcut};
use crate::spec::{Kind, Role};
use crate::value::ValueTable;

use side::Side;
use walk::Walk;

/// An operation on a queue.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// Its position in the task.
    position: u32,
    call: u32,
    ret: u32,
    /// What it does, by a number. On the side of the insertions: the value.
    class: u32,
}

/// At the front: found nothing.
const EMPTY: u32 = 0;

/// At the front: takes out this value.
fn removal_of(value: u32) -> u32 {
    2 * value + 1
}

/// At the front: sees this value.
fn peek_of(value: u32) -> u32 {
    2 * value + 2
}

/// What a class of operations at the front sees or takes out, and whether it does the latter; `None` for [`EMPTY`].
fn value_of(class: u32) -> Option<(u32, bool)> {
    let class = class.checked_sub(1)?;
    Some((class / 2, class % 2 == 0))
}

/// Bytes that the search takes for each operation, besides its memory of what came to nothing.
const BYTES: u64 = 160;

/// Whether all operations are such that this search can decide the task.
pub(super) fn admits(task: &dyn Facts) -> bool {
    task.kind() == Some(&Kind::Queue)
        && task.shortcuts().has(Shortcut::QueueSearch)
        && super::are_known(task)
}

/// Decides a task that is [admitted](admits).
pub(super) fn decide(task: &dyn Facts, budget: &Budget) -> Result<Answer, GaveUp> {
    budget.reserve_for(task.ops().len(), BYTES)?;
    let queue = Queue::of(task);
    let mut walk = Walk::new(&queue, budget);
    let found = walk.run();
    let ids = |order: Vec<u32>| {
        let id = |position| task.ops()[position as usize].id;
        order.into_iter().map(id).collect()
    };
    match found {
        Ok(true) => Ok(Answer::in_order(ids(queue.order(&walk.trail())))),
        Ok(false) => {
            let (partial, reached) = queue.explained(walk.best());
            Ok(Answer::explains_only(ids(partial), reached))
        }
        Err(limit) => {
            let (_, reached) = queue.explained(walk.best());
            Err(GaveUp {
                cause: Cause::Limit(limit),
                reached,
            })
        }
    }
}

/// The operations of a task by what they do, each in the order of their calls.
#[derive(Debug, Default)]
struct Queue {
    adds: Vec<Item>,
    /// Removals, peeks, and empty results.
    fronts: Vec<Item>,
    /// Removals that never returned.
    lost: Vec<Item>,
    /// How many values there are.
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
                _ => (&mut queue.lost, EMPTY),
            };
            side.push(Item {
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
