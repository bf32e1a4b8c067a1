//! `linpoint check --condition`: decide conditions beside linearizability.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use linpoint::condition::Condition;
use linpoint::format::RecordedHistory;
use linpoint::{Budget, Checker, EngineChoice, Error};

use super::check::with_least_ops;
use crate::args::{Asked, CheckArgs};
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::output::conditions;
use crate::results::Decided;
use crate::source::{TypeChoice, object_of, with_methods};

pub(crate) fn run(args: &CheckArgs, checker: &Checker) -> anyhow::Result<Exit> {
    refuse_others(args)?;
    let start = Instant::now();
    args.limits.start_threads()?;
    let stop = interrupt::flag();
    let chosen = args.input.type_choice()?;
    let conditions = args.condition.iter().filter_map(|asked| match asked {
        Asked::Condition(condition) => Some(*condition),
        Asked::Level(_) => None,
    });
    let conditions: Vec<Condition> = conditions.collect();
    let mut out = Output::standard();
    let mut exit = Exit::default();
    let mut collected = Vec::new();
    let mut failed: Option<std::io::Error> = None;
    args.input
        .read(args.limits.memory, args.limits.timeout, &mut |recorded| {
            if failed.is_some() || stop.load(Relaxed) {
                return;
            }
            let budget = checker.budget().cancelled_by(Arc::clone(&stop));
            let budget = match args.timeout_total {
                Some(total) => budget.within_total(start, total),
                None => budget,
            };
            let recorded = recorded.and_then(|recorded| with_least_ops(recorded, args.min_ops));
            let decided = recorded.and_then(|recorded| {
                decide(recorded, &conditions, chosen.as_ref(), checker, &budget)
            });
            exit = exit.max(match &decided {
                Ok(decided) => decided.exit(),
                Err(error) => Exit::of_kind(error.kind()),
            });
            if let Err(error) = &decided {
                eprintln!("linpoint: {error}");
            }
            let is_left_out = args.quiet
                && decided
                    .as_ref()
                    .is_ok_and(|of| of.exit() == Exit::default());
            let printed = match (&decided, args.report.json, args.jsonl) {
                _ if is_left_out => Ok(()),
                (_, true, _) => {
                    collected.push(conditions::json(&decided));
                    Ok(())
                }
                (_, _, true) => writeln!(out, "{}", conditions::json(&decided)),
                (Ok(decided), ..) => conditions::text(&mut out, decided),
                (Err(_), ..) => Ok(()),
            };
            failed = printed.and_then(|()| out.flush()).err();
        });
    if let Some(error) = failed {
        return Err(error.into());
    }
    if args.report.json {
        writeln!(out, "{}", conditions::document(collected))?;
    }
    out.finish()?;
    // Histories that were not reached are undecided.
    Ok(if stop.load(Relaxed) {
        exit.max(Exit::Undecided)
    } else {
        exit
    })
}

/// Options that say something about linearizability, or about its reports.
pub(super) fn refuse_others(args: &CheckArgs) -> Result<(), Error> {
    let given = [
        ("--engine", args.engine != EngineChoice::Auto),
        ("--depth-max", args.depth_max.is_some()),
        ("--explanation", args.explanation.is_some()),
        ("--whole", args.whole),
        ("--all", args.all),
        ("--no-certify", args.no_certify),
        ("--no-diagnose", args.no_diagnose),
        ("--explain", args.explain),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        None => Ok(()),
        Some((option, _)) => Err(Error::usage(format!(
            "{option} is about linearizability, and does not go with --condition: leave it out, or check without --condition"
        ))),
    }
}

/// Decides conditions of one history, as the type that was chosen or the one that it names or that its methods tell.
pub fn decide(
    recorded: RecordedHistory,
    asked: &[Condition],
    chosen: Option<&TypeChoice>,
    checker: &Checker,
    budget: &Budget,
) -> Result<Decided, Error> {
    let (choice, object) = object_of(&recorded, chosen)?;
    let running = choice.running(budget);
    let decided = checker.check_conditions_within(&object, &recorded.history, asked, budget);
    drop(running);
    match decided {
        Ok(decisions) => Ok(Decided {
            recorded,
            type_name: choice.name,
            decisions,
        }),
        Err(error) => Err(recorded.locate(with_methods(error, &choice))),
    }
}
