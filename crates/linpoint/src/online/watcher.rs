//! Recorded events in, findings out: which process, which object, which key, which monitor.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{Observed, Online, Op, Stop, Time, monitor};
use crate::error::Error;
use crate::format::StreamLine;
use crate::history::Call;
use crate::object::{ObjectType, Reading};
use crate::spec::{CallView, Kind, Role, refused};
use crate::value::Value;

/// Watches a stream of recorded events.
///
/// ```
/// use linpoint::online::{Notice, Watcher};
/// use linpoint::{Call, Value, object_type};
/// let register = object_type("register", &Default::default())?;
/// let mut watcher = Watcher::new(register)?;
/// watcher.call(1, 0.into(), Call::new("write", 1))?;
/// watcher.ret(2, &0.into(), Value::Nil)?;
/// watcher.call(3, 1.into(), Call::new("read", Value::Nil))?;
/// let notice = watcher.ret(4, &1.into(), Value::Nil)?;
/// assert!(matches!(notice, Some(Notice::Violation(_))));
/// # Ok::<(), linpoint::Error>(())
/// ```
pub struct Watcher {
    object_type: ObjectType,
    kind: Kind,
    now: Time,
    operations: u64,
    /// The open operation of each process.
    open: HashMap<Value, Open>,
    objects: HashMap<Value, Object>,
    methods: HashMap<String, Arc<str>>,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watcher({} events)", self.now)
    }
}

/// An open operation.
struct Open {
    op: Op,
    key: Option<Value>,
    crashed: bool,
}

/// What is known of one object.
#[derive(Default)]
struct Object {
    /// Whether its operations have keys; `None` before the first one. Either all have one or none is used.
    keyed: Option<bool>,
    /// It is not watched any more, whatever the key.
    is_over: bool,
    parts: HashMap<Option<Value>, Part>,
}

enum Part {
    Watched(Box<dyn Online>),
    /// It was found bad, or cannot be told.
    Over,
}

/// What an event brought to light.
#[derive(Clone, Debug)]
pub enum Notice {
    /// What happened so far is not linearizable. This object, or key, is not watched any further.
    Violation(Violation),
    /// This object, or key, is used in a way that cannot be watched, and is not watched any further.
    CannotTell(CannotTell),
}

/// A history of an object, or of one key of it, that is not linearizable.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The object; [`Value::Nil`] where the input names none.
    pub object: Value,
    /// The key, where the object is watched by keys.
    pub key: Option<Value>,
    /// The operation whose result is impossible.
    pub op: Arc<Observed>,
    /// Why, in words.
    pub sentence: String,
    /// The operations that contradict it. They are named to find them, and are no proof by themselves.
    pub others: Vec<Arc<Observed>>,
}

/// An object, or one key of it, that cannot be watched.
#[derive(Clone, Debug)]
pub struct CannotTell {
    /// The object; [`Value::Nil`] where the input names none.
    pub object: Value,
    /// The key, where the object is watched by keys.
    pub key: Option<Value>,
    /// Why, in words.
    pub reason: String,
}

impl Watcher {
    /// Watches objects of this type, if there is a monitor for it.
    pub fn new(object_type: ObjectType) -> Result<Self, Error> {
        let kind = object_type.known_as();
        let kind = kind.filter(|kind| monitor(kind).is_some()).ok_or_else(|| {
            Error::usage(
                "objects of this type can only be checked; those that hold one value, count, serve by priority, or are snapshots can be watched",
            )
        })?;
        Ok(Watcher {
            object_type,
            kind,
            now: 0,
            operations: 0,
            open: HashMap::new(),
            objects: HashMap::new(),
            methods: HashMap::new(),
        })
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.now
    }

    /// How many operations were called.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// How many operations are open, those included that will never return.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// How many objects or keys are remembered.
    #[cfg(test)]
    pub(super) fn parts(&self) -> usize {
        self.objects.values().map(|object| object.parts.len()).sum()
    }

    /// Takes one line of a stream that is not a header: each begins another history, which takes another watcher.
    pub fn take(&mut self, line: u64, said: StreamLine) -> Result<Option<Notice>, Error> {
        match said {
            StreamLine::Header { .. } => {
                Err(Error::malformed("another history begins").at_line(line))
            }
            StreamLine::Call { process, call } => self.call(line, process, call),
            StreamLine::Return {
                process,
                method,
                result,
            } => {
                let called = self.open.get(&process).map(|open| &*open.op.method);
                if let (Some(method), Some(called)) = (method.as_deref(), called)
                    && method != called
                {
                    let reason = format!(
                        "process {process} returns from {method:?} but had called {called:?}"
                    );
                    return Err(Error::malformed(reason).at_line(line));
                }
                self.ret(line, &process, result)
            }
            StreamLine::Fail { process } => self.fail(line, &process),
            StreamLine::Crash { process } => self.crash(line, &process).map(|()| None),
            StreamLine::Note(_) => Ok(None),
        }
    }

    /// `process` calls a method.
    pub fn call(&mut self, line: u64, process: Value, call: Call) -> Result<Option<Notice>, Error> {
        let at = |error: Error| error.at_line(line);
        if let Some(Open { op, .. }) = self.open.get(&process) {
            let reason = format!(
                "process {process} calls {:?} while its call of {:?} on line {} is still open",
                call.method, op.method, op.line
            );
            return Err(at(Error::malformed(reason)));
        }
        let view = CallView {
            process: &process,
            method: &call.method,
            argument: &call.argument,
        };
        let reading = self.object_type.reading(view, None);
        let reading = reading.map_err(|reason| at(refused(reason)))?;
        self.now += 1;
        self.operations += 1;
        let method = match self.methods.get(&call.method) {
            Some(method) => Arc::clone(method),
            None => {
                let method: Arc<str> = call.method.as_str().into();
                self.methods.insert(call.method, Arc::clone(&method));
                method
            }
        };
        let op = Arc::new(Observed {
            process: process.clone(),
            object: call.object,
            method,
            argument: call.argument,
            line,
            called: self.now,
            promise: reading.role.clone(),
            result: OnceLock::new(),
        });
        let open = Open {
            op: Arc::clone(&op),
            key: reading.key.clone(),
            crashed: false,
        };
        self.open.insert(process, open);
        Ok(self.begin(&op, reading))
    }

