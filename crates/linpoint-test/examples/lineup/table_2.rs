//! Table 2: what Line-Up finds in random tests, beside the published figures.

use std::time::Duration;

use super::classes::{Subject, Test};
use super::{cause, published};
use linpoint_test::report::{TestReport, TestResult};
use linpoint_test::{Coverage, Report};

pub(crate) fn print(subjects: &[&Subject], tests: usize) {
    println!(
        "Random tests of three threads with three operations each: {tests} (paper: 100). Times of the paper are minutes on its machine,"
    );
    println!(
        "one core for each test; ours are milliseconds on this one. \"Smallest\": all tests of each dimension were run, smaller ones first.\n"
    );
    println!(
        "| class | cause | histories of phase 1, average / most | phase 1 | passed / failed | passing test | failing test | searched | smallest |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for subject in subjects {
        print_subject(subject, tests);
    }
}

fn print_subject(subject: &Subject, tests: usize) {
    let (class, cause) = (subject.class, cause(subject.seed));
    if let Some(line) = published::line(class, subject.seed) {
        let minutes = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time} min"));
        println!(
            "| {class}, paper | {cause} | {} / {} | {} min | {} / {} | {} | {} | {} preemptions | {} |",
            line.histories.0,
            line.histories.1,
            line.phase1,
            line.passed,
            line.failed,
            minutes(line.minutes.0),
            minutes(line.minutes.1),
            line.preemptions,
            line.smallest,
        );
    }
    let report = subject.check(&Test::Random { tests, seed: 1 });
    let smallest = subject.smallest_failing();
    let smallest = smallest.map_or(String::new(), |((threads, ops), report)| {
        let preemptions = report.failure().map_or(0, |failure| failure.preemptions);
        format!("{threads}x{ops}, {preemptions} preemptions")
    });
    print_ours(class, &cause, &report, &smallest);
}

fn print_ours(class: &str, cause: &str, report: &Report, smallest: &str) {
    let tests = &report.tests;
    let is = |wanted: fn(&TestResult) -> bool| move |test: &&TestReport| wanted(&test.result);
    let passed: Vec<_> = tests
        .iter()
        .filter(is(|result| matches!(result, TestResult::Pass(_))))
        .collect();
    let failed: Vec<_> = tests
        .iter()
        .filter(is(|result| matches!(result, TestResult::Fail(_))))
        .collect();
    let undecided = tests.len() - passed.len() - failed.len();
    let serial = || tests.iter().map(|test| test.effort.serial);
    let both = |test: &&TestReport| test.effort.phase1 + test.effort.phase2;
    let phase1: Duration = tests.iter().map(|test| test.effort.phase1).sum();
    let coverage = passed.iter().filter_map(|test| match &test.result {
        TestResult::Pass(coverage) => Some(*coverage),
        _ => None,
    });
    let exhaustive = coverage
        .filter(|coverage| *coverage == Coverage::Exhaustive)
        .count();
    println!(
        "| {class}, ours | {cause} | {:.0} / {} | {} | {} / {}{} | {} | {} | {} | {smallest} |",
        serial().sum::<usize>() as f64 / tests.len().max(1) as f64,
        serial().max().unwrap_or(0),
        milliseconds(phase1, tests.len()),
        passed.len(),
        failed.len(),
        if undecided > 0 {
            format!(", {undecided} undecided")
        } else {
            String::new()
        },
        milliseconds(passed.iter().map(both).sum(), passed.len()),
        milliseconds(failed.iter().map(both).sum(), failed.len()),
        if passed.is_empty() {
            "-".to_owned()
        } else {
            format!("{exhaustive} of {} exhaustively", passed.len())
        },
    );
}

/// The average time.
fn milliseconds(sum: Duration, count: usize) -> String {
    if count == 0 {
        return "-".to_owned();
    }
    format!("{:.1} ms", sum.as_secs_f64() * 1e3 / count as f64)
}
