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
//! | [`object`], [`Object`] | an object under test, its operations and its tests |
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
pub use model::{Model, model};
pub use object::ends::object_with;
pub use object::{Object, Progress, ends, object};
pub use report::{Failure, FailureKind, Report, Verdict};
pub use stress::{fresh, stress, stress_spec};

/// A map whose hashes have a fixed seed, so that runs are reproducible.
type Map<K, V> = std::collections::HashMap<K, V, foldhash::fast::FixedState>;
