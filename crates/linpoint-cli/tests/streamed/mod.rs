//! Inputs that are followed in the order of calls get the verdicts of inputs that are read whole, object by object, in both formats.
//!
//! `LINPOINT_STREAMED` sets the number of histories for each type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use crate::files::Scratch;

/// How many random histories of each type are compared, by default.
const HISTORIES: u64 = 6;

/// Types that can be watched.
const TYPES: [&str; 8] = [
    "register",
    "kv",
    "set",
    "mutex",
    "queue",
    "semaphore:permits=2",
    "priority-queue",
    "min-priority-queue",
];

/// What was compared.
#[derive(Debug, Default)]
struct Compared {
    fine: u64,
    violations: u64,
    untold: u64,
}

/// What is said of each object.
#[derive(Debug, Default)]
struct Told {
    exit: Option<i32>,
    bad: BTreeSet<String>,
    untold: BTreeSet<String>,
}

fn lines(text: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().expect("lines of JSON")
}

/// One operation on a line, in the order of calls, of the events of some history. Times are the lines of the events.
fn operations(events: &[Value]) -> Vec<Value> {
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut operations: Vec<Value> = Vec::new();
    for (time, event) in (0..).zip(events) {
        let process = event["process"].to_string();
        match event["event"].as_str() {
            Some("call") => {
                open.insert(process, operations.len());
                let mut operation = event.clone();
                let fields = operation.as_object_mut().expect("an event is an object");
                fields.remove("event");
                fields.insert("call".to_owned(), json!(time));
                operations.push(operation);
            }
            Some("return") => {
                let operation = &mut operations[open[&process]];
                operation["return"] = json!(time);
                operation["ret"] = event["ret"].clone();
            }
            // A header.
            _ => {}
        }
    }
    operations
}

/// Whether no monitor gives up for an operation. Without those others, a linearizable history stays linearizable.
fn can_be_told(operation: &Value) -> bool {
    match operation["method"].as_str() {
        Some("peek") => false,
        Some("try_acquire") => operation["ret"] != json!(false),
        _ => true,
    }
}

/// The verdicts on the objects of an input that is read whole.
fn whole(scratch: &Scratch, file: &str, object: &str) -> Told {
    let output = scratch.run(&[
        "check",
        file,
        "--type",
        object,
        "--all",
        "--jsonl",
        "--no-diagnose",
    ]);
    let mut told = Told {
        exit: output.status.code(),
        ..Told::default()
    };
    for part in lines(&output.stdout)
        .iter()
        .flat_map(|document| document["parts"].as_array().cloned().unwrap_or_default())
    {
        if part["verdict"] == "not linearizable" {
            told.bad.insert(part["object"].to_string());
        }
    }
    told
}

/// The verdicts on the objects of an input that is followed.
fn followed(scratch: &Scratch, file: &str, object: &str) -> Told {
    let output = scratch.run(&[
        "check", file, "--type", object, "--all", "--jsonl", "--stream",
    ]);
    let documents = lines(&output.stdout);
    let engine = documents.last().map(|last| last["engine"].clone());
    assert_eq!(engine, Some(json!("online")), "{object}: {output:?}");
    let of = |notice: &str| {
        let found = documents
            .iter()
            .filter(|document| document["notice"] == notice);
        found
            .map(|document| document["object"].to_string())
            .collect()
    };
    Told {
        exit: output.status.code(),
        bad: of("violation"),
        untold: of("cannot tell"),
    }
}

#[test]
fn what_is_followed_gets_the_verdicts_of_what_is_read_whole() {
    let given = std::env::var("LINPOINT_STREAMED");
    let histories = given.map_or(HISTORIES, |n| n.parse().expect("a number"));
    let scratch = Scratch::new("streamed");
    let (mut fine, mut violations) = (0, 0);
    for object in TYPES {
        let mut compared = Compared::default();
        for seed in 0..histories {
            one_history(&scratch, object, seed, &mut compared);
        }
        println!("{object}: {compared:?}");
        // Of a map most is untold, since some operation compares and sets.
        let decided = compared.fine + compared.violations;
        assert!(decided > 0, "{object}: {compared:?}");
        fine += compared.fine;
        violations += compared.violations;
    }
    assert!(
        fine > histories && violations > histories,
        "{fine}, {violations}"
    );
}

fn one_history(scratch: &Scratch, object: &str, seed: u64, compared: &mut Compared) {
    let number = seed.to_string();
    let mut generate = vec![
        "generate",
        "--type",
        object,
        "--objects",
        "3",
        "--ops",
        "40",
    ];
    generate.extend(["--processes", "5", "--pending", "2", "--seed", &number]);
    if seed % 2 == 1 {
        generate.push("--violation");
    }
    let generated = scratch.run(&generate);
    assert!(
        generated.status.success(),
        "{object}, seed {seed}: {generated:?}"
    );
    let mut operations = operations(&lines(&generated.stdout));
    operations.retain(can_be_told);
    let text: String = operations
        .iter()
        .map(|operation| format!("{operation}\n"))
        .collect();
    fs::write(scratch.0.join("rows.jsonl"), text).expect("a file can be written");
    let converted = scratch.run(&[
        "convert",
        "rows.jsonl",
        "--type",
        object,
        "-o",
        "rows.parquet",
    ]);
    assert!(
        converted.status.success(),
        "{object}, seed {seed}: {converted:?}"
    );
    for file in ["rows.jsonl", "rows.parquet"] {
        let (whole, followed) = (
            whole(scratch, file, object),
            followed(scratch, file, object),
        );
        let shown = format!("{object}, seed {seed}, {file}: {whole:?} but {followed:?}");
        assert!(followed.bad.is_subset(&whole.bad), "{shown}");
        let known: BTreeSet<String> = followed.bad.union(&followed.untold).cloned().collect();
        assert!(whole.bad.is_subset(&known), "{shown}");
        let exit = match (followed.bad.is_empty(), followed.untold.is_empty()) {
            (true, true) => 0,
            (true, false) => 2,
            (false, _) => 1,
        };
        assert_eq!(followed.exit, Some(exit), "{shown}");
        assert_eq!(
            whole.exit,
            Some(i32::from(!whole.bad.is_empty())),
            "{shown}"
        );
        match exit {
            0 => compared.fine += 1,
            1 => compared.violations += 1,
            _ => compared.untold += 1,
        }
    }
}
