//! Live objects: the examples of the paper, the searches against each other, and objects that must never fail.

// What goes wrong in a test should fail it, also outside the functions that are marked as tests.
#![allow(clippy::unwrap_used)]

mod campaigns;
mod counts;
mod differential;
mod documented;
mod facade;
mod locked;
mod objects;
mod observations;
mod orders;
mod pages;
mod paper;
mod prefixes;
mod replays;
mod reports;
mod specs;
mod spins;

/// How often a randomised test repeats: more if the environment asks for it.
fn rounds(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("{variable} is not a number: {text}")),
        Err(_) => default,
    }
}
