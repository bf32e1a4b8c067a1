//! The bodies of the fuzz targets, which the tests also run on saved inputs.

use linpoint::format::{
    Format, IndependentKeys, Mapping, ReadOptions, RecordedHistory, Truncated, parse, write_jsonl,
};
use linpoint::object::{guess_type, object_type, types};
use linpoint::spec::{Params, Sampler};
use linpoint::{
    Call, Checker, Config, EngineChoice, History, HistoryBuilder, Partitioning, Ties, Value,
    Verdict,
};

/// The readers, each with the name of its target.
pub(crate) const READERS: [(&str, Format); 9] = [
    ("parse_jsonl", Format::Jsonl),
    ("parse_edn", Format::Edn),
    ("parse_jepsen_json", Format::JepsenJson),
    ("parse_jepsen_log", Format::JepsenLog),
    ("parse_porcupine", Format::Porcupine),
    ("parse_porcupine_kv", Format::PorcupineKv),
    ("parse_violat", Format::Violat),
    ("parse_operations", Format::Operations),
    ("parse_snapshot", Format::Snapshot),
];

/// Whatever the bytes are, they are refused or read; what is read can be validated, and written and read again.
pub(crate) fn read_and_write(format: Format, bytes: &[u8]) {
    for (independent, truncated) in [
        (IndependentKeys::Detect, Truncated::ReadPrefix),
        (IndependentKeys::Always, Truncated::Refuse),
        (IndependentKeys::Never, Truncated::Refuse),
    ] {
        let options = ReadOptions {
            format: Some(format),
            independent,
            truncated,
            ..ReadOptions::default()
        };
        for recorded in parse(bytes, &options) {
            match recorded {
                Ok(recorded) => use_history(&recorded),
                Err(error) => assert!(!error.to_string().is_empty()),
            }
        }
    }
    // Detecting the format must not panic on any bytes either.
    parse(bytes, &ReadOptions::default());
}

