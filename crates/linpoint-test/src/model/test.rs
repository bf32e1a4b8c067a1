//! A whole test, ready to run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use linpoint::report::PageData;

use super::page;
use crate::check::Test;
use crate::check::serial::Serial;
use crate::check::spec::Ruling;
use crate::check::witness::Unexplained;
use crate::engine::Engine;
use crate::object::settings::Settings;
use crate::runtime::execution::{Layout, Outcome, Trace};
use crate::runtime::program::{Program, Subject};
use crate::runtime::{start, thread_name, values};

/// The number of the outcome "returned"; others are panics.
const RETURNED: u32 = 0;

/// What a thread is called in reports.
pub(super) fn label(thread: usize) -> &'static str {
    match thread {
        0 => "main",
        _ => "thread",
    }
}

pub(super) struct WholeTest {
    test: Arc<dyn Fn() + Send + Sync>,
    identity: u16,
    layout: Layout,
    stack_size: usize,
    most_spurious: u32,
    panics: RefCell<Vec<String>>,
}

impl WholeTest {
    pub(super) fn new(
        test: Arc<dyn Fn() + Send + Sync>,
        identity: u16,
        threads: usize,
        settings: &Settings,
    ) -> Self {
        WholeTest {
            test,
            identity,
            layout: Layout {
                started: 1,
                ..super::matrix_of(threads).layout()
            },
            stack_size: settings.stack_size,
            most_spurious: settings.spurious,
            panics: RefCell::default(),
        }
    }

    /// The message of the panic of a thread, if it panicked.
    fn panic_of(&self, trace: &Trace, thread: usize) -> Option<String> {
        let number = trace.history().outcomes[thread]
            .value()?
            .checked_sub(RETURNED + 1)?;
        self.panics.borrow().get(number as usize).cloned()
    }
}

struct Body(Arc<dyn Fn() + Send + Sync>);

impl Subject for Body {
    fn invoke(&self, thread: usize) -> Outcome {
        (self.0)();
        values::drop_of(thread);
        Outcome::returned(RETURNED)
    }
}

impl Program for WholeTest {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn construct(&self) -> Rc<dyn Subject> {
        Rc::new(Body(Arc::clone(&self.test)))
    }

    fn panicked(&self, message: &str) -> Outcome {
        let mut panics = self.panics.borrow_mut();
        let known = panics.iter().position(|known| known == message);
        let number = known.unwrap_or_else(|| {
            panics.push(message.to_owned());
            panics.len() - 1
        });
        Outcome::returned(RETURNED + 1 + number as u32)
    }

    fn is_engine_panic(&self, _: &str) -> bool {
        false
    }

    fn stack_size(&self) -> usize {
        self.stack_size
    }

    fn most_spurious(&self) -> u32 {
        self.most_spurious
    }

    fn label(&self, op: usize) -> &str {
        label(op)
    }
}

impl Test for WholeTest {
    fn identity(&self) -> u16 {
        self.identity
    }

    fn engine(&self) -> Engine {
        Engine::Linpoint
    }

    fn describe(&self, _: usize, outcome: Outcome) -> String {
        match outcome.value() {
            None => "(does not end)".to_owned(),
            Some(RETURNED) => "ends".to_owned(),
            Some(number) => format!(
                "panics: {}",
                self.panics.borrow()[(number - RETURNED - 1) as usize]
            ),
        }
    }

    fn may_block(&self, _: usize) -> bool {
        false
    }

    fn may_vary(&self, _: usize) -> bool {
        true
    }

    fn may_be_cancelled(&self, _: usize) -> bool {
        false
    }

    fn observed(&self) -> Option<Result<Serial, String>> {
        None
    }

    fn has_spec(&self) -> bool {
        true
    }

    fn asserts(&self) -> bool {
        true
    }

    fn rule(&self, trace: &Trace) -> Option<Ruling> {
        for thread in 0..self.layout.threads.len() {
            // The panic of a thread that is joined is an answer to the one that joins it.
            if let Some(message) = self.panic_of(trace, thread)
                && (thread == 0 || !start::is_joined(thread))
            {
                let why = format!("Thread {} panics: {message}", thread_name(thread));
                return Some(Ruling::Unexplained(Unexplained::Results, why));
            }
        }
        if trace.history().stuck {
            let op = trace.history().pending().next().unwrap_or_default();
            let why = "No thread can go on, and not all have ended.".to_owned();
            return Some(Ruling::Unexplained(Unexplained::Stuck(op), why));
        }
        Some(Ruling::Explained)
    }

    fn page(&self, trace: &Trace, name: &str) -> Option<PageData> {
        page::of(self, trace, name)
    }
}
