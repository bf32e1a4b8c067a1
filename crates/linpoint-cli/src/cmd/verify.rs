//! `linpoint verify`: explores an algorithm and reports the result.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use linpoint::engine::Budget;
use linpoint::explore::{ALGORITHMS, Outcome, Plan, Reductions};
use linpoint::format::{ReadOptions, parse};
use linpoint::report::{Page, PageOptions};
use linpoint::{Checker, Error};

use crate::args::{Pairs, VerifyArgs};
use crate::exit::Exit;
use crate::files::{Files, Output};
use crate::interrupt;
use crate::output::verify as output;
use crate::progress::explore;
use crate::source::object_of;

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<Exit> {
    let mut out = Output::standard();
    if args.list {
        list(&mut out, args.report.json)?;
        out.finish()?;
        return Ok(Exit::Linearizable);
    }
    args.limits.start_threads()?;
    let plan = plan(args)?;
    // Files are opened first, so that one that cannot be written is reported before the exploration.
    let mut files = Files::reading(&[])?;
    let mut open = |option: &str, path: &Option<PathBuf>| {
        let path = path.as_deref();
        let created = path.map(|path| files.create(option, path)).transpose()?;
        anyhow::Ok(created.map(Output::announced))
    };
    let history = open("--history", &args.history)?;
    let page = open("--html", &args.html)?;
    let budget =
        Budget::new(args.limits.timeout, args.limits.memory).cancelled_by(interrupt::flag());
    let started = Instant::now();
    let found = explore(&plan, &budget)?;
    let time = started.elapsed();
    if args.report.json {
        writeln!(out, "{}", output::json(&plan, &found, time))?;
    } else {
        output::text(&mut out, &plan, &found, time)?;
    }
    out.finish()?;
    let verdict = match found.outcome {
        Outcome::Verified => Exit::Linearizable,
        Outcome::Bug(_) => Exit::Violation,
        Outcome::Undecided(_) => Exit::Undecided,
    };
    let Outcome::Bug(execution) = &found.outcome else {
        return Ok(verdict);
    };
    let history = history.map(|file| write_history(file, &plan, execution));
    let page = page.map(|file| write_page(file, &plan, execution));
    Ok(history
        .into_iter()
        .chain(page)
        .filter_map(Result::err)
        .fold(verdict, |exit, error| {
            eprintln!("linpoint: {error:#}");
            exit.max(Exit::of_error(&error))
        }))
}

fn write_history(mut file: Output, plan: &Plan, execution: &output::Rows) -> anyhow::Result<()> {
    for line in output::history_lines(plan, execution) {
        writeln!(file, "{line}")?;
    }
    file.finish()
}

/// Writes the page of a bug: its history with the verdict of `linpoint check`, and the execution that led to it.
fn write_page(file: Output, plan: &Plan, execution: &output::Rows) -> anyhow::Result<()> {
    let lines: Vec<String> = output::history_lines(plan, execution)
        .map(|line| line.to_string())
        .collect();
    let histories = parse(lines.join("\n").as_bytes(), &ReadOptions::default());
    let recorded = histories.into_iter().next();
    let recorded =
        recorded.ok_or_else(|| Error::bug("bug in linpoint: a bug without a history"))??;
    let (choice, object) = object_of(&recorded, None)?;
    let checker = Checker::default();
    let report = checker.check_recorded(&object, &recorded.history)?;
    let options = PageOptions {
        name: &output::name(plan),
        object_type: &choice.name,
        most_ops: usize::MAX,
    };
    let mut data = object.page_data(options, &recorded.history, &report)?;
    data.execution = output::moves(plan, execution);
    let mut page = Page::new(file)?;
    page.add(&data)?;
    page.finish()?.finish()
}

fn plan(args: &VerifyArgs) -> Result<Plan, Error> {
    let mut reductions = Reductions::ALL;
    for name in &args.without {
        reductions = reductions.without(name)?;
    }
    let pairs: Vec<(usize, usize)> = args
        .pairs
        .iter()
        .filter_map(|pairs| match *pairs {
            Pairs::All => None,
            Pairs::One(i, j) => Some((i, j)),
        })
        .collect();
    let is_all = args.pairs.contains(&Pairs::All);
    Ok(Plan {
        bug: args.bug.clone(),
        method: args.method,
        pairs: (!is_all).then_some(pairs),
        ops_per_process: args.ops_per_process,
        staged: !args.at_once,
        watch_each: args.watch_each,
        reductions,
        ..Plan::new(
            args.algorithm.as_deref().unwrap_or_default(),
            args.processes,
        )
    })
}

fn list(out: &mut Output, json: bool) -> std::io::Result<()> {
    if json {
        let all: Vec<_> = ALGORITHMS.iter().map(output::algorithm_json).collect();
        return writeln!(out, "{}", serde_json::Value::from(all));
    }
    for info in ALGORITHMS {
        writeln!(out, "{} ({})", info.name, info.source)?;
        for (bug, what) in info.bugs {
            writeln!(out, "  --bug {bug}: {what}")?;
        }
    }
    Ok(())
}
