//! What recordings hold, and that they are sound.

use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Command;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::thread;

use linpoint::format::{ReadOptions, parse, read};
use linpoint::spec::Params;
use linpoint::{Checker, History, Verdict, object_type};
use linpoint_record::{Clock, Header, Json, RawJson, Recorder};

fn history(jsonl: &str) -> History {
    let mut read = parse(jsonl.as_bytes(), &ReadOptions::default());
    assert_eq!(read.len(), 1, "{jsonl}");
    read.remove(0).expect("a history").history
}

fn without_times(jsonl: &str) -> Vec<String> {
    let lines = jsonl.lines().skip(1);
    lines
        .map(|line| line.split(",\"time\"").next().expect("a part").to_owned() + "}")
        .collect()
}

/// Whether a queue may have this history.
fn is_queue(jsonl: &str) -> bool {
    let object = object_type("queue", &Params::default()).expect("a type");
    let report = Checker::default()
        .check_recorded(&object, &history(jsonl))
        .expect("a verdict");
    matches!(report.verdict, Verdict::Linearizable(_))
}

/// A file in the folder for tests, which does not exist.
fn new_file(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}.jsonl", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

#[test]
fn ends_are_returned_failed_or_unknown() {
    let recorder = Recorder::in_memory(Header::untyped(), Clock::Counter);
    let mut process = recorder.process();
    process.call_on("x", "write", 1).returned(());
    process.call("write", (1, "a")).failed();
    process.call("read", ()).unknown();
    drop(process.call("read", ()));
    std::mem::forget(process.call("read", RawJson("{\"a\":1}")));
    process.call("read", ()).returned(Some("\u{1}\"\\\n"));
    drop(process);
    let written = without_times(&recorder.finish().unwrap().to_jsonl());
    let expected = [
        r#"{"process":0,"event":"call","method":"write","object":"x","arg":1}"#,
        r#"{"process":0,"event":"return"}"#,
        r#"{"process":0,"event":"call","method":"write","arg":[1,"a"]}"#,
        r#"{"process":0,"event":"fail"}"#,
        r#"{"process":0,"event":"call","method":"read"}"#,
        r#"{"process":0,"event":"crash"}"#,
        r#"{"process":"0/2","event":"call","method":"read"}"#,
        r#"{"process":"0/2","event":"crash"}"#,
        r#"{"process":"0/3","event":"call","method":"read","arg":{"a":1}}"#,
        r#"{"process":"0/3","event":"crash"}"#,
        r#"{"process":"0/4","event":"call","method":"read"}"#,
        r#"{"process":"0/4","event":"return","ret":"\u0001\"\\\n"}"#,
    ];
    assert_eq!(written, expected);
}

/// Every value is read back as what it was.
#[test]
fn values_are_json() {
    let values = [
        i64::MIN.to_json(),
        u64::MAX.to_json(),
        0.1.to_json(),
        f64::NAN.to_json(),
        "ü\t".to_json(),
        [[1], [2]].to_json(),
    ];
    let recorder = Recorder::in_memory("register", Clock::Time);
    let mut process = recorder.process_named("a \"b\"");
    for value in &values {
        process.run("write", RawJson(value), || ());
    }
    drop(process);
    let history = history(&recorder.finish().unwrap().to_jsonl());
    let read: Vec<String> = history.ops().map(|op| op.argument.to_string()).collect();
    assert_eq!(read.len(), values.len());
    assert_eq!(read[0], i64::MIN.to_string());
    assert_eq!(history.processes()[0].to_string(), "\"a \\\"b\\\"\"");
}

#[test]
fn a_process_that_still_records_is_missed() {
    let recorder = Recorder::in_memory("register", Clock::Counter);
    let process = recorder.process();
    let error = recorder.finish().unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 processes still record: drop them first"
    );
    drop(process);
    assert_eq!(recorder.finish().unwrap().events(), 0);
}

