//! The kernels: both versions of each.

mod kernels;

use std::process::ExitCode;

use linpoint_gallery::{Version, run};

fn main() -> ExitCode {
    run(kernels::ALL, &[Version::Buggy, Version::Fixed])
}
