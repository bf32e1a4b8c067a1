//! Every engine, and every way to save work left out: verdicts are the same on the corpus and on random histories.
//!
//! `LINPOINT_DIFFERENTIAL` sets the number of random histories per type, as for [`differential`](crate::differential); all
//! checkers judge every fiftieth of them.

use std::time::Duration;

use linpoint::engine::Shortcut;
use linpoint::{Checker, Config, EngineChoice, Partitioning};
use rayon::prelude::*;

use crate::corpus::{BundledFile, bundled_files};
use crate::differential::{
    Judge, Undecided, any_small_history, expected, histories_per_type, judge_shares,
};
use crate::recorded::type_of;

/// The engines that may leave a small history undecided: monitors apply to some histories of some types only, and the hitting
/// engine stops at a depth.
const MAY_BE_UNDECIDED: [EngineChoice; 2] = [EngineChoice::Monitor, EngineChoice::Hitting];

/// All checkers whose verdicts must not differ, with their names: one for each engine, and for each way to save work two
/// without it, by key and on whole objects.
pub(crate) fn judges(plain: &Config) -> Vec<Judge> {
    let mut judges = Vec::new();
    for &(name, engine) in EngineChoice::NAMES {
        let config = plain.clone().with_engine(engine);
        let undecided = if MAY_BE_UNDECIDED.contains(&engine) {
            Undecided::Passes
        } else {
            Undecided::Fails
        };
        judges.push(Judge {
            undecided,
            ..Judge::new(name, Checker::new(config))
        });
    }
    for shortcut in Shortcut::ALL {
        // Monitors decide before the search, so what the search saves shows only without them.
        let engine = match shortcut {
            Shortcut::Columns => EngineChoice::Auto,
            _ => EngineChoice::Search,
        };
        for partitioning in [Partitioning::ByKey, Partitioning::ByObject] {
            let config = plain.clone().with_engine(engine);
            let config = config.with_partitioning(partitioning).without_witnesses();
            let checker = Checker::new(config).without(shortcut);
            let name = format!("without {shortcut:?}, {partitioning:?}");
            judges.push(Judge::new(name, checker));
        }
    }
    let search = Checker::new(plain.clone().with_engine(EngineChoice::Search));
    let without_any = Shortcut::ALL.into_iter().fold(search, Checker::without);
    judges.push(Judge::new("without any shortcut", without_any));
    judges
}

/// Long histories may take too long, or be refused by an engine; but no verdict is wrong.
#[test]
fn the_corpus_is_judged_alike_by_all_engines_and_without_each_shortcut() {
    let files = bundled_files();
    let all: usize = files.iter().map(|file| file.histories.len()).sum();
    let plain = Config::default().verdicts_only();
    for judge in judges(&plain.with_timeout(Duration::from_millis(100))) {
        let name = &judge.name;
        let count_decided = |file: &BundledFile| {
            let decided = file.histories.par_iter().filter(|recorded| {
                let found = judge.verdict(&type_of(recorded), &recorded.history);
                let expected = file.expected(recorded);
                let is_right = found.is_none_or(|found| found == expected);
                assert!(is_right, "{name}: {}", recorded.label());
                found.is_some()
            });
            decided.count()
        };
        let decided: usize = files.iter().map(count_decided).sum();
        // Monitors refuse the classes of Java; all others decide nearly everything.
        assert!(decided > all / 2, "{name}: {decided} of {all} decided");
    }
}

#[test]
fn random_histories_are_judged_alike_by_all_engines_and_without_each_shortcut() {
    let judges = judges(&Config::default().verdicts_only());
    judge_shares(histories_per_type().div_ceil(50), |variants, seed| {
        let callable = &variants[seed as usize % variants.len()];
        let object = &callable.object;
        let history = any_small_history(callable, seed.wrapping_add(1 << 40))?;
        let expected = expected(object, &history);
        for judge in &judges {
            judge.compare(object, &history, seed, expected);
        }
        Some(expected)
    });
}
