//! Logs of many shapes, and what is proposed for them.

use super::*;

fn guess(log: &str) -> Guess {
    Mapping::guess(log).unwrap()
}

#[test]
fn operations_are_guessed_by_names() {
    let log = "client_id,op,key,value,status,start_ms,end_ms\n1,write,a,5,ok,10,20\n2,read,a,5,ok,15,30\n1,write,a,6,timeout,40,50\n";
    let guess = guess(log);
    let operations = guess.operations.unwrap();
    assert_eq!(
        operations,
        [
            "process 1: write(5) on \"a\", from 10000000 to 20000000",
            "process 2: read() → 5 on \"a\", from 15000000 to 30000000",
            "process 1: write(6) → ? on \"a\", called at 40000000",
        ]
    );
    assert!(
        guess
            .toml
            .contains("status = { path = '.status', ok = ['ok'], unknown = ['timeout'] }"),
        "{}",
        guess.toml
    );
    assert!(guess.unsure.iter().any(|about| about.contains("`status`")));
}

#[test]
fn variants_are_guessed() {
    let log = r#"
{"event":{"Start":{"Append":{"num_records":1}}},"client_id":2,"op_id":4}
{"event":{"Start":"CheckTail"},"client_id":3,"op_id":5}
{"event":{"Finish":{"AppendSuccess":{"tail":1}}},"client_id":2,"op_id":4}
{"event":{"Finish":"CheckTailFailure"},"client_id":3,"op_id":5}
"#;
    let guess = guess(log);
    let operations = guess.operations.unwrap();
    assert_eq!(
        operations,
        [r#"process 2: Append({"num_records": 1}) → {"tail": 1}"#],
        "{}",
        guess.toml
    );
}

#[test]
fn events_are_guessed() {
    let log = r#"
{"ts":"2026-11-17T21:40:00Z","thread":1,"event":"invoke","method":"read","request_id":"x"}
{"ts":"2026-11-17T21:40:01Z","thread":1,"event":"response","method":"read","output":5,"request_id":"x"}
{"ts":"2026-11-17T21:40:02Z","thread":1,"event":"heartbeat"}
"#;
    let guess = guess(log);
    let operations = guess.operations.unwrap();
    let start = 1_794_951_600_000_000_000_i64;
    let expected = format!(
        "process 1: read() → 5, from {start} to {}",
        start + 1_000_000_000
    );
    assert_eq!(operations, [expected], "{}", guess.toml);
}

#[test]
fn what_cannot_be_guessed_is_said() {
    let guess = guess("a,b\n1,2\n");
    assert!(guess.operations.is_err());
    assert_eq!(guess.unsure.len(), 4, "{:?}", guess.unsure);
    let error = Mapping::guess("a,b\n").unwrap_err();
    assert_eq!(error.to_string(), "there are no records to guess from");
}

/// Logs of many shapes, each with the operations that a guess must find.
const SHAPES: [(&str, &[&str]); 13] = [
    (
        // Methods that are numbers, as constants of Go are.
        r#"
{"ClientId":0,"Input":{"Op":1,"Value":"5"},"Call":0,"Output":{},"Return":10}
{"ClientId":2,"Input":{"Op":0},"Call":20,"Output":{"Value":"5"},"Return":30}
"#,
        &[
            r#"process 0: 1("5"), from 0 to 10"#,
            r#"process 2: 0() → "5", from 20 to 30"#,
        ],
    ),
    (
        // Short names.
        r#"
{"p":1,"op":"w","k":"x","v":5,"st":10,"et":20}
{"p":2,"op":"r","k":"x","v":5,"st":15,"et":30}
"#,
        &[
            r#"process 1: write(5) on "x", from 10 to 20"#,
            r#"process 2: read() → 5 on "x", from 15 to 30"#,
        ],
    ),
    (
        // A store, with names of times that have marks before and after.
        r#"
{"worker":"a","cmd":"SET","key":"x","value":1,"tStartNs":1,"tEndNs":2}
{"worker":"b","cmd":"GET","key":"x","value":1,"tStartNs":3,"tEndNs":4}
{"worker":"b","cmd":"DEL","key":"x","value":null,"tStartNs":5,"tEndNs":6}
"#,
        &[
            r#"process "a": put("x", 1), from 1 to 2"#,
            r#"process "b": get("x") → 1, from 3 to 4"#,
            r#"process "b": delete("x"), from 5 to 6"#,
        ],
    ),
    (
        // Compare-and-set with fields of its own, and a status that is a truth.
        r#"
{"client":1,"op":"write","value":3,"invoke_ts":1,"complete_ts":2,"ok":true}
{"client":2,"op":"cas","old":3,"new":4,"invoke_ts":3,"complete_ts":4,"ok":true}
{"client":1,"op":"write","value":9,"invoke_ts":5,"complete_ts":6,"ok":false}
"#,
        &[
            "process 1: write(3), from 1 to 2",
            "process 2: cas(3, 4), from 3 to 4",
            "process 1: write(9) → ?, called at 5",
        ],
    ),
    (
        // Requests and responses as objects.
        r#"
{"session":7,"request":{"type":"enqueue","value":"a"},"response":{"code":200},"sent_at":1.5,"received_at":1.75}
{"session":8,"request":{"type":"dequeue"},"response":{"code":200,"value":"a"},"sent_at":2.5,"received_at":3}
"#,
        &[
            r#"process 7: enqueue("a"), from 1500000000 to 1750000000"#,
            r#"process 8: dequeue() → "a", from 2500000000 to 3000000000"#,
        ],
    ),
    (
        // A time and a duration.
        "conn,ts,cmd,arg,reply,dur_us\n1,2026-11-17T21:40:00.000010Z,write,5,,20\n2,\"2026-11-17 21:40:00,000015\",read,,5,\n",
        &[
            "process 1: write(5), from 1794951600000010000 to 1794951600000030000",
            "process 2: read() → ?, called at 1794951600000015000",
        ],
    ),
    (
        // The time of the answer and a duration.
        r#"
{"client":1,"op":"inc","finished":1794951600000,"latency":"1.5ms"}
{"client":2,"op":"read","finished":1794951600004,"latency":"250µs","result":1}
"#,
        &[
            "process 1: inc(), from 1794951599998500000 to 1794951600000000000",
            "process 2: read() → 1, from 1794951600003750000 to 1794951600004000000",
        ],
    ),
    (
        // Events as tracing tools write them.
        r#"
{"ph":"B","ts":10,"tid":1,"name":"push","args":5}
{"ph":"M","ts":11,"tid":1,"name":"thread_name"}
{"ph":"E","ts":20,"tid":1,"name":"push"}
"#,
        &["process 1: push(5), from 10 to 20"],
    ),
    (
        // Kinds of events in several words.
        "goroutine\tevt\tmethod\tinput\toutput\n1\tRequestSent\tadd\t5\t\n2\tRequestSent\tadd\t6\t\n1\tResponseReceived\tadd\t\ttrue\n2\trequest_timed_out\tadd\t\t\n",
        &["process 1: add(5) → true", "process 2: add(6) → ?"],
    ),
    (
        // An error only where something went wrong.
        r#"
{"thread":1,"op":"write","value":3,"start":1,"end":2,"err":""}
{"thread":1,"op":"write","value":4,"start":3,"end":4,"err":"deadline exceeded"}
"#,
        &[
            "process 1: write(3), from 1 to 2",
            "process 1: write(4) → ?, called at 3",
        ],
    ),
    (
        // Spans.
        r#"
{"name":"PUT","attributes":{"client.id":"a","key":"x","value":1},"startTimeUnixNano":"1794951600000000001","endTimeUnixNano":"1794951600000000002"}
{"name":"GET","attributes":{"client.id":"b","key":"x","value":1},"startTimeUnixNano":"1794951600000000003","endTimeUnixNano":"1794951600000000004"}
"#,
        &[
            r#"process "a": put("x", 1), from 1794951600000000001 to 1794951600000000002"#,
            r#"process "b": get("x") → 1, from 1794951600000000003 to 1794951600000000004"#,
        ],
    ),
    (
        // One array, with statuses in several words.
        r#"[{"user":"u1","action":"acquire","from":1,"until":2,"outcome":"ok"},
                {"user":"u2","action":"acquire","from":3,"until":4,"outcome":"lock_timeout"},
                {"user":"u1","action":"release","from":5,"until":6,"outcome":"not_ok"}]"#,
        &[
            r#"process "u1": acquire(), from 1 to 2"#,
            r#"process "u2": acquire() → ?, called at 3"#,
            r#"process "u1": release() → ?, called at 5"#,
        ],
    ),
    (
        // A result of its own beside the value that is written.
        r#"
{"proc":1,"fn":"put","k":"x","val":1,"res":null,"t0":1,"t1":2}
{"proc":1,"fn":"get","k":"x","val":null,"res":1,"t0":3,"t1":4}
"#,
        &[
            r#"process 1: put("x", 1), from 1 to 2"#,
            r#"process 1: get("x") → 1, from 3 to 4"#,
        ],
    ),
];

#[test]
fn logs_of_many_shapes_are_guessed() {
    for (log, expected) in SHAPES {
        let guess = guess(log);
        let operations = guess
            .operations
            .unwrap_or_else(|error| vec![error.to_string()]);
        assert_eq!(
            operations, expected,
            "{log}\n{}\n{:?}",
            guess.toml, guess.unsure
        );
    }
}
