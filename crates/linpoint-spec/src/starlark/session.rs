//! Calls of the functions of a file, one after the other in the same evaluator.
//!
//! To make an evaluator takes longer than most calls, so each thread keeps the one that it used last. Its memory only grows: one
//! that has used a little of what a single call may use is replaced.

use std::cell::{Cell, RefCell};
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

use super::convert::{Parts, to_starlark, write};
use super::limits::{Use, limited};
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

    /// What `read` makes of the data that a function returns. Its arguments are written one after the other.
    pub(super) fn call<T>(
        &self,
        function: usize,
        arguments: &[u8],
        read: impl FnOnce(&[u8]) -> T,
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
        let returned = read(session.exchange.borrow().data.bytes());
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
    /// The arguments, then what the function returned.
    data: Writer,
    failure: Option<Failure>,
    used: Use,
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
            exchange.data.clear();
            exchange.data.data(arguments);
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

/// The state that the last step left, as a value of the language. Most steps begin where the last one ended.
///
/// Invariant: the function that is called cannot tell the value from one that is made of the data.
#[derive(Default)]
struct Kept<'v> {
    value: Option<Value<'v>>,
    data: Writer,
    parts: Parts<'v>,
}

impl<'v> Kept<'v> {
    /// The value, if the next data are the same. The caller may change it, so it is not kept any longer.
    fn take(&mut self, next: &mut Reader<'_>) -> Option<Value<'v>> {
        self.value.take_if(|_| next.skip_if(self.data.bytes()))
    }

    /// Writes what a function returned, and keeps the state of its last outcome.
    fn write(&mut self, returned: Value<'v>, data: &mut Writer) -> Result<(), String> {
        match ListRef::from_value(returned) {
            Some(outcomes) => {
                data.list(outcomes.len());
                let mut outcomes = outcomes.iter();
                outcomes.try_for_each(|outcome| self.write_outcome(1, outcome, data))
            }
            None => self.write_outcome(0, returned, data),
        }
    }

    fn write_outcome(
        &mut self,
        depth: usize,
        outcome: Value<'v>,
        data: &mut Writer,
    ) -> Result<(), String> {
        let pair = TupleRef::from_value(outcome).map(TupleRef::content);
        let Some(&[answer, state]) = pair else {
            return write(depth, outcome, data, &mut self.parts);
        };
        data.tuple(2);
        write(depth + 1, answer, data, &mut self.parts)?;
        self.parts.clear();
        let start = data.bytes().len();
        write(depth + 1, state, data, &mut self.parts)?;
        self.value = self.parts.are_as_made().then_some(state);
        self.data.clear();
        self.data.data(&data.bytes()[start..]);
        Ok(())
    }
}

fn answer<'v>(
    evaluator: &mut Evaluator<'v, '_, '_>,
    exchange: &mut Exchange,
    kept: &mut Kept<'v>,
) -> Result<(), Failure> {
    let function = exchange.function.take().ok_or(Failure::NotDefined)?;
    let heap = evaluator.heap();
    let mut arguments = Reader::new(exchange.data.bytes());
    let mut values = Vec::with_capacity(4);
    values.extend(kept.take(&mut arguments));
    while !arguments.is_empty() {
        values.push(to_starlark(heap, &mut arguments));
    }
    exchange.data.clear();
    let mut returned = None;
    // The function is valid within this closure only.
    function.map(|function| {
        returned = Some(evaluator.eval_function(function.to_value(), &values, &[]));
        function
    });
    let returned = returned
        .ok_or(Failure::NotDefined)?
        .map_err(Failure::Failed)?;
    let written = kept.write(returned, &mut exchange.data);
    written.map_err(Failure::Returned)
}
