//! What is written is read back as the same history, or refused.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::error::Error;
use crate::format::samples::{contents, event_history, failures, timed_history};
use crate::format::{ReadOptions, RecordedHistory, parse, read};
use crate::generate::Generator;
use crate::history::{Call, HistoryBuilder};
use crate::object::{ObjectType, object_type, types};
use crate::portfolio::Checker;
use crate::verdict::Verdict;

/// The formats of other tools, which hold some histories only.
const OTHERS: [Format; 6] = [
    Format::Edn,
    Format::JepsenJson,
    Format::Porcupine,
    Format::Violat,
    Format::Operations,
    Format::Snapshot,
];

fn written(
    format: Format,
    history: &History,
    object_type: Option<(&str, &Params)>,
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match write(format, history, object_type, &mut bytes) {
        Ok(()) => Ok(bytes),
        Err(error) => {
            assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
            assert!(bytes.is_empty(), "{error}");
            Err(error.to_string())
        }
    }
}

/// The history in `bytes`, whose format is told by the content.
fn read_back(bytes: &[u8]) -> Result<RecordedHistory, Error> {
    let mut all = parse(bytes, &ReadOptions::default());
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Writes `history` and reads it back. Returns what is read, unless the format has no place for it.
fn round_trip(
    format: Format,
    history: &History,
    object_type: Option<(&str, &Params)>,
) -> Option<RecordedHistory> {
    let bytes = written(format, history, object_type).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut read = read_back(&bytes).unwrap_or_else(|error| panic!("{format}: {error}\n{text}"));
    if format == Format::Operations && !has_times(history) {
        // The order is written as times.
        read.history = read.history.without_times();
    }
    assert_eq!(
        contents(&read.history),
        contents(history),
        "{format}\n{text}"
    );
    assert_eq!(
        failures(&read.history),
        failures(history),
        "{format}\n{text}"
    );
    if let Some((name, params)) = object_type.filter(|_| !history.is_empty()) {
        let expected = format
            .tells_type(params)
            .then(|| (name.to_owned(), params.clone()));
        assert!(
            read.object_type == expected || expected.is_none() && format == Format::Operations,
            "{format}\n{text}"
        );
    }
    Some(read)
}

fn is_linearizable(object: &ObjectType, history: &History) -> bool {
    let report = Checker::default().check_recorded(object, history).unwrap();
    matches!(report.verdict, Verdict::Linearizable(_))
}

/// A type of few parameters, with these.
fn built(name: &str) -> (ObjectType, Params) {
    let bounded = Params::from([("capacity".to_owned(), Value::Int(4))]);
    match object_type(name, &Params::new()) {
        Ok(object) => (object, Params::new()),
        Err(_) => (object_type(name, &bounded).unwrap(), bounded),
    }
}

/// Generated histories of a type, half of them violations, with and without pending operations and repeated values.
fn generated(object: &ObjectType) -> Vec<History> {
    let histories = (0..4u64).map(|seed| {
        let generator = Generator {
            ops: 24,
            processes: 3,
            seed,
            pending_per_million: if seed < 2 { 0 } else { 50_000 },
            universe: (seed % 2 == 1).then_some(5),
            ..Generator::default()
        };
        match seed % 2 {
            0 => generator.violating(object, &Checker::default()),
            _ => generator.linearizable(object),
        }
    });
    // Some types have no violations that a changed result makes.
    histories.filter_map(Result::ok).collect()
}

/// The types whose generated histories have a place in the formats of Jepsen, all of them.
const WRITTEN_FOR_JEPSEN: &[&str] = &[
    "register",
    "cas-register",
    "kv",
    "set",
    "bag",
    "stack",
    "queue",
    "bounded-queue",
    "priority-queue",
    "min-priority-queue",
    "deque",
    "mutex",
    "reentrant-mutex",
    "rw-lock",
    "semaphore",
    "snapshot",
    "multi-writer-snapshot",
    "multi-register",
    "bank",
    "unique-ids",
    "fenced-lock",
    "kafka-log",
];

/// The types whose generated histories have a place in a format, all of them.
const WRITTEN_IN_FULL: &[(Format, &[&str])] = &[
    (Format::Edn, WRITTEN_FOR_JEPSEN),
    (Format::JepsenJson, WRITTEN_FOR_JEPSEN),
    (
        Format::Porcupine,
        &[
            "register",
            "cas-register",
            "kv",
            "set",
            "etcd",
            "bag",
            "stack",
            "queue",
            "bounded-queue",
            "priority-queue",
            "min-priority-queue",
            "deque",
            "counter",
            "mutex",
            "reentrant-mutex",
            "rw-lock",
            "semaphore",
            "snapshot",
            "multi-writer-snapshot",
            "multi-register",
            "bank",
            "list",
            "unique-ids",
            "fenced-lock",
        ],
    ),
    (
        Format::Violat,
        &[
            "array-blocking-queue",
            "concurrent-linked-deque",
            "concurrent-linked-queue",
            "concurrent-skip-list-set",
            "linked-blocking-deque",
            "linked-blocking-queue",
            "linked-transfer-queue",
            "priority-blocking-queue",
        ],
    ),
    (
        Format::Operations,
        &[
            "register",
            "cas-register",
            "set",
            "bag",
            "stack",
            "queue",
            "bounded-queue",
            "priority-queue",
            "min-priority-queue",
            "deque",
            "mutex",
            "reentrant-mutex",
            "rw-lock",
            "semaphore",
        ],
    ),
    (Format::Snapshot, &["snapshot"]),
];

/// What is read back has the same operations, order and verdict. These types are written in full; of others, some histories are.
#[test]
fn generated_histories_are_written() {
    let mut in_full: HashMap<Format, Vec<&str>> = HashMap::new();
    for info in types() {
        let (object, params) = built(info.name);
        let histories = generated(&object);
        assert!(!histories.is_empty(), "{}", info.name);
        let verdicts: Vec<bool> = histories
            .iter()
            .map(|history| is_linearizable(&object, history))
            .collect();
        for format in OTHERS {
            let mut written = 0;
            for (history, verdict) in histories.iter().zip(&verdicts) {
                if let Some(read) = round_trip(format, history, Some((info.name, &params))) {
                    written += 1;
                    let again = is_linearizable(&object, &read.history);
                    assert_eq!(again, *verdict, "{} as {format}", info.name);
                }
            }
            if written == histories.len() {
                in_full.entry(format).or_default().push(info.name);
            }
        }
    }
    for (format, names) in WRITTEN_IN_FULL {
        let written = in_full.get(format).map_or(&[][..], Vec::as_slice);
        for name in *names {
            assert!(
                written.contains(name),
                "{format}: {name} is not in {written:?}"
            );
        }
    }
}

#[test]
fn objects_become_independent_keys() {
    for format in [Format::Edn, Format::JepsenJson] {
        for name in ["register", "queue", "cas-register"] {
            let (object, params) = built(name);
            let generator = Generator {
                objects: 3,
                pending_per_million: 50_000,
                ..Generator::default()
            };
            let history = generator.linearizable(&object).unwrap();
            let read = round_trip(format, &history, Some((name, &params)));
            assert!(read.is_some(), "{name} as {format}");
        }
    }
}

#[test]
fn the_corpus_is_written_or_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut kept: BTreeSet<(&str, String)> = BTreeSet::new();
    read(&corpus, &ReadOptions::default(), |recorded| {
        let recorded = recorded.unwrap();
        let named = recorded.object_type.as_ref();
        let named = named.map(|(name, params)| (name.as_str(), params));
        for format in OTHERS {
            if round_trip(format, &recorded.history, named).is_some() {
                let name = named.map_or("", |(name, _)| name).to_owned();
                kept.insert((format.name(), name));
            }
        }
    });
    for expected in [
        ("edn", ""),
        ("jepsen-json", ""),
        ("operations", "stack"),
        ("porcupine", "queue"),
        ("violat", "java.util.concurrent.ArrayBlockingQueue"),
    ] {
        let expected = (expected.0, expected.1.to_owned());
        assert!(kept.contains(&expected), "{expected:?} is not in {kept:?}");
    }
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_back(history in prop_oneof![timed_history(), event_history()]) {
        for format in OTHERS {
            round_trip(format, &history, None);
            round_trip(format, &history, Some(("queue", &Params::new())));
        }
    }
}

