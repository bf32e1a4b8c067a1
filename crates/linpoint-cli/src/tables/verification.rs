//! Bugs found and algorithms verified: Tables 1 and 2 of Amram et al. (DISC 2022), with the published figures beside.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::{Method, Outcome, Plan, Verification};
use serde_json::json;

use crate::args::VerificationTableArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::progress::explore;
use crate::units::show_duration;

/// The figures of the paper for one algorithm and number of processes, by each of its three methods (normal, simple, polynomial):
/// operations of each process, seconds, gigabytes.
struct Published {
    algorithm: &'static str,
    processes: usize,
    figures: [&'static str; 3],
}

const fn cell(algorithm: &'static str, processes: usize, figures: [&'static str; 3]) -> Published {
    Published {
        algorithm,
        processes,
        figures,
    }
}

/// Table 1: the planted bugs, within ten minutes.
const BUGS: &[Published] = &[
    cell("bowman", 3, ["∞ 11 0.6", "∞ 2 0.1", "∞ 2 0.3"]),
    cell("bowman", 4, ["3 168 12.0", "∞ 60 0.5", "∞ 54 0.6"]),
    cell("bowman", 5, ["1 9 0.4", "3 290 18.4", "40 575 4.4"]),
    cell("bowman", 6, ["1 66 3.8", "1 7 0.5", "35 507 3.3"]),
    cell("bowman", 8, ["-", "1 288 15.6", "33 554 2.7"]),
    cell("bowman", 10, ["-", "-", "30 558 2.9"]),
    cell("jayanti", 3, ["14 272 22.8", "23 393 25.1", "3 72 0.7"]),
    cell("jayanti", 4, ["3 149 11.9", "6 218 16.0", "3 98 0.7"]),
    cell("jayanti", 5, ["1 141 0.9", "3 253 18.4", "3 118 0.7"]),
    cell("jayanti", 6, ["1 302 4.6", "2 590 28.1", "3 142 0.7"]),
    cell("jayanti", 8, ["-", "1 386 15.6", "3 197 0.7"]),
    cell("jayanti", 10, ["-", "-", "3 267 1.1"]),
    cell("afek-bounded", 3, ["-", "2 242 1.9", "2 417 1.8"]),
    cell("afek-bounded", 4, ["-", "2 305 2.0", "2 506 2.3"]),
    cell("afek-bounded", 5, ["-", "2 417 4.0", "-"]),
    cell("afek-bounded", 6, ["-", "-", "-"]),
    cell("afek-bounded", 8, ["-", "-", "-"]),
    cell("afek-bounded", 10, ["-", "-", "-"]),
    cell("afek-unbounded", 3, ["2 50 0.5", "4 422 4.3", "3 215 1.4"]),
    cell("afek-unbounded", 4, ["2 163 2.0", "4 522 7.0", "3 255 2.1"]),
    cell("afek-unbounded", 5, ["1 21 0.4", "3 441 18.4", "3 298 2.6"]),
    cell("afek-unbounded", 6, ["1 95 4.2", "1 7 0.5", "3 326 2.8"]),
    cell("afek-unbounded", 8, ["-", "1 256 15.7", "3 402 3.2"]),
    cell("afek-unbounded", 10, ["-", "-", "3 491 3.6"]),
    cell("riany", 3, ["6 285 4.1", "9 445 5.4", "27 595 2.0"]),
    cell("riany", 4, ["3 172 12.1", "6 275 17", "24 512 1.9"]),
    cell("riany", 5, ["-", "-", "23 579 1.8"]),
    cell("riany", 6, ["-", "-", "21 508 2.2"]),
    cell("riany", 8, ["-", "-", "19 502 2.2"]),
    cell("riany", 10, ["-", "-", "18 586 3.0"]),
];

/// Table 2: verified, within an hour.
const VERIFIED: &[Published] = &[
    cell("bowman", 3, ["2 47 0.7", "∞ 3 0.1", "∞ 11 0.1"]),
    cell("bowman", 4, ["1 29 0.6", "∞ 134 1.8", "∞ 460 0.7"]),
    cell("bowman", 5, ["-", "1 158 1.4", "1 121 0.5"]),
    cell("bowman", 6, ["-", "-", "-"]),
    cell("bowman", 8, ["-", "-", "-"]),
    cell("bowman", 10, ["-", "-", "-"]),
    cell("jayanti", 3, ["-", "-", "-"]),
    cell("afek-bounded", 3, ["1 113 1.0", "1 15 0.2", "1 31 0.3"]),
    cell(
        "afek-unbounded",
        3,
        ["1 12 0.2", "2 2627 19.5", "2 2675 7.5"],
    ),
    cell("afek-unbounded", 4, ["-", "1 154 1.9", "1 269 1.5"]),
    cell("riany", 3, ["-", "-", "-"]),
];

