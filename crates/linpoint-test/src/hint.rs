//! What `std::hint` offers.

pub use std::hint::*;
