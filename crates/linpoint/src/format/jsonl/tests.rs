use proptest::prelude::*;

use super::*;
use crate::format::samples::{contents, event_history, failures, timed_history};
use crate::format::{Format, parse};
use crate::history::{History, NEVER};
use crate::spec::Params;
use crate::value::Value;

fn read_all(text: &str) -> Vec<Result<RecordedHistory, Error>> {
    let options = ReadOptions {
        format: Some(Format::Jsonl),
        ..ReadOptions::default()
    };
    parse(text.as_bytes(), &options)
}

fn read_one(text: &str) -> RecordedHistory {
    let mut all = read_all(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).unwrap()
}

fn refusal(text: &str) -> String {
    let mut all = read_all(text);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0).unwrap_err().to_string()
}

fn texts(history: &History) -> Vec<String> {
    history.ops().map(|op| op.text()).collect()
}

#[test]
fn events() {
    let recorded = read_one(concat!(
        r#"{"linpoint":1,"type":"register","params":{"initial":7},"linearizable":true}"#,
        "\n\n",
        r#"{"process":0,"event":"call","object":"x","method":"write","arg":3,"time":12}"#,
        "\n",
        r#"{"process":"b","event":"call","method":"read"}"#,
        "\n",
        r#"{"event":"note","text":"partition"}"#,
        "\n",
        r#"{"process":0,"event":"return","method":"write","x-host":"n1"}"#,
        "\n",
        r#"{"process":"b","event":"return","ret":3}"#,
        "\n",
        r#"{"process":0,"event":"call","method":"write","arg":4}"#,
        "\n",
        r#"{"process":0,"event":"fail"}"#,
        "\n",
        r#"{"process":0,"event":"call","method":"write","arg":5}"#,
        "\r\n",
        r#"{"process":0,"event":"info"}"#,
    ));
    let history = &recorded.history;
    assert_eq!(texts(history), ["write(3)", "read() → 3", "write(5) → ?"]);
    assert_eq!(history.op(crate::OpId(0)).object, &Value::from("x"));
    assert_eq!(history.op(crate::OpId(2)).line, 10);
    assert_eq!(history.annotations()[0].rank, 2);
    let params = Params::from([("initial".to_owned(), Value::Int(7))]);
    assert_eq!(recorded.object_type, Some(("register".to_owned(), params)));
    assert_eq!(recorded.expected, Some(true));
}

#[test]
fn a_crash_of_the_whole_system_ends_all_open_calls() {
    let text = concat!(
        r#"{"linpoint":1}"#,
        "\n",
        r#"{"process":0,"event":"call","method":"write","arg":3}"#,
        "\n",
        r#"{"process":1,"event":"call","method":"read"}"#,
        "\n",
        r#"{"process":1,"event":"return","ret":0}"#,
        "\n",
        r#"{"event":"crash"}"#,
        "\n",
        r#"{"process":2,"event":"call","method":"read"}"#,
        "\n",
        r#"{"process":2,"event":"return","ret":3}"#,
        "\n",
    );
    let history = read_one(text).history;
    assert_eq!(
        texts(&history),
        ["write(3) → ?", "read() → 0", "read() → 3"]
    );
    assert_eq!(history.crashes().collect::<Vec<_>>(), [3]);
    let mut written = Vec::new();
    write_jsonl(&history, None, &mut written).unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), text);
}

#[test]
fn events_keep_their_times_beside_notes() {
    let text = concat!(
        r#"{"linpoint":1}"#,
        "\n",
        r#"{"process":0,"event":"call","method":"write","arg":3,"time":12}"#,
        "\n",
        r#"{"event":"note","text":"partition"}"#,
        "\n",
        r#"{"process":0,"event":"return","ret":null,"time":11}"#,
        "\n",
    );
    let history = read_one(text).history;
    assert_eq!(history.op(crate::OpId(0)).times, Some((12, 11)));
    let mut written = Vec::new();
    write_jsonl(&history, None, &mut written).unwrap();
    assert_eq!(String::from_utf8_lossy(&written), text);
    // Other tools may use the key for something else.
    let odd = text.replace("12", "\"noon\"");
    assert_eq!(read_one(&odd).history.op(crate::OpId(0)).times, None);
}

