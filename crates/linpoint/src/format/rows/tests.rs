use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;

use super::codec::{Decoder, encode};
use super::*;
use crate::error::ErrorKind;
use crate::format::{read, write_jsonl};
use crate::generate::Generator;
use crate::object::object_type;
use crate::portfolio::{Checker, Config, OnViolation};
use crate::spec::Sampler;
use crate::verdict::{Report, Verdict};

/// A folder of its own for a test, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(test: &str) -> Self {
        let name = format!("linpoint-rows-{}-{test}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn open(path: &Path) -> RowInput {
    RowInput::open(path, &ReadOptions::default()).unwrap()
}

fn rows_of(path: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    let read = open(path).each(&RowProgress::default(), &mut |row| {
        rows.push(row);
        Ok(ControlFlow::Continue(()))
    });
    read.unwrap();
    rows
}

/// The bytes of a file of these operations.
fn file_of(rows: &[Row], format: Format, name: &str) -> Vec<u8> {
    let mut columns = Columns::default();
    rows.iter().for_each(|row| columns.look_at(row));
    let params = Params::new();
    let header = RowHeader {
        object_type: Some((name, &params)),
        ties: None,
        clients: &Default::default(),
        order: RowOrder::Times,
        columns,
    };
    let mut bytes = Vec::new();
    let mut writer = RowWriter::new(format, header, 7, &mut bytes).unwrap();
    rows.iter().for_each(|row| writer.write(row).unwrap());
    writer.finish().unwrap();
    bytes
}

/// Operations of several objects of this type in the order of their calls, some with wrong results.
fn random_rows(scratch: &Scratch, name: &str, seed: u64) -> Vec<Row> {
    let object = object_type(name, &Params::new()).unwrap();
    let generator = Generator {
        ops: 10 + seed as usize % 90,
        processes: 2 + seed as usize % 3,
        objects: 1 + seed as usize % 5,
        seed,
        pending_per_million: 30_000 * (seed as u32 % 2),
        ..Generator::default()
    };
    let history = generator.linearizable(&object).unwrap();
    let mut text = Vec::new();
    write_jsonl(&history, Some((name, &Params::new())), &mut text).unwrap();
    let mut rows = rows_of(&scratch.write("events.jsonl", &text));
    rows.sort_by_key(|row| row.called);
    let mut sampler = Sampler::new(seed ^ 0xBAD, None);
    for place in 0..rows.len() {
        let other = &rows[sampler.below(rows.len())];
        let is_like = other.method == rows[place].method && other.returned.is_some();
        if is_like && rows[place].returned.is_some() && sampler.below(20) == 0 {
            rows[place].result = other.result.clone();
        }
    }
    rows
}

/// What was decided about each object: whether it is linearizable, if that is known.
type Verdicts = BTreeMap<Value, Option<bool>>;

fn add_verdicts(report: &Report, verdicts: &mut Verdicts) {
    for part in &report.parts {
        let found = match part.verdict {
            Verdict::Linearizable(_) => Some(true),
            Verdict::Violation(_) => Some(false),
            Verdict::Undecided(_) => None,
        };
        let known = verdicts.entry(part.object.clone()).or_insert(Some(true));
        *known = match (*known, found) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
    }
}

fn checker() -> Checker {
    Checker::new(Config {
        on_violation: OnViolation::Continue,
        ..Config::default().verdicts_only()
    })
}

fn verdicts_whole(path: &Path, name: &str) -> Verdicts {
    let object = object_type(name, &Params::new()).unwrap();
    let mut verdicts = Verdicts::new();
    read(path, &ReadOptions::default(), |recorded| {
        let history = recorded.unwrap().history;
        let report = checker().check_recorded(&object, &history).unwrap();
        add_verdicts(&report, &mut verdicts);
    });
    verdicts
}

fn verdicts_by_object(
    name: &str,
    each_object: impl FnOnce(ObjectReading<'_>, &mut EachObject<'_>) -> Result<(), Error>,
) -> Result<Verdicts, Error> {
    let object = object_type(name, &Params::new()).unwrap();
    let mut verdicts = Verdicts::new();
    let reading = ObjectReading {
        skip: &|_| false,
        progress: &RowProgress::default(),
    };
    each_object(reading, &mut |recorded| {
        let recorded = recorded.unwrap();
        let report = checker()
            .check_recorded(&object, &recorded.history)
            .unwrap();
        let mut one = Verdicts::new();
        add_verdicts(&report, &mut one);
        let named = recorded.object.clone().unwrap();
        assert_eq!(one.keys().collect::<Vec<_>>(), [&named]);
        assert!(
            verdicts
                .insert(named, one.remove(&recorded.object.unwrap()).unwrap())
                .is_none()
        );
        ControlFlow::Continue(())
    })?;
    Ok(verdicts)
}

