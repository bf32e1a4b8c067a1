//! The anomalies of the literature, one history each, and inputs that are refused.

use crate::budget::Budget;
use crate::history::{Call, History, HistoryBuilder, Ties};
use crate::transaction::{Level, Model, Verdict, check};
use crate::value::Value;

/// A history in which each line is a transaction: its process, and its steps. They run one after the other; with `|` before the
/// process, a transaction begins before the one above it ends. `!` after the process marks one that failed, `?` one of unknown outcome.
fn history(lines: &[&str]) -> History {
    let mut events: Vec<(usize, bool)> = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        match line.starts_with('|') {
            true => events.insert(events.len() - 1, (i, true)),
            false => events.push((i, true)),
        }
        events.push((i, false));
    }
    let mut builder = HistoryBuilder::new();
    for (at, (i, is_call)) in events.into_iter().enumerate() {
        let (process, steps) = lines[i]
            .trim_start_matches('|')
            .split_once(' ')
            .expect("steps");
        let name = Value::from(process.trim_end_matches(['!', '?']));
        let steps: serde_json::Value = serde_json::from_str(steps).expect("JSON");
        let result = Value::from(steps);
        let asked = result.as_list().expect("a list").iter().map(|step| {
            let step = step.as_list().expect("a step");
            match step[0].as_text() {
                Some("r") => Value::list([step[0].clone(), step[1].clone(), Value::Nil]),
                _ => Value::list(step.to_vec()),
            }
        });
        let call = Call::new("txn", Value::list(asked.collect::<Vec<_>>()));
        let line = at as u64 + 1;
        match (is_call, process.chars().last()) {
            (true, _) => builder.call(line, name, call).expect("a call"),
            (false, Some('!')) => builder.fail(line, &name).expect("a failure"),
            (false, Some('?')) => {}
            (false, _) => builder.ret(line, &name, result).expect("a return"),
        }
    }
    builder.finish(Ties::default()).expect("a history")
}

fn registers() -> Model {
    Model::Registers {
        initial: Value::Nil,
    }
}

/// The name of the violation of a level; `holds` if there is none.
fn found(history: &History, model: &Model, level: Level) -> String {
    let reports = check(history, model, &[level], &Budget::default()).expect("levels");
    match &reports[0].verdict {
        Verdict::Holds(_) => "holds".to_owned(),
        Verdict::Violated(violation) => {
            super::sentences::check(history, violation);
            violation.to_string()
        }
        Verdict::Undecided(reason) => reason.clone(),
    }
}