/// The explanation of the figures.
const NOTES: &str = "\
Cells of the paper: operations of each process (∞: any number), seconds, gigabytes; -: nothing within the time. Times of
different machines are not comparable. b: operations of each process here; where any number is undecided within the limits, one
is tried. The methods full, simple and automata are those that the paper calls normal, simple and polynomial.
The paper's bounds are the largest that a depth-first search went through in time, not what a bug needs. Its polynomial
column explored restricted executions: its automata, as published, block events of the algorithm and miss two of the cases
to be checked, so that column does not establish correctness. Its models of jayanti (simple), afek-bounded (full), riany
(full) and attiya-welch (full) differ from the algorithms and are themselves not linearizable: here these differences are
bugs of their own (see linpoint verify --list). Its simple forms of both afek algorithms leave out views borrowed from
processes other than the two; here they are kept.";

/// The default memory limit of a cell, so that tables of different machines are comparable.
const MEMORY: u64 = 8 << 30;

/// The methods in the order of the columns of the paper, with its names.
const METHODS: [(Method, &str); 3] = [
    (Method::Full, "normal"),
    (Method::Simple, "simple"),
    (Method::Automata, "polynomial"),
];

struct Measured {
    published: &'static Published,
    method: Method,
    bound: Option<u8>,
    found: Verification,
    seconds: f64,
}

pub(crate) fn run(args: &VerificationTableArgs) -> anyhow::Result<Exit> {
    let known = |name: &String| BUGS.iter().any(|cell| cell.algorithm == name);
    if let Some(name) = args.algorithm.iter().find(|name| !known(name)) {
        let mut names: Vec<_> = BUGS.iter().map(|cell| cell.algorithm).collect();
        names.dedup();
        let names = names.join(", ");
        let reason = format!("the tables have no algorithm {name:?}; they have {names}");
        return Err(Error::usage(reason).into());
    }
    let is_wanted = |cell: &&Published| {
        let is_named = args.algorithm.iter().any(|name| name == cell.algorithm);
        (args.algorithm.is_empty() || is_named) && cell.processes <= args.processes
    };
    args.limits.start_threads()?;
    let limits = Limits {
        time: args.limits.measuring_time(),
        memory: args.limits.memory.unwrap_or(MEMORY),
        stop: interrupt::flag(),
    };
    let mut bugs = Vec::new();
    for published in BUGS.iter().filter(is_wanted) {
        bugs.push(limits.find_bug(published)?);
    }
    let mut verified = Vec::new();
    for published in VERIFIED.iter().filter(is_wanted) {
        for (method, _) in METHODS {
            if args.method.is_empty() || args.method.contains(&method) {
                verified.push(limits.verify(published, method)?);
            }
        }
    }
    let mut out = Output::standard();
    if args.report.json {
        let all = |cells: &[Measured]| cells.iter().map(as_json).collect::<Vec<_>>();
        writeln!(
            out,
            "{}",
            json!({ "bugs": all(&bugs), "verified": all(&verified), "notes": NOTES })
        )?;
    } else {
        writeln!(out, "The planted bug is found (Table 1):\n")?;
        print_bugs(&mut out, &bugs)?;
        writeln!(out, "\nThe algorithm is verified (Table 2):\n")?;
        print_verified(&mut out, &verified)?;
        writeln!(out, "\n{NOTES}")?;
    }
    out.finish()?;
    Ok(Exit::Linearizable)
}

/// The limits of one cell.
struct Limits {
    time: Duration,
    memory: u64,
    stop: Arc<AtomicBool>,
}

impl Limits {
    /// Finds the planted bug with the default method. That of Riany needs one operation of each process.
    fn find_bug(&self, published: &'static Published) -> anyhow::Result<Measured> {
        let plan = Plan {
            bug: Some("planted".into()),
            ops_per_process: (published.algorithm == "riany").then_some(1),
            ..Plan::new(published.algorithm, published.processes)
        };
        self.measure(published, plan)
    }

