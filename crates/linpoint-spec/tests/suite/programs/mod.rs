//! Models that are programs: those that work, and all that can go wrong with one.

mod examples;

use std::time::{Duration, Instant};

use linpoint::format::{ReadOptions, parse};
use linpoint::{Budget, Checker, Error, ErrorKind, Verdict};
use linpoint_spec::{Asked, CommandOptions, command};

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

const STALE: &str = r#"
{"process": 0, "method": "write", "arg": [1, "a"], "ret": null, "call": 1, "return": 2}
{"process": 1, "method": "read", "ret": null, "call": 3, "return": 4}"#;

/// A program in Python that answers as a register does, but for `wrong`, which is run for each question after the first.
fn broken(wrong: &str) -> String {
    format!(
        r#"
import json, os, signal, sys, time
def write(answer):
    print(json.dumps(answer), flush=True)
states = [None]
sys.stdin.readline()
write({{"linpoint": 1, "init": 0}})
for line in sys.stdin:
    question = json.loads(line)
    number, steps = question["id"], question.get("steps", [])
    answers = []
    for step in steps:
        state = states[step["state"]]
        following = state if step["method"] == "read" else step["arg"]
        if following not in states:
            states.append(following)
        answers.append([[state if step["method"] == "read" else None, states.index(following)]])
    answer = {{"id": number, "steps": answers}}
    {wrong}
    write(answer)
"#
    )
}

fn start(program: &str) -> Result<Asked, Error> {
    // A script of its own, so that its quotes do not matter.
    static NUMBER: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let name = format!("linpoint-model-{}-{number}.py", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, program).expect("a script");
    let started = command(
        &format!("exec python3 '{}'", file.display()),
        CommandOptions::default(),
    );
    // The program has read its script when it has answered, or has ended.
    std::fs::remove_file(&file).expect("a script");
    started
}

/// The error of a program that is broken so.
fn error_of(wrong: &str) -> Error {
    let spec = start(&broken(wrong)).expect("a model");
    let error = check(&spec, STALE).expect_err("it is broken");
    assert_eq!(error.kind(), ErrorKind::Specification, "{error}");
    assert!(
        error.reason().contains("the model `exec python3 "),
        "{error}"
    );
    error
}

#[test]
fn the_program_of_the_other_tests_is_a_register() {
    let spec = start(&broken("pass")).unwrap();
    assert!(!check(&spec, STALE).unwrap());
}

#[test]
fn whatever_a_program_does_is_an_error_with_its_reason() {
    let cases = [
        (
            "print('too bad', file=sys.stderr); sys.exit(3)",
            "exited with status 3",
        ),
        (
            "print('too bad', file=sys.stderr); raise ValueError(1)",
            "exited with status 1",
        ),
        (
            "print('too bad', file=sys.stderr); os.kill(os.getpid(), 9)",
            "killed by signal 9",
        ),
        ("print('hello')", "is not JSON"),
        ("write(answer)", "the only line for it"),
        ("print('hello', end='')", "is not JSON"),
        ("answer = 17", "is an integer, not an object"),
        ("answer = {}", "has no \"id\""),
        ("answer['id'] += 1", "it must be that of the question, 1"),
        (
            "answer = {'id': number}",
            "has neither \"steps\" nor \"error\"",
        ),
        (
            "answer['steps'].append([])",
            "has 2 items in \"steps\"; the question has 1",
        ),
        (
            "answer['steps'] = []",
            "has 0 items in \"steps\"; the question has 1",
        ),
        ("answer['steps'] = 5", "it must be a list"),
        (
            "answer['steps'] = [[1, 2]]",
            "list of pairs [answer, next state]",
        ),
        ("answer['steps'] = [[[1, 'next']]]", "a state is an integer"),
        ("answer['steps'] = [[[1, 0.5]]]", "a state is an integer"),
        (
            "answer = {'id': number, 'error': 'no such step'}",
            "answered with an error: no such step",
        ),
        (
            "sys.stdout.buffer.write(b'\\xff\\n'); sys.stdout.flush(); continue",
            "is not UTF-8",
        ),
        ("os.close(1); time.sleep(60)", "closed its standard output"),
    ];
    for (wrong, expected) in cases {
        let error = error_of(wrong);
        assert!(error.reason().contains(expected), "{wrong}: {error}");
        if wrong.contains("too bad") {
            let shown = error.reason().split("its standard error ends with:").nth(1);
            assert!(
                shown.is_some_and(|shown| shown.contains("too bad")),
                "{error}"
            );
        }
    }
}

#[test]
fn a_program_that_does_not_start_is_an_error() {
    let cases = [
        ("no-such-program-here", "exited with status 127"),
        ("true", "exited with status 0"),
        ("exit 7", "exited with status 7"),
        ("echo hello", "is not JSON"),
        ("echo '{}'", "has no version: \"linpoint\": 1"),
        ("echo '{\"linpoint\": 2, \"init\": 0}'", "is of version 2"),
        ("echo '{\"linpoint\": 1}'", "has no \"init\""),
        (
            "echo '{\"linpoint\": 1, \"init\": 0, \"method\": []}'",
            "has the unknown key \"method\"",
        ),
        (
            "echo '{\"linpoint\": 1, \"init\": 0, \"answers\": [\"keys\"]}'",
            "it may have key, is_pure",
        ),
        (
            "echo '{\"linpoint\": 1, \"init\": 0, \"process\": 1}'",
            "it must be true or false",
        ),
        (
            "echo '{\"error\": \"no parameter ttl\"}'",
            "answered with an error: no parameter ttl",
        ),
        ("cat", "has the unknown key \"params\""),
    ];
    for (program, expected) in cases {
        let error = command(program, CommandOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Specification);
        assert!(error.reason().contains(expected), "{program}: {error}");
        assert!(error.reason().contains(&format!("`{program}`")), "{error}");
    }
}

