//! The full collections, which are too large for the repository: every history gets the verdict that is known of it.
//!
//! All of them without reduction, and a sample with it, since reducing a violation costs many searches. `cargo test` ignores
//! these tests; with the collections in `../shared/data` beside the checkout, or where `LINPOINT_DATA` says, they run by
//! `cargo test -p linpoint -- --ignored data::`.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::HashMap;

use linpoint::format::RecordedHistory;
use linpoint::{Checker, Config, Partitioning, Verdict};

use crate::recorded::{compare, data, labelled, read_all, type_of};

fn verdicts() -> Config {
    Config::default().verdicts_only()
}

fn whole() -> Config {
    verdicts().with_partitioning(Partitioning::ByObject)
}

/// Every `step`th history.
fn sample(all: &[RecordedHistory], step: usize) -> Vec<RecordedHistory> {
    all.iter().step_by(step).cloned().collect()
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn etcd() {
    let path = data("jepsen-etcd/etcd_logs.tar.gz");
    let table = std::fs::read_to_string(path.with_file_name("verdicts.csv")).unwrap();
    let verdict_of: HashMap<&str, bool> = table
        .lines()
        .skip(1)
        .map(|row| {
            let columns: Vec<&str> = row.split(',').collect();
            let linearizable = match columns[1] {
                "true" => true,
                "false" => false,
                // One log has no operations.
                "empty" => true,
                other => panic!("{other} is no verdict"),
            };
            (columns[0], linearizable)
        })
        .collect();
    let expected = |recorded: &RecordedHistory| {
        let (_, entry) = recorded.input.rsplit_once(':').unwrap();
        verdict_of[entry]
    };
    let all = read_all(&path);
    assert_eq!(all.len(), 103);
    let violations = verdict_of.values().filter(|verdict| !**verdict).count();
    assert_eq!(compare(&all, &verdicts(), expected), violations);
    compare(&sample(&all, 7), &Config::default(), expected);
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn kv() {
    let path = data("kv/kv_logs.tar.gz");
    let expected = |recorded: &RecordedHistory| recorded.input.ends_with("-ok.txt");
    let all = read_all(&path);
    assert_eq!(all.len(), 6);
    assert_eq!(compare(&all, &verdicts(), expected), 3);
    assert_eq!(compare(&all, &whole(), expected), 3);
    // The core of fifty clients is too large to be confirmed.
    let small: Vec<_> = all
        .into_iter()
        .filter(|recorded| !recorded.input.contains("c50"))
        .collect();
    assert_eq!(compare(&small, &Config::default(), expected), 2);
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn juc() {
    let folder = data("juc");
    let mut all = Vec::new();
    for class in [
        "ABQ", "CHM", "CLD", "CLQ", "CSLM", "CSLS", "LBD", "LBQ", "LTQ", "PBQ",
    ] {
        all.extend(read_all(&folder.join(format!("{class}.jsonl.gz"))));
    }
    assert_eq!(all.len(), 6325);
    assert_eq!(compare(&all, &verdicts(), labelled), 424);
    compare(&sample(&all, 17), &Config::default(), labelled);
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn snapshot() {
    let path = data("snapshot/histories.tar.gz");
    let table = std::fs::read_to_string(path.with_file_name("expected.csv")).unwrap();
    // The first bad event of each history, counted from 0; none of those that are linearizable.
    let first_bad: HashMap<&str, Option<u32>> = table
        .lines()
        .skip(1)
        .map(|row| {
            let columns: Vec<&str> = row.split(',').collect();
            let event = columns[6].parse().ok();
            assert_eq!(event.is_none(), columns[4] == "yes");
            (columns[0], event)
        })
        .collect();
    let of = |recorded: &RecordedHistory| {
        let (_, name) = recorded.input.rsplit_once('/').unwrap();
        first_bad[name]
    };
    let all = read_all(&path);
    assert_eq!(all.len(), 540);
    let checker = Checker::new(verdicts());
    for recorded in &all {
        let report = checker.check_recorded(&type_of(recorded), &recorded.history);
        let found = match report.unwrap().verdict {
            Verdict::Violation(violation) => {
                assert!(violation.shortest);
                Some(recorded.history.op(violation.last).ret)
            }
            Verdict::Linearizable(_) => None,
            Verdict::Undecided(undecided) => panic!("{undecided:?}"),
        };
        assert_eq!(found, of(recorded), "{}", recorded.label());
    }
    compare(&sample(&all, 7), &Config::default(), |recorded| {
        of(recorded).is_none()
    });
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn monitors() {
    let path = data("monitors/tricky.jsonl");
    let all = read_all(&path);
    assert_eq!(all.len(), 349);
    compare(&all, &verdicts(), labelled);
    compare(&all, &whole(), labelled);
    compare(&all, &Config::default(), labelled);
}
