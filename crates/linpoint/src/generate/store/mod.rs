//! Histories of simulated stores. Each keeps one promise, and breaks the next stronger ones: for tests, and to see what a promise is worth.
//!
//! Processes take turns at random: in three turns a process calls an operation, the store answers it, and it returns. Now and then all
//! processes pause until no operation is open.

mod log;
mod overlap;
mod promise;
mod replicas;
mod transactions;

pub use promise::Promise;

use super::held_back::{GeneratedEvent, HeldBack, Step};
use super::recorded;
use crate::error::Error;
use crate::history::{Call, History};
use crate::spec::Sampler;
use crate::value::Value;

/// The settings of a history of a simulated store.
#[derive(Clone, Debug)]
pub struct StoreGenerator {
    /// The number of operations.
    pub ops: usize,
    /// The number of processes that call operations at the same time. Each is a session.
    pub processes: usize,
    /// The number of keys.
    pub keys: usize,
    /// Equal seeds give equal histories.
    pub seed: u64,
    /// What the store promises.
    pub promise: Promise,
}

/// A key: they are numbered.
type Key = usize;

/// What a process asks of a store.
#[derive(Clone, Debug)]
enum Request {
    Put(Key, i64),
    Get(Key),
    /// Reads, and writes of values.
    Transaction(Vec<(Key, Option<i64>)>),
}

/// What a store answers.
enum Answer {
    /// A write is done.
    Done,
    /// What a read, or each read of a transaction, returns; none for what was never written.
    Read(Vec<Option<i64>>),
    /// The transaction is aborted.
    Aborted,
}

/// A simulated store. Sessions are numbered.
trait Store {
    /// A session calls.
    fn call(&mut self, _session: usize, _request: &Request, _sampler: &mut Sampler) {}

    /// What is called is answered.
    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer;

    /// What was answered returns.
    fn end(&mut self, _session: usize, _request: &Request) {}

    /// No operation is open.
    fn rest(&mut self, _sampler: &mut Sampler) {}
}

/// How many versions old a read may be that is as old as the promise allows.
const LAG: usize = 12;

/// How many of 100 operations, or steps of transactions, are writes.
const WRITES: u32 = 35;

/// In how many of 100 calls all processes pause afterwards.
const PAUSES: u32 = 4;

enum ProcessState {
    Idle,
    Called(Request),
    Answered(Request, Value),
}

impl StoreGenerator {
    /// A history of the store.
    ///
    /// ```
    /// use linpoint::condition::Condition;
    /// use linpoint::generate::StoreGenerator;
    /// use linpoint::{Checker, object_type};
    ///
    /// let generator = StoreGenerator {
    ///     ops: 200,
    ///     processes: 4,
    ///     keys: 3,
    ///     seed: 1,
    ///     promise: Condition::CausalConvergence.into(),
    /// };
    /// let conditions = [Condition::CausalConvergence, Condition::Sequential];
    /// let map = object_type("kv", &Default::default())?;
    /// let decisions = Checker::default().check_conditions(&map, &generator.history()?, &conditions)?;
    /// assert_eq!(decisions[0].holds(), Some(true));
    /// assert_eq!(decisions[1].holds(), Some(false));
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn history(&self) -> Result<History, Error> {
        recorded(|each| self.simulate(each))
    }

    /// Passes the events of the same history to `each`, in the order of time, until it returns an error.
    pub fn events(
        &self,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut held = HeldBack::default();
        self.simulate(&mut |step| held.take(step, each))?;
        held.finish(each)
    }

    fn store(&self) -> Result<Box<dyn Store>, Error> {
        if self.processes == 0 || self.keys == 0 {
            let reason = "a history needs at least one process and one key";
            return Err(Error::usage(reason));
        }
        let (sessions, keys) = (self.processes, self.keys);
        let store = match self.promise {
            Promise::Condition(condition) => log::store(condition, sessions, keys)
                .or_else(|| replicas::store(condition, sessions, keys))
                .or_else(|| overlap::store(condition, sessions, keys)),
            Promise::Level(level) => transactions::store(level, sessions, keys),
        };
        store.ok_or_else(|| {
            Error::usage(format!(
                "there is no simulated store for {}; there are stores for {}",
                self.promise,
                Promise::names().join(", ")
            ))
        })
    }

