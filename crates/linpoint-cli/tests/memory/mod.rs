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

/// A folder of its own for a test, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let name = format!("linpoint-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Scratch(path)
    }

    /// Runs the command line in the folder.
    fn run(&self, arguments: &str) -> Output {
        let mut command = Command::new(LINPOINT);
        command.args(arguments.split(' ')).current_dir(&self.0);
        command.output().expect("linpoint starts")
    }

    fn files(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).expect("a folder");
        let name = |file: std::io::Result<std::fs::DirEntry>| file.expect("a file").file_name();
        let mut names: Vec<String> = files
            .map(|file| name(file).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_input_that_does_not_fit_is_read_object_by_object() {
    let scratch = Scratch::new("stream");
    let generate =
        "generate --type register --ops 800000 --objects 50 --processes 8 -o events.jsonl";
    assert!(scratch.run(generate).status.success());
    let sort = "sort events.jsonl -o sorted.jsonl --memory 40M";
    let sorted = scratch.run(sort);
    assert!(sorted.status.success(), "{sorted:?}");
    assert_eq!(scratch.files(), ["events.jsonl", "sorted.jsonl"]);
    let check = |options: &str| {
        let output = scratch.run(&format!("check {options} --memory 120M --no-certify"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let told = text(&output.stdout) + &text(&output.stderr);
        (output.status.code(), told)
    };
    let all = (Some(0), "50 objects: 50 linearizable\n".to_owned());
    assert_eq!(check("sorted.jsonl"), all);
    assert_eq!(check("events.jsonl --spill ."), all);
    assert_eq!(scratch.files(), ["events.jsonl", "sorted.jsonl"]);
    let (code, told) = check("events.jsonl");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("it is too large to be read"), "{told}");
}

/// A limit on the size of files stands for a disk that is full.
#[test]
fn a_full_disk_ends_a_sort_without_files() {
    let scratch = Scratch::new("full");
    let generate = "generate --type register --ops 100000 --objects 50 -o events.jsonl";
    assert!(scratch.run(generate).status.success());
    let script = "trap '' XFSZ; ulimit -f 100; \
                  exec \"$0\" sort events.jsonl -o sorted.jsonl --memory 2M --spill .";
    let mut command = Command::new("sh");
    command
        .args(["-c", script, LINPOINT])
        .current_dir(&scratch.0);
    let output = command.output().expect("a shell is everywhere");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(66), "{told}");
    let reason = "what does not fit into memory cannot be written to .: File too large (os error 27); \
                  name another folder with --spill, or allow more --memory";
    assert!(told.contains(reason), "{told}");
    assert_eq!(scratch.files(), ["events.jsonl"]);
}
