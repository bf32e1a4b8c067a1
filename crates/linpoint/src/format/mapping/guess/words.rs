//! Words by which fields and their values are recognised, in small letters and without marks.

pub(super) const PROCESS: &[&str] = &[
    "process",
    "processid",
    "clientid",
    "client",
    "clientname",
    "proc",
    "procid",
    "thread",
    "threadid",
    "goroutine",
    "goroutineid",
    "worker",
    "workerid",
    "task",
    "taskid",
    "session",
    "sessionid",
    "connection",
    "connectionid",
    "conn",
    "connid",
    "actor",
    "caller",
    "agent",
    "node",
    "cid",
    "pid",
    "tid",
    "gid",
    "user",
    "who",
    "p",
    "c",
];
pub(super) const METHOD: &[&str] = &[
    "method",
    "op",
    "operation",
    "operationname",
    "f",
    "fn",
    "function",
    "func",
    "action",
    "command",
    "cmd",
    "verb",
    "optype",
    "opname",
    "opkind",
    "api",
    "rpc",
    "type",
    "kind",
    "name",
    "call",
    "what",
];
pub(super) const ARGUMENT: &[&str] = &[
    "argument",
    "arguments",
    "arg",
    "args",
    "argv",
    "input",
    "inputs",
    "in",
    "request",
    "req",
    "params",
];
pub(super) const RESULT: &[&str] = &[
    "result",
    "results",
    "ret",
    "retval",
    "rv",
    "returnvalue",
    "output",
    "out",
    "response",
    "resp",
    "res",
    "returned",
    "reply",
    "answer",
    "got",
    "observed",
    "read",
];
pub(super) const VALUE: &[&str] = &[
    "value", "val", "v", "item", "element", "elem", "data", "payload", "body",
];
pub(super) const KEY: &[&str] = &["key", "k"];
/// What a compare-and-set expects, and what it writes.
pub(super) const EXPECTED: &[&str] = &[
    "old", "expected", "expect", "oldvalue", "from", "prev", "previous",
];
pub(super) const REPLACEMENT: &[&str] = &["new", "newvalue", "to", "desired", "update"];
pub(super) const OBJECT: &[&str] = &["object", "obj", "table", "register", "stream", "topic"];

