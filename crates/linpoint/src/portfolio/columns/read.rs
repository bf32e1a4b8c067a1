//! What operations do, read off the columns of a history.

use std::hint::select_unpredictable;
use std::ops::Range;

use crate::engine::monitor::{Act, Bit, Rw};
use crate::history::{History, MethodId, NEVER};
use crate::spec::Pattern;
use crate::value::{Value, ValueId};

/// The columns of a history, and the patterns of its methods.
pub(super) struct Columns<'a> {
    pub(super) history: &'a History,
    methods: &'a [MethodId],
    arguments: &'a [ValueId],
    results: &'a [ValueId],
    rets: &'a [u32],
    /// By method.
    pub(super) patterns: Vec<Pattern>,
    /// The number of nil; [`NEVER`] if it does not occur.
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

    /// Reads an operation on a container whose method does `act`, or finds the container empty. Returns whether it fits the common
    /// case: it returned, an insertion answers nil or its argument, other operations have no argument. If so, what it does
    /// and with which value. Must compile without branches: the kind of the next operation is hard to predict.
    #[inline(always)]
    fn common_case(self, act: Act, nil: u32) -> (bool, Act, u32) {
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

/// What an operation does and with which value; `None` if it is pending and changes nothing, an error if it does not fit the
/// pattern.
pub(super) type Reading<A> = Result<Option<(A, u32)>, Unfit>;

/// An operation that does not fit the pattern of its method. The history has to be decoded.
pub(super) struct Unfit;

/// Reads what operations do.
pub(super) trait Reader<A: Copy>: Sync {
    /// What one operation does.
    fn one(&self, columns: &Columns<'_>, row: Row) -> Reading<A>;

    /// Reads the operations from `start` on into `acts` and `values`. Returns whether each of them fits and can matter.
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

/// Reads operations on a container.
pub(super) struct Acts {
    /// What each method does, unless it finds the container empty.
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

    /// In two passes that compile to vector instructions, if all operations are of the common case.
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
        let (mut are_common, nil) = (true, columns.nil);
        for (row, (act, value)) in columns
            .rows(ops)
            .zip(acts.iter_mut().zip(values.iter_mut()))
        {
            let is_common;
            (is_common, *act, *value) = row.common_case(*act, nil);
            are_common &= is_common;
        }
        are_common || one_by_one(self, columns, start, acts, values)
    }
}

/// Reads operations on a register.
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
        // Only a result that tells nothing by its number is looked up, since that makes the list of all values.
        if (writes & !row.is_pending & !is_told) && !columns.is_true(row.result) {
            return Err(Unfit);
        }
        Ok(Some((
            select_unpredictable(writes, Rw::Write, Rw::Read),
            select_unpredictable(writes, row.argument, row.result),
        )))
    }

    /// In one pass without branches, if all operations returned and no result has to be looked up.
    fn many(
        &self,
        columns: &Columns<'_>,
        start: usize,
        acts: &mut [Rw],
        values: &mut [u32],
    ) -> bool {
        let (mut are_common, nil) = (true, columns.nil);
        let rows = columns.rows(start..start + acts.len());
        for (row, (act, value)) in rows.zip(acts.iter_mut().zip(values.iter_mut())) {
            let writes = columns.pattern(row) == Pattern::Writes;
            *act = select_unpredictable(writes, Rw::Write, Rw::Read);
            *value = select_unpredictable(writes, row.argument, row.result);
            let other = select_unpredictable(writes, row.result, row.argument);
            are_common &= !row.is_pending & ((other == nil) | (writes & (other == *value)));
        }
        are_common || one_by_one(self, columns, start, acts, values)
    }
}

/// Reads operations on a set or a lock.
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
            nil: history.find_value(&Value::Nil).unwrap_or(NEVER),
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

    /// Reads an operation whose method does `act`, unless it finds the container empty.
    #[inline]
    fn act(&self, act: Act, row: Row) -> Reading<Act> {
        match row.common_case(act, self.nil) {
            (true, act, value) => Ok(Some((act, value))),
            _ => self.uncommon_act(act, row.argument, row.result()),
        }
    }

    #[cold]
    fn uncommon_act(&self, act: Act, argument: u32, result: Option<u32>) -> Reading<Act> {
        let is_true = |result: u32| self.is_true(result);
        match (act, result) {
            (Act::Add, result) if argument != self.nil && result.is_none_or(is_true) => {
                Ok(Some((Act::Add, argument)))
            }
            (Act::Peek, None) if argument == self.nil => Ok(None),
            // It is not known what a pending removal removed.
            _ => Err(Unfit),
        }
    }
}
