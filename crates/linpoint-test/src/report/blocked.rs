//! Where threads stand when nobody can make progress: in which operation, waiting for what, and who has it.

use crate::check::Test;
use crate::runtime::MAIN;
use crate::runtime::access::Kind;
use crate::runtime::execution::{Execution, Pending};
use crate::runtime::program::qualified_label as name;
use crate::runtime::thread_name;

/// A line for each thread that is in the middle of an operation.
pub(crate) fn of(program: &dyn Test, execution: &Execution) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, thread) in execution.now.threads.iter().enumerate() {
        let Some(op) = thread.op else { continue };
        let lock = |object| {
            let holders = holders(execution, object, index);
            format!("{} that {holders}", described(execution, object))
        };
        let why = match thread.pending {
            Pending::Access {
                object,
                kind: Kind::Acquire,
                ..
            } => format!("waits for {}", lock(object)),
            Pending::Access {
                object,
                kind: Kind::Share,
                ..
            } => format!("waits to read under {}", lock(object)),
            Pending::Access {
                kind: Kind::Take, ..
            } => "is parked, and nobody unparks it".to_owned(),
            Pending::Yield => "spins: nothing changes any more of what it looks at".to_owned(),
            Pending::Wake { mutex, .. } if execution.notifier_of(index).is_some() => {
                format!("was notified, and waits for {}", lock(mutex))
            }
            Pending::Wake { condvar, .. } => format!(
                "waits on a condition variable ({}), and nobody notifies it",
                made(execution, condvar)
            ),
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Guest(_) => "waits; its scheduler does not tell for what".to_owned(),
            _ => "stands".to_owned(),
        };
        let place = thread.location.map_or(String::new(), |location| {
            format!(", at {}:{}", location.file(), location.line())
        });
        lines.push(format!("{} {why}{place}", name(program, op as usize)));
    }
    lines
}

/// A lock, and which one.
fn described(execution: &Execution, object: u32) -> String {
    format!("a lock ({})", made(execution, object))
}

/// Objects have no names; they are told apart by the order in which they were made.
fn made(execution: &Execution, object: u32) -> String {
    let name = execution.objects[object as usize].name;
    let (maker, number) = ((name >> 24) as usize, (name & 0x00FF_FFFF) + 1);
    match maker {
        MAIN => format!("number {number} of what the object is made of"),
        thread if thread < MAIN => format!(
            "number {number} of what thread {} made",
            thread_name(thread)
        ),
        _ => "made elsewhere".to_owned(),
    }
}

/// Who has the lock, in words that follow "that".
fn holders(execution: &Execution, object: u32, asking: usize) -> String {
    let mut holders: Vec<usize> = Vec::new();
    for (position, step) in execution.steps.iter().enumerate() {
        let thread = usize::from(step.thread);
        for access in execution.accesses_of(position) {
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
