//! Reductions of histories: those that the check accepts keep linearizable histories linearizable.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use linpoint::history::{NEVER, Op};
use linpoint::object::ObjectType;
use linpoint::spec::Sampler;
use linpoint::{Call, History, HistoryBuilder, Operation, Ties, Value};
use serde_json::{Value as Json, json};

use super::changes::{absolute, differences};
use super::{histories_per_type, verify};
use crate::calls::Callable;
use crate::differential::{expected, history_in_turns, judge_shares};
use crate::recorded::dump;

/// What the first refutation in a file keeps of a history.
pub(super) fn refuted_part(
    object: &ObjectType,
    history: &History,
    lines: &[String],
) -> Option<History> {
    let at = lines.iter().position(|line| line.contains("\"cut\""))?;
    let json = |i: usize| serde_json::from_str::<Json>(&lines[i]).expect("JSON");
    let part = json(at);
    let kept = absolute(&json(at + 1)["keep"]);
    let relaxed = match part["relax"].as_u64() {
        Some(0) => Vec::new(),
        _ => absolute(&json(at + 2)["relax"]),
    };
    let cut = part["cut"].as_u64()? as u32;
    Some(reduced(object, history, cut, &kept, &relaxed))
}

/// The kept operations as a history of their own; those that are relaxed, or returned after the cut, are pending.
fn reduced(
    object: &ObjectType,
    history: &History,
    cut: u32,
    kept: &[i64],
    relaxed: &[i64],
) -> History {
    let mut builder = HistoryBuilder::new();
    for op in history
        .ops()
        .filter(|op| kept.contains(&i64::from(op.id.0)))
    {
        let is_pending = op.ret > cut || relaxed.contains(&i64::from(op.id.0));
        let operation = Operation {
            process: None,
            call: Call {
                object: op.object.clone(),
                ..without_process(object, op)
            },
            result: op.result.cloned().unwrap_or_default(),
            called: op.call.into(),
            returned: (!is_pending).then(|| op.ret.into()),
        };
        builder.operation(0, operation).expect("well formed");
    }
    builder.finish(Ties::default()).expect("well formed")
}

/// The same call by any process: where the process matters, it becomes an argument. A process with a pending operation cannot
/// call again, so relaxed operations need processes of their own.
fn without_process(object: &ObjectType, op: Op<'_>) -> Call {
    let takes = |method: &str, argument: Value| {
        let mut builder = HistoryBuilder::new();
        let call = Call::new(method, argument);
        builder.call(0, 0.into(), call).expect("a call");
        let history = builder.finish(Ties::default()).expect("well formed");
        object.validate(&history).is_ok()
    };
    let process = op.process.clone();
    let argument = match (op.method, op.argument) {
        // Snapshots.
        ("update" | "write", value) if value.as_list().is_none() && takes("scan", Value::Nil) => {
            Value::list([process, value.clone()])
        }
        // Locks with owners.
        (method, Value::Nil) if takes("acquire", "an owner".into()) => {
            assert!(takes(method, process.clone()));
            process
        }
        (_, argument) => argument.clone(),
    };
    Call::new(op.method, argument)
}

/// What the check of reductions accepts keeps linearizable histories linearizable, whatever is dropped and relaxed.
#[test]
fn reductions_keep_histories_linearizable() {
    let accepted = AtomicU64::new(0);
    judge_shares(histories_per_type(), |variants, seed| {
        let (Callable { object, .. }, history) = history_in_turns(variants, seed)?;
        let verdict = expected(object, &history);
        let mut sampler = Sampler::new(seed, None);
        for _ in 0..if verdict { 12 } else { 0 } {
            let (cut, kept, relaxed) = random_reduction(&history, &mut sampler);
            if kept.is_empty()
                || kept.len() == history.len()
                || !is_sound(object, &history, cut, &kept, &relaxed)
            {
                continue;
            }
            accepted.fetch_add(1, Relaxed);
            let reduced = reduced(object, &history, cut, &kept, &relaxed);
            assert!(
                expected(object, &reduced),
                "seed {seed}, cut {cut}, kept {kept:?}, relaxed {relaxed:?}\n{}",
                dump(&history)
            );
        }
        Some(verdict)
    });
    let accepted = accepted.into_inner();
    assert!(
        accepted > histories_per_type(),
        "only {accepted} reductions were accepted"
    );
}

/// Drops operations on some values, mostly, and relaxes some.
fn random_reduction(history: &History, sampler: &mut Sampler) -> (u32, Vec<i64>, Vec<i64>) {
    let events = history.calls().iter().chain(history.rets());
    let ranks: Vec<u32> = events.copied().filter(|&rank| rank != NEVER).collect();
    let last = ranks.iter().copied().max().unwrap_or(0);
    let cut = if sampler.percent(50) {
        last
    } else {
        sampler.pick(&ranks)
    };
    let is_dropped: Vec<bool> = history
        .values()
        .iter()
        .map(|_| sampler.percent(40))
        .collect();
    let (mut kept, mut relaxed) = (Vec::new(), Vec::new());
    for op in history.ops().filter(|op| op.call <= cut) {
        let about = |value: &Value| {
            let number = history.values().iter().position(|other| other == value);
            number.is_some_and(|number| is_dropped[number])
        };
        let in_list = |value: &Value| value.as_list().unwrap_or_default().iter().any(about);
        let drop = match op.result {
            _ if sampler.percent(5) => true,
            Some(result) => about(op.argument) || in_list(op.argument) || about(result),
            None => about(op.argument) || sampler.percent(40),
        };
        let number = i64::from(op.id.0);
        if !drop {
            kept.push(number);
            if op.ret <= cut && sampler.percent(25) {
                relaxed.push(number);
            }
        }
    }
    (cut, kept, relaxed)
}

/// Whether the check accepts a reduction of the only part of a linearizable history. That what is left has an order is
/// noticed after the reduction is accepted.
fn is_sound(
    object: &ObjectType,
    history: &History,
    cut: u32,
    kept: &[i64],
    relaxed: &[i64],
) -> bool {
    let ties = history.ties().map(|_| "invocation-first");
    let header = json!({
        "linpoint-proof": 2, "history": "h", "specification": "s", "ties": ties, "split": "objects",
        "operations": history.len(), "parts": 1, "verdict": "not linearizable",
    });
    let part = json!({
        "part": 0, "object": null, "operations": history.len(), "verdict": "not linearizable",
        "cut": cut, "keep": kept.len(), "relax": relaxed.len(),
        "sets": 0,
    });
    let mut lines = vec![header, part, json!({ "keep": differences(kept) })];
    if !relaxed.is_empty() {
        lines.push(json!({ "relax": differences(relaxed) }));
    }
    let lines: Vec<String> = lines.iter().map(Json::to_string).collect();
    match verify(object, history, &lines)
        .expect_err("the history is linearizable")
        .as_str()
    {
        "the operations that are kept do not contradict each other" => true,
        reason => {
            let is_about_reduction = ["dropped", "depends", "removed"]
                .iter()
                .any(|word| reason.contains(word));
            assert!(is_about_reduction, "{reason}");
            false
        }
    }
}
