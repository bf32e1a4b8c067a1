//! Stress tests of concurrent objects that people use: `cargo run --release -p linpoint-test --example real_crates [TIMES]
//! [NAME]` runs all of them, or those whose names contain `NAME`, so many times as long as the tests do; 4 by default.

mod cases;

use cases::{CASES, Expected};
use linpoint_test::stress::Outcome;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let times = args.next().map_or(Ok(4), |times| times.parse())?;
    let name = args.next().unwrap_or_default();
    let mut is_as_expected = true;
    for case in CASES.iter().filter(|case| case.name.contains(&name)) {
        let report = (case.check)(times)?;
        let verdict = match (&report.outcome, case.expected) {
            (Outcome::Linearizable, Expected::Linearizable) => "linearizable, as expected",
            (Outcome::Linearizable, Expected::Not(_)) => "no violation found",
            (Outcome::Violation(_), Expected::Not(_)) => "not linearizable, as expected",
            _ => {
                is_as_expected = false;
                "NOT AS EXPECTED"
            }
        };
        println!("{}: {verdict}", case.name);
        if let Expected::Not(reason) = case.expected {
            println!("({reason})");
        }
        println!("{report}\n");
    }
    if is_as_expected {
        Ok(())
    } else {
        Err("some objects did not behave as expected".into())
    }
}
