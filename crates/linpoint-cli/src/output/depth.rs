//! Depths of histories, in words or as JSON.

use std::io::Write;

use linpoint::engine::hitting::{Delayed, Depths, Measured};
use linpoint::object::PartDepths;
use linpoint::{History, OpId};
use serde_json::{Value, json};

use super::core_table::cut;
use super::text::of_part;
use super::{family, json, timeline};
use crate::results::Measurement;
use crate::units::counted;

pub(crate) fn print(out: &mut dyn Write, measured: &Measurement) -> std::io::Result<()> {
    let history = &measured.recorded.history;
    if measured.parts.is_empty() {
        writeln!(out, "{}: no operations", measured.recorded.title())?;
    }
    for (i, part) in measured.parts.iter().enumerate() {
        writeln!(
            out,
            "{}{}: {}, {}",
            measured.recorded.title(),
            of_part(&part.object, None),
            counted(part.ops.len(), "operation"),
            headline(&part.depths),
        )?;
        if part.depths.depth != Measured::Never {
            print_depths(out, history, part)?;
        }
        if let Some(listing) = measured.families.get(i) {
            family::print(out, history, &part.ops, listing)?;
        }
    }
    Ok(())
}

fn print_depths(out: &mut dyn Write, history: &History, part: &PartDepths) -> std::io::Result<()> {
    for sentence in words(history, &part.depths) {
        writeln!(out, "  {sentence}")?;
    }
    if let Some((schedule, marked)) = picture_of(part) {
        writeln!(out)?;
        for line in timeline::lines(history, schedule, marked) {
            writeln!(out, "    {line}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn headline(depths: &Depths) -> String {
    match &depths.depth {
        Measured::Is(delayed) => format!("linearizability depth {}", delayed.depth),
        Measured::Above(most) => format!("linearizability depth above {most}"),
        Measured::Never => "not linearizable: it has no depth".to_owned(),
        Measured::Unknown(limit) => format!("linearizability depth not found, {limit}"),
    }
}

fn words(history: &History, depths: &Depths) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Measured::Is(delayed) = &depths.depth {
        sentences.extend(meaning(history, delayed));
    }
    let base = depths.base.name();
    let family = format!("canonical, ties by {base}");
    sentences.push(match &depths.shown_by {
        Measured::Is(shown) => {
            let d = shown.d;
            format!("shown by d = {d}: some schedule of the family of d = {d} ({family}) explains the results")
        }
        Measured::Above(most) => {
            format!("not shown by d = {most}: no schedule of that family ({family}) explains the results")
        }
        Measured::Never => "not shown by any d".to_owned(),
        Measured::Unknown(limit) => format!("shown by d: not found, {limit}"),
    });
    sentences.push(match &depths.width {
        Measured::Is(0) => format!("width 0: the order by {base} explains the results"),
        Measured::Is(width) => {
            format!("width {width}: some order explains the results and never delays more at the same time")
        }
        Measured::Above(_) | Measured::Never => "no width".to_owned(),
        Measured::Unknown(limit) => format!("width: not found, {limit}"),
    });
    sentences
}

/// More operations than this are only counted.
const LISTED: usize = 20;

/// What the depth means, and which operations must be delayed.
fn meaning(history: &History, delayed: &Delayed) -> Vec<String> {
    let name = |id: &OpId| {
        let op = history.op(*id);
        format!("{} by process {}", cut(&op.text()), op.process)
    };
    match delayed.tuple.as_slice() {
        [] => vec![
            "no operation has to be delayed: every order that obeys real time explains the results (depth 1 is the least)"
                .to_owned(),
        ],
        [one] => vec![
            "one operation has to be delayed: when it comes as late as real time allows, every order of the others explains \
             the results"
                .to_owned(),
            format!("it is {}", name(one)),
        ],
        several => {
            let head = format!(
                "{} operations have to be delayed: when they come as late as real time allows, in this order, every order of \
                 the others explains the results",
                several.len()
            );
            let listed = (1..).zip(several).take(LISTED);
            let listed = listed.map(|(i, id)| format!("  {i}. {}", name(id)));
            let more = several.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| format!("  and {more} more; --json has all"));
            [head].into_iter().chain(listed).chain(more).collect()
        }
    }
}

/// The schedule to draw, and what stands out in it.
fn picture_of(part: &PartDepths) -> Option<(&[OpId], &[OpId])> {
    match (part.depths.depth.known(), part.depths.shown_by.known()) {
        _ if part.ops.is_empty() => None,
        (Some(delayed), _) => Some((&delayed.order, &delayed.tuple)),
        (None, Some(shown)) => Some((&shown.order, &[])),
        (None, None) => None,
    }
}

pub(crate) fn to_json(measured: &Measurement) -> Value {
    let history = &measured.recorded.history;
    let numbers = |order: &[OpId]| order.iter().map(|id| id.0).collect::<Vec<_>>();
    let parts = measured.parts.iter().enumerate().map(|(i, part)| {
        let depths = &part.depths;
        let linearizable = match &depths.depth {
            Measured::Is(_) | Measured::Above(_) => Some(true),
            Measured::Never => Some(false),
            Measured::Unknown(_) => depths.shown_by.known().map(|_| true),
        };
        let mut document = json!({
            "object": part.object.to_json(),
            "operations": part.ops.len(),
            "linearizable": linearizable,
            "depth": of_measured(&depths.depth, |delayed| json!({
                "value": delayed.depth,
                "tuple": delayed.tuple.iter().map(|&id| json::operation(history, id)).collect::<Vec<_>>(),
                "order": numbers(&delayed.order),
            })),
            "shown_by": of_measured(&depths.shown_by, |shown| json!({
                "value": shown.d,
                "family": "canonical",
                "base": depths.base.name(),
                "order": numbers(&shown.order),
            })),
            "width": of_measured(&depths.width, |width| json!({ "value": width, "base": depths.base.name() })),
        });
        if let Some(listing) = measured.families.get(i) {
            document["family"] = family::to_json(listing);
        }
        document
    });
    json!({
        "schema": 1,
        "history": measured.recorded.label(),
        "type": measured.type_name,
        "operations": history.len(),
        "parts": parts.collect::<Vec<_>>(),
    })
}

/// `null` where there is no such number.
fn of_measured<T>(measured: &Measured<T>, known: impl Fn(&T) -> Value) -> Value {
    match measured {
        Measured::Is(value) => known(value),
        Measured::Above(most) => json!({ "above": most }),
        Measured::Never => Value::Null,
        Measured::Unknown(limit) => json!({ "limit": json::limit(*limit) }),
    }
}
