//! `linpoint tables`: published tables and figures, measured anew.

mod monitors;
mod snapshot;
mod verification;

pub(crate) use monitors::monitors;
pub(crate) use snapshot::snapshot;
pub(crate) use verification::verification;
