//! Printing of explorations: the verdict, the coverage, and the execution of a bug.

use std::io::Write;
use std::time::Duration;

use linpoint::explore::snapshot::{Answer, Request};
use linpoint::explore::{
    AlgorithmInfo, Execution, Exploration, Method, Outcome, Plan, Row, Verification,
};
use linpoint::report::Move;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::core_table::pad;
use crate::units::{counted, show_bytes, show_duration};

/// No table is wider than this; where there are too many processes, they share a column.
const MAX_WIDTH: usize = 200;

pub(crate) type Rows = Execution<Request, Answer>;

pub(crate) fn text(
    out: &mut dyn Write,
    plan: &Plan,
    found: &Verification,
    time: Duration,
) -> std::io::Result<()> {
    let name = name(plan);
    match &found.outcome {
        Outcome::Verified => {
            writeln!(out, "{name}: verified ({})\n", show_duration(time))?;
            writeln!(out, "  linearizable: {}", executions(plan, found))?;
        }
        Outcome::Undecided(limit) => {
            writeln!(out, "{name}: undecided, {limit}\n")?;
            writeln!(out, "  wanted: {}", executions(plan, found))?;
        }
        Outcome::Bug(execution) => {
            writeln!(out, "{name}: not linearizable ({})\n", show_duration(time))?;
            writeln!(out, "  {}\n", execution.reason)?;
            show_execution(out, plan, execution)?;
        }
    }
    writeln!(out, "  method: {}", method(plan))?;
    if plan.method != Method::Full {
        writeln!(out, "  entries that change: {}", pairs(found))?;
    }
    let on = found.reductions(plan);
    let on = if on.is_empty() {
        "none".into()
    } else {
        on.join(", ")
    };
    writeln!(out, "  reductions: {on}")?;
    writeln!(out, "  explored: {}", explored(found))
}

/// What was verified.
pub(crate) fn name(plan: &Plan) -> String {
    let bug = plan.bug.as_ref();
    let bug = bug.map_or(String::new(), |bug| format!(" with bug {bug}"));
    let processes = counted(plan.processes, "process");
    format!("{}{bug}, {processes}", plan.algorithm)
}

/// Which executions a verdict is about.
fn executions(plan: &Plan, found: &Verification) -> String {
    let bound = match plan.ops_per_process {
        None => "with any number of operations".to_owned(),
        Some(bound) => {
            let ops = counted(usize::from(bound), "operation");
            format!("with at most {ops} of each process")
        }
    };
    if found.covers_all(plan) {
        format!("every execution {bound}")
    } else {
        format!("every simple execution of these entries {bound}")
    }
}

fn method(plan: &Plan) -> &'static str {
    match plan.method {
        Method::Automata => {
            "automata (simple executions, decided by the monitor of simple histories)"
        }
        Method::Simple => "simple (simple executions, compared with the specification)",
        Method::Full => "full (executions with 0 and 1, compared with the specification)",
    }
}

fn pairs(found: &Verification) -> String {
    let pairs: Vec<String> = found
        .pairs
        .iter()
        .map(|(i, j)| format!("{i} and {j}"))
        .collect();
    let pairs = pairs.join("; ");
    match found.one_pair {
        Some(why) => format!("{pairs}, which stand for all: {why}"),
        None => pairs,
    }
}

fn explored(found: &Verification) -> String {
    let sum = |of: fn(&Exploration) -> u64| found.runs.iter().map(of).sum::<u64>();
    let most = |of: fn(&Exploration) -> u64| found.runs.iter().map(of).max().unwrap_or(0);
    let active = found.runs.last().map_or(0, |run| run.active);
    format!(
        "{}, {}, depth {}, {} for states; {} of up to {} taking part",
        counted(sum(|run| run.states) as usize, "state"),
        counted(sum(|run| run.transitions) as usize, "transition"),
        most(|run| run.depth),
        show_bytes(most(|run| run.bytes)),
        counted(found.runs.len(), "exploration"),
        counted(active, "process"),
    )
}

