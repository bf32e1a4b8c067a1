//! The models of `examples/models` and `recorders/java`: their histories, and random histories that built-in types decide too.
//!
//! `LINPOINT_PROGRAMS` sets the number of random histories per model.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use linpoint::object::{ObjectType, object_type};
use linpoint::spec::Params;
use linpoint::{Checker, Config, ErrorKind, History, Value, Verdict};
use linpoint_spec::{Asked, CommandOptions, command, small_history};

use super::{STALE, check};

/// Random histories per model, unless the environment says otherwise.
const HISTORIES: u64 = 200;

fn histories() -> u64 {
    let given = std::env::var("LINPOINT_PROGRAMS").ok();
    given.map_or(HISTORIES, |n| {
        n.parse().expect("LINPOINT_PROGRAMS is a number")
    })
}

/// The folder of the models.
fn examples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples/models")
}

/// Whether the machine has this program. A test without it is skipped, and says so.
fn has(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output().is_ok();
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

fn start(line: &str, params: &[(&str, Value)]) -> Asked {
    let mut options = CommandOptions::default();
    // Java takes seconds to start while other tests run.
    options.answer_timeout = Duration::from_secs(120);
    let params = params.iter();
    options.params = params
        .map(|(name, value)| (name.to_string(), value.clone()))
        .collect();
    command(line, options).expect("a model")
}

fn python(model: &str, params: &[(&str, Value)]) -> Asked {
    let file = examples().join(model);
    start(&format!("exec python3 '{}'", file.display()), params)
}

/// A Java class as its own specification.
fn java(arguments: &str) -> Asked {
    static JAR: OnceLock<PathBuf> = OnceLock::new();
    let jar = JAR.get_or_init(|| {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let built = Command::new(root.join("recorders/java/build")).status();
        assert!(built.expect("a shell").success(), "recorders/java/build");
        root.join("target/java/linpoint.jar")
    });
    let line = format!(
        "exec java -cp '{}' linpoint.ClassUnderTest {arguments}",
        jar.display()
    );
    start(&line, &[])
}

/// The verdicts on the two histories of a model.
fn verdicts(spec: &Asked, name: &str) -> (bool, bool) {
    let verdict = |kind: &str| {
        let file = examples().join(format!("histories/{name}-{kind}.jsonl"));
        let history = std::fs::read_to_string(file).expect("a history");
        check(&spec.for_another(), &history).expect("a verdict")
    };
    (verdict("linearizable"), verdict("violation"))
}

#[test]
fn each_model_decides_its_histories() {
    if has("python3", "--version") {
        for name in ["register", "kv"] {
            let spec = python(&format!("{name}.py"), &[]);
            assert_eq!(verdicts(&spec, name), (true, false), "{name}");
        }
    }
    if has("javac", "-version") {
        for options in ["", "--state toString", "--state equals"] {
            let class = format!("{options} java.util.concurrent.ConcurrentLinkedDeque");
            let spec = java(&class);
            assert_eq!(verdicts(&spec, "deque"), (true, false), "{class}");
        }
    }
}

#[test]
fn a_call_of_java_that_does_not_return_is_blocked() {
    if !has("javac", "-version") {
        return;
    }
    let class = "--state toString --blocked 300 java.util.concurrent.LinkedBlockingQueue";
    let queue = java(class);
    let history = r#"
{"process": 0, "method": "take", "ret": 1, "call": 1, "return": 4}
{"process": 1, "method": "put", "arg": 1, "ret": null, "call": 2, "return": 3}
{"process": 1, "method": "iterator", "ret": [], "call": 5, "return": 6}"#;
    assert!(check(&queue.for_another(), history).unwrap());
    let early = history.replace("\"call\": 2, \"return\": 3", "\"call\": 5, \"return\": 6");
    let early = early.replace(
        "\"process\": 1, \"method\": \"it",
        "\"process\": 2, \"method\": \"it",
    );
    assert!(!check(&queue.for_another(), &early).unwrap());
    let wrong = history.replace("\"take\"", "\"take\", \"arg\": 5");
    let error = check(&queue.for_another(), &wrong).unwrap_err();
    let expected = "has no public method take(5)";
    assert!(error.reason().contains(expected), "{error}");
}

#[test]
fn a_register_in_python() {
    if !has("python3", "--version") {
        return;
    }
    let register = python("register.py", &[]);
    assert!(!check(&register, STALE).unwrap());
    let fresh = STALE.replace(r#""read", "ret": null"#, r#""read", "ret": [1, "a"]"#);
    assert!(check(&register, &fresh).unwrap());
    let asking = register.asking();
    assert!(asking.asked <= 4 && asking.remembered > 0, "{asking:?}");
}

#[test]
fn keys_parameters_and_refusals() {
    if !has("python3", "--version") {
        return;
    }
    let map = python("kv.py", &[("missing", Value::from("none"))]);
    let history = r#"
{"process": 0, "method": "put", "arg": ["a", 1], "ret": null, "call": 1, "return": 2}
{"process": 1, "method": "get", "arg": "b", "ret": "none", "call": 3, "return": 4}
{"process": 1, "method": "delete", "arg": "a", "ret": true, "call": 5, "return": 6}
{"process": 1, "method": "get", "arg": "a", "ret": "none", "call": 7, "return": 8}"#;
    assert!(check(&map, history).unwrap());
    assert!(!check(&map, &history.replace("true", "false")).unwrap());
    let unknown = history.replace("delete", "pop");
    let error = check(&map, &unknown).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.reason().contains("unknown method \"pop\""), "{error}");
}

#[test]
fn models_in_python_keep_their_contracts() {
    if !has("python3", "--version") {
        return;
    }
    for model in ["register.py", "kv.py"] {
        let tested = linpoint_spec::test(&|| Ok(python(model, &[]))).unwrap();
        assert!(tested.passed(), "{model}: {tested:?}");
    }
}

fn is_linearizable(object: &ObjectType, history: &History) -> bool {
    let checker = Checker::new(Config::default().verdicts_only());
    match checker.check_recorded(object, history).map(|of| of.verdict) {
        Ok(Verdict::Linearizable(_)) => true,
        Ok(Verdict::Violation(_)) => false,
        other => panic!("{other:?}"),
    }
}

/// Compares a model with the built-in type of this name on the random histories that apply.
fn compare(name: &str, spec: &Asked, applies: impl Fn(&History) -> bool) {
    let built_in = object_type(name, &Params::new()).expect("a built-in type");
    let (mut violations, mut compared) = (0, 0);
    for seed in 0..histories() {
        let history = small_history(&built_in, seed).expect("a history");
        if !applies(&history) {
            continue;
        }
        compared += 1;
        let expected = is_linearizable(&built_in, &history);
        violations += u64::from(!expected);
        let found = is_linearizable(&ObjectType::new(spec.for_another()), &history);
        let ops: Vec<String> = history.ops().map(|op| op.text()).collect();
        assert_eq!(found, expected, "{name}, seed {seed}: {ops:?}");
    }
    println!("{name}: {compared} histories, {violations} of them violations");
    // Neither all nor none: the comparison would tell little.
    assert!(compared > histories() / 4, "{name}: {compared}");
    assert!(
        violations > compared / 20 && violations < compared,
        "{name}"
    );
}

#[test]
fn models_in_python_decide_as_built_in_types() {
    if has("python3", "--version") {
        compare("cas-register", &python("register.py", &[]), |_| true);
        compare("kv", &python("kv.py", &[]), |_| true);
    }
}

#[test]
fn the_class_itself_decides_as_the_built_in_type() {
    if has("javac", "-version") {
        let class = "--state toString --answers text java.util.concurrent.ConcurrentLinkedDeque";
        let deque = java(class);
        // The built-in type takes other notations of results, too.
        let is_of_java = |history: &History| {
            history.ops().all(|op| match op.result {
                Some(Value::Nil) => ["addFirst", "addLast", "push", "clear"].contains(&op.method),
                Some(Value::Text(_)) | None => true,
                Some(_) => false,
            })
        };
        compare("concurrent-linked-deque", &deque, is_of_java);
    }
}
