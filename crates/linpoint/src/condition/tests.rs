//! All conditions against their definitions on random tiny histories; labelled histories; the lattice.

use std::collections::BTreeSet;
use std::path::Path;

use super::answer::{Answer, Witness};
use super::any::Any;
use super::decide::decide;
use super::memory::{Access, INITIAL, Linked, Memory, MemoryOp, stretches};
use super::shrink::shrink;
use super::staleness::{smallest_delta, smallest_k};
use super::{Condition, Guarantees, brute, certify, words};
use crate::engine::Budget;
use crate::history::{History, NEVER, OpId, TypedHistory};
use crate::spec::{Container, ContainerOp, Discipline, KeyValue, KeyValueOp, Spec};
use crate::value::Value;

/// Numbers that look random, the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn often(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Whether writes may write the same value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Written {
    Distinct,
    Repeated,
}

/// A history of at most `most` operations of a map.
fn random(dice: &mut Dice, most: u64, written: Written) -> Memory {
    let count = 1 + dice.below(most) as usize;
    let (processes, keys) = (1 + dice.below(4), 1 + dice.below(3));
    let mut ops: Vec<MemoryOp> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let (mut rank, mut time) = (0, 0i64);
    // The whole system crashes in some histories. Processes have other numbers afterwards.
    let (crashes, mut restarts) = (if dice.often(30) { 15 } else { 0 }, 0);
    while ops.len() < count || (!open.is_empty() && dice.often(90)) {
        time += 1 + dice.below(3) as i64;
        if dice.often(crashes) {
            open.drain(..).for_each(|i| ops[i].deadline = rank);
            restarts += 1;
        }
        let process = (restarts * processes + dice.below(processes)) as u32;
        let is_idle = !open.iter().any(|&i| ops[i].process == process);
        if ops.len() < count && is_idle && (open.is_empty() || dice.often(50)) {
            let i = ops.len();
            open.push(i);
            ops.push(MemoryOp {
                id: OpId(i as u32),
                process,
                key: dice.below(keys) as u32,
                access: if dice.often(45) {
                    Access::Write
                } else {
                    Access::Read
                },
                value: match written {
                    Written::Distinct => i as u32 + 1,
                    Written::Repeated => dice.below(3) as u32,
                },
                call: rank,
                ret: NEVER,
                deadline: NEVER,
                stretch: 0,
                times: (time, i64::MAX),
            });
        } else if !open.is_empty() {
            let i = open.swap_remove(dice.below(open.len() as u64) as usize);
            ops[i].ret = rank;
            ops[i].times.1 = time;
        } else {
            continue;
        }
        rank += 1;
    }
    let (calls, rets): (Vec<u32>, Vec<u32>) = ops.iter().map(|op| (op.call, op.ret)).unzip();
    for (op, stretch) in ops.iter_mut().zip(stretches(&calls, &rets)) {
        op.stretch = stretch;
    }
    for i in 0..ops.len() {
        if !ops[i].is_write() {
            ops[i].value = returned(dice, &ops, i);
        }
    }
    ops.retain(|op| op.is_write() || !op.is_pending());
    Memory {
        ops,
        is_timed: true,
    }
}

/// What a read returns: mostly a recent write of the key, sometimes any one, seldom what was never written.
fn returned(dice: &mut Dice, ops: &[MemoryOp], read: usize) -> u32 {
    let (kind, ago) = (dice.below(100), dice.below(3) as usize);
    let may_see = |op: &&MemoryOp| {
        op.is_write() && op.key == ops[read].key && (kind >= 75 || op.call < ops[read].ret)
    };
    let seen: Vec<u32> = ops.iter().filter(may_see).map(|op| op.value).collect();
    match kind {
        98.. => 99,
        75.. => seen
            .get(dice.below(1 + seen.len() as u64) as usize)
            .copied()
            .unwrap_or(INITIAL),
        _ => seen
            .iter()
            .rev()
            .nth(ago.min(seen.len()))
            .copied()
            .unwrap_or(INITIAL),
    }
}

