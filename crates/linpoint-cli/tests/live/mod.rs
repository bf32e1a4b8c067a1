//! `linpoint watch` while its input goes on.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const HEADER: &str = r#"{"linpoint":1,"type":"register","params":{"initial":0}}"#;

/// A read of a value that was never written.
const STALE: [&str; 2] = [
    r#"{"process":1,"event":"call","method":"read"}"#,
    r#"{"process":1,"event":"return","ret":1}"#,
];

fn watch(args: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_linpoint"))
        .arg("watch")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Lines of the output, as they come.
fn lines(child: &mut Child) -> impl FnMut() -> String + use<> {
    let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
    move || {
        let mut line = String::new();
        out.read_line(&mut line).expect("it is text");
        line
    }
}

fn say(input: &mut impl Write, line: &str) {
    let written = writeln!(input, "{line}").and_then(|()| input.flush());
    written.expect("the other end is open");
}

#[test]
fn violations_are_seen_before_the_input_ends() {
    let mut child = watch(&["-"]);
    let mut input = child.stdin.take().unwrap();
    let mut next = lines(&mut child);
    say(&mut input, HEADER);
    STALE.iter().for_each(|line| say(&mut input, line));
    assert_eq!(next(), "<stdin>:3: not linearizable from here on\n");
    // The object is not watched any more, but its operations are counted.
    say(&mut input, STALE[0]);
    drop(input);
    let summary = std::iter::repeat_with(next).find(|line| line.contains("events"));
    let expected = "<stdin>: 3 events, 2 operations, 1 still open, 1 violation\n";
    assert_eq!(summary.as_deref(), Some(expected));
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn growing_files_are_followed() {
    let path = std::env::temp_dir().join(format!("linpoint-follow-{}.jsonl", std::process::id()));
    let mut file = File::create(&path).unwrap();
    say(&mut file, HEADER);
    let mut child = watch(&["--follow", "--first", path.to_str().unwrap()]);
    let mut next = lines(&mut child);
    say(&mut file, STALE[0]);
    // Half a line is none.
    let (begin, rest) = STALE[1].split_at(10);
    write!(file, "{begin}").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it waits");
    say(&mut file, rest);
    assert!(next().ends_with(".jsonl:3: not linearizable from here on\n"));
    assert_eq!(child.wait().unwrap().code(), Some(1));
    std::fs::remove_file(&path).unwrap();
}
