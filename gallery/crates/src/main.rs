//! Crates as they are published: `old` is built with the versions that have the bugs, `fixed` with those in which they are mended.

mod polled;
mod stressed;
mod turns;

use std::process::ExitCode;

use linpoint_gallery::{Version, run};

fn main() -> ExitCode {
    let version = match cfg!(feature = "fixed") {
        true => Version::Fixed,
        false => Version::Buggy,
    };
    let bugs = [polled::ALL, stressed::ALL].concat();
    run(&bugs, &[version])
}
