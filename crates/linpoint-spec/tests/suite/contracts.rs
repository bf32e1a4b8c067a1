//! Broken contracts are found, with small counterexamples.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use linpoint::spec::{Kind, Role};
use linpoint::{Error, ErrorKind, Value};
use linpoint_spec::{
    Asked, Counterexample, Model, ModelCall, ModelError, StateId, States, Tested, test,
};

fn tested(text: &str) -> Result<Tested, Error> {
    test(&|| linpoint_spec::parse("my.spec", text, &Default::default()))
}

/// The counterexamples of the contracts whose names have this word.
fn broken(tested: &Tested, word: &str) -> Option<Counterexample> {
    let contract = tested.contracts.iter().find(|of| of.name.contains(word));
    contract.expect("a contract").broken.clone()
}

const MAP: &str = r#"
calls = [("put", ["a", 1]), ("put", ["b", 2]), ("get", "a"), ("get", "b")]

def init(params):
    return {}

def step(state, process, method, arg):
    if method == "put":
        state[arg[0]] = arg[1]
        return (None, state)
    return (state.get(arg), state)

def key(method, arg):
    return arg[0] if method == "put" else arg

def is_pure(method, arg, ret):
    return method == "get"
"#;

#[test]
fn a_map_keeps_all() {
    let tested = tested(MAP).unwrap();
    assert!(tested.passed(), "{tested:#?}");
    assert!(tested.contracts.iter().all(|contract| contract.checked > 0));
    assert_eq!(tested.states, 4);
    let answers: Vec<_> = tested
        .transcript
        .iter()
        .map(|of| of.answer.clone())
        .collect();
    let nil = Some(Value::Nil);
    assert_eq!(answers, [nil.clone(), nil, Some(1.into()), Some(2.into())]);
    assert_eq!(tested.transcript[0].state, r#"{"a": 1}"#);
}

#[test]
fn an_operation_that_changes_the_state_is_not_pure() {
    let text = MAP.replace("method == \"get\"", "method == \"put\"");
    let tested = tested(&text).unwrap();
    let found = broken(&tested, "is_pure names").expect("a counterexample");
    assert!(found.calls.is_empty(), "{found:?}");
    assert!(
        found
            .reason
            .contains("is_pure says that it changes nothing"),
        "{found:?}"
    );
}

#[test]
fn keys_that_affect_each_other_are_found() {
    let size = MAP.replace(
        "return (state.get(arg), state)",
        "return (len(state), state)",
    );
    let tested = tested(&size).unwrap();
    let found = broken(&tested, "different keys").expect("a counterexample");
    assert!(found.calls.is_empty(), "{found:?}");
    assert!(
        found
            .reason
            .contains("it answers 0 without it, it answers 1 after it"),
        "{found:?}"
    );
    let found = broken(&tested, "no verdict").expect("a counterexample");
    assert!(found.calls.len() <= 2, "{found:?}");
    assert!(found.reason.ends_with("with what key says"), "{found:?}");
}

#[test]
fn a_kind_that_does_not_fit_is_found() {
    let text = r#"
kind = "queue"
calls = [("push", 1), ("push", 2), ("pop", None)]

def init(params):
    return []

def step(state, process, method, arg):
    if method == "push":
        return (None, state + [arg])
    if not state:
        return (None, state)
    return (state[-1], state[:-1])

def role(method, arg, ret):
    if method == "push":
        return ("adds", arg)
    if ret == unknown:
        return "removes-some"
    return "empty" if ret == None else ("removes", ret)

def validate(method, arg, ret):
    if method == "push" and ret not in [None, unknown]:
        return "push answers nothing"
"#;
    let tested = tested(text).unwrap();
    let found = broken(&tested, "no verdict").expect("a counterexample");
    assert!(found.calls.len() <= 3, "{found:?}");
    assert!(
        found.reason.ends_with("with what kind or role says"),
        "{found:?}"
    );
}

#[test]
fn failures_are_errors() {
    let error = tested(&MAP.replace("return {}", "return {}[1]")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Specification);
    let error =
        tested(&MAP.replace("return (state.get(arg), state)", "return 1 // 0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Specification);
    let error = tested(&MAP.replace("calls =", "no_calls =")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Specification);
    assert!(error.to_string().contains("which calls"), "{error}");
}

/// A model that answers another number each time.
#[derive(Debug, Default)]
struct Moody {
    asked: AtomicU32,
    states: States<()>,
    calls: Vec<(String, Value)>,
}

impl Model for Moody {
    fn name(&self) -> &str {
        "moody"
    }

    fn depends_on_process(&self) -> bool {
        false
    }

    fn init(&self) -> Result<StateId, ModelError> {
        Ok(self.states.number(()))
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, _: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let asked = self.asked.fetch_add(1, Relaxed);
        Ok(vec![(Value::Int(asked.into()), state)])
    }

    fn key(&self, _: &ModelCall) -> Result<Option<Value>, ModelError> {
        Ok(None)
    }

    fn is_pure(&self, _: &ModelCall, _: Option<&Value>) -> Result<bool, ModelError> {
        Ok(false)
    }

    fn kind(&self) -> Option<Kind> {
        None
    }

    fn role(&self, _: &ModelCall, _: Option<&Value>) -> Result<Role, ModelError> {
        Ok(Role::Opaque)
    }

    fn refusal(&self, _: &ModelCall, _: Option<&Value>) -> Result<Option<String>, ModelError> {
        Ok(None)
    }

    fn normal(&self, result: &Value) -> Value {
        result.clone()
    }

    fn state_value(&self, _: StateId) -> Result<Value, ModelError> {
        Ok(Value::Nil)
    }

    fn describe(&self, _: StateId) -> Result<String, ModelError> {
        Ok("moody".to_owned())
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &self.calls
    }
}

#[test]
fn answers_that_differ_from_time_to_time_are_found() {
    let make = || {
        let calls = vec![("ask".to_owned(), Value::Nil)];
        let moody = Moody {
            calls,
            ..Moody::default()
        };
        Asked::new(moody).map_err(|error| Error::specification(error.to_string()))
    };
    let tested = test(&make).unwrap();
    let found = broken(&tested, "same answer").expect("a counterexample");
    assert!(found.reason.contains("was asked twice"), "{found:?}");
}
