//! Runs with little memory: they end with an exit code and a message of their own, whatever fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LINPOINT: &str = env!("CARGO_BIN_EXE_linpoint");

/// A history of a deque, which only the search decides.
fn deque() -> PathBuf {
    let path = std::env::temp_dir().join(format!("linpoint-memory-{}.jsonl", std::process::id()));
    let arguments = "generate --type deque --ops 4000 --processes 6 --violation --output";
    let mut command = Command::new(LINPOINT);
    let status = command.args(arguments.split(' ')).arg(&path).status();
    assert!(status.expect("linpoint starts").success());
    path
}

/// Checks `history` where the address space is limited to so many kilobytes.
fn check_within(kilobytes: u32, history: &Path) -> Output {
    let script = format!("ulimit -v {kilobytes}; exec \"$0\" check \"$1\" --timeout 5s");
    let mut command = Command::new("sh");
    command.args(["-c", &script, LINPOINT]).arg(history);
    command.output().expect("a shell is everywhere")
}

#[test]
fn a_limited_address_space_is_no_abort() {
    let history = deque();
    let mut limited = 0;
    for kilobytes in [80_000, 100_000, 140_000, 200_000, 300_000, 400_000] {
        let output = check_within(kilobytes, &history);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let told = text(&output.stdout) + &text(&output.stderr);
        match output.status.code() {
            Some(1) => assert!(told.contains("not linearizable"), "{told}"),
            Some(2 | 66) => {
                limited += 1;
                let reasons = [
                    "ulimit -v",
                    "memory allocation",
                    "threads cannot be started",
                ];
                assert!(reasons.iter().any(|reason| told.contains(reason)), "{told}");
            }
            // The system cannot map the program itself, which is large without optimisation.
            Some(127) if told.contains("shared object") => {}
            None if told.is_empty() && kilobytes < 100_000 => {}
            other => panic!("{other:?} within {kilobytes} KB: {told}"),
        }
    }
    let _ = std::fs::remove_file(&history);
    assert!(limited > 0, "no limit was reached");
}
