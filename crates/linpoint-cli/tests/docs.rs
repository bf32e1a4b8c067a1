//! The examples with output in README and in chapters of `docs/`, run and compared as those in `cmd/` are, and the links between
//! pages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn examples_of_chapters() {
    // Paths in the chapters begin at the root of the repository.
    std::env::set_current_dir("../..").expect("the root of the repository");
    trycmd::TestCases::new()
        .env("COLUMNS", "100")
        .case("docs/depth.md")
        .case("docs/papers.md")
        .case("docs/guide/ci.md")
        .case("docs/guide/first-verdict.md")
        .case("docs/guide/limits.md")
        .case("docs/guide/read-a-violation.md");
}

/// Readers of README run it with cargo, which the test does not.
#[test]
fn first_result_of_readme() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("README");
    let (_, example) = readme
        .split_once("```console\n$ cargo run -- ")
        .expect("an example");
    let (arguments, shown) = example.split_once('\n').expect("lines");
    let (shown, _) = shown.split_once("```").expect("the end of the example");
    let output = Command::new(env!("CARGO_BIN_EXE_linpoint"))
        .args(arguments.split(' '))
        .current_dir(root)
        .env("COLUMNS", "120")
        .output()
        .expect("the command line");
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), shown.trim());
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The pages for readers, by their paths.
fn pages() -> BTreeMap<PathBuf, String> {
    let root = Path::new(ROOT).canonicalize().expect("the repository");
    let mut folders = vec![root.join("docs")];
    for folder in ["crates", "recorders"] {
        let inside = root.join(folder).read_dir().expect("a folder");
        folders.extend(inside.map(|entry| entry.expect("a folder").path()));
    }
    folders.extend(["bench", "fuzz", "python", "release", "specs"].map(|folder| root.join(folder)));
    folders.extend([root.join("docs/guide"), root]);
    let files = folders.iter().filter_map(|folder| folder.read_dir().ok());
    let files = files.flatten().map(|entry| entry.expect("a file").path());
    let pages = files.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    pages
        .map(|page| {
            let text = std::fs::read_to_string(&page).expect("a page");
            (page, text)
        })
        .collect()
}

/// A page without its blocks of code.
fn prose(page: &str) -> String {
    let parts = page.split("\n```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

/// The anchors of a page: those of its headings, and those that it names.
fn anchors(page: &str) -> BTreeSet<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let given = prose.split("<a id=\"").skip(1);
    let given = given.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    headings.map(anchor).chain(given).collect()
}

/// Where the links of a page lead, apart from other sites.
fn links(page: &str) -> Vec<String> {
    let prose = prose(page);
    let targets = prose.split("](").skip(1);
    let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()));
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn links_lead_somewhere() {
    let pages = pages();
    let mut broken = Vec::new();
    for (path, text) in &pages {
        for link in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => Some(path.clone()),
                _ => path.with_file_name(file).canonicalize().ok(),
            };
            let is_there = target.is_some_and(|target| {
                let is_heading = |page: &String| anchors(page).contains(anchor);
                anchor.is_empty() || pages.get(&target).is_none_or(is_heading)
            });
            if !is_there {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn the_table_of_contents_has_every_page() {
    let docs = Path::new(ROOT)
        .canonicalize()
        .expect("the repository")
        .join("docs");
    let summary = docs.join("SUMMARY.md");
    let pages = pages();
    let listed: BTreeSet<PathBuf> = links(&pages[&summary])
        .iter()
        .filter_map(|link| docs.join(link).canonicalize().ok())
        .collect();
    let missing: Vec<&PathBuf> = pages
        .keys()
        .filter(|page| page.starts_with(&docs) && **page != summary && !listed.contains(*page))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