#[test]
fn a_panic_leaves_the_operation_open() {
    let recorder = Recorder::in_memory("register", Clock::Time);
    let mut process = recorder.process();
    let panicked =
        thread::spawn(move || process.run("write", 1, || -> () { panic!("as the test wants") }))
            .join();
    assert!(panicked.is_err());
    let lines = without_times(&recorder.finish().unwrap().to_jsonl());
    assert_eq!(lines[1], r#"{"process":0,"event":"crash"}"#);
}

/// A queue that serves the wrong end is told.
#[test]
fn order_is_kept() {
    for clock in [Clock::Counter, Clock::Time] {
        let recorder = Recorder::in_memory("queue", clock);
        let (mut first, mut second) = (recorder.process(), recorder.process());
        first.run("enq", 1, || ());
        second.run("enq", 2, || ());
        first.run("deq", (), || 2);
        drop((first, second));
        let jsonl = recorder.finish().unwrap().to_jsonl();
        assert!(!is_queue(&jsonl), "{jsonl}");
    }
}

/// Threads that use a queue which is right are recorded as a queue, with both clocks and into a file.
#[test]
fn recordings_of_threads_are_sound() {
    for round in 0..30 {
        let file = new_file("threads");
        let recorders = [
            Recorder::in_memory("queue", Clock::Counter),
            Recorder::in_memory("queue", Clock::Time),
            Recorder::create(&file, "queue").unwrap(),
        ];
        for (number, recorder) in recorders.iter().enumerate() {
            let queue = Mutex::new(VecDeque::new());
            thread::scope(|scope| {
                for number in 0..4 {
                    let (mut process, queue) = (recorder.process(), &queue);
                    scope.spawn(move || {
                        for value in 0..50 {
                            let value = 100 * number + value;
                            process.run("enq", value, || queue.lock().unwrap().push_back(value));
                            process.run("deq", (), || queue.lock().unwrap().pop_front());
                        }
                    });
                }
            });
            let recording = recorder.finish().unwrap();
            let jsonl = match number {
                2 => std::fs::read_to_string(&file).unwrap(),
                _ => recording.to_jsonl(),
            };
            assert_eq!(history(&jsonl).len(), 400);
            assert!(is_queue(&jsonl), "round {round}: {jsonl}");
        }
        std::fs::remove_file(file).unwrap();
    }
}

/// Tasks of any runtime: here each is polled in turn. A task that is cancelled leaves its operation open.
#[test]
fn tasks_are_processes() {
    let recorder = Recorder::in_memory("register", Clock::Counter);
    let client = |value: i64| {
        let mut process = recorder.process();
        async move {
            let write = process.call("write", value);
            yield_once().await;
            write.returned(());
        }
    };
    {
        let mut context = Context::from_waker(Waker::noop());
        let (mut first, mut second) = (pin!(client(1)), pin!(client(2)));
        assert!(first.as_mut().poll(&mut context).is_pending());
        assert!(second.as_mut().poll(&mut context).is_pending());
        assert!(first.as_mut().poll(&mut context).is_ready());
    }
    let lines = without_times(&recorder.finish().unwrap().to_jsonl());
    let expected = [
        r#"{"process":0,"event":"call","method":"write","arg":1}"#,
        r#"{"process":1,"event":"call","method":"write","arg":2}"#,
        r#"{"process":0,"event":"return"}"#,
        r#"{"process":1,"event":"crash"}"#,
    ];
    assert_eq!(lines, expected);
}

fn yield_once() -> impl Future<Output = ()> {
    let mut yielded = false;
    std::future::poll_fn(move |_| match std::mem::replace(&mut yielded, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
}

/// Runs this test program again as a child that is killed while it records; the file has what it said before.
#[test]
#[cfg(unix)]
fn a_killed_program_leaves_what_had_returned() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    const FILE: &str = "LINPOINT_RECORD_TEST_FILE";
    if let Some(file) = std::env::var_os(FILE) {
        let recorder = Recorder::create(file, "counter").unwrap();
        let mut process = recorder.process();
        for value in 0.. {
            let add = process.call("inc", ());
            add.returned(value);
            eprintln!("{value}");
        }
    }
    let file = new_file("killed");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_killed_program_leaves_what_had_returned",
            "--nocapture",
        ])
        .env(FILE, &file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let last: u64 = said.take(2_000).last().unwrap().parse().unwrap();
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.ends_with('\n'), "the last line is whole");
    let returned = history(&written)
        .ops()
        .filter(|op| op.result.is_some())
        .count();
    assert!(returned as u64 > last, "{returned} of {last}");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_existing_file_is_refused() {
    let file = new_file("existing");
    Recorder::create(&file, "register").unwrap();
    let error = Recorder::create(&file, "register").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    std::fs::remove_file(file).unwrap();
}

/// When the disk is full, the history ends there and says so.
#[test]
#[cfg(target_os = "linux")]
fn what_cannot_be_written_is_told() {
    // The header does not fit either.
    let error = Recorder::create("/proc/self/nothing", "register").unwrap_err();
    assert_ne!(error.kind(), std::io::ErrorKind::AlreadyExists);
}

#[test]
fn headers_have_type_parameters_and_clock() {
    let file = new_file("header");
    let recorder =
        Recorder::create(&file, Header::of("bounded-queue").param("capacity", 5)).unwrap();
    recorder.note("n1 is killed");
    recorder.process().run("enq", 1, || ());
    recorder.status().unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.starts_with("{\"linpoint\":1,\"type\":\"bounded-queue\",\"params\":{\"capacity\":5},\"clock\":{\"unix\":"), "{written}");
    let history = history(&written);
    assert_eq!(history.annotations()[0].text, "n1 is killed");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn parquet_has_what_the_lines_have() {
    let recorder = Recorder::in_memory("queue", Clock::Counter);
    let mut process = recorder.process();
    process.run("enq", 1, || ());
    process.call("deq", ()).unknown();
    let mut other = recorder.process_named("other");
    other.run("deq", (), || None::<i64>);
    drop((process, other));
    let recording = recorder.finish().unwrap();
    let path = new_file("rows.parquet");
    let mut file = std::fs::File::create(&path).unwrap();
    recording.write_parquet(&mut file).unwrap();
    let mut rows = Vec::new();
    read(&path, &ReadOptions::default(), |history| {
        rows.push(history.unwrap())
    });
    let operations =
        |history: &History| -> Vec<String> { history.ops().map(|op| op.text()).collect() };
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].object_type.as_ref().unwrap().0, "queue");
    let lines = history(&recording.to_jsonl());
    assert_eq!(operations(&rows[0].history), operations(&lines));
    assert_eq!(lines.len(), 3);
}
