//! What the fields of records hold.

use std::collections::{BTreeMap, BTreeSet};

use super::super::time::{self, Unit};
use crate::value::Value;

/// How many distinct values of a field are kept.
const DISTINCT: usize = 40;

/// What the values of a field are.
#[derive(Default)]
pub(super) struct Field {
    pub(super) count: usize,
    /// How many are numbers.
    pub(super) numbers: usize,
    /// How many are times: numbers or dates.
    pub(super) times: usize,
    pub(super) dates: usize,
    pub(super) fractions: usize,
    /// How many are lengths of time: numbers, or text such as `5ms`.
    pub(super) lengths: usize,
    /// How many are objects with one key, or text: variants of an enum.
    pub(super) variants: usize,
    pub(super) objects: usize,
    /// The texts of the values, or the names of variants, up to a limit.
    pub(super) distinct: BTreeSet<String>,
    pub(super) largest: f64,
}

/// All fields of the records, by path.
#[derive(Default)]
pub(super) struct Fields(pub(super) BTreeMap<String, Field>);

impl Fields {
    pub(super) fn look(&mut self, path: String, value: &Value, depth: usize) {
        if depth > 0 {
            let field = self.0.entry(path.clone()).or_default();
            field.add(value);
        }
        if depth < 4 {
            for (key, inner) in value.as_map().unwrap_or_default() {
                let Some(name) = key.as_text() else { continue };
                let is_plain = !name.is_empty() && !name.contains(['.', '[', ']', '@', '*', '"']);
                let step = match is_plain {
                    true => format!("{path}.{name}"),
                    false if !name.contains('"') => format!("{path}.\"{name}\""),
                    false => continue,
                };
                self.look(step, inner, depth + 1);
            }
        }
    }

    pub(super) fn get(&self, path: &str) -> Option<&Field> {
        self.0.get(path)
    }
}

impl Field {
    fn add(&mut self, value: &Value) {
        if value.is_nil() {
            return;
        }
        self.count += 1;
        let is_number = matches!(value, Value::Int(_) | Value::Number(_));
        self.numbers += usize::from(is_number);
        self.fractions += usize::from(matches!(value, Value::Number(_)));
        if let Ok(time) = time::parse(value, Some(Unit::Nanoseconds)) {
            self.times += 1;
            let is_date = |time: time::Time| time.scale == time::Scale::Nanoseconds;
            self.dates += usize::from(time::parse(value, None).is_ok_and(is_date));
            self.largest = self.largest.max(time.latest as f64);
        }
        let length = time::parse_length(value, Some(Unit::Nanoseconds));
        self.lengths += usize::from(length.is_ok() && (is_number || value.as_text().is_some()));
        let name = match value.as_map() {
            Some([(key, _)]) => Some(key.plain_text().into_owned()),
            Some(_) => None,
            None => Some(value.plain_text().into_owned()),
        };
        self.objects += usize::from(value.as_map().is_some());
        self.variants += usize::from(name.is_some());
        if let Some(name) = name
            && self.distinct.len() < DISTINCT
        {
            self.distinct.insert(name);
        }
    }

    pub(super) fn is_time(&self) -> bool {
        self.count > 0 && self.times == self.count
    }

    pub(super) fn is_length(&self) -> bool {
        self.count > 0 && self.lengths == self.count
    }

    /// Whether the values are names: text, few of them.
    pub(super) fn is_name(&self) -> bool {
        self.count > 0
            && self.numbers == 0
            && self.objects == 0
            && self.distinct.len() < DISTINCT
            && self.distinct.len() <= self.count
    }

    /// Whether the values are small numbers that stand for names.
    pub(super) fn is_code(&self) -> bool {
        self.numbers == self.count && self.fractions == 0 && (1..12).contains(&self.distinct.len())
    }

    /// Whether the values are always variants with a name, and some have content.
    pub(super) fn is_tagged(&self) -> bool {
        self.objects > 0 && self.variants == self.count && self.distinct.len() < DISTINCT
    }
}
