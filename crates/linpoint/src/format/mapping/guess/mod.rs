//! Proposes a mapping for a log, from the names of its fields and what they hold.

mod fields;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use self::fields::{Field, Fields};
use self::words::*;
use super::super::assemble::{Order, assemble};
use super::fields::{Cells, Source};
use super::operations::Operations;
use super::record::Reader;
use super::{Mapping, source};
use crate::error::Error;
use crate::format::ReadOptions;
use crate::spec::value_is_result;
use crate::value::Value;

/// A mapping that may fit a log, and what is not certain about it.
#[derive(Clone, Debug)]
pub struct Guess {
    /// The mapping, as TOML.
    pub toml: String,
    /// What the user has to look at.
    pub unsure: Vec<String>,
    /// The first operations as they are read by this mapping, or why they cannot be read.
    pub operations: Result<Vec<String>, Error>,
}

/// How many records are looked at.
const RECORDS: usize = 1000;

/// How many operations are shown.
const SHOWN: usize = 3;

impl Mapping {
    /// Proposes a mapping for the log `text`, from its first thousand records.
    pub fn guess(text: &str) -> Result<Guess, Error> {
        let source = source::detect(text);
        let mut records = Vec::new();
        let read = source::records(text, source, Cells::Json, |(line, record)| {
            let record = record.map_err(|reason| Some(Error::malformed(reason).at_line(line)))?;
            records.push((line, record));
            match records.len() {
                RECORDS => Err(None),
                _ => Ok(()),
            }
        });
        if let Err(Some(error)) = read {
            return Err(error);
        }
        if records.is_empty() {
            return Err(Error::malformed("there are no records to guess from"));
        }
        let mut fields = Fields::default();
        records
            .iter()
            .for_each(|(_, record)| fields.look(String::new(), record, 0));
        let mut proposal = Proposal {
            fields: &fields,
            taken: BTreeSet::new(),
            toml: String::new(),
            unsure: Vec::new(),
        };
        proposal.propose(source);
        let Proposal { toml, unsure, .. } = proposal;
        let operations = Mapping::from_toml(&toml).and_then(|mapping| sample(&mapping, &records));
        Ok(Guess {
            toml,
            unsure,
            operations,
        })
    }
}

/// The first operations of these records.
fn sample(mapping: &Mapping, records: &[(u64, Value)]) -> Result<Vec<String>, Error> {
    let mut operations = Operations::new(Reader::new(mapping));
    for (line, record) in records {
        operations.take(*line, record)?;
    }
    let order = match mapping.fields.event.is_some() && mapping.fields.time.is_none() {
        true => Order::Records,
        false => Order::Times,
    };
    let (history, _) = assemble(operations.list, order, &ReadOptions::default())?;
    let shown = history.ops().take(SHOWN).map(|op| {
        let object = match op.object {
            Value::Nil => String::new(),
            object => format!(" on {object}"),
        };
        let times = match op.times {
            Some((call, i64::MAX)) => format!(", called at {call}"),
            Some((call, ret)) => format!(", from {call} to {ret}"),
            None => String::new(),
        };
        format!("process {}: {}{object}{times}", op.process, op.text())
    });
    Ok(shown.collect())
}

/// A name without marks, in small letters: `client_id` is `clientid`.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_ascii_alphanumeric());
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn last_name(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

struct Proposal<'f> {
    fields: &'f Fields,
    /// The paths that have a meaning already.
    taken: BTreeSet<String>,
    toml: String,
    unsure: Vec<String>,
}

impl<'f> Proposal<'f> {
    fn propose(&mut self, source: Source) {
        let name = match source {
            Source::Jsonl => "jsonl",
            Source::Json => "json",
            Source::Csv => "csv",
            Source::Tsv => "tsv",
        };
        let _ = writeln!(self.toml, "source = \"{name}\"");
        self.key_with("process", PROCESS, |_| true);
        if !self.toml.contains("process =") {
            self.unsure.push(
                "no field looks like the process (the client) that calls: add `process` if there is one".to_owned(),
            );
        }
        let call = self.find(CALL, Field::is_time);
        let ret = self.find(RETURN, Field::is_time);
        let method = match (call, ret) {
            (Some(call), Some(ret)) => {
                self.set("call", &call);
                self.set("return", &ret);
                self.propose_unit(&call);
                self.propose_method()
            }
            _ => self.propose_events(),
        };
        self.key_with("object", OBJECT, |_| true);
        if let Some(key) = self.find(KEY, |_| true) {
            self.set("key", &key);
            self.unsure.push(format!(
                "{key} is taken for a key, so each key is an object of its own (a register, say); for a store such as `kv`, whose operations \
                 have the key as an argument, put it into `argument` instead"
            ));
        }
        self.propose_values(method.as_deref());
        self.propose_status();
        let is_used = |path: &str| {
            self.taken
                .iter()
                .any(|taken| path.starts_with(taken.as_str()))
        };
        let fields = self.fields.0.iter();
        let unused: Vec<&str> = fields
            .filter(|(path, field)| field.objects == 0 && !is_used(path))
            .map(|(path, _)| path.as_str())
            .collect();
        if !unused.is_empty() {
            let unused = unused.join(", ");
            self.unsure
                .push(format!("these fields are not used: {unused}"));
        }
    }

