//! What specification files can say, and what they are told when they are wrong.

use linpoint::format::{ReadOptions, parse};
use linpoint::{Checker, Error, ErrorKind, Spec, Value, Verdict};
use linpoint_spec::Asked;

fn spec(text: &str) -> Result<Asked, Error> {
    linpoint_spec::parse("my.spec", text, &Default::default())
}

/// The verdict on a history: whether it is linearizable.
fn check(spec: &Asked, history: &str) -> Result<bool, Error> {
    let recorded = parse(history.as_bytes(), &ReadOptions::default()).remove(0)?;
    let report = Checker::default().check_recorded(spec, &recorded.history)?;
    match report.verdict {
        Verdict::Linearizable(_) => Ok(true),
        Verdict::Violation(_) => Ok(false),
        Verdict::Undecided(undecided) => panic!("{undecided}"),
    }
}

const REGISTER: &str = r#"
def init(params):
    return params.get("initial")

def step(state, process, method, arg):
    if method == "read":
        return (state, state)
    if method == "write":
        return (None, arg)
    return fail("no method", method)
"#;

const STALE: &str = r#"
{"process": 0, "method": "write", "arg": [1, "a"], "ret": null, "call": 1, "return": 2}
{"process": 1, "method": "read", "ret": null, "call": 3, "return": 4}"#;

