//! Calls of the functions of a file, one after the other in the same evaluator.
//!
//! To make an evaluator takes longer than most calls, so each thread keeps the one that it used last. Its memory only grows: one
//! that has used a little of what a single call may use is replaced.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, Waker};

use starlark::environment::Module;
use starlark::eval::Evaluator;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{OwnedFrozenValue, Value};

use super::convert::{Parts, Texts, to_starlark, write};
use super::limits::{BLOCKED, Use, limited};
use crate::flat::{Reader, Writer};
use crate::model::ModelError;

/// An evaluator that has used more is not kept.
const WORN: Use = Use {
    ticks: 10_000,
    memory: 1 << 20,
};

/// Functions of a file that any thread may call.
#[derive(Debug)]
pub(super) struct Functions<const N: usize> {
    /// No others have this number.
    number: u64,
    /// Those that the file defines.
    defined: [Option<OwnedFrozenValue>; N],
}

/// Why a function returned no data.
#[derive(Debug)]
pub(super) enum Failure {
    /// The evaluation of the function failed.
    Failed(starlark::Error),
    /// It returned this, which is no data.
    Returned(String),
    /// It made a text or a list of more than four gigabytes, which the language cannot make.
    TooLarge,
    /// There is no evaluator with the limits.
    NoEvaluator(ModelError),
    /// The file does not define it.
    NotDefined,
}

impl<const N: usize> Functions<N> {
    pub(super) fn new(defined: [Option<OwnedFrozenValue>; N]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Functions {
            number: COUNT.fetch_add(1, Relaxed),
            defined,
        }
    }

    pub(super) fn has(&self, function: usize) -> bool {
        self.defined[function].is_some()
    }

    /// What `read` makes of what a function returns. Its arguments are written one after the other.
    pub(super) fn call<T>(
        &self,
        function: usize,
        arguments: &[u8],
        read: impl FnOnce(&Returned) -> T,
    ) -> Result<T, Failure> {
        thread_local! {
            static LAST: Cell<Option<Session>> = const { Cell::new(None) };
        }
        let function = self.defined[function].as_ref().ok_or(Failure::NotDefined)?;
        let kept = LAST.take().filter(|last| last.number == self.number);
        let is_kept = kept.is_some();
        let mut session = kept.unwrap_or_else(|| Session::start(self.number));
        let mut reply = session.call(function, arguments);
        if is_kept && reply.is_err() && session.used().is_over(Use::MOST) {
            // Calls before this one used a part. What one call uses must decide alone.
            session = Session::start(self.number);
            reply = session.call(function, arguments);
        }
        reply?;
        let returned = read(&session.exchange.borrow().returned);
        if !session.used().is_over(WORN) {
            LAST.set(Some(session));
        }
        Ok(returned)
    }
}

/// An evaluator, which waits for the next call.
struct Session {
    /// That of the functions which it calls.
    number: u64,
    exchange: Rc<RefCell<Exchange>>,
    /// A future, because what it owns borrows from itself. Polled once for each call.
    evaluation: Pin<Box<dyn Future<Output = ()>>>,
}

/// What a session is asked, and what it answered.
#[derive(Default)]
struct Exchange {
    function: Option<OwnedFrozenValue>,
    arguments: Writer,
    returned: Returned,
    failure: Option<Failure>,
    used: Use,
}

/// What a function returned.
#[derive(Debug, Default)]
pub(super) struct Returned {
    data: Writer,
    /// Where in the data the pairs are.
    pairs: Vec<Pair>,
    /// Whether there is something that is no pair.
    has_other: bool,
}

/// A pair of answer and state in data: where each of them begins, and where the state ends.
#[derive(Clone, Copy, Debug)]
struct Pair {
    answer: usize,
    state: usize,
    end: usize,
}

impl Returned {
    fn clear(&mut self) {
        self.data.clear();
        self.pairs.clear();
        self.has_other = false;
    }

    pub(super) fn data(&self) -> Reader<'_> {
        Reader::new(self.data.bytes())
    }

    /// The data of the pairs of answer and state, if it was such a pair or a list of them.
    pub(super) fn pairs(&self) -> Option<impl ExactSizeIterator<Item = (&[u8], &[u8])>> {
        let data = self.data.bytes();
        let halves = |pair: &Pair| (&data[pair.answer..pair.state], &data[pair.state..pair.end]);
        (!self.has_other).then(|| self.pairs.iter().map(halves))
    }
}

impl Session {
    fn start(number: u64) -> Self {
        let exchange = Rc::new(RefCell::new(Exchange::default()));
        let evaluation = evaluate(Rc::clone(&exchange));
        Session {
            number,
            exchange,
            evaluation: Box::pin(evaluation),
        }
    }

    /// After a failure it must not be called again.
    fn call(&mut self, function: &OwnedFrozenValue, arguments: &[u8]) -> Result<(), Failure> {
        {
            let mut exchange = self.exchange.borrow_mut();
            exchange.function = Some(function.clone());
            exchange.arguments.clear();
            exchange.arguments.data(arguments);
        }
        let poll = || {
            let mut context = Context::from_waker(Waker::noop());
            self.evaluation.as_mut().poll(&mut context)
        };
        // It never ends, but without an evaluator.
        let _ = catch_unwind(AssertUnwindSafe(poll)).map_err(|_| Failure::TooLarge)?;
        self.exchange
            .borrow_mut()
            .failure
            .take()
            .map_or(Ok(()), Err)
    }