    fn begin(&mut self, op: &Op, reading: Reading) -> Option<Notice> {
        let object = self.objects.entry(op.object.clone()).or_default();
        if object.is_over {
            return None;
        }
        let Reading { key, role, is_pure } = reading;
        let keyed = *object.keyed.get_or_insert(key.is_some());
        if keyed != key.is_some() {
            object.is_over = true;
            object.parts.clear();
            return Some(Notice::CannotTell(CannotTell {
                object: op.object.clone(),
                key: None,
                reason: format!("{op} is about all keys at once, other operations are about one"),
            }));
        }
        let part = object
            .parts
            .entry(key.clone())
            .or_insert_with(|| monitor(&self.kind).map_or(Part::Over, Part::Watched));
        let Part::Watched(monitor) = part else {
            return None;
        };
        let result = if role == Role::Opaque && !is_pure {
            Err(Stop::cannot_tell(format!(
                "what {op} does cannot be watched"
            )))
        } else {
            monitor.call(op)
        };
        let stop = result.err()?;
        *part = Part::Over;
        Some(notice(op.object.clone(), key, stop))
    }

    /// The open call of `process` returns `result`.
    pub fn ret(
        &mut self,
        line: u64,
        process: &Value,
        result: Value,
    ) -> Result<Option<Notice>, Error> {
        let at = |error: Error| error.at_line(line);
        let op = Arc::clone(&self.find_open(line, process, "returns")?.op);
        let view = CallView {
            process,
            method: &op.method,
            argument: &op.argument,
        };
        let reading = self.object_type.reading(view, Some(&result));
        let reading = reading.map_err(|reason| at(refused(reason)))?;
        // It is set once: an operation is open once.
        let _ = op.result.set(result);
        Ok(self.end(process, |monitor, op, now| {
            monitor.ret(op, &reading.role, now)
        }))
    }

    /// The open call of `process` did not happen.
    pub fn fail(&mut self, line: u64, process: &Value) -> Result<Option<Notice>, Error> {
        self.find_open(line, process, "fails")?;
        Ok(self.end(process, |monitor, op, now| monitor.fail(op, now)))
    }

    /// Nobody will ever know what became of the open call of `process`, and the process never calls again.
    pub fn crash(&mut self, line: u64, process: &Value) -> Result<(), Error> {
        let open = self.find_open(line, process, "crashes")?;
        open.crashed = true;
        let (op, key) = (Arc::clone(&open.op), open.key.clone());
        self.now += 1;
        if let Some(object) = self.objects.get_mut(&op.object)
            && let Some(Part::Watched(monitor)) = object.parts.get_mut(&key)
        {
            monitor.crash(&op);
        }
        Ok(())
    }

    /// The objects and keys about which more would be known if what is open had returned.
    pub fn unsettled(&self) -> Vec<CannotTell> {
        let mut all = Vec::new();
        for (name, object) in &self.objects {
            for (key, part) in &object.parts {
                if matches!(part, Part::Watched(monitor) if monitor.is_unsettled()) {
                    all.push(CannotTell {
                        object: name.clone(),
                        key: key.clone(),
                        reason: "whether all results are right depends on what operations did that are still open"
                            .to_owned(),
                    });
                }
            }
        }
        all.sort_by(|a, b| (&a.object, &a.key).cmp(&(&b.object, &b.key)));
        all
    }

    fn find_open(&mut self, line: u64, process: &Value, what: &str) -> Result<&mut Open, Error> {
        let refuse = |reason| Err(Error::malformed(reason).at_line(line));
        match self.open.get_mut(process) {
            Some(open) if open.crashed => {
                refuse(format!("process {process} {what} after it crashed"))
            }
            Some(open) => Ok(open),
            None => refuse(format!("process {process} {what} without an open call")),
        }
    }

    /// The open operation of `process` is over, and its monitor is told by `tell`.
    fn end(
        &mut self,
        process: &Value,
        tell: impl FnOnce(&mut dyn Online, &Op, Time) -> Result<(), Stop>,
    ) -> Option<Notice> {
        self.now += 1;
        let Open { op, key, .. } = self.open.remove(process)?;
        let object = self.objects.get_mut(&op.object)?;
        let part = object.parts.get_mut(&key)?;
        let Part::Watched(monitor) = part else {
            return None;
        };
        match tell(&mut **monitor, &op, self.now) {
            Ok(()) => {
                if monitor.is_blank() {
                    object.parts.remove(&key);
                    if object.parts.is_empty() && !object.is_over {
                        self.objects.remove(&op.object);
                    }
                }
                None
            }
            Err(stop) => {
                *part = Part::Over;
                Some(notice(op.object.clone(), key, stop))
            }
        }
    }
}

fn notice(object: Value, key: Option<Value>, stop: Stop) -> Notice {
    match stop {
        Stop::Violation {
            op,
            sentence,
            others,
        } => Notice::Violation(Violation {
            object,
            key,
            op,
            sentence,
            others,
        }),
        Stop::CannotTell(reason) => Notice::CannotTell(CannotTell {
            object,
            key,
            reason,
        }),
    }
}
