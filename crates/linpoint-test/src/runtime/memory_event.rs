//! What threads do to memory and locks, event by event: all that the comparisons with other methods read.
//!
//! Events are recorded in executions whose steps are described in words, and in concurrent ones of objects with
//! [cells](crate::cell::UnsafeCell), in which data races are looked for.

use std::cell::Cell;
use std::panic::Location;
use std::sync::atomic::Ordering;

use super::access::Kind;
use super::execution::{Settings, Switches, Words};
use super::{Handle, controlled, with};

/// What a thread did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Read an atomic.
    Load(Ordering),
    /// Wrote an atomic.
    Store(Ordering),
    /// Read and wrote an atomic in one step.
    Update(Ordering),
    /// Read an atomic in a compare-exchange that failed.
    FailedUpdate(Ordering),
    Fence(Ordering),
    /// Read or wrote a cell, without any synchronisation.
    ReadCell,
    WriteCell,
    /// Read or wrote what a lock protects.
    ReadGuarded,
    WriteGuarded,
    /// Took a lock exclusively, or gave it back.
    Acquire,
    Release,
    /// Took a lock together with others, or gave its share back.
    Share,
    Unshare,
    /// Left a permit for a thread, or took it.
    Give,
    Take,
}

impl Action {
    /// The action of an access that takes something or gives it back.
    pub(super) fn of_lock(kind: Kind) -> Option<Action> {
        match kind {
            Kind::Read | Kind::Write | Kind::Join | Kind::Leave => None,
            Kind::Acquire => Some(Action::Acquire),
            Kind::Release => Some(Action::Release),
            Kind::Share => Some(Action::Share),
            Kind::Unshare => Some(Action::Unshare),
            Kind::Give | Kind::Open => Some(Action::Give),
            Kind::Take | Kind::Pass => Some(Action::Take),
        }
    }
}

/// An action of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryEvent {
    pub(crate) thread: usize,
    /// The operation in which it happened.
    pub(crate) op: usize,
    /// The object: its name as a number. Fences have none.
    pub(crate) object: Option<u64>,
    pub(crate) action: Action,
    pub(crate) location: Option<&'static Location<'static>>,
}

thread_local! {
    /// Whether the execution of this OS thread records events.
    static RECORDS: Cell<bool> = const { Cell::new(false) };
    /// Whether some execution of this OS thread came to a cell.
    static MEETS_CELLS: Cell<bool> = const { Cell::new(false) };
    /// Whether the execution of this OS thread is one in which data races are looked for.
    static FINDS_RACES: Cell<bool> = const { Cell::new(false) };
}

/// An execution begins on this OS thread. Returns whether it records events.
pub(super) fn begin(settings: &Settings) -> bool {
    let is_concurrent = settings.switches == Switches::Everywhere;
    FINDS_RACES.set(is_concurrent && MEETS_CELLS.get());
    RECORDS.set(FINDS_RACES.get() || settings.words == Words::Kept);
    RECORDS.get()
}

/// Whether it matters to data races that a write of an atomic comes before or after what others do, although it leaves the value as it is.
#[inline(always)]
pub(super) fn orders(action: Action) -> bool {
    FINDS_RACES.get() && !matches!(action, Action::Update(Ordering::Acquire))
}

/// Whether the execution that just ended came to a cell and did not record it. Later ones do.
pub(crate) fn missed_cells() -> bool {
    MEETS_CELLS.get() && !RECORDS.get()
}

/// Records that the running thread has access to a cell now.
#[inline(always)]
pub(crate) fn remember_cell(handle: &Handle, action: Action) {
    MEETS_CELLS.set(MEETS_CELLS.get() || controlled());
    remember(handle, action);
}

/// Records an action of the running thread, if the execution records them.
#[inline(always)]
pub(crate) fn remember(handle: &Handle, action: Action) {
    if RECORDS.get() {
        remember_now(Some(handle), action);
    }
}

/// Records a fence of the running thread, if the execution records events.
pub(crate) fn remember_fence(order: Ordering) {
    if RECORDS.get() {
        remember_now(None, Action::Fence(order));
    }
}

#[cold]
fn remember_now(handle: Option<&Handle>, action: Action) {
    if controlled() {
        with(|execution, _| {
            let object = handle.map(|handle| handle.object(execution));
            execution.remember(object, action);
        });
    }
}

/// Events as tests write them down.
#[cfg(test)]
pub(crate) mod listed {
    use super::{Action, MemoryEvent};

    /// Thread, object, action.
    pub(crate) type Event = (usize, u64, Action);

    pub(crate) fn event(thread: usize, op: usize, object: u64, action: Action) -> MemoryEvent {
        MemoryEvent {
            thread,
            op,
            object: (!matches!(action, Action::Fence(_))).then_some(object),
            action,
            location: None,
        }
    }

    /// Events of operations, one for each thread.
    pub(crate) fn events(list: &[Event]) -> Vec<MemoryEvent> {
        let with_op = |&(thread, object, action): &Event| event(thread, thread, object, action);
        list.iter().map(with_op).collect()
    }
}
