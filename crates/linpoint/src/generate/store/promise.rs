//! What a simulated store promises.

use std::fmt;

use crate::condition::{Condition, Guarantees};
use crate::error::Error;
use crate::transaction::Level;

/// What a simulated store promises: a condition of single operations, or a level of transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Promise {
    /// A condition of reads and writes of keys.
    Condition(Condition),
    /// An isolation level of transactions on registers.
    Level(Level),
}

impl From<Condition> for Promise {
    fn from(condition: Condition) -> Self {
        Promise::Condition(condition)
    }
}

impl From<Level> for Promise {
    fn from(level: Level) -> Self {
        Promise::Level(level)
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Condition(condition) => condition.fmt(f),
            Promise::Level(level) => level.fmt(f),
        }
    }
}

const RYW: Guarantees = Guarantees::READ_YOUR_WRITES;
const MR: Guarantees = Guarantees::MONOTONIC_READS;

/// Short names of promises of single operations.
const SHORT: [(&str, Condition); 3] = [
    ("stale", Condition::WriteLinearizable),
    ("causal", Condition::CausalConvergence),
    ("session", Condition::Sessions(RYW.with(MR))),
];

/// Pairs of something and what is stronger, as promises.
fn pairs<T: Into<Promise>>(of: Vec<(T, Vec<T>)>) -> impl Iterator<Item = (Promise, Vec<Promise>)> {
    of.into_iter()
        .map(|(of, next)| (of.into(), next.into_iter().map(Into::into).collect()))
}

impl Promise {
    /// The promises that there are stores for, each with the next stronger ones, which these stores break in all but short histories.
    pub fn all() -> Vec<(Promise, Vec<Promise>)> {
        use Condition::*;
        let set = |guarantees: Guarantees| Sessions(guarantees);
        let mw = Guarantees::MONOTONIC_WRITES;
        let conditions: Vec<(Condition, Vec<Condition>)> = vec![
            (WriteLinearizable, vec![Linearizable]),
            (Sequential, vec![WriteLinearizable]),
            (CausalConvergence, vec![Sequential]),
            (CausalMemory, vec![Sequential, CausalConvergence]),
            (Pram, vec![CausalMemory]),
            (Coherent, vec![CausalConvergence, Pram]),
            (
                set(RYW.with(MR)),
                vec![Coherent, set(RYW.with(MR).with(mw))],
            ),
            (set(RYW), vec![set(RYW.with(MR)), RegularAgreed]),
            (set(MR), vec![set(RYW.with(MR)), set(MR.with(mw))]),
            (set(MR.with(mw)), vec![set(RYW.with(MR).with(mw))]),
            (KAtomic(Some(2)), vec![KAtomic(Some(1))]),
            (RegularAgreed, vec![Linearizable]),
            (Regular, vec![RegularAgreed]),
            (Safe, vec![Regular]),
            (Quiescent, vec![Linearizable, RegularAgreed]),
        ];
        let levels: Vec<(Level, Vec<Level>)> = vec![
            (Level::SessionSerializable, vec![Level::StrictSerializable]),
            (Level::Serializable, vec![Level::SessionSerializable]),
            (
                Level::SessionSnapshotIsolation,
                vec![Level::SessionSerializable, Level::Serializable],
            ),
            (
                Level::SnapshotIsolation,
                vec![Level::SessionSnapshotIsolation, Level::Serializable],
            ),
            (Level::Prefix, vec![Level::SessionSnapshotIsolation]),
            (Level::Causal, vec![Level::Prefix]),
            (Level::ReadAtomic, vec![Level::Causal]),
            (Level::ReadCommitted, vec![Level::ReadAtomic]),
        ];
        pairs(conditions).chain(pairs(levels)).collect()
    }

    /// The names of the promises that there are stores for.
    pub(super) fn names() -> Vec<String> {
        Self::all()
            .iter()
            .map(|(promise, _)| promise.to_string())
            .collect()
    }

    /// A promise of single operations by its name: that of the condition, or `stale`, `causal` or `session`.
    pub fn of_operations(name: &str) -> Result<Self, Error> {
        match SHORT.iter().find(|(short, _)| *short == name) {
            Some(&(_, condition)) => Ok(condition.into()),
            None => Ok(Promise::Condition(name.parse()?)),
        }
    }

    /// A promise of transactions: a level by its name.
    pub fn of_transactions(name: &str) -> Result<Self, Error> {
        Ok(Promise::Level(name.parse()?))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::StoreGenerator;
    use super::*;
    use crate::budget::Budget;
    use crate::object::object_type;
    use crate::portfolio::Checker;
    use crate::transaction::{Model, Verdict, check};
    use crate::value::Value;

    /// Whether a history keeps a promise; none if that cannot be told in a few seconds.
    fn keeps(generator: &StoreGenerator, promise: Promise) -> Option<bool> {
        let history = generator.history().expect("a history");
        let budget = Budget::new(Some(Duration::from_secs(5)), None);
        match promise {
            Promise::Condition(condition) => {
                let map = object_type("kv", &Default::default()).expect("a type");
                let checker = Checker::default();
                let decided =
                    checker.check_conditions_within(&map, &history, &[condition], &budget);
                decided.expect("conditions")[0].holds()
            }
            Promise::Level(level) => {
                let model = Model::Registers {
                    initial: Value::Nil,
                };
                let decided = check(&history, &model, &[level], &budget);
                match decided.expect("levels")[0].verdict {
                    Verdict::Holds(_) => Some(true),
                    Verdict::Violated(_) => Some(false),
                    Verdict::Undecided(_) => None,
                }
            }
        }
    }

    /// No store breaks its promise, and each breaks the next stronger ones.
    #[test]
    fn stores_keep_their_promise_and_no_stronger_one() {
        let mut wrong = Vec::new();
        for (promise, stronger) in Promise::all() {
            let generators = (0..6).map(|seed| StoreGenerator {
                ops: match promise {
                    Promise::Condition(_) => 400,
                    Promise::Level(_) => 60,
                },
                processes: 4,
                keys: 3,
                seed,
                promise,
            });
            let generators: Vec<StoreGenerator> = generators.collect();
            let kept = generators.iter().map(|generator| keeps(generator, promise));
            let kept: Vec<Option<bool>> = kept.collect();
            if kept.contains(&Some(false)) || !kept.contains(&Some(true)) {
                wrong.push(format!("{promise} is kept: {kept:?}"));
            }
            for stronger in stronger {
                let is_broken = |generator| keeps(generator, stronger) == Some(false);
                if !generators.iter().any(is_broken) {
                    wrong.push(format!("the store of {promise} keeps {stronger}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn promises_have_names() {
        for (promise, _) in Promise::all() {
            let name = promise.to_string();
            let again = match promise {
                Promise::Condition(_) => Promise::of_operations(&name),
                Promise::Level(_) => Promise::of_transactions(&name),
            };
            assert_eq!(again.expect("a promise"), promise);
        }
        let causal = Promise::of_operations("causal").expect("a promise");
        assert_eq!(causal, Condition::CausalConvergence.into());
        let level = Promise::of_transactions("causal").expect("a promise");
        assert_eq!(level, Level::Causal.into());
    }
}
