//! The checker in Python, `tools/check_proof.py`, against this one.

use std::process::Command;

use linpoint::format::{ReadOptions, parse, write_jsonl};
use linpoint::object::{find_type, object_type};
use linpoint::proof::{Proven, Specification};
use linpoint::spec::{Params, Sampler};
use linpoint::{History, Value};
use rayon::prelude::*;

use super::changes::mutated;
use super::{checker, histories_per_type, prove_as, verify};
use crate::calls::Callable;
use crate::differential::history_in_turns;
use crate::fuzz_bodies::small_params;

/// The types that `tools/check_proof.py` knows.
const KNOWN_TO_PYTHON: [&str; 16] = [
    "register",
    "cas-register",
    "counter",
    "queue",
    "stack",
    "priority-queue",
    "min-priority-queue",
    "set",
    "mutex",
    "kv",
    "snapshot",
    "bank",
    "unique-ids",
    "fenced-lock",
    "kafka-log",
    "etcd",
];

fn has_python() -> bool {
    let python = Command::new("python3").arg("--version").output();
    if python.is_err() {
        eprintln!("skipped: there is no python3 to run tools/check_proof.py");
    }
    python.is_ok()
}

/// The checker in Python, which shares no code with this library, accepts what this one accepts and refuses what it refuses.
/// Skipped where there is no Python.
#[test]
fn the_checker_in_python_agrees() {
    if !has_python() {
        return;
    }
    let results: Vec<[u64; 2]> = KNOWN_TO_PYTHON
        .par_iter()
        .map(|name| compare_with_python(name, histories_per_type() / 2))
        .collect();
    let [refused, accepted] = [0, 1].map(|i| results.iter().map(|counts| counts[i]).sum::<u64>());
    println!("{refused} proofs refused and {accepted} not refused, by both checkers");
    for (name, [refused, accepted]) in KNOWN_TO_PYTHON.iter().zip(results) {
        let least = histories_per_type() / 20;
        assert!(
            refused > least && accepted > least,
            "{name}: {refused} refused, {accepted} accepted"
        );
    }
}

