//! Proofs that `check --proof` writes and `verify-proof` checks.

use std::fs;
use std::io::{Read, Write};

use flate2::read::GzDecoder;

use crate::files::Scratch;

const WRONG: &str = r#"{"linpoint":1,"type":"queue"}
{"process":0,"method":"enq","arg":1,"call":0,"return":1}
{"process":0,"method":"enq","arg":2,"call":2,"return":3}
{"process":1,"method":"deq","ret":2,"call":4,"return":5}
"#;

/// Runs a command and returns its exit code and what it prints.
fn run(scratch: &Scratch, command: &str) -> (Option<i32>, String) {
    let arguments: Vec<&str> = command.split(' ').collect();
    let output = scratch.run(&arguments);
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8(printed).expect("UTF-8");
    (output.status.code(), printed)
}

/// The same with `--json`: the exit code and the line.
fn run_json(scratch: &Scratch, command: &str) -> (Option<i32>, serde_json::Value) {
    let (code, printed) = run(scratch, &format!("{command} --json"));
    let line = serde_json::from_str(&printed).expect("a JSON line");
    (code, line)
}

/// A folder with `h.jsonl`, which is linearizable, `wrong.jsonl`, which is not, and their proofs.
fn proven(test: &str) -> Scratch {
    let scratch = Scratch::new(test);
    fs::write(scratch.0.join("wrong.jsonl"), WRONG).expect("written");
    assert_eq!(run(&scratch, "check h.jsonl --proof h.gz").0, Some(0));
    assert_eq!(
        run(&scratch, "check wrong.jsonl --proof wrong.gz").0,
        Some(1)
    );
    assert_eq!(
        run(&scratch, "check h.jsonl wrong.jsonl --proof both.gz").0,
        Some(1)
    );
    scratch
}

fn lines(scratch: &Scratch, name: &str) -> Vec<String> {
    let packed = fs::read(scratch.0.join(name)).expect("the proof is there");
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(&packed[..]);
    unpacked
        .read_to_string(&mut text)
        .expect("it is compressed text");
    text.lines().map(str::to_owned).collect()
}

/// A history that its type refuses has no proof, and the proofs of the others are checked.
#[test]
fn refused_histories_are_passed_over() {
    let scratch = Scratch::new("refused");
    let histories = r#"{"linpoint":1,"type":"deque"}
{"process":0,"method":"push_back","arg":1,"call":0,"return":1}
{"linpoint":1,"type":"deque"}
{"process":0,"method":"push_back","call":0,"return":1}
{"linpoint":1,"type":"deque"}
{"process":0,"method":"pop_back","ret":1,"call":0,"return":1}
{"linpoint":1,"type":"deque"}
{"process":0,"method":"push_front","call":0,"return":1}
"#;
    fs::write(scratch.0.join("four.jsonl"), histories).expect("written");
    assert_eq!(run(&scratch, "check four.jsonl --proof four.gz").0, Some(1));
    let (code, printed) = run(&scratch, "verify-proof four.gz four.jsonl");
    assert_eq!(code, Some(65), "{printed}");
    for expected in [
        "four.jsonl:0 (1st history): the proof is accepted: linearizable as a deque\n",
        "four.jsonl:2 (3rd history): the proof is accepted: not linearizable as a deque\n",
        "push_back takes a value",
        "push_front takes a value",
    ] {
        assert!(printed.contains(expected), "{printed}");
    }
}