/// All conditions that are compared.
fn conditions() -> Vec<Condition> {
    let plain = Condition::all()
        .into_iter()
        .filter(|c| !matches!(c, Condition::Sessions(_)));
    let bounded = [1, 2, 3].map(|k| Condition::KAtomic(Some(k)));
    let late = [0, 2, 5].map(|delta| Condition::DeltaAtomic(Some(delta)));
    let sessions = Guarantees::every().map(Condition::Sessions);
    let strict = [Condition::Strict];
    strict
        .into_iter()
        .chain(plain)
        .chain(bounded)
        .chain(late)
        .chain(sessions)
        .collect()
}

/// Whether a condition holds, by its algorithm; the evidence is checked.
fn by_algorithm(memory: &Memory, condition: Condition, with_core: bool) -> bool {
    let budget = Budget::default();
    match decide(memory, condition, &budget).expect("tiny histories are decided") {
        Answer::Holds(witness) => {
            assert!(
                is_shown(memory, condition, &witness),
                "{condition}: {witness:?}\n{memory:?}"
            );
            true
        }
        Answer::Fails(why) => {
            let _ = words::sentence(&why, &|id| id.0.to_string());
            if with_core {
                let core = shrink(memory, condition, why, &budget);
                let ops = memory.ops.iter().enumerate();
                let positions = ops
                    .filter(|(_, op)| core.ops.contains(&op.id))
                    .map(|(i, _)| i);
                let small = memory.only(&positions.collect::<Vec<_>>());
                let by_itself = brute::holds(&small, condition);
                let is_named = matches!(condition, Condition::Safe);
                assert!(
                    is_named || by_itself == Some(false),
                    "{condition}: {:?}\n{memory:?}",
                    core.ops
                );
                let _ = words::sentence(&core.why, &|id| id.0.to_string());
            }
            false
        }
    }
}

fn is_shown(memory: &Memory, condition: Condition, witness: &Witness) -> bool {
    let linked = Linked::of(memory);
    let budget = Budget::default();
    let (mut k, mut delta) = (1, 0);
    if let (Condition::KAtomic(bound), Ok(linked)) = (condition, &linked) {
        let found = smallest_k(linked, bound, &budget).expect("no limit");
        k = found.expect("plausible").0.at_most as usize;
    }
    if let (Condition::DeltaAtomic(_), Ok(linked)) = (condition, &linked) {
        let found = smallest_delta(memory, linked, &budget).expect("no limit");
        delta = found.expect("has times").expect("plausible").0.delta;
    }
    certify::shows(memory, condition, witness, k, delta)
}

/// How many random histories are compared with the definitions.
fn count(default: u64) -> u64 {
    let number = std::env::var("LINPOINT_CONDITIONS");
    number.map_or(default, |number| {
        number.parse().expect("LINPOINT_CONDITIONS is a number")
    })
}

#[test]
fn algorithms_agree_with_the_definitions() {
    let conditions = conditions();
    let mut implications: Vec<(usize, usize)> = Vec::new();
    for (i, a) in conditions.iter().enumerate() {
        let implied = conditions
            .iter()
            .enumerate()
            .filter(|(_, b)| a.implies(**b));
        implications.extend(implied.map(|(j, _)| (i, j)));
    }
    let mut held = vec![0u64; conditions.len()];
    let histories = count(2_000);
    for seed in 0..histories {
        let mut dice = Dice(seed);
        let most = if seed % 64 == 0 { 7 } else { 5 + seed % 2 };
        let memory = random(&mut dice, most, Written::Distinct);
        let mut found = Vec::new();
        for &condition in &conditions {
            let expected = brute::holds(&memory, condition).expect("it is tiny and has times");
            let holds = by_algorithm(&memory, condition, seed % 8 == 0);
            assert_eq!(holds, expected, "{condition}, seed {seed}\n{memory:?}");
            found.push(holds);
        }
        for &(a, b) in &implications {
            assert!(
                !found[a] || found[b],
                "{} without {}, seed {seed}",
                conditions[a],
                conditions[b]
            );
        }
        measures_agree(&memory);
        held.iter_mut()
            .zip(found)
            .for_each(|(count, holds)| *count += u64::from(holds));
    }
    // The histories tell conditions apart.
    for (condition, held) in conditions.iter().zip(held) {
        assert!(
            held > 0 && held < histories,
            "{condition} held {held} times"
        );
    }
}

