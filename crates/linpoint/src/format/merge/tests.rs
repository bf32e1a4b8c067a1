use proptest::prelude::*;

use super::*;
use crate::format::{ReadOptions, parse, write_jsonl};
use crate::portfolio::Checker;
use crate::verdict::Verdict;

fn log(name: &str, text: &str) -> Log {
    let mut read = parse(text.as_bytes(), &ReadOptions::default());
    let mut recorded = read.remove(0).unwrap();
    recorded.input = name.into();
    Log {
        recorded,
        clock: None,
    }
}

/// A log of one operation of a register, on a machine, from `call` to `ret`.
fn one(name: &str, clock: &str, operation: &str, times: [i64; 2]) -> Log {
    let (method, rest) = operation.split_once(' ').unwrap();
    let value = match method {
        "write" => [format!(",\"arg\":{rest}"), String::new()],
        _ => [String::new(), format!(",\"ret\":{rest}")],
    };
    let [called, returned] = times;
    log(
        name,
        &format!(
            "{{\"linpoint\":1,\"type\":\"register\"{clock}}}\n\
             {{\"process\":0,\"event\":\"call\",\"method\":\"{method}\"{},\"time\":{called}}}\n\
             {{\"process\":0,\"event\":\"return\"{},\"time\":{returned}}}\n",
            value[0], value[1]
        ),
    )
}

fn machine(unix: i64, error: i64, start: i64, name: &str) -> String {
    format!(
        ",\"clock\":{{\"unix\":{unix},\"error\":{error},\"monotonic\":{start},\"machine\":\"{name}\"}}"
    )
}

fn lines(merged: &Merged) -> Vec<String> {
    let mut out = Vec::new();
    write_jsonl(&merged.history, None, &mut out).unwrap();
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect()
}

fn is_linearizable(history: &History) -> bool {
    let register = crate::object::object_type("register", &Params::default()).unwrap();
    let report = Checker::default()
        .check_recorded(&register, history)
        .unwrap();
    matches!(report.verdict, Verdict::Linearizable(_))
}

/// A write returns at 1,100 of the common clock, and a read of nothing is called at 1,200.
#[test]
fn logs_of_one_clock_keep_their_order() {
    let write = one(
        "a.jsonl",
        &machine(5_000, 40, 1_000, "m"),
        "write 1",
        [0, 100],
    );
    let read = one(
        "b.jsonl",
        &machine(5_170, 40, 1_200, "m"),
        "read null",
        [0, 10],
    );
    let merged = merge(vec![write, read], None).unwrap();
    assert!(merged.logs.iter().all(|log| log.by == 0 && log.clock == 0));
    assert_eq!(merged.object_type.as_ref().unwrap().0, "register");
    assert!(!is_linearizable(&merged.history));
    let names: Vec<String> = merged
        .history
        .processes()
        .iter()
        .map(Value::to_string)
        .collect();
    assert_eq!(names, ["\"a:0\"", "\"b:0\""]);
    let times = ["\"call\":0,\"return\":100}", "\"call\":200,\"return\":210}"];
    for (line, times) in lines(&merged)[1..].iter().zip(times) {
        assert!(line.ends_with(times), "{line}");
    }
}

#[test]
fn different_clocks_need_a_skew_and_are_widened_by_it() {
    let logs = |gap: i64| {
        let write = one("a.jsonl", &machine(5_000, 10, 0, "m"), "write 1", [0, 100]);
        let read = one(
            "b.jsonl",
            &machine(5_100 + gap, 5, 0, "n"),
            "read null",
            [0, 10],
        );
        vec![write, read]
    };
    let error = merge(logs(0), None).unwrap_err().to_string();
    assert!(error.contains("--skew"), "{error}");
    // The errors of both are 20 + 10 and 20 + 5.
    let merged = merge(logs(55), Some(20)).unwrap();
    assert_eq!(
        merged.logs.iter().map(|log| log.by).collect::<Vec<_>>(),
        [0, 55]
    );
    assert!(is_linearizable(&merged.history), "they may have overlapped");
    assert!(!is_linearizable(
        &merge(logs(56), Some(20)).unwrap().history
    ));
}