/// An input that is read object by object, sorted before or by a sorter, has the verdicts of one that is read whole.
#[test]
fn verdicts_do_not_depend_on_how_an_input_is_read() {
    let scratch = Scratch::new("verdicts");
    let (mut violations, mut refused) = (0, 0);
    for name in ["queue", "stack", "register", "set", "counter", "key-value"] {
        for seed in 0..60 {
            let rows = random_rows(&scratch, name, seed);
            let mut sorted = rows.clone();
            sorted.sort_by(|a, b| (&a.object, a.called).cmp(&(&b.object, b.called)));
            for format in [Format::Jsonl, Format::Parquet] {
                let unsorted = scratch.write("unsorted", &file_of(&rows, format, name));
                let expected = verdicts_whole(&unsorted, name);
                violations += expected
                    .values()
                    .filter(|found| **found == Some(false))
                    .count();

                let path = scratch.write("sorted", &file_of(&sorted, format, name));
                let survey = open(&path).survey(&RowProgress::default()).unwrap();
                assert!(survey.by_object, "{name}, seed {seed}");
                assert_eq!(survey.objects, expected.len());
                let found = verdicts_by_object(name, |reading, each| {
                    open(&path).each_object(reading, each).map(drop)
                });
                assert_eq!(found.unwrap(), expected, "{name}, {format}, seed {seed}");

                let mut sorter = Sorter::new(&scratch.0, 0);
                let progress = RowProgress::default();
                sorter.add_input(open(&unsorted), &progress).unwrap();
                let sorter = sorter.finish().unwrap();
                let found = verdicts_by_object(name, |reading, each| {
                    sorter.each_object("x", &ReadOptions::default(), reading, each)
                });
                assert_eq!(found.unwrap(), expected, "{name}, {format}, seed {seed}");

                let survey = open(&unsorted).survey(&RowProgress::default()).unwrap();
                assert!(survey.by_call);
                let found = verdicts_by_object(name, |reading, each| {
                    open(&unsorted).each_object(reading, each).map(drop)
                });
                match found {
                    Ok(found) => assert!(survey.by_object && found == expected),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Unsorted, "{error}");
                        assert!(!survey.by_object);
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(violations > 100 && refused > 100, "{violations}, {refused}");
}

/// Rows are those of the history that is read whole, whatever the format.
#[test]
fn rows_keep_what_they_say() {
    let scratch = Scratch::new("keep");
    for name in ["queue", "key-value", "cas-register", "snapshot"] {
        for seed in 0..20 {
            let rows = random_rows(&scratch, name, seed);
            for format in [Format::Jsonl, Format::Parquet] {
                let path = scratch.write("rows", &file_of(&rows, format, name));
                let numbered = |rows: Vec<Row>| -> Vec<Row> {
                    let unnumbered = |row| Row { line: 0, ..row };
                    rows.into_iter().map(unnumbered).collect()
                };
                assert_eq!(
                    numbered(rows_of(&path)),
                    numbered(rows.clone()),
                    "{name}, {seed}"
                );
            }
        }
    }
}

fn row(object: i64, called: i64, argument: &str) -> Row {
    Row {
        object: object.into(),
        process: Some(0.into()),
        method: "write".into(),
        argument: argument.into(),
        result: Value::Nil,
        called,
        returned: Some(called + 1),
        hint: None,
        line: 1,
    }
}

/// What does not fit into memory is merged from files, of which none is left behind.
#[test]
fn files_are_merged_in_order() {
    let scratch = Scratch::new("merge");
    let mut sampler = Sampler::new(1, None);
    let mut sorter = Sorter::new(&scratch.0, 0);
    let mut rows = Vec::new();
    for number in 0..6_000 {
        let text = format!("{number:01000}");
        let (object, called) = (sampler.below(10), sampler.below(50));
        let row = row(object as i64 - 5, called as i64, &text);
        sorter.add(&row).unwrap();
        rows.push(row);
    }
    assert!(sorter.has_spilled());
    rows.sort_by(|a, b| (&a.object, a.called).cmp(&(&b.object, b.called)));
    let mut sorted = sorter.finish().unwrap();
    for row in &rows {
        assert_eq!(sorted.next_row().unwrap().as_ref(), Some(row));
    }
    assert_eq!(sorted.next_row().unwrap(), None);
    assert_eq!(std::fs::read_dir(&scratch.0).unwrap().count(), 0);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let mut sorter = Sorter::new("/nowhere/at/all".as_ref(), 0);
    let text = "x".repeat(1 << 19);
    let failed = (0..9).find_map(|called| sorter.add(&row(0, called, &text)).err());
    let failed = failed.unwrap();
    assert_eq!(failed.kind(), ErrorKind::Unreadable);
    assert!(
        failed
            .reason()
            .contains("cannot be written to /nowhere/at/all"),
        "{failed}"
    );
}

#[test]
fn what_cannot_be_read_by_row_is_refused() {
    let scratch = Scratch::new("refused");
    let cases = [
        (
            "[{\"method\":\"read\",\"call\":1}]",
            "a JSON array is read whole",
        ),
        ("{:type :invoke, :f :read, :process 0}", "edn is read whole"),
        ("{\"linpoint\":1,\"stuck\":true}", "it ends stuck"),
    ];
    for (text, reason) in cases {
        let path = scratch.write("case", text.as_bytes());
        let error = RowInput::open(&path, &ReadOptions::default()).unwrap_err();
        assert!(error.reason().contains(reason), "{error}");
    }
    let cases = [
        (
            "{\"linpoint\":1}\n{\"linpoint\":1}",
            "line 2",
            "an input of several histories",
        ),
        (
            "{\"method\":\"read\",\"call\":5,\"return\":1}",
            "line 1",
            "before its call",
        ),
        (
            "{\"process\":0,\"event\":\"return\"}",
            "line 1",
            "process 0 returns without an open call",
        ),
    ];
    for (text, line, reason) in cases {
        let path = scratch.write("case.jsonl", text.as_bytes());
        let read = open(&path).each(&RowProgress::default(), &mut |_| {
            Ok(ControlFlow::Continue(()))
        });
        let error = read.unwrap_err();
        assert!(error.reason().contains(reason), "{error}");
        assert_eq!(format!("line {}", error.line().unwrap()), line);
    }
}

#[test]
fn a_line_that_is_cut_off_is_left_out_if_that_is_allowed() {
    let scratch = Scratch::new("cut");
    let path = scratch.write(
        "cut.jsonl",
        b"{\"method\":\"read\",\"ret\":1,\"call\":1,\"return\":2}\n{\"method\":\"re",
    );
    let each = |options: &ReadOptions| {
        let mut rows = 0;
        let input = RowInput::open(&path, options)?;
        let read = input.each(&RowProgress::default(), &mut |_| {
            rows += 1;
            Ok(ControlFlow::Continue(()))
        });
        read.map(|read| (rows, read.truncated))
    };
    let error = each(&ReadOptions::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.line()),
        (ErrorKind::Truncated, Some(2))
    );
    let options = ReadOptions {
        truncated: crate::format::Truncated::ReadPrefix,
        ..ReadOptions::default()
    };
    assert_eq!(each(&options).unwrap(), (1, Some(2)));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-zé\"]{0,5}".prop_map(Value::from),
        Just(Value::number("1.5")),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::vec((inner.clone(), inner), 0..3).prop_map(Value::map),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(
        (object, argument, result) in (value(), value(), value()),
        process in prop::option::of(value()),
        (called, returned, hint) in (any::<i64>(), any::<Option<i64>>(), any::<Option<i64>>()),
        (method, line) in ("[a-z]{0,3}", any::<u64>()),
    ) {
        let row = Row {
            object,
            process,
            method: Arc::from(method),
            argument,
            result,
            called,
            returned,
            hint,
            line,
        };
        let mut bytes = Vec::new();
        encode(&row, &mut bytes);
        let mut decoder = Decoder::default();
        prop_assert_eq!(decoder.key(&bytes), Some((row.object.clone(), row.called)));
        prop_assert_eq!(decoder.decode(&bytes), Some(row));
        bytes.pop();
        prop_assert_eq!(decoder.decode(&bytes), None);
    }
}
