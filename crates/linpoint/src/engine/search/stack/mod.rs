//! Stacks, searched without keeping what lies on them.
//!
//! As for [queues](super::queue), a search that keeps contents does not end where many values lie on the stack and repeat.
//! But whatever happens between the moment at which a value is put on the stack and that at which it is taken off depends
//! on nothing that lies below it. So it is enough to find out once, for each value and each set of operations that took
//! effect by then, in which ways it can come off again. That makes the search one through the configurations of a
//! *pushdown system*, with its summaries: a [`Frame`](frames::Frames) is a value on the top and the set of operations that
//! took effect when it had just been put there; a configuration is a frame and the set of operations that took effect
//! since the start; and a frame remembers from where its value was put there, and with which sets it was taken off.
//! Whoever finds a new way to put it there goes on with all that came off before, and the other way round.
//!
//! Sets of operations obey real time, so each is given by how many operations were called and by the few of these that
//! wait ([`Sets`]). For a fixed number of overlapping operations their number grows with the length of the history; that of
//! the configurations with its square at worst, and in practice hardly faster than the length.
//!
//! What need not be tried, as in the general search: something takes effect only when the return of one of those that
//! wait is due; peeks and empty results that fit take effect at once; of two that do the same, the one that returns first
//! goes first; the removal of a value that was there once goes at once. A removal that never returned takes nothing off that one which did return could take off now.

mod frames;
mod haste;
mod sets;

use crate::engine::{Answer, Budget, Cause, Facts, GaveUp, Shortcut};
use crate::history::NEVER;
use crate::spec::{Kind, Role};
use crate::value::ValueTable;

use frames::Frames;
use haste::Haste;
use sets::Sets;

/// An operation on a stack.
#[derive(Clone, Copy, Debug)]
struct Item {
    call: u32,
    ret: u32,
    does: Does,
}

/// What it does, with values by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Push(u32),
    Pop(u32),
    /// Takes something off, or nothing: nobody knows.
    PopSome,
    Peek(u32),
    FindNothing,
}

/// Whether all operations are such that this search can decide the task.
pub(super) fn admits(task: &dyn Facts) -> bool {
    task.kind() == Some(&Kind::Stack)
        && task.shortcuts().has(Shortcut::StackSearch)
        && super::are_known(task)
}

/// Decides a task that is [admitted](admits).
pub(super) fn decide(task: &dyn Facts, budget: &Budget) -> Result<Answer, GaveUp> {
    let sets = Sets::new(items(task));
    let haste = if task.shortcuts().has(Shortcut::HastyRemovals) {
        Haste::of(&sets.items)
    } else {
        Haste::default()
    };
    let mut frames = Frames::new(sets, haste, budget);
    let found = frames.find();
    let (order, reached) = frames.furthest();
    let ids = |order: Vec<u32>| {
        let id = |position| task.ops()[position as usize].id;
        order.into_iter().map(id).collect()
    };
    match found {
        Ok(true) => Ok(Answer::in_order(ids(order))),
        Ok(false) => Ok(Answer::explains_only(ids(order), reached)),
        Err(limit) => Err(GaveUp {
            cause: Cause::Limit(limit),
            reached,
        }),
    }
}

/// The operations of the task, by position.
fn items(task: &dyn Facts) -> Vec<Item> {
    let mut values = ValueTable::default();
    let mut does = |role: Role| match role {
        Role::Adds(value) => Does::Push(values.intern(value.into())),
        Role::Removes(value) => Does::Pop(values.intern(value.into())),
        Role::Peeks(value) => Does::Peek(values.intern(value.into())),
        Role::Empty => Does::FindNothing,
        _ => Does::PopSome,
    };
    let item = |&op: &crate::engine::TaskOp| Item {
        call: op.call,
        ret: op.ret,
        does: does(task.role(op)),
    };
    task.ops().iter().map(item).collect()
}