/// Words for the times of calls and returns, with marks of a time (`startTimeNs`, `t_start`) or without.
pub(super) const CALL: &[&str] = &[
    "call",
    "start",
    "invoke",
    "begin",
    "invoked",
    "called",
    "started",
    "issued",
    "submitted",
    "sent",
    "st",
    "t0",
    "ts0",
    "t1",
    "from",
    "s",
    "b",
];
pub(super) const RETURN: &[&str] = &[
    "return",
    "end",
    "finish",
    "complete",
    "completed",
    "returned",
    "finished",
    "ended",
    "received",
    "recv",
    "replied",
    "answered",
    "acked",
    "et",
    "t1",
    "ts1",
    "t2",
    "until",
    "stop",
    "stopped",
    "e",
];
/// Words that name a time only together with a mark of one: `request_ts`, but not `request`.
pub(super) const MARKED_CALL: &[&str] = &[
    "request",
    "req",
    "send",
    "issue",
    "submit",
    "inv",
    "invocation",
];
pub(super) const MARKED_RETURN: &[&str] = &[
    "response",
    "resp",
    "reply",
    "receive",
    "rcv",
    "ret",
    "ack",
    "done",
    "fin",
    "completion",
];
pub(super) const TIME: &[&str] = &["time", "timestamp", "ts", "at", "t", "when", "date"];
pub(super) const DURATION: &[&str] = &[
    "duration",
    "dur",
    "elapsed",
    "latency",
    "took",
    "rtt",
    "responsetime",
];
/// Marks of a time at the end of a name, and at its beginning.
pub(super) const TIME_ENDINGS: &[&str] = &[
    "timestamp",
    "time",
    "ts",
    "at",
    "unix",
    "epoch",
    "nanos",
    "micros",
    "millis",
    "nano",
    "micro",
    "milli",
    "seconds",
    "secs",
    "sec",
    "ns",
    "us",
    "ms",
];
pub(super) const TIME_BEGINNINGS: &[&str] = &["timestamp", "time", "ts", "t"];
/// Units by the endings of names.
pub(super) const UNITS: &[(&str, &str)] = &[
    ("ns", "ns"),
    ("us", "us"),
    ("ms", "ms"),
    ("nanos", "ns"),
    ("nano", "ns"),
    ("micros", "us"),
    ("millis", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("seconds", "s"),
];

pub(super) const EVENT: &[&str] = &["event", "phase", "ph", "stage", "type", "kind", "eventtype"];
pub(super) const ID: &[&str] = &[
    "id",
    "opid",
    "operationid",
    "requestid",
    "reqid",
    "callid",
    "correlationid",
    "spanid",
    "uuid",
    "seq",
];
pub(super) const STATUS: &[&str] = &[
    "status",
    "outcome",
    "state",
    "ok",
    "success",
    "resulttype",
    "statuscode",
    "code",
];
/// A field that is there only if something went wrong.
pub(super) const ERROR: &[&str] = &["error", "err", "exception", "errormessage"];

/// Words for the beginning of an operation, and for its ends.
pub(super) const CALLS: &[&str] = &[
    "call",
    "invoke",
    "invoked",
    "start",
    "started",
    "begin",
    "request",
    "invocation",
    "req",
    "send",
    "sent",
    "enter",
    "b",
];
pub(super) const RETURNS: &[&str] = &[
    "return",
    "returned",
    "ok",
    "finish",
    "finished",
    "end",
    "ended",
    "response",
    "reply",
    "complete",
    "completed",
    "done",
    "resp",
    "success",
    "received",
    "recv",
    "exit",
    "e",
];
pub(super) const FAILS: &[&str] = &[
    "fail",
    "failed",
    "failure",
    "definitefailure",
    "rejected",
    "refused",
    "denied",
];
pub(super) const UNKNOWNS: &[&str] = &[
    "info",
    "unknown",
    "timeout",
    "timedout",
    "timed",
    "crash",
    "crashed",
    "indefinitefailure",
    "maybe",
    "error",
    "lost",
    "false",
];
pub(super) const OKS: &[&str] = &["ok", "success", "succeeded", "done", "true", "200"];

/// A name without marks, in small letters: `client_id` is `clientid`.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_ascii_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

/// The words of a name: those of `opStarted` and `OP_STARTED` are `op` and `started`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        let begins = !c.is_ascii_alphanumeric() || (was_small && c.is_ascii_uppercase());
        if begins {
            words.push(String::new());
        }
        was_small = c.is_ascii_lowercase();
        if let (true, Some(word)) = (c.is_ascii_alphanumeric(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The place of the first list that has this name, or else of the first one that has one of its words.
pub(super) fn list_with(name: &str, lists: &[(&str, &[&str])]) -> Option<usize> {
    let plain = plain(name);
    let whole = lists
        .iter()
        .position(|(_, list)| list.contains(&plain.as_str()));
    whole.or_else(|| {
        let words = words(name);
        let is_negated = words.iter().any(|word| word == "not" || word == "no");
        let has_one = |list: &[&str]| {
            words.len() > 1 && words.iter().any(|word| list.contains(&word.as_str()))
        };
        lists
            .iter()
            .position(|(_, list)| !is_negated && has_one(list))
    })
}

/// What a plain name says besides that it is a time: of `tstartns`, the names `tstart` and `start` among others.
pub(super) fn without_time(name: &str) -> Vec<&str> {
    let mut shorter = vec![name];
    let mut rest = name;
    let cut = |rest: &'_ str| {
        let endings = TIME_ENDINGS.iter();
        let mut cuts =
            endings.filter_map(|ending| Some(rest.len() - rest.strip_suffix(ending)?.len()));
        cuts.find(|&length| length < rest.len())
    };
    while let Some(length) = cut(rest) {
        rest = &rest[..rest.len() - length];
        shorter.push(rest);
    }
    for i in 0..shorter.len() {
        let beginnings = TIME_BEGINNINGS.iter();
        shorter.extend(
            beginnings
                .filter_map(|beginning| shorter[i].strip_prefix(beginning))
                .collect::<Vec<_>>(),
        );
    }
    shorter.remove(0);
    // The shortest names are names of times in themselves: `ts` is no `s`.
    shorter.retain(|name| name.len() > 2);
    shorter
}