fn measures_agree(memory: &Memory) {
    let Ok(linked) = Linked::of(memory) else {
        return;
    };
    let budget = Budget::default();
    let versions = smallest_k(&linked, None, &budget)
        .expect("no limit")
        .ok()
        .map(|(versions, _)| versions);
    let k = versions.map(|versions| (versions.at_least, versions.at_most));
    let expected = brute::smallest_k(memory);
    assert_eq!(k, expected.map(|k| (k, k)), "{memory:?}");
    let found = smallest_delta(memory, &linked, &budget)
        .expect("no limit")
        .expect("has times");
    let delta = found.ok().map(|(lateness, _)| lateness.delta);
    assert_eq!(delta, brute::smallest_delta(memory), "{memory:?}");
}

#[test]
fn repeated_values_are_decided_as_defined() {
    use Condition::*;
    let conditions = [Strict, Sequential, WriteLinearizable, Regular, Safe];
    for seed in 0..count(3_000) {
        let memory = random(&mut Dice(seed ^ 0x5eed), 7, Written::Repeated);
        for condition in conditions {
            let expected = brute::holds(&memory, condition).expect("it is tiny");
            let holds = by_algorithm(&memory, condition, seed % 8 == 0);
            assert_eq!(holds, expected, "{condition}, seed {seed}\n{memory:?}");
        }
    }
}

/// The searches for any type, on maps.
#[test]
fn searches_of_any_type_agree_with_the_definitions() {
    let map = KeyValue {
        missing: Value::Int(0),
    };
    for seed in 0..count(2_000) {
        let written = if seed % 2 == 0 {
            Written::Distinct
        } else {
            Written::Repeated
        };
        let memory = random(&mut Dice(seed ^ 0xa11), 6, written);
        let history = typed(&memory);
        let crashes = crashes_in(&memory);
        let any = Any::of(&map, &history, &crashes);
        let memory = Memory::of(&map, &history, None, &crashes);
        // Writing the initial value is more than that to a map.
        let Ok(memory) = memory else { continue };
        for condition in [
            Condition::Strict,
            Condition::Sequential,
            Condition::WriteLinearizable,
            Condition::Quiescent,
        ] {
            let decided = any.decide(&any.all(), condition, &Budget::default());
            let answer = decided.expect("of any type").expect("no limit");
            let expected = brute::holds(&memory, condition).expect("it is tiny");
            match answer {
                Answer::Holds(witness) => {
                    assert!(expected, "{condition}, seed {seed}\n{memory:?}");
                    assert!(any.shows(condition, &witness), "{condition}, seed {seed}");
                }
                Answer::Fails(_) => {
                    assert!(!expected, "{condition}, seed {seed}\n{memory:?}");
                    let (core, is_minimal) = any.shrink(condition, &Budget::default());
                    assert!(is_minimal && !core.is_empty());
                }
            }
        }
    }
}

/// The ranks of the crashes among the events of these operations.
fn crashes_in(memory: &Memory) -> Vec<u32> {
    let ranks = memory.ops.iter().flat_map(|op| [op.call, op.ret]);
    let ranks: Vec<u32> = ranks.filter(|&rank| rank != NEVER).collect();
    let deadlines: BTreeSet<u32> = memory.ops.iter().map(|op| op.deadline).collect();
    let crashes = deadlines.into_iter().filter(|&deadline| deadline != NEVER);
    let rank = |crash| ranks.iter().filter(|&&rank| rank < crash).count() as u32;
    crashes.map(rank).collect()
}

fn typed(memory: &Memory) -> TypedHistory<KeyValueOp, Value> {
    let mut events: Vec<(u32, usize)> = Vec::new();
    for (i, op) in memory.ops.iter().enumerate() {
        events.push((op.call, i));
        events.extend((!op.is_pending()).then_some((op.ret, i)));
    }
    events.sort_unstable();
    let mut history = TypedHistory::new();
    let mut ids = vec![None; memory.ops.len()];
    for (rank, i) in events {
        let op = &memory.ops[i];
        let (key, value) = (Value::Int(op.key.into()), Value::Int(op.value.into()));
        if rank == op.call {
            let call = match op.access {
                Access::Write => KeyValueOp::Put(key, value),
                Access::Read => KeyValueOp::Get(key),
            };
            ids[i] = Some(history.call(op.process, call));
        } else {
            let answer = if op.is_write() { Value::Nil } else { value };
            history.ret(ids[i].expect("it was called"), answer);
        }
    }
    history
}

