//! Observation files: the serial histories of a test, in the XML of the paper (its Figure 7). A file is a specification of an
//! earlier behaviour of the object.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::check::Test;
use crate::check::serial::Serial;
use crate::matrix::Matrix;
use crate::object::Object;
use crate::report::Failure;
use crate::report::explain;
use crate::runtime::MAIN;
use crate::runtime::execution::Outcome;
use crate::runtime::thread_name;

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "observationset")]
pub(crate) struct Observations {
    #[serde(rename = "observation", default)]
    sections: Vec<Section>,
}

/// The histories in which each thread has the same operations and results.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Section {
    #[serde(rename = "thread", default)]
    threads: Vec<Column>,
    #[serde(rename = "op", default)]
    ops: Vec<Op>,
    #[serde(rename = "history", default)]
    histories: Vec<String>,
}

/// The operations of a thread by number; `B` marks one that blocks.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Column {
    #[serde(rename = "@id")]
    id: String,
    #[serde(rename = "$text", default)]
    ops: String,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Op {
    #[serde(rename = "@id")]
    id: usize,
    #[serde(rename = "@name")]
    name: String,
    /// `value="..." result="..."`, each if there is one.
    #[serde(rename = "$text", default, skip_serializing_if = "String::is_empty")]
    content: String,
}

/// The most differences between an observation file and the object that a report shows.
const MOST_DIFFERENCES: usize = 8;

/// Writes and compares observation files, if the settings ask for it. Returns a failure if there is a difference.
pub(crate) fn compare<X>(
    object: &Object<X>,
    matrix: &Matrix,
    program: &Rc<dyn Test>,
    serial: &Serial,
) -> Result<Option<Failure>, String> {
    let settings = &object.settings;
    if let Some(path) = &settings.write_observations {
        Observations::of(&**program, serial).write(path)?;
    }
    let Some(path) = &settings.expect_observations else {
        return Ok(None);
    };
    let expected = Observations::read(path)?
        .lines()
        .map_err(|why| format!("{}: {why}", path.display()))?;
    let now = Observations::of(&**program, serial).lines()?;
    if expected == now {
        return Ok(None);
    }
    let gone = expected
        .difference(&now)
        .map(|line| format!("no longer: {line}"));
    let new = now.difference(&expected).map(|line| format!("new: {line}"));
    let mut differences: Vec<String> = gone.chain(new).collect();
    let left_out = differences.len().saturating_sub(MOST_DIFFERENCES);
    if left_out > 0 {
        differences.truncate(MOST_DIFFERENCES);
        differences.push(format!("and {left_out} more"));
    }
    let path = path.display().to_string();
    Ok(Some(explain::changed(program, matrix, &path, differences)))
}

impl Observations {
    /// Returns the observations of phase 1.
    pub(crate) fn of(program: &dyn Test, serial: &Serial) -> Self {
        let groups = serial.full.iter().chain(&serial.stuck);
        let mut sections: Vec<Section> = groups
            .map(|(results, group)| {
                section(program, results, group.orders.iter().map(|order| &**order))
            })
            .collect();
        sections.sort_by(|a, b| (a.ops.len(), a).cmp(&(b.ops.len(), b)).reverse());
        Observations { sections }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<(), String> {
        let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let text = self.to_xml().map_err(|error| failed(&error))?;
        fs::write(path, text).map_err(|error| failed(&error))
    }

    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text =
            fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        quick_xml::de::from_str(&text)
            .map_err(|error| format!("{}: not an observation file: {error}", path.display()))
    }

    pub(crate) fn to_xml(&self) -> Result<String, String> {
        let mut text = String::new();
        let mut serializer = quick_xml::se::Serializer::new(&mut text);
        serializer.indent(' ', 2);
        self.serialize(serializer)
            .map_err(|error| error.to_string())?;
        text.push('\n');
        Ok(text)
    }

    /// Every history as a line of text.
    pub(crate) fn lines(&self) -> Result<BTreeSet<String>, String> {
        let mut lines = BTreeSet::new();
        for section in &self.sections {
            for history in &section.histories {
                lines.insert(section.line(history)?);
            }
        }
        Ok(lines)
    }
}

impl Section {
    fn line(&self, history: &str) -> Result<String, String> {
        let mut words = Vec::new();
        for call in history
            .split_whitespace()
            .filter_map(|word| word.strip_suffix('['))
        {
            let op = self.ops.iter().find(|op| op.id.to_string() == call);
            let Some(op) = op else {
                return Err(format!(
                    "the history \"{history}\" calls {call}, which is no operation"
                ));
            };
            let runs = |column: &&Column| {
                let mut ops = column.ops.split_whitespace();
                ops.any(|id| id.trim_end_matches('B') == call)
            };
            let Some(thread) = self.threads.iter().find(runs) else {
                return Err(format!("operation {call} belongs to no thread"));
            };
            words.push(
                format!("{}.{} {}", thread.id, op.name, op.content)
                    .trim_end()
                    .to_owned(),
            );
        }
        if history.ends_with('#') {
            words.push("stuck".to_owned());
        }
        Ok(words.join("; "))
    }
}

fn section<'a>(
    program: &dyn Test,
    results: &[Outcome],
    orders: impl Iterator<Item = &'a [u8]>,
) -> Section {
    let layout = program.layout();
    // Operations are numbered from 1, thread by thread. Operations that were not called have no number.
    let mut numbers = vec![0; results.len()];
    let mut ops = Vec::new();
    for op in 0..results.len() {
        if results[op] == Outcome::ABSENT {
            continue;
        }
        numbers[op] = ops.len() + 1;
        let (name, value) = match program.label(op).split_once('(') {
            Some((name, rest)) => (name, Some(rest.trim_end_matches(')'))),
            None => (program.label(op), None),
        };
        let value = value.map(|value| format!("value=\"{value}\""));
        let result = (results[op] != Outcome::PENDING)
            .then(|| format!("result=\"{}\"", program.describe(op, results[op])));
        let content: Vec<String> = value.into_iter().chain(result).collect();
        ops.push(Op {
            id: numbers[op],
            name: name.to_owned(),
            content: content.join(" "),
        });
    }
    let column = |thread: usize, range: &mut dyn Iterator<Item = usize>| Column {
        id: thread_name(thread),
        ops: range
            .filter(|&op| numbers[op] > 0)
            .map(|op| match results[op] {
                Outcome::PENDING => format!("{}B", numbers[op]),
                _ => numbers[op].to_string(),
            })
            .collect::<Vec<_>>()
            .join(" "),
    };
    let mut threads: Vec<Column> = (0..layout.threads.len())
        .map(|thread| column(thread, &mut layout.of_thread(thread)))
        .collect();
    if layout.init + layout.last > 0 {
        threads.insert(
            0,
            column(MAIN, &mut (0..layout.init).chain(layout.finals())),
        );
    }
    let mut histories: Vec<String> = orders
        .map(|order| {
            let events: Vec<String> = order
                .iter()
                .map(|&op| {
                    let number = numbers[usize::from(op)];
                    match results[usize::from(op)] {
                        Outcome::PENDING => format!("{number}[ #"),
                        _ => format!("{number}[ ]{number}"),
                    }
                })
                .collect();
            events.join(" ")
        })
        .collect();
    histories.sort();
    histories.dedup();
    Section {
        threads,
        ops,
        histories,
    }
}
