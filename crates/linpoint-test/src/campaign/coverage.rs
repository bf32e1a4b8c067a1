//! What the tests of an object covered, in words.

use std::time::Duration;

use crate::check::Coverage;
use crate::report::{TestReport, TestResult, counted};

/// How far the tests of each size got, if they did not get equally far or the time was up.
pub(super) fn note(
    tests: &[&TestReport],
    total: usize,
    time_that_was_up: Option<Duration>,
) -> Option<String> {
    let mut sizes: Vec<(&str, Vec<Kind>)> = Vec::new();
    for test in tests {
        let Some(kind) = Kind::of(&test.result) else {
            continue;
        };
        match sizes.iter_mut().find(|(size, _)| *size == test.dimension) {
            Some((_, kinds)) => kinds.push(kind),
            None => sizes.push((&test.dimension, vec![kind])),
        }
    }
    let first = sizes.first()?.1.first()?;
    let differ = sizes
        .iter()
        .any(|(_, kinds)| kinds.iter().any(|kind| kind != first));
    if !differ && time_that_was_up.is_none() {
        return None;
    }
    let of_size = |(size, mut kinds): (&str, Vec<Kind>)| {
        kinds.sort_unstable();
        let groups = kinds.chunk_by(|a, b| a == b).rev();
        let groups: Vec<String> = groups.map(|group| group[0].words(group.len())).collect();
        format!("{size}: {}", groups.join(", "))
    };
    let sizes: Vec<String> = sizes.into_iter().map(of_size).collect();
    let end = match time_that_was_up {
        None => String::new(),
        Some(time) if total == usize::MAX => format!("; the time of {time:?} was up"),
        Some(time) => format!(
            "; the time of {time:?} was up, {} did not run",
            counted((total - tests.len()) as u64, "test")
        ),
    };
    Some(format!("tests by size: {}{end}", sizes.join("; ")))
}

/// Why the tests are undecided, with the number of those that passed.
pub(super) fn of_undecided(
    why: &str,
    tests: &[&TestReport],
    total: usize,
    limit: Option<Duration>,
) -> String {
    let passed = tests
        .iter()
        .filter(|test| matches!(test.result, TestResult::Pass(_)));
    let passed = passed.count();
    let of = match total {
        usize::MAX => String::new(),
        total => format!(" of {total}"),
    };
    let limit = limit.map_or(String::new(), |limit| format!("; the limit was {limit:?}"));
    format!("{why} ({passed}{of} tests passed, none failed{limit})")
}

/// How far a test got. The larger, the further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Undecided,
    CutOff,
    #[cfg(feature = "loom")]
    WeakMemory,
    Sampled,
    Preemptions(u32),
    Exhaustive,
}

impl Kind {
    fn of(result: &TestResult) -> Option<Self> {
        Some(match result {
            TestResult::Pass(coverage) => match *coverage {
                #[cfg(feature = "loom")]
                Coverage::WeakMemory(_) => Kind::WeakMemory,
                Coverage::CutOff(_) => Kind::CutOff,
                Coverage::Sampled(_) => Kind::Sampled,
                Coverage::Preemptions(most) => Kind::Preemptions(most),
                Coverage::Exhaustive => Kind::Exhaustive,
            },
            TestResult::Undecided(_) => Kind::Undecided,
            TestResult::Fail(_) => return None,
        })
    }

    fn words(self, tests: usize) -> String {
        match self {
            Kind::Exhaustive => format!("{tests} exhaustive"),
            Kind::Preemptions(most) => {
                format!("{tests} up to {}", counted(u64::from(most), "preemption"))
            }
            Kind::Sampled => format!("{tests} sampled"),
            #[cfg(feature = "loom")]
            Kind::WeakMemory => format!("{tests} under weak memory"),
            Kind::CutOff => format!("{tests} cut off by the time"),
            Kind::Undecided => format!("{tests} undecided"),
        }
    }
}