#[test]
fn proofs_of_both_verdicts_are_accepted() {
    let scratch = proven("proofs");
    let accepted = "h.jsonl: the proof is accepted: linearizable as a register\n";
    let printed = run(&scratch, "verify-proof h.gz h.jsonl");
    assert_eq!(printed, (Some(0), accepted.to_owned()));
    let refuted = "wrong.jsonl: the proof is accepted: not linearizable as a queue\n";
    let printed = run(&scratch, "verify-proof wrong.gz wrong.jsonl");
    assert_eq!(printed, (Some(0), refuted.to_owned()));
    let printed = run(&scratch, "verify-proof both.gz h.jsonl wrong.jsonl");
    assert_eq!(printed, (Some(0), [accepted, refuted].concat()));
    let (code, json) = run_json(&scratch, "verify-proof wrong.gz wrong.jsonl");
    assert_eq!(code, Some(0));
    assert_eq!(json["proof"], "accepted");
    assert_eq!(json["verdict"], "not_linearizable");
    assert_eq!(json["operations"], 3);
}

#[test]
fn proofs_of_other_histories_are_refused() {
    let scratch = proven("proofs-of-others");
    for (command, reason) in [
        (
            "verify-proof wrong.gz h.jsonl",
            "the proof is about queue, and the history is register",
        ),
        (
            "verify-proof wrong.gz wrong.jsonl -t stack",
            "the proof is about queue, and the history is stack",
        ),
        (
            "verify-proof both.gz h.jsonl",
            "wrong.jsonl has a proof here, but was not given",
        ),
        (
            "verify-proof h.gz h.jsonl wrong.jsonl",
            "the file has no proof of this history",
        ),
        (
            "verify-proof h.jsonl h.jsonl",
            "here must be the header of a proof",
        ),
    ] {
        let (code, printed) = run(&scratch, command);
        assert_eq!(code, Some(1), "{command}: {printed}");
        assert!(printed.contains(reason), "{command}: {printed}");
    }
    assert_eq!(run(&scratch, "verify-proof none.gz h.jsonl").0, Some(66));
    assert_eq!(run(&scratch, "verify-proof h.gz none.jsonl").0, Some(66));
}

#[test]
fn a_changed_proof_is_refused_with_its_line() {
    let scratch = proven("proofs-changed");
    let proof = lines(&scratch, "wrong.gz");
    let at = proof
        .iter()
        .position(|line| line.contains("\"return\""))
        .expect("a set");
    let mut changed = proof.clone();
    changed[at] = changed[at].replace("[1]", "[2]");
    fs::write(scratch.0.join("changed"), changed.join("\n")).expect("written");
    let (code, printed) = run(&scratch, "verify-proof changed wrong.jsonl");
    assert_eq!(code, Some(1));
    let place = format!("wrong.jsonl: the proof is refused: changed:{}: ", at + 1);
    assert!(printed.starts_with(&place), "{printed}");
    let (code, json) = run_json(&scratch, "verify-proof changed wrong.jsonl");
    assert_eq!((code, &json["line"]), (Some(1), &serde_json::json!(at + 1)));
    assert_eq!(json["proof"], "refused");

    let packed = fs::read(scratch.0.join("wrong.gz")).expect("the proof is there");
    fs::write(scratch.0.join("cut.gz"), &packed[..packed.len() - 12]).expect("written");
    let (code, printed) = run(&scratch, "verify-proof cut.gz wrong.jsonl");
    assert_eq!(code, Some(1), "{printed}");
}

/// Writes `counter.jsonl`, in which so many additions overlap. Every set of them has a sum of its own, and a count is no such
/// sum.
fn write_additions(scratch: &Scratch, additions: usize) {
    let mut file = fs::File::create(scratch.0.join("counter.jsonl")).expect("made");
    writeln!(file, "{{\"linpoint\":1,\"type\":\"counter\"}}").expect("written");
    for i in 0..additions {
        let n = 1 << i;
        let returned = 100 + i;
        writeln!(
            file,
            "{{\"process\":{i},\"method\":\"add\",\"arg\":{n},\"call\":{i},\"return\":{returned}}}"
        )
        .expect("written");
    }
    writeln!(
        file,
        "{{\"process\":20,\"method\":\"get\",\"ret\":-1,\"call\":50,\"return\":60}}"
    )
    .expect("written");
}