fn call_text(request: &Request) -> String {
    match request {
        Request::Update(value) => format!("update({})", u8::from(*value)),
        Request::Scan => "scan()".into(),
    }
}

fn answer_text(plan: &Plan, answer: &Answer) -> String {
    match answer {
        Answer::Done => "done".into(),
        Answer::View(view) => {
            let entries: Vec<_> = (0..plan.processes)
                .map(|k| (view >> k & 1).to_string())
                .collect();
            format!("[{}]", entries.join(", "))
        }
    }
}

fn show_execution(out: &mut dyn Write, plan: &Plan, execution: &Rows) -> std::io::Result<()> {
    writeln!(out, "  history:")?;
    let mut events: Vec<(usize, String, String)> = Vec::new();
    for (p, event) in execution.events() {
        match event {
            Ok(request) => events.push((p, format!("┌ {}", call_text(&request)), String::new())),
            Err(answer) => {
                let answer = format!("→ {}", answer_text(plan, &answer));
                match events.last_mut() {
                    // Nothing happened between call and return.
                    Some((q, text, _)) if *q == p && text.starts_with('┌') => {
                        *text = format!("{} {answer}", &text["┌ ".len()..]);
                    }
                    _ => events.push((p, format!("└ {answer}"), String::new())),
                }
            }
        }
    }
    show_grid(out, &events, "")?;
    let moves = counted(execution.rows.len(), "move");
    writeln!(
        out,
        "\n  execution, {moves}, with the registers after each:"
    )?;
    let rows: Vec<(usize, String, String)> = execution
        .rows
        .iter()
        .map(|row| (row.process, move_text(plan, row), row.registers.clone()))
        .collect();
    show_grid(out, &rows, "registers")?;
    writeln!(out)
}

/// What one process does at once: its call, its steps, and what it returns.
fn move_text(plan: &Plan, row: &Row<Request, Answer>) -> String {
    let call = row.call.as_ref();
    let call = call.map_or(String::new(), |call| format!("{}: ", call_text(call)));
    let ret = row.ret.as_ref();
    let ret = ret.map_or(String::new(), |ret| {
        format!(" → {}", answer_text(plan, ret))
    });
    format!("{call}{}{ret}", row.steps.join("; "))
}

/// The execution for a page.
pub(crate) fn moves(plan: &Plan, execution: &Rows) -> Vec<Move> {
    let rows = execution.rows.iter();
    let moves = rows.map(|row| Move {
        process: row.process.to_string(),
        text: move_text(plan, row),
        memory: row.registers.clone(),
    });
    moves.collect()
}

/// Writes a column for each process, and a last one with this title.
fn show_grid(
    out: &mut dyn Write,
    rows: &[(usize, String, String)],
    title: &str,
) -> std::io::Result<()> {
    let mut processes: Vec<usize> = rows.iter().map(|(p, ..)| *p).collect();
    processes.sort_unstable();
    processes.dedup();
    let head = |p: usize| format!("process {p}");
    let widths: Vec<usize> = processes
        .iter()
        .map(|&p| {
            let texts = rows.iter().filter(|(q, ..)| *q == p);
            let widest = texts.map(|(_, text, _)| text.width()).max();
            widest.unwrap_or(0).max(head(p).width())
        })
        .collect();
    let number = rows.len().to_string().len();
    let lasts = rows.iter().map(|(.., last)| last.width());
    let last = lasts.chain([title.width()]).max().unwrap_or(0);
    let line = |cells: &[String]| cells.join(" │ ").trim_end().to_owned();
    if widths.iter().sum::<usize>() + 3 * widths.len() + last > MAX_WIDTH {
        let widest = rows
            .iter()
            .map(|(_, text, _)| text.width())
            .max()
            .unwrap_or(0);
        for (i, (p, text, last)) in rows.iter().enumerate() {
            let cells = [
                format!("{:>number$}", i + 1),
                head(*p),
                pad(text, widest),
                last.clone(),
            ];
            writeln!(out, "    {}", line(&cells))?;
        }
        return Ok(());
    }
    let mut heads = vec![" ".repeat(number)];
    heads.extend(
        processes
            .iter()
            .zip(&widths)
            .map(|(&p, &width)| pad(&head(p), width)),
    );
    if last > 0 {
        heads.push(title.to_owned());
    }
    let rules: Vec<String> = std::iter::once(&number)
        .chain(&widths)
        .chain(Some(&last).filter(|&&last| last > 0))
        .map(|&width| "─".repeat(width))
        .collect();
    writeln!(out, "    {}", line(&heads))?;
    writeln!(out, "    {}", rules.join("─┼─"))?;
    for (i, (p, text, last)) in rows.iter().enumerate() {
        let mut cells = vec![format!("{:>number$}", i + 1)];
        for (&q, &width) in processes.iter().zip(&widths) {
            cells.push(pad(if q == *p { text } else { "" }, width));
        }
        if !last.is_empty() {
            cells.push(last.clone());
        }
        writeln!(out, "    {}", line(&cells))?;
    }
    Ok(())
}

