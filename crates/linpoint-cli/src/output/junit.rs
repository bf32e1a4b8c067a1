//! Verdicts as JUnit XML: a suite for each history, a case for each object or key.

use std::io::Write;

use linpoint::Verdict;
use linpoint::verdict::PartReport;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::error_name;
use super::text::{core_lines, part_name};
use super::undecided::sentence;
use crate::files::Output;
use crate::results::{Checked, Outcome};
use crate::units::counted;

/// A JUnit report that is written when it is complete.
pub(crate) struct JunitReport {
    report: Report,
    out: Output,
}

impl JunitReport {
    pub(crate) fn new(out: Output) -> Self {
        JunitReport {
            report: Report::new("linpoint"),
            out,
        }
    }

    pub(crate) fn add(&mut self, outcome: &Outcome) {
        self.report.add_test_suite(suite(outcome));
    }

    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        writeln!(self.out, "{}", self.report.to_string()?.trim_end())?;
        self.out.finish()
    }
}

fn suite(outcome: &Outcome) -> TestSuite {
    let checked = match outcome {
        Ok(checked) => checked,
        Err(error) => {
            let label = error.label().unwrap_or_else(|| "input".to_owned());
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type(error_name(error.kind()));
            status.set_message(error.to_string());
            let mut suite = TestSuite::new(label.clone());
            suite.add_test_case(TestCase::new(label, status));
            return suite;
        }
    };
    let label = checked.recorded.label();
    let mut suite = TestSuite::new(label.clone());
    suite.set_time(checked.time);
    for part in &checked.report.parts {
        let mut case = TestCase::new(case_name(checked, part), status(checked, part));
        case.set_classname(label.clone());
        suite.add_test_case(case);
    }
    if checked.report.skipped > 0 {
        let mut status = TestCaseStatus::skipped();
        let parts = counted(checked.report.skipped, "further part");
        status.set_message(format!("{parts} not looked at; --all decides all of them"));
        suite.add_test_case(TestCase::new("others", status));
    }
    suite
}

/// `queue`, or `queue of key y of object x`.
fn case_name(checked: &Checked, part: &PartReport) -> String {
    format!("{}{}", checked.type_name, part_name(part))
}

fn status(checked: &Checked, part: &PartReport) -> TestCaseStatus {
    match &part.verdict {
        Verdict::Linearizable(_) => TestCaseStatus::success(),
        Verdict::Undecided(undecided) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_type("undecided");
            status.set_message(sentence(&checked.recorded.history, undecided));
            status
        }
        Verdict::Violation(violation) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type("not linearizable");
            status.set_message(violation.core.sentence());
            let lines = core_lines(&checked.recorded.history, &violation.core);
            status.set_description(lines.join("\n"));
            status
        }
    }
}
