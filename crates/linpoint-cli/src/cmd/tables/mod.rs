//! `linpoint tables`: published tables and figures, measured anew.

pub(crate) mod hitting;
pub(crate) mod monitors;
pub(crate) mod snapshot;
pub(crate) mod verification;