pub(crate) fn json(plan: &Plan, found: &Verification, time: Duration) -> Value {
    let run = |run: &Exploration| {
        json!({
            "pair": [run.pair.0, run.pair.1], "active": run.active, "watched": run.watched, "states": run.states,
            "transitions": run.transitions, "depth": run.depth, "bytes": run.bytes, "seconds": run.time.as_secs_f64(),
        })
    };
    let mut document = json!({
        "algorithm": plan.algorithm,
        "bug": plan.bug,
        "processes": plan.processes,
        "method": plan.method.name(),
        "ops_per_process": plan.ops_per_process,
        "pairs": found.pairs.iter().map(|(i, j)| json!([i, j])).collect::<Vec<_>>(),
        "covers_all_executions": found.covers_all(plan),
        "reductions": found.reductions(plan),
        "verdict": match found.outcome {
            Outcome::Verified => "verified",
            Outcome::Bug(_) => "bug",
            Outcome::Undecided(_) => "undecided",
        },
        "seconds": time.as_secs_f64(),
        "runs": found.runs.iter().map(run).collect::<Vec<_>>(),
    });
    match &found.outcome {
        Outcome::Verified => {}
        Outcome::Undecided(limit) => document["limit"] = json!(limit.to_string()),
        Outcome::Bug(execution) => {
            document["reason"] = json!(execution.reason);
            let rows = execution.rows.iter();
            document["execution"] = rows
                .map(|row| {
                    json!({
                        "process": row.process,
                        "call": row.call.as_ref().map(call_text),
                        "steps": row.steps,
                        "return": row.ret.as_ref().map(|ret| answer_json(plan, ret)),
                        "registers": row.registers,
                    })
                })
                .collect();
            document["history"] = history_lines(plan, execution).collect();
        }
    }
    document
}

fn answer_json(plan: &Plan, answer: &Answer) -> Value {
    match answer {
        Answer::Done => json!("done"),
        Answer::View(view) => (0..plan.processes).map(|k| view >> k & 1).collect(),
    }
}

/// The history of an execution in linpoint's own format.
pub(crate) fn history_lines(plan: &Plan, execution: &Rows) -> impl Iterator<Item = Value> {
    let header =
        json!({ "linpoint": 1, "type": "snapshot", "params": { "processes": plan.processes } });
    let events = execution.events().map(|(p, event)| match event {
        Ok(Request::Update(value)) => {
            json!({ "process": p, "event": "call", "method": "update", "arg": u8::from(value) })
        }
        Ok(Request::Scan) => json!({ "process": p, "event": "call", "method": "scan" }),
        Err(Answer::Done) => json!({ "process": p, "event": "return" }),
        Err(answer) => {
            json!({ "process": p, "event": "return", "ret": answer_json(plan, &answer) })
        }
    });
    std::iter::once(header).chain(events)
}

pub(crate) fn algorithm_json(info: &AlgorithmInfo) -> Value {
    let bugs: Vec<Value> = info
        .bugs
        .iter()
        .map(|(name, what)| json!({ "name": name, "what": what }))
        .collect();
    json!({ "name": info.name, "source": info.source, "bugs": bugs })
}
