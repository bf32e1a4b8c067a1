//! Decides an input in the order of calls: an online monitor follows it, so that only what is open is in memory.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::ControlFlow;
use std::time::Instant;

use linpoint::format::{Row, RowInput, RowProgress, RowsRead};
use linpoint::history::ONE_OPEN_CALL;
use linpoint::object::RecordedCall;
use linpoint::online::Finding;
use linpoint::{Error, ObjectType, OnlineChecker, Ties, Value};

use crate::args::CheckArgs;
use crate::exit::Exit;
use crate::output::watch::{Printer, Totals};
use crate::source::{TypeChoice, with_methods};

/// An input that is followed.
pub(super) struct Online<'a> {
    choice: &'a TypeChoice,
    checker: OnlineChecker<ObjectType>,
    ties: Ties,
    /// The returns of operations that were called.
    returns: BinaryHeap<Reverse<Return>>,
    calls: u64,
    names: Names,
    stops_at_violation: bool,
    printer: Printer,
    totals: Totals,
    started: Instant,
}

/// The return of an operation.
#[derive(Debug, PartialEq, Eq)]
struct Return {
    time: i64,
    /// The number of its call.
    number: u64,
    process: Value,
    result: Value,
    line: u64,
}

impl Ord for Return {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for Return {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Names for the processes of operations whose input names none.
#[derive(Debug, Default)]
struct Names {
    /// Those whose operation returned.
    free: Vec<i64>,
    next: i64,
    /// Whether operations have names in the input; `None` before the first one.
    are_given: Option<bool>,
}

impl Names {
    fn name(&mut self, given: Option<Value>) -> Result<Value, Error> {
        if *self.are_given.get_or_insert(given.is_some()) != given.is_some() {
            let reason = "some operations name a process and some do not, which takes an input that is sorted by object";
            return Err(Error::usage(reason));
        }
        Ok(given.unwrap_or_else(|| {
            let free = self.free.pop();
            Value::from(free.unwrap_or_else(|| {
                self.next += 1;
                self.next - 1
            }))
        }))
    }

    fn returned(&mut self, process: &Value) {
        if self.are_given == Some(false) {
            self.free.extend(process.as_int());
        }
    }
}

impl<'a> Online<'a> {
    pub(super) fn new(
        args: &CheckArgs,
        input: &RowInput,
        choice: &'a TypeChoice,
    ) -> Result<Self, Error> {
        Ok(Online {
            choice,
            checker: OnlineChecker::new(choice.build()?)?,
            ties: args.input.ties.or(input.ties()).unwrap_or_default(),
            returns: BinaryHeap::new(),
            calls: 0,
            names: Names::default(),
            stops_at_violation: !args.all,
            printer: Printer::of_check(args, input.name(), input.unit()),
            totals: Totals::default(),
            started: Instant::now(),
        })
    }

    /// Reads the input to its end, or to the violation that ends the run, and prints the verdict.
    pub(super) fn run(
        mut self,
        input: RowInput,
        progress: &RowProgress,
    ) -> anyhow::Result<(RowsRead, Exit)> {
        let mut failed = None;
        let read = input.each(progress, &mut |row| {
            let line = row.line;
            self.take(row)
                .or_else(|error| match error.downcast::<Error>() {
                    Ok(error) => Err(with_methods(error.at_line(line), self.choice)),
                    Err(error) => {
                        failed = Some(error);
                        Ok(ControlFlow::Break(()))
                    }
                })
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if !self.is_over() {
            // Every operation that is still open never returns.
            _ = self.returns_before(|_| true)?;
            for unsettled in self.checker.unsettled() {
                _ = self.found(0, Finding::CannotTell(unsettled))?;
            }
        }
        self.totals.add(&self.checker);
        self.printer
            .verdict(&self.choice.name, &self.totals, self.started.elapsed())?;
        Ok((read, self.totals.exit()))
    }

    fn is_over(&self) -> bool {
        self.stops_at_violation && self.totals.exit() == Exit::Violation
    }

    /// Takes the next operation, before which some that were called earlier return.
    fn take(&mut self, row: Row) -> anyhow::Result<ControlFlow<()>> {
        if row.hint.is_some() {
            let reason =
                "hints are used only when an object is read whole: sort the input by object";
            return Err(Error::usage(reason).into());
        }
        if self.ties == Ties::ReturnFirst && row.returned == Some(row.called) {
            let reason = "an operation that returns at the time of its call has no place where returns come first";
            return Err(Error::malformed(reason).into());
        }
        let (ties, called) = (self.ties, row.called);
        let flow = self.returns_before(|time| match ties {
            Ties::CallFirst => time < called,
            Ties::ReturnFirst => time <= called,
        })?;
        if flow.is_break() {
            return Ok(flow);
        }
        let process = self.names.name(row.process)?;
        self.refuse_overlap(&process, called)?;
        let call = RecordedCall {
            object: row.object,
            method: row.method,
            argument: row.argument,
            line: row.line,
        };
        let found = self.checker.call(process.clone(), call)?;
        self.calls += 1;
        match row.returned {
            Some(time) => self.returns.push(Reverse(Return {
                time,
                number: self.calls,
                process,
                result: row.result,
                line: row.line,
            })),
            None => self.checker.crash(process)?,
        }
        found.map_or(Ok(ControlFlow::Continue(())), |found| {
            self.found(row.line, found)
        })
    }

    /// A process has one call open at a time. Calls that touch have no order here that is right for both.
    fn refuse_overlap(&self, process: &Value, called: i64) -> Result<(), Error> {
        let Some(open) = self.checker.pending_call(process) else {
            return Ok(());
        };
        let touches = |end: &Reverse<Return>| end.0.process == *process && end.0.time == called;
        Err(match self.returns.iter().any(touches) {
            true => Error::usage(format!(
                "process {process} calls when its earlier call returns: that takes an input that is sorted by object, or --ties return"
            )),
            false => Error::malformed(format!(
                "process {process} calls while its call of {:?} on line {} is still open: {ONE_OPEN_CALL}",
                open.method, open.line
            )),
        })
    }

    /// Lets operations return, as long as the times of their returns are such.
    fn returns_before(
        &mut self,
        is_before: impl Fn(i64) -> bool,
    ) -> anyhow::Result<ControlFlow<()>> {
        while let Some(Reverse(next)) = self.returns.peek()
            && is_before(next.time)
            && let Some(Reverse(Return {
                process,
                result,
                line,
                ..
            })) = self.returns.pop()
        {
            let found = self.checker.ret(process.clone(), result);
            let found = found.map_err(|error| error.at_line(line))?;
            self.names.returned(&process);
            if let Some(found) = found
                && self.found(line, found)?.is_break()
            {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn found(&mut self, line: u64, found: Finding<ObjectType>) -> anyhow::Result<ControlFlow<()>> {
        self.totals.count(&found);
        self.printer.finding(line, &found)?;
        Ok(match self.is_over() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}
