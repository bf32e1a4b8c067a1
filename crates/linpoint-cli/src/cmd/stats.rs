//! `linpoint stats`: facts about histories.

use std::io::Write;

use linpoint::format::RecordedHistory;
use serde_json::json;

use crate::args::StatsArgs;
use crate::exit::Exit;
use crate::files::Output;
use crate::source::type_of;

pub(crate) fn run(args: &StatsArgs) -> anyhow::Result<Exit> {
    let chosen = args.input.type_choice()?;
    let mut out = Output::standard();
    let exit = args.input.read_good(&mut |recorded| {
        let type_name = type_of(&recorded, chosen.as_ref())
            .ok()
            .flatten()
            .map(|choice| choice.name);
        if args.report.json {
            show_json(&mut out, &recorded, type_name.as_deref())?;
        } else {
            show_text(&mut out, &recorded, type_name.as_deref())?;
        }
        Ok(())
    })?;
    out.finish()?;
    Ok(exit)
}

fn show_text(
    out: &mut dyn Write,
    recorded: &RecordedHistory,
    type_name: Option<&str>,
) -> std::io::Result<()> {
    let (history, shape) = (&recorded.history, recorded.history.shape());
    let pending = match history.ends_stuck() {
        true => format!("{}, stuck at the end", shape.pending),
        false => shape.pending.to_string(),
    };
    let rows = [
        ("type", type_name.unwrap_or("unknown").to_owned()),
        ("operations", history.len().to_string()),
        ("processes", history.processes().len().to_string()),
        ("objects", history.objects().len().to_string()),
        ("width", shape.width.to_string()),
        ("concurrent pairs", shape.concurrent_pairs.to_string()),
        ("pending", pending),
        ("quiescent cuts", shape.quiescent_cuts.to_string()),
        ("distinct values", distinct_values(history).to_string()),
        ("methods", history.methods().join(", ")),
    ];
    writeln!(out, "{}", recorded.title())?;
    rows.iter()
        .try_for_each(|(name, value)| writeln!(out, "  {name:<16}  {value}"))
}

/// How many different arguments and results there are, without those that are nil.
fn distinct_values(history: &linpoint::History) -> usize {
    history
        .values()
        .iter()
        .filter(|value| !value.is_nil())
        .count()
}

fn show_json(
    out: &mut dyn Write,
    recorded: &RecordedHistory,
    type_name: Option<&str>,
) -> std::io::Result<()> {
    let (history, shape) = (&recorded.history, recorded.history.shape());
    let mut facts = json!({
        "schema": 1,
        "history": recorded.label(),
        "type": type_name,
        "operations": history.len(),
        "processes": history.processes().len(),
        "objects": history.objects().len(),
        "width": shape.width,
        "concurrent_pairs": shape.concurrent_pairs,
        "pending": shape.pending,
        "quiescent_cuts": shape.quiescent_cuts,
        "distinct_values": distinct_values(history),
        "methods": history.methods(),
    });
    if history.ends_stuck() {
        facts["stuck"] = json!(true);
    }
    writeln!(out, "{facts}")
}
