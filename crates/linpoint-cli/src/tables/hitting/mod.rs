//! `linpoint tables hitting`: evaluates hitting families on recorded histories.

mod listing;
mod overlap;
mod published;
mod sheets;

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context;
use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::engine::hitting::{Evaluation, Extent, Family, Index, Measured, Rule};
use linpoint::format::RecordedHistory;
use linpoint::history::Shape;
use rayon::prelude::*;
use serde_json::json;

use crate::args::HittingTableArgs;
use crate::exit::Exit;
use crate::files::{Files, Output};
use crate::interrupt;
use crate::progress::Watcher;
use crate::source::{TypeChoice, object_of, with_methods};
use crate::tables::sheet::Precision;

impl HittingTableArgs {
    fn precision(&self) -> Precision {
        match self.raw {
            true => Precision::Full,
            false => Precision::Rounded,
        }
    }
}

/// A history with its evaluation.
struct Row {
    label: String,
    type_name: String,
    ops: usize,
    threads: usize,
    shape: Shape,
    expected: Option<bool>,
    evaluation: Evaluation,
    /// The linearizability depth, if it was asked for.
    depth: Option<Measured<usize>>,
    time: Duration,
}

impl Row {
    fn is_sequential(&self) -> bool {
        self.shape.concurrent_pairs == 0
    }

    fn is_linearizable(&self) -> bool {
        self.evaluation.linearizable == Ok(true)
    }

    fn is_shown_by(&self, d: usize) -> bool {
        let shown_by = self.evaluation.shown_by.known();
        shown_by.is_some_and(|&shown_by| shown_by <= d)
    }
}

/// The measurements and errors of all histories.
struct Findings {
    family: Family,
    extent: Extent,
    has_depths: bool,
    rows: Vec<Row>,
    errors: Vec<Error>,
    interrupted: bool,
    time: Duration,
}

pub(crate) fn run(args: &HittingTableArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    args.limits.start_threads()?;
    let mut files = Files::reading(&args.input.paths(chosen.as_ref()))?;
    let stop = interrupt::flag();
    let started = Instant::now();
    let family = Family {
        rule: args.generator,
        base: args.base,
        index: Index::Chains,
    };
    let extent = Extent {
        d: args.d_max.into(),
        further_d: args.figure_d_max.max(args.d_max).into(),
    };
    let mut inputs: Vec<Result<RecordedHistory, Error>> = Vec::new();
    args.input.read(args.limits.memory, None, &mut |recorded| {
        inputs.push(recorded)
    });
    let (total, done) = (inputs.len(), AtomicUsize::new(0));
    let watcher = Watcher::new();
    let evaluated: Vec<Option<Result<Row, Error>>> = inputs
        .into_par_iter()
        .map(|recorded| {
            if stop.load(Relaxed) {
                return None;
            }
            let time = Some(args.limits.measuring_time());
            let budget = Budget::new(time, args.limits.memory).cancelled_by(Arc::clone(&stop));
            let row = recorded.and_then(|recorded| {
                evaluate(&recorded, chosen.as_ref(), family, extent, args, &budget)
            });
            let done = done.fetch_add(1, Relaxed) + 1;
            watcher.say(format!("{done} of {total} histories"));
            Some(row)
        })
        .collect();
    watcher.clear();
    let mut findings = Findings {
        family,
        extent,
        has_depths: args.depth,
        rows: Vec::new(),
        errors: Vec::new(),
        interrupted: stop.load(Relaxed),
        time: started.elapsed(),
    };
    for result in evaluated.into_iter().flatten() {
        match result {
            Ok(row) => findings.rows.push(row),
            Err(error) => findings.errors.push(error),
        }
    }
    findings.print(args)?;
    if let Some(folder) = &args.output {
        findings.write_into(folder, args.precision(), &mut files)?;
    }
    Ok(findings.exit())
}

