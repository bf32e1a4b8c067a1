//! The top-level modules of the command line do not depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The top-level modules that the files of each one import.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = BTreeMap::new();
    for entry in source.read_dir().expect("the sources are there") {
        let path = entry.expect("the sources are readable").path();
        let module = path.file_stem().expect("a name").to_string_lossy();
        if module != "main" {
            let mut imported = BTreeSet::new();
            collect(&path, &mut imported);
            imported.remove(&*module);
            modules.insert(module.into_owned(), imported);
        }
    }
    modules
}

/// Adds every module that the files at `path` name after `crate::`.
fn collect(path: &Path, imported: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in path.read_dir().expect("the sources are readable") {
            collect(&entry.expect("the sources are readable").path(), imported);
        }
        return;
    }
    let text = std::fs::read_to_string(path).expect("the sources are text");
    let names = text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_owned()
    });
    imported.extend(names);
}

#[test]
fn modules_are_layered() {
    let mut modules = imports();
    let users_of_tables: Vec<&String> = modules
        .iter()
        .filter(|(_, imported)| imported.contains("tables"))
        .map(|(module, _)| module)
        .collect();
    assert!(users_of_tables.is_empty(), "{users_of_tables:?}");
    // Removes modules that import none of those that are left, until there is none: what stays imports each other.
    while let Some(lowest) = modules
        .iter()
        .find(|(_, imported)| imported.iter().all(|name| !modules.contains_key(name)))
        .map(|(module, _)| module.clone())
    {
        modules.remove(&lowest);
    }
    assert!(modules.is_empty(), "these import each other: {modules:#?}");
}
