//! Recorded histories: validated, stored by column, immutable.
//!
//! A history is a set of operations with a total order on their calls and returns. Positions in that order are *ranks*.
//! Invariant: all ranks of a history are distinct, and they are the numbers `0..events`. Operation `a` precedes `b` exactly
//! when `a.ret < b.call`; only `order.rs` makes that comparison. Clocks and equal times matter only until a [`History`] is
//! built.

mod build;
mod changed;
mod columns;
mod erased;
mod event_lines;
mod failed;
mod order;
mod partition;
mod stuck;
mod typed;
mod values;

pub(crate) use build::OperationParts;
pub use build::{Call, HistoryBuilder, Operation};
pub use columns::ONE_OPEN_CALL;
pub(crate) use columns::check_interval;
#[cfg(feature = "parquet")]
pub(crate) use columns::{Columns, Lines, NO_PROCESS, Timed};
pub(crate) use erased::{Erased, ErasedHistory, Erasure};
pub(crate) use event_lines::EventLines;
pub use failed::FailedOp;
pub(crate) use order::{EventKind, Interval, events_in_order, precedes};
#[cfg(feature = "parquet")]
pub(crate) use order::{Ranks, Times};
pub use order::{Shape, Ties};
pub(crate) use partition::partition;
pub use partition::{Part, Partitioning};
pub(crate) use stuck::{Blocking, distinct_blocked};
pub(crate) use typed::decode_action;
pub use typed::{Action, TypedHistory};
#[cfg(feature = "parquet")]
pub(crate) use values::SmallValues;
pub(crate) use values::Values;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Unit};
use crate::spec::{CallView, value_is_result};
use crate::text::shortened;
use crate::value::{Value, ValueId};

/// The rank of the return of a pending operation, which never came. Invariant: it is larger than every other rank, since a
/// history has fewer than 2^32 - 1 events. So a pending operation precedes no other one.
pub const NEVER: u32 = u32::MAX;

/// The number of an operation. Invariant: operations are numbered in the order of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OpId(pub u32);

impl OpId {
    /// The position of this operation in the columns of its history.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a process, in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProcessId(pub u32);

/// The number of an object, in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// The number of a method name, in order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId(pub u32);

/// A recorded history, made by a reader or by a [`HistoryBuilder`].
///
/// Invariant: the operations are in the order of their calls, in all columns, and operations of one process do not overlap.
///
/// ```
/// use linpoint::{HistoryBuilder, Call, Ties, Value};
/// let mut builder = HistoryBuilder::new();
/// builder.call(1, 0.into(), Call::new("write", 5))?;
/// builder.ret(2, &0.into(), Value::Nil)?;
/// let history = builder.finish(Ties::default())?;
/// assert_eq!(history.len(), 1);
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct History {
    process: Vec<ProcessId>,
    /// Empty if the history has one object only.
    object: Vec<ObjectId>,
    method: Vec<MethodId>,
    argument: Vec<ValueId>,
    result: Vec<ValueId>,
    call: Arc<Vec<u32>>,
    ret: Arc<Vec<u32>>,
    line: columns::Lines,
    event_lines: EventLines,
    /// Empty if no operation has a hint.
    hint: Vec<Option<i64>>,
    times: Option<order::Times>,
    processes: Vec<Value>,
    objects: Vec<Value>,
    methods: Vec<String>,
    values: Values,
    annotations: Vec<Annotation>,
    failed: Vec<FailedOp>,
    clients: Clients,
    ends_stuck: bool,
}

/// The client of each process that has a name of its own, since it has calls of a client that overlap others of that client.
pub type Clients = BTreeMap<Value, Value>;

/// An event that is not an operation, such as an injected fault or the restart of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The number of calls and returns before it.
    pub rank: u32,
    /// The text of the input.
    pub text: String,
    /// The time of the event, where the input has it.
    pub time: Option<i64>,
}

impl Annotation {
    /// The text of an annotation that says that the whole system crashed.
    pub(crate) const CRASH: &str = "crash";

    /// Whether it says that the whole system crashed.
    pub(crate) fn is_crash(&self) -> bool {
        self.text == Annotation::CRASH
    }
}

