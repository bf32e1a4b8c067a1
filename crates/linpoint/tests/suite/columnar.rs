//! Histories that were written to Parquet and read back are judged as before.
//!
//! `LINPOINT_MONITORS` sets the number of histories per case.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use linpoint::format::{Format, ReadOptions, parse, write};
use linpoint::generate::Generator;
use linpoint::object::object_type;
use linpoint::spec::Params;
use linpoint::{
    Call, Checker, Config, EngineChoice, History, HistoryBuilder, OpId, Operation, Value,
};
use rayon::prelude::*;

use crate::monitors::{histories_per_case, small_history};
use crate::recorded::{dump, is_linearizable};

const HISTORIES: u64 = 400;

/// What becomes of the integers of a history.
type Rename = fn(i64) -> Value;

/// Small ones, with gaps, in no range, below zero, and text.
const RENAMINGS: [Rename; 5] = [
    Value::Int,
    |i| Value::Int(3 * i + 700),
    |i| Value::Int(i * 1_000_000_007),
    |i| Value::Int(i - 3),
    |i| Value::from(format!("v{i}")),
];

/// A type, and how many of the renamings it takes: priorities are integers.
const CASES: [(&str, usize); 6] = [
    ("queue", 5),
    ("stack", 5),
    ("priority-queue", 4),
    ("bag", 5),
    ("set", 5),
    ("register", 5),
];

/// The same operations with other values, spread over so many objects.
fn rebuilt(history: &History, rename: Rename, objects: i64) -> History {
    let renamed = |value: &Value| value.as_int().map_or(value.clone(), rename);
    let mut builder = HistoryBuilder::new();
    for op in history.ops() {
        let ranks = (op.call.into(), op.ret.into());
        let (called, returned) = op.times.unwrap_or(ranks);
        let call = Call::new(op.method, renamed(op.argument));
        let process = op.process.as_int().unwrap();
        let operation = Operation {
            process: Some(op.process.clone()),
            call: match objects {
                1 => call,
                _ => call.on(process % objects),
            },
            result: op.result.map(renamed).unwrap_or_default(),
            called,
            returned: op.result.map(|_| returned),
        };
        builder.operation(0, operation).unwrap();
    }
    builder.finish(history.ties().unwrap_or_default()).unwrap()
}

fn through_parquet(history: &History) -> History {
    let mut bytes = Vec::new();
    write(Format::Parquet, history, None, &mut bytes).unwrap();
    let mut read = parse(&bytes, &ReadOptions::default());
    assert_eq!(read.len(), 1);
    read.remove(0).unwrap().history
}

#[test]
fn small_histories_are_judged_alike() {
    let brute = Checker::new(Config::default().with_engine(EngineChoice::Brute));
    for (name, renamings) in CASES {
        let object = object_type(name, &Params::new()).unwrap();
        let judged = (0..histories_per_case(HISTORIES))
            .into_par_iter()
            .map(|seed| {
                let universes = [None, None, Some(3)];
                let history = small_history(&object, &[], &universes, seed)?;
                let rename = RENAMINGS[seed as usize % renamings];
                let history = rebuilt(&history, rename, 1 + (seed / 7 % 2) as i64);
                let expected = is_linearizable(&object, &history, &brute);
                let read = through_parquet(&history);
                let configs = [Config::default(), Config::default().without_witnesses()];
                for (config, history) in configs
                    .into_iter()
                    .flat_map(|c| [(c.clone(), &read), (c, &history)])
                {
                    let found = is_linearizable(&object, history, &Checker::new(config));
                    assert_eq!(found, expected, "{name}, seed {seed}:\n{}", dump(history));
                }
                Some(expected)
            });
        let judged: Vec<bool> = judged.flatten().collect();
        let good = judged.iter().filter(|&&good| good).count();
        let bad = judged.len() - good;
        assert!(
            good > bad / 9 && bad > good / 9,
            "{name}: {good} good, {bad} bad"
        );
    }
}

/// Long enough for work to be shared among threads, and for a queue to be looked at piece by piece.
#[test]
fn long_histories_are_judged_alike() {
    let plain = Checker::new(Config::default().without_witnesses());
    for (name, renamings) in CASES {
        let object = object_type(name, &Params::new()).unwrap();
        for seed in [0, 2, 3] {
            let rename = RENAMINGS[seed as usize % renamings];
            let generator = Generator {
                ops: 20_000,
                processes: 10,
                seed,
                pending_per_million: 1_000 * u32::from(seed == 3),
                ..Generator::default()
            };
            let history = generator.linearizable(&object).unwrap();
            let history = rebuilt(&history, rename, 1);
            let read = through_parquet(&history);
            assert!(
                is_linearizable(&object, &read, &plain),
                "{name}, seed {seed}"
            );
            // A result of another time, far away.
            let ids = || (2_000..18_000).map(OpId);
            let answers = |id: &OpId| {
                let op = history.op(*id);
                matches!(op.method, "deq" | "pop" | "poll" | "take" | "read")
                    && op.result.is_some_and(|result| !result.is_nil())
            };
            let (Some(early), Some(late)) = (ids().find(answers), ids().rev().find(answers)) else {
                continue;
            };
            let result = history.op(late).result.unwrap().clone();
            let wrong = history.with_result(early, &result);
            let read = through_parquet(&wrong);
            for history in [&wrong, &read] {
                assert!(
                    !is_linearizable(&object, history, &plain),
                    "{name}, seed {seed}"
                );
            }
        }
    }
}