#[test]
fn operations() {
    let recorded = read_one(concat!(
        r#"{"process":0,"object":"x","method":"write","arg":3,"ret":null,"call":0,"return":5}"#,
        "\n",
        r#"{"method":"read","ret":[1,2.50,{"b":"\u00e9","a":123456789012345678901}],"call":5,"return":6}"#,
        "\n",
        r#"{"process":1,"method":"write","arg":"z","ret":9,"call":-7}"#,
    ));
    let history = &recorded.history;
    assert_eq!(
        texts(history),
        [
            r#"write("z") → ?"#,
            "write(3)",
            r#"read() → [1, 2.5, {"a": 123456789012345678901, "b": "é"}]"#,
        ]
    );
    // Times that touch are concurrent unless something says otherwise.
    assert_eq!(history.calls(), [0, 1, 2]);
    assert_eq!(recorded.object_type, None);
}

#[test]
fn whole_histories_one_bad_among_them() {
    let all = read_all(concat!(
        r#"{"type":"register","ops":[{"method":"write","value":1,"inv":0,"res":1},{"method":"read","value":1,"inv":2,"res":null}],"linearizable":true,"note":"n"}"#,
        "\n",
        r#"{"type":"set","ops":[{"method":"add","value":1,"ok":"#,
        "\n",
        r#"{"type":"set","ties":"response-first","ops":[{"method":"add","value":1,"ok":false,"inv":0,"res":1},{"method":"remove","value":1,"ok":true,"inv":1,"res":2}]}"#,
    ));
    assert_eq!(all.len(), 3);
    let first = all[0].as_ref().unwrap();
    assert_eq!(first.name.as_deref(), Some("0"));
    assert_eq!(texts(&first.history), ["write(1)", "read() → ?"]);
    let params = Params::from([("initial".to_owned(), Value::Int(0))]);
    assert_eq!(first.object_type, Some(("register".to_owned(), params)));
    assert_eq!(
        all[1].as_ref().unwrap_err().to_string(),
        "line 2: not JSON: it is cut off after column 52"
    );
    let third = all[2].as_ref().unwrap();
    assert_eq!(third.name.as_deref(), Some("2"));
    assert_eq!(
        texts(&third.history),
        ["add(1) → false", "remove(1) → true"]
    );
    assert_eq!(third.history.calls(), [0, 2]);
}

#[test]
fn headers_separate_histories_and_end_broken_ones() {
    let all = read_all(concat!(
        r#"{"linpoint":1,"type":"queue"}"#,
        "\n",
        r#"{"process":0,"event":"return"}"#,
        "\n",
        r#"{"process":0,"event":"return"}"#,
        "\nnonsense\n",
        r#"{"linpoint":1,"type":"stack"}"#,
        "\n",
        r#"{"linpoint":1}"#,
        "\n",
        r#"{"method":"push","arg":1,"call":0,"return":1}"#,
    ));
    assert_eq!(all.len(), 3);
    assert_eq!(
        all[0].as_ref().unwrap_err().to_string(),
        "line 2: process 0 returns without an open call"
    );
    assert!(all[1].as_ref().unwrap().history.is_empty());
    assert_eq!(all[2].as_ref().unwrap().history.len(), 1);
}

#[test]
fn a_pretty_printed_history() {
    let recorded = read_one(
        "\n{\n  \"type\": \"queue\",\n  \"ops\": [\n    {\"method\": \"enq\", \"arg\": 1, \"call\": 0, \"return\": 1}\n  ]\n}\n",
    );
    assert_eq!(texts(&recorded.history), ["enq(1)"]);
    assert_eq!(recorded.history.op(crate::OpId(0)).line, 2);
}

#[test]
fn a_number_is_the_same_however_it_is_written() {
    let recorded = read_one(
        r#"{"method":"write","arg":1e3,"call":1e1,"return":2.0e1}
{"method":"read","ret":1000,"call":30,"return":40}
"#,
    );
    assert_eq!(texts(&recorded.history), ["write(1000)", "read() → 1000"]);
    let times: Vec<_> = recorded.history.ops().map(|op| op.times).collect();
    assert_eq!(times, [Some((10, 20)), Some((30, 40))]);
}