/// One operation of a [`History`], with its original values.
#[derive(Clone, Copy, Debug)]
pub struct Op<'a> {
    /// Its number.
    pub id: OpId,
    /// The process that called it.
    pub process: &'a Value,
    /// The object it was called on; [`Value::Nil`] where the input names none.
    pub object: &'a Value,
    /// The method's name.
    pub method: &'a str,
    /// The argument; a list where there are several, [`Value::Nil`] where there is none.
    pub argument: &'a Value,
    /// The result; `None` while pending.
    pub result: Option<&'a Value>,
    /// The rank of its call.
    pub call: u32,
    /// The rank of its return, or [`NEVER`].
    pub ret: u32,
    /// The line of the input on which it was called, or its row in a table, counted from 1; 0 where unknown.
    pub line: u32,
    /// Recorded times of call and return, where the input has them; a pending operation returns at `i64::MAX`.
    pub times: Option<(i64, i64)>,
    /// Where in the order of its object it took effect, if the input says so; see [`Spec::hint`](crate::Spec::hint).
    pub hint: Option<i64>,
}

impl Op<'_> {
    /// `method(argument)`, with the arguments of a list spread out.
    pub fn call_text(&self) -> String {
        call_text(self.method, self.argument)
    }

    /// `method(argument) → result`.
    pub fn text(&self) -> String {
        match self.result {
            // Nil is shown only if it is a possible result of the method.
            Some(Value::Nil) if !value_is_result(self.method) => self.call_text(),
            Some(result) => format!("{} → {result}", self.call_text()),
            None => format!("{} → ?", self.call_text()),
        }
    }
}

/// `method(argument)`, with the arguments of a list spread out.
pub(crate) fn call_text(method: &str, argument: &Value) -> String {
    match argument {
        Value::Nil => format!("{method}()"),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(Value::to_string).collect();
            format!("{method}({})", items.join(", "))
        }
        argument => format!("{method}({argument})"),
    }
}

impl History {
    /// The number of operations.
    pub fn len(&self) -> usize {
        self.call.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.call.is_empty()
    }