    fn simulate(&self, each: &mut dyn FnMut(Step) -> Result<(), Error>) -> Result<(), Error> {
        let mut store = self.store()?;
        let mut sampler = Sampler::new(self.seed, None);
        let mut states: Vec<ProcessState> =
            (0..self.processes).map(|_| ProcessState::Idle).collect();
        let (mut called, mut open, mut pauses, mut written) = (0, 0, false, 0);
        while called < self.ops || open > 0 {
            let session = sampler.below(self.processes);
            let process = Value::from(session as i64);
            let state = &mut states[session];
            match std::mem::replace(state, ProcessState::Idle) {
                ProcessState::Idle if called == self.ops || pauses => {}
                ProcessState::Idle => {
                    let request = self.request(&mut written, &mut sampler);
                    store.call(session, &request, &mut sampler);
                    each(Step::Call(process, request.call()))?;
                    called += 1;
                    open += 1;
                    pauses = sampler.percent(PAUSES);
                    *state = ProcessState::Called(request);
                }
                ProcessState::Called(request) => {
                    match store.answer(session, &request, &mut sampler) {
                        Answer::Aborted => {
                            each(Step::TakeBack(process))?;
                            open -= 1;
                        }
                        answer => {
                            each(Step::Effect(process))?;
                            let result = request.result(answer);
                            *state = ProcessState::Answered(request, result);
                        }
                    }
                }
                ProcessState::Answered(request, result) => {
                    store.end(session, &request);
                    each(Step::Return(process, result))?;
                    open -= 1;
                }
            }
            if open == 0 {
                pauses = false;
                store.rest(&mut sampler);
            }
        }
        Ok(())
    }

    /// What a process asks next; each value is written once.
    fn request(&self, written: &mut i64, sampler: &mut Sampler) -> Request {
        let next = |written: &mut i64, sampler: &mut Sampler| {
            let is_write = sampler.percent(WRITES);
            *written += i64::from(is_write);
            (sampler.below(self.keys), is_write.then_some(*written))
        };
        if let Promise::Condition(_) = self.promise {
            return match next(written, sampler) {
                (key, Some(value)) => Request::Put(key, value),
                (key, None) => Request::Get(key),
            };
        }
        let mut steps: Vec<(Key, Option<i64>)> = Vec::new();
        for _ in 0..=sampler.below(3) {
            let (key, value) = next(written, sampler);
            // Transactions read what they write, so that reads tell the order of writes.
            if value.is_some() && steps.iter().all(|(of, _)| *of != key) {
                steps.push((key, None));
            }
            steps.push((key, value));
        }
        Request::Transaction(steps)
    }
}

fn value(value: Option<i64>) -> Value {
    value.map_or(Value::Nil, Value::from)
}

impl Request {
    fn call(&self) -> Call {
        match self {
            Request::Put(key, value) => Call::new(
                "put",
                Value::list([Value::from(*key as i64), (*value).into()]),
            ),
            Request::Get(key) => Call::new("get", Value::from(*key as i64)),
            Request::Transaction(steps) => {
                let nothing = steps.iter().map(|_| None);
                Call::new("txn", transaction(steps, nothing))
            }
        }
    }

    fn result(&self, answer: Answer) -> Value {
        match (self, answer) {
            (Request::Transaction(steps), Answer::Read(seen)) => {
                transaction(steps, seen.into_iter())
            }
            (_, Answer::Read(seen)) => value(seen.first().copied().flatten()),
            (_, Answer::Done | Answer::Aborted) => Value::Nil,
        }
    }
}

/// The steps of a transaction, with what is seen at each of them.
fn transaction(steps: &[(Key, Option<i64>)], seen: impl Iterator<Item = Option<i64>>) -> Value {
    let steps = steps.iter().zip(seen).map(|(&(key, written), seen)| {
        let (letter, value) = match written {
            Some(_) => ("w", value(written)),
            None => ("r", value(seen)),
        };
        Value::list([letter.into(), Value::from(key as i64), value])
    });
    Value::list(steps.collect::<Vec<_>>())
}
