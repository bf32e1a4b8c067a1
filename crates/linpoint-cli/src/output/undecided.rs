//! What to do about a history that is undecided: the parts that are, and the option that helps.

use linpoint::verdict::{Cause, Limit, PartReport, Undecided};
use linpoint::{History, Partitioning, Report, Verdict};

use super::text::part_name;
use crate::units::counted;

/// More undecided parts than this are only counted.
const MOST_LISTED: usize = 6;

/// Why a part is undecided, and where the orders end that were tried.
pub(super) fn sentence(history: &History, undecided: &Undecided) -> String {
    match stuck(history, undecided) {
        Some(stuck) => format!("{undecided}; {stuck}"),
        None => undecided.to_string(),
    }
}

/// Where the orders end that were tried, if that is known.
pub(super) fn stuck(history: &History, undecided: &Undecided) -> Option<String> {
    let stuck = undecided.stuck.as_ref()?;
    Some(stuck.sentence(|id| history.describe(id)))
}

/// The undecided objects and keys of a history that has several, where the orders of each end, and advice.
pub(super) fn lines(history: &History, report: &Report) -> Vec<String> {
    let undecided: Vec<(&PartReport, &Undecided)> = report
        .parts
        .iter()
        .filter_map(|part| match &part.verdict {
            Verdict::Undecided(undecided) => Some((part, undecided)),
            Verdict::Linearizable(_) | Verdict::Violation(_) => None,
        })
        .collect();
    let mut lines = Vec::new();
    let is_split = |part: &PartReport| !part_name(part).is_empty();
    for (part, undecided) in undecided.iter().take(MOST_LISTED) {
        if is_split(part) {
            let ops = counted(part.ops, "operation");
            let why = sentence(history, undecided);
            lines.push(format!("{ops}{}: {why}", part_name(part)));
        } else {
            lines.extend(stuck(history, undecided));
        }
    }
    if undecided.len() > MOST_LISTED {
        let more = counted(undecided.len() - MOST_LISTED, "more part");
        lines.push(format!("and {more}, undecided too"));
    }
    let mut advice: Vec<String> = Vec::new();
    for (_, undecided) in undecided {
        let text = advice_on(undecided, report.partitioning);
        if let Some(text) = text.filter(|text| !advice.contains(text)) {
            advice.push(text);
        }
    }
    lines.extend(advice);
    lines
}

/// Which option may decide what is undecided for this reason.
fn advice_on(undecided: &Undecided, partitioning: Partitioning) -> Option<String> {
    let mut options = match undecided.cause {
        Cause::Limit(Limit::Time(_)) => vec!["a longer --timeout"],
        Cause::Limit(Limit::TotalTime(_)) => vec!["a longer --timeout-total"],
        Cause::Limit(Limit::Memory(_)) => vec!["a larger --memory"],
        Cause::Depth(_) => vec!["a larger --depth-max"],
        Cause::NotApplicable(_) => Vec::new(),
        // An interrupted run needs no advice.
        _ => return None,
    };
    let engine = undecided.engine;
    if ["hitting", "brute"].contains(&engine) || matches!(undecided.cause, Cause::NotApplicable(_))
    {
        options.push("--engine auto, which chooses by the history");
    }
    if partitioning == Partitioning::ByObject {
        options.push("leaving out --whole, so that each key is decided by itself");
    }
    Some(format!("what may decide it: {}", options.join(", or ")))
}
