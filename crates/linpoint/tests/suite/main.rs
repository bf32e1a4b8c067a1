//! Integration tests, in one binary because each one links separately.

mod differential;
mod juc_conformance;
