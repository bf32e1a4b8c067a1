//! Tests over whole logs.

use proptest::prelude::*;

use super::super::samples::{contents, failures};
use super::super::{Note, parse, write_jsonl};
use super::*;
use crate::history::{History, Ties};

fn read_with(mapping: &Mapping, log: &str) -> Result<RecordedHistory, Error> {
    let options = ReadOptions {
        mapping: Some(mapping.clone().into()),
        ..ReadOptions::default()
    };
    let mut all = parse(log.as_bytes(), &options);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn read(mapping: &str, log: &str) -> Result<RecordedHistory, Error> {
    let mapping = match mapping.contains('\n') {
        true => Mapping::from_toml(mapping),
        false => Mapping::from_inline(mapping),
    };
    read_with(&mapping.unwrap(), log)
}

/// `process: operation` for each operation.
fn ops(recorded: &RecordedHistory) -> Vec<String> {
    let ops = recorded.history.ops();
    ops.map(|op| format!("{}: {}", op.process, op.text()))
        .collect()
}

#[test]
fn one_record_for_each_operation() {
    let mapping = "process=.client_id, method=.op, arg=.in, result=.out, call=.start, return=.end";
    let log = r#"
{"client_id":1,"op":"write","in":5,"out":null,"start":10,"end":20}
{"client_id":2,"op":"read","in":null,"out":5,"start":15,"end":30}
{"client_id":1,"op":"read","out":5,"start":25,"end":null}
"#;
    let recorded = read(mapping, log).unwrap();
    assert_eq!(
        ops(&recorded),
        ["1: write(5)", "2: read() → 5", "1: read() → ?"]
    );
    assert_eq!(recorded.history.op(crate::OpId(0)).times, Some((10, 20)));
    let array = format!("[{}]", log.trim().replace('\n', ","));
    assert_eq!(ops(&read(mapping, &array).unwrap()), ops(&recorded));
    let csv = "client_id,op,in,out,start,end\n1,write,5,,10,20\n2,read,,5,15,30\n1,read,,5,25,\n";
    assert_eq!(ops(&read(mapping, csv).unwrap()), ops(&recorded));
    let tsv = csv.replace(',', "\t");
    assert_eq!(ops(&read(mapping, &tsv).unwrap()), ops(&recorded));
}

#[test]
fn events_of_externally_tagged_variants() {
    let mapping = r#"
process = ".client_id"
id = ".op_id"
method = ".event.Start@"
argument = { Append = ".event.Start.Append.record_hashes" }
result = ".event.Finish.*.tail"
event = { call = ".event.Start", return = ".event.Finish" }

[status]
path = ".event.Finish@"
ok = ["AppendSuccess", "CheckTailSuccess"]
fail = ["AppendDefiniteFailure", "CheckTailFailure"]
unknown = "AppendIndefiniteFailure"
"#;
    let log = r#"
{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[7]}}},"client_id":2,"op_id":4}
{"event":{"Start":"CheckTail"},"client_id":3,"op_id":5}
{"event":{"Finish":{"AppendSuccess":{"tail":1}}},"client_id":2,"op_id":4}
{"event":{"Finish":"CheckTailFailure"},"client_id":3,"op_id":5}
{"event":{"Start":"CheckTail"},"client_id":3,"op_id":6}
{"event":{"Finish":{"CheckTailSuccess":{"tail":1}}},"client_id":3,"op_id":6}
{"event":{"Start":{"Append":{"num_records":1,"record_hashes":[8]}}},"client_id":3,"op_id":7}
{"event":{"Finish":"AppendIndefiniteFailure"},"client_id":3,"op_id":7}
"#;
    let recorded = read(mapping, log).unwrap();
    assert_eq!(
        ops(&recorded),
        ["2: Append(7) → 1", "3: CheckTail() → 1", "3: Append(8) → ?"]
    );
    let failed = recorded.history.failed();
    assert_eq!(
        (failed[0].call_text(), failed[0].line),
        ("CheckTail()".to_owned(), 3)
    );
}

