//! Isolation levels of histories of transactions, on lists and on registers.
//!
//! A transaction is an operation `txn` whose argument and result are lists of steps: `["r", key, value]`, `["w", key, value]` on
//! registers, `["append", key, value]` on lists. Values are distinct for each key, so a read shows whom it is from. [`check`] decides
//! for each [`Level`] whether a history has it: with a [`Witness`] that was replayed, or with a [`Violation`] whose sentences were found
//! in the history.
//!
//! `log` has what was recorded; `registers` and `lists` find who reads from whom (`observed`); `weak` decides the levels up to causal
//! consistency, `dependencies` and `graph` the others where the order of versions is known, `search` where it is not; `replay` checks
//! witnesses, `shortcuts` and `classify` find and name the smallest cycles, and `explain` puts them into words.
//!
//! ```
//! use linpoint::format::{ReadOptions, parse};
//! use linpoint::transaction::{Level, Model, Verdict, check};
//! use linpoint::Budget;
//!
//! let text = r#"
//! {"process": 0, "method": "txn", "arg": [["r", "x", null], ["append", "y", 1]], "ret": [["r", "x", []], ["append", "y", 1]], "call": 0, "return": 3}
//! {"process": 1, "method": "txn", "arg": [["r", "y", null], ["append", "x", 1]], "ret": [["r", "y", []], ["append", "x", 1]], "call": 1, "return": 2}
//! "#;
//! let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0)?;
//! let levels = [Level::Serializable, Level::SnapshotIsolation];
//! let results = check(&recorded.history, &Model::Lists, &levels, &Budget::default())?;
//! let Verdict::Violated(violation) = &results[0].verdict else { panic!() };
//! assert_eq!(violation.to_string(), "G2-item");
//! assert!(matches!(results[1].verdict, Verdict::Holds(_)));
//! # Ok::<(), linpoint::Error>(())
//! ```

mod classify;
mod decide;
mod dependencies;
mod explain;
mod graph;
mod level;
mod lists;
mod log;
mod observed;
mod open_order;
mod reduce;
mod registers;
mod replay;
mod search;
mod shortcuts;
mod table;
#[cfg(test)]
mod tests;
mod violation;
mod weak;

pub use self::level::Level;
pub use self::log::Model;
pub use self::replay::{Moment, Witness};
pub use self::violation::{Anomaly, Edge, Member, Variant, Violation};

use self::decide::Decider;
use self::log::Log;
use crate::budget::Budget;
use crate::error::Error;
use crate::history::History;

/// Whether a history has a level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// It does, for this reason.
    Holds(Witness),
    /// It does not, for this reason.
    Violated(Box<Violation>),
    /// It is not known, for this reason, which is a part of a sentence.
    Undecided(String),
}

/// What was found about a level.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelReport {
    /// The level.
    pub level: Level,
    /// Whether the history has it.
    pub verdict: Verdict,
    /// The level that was decided, where the verdict follows from that of another one.
    pub decided: Level,
}

/// Decides whether a history has these levels, and answers in their order.
///
/// An operation is a transaction; a pending one may have committed, and one that [failed](History::failed) aborted. The history has one
/// object. An error says that an operation is no transaction of the model, or that the model has no such level.
pub fn check(
    history: &History,
    model: &Model,
    levels: &[Level],
    budget: &Budget,
) -> Result<Vec<LevelReport>, Error> {
    if levels.contains(&Level::Pl2) && *model != Model::Lists {
        let reason = "pl-2 is a level of lists: on registers the order of writes is not known; read-committed is the level of registers that is next to it";
        return Err(Error::usage(reason));
    }
    let log = Log::new(history, model)?;
    let mut decider = Decider::new(&log, budget);
    let mut reports: Vec<LevelReport> = Vec::with_capacity(levels.len());
    for &level in levels {
        let follows = |report: &&LevelReport| match report.verdict {
            Verdict::Holds(_) => report.decided.implies(level),
            Verdict::Violated(_) => level.implies(report.decided),
            Verdict::Undecided(_) => false,
        };
        let report = match reports.iter().find(follows) {
            Some(known) => LevelReport {
                level,
                ..known.clone()
            },
            None => LevelReport {
                level,
                verdict: decider.decide(level)?,
                decided: level,
            },
        };
        reports.push(report);
    }
    Ok(reports)
}
