//! Every bundled history gets the verdict that is known of it, split by key or not, with evidence that holds.

use linpoint::format::Recorded;
use linpoint::{Config, Partitioning};

use crate::recorded::{compare, corpus, read_all};

/// The verdict by the name of the file, for formats that have no place for it.
fn by_name(recorded: &Recorded) -> bool {
    let name = recorded.input.rsplit('/').next().unwrap_or_default();
    match name {
        "etcd_002.log" | "etcd_031.log" | "etcd_101.log" => true,
        "etcd_000.log" | "etcd_041.log" | "etcd_050.log" => false,
        "c01-ok.txt" | "c10-ok.txt" => true,
        "c01-bad.txt" | "c10-bad.txt" => false,
        "register-ok.jsonl" | "history.edn" => true,
        "queue-violation.jsonl" | "stack-violation.txt" => false,
        other if other.ends_with(".history") => other.ends_with("-ok.history"),
        other => panic!("what is expected of {other}?"),
    }
}

/// The verdict by the label where there is one, by the name of the file otherwise.
fn expected(recorded: &Recorded) -> bool {
    recorded.expected.unwrap_or_else(|| by_name(recorded))
}

/// Inputs with the number of their histories, and of those that are not linearizable.
const INPUTS: [(&str, usize, usize); 9] = [
    ("etcd", 6, 3),
    ("kv", 4, 2),
    ("jepsen", 1, 0),
    ("register-ok.jsonl", 1, 0),
    ("queue-violation.jsonl", 1, 1),
    ("stack-violation.txt", 1, 1),
    ("juc", 100, 40),
    ("monitors", 349, 133),
    ("snapshot", 12, 10),
];

#[test]
fn every_history_gets_its_verdict_and_evidence() {
    for (name, histories, violations) in INPUTS {
        let all = read_all(&corpus().join(name));
        assert_eq!(all.len(), histories, "{name}");
        let found = compare(&all, &Config::default(), expected);
        assert_eq!(found, violations, "{name}");
    }
}

#[test]
fn keys_make_no_difference() {
    let whole = Config::default()
        .verdicts_only()
        .with_partitioning(Partitioning::ByObject);
    for (name, _, violations) in INPUTS {
        let all = read_all(&corpus().join(name));
        assert_eq!(compare(&all, &whole, expected), violations, "{name}");
    }
}

#[test]
fn no_history_is_forgotten() {
    let expected: usize = INPUTS.iter().map(|(_, histories, _)| histories).sum();
    assert_eq!(read_all(&corpus()).len(), expected);
}
