//! Conditions as values, and their names.

use std::fmt;
use std::str::FromStr;

use super::Guarantees;
use crate::error::{Error, did_you_mean};

/// A correctness condition of histories of single operations.
///
/// ```
/// use linpoint::condition::Condition;
/// let condition: Condition = "causal-convergence".parse()?;
/// assert_eq!(condition, Condition::CausalConvergence);
/// assert_eq!("ryw+mr".parse::<Condition>()?.to_string(), "read-your-writes+monotonic-reads");
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Condition {
    /// Linearizable, and what was open when the whole system crashed took effect before the crash or never.
    Strict,
    /// One order of all operations extends the order of time and explains all results.
    Linearizable,
    /// One order extends the order of each process, and the order of time among writes.
    WriteLinearizable,
    /// One order extends the order of each process.
    Sequential,
    /// One order in which operations do not cross moments at which no operation is open.
    Quiescent,
    /// Each key by itself is sequential.
    Coherent,
    /// Each process has an order of all writes and its own reads.
    Pram,
    /// Each read sees the latest of the writes that it depends on, where writes that do not depend on each other may be seen in
    /// any order.
    WeakCausal,
    /// Each process has an order of all that its operations depend on.
    CausalMemory,
    /// Each read sees the last, in one order of all writes, of those that it depends on.
    CausalConvergence,
    /// Guarantees of sessions.
    Sessions(Guarantees),
    /// Each read sees one of the last `k` values written; without a number, the smallest one is looked for.
    KAtomic(Option<u32>),
    /// The history is linearizable after reads are moved into the past by so many units of time; without a number, the
    /// smallest one is looked for.
    DeltaAtomic(Option<i64>),
    /// Each read sees a write that overlaps it, or one that may be the last before it.
    Regular,
    /// Regular, with one order of the writes of each key for all reads.
    RegularAgreed,
    /// Each read that overlaps no write sees one that may be the last before it.
    Safe,
}

/// Names without guarantees of sessions, each with its other names.
const NAMES: &[(&str, &[&str], Condition)] = &[
    ("strict", &["strict-linearizable"], Condition::Strict),
    ("linearizable", &["durable"], Condition::Linearizable),
    ("write-linearizable", &[], Condition::WriteLinearizable),
    ("sequential", &[], Condition::Sequential),
    ("quiescent", &[], Condition::Quiescent),
    ("coherent", &["cache"], Condition::Coherent),
    ("pram", &["fifo"], Condition::Pram),
    ("weak-causal", &["cc"], Condition::WeakCausal),
    ("causal-memory", &["cm"], Condition::CausalMemory),
    ("causal-convergence", &["ccv"], Condition::CausalConvergence),
    ("k-atomic", &[], Condition::KAtomic(None)),
    ("delta-atomic", &[], Condition::DeltaAtomic(None)),
    ("regular", &[], Condition::Regular),
    ("regular-agreed", &[], Condition::RegularAgreed),
    ("safe", &[], Condition::Safe),
];

impl Condition {
    /// All conditions that a history without crashes may be asked for, strongest first.
    pub fn all() -> Vec<Condition> {
        let named = NAMES.iter().map(|&(_, _, condition)| condition);
        let mut all: Vec<Condition> = named.filter(|&named| named != Condition::Strict).collect();
        all.extend(Guarantees::meaningful().map(Condition::Sessions));
        all
    }