/// A history of events: `process what method value`, where `what` is `call`, `return` or `fail`.
fn history_of(events: &[(i64, &str, Call, Value)]) -> History {
    let mut builder = HistoryBuilder::new();
    for (process, what, call, value) in events {
        let process = Value::from(*process);
        match *what {
            "call" => builder.call(1, process, call.clone()).unwrap(),
            "return" => builder.ret(1, &process, value.clone()).unwrap(),
            _ => builder.fail(1, &process).unwrap(),
        }
    }
    builder.finish(Ties::default()).unwrap()
}

/// The history of one operation.
fn done(call: Call, result: Value) -> History {
    history_of(&[
        (0, "call", call.clone(), Value::Nil),
        (0, "return", call, result),
    ])
}

fn history_made_by(make: impl FnOnce(&mut HistoryBuilder)) -> History {
    let mut builder = HistoryBuilder::new();
    make(&mut builder);
    builder.finish(Ties::default()).unwrap()
}

#[test]
fn refusals_name_what_has_no_place() {
    let write = || Call::new("write", 1);
    let failed = history_of(&[
        (0, "call", write(), Value::Nil),
        (0, "fail", write(), Value::Nil),
    ]);
    let list = || Value::list([Value::list([1.into()]), 2.into()]);
    let named = history_made_by(|builder| {
        builder.call(1, "a".into(), write()).unwrap();
    });
    let noted = history_made_by(|builder| builder.annotate_at("n1 restarts".to_owned(), None));
    let hinted = history_made_by(|builder| {
        builder.call(1, 0.into(), write()).unwrap();
        builder.hint(3);
    });
    let cases = [
        (
            Format::Edn,
            &hinted,
            "edn has no place for hints, which this history has",
        ),
        (
            Format::Porcupine,
            &noted,
            "porcupine has no place for notes, which",
        ),
        (
            Format::Operations,
            &failed,
            "operations has no place for failed operations, which",
        ),
        (
            Format::Violat,
            &done(write().on("x"), Value::Nil),
            "violat has no place for objects with names, which",
        ),
        (
            Format::JepsenJson,
            &named,
            "jepsen-json has no place for write(1) → ? by process \"a\" (line 1): clients of Jepsen are numbers",
        ),
        (
            Format::Edn,
            &done(write(), 7.into()),
            "edn has no place for write(1) → 7 by process 0 (line 1): one value cannot tell both its argument and its result",
        ),
        (
            Format::Edn,
            &done(Call::new("read", 1), 7.into()),
            "edn has no place for read(1) → 7 by process 0 (line 1): \"read\" has no argument in Jepsen",
        ),
        (
            Format::Edn,
            &done(Call::new("write", Value::number("1.00")), Value::Nil),
            "edn has no place for 1.00: it would be read as another value",
        ),
        (
            Format::JepsenJson,
            &done(
                Call::new("read", Value::Nil),
                Value::list([3.into(), Value::Nil]),
            ),
            "",
        ),
        (
            Format::Operations,
            &done(Call::new("write", list()), Value::Nil),
            "operations has no place for write([1], 2) by process 0 (line 1): no line of method and plain values",
        ),
        (
            Format::Operations,
            &done(Call::new("deq", Value::Nil), Value::Int(-1)),
            "operations has no place for deq() → -1 by process 0",
        ),
        (
            Format::Porcupine,
            &done(Call::new("WRITE", 1), Value::Nil),
            "porcupine has no place for WRITE(1) by process 0 (line 1): no input of Go's JSON is read as this call",
        ),
        (
            Format::Violat,
            &done(write(), Value::Nil),
            "violat has no place for write(1) by process 0 (line 1): the argument is a list of JSON values in violat",
        ),
        (
            Format::JepsenLog,
            &failed,
            "histories are written as jsonl, edn, jepsen-json, porcupine",
        ),
    ];
    for (format, history, reason) in cases {
        // No reason is given for what is written.
        let written = written(format, history, Some(("queue", &Params::new())));
        let error = written.err().unwrap_or_default();
        assert!(error.starts_with(reason), "{error}");
        assert_eq!(error.is_empty(), reason.is_empty(), "{error}");
    }
}