/// A mapping and a log, with a line `---` between them: each is refused or read, and what is read can be written and read again.
pub(crate) fn read_mapped(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mapping, log) = text.split_once("\n---\n").unwrap_or(("", &text));
    let _ = Mapping::from_inline(&mapping.replace('\n', ", "));
    if let Ok(guess) = Mapping::guess(log) {
        assert!(!guess.toml.is_empty());
    }
    let Ok(mapping) = Mapping::from_toml(mapping) else {
        return;
    };
    let options = ReadOptions {
        mapping: Some(mapping.into()),
        ..ReadOptions::default()
    };
    for recorded in parse(log.as_bytes(), &options) {
        match recorded {
            Ok(recorded) => use_history(&recorded),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn use_history(recorded: &RecordedHistory) {
    let history = &recorded.history;
    let named = recorded.object_type.as_ref();
    let named = named.map(|(name, params)| (name.as_str(), params.clone()));
    let guessed = guess_type(history).map(|name| (name, Params::new()));
    if let Some((name, params)) = named.or(guessed)
        && let Ok(object) = object_type(name, &params)
    {
        let _ = object.validate(history);
    }
    let _ = history.shape();

    let mut text = Vec::new();
    let about = recorded.object_type.as_ref();
    let about = about.map(|(name, params)| (name.as_str(), params));
    write_jsonl(history, about, &mut text).expect("written to memory");
    let mut again = parse(&text, &ReadOptions::default());
    let params = about.into_iter().flat_map(|(_, params)| params.values());
    if !history.values().iter().chain(params).all(is_json) || !names(history).all(is_json) {
        return;
    }
    let text = String::from_utf8_lossy(&text);
    assert_eq!(again.len(), 1, "{text}");
    let again = again.remove(0);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(contents(&again.history), contents(history), "{text}");
    assert_eq!(again.history.annotations(), history.annotations(), "{text}");
    assert_eq!(again.object_type, recorded.object_type, "{text}");
}

fn names(history: &History) -> impl Iterator<Item = &Value> {
    history.processes().iter().chain(history.objects())
}

/// Whether JSON can express the value.
fn is_json(value: &Value) -> bool {
    match value {
        Value::Number(text) => serde_json::from_str::<serde_json::Number>(text).is_ok(),
        Value::List(items) => items.iter().all(is_json),
        Value::Map(pairs) => pairs
            .iter()
            .all(|(key, value)| key.as_text().is_some() && is_json(value)),
        Value::Nil | Value::Bool(_) | Value::Int(_) | Value::Text(_) => true,
    }
}

/// All that makes a history but its line numbers.
fn contents(history: &History) -> Vec<(String, Value, Value, u32, u32)> {
    let ops = history.ops().map(|op| {
        let text = format!("{} {:?} {:?}", op.method, op.argument, op.result);
        (text, op.process.clone(), op.object.clone(), op.call, op.ret)
    });
    ops.collect()
}

/// Parameters small enough that limits are met.
pub(crate) fn small_params(name: &str) -> Params {
    let pairs: &[(&str, i64)] = match name {
        "bounded-queue" | "array-blocking-queue" => &[("capacity", 2)],
        "semaphore" => &[("permits", 2)],
        "bank" => &[("accounts", 2), ("balance", 2)],
        "snapshot" => &[("processes", 8)],
        "multi-writer-snapshot" => &[("entries", 3)],
        _ => &[],
    };
    pairs
        .iter()
        .map(|&(name, value)| (name.to_owned(), Value::from(value)))
        .collect()
}

/// Returns whether the verdict is that the history is linearizable. An undecided history fails the test.
pub(crate) fn decided(verdict: &Verdict) -> bool {
    match verdict {
        Verdict::Linearizable(_) => true,
        Verdict::Violation(_) => false,
        Verdict::Undecided(undecided) => panic!("{undecided:?}"),
    }
}

/// Makes a small history of a built-in type from the bytes. The search must agree with the reference.
pub(crate) fn check_small(bytes: &[u8]) {
    let Some((&first, script)) = bytes.split_first() else {
        return;
    };
    let info = &types()[usize::from(first) % types().len()];
    let object = object_type(info.name, &small_params(info.name)).expect("a built-in type");
    let Ok(history) = small_history(&object, script) else {
        return;
    };
    if object.validate(&history).is_err() {
        return;
    }
    let config = Config::default().verdicts_only();
    let whole = config.clone().with_partitioning(Partitioning::ByObject);
    let verdict = |config: Config| {
        let checker = Checker::new(config);
        let report = checker.check_recorded(&object, &history);
        decided(&report.expect("certified").verdict)
    };
    let expected = verdict(whole.clone().with_engine(EngineChoice::Brute));
    let texts: Vec<_> = history
        .ops()
        .map(|op| (op.text(), op.call, op.ret))
        .collect();
    assert_eq!(verdict(config), expected, "{} by key: {texts:?}", info.name);
    assert_eq!(verdict(whole), expected, "{} whole: {texts:?}", info.name);
    assert_eq!(
        verdict(Config::default()),
        expected,
        "{} reduced: {texts:?}",
        info.name
    );
}

/// Operations that the reference decides in no time.
const MAX_OPS: usize = 7;

/// Four processes take turns as the script says: each byte moves one of them on, and may make its result a wrong one.
fn small_history(
    object: &linpoint::object::ObjectType,
    script: &[u8],
) -> Result<History, linpoint::Error> {
    enum Turn<'a> {
        Called(&'a str, Value),
        Done(Value),
    }
    let mut simulation = object.simulate();
    let mut builder = HistoryBuilder::new();
    let mut turns: [Option<Turn<'_>>; 4] = Default::default();
    let mut names: [u32; 4] = [0, 1, 2, 3];
    let mut results = vec![Value::Nil];
    for (&byte, position) in script.iter().zip(0u64..) {
        let chosen = usize::from(byte & 3);
        let name = Value::from(i64::from(names[chosen]));
        let mut sampler = Sampler::new(u64::from(byte >> 2) + 64 * (position & 3), Some(3));
        match turns[chosen].take() {
            None if builder.len() < MAX_OPS => {
                let (method, argument) = simulation.sample(names[chosen], &mut sampler);
                builder.call(0, name, Call::new(method, argument.clone()))?;
                turns[chosen] = Some(Turn::Called(method, argument));
            }
            None => {}
            Some(Turn::Called(method, argument)) => {
                let result = simulation.apply(&name, method, &argument, &mut sampler);
                let result = result.unwrap_or_default();
                results.push(result.clone());
                turns[chosen] = Some(Turn::Done(result));
            }
            Some(Turn::Done(result)) => match byte >> 6 {
                0 => {
                    builder.crash(0, &name)?;
                    names[chosen] += 4;
                }
                1 => {
                    let other = usize::from(byte >> 2 & 15) % results.len();
                    builder.ret(0, &name, results[other].clone())?;
                }
                _ => builder.ret(0, &name, result)?,
            },
        }
    }
    builder.finish(Ties::default())
}
