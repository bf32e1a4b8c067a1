//! The execution that runs on this OS thread, and the search that decides about it.
//!
//! A thread-local value with a destructor costs more to reach than most accesses cost otherwise; hence a pointer to it, which has
//! none.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ptr;

use super::execution::Execution;
use crate::runtime::search::Search;

pub(super) struct Engine {
    pub(super) execution: Execution,
    pub(super) search: Option<Box<dyn Search>>,
}

impl Drop for Engine {
    fn drop(&mut self) {
        PLACE.set(ptr::null());
    }
}

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::new(Engine { execution: Execution::new(), search: None });
    /// Where it is, from its first use until its destructor runs.
    static PLACE: Cell<*const RefCell<Engine>> = const { Cell::new(ptr::null()) };
}

/// Only for as long as a function of this module runs.
#[inline(always)]
fn engine<'a>() -> &'a RefCell<Engine> {
    if PLACE.get().is_null() {
        find();
    }
    // SAFETY: the pointer is to the engine of this OS thread, where thread-local values stay. Its destructor takes the pointer
    // away; no other thread runs it, and this one not before it has left this module.
    unsafe { &*PLACE.get() }
}

#[cold]
#[inline(never)]
fn find() {
    ENGINE.with(|engine| PLACE.set(engine));
}

/// Looks at the engine.
pub(super) fn look<R>(work: impl FnOnce(&Engine) -> R) -> R {
    work(&engine().borrow())
}

/// Works with the engine between executions.
pub(super) fn change<R>(work: impl FnOnce(&mut Engine) -> R) -> R {
    work(&mut engine().borrow_mut())
}

/// Works with the execution that runs here.
#[inline(always)]
pub(crate) fn with<R>(work: impl FnOnce(&mut Execution, &mut dyn Search) -> R) -> R {
    let Engine { execution, search } = &mut *engine().borrow_mut();
    let search = search.as_deref_mut().expect("bug: a run without a search");
    work(execution, search)
}
