//! The workload of a stress test: the operations that it calls, and the built-in type or specification that it is checked
//! against.

use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use linpoint::object::ObjectType;
use linpoint::report::{PageData, PageOptions, page_data};
use linpoint::spec::Params;
use linpoint::{
    Call, Checker, Error, History, HistoryBuilder, Operation, Report, Spec, Ties, TypedHistory,
    Value, object_type,
};

use linpoint_record::Ticks;

use super::record::{Activity, PendingCall, Record};
use super::{Arguments, Random, ToValue};
use crate::check::spec::type_name;

/// The records of each thread in one run.
pub(super) type Run<'a, A> = &'a [&'a [Record<<A as Activity>::Op, <A as Activity>::Ret>]];

/// An activity with what its histories are checked against.
pub(super) trait Workload: Activity {
    /// Returns an error if the workload makes no sense. Must be called before anything runs.
    fn prepare(&mut self, threads: usize) -> Result<(), Error>;

    /// Decides whether a run is linearizable.
    fn decide(&self, run: Run<'_, Self>, checker: &Checker) -> Result<Report, Error>;

    /// Returns the history of a run, with the pending call of each thread that has one.
    fn history(
        &self,
        run: Run<'_, Self>,
        pending: &[(usize, &PendingCall<Self::Op>)],
    ) -> Result<History, Error>;

    /// The name and the parameters of the built-in type, if there is one.
    fn object_type(&self) -> Option<(&str, &Params)>;

    /// Returns the data of the report page of a run.
    fn page_data(&self, run: Run<'_, Self>, name: &str, report: &Report)
    -> Result<PageData, Error>;
}

/// The most operations that a page holds.
pub(super) const MOST_ON_PAGE: usize = 100_000;

type Invoke<T> = Box<
    dyn Fn(
            u32,
            &T,
            &mut Random,
            &Ticks,
            &mut Option<PendingCall<(u32, Value)>>,
        ) -> Record<(u32, Value), Value>
        + Send
        + Sync,
>;

struct NamedOp<T> {
    name: String,
    weight: u32,
    /// The threads that call it; all if `None`.
    threads: Option<Vec<usize>>,
    invoke: Invoke<T>,
    /// Returns an argument.
    sample: Box<dyn Fn(&mut Random) -> Value + Send + Sync>,
}

/// Operations by name, on an object of a built-in type.
pub struct Named<T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    ops: Vec<NamedOp<T>>,
    type_name: Option<String>,
    params: Params,
    checked_type: Option<ObjectType>,
    /// The operations of each thread, each as often as its weight.
    choices: Vec<Vec<u16>>,
}

impl<T> fmt::Debug for Named<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.ops.iter().map(|op| &op.name))
            .finish()
    }
}

impl<T: Send + Sync + 'static> Named<T> {
    pub(super) fn new(make: impl Fn() -> T + Send + Sync + 'static) -> Self {
        Named {
            make: Box::new(make),
            ops: Vec::new(),
            type_name: None,
            params: Params::new(),
            checked_type: None,
            choices: Vec::new(),
        }
    }

    pub(super) fn add<A: Arguments<Item: ToValue>, R: ToValue>(
        &mut self,
        name: &str,
        arguments: A,
        call: impl Fn(&T, A::Item) -> R + Send + Sync + 'static,
    ) {
        let arguments = Arc::new(arguments);
        let sampled = Arc::clone(&arguments);
        let invoke = move |op: u32,
                           object: &T,
                           random: &mut Random,
                           ticks: &Ticks,
                           pending: &mut Option<PendingCall<(u32, Value)>>| {
            let argument = arguments.next(random);
            let op = (op, argument.to_value());
            let record = Record::of(op, ticks, pending, || call(object, argument));
            Record {
                op: record.op,
                ret: record.ret.to_value(),
                called: record.called,
                returned: record.returned,
            }
        };
        self.ops.push(NamedOp {
            name: name.to_owned(),
            weight: 1,
            threads: None,
            invoke: Box::new(invoke),
            sample: Box::new(move |random| sampled.next(random).to_value()),
        });
    }

    /// Changes the operation that was added last.
    pub(super) fn last(&mut self, weight: Option<u32>, threads: Option<Vec<usize>>) {
        if let Some(op) = self.ops.last_mut() {
            op.weight = weight.unwrap_or(op.weight);
            op.threads = threads.or(op.threads.take());
        }
    }

    pub(super) fn set_type(&mut self, name: &str) {
        self.type_name = Some(name.to_owned());
    }

    pub(super) fn set_param(&mut self, name: &str, value: Value) {
        self.params.insert(name.to_owned(), value);
    }
}

impl<T> Named<T> {
    fn checked_type(&self) -> Result<&ObjectType, Error> {
        let missing = "no type to check against: name one with `object_type`";
        self.checked_type
            .as_ref()
            .ok_or_else(|| Error::usage(missing))
    }

