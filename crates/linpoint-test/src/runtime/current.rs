//! The execution that runs on this OS thread, and the search that decides about it.
//!
//! A thread-local value with a destructor costs more to reach than most accesses cost otherwise. Hence the pointer to it, which has no
//! destructor.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ptr;

use super::execution::Execution;
use super::search::Search;

/// The execution of an OS thread, and its search.
pub(super) struct Current {
    pub(super) execution: Execution,
    /// `None` between executions.
    pub(super) search: Option<Box<dyn Search>>,
}

impl Drop for Current {
    fn drop(&mut self) {
        PLACE.set(ptr::null());
    }
}

thread_local! {
    static CURRENT: RefCell<Current> = RefCell::new(Current { execution: Execution::new(), search: None });
    /// Invariant: null, or the address of `CURRENT` of this OS thread, which its destructor sets to null.
    static PLACE: Cell<*const RefCell<Current>> = const { Cell::new(ptr::null()) };
}

/// Calls `work` with the cell of this OS thread. The reference cannot leave `work`.
#[inline(always)]
fn with_cell<R>(work: impl for<'a> FnOnce(&'a RefCell<Current>) -> R) -> R {
    if PLACE.get().is_null() {
        find();
    }
    // SAFETY: by its invariant, the pointer is to `CURRENT` of this OS thread: `find` has set it, or has panicked because the value
    // is destroyed. The value does not move, and only this OS thread destroys it, which does so after `work` has returned. The
    // lifetime of the reference is any that `work` is called with, so the reference does not outlive the call.
    work(unsafe { &*PLACE.get() })
}

#[cold]
#[inline(never)]
fn find() {
    CURRENT.with(|current| PLACE.set(current));
}

/// Reads the execution and the search.
pub(super) fn look<R>(work: impl FnOnce(&Current) -> R) -> R {
    with_cell(|current| work(&current.borrow()))
}

/// Works with the execution and the search, between executions.
pub(super) fn change<R>(work: impl FnOnce(&mut Current) -> R) -> R {
    with_cell(|current| work(&mut current.borrow_mut()))
}

/// Works with the execution that runs.
#[inline(always)]
pub(crate) fn with<R>(work: impl FnOnce(&mut Execution, &mut dyn Search) -> R) -> R {
    with_cell(|current| {
        let Current { execution, search } = &mut *current.borrow_mut();
        let search = search.as_deref_mut().expect("bug: a run without a search");
        work(execution, search)
    })
}
