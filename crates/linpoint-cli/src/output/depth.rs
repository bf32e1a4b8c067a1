//! Depths of histories, in words or as JSON.

use std::io::Write;

use linpoint::engine::hitting::{Delayed, Depths, Measured};
use linpoint::object::PartDepths;
use linpoint::{History, OpId};
use serde_json::{Value, json};

use super::core_table::cut;
use super::text::of_part;
use super::{json, timeline};
use crate::results::Measurement;
use crate::units::counted;

pub(crate) fn print(out: &mut dyn Write, measured: &Measurement) -> std::io::Result<()> {
    let history = &measured.recorded.history;
    if measured.parts.is_empty() {
        writeln!(out, "{}: no operations", measured.recorded.label())?;
    }
    for part in &measured.parts {
        writeln!(
            out,
            "{}{}: {}, {}",
            measured.recorded.label(),
            of_part(&part.object, None),
            counted(part.ops.len(), "operation"),
            headline(&part.depths),
        )?;
        if part.depths.depth == Measured::Never {
            continue;
        }
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
        sentences.push(meaning(delayed.depth));
        sentences.extend(demand(history, delayed));
    }
    let base = depths.base.name();
    let family = format!("the canonical family, ties by {base}");
    sentences.push(match &depths.shown_by {
        Measured::Is(shown) => format!("shown by d = {} of {family}", shown.d),
        Measured::Above(most) => format!("not shown by d = {most} of {family}"),
        Measured::Never => "not shown by any d".to_owned(),
        Measured::Unknown(limit) => format!("shown by d: not found, {limit}"),
    });
    sentences.push(match &depths.width {
        Measured::Is(0) => format!("width 0: the order by {base} is a witness"),
        Measured::Is(width) => {
            format!("width {width}: some witness never delays more at the same time")
        }
        Measured::Above(_) | Measured::Never => "no width".to_owned(),
        Measured::Unknown(limit) => format!("width: not found, {limit}"),
    });
    sentences
}

/// What the number means.
fn meaning(depth: usize) -> String {
    match depth {
        0 => "depth 0 means that no operation has to be delayed to explain the results".to_owned(),
        depth => {
            let ops = counted(depth, "operation");
            format!(
                "depth {depth} means that delaying {ops} as long as possible explains the results, whatever the order of the \
                 others, and delaying fewer does not"
            )
        }
    }
}

/// More operations than this are only counted.
const LISTED: usize = 20;

/// Which operations must be delayed.
fn demand(history: &History, delayed: &Delayed) -> Vec<String> {
    let name = |id: &OpId| {
        let op = history.op(*id);
        format!("{} by process {}", cut(&op.text()), op.process)
    };
    match delayed.tuple.as_slice() {
        [] => vec!["every order that obeys real time is a witness".to_owned()],
        [one] => vec![format!(
            "every order is a witness in which {} comes as late as it can",
            name(one)
        )],
        several => {
            let head =
                "every order is a witness in which these come as late as they can, in this order:";
            let listed = (1..).zip(several).take(LISTED);
            let listed = listed.map(|(i, id)| format!("  {i}. {}", name(id)));
            let more = several.len().saturating_sub(LISTED);
            let more = (more > 0).then(|| format!("  and {more} more; --json has all"));
            let sentences = [head.to_owned()].into_iter().chain(listed);
            sentences.chain(more).collect()
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
    let parts = measured.parts.iter().map(|part| {
        let depths = &part.depths;
        let linearizable = match &depths.depth {
            Measured::Is(_) | Measured::Above(_) => Some(true),
            Measured::Never => Some(false),
            Measured::Unknown(_) => depths.shown_by.known().map(|_| true),
        };
        json!({
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
        })
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