    /// The operation numbered `id`.
    pub fn op(&self, id: OpId) -> Op<'_> {
        let i = id.index();
        let pending = self.ret[i] == NEVER;
        Op {
            id,
            process: &self.processes[self.process[i].0 as usize],
            object: &self.objects[self.object_number(id).0 as usize],
            method: &self.methods[self.method[i].0 as usize],
            argument: &self.values()[self.argument[i].0 as usize],
            result: (!pending).then(|| &self.values()[self.result[i].0 as usize]),
            call: self.call[i],
            ret: self.ret[i],
            line: self.line.of(i),
            times: self.times(i),
            hint: self.hint(id),
        }
    }

    /// The place in the input where an operation was called, if it is known: `on line 7`, or `in row 7` of a table.
    pub fn place(&self, id: OpId) -> Option<String> {
        let is_known = self.line.of(id.index()) != 0;
        is_known.then(|| self.line.place(id.index()))
    }

    /// The place in the input where an operation returned, if calls and returns have lines of their own: `on line 9`.
    pub fn return_place(&self, id: OpId) -> Option<String> {
        let line = self.event_lines.of(self.ret[id.index()])?;
        Some(format!("on line {line}"))
    }

    /// The operation in words, with its process and the place of its call: `deq() → 2 by process 1 (line 5)`.
    pub fn describe(&self, id: OpId) -> String {
        let op = self.op(id);
        let place = match op.line {
            0 => String::new(),
            line => format!(" ({} {line})", self.line_unit()),
        };
        let text = op.text();
        format!("{} by process {}{place}", shortened(&text), op.process)
    }

    /// The unit in which [`Op::line`] counts.
    pub(crate) fn line_unit(&self) -> Unit {
        self.line.unit()
    }

    /// Adds the place of an operation, if it is known, to an error about it.
    pub(crate) fn locate(&self, id: OpId, error: Error) -> Error {
        match self.line.of(id.index()) {
            0 => error,
            _ => self.line.locate(id.index(), error),
        }
    }

    /// Whether some operation says where in the order of its object it took effect.
    pub fn has_hints(&self) -> bool {
        self.hint.iter().any(Option::is_some)
    }

    fn hint(&self, id: OpId) -> Option<i64> {
        self.hint.get(id.index()).copied().flatten()
    }

    /// The recorded times of call and return, where the input has times.
    pub(crate) fn times(&self, row: usize) -> Option<(i64, i64)> {
        let times = self.times.as_ref()?;
        Some((times.call[row], times.ret[row]))
    }

    /// All operations, in the order of their calls.
    pub fn ops(&self) -> impl ExactSizeIterator<Item = Op<'_>> {
        (0..self.len() as u32).map(|i| self.op(OpId(i)))
    }

    /// The operations as a [specification](crate::spec::Recorded) sees them.
    pub(crate) fn recorded_ops(&self) -> impl Iterator<Item = (CallView<'_>, Option<&Value>)> {
        self.ops().map(|op| {
            let call = CallView {
                process: self.client(op.process),
                method: op.method,
                argument: op.argument,
                hint: op.hint,
            };
            (call, op.result)
        })
    }

    /// The ranks of the calls, by operation.
    pub fn calls(&self) -> &[u32] {
        &self.call
    }

    /// The ranks of the returns, by operation; [`NEVER`] for pending ones.
    pub fn rets(&self) -> &[u32] {
        &self.ret
    }

    /// The ranks of calls and returns, without copying them.
    pub(crate) fn shared_ranks(&self) -> (Arc<Vec<u32>>, Arc<Vec<u32>>) {
        (Arc::clone(&self.call), Arc::clone(&self.ret))
    }

    /// The column of processes.
    pub fn process_column(&self) -> &[ProcessId] {
        &self.process
    }

    /// The object that an operation was called on.
    pub fn object_number(&self, id: OpId) -> ObjectId {
        self.object.get(id.index()).copied().unwrap_or(ObjectId(0))
    }

    /// The column of methods.
    pub fn method_column(&self) -> &[MethodId] {
        &self.method
    }

    /// The column of arguments.
    pub fn argument_column(&self) -> &[ValueId] {
        &self.argument
    }

    /// The column of results. The number of a pending operation has no meaning.
    pub fn result_column(&self) -> &[ValueId] {
        &self.result
    }

    /// The processes that called an operation of this history, by number.
    pub fn processes(&self) -> &[Value] {
        &self.processes
    }

    /// The client that the operations of a process are those of: the process itself, unless it has only a part of its client's
    /// calls. Where what a call does depends on its process, it depends on the client.
    pub fn client<'h>(&'h self, process: &'h Value) -> &'h Value {
        self.clients.get(process).unwrap_or(process)
    }

    /// The clients that are not processes themselves, by process.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The same history with these clients.
    #[must_use]
    pub fn with_clients(self, clients: Clients) -> History {
        History { clients, ..self }
    }

    /// The same history, whose only object has this name.
    #[cfg(feature = "parquet")]
    pub(crate) fn on_object(self, object: Value) -> History {
        debug_assert!(self.object.is_empty(), "there are several objects");
        History {
            objects: vec![object],
            ..self
        }
    }

    /// The objects, by number.
    pub fn objects(&self) -> &[Value] {
        &self.objects
    }

    /// The method names, by number.
    pub fn methods(&self) -> &[String] {
        &self.methods
    }

    /// The distinct arguments and results, by number.
    pub fn values(&self) -> &[Value] {
        self.values.list()
    }

    /// The argument or result with this number, without making the list of all.
    pub(crate) fn value(&self, number: u32) -> Cow<'_, Value> {
        let value = self.values.get(number);
        value.unwrap_or_else(|| unreachable!("bug: there is no value {number}"))
    }

    /// The number of distinct arguments and results.
    pub(crate) fn count_values(&self) -> usize {
        self.values.len()
    }

    /// The number of a value, if it occurs.
    pub(crate) fn find_value(&self, wanted: &Value) -> Option<u32> {
        self.values.find(wanted)
    }

    /// The annotations, in the order of time.
    pub fn annotations(&self) -> &[Annotation] {
        &self.annotations
    }

    /// The moments at which the whole system crashed, each as the number of calls and returns before it; see
    /// [`HistoryBuilder::crash_all`].
    pub fn crashes(&self) -> impl Iterator<Item = u32> + '_ {
        let crashes = self.annotations.iter().filter(|note| note.is_crash());
        crashes.map(|note| note.rank)
    }

    /// The operations that failed, in the order of their calls. They are not among [`ops`](Self::ops).
    pub fn failed(&self) -> &[FailedOp] {
        &self.failed
    }

    /// The same history without the operations that failed.
    #[must_use]
    pub(crate) fn without_failed(self) -> History {
        History {
            failed: Vec::new(),
            ..self
        }
    }

    /// The rule for ties under which the recorded times give the order of this history; `None` if it has no times, or if
    /// neither rule gives its order.
    pub fn ties(&self) -> Option<Ties> {
        let times = self.times.as_ref()?;
        [Ties::CallFirst, Ties::ReturnFirst]
            .into_iter()
            .find(|ties| {
                let ranks = ties.rank(times);
                ranks.call == *self.call && ranks.ret == *self.ret
            })
    }

    /// The width, the number of concurrent pairs, and other facts about the real-time order.
    pub fn shape(&self) -> Shape {
        Shape::of(&self.call, &self.ret)
    }
}
