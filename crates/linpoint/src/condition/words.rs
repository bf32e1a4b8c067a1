//! Sentences that say why a condition does not hold.

use super::answer::{Link, Why};
use super::graph::Reason;
use crate::history::OpId;

/// The sentence; `describe` names operations.
pub(super) fn sentence(why: &Why, describe: &dyn Fn(OpId) -> String) -> String {
    match why {
        Why::ThinAir(read) => format!("{} returned what was never written", describe(*read)),
        Why::Future { read, write } => format!(
            "{} returned before {} was called: a read of the future, so the clocks or the recording are wrong",
            describe(*read),
            describe(*write)
        ),
        Why::Circle { links, .. } => {
            let links: Vec<String> = links
                .iter()
                .map(|link| link_words(link, describe))
                .collect();
            format!("no order fits: {}", links.join("; "))
        }
        Why::Missed { read, write, .. } => format!(
            "{} returned the initial value, although it must see {}",
            describe(*read),
            describe(*write)
        ),
        Why::Overtaken { read, write, later } => {
            let (read, later) = (describe(*read), describe(*later));
            match write {
                None => {
                    format!(
                        "{read} returned the initial value, and began after {later} had returned"
                    )
                }
                Some(write) => format!(
                    "{read} began after {later} had returned, which was called after {} had",
                    describe(*write)
                ),
            }
        }
        Why::NoneOf {
            read,
            candidates,
            later,
        } => {
            let candidates: Vec<String> = candidates.iter().map(|&id| describe(id)).collect();
            let overwritten = later.map_or_else(String::new, |later| {
                format!(
                    ", or had returned before {} was called, which returned before the read began",
                    describe(later)
                )
            });
            format!(
                "{} returned what it cannot have seen: each write of it was called after the read had returned{overwritten}: {}",
                describe(*read),
                candidates.join(", ")
            )
        }
        Why::Behind {
            read,
            write,
            between,
        } => {
            let between: Vec<String> = between.iter().map(|&id| describe(id)).collect();
            let after = match write {
                Some(write) => format!("after {}", describe(*write)),
                None => "after the start".to_owned(),
            };
            format!(
                "{} returned what is older than all these, which took effect {after} and before it in every order: {}",
                describe(*read),
                between.join(", ")
            )
        }
        Why::NoOrder => {
            "all ways to order these operations were tried, and none explains their results"
                .to_owned()
        }
    }
}

fn link_words(link: &Link, describe: &dyn Fn(OpId) -> String) -> String {
    let (from, to) = (describe(link.from), describe(link.to));
    match link.reason {
        Reason::Process => format!("{from} came before {to} in its process"),
        Reason::Quiet => {
            format!(
                "{from} came before {to}, since no operation was open at some moment between them"
            )
        }
        Reason::SameValue => {
            format!("{from} and {to} are on the same value, and such operations come together")
        }
        Reason::ReadsFrom => format!("{from} came before {to}, which returned what it wrote"),
        Reason::Time => format!("{from} had returned before {to} was called"),
        Reason::Crash => format!(
            "{from} was open at a crash, so it took effect before that or never, and {to} was called after the crash"
        ),
        Reason::Initial => {
            format!("{from} returned the initial value, so it came before {to}")
        }
        Reason::NotYet => format!(
            "{from} returned a value that had been written before {to} overwrote it, so it came before that"
        ),
        Reason::Overwritten(read) => format!(
            "{from} came before {}, which returned what {to} wrote, so it came before that write",
            describe(read)
        ),
        Reason::Seen(read) => format!(
            "{from} is visible to {}, which returned what {to} wrote, so that overwrote it",
            describe(read)
        ),
        Reason::Members(a, b) => format!("{} came before {}", describe(a), describe(b)),
    }
}
