//! Checks what the pages show, and that their controls work.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::chromium::Browser;
use crate::large::million;
use crate::live::live;
use crate::{Case, Pages};

pub(crate) const ALL: &[Case] = &[
    ("queue", queue),
    ("stack", stack),
    ("register", register),
    ("snapshot", snapshot),
    ("linearizable", linearizable),
    ("undecided", undecided),
    ("annotations", annotations),
    ("times", times),
    ("lattice", lattice),
    ("orders", orders),
    ("keyboard", keyboard),
    ("mouse", mouse),
    ("hostile", hostile),
    ("print", print),
    ("parts", parts),
    ("limit", limit),
    ("verify", verify),
    ("live", live),
    ("million", million),
];

/// Everything is there.
pub(crate) const READY: &str = "document.body && (document.body.dataset.ready === 'history' || document.body.dataset.ready === 'empty')";

impl Pages {
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Makes a page with the command line.
    fn make(&self, name: &str, args: &[&str]) -> PathBuf {
        let page = self.file(&format!("{name}.html"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
        command.args(args).arg("--html").arg(&page);
        let output = command.output().expect("linpoint runs");
        let code = output.status.code();
        assert!(
            matches!(code, Some(0..=2)),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        page
    }

    /// Checks a file of the corpus.
    fn corpus(&self, name: &str, file: &str) -> PathBuf {
        let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../corpus")
            .join(file);
        self.make(name, &["check", corpus.to_str().expect("a path"), "--all"])
    }

    /// Checks a history that is written here.
    pub(crate) fn history(&self, name: &str, text: &str, more: &[&str]) -> PathBuf {
        let file = self.file(&format!("{name}.jsonl"));
        std::fs::write(&file, text).expect("the history can be written");
        let mut args = vec!["check", file.to_str().expect("a path")];
        args.extend(more);
        self.make(name, &args)
    }

    /// Checks a history from `linpoint generate`.
    pub(crate) fn generated(&self, name: &str, generate: &[&str], check: &[&str]) -> PathBuf {
        let file = self.file(&format!("{name}.jsonl"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_linpoint"));
        command.arg("generate").args(generate).arg("-o").arg(&file);
        assert!(command.status().expect("linpoint runs").success());
        let mut args = vec!["check", file.to_str().expect("a path")];
        args.extend(check);
        self.make(name, &args)
    }

    pub(crate) fn picture(&self, browser: &mut Browser, name: &str) {
        browser.picture(&self.pictures.join(format!("{name}.png")));
    }
}

/// What can be read of the core, which stands first and in sight.
pub(crate) fn core(browser: &mut Browser) -> String {
    let place = browser.evaluate(
        "[document.querySelector('#core').getBoundingClientRect().top, document.querySelector('#history').getBoundingClientRect().top]",
    );
    let (core, history) = (place[0].as_f64(), place[1].as_f64());
    assert!(
        core < history && core < Some(200.0),
        "the core comes first: {place}"
    );
    browser.text("document.querySelector('#core').innerText")
}

pub(crate) fn verdict(browser: &mut Browser) -> String {
    browser.text("document.querySelector('#verdict').innerText")
}

fn count(browser: &mut Browser, selector: &str) -> u64 {
    let number = browser.evaluate(&format!("document.querySelectorAll('{selector}').length"));
    number.as_u64().expect("a number")
}

/// The part of the history that is in sight, as places among the events.
fn window(browser: &mut Browser) -> (f64, f64) {
    browser.settle();
    let window = browser.evaluate(
        "[+document.querySelector('#timeline').dataset.low, +document.querySelector('#timeline').dataset.high]",
    );
    let number = |i: usize| window[i].as_f64().expect("a number");
    (number(0), number(1))
}

pub(crate) fn selected(browser: &mut Browser) -> String {
    browser.text("document.body.dataset.selected ?? ''")
}

fn panel(browser: &mut Browser) -> String {
    browser.text("document.querySelector('#panel').innerText")
}

fn queue(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("queue", "queue-violation.jsonl");
    browser.open(&page, READY);
    assert_eq!(
        verdict(browser),
        "Not linearizable: 2 of 4 operations contradict each other."
    );
    let core = core(browser);
    assert!(
        core.contains(
            "1 was enqueued before 2, but deq() → 2 by process 1 (line 5) served 2 before 1."
        ),
        "{core}"
    );
    assert!(
        core.contains("enq(1) returned before enq(2) was called."),
        "{core}"
    );
    assert!(core.contains("would answer 1"), "{core}");
    assert_eq!(count(browser, "#core .op"), 3);
    assert_eq!(count(browser, "#core .op.relaxed"), 1);
    assert_eq!(count(browser, "#core .arrow .head"), 1);
    let panel = panel(browser);
    for text in [
        "Longest explanation",
        "Cannot come next",
        "deq() → 2",
        "recorded 2",
        "5 events",
    ] {
        assert!(panel.contains(text), "{text} in {panel}");
    }
    pages.picture(browser, "queue");
}

fn stack(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("stack", "stack-violation.txt");
    browser.open(&page, READY);
    let core = core(browser);
    assert!(core.contains("returned before"), "{core}");
    assert!(count(browser, "#core .arrow .head") >= 1);
    // One click leads to the same operations in the whole history.
    browser.click("#in-history");
    assert_ne!(selected(browser), "");
    assert_eq!(browser.text("document.activeElement.id"), "timeline");
    browser.appear("screen", "dark");
    pages.picture(browser, "stack-dark");
    browser.appear("screen", "light");
    pages.picture(browser, "stack");
}

fn register(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("register", "etcd/etcd_000.log");
    browser.open(&page, READY);
    let core = core(browser);
    assert!(
        core.contains("read() → 2 by process 11 (line 85) is impossible"),
        "{core}"
    );
    assert!(core.contains("whatever the order"), "{core}");
    // The history opens on the first error.
    let (low, high) = window(browser);
    assert!(low < 81.0 && 81.0 < high, "{low} to {high}");
    pages.picture(browser, "register");
    browser.press("0");
    assert_eq!(window(browser).0, 0.0);
    browser.press("e");
    assert_eq!(selected(browser), "read() → 2");
    let (low, high) = window(browser);
    assert!(low > 60.0 && low < 81.0 && 81.0 < high, "{low} to {high}");
    browser.resize(1440, 1500);
    pages.picture(browser, "register-error");
    browser.resize(1440, 1000);
}

fn snapshot(browser: &mut Browser, pages: &Pages) {
    let generate = [
        "-t",
        "snapshot",
        "--general",
        "--violation",
        "inversion",
        "--ops",
        "60",
        "--processes",
        "4",
        "--seed",
        "7",
    ];
    let page = pages.generated("snapshot", &generate, &[]);
    browser.open(&page, READY);
    let core = core(browser);
    assert!(
        core.contains("scan()") && core.contains("although it is ahead of that in entry"),
        "{core}"
    );
    pages.picture(browser, "snapshot");
}

fn linearizable(browser: &mut Browser, pages: &Pages) {
    let page = pages.generated(
        "linearizable",
        &[
            "-t",
            "queue",
            "--ops",
            "60",
            "--seed",
            "3",
            "--pending",
            "5",
        ],
        &[],
    );
    browser.open(&page, READY);
    assert_eq!(
        verdict(browser),
        "Linearizable: some order explains all 60 operations."
    );
    assert_eq!(
        browser.evaluate("document.querySelector('#core').hidden"),
        json!(true)
    );
    let panel = panel(browser);
    assert!(
        panel.contains("Witness") && panel.contains("state after"),
        "{panel}"
    );
    // Steps, and the state after each.
    browser.press("n");
    browser.press("n");
    let first = self::panel(browser);
    assert!(
        first.contains("before") && first.contains("after"),
        "{first}"
    );
    let second = selected(browser);
    browser.press("p");
    assert_ne!(selected(browser), second);
    pages.picture(browser, "linearizable");
}

fn undecided(browser: &mut Browser, pages: &Pages) {
    let page = pages.generated(
        "undecided",
        &["-t", "queue", "--ops", "40", "--values", "2"],
        &["--engine", "monitor"],
    );
    browser.open(&page, READY);
    assert!(verdict(browser).starts_with("Undecided: engine monitor cannot tell"));
    assert_eq!(
        browser.text("document.querySelector('#mark').innerText"),
        "?"
    );
}

fn annotations(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("annotations", "jepsen/history.edn");
    browser.open(&page, READY);
    let data = browser.text("document.querySelector('#data').textContent");
    assert!(data.contains("nemesis start-partition"));
    pages.picture(browser, "annotations");
}

/// The longest explanation leaves out one of two operations; pointing at it shows the order that it is in.
fn orders(browser: &mut Browser, pages: &Pages) {
    let text = r#"{"process": 0, "event": "call", "method": "enq", "arg": 7}
{"process": 0, "event": "return"}
{"process": 1, "event": "call", "method": "deq"}
{"process": 2, "event": "call", "method": "deq"}
{"process": 1, "event": "return", "ret": 7}
{"process": 2, "event": "return", "ret": 7}
"#;
    let page = pages.history("orders", text, &[]);
    browser.open(&page, READY);
    assert!(panel(browser).contains("Longest explanation"));
    browser.press("e");
    browser.settle();
    let panel = panel(browser);
    for text in [
        "process\n2",
        "2 of another order than the longest",
        "Longest order with it",
        "would answer",
    ] {
        assert!(panel.contains(text), "{text}: {panel}");
    }
    pages.picture(browser, "orders");
}

fn times(browser: &mut Browser, pages: &Pages) {
    let text = r#"{"process": 0, "method": "write", "arg": 1, "call": 1000, "return": 1010}
{"process": 1, "method": "write", "arg": 2, "call": 1005, "return": 9000}
{"process": 2, "method": "read", "ret": 1, "call": 9100, "return": 9200}
{"process": 2, "method": "read", "ret": 2, "call": 9300, "return": 9310}
{"process": 0, "method": "read", "ret": 1, "call": 9400, "return": 9410}
"#;
    let page = pages.history("times", text, &[]);
    browser.open(&page, READY);
    assert!(core(browser).contains("returned before"));
    browser.click("#scale");
    assert_eq!(
        browser.text("document.querySelector('#scale').getAttribute('aria-pressed')"),
        "true"
    );
    browser.press("e");
    assert!(
        panel(browser).contains("8,300 to 8,310"),
        "{}",
        panel(browser)
    );
    pages.picture(browser, "times");
}

/// What still holds, and why the rest does not.
fn lattice(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("lattice", "conditions/stale.jsonl");
    browser.open(&page, READY);
    let names = "[...document.querySelectorAll('#lattice .condition')].map((of) => of.getAttribute('aria-label')).join()";
    let named = browser.text(names);
    assert!(named.contains("linearizable: fails"), "{named}");
    assert!(named.contains("sequential: holds"), "{named}");
    assert!(named.contains("regular: fails"), "{named}");
    browser.evaluate(
        "document.querySelector('#lattice [aria-label=\"regular: fails\"]').dispatchEvent(new MouseEvent('click'))",
    );
    let why = browser.text("document.querySelector('#lattice .note').textContent");
    assert!(why.contains("regular fails: "), "{why}");
    assert!(why.contains("operation"), "{why}");
    pages.picture(browser, "lattice");
}

fn keyboard(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("keyboard", "kv/c10-bad.txt");
    browser.open(&page, READY);
    // Help.
    browser.press("?");
    assert_eq!(
        browser.evaluate("document.querySelector('#help').open"),
        json!(true)
    );
    assert!(
        browser
            .text("document.querySelector('#help').innerText")
            .contains("the first error")
    );
    pages.picture(browser, "help");
    browser.evaluate("document.querySelector('#help').close()");
    // Objects and keys.
    let first = browser.text("document.body.dataset.part");
    browser.press("]");
    browser.wait_until(&format!("document.body.dataset.part !== {}", json!(first)));
    browser.press("[");
    browser.wait_until(&format!("document.body.dataset.part === {}", json!(first)));
    // Zoom, and back.
    browser.press("0");
    let whole = window(browser);
    browser.press("+");
    let near = window(browser);
    assert!(near.1 - near.0 < whole.1 - whole.0, "{near:?} in {whole:?}");
    browser.press("-");
    browser.press("-");
    let far = window(browser);
    assert!(far.1 - far.0 > near.1 - near.0, "{far:?}");
    // Operations, by arrows; the core, by c and Enter.
    browser.press("h");
    let chosen = selected(browser);
    assert!(!chosen.is_empty());
    browser.press("ArrowRight");
    assert_ne!(selected(browser), chosen);
    browser.press("ArrowLeft");
    assert_eq!(selected(browser), chosen);
    browser.press("Escape");
    assert_eq!(selected(browser), "");
    browser.press("c");
    assert_eq!(
        browser.text("document.activeElement.getAttribute('role')"),
        "button"
    );
    browser.press("Enter");
    assert_ne!(selected(browser), "");
}

fn mouse(browser: &mut Browser, pages: &Pages) {
    let page = pages.generated(
        "mouse",
        &["-t", "stack", "--ops", "200", "--violation", "--seed", "5"],
        &[],
    );
    browser.open(&page, READY);
    browser.evaluate("document.querySelector('#history').scrollIntoView()");
    browser.click("#to-error");
    let last = selected(browser);
    assert_ne!(last, "");
    // Pointing at an operation shows its details.
    let box_of = "(() => { const b = document.querySelector('#timeline').getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })()";
    let place = browser.evaluate(box_of);
    let number = |i: usize| place[i].as_f64().expect("a number");
    let (left, top, width) = (number(0), number(1), number(2));
    let mut tip = String::new();
    for i in 0..40 {
        let x = left + 130.0 + f64::from(i) * (width - 150.0) / 40.0;
        browser.mouse("mouseMoved", &json!([x, top + 45.0]));
        browser.settle();
        tip = browser.text(
            "document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').innerText",
        );
        if !tip.is_empty() {
            break;
        }
    }
    assert!(tip.contains('('), "{tip}");
    // Dragging moves.
    let before = window(browser);
    browser.mouse("mousePressed", &json!([left + 300.0, top + 60.0]));
    let drag = json!({ "type": "mouseMoved", "x": left + 500.0, "y": top + 60.0, "button": "left", "buttons": 1 });
    browser.ask("Input.dispatchMouseEvent", drag);
    browser.mouse("mouseReleased", &json!([left + 500.0, top + 60.0]));
    let after = window(browser);
    assert!(after.0 < before.0, "{before:?} to {after:?}");
    // The wheel zooms, with the control key.
    let wheel = json!({ "type": "mouseWheel", "x": left + 400.0, "y": top + 60.0, "deltaX": 0, "deltaY": -240, "modifiers": 2 });
    browser.ask("Input.dispatchMouseEvent", wheel);
    browser.settle();
    let zoomed = window(browser);
    assert!(
        zoomed.1 - zoomed.0 < after.1 - after.0,
        "{after:?} to {zoomed:?}"
    );
    browser.click("#fit");
    let whole = window(browser);
    assert!(whole.1 - whole.0 > 300.0, "{whole:?}");
}

fn hostile(browser: &mut Browser, pages: &Pages) {
    let long = "x".repeat(10_000);
    let values = [
        "<img src=x onerror=\"window.broken=1\">",
        "</script><script>window.broken=1</script>",
        "<!-- <script> ]]>",
        "\u{202e}drawkcab\u{202c}\u{200f}",
        "👩‍👩‍👧 ✗ 漢字",
        "\u{2028}\u{2029}",
        "\0\u{1b}[31m",
        "${1+1} {{1+1}} &lt;b&gt;",
        &long,
    ];
    let mut text = String::new();
    for (i, value) in values.iter().enumerate() {
        for event in [
            json!({ "process": value, "object": value, "event": "call", "method": "write", "arg": value }),
            json!({ "process": value, "event": "return" }),
            json!({ "process": format!("r{i}"), "object": value, "event": "call", "method": "read" }),
            json!({ "process": format!("r{i}"), "event": "return", "ret": format!("{value}!") }),
        ] {
            text += &format!("{event}\n");
        }
        text += &format!("{}\n", json!({ "event": "note", "text": value }));
    }
    let page = pages.history("hostile", &text, &["--all", "--type", "register"]);
    browser.open(&page, READY);
    assert_eq!(count(browser, "#list .item"), values.len() as u64);
    for _ in &values {
        assert_eq!(browser.evaluate("window.broken ?? null"), json!(null));
        assert_eq!(
            count(
                browser,
                "img, script:not(#data):not([type=module]), #core b"
            ),
            0
        );
        browser.press("h");
        browser.press("]");
        browser.settle();
    }
    let names = browser
        .text("[...document.querySelectorAll('#list .name')].map((e) => e.textContent).join('|')");
    assert!(names.contains("<img src=x onerror="), "{}", &names[..400]);
    assert!(
        names.contains("\\u{202e}drawkcab"),
        "what turns text around is spelled out"
    );
    assert!(names.contains('漢') && names.contains('👩'));
    // The whole of a long value can be read.
    browser.evaluate("document.querySelector('#search').value = 'xxxxxx'; document.querySelector('#search').dispatchEvent(new Event('input'))");
    browser.click("#list .item");
    browser.wait_until("document.body.dataset.part.includes('xxxxxx')");
    browser.press("e");
    let panel = panel(browser);
    assert!(panel.contains(&long), "{} characters", panel.len());
    browser.evaluate("document.querySelector('#search').value = 'img'; document.querySelector('#search').dispatchEvent(new Event('input'))");
    browser.click("#list .item");
    browser.wait_until("document.body.dataset.part.includes('img')");
    pages.picture(browser, "hostile");
}

fn print(browser: &mut Browser, pages: &Pages) {
    let page = pages.corpus("print", "queue-violation.jsonl");
    browser.open(&page, READY);
    browser.resize(800, 1100);
    browser.appear("print", "light");
    assert_eq!(
        browser.text("getComputedStyle(document.querySelector('.tools')).display"),
        "none"
    );
    assert_eq!(
        browser.evaluate("document.documentElement.scrollWidth <= 800"),
        json!(true)
    );
    pages.picture(browser, "print");
    let paper = browser.ask("Page.printToPDF", json!({ "printBackground": false }));
    assert!(
        paper["data"]
            .as_str()
            .is_some_and(|data| data.len() > 10_000)
    );
    browser.appear("screen", "light");
    browser.resize(1440, 1000);
}

fn parts(browser: &mut Browser, pages: &Pages) {
    let generate = [
        "-t",
        "register",
        "--ops",
        "20000",
        "--objects",
        "1000",
        "--processes",
        "8",
        "--violation",
        "--seed",
        "2",
    ];
    let page = pages.generated("parts", &generate, &["--all"]);
    browser.open(&page, READY);
    assert!(
        verdict(browser).contains("(one of 1,000 objects)"),
        "{}",
        verdict(browser)
    );
    let first =
        browser.text("document.querySelector('#list .item[aria-selected=true]').dataset.verdict");
    assert_eq!(first, "not linearizable");
    core(browser);
    // Only what is in sight is there.
    assert!(count(browser, "#list .item") < 60);
    pages.picture(browser, "parts");
    // Search.
    browser.press("/");
    for letter in ["7", "7", "7"] {
        browser.press(letter);
    }
    browser.wait_until("document.querySelectorAll('#list .item').length === 1");
    browser.press("Escape");
    browser.click("#list .item");
    browser.wait_until("document.body.dataset.part === 'object 777'");
    assert_eq!(
        browser.evaluate("document.querySelector('#core').hidden"),
        json!(true)
    );
    // Filter.
    browser.evaluate("document.querySelector('#search').value = ''; document.querySelector('#search').dispatchEvent(new Event('input'))");
    browser.click("#filters [data-verdict=\"not linearizable\"]");
    assert_eq!(count(browser, "#list .item"), 1);
    browser.click("#list .item");
    browser.wait_until("!document.querySelector('#core').hidden");
    browser.click("#filters [data-verdict=all]");
    assert!(count(browser, "#list .item") > 5);
    // By keys alone.
    browser.evaluate("document.querySelector('#list').focus()");
    browser.press("End");
    browser.wait_until(
        "document.querySelector('#list .item[aria-selected=true]')?.style.top === '29970px'",
    );
}

fn limit(browser: &mut Browser, pages: &Pages) {
    let page = pages.generated(
        "limit",
        &["-t", "queue", "--ops", "5000", "--violation"],
        &["--html-limit", "500"],
    );
    browser.open(&page, READY);
    core(browser);
    let note = browser.text("document.querySelector('#cut-note').innerText");
    assert!(
        note.starts_with("This page holds 50")
            && note.contains("of the 5,000 operations, those around the core"),
        "{note}"
    );
    browser.press("h");
    assert_ne!(selected(browser), "");
    browser.press("e");
    assert_ne!(selected(browser), "");
    // Of several histories, the last ones may have no room at all.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let file = |name: &str| corpus.join(name).to_str().expect("a path").to_owned();
    let (queue, stack) = (file("queue-violation.jsonl"), file("stack-violation.txt"));
    let page = pages.make("room", &["check", &queue, &stack, "--html-limit", "3"]);
    browser.open(&page, READY);
    assert!(
        verdict(browser).contains("2 of 2 parts"),
        "{}",
        verdict(browser)
    );
    browser.press("]");
    browser.wait_until("document.body.dataset.part.includes('stack')");
    core(browser);
    let note = browser.text("document.querySelector('#cut-note').innerText");
    assert!(note.contains("of the 5 operations"), "{note}");
}

fn verify(browser: &mut Browser, pages: &Pages) {
    let page = pages.make(
        "verify",
        &["verify", "--algorithm", "jayanti", "--bug", "planted"],
    );
    browser.open(&page, READY);
    assert!(verdict(browser).starts_with("Not linearizable"));
    core(browser);
    let execution = browser.text("document.querySelector('#execution').innerText");
    assert!(execution.contains("memory after"), "{execution}");
    pages.picture(browser, "verify");
}