    /// Returns an error if the type has no such operation, or not with such an argument: checks a history of one pending call.
    fn validate(&self, op: &NamedOp<T>) -> Result<(), Error> {
        let call = Operation {
            process: None,
            call: Call {
                object: Value::Nil,
                method: op.name.clone(),
                argument: (op.sample)(&mut Random::new(0, 0, 1)),
            },
            result: Value::Nil,
            called: 0,
            returned: None,
        };
        let mut builder = HistoryBuilder::new();
        // There is no line to name in an error.
        builder.operation(0, call)?;
        let checker = Checker::default();
        let history = builder.finish(Ties::CallFirst)?;
        let checked = checker.check_recorded(self.checked_type()?, &history);
        checked.map(drop)
    }
}

impl<T: Send + Sync + 'static> Activity for Named<T> {
    type Object = T;
    type Op = (u32, Value);
    type Ret = Value;

    fn make(&self) -> T {
        (self.make)()
    }

    #[inline]
    fn choose(&self, thread: usize, random: &mut Random) -> usize {
        let choices = &self.choices[thread];
        choices[random.below(choices.len() as u64) as usize].into()
    }

    #[inline]
    fn invoke(
        &self,
        chosen: usize,
        object: &T,
        random: &mut Random,
        ticks: &Ticks,
        pending: &mut Option<PendingCall<(u32, Value)>>,
    ) -> Record<(u32, Value), Value> {
        (self.ops[chosen].invoke)(chosen as u32, object, random, ticks, pending)
    }

    fn name(&self, chosen: usize) -> String {
        self.ops[chosen].name.clone()
    }

    fn blank(&self) -> Option<Record<(u32, Value), Value>> {
        Some(Record {
            op: (0, Value::Nil),
            ret: Value::Nil,
            called: 0,
            returned: 0,
        })
    }
}

impl<T: Send + Sync + 'static> Workload for Named<T> {
    fn prepare(&mut self, threads: usize) -> Result<(), Error> {
        if let Some(name) = &self.type_name {
            self.checked_type = Some(object_type(name, &self.params)?);
        }
        for op in &self.ops {
            self.validate(op)?;
        }
        self.choices = (0..threads)
            .map(|thread| {
                let calls = |op: &NamedOp<T>| {
                    let is_called = op.threads.as_ref().is_none_or(|all| all.contains(&thread));
                    if is_called { op.weight as usize } else { 0 }
                };
                let ops = self.ops.iter().zip(0u16..);
                ops.flat_map(|(op, number)| std::iter::repeat_n(number, calls(op)))
                    .collect()
            })
            .collect();
        match self.choices.iter().position(Vec::is_empty) {
            Some(thread) => Err(Error::usage(format!("thread {thread} has no operation"))),
            None => Ok(()),
        }
    }

    fn decide(&self, run: Run<'_, Self>, checker: &Checker) -> Result<Report, Error> {
        let history = self.history(run, &[])?;
        checker.check_recorded(self.checked_type()?, &history)
    }

    fn history(
        &self,
        run: Run<'_, Self>,
        pending: &[(usize, &PendingCall<Self::Op>)],
    ) -> Result<History, Error> {
        let call = |(op, argument): &(u32, Value)| Call {
            object: Value::Nil,
            method: self.ops[*op as usize].name.clone(),
            argument: argument.clone(),
        };
        build(run, pending, call, Value::clone)
    }

    fn object_type(&self) -> Option<(&str, &Params)> {
        Some((self.type_name.as_deref()?, &self.params))
    }

    fn page_data(
        &self,
        run: Run<'_, Self>,
        name: &str,
        report: &Report,
    ) -> Result<PageData, Error> {
        let options = PageOptions {
            name,
            object_type: self.type_name.as_deref().unwrap_or_default(),
            most_ops: MOST_ON_PAGE,
        };
        self.checked_type()?
            .page_data(options, &self.history(run, &[])?, report)
    }
}

type Apply<S, T> = Box<dyn Fn(&T, &<S as Spec>::Op) -> <S as Spec>::Ret + Send + Sync>;

/// Operations as Rust values, on an object with a specification of its own.
pub struct Specified<S: Spec, T> {
    make: Box<dyn Fn() -> T + Send + Sync>,
    spec: S,
    ops: Vec<S::Op>,
    apply: Apply<S, T>,
}

impl<S: Spec, T> fmt::Debug for Specified<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ops.fmt(f)
    }
}

impl<S: Spec, T> Specified<S, T> {
    pub(super) fn new(
        make: impl Fn() -> T + Send + Sync + 'static,
        spec: S,
        ops: Vec<S::Op>,
        apply: impl Fn(&T, &S::Op) -> S::Ret + Send + Sync + 'static,
    ) -> Self {
        Specified {
            make: Box::new(make),
            spec,
            ops,
            apply: Box::new(apply),
        }
    }
}

