//! Invocations: the operations of an object under test with their arguments. The entries of a matrix are invocations.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use crate::Map;
use crate::future::Drive;
use crate::runtime::execution::Outcome;
use crate::runtime::quietly;

/// Whether an operation may wait for another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocking {
    Never,
    Allowed,
}

/// What is done with the results of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Results {
    Compared,
    Ignored,
}

/// Which end of an object an operation needs a handle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) end: usize,
    /// The handle is gone afterwards.
    pub(crate) consumes: bool,
}

/// The future of an operation was dropped before it was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancelled {
    /// The operation has had no effect; in a concurrent execution, that is to be decided.
    WithoutEffect,
    /// In a serial execution, it was run to its end, and its result was forgotten.
    AfterEffect,
}

/// Makes the operation as it is driven.
pub(super) type Drives<X> = dyn Fn(Drive) -> Arc<Prepare<X>> + Send + Sync;

/// Makes an operation ready to run in one test.
pub(super) type Prepare<X> = dyn Fn(&Numbering) -> Rc<dyn Prepared<X>> + Send + Sync;

/// An operation with its arguments.
pub(crate) struct Invocation<X> {
    /// The operation without arguments.
    pub(crate) name: String,
    /// The operation with arguments, as in "add(200)".
    pub(crate) label: String,
    pub(crate) blocking: Blocking,
    pub(crate) varies: bool,
    pub(crate) results: Results,
    /// The threads that call it in generated tests; all if `None`.
    pub(crate) threads: Option<Vec<usize>>,
    /// The end that it belongs to, if the object has ends.
    pub(crate) uses: Option<Use>,
    /// The invocation of which it is a variant that is driven in another way.
    pub(crate) variant_of: Option<usize>,
    /// How its future is driven; of an operation that is no future, to its end.
    pub(crate) drive: Drive,
    /// Makes the same operation with its future driven in another way, if it is one.
    pub(super) drives: Option<Arc<Drives<X>>>,
    pub(super) prepare: Arc<Prepare<X>>,
}

// Not derived, since that would require `X: Clone`.
impl<X> Clone for Invocation<X> {
    fn clone(&self) -> Self {
        Invocation {
            name: self.name.clone(),
            label: self.label.clone(),
            blocking: self.blocking,
            varies: self.varies,
            results: self.results,
            threads: self.threads.clone(),
            uses: self.uses,
            variant_of: self.variant_of,
            drive: self.drive,
            drives: self.drives.clone(),
            prepare: Arc::clone(&self.prepare),
        }
    }
}

impl<X: 'static> Invocation<X> {
    /// An operation that `run` runs on the object, in the thread with this number.
    pub(crate) fn new<R: Debug + Eq + Hash + 'static>(
        name: &str,
        label: String,
        blocking: Blocking,
        run: impl Fn(&X, usize) -> R + Send + Sync + 'static,
    ) -> Self {
        let run = move |object: &X, thread: usize| Ok(run(object, thread));
        Invocation {
            name: name.to_owned(),
            label,
            blocking,
            varies: false,
            results: Results::Compared,
            threads: None,
            uses: None,
            variant_of: None,
            drive: Drive::ToEnd,
            drives: None,
            prepare: prepare(run),
        }
    }
}

/// An operation that may be cancelled, ready to be prepared for a test.
pub(super) fn prepare<X: 'static, R: Debug + Eq + Hash + 'static>(
    run: impl Fn(&X, usize) -> Result<R, Cancelled> + Send + Sync + 'static,
) -> Arc<Prepare<X>> {
    let run = Arc::new(run);
    Arc::new(move |numbering| {
        let run = Arc::clone(&run);
        match numbering {
            Numbering::Values => Rc::new(Numbered {
                run,
                known: RefCell::default(),
            }),
            Numbering::Texts(texts) => Rc::new(NumberedByText {
                run,
                known: RefCell::default(),
                texts: Rc::clone(texts),
            }),
        }
    })
}

/// Results with this number or a larger one are panics.
pub(super) const PANICS: u32 = 1 << 30;
/// The number of the result "cancelled".
pub(super) const CANCELLED: u32 = PANICS - 1;
/// The same in a serial execution in which the operation has had its effect.
pub(super) const CANCELLED_AFTER: u32 = PANICS - 2;

/// The text of the result of an operation that was cancelled.
pub(super) const CANCELLED_TEXT: &str = "cancelled";

