//! Every specification of the gallery keeps its contracts, and decides its two histories as they say.

use std::path::{Path, PathBuf};

use linpoint::format::{ReadOptions, parse};
use linpoint::{Checker, Verdict};

fn files(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../specs");
    let files = std::fs::read_dir(folder).expect("the gallery");
    let files = files.map(|file| file.expect("a file").path());
    let ends = |path: &PathBuf| path.extension().is_some_and(|found| found == ending);
    let mut files: Vec<_> = files.filter(ends).collect();
    files.sort();
    files
}

/// The verdict on a history, which must be the one of its header.
fn is_linearizable(spec: &Path, history: &Path) -> bool {
    let specification = linpoint_spec::read(spec, &Default::default()).expect("a specification");
    let text = std::fs::read(history).expect("a history");
    let recorded = parse(&text, &ReadOptions::default())
        .remove(0)
        .expect("a history");
    let report = Checker::default().check_recorded(&specification, &recorded.history);
    let found = match report.map(|report| report.verdict) {
        Ok(Verdict::Linearizable(_)) => true,
        Ok(Verdict::Violation(_)) => false,
        other => panic!("{}: {other:?}", history.display()),
    };
    assert_eq!(recorded.expected, Some(found), "{}", history.display());
    found
}

#[test]
fn histories_are_decided_as_they_say() {
    let specs = files("spec");
    assert!(specs.len() >= 12);
    for spec in &specs {
        let name = spec.file_stem().and_then(|name| name.to_str());
        let name = name.expect("a name");
        let history = |kind: &str| spec.with_file_name(format!("{name}-{kind}.jsonl"));
        assert!(is_linearizable(spec, &history("ok")), "{name}");
        assert!(!is_linearizable(spec, &history("violation")), "{name}");
    }
    assert_eq!(
        files("jsonl").len(),
        2 * specs.len(),
        "a history is left over"
    );
}

#[test]
fn contracts_hold() {
    std::thread::scope(|scope| {
        for spec in files("spec") {
            scope.spawn(move || {
                let make = || linpoint_spec::read(&spec, &Default::default());
                let tested = linpoint_spec::test(&make).expect("no error");
                assert!(tested.passed(), "{}: {tested:#?}", spec.display());
                assert!(!tested.transcript.is_empty());
            });
        }
    });
}

/// The specifications of the guide are the blocks that begin with the name of a file.
#[test]
fn the_specifications_of_the_guide_keep_their_contracts() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/own-specification.md");
    let guide = std::fs::read_to_string(guide).expect("the guide");
    let blocks = guide.split("```python\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let specs: Vec<&str> = blocks
        .filter(|block| {
            block
                .lines()
                .next()
                .is_some_and(|line| line.ends_with(".spec"))
        })
        .collect();
    assert_eq!(specs.len(), 2);
    for text in specs {
        let make = || linpoint_spec::parse("guide.spec", text, &Default::default());
        let tested = linpoint_spec::test(&make).expect("no error");
        assert!(tested.passed(), "{tested:#?}");
    }
}

#[test]
fn the_template_keeps_its_contracts() {
    let make = || linpoint_spec::parse("new.spec", linpoint_spec::TEMPLATE, &Default::default());
    let tested = linpoint_spec::test(&make).expect("no error");
    assert!(tested.passed(), "{tested:#?}");
}
