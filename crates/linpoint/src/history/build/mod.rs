//! Builds a history from events or whole operations: pairs calls with returns and refuses malformed input with an error that
//! names the line.

use super::columns::{Columns, Lines, NO_PROCESS, ONE_OPEN_CALL, Timed, check_interval};
use super::event_lines::EventLines;
use super::order::{EventKind, Ranks, Times};
use super::{Annotation, FailedOp, History, MethodId, NEVER, ObjectId, ProcessId, Ties};
use crate::budget::{Budget, Pace};
use crate::error::Error;
use crate::value::{Interner, Value, ValueId, ValueRef, ValueTable};

/// A call: object, method and argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The object; [`Value::Nil`] if the input has one object only.
    pub object: Value,
    /// The method's name.
    pub method: String,
    /// The argument; a list of several arguments; [`Value::Nil`] for none.
    pub argument: Value,
}

impl Call {
    /// A call on the only object of the history.
    pub fn new(method: impl Into<String>, argument: impl Into<Value>) -> Self {
        Call {
            object: Value::Nil,
            method: method.into(),
            argument: argument.into(),
        }
    }

    /// The same call on a named object.
    #[must_use]
    pub fn on(mut self, object: impl Into<Value>) -> Self {
        self.object = object.into();
        self
    }
}

/// A whole operation with times, for inputs that record times instead of ordered events.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The process. If it is `None`, the builder chooses a process whose other operations do not overlap this one.
    pub process: Option<Value>,
    /// The call.
    pub call: Call,
    /// The result; ignored for a pending operation.
    pub result: Value,
    /// The time of the call.
    pub called: i64,
    /// The time of the return; `None` for a pending operation.
    pub returned: Option<i64>,
}

/// An [`Operation`] with borrowed names and texts, so that a reader need not allocate them for each line.
#[derive(Debug)]
pub(crate) struct OperationParts<'a> {
    pub(crate) process: Option<ValueRef<'a>>,
    pub(crate) object: ValueRef<'a>,
    pub(crate) method: &'a str,
    pub(crate) argument: ValueRef<'a>,
    pub(crate) result: ValueRef<'a>,
    pub(crate) called: i64,
    pub(crate) returned: Option<i64>,
}

/// An operation of a history that is being built. The numbers refer to the tables of the builder.
#[derive(Clone, Copy)]
struct Row {
    process: u32,
    object: u32,
    method: u32,
    argument: u32,
    result: u32,
    line: u32,
    state: RowState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RowState {
    Pending,
    Returned,
    /// The operation did not take effect, and is left out of the columns of the history.
    Failed,
}

/// A call or a return of a row: `2 * row`, plus 1 for a return.
#[derive(Clone, Copy)]
struct RowEvent(u32);

impl RowEvent {
    fn call(row: u32) -> Self {
        RowEvent(2 * row)
    }

    fn ret(row: u32) -> Self {
        RowEvent(2 * row + 1)
    }

    fn row(self) -> usize {
        (self.0 / 2) as usize
    }

    fn kind(self) -> EventKind {
        match self.0 % 2 {
            0 => EventKind::Call,
            _ => EventKind::Return,
        }
    }
}

/// In the clock: the time of a failure that was recorded without one.
const NO_TIME: i64 = i64::MAX;

/// Builds a [`History`] from events or whole operations.
///
/// The caller adds either events in the order of time ([`call`](Self::call), [`ret`](Self::ret), [`fail`](Self::fail),
/// [`crash`](Self::crash)), or whole operations with times ([`operation`](Self::operation)), but not both. Line numbers
/// start at 1 and are used in messages only.
#[derive(Default)]
pub struct HistoryBuilder {
    rows: Vec<Row>,
    /// Calls and returns in the order of time. Empty if whole operations are added.
    events: Vec<RowEvent>,
    /// The lines of these.
    event_lines: EventLines,
    /// The times of the first events, up to the first event without a time.
    clock: Vec<i64>,
    /// The times of calls and returns by row. Empty if events are added.
    times: Times,
    /// Rows with their hints, and the row of the last call, return or crash.
    hints: Vec<(u32, i64)>,
    last_row: u32,
    /// The open row of each process, by process number.
    open: Vec<Option<u32>>,
    processes: Interner<Value>,
    objects: ValueTable,
    methods: Interner<String>,
    values: ValueTable,
    /// Failed operations with times, whose ranks are set when the history is finished.
    failed: Vec<FailedOp>,
    /// Annotations. Until the history is finished, the rank of each is the number of events before it.
    annotations: Vec<Annotation>,
    /// Whether the history ends stuck, and the line of the first crash: they do not go together.
    ends_stuck: bool,
    crash_line: Option<u64>,
    /// What bounds the memory, and when to look at it again.
    budget: Option<Budget>,
    pace: Pace,
}

impl std::fmt::Debug for HistoryBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HistoryBuilder({} operations)", self.rows.len())
    }
}

