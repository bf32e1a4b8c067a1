//! Failures of every kind can be shown in a browser.

use linpoint::report::Page;
use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::{FailureKind, Report, object};

use crate::objects::{self, Counter2};

/// The page of a failure, if it is of this kind.
fn page(report: &Report, kind: FailureKind) -> String {
    let failure = report.failure().unwrap();
    assert_eq!(failure.kind, kind, "{failure}");
    let mut page = Page::new(Vec::new()).unwrap();
    page.add(&failure.page_data().unwrap()).unwrap();
    String::from_utf8(page.finish().unwrap()).unwrap()
}

fn assert_all(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "{text} is not on the page");
    }
}

#[test]
fn results_without_witness() {
    let report = objects::counter1().random(2, 2, 20).check();
    let page = page(&report, FailureKind::NoWitness);
    let told = [
        r#""verdict":"not linearizable""#,
        r#""process":"thread A""#,
        r#""call":"inc""#,
        "No serial order of the operations that respects real time gives these results: \
         B.get answered 1, but after the answers before it, it could only answer 2",
        "no serial execution of the object explains it (all 3 serial executions were run)",
        "as constructed",
        // How far one gets, and what the object would have answered then.
        r#""after A.inc, B.inc""#,
        r#""expected":["2"]"#,
        // The interleaving.
        r#""execution":[{"process":"#,
        "objects.rs:",
    ];
    assert_all(&page, &told);
    assert!(!page.contains("confirmed by an independent check"));
}

#[test]
fn a_stuck_operation() {
    let threads = [vec!["wait"], vec!["set", "reset", "set"]];
    let report = objects::event(objects::Waiting::Broken)
        .matrix(threads)
        .check();
    let page = page(&report, FailureKind::NoStuckWitness);
    let told = [
        r#""headline":"Stuck: "#,
        r#""recorded":"never returns""#,
        r#""notes":["A.wait "#,
        "LINPOINT_REPLAY=",
    ];
    assert_all(&page, &told);
}

#[test]
fn two_operations_that_wait_for_each_other() {
    let locks = object(|| (Mutex::new(0), Mutex::new(0)));
    let report = locks
        .op0("ab", |(a, b)| *a.lock().unwrap() + *b.lock().unwrap())
        .op0("ba", |(a, b)| *b.lock().unwrap() + *a.lock().unwrap())
        .matrix([["ab"], ["ba"]])
        .check();
    let page = page(&report, FailureKind::NoStuckWitness);
    // Serially it would have answered: it is not the turn of the other one to wait.
    assert_all(&page, &[r#""expected":["0"]"#, "waits for"]);
    assert!(!page.contains(r#""expected":[]"#));
}

#[test]
fn an_operation_that_should_not_wait() {
    let counter = object(Counter2::default).op0("inc", Counter2::inc);
    let report = counter.op0("get", Counter2::get).auto(2).check();
    let page = page(&report, FailureKind::Blocks);
    let told = [
        r#""headline":"Blocks: "#,
        r#""expected":["some answer"]"#,
        "a serial execution of the object shows it",
        r#""recorded":"never returns""#,
    ];
    assert_all(&page, &told);
}

#[test]
fn answers_that_vary() {
    static CALLS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let counter = object(|| AtomicU32::new(0));
    let report = counter
        .op0("draw", |own| own.load(SeqCst) + CALLS.fetch_add(1, SeqCst))
        .matrix([["draw"]])
        .check();
    let page = page(&report, FailureKind::Nondeterministic);
    assert_all(&page, &["in one serial execution and", r#""expected":[""#]);
}

#[test]
fn a_page_is_written_where_it_is_asked_for() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages/counter.html");
    let counter = || objects::counter1().random(2, 2, 20);
    assert!(counter().check().page.is_none());
    let report = counter().html(&path).check();
    assert_eq!(report.page, Some(Ok(path.clone())));
    assert!(report.to_string().contains("counter.html"));
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("<!doctype html>"));

    // A folder cannot be written to.
    let report = counter().html(path.parent().unwrap()).check();
    assert!(matches!(report.page, Some(Err(_))));
    assert!(report.to_string().contains("page not written"));
}
