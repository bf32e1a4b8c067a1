//! Six structures of textbooks, right and with a defect: how many random tests of three threads with three operations are decided
//! within a time, and how soon the defect is found.
//!
//! ```console
//! $ cargo run --release -p linpoint-test --example structures -- 60
//! ```
//!
//! The number is that of the seconds for each of them; 10 by default.

mod locks;
mod nonblocking;
mod plan;

use std::time::Duration;

use plan::{STRUCTURES, Tests, Variant};

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let budget = Duration::from_secs(seconds.unwrap_or(10));
    for structure in STRUCTURES {
        for variant in [Variant::Right, Variant::Wrong] {
            for tests in [Tests::Default, Tests::Random(100)] {
                let report = (structure.check)(variant, tests, budget);
                let executions = report.effort().executions;
                println!(
                    "{} ({variant:?}), {tests:?}: {:.1?}, {executions} executions",
                    structure.name, report.elapsed
                );
                for line in plan::coverage(&report) {
                    println!("    {line}");
                }
            }
        }
    }
}
