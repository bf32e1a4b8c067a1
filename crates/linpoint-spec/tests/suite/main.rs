//! What specification files can say and must keep, the gallery of `specs/`, and built-in types written as files.

mod contracts;
mod gallery;
mod language;
#[cfg(unix)]
mod programs;
mod twins;
