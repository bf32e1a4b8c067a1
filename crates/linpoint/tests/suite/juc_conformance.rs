//! The specifications of the Java collections against sequences of calls recorded on OpenJDK 17.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use linpoint::Value;
use linpoint::object::object_type;
use linpoint::spec::{Params, Sampler};

const CLASSES: [&str; 10] = [
    "ABQ", "CHM", "CLD", "CLQ", "CSLM", "CSLS", "LBD", "LBQ", "LTQ", "PBQ",
];

/// The sequences in the repository, about thirty for each class.
#[test]
fn sample_is_reproduced() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/juc-conformance");
    for class in CLASSES {
        let file = File::open(folder.join(format!("{class}.jsonl"))).unwrap();
        assert!(reproduce(class, file) >= 30);
    }
}

/// Replays every sequence of calls and compares every result; answers how many sequences there were.
fn reproduce(class: &str, lines: impl Read) -> usize {
    let mut sequences = 0;
    for line in BufReader::new(lines).lines() {
        let line = line.unwrap();
        let sequence = Value::from(serde_json::from_str::<serde_json::Value>(&line).unwrap());
        let mut params = Params::new();
        if let [capacity] = sequence.get("arguments").unwrap().as_list().unwrap() {
            params.insert("capacity".into(), capacity.clone());
        }
        let name = sequence.get("class").unwrap().as_text().unwrap();
        let object = object_type(name, &params).unwrap();
        let mut simulation = object.simulate();
        let mut sampler = Sampler::new(0, None);
        for call in sequence.get("calls").unwrap().as_list().unwrap() {
            let method = call.get("method").unwrap().as_text().unwrap();
            let arguments = call.get("arguments").unwrap();
            let expected = call.get("value").cloned().unwrap_or_default();
            let result = simulation.apply(&Value::Nil, method, arguments, &mut sampler);
            let result = result.unwrap();
            let is_alike = match name.ends_with("HashMap") {
                true => sorted(&result) == sorted(&expected),
                false => result == expected,
            };
            assert!(is_alike, "{class}, {result} for {call} of {line}");
        }
        sequences += 1;
    }
    sequences
}

/// The items of a listing in ascending order: a hash map lists them in any order.
fn sorted(answer: &Value) -> Vec<String> {
    let text = answer.as_text().map(str::to_owned);
    let text = text.unwrap_or_else(|| answer.to_string());
    let items = text.split(['[', ']', '{', '}', ',', ' ']);
    let mut items: Vec<String> = items.map(str::to_owned).collect();
    items.sort();
    items
}

mod data {
    use super::*;

    /// All recorded sequences.
    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn all_recorded_sequences_are_reproduced() {
        let folder = crate::recorded::data("juc/conformance");
        for class in CLASSES {
            let file = File::open(folder.join(format!("{class}.jsonl.gz"))).unwrap();
            let sequences = reproduce(class, GzDecoder::new(file));
            assert_eq!(sequences, 1500, "{class}");
        }
    }
}
