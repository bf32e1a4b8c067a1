//! Built-in types written as specification files decide random histories as the built-in types do.
//!
//! `LINPOINT_TWINS` sets the number of histories per type.

use std::path::Path;

use linpoint::object::{ObjectType, object_type};
use linpoint::spec::Params;
use linpoint::{Checker, Config, History, Value, Verdict};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 300;

fn histories() -> u64 {
    let given = std::env::var("LINPOINT_TWINS").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_TWINS is a number")
    })
}

fn is_linearizable(object: &ObjectType, history: &History) -> bool {
    let checker = Checker::new(Config::default().verdicts_only());
    match checker.check_recorded(object, history).map(|of| of.verdict) {
        Ok(Verdict::Linearizable(_)) => true,
        Ok(Verdict::Violation(_)) => false,
        other => panic!("{other:?}"),
    }
}

/// Compares the file with the type of its name. Returns how many histories were violations.
fn compare(name: &str, file: &Path) -> u64 {
    let params: Params = match name {
        "bounded-queue" => [("capacity".to_owned(), Value::Int(2))].into(),
        _ => Params::new(),
    };
    let built_in = object_type(name, &params).expect("a built-in type");
    let specification = linpoint_spec::read(file, &params).expect("a specification");
    let twin = ObjectType::new(specification);
    let mut violations = 0;
    for seed in 0..histories() {
        let history = linpoint_spec::small_history(&built_in, seed).expect("a history");
        let expected = is_linearizable(&built_in, &history);
        violations += u64::from(!expected);
        if is_linearizable(&twin, &history) != expected {
            let ops = history.ops();
            let ops: Vec<_> = ops
                .map(|op| format!("{} by {}: {}..{}", op.text(), op.process, op.call, op.ret))
                .collect();
            panic!(
                "{name}, seed {seed}: {expected} expected\n{}",
                ops.join("\n")
            );
        }
    }
    violations
}

#[test]
fn files_decide_as_built_in_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/twins");
    let files = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    assert!(files.len() >= 8);
    std::thread::scope(|scope| {
        for file in &files {
            scope.spawn(move || {
                let name = file.file_stem().and_then(|name| name.to_str());
                let name = name.expect("a name");
                let violations = compare(name, file);
                let all = histories();
                println!("{name}: {all} histories, {violations} of them violations");
                // Neither all nor none: the comparison would tell little.
                assert!(violations > all / 20 && violations < all, "{name}");
            });
        }
    });
}
