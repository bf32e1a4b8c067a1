//! Words by which fields and their values are recognised, in small letters and without marks.

pub(super) const PROCESS: &[&str] = &[
    "process",
    "processid",
    "clientid",
    "client",
    "proc",
    "thread",
    "threadid",
    "worker",
    "workerid",
    "session",
    "sessionid",
    "actor",
    "node",
    "pid",
    "tid",
    "user",
    "who",
];
pub(super) const METHOD: &[&str] = &[
    "method",
    "op",
    "operation",
    "f",
    "function",
    "action",
    "command",
    "cmd",
    "verb",
    "optype",
    "opname",
    "type",
    "kind",
    "name",
];
pub(super) const ARGUMENT: &[&str] = &[
    "argument",
    "arguments",
    "arg",
    "args",
    "input",
    "in",
    "request",
    "req",
    "params",
];
pub(super) const RESULT: &[&str] = &[
    "result", "ret", "output", "out", "response", "resp", "returned", "reply", "answer", "read",
];
pub(super) const VALUE: &[&str] = &["value", "val", "v", "item", "element", "data", "payload"];
pub(super) const KEY: &[&str] = &["key", "k"];
pub(super) const OBJECT: &[&str] = &["object", "obj", "table", "register", "stream", "topic"];
pub(super) const CALL: &[&str] = &[
    "call",
    "start",
    "invoke",
    "begin",
    "invoked",
    "called",
    "started",
    "starttime",
    "calltime",
    "invoketime",
    "begintime",
    "startns",
    "startus",
    "startms",
    "callns",
    "callus",
    "callms",
    "startedat",
    "t0",
    "from",
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
    "endtime",
    "returntime",
    "finishtime",
    "completetime",
    "endns",
    "endus",
    "endms",
    "returnns",
    "returnus",
    "returnms",
    "endedat",
    "finishedat",
    "t1",
    "until",
    "stop",
];
pub(super) const TIME: &[&str] = &[
    "time",
    "timestamp",
    "ts",
    "at",
    "t",
    "when",
    "timens",
    "timeus",
    "timems",
];
pub(super) const EVENT: &[&str] = &["event", "phase", "stage", "type", "kind", "eventtype"];
pub(super) const ID: &[&str] = &[
    "id",
    "opid",
    "operationid",
    "requestid",
    "reqid",
    "callid",
    "correlationid",
    "uuid",
    "seq",
];
pub(super) const STATUS: &[&str] = &["status", "outcome", "state", "ok", "success", "resulttype"];

/// Words for the beginning of an operation, and for its ends.
pub(super) const CALLS: &[&str] = &[
    "call",
    "invoke",
    "start",
    "begin",
    "request",
    "invocation",
    "req",
];
pub(super) const RETURNS: &[&str] = &[
    "return",
    "ok",
    "finish",
    "end",
    "response",
    "complete",
    "completed",
    "done",
    "resp",
    "success",
];
pub(super) const FAILS: &[&str] = &[
    "fail",
    "failed",
    "failure",
    "definitefailure",
    "rejected",
    "false",
    "refused",
    "denied",
];
pub(super) const UNKNOWNS: &[&str] = &[
    "info",
    "unknown",
    "timeout",
    "timedout",
    "crash",
    "indefinitefailure",
    "maybe",
    "error",
    "lost",
];
pub(super) const OKS: &[&str] = &["ok", "success", "succeeded", "done", "true", "200"];
