//! Reads and judges recorded histories, for all tests.

use std::path::{Path, PathBuf};
use std::time::Duration;

use linpoint::format::{ReadOptions, RecordedHistory, read};
use linpoint::object::{ObjectType, guess_type, object_type};
use linpoint::verdict::Violation;
use linpoint::{Checker, Config, Cores, History, Report, Verdict};
use rayon::prelude::*;

pub(crate) use crate::fuzz_bodies::decided;

/// The bundled histories.
pub(crate) fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// A file or folder of the collections that are too large for the repository: beside the checkout, or where `LINPOINT_DATA`
/// says. Tests that need one are ignored unless they are asked for.
pub(crate) fn data(name: &str) -> PathBuf {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let root = std::env::var_os("LINPOINT_DATA").map_or_else(|| PathBuf::from(beside), Into::into);
    let path = root.join(name);
    assert!(path.exists(), "there is no {}", path.display());
    path
}

/// All histories at `path`, which must be well formed.
pub(crate) fn read_all(path: &Path) -> Vec<RecordedHistory> {
    let mut all = Vec::new();
    read(path, &ReadOptions::default(), |recorded| {
        all.push(recorded.unwrap_or_else(|error| panic!("{error}")));
    });
    all
}

/// The type that the input names, or that the methods identify.
pub(crate) fn type_of(recorded: &RecordedHistory) -> ObjectType {
    let found = match &recorded.object_type {
        Some((name, params)) => object_type(name, params),
        None => {
            // Without operations any type will do.
            let guessed = guess_type(&recorded.history);
            let name = guessed.or(recorded.history.is_empty().then_some("register"));
            object_type(name.expect("a type"), &Default::default())
        }
    };
    found.unwrap_or_else(|error| panic!("{}: {error}", recorded.label()))
}

/// Checks a history. A failed certificate fails the test with the history.
pub(crate) fn check(object: &ObjectType, history: &History, checker: &Checker) -> Report {
    let report = checker.check_recorded(object, history);
    report.unwrap_or_else(|error| panic!("{error}\n{}", dump(history)))
}

/// Whether `history` is linearizable by the verdict of `checker`, which must decide it.
pub(crate) fn is_linearizable(object: &ObjectType, history: &History, checker: &Checker) -> bool {
    decided(&check(object, history, checker).verdict)
}

/// Whether the evidence of a violation is complete: the reference confirmed its core, which cannot be reduced further, and
/// the shortest prefix that is a violation was found.
pub(crate) fn has_full_evidence(violation: &Violation) -> bool {
    violation.core.is_certified() && violation.core.is_minimal() && violation.shortest
}

/// Whether a history of a file is linearizable. The checker itself certifies a witness; a core, where one was asked for,
/// must be complete.
fn is_recorded_linearizable(recorded: &RecordedHistory, config: &Config) -> bool {
    let label = recorded.label();
    // Whether a core is complete must not depend on how busy the machine is.
    let config = &config.clone().with_explanation(Duration::from_secs(20));
    let checker = Checker::new(config.clone());
    let report = checker.check_recorded(&type_of(recorded), &recorded.history);
    let report = report.unwrap_or_else(|error| panic!("{label}: {error}"));
    match report.verdict {
        Verdict::Linearizable(_) => true,
        Verdict::Violation(violation) => {
            let is_complete = config.cores != Cores::Reduced || has_full_evidence(&violation);
            assert!(is_complete, "{label}: {violation:?}");
            false
        }
        Verdict::Undecided(undecided) => panic!("{label}: {undecided:?}"),
    }
}

/// Checks all histories against what is expected of them. Returns how many are not linearizable.
pub(crate) fn compare(
    histories: &[RecordedHistory],
    config: &Config,
    expected: impl Fn(&RecordedHistory) -> bool + Sync,
) -> usize {
    let violations = histories.par_iter().filter(|recorded| {
        let found = is_recorded_linearizable(recorded, config);
        assert_eq!(found, expected(recorded), "{}", recorded.label());
        !found
    });
    violations.count()
}

/// The verdict that the input states.
pub(crate) fn labelled(recorded: &RecordedHistory) -> bool {
    let expected = recorded.expected;
    expected.unwrap_or_else(|| panic!("{} has no label", recorded.label()))
}

/// The operations of a history with the ranks of their calls and returns, for messages.
pub(crate) fn dump(history: &History) -> String {
    let ops = history
        .ops()
        .map(|op| format!("{} [{}, {}]", op.text(), op.call, op.ret as i32));
    ops.collect::<Vec<_>>().join("\n")
}
