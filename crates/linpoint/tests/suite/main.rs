//! Integration tests, in one binary because each one links separately.

mod calls;
#[cfg(feature = "parquet")]
mod columnar;
mod corpus;
mod data;
mod depths;
mod differential;
mod explored;
mod fuzz_bodies;
mod fuzz_regressions;
mod hints;
mod juc_conformance;
mod metamorphic;
mod monitors;
mod printed;
mod proofs;
mod recorded;
mod repeated;
mod shortcuts;
mod snapshots;
mod stuck;
mod transactions;
