//! Objects that hold one value at a time.

pub mod bit;
pub mod cell;
mod clusters;
pub mod register;
mod zones;
