//! Structures of textbooks and of crates, right and with a defect: how many random tests of three threads with three operations are
//! decided within a time, and how soon the defect is found.
//!
//! ```console
//! $ cargo run --release -p linpoint-test --example structures -- 10
//! $ cargo run --release -p linpoint-test --example structures -- 60 random right seqlock log
//! ```
//!
//! The number is that of the seconds for each of them; without it they take as long as they take. Only the plans, variants and
//! structures run that are named, or all.

mod cells;
mod locks;
mod maps;
mod nonblocking;
mod plan;
mod pointers;
mod waiting;

use std::time::Duration;

use plan::{STRUCTURES, Tests, Variant};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = arguments.first().and_then(|text| text.parse().ok());
    let budget = seconds.map(Duration::from_secs);
    let is_one_of = |name: &str, names: &[&str]| {
        let mut asked = arguments
            .iter()
            .filter(|&asked| names.contains(&asked.as_str()));
        arguments
            .iter()
            .all(|asked| !names.contains(&asked.as_str()))
            || asked.any(|asked| asked == name)
    };
    let names: Vec<&str> = STRUCTURES.iter().map(|structure| structure.name).collect();
    for structure in STRUCTURES {
        for (variant, word) in [(Variant::Right, "right"), (Variant::Wrong, "wrong")] {
            for (tests, plan) in [(Tests::Default, "default"), (Tests::Random(100), "random")] {
                let is_asked = is_one_of(structure.name, &names)
                    && is_one_of(word, &["right", "wrong"])
                    && is_one_of(plan, &["default", "random"]);
                if is_asked {
                    run(structure, variant, tests, budget);
                }
            }
        }
    }
}

fn run(structure: &plan::Structure, variant: Variant, tests: Tests, budget: Option<Duration>) {
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