    /// The condition in a few words, as part of a sentence: "sequentially consistent".
    pub fn words(self) -> String {
        let words = match self {
            Condition::Strict => "strictly linearizable",
            Condition::Linearizable => "linearizable",
            Condition::WriteLinearizable => {
                "sequentially consistent, with writes in the order of time"
            }
            Condition::Sequential => "sequentially consistent",
            Condition::Quiescent => "quiescently consistent",
            Condition::Coherent => "coherent",
            Condition::Pram => "PRAM consistent",
            Condition::WeakCausal => "weakly causally consistent",
            Condition::CausalMemory => "a causal memory",
            Condition::CausalConvergence => "causally convergent",
            Condition::Sessions(guarantees) => return guarantees.words(),
            Condition::KAtomic(None) => "k-atomic for some k",
            Condition::KAtomic(Some(k)) => return format!("{k}-atomic"),
            Condition::DeltaAtomic(None) => "Δ-atomic for some Δ",
            Condition::DeltaAtomic(Some(delta)) => return format!("{delta}-atomic in time"),
            Condition::Regular => "regular",
            Condition::RegularAgreed => "regular with one order of writes",
            Condition::Safe => "safe",
        };
        words.to_owned()
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Sessions(guarantees) => guarantees.fmt(f),
            Condition::KAtomic(Some(k)) => write!(f, "k-atomic={k}"),
            Condition::DeltaAtomic(Some(delta)) => write!(f, "delta-atomic={delta}"),
            other => {
                let named = NAMES.iter().find(|(.., condition)| condition == other);
                f.write_str(named.map_or("", |&(name, ..)| name))
            }
        }
    }
}

impl FromStr for Condition {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim().to_lowercase().replace('_', "-");
        let found = NAMES
            .iter()
            .find(|(name, others, _)| *name == text || others.contains(&text.as_str()));
        if let Some(&(.., condition)) = found {
            return Ok(condition);
        }
        if let Some(guarantees) = Guarantees::named(&text) {
            return Ok(Condition::Sessions(guarantees));
        }
        if let Some((name, bound)) = text.split_once('=') {
            return bounded(name, bound);
        }
        if text == "causal" {
            let reason = "\"causal\" is three conditions: weak-causal, causal-memory and causal-convergence; the last one is \
                          what stores with last-writer-wins give";
            return Err(Error::usage(reason));
        }
        let known = NAMES.iter().map(|&(name, ..)| name);
        let sessions: Vec<String> = Guarantees::meaningful()
            .map(|set| set.to_string())
            .collect();
        let all: Vec<&str> = known.chain(sessions.iter().map(String::as_str)).collect();
        let meant = did_you_mean(&text, all.iter().copied());
        Err(Error::usage(format!(
            "unknown condition {text:?}; {meant}known are {}",
            all.join(", ")
        )))
    }
}

/// A condition with a bound: `k-atomic=2`.
fn bounded(name: &str, bound: &str) -> Result<Condition, Error> {
    let refused = |wanted: &str| Error::usage(format!("{name} takes {wanted}, not {bound:?}"));
    match name {
        "k-atomic" => match bound.parse() {
            Ok(k) if k > 0 => Ok(Condition::KAtomic(Some(k))),
            _ => Err(refused("a number from 1 on")),
        },
        "delta-atomic" => match bound.parse() {
            Ok(delta) if delta >= 0 => Ok(Condition::DeltaAtomic(Some(delta))),
            _ => Err(refused(
                "a number in the unit of the history's times, from 0 on",
            )),
        },
        _ => Err(Error::usage(format!(
            "{name:?} takes no bound; k-atomic and delta-atomic do"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for condition in Condition::all() {
            assert_eq!(
                condition.to_string().parse::<Condition>().ok(),
                Some(condition)
            );
        }
        for text in ["strict", "k-atomic=2", "delta-atomic=340", "ryw+mr@"] {
            let condition: Condition = text.parse().expect(text);
            assert_eq!(
                condition.to_string().parse::<Condition>().ok(),
                Some(condition)
            );
        }
    }

    #[test]
    fn names_that_mean_nothing_are_refused_with_a_hint() {
        let reason = |text: &str| text.parse::<Condition>().unwrap_err().reason().to_owned();
        assert!(reason("causal").starts_with("\"causal\" is three conditions"));
        assert!(reason("sequentail").contains("did you mean sequential"));
        assert!(reason("k-atomic=0").contains("a number from 1 on"));
        assert!(reason("safe=1").contains("takes no bound"));
    }
}
