//! Operations by column, in the order of the input: validates them and makes a [`History`] of them. Builders and columnar
//! readers produce them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::event_lines::EventLines;
use super::order::{Ranks, Times, precedes};
use super::{
    Annotation, Clients, FailedOp, History, MethodId, NEVER, ObjectId, ProcessId, Ties, Values,
};
use crate::error::{Error, Unit};
use crate::value::{Value, ValueId};

/// In a column of processes: the input names no process, so one is chosen later. Invariant: no process has this number, since
/// there are fewer processes than operations.
pub(crate) const NO_PROCESS: ProcessId = ProcessId(u32::MAX);

/// What to do about a process that calls while an earlier call of it is open.
pub const ONE_OPEN_CALL: &str = "a client that goes on after a timeout or a crash needs a new process number, and the open \
    call stays pending";

/// Operations by column, with the tables that the numbers in the columns refer to.
///
/// Invariant: all columns have the same length, except that `object` and `hint` may be empty.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) process: Vec<ProcessId>,
    /// Empty if there is one object only.
    pub(crate) object: Vec<ObjectId>,
    pub(crate) method: Vec<MethodId>,
    pub(crate) argument: Vec<ValueId>,
    /// The number of a pending operation has no meaning.
    pub(crate) result: Vec<ValueId>,
    pub(crate) line: Lines,
    /// By rank. Unknown unless the input has calls and returns one by one.
    pub(crate) event_lines: EventLines,
    /// Empty if no operation has a hint.
    pub(crate) hint: Vec<Option<i64>>,
    pub(crate) processes: Vec<Value>,
    pub(crate) objects: Vec<Value>,
    pub(crate) methods: Vec<String>,
    pub(crate) values: Values,
    pub(crate) annotations: Vec<Annotation>,
    pub(crate) failed: Vec<FailedOp>,
}

/// Calls and returns in the order of their times.
#[derive(Debug)]
pub(crate) struct Timed {
    /// `None` if the input gave the order instead of times.
    times: Option<Times>,
    ties: Ties,
    ranks: Ranks,
    seen: Option<Seen>,
}

/// Facts about all operations, found in one pass.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Whether the ranks show that no operation returns before its call or overlaps another one of its process, and that the
    /// operations are in the order of their calls. If this is `false`, the history may still be well-formed: operations of
    /// one process may touch, which only the times show.
    is_well_formed: bool,
    /// Whether some operation has no return.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    has_pending: bool,
    /// Whether some operation has no process.
    has_unnamed: bool,
}

impl Timed {
    pub(crate) fn new(times: Times, ties: Ties) -> Self {
        Timed {
            ranks: ties.rank(&times),
            times: Some(times),
            ties,
            seen: None,
        }
    }

    /// The order that `ranks` give, if they are complete.
    #[cfg(feature = "parquet")]
    pub(crate) fn by_ranks(ranks: Ranks) -> Option<Self> {
        ranks.are_complete().then_some(Timed {
            ranks,
            times: None,
            ties: Ties::default(),
            seen: None,
        })
    }

    /// Finds the facts about all operations. `process` is their column of processes.
    pub(crate) fn look_at_processes(&mut self, process: &[ProcessId], processes: usize) {
        let Ranks { call, ret } = &self.ranks;
        let mut busy_until = vec![0; processes];
        let (mut previous, mut is_well_formed) = (0, true);
        let (mut has_pending, mut has_unnamed) = (false, false);
        for ((process, &call), &ret) in process.iter().zip(call).zip(ret) {
            is_well_formed &= (previous <= call) & (call < ret);
            has_pending |= ret == NEVER;
            previous = call;
            match busy_until.get_mut(process.0 as usize) {
                Some(until) => {
                    is_well_formed &= *until <= call;
                    *until = ret;
                }
                None => has_unnamed = true,
            }
        }
        self.seen = Some(Seen {
            is_well_formed,
            has_pending,
            has_unnamed,
        });
    }
}

/// The positions of operations in the input.
#[derive(Clone, Debug)]
pub(crate) enum Lines {
    /// Operation `i` is in row `first + i` of a table; 0 if the first row is not known.
    From(u32),
    /// The rows of a table, in another order.
    Rows(Vec<u32>),
    /// The lines of a text.
    Listed(Vec<u32>),
}

impl Default for Lines {
    fn default() -> Self {
        Lines::From(1)
    }
}

impl Lines {
    /// The rows of a table that follow so many others.
    #[cfg(feature = "parquet")]
    pub(crate) fn after(rows: u64) -> Self {
        Lines::From(u32::try_from(rows + 1).unwrap_or(0))
    }

