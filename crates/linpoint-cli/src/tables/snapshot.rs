//! The tests of snapshots by Amram et al. (DISC 2022), Tables 3 and 4, with the published columns beside where these are known.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use linpoint::format::{ReadOptions, RecordedHistory, read};
use linpoint::{Checker, Config, Error, Verdict, object_type};
use serde_json::json;

use super::peak_memory;
use super::stand_ins::{self, Named};
use crate::args::SnapshotTableArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::interrupt;
use crate::progress::Watcher;

/// The explanation under the tables.
const CAVEAT: &str = "Times of different machines are not comparable: those of linpoint were taken here, the others were \
    published with the histories. Those of linpoint are for deciding, with a replayed witness, and without reading; memory is \
    that of the whole process while it decides.";

/// The expected verdict of a history.
struct Expected {
    processes: u32,
    events: u32,
    verdict: ExpectedVerdict,
    published: Option<Published>,
}

/// The published results of a history: the costs of the tools that answered.
#[derive(Clone, Copy)]
struct Published {
    paper: Option<Cost>,
    lowe: Option<Cost>,
}

#[derive(Clone, Copy)]
enum ExpectedVerdict {
    Linearizable,
    /// Not linearizable from this event on, if that is known.
    Violation(Option<u32>),
}

impl Expected {
    /// What the name of a published file says.
    fn by_name(name: &str) -> Option<Self> {
        let named = Named::of(name)?;
        Some(Expected {
            processes: named.processes,
            events: 2 * named.ops,
            verdict: match named.is_linearizable {
                true => ExpectedVerdict::Linearizable,
                false => ExpectedVerdict::Violation(None),
            },
            published: None,
        })
    }
}

/// The cost of a published tool.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    megabytes: f64,
}

/// One configuration: the histories with this number of events and processes.
#[derive(Default)]
struct Row {
    histories: usize,
    /// The number of histories with the expected verdict and first bad event.
    right: usize,
    seconds: Vec<f64>,
    megabytes: Vec<f64>,
    /// The number of histories whose published results are known.
    published: usize,
    paper: Vec<Cost>,
    lowe: Vec<Cost>,
}

/// A table: its rows by events and processes.
type Table = BTreeMap<(u32, u32), Row>;

pub(crate) fn run(args: &SnapshotTableArgs) -> anyhow::Result<Exit> {
    if let Some(count) = args.stand_ins {
        stand_ins::write_all(&args.directory, count)?;
    }
    let results = args.directory.join("expected.csv");
    let expected = match results.exists() {
        true => Some(read_expected(&results)?),
        false => None,
    };
    let (stop, watcher) = (interrupt::flag(), Watcher::new());
    // Those that are linearizable, and those that are not.
    let mut tables = [Table::new(), Table::new()];
    let mut failed = None;
    let mut count = 0;
    let inputs = match (&expected, args.directory.is_dir()) {
        (Some(_), _) => vec![args.directory.join("histories.tar.gz")],
        (None, true) => published_files(&args.directory)?,
        (None, false) => vec![args.directory.clone()],
    };
    for input in &inputs {
        read(input, &ReadOptions::default(), |recorded| {
            if failed.is_some() || stop.load(Relaxed) {
                return;
            }
            count += 1;
            watcher.say(format!("history {count}"));
            failed = recorded
                .and_then(|recorded| add(&mut tables, &recorded, expected.as_ref()))
                .err();
        });
    }
    watcher.clear();
    if let Some(error) = failed {
        return Err(error.into());
    }
    let interrupted = stop.load(Relaxed);
    let mut out = Output::standard();
    if args.report.json {
        print_json(&mut out, &tables, interrupted)?;
    } else if args.csv {
        print_csv(&mut out, &tables)?;
    } else {
        print_tables(&mut out, &tables, args.markdown)?;
        if interrupted {
            writeln!(out, "\n(interrupted)")?;
        }
    }
    out.finish()?;
    let is_wrong = tables
        .iter()
        .flat_map(BTreeMap::values)
        .any(|row| row.right < row.histories);
    Ok(if is_wrong {
        Exit::Violation
    } else {
        Exit::Linearizable
    })
}

/// The files of a directory that have published names. They have no extension, by which a directory is searched otherwise.
fn published_files(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let name = directory.display().to_string();
    let unreadable = |error: std::io::Error| Error::unreadable(error.to_string()).in_file(&name);
    let mut files = Vec::new();
    for entry in directory.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if Named::of(&name).is_some() {
            files.push(path);
        }
    }
    if files.is_empty() {
        let reason = "no file has a published name, such as linearizable-5-100-0";
        return Err(Error::unreadable(reason).in_file(&name));
    }
    files.sort();
    Ok(files)
}