fn with_time(milliseconds: u64) -> CommandOptions {
    let mut options = CommandOptions::default();
    options.answer_timeout = Duration::from_millis(milliseconds);
    options
}

/// A program of the shell that does this instead of answering.
fn shell(does: &str) -> String {
    format!("read question; echo '{{\"linpoint\":1,\"init\":0}}'; {does}")
}

#[test]
fn a_program_that_hangs_or_writes_without_end_is_ended() {
    for (does, expected) in [
        ("sleep 60", "did not answer within 2.0 s"),
        (
            "trap '' TERM INT HUP; sleep 60",
            "did not answer within 2.0 s",
        ),
        ("exec cat", "list of pairs"),
        // Neither the pipe of the standard error nor the memory fills up.
        ("yes >&2", "did not answer within 2.0 s"),
        ("tr '\\0' x </dev/zero", "bytes without an end of line"),
        ("yes", "is not JSON"),
    ] {
        let started = Instant::now();
        let spec = command(&shell(does), with_time(2000)).unwrap();
        let error = check(&spec, STALE).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(20));
        assert_eq!(error.kind(), ErrorKind::Specification);
        assert!(error.reason().contains(expected), "{does}: {error}");
        assert!(error.reason().len() < 5000, "{}", error.reason().len());
    }
}

#[test]
fn a_question_that_is_not_read_is_no_reason_to_hang() {
    let spec = command(&shell("sleep 60"), with_time(2000)).unwrap();
    // Longer than any pipe takes.
    let long = STALE.replace("\"a\"", &format!("\"{}\"", "a".repeat(2 << 20)));
    let error = check(&spec, &long).unwrap_err();
    assert!(error.reason().contains("did not answer within"), "{error}");
    assert!(error.reason().len() < 2000, "{}", error.reason().len());
}

#[test]
fn long_values_are_passed() {
    let spec = start(&broken("pass")).unwrap();
    let long = STALE.replace("\"a\"", &format!("\"{}\"", "a".repeat(2 << 20)));
    assert!(!check(&spec, &long).unwrap());
}

#[test]
fn a_program_that_is_no_function_is_an_error() {
    for wrong in [
        "answer['steps'] = [[[time.time_ns(), 0]] for _ in steps]",
        "answer['steps'] = [[[None, 0]] if number == 1 else [] for _ in steps]",
    ] {
        let error = error_of(wrong);
        let expected = "answers the same question differently";
        assert!(error.reason().contains(expected), "{error}");
    }
    // Numbering states anew each time is slow, but no error.
    let fresh = "states.append(states[answers[0][0][1]]); answer['steps'] = [[[a[0][0], len(states) - 1]] for a in answers]";
    let program = broken(fresh).replace("if following not in states:", "if True:");
    let spec = start(&program).unwrap();
    assert!(!check(&spec, STALE).unwrap());
}

#[test]
fn an_error_of_a_program_concerns_one_history() {
    let refuses =
        "if steps and steps[0]['method'] == 'pop': answer = {'id': number, 'error': 'no pop'}";
    let spec = start(&broken(refuses)).unwrap();
    let error = check(&spec, &STALE.replace("read", "pop")).unwrap_err();
    assert!(error.reason().contains("no pop"), "{error}");
    assert!(check(&spec, STALE).is_err(), "it failed");
    assert!(!check(&spec.for_another(), STALE).unwrap());
}

/// Whether a process runs: one that is not waited for is a zombie.
#[cfg(target_os = "linux")]
fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok()
}

#[test]
#[cfg(target_os = "linux")]
fn all_processes_of_a_program_end_with_it() {
    let file = std::env::temp_dir().join(format!("linpoint-pids-{}", std::process::id()));
    let pids = file.display();
    // A process that ignores that its input ends, and a child of it.
    let program = format!(
        "python3 -c '{}' & echo $! >>{pids}; echo $$ >>{pids}; echo '{{\"linpoint\":1,\"init\":0}}'; while :; do sleep 0.1; done",
        "import signal, time; signal.signal(signal.SIGHUP, signal.SIG_IGN); time.sleep(60)",
    );
    for fails in [false, true] {
        let _ = std::fs::remove_file(&file);
        let spec = command(&program, with_time(2000)).unwrap();
        let pids = std::fs::read_to_string(&file).unwrap();
        assert_eq!(pids.lines().count(), 2);
        assert!(pids.lines().all(is_running));
        if fails {
            let error = check(&spec, STALE).unwrap_err();
            assert!(error.reason().contains("did not answer within"), "{error}");
        } else {
            drop(spec);
        }
        // The first process was waited for; the other one is waited for by the first process of the system.
        let end = Instant::now() + Duration::from_secs(5);
        while pids.lines().any(is_running) {
            assert!(Instant::now() < end, "still running: {pids}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn limits_of_the_check_end_a_program_that_hangs() {
    let started = Instant::now();
    let options = CommandOptions::default();
    let checks = std::sync::Arc::clone(&options.checks);
    let spec = command(&shell("sleep 60"), options).unwrap();
    let recorded = parse(STALE.as_bytes(), &ReadOptions::default()).remove(0);
    let budget = Budget::new(Some(Duration::from_millis(200)), None);
    let running = checks.enter(&budget);
    let checker = Checker::default();
    let checked = checker.check_recorded_within(&spec, &recorded.unwrap().history, &budget);
    drop(running);
    let error = checked.unwrap_err();
    let expected = "did not answer: the time limit of 200.0 ms came first";
    assert!(error.reason().contains(expected), "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
}
