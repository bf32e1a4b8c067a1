//! The entry: finds the pending operation of a process, the object and key that it is about, and the monitor of these.
//!
//! An object is split by key as [`partition`](crate::history::partition) splits histories: each key has a monitor of its
//! own, which is dropped when it knows no more than a new one. An object of which some operations have a key and others
//! have none is given up.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{
    CannotTell, Finding, Observable, Observed, Online, Op, OpFacts, Stop, Time, Violation, monitor,
};
use crate::error::Error;
use crate::spec::{DecodeError, Kind, Role};
use crate::value::Value;

/// Checks a history while it happens, one event at a time.
///
/// After each event, the question is whether the history so far is linearizable. The events of all processes must be
/// given in the order in which they happened. The object must be one for which there is a [monitor](super): its
/// specification must have a [kind](crate::Spec::kind).
///
/// ```
/// use linpoint::online::Finding;
/// use linpoint::spec::{Kind, Role};
/// use linpoint::{OnlineChecker, Outcomes, Spec};
///
/// /// A counter of visitors. Its kind and roles make it one that can be checked online.
/// struct Visitors;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// enum Op { Enter, Count }
///
/// impl Spec for Visitors {
///     type Op = Op;
///     type Ret = Option<i64>;
///     type State = i64;
///
///     fn init(&self) -> i64 { 0 }
///
///     fn apply(&self, &count: &i64, op: &Op) -> Outcomes<Option<i64>, i64> {
///         match op {
///             Op::Enter => Outcomes::One(None, count + 1),
///             Op::Count => Outcomes::One(Some(count), count),
///         }
///     }
///
///     fn kind(&self) -> Option<Kind> { Some(Kind::Counter(0)) }
///
///     fn role(&self, op: &Op, ret: Option<&Option<i64>>) -> Role {
///         Role::Counts { by: i64::from(*op == Op::Enter), seen: ret.copied().flatten() }
///     }
/// }
///
/// let mut checker = OnlineChecker::new(Visitors)?;
/// checker.call(0, Op::Enter)?;
/// checker.ret(0, None)?;
/// checker.call(1, Op::Count)?;
/// let finding = checker.ret(1, Some(0))?; // the visitor is not counted
/// let Some(Finding::Violation(violation)) = finding else { panic!("missed") };
/// assert_eq!(violation.op.call, Op::Count);
/// assert_eq!(
///     violation.sentence(),
///     "Count → Some(0) by process 1 is too low: 1 operation that raises it had returned before it was called, \
///      so the count was at least 1 when it was called"
/// );
/// # Ok::<(), linpoint::Error>(())
/// ```
///
/// Recorded events of built-in types are checked by the same checker, with an [`ObjectType`](crate::object::ObjectType):
///
/// ```
/// use linpoint::online::Finding;
/// use linpoint::{Call, OnlineChecker, Value, object_type};
///
/// let mut checker = OnlineChecker::new(object_type("register", &Default::default())?)?;
/// checker.call(0.into(), Call::new("write", 1))?;
/// checker.ret(0.into(), Value::Nil)?;
/// checker.call(1.into(), Call::new("read", Value::Nil))?;
/// let finding = checker.ret(1.into(), Value::Nil)?;
/// assert!(matches!(finding, Some(Finding::Violation(_))));
/// # Ok::<(), linpoint::Error>(())
/// ```
pub struct OnlineChecker<O: Observable> {
    object: Arc<O>,
    kind: Kind,
    now: Time,
    operations: u64,
    /// The pending operation of each process.
    pending: HashMap<O::Process, Pending<O>>,
    parts: HashMap<Value, Parts<O>>,
}

impl<O: Observable> fmt::Debug for OnlineChecker<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OnlineChecker({} events)", self.now)
    }
}

/// A pending operation.
struct Pending<O: Observable> {
    op: Op<O>,
    key: Option<Value>,
    crashed: bool,
}