/// Orders of a queue, literally.
#[test]
fn queues_are_decided_as_defined() {
    let queue = Container {
        discipline: Discipline::Fifo,
        capacity: None,
    };
    let mut held = [0; 2];
    let histories = count(1_500);
    for seed in 0..histories {
        let history = random_queue(&mut Dice(seed ^ 0x0f1f0));
        let any = Any::of(&queue, &history, &[]);
        for (i, condition) in [Condition::Sequential, Condition::Quiescent]
            .into_iter()
            .enumerate()
        {
            let decided = any.decide(&any.all(), condition, &Budget::default());
            let answer = decided.expect("of any type").expect("no limit");
            let stretch = stretches(history.calls(), history.rets());
            let before = |a: OpId, b: OpId| match condition {
                Condition::Sequential => history.process(a) == history.process(b) && a < b,
                _ => stretch[a.index()] < stretch[b.index()],
            };
            let expected = has_order(&queue, &history, &before, &queue.init(), &mut any.all());
            let holds = match answer {
                Answer::Holds(witness) => {
                    assert!(any.shows(condition, &witness), "{condition}, seed {seed}");
                    true
                }
                Answer::Fails(_) => false,
            };
            assert_eq!(holds, expected, "{condition}, seed {seed}\n{history:?}");
            held[i] += u64::from(holds);
        }
    }
    assert!(
        held.iter().all(|&count| count > 0 && count < histories),
        "{held:?}"
    );
}

fn random_queue(dice: &mut Dice) -> TypedHistory<ContainerOp, Value> {
    let mut history = TypedHistory::new();
    let mut open: Vec<(u32, OpId, ContainerOp)> = Vec::new();
    let mut value = 0;
    for _ in 0..12 {
        let process = dice.below(3) as u32;
        if let Some(place) = open.iter().position(|&(of, ..)| of == process) {
            let (_, id, op) = open.swap_remove(place);
            let answer = match op {
                ContainerOp::Add(_) => Value::Nil,
                _ => match dice.below(1 + value) {
                    0 => Value::Nil,
                    seen => Value::Int(seen as i64),
                },
            };
            history.ret(id, answer);
        } else if history.len() < 6 {
            let op = if dice.often(55) {
                value += 1;
                ContainerOp::Add(Value::Int(value as i64))
            } else {
                ContainerOp::Remove
            };
            open.push((process, history.call(process, op.clone()), op));
        }
    }
    history
}

fn has_order<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    before: &dyn Fn(OpId, OpId) -> bool,
    state: &S::State,
    left: &mut Vec<OpId>,
) -> bool {
    if left.iter().all(|id| history.rets()[id.index()] == NEVER) {
        return true;
    }
    (0..left.len()).any(|i| {
        let id = left[i];
        if left.iter().any(|&other| other != id && before(other, id)) {
            return false;
        }
        let action = history.action(id);
        let next = spec.step(state, &action.op, action.ret.as_ref());
        left.remove(i);
        let found = next
            .iter()
            .any(|next| has_order(spec, history, before, next, left));
        left.insert(i, id);
        found
    })
}

/// Checks the labels of a file; returns how many there were.
fn check_labels(text: &str, source: &str) -> usize {
    let mut labels = 0;
    for (line, json) in (1..).zip(text.lines()) {
        let document: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let kind = document["x-kind"].as_str().unwrap_or("kv");
        if !matches!(kind, "kv" | "kv-repeated") || document["type"] != "kv" {
            continue;
        }
        let options = crate::format::ReadOptions::default();
        let recorded = crate::format::parse(json.as_bytes(), &options)
            .remove(0)
            .expect("a history");
        let map = KeyValue {
            missing: Value::Nil,
        };
        let typed = TypedHistory::decode(&map, &recorded.history).expect("a map");
        let times = |id: OpId| recorded.history.times(id.index()).expect("it has times");
        let crashes = crashes_of(&document, &recorded.history);
        let memory = Memory::of(&map, &typed, Some(&times), &crashes).expect("reads and writes");
        let expected = document["x-conditions"].as_object().expect("labels");
        for (name, label) in expected {
            let name = if name == "durable" {
                "linearizable"
            } else {
                name
            };
            let found = label_of(&memory, name);
            let Some(found) = found else { continue };
            assert_eq!(&found, label, "{source}, line {line}: {name}");
            labels += 1;
        }
    }
    labels
}

