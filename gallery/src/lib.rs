//! Runs the tests of bugs that concurrent crates really had, and prints a table: see `docs/gallery.md`.

use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use linpoint_test::{FailureKind, Model, Object, Report, Verdict};

/// Which of two versions of a crate is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// The one that has the bug.
    Buggy,
    /// The one in which it is mended; of a kernel, with the change that mends it.
    Fixed,
}

/// A bug, with a test that should find it.
#[derive(Clone, Copy, Debug)]
pub struct Bug {
    /// Its number in `docs/gallery.md`.
    pub number: u8,
    /// The crate.
    pub name: &'static str,
    /// The version that has the bug.
    pub buggy: &'static str,
    /// The version in which it is mended; `None` if there is none.
    pub fixed: Option<&'static str>,
    /// Runs the test.
    pub check: fn(Version) -> Finding,
}

/// What a test found.
#[derive(Clone, Debug)]
pub enum Finding {
    /// A failure: the smallest test, and in which way it fails.
    Found {
        /// The operations of each thread.
        test: String,
        /// The kind of failure.
        kind: String,
    },
    /// No failure, with this coverage.
    Passes(String),
    /// Neither: the reason.
    Undecided(String),
}

impl Finding {
    /// The result of an object under the controlled scheduler. A failure is repeated from its token.
    pub fn of_object<X: 'static>(object: impl Fn() -> Object<X>) -> Self {
        let report = object().check();
        let again = report.failure().map(|failure| {
            let token = failure.token.clone();
            object().replay(&token).check()
        });
        Finding::of_report(report, again)
    }

    /// The result of a whole test. A failure is repeated from its token.
    pub fn of_model(model: &Model) -> Self {
        let report = model.check();
        let again = report
            .failure()
            .map(|failure| model.clone().replay(&failure.token).check());
        Finding::of_report(report, again)
    }

    fn of_report(report: Report, again: Option<Report>) -> Self {
        if std::env::var_os("GALLERY_VERBOSE").is_some() {
            eprintln!("{report}\n");
        }
        match report.verdict {
            Verdict::Pass(coverage) => Finding::Passes(coverage.to_string()),
            Verdict::Undecided(why) => Finding::Undecided(why),
            Verdict::Fail(failure) => {
                let again = again.and_then(|again| Some(again.failure()?.kind));
                if again != Some(failure.kind) && failure.kind != FailureKind::Nondeterministic {
                    return Finding::Undecided(format!(
                        "the token {} does not repeat it",
                        failure.token
                    ));
                }
                let part = |word: &str, ops: &[String]| match ops.is_empty() {
                    true => String::new(),
                    false => format!("{word} {}; ", ops.join(", ")),
                };
                Finding::Found {
                    test: format!(
                        "{}{}{}",
                        part("first", &failure.init),
                        part("last", &failure.finally),
                        threads(&failure.matrix)
                    ),
                    kind: kind(failure.kind).to_owned(),
                }
            }
            _ => Finding::Undecided("an unknown verdict".to_owned()),
        }
    }
}

/// The operations of threads as text.
fn threads(threads: &[Vec<String>]) -> String {
    let threads: Vec<String> = threads
        .iter()
        .map(|ops| format!("[{}]", ops.join(", ")))
        .collect();
    threads.join(" || ")
}

fn kind(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::NoWitness => "not linearizable",
        FailureKind::NoStuckWitness => "stuck",
        FailureKind::Nondeterministic => "not deterministic",
        FailureKind::Blocks => "blocks",
        FailureKind::Panics => "panics",
        FailureKind::Deadlock => "deadlock",
        FailureKind::DataRace => "data race",
        FailureKind::Invariant => "invariant broken",
        _ => "fails",
    }
}

/// Tests these versions of these bugs, prints a line for each, and says whether all is as expected: each bug is found in the buggy
/// version and not in the fixed one. Arguments of the program are the numbers of the bugs to test; without them all are.
pub fn run(bugs: &[Bug], versions: &[Version]) -> ExitCode {
    let wanted: Vec<u8> = std::env::args()
        .skip(1)
        .filter_map(|n| n.parse().ok())
        .collect();
    let mut unexpected = 0;
    for bug in bugs
        .iter()
        .filter(|bug| wanted.is_empty() || wanted.contains(&bug.number))
    {
        for &version in versions {
            let number = match version {
                Version::Buggy => bug.buggy,
                Version::Fixed => match bug.fixed {
                    Some(fixed) => fixed,
                    None => continue,
                },
            };
            let start = Instant::now();
            let finding = (bug.check)(version);
            let line = Line {
                bug,
                version: number,
                time: start.elapsed(),
                finding: &finding,
            };
            println!("{line}");
            let is_expected = match finding {
                Finding::Found { .. } => version == Version::Buggy,
                Finding::Passes(_) => version == Version::Fixed,
                Finding::Undecided(_) => false,
            };
            unexpected += u32::from(!is_expected);
        }
    }
    match unexpected {
        0 => ExitCode::SUCCESS,
        _ => {
            eprintln!("{unexpected} not as expected");
            ExitCode::FAILURE
        }
    }
}

/// A line of the table.
struct Line<'a> {
    bug: &'a Bug,
    version: &'a str,
    time: Duration,
    finding: &'a Finding,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line {
            bug,
            version,
            time,
            finding,
        } = self;
        write!(
            f,
            "{:>2}  {:<18} {version:<9} {:>7.2} s  ",
            bug.number,
            bug.name,
            time.as_secs_f64()
        )?;
        match finding {
            Finding::Found { test, kind } => write!(f, "FOUND   {kind}: {test}"),
            Finding::Passes(coverage) => write!(f, "passes  {coverage}"),
            Finding::Undecided(why) => write!(f, "unclear {why}"),
        }
    }
}
