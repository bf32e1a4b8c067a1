//! Recorded histories and their verdicts, for the tests over files.

use std::path::{Path, PathBuf};

use linpoint::format::{ReadOptions, Recorded, read};
use linpoint::object::{ObjectType, guess_type, object_type};
use linpoint::{Checker, Config, Cores, History, Verdict};
use rayon::prelude::*;

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
pub(crate) fn read_all(path: &Path) -> Vec<Recorded> {
    let mut all = Vec::new();
    read(path, &ReadOptions::default(), |recorded| {
        all.push(recorded.unwrap_or_else(|error| panic!("{error}")));
    });
    all
}

/// The type that the input names, or that the methods tell.
pub(crate) fn type_of(recorded: &Recorded) -> ObjectType {
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

/// Whether the history is linearizable. Its evidence holds: a witness is certified by the checker itself, and a core,
/// where one was asked for, was confirmed by the reference and cannot be reduced further.
pub(crate) fn is_linearizable(recorded: &Recorded, config: &Config) -> bool {
    let label = recorded.label();
    let checker = Checker::new(config.clone());
    let report = checker.check_recorded(&type_of(recorded), &recorded.history);
    let report = report.unwrap_or_else(|error| panic!("{label}: {error}"));
    match report.verdict {
        Verdict::Linearizable(_) => true,
        Verdict::Violation(violation) => {
            if config.cores == Cores::Reduced {
                let core = &violation.core;
                assert!(core.is_certified(), "{label}: {core:?}");
                assert!(
                    core.is_minimal() && violation.shortest,
                    "{label}: {violation:?}"
                );
            }
            false
        }
        Verdict::Undecided(undecided) => panic!("{label}: {undecided:?}"),
    }
}

/// Checks all histories against what is expected of them; answers how many are not linearizable.
pub(crate) fn compare(
    histories: &[Recorded],
    config: &Config,
    expected: impl Fn(&Recorded) -> bool + Sync,
) -> usize {
    let violations = histories.par_iter().filter(|recorded| {
        let found = is_linearizable(recorded, config);
        assert_eq!(found, expected(recorded), "{}", recorded.label());
        !found
    });
    violations.count()
}

/// The answer that the input tells.
pub(crate) fn labelled(recorded: &Recorded) -> bool {
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
