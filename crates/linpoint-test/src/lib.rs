//! Is a live concurrent object linearizable? Runs it, and compares what happened with its own serial behaviour, or with a
//! specification.
//!
//! # Without a specification
//!
//! Write the object with the types of [`sync`], [`thread`] and [`hint`], which are those of `std` outside a check. Name its
//! operations. A check runs all serial executions of a test, which are the specification, and then all concurrent ones, each of
//! which must be explained by a serial one (Line-Up: Burckhardt, Dern, Musuvathi and Tan, PLDI 2010).
//!
//! ```
//! use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
//!
//! /// Counts, but loses an increment now and then.
//! #[derive(Default)]
//! struct Counter(AtomicU32);
//!
//! impl Counter {
//!     fn inc(&self) {
//!         let count = self.0.load(SeqCst);
//!         self.0.store(count + 1, SeqCst); // another `inc` may have happened meanwhile
//!     }
//!
//!     fn get(&self) -> u32 {
//!         self.0.load(SeqCst)
//!     }
//! }
//!
//! let report = linpoint_test::object(Counter::default)
//!     .op0("inc", Counter::inc)
//!     .op0("get", Counter::get)
//!     .random(3, 3, 100) // 100 random tests, 3 threads with 3 operations each
//!     .check(); // `.run()` panics with the report instead
//!
//! let failure = report.failure().expect("there is a bug");
//! println!("{failure}");
//! assert_eq!(failure.matrix.concat().len(), 3); // the smallest test that fails: two `inc` and a `get`
//! assert_eq!(failure.preemptions, 1);
//! ```
//!
//! A failure is a proof: no deterministic specification explains what the object did in this test. Its report has the test,
//! the history, the interleaving with source lines, the serial outcomes nearest to it, and a token that runs the same
//! execution again; [`Object::run`] also writes it as a page for the browser. What a pass means is its [`Coverage`].
//!
//! Operations that may wait for others are declared with [`may_block`](Object::may_block). An execution in which no thread
//! makes progress is compared with the serial executions that are stuck.
//!
//! # With a specification
//!
//! [`Object::against`] takes a [`linpoint::Spec`], deterministic or not, instead of the serial executions.
//!
//! # On real threads
//!
//! [`mod@stress`] calls operations at random on OS threads and checks the recorded history: for code that cannot be changed,
//! for long runs, and for the weak memory orderings of the processor.
//!
//! # Where to look
//!
//! | item | what it is |
//! |---|---|
//! | [`object()`], [`Object`] | an object under test, its operations and its tests |
//! | [`object_with`], [`ends`] | objects that are several handles, such as the ends of a channel |
//! | [`model()`], [`Model`] | a whole test: a closure that starts threads, joins them and asserts |
//! | [`specs`] | specifications of what programs share: channels, semaphores, cells |
//! | [`report`] | the result of a check |
//! | [`sync`], [`thread`], [`hint`], [`cell`], [`mod@time`] | `std` under control |
//! | [`mod@future`] | an executor under control: `block_on`, `spawn`, timers |
//! | [`Strategy`] | which executions are run |
//! | [`Engine`] | what runs their threads |
//! | [`mod@stress`] | the same objects on real threads |
//! | [`compare`] | data races, serializability and store buffers, on the same executions |

mod artefact;
mod campaign;
pub mod cell;
mod check;
pub mod compare;
mod engine;
pub mod future;
pub mod hint;
mod matrix;
mod model;
mod object;
pub mod report;
mod runtime;
mod search;
pub mod specs;
pub mod stress;
pub mod sync;
pub mod thread;
pub mod time;
mod token;
mod watchdog;

pub use check::{Coverage, Effort, Strategy};
pub use engine::Engine;
#[cfg(feature = "loom")]
pub use engine::Loom;
/// Makes an object under test of the methods that are marked: `MyQueue::object()`.
///
/// ```
/// use linpoint_test::sync::Mutex;
///
/// #[derive(Default)]
/// struct Account(Mutex<i64>);
///
/// #[linpoint_test::object]
/// impl Account {
///     #[op]
///     fn deposit(&self, #[any([10, 20])] amount: i64) {
///         *self.0.lock().unwrap() += amount;
///     }
///
///     #[op]
///     fn withdraw(&self, #[any(20..22)] amount: i64) -> bool {
///         let mut balance = self.0.lock().unwrap();
///         let enough = *balance >= amount;
///         if enough {
///             *balance -= amount;
///         }
///         enough
///     }
///
///     #[invariant]
///     fn is_not_overdrawn(&self) {
///         assert!(*self.0.lock().unwrap() >= 0);
///     }
/// }
///
/// let report = Account::object().all(2, 2).check();
/// assert!(report.passed(), "{report}");
/// ```
///
/// | attribute of a method | |
/// |---|---|
/// | `#[op]` | an operation: of `&self`, perhaps `async` |
/// | `#[op(may_block, only_on([0]))]` | what is said about it: methods of [`Object`] that take the name of an operation, with their other arguments |
/// | `#[any(values)]`, of an argument | the values that it takes: a list, a range, anything that can be iterated over. Of several arguments all combinations are taken |
/// | `#[new]` | the constructor, without arguments; otherwise [`Default`] |
/// | `#[invariant]` | panics unless it [holds](Object::invariant) |
///
/// Objects that are several handles are made by [`object_with`].
pub use linpoint_macros::object;
/// A test: of an object that the function returns, or a whole one, which is the body of the function.
///
/// ```
/// use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
/// use linpoint_test::thread;
/// use linpoint_test::Object;
///
/// #[linpoint_test::test]
/// fn tickets() -> Object<AtomicU32> {
///     linpoint_test::object(AtomicU32::default).op0("draw", |next| next.fetch_add(1, SeqCst)).all(2, 2)
/// }
///
/// #[linpoint_test::test(preemptions(3))]
/// fn scoped_threads_have_ended() {
///     let count = AtomicU32::new(0);
///     thread::scope(|scope| {
///         scope.spawn(|| count.fetch_add(1, SeqCst));
///     });
///     assert_eq!(count.load(SeqCst), 1);
/// }
/// ```
///
/// A function that returns an [`Object`], or a [`Model`], has it [run](Object::run); the body of one that returns nothing is a
/// [`Model`], of an `async` one after [`block_on`](future::block_on). The arguments of the attribute are settings: methods of what is run.
pub use linpoint_macros::test;
pub use model::{Model, model};
pub use object::ends::object_with;
pub use object::{Object, Progress, ends, object};
pub use report::{Failure, FailureKind, Report, Verdict};
pub use stress::{fresh, stress, stress_spec};
pub use sync::Whole;

/// A map whose hashes have a fixed seed, so that runs are reproducible.
type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
