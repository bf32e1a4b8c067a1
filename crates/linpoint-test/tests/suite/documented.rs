//! What can be said about a test is in the guides.

use std::fs;
use std::path::Path;

/// The methods that builders have in these files.
fn methods(files: &[&str]) -> Vec<String> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(sources.join(file)).unwrap();
        let named = text.lines().filter_map(|line| {
            let rest = line.strip_prefix("    ")?.trim_start();
            let rest = rest.strip_prefix("pub fn ")?;
            rest.split(['(', '<']).next()
        });
        found.extend(named.map(str::to_owned));
    }
    found
}

fn assert_documented(guide: &str, files: &[&str], least: usize) {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = fs::read_to_string(guides.join(guide)).unwrap();
    let methods = methods(files);
    assert!(methods.len() >= least, "{methods:?}");
    for method in methods {
        let forms = [
            format!(".{method}("),
            format!(".{method}::<"),
            format!("::{method})"),
        ];
        assert!(
            forms.iter().any(|form| text.contains(form)),
            "{guide} does not name {method}"
        );
    }
}

#[test]
fn every_method_of_a_controlled_test() {
    assert_documented(
        "live.md",
        &[
            "object/mod.rs",
            "object/plan.rs",
            "object/settings.rs",
            "object/futures.rs",
            "object/ends/mod.rs",
        ],
        40,
    );
}

#[test]
fn every_method_of_a_stress_test() {
    assert_documented("stress.md", &["stress/mod.rs"], 15);
}
