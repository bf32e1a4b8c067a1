//! Tests over whole files: the bundled corpus and, in [`data`], the full collections.

use std::path::{Path, PathBuf};

use super::*;
use crate::error::ErrorKind;
use crate::value::Value;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../corpus")
        .join(name)
}

fn read_all(path: &Path) -> Vec<Result<RecordedHistory, Error>> {
    let mut all = Vec::new();
    read(path, &ReadOptions::default(), |recorded| all.push(recorded));
    all
}

fn read_well(path: &Path) -> Vec<RecordedHistory> {
    let all: Result<Vec<_>, _> = read_all(path).into_iter().collect();
    all.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
    }
    let error = "xml".parse::<Format>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        error.to_string(),
        "unknown format \"xml\"; known are jsonl, edn, jepsen-json, jepsen-log, porcupine, porcupine-kv, violat, operations, snapshot, parquet"
    );
}

#[test]
fn an_empty_input_is_an_empty_history() {
    for text in ["", " \n\t\n", "\u{feff}"] {
        let recorded = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap();
        assert!(recorded.history.is_empty());
        assert_eq!(recorded.object_type, None);
    }
}

#[test]
fn the_corpus_reads() {
    let all = read_well(&corpus(""));
    assert!(all.len() > 400);
    assert!(all.iter().all(|recorded| !recorded.history.is_empty()));

    let jepsen = &read_well(&corpus("jepsen"))[0];
    assert!(jepsen.input.ends_with("history.edn"));
    let texts: Vec<_> = jepsen.history.ops().map(|op| op.text()).collect();
    assert_eq!(
        texts,
        ["write(1)", "cas(1, 2) → ?", "read() → 1", "read() → 2"]
    );
    assert_eq!(jepsen.history.annotations().len(), 4);

    let juc = read_well(&corpus("juc"));
    assert_eq!(
        juc.iter()
            .filter(|recorded| recorded.expected == Some(false))
            .count(),
        40
    );
    let queue = &read_well(&corpus("queue-violation.jsonl"))[0];
    assert_eq!((queue.expected, queue.history.len()), (Some(false), 4));
    assert_eq!(queue.object_type.as_ref().unwrap().0, "queue");
    assert_eq!(
        read_well(&corpus("stack-violation.txt"))[0]
            .object_type
            .as_ref()
            .unwrap()
            .0,
        "stack"
    );
}

#[test]
fn what_is_read_can_be_written_and_read_again() {
    for recorded in read_well(&corpus("")) {
        let object_type = recorded
            .object_type
            .as_ref()
            .map(|(name, params)| (name.as_str(), params));
        let mut text = Vec::new();
        write_jsonl(&recorded.history, object_type, &mut text).unwrap();
        let again = parse(&text, &ReadOptions::default()).remove(0).unwrap();
        let contents = |history: &History| -> Vec<_> {
            // The keys of maps are text in JSON.
            let written = |value: &Value| Value::from(value.to_json());
            let ops = history.ops();
            ops.map(|op| {
                let values = (written(op.argument), op.result.map(written));
                let method = op.method.to_owned();
                (method, values, op.object.clone(), op.call, op.ret)
            })
            .collect()
        };
        assert_eq!(
            contents(&again.history),
            contents(&recorded.history),
            "{}",
            recorded.label()
        );
        assert_eq!(again.object_type, recorded.object_type);
    }
}

/// Tests over the collections that are too large for the repository, which `cargo test` ignores.
mod data {
    use super::*;

