//! What operations do, read off the columns of a history.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::find;
use crate::engine::monitor::Act;
use crate::engine::monitor::slot::bit::Bit;
use crate::engine::monitor::slot::register::Rw;
use crate::history::{History, MethodId, NEVER};
use crate::spec::Pattern;
use crate::value::{Value, ValueId};

/// The columns of a history, and what its methods do.
pub(super) struct Columns<'a> {
    pub(super) history: &'a History,
    methods: &'a [MethodId],
    arguments: &'a [ValueId],
    results: &'a [ValueId],
    rets: &'a [u32],
    /// By method.
    pub(super) patterns: Vec<Pattern>,
    nil: u32,
}

/// One operation.
#[derive(Clone, Copy)]
pub(super) struct Row {
    method: MethodId,
    argument: u32,
    /// Any number while pending.
    result: u32,
    is_pending: bool,
}

impl Row {
    /// The number of the result; `None` while pending.
    #[inline]
    fn result(&self) -> Option<u32> {
        (!self.is_pending).then_some(self.result)
    }

    /// Whether this is what operations on containers mostly are, that do `act` unless they find nothing; what it does then, with
    /// which value. Without a branch: what the next operation does is hard to foresee.
    #[inline(always)]
    fn usual(self, act: Act, nil: u32) -> (bool, Act, u32) {
        let adds = act == Act::Add;
        let value = if adds { self.argument } else { self.result };
        let other = if adds { self.result } else { self.argument };
        let is_empty = value == nil;
        let fits = (other == nil) | (adds & (other == value));
        (
            fits & !(adds & is_empty) & !self.is_pending,
            if is_empty { Act::Empty } else { act },
            value,
        )
    }
}

/// What an operation does with which value; `None` if it cannot matter, an error if it does not fit the pattern.
pub(super) type Reading<A> = Result<Option<(A, u32)>, Unfit>;

/// Something that only the long way can tell.
pub(super) struct Unfit;

/// Reads what operations do.
pub(super) trait Reader<A: Copy>: Sync {
    /// What one operation does.
    fn one(&self, columns: &Columns<'_>, row: Row) -> Reading<A>;

    /// What all operations from `start` on do, as many as there is room for; whether each of them fits and matters.
    fn many(
        &self,
        columns: &Columns<'_>,
        start: usize,
        acts: &mut [A],
        values: &mut [u32],
    ) -> bool {
        one_by_one(self, columns, start, acts, values)
    }
}

fn one_by_one<A: Copy>(
    reader: &(impl Reader<A> + ?Sized),
    columns: &Columns<'_>,
    start: usize,
    acts: &mut [A],
    values: &mut [u32],
) -> bool {
    let rows = columns.rows(start..start + acts.len());
    for (row, (act, value)) in rows.zip(acts.iter_mut().zip(values)) {
        match reader.one(columns, row) {
            Ok(Some(read)) => (*act, *value) = read,
            _ => return false,
        }
    }
    true
}

/// What operations do to a container.
pub(super) struct Acts {
    /// What each method does, unless it finds nothing.
    by_method: Vec<Act>,
}

impl Acts {
    pub(super) fn of(columns: &Columns<'_>) -> Option<Self> {
        let acts = columns.patterns.iter().map(|pattern| match pattern {
            Pattern::Adds => Some(Act::Add),
            Pattern::Removes => Some(Act::Remove),
            Pattern::Peeks => Some(Act::Peek),
            _ => None,
        });
        let by_method = acts.collect::<Option<_>>()?;
        Some(Acts { by_method })
    }
}

impl Reader<Act> for Acts {
    #[inline]
    fn one(&self, columns: &Columns<'_>, row: Row) -> Reading<Act> {
        columns.act(self.by_method[row.method.0 as usize], row)
    }

