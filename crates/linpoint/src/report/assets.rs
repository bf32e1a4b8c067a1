//! Combines the files of `page/` into one page: a style sheet, and modules in the order in which they import each other.

const HTML: &str = include_str!("page/index.html");
const STYLE: &str = include_str!("page/style.css");

/// The colours of all pages and figures, for light and dark schemes, as variables of a style sheet.
pub const COLOURS: &str = include_str!("page/colours.css");

/// The modules. Invariant: each imports only from modules before it.
const MODULES: &[(&str, &str)] = &[
    ("text", include_str!("page/text.js")),
    ("data", include_str!("page/data.js")),
    ("view", include_str!("page/view.js")),
    ("list", include_str!("page/list.js")),
    ("core", include_str!("page/core.js")),
    ("lattice", include_str!("page/lattice.js")),
    ("draw", include_str!("page/draw.js")),
    ("timeline", include_str!("page/timeline.js")),
    ("panel", include_str!("page/panel.js")),
    ("main", include_str!("page/main.js")),
];

const STYLE_PLACE: &str = "/* style */";
const DATA_PLACE: &str = "<!-- data -->";
const SCRIPT_PLACE: &str = "/* script */";

/// Everything before the data.
pub(super) fn head() -> String {
    parts().0.replace(STYLE_PLACE, &[COLOURS, STYLE].concat())
}

/// Everything after the data.
pub(super) fn tail() -> String {
    parts().1.replace(SCRIPT_PLACE, &script())
}

fn parts() -> (&'static str, &'static str) {
    HTML.split_once(DATA_PLACE)
        .expect("bug: the page has no place for data")
}

/// All modules as one script, each in its own scope, since a page that is opened from a disk may not load modules.
fn script() -> String {
    let modules = MODULES.iter().map(|(name, text)| scoped(name, text));
    modules.collect()
}

/// A module as a function that is called at once and returns the exports of the module.
fn scoped(name: &str, text: &str) -> String {
    let mut scope = format!("const module_{name} = (() => {{\n");
    let mut exported = Vec::new();
    for line in text.lines() {
        if let Some((names, from)) = imported(line) {
            scope += &format!("const {names} = module_{from};\n");
            continue;
        }
        let stripped = line.strip_prefix("export ");
        exported.extend(stripped.and_then(declared));
        scope += stripped.unwrap_or(line);
        scope.push('\n');
    }
    scope + &format!("return {{ {} }};\n}})();\n", exported.join(", "))
}

/// The names and the module of `import { names } from './module.js';`.
fn imported(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import ")?;
    let (names, from) = rest.split_once(" from './")?;
    Some((names, from.strip_suffix(".js';")?))
}

/// The name that a line declares.
fn declared(line: &str) -> Option<&str> {
    let kinds = ["async function ", "function ", "class ", "const "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    rest.split(is_end).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole() {
        let page = head() + &tail();
        for place in [STYLE_PLACE, DATA_PLACE, SCRIPT_PLACE] {
            assert!(!page.contains(place), "{place}");
        }
        // The page loads nothing from elsewhere, and inserts no text as markup.
        let namespaces = page.matches("http://www.w3.org/2000/svg").count();
        assert_eq!(page.matches("http:").count(), namespaces);
        let forbidden = [
            "https:",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "@import",
            "url(",
            "fetch(",
        ];
        for bad in forbidden {
            assert!(!page.contains(bad), "{bad}");
        }
        assert_eq!(page.matches("</script").count(), 2);
    }

    #[test]
    fn modules_import_what_modules_before_them_export() {
        for (i, (name, text)) in MODULES.iter().enumerate() {
            for line in text.lines().filter(|line| line.starts_with("import")) {
                let (names, from) = imported(line).expect(line);
                let (_, text) = MODULES[..i]
                    .iter()
                    .find(|(name, _)| *name == from)
                    .expect(line);
                let exported: Vec<_> = text
                    .lines()
                    .filter_map(|line| declared(line.strip_prefix("export ")?))
                    .collect();
                let names = names.trim_matches(['{', '}', ' ']).split(", ");
                for imported in names {
                    assert!(exported.contains(&imported), "{name}: {imported}");
                }
            }
        }
        let script = script();
        let is_left = |line: &str| line.starts_with("import") || line.starts_with("export");
        assert!(!script.lines().any(is_left));
    }
}
