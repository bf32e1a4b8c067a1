//! Outputs never destroy inputs, each other, or an older file that they do not replace completely.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const HISTORY: &str = "{\"linpoint\":1,\"type\":\"register\"}\n\
    {\"process\":0,\"method\":\"write\",\"arg\":1,\"call\":0,\"return\":1}\n";

/// A folder of its own for a test, with a history `h.jsonl` and its labels, removed afterwards.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(test: &str) -> Self {
        let name = format!("linpoint-files-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("sub")).expect("a folder can be made");
        fs::write(path.join("h.jsonl"), HISTORY).expect("a file can be written");
        Scratch(path)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
        command.args(arguments).current_dir(&self.0);
        command.output().expect("linpoint starts")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).expect("the file is there")
    }

    /// The names in the folder.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).expect("the folder is there");
        let mut names: Vec<String> = entries
            .map(|entry| {
                let entry = entry.expect("the folder is readable");
                entry.file_name().into_string().expect("names are UTF-8")
            })
            .collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// That the command refuses with a usage error that says `reason`.
fn assert_refused(scratch: &Scratch, arguments: &[&str], reason: &str) {
    let before = scratch.names();
    let output = scratch.run(arguments);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(64), "{arguments:?}: {message}");
    assert!(message.contains(reason), "{arguments:?}: {message}");
    assert_eq!(scratch.read("h.jsonl"), HISTORY, "{arguments:?}");
    assert_eq!(scratch.names(), before, "{arguments:?}");
}

#[test]
fn mappings_are_never_written_over() {
    let scratch = Scratch::new("mappings");
    let mapping = "method = \".method\"\nargument = \".arg\"\ncall = \".call\"\nreturn = \".return\"\n\
        skip = { without = \".method\" }\n";
    fs::write(scratch.0.join("m.toml"), mapping).unwrap();
    let refused = |command: &str, option: &str, file: &str, reason: &str| {
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.extend([option, file]);
        assert_refused(&scratch, &arguments, reason);
    };
    for option in ["--html", "--witness", "--proof", "--junit"] {
        let check = "check h.jsonl --type register --map m.toml";
        refused(check, option, "m.toml", "m.toml, which is read");
    }
    refused(
        "convert h.jsonl --map m.toml",
        "-o",
        "m.toml",
        "which is read",
    );
    assert_eq!(scratch.read("m.toml"), mapping);
}

#[test]
fn inputs_are_never_written_over() {
    let scratch = Scratch::new("inputs");
    let label = "{\"index\":0,\"linearizable\":true}\n";
    fs::write(scratch.0.join("h.labels.jsonl"), label).unwrap();
    fs::hard_link(scratch.0.join("h.jsonl"), scratch.0.join("hard.jsonl")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("h.jsonl", scratch.0.join("soft.jsonl")).unwrap();
    let absolute = scratch.0.join("sub/../h.jsonl");
    let mut paths = vec![
        "h.jsonl",
        "./sub/../h.jsonl",
        "hard.jsonl",
        "h.labels.jsonl",
        absolute.to_str().unwrap(),
    ];
    if cfg!(unix) {
        paths.push("soft.jsonl");
    }
    for path in paths {
        for option in ["--html", "--witness", "--junit", "--proof"] {
            let reason = "would write over";
            assert_refused(&scratch, &["check", "h.jsonl", option, path], reason);
        }
        assert_refused(
            &scratch,
            &["convert", "h.jsonl", "-o", path],
            "would write over",
        );
    }
    // What is below a directory that is read is an input too.
    assert_refused(
        &scratch,
        &["check", ".", "--html", "h.jsonl"],
        "which is read",
    );
    assert_eq!(scratch.read("h.labels.jsonl"), label);
}

#[test]
fn files_that_were_written_are_named() {
    let scratch = Scratch::new("named");
    let check = "check h.jsonl --html h.html --witness ./w.jsonl --junit sub/j.xml";
    let mut arguments: Vec<&str> = check.split(' ').collect();
    let output = scratch.run(&arguments);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "linpoint: wrote ./w.jsonl\nlinpoint: wrote h.html\nlinpoint: wrote sub/j.xml\n"
    );
    arguments.push("--quiet");
    assert_eq!(scratch.run(&arguments).stderr, b"");
}