impl HistoryBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty builder that refuses what exceeds the memory of `budget`.
    pub(crate) fn within(budget: Budget) -> Self {
        HistoryBuilder {
            budget: Some(budget),
            ..Self::default()
        }
    }

    /// Looks at the memory in use now and then. Must be called whenever the history grows.
    fn grow(&mut self, line: u64) -> Result<(), Error> {
        let Some(budget) = &self.budget else {
            return Ok(());
        };
        let allowed = self.pace.step(budget);
        allowed.map_err(|limit| Error::limit(limit).at_line(line))
    }

    /// The number of operations that were called so far.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no operation was called.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// `process` calls a method.
    pub fn call(&mut self, line: u64, process: Value, call: Call) -> Result<(), Error> {
        if !self.times.call.is_empty() {
            return Err(Error::malformed(
                "events and whole operations cannot be mixed in one history",
            )
            .at_line(line));
        }
        let process = self.processes.intern(process);
        if self.open.len() <= process as usize {
            self.open.resize(process as usize + 1, None);
        }
        if let Some(row) = self.open[process as usize] {
            let earlier = self.rows[row as usize];
            let reason = format!(
                "process {} calls {:?} while its call of {:?} on line {} is still open: {ONE_OPEN_CALL}",
                self.processes.get(process),
                call.method,
                self.methods.get(earlier.method),
                earlier.line,
            );
            return Err(Error::malformed(reason).at_line(line));
        }
        let (object, argument) = (call.object.into(), call.argument.into());
        let row = self.push_row(line, process, object, &call.method, argument)?;
        self.open[process as usize] = Some(row);
        self.events.push(RowEvent::call(row));
        self.event_lines.push(line);
        Ok(())
    }

    /// The open call of `process` returns `result`.
    pub fn ret(&mut self, line: u64, process: &Value, result: Value) -> Result<(), Error> {
        self.grow(line)?;
        let row = self.close(line, process, "returns")?;
        let result = self.values.intern(result.into());
        let row_data = &mut self.rows[row as usize];
        row_data.result = result;
        row_data.state = RowState::Returned;
        self.last_row = row;
        self.events.push(RowEvent::ret(row));
        self.event_lines.push(line);
        Ok(())
    }

    /// The open call of `process` did not take effect: it is no operation of the history, which keeps it beside them, see
    /// [`History::failed`].
    pub fn fail(&mut self, line: u64, process: &Value) -> Result<(), Error> {
        let row = self.close(line, process, "fails")?;
        self.rows[row as usize].state = RowState::Failed;
        if self.clock.len() == self.events.len() && !self.clock.is_empty() {
            // The times of the operations are kept even if that of the failure is missing.
            self.clock.push(NO_TIME);
        }
        self.events.push(RowEvent::ret(row));
        self.event_lines.push(line);
        Ok(())
    }

    /// It is unknown whether the open call of `process` took effect: it stays pending. The process must not call again.
    pub fn crash(&mut self, line: u64, process: &Value) -> Result<(), Error> {
        self.last_row = self.open_row(line, process, "crashes")?;
        self.crash_line.get_or_insert(line);
        Ok(())
    }

    /// The whole system crashes: all open calls stay pending, and their processes must not call again. An annotation says so, which
    /// [strict linearizability](crate::condition::Condition::Strict) asks for.
    pub fn crash_all(&mut self, line: u64, time: Option<i64>) -> Result<(), Error> {
        let open = (0u32..).zip(&self.open).filter(|(_, row)| row.is_some());
        let open: Vec<Value> = open
            .map(|(process, _)| self.processes.get(process).clone())
            .collect();
        for process in open {
            self.crash(line, &process)?;
        }
        self.annotate_at(Annotation::CRASH, time);
        Ok(())
    }

    /// The history ends stuck: every operation that is pending at its end waits, and will wait for ever. At least one must be
    /// pending, and none may have crashed, which leaves open whether it took effect. See [`History::ends_stuck`].
    pub fn end_stuck(&mut self) {
        self.ends_stuck = true;
    }

    /// The method and argument of the open call of `process`.
    pub fn open_call(&self, process: &Value) -> Option<(&str, &Value)> {
        let row = self.find_open(process)?;
        let row = self.rows[row as usize];
        Some((self.methods.get(row.method), self.values.get(row.argument)))
    }

    /// Replaces the argument of the open call of `process`, for inputs that record the argument with the return.
    pub fn set_argument(
        &mut self,
        line: u64,
        process: &Value,
        argument: Value,
    ) -> Result<(), Error> {
        let row = self.open_row(line, process, "returns")?;
        self.rows[row as usize].argument = self.values.intern(argument.into());
        Ok(())
    }

    /// Sets the time of the last call, return or failure. Times are kept only if every call and return has one. They do not
    /// change the order of the events.
    pub fn at(&mut self, time: i64) {
        if self.clock.len() + 1 == self.events.len() {
            self.clock.push(time);
        } else if self.clock.len() == self.events.len()
            && let Some(last @ &mut NO_TIME) = self.clock.last_mut()
        {
            *last = time;
        }
    }

    /// Says where in the order of its object the operation took effect whose call, return or crash was added last; see
    /// [`Spec::hint`](crate::Spec::hint).
    pub fn hint(&mut self, hint: i64) {
        self.hints.push((self.last_row, hint));
    }

    /// Adds an annotation after the last event.
    pub fn annotate(&mut self, text: impl Into<String>) {
        self.annotate_at(text, None);
    }

    /// Adds an annotation after the last event, with the time of what it tells, where that is known.
    pub fn annotate_at(&mut self, text: impl Into<String>, time: Option<i64>) {
        self.annotations.push(Annotation {
            rank: self.events.len() as u32,
            text: text.into(),
            time,
        });
    }

    /// Adds a whole operation.
    pub fn operation(&mut self, line: u64, operation: Operation) -> Result<(), Error> {
        let Operation {
            process,
            call,
            result,
            called,
            returned,
        } = operation;
        self.operation_parts(
            line,
            OperationParts {
                process: process.map(ValueRef::from),
                object: call.object.into(),
                method: &call.method,
                argument: call.argument.into(),
                result: result.into(),
                called,
                returned,
            },
        )
    }

    /// Adds a whole operation with borrowed parts.
    pub(crate) fn operation_parts(
        &mut self,
        line: u64,
        operation: OperationParts<'_>,
    ) -> Result<(), Error> {
        if !self.events.is_empty() {
            return Err(Error::malformed(
                "events and whole operations cannot be mixed in one history",
            )
            .at_line(line));
        }
        let OperationParts {
            process,
            object,
            method,
            argument,
            result,
            called,
            returned,
        } = operation;
        if let Some(returned) = returned {
            check_interval(method, called, returned).map_err(|error| error.at_line(line))?;
        }
        let process = process.map_or(NO_PROCESS.0, |process| {
            self.processes.intern(match process {
                ValueRef::Text(text) => Value::from(text),
                ValueRef::Value(value) => value,
            })
        });
        let row = self.push_row(line, process, object, method, argument)?;
        if returned.is_some() {
            let result = self.values.intern(result);
            let row_data = &mut self.rows[row as usize];
            row_data.result = result;
            row_data.state = RowState::Returned;
        }
        self.times.call.push(called);
        self.times.ret.push(returned.unwrap_or(i64::MAX));
        self.times.pending.push(returned.is_none());
        Ok(())
    }

    /// Adds a whole operation that did not take effect: it is no operation of the history, which keeps it beside them, see
    /// [`History::failed`]. The caller must not let it overlap or touch another operation of its process.
    pub fn failed_operation(&mut self, line: u64, operation: Operation) -> Result<(), Error> {
        self.grow(line)?;
        let Operation {
            process,
            call,
            result: _,
            called,
            returned,
        } = operation;
        if let Some(returned) = returned {
            check_interval(&call.method, called, returned).map_err(|error| error.at_line(line))?;
        }
        self.failed.push(FailedOp {
            process: process.unwrap_or_default(),
            call,
            line: u32::try_from(line).unwrap_or(0),
            called: 0,
            failed: 0,
            times: (Some(called), returned),
        });
        Ok(())
    }

    /// Returns the finished history. `ties` is used only for whole operations with times.
    pub fn finish(mut self, ties: Ties) -> Result<History, Error> {
        /// What ordering an operation takes besides the operation itself.
        const BYTES: u64 = 64;
        if let Some(budget) = self.budget.take() {
            let allowed = budget.reserve_for(self.rows.len(), BYTES);
            allowed.map_err(Error::limit)?;
        }
        let ends_stuck = self.ends_stuck;
        if ends_stuck && let Some(line) = self.crash_line {
            let reason = "an operation crashes in a history that ends stuck: there, what is pending waits and took no effect";
            return Err(Error::malformed(reason).at_line(line));
        }
        let history = self.finish_columns(ties)?;
        match ends_stuck {
            true => history.ending_stuck(),
            false => Ok(history),
        }
    }

    fn finish_columns(mut self, ties: Ties) -> Result<History, Error> {
        if self.times.call.is_empty() && self.failed.is_empty() {
            let ranks = self.rank_events();
            let times = self.times_of_events();
            return Ok(self.into_columns().ordered(ranks, times));
        }
        let failed = rank_failed(std::mem::take(&mut self.failed), &self.times);
        let timed = Timed::new(std::mem::take(&mut self.times), ties);
        let mut columns = self.into_columns();
        columns.failed.extend(failed);
        columns.timed(timed)
    }

    fn push_row(
        &mut self,
        line: u64,
        process: u32,
        object: ValueRef<'_>,
        method: &str,
        argument: ValueRef<'_>,
    ) -> Result<u32, Error> {
        self.grow(line)?;
        if self.rows.len() >= Columns::MOST_ROWS {
            return Err(Columns::too_many().at_line(line));
        }
        let row = self.rows.len() as u32;
        self.last_row = row;
        self.rows.push(Row {
            process,
            object: self.objects.intern(object),
            method: match self.methods.find(method) {
                Some(method) => method,
                None => self.methods.intern(method.to_owned()),
            },
            argument: self.values.intern(argument),
            result: 0,
            line: u32::try_from(line).unwrap_or(0),
            state: RowState::Pending,
        });
        Ok(row)
    }

    fn find_open(&self, process: &Value) -> Option<u32> {
        let process = self.processes.find(process)?;
        *self.open.get(process as usize)?
    }

    fn open_row(&self, line: u64, process: &Value, what: &str) -> Result<u32, Error> {
        self.find_open(process).ok_or_else(|| {
            Error::malformed(format!("process {process} {what} without an open call")).at_line(line)
        })
    }

    fn close(&mut self, line: u64, process: &Value, what: &str) -> Result<u32, Error> {
        let row = self.open_row(line, process, what)?;
        self.open[self.rows[row as usize].process as usize] = None;
        Ok(row)
    }

    /// The ranks of the events of all operations that did not fail.
    fn rank_events(&mut self) -> Ranks {
        let mut call = vec![NEVER; self.rows.len()];
        let mut ret = call.clone();
        let mut rank = 0;
        let mut annotations = self.annotations.iter_mut().peekable();
        for (position, &event) in (0u32..).zip(&self.events) {
            while let Some(note) = annotations.next_if(|note| note.rank <= position) {
                note.rank = rank;
            }
            let row = event.row();
            if self.rows[row].state == RowState::Failed {
                continue;
            }
            match event.kind() {
                EventKind::Call => call[row] = rank,
                EventKind::Return => ret[row] = rank,
            }
            rank += 1;
        }
        annotations.for_each(|note| note.rank = rank);
        let all = (0u32..).zip(&self.events);
        let happened = all.filter(|(_, event)| self.rows[event.row()].state != RowState::Failed);
        self.event_lines = match rank as usize == self.events.len() {
            true => std::mem::take(&mut self.event_lines),
            false => self
                .event_lines
                .picked(happened.map(|(position, _)| position)),
        };
        let mut happened = self.rows.iter().map(|row| row.state != RowState::Failed);
        ret.retain(|_| happened.next().unwrap_or_default());
        call.retain(|&rank| rank != NEVER);
        Ranks { call, ret }
    }

    /// The times of all operations that did not fail, if every event has a time.
    fn times_of_events(&self) -> Option<Times> {
        if self.clock.len() < self.events.len() || self.clock.is_empty() {
            return None;
        }
        let mut call = vec![i64::MAX; self.rows.len()];
        let mut ret = call.clone();
        for (&event, &time) in self.events.iter().zip(&self.clock) {
            let column = match event.kind() {
                EventKind::Call => &mut call,
                EventKind::Return => &mut ret,
            };
            column[event.row()] = time;
        }
        let happened = |row: &usize| self.rows[*row].state != RowState::Failed;
        let rows: Vec<usize> = (0..self.rows.len()).filter(happened).collect();
        let is_pending = |row: usize| self.rows[row].state == RowState::Pending;
        Some(Times {
            call: rows.iter().map(|&row| call[row]).collect(),
            ret: rows.iter().map(|&row| ret[row]).collect(),
            pending: rows.iter().map(|&row| is_pending(row)).collect(),
        })
    }

    /// The operations that failed.
    fn failed_ops(&self) -> Vec<FailedOp> {
        let is_failed = |row: &Row| row.state == RowState::Failed;
        if !self.rows.iter().any(is_failed) {
            return Vec::new();
        }
        let mut failed: Vec<FailedOp> = Vec::new();
        // The position in `failed` of the open failed operation of each process.
        let mut open = vec![0; self.open.len()];
        let mut rank = 0;
        for (i, &event) in self.events.iter().enumerate() {
            let row = &self.rows[event.row()];
            if !is_failed(row) {
                rank += 1;
                continue;
            }
            let time = self.clock.get(i).copied().filter(|&time| time != NO_TIME);
            match event.kind() {
                EventKind::Call => {
                    open[row.process as usize] = failed.len();
                    failed.push(FailedOp {
                        process: self.processes.get(row.process).clone(),
                        call: Call {
                            object: self.objects.get(row.object).clone(),
                            method: self.methods.get(row.method).clone(),
                            argument: self.values.get(row.argument).clone(),
                        },
                        line: row.line,
                        called: rank,
                        failed: rank,
                        times: (time, None),
                    });
                }
                EventKind::Return => {
                    let op = &mut failed[open[row.process as usize]];
                    op.failed = rank;
                    op.times.1 = time;
                }
            }
        }
        failed
    }

    /// The columns of all operations that did not fail.
    fn into_columns(self) -> Columns {
        let count = self.rows.len();
        let failed = self.failed_ops();
        let mut columns = Columns {
            process: Vec::with_capacity(count),
            object: Vec::with_capacity(count),
            method: Vec::with_capacity(count),
            argument: Vec::with_capacity(count),
            result: Vec::with_capacity(count),
            line: Lines::default(),
            hint: Vec::new(),
            event_lines: self.event_lines,
            processes: self.processes.into_items(),
            objects: self.objects.into_items(),
            methods: self.methods.into_items(),
            values: self.values.into_items().into(),
            annotations: self.annotations,
            failed,
        };
        let mut hints = vec![None; if self.hints.is_empty() { 0 } else { count }];
        for (row, hint) in self.hints {
            hints[row as usize] = Some(hint);
        }
        let mut lines = Vec::with_capacity(count);
        // One pass over the rows fills all columns, since a row takes more memory than an item of a column.
        for (i, row) in self.rows.into_iter().enumerate() {
            if row.state == RowState::Failed {
                continue;
            }
            columns.hint.extend(hints.get(i));
            columns.process.push(ProcessId(row.process));
            columns.object.push(ObjectId(row.object));
            columns.method.push(MethodId(row.method));
            columns.argument.push(ValueId(row.argument));
            columns.result.push(ValueId(row.result));
            lines.push(row.line);
        }
        columns.line = Lines::Listed(lines);
        if !columns.failed.is_empty() {
            columns.forget_processes_without_operations();
        }
        columns
    }
}

/// Sets the ranks of failed operations with times: before and after how many calls and returns they were called and failed.
fn rank_failed(mut failed: Vec<FailedOp>, times: &Times) -> Vec<FailedOp> {
    if failed.is_empty() {
        return failed;
    }
    let returns = times.ret.iter().zip(&times.pending);
    let returns = returns
        .filter(|(_, pending)| !**pending)
        .map(|(&ret, _)| ret);
    let mut events: Vec<i64> = times.call.iter().copied().chain(returns).collect();
    events.sort_unstable();
    let before = |time: i64| events.partition_point(|&event| event < time) as u32;
    for op in &mut failed {
        let called = op.times.0.unwrap_or(i64::MIN);
        op.called = before(called);
        op.failed = before(op.times.1.unwrap_or(called));
    }
    failed.sort_by_key(|op| (op.times, op.line));
    failed
}

#[cfg(test)]
mod tests;
