//! Observation files: the serial histories of a test, in the XML of the paper (its Figure 7). A file is a specification of an
//! earlier behaviour of the object: it is compared with the serial histories of today, or takes their place in phase 2.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Test;
use super::serial::Serial;
use crate::Map;
use crate::runtime::MAIN;
use crate::runtime::execution::{Layout, Outcome};
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

    /// Returns the histories as phase 1 would have found them. `number` gives the number of a result from its text.
    pub(crate) fn serial(
        &self,
        program: &dyn Test,
        number: impl Fn(&str) -> u32,
    ) -> Result<Serial, String> {
        let mut serial = Serial::default();
        for section in &self.sections {
            let (outcomes, ops) = section.outcomes(program, &number)?;
            let is_stuck = outcomes.contains(&Outcome::PENDING);
            if !is_stuck && outcomes.contains(&Outcome::ABSENT) {
                return Err("a section lacks operations of this test, and none blocks".to_owned());
            }
            for history in &section.histories {
                let order = order(program.layout(), &outcomes, &ops, history)
                    .ok_or_else(|| format!("\"{history}\" is no serial history of its section"))?;
                serial.insert(&outcomes, order);
            }
        }
        match serial.histories {
            0 => Err("there is no history in it".to_owned()),
            _ => Ok(serial),
        }
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
    /// Returns the results of the operations of a test, and the operation that each number stands for.
    fn outcomes(
        &self,
        program: &dyn Test,
        number: impl Fn(&str) -> u32,
    ) -> Result<(Vec<Outcome>, Map<usize, usize>), String> {
        let layout = program.layout();
        let mut outcomes = vec![Outcome::ABSENT; layout.ops()];
        let mut ops = Map::default();
        for column in &self.threads {
            let mut of_thread = ops_of(layout, &column.id);
            for word in column.ops.split_whitespace() {
                let id = word.trim_end_matches('B');
                let entry = self.ops.iter().find(|op| op.id.to_string() == id);
                let (Some(entry), Some(op)) = (entry, of_thread.next()) else {
                    return Err(format!(
                        "operation {id} of thread {} is not one of this test",
                        column.id
                    ));
                };
                let (name, value) = parts(program.label(op));
                let content = match value {
                    Some(value) => entry.content.strip_prefix(&format!("value=\"{value}\"")),
                    None => Some(entry.content.as_str()),
                };
                let content = content.filter(|_| entry.name == name).ok_or_else(|| {
                    format!(
                        "operation {id} of thread {} is {} there, and {} in this test",
                        column.id,
                        format!("{} {}", entry.name, entry.content).trim_end(),
                        program.label(op)
                    )
                })?;
                let result = content.trim_start().strip_prefix("result=\"");
                let result = result.and_then(|result| result.strip_suffix('"'));
                outcomes[op] = match (result, word.ends_with('B')) {
                    (None, true) => Outcome::PENDING,
                    (Some(result), false) => Outcome::returned(number(result)),
                    _ => return Err(format!("operation {id} must have a result, or block")),
                };
                ops.insert(entry.id, op);
            }
        }
        Ok((outcomes, ops))
    }

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

/// Returns the operations of the thread with this name, in their order; none if the test has no such thread.
fn ops_of(layout: &Layout, name: &str) -> Box<dyn Iterator<Item = usize>> {
    if name == thread_name(MAIN) {
        return Box::new((0..layout.init).chain(layout.finals()));
    }
    match (0..layout.threads.len()).find(|&thread| thread_name(thread) == name) {
        Some(thread) => Box::new(layout.of_thread(thread)),
        None => Box::new(std::iter::empty()),
    }
}

/// Returns the order of the operations in a history such as `1[ ]1 3[ ]3 2[ #`; `None` unless it is a serial history of
/// operations with these results. `ops` has the operation that each number stands for.
fn order(
    layout: &Layout,
    outcomes: &[Outcome],
    ops: &Map<usize, usize>,
    history: &str,
) -> Option<Box<[u8]>> {
    let mut words = history.split_whitespace();
    let mut order: Vec<u8> = Vec::new();
    let mut called = 0u64;
    while let Some(call) = words.next() {
        let id: usize = call.strip_suffix('[')?.parse().ok()?;
        let &op = ops.get(&id)?;
        let is_pending = outcomes[op] == Outcome::PENDING;
        let end = words.next()?;
        // The initial sequence comes first, the final one last, and each thread keeps its order.
        let thread = match layout.thread_of(op) {
            MAIN => 0..op,
            thread => layout.base(thread)..op,
        };
        let earlier = (0..layout.init.min(op)).chain(thread);
        let mut missing = earlier.filter(|&earlier| called & 1 << earlier == 0);
        let is_next = called & 1 << op == 0 && missing.next().is_none();
        let ends = match is_pending {
            true => end == "#" && words.next().is_none(),
            false => end == format!("]{id}"),
        };
        if !is_next || !ends {
            return None;
        }
        called |= 1 << op;
        order.push(op as u8);
    }
    (order.len() == ops.len()).then(|| order.into())
}

/// Takes a label such as `add(200)` apart: the name of the operation, and its arguments if it has any.
fn parts(label: &str) -> (&str, Option<&str>) {
    match label.split_once('(') {
        Some((name, rest)) => (name, Some(rest.strip_suffix(')').unwrap_or(rest))),
        None => (label, None),
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
        let (name, value) = parts(program.label(op));
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
