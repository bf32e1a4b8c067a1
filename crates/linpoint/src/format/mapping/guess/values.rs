//! Which fields of a log hold the methods of operations, their arguments and results, and how they ended.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::fields::Field;
use super::words::*;
use super::{Proposal, list, quoted};
use crate::spec::value_is_result;

/// The methods of an object that many logs are about, each with other names for it.
type Methods = &'static [(&'static str, &'static [&'static str])];

const CAS: &[&str] = &[
    "compareandset",
    "compareandswap",
    "compareexchange",
    "cmpxchg",
];
const OF_REGISTERS: Methods = &[
    ("read", &["r", "rd", "get"]),
    ("write", &["w", "wr", "put", "set"]),
    ("cas", CAS),
];
const OF_MAPS: Methods = &[
    ("get", &["g", "lookup"]),
    ("put", &["p", "set", "upsert"]),
    ("delete", &["d", "del", "remove", "rm"]),
    ("append", &[]),
    ("cas", CAS),
];
/// Names that both types take as they are.
const TAKEN: &[&str] = &["read", "get", "write", "put", "set", "cas"];

/// A method of the log.
#[derive(Debug)]
struct Method {
    /// Its name after renaming.
    name: String,
    /// What it is called in the table of its object, if that is known.
    means: Option<&'static str>,
}

/// What the methods of a log mean in such an object, if all are its methods.
fn meanings(names: &BTreeSet<String>, methods: Methods) -> Option<Vec<&'static str>> {
    let meaning = |name: &String| {
        let plain = plain(name);
        let mut methods = methods.iter();
        let found =
            methods.find(|(method, others)| plain == *method || others.contains(&plain.as_str()));
        found.map(|(method, _)| *method)
    };
    names.iter().map(meaning).collect()
}

