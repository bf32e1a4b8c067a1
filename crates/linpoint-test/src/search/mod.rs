//! Searches: the schedules that are run.
//!
//! | module | what it does |
//! |---|---|
//! | [`dfs`] | every schedule, or those within a bound on preemptions; optionally one of those that lead to equal states |
//! | [`dpor`] | one schedule of each class that differs in the order of independent steps only |
//! | [`random`] | schedules drawn at random |
//! | [`replay`] | one given schedule |

pub(crate) mod dfs;
pub(crate) mod dpor;
mod races;
pub(crate) mod random;
pub(crate) mod replay;
