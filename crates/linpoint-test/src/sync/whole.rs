//! Objects whose methods take effect at once.

use std::sync::atomic::Ordering;

use crate::runtime::memory_event::Action;
use crate::runtime::{Handle, quietly};

/// An object whose methods are taken to be atomic: for objects that are built of others, which were checked by themselves. A call is one
/// step of a controlled run, whatever happens in it, so there are far fewer executions. Outside of a run it is a call.
///
/// That the methods are linearizable must have been shown by a test of their own. They must not wait for another thread: in one step, none can come.
///
/// ```
/// use linpoint_test::Whole;
/// use linpoint_test::sync::Mutex;
///
/// // Two stacks, which have tests of their own, and a method that moves from one to the other.
/// struct Stacks([Whole<Mutex<Vec<u32>>>; 2]);
///
/// impl Stacks {
///     fn push(&self, value: u32) {
///         self.0[0].at_once(|stack| stack.lock().unwrap().push(value));
///     }
///
///     /// It is on neither for a moment.
///     fn shift(&self) -> Option<u32> {
///         let value = self.0[0].at_once(|stack| stack.lock().unwrap().pop())?;
///         self.0[1].at_once(|stack| stack.lock().unwrap().push(value));
///         Some(value)
///     }
///
///     fn has(&self, value: u32) -> bool {
///         self.0.iter().any(|stack| stack.at_once(|stack| stack.lock().unwrap().contains(&value)))
///     }
/// }
///
/// let report = linpoint_test::object(|| Stacks(std::array::from_fn(|_| Whole::new(Mutex::default()))))
///     .op("push", [1], |stacks, value| stacks.push(value))
///     .op0("shift", |stacks| stacks.shift())
///     .op("has", [1], |stacks, value| stacks.has(value))
///     .init(["push(1)"])
///     .matrix([["shift"], ["has(1)"]])
///     .check();
/// assert!(report.failure().is_some(), "{report}");
/// ```
#[derive(Debug, Default)]
pub struct Whole<T> {
    handle: Handle,
    object: T,
}

impl<T> Whole<T> {
    /// Takes the methods of the object to be atomic.
    pub fn new(object: T) -> Self {
        Whole {
            handle: Handle::new(),
            object,
        }
    }

    /// Calls methods of the object, in one step.
    #[track_caller]
    pub fn at_once<R>(&self, call: impl FnOnce(&T) -> R) -> R {
        let turn = self.handle.access();
        let result = quietly(|| call(&self.object));
        let action = Action::Update(Ordering::SeqCst);
        turn.write(&self.handle, action, true, || "at once".to_owned());
        result
    }

    /// The object, without a scheduling point: the mutable borrow is exclusive.
    pub fn get_mut(&mut self) -> &mut T {
        &mut self.object
    }

    /// Consumes it and returns the object.
    pub fn into_inner(self) -> T {
        self.object
    }
}
