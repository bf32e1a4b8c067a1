//! Every bundled history gets the verdict that is known of it, split by key or not, with evidence that holds.

use std::time::{Duration, Instant};

use linpoint::format::RecordedHistory;
use linpoint::{Checker, Config, EngineChoice, Partitioning, Verdict};

use crate::recorded::{compare, corpus, read_all, type_of};

/// A line of `verdicts.csv`.
pub(crate) struct BundledFile {
    pub(crate) name: String,
    pub(crate) histories: Vec<RecordedHistory>,
    /// How many of the histories are not linearizable.
    violations: usize,
}

impl BundledFile {
    /// The verdict that the history says, or else the only one that its file leaves.
    pub(crate) fn expected(&self, recorded: &RecordedHistory) -> bool {
        recorded.expected.unwrap_or_else(|| {
            assert_eq!(self.histories.len(), 1, "{} has no label", recorded.label());
            self.violations == 0
        })
    }
}

/// The files that `verdicts.csv` lists.
pub(crate) fn bundled_files() -> Vec<BundledFile> {
    let path = corpus().join("verdicts.csv");
    let table = std::fs::read_to_string(&path).expect("the list of the corpus");
    let file = |row: &str| {
        let columns: Vec<&str> = row.split(',').collect();
        let [name, histories, violations] = columns[..] else {
            panic!("{row:?} has not three columns");
        };
        let count = |text: &str| text.parse::<usize>().expect("a number of histories");
        let all = read_all(&corpus().join(name));
        assert_eq!(all.len(), count(histories), "{name}");
        BundledFile {
            name: name.to_owned(),
            histories: all,
            violations: count(violations),
        }
    };
    table.lines().skip(1).map(file).collect()
}

fn check_all(config: &Config) {
    for file in bundled_files() {
        let found = compare(&file.histories, config, |recorded| file.expected(recorded));
        assert_eq!(found, file.violations, "{}", file.name);
    }
}

#[test]
fn every_history_gets_its_verdict_and_evidence() {
    check_all(&Config::default());
}

#[test]
fn keys_make_no_difference() {
    let whole = Config::default()
        .verdicts_only()
        .with_partitioning(Partitioning::ByObject);
    check_all(&whole);
}

#[test]
fn witnesses_make_no_difference() {
    check_all(&Config::default().verdicts_only().without_witnesses());
}

/// The histories whose verdicts are not known.
fn undecided_histories() -> Vec<RecordedHistory> {
    read_all(&corpus().join("limits"))
}

#[test]
fn no_history_is_forgotten() {
    let listed: usize = bundled_files()
        .iter()
        .map(|file| file.histories.len())
        .sum();
    let unknown = undecided_histories().len();
    assert_eq!(read_all(&corpus()).len(), listed + unknown);
}

#[test]
fn every_engine_ends_at_its_time_limit() {
    const TIMEOUT: Duration = Duration::from_millis(200);
    for recorded in undecided_histories() {
        for &(name, engine) in EngineChoice::NAMES {
            let config = Config::default().with_engine(engine).with_timeout(TIMEOUT);
            let started = Instant::now();
            let report =
                Checker::new(config).check_recorded(&type_of(&recorded), &recorded.history);
            let verdict = report.expect("no certificate fails").verdict;
            let label = recorded.label();
            assert!(
                matches!(verdict, Verdict::Undecided(_)),
                "{label}, {name}: {verdict:?}"
            );
            // Generous: the machine may be busy.
            assert!(started.elapsed() < 20 * TIMEOUT, "{label}, {name}");
        }
    }
}
