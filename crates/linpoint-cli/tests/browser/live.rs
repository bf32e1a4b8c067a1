//! Checks the pages of live objects.

use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};

use crate::Pages;
use crate::cases::{READY, core, verdict};
use crate::chromium::Browser;

/// A test of a live object, and how its threads interleave.
pub(crate) fn live(browser: &mut Browser, pages: &Pages) {
    let page = pages.file("live.html");
    let counter = linpoint_test::object(|| AtomicU32::new(0));
    let report = counter
        .op0("inc", |count| {
            let seen = count.load(SeqCst);
            count.store(seen + 1, SeqCst);
        })
        .op0("get", |count| count.load(SeqCst))
        .random(2, 2, 20)
        .html(&page)
        .check();
    assert_eq!(report.page, Some(Ok(page.clone())), "{report}");
    browser.open(&page, READY);
    assert!(verdict(browser).starts_with("Not linearizable"));
    let core = core(browser);
    for text in [
        "thread A",
        "No serial order",
        "as constructed",
        "after A.inc",
    ] {
        assert!(core.contains(text), "{text}: {core}");
    }
    let execution = browser.text("document.querySelector('#execution').innerText");
    for text in ["thread B", "inc: ", "live.rs:", "LINPOINT_REPLAY="] {
        assert!(execution.contains(text), "{text}: {execution}");
    }
    assert!(!execution.contains("memory"), "{execution}");
    pages.picture(browser, "live");

    let page = pages.file("stuck.html");
    let locks = linpoint_test::object(|| (Mutex::new(0), Mutex::new(0)));
    locks
        .op0("ab", |(a, b)| {
            let _a = a.lock();
            b.lock().is_ok()
        })
        .op0("ba", |(a, b)| {
            let _b = b.lock();
            a.lock().is_ok()
        })
        .matrix([["ab"], ["ba"]])
        .html(&page)
        .check();
    browser.open(&page, READY);
    assert!(verdict(browser).starts_with("Stuck: no serial order"));
    let execution = browser.text("document.querySelector('#execution').innerText");
    assert!(execution.contains("B.ba waits for"), "{execution}");
    pages.picture(browser, "stuck");
}
