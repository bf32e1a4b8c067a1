use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt8Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array,
    LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    TimestampMicrosecondArray, TimestampNanosecondArray, UInt16Array, UInt64Array,
};
use arrow_array::{BinaryArray, Float32Array};
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;

use super::read_batches;
use super::write::write_groups;
use crate::error::{Error, ErrorKind};
use crate::format::samples::{contents, event_history, failures, timed_history};
use crate::format::{Format, ReadOptions, RecordedHistory, parse, write, write_jsonl};
use crate::generate::Generator;
use crate::history::{Call, History, HistoryBuilder, Operation, Ties};
use crate::object::{object_type, types};
use crate::spec::Params;
use crate::value::Value;

fn bytes_of(history: &History, object_type: Option<(&str, &Params)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(Format::Parquet, history, object_type, &mut bytes).unwrap();
    bytes
}

fn read_one(bytes: &[u8]) -> Result<RecordedHistory, Error> {
    let mut all = parse(bytes, &ReadOptions::default());
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// The history of a file whose table is in memory, with texts that are in no dictionary.
fn read_table(bytes: &[u8]) -> Result<RecordedHistory, Error> {
    let bytes = bytes::Bytes::copy_from_slice(bytes);
    let file = ParquetRecordBatchReaderBuilder::try_new(bytes).unwrap();
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let pairs = pairs.into_iter().flatten();
    let metadata = pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()));
    let metadata = metadata.collect();
    let schema = file.schema().as_ref().clone().with_metadata(metadata);
    let batches: Vec<RecordBatch> = file.build().unwrap().map(Result::unwrap).collect();
    read_batches(&schema, &batches, &ReadOptions::default())
}

/// Values, objects and the like that occur, in any order.
fn tables(history: &History) -> [Vec<String>; 4] {
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    [
        sorted(history.values().iter().map(Value::to_string).collect()),
        sorted(history.processes().iter().map(Value::to_string).collect()),
        sorted(history.objects().iter().map(Value::to_string).collect()),
        sorted(history.methods().to_vec()),
    ]
}

fn refusal(bytes: &[u8]) -> String {
    let error = read_one(bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
    error.to_string()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        history in prop_oneof![timed_history(), event_history()],
        group in 1usize..5,
    ) {
        let params = Params::from([("capacity".to_owned(), Value::Int(3))]);
        let mut bytes = Vec::new();
        write_groups(&history, Some(("queue", &params)), group, &mut bytes).unwrap();
        let read = read_one(&bytes).unwrap();
        let table = read_table(&bytes).unwrap();
        for read in [read, table] {
            prop_assert_eq!(&read.object_type, &Some(("queue".to_owned(), params.clone())));
            prop_assert_eq!(contents(&read.history), contents(&history));
            prop_assert_eq!(failures(&read.history), failures(&history));
            prop_assert_eq!(read.history.ties(), history.ties());
        }
    }
}

#[test]
fn json_lines_become_parquet_and_json_lines_again() {
    for info in types() {
        let bounded = Params::from([("capacity".to_owned(), Value::Int(4))]);
        let object = object_type(info.name, &Params::new());
        let object = object
            .or_else(|_| object_type(info.name, &bounded))
            .unwrap();
        for seed in 0..4 {
            let generator = Generator {
                ops: 300,
                processes: 5,
                objects: 1 + seed as usize % 2,
                seed,
                pending_per_million: if seed < 2 { 0 } else { 30_000 },
                universe: (seed == 3).then_some(4),
                ..Generator::default()
            };
            let history = generator.linearizable(&object).unwrap();
            let mut text = Vec::new();
            write_jsonl(&history, Some((info.name, &Params::new())), &mut text).unwrap();
            let first = read_one(&text).unwrap();
            let again = read_one(&bytes_of(&first.history, Some((info.name, &Params::new()))));
            let again = again.unwrap();
            assert_eq!(again.object_type, first.object_type);
            assert_eq!(contents(&again.history), contents(&first.history));
            assert_eq!(tables(&again.history), tables(&first.history));
            let mut text_again = Vec::new();
            write_jsonl(
                &again.history,
                Some((info.name, &Params::new())),
                &mut text_again,
            )
            .unwrap();
            assert!(text == text_again, "{} with seed {seed}", info.name);
        }
    }
}