    /// The first field with one of these names, in their order, which is not taken.
    fn find(&self, names: &[&str], fits: impl Fn(&Field) -> bool) -> Option<String> {
        let free = || {
            let fields = self.fields.0.iter();
            fields.filter(|(path, field)| !self.taken.contains(*path) && fits(field))
        };
        names.iter().find_map(|name| {
            let named = free().filter(|(path, _)| plain(last_name(path)) == *name);
            // The one closest to the root.
            let nearest = named.min_by_key(|(path, _)| path.matches('.').count());
            nearest.map(|(path, _)| path.clone())
        })
    }

    fn set(&mut self, key: &str, path: &str) {
        self.taken.insert(path.to_owned());
        let _ = writeln!(self.toml, "{key} = {}", quoted(path));
    }

    fn key_with(&mut self, key: &str, names: &[&str], fits: impl Fn(&Field) -> bool) {
        if let Some(path) = self.find(names, fits) {
            self.set(key, &path);
        }
    }

    fn propose_method(&mut self) -> Option<String> {
        let path = self.find(METHOD, Field::is_name);
        match &path {
            Some(path) => self.set("method", path),
            None => {
                let _ = writeln!(self.toml, "method = \"= read\"");
                self.unsure.push(
                    "no field looks like the name of a method: `method` is a constant, write the path instead".to_owned(),
                );
            }
        }
        path
    }

    fn propose_unit(&mut self, path: &str) {
        let Some(field) = self.fields.get(path) else {
            return;
        };
        if field.dates == field.count {
            return;
        }
        let name = plain(last_name(path));
        let by_name = [
            ("ns", "ns"),
            ("us", "us"),
            ("ms", "ms"),
            ("nanos", "ns"),
            ("micros", "us"),
            ("millis", "ms"),
        ]
        .into_iter()
        .find(|(ending, _)| name.ends_with(ending));
        let unit = match by_name {
            Some((_, unit)) => unit,
            None => {
                // Seconds since 1970 are some 1.8e9 now.
                let by_size = [
                    (1e8..1e11, "s"),
                    (1e11..1e14, "ms"),
                    (1e14..1e17, "us"),
                    (1e17..1e19, "ns"),
                ];
                let by_size = by_size
                    .iter()
                    .find(|(sizes, _)| sizes.contains(&field.largest));
                match (by_size, field.fractions) {
                    (Some((_, unit)), _) => unit,
                    (None, 0) => {
                        self.unsure.push(format!(
                            "the unit of {path} is not known: add unit = \"ns\", \"us\", \"ms\" or \"s\" if you want to see times or to allow for \
                             clocks that are off (`skew`)"
                        ));
                        return;
                    }
                    (None, _) => "s",
                }
            }
        };
        let _ = writeln!(self.toml, "unit = \"{unit}\"");
        if by_name.is_none() {
            self.unsure.push(format!(
                "the unit of {path} is guessed from its size: {unit}"
            ));
        }
    }

    /// Events: a field that names their kind, or one whose variants do.
    fn propose_events(&mut self) -> Option<String> {
        let has_both = |field: &Field| {
            let has = |words: &[&str]| {
                field
                    .distinct
                    .iter()
                    .any(|name| words.contains(&plain(name).as_str()))
            };
            has(CALLS) && has(RETURNS)
        };
        if let Some(path) = self.find(EVENT, |field| field.is_tagged() && has_both(field)) {
            return self.propose_tagged_events(&path);
        }
        let kinds = self.find(EVENT, |field| field.is_name() && has_both(field));
        let Some(kinds) =
            kinds.or_else(|| self.find_any(|field| field.is_name() && has_both(field)))
        else {
            let _ = writeln!(self.toml, "call = \".START\"\nreturn = \".END\"");
            self.unsure.push(
                "no fields look like the times of the call and the return, and none tells the beginning of an operation from its end: write the \
                 paths for `call` and `return`, or `event`"
                    .to_owned(),
            );
            return self.propose_method();
        };
        self.taken.insert(kinds.clone());
        if let Some(id) = self.find(ID, |_| true) {
            self.set("id", &id);
        }
        if let Some(time) = self.find(TIME, Field::is_time) {
            self.set("time", &time);
            self.propose_unit(&time);
        }
        let method = self.propose_method();
        let table = self.sorted(
            &kinds,
            &[
                ("call", CALLS),
                ("return", RETURNS),
                ("fail", FAILS),
                ("unknown", UNKNOWNS),
            ],
            "ignore",
        );
        let _ = writeln!(self.toml, "event = {{ path = {}{table} }}", quoted(&kinds));
        method
    }

