//! Checks all histories of a file, a directory or an archive, as `linpoint check` does.
//!
//! ```console
//! $ cargo run --release -p linpoint --example check_file -- corpus/queue-violation.jsonl
//! corpus/queue-violation.jsonl: not linearizable: 1 was enqueued before 2, but deq() → 2 by process 1 (line 5) served 2 before 1
//! ```

use std::path::PathBuf;
use std::process::ExitCode;

use linpoint::format::{ReadOptions, RecordedHistory, read};
use linpoint::object::guess_type;
use linpoint::{Checker, Error, Verdict, object_type};

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: check_file PATH");
        return ExitCode::from(64);
    };
    let mut all_linearizable = true;
    read(&path, &ReadOptions::default(), |recorded| {
        // A history that cannot be read does not keep the others from being checked.
        match recorded.and_then(|recorded| check(&recorded)) {
            Ok(linearizable) => all_linearizable &= linearizable,
            Err(error) => {
                eprintln!("{error}");
                all_linearizable = false;
            }
        }
    });
    if all_linearizable {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Prints the verdict on one history; returns whether it is linearizable.
fn check(recorded: &RecordedHistory) -> Result<bool, Error> {
    let history = &recorded.history;
    // The input names the type of the object, or its methods tell.
    let object = match &recorded.object_type {
        Some((name, params)) => object_type(name, params),
        None => match guess_type(history) {
            Some(name) => object_type(name, &Default::default()),
            None => Err(Error::usage("no type has all of these methods")),
        },
    };
    let object = object.map_err(|error| recorded.locate(error))?;
    let report = Checker::default()
        .check_recorded(&object, history)
        .map_err(|error| recorded.locate(error))?;
    let label = recorded.label();
    match report.verdict {
        Verdict::Linearizable(_) => println!("{label}: linearizable"),
        Verdict::Violation(violation) => {
            println!("{label}: not linearizable: {}", violation.core.sentence());
            return Ok(false);
        }
        Verdict::Undecided(undecided) => {
            println!("{label}: undecided: {undecided}");
            return Ok(false);
        }
    }
    Ok(true)
}
