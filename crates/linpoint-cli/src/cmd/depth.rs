//! `linpoint depth`: how many operations must be delayed to explain a history.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::engine::hitting::{Family, Index, Listing};
use linpoint::format::RecordedHistory;
use linpoint::object::ObjectType;
use rayon::prelude::*;

use crate::args::DepthArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::output::{depth, print_error};
use crate::progress::Watcher;
use crate::results::Measurement;
use crate::source::{TypeChoice, object_of, print_notes, with_methods};

pub(crate) fn run(args: &DepthArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    args.limits.start_threads()?;
    let watcher = Watcher::new();
    let mut inputs: Vec<Result<RecordedHistory, Error>> = Vec::new();
    args.input.read(args.limits.memory, None, &mut |recorded| {
        recorded.as_ref().ok().map(print_notes);
        inputs.push(recorded);
    });
    // While the inputs are read there is nothing to report, so a signal ends the program at once.
    let stop = interrupt::flag();
    let (total, done) = (inputs.len(), AtomicUsize::new(0));
    let measured: Vec<Result<Measurement, Error>> = inputs
        .into_par_iter()
        .map(|recorded| {
            let budget = Budget::new(Some(args.limits.measuring_time()), args.limits.memory);
            let budget = budget.cancelled_by(Arc::clone(&stop));
            let measured = measure(recorded?, chosen.as_ref(), args, &budget);
            let done = done.fetch_add(1, Relaxed) + 1;
            watcher.say(format!("{done} of {total} histories"));
            measured
        })
        .collect();
    watcher.clear();
    let mut out = Output::standard();
    let mut exit = Exit::default();
    for measured in measured {
        match measured {
            Ok(measured) => {
                exit = exit.max(measured.exit());
                if args.report.json {
                    writeln!(out, "{}", depth::to_json(&measured))?;
                } else {
                    depth::print(&mut out, &measured)?;
                }
            }
            Err(error) => {
                out.flush()?;
                eprintln!("linpoint: {error}");
                if args.report.json {
                    print_error(error.kind(), &error.to_string());
                }
                exit = exit.max(Exit::of_kind(error.kind()));
            }
        }
    }
    out.finish()?;
    Ok(exit)
}

fn measure(
    recorded: RecordedHistory,
    chosen: Option<&TypeChoice>,
    args: &DepthArgs,
    budget: &Budget,
) -> Result<Measurement, Error> {
    let (choice, object) = object_of(&recorded, chosen)?;
    let most = args.depth_max.map_or(usize::MAX, usize::from);
    let measured = families(&object, &recorded, args, budget).and_then(|families| {
        let parts = object.depths(&recorded.history, args.base, most, budget)?;
        Ok((parts, families))
    });
    match measured {
        Ok((parts, families)) => Ok(Measurement {
            recorded,
            type_name: choice.name,
            parts,
            families,
        }),
        Err(error) => Err(recorded.locate(with_methods(error, &choice))),
    }
}

/// The schedules of each part, if they were asked for.
fn families(
    object: &ObjectType,
    recorded: &RecordedHistory,
    args: &DepthArgs,
    budget: &Budget,
) -> Result<Vec<Listing>, Error> {
    let Some(d) = args.schedules else {
        return Ok(Vec::new());
    };
    let family = Family {
        rule: args.generator.unwrap_or_default(),
        base: args.base,
        index: Index::Chains,
    };
    object.families(&recorded.history, family, d.into(), budget)
}
