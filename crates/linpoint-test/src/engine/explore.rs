//! Runs a program under one of the engines.

use std::rc::Rc;

use super::Engine;
#[cfg(feature = "loom")]
use super::Loom;
#[cfg(feature = "loom")]
use super::loom;
#[cfg(feature = "shuttle")]
use super::shuttle;
#[cfg(feature = "shuttle")]
use crate::runtime::execution::Causality;
#[cfg(feature = "loom")]
use crate::runtime::execution::{Execution, Switches};
use crate::runtime::execution::{Settings, Trace};
use crate::runtime::panics::Quiet;
use crate::runtime::program::{Program, qualified_label};
use crate::runtime::run::{Driver, Flow, Prefix, repeat};
#[cfg(feature = "loom")]
use crate::runtime::run::{begin, ended};
use crate::runtime::search::Search;
use crate::runtime::watch;
#[cfg(feature = "loom")]
use crate::runtime::with_ended;

/// Runs all executions that `search` asks for, or until `visit` returns [`Flow::Enough`]. Returns the search.
pub(crate) fn explore<S: Search>(
    engine: Engine,
    program: &Rc<dyn Program>,
    settings: Settings,
    search: S,
    visit: impl FnMut(&Trace, &mut S) -> Flow,
) -> S {
    let _quiet = Quiet::new();
    let names = (0..program.layout().ops()).map(|op| qualified_label(&**program, op));
    watch(names);
    match engine {
        Engine::Linpoint => {
            let mut driver = Driver::new(program);
            let prefix = Prefix::FromCheckpoint;
            repeat(program, settings, prefix, search, visit, || {
                driver.execute()
            })
        }
        #[cfg(feature = "shuttle")]
        Engine::Shuttle => {
            let mut runner = shuttle::ShuttleRunner::new(program);
            let settings = Settings {
                // shuttle does not report what a step touches.
                causality: Causality::Ignored,
                ..settings
            };
            let prefix = Prefix::FromStart;
            repeat(program, settings, prefix, search, visit, || {
                runner.execute()
            })
        }
        #[cfg(feature = "loom")]
        Engine::Loom(loom) if settings.switches == Switches::BetweenOperations => {
            let execute = || loom::execute_serially(program, loom);
            repeat(program, settings, Prefix::FromStart, search, visit, execute)
        }
        #[cfg(feature = "loom")]
        Engine::Loom(loom) => show(program, settings, loom, search, visit),
    }
}

/// Runs the search of loom, then visits its histories.
#[cfg(feature = "loom")]
fn show<S: Search>(
    program: &Rc<dyn Program>,
    settings: Settings,
    loom: Loom,
    search: S,
    mut visit: impl FnMut(&Trace, &mut S) -> Flow,
) -> S {
    let wanted = loom::number(search.given());
    begin(program, settings, Box::new(search), 0, Prefix::FromStart);
    let shown = loom::explore(program, loom, wanted);
    let mut search: Box<S> = ended();
    let mut visit = |change: &dyn Fn(&mut Execution)| {
        with_ended(|execution| {
            change(execution);
            visit(execution.trace(), &mut search)
        })
    };
    for recorded in &shown.histories {
        if visit(&|execution| {
            execution.show(&recorded.history, recorded.schedule(), recorded.executions)
        }) == Flow::Enough
        {
            return *search;
        }
    }
    if let Some(why) = &shown.unfinished {
        visit(&|execution| execution.fail(why.clone()));
    }
    *search
}