#[test]
fn clocks_that_are_given_count_more() {
    let mut logs = vec![
        one("a.jsonl", "", "write 1", [0, 100]),
        one("b.jsonl", "", "read null", [0, 10]),
    ];
    let error = merge(logs.clone(), Some(1)).unwrap_err().to_string();
    assert!(
        error.contains("a.jsonl") && error.contains("--clock"),
        "{error}"
    );
    logs[0].clock = Some((-100, 3));
    logs[1].clock = Some((8, 4));
    assert!(!is_linearizable(
        &merge(logs.clone(), None).unwrap().history
    ));
    logs[1].clock = Some((7, 4));
    assert!(is_linearizable(&merge(logs, None).unwrap().history));
}

/// The time of day was set by 1 s between the beginnings of two logs of one machine: no offset is sure then.
#[test]
fn a_time_of_day_that_was_set_is_an_error() {
    let logs = vec![
        one("a.jsonl", &machine(0, 1, 0, "m"), "write 1", [0, 1]),
        one(
            "b.jsonl",
            &machine(1_000_000_100, 1, 100, "m"),
            "write 2",
            [0, 1],
        ),
        one("c.jsonl", &machine(0, 1, 0, "n"), "write 3", [0, 1]),
    ];
    let merged = merge(logs, Some(5)).unwrap();
    assert_eq!(
        merged.logs.iter().map(|log| log.by).collect::<Vec<_>>(),
        [0, 0, 1_000_000_012]
    );
}

