//! What `std::sync` offers.

pub use std::sync::*;
