//! `linpoint check --condition`, with isolation levels of transactions.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::format::RecordedHistory;
use linpoint::spec::Params;
use linpoint::transaction::{Level, Model, check};

use super::check::with_least_ops;
use super::conditions::refuse_others;
use crate::args::{Asked, CheckArgs};
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::output::levels::{Decided, Printer};
use crate::source::TypeChoice;

/// The levels that `--condition` names, if it names any.
pub(crate) fn asked(args: &CheckArgs) -> Result<Option<Vec<Level>>, Error> {
    let of = |asked: &Asked| match asked {
        Asked::Level(level) => Some(*level),
        Asked::Condition(_) => None,
    };
    let levels: Vec<Level> = args.condition.iter().filter_map(of).collect();
    match levels.len() {
        0 => Ok(None),
        count if count == args.condition.len() => Ok(Some(levels)),
        _ => Err(Error::usage(
            "--condition names isolation levels of transactions and conditions on single operations: ask for them in two runs",
        )),
    }
}

pub(crate) fn run(args: &CheckArgs, levels: &[Level]) -> anyhow::Result<Exit> {
    refuse_others(args)?;
    refuse_own_types(args)?;
    args.limits.start_threads()?;
    let stop = interrupt::flag();
    let start = Instant::now();
    let chosen = chosen_type(args)?;
    let mut printer = Printer::new(args, Output::standard());
    let mut failed = None;
    let (memory, timeout) = (args.limits.memory, args.limits.timeout);
    args.input.read(memory, timeout, &mut |recorded| {
        if failed.is_some() || stop.load(Relaxed) {
            return;
        }
        let budget = Budget::new(timeout, memory).cancelled_by(Arc::clone(&stop));
        let budget = match args.timeout_total {
            Some(total) => budget.within_total(start, total),
            None => budget,
        };
        let outcome =
            recorded.and_then(|recorded| decide(args, recorded, levels, chosen.as_ref(), &budget));
        failed = printer.print(&outcome).err();
    });
    if let Some(error) = failed {
        return Err(error.into());
    }
    let exit = printer.finish()?;
    Ok(match stop.load(Relaxed) {
        true => exit.max(Exit::Undecided),
        false => exit,
    })
}

/// Types of one's own have no transactions.
fn refuse_own_types(args: &CheckArgs) -> Result<(), Error> {
    let object = &args.input.object;
    let given = [
        ("--spec", object.spec.is_some()),
        ("--model-cmd", object.model.model_cmd.is_some()),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "{option} does not go with isolation levels, which are those of transactions on lists and registers"
        ))),
    }
}

/// The type that the command line names, with its parameters.
fn chosen_type(args: &CheckArgs) -> Result<Option<(String, Params)>, Error> {
    match args.input.object.object_type.as_deref() {
        None => Ok(None),
        Some("list-append") => Ok(Some(("list-append".to_owned(), Params::new()))),
        Some(text) => {
            let choice = TypeChoice::parse(text)?;
            Ok(Some((choice.name, choice.params)))
        }
    }
}

fn decide(
    args: &CheckArgs,
    recorded: RecordedHistory,
    levels: &[Level],
    chosen: Option<&(String, Params)>,
    budget: &Budget,
) -> Result<Decided, Error> {
    let started = Instant::now();
    let recorded = with_least_ops(recorded, args.min_ops)?;
    let history = &recorded.history;
    let object_type = chosen.or(recorded.object_type.as_ref());
    let object_type = object_type.map(|(name, params)| (name.as_str(), params));
    let model = Model::of(history, object_type).map_err(|error| {
        recorded.locate(match levels.contains(&Level::Causal) {
            true => with_causal_conditions(&error),
            false => error,
        })
    })?;
    let reports = check(history, &model, levels, budget);
    let reports = reports.map_err(|error| recorded.locate(error))?;
    Ok(Decided {
        recorded,
        model,
        reports,
        time: started.elapsed(),
    })
}

/// Of single operations, causal consistency is three conditions.
fn with_causal_conditions(error: &Error) -> Error {
    let reason = error.reason();
    Error::usage(format!(
        "{reason}; for single operations, weak-causal, causal-memory and causal-convergence are conditions"
    ))
}
