//! A test of an object, ready to run: a matrix with the declarations of the object.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use linpoint::report::PageData;

use super::ends::{Cast, Holders};
use super::invocation::{
    Blocking, CANCELLED, CANCELLED_AFTER, CANCELLED_TEXT, Invocation, Numbering, PANICS, Prepared,
    Texts,
};
use super::{Construct, Invariant, Object};
use crate::check::Test;
use crate::check::observations::Observations;
use crate::check::serial::Serial;
use crate::check::spec::{Ruling, Seen, Specification};
use crate::engine::Engine;
use crate::future::Drive;
use crate::matrix::Matrix;
use crate::runtime::execution::{Layout, Outcome, Trace};
use crate::runtime::program::{Program, Subject};

/// The result of an operation that panicked, as text.
fn panic_text(message: &str) -> String {
    format!("panicked: {message}")
}

/// A test of an object, ready to run.
pub(crate) struct ObjectTest<X> {
    construct: Construct<X>,
    after_init: Option<fn(&X, &Cast)>,
    cast: Rc<Cast>,
    identity: u16,
    layout: Layout,
    threads: Rc<[usize]>,
    ops: Rc<[Op<X>]>,
    panics: RefCell<Vec<String>>,
    engine: Engine,
    stack_size: usize,
    most_spurious: u32,
    invocations: Vec<usize>,
    invariants: Rc<[Invariant<X>]>,
    spec: Option<Arc<dyn Specification>>,
    observed: Option<Observed>,
}

/// The observation file that takes the place of phase 1.
struct Observed {
    file: PathBuf,
    texts: Rc<Texts>,
}

struct Op<X> {
    invocation: Invocation<X>,
    prepared: Rc<dyn Prepared<X>>,
}

impl<X: 'static> ObjectTest<X> {
    pub(crate) fn new(object: &Object<X>, matrix: &Matrix) -> Self {
        let path = object.settings.from_observations.as_deref();
        let observed = path.map(|path| Observed {
            file: object.observation_file(path, matrix),
            texts: Rc::default(),
        });
        let numbering = match &observed {
            Some(observed) => Numbering::Texts(Rc::clone(&observed.texts)),
            None => Numbering::Values,
        };
        let ops = matrix.invocations().map(|number| {
            let invocation = object.invocations[number].clone();
            let prepared = (invocation.prepare)(&numbering);
            Op {
                invocation,
                prepared,
            }
        });
        let cast = Cast::of(object, matrix);
        let spec = object.spec.as_ref();
        let spec = spec.map(|spec| spec(&Holders::of(&object.ends, &cast)));
        ObjectTest {
            construct: Arc::clone(&object.construct),
            after_init: object.after_init,
            cast: Rc::new(cast),
            identity: object.identity(),
            threads: (0..matrix.layout().ops())
                .map(|op| matrix.layout().thread_of(op))
                .collect(),
            layout: matrix.layout(),
            ops: ops.collect(),
            panics: RefCell::default(),
            engine: object.settings.engine,
            stack_size: object.settings.stack_size,
            most_spurious: object.settings.spurious,
            invocations: matrix
                .invocations()
                .map(|number| object.invocations[number].variant_of.unwrap_or(number))
                .collect(),
            invariants: object.invariants.iter().map(Arc::clone).collect(),
            spec,
            observed,
        }
    }
}

impl<X> ObjectTest<X> {
    /// Calls `look` with an execution and its results as values.
    fn seen<T>(&self, trace: &Trace, look: impl FnOnce(&Seen<'_>) -> T) -> T {
        let history = trace.history();
        let value = |op: usize| {
            let number = history.outcomes[op]
                .value()
                .filter(|&number| number < PANICS)?;
            self.ops[op].prepared.value(number)
        };
        let cancelled = |op: usize| {
            (history.outcomes[op].value() == Some(CANCELLED)).then(|| self.ops[op].invocation.drive)
        };
        look(&Seen {
            cancelled: &cancelled,
            history,
            invocations: &self.invocations,
            value: &value,
        })
    }
}

struct Constructed<X> {
    object: X,
    ops: Rc<[Op<X>]>,
    /// The thread of each operation.
    threads: Rc<[usize]>,
    /// What to do after the last operation of the initial sequence.
    after_init: Option<AfterInit<X>>,
    invariants: Rc<[Invariant<X>]>,
}

/// The last operation of the initial sequence, what is done after it, and with which threads.
type AfterInit<X> = (usize, fn(&X, &Cast), Rc<Cast>);

impl<X> Subject for Constructed<X> {
    fn invoke(&self, op: usize) -> Outcome {
        let Op {
            invocation,
            prepared,
        } = &self.ops[op];
        let outcome = prepared.run(&self.object, self.threads[op], invocation.results);
        if let Some((last, after_init, cast)) = &self.after_init
            && *last == op
        {
            after_init(&self.object, cast);
        }
        outcome
    }