/// So many configurations follow at one return that it takes long to check.
#[test]
fn a_limit_ends_the_check_of_a_proof() {
    let scratch = Scratch::new("proofs-within");
    write_additions(&scratch, 20);
    // The proof that `check` does not make.
    let header = r#"{"linpoint-proof":2,"history":"h","type":"counter","params":{},"ties":"invocation-first","operations":21,"split":"keys","parts":1,"verdict":"not linearizable"}"#;
    let part = r#"{"part":0,"operations":21,"verdict":"not linearizable","cut":41,"keep":21,"relax":0,"sets":0}"#;
    let keep = format!("{{\"keep\":[0{}]}}", ",1".repeat(20));
    let proof = [header, part, &keep].join("\n");
    fs::write(scratch.0.join("p"), proof).expect("written");
    let command = "verify-proof p counter.jsonl";
    let timely = format!("{command} --timeout 100ms");
    let reason = "the proof is not checked: the time limit of 100.0 ms came first";
    assert_eq!(
        run(&scratch, &timely),
        (Some(2), format!("counter.jsonl: {reason}\n"))
    );
    let (code, json) = run_json(&scratch, &timely);
    assert_eq!((code, &json["proof"]), (Some(2), &"unchecked".into()));
    if cfg!(target_os = "linux") {
        let (code, printed) = run(&scratch, &format!("{command} --memory 60M"));
        assert_eq!(code, Some(2), "{printed}");
        assert!(printed.contains("the memory limit of"), "{printed}");
    }
}

#[test]
fn a_proof_that_is_too_large_is_not_made() {
    let scratch = Scratch::new("proofs-limit");
    write_additions(&scratch, 17);
    let (code, printed) = run(&scratch, "check counter.jsonl --proof p.gz");
    assert_eq!(code, Some(1), "{printed}");
    let reason = "no proof was made: more than 100000 configurations are possible at a time";
    assert!(printed.contains(reason), "{printed}");
    assert!(
        lines(&scratch, "p.gz")
            .iter()
            .any(|line| line.contains("\"unproven\""))
    );
    let printed = run(&scratch, "verify-proof p.gz counter.jsonl");
    assert_eq!(printed, (Some(2), format!("counter.jsonl: {reason}\n")));
    assert_eq!(scratch.names(), ["counter.jsonl", "h.jsonl", "p.gz", "sub"]);
}

/// Proofs name states by the descriptions of the program, which another run of it must give, too.
#[test]
#[cfg(unix)]
fn proofs_with_a_model_program_are_accepted() {
    let scratch = Scratch::new("proofs-model");
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/models.in");
    let with_model = |command: &str, model: &str| {
        let command = command.replace('@', folder);
        let model = format!("sh {folder}/{model}");
        let mut arguments: Vec<&str> = command.split(' ').collect();
        arguments.extend(["--model-cmd", &model]);
        let output = scratch.run(&arguments);
        let printed = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8(printed).expect("UTF-8"),
        )
    };
    for (history, verdict, code) in [
        ("history", "linearizable", 0),
        ("wrong", "not linearizable", 1),
    ] {
        let check = format!("check @/{history}.jsonl --brief --proof p.gz");
        assert_eq!(with_model(&check, "sink.sh").0, Some(code));
        let verify = format!("verify-proof p.gz @/{history}.jsonl");
        let (_, printed) = with_model(&verify, "sink.sh");
        let accepted = format!("the proof is accepted: {verdict} as a sh ");
        assert!(printed.contains(&accepted), "{printed}");
        let (code, printed) = with_model(&verify, "moody.sh");
        assert!(printed.contains("the proof is about"), "{printed}");
        assert_ne!(code, Some(0));
    }
    let (code, printed) = with_model("check @/wrong.jsonl --proof p.gz", "mute.sh");
    let expected = "does not describe its states, which proofs";
    assert!(printed.contains(expected), "{printed}");
    assert_eq!(code, Some(65));
}
