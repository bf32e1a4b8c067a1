//! Snapshot algorithms, right and wrong.

mod afek_bounded;
mod afek_unbounded;
mod attiya_welch;
mod bowman;
mod jayanti;
mod naive;
mod riany;

pub use afek_bounded::AfekBounded;
pub use afek_unbounded::AfekUnbounded;
pub use attiya_welch::AttiyaWelch;
pub use bowman::Bowman;
pub use jayanti::Jayanti;
pub use naive::{Locked, SingleCollect};
pub use riany::Riany;