#[test]
fn values_that_look_like_pairs_with_keys_are_refused() {
    let call = |value: Value| (0, "call", Call::new("frob", value), Value::Nil);
    let pair = || Value::list([3.into(), Value::Nil]);
    let read = |kind| (0, kind, Call::new("read", Value::Nil), pair());
    // Without keys, no invocation of a read has a pair.
    let history = history_of(&[read("call"), read("return"), call(pair())]);
    assert!(round_trip(Format::Edn, &history, None).is_some());
    // With keys, one read at least is needed to tell them.
    let on_object = (0, "call", Call::new("frob", pair()).on("x"), Value::Nil);
    let error = written(Format::Edn, &history_of(&[on_object]), None).unwrap_err();
    assert!(error.contains("no operation only reads"), "{error}");
}

#[test]
fn notes_and_failures_are_events_of_jepsen() {
    let mut builder = HistoryBuilder::new();
    builder.annotate_at("nemesis start \"cut n1\"".to_owned(), Some(3));
    for text in [
        "",
        " ",
        "a  b",
        "one",
        "a b c d",
        "x {\"y\":1}",
        "n :k",
        "7 kill [1, 2]",
    ] {
        builder.annotate_at(text.to_owned(), None);
    }
    builder.call(1, 0.into(), Call::new("write", 1)).unwrap();
    builder
        .call(
            2,
            1.into(),
            Call::new("cas", Value::list([1.into(), 2.into()])),
        )
        .unwrap();
    builder.fail(3, &0.into()).unwrap();
    builder.annotate_at("between".to_owned(), None);
    builder.ret(4, &1.into(), false.into()).unwrap();
    let history = builder.finish(Ties::default()).unwrap();
    let expected =
        "{:type :info, :f :start, :value \"cut n1\", :process :nemesis, :time 3, :index 0}\n";
    let bytes = written(Format::Edn, &history, None).unwrap();
    assert!(bytes.starts_with(expected.as_bytes()));
    for format in [Format::Edn, Format::JepsenJson] {
        assert!(round_trip(format, &history, None).is_some());
    }
}
