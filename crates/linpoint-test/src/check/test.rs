//! A test as the checks see it: a program, with what was declared about its operations.

use std::rc::Rc;

use linpoint::report::PageData;

use super::serial::Serial;
use super::spec::Ruling;
use crate::engine::{self, Engine};
use crate::runtime::execution::{Outcome, Settings, Trace};
use crate::runtime::program::Program;
use crate::runtime::run::Flow;
use crate::runtime::search::Search;

/// A test of an object.
pub(crate) trait Test: Program {
    /// The hash of the object in replay tokens.
    fn identity(&self) -> u16;
    /// The engine that runs the threads.
    fn engine(&self) -> Engine;
    /// The result of an operation as text.
    fn describe(&self, op: usize, outcome: Outcome) -> String;
    /// Whether an operation may wait for another one for ever.
    fn may_block(&self, op: usize) -> bool;
    /// Whether an operation may have different results after the same serial calls.
    fn may_vary(&self, op: usize) -> bool;
    /// The serial histories of an observation file, if they take the place of phase 1; the file may be no such file.
    fn observed(&self) -> Option<Result<Serial, String>>;
    /// Whether executions are checked against a specification, instead of the serial executions.
    fn has_spec(&self) -> bool;
    /// The outcome of an operation as a history tells it. An operation that was cancelled has two in serial executions.
    fn told(&self, outcome: Outcome) -> Outcome {
        outcome
    }
    /// Whether the future of an operation may be dropped before it is ready.
    fn may_be_cancelled(&self, op: usize) -> bool;
    /// Whether an execution fails by what it does, a panic or that it is stuck, and not by its history.
    fn asserts(&self) -> bool;
    /// What the specification says about an execution, if there is one.
    fn rule(&self, trace: &Trace) -> Option<Ruling>;
    /// The page about an execution that the specification does not allow. The page is called `name`.
    fn page(&self, trace: &Trace, name: &str) -> Option<PageData>;
}

/// Runs all executions of a test that `search` asks for, or until `visit` returns [`Flow::Enough`]. Returns the search.
pub(crate) fn explore<S: Search>(
    test: &Rc<dyn Test>,
    settings: Settings,
    search: S,
    visit: impl FnMut(&Trace, &mut S) -> Flow,
) -> S {
    let program: Rc<dyn Program> = Rc::<dyn Test>::clone(test);
    engine::explore::explore(test.engine(), &program, settings, search, visit)
}
