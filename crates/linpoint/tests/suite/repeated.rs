//! Queues and stacks whose values repeat, on random small histories: the search by itself, and the portfolio, against the
//! reference.
//!
//! `LINPOINT_MONITORS` sets the number of histories per type.

use linpoint::spec::{ObjectType, Params, object_type};
use linpoint::{Checker, Config, EngineChoice, History, Verdict};
use rayon::prelude::*;

use crate::recorded::dump;
use crate::{differential, monitors};

/// Histories per type, unless the environment says otherwise.
const HISTORIES: u64 = 20_000;

/// How many values there are; distinct ones now and then.
const UNIVERSES: &[Option<i64>] = &[Some(1), Some(2), Some(2), Some(3), None];

/// Two kinds in turn: sequential runs drawn out in time and changed, and simulated concurrent runs with wrong results.
fn small_history(object: &ObjectType, seed: u64) -> Option<History> {
    if seed.is_multiple_of(4) {
        differential::small_history(object, seed)
    } else {
        monitors::small_history(object, &[], UNIVERSES, seed)
    }
}

#[test]
fn repeated_values_agree_with_brute() {
    let count = monitors::histories_per_case(HISTORIES);
    ["queue", "stack"].iter().for_each(|name| {
        let object = object_type(name, &Params::new()).expect("a built-in type");
        let plain = Config::default().verdicts_only();
        let oracle = Checker::new(plain.clone().with_engine(EngineChoice::Brute));
        let search = Checker::new(plain.clone().with_engine(EngineChoice::Search));
        let cores = Checker::new(Config::default().with_engine(EngineChoice::Search));
        let auto = Checker::new(plain);
        let check = |seed: u64| -> Option<bool> {
            let history = small_history(&object, seed)?;
            let context = |what: &str| format!("{name}, {what}, seed {seed}\n{}", dump(&history));
            let decide = |checker: &Checker, what: &str| {
                // Its witness was replayed, or this would be an error.
                let report = object.check(&history, checker, &checker.budget());
                let report = report.unwrap_or_else(|error| panic!("{error}: {}", context(what)));
                match &report.verdict {
                    Verdict::Linearizable(_) => true,
                    Verdict::Violation(violation) => {
                        let core = &violation.core;
                        let is_checked = core.certified && core.minimal && violation.shortest;
                        assert!(what != "cores" || is_checked, "{}", context(what));
                        false
                    }
                    Verdict::Undecided(_) => panic!("undecided: {}", context(what)),
                }
            };
            let expected = decide(&oracle, "brute");
            let found = decide(&search, "search");
            assert_eq!(found, expected, "{}", context("search"));
            assert_eq!(decide(&auto, "auto"), expected, "{}", context("auto"));
            // Evidence costs many searches.
            if !expected && seed % 16 < 4 {
                decide(&cores, "cores");
            }
            Some(expected)
        };
        let verdicts: Vec<bool> = (0..count).into_par_iter().filter_map(check).collect();
        let yes = verdicts.iter().filter(|&&verdict| verdict).count() as u64;
        let no = verdicts.len() as u64 - yes;
        println!("{name}: {yes} linearizable, {no} not");
        assert!(yes > count / 4 && no > count / 10, "{yes} and {no}");
    });
}
