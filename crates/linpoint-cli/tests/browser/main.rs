//! The report page, as a browser shows it.
//!
//! Needs Chromium, and installs Debian's where there is none. Where that cannot be done the tests say so and pass, unless
//! `LINPOINT_BROWSER=required`; that also makes the largest page one of a million operations. Pictures of all pages are left in
//! `target/pictures`.

mod cases;
mod chromium;
mod large;
mod live;

use std::path::PathBuf;

use chromium::Browser;

/// A name, and what is to be seen.
type Case = (&'static str, fn(&mut Browser, &Pages));

/// Where pages and pictures are kept.
pub(crate) struct Pages {
    folder: PathBuf,
    pictures: PathBuf,
    pub(crate) is_required: bool,
}

#[test]
fn pages() {
    let is_required = std::env::var_os("LINPOINT_BROWSER").is_some_and(|value| value == "required");
    let program = match chromium::find() {
        Ok(program) => program,
        Err(why) if is_required => panic!("{why}"),
        Err(why) => {
            eprintln!("SKIPPED: no page was looked at. {why}");
            return;
        }
    };
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let pages = Pages {
        folder: target.join("pages"),
        pictures: target.join("../pictures"),
        is_required,
    };
    for folder in [&pages.folder, &pages.pictures] {
        std::fs::create_dir_all(folder).expect("a folder for pages");
    }
    let mut browser = Browser::start(&program);
    let only = std::env::var("LINPOINT_PAGE").unwrap_or_default();
    for (name, case) in cases::ALL.iter().filter(|(name, _)| name.contains(&only)) {
        let started = std::time::Instant::now();
        eprintln!("page: {name}");
        case(&mut browser, &pages);
        let complaints = browser.complaints();
        assert!(complaints.is_empty(), "{name}: {complaints:#?}");
        eprintln!(
            "page: {name}: fine, {:.1} s",
            started.elapsed().as_secs_f64()
        );
    }
}