fn read_expected(path: &Path) -> Result<HashMap<String, Expected>, Error> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Error::unreadable(error.to_string()).in_file(&name))?;
    let mut lines = (1u64..).zip(text.lines());
    let (_, header) = lines.next().unwrap_or_default();
    let columns: Vec<&str> = header.split(',').collect();
    lines
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let cell = |column: &str| {
                let place = columns.iter().position(|name| *name == column);
                let cell = place.and_then(|place| cells.get(place).copied());
                cell.ok_or_else(|| Error::malformed(format!("there is no {column}")))
            };
            let number_in = |column: &str| {
                let cell = cell(column)?;
                let number = cell.parse::<f64>();
                number.map_err(|_| Error::malformed(format!("{column} is a number, not {cell:?}")))
            };
            let cost = |verdict: &str, seconds: &str, megabytes: &str| match cell(verdict)? {
                "linearizable" | "non_linearizable" => Ok(Some(Cost {
                    seconds: number_in(seconds)?,
                    megabytes: number_in(megabytes)?,
                })),
                _ => Ok(None),
            };
            let row = || {
                Ok(Expected {
                    processes: number_in("processes")? as u32,
                    events: number_in("events")? as u32,
                    verdict: match cell("linearizable")? {
                        "yes" => ExpectedVerdict::Linearizable,
                        _ => {
                            let first = number_in("first_bad_event")? as u32;
                            ExpectedVerdict::Violation(Some(first))
                        }
                    },
                    published: Some(Published {
                        paper: cost(
                            "paper_tool_verdict",
                            "paper_tool_time_s",
                            "paper_tool_memory_mb",
                        )?,
                        lowe: cost("lowe_verdict", "lowe_solve_time_s", "lowe_memory_mb")?,
                    }),
                })
            };
            let row = row().map_err(|error: Error| error.at_line(number).in_file(&name))?;
            Ok((cells.first().copied().unwrap_or_default().to_owned(), row))
        })
        .collect()
}

/// Decides a history and adds it to its row.
fn add(
    tables: &mut [Table; 2],
    recorded: &RecordedHistory,
    expected: Option<&HashMap<String, Expected>>,
) -> Result<(), Error> {
    const RUNS: usize = 3;
    let name = recorded.input.rsplit(['/', ':']).next().unwrap_or_default();
    let by_name = Expected::by_name(name);
    let known = match expected {
        Some(expected) => expected
            .get(name)
            .ok_or("expected.csv does not have this history"),
        None => by_name.as_ref().ok_or(
            "the name of the file is not that of a published one, such as linearizable-5-100-0",
        ),
    };
    let known = known.map_err(|reason| recorded.locate(Error::malformed(reason)))?;
    let (type_name, params) = recorded
        .object_type
        .as_ref()
        .ok_or_else(|| recorded.locate(Error::malformed("this is no history of a snapshot")))?;
    let object = object_type(type_name, params)?;
    let checker = Checker::new(Config::default().verdicts_only());
    let table = match known.verdict {
        ExpectedVerdict::Linearizable => 0,
        ExpectedVerdict::Violation(_) => 1,
    };
    let row = tables[table]
        .entry((known.events, known.processes))
        .or_default();
    let mut best = f64::INFINITY;
    let mut is_right = false;
    for _ in 0..RUNS {
        let started = Instant::now();
        let report = checker.check_recorded(&object, &recorded.history)?;
        best = best.min(started.elapsed().as_secs_f64());
        is_right = match (&report.verdict, known.verdict) {
            (Verdict::Linearizable(_), ExpectedVerdict::Linearizable)
            | (Verdict::Violation(_), ExpectedVerdict::Violation(None)) => true,
            (Verdict::Violation(found), ExpectedVerdict::Violation(Some(first))) => {
                found.shortest && recorded.history.op(found.last).ret == first
            }
            _ => false,
        };
    }
    // Apart from the times: looking at the memory takes longer than deciding.
    let (_, peak) = peak_memory::during(|| checker.check_recorded(&object, &recorded.history));
    row.histories += 1;
    row.right += usize::from(is_right);
    row.seconds.push(best);
    row.megabytes.extend(peak);
    if let Some(Published { paper, lowe }) = known.published {
        row.published += 1;
        row.paper.extend(paper);
        row.lowe.extend(lowe);
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (
        values.get(values.len().checked_sub(1)? / 2)?,
        values.get(values.len() / 2)?,
    );
    Some((low + high) / 2.0)
}

impl Row {
    /// Whether published results are known.
    fn is_published(&self) -> bool {
        self.published > 0
    }

    fn share(&self, answered: usize) -> f64 {
        100.0 * answered as f64 / self.histories as f64
    }

    /// Share of the histories answered, and the medians of time and space, of a published tool.
    fn published(&self, costs: &[Cost]) -> (f64, Option<f64>, Option<f64>) {
        let of = |what: fn(&Cost) -> f64| median(costs.iter().map(what).collect());
        (
            self.share(costs.len()),
            of(|cost| cost.seconds),
            of(|cost| cost.megabytes),
        )
    }

    /// The figures, as they are printed: answered in percent, seconds, megabytes.
    fn cells(&self) -> [String; 9] {
        let seconds = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.2}"));
        let space =
            |space: Option<f64>| space.map_or("-".to_owned(), |space| format!("{space:.0}"));
        let answered = |share: f64| match self.is_published() {
            false => "-".to_owned(),
            true => format!("{share:.0}%"),
        };
        let own = median(self.seconds.clone());
        let (paper, lowe) = (self.published(&self.paper), self.published(&self.lowe));
        [
            format!("{:.0}%", self.share(self.right)),
            own.map_or("-".to_owned(), |time| format!("{time:.6}")),
            space(median(self.megabytes.clone())),
            answered(paper.0),
            seconds(paper.1),
            space(paper.2),
            answered(lowe.0),
            seconds(lowe.1),
            space(lowe.2),
        ]
    }
}

