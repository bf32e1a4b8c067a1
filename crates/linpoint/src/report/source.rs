//! The names and texts of a report page, from a recorded history or from a history of Rust values.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use super::pack::Texts;
use crate::history::{History, NEVER, OpId, TypedHistory};
use crate::spec::value_is_result;
use crate::value::Value;

/// The operations that a page holds, by column.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) process: Vec<u32>,
    pub(super) method: Vec<u32>,
    /// The number of a text, or 0 where there is none.
    pub(super) argument: Vec<u32>,
    /// The number of a text, or 0 where there is none.
    pub(super) result: Vec<u32>,
    pub(super) line: Vec<u32>,
    pub(super) times: Option<Vec<(i64, i64)>>,
    pub(super) processes: Vec<String>,
    pub(super) methods: Vec<String>,
    /// Whether `methods` holds whole calls, with their arguments.
    pub(super) is_bare: bool,
    /// The unit of line numbers.
    pub(super) line_unit: &'static str,
    pub(super) annotations: Vec<(u32, String)>,
}

/// Gives names and texts for the operations of a history.
pub(super) trait Source {
    fn object_name(&self, number: u32) -> Option<String>;
    fn process_name(&self, id: OpId) -> String;
    fn call_text(&self, id: OpId) -> String;
    fn result_text(&self, id: OpId) -> Option<String>;
    fn line_of(&self, id: OpId) -> u32;
    /// The columns of some operations.
    fn rows(&self, ids: &[OpId], texts: &mut Texts) -> Rows;
}

impl Source for History {
    fn object_name(&self, number: u32) -> Option<String> {
        let object = self.objects().get(number as usize)?;
        (!object.is_nil()).then(|| object.to_string())
    }

    fn process_name(&self, id: OpId) -> String {
        self.op(id).process.plain_text().into_owned()
    }

    fn call_text(&self, id: OpId) -> String {
        self.op(id).call_text()
    }

    fn result_text(&self, id: OpId) -> Option<String> {
        let op = self.op(id);
        let result = op.result?;
        let is_told = !result.is_nil() || value_is_result(op.method);
        is_told.then(|| result.to_string())
    }

    fn line_of(&self, id: OpId) -> u32 {
        self.op(id).line
    }

    fn rows(&self, ids: &[OpId], texts: &mut Texts) -> Rows {
        let mut rows = Rows {
            processes: self
                .processes()
                .iter()
                .map(|process| process.plain_text().into_owned())
                .collect(),
            methods: self.methods().to_vec(),
            line_unit: self.line_unit().name(),
            annotations: self
                .annotations()
                .iter()
                .map(|note| (note.rank, note.text.clone()))
                .collect(),
            ..Rows::default()
        };
        let mut values = vec![0; self.values().len()];
        let mut lists = HashMap::new();
        let observes: Vec<bool> = self.methods().iter().map(|m| value_is_result(m)).collect();
        let mut times = Vec::new();
        for &id in ids {
            let i = id.index();
            let (method, argument) = (self.method_column()[i].0, self.argument_column()[i].0);
            rows.process.push(self.process_column()[i].0);
            rows.method.push(method);
            let value = &self.values()[argument as usize];
            let argument = match value {
                Value::Nil => 0,
                Value::List(items) => *lists.entry(argument).or_insert_with(|| {
                    let items: Vec<String> = items.iter().map(Value::to_string).collect();
                    texts.push(&items.join(", "))
                }),
                value => number_of(&mut values[argument as usize], value, texts),
            };
            rows.argument.push(argument);
            let result = self.result_column()[i].0 as usize;
            let result = match self
                .values()
                .get(result)
                .filter(|_| self.rets()[i] != NEVER)
            {
                None => 0,
                Some(Value::Nil) if !observes[method as usize] => 0,
                Some(value) => number_of(&mut values[result], value, texts),
            };
            rows.result.push(result);
            rows.line.push(self.op(id).line);
            times.extend(self.times(i));
        }
        rows.times = (times.len() == ids.len() && !ids.is_empty()).then_some(times);
        rows
    }
}

fn number_of(number: &mut u32, value: &Value, texts: &mut Texts) -> u32 {
    if *number == 0 {
        *number = texts.push(&value.to_string());
    }
    *number
}

/// The texts of operations and results are their debug forms.
impl<O: Debug + Eq + Hash, R: Debug + Eq + Hash> Source for TypedHistory<O, R> {
    fn object_name(&self, number: u32) -> Option<String> {
        let is_several = self.object_column().iter().any(|&object| object != 0);
        is_several.then(|| number.to_string())
    }

    fn process_name(&self, id: OpId) -> String {
        self.process(id).to_string()
    }

    fn call_text(&self, id: OpId) -> String {
        format!("{:?}", self.action(id).op)
    }

    fn result_text(&self, id: OpId) -> Option<String> {
        let ret = self.action(id).ret.as_ref()?;
        Some(format!("{ret:?}")).filter(|text| text != "()")
    }

    fn line_of(&self, _id: OpId) -> u32 {
        0
    }

    fn rows(&self, ids: &[OpId], texts: &mut Texts) -> Rows {
        let mut rows = Rows {
            is_bare: true,
            ..Rows::default()
        };
        let mut processes: HashMap<u32, u32> = HashMap::new();
        let mut methods: HashMap<String, u32> = HashMap::new();
        for &id in ids {
            let process = self.process(id);
            let process = *processes.entry(process).or_insert_with(|| {
                rows.processes.push(process.to_string());
                rows.processes.len() as u32 - 1
            });
            let method = *methods
                .entry(self.call_text(id))
                .or_insert_with_key(|call| {
                    rows.methods.push(call.clone());
                    rows.methods.len() as u32 - 1
                });
            rows.process.push(process);
            rows.method.push(method);
            rows.argument.push(0);
            let result = self.result_text(id);
            rows.result
                .push(result.map_or(0, |result| texts.intern(result)));
            rows.line.push(0);
        }
        rows
    }
}