    /// In plain passes, several operations in each instruction, if all of them are usual.
    fn many(
        &self,
        columns: &Columns<'_>,
        start: usize,
        acts: &mut [Act],
        values: &mut [u32],
    ) -> bool {
        let ops = start..start + acts.len();
        for (act, method) in acts.iter_mut().zip(&columns.methods[ops.clone()]) {
            *act = self.by_method[method.0 as usize];
        }
        let (mut are_usual, nil) = (true, columns.nil);
        for (row, (act, value)) in columns
            .rows(ops)
            .zip(acts.iter_mut().zip(values.iter_mut()))
        {
            let is_usual;
            (is_usual, *act, *value) = row.usual(*act, nil);
            are_usual &= is_usual;
        }
        are_usual || one_by_one(self, columns, start, acts, values)
    }
}

/// What operations do to a register.
pub(super) struct Writes;

impl Reader<Rw> for Writes {
    #[inline]
    fn one(&self, columns: &Columns<'_>, row: Row) -> Reading<Rw> {
        let writes = columns.pattern(row) == Pattern::Writes;
        if !writes & (row.argument != columns.nil) {
            return Err(Unfit);
        }
        if !writes & row.is_pending {
            return Ok(None);
        }
        let is_told = (row.result == columns.nil) | (row.result == row.argument);
        if writes & !row.is_pending & !is_told & !columns.is_true(row.result) {
            return Err(Unfit);
        }
        Ok(Some((
            select_unpredictable(writes, Rw::Write, Rw::Read),
            select_unpredictable(writes, row.argument, row.result),
        )))
    }
}

/// What operations do to a set or a lock.
pub(super) struct Turns;

impl Reader<Bit> for Turns {
    #[inline]
    fn one(&self, columns: &Columns<'_>, row: Row) -> Reading<Bit> {
        let answer = match row.result() {
            None => None,
            Some(result) => Some(columns.value(result).as_bool().ok_or(Unfit)?),
        };
        let key = row.argument;
        if key == columns.nil {
            return Err(Unfit);
        }
        let bit = match (columns.pattern(row), answer) {
            (Pattern::Inserts, None | Some(true)) => Bit::TurnOn,
            (Pattern::Deletes, None | Some(true)) => Bit::TurnOff,
            (Pattern::Contains, None) => return Ok(None),
            (Pattern::Inserts, Some(false)) | (Pattern::Contains, Some(true)) => Bit::SeesOn,
            (Pattern::Deletes, Some(false)) | (Pattern::Contains, Some(false)) => Bit::SeesOff,
            _ => return Err(Unfit),
        };
        Ok(Some((bit, key)))
    }
}

impl<'a> Columns<'a> {
    pub(super) fn new(history: &'a History, patterns: Vec<Pattern>) -> Self {
        Columns {
            history,
            methods: history.method_column(),
            arguments: history.argument_column(),
            results: history.result_column(),
            rets: history.rets(),
            patterns,
            nil: find(history, &Value::Nil),
        }
    }

    pub(super) fn rows(&self, ops: Range<usize>) -> impl Iterator<Item = Row> {
        let methods = self.methods[ops.clone()].iter();
        let values = self.arguments[ops.clone()]
            .iter()
            .zip(&self.results[ops.clone()]);
        let rows = methods.zip(values).zip(&self.rets[ops]);
        rows.map(|((&method, (argument, result)), &ret)| Row {
            method,
            argument: argument.0,
            result: result.0,
            is_pending: ret == NEVER,
        })
    }

    #[inline]
    fn pattern(&self, row: Row) -> Pattern {
        self.patterns[row.method.0 as usize]
    }

    fn value(&self, number: u32) -> &Value {
        &self.history.values()[number as usize]
    }

    fn is_true(&self, number: u32) -> bool {
        *self.value(number) == Value::Bool(true)
    }

    /// What an operation does that does `act`, unless it finds nothing.
    #[inline]
    fn act(&self, act: Act, row: Row) -> Reading<Act> {
        match row.usual(act, self.nil) {
            (true, act, value) => Ok(Some((act, value))),
            _ => self.unusual_act(act, row.argument, row.result()),
        }
    }

    #[cold]
    fn unusual_act(&self, act: Act, argument: u32, result: Option<u32>) -> Reading<Act> {
        let is_true = |result: u32| self.is_true(result);
        match (act, result) {
            (Act::Add, result) if argument != self.nil && result.is_none_or(is_true) => {
                Ok(Some((Act::Add, argument)))
            }
            (Act::Peek, None) if argument == self.nil => Ok(None),
            // What a removal took that never returned has to be found out.
            _ => Err(Unfit),
        }
    }
}