const TITLES: [&str; 2] = [
    "Table 3: linearizable simple histories",
    "Table 4: simple histories that are not linearizable",
];

/// Right in percent, median seconds, median megabytes.
const COLUMNS: [&str; 12] = [
    "events",
    "processes",
    "histories",
    "linpoint",
    "s",
    "MB",
    "paper",
    "s",
    "MB",
    "Lowe",
    "s",
    "MB",
];

fn print_tables(out: &mut dyn Write, tables: &[Table; 2], markdown: bool) -> std::io::Result<()> {
    for (title, table) in TITLES.iter().zip(tables) {
        if markdown {
            writeln!(out, "### {title}\n\n| {} |", COLUMNS.join(" | "))?;
            writeln!(out, "|{}", "--:|".repeat(COLUMNS.len()))?;
        } else {
            writeln!(out, "{title}\n")?;
            writeln!(out, "{}", aligned(&COLUMNS.map(str::to_owned)))?;
        }
        for ((events, processes), row) in table {
            let mut cells = vec![
                events.to_string(),
                processes.to_string(),
                row.histories.to_string(),
            ];
            cells.extend(row.cells());
            if markdown {
                writeln!(out, "| {} |", cells.join(" | "))?;
            } else {
                writeln!(out, "{}", aligned(&cells))?;
            }
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "linpoint: verdict and first bad event (where it is known) right, median time and median memory. paper (the tool of Amram et al.), Lowe: answered within \
         600 s, median time, and median memory of those answered.\n{CAVEAT}"
    )
}

fn aligned(cells: &[String]) -> String {
    const WIDTHS: [usize; 12] = [6, 9, 9, 10, 9, 5, 7, 6, 5, 6, 7, 6];
    let cells = cells
        .iter()
        .zip(WIDTHS)
        .map(|(cell, width)| format!("{cell:>width$}"));
    cells.collect::<Vec<_>>().join(" ")
}

fn print_csv(out: &mut dyn Write, tables: &[Table; 2]) -> std::io::Result<()> {
    writeln!(
        out,
        "table,events,processes,histories,linpoint_right_percent,linpoint_median_s,linpoint_median_mb,paper_answered_percent,paper_median_s,\
         paper_median_mb,lowe_answered_percent,lowe_median_s,lowe_median_mb"
    )?;
    for (number, table) in [3, 4].iter().zip(tables) {
        for ((events, processes), row) in table {
            let plain = |cell: String| match cell.trim_end_matches('%') {
                "-" => String::new(),
                cell => cell.to_owned(),
            };
            let cells = row.cells().map(plain).join(",");
            writeln!(
                out,
                "{number},{events},{processes},{},{cells}",
                row.histories
            )?;
        }
    }
    // As a comment, which most readers of such files can skip.
    writeln!(out, "# {CAVEAT}")
}

fn print_json(out: &mut dyn Write, tables: &[Table; 2], interrupted: bool) -> std::io::Result<()> {
    let published = |(answered, seconds, megabytes)| json!({ "answered_percent": answered, "median_seconds": seconds, "median_megabytes": megabytes });
    let rows = |table: &Table| {
        let row = |(&(events, processes), row): (&(u32, u32), &Row)| {
            json!({
                "events": events,
                "processes": processes,
                "histories": row.histories,
                "linpoint": {
                    "right": row.right,
                    "median_seconds": median(row.seconds.clone()),
                    "median_megabytes": median(row.megabytes.clone()),
                },
                "paper": row.is_published().then(|| published(row.published(&row.paper))),
                "lowe": row.is_published().then(|| published(row.published(&row.lowe))),
            })
        };
        table.iter().map(row).collect::<Vec<_>>()
    };
    let document = json!({
        "table_3": rows(&tables[0]),
        "table_4": rows(&tables[1]),
        "note": CAVEAT,
        "interrupted": interrupted,
    });
    writeln!(out, "{document}")
}
