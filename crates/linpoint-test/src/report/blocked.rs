//! Describes the threads that wait when no thread can make progress: in which operation, for what, and which thread has it.

use crate::check::Test;
use crate::runtime::access::Kind;
use crate::runtime::execution::{Creator, ObjectName, Trace, Wait};
use crate::runtime::program::qualified_label;
use crate::runtime::thread_name;

/// A line for each thread that is blocked in the middle of an operation.
pub(crate) fn lines(test: &dyn Test, trace: &Trace) -> Vec<String> {
    let line = |blocked: &crate::runtime::execution::BlockedThread| {
        let why = match blocked.wait {
            Wait::Access {
                kind: Kind::Take, ..
            } => "is parked, and no thread unparks it".to_owned(),
            Wait::Access {
                kind: Kind::Pass, ..
            } => "waits for the end of a thread that does not end".to_owned(),
            Wait::Access {
                object,
                name,
                kind,
                notifier,
            } => {
                let waits = match (notifier, kind) {
                    (Some(_), _) => "was notified, and waits for",
                    (None, Kind::Share) => "waits to read under",
                    (None, _) => "waits for",
                };
                let holders = holders(trace, object, blocked.thread);
                format!("{waits} a lock ({}) that {holders}", origin(name))
            }
            Wait::Notification(condvar) => format!(
                "waits on a condition variable ({}), and no thread notifies it",
                origin(condvar)
            ),
            Wait::Change { rounds } => format!(
                "spins: {rounds} rounds without a change by another thread were all the same"
            ),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Wait::Foreign => "waits; its scheduler does not say for what".to_owned(),
        };
        let place = blocked.location.map_or(String::new(), |location| {
            format!(", at {}:{}", location.file(), location.line())
        });
        format!("{} {why}{place}", qualified_label(test, blocked.op))
    };
    trace.blocked().iter().map(line).collect()
}

/// Names an object by the order of construction, since its name in the source is not known.
fn origin(name: ObjectName) -> String {
    let number = name.number();
    match name.creator() {
        Creator::Main => format!("number {number} of what the object is made of"),
        Creator::Worker(thread) => format!(
            "number {number} of what thread {} made",
            thread_name(thread)
        ),
        Creator::Other => "made elsewhere".to_owned(),
    }
}

/// The threads that have a lock, in words that follow "that".
fn holders(trace: &Trace, object: u32, asking: usize) -> String {
    let mut holders: Vec<usize> = Vec::new();
    for (position, step) in trace.steps().iter().enumerate() {
        let thread = usize::from(step.thread);
        for access in trace.accesses_of(position) {
            match access.kind {
                _ if access.object != object => {}
                Kind::Acquire | Kind::Share => holders.push(thread),
                Kind::Release => holders.clear(),
                Kind::Unshare => {
                    if let Some(place) = holders.iter().position(|&holder| holder == thread) {
                        holders.remove(place);
                    }
                }
                _ => {}
            }
        }
    }
    if holders.contains(&asking) {
        return "it holds itself".to_owned();
    }
    let names: Vec<String> = holders.into_iter().map(thread_name).collect();
    match names.as_slice() {
        [] => "was taken before the threads started, and not given back".to_owned(),
        [holder] => format!("thread {holder} holds"),
        holders => format!("threads {} hold", holders.join(", ")),
    }
}