    /// The position of an operation, counted from 1; 0 if it is unknown.
    pub(crate) fn of(&self, row: usize) -> u32 {
        match self {
            Lines::From(0) => 0,
            Lines::From(first) => first.checked_add(row as u32).unwrap_or(0),
            Lines::Rows(places) | Lines::Listed(places) => places[row],
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self {
            Lines::From(_) | Lines::Rows(_) => Unit::Row,
            Lines::Listed(_) => Unit::Line,
        }
    }

    /// The position as a text: `on line 7`, or `in row 7`.
    pub(crate) fn place(&self, row: usize) -> String {
        let (unit, number) = (self.unit(), self.of(row));
        match unit {
            Unit::Line => format!("on {unit} {number}"),
            Unit::Row => format!("in {unit} {number}"),
        }
    }

    /// Adds the position of an operation to an error about it.
    pub(super) fn locate(&self, row: usize, error: Error) -> Error {
        error.at_line(self.of(row).into()).counting(self.unit())
    }

    fn picked(&self, order: &[usize]) -> Self {
        let places = order.iter().map(|&row| self.of(row)).collect();
        match self.unit() {
            Unit::Row => Lines::Rows(places),
            Unit::Line => Lines::Listed(places),
        }
    }
}

impl Columns {
    /// The largest number of operations. Invariant: `2 * row + 1`, the number of an event, is below [`NEVER`].
    pub(crate) const MOST_ROWS: usize = (NEVER / 2) as usize;

    pub(crate) fn too_many() -> Error {
        Error::malformed("a history holds at most 2^31 operations")
    }

    /// The history of operations whose order is known.
    pub(super) fn ordered(self, ranks: Ranks, times: Option<Times>) -> History {
        self.into_history(ranks, times).in_order_of_calls()
    }

    /// The history of operations with times, if they are well-formed.
    pub(crate) fn timed(mut self, mut timed: Timed) -> Result<History, Error> {
        let seen = self.seen(&mut timed);
        if !seen.is_well_formed {
            let times = timed.times.get_or_insert_with(|| timed.ranks.as_times());
            self.refuse_backward(times)?;
            self.refuse_overlap_within_processes(times)?;
            if timed.ties == Ties::ReturnFirst {
                self.refuse_instantaneous(times)?;
            }
        }
        if seen.has_unnamed {
            self.invent_processes(&timed.ranks);
        }
        let history = self.into_history(timed.ranks, timed.times);
        Ok(if seen.is_well_formed {
            history
        } else {
            history.in_order_of_calls()
        })
    }

    fn seen(&self, timed: &mut Timed) -> Seen {
        if timed.seen.is_none() {
            timed.look_at_processes(&self.process, self.processes.len());
        }
        timed
            .seen
            .expect("bug: the operations were looked at just now")
    }

    /// Removes the values that are results of pending operations only, since a pending operation has no result.
    #[cfg(feature = "parquet")]
    pub(crate) fn forget_pending_results(&mut self, timed: &mut Timed) {
        if !self.seen(timed).has_pending {
            return;
        }
        let values = self.values.list_mut();
        let mut used = vec![false; values.len()];
        for row in 0..self.argument.len() {
            used[self.argument[row].0 as usize] = true;
            if timed.ranks.ret[row] == NEVER {
                self.result[row] = self.argument[row];
            } else {
                used[self.result[row].0 as usize] = true;
            }
        }
        if used.iter().all(|&used| used) {
            return;
        }
        let mut next = 0;
        let renumbered: Vec<u32> = used
            .iter()
            .map(|&used| {
                next += u32::from(used);
                next.saturating_sub(1)
            })
            .collect();
        for id in self.argument.iter_mut().chain(&mut self.result) {
            id.0 = renumbered[id.0 as usize];
        }
        let mut used = used.into_iter();
        values.retain(|_| used.next().unwrap_or_default());
    }

    /// Removes the processes that called no operation of these columns, so that the number of processes is that of the rows
    /// of a picture.
    pub(super) fn forget_processes_without_operations(&mut self) {
        let mut number = vec![None; self.processes.len()];
        for process in &self.process {
            number[process.0 as usize] = Some(0);
        }
        for (next, number) in (0u32..).zip(number.iter_mut().flatten()) {
            *number = next;
        }
        for process in &mut self.process {
            let kept = number[process.0 as usize];
            process.0 = kept.expect("bug: a process of an operation is not kept");
        }
        let mut numbers = number.into_iter();
        self.processes
            .retain(|_| numbers.next().flatten().is_some());
    }

    fn method_of(&self, row: usize) -> &str {
        &self.methods[self.method[row].0 as usize]
    }

    fn refuse_backward(&self, times: &Times) -> Result<(), Error> {
        let backward = times
            .call
            .iter()
            .zip(&times.ret)
            .position(|(called, returned)| returned < called);
        backward.map_or(Ok(()), |row| {
            let (called, returned) = (times.call[row], times.ret[row]);
            check_interval(self.method_of(row), called, returned)
                .map_err(|error| self.line.locate(row, error))
        })
    }

