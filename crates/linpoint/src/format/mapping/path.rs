//! Paths into records: `.a.b[0]`, the content of the only key (`.event.*`), and the name of the only key (`.event@`).

use std::fmt;

use crate::error::did_you_mean;
use crate::value::Value;

/// A path into a record.
///
/// `.name` and `."any name"` select a field, `[0]` an item of a list, `.*` the value of the only key of an object, and a final
/// `@` the name of that key, as enums of many languages are written: of `{"event": {"Start": "Read"}}`, `.event@` is
/// `"Start"`, and `.event.*@` is `"Read"`, a variant without content, so that `.event.*.*` is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    text: String,
    steps: Vec<Step>,
    wants: Wanted,
    /// The place of this path among all paths of its mapping; see [`super::Mapping`].
    pub(super) number: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Item(usize),
    /// The value of the only key.
    Only,
}

/// What of the place at the end of a path is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Value,
    /// The name of the only key; text stands for itself, since variants without content are written as their name.
    Name,
}

impl Path {
    /// The path that `text` stands for.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let broken = |why: &str| format!("{text:?} is no path: {why}");
        let (mut rest, wants) = match text.strip_suffix('@') {
            Some(rest) => (rest, Wanted::Name),
            None => (text, Wanted::Value),
        };
        let mut steps = Vec::new();
        if rest == "." {
            rest = "";
        }
        while let Some(first) = rest.chars().next() {
            let (step, after) = match first {
                '.' if rest.starts_with(".\"") => {
                    let (name, after) = rest[2..]
                        .split_once('"')
                        .ok_or_else(|| broken("a quoted name does not end"))?;
                    (Step::Field(name.to_owned()), after)
                }
                '.' => {
                    let inner = &rest[1..];
                    let end = inner.find(['.', '[']).unwrap_or(inner.len());
                    match inner.split_at(end) {
                        ("", _) => {
                            return Err(broken("a name is missing after a dot"));
                        }
                        ("*", after) => (Step::Only, after),
                        (name, _) if name.contains(['@', '"', ']', '*']) => {
                            return Err(broken(
                                "names with other characters than letters are quoted: .\"a name\"",
                            ));
                        }
                        (name, after) => (Step::Field(name.to_owned()), after),
                    }
                }
                '[' => {
                    let inside = rest[1..].split_once(']');
                    let item = inside.and_then(|(item, after)| Some((item.parse().ok()?, after)));
                    let (item, after) = item.ok_or_else(|| {
                        broken("between [ and ] is the number of an item, counted from 0")
                    })?;
                    (Step::Item(item), after)
                }
                _ => return Err(broken("it begins with a dot, such as .client_id")),
            };
            steps.push(step);
            rest = after;
        }
        if text.is_empty() {
            return Err(broken("it begins with a dot, such as .client_id"));
        }
        Ok(Path {
            text: text.to_owned(),
            steps,
            wants,
            number: 0,
        })
    }

    /// What `record` has at this path; `None` if it has nothing there.
    pub(super) fn get<'a>(&self, record: &'a Value) -> Option<&'a Value> {
        let mut here = record;
        for step in &self.steps {
            here = match step {
                Step::Field(name) => here.get(name)?,
                Step::Item(item) => here.as_list()?.get(*item)?,
                Step::Only => only(here)?.1,
            };
        }
        match self.wants {
            Wanted::Value => Some(here),
            Wanted::Name if here.as_text().is_some() => Some(here),
            Wanted::Name => only(here).map(|(name, _)| name),
        }
    }

    /// Why `record` has nothing at this path, and what it has instead.
    pub(super) fn why_missing(&self, record: &Value) -> String {
        let mut here = record;
        let mut way = String::new();
        for step in &self.steps {
            let next = match step {
                Step::Field(name) => here.get(name),
                Step::Item(item) => here.as_list().and_then(|items| items.get(*item)),
                Step::Only => only(here).map(|(_, inner)| inner),
            };
            let Some(next) = next else {
                let wanted = match step {
                    Step::Field(name) => name,
                    Step::Item(_) | Step::Only => "",
                };
                return has_instead(&way, here, wanted);
            };
            match step {
                Step::Field(name) => way += &format!(".{name}"),
                Step::Item(item) => way += &format!("[{item}]"),
                Step::Only => way += ".*",
            }
            here = next;
        }
        has_instead(&way, here, "")
    }
}

/// Says what there is at `way`, where the field `wanted` or the only key of an object was looked for.
fn has_instead(way: &str, here: &Value, wanted: &str) -> String {
    let place = if way.is_empty() { "the record" } else { way };
    let Some(pairs) = here.as_map() else {
        return match here.as_list() {
            Some(items) => format!("{place} is a list of {}", items.len()),
            None => format!("{place} is {}", here.kind_name()),
        };
    };
    if pairs.is_empty() {
        return format!("{place} is empty");
    }
    let names: Vec<&str> = pairs.iter().filter_map(|(key, _)| key.as_text()).collect();
    let meant = did_you_mean(wanted, names.iter().copied());
    let listed = names.join(", ");
    match meant.is_empty() {
        true => format!("{place} has {listed}"),
        false => format!("{meant}{place} has {listed}"),
    }
}

/// The only key of an object and its value.
fn only(value: &Value) -> Option<(&Value, &Value)> {
    match value.as_map()? {
        [(key, inner)] => Some((key, inner)),
        _ => None,
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::json;
    use super::*;

    fn at(path: &str, record: &str) -> Option<String> {
        let record = json::value(record).unwrap();
        let found = Path::parse(path).unwrap();
        found.get(&record).map(|value| value.to_string())
    }

    #[test]
    fn paths_select() {
        let record = r#"{"a":{"b":[1,{"c":null}]},"with space":2,"one":{"Start":{"Read":{}}},"unit":{"Start":"Read"}}"#;
        let cases = [
            (".a.b[0]", Some("1")),
            (".a.b[1].c", Some("nil")),
            (".a.b[2]", None),
            (".a.x", None),
            (".\"with space\"", Some("2")),
            (".one@", Some("\"Start\"")),
            (".one.*@", Some("\"Read\"")),
            (".one.*.*", Some("{}")),
            (".unit.*@", Some("\"Read\"")),
            (".unit@", Some("\"Start\"")),
            (".unit.*.*", None),
            (".@", None),
            (".a.b@", None),
        ];
        for (path, found) in cases {
            assert_eq!(at(path, record).as_deref(), found, "{path}");
        }
        assert_eq!(at(".", "5").as_deref(), Some("5"));
    }

    #[test]
    fn broken_paths_are_refused() {
        for text in [
            "", "a", "..a", ".a[", ".a[x]", ".a[-1]", ".a@b", ".\"a", ".a.", ".[0]",
        ] {
            let error = Path::parse(text).unwrap_err();
            assert!(
                error.starts_with(&format!("{text:?} is no path: ")),
                "{error}"
            );
        }
    }
}