#[test]
fn hints_of_other_tools_are_read() {
    let hints = Int32Array::from(vec![Some(7), None]);
    let read = read_one(&foreign(two_rows([column("hint", hints)]))).unwrap();
    let hints: Vec<_> = read.history.ops().map(|op| op.hint).collect();
    assert_eq!(hints, [Some(7), None]);
    let none = read_one(&foreign(two_rows([column("hint", NullArray::new(2))]))).unwrap();
    assert!(!none.history.has_hints());
    let text = StringArray::from(vec!["a", "b"]);
    assert_eq!(
        refusal(&foreign(two_rows([column("hint", text)]))),
        "column \"hint\" must hold integers, but it is text"
    );
}

#[test]
fn many_rows_come_in_several_batches() {
    let object = object_type("queue", &Params::new()).unwrap();
    let generator = Generator {
        ops: 40_000,
        processes: 20,
        pending_per_million: 1_000,
        ..Generator::default()
    };
    let history = generator.linearizable(&object).unwrap();
    let mut bytes = Vec::new();
    write_groups(&history, None, 25_000, &mut bytes).unwrap();
    let read = read_one(&bytes).unwrap().history;
    assert_eq!(contents(&read), contents(&history));
    assert!((1..).zip(read.ops()).all(|(row, op)| op.line == row));
}

/// The rule for ties is the one under which the file was written, unless the user asks for another.
#[test]
fn ties_are_kept() {
    for ties in [Ties::CallFirst, Ties::ReturnFirst] {
        let mut builder = HistoryBuilder::new();
        for (called, returned) in [(0, 2), (2, 3), (3, 7), (2, 7)] {
            let operation = Operation {
                process: None,
                call: Call::new("read", Value::Nil),
                result: Value::Nil,
                called,
                returned: Some(returned),
            };
            builder.operation(1, operation).unwrap();
        }
        let history = builder.finish(ties).unwrap();
        let bytes = bytes_of(&history, None);
        let read = read_one(&bytes).unwrap();
        assert_eq!(read.history.ties(), Some(ties));
        assert_eq!(contents(&read.history), contents(&history));
        let options = ReadOptions {
            ties: Some(Ties::CallFirst),
            ..ReadOptions::default()
        };
        let read = parse(&bytes, &options).remove(0).unwrap();
        assert_eq!(read.history.ties(), Some(Ties::CallFirst));
    }
}