impl<S, T> Activity for Specified<S, T>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + 'static,
    T: Send + Sync + 'static,
{
    type Object = T;
    type Op = S::Op;
    type Ret = S::Ret;

    fn make(&self) -> T {
        (self.make)()
    }

    #[inline]
    fn choose(&self, _: usize, random: &mut Random) -> usize {
        random.below(self.ops.len() as u64) as usize
    }

    #[inline]
    fn invoke(
        &self,
        chosen: usize,
        object: &T,
        _: &mut Random,
        ticks: &Ticks,
        pending: &mut Option<PendingCall<S::Op>>,
    ) -> Record<S::Op, S::Ret> {
        let op = &self.ops[chosen];
        Record::of(op.clone(), ticks, pending, || (self.apply)(object, op))
    }

    fn name(&self, chosen: usize) -> String {
        format!("{:?}", self.ops[chosen])
    }

    fn blank(&self) -> Option<Record<S::Op, S::Ret>> {
        None // A specification has no default result.
    }
}

impl<S, T> Workload for Specified<S, T>
where
    S: Spec<Op: Send + 'static, Ret: Send + 'static> + Send + 'static,
    T: Send + Sync + 'static,
{
    fn prepare(&mut self, _: usize) -> Result<(), Error> {
        if self.ops.is_empty() {
            return Err(Error::usage("no operation to call"));
        }
        Ok(())
    }

    fn decide(&self, run: Run<'_, Self>, checker: &Checker) -> Result<Report, Error> {
        checker.check(&self.spec, &typed(run))
    }

    fn history(
        &self,
        run: Run<'_, Self>,
        pending: &[(usize, &PendingCall<Self::Op>)],
    ) -> Result<History, Error> {
        let call = |op: &S::Op| Call::new(format!("{op:?}"), Value::Nil);
        build(run, pending, call, |ret| format!("{ret:?}").into())
    }

    fn object_type(&self) -> Option<(&str, &Params)> {
        None
    }

    fn page_data(
        &self,
        run: Run<'_, Self>,
        name: &str,
        report: &Report,
    ) -> Result<PageData, Error> {
        let options = PageOptions {
            name,
            object_type: type_name::<S>(),
            most_ops: MOST_ON_PAGE,
        };
        Ok(page_data(options, &self.spec, &typed(run), report))
    }
}

/// The kinds of events, in the order of events at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum EventKind {
    Call,
    Return,
}

/// The history of a run, as Rust values.
pub(super) fn typed<O: Clone + Eq + Hash, R: Clone + Eq + Hash>(
    run: &[&[Record<O, R>]],
) -> TypedHistory<O, R> {
    // In the order of time. At equal times calls come first, so that operations that touch overlap.
    let mut events: Vec<(i64, EventKind, usize, usize)> = Vec::new();
    for (thread, log) in run.iter().enumerate() {
        for (number, record) in log.iter().enumerate() {
            events.push((record.called, EventKind::Call, thread, number));
            events.push((record.returned, EventKind::Return, thread, number));
        }
    }
    events.sort_unstable();
    let mut history = TypedHistory::new();
    let mut pending = vec![None; run.len()];
    for (_, kind, thread, number) in events {
        let record = &run[thread][number];
        match kind {
            EventKind::Call => {
                pending[thread] = Some(history.call(thread as u32, record.op.clone()));
            }
            EventKind::Return => {
                if let Some(id) = pending[thread].take() {
                    history.ret(id, record.ret.clone());
                }
            }
        }
    }
    history
}

/// Returns the history of a run. Times count from the first call.
pub(super) fn build<O, R>(
    run: &[&[Record<O, R>]],
    pending: &[(usize, &PendingCall<O>)],
    call: impl Fn(&O) -> Call,
    result: impl Fn(&R) -> Value,
) -> Result<History, Error> {
    let returned = (run.iter().enumerate())
        .flat_map(|(thread, log)| log.iter().map(move |record| (thread, record)))
        .map(|(thread, record)| (record.called, thread, &record.op, Some(record)));
    let pending = pending
        .iter()
        .map(|(thread, pending)| (pending.called, *thread, &pending.op, None));
    let mut order: Vec<_> = returned.chain(pending).collect();
    order.sort_unstable_by_key(|&(called, thread, ..)| (called, thread));
    let start = order.first().map_or(0, |&(called, ..)| called);
    let mut builder = HistoryBuilder::new();
    for (line, (called, thread, op, record)) in (1u64..).zip(order) {
        let operation = Operation {
            process: Some((thread as i64).into()),
            call: call(op),
            result: record.map_or(Value::Nil, |record| result(&record.ret)),
            called: called - start,
            returned: record.map(|record| record.returned - start),
        };
        builder.operation(line, operation)?;
    }
    builder.finish(Ties::CallFirst)
}