/// A proof is about the type and the parameters of the history, which may name the type otherwise.
#[test]
fn the_checker_in_python_compares_types() {
    if !has_python() {
        return;
    }
    let case = |name: &str, initial: i64, ours| {
        let header =
            format!(r#"{{"linpoint":1,"type":"{name}","params":{{"initial":{initial}}}}}"#);
        let read = r#"{"method":"read","ret":1,"call":0,"return":1}"#;
        let lines = [
            r#"{"linpoint-proof":2,"history":"h","type":"register","params":{"initial":1},"ties":"invocation-first","operations":1,"split":"keys","parts":1,"verdict":"linearizable"}"#,
            r#"{"part":0,"object":null,"operations":1,"verdict":"linearizable","order":1}"#,
            r#"{"order":[0]}"#,
        ];
        Case {
            history: format!("{header}\n{read}\n").into_bytes(),
            lines: lines.map(str::to_owned).to_vec(),
            ours,
        }
    };
    let refused = || Err("it is about another object".to_owned());
    let cases = [
        case("register", 1, Ok(Proven::Linearizable)),
        case("rw-register", 1, Ok(Proven::Linearizable)),
        case("register", 0, refused()),
        case("cas-register", 1, refused()),
    ];
    assert_eq!(compare_cases("types", &cases), [2, 2]);
}

/// Runs the checker on the numbered files of a folder, in one process.
const RUN_PYTHON: &str = "
import sys
sys.path.insert(0, sys.argv[1])
import check_proof
for number in range(int(sys.argv[2])):
    print('exit', check_proof.main([f'{number}.proof', f'{number}.jsonl']))
";

/// A proof, perhaps a changed one, of a history in a file.
struct Case {
    history: Vec<u8>,
    lines: Vec<String>,
    /// What our checker says, and the exit code for it.
    ours: Result<Proven, String>,
}

impl Case {
    fn exit_code(&self) -> u8 {
        match &self.ours {
            Ok(Proven::Nothing(_)) => 2,
            Ok(Proven::Linearizable | Proven::NotLinearizable) => 0,
            Err(_) => 1,
        }
    }
}

/// Compares the checkers on proofs of histories of one type, as they are made and changed. Returns how many were refused and
/// accepted.
fn compare_with_python(name: &str, count: u64) -> [u64; 2] {
    let cases: Vec<Case> = (0..count).flat_map(|seed| cases(name, seed)).collect();
    compare_cases(name, &cases)
}

/// Compares the checkers on these proofs. Returns how many were refused and accepted.
fn compare_cases(name: &str, cases: &[Case]) -> [u64; 2] {
    let process = std::process::id();
    let folder = std::env::temp_dir().join(format!("linpoint-proofs-{process}-{name}"));
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    for (number, case) in cases.iter().enumerate() {
        std::fs::write(folder.join(format!("{number}.jsonl")), &case.history).expect("written");
        std::fs::write(
            folder.join(format!("{number}.proof")),
            case.lines.join("\n"),
        )
        .expect("written");
    }
    let tools = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools");
    let mut python = Command::new("python3");
    python.args(["-c", RUN_PYTHON, tools, &cases.len().to_string()]);
    let output = python.current_dir(&folder).output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    let codes = said.lines().filter_map(|line| line.strip_prefix("exit "));
    let codes: Vec<&str> = codes.collect();
    assert_eq!(codes.len(), cases.len(), "{name}: {errors}");
    let mut counts = [0; 2];
    for (case, code) in cases.iter().zip(codes) {
        let (history, lines) = (
            String::from_utf8_lossy(&case.history),
            case.lines.join("\n"),
        );
        let ours = &case.ours;
        assert_eq!(
            code,
            case.exit_code().to_string(),
            "{name}: {ours:?}\n{history}\n{lines}"
        );
        counts[usize::from(ours.is_ok())] += 1;
    }
    let _ = std::fs::remove_dir_all(folder);
    counts
}

/// Parameters that make small objects, with different starts.
fn params_of(name: &str, sampler: &mut Sampler) -> Params {
    let info = find_type(name).expect("a built-in type");
    let mut params = small_params(name);
    match name {
        // An unknown start.
        "bank" if sampler.percent(60) => params.clear(),
        "bank" | "counter" => {}
        _ if info.params.iter().any(|(param, _)| *param == "initial") => {
            let initial = sampler.pick(&[0.into(), "".into(), Value::Nil]);
            params.insert("initial".to_owned(), initial);
        }
        _ => {}
    }
    params
}

/// Adds hints to a history, most of them in the order of its lines. Pending operations come last where the lines are events.
fn add_hints(text: &[u8], history: &History, sampler: &mut Sampler) -> Vec<u8> {
    let text = std::str::from_utf8(text).expect("UTF-8");
    let has_events = text.contains("\"event\"");
    let mut hint = 0;
    let mut next_hint = || {
        hint += 1;
        let is_told = sampler.percent(60);
        is_told.then(|| hint + sampler.pick(&[0, 0, 0, 0, 1, -2]))
    };
    let mut hinted = String::new();
    for line in text.lines() {
        let takes_hint = match has_events {
            true => line.contains("\"event\":\"return\""),
            false => line.contains("\"method\""),
        };
        match next_hint().filter(|_| takes_hint) {
            Some(hint) => hinted += &format!("{},\"hint\":{hint}}}", &line[..line.len() - 1]),
            None => hinted += line,
        }
        hinted.push('\n');
    }
    let pending = history.ops().filter(|op| op.result.is_none() && has_events);
    for process in pending.map(|op| op.process.to_json()) {
        if let Some(hint) = next_hint() {
            hinted += &format!("{{\"process\":{process},\"event\":\"crash\",\"hint\":{hint}}}\n");
        }
    }
    hinted.into_bytes()
}

/// Proofs of one history of a type. Half of the histories have hints.
fn cases(name: &str, seed: u64) -> Vec<Case> {
    let info = find_type(name).expect("a built-in type");
    let mut sampler = Sampler::new(seed, None);
    let params = params_of(name, &mut sampler);
    let object = || object_type(name, &params).expect("a built-in type");
    let variants = [Callable::new(info, object())];
    let Some((_, history)) = history_in_turns(&variants, seed) else {
        return Vec::new();
    };
    let mut text = Vec::new();
    write_jsonl(&history, Some((name, &params)), &mut text).expect("written to memory");
    if seed % 4 >= 2 {
        text = add_hints(&text, &history, &mut sampler);
    }
    // Both checkers see the history as the file has it.
    let recorded = parse(&text, &ReadOptions::default()).remove(0);
    let history = recorded.expect("well formed").history;
    let object = match history.has_hints() {
        true => object().with_hints(),
        false => object(),
    };
    let specification = Specification::Type {
        name: name.to_owned(),
        params: params.clone(),
    };
    let (_, lines) = prove_as(specification, &object, &history, &checker(seed));
    let changed = (0..3).filter_map(|_| mutated(&lines, &mut sampler));
    let all = [lines.clone()].into_iter().chain(changed);
    let case = |lines: Vec<String>| Case {
        history: text.clone(),
        ours: verify(&object, &history, &lines),
        lines,
    };
    all.map(case).collect()
}