#[test]
fn two_outputs_do_not_share_a_file() {
    let scratch = Scratch::new("outputs");
    let check = ["check", "h.jsonl", "--html", "out", "--junit", "sub/../out"];
    assert_refused(&scratch, &check, "--junit and --html would both write");
    fs::write(scratch.0.join("out"), "<!doctype html>older").unwrap();
    assert_refused(&scratch, &check, "--junit and --html would both write");
    assert_eq!(scratch.read("out"), "<!doctype html>older");
    let verify = "verify --algorithm bowman --processes 2 --history out --html ./out";
    let verify: Vec<&str> = verify.split(' ').collect();
    assert_refused(&scratch, &verify, "--html and --history would both write");
    // Devices can be shared.
    let output = scratch.run(&[
        "check",
        "h.jsonl",
        "--html",
        "/dev/null",
        "--junit",
        "/dev/null",
    ]);
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(unix)]
#[test]
fn the_standard_output_may_be_a_file() {
    let scratch = Scratch::new("stdout");
    let redirected = |arguments: &[&str], name: &str| {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(scratch.0.join(name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
        command.args(arguments).current_dir(&scratch.0);
        let status = command
            .stdout(file.unwrap())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        status.code()
    };
    // The report and the page go to the same file, one after the other.
    let check = ["check", "h.jsonl", "--brief", "--junit", "/dev/stdout"];
    assert_eq!(redirected(&check, "all"), Some(0));
    let all = scratch.read("all");
    assert!(
        all.contains("h.jsonl\ttrue\n") && all.contains("</testsuites>"),
        "{all}"
    );
    // The same file by its name would be replaced while the report is written to it.
    let check = ["check", "h.jsonl", "--junit", "out"];
    assert_eq!(redirected(&check, "out"), Some(64));
    assert_eq!(redirected(&["convert", "h.jsonl"], "h.jsonl"), Some(64));
    assert_eq!(scratch.read("h.jsonl"), HISTORY);
}

#[test]
fn a_failed_run_leaves_the_older_file_and_no_partial_one() {
    let scratch = Scratch::new("failed");
    fs::write(scratch.0.join("out.jsonl"), "older").unwrap();
    fs::write(scratch.0.join("broken.jsonl"), "{").unwrap();
    let before = scratch.names();
    let output = scratch.run(&["convert", "broken.jsonl", "-o", "out.jsonl"]);
    assert_eq!(output.status.code(), Some(65));
    let output = scratch.run(&["check", "h.jsonl", "--html", "none/page.html"]);
    assert_eq!(output.status.code(), Some(66));
    assert_eq!(scratch.read("out.jsonl"), "older");
    assert_eq!(scratch.names(), before);
    let output = scratch.run(&["convert", "h.jsonl", "-o", "out.jsonl"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(scratch.read("out.jsonl").contains("write"));
    assert_eq!(scratch.names(), before);
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_file_is_replaced() {
    let scratch = Scratch::new("link");
    fs::write(scratch.0.join("sub/page.html"), "<!doctype html>").unwrap();
    std::os::unix::fs::symlink("sub/page.html", scratch.0.join("latest.html")).unwrap();
    let output = scratch.run(&["check", "h.jsonl", "--html", "latest.html"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(scratch.0.join("latest.html").is_symlink());
    assert!(scratch.read("sub/page.html").contains("<body"));
}

#[test]
fn what_an_option_has_not_written_is_kept() {
    let scratch = Scratch::new("kept");
    fs::write(scratch.0.join("other.jsonl"), HISTORY).unwrap();
    for option in ["--html", "--junit", "--proof", "--witness"] {
        let check = ["check", "h.jsonl", option, "other.jsonl"];
        assert_refused(&scratch, &check, "which it has not written");
        assert_eq!(scratch.read("other.jsonl"), HISTORY);
        for _ in 0..2 {
            let check = ["check", "h.jsonl", option, "own"];
            assert_eq!(scratch.run(&check).status.code(), Some(0), "{option}");
        }
        fs::remove_file(scratch.0.join("own")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_no_file_stays_and_its_file_is_created() {
    let scratch = Scratch::new("dangling");
    let link = |target: &str, name: &str| {
        std::os::unix::fs::symlink(target, scratch.0.join(name)).unwrap();
    };
    link("sub/new.jsonl", "latest.jsonl");
    link("../latest.jsonl", "sub/chain.jsonl");
    let output = scratch.run(&["convert", "h.jsonl", "-o", "sub/chain.jsonl"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(scratch.0.join("sub/chain.jsonl").is_symlink());
    assert!(scratch.0.join("latest.jsonl").is_symlink());
    assert!(!scratch.0.join("sub/new.jsonl").is_symlink());
    assert!(scratch.read("sub/new.jsonl").contains("write"));

    // The link and the file that it names are one output.
    link("sub/page", "page");
    let check = ["check", "h.jsonl", "--html", "page", "--junit", "sub/page"];
    assert_refused(&scratch, &check, "--junit and --html would both write");

    link("none/page.html", "lost.html");
    link("circle.html", "circle.html");
    for (name, reason) in [
        (
            "lost.html",
            "lost.html is a link to none/page.html, which cannot be written: ",
        ),
        (
            "circle.html",
            "circle.html cannot be written: too many symbolic links",
        ),
    ] {
        let before = scratch.names();
        let output = scratch.run(&["check", "h.jsonl", "--html", name]);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(66), "{message}");
        assert!(message.contains(reason), "{message}");
        assert!(scratch.0.join(name).is_symlink());
        assert_eq!(scratch.names(), before);
    }
}

#[test]
fn json_lines_come_when_they_are_decided() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/limits.in");
    let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
    command.args(["check", "easy.jsonl", "hard.jsonl"]);
    command.args(["--jsonl", "--threads", "1", "--timeout", "60s"]);
    let mut child = command
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert!(line.contains("\"history\":\"easy.jsonl\""), "{line}");
    // The other history takes all of its time, so the first line did not wait for it.
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "");
}
