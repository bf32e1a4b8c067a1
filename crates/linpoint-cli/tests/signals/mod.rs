//! Checks that a run which is asked to end still prints its report.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What is printed, and the exit code, when this signal comes after so long.
fn ended_by(signal: &str, arguments: &[&str], after: Duration) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
    command.args(arguments).stdout(Stdio::piped());
    let mut child = command.spawn().expect("linpoint starts");
    sleep(after);
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", signal, &id]).status();
    assert!(sent.expect("kill is everywhere").success());
    // What does not end is a failure of the test, not a test without an end.
    let started = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if started.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it is ours");
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it has ended");
    (
        String::from_utf8(output.stdout).expect("text"),
        output.status.code(),
    )
}

/// What a command prints, what it says on the standard error, and its exit code, when a signal comes while it waits for
/// its standard input.
fn interrupted_while_reading(arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
    command.args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().expect("linpoint starts");
    // It stays open, so that the input does not end.
    let stdin = child.stdin.take();
    sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(sent.expect("kill is everywhere").success());
    let started = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if started.elapsed() > Duration::from_secs(20) {
            child.kill().expect("it is ours");
        }
        sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("it has ended");
    drop(stdin);
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let code = output.status.code();
    (text(output.stdout), text(output.stderr), code)
}

#[test]
fn a_signal_ends_a_check_that_waits_for_its_input() {
    for style in ["--brief", "--json"] {
        let arguments = ["check", "-", "--threads", "1", style];
        let (printed, said, code) = interrupted_while_reading(&arguments);
        assert_eq!(said, "linpoint: interrupted while reading\n");
        assert_eq!(code, Some(2));
        let is_json = printed.contains("\"interrupted\":true");
        assert_eq!(is_json, style == "--json", "{printed}");
    }
}

#[test]
fn a_signal_ends_the_check_of_a_proof_that_waits_for_its_input() {
    let proof = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cmd/proof.in/queue.proof"
    );
    let (printed, said, code) = interrupted_while_reading(&["verify-proof", proof, "-"]);
    assert_eq!(said, "linpoint: interrupted while reading\n");
    assert_eq!((printed.as_str(), code), ("", Some(2)));
}

#[test]
fn an_interrupted_command_reports() {
    let verify = "verify --algorithm afek-bounded --processes 6 --timeout 60s";
    let arguments: Vec<&str> = verify.split(' ').collect();
    for signal in ["INT", "TERM"] {
        // On a busy machine the first tries may come before the handlers are installed, and then the signal itself ends it.
        let waits = [300, 1000, 5000].map(Duration::from_millis);
        let mut tries = waits.iter().map(|&wait| ended_by(signal, &arguments, wait));
        let (printed, code) = tries
            .find(|(_, code)| code.is_some())
            .expect("it ends with a code of its own");
        assert!(printed.contains("undecided, interrupted"), "{printed}");
        assert_eq!(code, Some(2), "{signal}");
    }
}

/// `timeout` sends its signal twice, to the command and to its group.
#[test]
fn timeout_gets_a_report() {
    let output = Command::new("timeout")
        .args(["2", env!("CARGO_BIN_EXE_linpoint")])
        .args("verify --algorithm afek-bounded --processes 6".split(' '))
        .output()
        .expect("timeout is everywhere");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("undecided, interrupted"), "{printed}");
}

