//! Decides histories of stacks, with any values, by a search that does not keep the contents of the stack. Ours.
//!
//! As for [queues](super::queue), a search that keeps contents does not end where many values are on the stack and
//! repeat. But the operations between the push of a value and its pop do not depend on the values below it. So it
//! suffices to find out once, for each value and each set of operations that took effect before its push, with which
//! sets of operations it can be popped. That makes the search one through the configurations of a *pushdown system*,
//! with summaries: a [frame](frames::Frames) is a value on top and the set of operations that took effect when it had
//! just been pushed; a configuration is a frame and the set of operations that took effect since the start; and a frame
//! remembers the configurations from which its value was pushed, and the sets with which it was popped. A new way to
//! push a value is combined with all known pops of its frame, and a new pop with all known pushes.
//!
//! Sets of operations obey real time, so each is given by the number of operations that were called and the few of
//! these that wait ([`Sets`]). For a fixed number of overlapping operations, the number of sets grows linearly with the
//! length of the history, and the number of configurations with its square at worst; in practice, hardly faster than
//! linearly.
//!
//! What need not be tried, as in the general search: an operation takes effect only when the return of one that waits
//! is due; peeks and empty results that fit take effect at once; of two operations with the same action, the one that
//! returns first goes first; the removal of a value that is pushed once and popped once takes effect at once. A pending
//! pop is not tried where a pop of the value on top that returned can take effect now.

mod eager_removals;
mod frames;
mod sets;

use super::Stopped;
use crate::engine::{Answer, Budget, Facts, Shortcut};
use crate::history::NEVER;
use crate::spec::{Kind, Role};
use crate::value::ValueTable;

use eager_removals::EagerRemovals;
use frames::Frames;
use sets::Sets;

/// An operation on a stack.
#[derive(Clone, Copy, Debug)]
struct StackOp {
    call: u32,
    ret: u32,
    action: StackAction,
}

/// The action of an operation, with values by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StackAction {
    Push(u32),
    Pop(u32),
    /// A pending pop: removes the value on top, or never takes effect.
    PopSome,
    Peek(u32),
    FindNothing,
}

/// Whether this search can decide the task.
pub(super) fn admits(task: &dyn Facts) -> bool {
    task.kind() == Some(&Kind::Stack)
        && task.shortcuts().has(Shortcut::StackSearch)
        && super::are_known(task)
}

/// Decides a task that is [admitted](admits).
pub(super) fn decide(task: &dyn Facts, budget: &Budget) -> Result<Answer, Stopped> {
    let sets = Sets::new(items(task));
    let eager_removals = if task.shortcuts().has(Shortcut::EagerRemovals) {
        EagerRemovals::of(&sets.items)
    } else {
        EagerRemovals::default()
    };
    let mut frames = Frames::new(sets, eager_removals, budget);
    let found = frames.find();
    let (order, reached) = frames.furthest();
    let ids = |order: Vec<u32>| {
        let id = |position| task.ops()[position as usize].id;
        order.into_iter().map(id).collect()
    };
    match found {
        Ok(true) => Ok(Answer::in_order(ids(order))),
        Ok(false) => Ok(Answer::explains_only(ids(order), reached)),
        Err(limit) => Err(Stopped {
            limit,
            reached,
            order,
            states: Vec::new(),
        }),
    }
}

/// The operations of the task, by position.
fn items(task: &dyn Facts) -> Vec<StackOp> {
    let mut values = ValueTable::default();
    let mut action = |role: Role| match role {
        Role::Adds(value) => StackAction::Push(values.intern(value.into())),
        Role::Removes(value) => StackAction::Pop(values.intern(value.into())),
        Role::Peeks(value) => StackAction::Peek(values.intern(value.into())),
        Role::Empty => StackAction::FindNothing,
        _ => StackAction::PopSome,
    };
    let item = |&op: &crate::engine::TaskOp| StackOp {
        call: op.call,
        ret: op.ret,
        action: action(task.role(op)),
    };
    task.ops().iter().map(item).collect()
}