/// Lines that are refused, with the beginning of the reason.
const REFUSED: &[(&str, &str)] = &[
    (
        r#"{"method":"read","call":0,"retrun":1}"#,
        r#"unknown key "retrun"; did you mean return? known are process, event, object, method, arg, ret, call, "#,
    ),
    (
        r#"{"process":1,"event":"return","result":1}"#,
        r#"unknown key "result"; did you mean ret? known are "#,
    ),
    (
        r#"{"thread":1,"event":"call","method":"read"}"#,
        r#"unknown key "thread"; did you mean process? known are "#,
    ),
    (
        r#"{"process":1,"type":"invoke","f":"read"}"#,
        r#"unknown key "f"; did you mean method? known are "#,
    ),
    (
        r#"{"process":1,"event":"call","method":"write","args":[1]}"#,
        r#"unknown key "args"; did you mean arg? known are "#,
    ),
    (
        r#"{"method":"read","Output":1,"call":0}"#,
        r#"unknown key "Output"; did you mean ret? known are "#,
    ),
    (
        r#"{"process":1,"type":"call","method":"read"}"#,
        r#""type" does not belong on an operation; did you mean event?"#,
    ),
    (
        r#"{"process":1,"event":"call","method":"write","value":1}"#,
        r#""value" does not belong on a call; did you mean arg?"#,
    ),
    (
        r#"{"process":1,"event":"return","value":1}"#,
        r#""value" does not belong on a return; did you mean ret?"#,
    ),
    (
        r#"{"process":1,"event":"invoke","method":"read"}"#,
        r#"unknown event "invoke"; did you mean call? known are "#,
    ),
    (r#"{"method":"read"}"#, r#""call" is missing"#),
    (
        r#"{"method":3,"call":0}"#,
        r#""method" must be text, not 3"#,
    ),
    (
        r#"{"method":"read","call":"0"}"#,
        r#""call" must be a 64-bit integer, not "0""#,
    ),
    (
        r#"{"method":"read","call":1.5}"#,
        r#""call" must be a 64-bit integer, not 1.5: times are integers, such as nanoseconds"#,
    ),
    (
        r#"{"method":"read","call":0,"call":0}"#,
        r#""call" is given twice"#,
    ),
    (
        r#"{"method":"read","call":3,"return":2}"#,
        r#""read" returns at 2, before its call at 3"#,
    ),
    (
        r#"{"method":"read","call":3,"text":"x"}"#,
        r#""text" does not belong on an operation"#,
    ),
    (
        r#"{"method":"read","inv":3,"ret":1}"#,
        r#""ret" does not belong on an operation with "inv""#,
    ),
    (
        r#"{"event":"call","method":"read"}"#,
        r#""process" is missing"#,
    ),
    (
        r#"{"event":"begin","process":1}"#,
        r#"unknown event "begin"; did you mean call? known are call, return, fail, crash, info, note"#,
    ),
    (r#"{"event":"note"}"#, r#""text" is missing"#),
    (
        r#"{"linpoint":2}"#,
        "version 2 of this format is not known, only 1 is",
    ),
    (
        r#"{"linpoint":1,"params":[]}"#,
        r#""params" must be an object, not a list"#,
    ),
    (
        r#"{"linpoint":1,"ties":"both"}"#,
        r#""ties" must be "invocation-first" or "response-first", not "both""#,
    ),
    (
        r#"{"linpoint":1,"linearizable":"yes"}"#,
        r#""linearizable" must be true or false, not "yes""#,
    ),
    (r#"{"ops":3}"#, r#""ops" must be a list of operations"#),
    (
        r#"{"ops":[{"method":"read"}]}"#,
        r#"operation 1: "call" is missing"#,
    ),
    (
        r#"{"method":"read","call":0,"arg":{"a":1,"a":2}}"#,
        r#""arg": key "a" is given twice"#,
    ),
    (
        r#"{"type":"queue"}"#,
        r#"neither an event ("event"), an operation ("method"), a whole history ("ops"), a header ("linpoint") nor a stuck end ("stuck")"#,
    ),
    ("[1]", "expected an object, not a list"),
];

#[test]
fn refusals_name_the_line_and_the_reason() {
    for (text, reason) in REFUSED {
        let refusal = refusal(&format!("\n{text}\n"));
        assert!(
            refusal.starts_with(&format!("line 2: {reason}")),
            "{refusal}"
        );
    }
    let mixed = concat!(
        r#"{"method":"read","call":0}"#,
        "\n",
        r#"{"event":"call","process":0,"method":"read"}"#
    );
    assert_eq!(
        refusal(mixed),
        "line 2: events and whole operations cannot be mixed in one history"
    );
    let note = concat!(
        r#"{"event":"note","text":"x"}"#,
        "\n",
        r#"{"method":"read","call":0}"#
    );
    assert_eq!(
        refusal(note),
        "line 1: a note, or a crash of the whole system, has no place among operations with times"
    );
    let other = concat!(
        r#"{"event":"call","process":0,"method":"read"}"#,
        "\n",
        r#"{"event":"return","process":0,"method":"write"}"#
    );
    assert_eq!(
        refusal(other),
        r#"line 2: process 0 returns from "write" but had called "read""#
    );
}

#[test]
fn deep_nesting_is_refused_not_followed() {
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        let value = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        let text = format!(r#"{{"method":"read","call":0,"return":1,"ret":{value}}}"#);
        assert_eq!(
            refusal(&text),
            r#"line 1: "ret": a value is nested more than 128 levels deep"#
        );
    }
    assert!(read_all(&"[".repeat(100_000))[0].is_err());
}

#[test]
fn long_files_are_read_in_order() {
    let count = 20_000;
    let line = |i: i64| {
        format!(
            r#"{{"process":{},"method":"write","arg":{i},"call":{},"return":{}}}"#,
            i % 4,
            3 * i,
            3 * i + 2
        )
    };
    let text: String = (0..count).map(|i| line(i) + "\n").collect();
    assert!(text.len() > 4 * CHUNK);
    let recorded = read_one(&text);
    assert_eq!(recorded.history.len(), count as usize);
    for (i, op) in (0..).zip(recorded.history.ops()) {
        assert_eq!((op.argument, i64::from(op.line)), (&Value::Int(i), i + 1));
    }
    let broken = text.replacen("19999", "x", 1);
    assert!(refusal(&broken).starts_with("line 20000: not JSON"));
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(history in prop_oneof![timed_history(), event_history()]) {
        let params = Params::from([("capacity".to_owned(), Value::Int(3))]);
        let mut text = Vec::new();
        write_jsonl(&history, Some(("queue", &params)), &mut text).unwrap();
        let mut read = parse(&text, &ReadOptions::default());
        prop_assert_eq!(read.len(), 1);
        let read = read.remove(0).unwrap();
        prop_assert_eq!(read.object_type, Some(("queue".to_owned(), params)));
        prop_assert_eq!(contents(&read.history), contents(&history));
        prop_assert_eq!(failures(&read.history), failures(&history));
    }

    #[test]
    fn no_text_makes_it_panic(text in r#"(\{?"?(event|call|ops|method|linpoint|x)?"?[:,\[\]{}0-9 "\n]{0,3}){0,12}"#) {
        for recorded in read_all(&text).into_iter().flatten() {
            prop_assert!(recorded.history.calls().iter().all(|&call| call != NEVER));
        }
    }
}

#[test]
fn an_array_holds_what_lines_hold() {
    let lines = r#"{"linpoint":1,"type":"register"}
{"process":0,"method":"write","arg":1,"call":0,"return":1}
{"process":1,"method":"read","ret":1,"call":2,"return":3}"#;
    let array = format!("[{}\n]", lines.replace('\n', ",\n"));
    let of_lines = parse(lines.as_bytes(), &ReadOptions::default());
    let of_array = parse(array.as_bytes(), &ReadOptions::default());
    let contents = |all: &[Result<RecordedHistory, Error>]| {
        let recorded = all[0].as_ref().unwrap();
        (contents(&recorded.history), recorded.object_type.clone())
    };
    assert_eq!(contents(&of_array), contents(&of_lines));
    let wrong = array.replace("\"write\"", "3");
    let error = parse(wrong.as_bytes(), &ReadOptions::default()).remove(0);
    let error = error.unwrap_err().to_string();
    assert!(error.starts_with("line 2: \"method\""), "{error}");
}