    fn has_invariants(&self) -> bool {
        !self.invariants.is_empty()
    }

    fn examine(&self) {
        for invariant in &*self.invariants {
            invariant(&self.object);
        }
    }
}

impl<X: 'static> Program for ObjectTest<X> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn construct(&self) -> Rc<dyn Subject> {
        Rc::new(Constructed {
            object: (self.construct)(&self.cast),
            ops: Rc::clone(&self.ops),
            threads: Rc::clone(&self.threads),
            invariants: Rc::clone(&self.invariants),
            after_init: self.layout.init.checked_sub(1).and_then(|last| {
                let after_init = self.after_init?;
                Some((last, after_init, Rc::clone(&self.cast)))
            }),
        })
    }

    fn panicked(&self, message: &str) -> Outcome {
        if let Some(Observed { texts, .. }) = &self.observed {
            return Outcome::returned(texts.number(&panic_text(message)));
        }
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

    fn is_engine_panic(&self, message: &str) -> bool {
        self.engine.is_own_panic(message)
    }

    fn stack_size(&self) -> usize {
        self.stack_size
    }

    fn most_spurious(&self) -> u32 {
        self.most_spurious
    }

    fn label(&self, op: usize) -> &str {
        &self.ops[op].invocation.label
    }
}

impl<X: 'static> Test for ObjectTest<X> {
    fn identity(&self) -> u16 {
        self.identity
    }

    fn engine(&self) -> Engine {
        self.engine
    }

    fn describe(&self, op: usize, outcome: Outcome) -> String {
        match outcome.value() {
            None => "(no return)".to_owned(),
            Some(number) if number >= PANICS => {
                panic_text(&self.panics.borrow()[(number - PANICS) as usize])
            }
            Some(CANCELLED | CANCELLED_AFTER) => CANCELLED_TEXT.to_owned(),
            Some(number) => self.ops[op].prepared.describe(number),
        }
    }

    fn may_block(&self, op: usize) -> bool {
        self.ops[op].invocation.blocking == Blocking::Allowed
    }

    fn may_vary(&self, op: usize) -> bool {
        self.ops[op].invocation.varies
    }

    fn observed(&self) -> Option<Result<Serial, String>> {
        let Observed { file, texts } = self.observed.as_ref()?;
        let serial = Observations::read(file).and_then(|observations| {
            let serial = observations.serial(self, |text| texts.number(text));
            serial.map_err(|why| format!("{}: {why}", file.display()))
        });
        Some(serial)
    }

    fn has_spec(&self) -> bool {
        self.spec.is_some()
    }

    fn told(&self, outcome: Outcome) -> Outcome {
        match outcome.value() {
            Some(CANCELLED_AFTER) => Outcome::returned(CANCELLED),
            _ => outcome,
        }
    }

    fn may_be_cancelled(&self, op: usize) -> bool {
        matches!(
            self.ops[op].invocation.drive,
            Drive::CancelSafe | Drive::Cancelled
        )
    }

    fn asserts(&self) -> bool {
        false
    }

    fn rule(&self, trace: &Trace) -> Option<Ruling> {
        let spec = self.spec.as_ref()?;
        self.seen(trace, |seen| Some(spec.rule(seen)))
    }

    fn page(&self, trace: &Trace, name: &str) -> Option<PageData> {
        let spec = self.spec.as_ref()?;
        self.seen(trace, |seen| spec.page(seen, name))
    }
}