    fn find_any(&self, fits: impl Fn(&Field) -> bool) -> Option<String> {
        let mut fields = self.fields.0.iter();
        let found = fields.find(|(path, field)| !self.taken.contains(*path) && fits(field));
        found.map(|(path, _)| path.clone())
    }

    fn propose_tagged_events(&mut self, path: &str) -> Option<String> {
        let field = self.fields.get(path)?;
        let named = |words: &[&str]| {
            let mut names = field.distinct.iter();
            names
                .find(|name| words.contains(&plain(name).as_str()))
                .cloned()
        };
        let (call, ret) = (named(CALLS)?, named(RETURNS)?);
        let call = format!("{path}.{call}");
        let ret = format!("{path}.{ret}");
        self.taken.insert(path.to_owned());
        if let Some(id) = self.find(ID, |_| true) {
            self.set("id", &id);
        }
        if let Some(time) = self.find(TIME, Field::is_time) {
            self.set("time", &time);
            self.propose_unit(&time);
        }
        let _ = writeln!(
            self.toml,
            "method = {}\nargument = {}\nresult = {}\nevent = {{ call = {}, return = {} }}",
            quoted(&format!("{call}@")),
            quoted(&format!("{call}.*")),
            quoted(&format!("{ret}.*")),
            quoted(&call),
            quoted(&ret),
        );
        let ends = self.fields.get(&ret)?;
        if ends.is_tagged() || ends.is_name() {
            let is =
                |name: &str, words: &[&str]| words.iter().any(|word| plain(name).ends_with(word));
            let mut lists: [(&str, Vec<&String>); 3] =
                [("ok", vec![]), ("fail", vec![]), ("unknown", vec![])];
            for name in &ends.distinct {
                let list = match name {
                    name if is(name, &["indefinitefailure", "unknown", "timeout"]) => 2,
                    name if is(name, FAILS) => 1,
                    _ => 0,
                };
                lists[list].1.push(name);
            }
            let listed = lists.iter().filter(|(_, names)| !names.is_empty());
            let listed: Vec<String> = listed
                .map(|(key, names)| format!("{key} = {}", list(names.iter())))
                .collect();
            let _ = writeln!(
                self.toml,
                "status = {{ path = {}, {} }}",
                quoted(&format!("{ret}@")),
                listed.join(", ")
            );
            self.unsure.push(
                "look at `status`: what is in `fail` is taken not to have happened; whatever may have happened belongs into `unknown`".to_owned(),
            );
        }
        self.unsure.push("`argument` and `result` are all that the variants hold; pick the parts that your type knows".to_owned());
        // The paths below the variants have a meaning now.
        let below: Vec<String> = self
            .fields
            .0
            .keys()
            .filter(|below| below.starts_with(path))
            .cloned()
            .collect();
        self.taken.extend(below);
        None
    }

    fn propose_values(&mut self, method: Option<&str>) {
        if self.toml.contains("argument = ") {
            return;
        }
        let argument = self.find(ARGUMENT, |_| true);
        if let Some(path) = &argument {
            self.set("argument", path);
        }
        let result = self.find(RESULT, |_| true);
        if let Some(path) = &result {
            self.set("result", path);
        }
        let Some(value) = self.find(VALUE, |_| true) else {
            return;
        };
        if argument.is_some() && result.is_some() {
            return;
        }
        let names = method
            .and_then(|path| self.fields.get(path))
            .map(|field| &field.distinct);
        let (reads, others): (Vec<&String>, Vec<&String>) = names
            .into_iter()
            .flatten()
            .partition(|name| value_is_result(&name.to_ascii_lowercase()));
        let table = |names: &[&String]| {
            let of: Vec<String> = names
                .iter()
                .map(|name| format!("{} = {}", quoted(name), quoted(&value)))
                .collect();
            format!("{{ {} }}", of.join(", "))
        };
        if argument.is_none() && !others.is_empty() {
            let _ = writeln!(self.toml, "argument = {}", table(&others));
        }
        if result.is_none() && !reads.is_empty() {
            let _ = writeln!(self.toml, "result = {}", table(&reads));
        }
        self.unsure.push(format!(
            "{value} is taken for the result of methods that read, and for the argument of the others"
        ));
        self.taken.insert(value);
    }

