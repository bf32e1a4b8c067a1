//! `std::hint` under control.

pub use std::hint::{assert_unchecked, black_box};

use crate::runtime;

/// Marks that the thread waits for another one by spinning: the same as [`thread::yield_now`](crate::thread::yield_now) in a controlled
/// run.
#[track_caller]
pub fn spin_loop() {
    if !runtime::yield_now() {
        std::hint::spin_loop();
    }
}