#[test]
fn a_register_is_a_few_lines() {
    let register = spec(REGISTER).unwrap();
    assert!(!check(&register, STALE).unwrap());
    let fresh = STALE.replace(r#""read", "ret": null"#, r#""read", "ret": [1, "a"]"#);
    assert!(check(&register, &fresh).unwrap());
    let asking = register.asking();
    // The second history takes only steps that the first one took.
    assert!(asking.asked <= 4 && asking.remembered > 0, "{asking:?}");
}

/// A step gets a copy of the state, whatever the step before it left: parts that are one part twice, parts of the file, or
/// dictionaries in another order.
#[test]
fn a_state_is_a_copy_after_every_step() {
    let text = r#"
CONSTANT = [1]

def init(params):
    return None

def step(state, process, method, arg):
    if method == "twice":
        part = []
        return (None, [part, part])
    if method == "constant":
        return (None, [CONSTANT, []])
    if method == "own":
        return [(0, [[0], [0]]), (None, [[], []])]
    if method == "unsorted":
        return (None, {"b": 1, "a": 2})
    if method == "numbers":
        return (None, {2: 1, 1: 2})
    if method == "keys":
        return ([key for key in state], state)
    state[0].append(arg)
    return (state, state)
"#;
    let lasts = [
        ("twice", r#""add", "arg": 7, "ret": [[7], []]"#),
        ("constant", r#""add", "arg": 7, "ret": [[1, 7], []]"#),
        ("own", r#""add", "arg": 7, "ret": [[7], []]"#),
        ("unsorted", r#""keys", "ret": ["a", "b"]"#),
        ("numbers", r#""keys", "ret": [1, 2]"#),
    ];
    for (first, last) in lasts {
        let history = format!(
            r#"
{{"process": 0, "method": "{first}", "ret": null, "call": 1, "return": 2}}
{{"process": 1, "method": {last}, "call": 3, "return": 4}}"#
        );
        assert!(check(&spec(text).unwrap(), &history).unwrap(), "{first}");
    }
}

#[test]
fn parameters_and_processes_are_passed() {
    let text = r#"
def init(params):
    return {"holder": None, "most": params["most"], "token": 0}

def step(state, process, method, arg):
    if method == "acquire":
        if state["holder"] != None or state["token"] == state["most"]:
            return blocked
        state["holder"] = process
        state["token"] += 1
        return (state["token"], state)
    if state["holder"] != process:
        return (False, state)
    state["holder"] = None
    return (True, state)
"#;
    let params = [("most".to_owned(), Value::Int(2))].into();
    let lock = linpoint_spec::parse("lock.spec", text, &params).unwrap();
    let history = |releaser: u32, token: u32| {
        format!(
            r#"
{{"process": 0, "method": "acquire", "ret": 1, "call": 1, "return": 2}}
{{"process": {releaser}, "method": "release", "ret": true, "call": 3, "return": 4}}
{{"process": 2, "method": "acquire", "ret": {token}, "call": 5, "return": 6}}"#
        )
    };
    assert!(check(&lock, &history(0, 2)).unwrap());
    assert!(!check(&lock, &history(1, 2)).unwrap());
    assert!(!check(&lock, &history(0, 1)).unwrap());
}

#[test]
fn several_outcomes_and_tuples() {
    let text = r#"
def init(params):
    return (0, "heads")

def step(state, process, method, arg):
    count, _ = state
    return [(side, (count + 1, side)) for side in ["heads", "tails"]]
"#;
    let coin = spec(text).unwrap();
    let toss = |side: &str| {
        format!(r#"{{"process": 0, "method": "toss", "ret": "{side}", "call": 1, "return": 2}}"#)
    };
    assert!(check(&coin, &toss("heads")).unwrap());
    assert!(check(&coin, &toss("tails")).unwrap());
    assert!(!check(&coin, &toss("edge")).unwrap());
    assert_eq!(
        coin.state_words(&coin.init(), None),
        r#"the state was (0, "heads")"#
    );
}

#[test]
fn keys_pure_operations_and_kinds() {
    let text = r#"
kind = ("register", 0)
methods = ["read", "write"]

def init(params):
    return {}

def step(state, process, method, arg):
    if method == "read":
        return (state.get(arg, 0), state)
    state[arg[0]] = arg[1]
    return (None, state)

def key(method, arg):
    return arg if method == "read" else arg[0]

def is_pure(method, arg, ret):
    return method == "read"

def role(method, arg, ret):
    if method == "write":
        return ("writes", arg[1])
    return "opaque" if ret == unknown else ("reads", ret)

def describe(state):
    return "values %s" % state

def validate(method, arg, ret):
    if method == "write" and type(arg) != "list":
        return "write takes [key, value]"
"#;
    let registers = spec(text).unwrap();
    let history = r#"
{"process": 0, "method": "write", "arg": ["x", 1], "ret": null, "call": 1, "return": 2}
{"process": 0, "method": "write", "arg": ["y", 2], "ret": null, "call": 3, "return": 4}
{"process": 1, "method": "read", "arg": "x", "ret": 2, "call": 5, "return": 6}"#;
    let recorded = parse(history.as_bytes(), &ReadOptions::default())
        .remove(0)
        .unwrap();
    let report = Checker::default()
        .check_recorded(&registers, &recorded.history)
        .unwrap();
    let broken: Vec<_> = report
        .parts
        .iter()
        .filter(|part| matches!(part.verdict, Verdict::Violation(_)))
        .collect();
    assert_eq!(broken.len(), 1);
    assert_eq!(broken[0].key, Some("x".into()));
    assert!(broken[0].engine.contains("monitor"), "{}", broken[0].engine);

    let wrong = |from: &str, to: &str| check(&registers, &history.replace(from, to)).unwrap_err();
    let error = wrong(r#"["y", 2]"#, "7");
    assert!(
        error.to_string().contains("write takes [key, value]"),
        "{error}"
    );
    let error = wrong(r#""read""#, r#""raed""#);
    assert!(
        error
            .to_string()
            .contains(r#"unknown method "raed": the specification has read, write"#),
        "{error}"
    );
}

/// A specification that fails while a history is decided ends with its error, never with a verdict.
#[test]
fn failures_are_errors() {
    let step = |body: &str| {
        let text = format!(
            "def init(params):\n    return 0\n\ndef step(state, process, method, arg):\n{body}"
        );
        let error = check(&spec(&text).unwrap(), STALE).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Specification, "{error}");
        error.to_string()
    };
    let cases = [
        (
            "    return (None, state // 0)\n",
            "my.spec:5:19: Floor division by zero",
        ),
        (
            "    return (None, later(state))\n\nlater = None\n",
            "my.spec:5:19: Operation `call()` not supported on type `NoneType`",
        ),
        (
            "    for i in range(1000000000):\n        state += i\n    return (None, state)\n",
            "my.spec:5:14: a range has at most 1000000 numbers, and this one would have 1000000000",
        ),
        (
            "    for i in range(1000000):\n        state += i\n    return (None, state)\n",
            "my.spec:4:1: it takes more than 200000 loops and calls: does it end?",
        ),
        (
            "    return step(state, process, method, arg)\n",
            "my.spec:5:12: calls are nested more than 200 deep",
        ),
        (
            "    pass\n",
            "my.spec:4:1: step returned None (or ended without a return)",
        ),
        (
            "    return state\n",
            "my.spec:4:1: step returned 0: it must return a tuple (answer, next state)",
        ),
        (
            "    return (None, step)\n",
            "my.spec:4:1: step returned a function",
        ),
        (
            "    return (None, [0] * 1000000000)\n",
            "my.spec:5:19: a product has at most 1000000 items, and this one would have 1000000000",
        ),
        (
            "    x = [1]\n    for i in range(40):\n        x += x\n    return (None, x)\n",
            "it uses more than 256 megabytes of memory",
        ),
        (
            "    x = 1\n    for i in range(60):\n        x = [x, x]\n    return (None, x)\n",
            "my.spec:4:1: step returned a value of more than 64 megabytes",
        ),
        (
            "    x = 3\n    for i in range(40):\n        x = x * x\n    return (None, x)\n",
            "my.spec:7:13: a number of more than 64 bits cannot be multiplied",
        ),
        (
            "    return fail(\"no such method:\", method)\n",
            "my.spec:5:12: no such method: write\n    return fail(\"no such method:\", method)\n  \
             in step(state = 0, method = \"write\", arg = [1, \"a\"])",
        ),
    ];
    for (body, told) in cases {
        let said = step(body);
        assert!(said.contains(told), "{body}\n{said}");
    }
}

#[test]
fn limits_are_those_of_one_call() {
    let text = r#"
def init(params):
    return 0

def step(state, process, method, arg):
    for i in range(arg):
        state += 1
    return (state, state)
"#;
    // Together they loop more often than one call may.
    let history = r#"
{"process": 0, "method": "add", "arg": 9000, "ret": 9000, "call": 1, "return": 2}
{"process": 0, "method": "add", "arg": 199000, "ret": 208000, "call": 3, "return": 4}
{"process": 0, "method": "add", "arg": 9000, "ret": 217000, "call": 5, "return": 6}"#;
    assert!(check(&spec(text).unwrap(), history).unwrap());
    let more = history.replace("199000", "200001");
    let error = check(&spec(text).unwrap(), &more).unwrap_err().to_string();
    let told = "my.spec:5:1: it takes more than 200000 loops and calls: does it end?";
    assert!(error.contains(told), "{error}");
}

#[test]
fn dictionaries_are_passed_in_the_order_of_their_keys() {
    let text = r#"
def init(params):
    return {"b": 0}

def step(state, process, method, arg):
    if method == "add":
        state[arg] = len(state)
    return (list(state), state)
"#;
    let history = r#"
{"process": 0, "method": "add", "arg": "c", "ret": ["b", "c"], "call": 1, "return": 2}
{"process": 0, "method": "add", "arg": "a", "ret": ["b", "c", "a"], "call": 3, "return": 4}
{"process": 0, "method": "list", "ret": ["a", "b", "c"], "call": 5, "return": 6}
{"process": 0, "method": "add", "arg": 10, "ret": ["a", "b", "c", 10], "call": 7, "return": 8}
{"process": 0, "method": "add", "arg": 9, "ret": [10, "a", "b", "c", 9], "call": 9, "return": 10}
{"process": 0, "method": "list", "ret": [9, 10, "a", "b", "c"], "call": 11, "return": 12}"#;
    assert!(check(&spec(text).unwrap(), history).unwrap());
}

#[test]
fn broken_files_are_refused() {
    let init = "def init(params):\n    return 0\n";
    let step = "def step(state, process, method, arg):\n    return (None, state)\n";
    let cases = [
        (
            String::new(),
            "it does not define init: write def init(params)",
        ),
        (
            init.to_owned(),
            "it does not define step: write def step(state, process, method, arg)",
        ),
        (
            format!("{init}{step}kind = \"heap\"\n"),
            "my.spec:5:1: kind is \"heap\"; it must be \"queue\"",
        ),
        (
            format!("{init}{step}kind = \"queue\"\n"),
            "my.spec:5:1: it has a kind, so it must define role(method, arg, ret)",
        ),
        (
            format!("{init}{step}calls = [1]\n"),
            "my.spec:5:1: calls is 1; it must be a list of pairs",
        ),
        (
            format!("{init}{step}methods = 7\n"),
            "my.spec:5:1: methods is 7; it must be a list of names",
        ),
        (
            format!("{init}{step}methods = [\"read\"]\ncalls = [(\"wirte\", 1)]\n"),
            "my.spec:6:1: calls has (\"wirte\", 1), which is refused: unknown method \"wirte\"",
        ),
        (
            format!("{init}{step}defaults = [1]\n"),
            "my.spec:5:1: defaults is [1]; it must be a dictionary",
        ),
        (
            format!("{init}{step}x = 1\nx *= 2\n"),
            "my.spec:6:1: there is no *= here: write x = x * y instead",
        ),
        (format!("{init}{step}x = y\n"), "my.spec:5:5"),
        (
            format!("{init}{step}load(\"other.spec\", \"z\")\n"),
            "my.spec:5",
        ),
        ("def init(params)\n    return 0\n".to_owned(), "my.spec:1"),
        (
            format!("def init():\n    return 0\n{step}"),
            "my.spec:1:1: ",
        ),
        (format!("{init}{step}import os\n"), "my.spec:5"),
    ];
    for (text, told) in cases {
        let error = spec(&text).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Specification);
        assert!(error.to_string().contains(told), "{text}\n{error}");
    }
}

/// Large integers are exact, and integers differ from other numbers.
#[test]
fn numbers_keep_their_value() {
    let register = spec(REGISTER).unwrap();
    let history = |written: &str, read: &str| {
        format!(
            r#"
{{"process": 0, "method": "write", "arg": {written}, "ret": null, "call": 1, "return": 2}}
{{"process": 1, "method": "read", "ret": {read}, "call": 3, "return": 4}}"#
        )
    };
    let large = "123456789012345678901234567890";
    for number in ["0", "-7", "1.5", "-1e300", "9223372036854775807", large] {
        assert!(
            check(&register, &history(number, number)).unwrap(),
            "{number}"
        );
    }
    for (written, read) in [
        ("1", "1.5"),
        ("1", "true"),
        (large, "123456789012345678901234567891"),
    ] {
        assert!(
            !check(&register, &history(written, read)).unwrap(),
            "{read}"
        );
    }
    let counter = r#"
def init(params):
    return 9223372036854775807

def step(state, process, method, arg):
    return (state, state + 1)
"#;
    let answers = |second: &str| {
        format!(
            r#"
{{"process": 0, "method": "next", "ret": 9223372036854775807, "call": 1, "return": 2}}
{{"process": 0, "method": "next", "ret": 9223372036854775808, "call": 3, "return": 4}}
{{"process": 0, "method": "next", "ret": {second}, "call": 5, "return": 6}}"#
        )
    };
    let counter = spec(counter).unwrap();
    assert!(check(&counter, &answers("9223372036854775809")).unwrap());
    assert!(!check(&counter, &answers("9223372036854775808")).unwrap());
}

#[test]
fn parameters_have_defaults_and_names() {
    let text = r#"
defaults = {"capacity": 2}

def init(params):
    return params["capacity"]

def step(state, process, method, arg):
    return (state, state)
"#;
    let answer = |capacity: u32| {
        format!(r#"{{"process": 0, "method": "m", "ret": {capacity}, "call": 1, "return": 2}}"#)
    };
    assert!(check(&spec(text).unwrap(), &answer(2)).unwrap());
    let given = |name: &str| [(name.to_owned(), Value::Int(5))].into();
    let five = linpoint_spec::parse("my.spec", text, &given("capacity")).unwrap();
    assert!(check(&five, &answer(5)).unwrap());
    let error = linpoint_spec::parse("my.spec", text, &given("capcity")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    assert_eq!(
        error.to_string(),
        "my.spec has no parameter \"capcity\"; it has capacity"
    );
}