impl Proposal<'_> {
    /// Proposes the method, the key, the argument, the result and the status.
    pub(super) fn propose_parts(&mut self) {
        let names = self.propose_method();
        self.key_with("object", OBJECT, |_| true);
        let key = self.find(KEY, |_| true);
        let is_map =
            |means: &Vec<&str>| means.iter().any(|means| *means == "get" || *means == "put");
        let of_map = key
            .as_ref()
            .and_then(|_| meanings(&names, OF_MAPS))
            .filter(is_map);
        let means = of_map.clone().or_else(|| meanings(&names, OF_REGISTERS));
        let methods = self.propose_names(&names, means.as_deref());
        match (key, of_map) {
            (Some(key), Some(_)) => {
                self.taken.insert(key.clone());
                let _ = writeln!(self.toml, "type = \"kv\"");
                self.unsure.push(format!(
                    "the methods are taken for those of a store (`kv`), with {key} as the first part of each argument"
                ));
                self.propose_values(&methods, Some(&key));
            }
            (Some(key), None) => {
                self.set("key", &key);
                self.unsure.push(format!(
                    "{key} is taken for a key, so each key is an object of its own (a register, say); for a store such as `kv`, whose operations \
                     have the key as an argument, put it into `argument` instead"
                ));
                self.propose_values(&methods, None);
            }
            (None, _) => self.propose_values(&methods, None),
        }
        self.propose_status();
    }

    /// Proposes the method, and returns the names of methods.
    fn propose_method(&mut self) -> BTreeSet<String> {
        let name = self.find(METHOD, Field::is_name);
        let path = name.clone().or_else(|| self.find(METHOD, Field::is_code));
        match &path {
            Some(path) => {
                self.set("method", path);
                if name.is_none() {
                    self.unsure.push(format!(
                        "the methods of {path} are numbers: give them names, such as methods = {{ 0 = \"read\", 1 = \"write\" }}"
                    ));
                }
            }
            None => {
                let _ = writeln!(self.toml, "method = \"= read\"");
                self.unsure.push(
                    "no field looks like the name of a method: `method` is a constant, write the path instead".to_owned(),
                );
            }
        }
        let field = path.and_then(|path| self.fields.get(&path));
        field
            .map(|field| field.distinct.clone())
            .unwrap_or_default()
    }

    /// Proposes other names for methods that no type takes as they are written.
    fn propose_names(
        &mut self,
        names: &BTreeSet<String>,
        means: Option<&[&'static str]>,
    ) -> Vec<Method> {
        let mut renamed = Vec::new();
        let mut methods = Vec::new();
        for (i, name) in names.iter().enumerate() {
            let means = means.map(|means| means[i]);
            let new = match means {
                Some(means) if !TAKEN.contains(&name.as_str()) => means.to_owned(),
                // Types have methods in small letters.
                None if name.chars().all(|c| c.is_ascii_uppercase() || c == '_') => {
                    name.to_ascii_lowercase()
                }
                _ => name.clone(),
            };
            if new != *name {
                renamed.push(format!("{} = {}", quoted(name), quoted(&new)));
            }
            if !methods.iter().any(|method: &Method| method.name == new) {
                methods.push(Method { name: new, means });
            }
        }
        if !renamed.is_empty() {
            let _ = writeln!(self.toml, "methods = {{ {} }}", renamed.join(", "));
        }
        methods
    }

    /// A field with one of these names, or the value in it if it is an object whose other parts have a meaning.
    fn find_part(&self, names: &[&str]) -> Option<String> {
        let path = self.find(names, |_| true)?;
        let is_object = self
            .fields
            .get(&path)
            .is_some_and(|field| field.objects > 0);
        if !is_object {
            return Some(path);
        }
        let below = format!("{path}.");
        let value = self.find_named(
            VALUE,
            |_| true,
            |inner, name| {
                inner
                    .strip_prefix(&below)
                    .is_some_and(|rest| plain(rest) == name)
            },
        );
        let has_meaning = || self.taken.iter().any(|taken| taken.starts_with(&below));
        value.or_else(|| (!has_meaning()).then_some(path))
    }

    fn propose_values(&mut self, methods: &[Method], key: Option<&str>) {
        let argument = self.find_part(ARGUMENT);
        self.taken.extend(argument.clone());
        let result = self.find_part(RESULT);
        self.taken.extend(result.clone());
        let has_cas = methods.iter().any(|method| method.means == Some("cas"));
        let pair = self
            .find(EXPECTED, |_| true)
            .zip(self.find(REPLACEMENT, |_| true));
        let pair = pair.filter(|_| has_cas);
        self.taken
            .extend(pair.clone().into_iter().flat_map(|(old, new)| [old, new]));
        let is_partial = argument.is_none() || result.is_none();
        let value = self.find(VALUE, |_| is_partial);
        self.taken.extend(value.clone());

        let with_key = |parts: &[&str]| match (key, parts) {
            (None, [part]) => quoted(part),
            (key, parts) => {
                let parts: Vec<String> = key.iter().chain(parts).map(|part| quoted(part)).collect();
                format!("[{}]", parts.join(", "))
            }
        };
        let given = argument.as_deref().or(value.as_deref());
        let argument_of = |method: &Method| match (method.means, &pair, given) {
            (Some("get" | "delete"), ..) if key.is_some() => key.map(quoted),
            (Some("cas"), Some((old, new)), _) => Some(with_key(&[old.as_str(), new.as_str()])),
            (_, _, Some(given)) if argument.is_some() || !observes(method) => {
                Some(with_key(&[given]))
            }
            _ => None,
        };
        let result_of = |method: &Method| match (&result, &value) {
            (Some(result), _) => (key.is_none() || observes(method) || method.means == Some("cas"))
                .then(|| quoted(result)),
            (None, Some(value)) => observes(method).then(|| quoted(value)),
            (None, None) => None,
        };
        let is_simple = key.is_none() && pair.is_none();
        let argument_text = match &argument {
            Some(path) if is_simple => Some(quoted(path)),
            _ => table(methods, argument_of),
        };
        let result_text = match &result {
            Some(path) if key.is_none() => Some(quoted(path)),
            _ => table(methods, result_of),
        };
        for (part, text) in [("argument", argument_text), ("result", result_text)] {
            if let Some(text) = text {
                let _ = writeln!(self.toml, "{part} = {text}");
            }
        }
        if let (Some(value), None, None) = (value, argument, result) {
            self.unsure.push(format!(
                "{value} is taken for the result of methods that read, and for the argument of the others"
            ));
        }
    }

    fn propose_status(&mut self) {
        const ENDS: [(&str, &[&str]); 3] = [("unknown", UNKNOWNS), ("fail", FAILS), ("ok", OKS)];
        let is_status = |field: &Field| {
            let is_ok = |name: &String| list_with(name, &ENDS) == Some(2);
            field.objects == 0 && field.distinct.len() < 12 && field.distinct.iter().any(is_ok)
        };
        if let Some(path) = self.find(STATUS, is_status) {
            let table = self.sorted(&path, &ENDS, "unknown");
            let _ = writeln!(self.toml, "status = {{ path = {}{table} }}", quoted(&path));
            self.taken.insert(path);
            self.look_at_status();
        } else if let Some(path) = self.find(ERROR, |field| field.objects == 0) {
            let none = ["", "false", "nil", "none", "null", "OK", "ok"].map(str::to_owned);
            let field = self.fields.get(&path);
            let is_there =
                |name: &&String| field.is_some_and(|field| field.distinct.contains(*name));
            let none: Vec<&String> = none.iter().filter(is_there).collect();
            let ok = match none.is_empty() {
                true => String::new(),
                false => format!(", ok = {}", list(none.iter())),
            };
            let _ = writeln!(
                self.toml,
                "status = {{ path = {}{ok}, absent = \"ok\", other = \"unknown\" }}",
                quoted(&path)
            );
            self.unsure.push(format!(
                "an operation with {path} is taken to have happened or not; an error after which it certainly did not happen belongs into \
                 status.fail"
            ));
            self.taken.insert(path);
        }
    }

    /// Asks to look at which operations are taken not to have happened.
    pub(super) fn look_at_status(&mut self) {
        self.unsure.push(
            "look at `status`: what is in `fail` is taken not to have happened; whatever may have happened belongs into `unknown`".to_owned(),
        );
    }
}

/// Whether the one value that a log has for a method is its result.
fn observes(method: &Method) -> bool {
    value_is_result(method.means.unwrap_or(&method.name))
        || value_is_result(&method.name.to_ascii_lowercase())
}

/// A table by method.
fn table(methods: &[Method], part_of: impl Fn(&Method) -> Option<String>) -> Option<String> {
    let part = |method: &Method| Some(format!("{} = {}", quoted(&method.name), part_of(method)?));
    let parts: Vec<String> = methods.iter().filter_map(part).collect();
    (!parts.is_empty()).then(|| format!("{{ {} }}", parts.join(", ")))
}
