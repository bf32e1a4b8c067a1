//! The schedules of a hitting family, in words or as JSON.

use std::io::Write;

use linpoint::engine::hitting::{Count, ListedSchedule, Listing};
use linpoint::{History, OpId};
use serde_json::{Value, json};

use super::core_table::cut;
use super::json::limit;

pub(crate) fn print(
    out: &mut dyn Write,
    history: &History,
    ops: &[OpId],
    listing: &Listing,
) -> std::io::Result<()> {
    for sentence in words(listing) {
        writeln!(out, "  {sentence}")?;
    }
    writeln!(out, "\n    operations:")?;
    let digits = ops.last().map_or(1, |id| id.0.to_string().len());
    for &id in ops {
        let op = history.op(id);
        let text = cut(&op.text());
        writeln!(
            out,
            "    {:>digits$}  {text} by process {}",
            id.0, op.process
        )?;
    }
    writeln!(
        out,
        "\n    schedules, each after what it delays (● explains the results):"
    )?;
    let delayed: Vec<String> = listing
        .schedules
        .iter()
        .map(|schedule| delayed(history, schedule))
        .collect();
    let widest = delayed.iter().map(|words| words.chars().count()).max();
    let widest = widest.unwrap_or(0);
    for (schedule, delayed) in listing.schedules.iter().zip(delayed) {
        let mark = if schedule.explains { '●' } else { ' ' };
        let order: Vec<String> = schedule
            .order
            .iter()
            .map(|id| format!("{:>digits$}", id.0))
            .collect();
        writeln!(out, "    {mark} {delayed:widest$} │ {}", order.join(" "))?;
    }
    writeln!(out)
}

fn words(listing: &Listing) -> Vec<String> {
    let (d, size) = (listing.d, listing.schedules.len());
    let mut sentences = vec![format!(
        "schedules of the family of d = {d} ({}, ties by {}): {size}{}",
        listing.family.rule.name(),
        listing.family.base.name(),
        match listing.stopped {
            Some(limit) => format!(" and more, {limit}"),
            None => String::new(),
        },
    )];
    let shown = listing.schedules.iter().filter(|one| one.explains).count();
    sentences.push(match shown {
        0 => "none of them explains the results".to_owned(),
        1 => "1 of them explains the results".to_owned(),
        shown => format!("{shown} of them explain the results"),
    });
    sentences.push(match &listing.all {
        Ok(count) => format!("schedules in all: {}", number(*count)),
        Err(limit) => format!("schedules in all: not counted, {limit}"),
    });
    sentences.extend(listing.explaining.map(|count| match count {
        1 => "1 of all explains the results".to_owned(),
        count => format!("{count} of all explain the results"),
    }));
    sentences
}

fn number(count: Count) -> String {
    match count {
        Count::Exact(count) => count.to_string(),
        Count::About { log10, error } => {
            let power = log10.floor();
            let about = format!("about {:.2}e{power}", 10f64.powf(log10 - power));
            // What differs by rounding alone has no error to tell.
            match error < 1e-6 {
                true => about,
                false => format!("{about}, standard error {:.1} %", 100.0 * error),
            }
        }
    }
}

/// The process, and the operations that are delayed more.
fn delayed(history: &History, schedule: &ListedSchedule) -> String {
    let process = schedule.chain.first().map(|&id| history.op(id).process);
    let process = process.map(|process| format!("process {process}"));
    let tuple: Vec<String> = schedule.tuple.iter().map(|id| id.0.to_string()).collect();
    let tuple = (!tuple.is_empty()).then(|| tuple.join(" "));
    let both: Vec<String> = process.into_iter().chain(tuple).collect();
    both.join(", then ")
}

pub(crate) fn to_json(listing: &Listing) -> Value {
    let numbers = |ops: &[OpId]| ops.iter().map(|id| id.0).collect::<Vec<_>>();
    let schedules = listing.schedules.iter().map(|schedule| {
        json!({
            "chain": numbers(&schedule.chain),
            "tuple": numbers(&schedule.tuple),
            "order": numbers(&schedule.order),
            "explains": schedule.explains,
        })
    });
    json!({
        "d": listing.d,
        "generator": listing.family.rule.name(),
        "base": listing.family.base.name(),
        "schedules": schedules.collect::<Vec<_>>(),
        "limit": listing.stopped.map(limit),
        "all": match &listing.all {
            // As text: it may have more digits than numbers of JSON keep.
            Ok(Count::Exact(count)) => json!({ "exact": count.to_string() }),
            Ok(Count::About { log10, error }) => json!({ "log10": log10, "relative_error": error }),
            Err(hit) => json!({ "limit": limit(*hit) }),
        },
        "explaining": listing.explaining.map(|count| count.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_come_with_their_error() {
        assert_eq!(number(Count::Exact(1_007_994)), "1007994");
        let about = |log10, error| number(Count::About { log10, error });
        assert_eq!(
            about(32.42366, 0.012),
            "about 2.65e32, standard error 1.2 %"
        );
        assert_eq!(about(90.308998, 0.0), "about 2.04e90");
    }
}
