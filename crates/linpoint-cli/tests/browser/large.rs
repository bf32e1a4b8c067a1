//! Checks how fast the pages of long histories open.

use std::time::Duration;

use crate::Pages;
use crate::cases::{READY, core, selected};
use crate::chromium::Browser;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Pages of a million operations, or fewer if no browser is required.
pub(crate) fn million(browser: &mut Browser, pages: &Pages) {
    let ops = if pages.is_required {
        "1000000"
    } else {
        "20000"
    };
    let empty = pages.history("empty", "", &[]);
    let violation = pages.generated(
        "million",
        &[
            "-t",
            "queue",
            "--ops",
            ops,
            "--processes",
            "16",
            "--violation",
        ],
        &[],
    );
    let fine = pages.generated(
        "million-fine",
        &["-t", "register", "--ops", ops, "--processes", "16"],
        &[],
    );
    // The browser has to warm up as well.
    browser.open(&empty, READY);
    for (name, page) in [("million", &violation), ("million-fine", &fine)] {
        // Usable is what is drawn; the order through the operations may come a moment later.
        let drawn = "document.querySelector('#timeline')?.dataset.drawn > 0";
        // In turns, so that what else the machine does slows down both.
        let turns = (0..5).map(|_| (browser.open(&empty, READY), browser.open(page, drawn)));
        let (empty_times, times): (Vec<Duration>, Vec<Duration>) = turns.unzip();
        let (empty_time, time) = (median(empty_times), median(times));
        let ratio = time.as_secs_f64() / empty_time.as_secs_f64();
        let bytes = std::fs::metadata(page).map_or(0, |file| file.len());
        eprintln!(
            "page: {name}: {ops} operations, {bytes} bytes, opened in {time:.2?}; an empty page in {empty_time:.2?}: {ratio:.1} times"
        );
        assert!(time < Duration::from_secs(3), "{time:?}");
        assert!(ratio < 10.0, "{ratio} times an empty page");
        pages.picture(browser, name);
        // Everything is drawn at once, and near.
        browser.press("0");
        pages.picture(browser, &format!("{name}-all"));
        for _ in 0..4 {
            browser.press("+");
        }
        browser.press("ArrowRight");
        assert_ne!(selected(browser), "");
    }
    browser.open(&violation, READY);
    core(browser);
    browser.press("e");
    assert_ne!(selected(browser), "");
}
