//! The built-in snapshot algorithms: six published ones, and two to test with.

mod afek;
mod attiya_welch;
mod bowman;
mod jayanti;
mod naive;
mod riany;

pub use afek::{AfekBounded, AfekUnbounded};
pub use attiya_welch::AttiyaWelch;
pub use bowman::Bowman;
pub use jayanti::Jayanti;
pub use naive::{Collect, Locked, SingleCollect};
pub use riany::Riany;