/// The ranks of the crashes of a labelled history: `x-crashes` has their times.
fn crashes_of(document: &serde_json::Value, history: &History) -> Vec<u32> {
    let times = (0..history.len()).map(|i| history.times(i).expect("it has times"));
    let times: Vec<i64> = times.flat_map(|(call, ret)| [call, ret]).collect();
    let crashes = document["x-crashes"].as_array().into_iter().flatten();
    let rank = |crash: &serde_json::Value| {
        let crash = crash.as_i64().expect("a time");
        times.iter().filter(|&&time| time < crash).count() as u32
    };
    crashes.map(rank).collect()
}

/// What this module says where a label is expected; none if values repeat and it cannot be decided.
fn label_of(memory: &Memory, name: &str) -> Option<serde_json::Value> {
    let budget = Budget::default();
    let linked = Linked::of(memory).ok();
    let number = |found: Option<i64>| found.map_or(serde_json::Value::Null, Into::into);
    match name {
        "k" => match linked {
            Some(linked) => {
                let found = smallest_k(&linked, None, &budget).expect("no limit").ok();
                Some(number(found.map(|(versions, _)| versions.at_most.into())))
            }
            None => None,
        },
        "delta" => match linked {
            Some(linked) => {
                let found = smallest_delta(memory, &linked, &budget).expect("no limit");
                let found = found.expect("has times").ok();
                Some(number(found.map(|(lateness, _)| lateness.delta)))
            }
            None => None,
        },
        "causal" => Some(by_algorithm(memory, Condition::WeakCausal, true).into()),
        name => {
            let condition: Condition = name.parse().expect(name);
            let answer = decide(memory, condition, &budget).ok()?;
            let _ = answer;
            Some(by_algorithm(memory, condition, true).into())
        }
    }
}

#[test]
fn labelled_histories_of_the_corpus() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/conditions");
    let text = std::fs::read_to_string(root.join("labelled.jsonl")).expect("the corpus");
    assert!(check_labels(&text, "labelled.jsonl") > 300);
}

#[test]
#[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
fn labelled_histories_of_the_collection() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("LINPOINT_DATA").map_or(beside, Into::into);
    let file =
        std::fs::File::open(root.join("conditions/tricky.jsonl.gz")).expect("the collection");
    let mut text = String::new();
    let mut reader = flate2::read::MultiGzDecoder::new(file);
    std::io::Read::read_to_string(&mut reader, &mut text).expect("text");
    let labels = check_labels(&text, "tricky.jsonl.gz");
    println!("{labels} labels");
    assert!(labels > 5_000);
}

/// Every history of the corpus that shows that a condition does not follow from others.
#[test]
fn counterexamples_are_what_they_claim() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/conditions");
    let text = std::fs::read_to_string(root.join("counterexamples.jsonl")).expect("the corpus");
    for json in text.lines() {
        let document: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let recorded = crate::format::parse(json.as_bytes(), &Default::default()).remove(0);
        let recorded = recorded.expect("a history");
        let map = KeyValue {
            missing: Value::Nil,
        };
        let typed = TypedHistory::decode(&map, &recorded.history).expect("a map");
        let times = |id: OpId| recorded.history.times(id.index()).expect("it has times");
        let crashes = crashes_of(&document, &recorded.history);
        let memory = Memory::of(&map, &typed, Some(&times), &crashes).expect("reads and writes");
        for claim in document["x-claims"].as_str().expect("claims").split(' ') {
            let (name, expected) = match claim.strip_prefix('!') {
                Some(name) => (name, serde_json::Value::Bool(false)),
                None => match claim.split_once('=') {
                    Some((name, "None")) => (name, serde_json::Value::Null),
                    Some((name, number)) => (name, number.parse::<i64>().expect(claim).into()),
                    None => (claim, serde_json::Value::Bool(true)),
                },
            };
            let name = if name == "durable" {
                "linearizable"
            } else {
                name
            };
            assert_eq!(
                label_of(&memory, name),
                Some(expected),
                "{claim} in {}",
                document["note"]
            );
        }
    }
}