/// How the results of the operations of a test are numbered.
pub(super) enum Numbering {
    /// As they appear, those of each operation by themselves.
    Values,
    /// By their text, which is all that an observation file has.
    Texts(Rc<Texts>),
}

/// The texts of all results of a test.
#[derive(Default)]
pub(super) struct Texts(RefCell<Vec<String>>);

impl Texts {
    /// The number of a result with this text.
    pub(super) fn number(&self, text: &str) -> u32 {
        let mut texts = self.0.borrow_mut();
        let known = texts.iter().position(|known| known == text);
        let number = known.unwrap_or_else(|| {
            texts.push(text.to_owned());
            texts.len() - 1
        });
        number as u32
    }

    pub(super) fn text(&self, number: u32) -> String {
        self.0.borrow()[number as usize].clone()
    }
}

/// An operation whose results are numbered.
pub(super) trait Prepared<X> {
    /// Runs it in this thread.
    fn run(&self, object: &X, thread: usize, results: Results) -> Outcome;
    fn describe(&self, result: u32) -> String;
    /// The result itself; `None` if it was ignored.
    fn value(&self, result: u32) -> Option<Rc<dyn Any>>;
}

struct Numbered<F, R> {
    run: Arc<F>,
    known: RefCell<Known<R>>,
}

/// The text of a result that is ignored.
const IGNORED: &str = "(ignored)";

/// Up to this many results are compared one by one, which is faster than hashing.
const FEW: usize = 8;

/// The results so far.
struct Known<R> {
    numbers: Map<Rc<R>, u32>,
    values: Vec<Rc<R>>,
}

impl<R> Default for Known<R> {
    fn default() -> Self {
        Known {
            numbers: Map::default(),
            values: Vec::new(),
        }
    }
}

impl<X, R: Debug + Eq + Hash + 'static, F: Fn(&X, usize) -> Result<R, Cancelled>> Prepared<X>
    for Numbered<F, R>
{
    fn run(&self, object: &X, thread: usize, results: Results) -> Outcome {
        let result = match (self.run)(object, thread) {
            Ok(result) => result,
            Err(Cancelled::WithoutEffect) => return Outcome::returned(CANCELLED),
            Err(Cancelled::AfterEffect) => return Outcome::returned(CANCELLED_AFTER),
        };
        let number = quietly(move || {
            if results == Results::Ignored {
                return 0;
            }
            let Known { numbers, values } = &mut *self.known.borrow_mut();
            let mut first = values.iter().take(FEW);
            if let Some(number) = first.position(|known| **known == result) {
                return number as u32;
            }
            if let Some(&number) = numbers.get(&result) {
                return number;
            }
            let (number, result) = (values.len() as u32, Rc::new(result));
            values.push(Rc::clone(&result));
            numbers.insert(result, number);
            number
        });
        Outcome::returned(number)
    }

    fn describe(&self, result: u32) -> String {
        match self.known.borrow().values.get(result as usize) {
            Some(value) => format!("{value:?}"),
            None => IGNORED.to_owned(),
        }
    }

    fn value(&self, result: u32) -> Option<Rc<dyn Any>> {
        let value = self.known.borrow().values.get(result as usize).cloned()?;
        Some(value)
    }
}

struct NumberedByText<F, R> {
    run: Arc<F>,
    known: RefCell<Map<R, u32>>,
    texts: Rc<Texts>,
}

impl<X, R: Debug + Eq + Hash + 'static, F: Fn(&X, usize) -> Result<R, Cancelled>> Prepared<X>
    for NumberedByText<F, R>
{
    fn run(&self, object: &X, thread: usize, results: Results) -> Outcome {
        let Ok(result) = (self.run)(object, thread) else {
            return quietly(|| Outcome::returned(self.texts.number(CANCELLED_TEXT)));
        };
        let number = quietly(move || {
            if results == Results::Ignored {
                return self.texts.number(IGNORED);
            }
            let mut known = self.known.borrow_mut();
            match known.get(&result) {
                Some(&number) => number,
                None => {
                    let number = self.texts.number(&format!("{result:?}"));
                    known.insert(result, number);
                    number
                }
            }
        });
        Outcome::returned(number)
    }

    fn describe(&self, result: u32) -> String {
        self.texts.text(result)
    }

    fn value(&self, _: u32) -> Option<Rc<dyn Any>> {
        None
    }
}
