//! Objects that hold a number.

mod counter;
mod semaphore;

pub use counter::{Count, Counter};
pub use semaphore::{Permits, Semaphore};

use super::NotApplicable;

const DEPENDS_ON_COUNT: NotApplicable = NotApplicable("some operation depends on the count");