#[test]
fn what_cannot_be_merged_is_refused() {
    let refused = |logs, part: &str| {
        let error = merge(logs, None).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let clock = machine(0, 0, 0, "m");
    let with = |text: &str| format!("{{\"linpoint\":1{clock}}}\n{text}");
    let untimed = with("{\"process\":0,\"event\":\"call\",\"method\":\"read\"}\n");
    refused(vec![log("a", &untimed)], "a:2: this operation has no times");
    let back = with(
        "{\"process\":0,\"event\":\"call\",\"method\":\"read\",\"time\":5}\n{\"process\":0,\"event\":\"return\",\"time\":4}\n",
    );
    refused(vec![log("a", &back)], "the times go back");
    let crash = with("{\"event\":\"crash\",\"time\":4}\n");
    refused(vec![log("a", &crash)], "a crash of the whole system");
    let queue = log(
        "q",
        &format!("{{\"linpoint\":1,\"type\":\"queue\"{clock}}}\n"),
    );
    refused(
        vec![queue, one("r", &clock, "write 1", [0, 1])],
        "of the type register, and another one is of the type queue",
    );
}

/// Notes, failures, pending calls and hints stay; calls of one process that overlap when widened get processes of their own.
#[test]
fn all_of_a_log_stays() {
    let text = "\
{\"linpoint\":1,\"type\":\"register\"}
{\"process\":0,\"event\":\"call\",\"method\":\"write\",\"arg\":1,\"object\":\"x\",\"time\":10}
{\"process\":0,\"event\":\"fail\",\"time\":20}
{\"event\":\"note\",\"text\":\"n1 is killed\",\"time\":25}
{\"process\":0,\"event\":\"call\",\"method\":\"read\",\"time\":30}
{\"process\":0,\"event\":\"return\",\"ret\":7,\"hint\":4,\"time\":40}
{\"process\":0,\"event\":\"call\",\"method\":\"write\",\"arg\":2,\"time\":41}
";
    let mut first = log("a.jsonl", text);
    first.clock = Some((0, 2));
    let mut second = one("b.jsonl", "", "write 5", [0, 1]);
    second.clock = Some((0, 100));
    let mut third = one("c.jsonl", "", "write 6", [0, 1]);
    third.clock = Some((0, 0));
    let merged = merge(vec![first, second, third], None).unwrap();
    let history = &merged.history;
    assert_eq!((history.len(), history.failed().len()), (4, 1));
    assert_eq!(history.annotations()[0].text, "n1 is killed");
    let read = history.ops().find(|op| op.method == "read").unwrap();
    assert_eq!((read.hint, read.result), (Some(4), Some(&Value::Int(7))));
    // Times count from the first event, which is at -100.
    assert_eq!(read.times, Some((128, 142)));
    let pending = history.ops().find(|op| op.ret == NEVER).unwrap();
    assert_eq!(history.client(pending.process), read.process);
    assert_ne!(pending.process, read.process);
}

/// A process has three calls that overlap when widened, and another one is called as the second lane would be.
#[test]
fn lanes_have_names_of_their_own() {
    let mut text = "{\"linpoint\":1,\"type\":\"register\"}\n".to_owned();
    for (process, time) in [("3", 0), ("3", 10), ("3", 20), ("3/2", 30)] {
        text += &format!(
            "{{\"process\":\"{process}\",\"event\":\"call\",\"method\":\"write\",\"arg\":{time},\"time\":{time}}}\n\
             {{\"process\":\"{process}\",\"event\":\"return\",\"time\":{}}}\n",
            time + 1
        );
    }
    let mut first = log("a.jsonl", &text);
    first.clock = Some((0, 1_000));
    let mut second = log("b.jsonl", &text.replace("\"3", "\"4"));
    second.clock = Some((0, 0));
    let third = Log {
        recorded: log("c.jsonl", "{\"linpoint\":1,\"type\":\"register\"}\n").recorded,
        clock: Some((0, 0)),
    };
    let history = merge(vec![first, second, third], None).unwrap().history;
    assert_eq!(history.len(), 8);
    let mut names: Vec<String> = history.processes().iter().map(Value::to_string).collect();
    names.sort();
    assert_eq!(
        names,
        ["\"3\"", "\"3/2\"", "\"3/3\"", "\"3/4\"", "\"4\"", "\"4/2\""]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What really happened: operations of a register by clients on two or three machines, each with its own clock. If a history is
    /// linearizable by true times, so is what is merged from logs whose clocks are off by no more than was said. An operation that
    /// precedes another one after merging did so in truth.
    #[test]
    fn merging_never_orders_what_overlapped(
        clients in proptest::collection::vec((0usize..3, proptest::collection::vec((0i64..60, 1i64..40), 1..5)), 2..5),
        offs in proptest::collection::vec(-1.0f64..=1.0, 3),
        skew in 0u64..80,
    ) {
        let mut logs: Vec<Vec<(i64, String)>> = vec![Vec::new(); 3];
        let mut truth: Vec<(i64, i64)> = Vec::new();
        for (client, (machine, steps)) in clients.iter().enumerate() {
            let off = (offs[*machine] * skew as f64) as i64;
            let mut now = 0;
            for (idle, busy) in steps {
                let (called, returned) = (now + idle + 1, now + idle + 1 + busy);
                now = returned;
                let value = truth.len();
                truth.push((called, returned));
                let call = format!("{{\"process\":{client},\"event\":\"call\",\"method\":\"write\",\"arg\":{value},\"time\":{}}}", called + off);
                let ret = format!("{{\"process\":{client},\"event\":\"return\",\"time\":{}}}", returned + off);
                logs[*machine].extend([(2 * called, call), (2 * returned + 1, ret)]);
            }
        }
        let texts = logs.into_iter().enumerate().map(|(number, mut events)| {
            events.sort();
            let lines: Vec<String> = events.into_iter().map(|(_, line)| line).collect();
            log(&format!("{number}.jsonl"), &format!("{{\"linpoint\":1,\"type\":\"register\"{}}}\n{}", machine(0, 0, 0, &number.to_string()), lines.join("\n")))
        });
        let merged = merge(texts.collect(), Some(skew)).unwrap();
        let ops: Vec<_> = merged.history.ops().collect();
        prop_assert_eq!(ops.len(), truth.len());
        for a in &ops {
            for b in &ops {
                if let (Value::Int(first), Value::Int(second)) = (a.argument, b.argument)
                    && a.ret < b.call
                {
                    prop_assert!(truth[*first as usize].1 < truth[*second as usize].0, "{} before {}", a.text(), b.text());
                }
            }
        }
    }
}