    /// A file beside the checkout, or where `LINPOINT_DATA` says.
    fn collection(name: &str) -> PathBuf {
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
        let root = std::env::var_os("LINPOINT_DATA");
        let path = root
            .map_or_else(|| PathBuf::from(beside), PathBuf::from)
            .join(name);
        assert!(path.exists(), "there is no {}", path.display());
        path
    }

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn all_etcd_logs_read() {
        let path = collection("jepsen-etcd/etcd_logs.tar.gz");
        let all = read_well(&path);
        assert_eq!(all.len(), 103);
        let pending = |recorded: &RecordedHistory| recorded.history.shape().pending;
        let verdicts = std::fs::read_to_string(path.with_file_name("verdicts.csv")).unwrap();
        for row in verdicts.lines().skip(1) {
            let columns: Vec<&str> = row.split(',').collect();
            let recorded = all
                .iter()
                .find(|r| r.input.ends_with(&format!(":{}", columns[0])))
                .unwrap();
            let count = |i: usize| columns[i].parse::<usize>().unwrap_or(0);
            // Failed reads are dropped; a failed compare-and-set was done and answered false.
            assert_eq!(recorded.history.len(), count(2) - count(5), "{row}");
            assert_eq!(pending(recorded), count(6), "{row}");
        }
        assert_eq!(all.iter().map(pending).sum::<usize>(), 1283);
    }

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn all_kv_logs_read() {
        let path = collection("kv/kv_logs.tar.gz");
        let mut counts: Vec<_> = read_well(&path)
            .iter()
            .map(|recorded| recorded.history.len())
            .collect();
        counts.sort_unstable();
        assert_eq!(counts, [38, 58, 337, 405, 1712, 2024]);
    }

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn all_juc_histories_read() {
        let classes = [
            ("ABQ", 620, 14),
            ("CHM", 638, 14),
            ("CLD", 410, 12),
            ("CLQ", 472, 14),
            ("CSLM", 915, 14),
            ("CSLS", 251, 18),
            ("LBD", 682, 8),
            ("LBQ", 724, 9),
            ("LTQ", 820, 15),
            ("PBQ", 793, 14),
        ];
        for (class, histories, operations) in classes {
            let path = collection(&format!("juc/{class}.jsonl.gz"));
            let all = read_well(&path);
            assert_eq!(all.len(), histories);
            assert!(
                all.iter()
                    .all(|recorded| recorded.history.len() == operations)
            );
            assert_eq!(
                all[histories - 1].name.as_deref(),
                Some((histories - 1).to_string().as_str())
            );
            assert!(all.iter().all(|recorded| recorded.expected.is_some()));
        }
    }

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn all_histories_of_the_monitors_read() {
        let path = collection("monitors/tricky.jsonl");
        assert_eq!(read_well(&path).len(), 349);
    }
}

#[test]
fn a_cut_off_last_line_can_be_left_out() {
    let line = "{\"process\":0,\"method\":\"write\",\"arg\":1,\"call\":0,\"return\":1}\n";
    let event = "{:process 0, :type :invoke, :f :write, :value 1}\n";
    let read = |text: &str, truncated: Truncated| {
        let options = ReadOptions {
            truncated,
            ..ReadOptions::default()
        };
        parse(text.as_bytes(), &options).pop().unwrap()
    };
    let number = |end: &str| format!("{line}{{\"process\":1,\"method\":\"write\",\"arg\":{end}");
    for text in [
        format!("{line}{}", &line[..20]),
        format!("{event}{}", &event[..20]),
        number("-"),
        number("1."),
        number("1e+"),
        number("12"),
    ] {
        let error = read(&text, Truncated::Refuse).unwrap_err();
        assert_eq!(
            (error.kind(), error.line()),
            (ErrorKind::Truncated, Some(2))
        );
        let recorded = read(&text, Truncated::ReadPrefix).unwrap();
        assert_eq!(recorded.history.len(), 1);
        assert_eq!(recorded.notes, [Note::Truncated(2)]);
    }
    // Another mistake on the last line is no truncation, and a bracket around all events is none either.
    let text = format!("{line}{{\"method\":3}}");
    let error = read(&text, Truncated::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    let second = event.replace(":process 0", ":process 1");
    let wrapped = format!("[{event}{}]", second.trim_end());
    let recorded = read(&wrapped, Truncated::ReadPrefix).unwrap();
    assert_eq!((recorded.history.len(), recorded.notes), (2, Vec::new()));
}

/// A history of every text format that takes more memory than is allowed is refused as such, not as malformed.
#[test]
#[cfg(target_os = "linux")]
fn memory_bounds_every_reader() {
    let lines = |line: &dyn Fn(usize) -> String| (0..40).map(line).collect::<String>();
    let jepsen =
        |i: usize, kind: &str| format!("{{:process {i}, :type :{kind}, :f :write, :value 1}}");
    let texts = [
        lines(&|i| {
            format!("{{\"process\":{i},\"method\":\"write\",\"arg\":1,\"call\":0,\"return\":1}}\n")
        }),
        lines(&|i| {
            format!("{{\"process\":{i},\"event\":\"call\",\"method\":\"write\",\"arg\":1}}\n")
        }),
        lines(&|i| format!("write 1 {i} 50\n")),
        lines(&|i| format!("startUpdate!{i},1;\n")),
        lines(&|i| jepsen(i, "invoke") + "\n"),
        lines(&|i| format!("{{:process {i}, :type :invoke, :f :put, :key \"a\", :value \"b\"}}\n")),
        lines(&|i| format!("INFO  jepsen.util - {i}\t:invoke\t:write\t1\n")),
    ];
    for text in texts {
        let read = |memory: Option<u64>| {
            let options = ReadOptions {
                memory,
                ..ReadOptions::default()
            };
            parse(text.as_bytes(), &options).pop().unwrap()
        };
        assert_eq!(read(None).unwrap().history.len(), 40, "{text}");
        let error = read(Some(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}\n{text}");
    }
}