    /// Verifies for any number of operations; if that is undecided, for one of each process. Of Riany's algorithm, three
    /// processes with any number of operations are out of reach.
    fn verify(&self, published: &'static Published, method: Method) -> anyhow::Result<Measured> {
        let plan = Plan {
            method,
            ops_per_process: (published.algorithm == "riany").then_some(2),
            ..Plan::new(published.algorithm, published.processes)
        };
        let found = self.measure(published, plan.clone())?;
        if !matches!(found.found.outcome, Outcome::Undecided(_)) {
            return Ok(found);
        }
        let once = Plan {
            ops_per_process: Some(1),
            ..plan
        };
        let second = self.measure(published, once)?;
        match second.found.outcome {
            Outcome::Undecided(_) => Ok(found),
            _ => Ok(second),
        }
    }

    fn measure(&self, published: &'static Published, plan: Plan) -> anyhow::Result<Measured> {
        let budget = Budget::new(Some(self.time), Some(self.memory));
        let started = Instant::now();
        let found = explore(&plan, &budget.cancelled_by(self.stop.clone()))?;
        Ok(Measured {
            published,
            method: plan.method,
            bound: plan.ops_per_process,
            found,
            seconds: started.elapsed().as_secs_f64(),
        })
    }
}

fn result(measured: &Measured) -> String {
    match &measured.found.outcome {
        Outcome::Verified => "verified".into(),
        Outcome::Bug(execution) => format!("bug, {} moves", execution.rows.len()),
        Outcome::Undecided(limit) => format!("undecided: {limit}"),
    }
}

fn states(measured: &Measured) -> u64 {
    measured.found.runs.iter().map(|run| run.states).sum()
}

fn bytes(measured: &Measured) -> u64 {
    let runs = measured.found.runs.iter();
    runs.map(|run| run.bytes).max().unwrap_or(0)
}

/// A bug in each row, with all figures of the paper.
fn print_bugs(out: &mut Output, cells: &[Measured]) -> std::io::Result<()> {
    let [normal, simple, polynomial] = METHODS.map(|(_, name)| name);
    writeln!(
        out,
        "{:15} {:>3}  {normal:12} {simple:12} {polynomial:12}  {FIGURES}",
        "algorithm", "n"
    )?;
    for cell in cells {
        let Published {
            algorithm,
            processes,
            figures: [normal, simple, polynomial],
        } = cell.published;
        writeln!(
            out,
            "{algorithm:15} {processes:>3}  {normal:12} {simple:12} {polynomial:12}  {}",
            figures(cell)
        )?;
    }
    Ok(())
}

/// A method in each row, with the figures of the paper for it.
fn print_verified(out: &mut Output, cells: &[Measured]) -> std::io::Result<()> {
    writeln!(
        out,
        "{:15} {:>3}  {:10} {:12}  {FIGURES}",
        "algorithm", "n", "method", "paper"
    )?;
    for cell in cells {
        let Published {
            algorithm,
            processes,
            figures: published,
        } = cell.published;
        let (method, paper) = (cell.method.name(), published_by(cell.method, published));
        writeln!(
            out,
            "{algorithm:15} {processes:>3}  {method:10} {paper:12}  {}",
            figures(cell)
        )?;
    }
    Ok(())
}

/// The figure of the paper for a method.
fn published_by(method: Method, published: &[&'static str; 3]) -> &'static str {
    let column = METHODS.iter().position(|(known, _)| *known == method);
    column.map_or("-", |column| published[column])
}

/// The head of what [`figures`] shows.
const FIGURES: &str = " b      time      states     GB  linpoint";

fn figures(cell: &Measured) -> String {
    let bound = cell.bound.map_or("∞".to_owned(), |bound| bound.to_string());
    let time = show_duration(Duration::from_secs_f64(cell.seconds));
    format!(
        "{bound:>2} {time:>9} {:>11} {:>6.2}  {}",
        states(cell),
        bytes(cell) as f64 / 1e9,
        result(cell)
    )
}

fn as_json(cell: &Measured) -> serde_json::Value {
    json!({
        "algorithm": cell.published.algorithm,
        "processes": cell.published.processes,
        "method": cell.method.name(),
        "published": cell.published.figures,
        "ops_per_process": cell.bound,
        "result": result(cell),
        "seconds": cell.seconds,
        "states": states(cell),
        "bytes": bytes(cell),
    })
}
