//! Checks a snapshot object in every way, right and wrong: under control, under stress, and with simple histories, which a
//! monitor decides while the threads run.
//!
//! ```console
//! $ cargo run --release -p linpoint-test --example snapshot
//! ```

mod cells;
mod checks;

use cells::Scan;

fn main() -> Result<(), linpoint::Error> {
    for scan in [Scan::DoubleCollect, Scan::SingleCollect] {
        println!(
            "{scan:?}\n\nunder control:\n{}\n",
            checks::under_control(scan)
        );
        println!("under stress:\n{}\n", checks::under_stress(scan, 100)?);
        println!("simple histories:");
        for pair in [[0, 1], [0, 3], [2, 3]] {
            let runs = (0..200).map(|seed| checks::simple(scan, pair, 200, seed));
            let (mut events, mut violation) = (0, None);
            for run in runs {
                events += run.events;
                violation = violation.or(run.violation);
            }
            match violation {
                None => println!("  cells {pair:?}: {events} events, nothing wrong"),
                Some(found) => {
                    println!("  cells {pair:?}: {}", found.sentence(pair[0], pair[1]));
                }
            }
        }
        println!();
    }
    Ok(())
}