type Named = (&'static str, ArrayRef);

/// A file as other tools write it.
fn foreign(columns: Vec<Named>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn column(name: &'static str, array: impl arrow_array::Array + 'static) -> Named {
    (name, Arc::new(array))
}

/// Two operations, and what may be given differently.
fn two_rows(instead: impl IntoIterator<Item = Named>) -> Vec<Named> {
    let mut columns = vec![
        column("process", Int64Array::from(vec![0, 1])),
        column("method", StringArray::from(vec!["enq", "deq"])),
        column("argument", Int64Array::from(vec![Some(7), None])),
        column("result", Int64Array::from(vec![None, Some(7)])),
        column("call", Int64Array::from(vec![10, 20])),
        column("return", Int64Array::from(vec![Some(15), Some(25)])),
    ];
    for (name, array) in instead {
        columns.retain(|(other, _)| *other != name);
        columns.push((name, array));
    }
    columns
}

fn texts(recorded: &RecordedHistory) -> Vec<String> {
    let ops = recorded.history.ops();
    ops.map(|op| format!("{}@{}: {}", op.process, op.object, op.text()))
        .collect()
}

#[test]
fn files_of_other_tools() {
    let texts_of = |columns: Vec<Named>| texts(&read_one(&foreign(columns)).unwrap());
    let usual = ["0@nil: enq(7)", "1@nil: deq() → 7"];
    assert_eq!(texts_of(two_rows([])), usual);
    // Types that hold the same.
    let alike = [
        column("process", Int32Array::from(vec![0, 1])),
        column("process", UInt16Array::from(vec![0, 1])),
        column("method", LargeStringArray::from(vec!["enq", "deq"])),
        column("method", StringViewArray::from(vec!["enq", "deq"])),
        column(
            "method",
            DictionaryArray::new(
                Int32Array::from(vec![1, 0]),
                Arc::new(StringArray::from(vec!["deq", "enq"])),
            ),
        ),
        column("argument", Float64Array::from(vec![Some(7.0), None])),
        column("argument", StringArray::from(vec![Some("7"), None])),
        column("argument", StringArray::from(vec!["7", "null"])),
        column("result", UInt64Array::from(vec![None, Some(7)])),
        column("object", NullArray::new(2)),
        column("object", Int64Array::from(vec![None, None])),
        column("call", UInt64Array::from(vec![10, 20])),
        column("return", Float64Array::from(vec![Some(15.0), Some(25.0)])),
        column("something", BooleanArray::from(vec![true, false])),
    ];
    for column in alike {
        let what = format!("{column:?}");
        assert_eq!(texts_of(two_rows([column])), usual, "{what}");
    }
    // Processes are made up where there are none.
    let mut without = two_rows([]);
    without.retain(|(name, _)| *name != "process");
    assert_eq!(texts_of(without), ["0@nil: enq(7)", "0@nil: deq() → 7"]);
    let some = column("process", Int64Array::from(vec![None, Some(0)]));
    assert_eq!(
        texts_of(two_rows([some])),
        ["1@nil: enq(7)", "0@nil: deq() → 7"]
    );
    // Names are text as it is; values are JSON.
    let named = [
        column("process", StringArray::from(vec!["5", "n2"])),
        column("object", StringArray::from(vec![Some("a"), None])),
        column("argument", StringArray::from(vec![Some("\"5\""), None])),
        column("result", StringArray::from(vec![None, Some("[1, {}]")])),
    ];
    assert_eq!(
        texts_of(two_rows(named)),
        [r#""5"@"a": enq("5")"#, r#""n2"@nil: deq() → [1, {}]"#]
    );
    let truths = column("result", BooleanArray::from(vec![Some(true), None]));
    assert_eq!(
        texts_of(two_rows([truths])),
        ["0@nil: enq(7) → true", "1@nil: deq() → nil"]
    );
}

#[test]
fn times_may_be_timestamps_and_out_of_order() {
    let recorded = read_one(&foreign(two_rows([
        column("call", TimestampMicrosecondArray::from(vec![1000, 10])),
        column(
            "return",
            TimestampMicrosecondArray::from(vec![None, Some(500)]),
        ),
    ])));
    let recorded = recorded.unwrap();
    assert_eq!(texts(&recorded), ["1@nil: deq() → 7", "0@nil: enq(7) → ?"]);
    let times: Vec<_> = recorded.history.ops().filter_map(|op| op.times).collect();
    assert_eq!(times, [(10, 500), (1000, i64::MAX)]);
    let lines: Vec<_> = recorded.history.ops().map(|op| op.line).collect();
    assert_eq!(lines, [2, 1]);
}

#[test]
fn results_of_pending_operations_are_no_values() {
    let recorded = read_one(&foreign(two_rows([
        column("argument", Int64Array::from(vec![7, 8])),
        column("result", Int64Array::from(vec![Some(9), Some(7)])),
        column("return", Int64Array::from(vec![None, Some(25)])),
    ])));
    let recorded = recorded.unwrap();
    assert_eq!(texts(&recorded), ["0@nil: enq(7) → ?", "1@nil: deq(8) → 7"]);
    assert_eq!(recorded.history.values(), [Value::Int(7), Value::Int(8)]);
}

#[test]
fn refusals_name_the_row_and_the_reason() {
    let cases: Vec<(Vec<Named>, &str)> = vec![
        (
            vec![column("return", Int64Array::from(vec![15, 19]))],
            "row 2: \"deq\" returns at 19, before its call at 20",
        ),
        (
            vec![column("call", Int64Array::from(vec![Some(10), None]))],
            "row 2: \"call\": there is no time",
        ),
        (
            vec![column("method", StringArray::from(vec![None, Some("deq")]))],
            "row 1: \"method\": there is no name",
        ),
        (
            vec![
                column("process", Int64Array::from(vec![0, 0])),
                column("return", Int64Array::from(vec![21, 22])),
            ],
            "row 2: process 0 calls \"deq\" at 20 while its call of \"enq\" in row 1 is still open: a client \
             that goes on after a timeout or a crash needs a new process number, and the open call stays pending",
        ),
        (
            vec![
                column("process", Int64Array::from(vec![0, 0])),
                column("return", Int64Array::from(vec![None, Some(22)])),
            ],
            "row 2: process 0 calls \"deq\" at 20 while its call of \"enq\" in row 1 is still open: a client \
             that goes on after a timeout or a crash needs a new process number, and the open call stays pending",
        ),
        (
            vec![column(
                "argument",
                StringArray::from(vec![Some("7"), Some("abc")]),
            )],
            "row 2: \"argument\": not JSON: expected value at column 1 in \"abc\"",
        ),
        (
            vec![column(
                "argument",
                StringArray::from(vec![Some("7"), Some("")]),
            )],
            "row 2: \"argument\": not JSON: it is cut off after column 0 in \"\"",
        ),
        (
            vec![column("result", Float64Array::from(vec![Some(1.5), None]))],
            "row 1: \"result\": 1.5 is no integer; other values are given as JSON text",
        ),
        (
            vec![column("result", UInt64Array::from(vec![1, u64::MAX]))],
            "row 2: \"result\": 18446744073709551615 does not fit 64 bits with a sign",
        ),
        (
            vec![column("result", Float32Array::from(vec![1.0, 2.0]))],
            "column \"result\" must hold integers, truth values or JSON text, but it is of type Float32",
        ),
        (
            vec![column("method", Int64Array::from(vec![1, 2]))],
            "column \"method\" must hold text, but it is of type Int64",
        ),
        (
            vec![column(
                "method",
                BinaryArray::from(vec![b"a".as_slice(), b"b"]),
            )],
            "column \"method\" must hold text, but it is of type Binary",
        ),
        (
            vec![column("call", StringArray::from(vec!["1", "2"]))],
            "column \"call\" must hold integers or times, but it is text",
        ),
        (
            vec![column("process", BooleanArray::from(vec![true, false]))],
            "column \"process\" must hold integers or text, but it is of type Boolean",
        ),
        (
            vec![
                column("call", TimestampMicrosecondArray::from(vec![1, 2])),
                column("return", TimestampNanosecondArray::from(vec![1000, 2000])),
            ],
            "columns \"call\" and \"return\" are of different types, Timestamp(µs) and Timestamp(ns)",
        ),
    ];
    for (instead, reason) in cases {
        assert_eq!(refusal(&foreign(two_rows(instead))), reason);
    }
    for missing in ["method", "argument", "result", "call", "return"] {
        let mut columns = two_rows([]);
        columns.retain(|(name, _)| *name != missing);
        let start = format!("column {missing:?} is missing; the file has \"process\", ");
        let reason = refusal(&foreign(columns));
        assert!(reason.starts_with(&start), "{reason}");
    }
}

#[test]
fn damaged_files_are_refused() {
    let object = object_type("kv", &Params::new()).unwrap();
    let history = Generator::default().linearizable(&object).unwrap();
    let bytes = bytes_of(&history, Some(("kv", &Params::new())));
    for length in 4..bytes.len() {
        let reason = refusal(&bytes[..length]);
        assert!(reason.starts_with("not readable as Parquet: "), "{reason}");
    }
    let options = ReadOptions {
        format: Some(Format::Parquet),
        ..ReadOptions::default()
    };
    for no_parquet in [b"".as_slice(), b"{}", b"hello, hello, hello"] {
        let error = parse(no_parquet, &options).remove(0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
    }
}

/// Whatever is read, it is no panic; most of it is refused.
#[test]
fn no_bytes_make_it_panic() {
    let object = object_type("kv", &Params::new()).unwrap();
    let history = Generator::default().linearizable(&object).unwrap();
    let bytes = bytes_of(&history, Some(("kv", &Params::new())));
    for at in 4..bytes.len() {
        for change in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            if let Ok(read) = read_one(&changed) {
                assert!(read.history.calls().is_sorted());
            }
        }
    }
}

#[test]
fn a_table_may_have_texts_of_any_type() {
    let methods = ["write", "read", "read"];
    let values = [Some("\"a\""), None, Some("\"a\"")];
    let coded = |narrow: bool| -> [ArrayRef; 2] {
        let [methods, values]: [DictionaryArray<Int32Type>; 2] = [
            methods.into_iter().map(Some).collect(),
            values.into_iter().collect(),
        ];
        if narrow {
            return [Arc::new(methods), Arc::new(values)];
        }
        let wide = |texts: DictionaryArray<Int32Type>| -> ArrayRef {
            let keys = texts.keys().iter().map(|key| key.map(|key| key as u8));
            let values: LargeStringArray = texts.values().as_string::<i32>().iter().collect();
            Arc::new(DictionaryArray::<UInt8Type>::new(
                keys.collect(),
                Arc::new(values),
            ))
        };
        [wide(methods), wide(values)]
    };
    let texts: [[ArrayRef; 2]; 5] = [
        [
            Arc::new(StringArray::from(methods.to_vec())),
            Arc::new(StringArray::from(values.to_vec())),
        ],
        [
            Arc::new(LargeStringArray::from(methods.to_vec())),
            Arc::new(LargeStringArray::from(values.to_vec())),
        ],
        [
            Arc::new(StringViewArray::from(methods.to_vec())),
            Arc::new(StringViewArray::from(values.to_vec())),
        ],
        coded(true),
        coded(false),
    ];
    let integers = |from: i64| -> ArrayRef { Arc::new((from..from + 3).collect::<Int64Array>()) };
    let found = texts.map(|[method, value]| {
        let columns: [(&str, ArrayRef); 6] = [
            ("process", integers(7)),
            ("method", method),
            ("argument", value.clone()),
            ("result", value),
            ("call", integers(0)),
            ("return", integers(10)),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        // In pieces, of which one begins within the array.
        let pieces = [batch.slice(0, 1), batch.slice(1, 2)];
        let read = read_batches(&batch.schema(), &pieces, &ReadOptions::default()).unwrap();
        contents(&read.history)
    });
    assert_eq!(found[0].len(), 3);
    for other in &found[1..] {
        assert_eq!(other, &found[0]);
    }
}

#[test]
fn errors_of_tables_name_rows() {
    let column = |values: Vec<Option<i64>>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
    let columns: [(&str, ArrayRef); 5] = [
        ("method", Arc::new(StringArray::from(vec!["read", "read"]))),
        ("argument", Arc::new(NullArray::new(2))),
        ("result", Arc::new(NullArray::new(2))),
        ("call", column(vec![Some(1), None])),
        ("return", column(vec![Some(2), Some(3)])),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = ReadOptions::default();
    let reason = |schema: &Schema, batches: &[RecordBatch]| {
        let error = read_batches(schema, batches, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed);
        error.to_string()
    };
    let named = reason(&batch.schema(), std::slice::from_ref(&batch));
    assert_eq!(named, "row 2: \"call\": there is no time");
    let fewer = batch.project(&[0, 1, 2, 4]).unwrap();
    let named = reason(&fewer.schema(), std::slice::from_ref(&fewer));
    assert!(
        named.starts_with("column \"call\" is missing; the table has "),
        "{named}"
    );
    let named = reason(&batch.schema(), &[fewer]);
    assert_eq!(named, "a batch has no column \"call\" of type Int64");
}