#[test]
fn statuses_have_three_values() {
    let mapping = r#"
process = ".client"
key = ".key"
method = ".op"
argument = { write = ".value" }
result = { read = ".value" }
call = ".start"
return = ".end"
unit = "ns"
[status]
path = ".status"
ok = ["ok", 200]
fail = "fail"
absent = "unknown"
other = "unknown"
"#;
    let log = r#"
{"client":1,"op":"write","key":"a","value":1,"status":"ok","start":1,"end":2}
{"client":1,"op":"write","key":"b","value":2,"status":"fail","start":3,"end":4}
{"client":1,"op":"write","key":"a","value":3,"status":"timeout","start":5,"end":6}
{"client":1,"op":"read","key":"a","value":3,"status":200,"start":7,"end":8}
{"client":1,"op":"read","key":"a","start":9}
"#;
    let recorded = read(mapping, log).unwrap();
    assert_eq!(
        ops(&recorded),
        [
            "1: write(1)",
            "1: write(3) → ?",
            r#""1/2": read() → 3"#,
            r#""1/2": read() → ?"#
        ]
    );
    assert_eq!(recorded.notes, [Note::OverlappingCalls(2)]);
    let failed = &recorded.history.failed()[0];
    assert_eq!(failed.call.object, "b".into());
    assert_eq!(
        (failed.called, failed.failed, failed.times),
        (2, 2, (Some(3), Some(4)))
    );
    assert_eq!(
        recorded.history.objects().len(),
        1,
        "a failed operation is on no object"
    );
}