    /// Refuses operations of one process that overlap. They may touch.
    fn refuse_overlap_within_processes(&self, times: &Times) -> Result<(), Error> {
        let mut last: Vec<Option<u32>> = vec![None; self.processes.len()];
        let mut check = |row: u32| {
            let process = self.process[row as usize];
            if process == NO_PROCESS {
                return Ok(());
            }
            let Some(earlier) = last[process.0 as usize].replace(row) else {
                return Ok(());
            };
            let (earlier, row) = (earlier as usize, row as usize);
            if times.call[row] >= times.ret[earlier] && !times.is_pending(earlier) {
                return Ok(());
            }
            let reason = format!(
                "process {} calls {:?} at {} while its call of {:?} {} is still open: {ONE_OPEN_CALL}",
                self.processes[process.0 as usize],
                self.method_of(row),
                times.call[row],
                self.method_of(earlier),
                self.line.place(earlier),
            );
            Err(self.line.locate(row, Error::malformed(reason)))
        };
        let rows = 0..self.process.len() as u32;
        // Recorders mostly write in the order of calls.
        let interval = |row: u32| {
            let row = row as usize;
            // One that returns at the largest time comes before one that never does.
            (times.call[row], times.ret[row], times.is_pending(row))
        };
        if rows.clone().is_sorted_by_key(interval) {
            return rows.into_iter().try_for_each(check);
        }
        let mut order: Vec<u32> = rows.collect();
        order.sort_by_key(|&row| interval(row));
        order.into_iter().try_for_each(&mut check)
    }

    fn refuse_instantaneous(&self, times: &Times) -> Result<(), Error> {
        let is_instant = |&row: &usize| times.call[row] == times.ret[row] && !times.is_pending(row);
        let instant = (0..times.call.len()).find(is_instant);
        instant.map_or(Ok(()), |row| {
            let reason = "an operation that returns at the time of its call has no place where returns come first";
            Err(self.line.locate(row, Error::malformed(reason)))
        })
    }

    /// Gives every operation without a process the lowest-numbered new process that has no operation open.
    fn invent_processes(&mut self, ranks: &Ranks) {
        let mut order: Vec<usize> = (0..self.process.len())
            .filter(|&row| self.process[row] == NO_PROCESS)
            .collect();
        order.sort_unstable_by_key(|&row| ranks.call[row]);
        let taken: BTreeSet<i64> = self.processes.iter().filter_map(Value::as_int).collect();
        let mut names = (0..).filter(|name| !taken.contains(name));
        // The new processes without an open operation, and the others with the rank at which their operation returns.
        let mut free = BinaryHeap::new();
        let mut busy = BinaryHeap::new();
        for row in order {
            while let Some(&Reverse((until, lane))) = busy.peek() {
                if !precedes(until, ranks.call[row]) {
                    break;
                }
                busy.pop();
                free.push(Reverse(lane));
            }
            let lane = match free.pop() {
                Some(Reverse(lane)) => lane,
                None => {
                    self.processes.extend(names.next().map(Value::Int));
                    self.processes.len() as u32 - 1
                }
            };
            self.process[row] = ProcessId(lane);
            busy.push(Reverse((ranks.ret[row], lane)));
        }
    }

    fn into_history(self, ranks: Ranks, times: Option<Times>) -> History {
        History {
            process: self.process,
            object: self.object,
            method: self.method,
            argument: self.argument,
            result: self.result,
            line: self.line,
            event_lines: self.event_lines,
            hint: self.hint,
            call: Arc::new(ranks.call),
            ret: Arc::new(ranks.ret),
            times,
            processes: self.processes,
            objects: self.objects,
            methods: self.methods,
            values: self.values,
            annotations: self.annotations,
            failed: self.failed,
            clients: Clients::new(),
            ends_stuck: false,
        }
    }
}

impl History {
    /// The same history without times.
    pub(crate) fn without_times(self) -> History {
        History {
            times: None,
            ..self
        }
    }

    fn in_order_of_calls(self) -> History {
        if self.call.is_sorted() {
            return self;
        }
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by_key(|&row| self.call[row]);
        self.picked(&order)
    }

    /// The operations of `order` only, in that order, with the same ranks.
    pub(super) fn picked(self, order: &[usize]) -> History {
        fn pick<T: Copy>(order: &[usize], column: &[T]) -> Vec<T> {
            order.iter().map(|&i| column[i]).collect()
        }
        fn pick_optional<T: Copy>(order: &[usize], column: &[T]) -> Vec<T> {
            match column.is_empty() {
                true => Vec::new(),
                false => pick(order, column),
            }
        }
        History {
            process: pick(order, &self.process),
            object: pick_optional(order, &self.object),
            hint: pick_optional(order, &self.hint),
            method: pick(order, &self.method),
            argument: pick(order, &self.argument),
            result: pick(order, &self.result),
            line: self.line.picked(order),
            call: Arc::new(pick(order, &self.call)),
            ret: Arc::new(pick(order, &self.ret)),
            times: self.times.map(|times| Times {
                call: pick(order, &times.call),
                ret: pick(order, &times.ret),
                pending: pick_optional(order, &times.pending),
            }),
            ..self
        }
    }
}

/// Refuses an operation that returns before its call.
pub(crate) fn check_interval(method: &str, called: i64, returned: i64) -> Result<(), Error> {
    if returned < called {
        let reason = format!("{method:?} returns at {returned}, before its call at {called}");
        return Err(Error::malformed(reason));
    }
    Ok(())
}
