//! One switch for a code base: `std` by default, types under control when it is tested.
//!
//! Code that names its locks, atomics and threads by this crate is what it would be with `std`: the modules are those of `std`, and there is
//! no dependency. With a `cfg`, the same code is made of the types of a tool that tests it:
//!
//! | `RUSTFLAGS` | [`sync`], [`thread`], [`hint`] | [`cell`] | [`time`] | [`statics!`] | [`thread_local!`] |
//! |---|---|---|---|---|---|
//! | | `std` | over `std` | `std` | `static` | `std` |
//! | `--cfg linpoint` | `linpoint_test` | `linpoint_test` | `linpoint_test` | `linpoint_test` | `linpoint_test` |
//! | `--cfg loom` | `loom` | `loom` | `std` | | `loom` |
//! | `--cfg shuttle` | `shuttle` | over `std` | `std` | | `shuttle` |
//!
//! ```
//! use linpoint_sync::sync::atomic::{AtomicU32, Ordering};
//!
//! /// Numbers that are handed out once each.
//! #[derive(Default)]
//! pub struct Tickets(AtomicU32);
//!
//! impl Tickets {
//!     pub fn draw(&self) -> u32 {
//!         self.0.fetch_add(1, Ordering::Relaxed)
//!     }
//! }
//!
//! // The test; it needs `linpoint-test` as a dependency for tests only.
//! # #[cfg(linpoint)] {
//! let report = linpoint_test::object(Tickets::default).op0("draw", Tickets::draw).all(2, 2).check();
//! assert!(report.passed(), "{report}");
//! # }
//! ```
//!
//! Run it with `RUSTFLAGS="--cfg linpoint" cargo test --target-dir target/linpoint`. With a folder of its own, the two builds do not replace
//! each other.
//!
//! **What to avoid.** Constructors are `const` in `std` only: declare statics by [`statics!`]. What a tool does not have, such as the
//! `time` of `loom`, is that of `std`, or is missing. `shuttle` and `loom` lack some types of `std`; code that is to run under all of
//! them can use what all of them have.

#[cfg(any(all(linpoint, loom), all(linpoint, shuttle), all(loom, shuttle)))]
compile_error!("at most one of --cfg linpoint, --cfg loom and --cfg shuttle");

#[cfg(linpoint)]
pub use linpoint_test::{cell, hint, statics, sync, thread, thread_local, time};

#[cfg(loom)]
pub use loom::{cell, hint, sync, thread, thread_local};

#[cfg(shuttle)]
pub use shuttle::{hint, sync, thread, thread_local};

#[cfg(not(any(linpoint, loom, shuttle)))]
pub use std::{hint, sync, thread, thread_local};

#[cfg(not(linpoint))]
pub use std::time;

#[cfg(not(any(linpoint, loom)))]
pub mod cell;

/// Statics, whose constructors need not be `const` under control: `statics! { static COUNT: AtomicU32 = AtomicU32::new(0); }`.
///
/// ```
/// use linpoint_sync::sync::atomic::{AtomicU32, Ordering};
///
/// linpoint_sync::statics! {
///     /// How often it was called.
///     pub static CALLS: AtomicU32 = AtomicU32::new(0);
/// }
///
/// CALLS.fetch_add(1, Ordering::Relaxed);
/// assert_eq!(CALLS.load(Ordering::Relaxed), 1);
/// ```
#[cfg(not(any(linpoint, loom, shuttle)))]
#[macro_export]
macro_rules! statics {
    ($($(#[$meta:meta])* $vis:vis static $name:ident: $type:ty = $init:expr;)*) => {
        $($(#[$meta])* $vis static $name: $type = $init;)*
    };
}