fn evaluate(
    recorded: &RecordedHistory,
    chosen: Option<&TypeChoice>,
    family: Family,
    extent: Extent,
    args: &HittingTableArgs,
    budget: &Budget,
) -> Result<Row, Error> {
    let started = Instant::now();
    let (choice, object) = object_of(recorded, chosen)?;
    let history = &recorded.history;
    let shape = history.shape();
    if shape.pending > 0 {
        let reason = format!(
            "operations that never return, {} here, are not evaluated",
            shape.pending
        );
        return Err(recorded.locate(Error::malformed(reason)));
    }
    let locate = |error| recorded.locate(with_methods(error, &choice));
    let evaluation = object.evaluate(history, family, extent, budget);
    let evaluation = evaluation.map_err(locate)?;
    let depth = if args.depth {
        let parts = object.depths(history, args.base, usize::MAX, budget);
        let first = parts.map_err(locate)?.into_iter().next();
        first.map(|part| part.depths.depth.map(|delayed| delayed.depth))
    } else {
        None
    };
    let row = Row {
        label: recorded.label(),
        type_name: choice.name,
        ops: history.len(),
        threads: history.processes().len(),
        shape,
        expected: recorded.expected,
        evaluation,
        depth,
        time: started.elapsed(),
    };
    let numbers = row.evaluation.shown_by.known().zip(row.depth.as_ref());
    match numbers {
        // The published rule misses tuples; the others do not.
        Some((shown, Measured::Is(depth))) if shown > depth && family.rule != Rule::Artifact => {
            let reason = "bug in linpoint: a history is shown later than by its depth";
            Err(recorded.locate(Error::bug(reason)))
        }
        _ => Ok(row),
    }
}

impl Findings {
    fn print(&self, args: &HittingTableArgs) -> anyhow::Result<()> {
        let mut out = Output::standard();
        let sheets = self.sheets();
        if args.report.json {
            let tables = sheets.iter().map(|(name, sheet)| (*name, sheet.json()));
            let errors: Vec<String> = self.errors.iter().map(Error::to_string).collect();
            let document = json!({
                "schema": 1,
                "generator": self.family.rule.name(),
                "base": self.family.base.name(),
                "tables": tables.collect::<std::collections::BTreeMap<_, _>>(),
                "summary": self.summary(),
                "errors": errors,
                "interrupted": self.interrupted,
                "seconds": self.time.as_secs_f64(),
            });
            writeln!(out, "{document}")?;
        } else {
            let precision = args.precision();
            // Without histories there is nothing to tabulate.
            for (_, sheet) in sheets.iter().filter(|_| !self.rows.is_empty()) {
                let text = match args.markdown {
                    true => sheet.markdown(precision),
                    false => sheet.text(precision),
                };
                writeln!(out, "{text}")?;
            }
            for line in self.summary() {
                writeln!(out, "{line}")?;
            }
        }
        out.finish()?;
        // All of them are in the folder, if there is one, and in the JSON document.
        const SHOWN: usize = 10;
        for error in self.errors.iter().take(SHOWN) {
            eprintln!("linpoint: {error}");
        }
        if self.errors.len() > SHOWN {
            eprintln!("linpoint: and {} more errors", self.errors.len() - SHOWN);
        }
        Ok(())
    }

    fn write_into(
        &self,
        folder: &std::path::Path,
        precision: Precision,
        files: &mut Files,
    ) -> anyhow::Result<()> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut markdown = String::new();
        for (name, sheet) in self.sheets() {
            texts.push((format!("{name}.tsv"), sheet.tsv(precision)));
            markdown += &sheet.markdown(precision);
            markdown.push('\n');
        }
        markdown += &self.summary().join("  \n");
        texts.extend([
            ("tables.md".to_owned(), markdown + "\n"),
            ("histories.tsv".to_owned(), self.histories().tsv(precision)),
            ("errors.tsv".to_owned(), self.listed_errors().tsv(precision)),
            ("figure4.svg".to_owned(), self.figure().svg()),
            ("figure4.html".to_owned(), self.page()),
            ("overlap.svg".to_owned(), self.overlap_figure().svg()),
        ]);
        // All are opened before one is written: one that would replace an input keeps the others from being written too.
        let mut outputs = Vec::new();
        for (name, text) in texts {
            outputs.push((files.create("--output", &folder.join(name))?, text));
        }
        outputs.into_iter().try_for_each(|(mut out, text)| {
            out.write_all(text.as_bytes())?;
            out.finish()
        })
    }

    fn exit(&self) -> Exit {
        let errors = self.errors.iter().map(|error| Exit::of_kind(error.kind()));
        let errors = errors.max().unwrap_or_default();
        let unfinished = self.rows.iter().any(|row| {
            row.evaluation.linearizable.is_err()
                || matches!(row.evaluation.shown_by, Measured::Unknown(_))
        });
        match self.interrupted || unfinished {
            true => errors.max(Exit::Undecided),
            false => errors,
        }
    }
}