    fn used(&self) -> Use {
        self.exchange.borrow().used
    }
}

/// Answers one call each time it is polled.
async fn evaluate(exchange: Rc<RefCell<Exchange>>) {
    Module::with_temp_heap_async(async |module| {
        let mut evaluator = match limited(&module) {
            Ok(evaluator) => evaluator,
            Err(error) => {
                exchange.borrow_mut().failure = Some(Failure::NoEvaluator(error));
                return;
            }
        };
        let mut kept = Kept::default();
        loop {
            {
                let exchange = &mut *exchange.borrow_mut();
                exchange.failure = answer(&mut evaluator, exchange, &mut kept).err();
                exchange.used = Use::of(&evaluator);
            }
            let mut is_next_call = false;
            poll_fn(|_| match std::mem::replace(&mut is_next_call, true) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            })
            .await;
        }
    })
    .await;
}

/// What an evaluator has at hand for the next call.
#[derive(Default)]
struct Kept<'v> {
    states: States<'v>,
    texts: Texts<'v>,
    parts: Parts<'v>,
}

/// The states that the last steps left, as values of the language: most steps begin where one of them ended.
///
/// Invariant: the function that is called cannot tell a value from one that is made of the data. So no two of them have a part in
/// common that may be changed: one step adds one state at most, which is made of what the step made and of the state that it got,
/// and that one is not kept any longer.
#[derive(Default)]
struct States<'v> {
    /// Data and values, the latest last.
    last: VecDeque<(Writer, Value<'v>)>,
}

impl<'v> States<'v> {
    const MOST: usize = 8;

    /// The value of the next data, if it is kept. The caller may change it, so it is not kept any longer.
    fn take(&mut self, next: &mut Reader<'_>) -> Option<Value<'v>> {
        let mut places = (0..self.last.len()).rev();
        let place = places.find(|&place| next.skip_if(self.last[place].0.bytes()))?;
        self.last.remove(place).map(|(_, value)| value)
    }

    fn add(&mut self, state: &[u8], value: Value<'v>) {
        let mut data = match self.last.len() {
            Self::MOST => self.last.pop_front().map(|(data, _)| data),
            _ => None,
        }
        .unwrap_or_default();
        data.clear();
        data.data(state);
        self.last.push_back((data, value));
    }
}

impl<'v> Kept<'v> {
    /// Writes what a function returned, and keeps the state of its last outcome.
    fn write(&mut self, value: Value<'v>, returned: &mut Returned) -> Result<(), String> {
        if value.unpack_str() == Some(BLOCKED) {
            returned.data.list(0);
            return Ok(());
        }
        let mut state = None;
        match ListRef::from_value(value) {
            Some(outcomes) => {
                returned.data.list(outcomes.len());
                returned.has_other = outcomes.is_empty();
                for outcome in outcomes.iter() {
                    state = self.write_outcome(1, outcome, returned)?;
                }
            }
            None => state = self.write_outcome(0, value, returned)?,
        }
        if let (Some(state), Some(pair)) = (state, returned.pairs.last()) {
            self.states
                .add(&returned.data.bytes()[pair.state..pair.end], state);
        }
        Ok(())
    }

    /// Writes an outcome. Returns its state, if that can be kept.
    fn write_outcome(
        &mut self,
        depth: usize,
        outcome: Value<'v>,
        returned: &mut Returned,
    ) -> Result<Option<Value<'v>>, String> {
        let data = &mut returned.data;
        let pair = TupleRef::from_value(outcome).map(TupleRef::content);
        let Some(&[answer, state]) = pair else {
            returned.has_other = true;
            return write(depth, outcome, data, &mut self.parts).map(|()| None);
        };
        data.tuple(2);
        let start = data.bytes().len();
        write(depth + 1, answer, data, &mut self.parts)?;
        let middle = data.bytes().len();
        self.parts.clear();
        write(depth + 1, state, data, &mut self.parts)?;
        returned.pairs.push(Pair {
            answer: start,
            state: middle,
            end: data.bytes().len(),
        });
        Ok(self.parts.are_as_made().then_some(state))
    }
}

fn answer<'v>(
    evaluator: &mut Evaluator<'v, '_, '_>,
    exchange: &mut Exchange,
    kept: &mut Kept<'v>,
) -> Result<(), Failure> {
    let function = exchange.function.take().ok_or(Failure::NotDefined)?;
    let heap = evaluator.heap();
    let mut arguments = Reader::new(exchange.arguments.bytes());
    let mut values = Vec::with_capacity(4);
    values.extend(kept.states.take(&mut arguments));
    while !arguments.is_empty() {
        values.push(to_starlark(heap, &mut kept.texts, &mut arguments));
    }
    let mut returned = None;
    // The function is valid within this closure only.
    function.map(|function| {
        returned = Some(evaluator.eval_function(function.to_value(), &values, &[]));
        function
    });
    let returned = returned
        .ok_or(Failure::NotDefined)?
        .map_err(Failure::Failed)?;
    exchange.returned.clear();
    let written = kept.write(returned, &mut exchange.returned);
    written.map_err(Failure::Returned)
}
