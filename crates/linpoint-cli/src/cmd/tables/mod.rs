//! `linpoint tables`: published tables and figures, measured anew.

mod monitors;
mod snapshot;

pub(crate) use monitors::monitors;
pub(crate) use snapshot::snapshot;
