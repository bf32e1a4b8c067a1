//! Integration tests, in one binary because each one links separately.

mod corpus;
mod data;
mod differential;
mod fuzz_bodies;
mod fuzz_regressions;
mod juc_conformance;
mod metamorphic;
mod monitors;
mod recorded;
mod snapshots;