/// One object, split by key.
struct Parts<O: Observable> {
    /// Whether its operations have keys. Either all have one, or none of the keys is used.
    keyed: bool,
    /// The object is not followed any further, whatever the key.
    is_over: bool,
    by_key: HashMap<Option<Value>, Part<O>>,
}

enum Part<O: Observable> {
    Followed(Box<dyn Online<O>>),
    /// A finding was reported.
    Over,
}

impl<O: Observable> OnlineChecker<O> {
    /// A checker of `object`. An error if there is no monitor for its kind.
    pub fn new(object: O) -> Result<Self, Error> {
        let object = Arc::new(object);
        let kind = object.kind();
        let kind = kind
            .filter(|kind| monitor(kind, &object).is_some())
            .ok_or_else(|| {
                Error::usage(
                    "objects of this type can only be checked; those that hold one value, count, serve first in first out or by priority, or are snapshots can be watched",
                )
            })?;
        Ok(OnlineChecker {
            object,
            kind,
            now: 0,
            operations: 0,
            pending: HashMap::new(),
            parts: HashMap::new(),
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

    /// How many operations are pending, those included that will never return.
    pub fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The call of `process` that is pending, if there is one.
    pub fn pending_call(&self, process: &O::Process) -> Option<&O::Call> {
        self.pending.get(process).map(|pending| &pending.op.call)
    }

    /// How many objects or keys are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.parts.values().map(|parts| parts.by_key.len()).sum()
    }

    /// `process` calls an operation.
    ///
    /// Returns an error, and ignores the call, if the process has a pending call or the call is none of this object.
    pub fn call(
        &mut self,
        process: O::Process,
        call: impl Into<O::Call>,
    ) -> Result<Option<Finding<O>>, Error> {
        if let Some(Pending { op, .. }) = self.pending.get(&process) {
            let reason = format!("process {process} calls again while {op} is pending");
            return Err(Error::malformed(reason));
        }
        let call = call.into();
        let facts = self.object.facts(&process, &call, None);
        let facts = facts.map_err(DecodeError::into_error)?;
        self.now += 1;
        self.operations += 1;
        let op = Arc::new(Observed {
            process: process.clone(),
            call,
            called: self.now,
            pending_role: facts.role.clone(),
            result: OnceLock::new(),
        });
        let pending = Pending {
            op: Arc::clone(&op),
            key: facts.key.clone(),
            crashed: false,
        };
        self.pending.insert(process, pending);
        Ok(self.begin(&op, facts))
    }

    /// Tells the monitor of a new operation.
    fn begin(&mut self, op: &Op<O>, facts: OpFacts) -> Option<Finding<O>> {
        let OpFacts { key, role, is_pure } = facts;
        let name = O::object(&op.call);
        let parts = self.parts.entry(name.clone()).or_insert_with(|| Parts {
            keyed: key.is_some(),
            is_over: false,
            by_key: HashMap::new(),
        });
        if parts.is_over {
            return None;
        }
        if parts.keyed != key.is_some() {
            parts.is_over = true;
            parts.by_key.clear();
            return Some(Finding::CannotTell(CannotTell {
                object: name.clone(),
                key: None,
                reason: format!("{op} is about all keys at once, other operations are about one"),
            }));
        }
        let part = parts.by_key.entry(key.clone()).or_insert_with(|| {
            monitor(&self.kind, &self.object).map_or(Part::Over, Part::Followed)
        });
        let Part::Followed(monitor) = part else {
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
        Some(finding(&*self.object, name.clone(), key, stop))
    }

    /// The pending call of `process` returns `ret`.
    ///
    /// Returns an error, and ignores the event, if there is no pending call or the call never answers `ret`.
    pub fn ret(&mut self, process: O::Process, ret: O::Ret) -> Result<Option<Finding<O>>, Error> {
        let op = Arc::clone(&self.find_pending(&process, "returns")?.op);
        let facts = self.object.facts(&process, &op.call, Some(&ret));
        let role = facts.map_err(DecodeError::into_error)?.role;
        // The result is set once: an operation is pending once.
        let _ = op.result.set(ret);
        Ok(self.end(&process, |monitor, op, now| monitor.ret(op, &role, now)))
    }

    /// The pending call of `process` did not take effect, and never will.
    ///
    /// Returns an error, and ignores the event, if there is no pending call.
    pub fn fail(&mut self, process: O::Process) -> Result<Option<Finding<O>>, Error> {
        self.find_pending(&process, "fails")?;
        Ok(self.end(&process, |monitor, op, now| monitor.fail(op, now)))
    }

    /// The pending call of `process` never returns: it may take effect at any later time, or never. The process makes no
    /// further call.
    ///
    /// Returns an error, and ignores the event, if there is no pending call.
    pub fn crash(&mut self, process: O::Process) -> Result<(), Error> {
        let pending = self.find_pending(&process, "crashes")?;
        pending.crashed = true;
        let (op, key) = (Arc::clone(&pending.op), pending.key.clone());
        self.now += 1;
        if let Some(parts) = self.parts.get_mut(O::object(&op.call))
            && let Some(Part::Followed(monitor)) = parts.by_key.get_mut(&key)
        {
            monitor.crash(&op);
        }
        Ok(())
    }

    /// The objects and keys whose verdict depends on what pending operations did.
    pub fn unsettled(&self) -> Vec<CannotTell> {
        let mut all = Vec::new();
        for (name, parts) in &self.parts {
            for (key, part) in &parts.by_key {
                if matches!(part, Part::Followed(monitor) if monitor.is_unsettled()) {
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

    fn find_pending(&mut self, process: &O::Process, what: &str) -> Result<&mut Pending<O>, Error> {
        match self.pending.get_mut(process) {
            Some(pending) if pending.crashed => Err(Error::malformed(format!(
                "process {process} {what} after it crashed"
            ))),
            Some(pending) => Ok(pending),
            None => Err(Error::malformed(format!(
                "process {process} {what} without an open call"
            ))),
        }
    }

    /// Removes the pending operation of `process` and tells its monitor by `tell`.
    fn end(
        &mut self,
        process: &O::Process,
        tell: impl FnOnce(&mut dyn Online<O>, &Op<O>, Time) -> Result<(), Stop<O>>,
    ) -> Option<Finding<O>> {
        self.now += 1;
        let Pending { op, key, .. } = self.pending.remove(process)?;
        let name = O::object(&op.call);
        let parts = self.parts.get_mut(name)?;
        let part = parts.by_key.get_mut(&key)?;
        let Part::Followed(monitor) = part else {
            return None;
        };
        match tell(&mut **monitor, &op, self.now) {
            Ok(()) => {
                if monitor.is_blank() {
                    parts.by_key.remove(&key);
                    if parts.by_key.is_empty() && !parts.is_over {
                        self.parts.remove(name);
                    }
                }
                None
            }
            Err(stop) => {
                *part = Part::Over;
                Some(finding(&*self.object, name.clone(), key, stop))
            }
        }
    }
}

fn finding<O: Observable>(
    watched: &O,
    object: Value,
    key: Option<Value>,
    stop: Stop<O>,
) -> Finding<O> {
    match stop {
        Stop::Violation {
            claim,
            others,
            failed,
        } => {
            let words = watched.vocabulary();
            let claim = match &key {
                Some(key) => claim.at_key(words.keys, key),
                None => claim,
            };
            let Some(op) = claim.op().map(Arc::clone) else {
                unreachable!("bug: {} is about no operation", claim.kind());
            };
            Finding::Violation(Box::new(Violation {
                object,
                key,
                op,
                claim,
                words,
                others,
                failed,
            }))
        }
        Stop::CannotTell(reason) => Finding::CannotTell(CannotTell {
            object,
            key,
            reason,
        }),
    }
}
