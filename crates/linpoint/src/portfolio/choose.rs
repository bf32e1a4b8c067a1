//! The choice of engines: a table of conditions, engines and reasons.
//!
//! [`TABLE`] is the only place that says which engine is tried on which part, and [`with_engine`] the only one that
//! makes an engine of its name. The choice reads nothing but a [`Profile`], so it is tested as a table.

use std::str::FromStr;

use super::Config;
use crate::engine::brute::{self, Brute};
use crate::engine::hitting::{self, Hitting};
use crate::engine::monitor::{self, Monitors};
use crate::engine::search::{self, GeneralSearch};
use crate::engine::{Engine, NotApplicable, Profile};
use crate::error::Error;
use crate::spec::Spec;

/// Which engine decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EngineChoice {
    /// The first engine of a table that can decide the part.
    #[default]
    Auto,
    /// The polynomial monitors; histories that they cannot decide stay undecided.
    Monitor,
    /// The general search.
    Search,
    /// Hitting families: schedules that delay few operations first. With a [limit](Config::depth_max) on how many, what
    /// is not shown stays undecided.
    Hitting,
    /// The reference, which tries all orders: for tiny histories.
    Brute,
}

impl EngineChoice {
    /// All choices with their names.
    pub const NAMES: &'static [(&'static str, EngineChoice)] = &[
        ("auto", EngineChoice::Auto),
        (monitor::NAME, EngineChoice::Monitor),
        (search::NAME, EngineChoice::Search),
        (hitting::NAME, EngineChoice::Hitting),
        (brute::NAME, EngineChoice::Brute),
    ];
}

impl FromStr for EngineChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, choice)| choice).ok_or_else(|| {
            let names: Vec<_> = Self::NAMES.iter().map(|(name, _)| *name).collect();
            Error::usage(format!(
                "unknown engine {name:?}; known are {}",
                names.join(", ")
            ))
        })
    }
}

/// An engine to try on a part, and the reason for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedEngine {
    pub(super) engine: EngineChoice,
    pub(super) reason: &'static str,
    /// Why the engine of the previous row cannot decide the part, if its condition does not hold.
    pub(super) passed_over: Option<NotApplicable>,
}

/// When a row of the table applies.
#[derive(Clone, Copy, Debug)]
enum Condition {
    /// The part is of one key, some monitor decides objects of its kind, and no operation is [blocked](crate::engine::End) at its end.
    KindHasMonitor,
    /// Always.
    Any,
}

impl Condition {
    fn holds<S: Spec>(self, profile: &Profile) -> Result<(), NotApplicable> {
        match self {
            Condition::KindHasMonitor => Engine::<S>::admits(&Monitors, profile),
            Condition::Any => Ok(()),
        }
    }
}

/// The engines that are tried, in this order, if the configuration does not name one. Invariant: the last row always
/// applies, and its engine decides any history of any specification.
const TABLE: &[(Condition, EngineChoice, &str)] = &[
    (
        Condition::KindHasMonitor,
        EngineChoice::Monitor,
        "a monitor decides objects of this kind in log-linear time",
    ),
    (
        Condition::Any,
        EngineChoice::Search,
        "the general search decides any specification",
    ),
];

/// The engines to try on a part, in this order: the next one is tried if an engine turns out not to be applicable.
pub(super) fn choose<S: Spec>(profile: &Profile, asked: EngineChoice) -> Vec<PlannedEngine> {
    if asked != EngineChoice::Auto {
        return vec![PlannedEngine {
            engine: asked,
            reason: "asked for",
            passed_over: None,
        }];
    }
    let mut steps = Vec::with_capacity(TABLE.len());
    let mut passed_over = None;
    for &(condition, engine, reason) in TABLE {
        match condition.holds::<S>(profile) {
            Ok(()) => steps.push(PlannedEngine {
                engine,
                reason,
                passed_over: passed_over.take(),
            }),
            Err(why) => passed_over = Some(why),
        }
    }
    steps
}

/// Calls `work` with an engine. Invariant: `choice` is not [`EngineChoice::Auto`], which no [`PlannedEngine`] has.
pub(super) fn with_engine<S: Spec, T>(
    choice: EngineChoice,
    config: &Config,
    work: impl FnOnce(&dyn Engine<S>) -> T,
) -> T {
    match choice {
        EngineChoice::Auto => unreachable!("bug: a plan does not say which engine"),
        EngineChoice::Monitor => work(&Monitors),
        EngineChoice::Search => work(&GeneralSearch),
        EngineChoice::Hitting => work(&Hitting {
            d_max: config.depth_max,
        }),
        EngineChoice::Brute => work(&Brute),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::End;
    use crate::spec::{Kind, Register};
    use crate::value::Value;

    fn kinds() -> [Kind; 11] {
        [
            Kind::Slot(Value::Nil),
            Kind::Queue,
            Kind::Stack,
            Kind::Deque,
            Kind::MaxPriorityQueue,
            Kind::MinPriorityQueue,
            Kind::Bag,
            Kind::Counter(0),
            Kind::Semaphore(1),
            Kind::Snapshot(Value::Nil),
            Kind::Limited(Box::new(Kind::Queue)),
        ]
    }

    fn engines(kind: Option<Kind>, asked: EngineChoice) -> Vec<EngineChoice> {
        engines_to(End::Returned, kind, asked)
    }

    fn engines_to(end: End, kind: Option<Kind>, asked: EngineChoice) -> Vec<EngineChoice> {
        let plan = choose::<Register>(&Profile { kind, end }, asked);
        plan.iter().map(|step| step.engine).collect()
    }

    #[test]
    fn the_table() {
        use EngineChoice::{Auto, Monitor, Search};
        for kind in kinds() {
            let expected = match kind {
                Kind::Deque => vec![Search],
                _ => vec![Monitor, Search],
            };
            assert_eq!(engines(Some(kind.clone()), Auto), expected, "{kind:?}");
            let named = EngineChoice::NAMES.iter().map(|&(_, choice)| choice);
            for asked in named.filter(|&choice| choice != Auto) {
                assert_eq!(engines(Some(kind.clone()), asked), [asked]);
            }
        }
        assert_eq!(engines(None, Auto), [Search]);
    }

    #[test]
    fn no_monitor_is_chosen_where_an_operation_is_blocked() {
        for kind in kinds() {
            let engines = engines_to(End::Blocked, Some(kind), EngineChoice::Auto);
            assert_eq!(engines, [EngineChoice::Search]);
        }
    }

    #[test]
    fn an_engine_that_is_passed_over_is_told() {
        let profile = Profile {
            kind: None,
            end: End::Returned,
        };
        let plan = choose::<Register>(&profile, EngineChoice::Auto);
        assert_eq!(
            plan[0].passed_over,
            Some(NotApplicable("no monitor knows this object"))
        );
    }

    #[test]
    fn every_choice_has_a_name() {
        for (name, choice) in EngineChoice::NAMES {
            assert_eq!(name.parse::<EngineChoice>().unwrap(), *choice);
        }
        assert!("sofa".parse::<EngineChoice>().is_err());
    }
}
