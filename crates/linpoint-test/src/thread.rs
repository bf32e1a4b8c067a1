//! What `std::thread` offers.

pub use std::thread::*;
