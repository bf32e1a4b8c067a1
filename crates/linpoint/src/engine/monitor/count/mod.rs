//! Objects that hold a number.

pub mod counter;
pub mod semaphore;
