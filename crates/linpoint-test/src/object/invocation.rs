//! Operations of an object under test, with their arguments: what a matrix is made of.

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use linpoint::report::Story;

use super::Object;
use crate::Map;
use crate::check::spec::{Ruling, Seen, Specification};
use crate::engine::Engine;
use crate::matrix::Matrix;
use crate::report::page;
use crate::runtime::execution::{Execution, Layout, Outcome};
use crate::runtime::quietly;
use crate::runtime::run::{Program, Subject};

/// An operation with its arguments.
pub(crate) struct Invocation<X> {
    /// The operation without arguments.
    pub(crate) name: String,
    /// The operation with arguments, as in "add(200)".
    pub(crate) label: String,
    pub(crate) blocking: bool,
    pub(crate) varies: bool,
    pub(crate) ignored: bool,
    prepare: Arc<dyn Fn() -> Rc<dyn Prepared<X>> + Send + Sync>,
}

// Not derived: that would ask for `X: Clone`.
impl<X> Clone for Invocation<X> {
    fn clone(&self) -> Self {
        Invocation {
            name: self.name.clone(),
            label: self.label.clone(),
            blocking: self.blocking,
            varies: self.varies,
            ignored: self.ignored,
            prepare: Arc::clone(&self.prepare),
        }
    }
}

impl<X: 'static> Invocation<X> {
    pub(crate) fn new<R: Debug + Eq + Hash + 'static>(
        name: &str,
        label: String,
        blocking: bool,
        run: impl Fn(&X) -> R + Send + Sync + 'static,
    ) -> Self {
        let run = Arc::new(run);
        Invocation {
            name: name.to_owned(),
            label,
            blocking,
            varies: false,
            ignored: false,
            prepare: Arc::new(move || {
                Rc::new(Numbered {
                    run: Arc::clone(&run),
                    results: RefCell::default(),
                })
            }),
        }
    }
}

/// An operation whose results are numbered as they appear.
trait Prepared<X> {
    fn run(&self, object: &X, ignored: bool) -> Outcome;
    fn describe(&self, result: u32) -> String;
    /// The result itself; nothing if it is ignored.
    fn value(&self, result: u32) -> Option<Rc<dyn Any>>;
}

struct Numbered<F, R> {
    run: Arc<F>,
    results: RefCell<Results<R>>,
}

/// So many results are compared one by one, which is faster than to hash them.
const FEW: usize = 8;

struct Results<R> {
    numbers: Map<Rc<R>, u32>,
    values: Vec<Rc<R>>,
}

impl<R> Default for Results<R> {
    fn default() -> Self {
        Results {
            numbers: Map::default(),
            values: Vec::new(),
        }
    }
}

impl<X, R: Debug + Eq + Hash + 'static, F: Fn(&X) -> R> Prepared<X> for Numbered<F, R> {
    fn run(&self, object: &X, ignored: bool) -> Outcome {
        let result = (self.run)(object);
        let number = quietly(move || {
            if ignored {
                return 0;
            }
            let Results { numbers, values } = &mut *self.results.borrow_mut();
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
        match self.results.borrow().values.get(result as usize) {
            Some(value) => format!("{value:?}"),
            None => "(ignored)".to_owned(),
        }
    }

    fn value(&self, result: u32) -> Option<Rc<dyn Any>> {
        let value = self.results.borrow().values.get(result as usize).cloned()?;
        Some(value)
    }
}

/// Results from here on are panics.
const PANICS: u32 = 1 << 30;

/// A test of an object, ready to run.
pub(crate) struct Test<X> {
    construct: Arc<dyn Fn() -> X + Send + Sync>,
    identity: u16,
    layout: Layout,
    ops: Rc<[Op<X>]>,
    panics: RefCell<Vec<String>>,
    engine: Engine,
    stack_size: usize,
    invocations: Vec<usize>,
    spec: Option<Arc<dyn Specification>>,
}

struct Op<X> {
    invocation: Invocation<X>,
    prepared: Rc<dyn Prepared<X>>,
}

impl<X: 'static> Test<X> {
    pub(crate) fn new(object: &Object<X>, matrix: &Matrix) -> Self {
        let ops = matrix.invocations().map(|number| {
            let invocation = object.invocations[number].clone();
            let prepared = (invocation.prepare)();
            Op {
                invocation,
                prepared,
            }
        });
        Test {
            construct: Arc::clone(&object.construct),
            identity: object.identity(),
            layout: matrix.layout(),
            ops: ops.collect(),
            panics: RefCell::default(),
            engine: object.settings.engine,
            stack_size: object.settings.stack_size,
            invocations: matrix.invocations().collect(),
            spec: object.spec.clone(),
        }
    }
}

impl<X> Test<X> {
    /// Looks at an execution with its results as values.
    fn seen<T>(&self, execution: &Execution, look: impl FnOnce(&Seen<'_>) -> T) -> T {
        let value = |op: usize| {
            let number = execution.outcomes[op]
                .value()
                .filter(|&number| number < PANICS)?;
            self.ops[op].prepared.value(number)
        };
        look(&Seen {
            execution,
            invocations: &self.invocations,
            value: &value,
        })
    }
}

struct Constructed<X> {
    object: X,
    ops: Rc<[Op<X>]>,
}

impl<X> Subject for Constructed<X> {
    fn invoke(&self, op: usize) -> Outcome {
        let Op {
            invocation,
            prepared,
        } = &self.ops[op];
        prepared.run(&self.object, invocation.ignored)
    }
}

impl<X: 'static> Program for Test<X> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn identity(&self) -> u16 {
        self.identity
    }

    fn engine(&self) -> Engine {
        self.engine
    }

    fn construct(&self) -> Rc<dyn Subject> {
        Rc::new(Constructed {
            object: (self.construct)(),
            ops: Rc::clone(&self.ops),
        })
    }

    fn panicked(&self, message: &str) -> Outcome {
        let mut panics = self.panics.borrow_mut();
        let number = match panics.iter().position(|known| known == message) {
            Some(number) => number,
            None => {
                panics.push(message.to_owned());
                panics.len() - 1
            }
        };
        Outcome::returned(PANICS + number as u32)
    }

    fn stack_size(&self) -> usize {
        self.stack_size
    }

    fn label(&self, op: usize) -> &str {
        &self.ops[op].invocation.label
    }

    fn describe(&self, op: usize, outcome: Outcome) -> String {
        match outcome.value() {
            None => "(no return)".to_owned(),
            Some(number) if number >= PANICS => {
                format!(
                    "panicked: {}",
                    self.panics.borrow()[(number - PANICS) as usize]
                )
            }
            Some(number) => self.ops[op].prepared.describe(number),
        }
    }

    fn may_block(&self, op: usize) -> bool {
        self.ops[op].invocation.blocking
    }

    fn may_vary(&self, op: usize) -> bool {
        self.ops[op].invocation.varies
    }

    fn has_spec(&self) -> bool {
        self.spec.is_some()
    }

    fn rule(&self, execution: &Execution) -> Option<Ruling> {
        let spec = self.spec.as_ref()?;
        self.seen(execution, |seen| Some(spec.rule(seen)))
    }

    fn tell(&self, execution: &Execution) -> Option<Story> {
        let spec = self.spec.as_ref()?;
        self.seen(execution, |seen| spec.tell(seen, &page::test_name(self)))
    }
}
