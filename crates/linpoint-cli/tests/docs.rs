//! The examples with output in README and in chapters of `docs/`, run and compared as those in `cmd/` are.

use std::process::Command;

#[test]
fn examples_of_chapters() {
    // Paths in the chapters begin at the root of the repository.
    std::env::set_current_dir("../..").expect("the root of the repository");
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("docs/depth.md")
        .case("docs/papers.md");
}

/// Readers of README run it with cargo, which the test does not.
#[test]
fn first_result_of_readme() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("README");
    let (_, example) = readme
        .split_once("```console\n$ cargo run -- ")
        .expect("an example");
    let (arguments, shown) = example.split_once('\n').expect("lines");
    let (shown, _) = shown.split_once("```").expect("the end of the example");
    let output = Command::new(env!("CARGO_BIN_EXE_linpoint"))
        .args(arguments.split(' '))
        .current_dir(root)
        .env("COLUMNS", "120")
        .output()
        .expect("the command line");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), shown.trim());
}