#[test]
fn skew_widens_intervals() {
    let mapping = "process=.p, method=.m, call=.c, return=.r, unit=us";
    let log = r#"
{"p":"a","m":"x","c":10,"r":20}
{"p":"a","m":"y","c":21,"r":30}
{"p":"b","m":"z","c":25,"r":26.0005}
"#;
    let mapping = Mapping::from_inline(mapping).unwrap();
    let times = |mapping: &Mapping| -> Vec<_> {
        let recorded = read_with(mapping, log).unwrap();
        recorded.history.ops().map(|op| op.times).collect()
    };
    let exact = [(10_000, 20_000), (21_000, 30_000), (25_000, 26_001)];
    assert_eq!(times(&mapping), exact.map(Some));
    let skewed = mapping.with_skew(Duration::from_micros(1)).unwrap();
    let wider = exact.map(|(call, ret)| (call - 1_000, ret + 1_000));
    assert_eq!(times(&skewed), wider.map(Some));
    let recorded = read_with(&skewed, log).unwrap();
    assert_eq!(
        ops(&recorded),
        [r#""a": x()"#, r#""a/2": y()"#, r#""b": z()"#]
    );
    assert_eq!(recorded.notes, [Note::OverlappingCalls(1)]);
    let by_process = Mapping::from_toml(
        "process='.p'\nmethod='.m'\ncall='.c'\nreturn='.r'\nunit='us'\n[skew]\ndefault='0ns'\nb='5us'\n",
    );
    let only_b = [exact[0], exact[1], (20_000, 31_001)];
    let mut only_b: Vec<_> = only_b.map(Some).into();
    only_b.sort();
    assert_eq!(times(&by_process.unwrap()), only_b);
    let of_another = Mapping::from_toml(
        "process='.p'\nmethod='.m'\ncall='.c'\nreturn='.r'\nunit='us'\n[skew]\nc='5us'\n",
    );
    let recorded = read_with(&of_another.unwrap(), log).unwrap();
    assert_eq!(recorded.notes, [Note::UnusedSkew(1)]);
}

/// A client whose calls overlap is one owner, also when the history is written and read again.
#[test]
fn overlapping_calls_have_one_owner() {
    use crate::{Checker, Verdict};
    let log = r#"
{"p":0,"m":"acquire","r":1,"s":0,"e":10}
{"p":0,"m":"release","s":12,"e":20}
{"p":1,"m":"acquire","r":2,"s":30,"e":40}
"#;
    let mapping = "process=.p, method=.m, result=.r, call=.s, return=.e, unit=us";
    let mapping = Mapping::from_inline(mapping).unwrap();
    let skewed = mapping.with_skew(Duration::from_micros(5)).unwrap();
    let recorded = read_with(&skewed, log).unwrap();
    let is_linearizable = |history: &History, name: &str| {
        let lock = crate::object_type(name, &Default::default()).unwrap();
        let report = Checker::default().check_recorded(&lock, history).unwrap();
        matches!(report.verdict, Verdict::Linearizable(_))
    };
    let mut written = Vec::new();
    write_jsonl(&recorded.history, None, &mut written).unwrap();
    let read_again = parse(&written, &ReadOptions::default()).remove(0).unwrap();
    for history in [&recorded.history, &read_again.history] {
        assert_eq!(history.client(&"0/2".into()), &0.into());
        for name in ["fenced-lock", "reentrant-mutex"] {
            assert!(is_linearizable(history, name), "{name}");
        }
    }
    let stolen = log.replace(r#""p":0,"m":"release""#, r#""p":2,"m":"release""#);
    let stolen = read_with(&skewed, &stolen).unwrap();
    assert!(!is_linearizable(&stolen.history, "fenced-lock"));
}

#[test]
fn an_empty_column_is_there() {
    let mapping = "process=.p, method=.m, argument=.a, result=.r, call=.s, return=.e";
    let recorded = read(mapping, "p,m,a,r,s,e\n0,write,1,,0,1\n").unwrap();
    assert_eq!(ops(&recorded), ["0: write(1)"]);
    let error = read(mapping, "p,m,a,s,e\n0,write,1,0,1\n").unwrap_err();
    assert!(error.to_string().contains("no record has .r"), "{error}");
}

#[test]
fn hints_may_be_text() {
    let mapping = "process=.p, method=.m, call=.s, return=.e, hint=.h, cells=text";
    let recorded = read(mapping, "p,m,s,e,h\n0,read,0,1,17\n").unwrap();
    assert_eq!(recorded.history.op(crate::OpId(0)).hint, Some(17));
    assert!(read(mapping, "p,m,s,e,h\n0,read,0,1,x\n").is_err());
}

#[test]
fn overlapping_calls_get_processes_that_no_other_call_has() {
    let mapping = "process=.p, method=.m, call=.c, return=.r";
    let log = "p,m,c,r\n1,x,0,10\n1,y,5,15\n1/2,z,0,1\n1,w,10,20\n";
    let recorded = read(mapping, log).unwrap();
    assert_eq!(
        ops(&recorded),
        ["1: x()", "\"1/2\": z()", "\"1/3\": y()", "1: w()"]
    );
    let unnamed = read("method=.m, call=.c, return=.r", log).unwrap();
    let processes: Vec<_> = unnamed.history.ops().map(|op| op.process.clone()).collect();
    assert_eq!(processes, [1, 0, 0, 1].map(Value::Int));
}

#[test]
fn events_with_times_may_come_in_any_order() {
    let mapping = "process=.p, method=.m, event=.e, time=.t, result=.v, unit=s";
    let log = r#"
{"p":1,"e":"start","m":"read","t":1.5}
{"p":1,"e":"end","v":7,"t":2}
{"p":0,"e":"start","m":"write","t":0.25}
{"p":0,"e":"fail","t":0.5}
"#;
    let recorded = read(mapping, log).unwrap();
    assert_eq!(ops(&recorded), ["1: read() → 7"]);
    assert_eq!(
        recorded.history.failed()[0].times,
        (Some(250_000_000), Some(500_000_000))
    );
}

#[test]
fn dates_and_constants() {
    let mapping = "process=.p, object== stock, method== read, result=.v, call=.c, return=.r";
    let log = r#"[{"p":0,"v":1,"c":"2026-11-17T21:40:00.000000001Z","r":"2026-11-17T23:40:00.000000002+02:00"}]"#;
    let recorded = read(mapping, log).unwrap();
    let op = recorded.history.ops().next().unwrap();
    assert_eq!(
        (op.object, op.text()),
        (&"stock".into(), "read() → 1".to_owned())
    );
    let start = 1_794_951_600_000_000_000;
    assert_eq!(op.times, Some((start + 1, start + 2)));
}

#[test]
fn ties_are_those_of_the_options() {
    let mapping = Mapping::from_inline("process=.p, method=.m, call=.c, return=.r").unwrap();
    let options = ReadOptions {
        mapping: Some(mapping.into()),
        ties: Some(Ties::ReturnFirst),
        ..ReadOptions::default()
    };
    let log = "p,m,c,r\n1,x,0,10\n2,y,10,15\n";
    let recorded = parse(log.as_bytes(), &options).remove(0).unwrap();
    assert_eq!(recorded.history.ties(), Some(Ties::ReturnFirst));
}

#[test]
fn types_have_parameters() {
    let mapping =
        "type='bounded-queue'\nparams={capacity=3}\nmethod='.m'\ncall='.c'\nreturn='.r'\n";
    let recorded = read(mapping, "m,c,r\nenq,1,2\n").unwrap();
    let params = [("capacity".to_owned(), 3.into())].into();
    assert_eq!(
        recorded.object_type,
        Some(("bounded-queue".to_owned(), params))
    );
}

#[test]
fn records_can_be_skipped() {
    let mapping = "process=.p, method=.m, call=.c, return=.r, skip.path=.level, skip.if=debug|trace, skip.without=.m";
    let log = r#"
{"level":"debug","m":"x"}
{"level":"info","text":"hello"}
{"level":"info","p":1,"m":"x","c":0,"r":1}
"#;
    assert_eq!(ops(&read(mapping, log).unwrap()), ["1: x()"]);
}

#[test]
fn refusals_of_logs_name_the_line_the_path_and_what_to_do() {
    let whole = "process=.p, method=.m, result=.v, call=.c, return=.r";
    let events = "process=.p, method=.m, event=.e";
    let cases = [
        (
            whole,
            r#"{"p":1,"m":"x","c":0}
{"q":1,"m":"x","c":0}"#,
            "line 2: .p, which is the `process`, is missing: the record has c, m, q",
        ),
        (
            whole,
            r#"{"p":1,"m":{"x":1},"c":0}"#,
            "line 1: the method is no text: `method` is the path of a name",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":null}"#,
            "line 1: .c, which is the `call`, is null",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":1.5,"r":2}"#,
            "line 1: .c: the time 1.5 has a fraction: say the unit of times, such as unit = \"s\"",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":"noon","r":2}"#,
            "line 1: .c: \"noon\" is no time: times are numbers, or dates such as 2026-11-17T21:40:00.123456Z",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":1,"r":"2026-11-17T21:40:00Z"}"#,
            "line 1: .r: this time is a date, and that on line 1 is a number without a unit: say the unit of the numbers, such as unit = \"ms\"",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":5,"r":4}"#,
            "line 1: \"x\" returns at 4, before its call at 5: are the two times swapped in the mapping?",
        ),
        (
            whole,
            r#"{"p":1,"m":"x","c":5,"r":6,"w":3}"#,
            "no record has .v, which the mapping takes for `result`: the record has c, m, p, r, w in the first record; correct the path, or leave `result` out",
        ),
        (
            whole,
            "m\n7\n",
            "line 2: .p, which is the `process`, is missing: the record has m",
        ),
        (
            "process=.p, method=.m, call=.c, return=.r, status=.s",
            r#"{"p":1,"m":"x","c":5,"r":6,"s":"timeout"}"#,
            "line 1: the status \"timeout\" is in no list: add it to status.ok (done), status.fail (did not happen) or status.unknown, or say status.other",
        ),
        (
            "process=.p, method=.m, call=.c, return=.r, status=.s",
            r#"{"p":1,"m":"x","c":5,"r":6}"#,
            "line 1: .s, which is the `status`, is missing: the record has c, m, p, r; say what that means with status.absent",
        ),
        (
            "process=.p, method=.m, call=.c, return=.r, skew=5ms",
            r#"{"p":1,"m":"x","c":5,"r":6}"#,
            "line 1: .c: times are numbers without a unit, so `skew` cannot be added: say unit = \"ns\", \"us\", \"ms\" or \"s\"",
        ),
        (
            events,
            r#"{"p":1,"m":"x","e":"starts"}"#,
            "line 1: the kind of event \"starts\" is in no list: add it to event.call, event.return, event.fail, event.unknown or event.ignore",
        ),
        (
            events,
            r#"{"p":1,"m":"x","e":"end"}"#,
            "line 1: this ends an operation of process 1, which has none that is open: its call is missing, or comes later",
        ),
        (
            events,
            r#"{"p":1,"m":"x","e":"start"}
{"p":1,"m":"y","e":"start"}"#,
            "line 2: process 1 calls \"y\" while its call of \"x\" on line 1 is open: if calls of one process overlap, say which field pairs the events of an operation (`id`)",
        ),
        (
            "id=.i, method=.m, event=.e",
            r#"{"i":1,"m":"x","e":"start"}
{"i":1,"m":"y","e":"start"}"#,
            "line 2: id 1 calls \"y\" while its call of \"x\" on line 1 is open: an id is of one operation at a time",
        ),
    ];
    for (mapping, log, reason) in cases {
        let error = read(mapping, log).unwrap_err().to_string();
        assert_eq!(error, reason, "{log}");
    }
}

#[test]
fn refusals_of_mappings_name_the_line_and_what_to_do() {
    let cases = [
        (
            "method = '.m'\nproces = '.p'\n",
            "line 2: unknown key \"proces\"; did you mean process? known are",
        ),
        (
            "method = '.m'\nprocess = 'p'\n",
            "line 2: \"p\" is neither a path, which begins with a dot (.p), nor a constant, which begins with an equals sign (= p)",
        ),
        ("process = '.p'\n", "line 1: `method` is missing"),
        ("method = '.m\n", "line 1: "),
        (
            "method = '.m'\nunit = 'sec'\n",
            "line 2: unknown unit of time \"sec\"; known are ns, us, ms, s",
        ),
        (
            "method = '.m'\n",
            "say when operations were called and returned (`call` and `return`, for one record for each operation), or which records begin and end them (`event`)",
        ),
        (
            "method = '.m'\ncall = '.c'\n",
            "`return` is missing: the path of the time of the return",
        ),
        (
            "method = '.m'\ncall = '.c'\nreturn = '.r'\nid = '.i'\n",
            "`id` pairs events: say which records begin and end operations (`event`)",
        ),
        (
            "method = '.m'\ncall = '.c'\nreturn = '.r'\nevent = '.e'\n",
            "`call`, `return` and `duration` are for one record for each operation, and `event` is for two: leave one out",
        ),
        (
            "method = '.m'\nevent = '.e'\n",
            "say what pairs the end of an operation with its call: `id`, or `process`",
        ),
        (
            "method = '.m'\nid = '.i'\n[event]\npath = '.e'\ncall = 'b'\n",
            "`event` needs both `call` and `return`",
        ),
        (
            "method = '.m'\nid = '.i'\nevent = '.e'\nskew = '5ms'\n",
            "`skew` is about times, and the order of records has none: say `time`",
        ),
        (
            "method = '.m'\ncall = '.c'\nreturn = '.r'\n[status]\npath='.s'\nokay = 'x'\n",
            "line 6: unknown key \"okay\"; did you mean ok?",
        ),
        (
            "method = '.m'\ncall = '.c'\nreturn = '.r'\nmethods = { w = 'write' }\nargument = { w = '.a' }\n",
            "`argument` has \"w\", which `methods` renames: write \"write\" instead",
        ),
        (
            "method = '.m'\nskew = '5'\n",
            "line 2: \"5\" is no length of time, such as 5ms, 100us or 2s",
        ),
        ("method = 3\n", "line 1: \"3\" is neither a path"),
        (
            "method = { a = '.b' }\n",
            "line 1: expected a path such as \".value\", a constant such as \"= 3\", or a list of these",
        ),
    ];
    for (text, reason) in cases {
        let error = Mapping::from_toml(text).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{text}: {error}");
    }
    let inline = [
        ("method", "\"method\" has no value"),
        ("method=.m, method=.n", "\"method\" is given twice"),
        (
            "metod=.m, call=.c, return=.r",
            "unknown key \"metod\"; did you mean method?",
        ),
        (
            "method=.m, argument=[.a, .b",
            "the list [.a, .b does not end",
        ),
        (
            "method=.m, argument.x=.a, argument=.b",
            "\"argument\" is given twice",
        ),
    ];
    for (text, reason) in inline {
        let error = Mapping::from_inline(text).unwrap_err().to_string();
        assert!(error.starts_with(reason), "{text}: {error}");
    }
}

proptest! {
    #[test]
    fn what_is_read_can_be_written_and_read_again(
        rows in prop::collection::vec((0i64..3, 0i64..20, 0i64..6, 0usize..5), 0..14),
        skew in 0u64..4,
        by_events in any::<bool>(),
    ) {
        let mut log = String::from("p,m,c,r,s,e,i,t\n");
        for (index, (process, call, length, status)) in rows.iter().enumerate() {
            let status = ["ok", "ok", "ok", "fail", "unknown"][*status];
            let until = call + length;
            log += &format!("{process},m,{call},{until},{status},start,{index},{call}\n");
            if by_events {
                log += &format!("{process},m,,,{status},end,{index},{until}\n");
            }
        }
        let mapping = match by_events {
            true => "process=.p, method=.m, event=.e, id=.i, time=.t, status=.s, unit=ns",
            false => "process=.p, method=.m, call=.c, return=.r, status=.s, unit=ns",
        };
        let mapping = Mapping::from_inline(mapping).unwrap();
        let mapping = mapping.with_skew(Duration::from_nanos(skew)).unwrap();
        let recorded = read_with(&mapping, &log).unwrap();
        let failed = rows.iter().filter(|(.., status)| *status == 3).count();
        prop_assert_eq!(recorded.history.len(), rows.len() - failed);
        prop_assert_eq!(recorded.history.failed().len(), failed);
        let mut text = Vec::new();
        write_jsonl(&recorded.history, None, &mut text).unwrap();
        let again = parse(&text, &ReadOptions::default()).remove(0).unwrap();
        prop_assert_eq!(contents(&again.history), contents(&recorded.history));
        prop_assert_eq!(failures(&again.history), failures(&recorded.history));
    }
}

#[test]
fn hints() {
    let log = r#"{"p": 0, "m": "write", "a": 1, "c": 1, "r": 9, "revision": 20}
{"p": 1, "m": "write", "a": 2, "c": 2, "r": null, "revision": 10}
{"p": 2, "m": "read", "c": 10, "r": 11}"#;
    let mapping = "process=.p, method=.m, arg=.a, call=.c, return=.r, hint=.revision";
    let recorded = read(mapping, log).unwrap();
    let hints: Vec<_> = recorded.history.ops().map(|op| op.hint).collect();
    assert_eq!(hints, [Some(20), Some(10), None]);
    let wrong = log.replace("20", "\"x\"");
    let error = read(mapping, &wrong).unwrap_err().to_string();
    assert!(error.starts_with("line 1: the hint is \"x\":"), "{error}");
}

#[test]
fn a_time_and_a_duration() {
    let log = r#"
{"p":1,"op":"write","in":5,"at":"2026-11-17T21:40:00Z","took":20}
{"p":2,"op":"read","out":5,"at":"2026-11-17T21:40:00.000000010Z","took":"0.5us"}
{"p":3,"op":"read","at":"2026-11-17T21:40:00Z","took":null}
"#;
    let times = |mapping: &str, log: &str| {
        let recorded = read(mapping, log).unwrap();
        let times = recorded.history.ops().map(|op| op.times);
        times.collect::<Option<Vec<_>>>().unwrap()
    };
    let parts = "process=.p, method=.op, arg=.in, result=.out";
    let start = 1_794_951_600_000_000_000;
    let after = format!("{parts}, call=.at, duration=.took, duration_unit=us");
    let pending = (start, i64::MAX);
    assert_eq!(
        times(&after, log),
        [(start, start + 20_000), pending, (start + 10, start + 510)]
    );
    let answered = log.lines().take(3).collect::<Vec<_>>().join("\n");
    let before = format!("{parts}, return=.at, duration=.took, duration_unit=us");
    assert_eq!(
        times(&before, &answered),
        [(start - 20_000, start), (start - 490, start + 10)]
    );
    let skewed = format!("{before}, skew=1us");
    assert_eq!(
        times(&skewed, &answered),
        [(start - 21_000, start + 1000), (start - 1490, start + 1010)]
    );
    // What is more precise than a nanosecond only makes intervals longer.
    let fine = r#"{"p":1,"op":"read","at":10.1,"took":0.6}"#;
    let plain = "process=.p, method=.op, unit=ns, duration=.took";
    assert_eq!(times(&format!("{plain}, call=.at"), fine), [(10, 12)]);
    assert_eq!(times(&format!("{plain}, return=.at"), fine), [(9, 11)]);
    // Without a unit, both are on the same scale.
    let whole = r#"{"p":1,"op":"read","at":10,"took":3}"#;
    let plain = "process=.p, method=.op, duration=.took";
    assert_eq!(times(&format!("{plain}, call=.at"), whole), [(10, 13)]);

    let refused = |mapping: &str, log: &str| read(mapping, log).unwrap_err().to_string();
    let after = format!("{parts}, call=.at, duration=.took");
    assert_eq!(
        refused(&after, log),
        "line 2: .took: the unit of durations is not known: say duration_unit = \"ns\", \"us\", \"ms\" or \"s\""
    );
    assert_eq!(
        refused(&before, log),
        "line 4: .took, which is the `duration`, is null"
    );
    let backward = r#"{"p":1,"op":"read","at":10,"took":-3}"#;
    assert_eq!(
        refused(&format!("{plain}, call=.at"), backward),
        "line 1: .took: -3 is negative: nothing takes less than 0"
    );
    let far = r#"{"p":1,"op":"read","at":10,"took":9223372036854775807}"#;
    assert_eq!(
        refused(&format!("{plain}, call=.at"), far),
        "line 1: the time with its `duration` does not fit 64 bits"
    );
    let with_unit = r#"{"p":1,"op":"read","at":10,"took":"3ms"}"#;
    assert_eq!(
        refused(&format!("{plain}, call=.at"), with_unit),
        "line 1: .took: the duration has a unit, and times are numbers without one: say unit = \"ns\", \"us\", \"ms\" or \"s\""
    );
}