/// The bar is taken away before the verdict is printed, so that the two do not stand on one line.
#[test]
#[cfg(target_os = "linux")]
fn a_verdict_on_a_terminal_begins_a_line() {
    let command = [
        env!("CARGO_BIN_EXE_linpoint"),
        "verify --algorithm afek-bounded --processes 6 --timeout 2s",
    ];
    let output = Command::new("script")
        .args(["-qec", &command.join(" "), "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .expect("script is part of every Linux distribution");
    let printed = String::from_utf8_lossy(&output.stdout);
    let (before, _) = printed
        .split_once("afek-bounded, 6 processes: undecided")
        .unwrap_or_else(|| panic!("no verdict in {printed:?}"));
    assert!(
        !before.contains("\u{1b}[1A"),
        "a bar has one line: {printed:?}"
    );
    let (_, line) = before.rsplit_once('\r').expect("a bar was drawn");
    assert_eq!(line, "\u{1b}[2K", "{printed:?}");
}

/// A check whose model hangs, ignores signals and the end of its input, and has a child of its own that does so too. The file
/// then has the numbers of both processes.
fn with_hanging_model(pids: &std::path::Path) -> std::process::Child {
    let hangs = format!(
        "trap '' INT TERM HUP; echo $$ >>'{0}'; sleep 300 & echo $! >>'{0}'; read -r hello; \
         echo '{{\"linpoint\": 1, \"init\": 0}}'; wait",
        pids.display()
    );
    let history = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/cmd/models.in/history.jsonl"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
    command.args([
        "check",
        history,
        "--model-timeout",
        "100s",
        "--model-cmd",
        &hangs,
    ]);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("linpoint starts")
}

#[test]
#[cfg(target_os = "linux")]
fn a_model_that_hangs_ends_with_linpoint() {
    for signal in ["INT", "KILL"] {
        let name = format!("linpoint-signals-{}-{signal}", std::process::id());
        let file = std::env::temp_dir().join(name);
        let mut child = with_hanging_model(&file);
        let started = Instant::now();
        let pids = loop {
            let pids = std::fs::read_to_string(&file).unwrap_or_default();
            if pids.lines().count() == 2 {
                break pids;
            }
            assert!(started.elapsed() < Duration::from_secs(20));
            sleep(Duration::from_millis(20));
        };
        // By now it has begun to ask.
        sleep(Duration::from_millis(1000));
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.expect("kill is everywhere").success());
        let started = Instant::now();
        let is_running = |pid: &str| std::path::Path::new(&format!("/proc/{pid}")).exists();
        while child.try_wait().expect("it is ours").is_none() || pids.lines().any(is_running) {
            assert!(started.elapsed() < Duration::from_secs(20), "{signal}");
            sleep(Duration::from_millis(20));
        }
        let output = child.wait_with_output().expect("it has ended");
        let said = String::from_utf8_lossy(&output.stderr);
        if signal == "INT" {
            assert!(said.contains("did not answer: interrupted"), "{said}");
            assert_eq!(output.status.code(), Some(65));
        }
        std::fs::remove_file(&file).expect("it is ours");
    }
}

/// A file that is not complete is not left behind.
#[test]
#[cfg(unix)]
fn an_interrupted_command_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;
    let name = format!("linpoint-signals-{}-files", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).expect("it is ours");
    let files = || std::fs::read_dir(&folder).expect("it is ours").count();
    for arguments in [
        "generate --type queue --ops 30000000 --output out.jsonl",
        "convert - --output out.jsonl",
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
        command.args(arguments.split(' ')).current_dir(&folder);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        // It stays open, so that the input does not end.
        let stdin = child.stdin.take();
        let started = Instant::now();
        while files() == 0 {
            assert!(started.elapsed() < Duration::from_secs(20), "{arguments}");
            sleep(Duration::from_millis(20));
        }
        let id = child.id().to_string();
        let sent = Command::new("kill").args(["-s", "INT", &id]).status();
        assert!(sent.expect("kill is everywhere").success());
        let status = child.wait().expect("it is ours");
        assert_eq!((status.signal(), files()), (Some(2), 0), "{arguments}");
        drop(stdin);
    }
    std::fs::remove_dir(&folder).expect("it is empty");
}

/// The verdicts on objects that were decided before the signal are printed.
#[test]
fn a_signal_keeps_verdicts_on_objects() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
    command.args(["check", "-", "--stream", "--jsonl", "--type", "register"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().expect("linpoint starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    let stdout = child.stdout.take().expect("it is piped");
    let printed = std::thread::spawn(move || std::io::read_to_string(stdout).expect("text"));
    for object in 0..100_000 {
        let line = format!(
            "{{\"object\":{object},\"method\":\"write\",\"arg\":1,\"call\":1,\"return\":2}}\n"
        );
        stdin.write_all(line.as_bytes()).expect("it is read");
    }
    stdin.flush().expect("it is read");
    sleep(Duration::from_millis(1500));
    let id = child.id().to_string();
    let sent = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(sent.expect("kill is everywhere").success());
    let code = child.wait().expect("it is ours").code();
    drop(stdin);
    let printed = printed.join().expect("it ends");
    assert_eq!(code, Some(2), "{printed}");
    let mut lines = printed.lines();
    assert!(
        lines
            .next()
            .is_some_and(|line| line.contains("\"input\":\"<stdin>\""))
    );
    let is_right = |line: &str| line.contains("\"verdict\":\"linearizable\"");
    assert!(lines.filter(|line| is_right(line)).count() >= 512);
}

/// Neither an output nor a file of the sort is left behind.
#[test]
fn a_signal_ends_a_sort_without_files() {
    let folder = std::env::temp_dir().join(format!("linpoint-sort-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let output = folder.join("sorted.jsonl");
    let arguments = ["sort", "-", "-o", output.to_str().expect("text")];
    let (printed, said, code) = interrupted_while_reading(&arguments);
    assert_eq!((printed.as_str(), said.as_str(), code), ("", "", None));
    let left = std::fs::read_dir(&folder).expect("a folder").count();
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert_eq!(left, 0);
}
