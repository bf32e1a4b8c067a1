//! The report page of a whole test: each thread is an operation that should end.

use linpoint::report::{PageData, PageOptions, page_data};
use linpoint::{Checker, Outcomes, Spec, TypedHistory, Verdict};

use super::test::WholeTest;
use crate::check::Test as _;
use crate::check::spec::NEVER_RETURNS;
use crate::runtime::execution::Trace;
use crate::runtime::history::Event;
use crate::runtime::program::{Program as _, qualified_label};

/// Threads that end.
struct Threads;

impl Spec for Threads {
    type Op = Thread;
    type Ret = End;
    type State = ();

    fn init(&self) {}

    fn apply(&self, (): &(), _: &Thread) -> Outcomes<End, ()> {
        Outcomes::One(End("ends".to_owned()), ())
    }
}

/// The name of a thread, and what becomes of it: printed without quotation marks.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Thread(String);

#[derive(Clone, PartialEq, Eq, Hash)]
struct End(String);

impl std::fmt::Debug for Thread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::fmt::Debug for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn of(test: &WholeTest, trace: &Trace, name: &str) -> Option<PageData> {
    let seen = trace.history();
    let mut history = TypedHistory::new();
    let mut ids = vec![None; seen.outcomes.len()];
    for event in &seen.events {
        let op = event.op();
        match event {
            Event::Call(_) => {
                let thread = Thread(qualified_label(test, op));
                ids[op] = Some(history.call(op as u32, thread));
            }
            Event::Return(_) => {
                let end = End(test.describe(op, seen.outcomes[op]));
                history.ret(ids[op]?, end);
            }
        }
    }
    for op in seen.pending() {
        history.ret(ids[op]?, End(NEVER_RETURNS.to_owned()));
    }
    let report = Checker::default().check(&Threads, &history).ok()?;
    let options = PageOptions {
        name,
        object_type: "threads",
        most_ops: test.layout().ops(),
    };
    matches!(report.verdict, Verdict::Violation(_))
        .then(|| page_data(options, &Threads, &history, &report))
}
