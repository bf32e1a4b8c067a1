//! Sections 5.6 and 5.7: what other methods say about the executions of the same tests. A warning of a test that Line-Up passes is a
//! false alarm, and a test that Line-Up fails without a warning is an error that the method overlooks.

use super::cause;
use super::classes::{Subject, Test};
use linpoint_test::compare::{Comparison, Method};
use linpoint_test::report::TestResult;

/// The most executions of a test that are examined.
const EXECUTIONS: usize = 1000;

pub(crate) fn print(subjects: &[&Subject], tests: usize) {
    println!(
        "Random tests of three threads with three operations each: {tests}. Up to {EXECUTIONS} executions of each were examined: one of each class if these"
    );
    println!(
        "are all, or else a random sample. For each method: tests with a warning, of those that Line-Up passes (false alarms) and of those that it fails.\n"
    );
    let names: Vec<String> = Method::ALL.iter().map(Method::to_string).collect();
    println!(
        "| class | cause | passed / failed | executions | {} |",
        names.join(" | ")
    );
    println!("|---|---|---|---|{}", "---|".repeat(names.len()));
    let mut false_alarms = [0; Method::ALL.len()];
    for subject in subjects {
        let comparison = subject.compare(&Test::Random { tests, seed: 1 }, EXECUTIONS);
        print_line(subject, &comparison);
        for (sum, method) in false_alarms.iter_mut().zip(Method::ALL) {
            let tests = comparison.tests.iter();
            let warnings = tests.filter(|test| test.is_false_alarm(method));
            *sum += warnings
                .map(|test| test.warnings(method).count())
                .sum::<usize>();
        }
    }
    println!("\nDifferent warnings about tests that Line-Up passes, all classes together:");
    for (sum, name) in false_alarms.iter().zip(names) {
        println!("- {name}: {sum}");
    }
}

fn print_line(subject: &Subject, comparison: &Comparison) {
    let tests = &comparison.tests;
    let passes = |result: &TestResult| matches!(result, TestResult::Pass(_));
    let fails = |result: &TestResult| matches!(result, TestResult::Fail(_));
    let count = |wanted: &dyn Fn(&TestResult) -> bool, method: Option<Method>| {
        let is_counted = |test: &&linpoint_test::compare::TestComparison| {
            wanted(&test.test.result) && method.is_none_or(|method| test.alarms(method) > 0)
        };
        tests.iter().filter(is_counted).count()
    };
    let methods = Method::ALL.map(|method| {
        format!(
            "{} / {}",
            count(&passes, Some(method)),
            count(&fails, Some(method))
        )
    });
    println!(
        "| {} | {} | {} / {} | {} | {} |",
        subject.class,
        cause(subject.seed),
        count(&passes, None),
        count(&fails, None),
        tests.iter().map(|test| test.executions).sum::<usize>(),
        methods.join(" | "),
    );
}