#[test]
fn anomalies_have_the_names_of_the_literature() {
    let cases: &[(&Model, &[&str], Level, &str)] = &[
        (
            &Model::Lists,
            &[
                r#"a [["append","x",1],["append","y",1]]"#,
                r#"|b [["append","x",2],["append","y",2]]"#,
                r#"c [["r","x",[1,2]],["r","y",[2,1]]]"#,
            ],
            Level::Pl2,
            "G0",
        ),
        (
            &registers(),
            &[r#"a! [["w","x",1]]"#, r#"b [["r","x",1]]"#],
            Level::ReadCommitted,
            "G1a",
        ),
        (
            &registers(),
            &[r#"a [["w","x",1],["w","x",2]]"#, r#"b [["r","x",1]]"#],
            Level::ReadCommitted,
            "G1b",
        ),
        (
            &Model::Lists,
            &[
                r#"a [["append","x",1],["r","y",[1]]]"#,
                r#"|b [["append","y",1],["r","x",[1]]]"#,
            ],
            Level::Pl2,
            "G1c",
        ),
        (
            &registers(),
            &[
                r#"a [["r","x",null],["w","x",1]]"#,
                r#"|b [["r","x",null],["w","x",2]]"#,
            ],
            Level::SnapshotIsolation,
            "lost-update",
        ),
        (
            &registers(),
            &[
                r#"a [["r","x",null],["w","x",1]]"#,
                r#"|b [["r","x",null],["w","x",2]]"#,
            ],
            Level::Prefix,
            "holds",
        ),
        (
            &registers(),
            &[
                r#"a [["w","x",1],["w","y",1]]"#,
                r#"|b [["r","x",null],["r","y",1]]"#,
            ],
            Level::ReadAtomic,
            "fractured-read",
        ),
        (
            &registers(),
            &[
                r#"a [["w","x",1],["w","y",1]]"#,
                r#"|b [["r","x",null],["r","y",1]]"#,
            ],
            Level::ReadCommitted,
            "holds",
        ),
        (
            &registers(),
            &[
                r#"a [["w","x",1],["w","y",1]]"#,
                r#"|b [["r","y",1],["r","x",null]]"#,
            ],
            Level::ReadCommitted,
            "non-monotonic-read",
        ),
        (
            &registers(),
            &[
                r#"a [["w","x",1]]"#,
                r#"b [["r","x",1],["w","y",1]]"#,
                r#"c [["r","y",1],["r","x",null]]"#,
            ],
            Level::Causal,
            "causality-violation",
        ),
        (
            &registers(),
            &[
                r#"a [["w","x",1]]"#,
                r#"b [["w","y",1]]"#,
                r#"c [["r","x",1],["r","y",null]]"#,
                r#"d [["r","x",null],["r","y",1]]"#,
            ],
            Level::SnapshotIsolation,
            "G-nonadjacent",
        ),
        (
            &Model::Lists,
            &[
                r#"a [["append","x",1],["append","y",1]]"#,
                r#"b [["r","x",[]],["r","y",[1]]]"#,
            ],
            Level::Serializable,
            "G-single",
        ),
        (
            &Model::Lists,
            &[
                r#"a [["r","x",[]],["append","y",1]]"#,
                r#"|b [["r","y",[]],["append","x",1]]"#,
            ],
            Level::Serializable,
            "G2-item",
        ),
        (
            &Model::Lists,
            &[r#"a [["append","x",1]]"#, r#"a [["r","x",[]]]"#],
            Level::SessionSerializable,
            "G-single-process",
        ),
        (
            &Model::Lists,
            &[r#"a [["append","x",1]]"#, r#"b [["r","x",[]]]"#],
            Level::StrictSerializable,
            "G-single-realtime",
        ),
        (
            &Model::Lists,
            &[r#"a [["append","x",1]]"#, r#"b [["r","x",[1,1]]]"#],
            Level::Pl2,
            "duplicate-element",
        ),
        (
            &Model::Lists,
            &[
                r#"a [["append","x",1],["append","x",2]]"#,
                r#"b [["r","x",[2,1]]]"#,
            ],
            Level::Pl2,
            "own-order",
        ),
        (
            &Model::Lists,
            &[
                r#"a [["append","x",1]]"#,
                r#"|b [["append","x",2]]"#,
                r#"c [["r","x",[1]]]"#,
                r#"d [["r","x",[2]]]"#,
            ],
            Level::Pl2,
            "incompatible-order",
        ),
        (
            &registers(),
            &[r#"a [["w","x",1],["r","x",null]]"#],
            Level::ReadCommitted,
            "internal",
        ),
        (
            &registers(),
            &[r#"a [["r","x",1],["w","x",1]]"#],
            Level::ReadCommitted,
            "future-read",
        ),
        (
            &registers(),
            &[r#"a [["r","x",1]]"#],
            Level::ReadCommitted,
            "thin-air",
        ),
        (
            &registers(),
            &[r#"a? [["w","x",1]]"#, r#"b [["r","x",1]]"#],
            Level::StrictSerializable,
            "holds",
        ),
        (
            &registers(),
            &[r#"a? [["w","x",1]]"#, r#"b [["r","x",null]]"#],
            Level::StrictSerializable,
            "holds",
        ),
    ];
    for (model, lines, level, expected) in cases {
        assert_eq!(
            found(&history(lines), model, *level),
            *expected,
            "{level}: {lines:#?}"
        );
    }
}

#[test]
fn a_violation_names_its_transactions_and_why_they_have_no_order() {
    let history = history(&[
        r#"a [["append","x",1],["append","y",1]]"#,
        r#"b [["r","x",[]],["r","y",[1]]]"#,
    ]);
    let reports = check(
        &history,
        &Model::Lists,
        &[Level::Serializable],
        &Budget::default(),
    );
    let Verdict::Violated(violation) = &reports.expect("levels")[0].verdict else {
        panic!("it is not serializable");
    };
    assert!(violation.is_smallest);
    let reasons: Vec<_> = violation
        .cycle
        .iter()
        .map(|edge| (edge.kind, edge.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [
            (
                "rw",
                "T1 read [] from \"x\" and did not see 1, which T2 appended and no read shows"
            ),
            (
                "wr",
                "T1 read [1] from \"y\", and the last of what it found there, 1, was appended by T2"
            ),
        ]
    );
}

#[test]
fn repeated_values_are_undecided_with_their_reason() {
    let history = history(&[r#"a [["w","x",1]]"#, r#"b [["w","x",1]]"#]);
    let reason = found(&history, &registers(), Level::Causal);
    assert!(
        reason.starts_with("values repeat: 1 is written to \"x\" twice, by"),
        "{reason}"
    );
}

#[test]
fn what_is_no_transaction_is_refused() {
    let refused = |lines: &[&str], model: &Model, level: Level| {
        let error = check(&history(lines), model, &[level], &Budget::default());
        error.expect_err("it is refused").to_string()
    };
    let error = refused(&[r#"a [["append","x",1]]"#], &registers(), Level::Causal);
    assert!(error.contains("--type list-append"), "{error}");
    let error = refused(&[r#"a [["r","x",7]]"#], &Model::Lists, Level::Causal);
    assert!(error.contains("a read sees a list, not 7"), "{error}");
    let error = refused(&[r#"a [["w","x",1]]"#], &registers(), Level::Pl2);
    assert!(error.contains("read-committed"), "{error}");
    let error = refused(&[r#"a [["poll","x",1]]"#], &registers(), Level::Causal);
    assert!(error.contains("a step is"), "{error}");
}
