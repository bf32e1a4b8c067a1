//! The interface between the runtime and a test.

use std::rc::Rc;

use super::execution::{Layout, Outcome};
use super::thread_name;

/// An object with the operations of a test.
pub(crate) trait Program {
    /// How the operations are numbered.
    fn layout(&self) -> &Layout;
    /// Makes a new object.
    fn construct(&self) -> Rc<dyn Subject>;
    /// The number of the outcome "panicked with this message".
    fn panicked(&self, message: &str) -> Outcome;
    /// Whether a panic with this message comes from the engine that runs the threads, and not from the object.
    fn is_engine_panic(&self, message: &str) -> bool;
    /// The size of the stack of each thread, in bytes.
    fn stack_size(&self) -> usize;
    /// How many waits may end and weak compare-exchanges fail for no reason in an execution.
    fn most_spurious(&self) -> u32;
    /// The operation with its arguments, as in "add(200)".
    fn label(&self, op: usize) -> &str;
}

/// The object of one execution.
pub(crate) trait Subject {
    /// Runs an operation and numbers its result.
    fn invoke(&self, op: usize) -> Outcome;
    /// Whether something must hold of the object when all operations have returned.
    fn has_invariants(&self) -> bool {
        false
    }
    /// Panics unless all invariants hold.
    fn examine(&self) {}
}

/// The operation with the thread that runs it, as in "A.add(200)".
pub(crate) fn qualified_label<P: Program + ?Sized>(program: &P, op: usize) -> String {
    let thread = thread_name(program.layout().thread_of(op));
    format!("{thread}.{}", program.label(op))
}
