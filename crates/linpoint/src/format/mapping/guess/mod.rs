//! Proposes a mapping for a log, from the names of its fields and what they hold.

mod fields;
mod times;
mod values;
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

fn last_name(path: &str) -> &str {
    let quoted = path
        .strip_suffix('"')
        .and_then(|path| path.rsplit('"').next());
    quoted.unwrap_or_else(|| path.rsplit('.').next().unwrap_or(path))
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
        if !self.propose_times() {
            self.propose_parts();
        }
        let is_used = |path: &str| {
            let mut taken = self.taken.iter();
            taken.any(|taken| {
                let rest = path.strip_prefix(taken.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
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
        self.find_named(names, fits, |path, name| plain(last_name(path)) == name)
    }

    /// The first field that is named so by `is_named`.
    fn find_named(
        &self,
        names: &[&str],
        fits: impl Fn(&Field) -> bool,
        is_named: impl Fn(&str, &str) -> bool,
    ) -> Option<String> {
        let free = || {
            let fields = self.fields.0.iter();
            fields.filter(|(path, field)| !self.taken.contains(*path) && fits(field))
        };
        names.iter().find_map(|name| {
            let named = free().filter(|(path, _)| is_named(path, name));
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

    /// The lists of a table, in which each value of the field is put by its word, or into `otherwise`.
    fn sorted(&self, path: &str, lists: &[(&str, &[&str])], otherwise: &str) -> String {
        let mut names: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        let field = self.fields.get(path);
        for name in field.into_iter().flat_map(|field| &field.distinct) {
            let key = list_with(name, lists).map_or(otherwise, |place| lists[place].0);
            names.entry(key).or_default().push(name);
        }
        // As they are read: what is sure comes first.
        let keys = ["call", "return", "ok", "fail", "unknown", "ignore"];
        let listed = keys.iter().filter_map(|key| Some((key, names.get(key)?)));
        listed
            .map(|(key, names)| format!(", {key} = {}", list(names.iter())))
            .collect()
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
mod tests;