    fn propose_status(&mut self) {
        if self.toml.contains("status = ") {
            return;
        }
        let Some(path) = self.find(STATUS, |field| {
            field.objects == 0 && field.distinct.len() < 12
        }) else {
            return;
        };
        let table = self.sorted(
            &path,
            &[("ok", OKS), ("fail", FAILS), ("unknown", UNKNOWNS)],
            "unknown",
        );
        let _ = writeln!(self.toml, "status = {{ path = {}{table} }}", quoted(&path));
        self.unsure.push(
            "look at `status`: what is in `fail` is taken not to have happened; whatever may have happened belongs into `unknown`".to_owned(),
        );
        self.taken.insert(path);
    }

    /// The lists of a table, in which each value of the field is put by its word, or into `otherwise`.
    fn sorted(&mut self, path: &str, words: &[(&str, &[&str])], otherwise: &str) -> String {
        let mut lists: BTreeMap<usize, Vec<&String>> = BTreeMap::new();
        let mut rest = Vec::new();
        for name in self
            .fields
            .get(path)
            .into_iter()
            .flat_map(|field| &field.distinct)
        {
            match words
                .iter()
                .position(|(_, words)| words.contains(&plain(name).as_str()))
            {
                Some(place) => lists.entry(place).or_default().push(name),
                None => rest.push(name),
            }
        }
        let mut table = String::new();
        for (place, names) in &lists {
            let names = match words[*place].0 == otherwise {
                true => list(names.iter().chain(&std::mem::take(&mut rest))),
                false => list(names.iter()),
            };
            let _ = write!(table, ", {} = {names}", words[*place].0);
        }
        if !rest.is_empty() {
            let _ = write!(table, ", {otherwise} = {}", list(rest.iter()));
        }
        table
    }
}

/// A text of TOML.
fn quoted(text: &str) -> String {
    match text.contains(['\'', '\n']) {
        false => format!("'{text}'"),
        true => format!("{text:?}"),
    }
}

fn list<'a>(names: impl Iterator<Item = &'a &'a String>) -> String {
    let names: Vec<String> = names.map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(log: &str) -> Guess {
        Mapping::guess(log).unwrap()
    }

    #[test]
    fn operations_are_guessed_by_names() {
        let log = "client_id,op,key,value,status,start_ms,end_ms\n1,write,a,5,ok,10,20\n2,read,a,5,ok,15,30\n1,write,a,6,timeout,40,50\n";
        let guess = guess(log);
        let operations = guess.operations.unwrap();
        assert_eq!(
            operations,
            [
                "process 1: write(5) on \"a\", from 10000000 to 20000000",
                "process 2: read() → 5 on \"a\", from 15000000 to 30000000",
                "process 1: write(6) → ? on \"a\", called at 40000000",
            ]
        );
        assert!(
            guess
                .toml
                .contains("status = { path = '.status', ok = ['ok'], unknown = ['timeout'] }"),
            "{}",
            guess.toml
        );
        assert!(guess.unsure.iter().any(|about| about.contains("`status`")));
    }

    #[test]
    fn variants_are_guessed() {
        let log = r#"
{"event":{"Start":{"Append":{"num_records":1}}},"client_id":2,"op_id":4}
{"event":{"Start":"CheckTail"},"client_id":3,"op_id":5}
{"event":{"Finish":{"AppendSuccess":{"tail":1}}},"client_id":2,"op_id":4}
{"event":{"Finish":"CheckTailFailure"},"client_id":3,"op_id":5}
"#;
        let guess = guess(log);
        let operations = guess.operations.unwrap();
        assert_eq!(
            operations,
            [r#"process 2: Append({"num_records": 1}) → {"tail": 1}"#],
            "{}",
            guess.toml
        );
    }

    #[test]
    fn events_are_guessed() {
        let log = r#"
{"ts":"2026-11-17T21:40:00Z","thread":1,"event":"invoke","method":"read","request_id":"x"}
{"ts":"2026-11-17T21:40:01Z","thread":1,"event":"response","method":"read","output":5,"request_id":"x"}
{"ts":"2026-11-17T21:40:02Z","thread":1,"event":"heartbeat"}
"#;
        let guess = guess(log);
        let operations = guess.operations.unwrap();
        let start = 1_794_951_600_000_000_000_i64;
        let expected = format!(
            "process 1: read() → 5, from {start} to {}",
            start + 1_000_000_000
        );
        assert_eq!(operations, [expected], "{}", guess.toml);
    }

    #[test]
    fn what_cannot_be_guessed_is_said() {
        let guess = guess("a,b\n1,2\n");
        assert!(guess.operations.is_err());
        assert_eq!(guess.unsure.len(), 4, "{:?}", guess.unsure);
        let error = Mapping::guess("a,b\n").unwrap_err();
        assert_eq!(error.to_string(), "there are no records to guess from");
    }
}
