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

/// Each case: the model, a level, what is found, and the transactions.
const CASES: &str = r#"
lists pl-2 G0
a [["append","x",1],["append","y",1]]
|b [["append","x",2],["append","y",2]]
c [["r","x",[1,2]],["r","y",[2,1]]]

registers read-committed G1a
a! [["w","x",1]]
b [["r","x",1]]

registers read-committed G1b
a [["w","x",1],["w","x",2]]
b [["r","x",1]]

lists pl-2 G1c
a [["append","x",1],["r","y",[1]]]
|b [["append","y",1],["r","x",[1]]]

registers snapshot-isolation lost-update
a [["r","x",null],["w","x",1]]
|b [["r","x",null],["w","x",2]]

registers prefix holds
a [["r","x",null],["w","x",1]]
|b [["r","x",null],["w","x",2]]

registers read-atomic fractured-read
a [["w","x",1],["w","y",1]]
|b [["r","x",null],["r","y",1]]

registers read-committed holds
a [["w","x",1],["w","y",1]]
|b [["r","x",null],["r","y",1]]

registers read-committed non-monotonic-read
a [["w","x",1],["w","y",1]]
|b [["r","y",1],["r","x",null]]

registers causal causality-violation
a [["w","x",1]]
b [["r","x",1],["w","y",1]]
c [["r","y",1],["r","x",null]]

registers snapshot-isolation G-nonadjacent
a [["w","x",1]]
b [["w","y",1]]
c [["r","x",1],["r","y",null]]
d [["r","x",null],["r","y",1]]

lists serializable G-single
a [["append","x",1],["append","y",1]]
b [["r","x",[]],["r","y",[1]]]

lists serializable G2-item
a [["r","x",[]],["append","y",1]]
|b [["r","y",[]],["append","x",1]]

lists session-serializable G-single-process
a [["append","x",1]]
a [["r","x",[]]]

lists strict-serializable G-single-realtime
a [["append","x",1]]
b [["r","x",[]]]

lists pl-2 duplicate-element
a [["append","x",1]]
b [["r","x",[1,1]]]

lists pl-2 own-order
a [["append","x",1],["append","x",2]]
b [["r","x",[2,1]]]

lists pl-2 incompatible-order
a [["append","x",1]]
|b [["append","x",2]]
c [["r","x",[1]]]
d [["r","x",[2]]]

registers read-committed internal
a [["w","x",1],["r","x",null]]

registers read-committed future-read
a [["r","x",1],["w","x",1]]

registers read-committed thin-air
a [["r","x",1]]

registers strict-serializable holds
a? [["w","x",1]]
b [["r","x",1]]

registers strict-serializable holds
a? [["w","x",1]]
b [["r","x",null]]
"#;

#[test]
fn anomalies_have_the_names_of_the_literature() {
    for case in CASES.trim().split("\n\n") {
        let (head, lines) = case.split_once('\n').expect("transactions");
        let [model, level, expected] = head.split(' ').collect::<Vec<_>>()[..] else {
            panic!("a model, a level and an anomaly: {head}");
        };
        let model = match model {
            "lists" => Model::Lists,
            _ => registers(),
        };
        let level: Level = level.parse().expect("a level");
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(found(&history(&lines), &model, level), expected, "{case}");
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
                "T1 read [] from \"x\" and did not see 1, which T2 appended and no other transaction read"
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
