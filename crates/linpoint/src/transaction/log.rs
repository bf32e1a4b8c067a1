//! Transactions as they were recorded.

use crate::error::Error;
use crate::history::{FailedOp, History, Op, OpId};
use crate::spec::Params;
use crate::text::shortened;
use crate::value::{Interner, Value};

use super::table::Table;

/// What the transactions work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// Registers by key: steps `r` and `w`.
    Registers {
        /// What every register holds at first.
        initial: Value,
    },
    /// Lists by key, at first empty: steps `r`, which sees the whole list, and `append`.
    Lists,
}

impl Model {
    /// The model of a history: that of its type, if it is named, else the one that its steps tell.
    pub fn of(history: &History, object_type: Option<(&str, &Params)>) -> Result<Self, Error> {
        let registers = |params: &Params| Model::Registers {
            initial: params.get("initial").cloned().unwrap_or_default(),
        };
        match object_type {
            Some(("list-append", _)) => Ok(Model::Lists),
            Some(("multi-register" | "txn-register", params)) => Ok(registers(params)),
            Some((name, _)) => Err(Error::usage(format!(
                "type {name} has no isolation levels: types list-append and multi-register have them"
            ))),
            None => {
                let failed = history.failed().iter();
                let calls = history.ops().map(|op| (op.method, op.argument));
                let mut calls =
                    calls.chain(failed.map(|op| (op.call.method.as_str(), &op.call.argument)));
                match calls.find_map(|(method, argument)| model_of_call(method, argument)) {
                    Some(Steps::OnLists) => Ok(Model::Lists),
                    Some(Steps::OnRegisters) => Ok(registers(&Params::new())),
                    None if history.ops().any(reads_a_list) => Err(Error::usage(
                        "no transaction writes, and some read a list: name the type with --type list-append, or with --type multi-register if \
                         lists are values of registers",
                    )),
                    None => Ok(registers(&Params::new())),
                }
            }
        }
    }
}

/// What a call tells of its model.
#[derive(Clone, Copy, PartialEq)]
enum Steps {
    OnLists,
    OnRegisters,
}

/// Whether a read of the transaction answered a list.
fn reads_a_list(op: Op<'_>) -> bool {
    let recorded = Recorded {
        method: op.method,
        argument: op.argument,
        result: op.result,
    };
    let is_list = |step: &RecordedStep<'_>| match step.action {
        Recording::Read(value) => value.as_list().is_some(),
        _ => false,
    };
    recorded
        .steps()
        .is_ok_and(|steps| steps.iter().any(is_list))
}

fn model_of_call(method: &str, argument: &Value) -> Option<Steps> {
    let steps = steps_of(argument).unwrap_or_default();
    let of_step = |step: &RecordedStep<'_>| match step.action {
        Recording::Append(_) => Some(Steps::OnLists),
        Recording::Write(_) => Some(Steps::OnRegisters),
        Recording::Read(_) | Recording::Unknown => None,
    };
    match method {
        "append" => Some(Steps::OnLists),
        "write" | "w" => Some(Steps::OnRegisters),
        _ => steps.iter().find_map(of_step),
    }
}

/// The number of a transaction: operations of the history in the order of their calls, then those that failed.
pub(super) type Txn = u32;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Committed,
    Aborted,
    /// It may have committed at any time after its call, or not at all.
    Unknown,
}

/// A step of a transaction. Keys and values are numbers, equal ones for equal values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) key: u32,
    pub(super) action: Action,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// Writes the value, or appends it.
    Write(u32),
    /// Reads the value.
    Read(u32),
    /// Reads a list: this part of the elements.
    ReadList { start: u32, length: u32 },
    /// Reads, and what it saw is not known.
    ReadUnknown,
}

/// The transactions of a history.
#[derive(Debug)]
pub(super) struct Log<'h> {
    pub(super) history: &'h History,
    pub(super) model: Model,
    outcomes: Vec<Outcome>,
    steps: Table<Step>,
    /// The elements of the lists that were read.
    elements: Vec<u32>,
    keys: Interner<Value>,
    values: Interner<Value>,
    /// The number of the initial value of registers.
    pub(super) initial: u32,
}

impl<'h> Log<'h> {
    /// Reads the transactions of a history.
    pub(super) fn new(history: &'h History, model: &Model) -> Result<Self, Error> {
        if history.objects().len() > 1 {
            let reason = "transactions on several objects: isolation levels are about one database, so leave the objects out, or make them part of the keys";
            return Err(Error::malformed(reason));
        }
        let mut values = Interner::default();
        let initial = values.intern(match model {
            Model::Registers { initial } => initial.clone(),
            Model::Lists => Value::Nil,
        });
        let mut log = Log {
            history,
            model: model.clone(),
            outcomes: Vec::with_capacity(history.len()),
            steps: Table::default(),
            elements: Vec::new(),
            keys: Interner::default(),
            values,
            initial,
        };
        for op in history.ops() {
            let recorded = Recorded {
                method: op.method,
                argument: op.argument,
                result: op.result,
            };
            let added = log.add(&recorded);
            added.map_err(|reason| history.locate(op.id, Error::malformed(reason)))?;
            log.outcomes.push(match op.result {
                Some(_) => Outcome::Committed,
                None => Outcome::Unknown,
            });
        }
        for failed in history.failed() {
            let recorded = Recorded {
                method: &failed.call.method,
                argument: &failed.call.argument,
                result: None,
            };
            let added = log.add(&recorded);
            added.map_err(|reason| Error::malformed(reason).at_line(u64::from(failed.line)))?;
            log.outcomes.push(Outcome::Aborted);
        }
        Ok(log)
    }

    /// Adds the steps of a transaction as a new row.
    fn add(&mut self, recorded: &Recorded<'_>) -> Result<(), String> {
        for step in recorded.steps()? {
            let key = intern(&mut self.keys, step.key);
            let action = match (step.action, &self.model) {
                (Recording::Write(value), Model::Registers { .. }) => {
                    Action::Write(intern(&mut self.values, value))
                }
                (Recording::Append(value), Model::Lists) => {
                    Action::Write(intern(&mut self.values, value))
                }
                (Recording::Unknown, _) => Action::ReadUnknown,
                (Recording::Read(value), Model::Registers { .. }) => {
                    Action::Read(intern(&mut self.values, value))
                }
                (Recording::Read(value), Model::Lists) => self.read_list(value)?,
                (Recording::Append(_), Model::Registers { .. }) => {
                    return Err("\"append\" is a step on lists, and this history is of registers: --type list-append, if it is one of lists".to_owned());
                }
                (Recording::Write(_), Model::Lists) => {
                    return Err("\"w\" is a step on registers, and this history is of lists: --type multi-register, if it is one of registers".to_owned());
                }
            };
            self.steps.push(Step { key, action });
        }
        self.steps.end_row();
        Ok(())
    }

    fn read_list(&mut self, value: &Value) -> Result<Action, String> {
        let list = match value {
            // An empty list stands as nil in some histories.
            Value::Nil => &[],
            Value::List(list) => list.as_slice(),
            other => {
                let other = other.to_string();
                return Err(format!("a read sees a list, not {}", shortened(&other)));
            }
        };
        let start = self.elements.len();
        let numbers = list.iter().map(|value| intern(&mut self.values, value));
        self.elements.extend(numbers);
        let too_many = |_| "the lists that were read have more than 2^32 elements".to_owned();
        Ok(Action::ReadList {
            start: u32::try_from(start).map_err(too_many)?,
            length: u32::try_from(list.len()).map_err(too_many)?,
        })
    }

    /// The number of transactions that may have committed: those before this number.
    pub(super) fn ops(&self) -> usize {
        self.history.len()
    }

    /// All transactions, those that failed too.
    pub(super) fn all(&self) -> impl Iterator<Item = Txn> + use<> {
        0..self.outcomes.len() as Txn
    }

    pub(super) fn outcome(&self, txn: Txn) -> Outcome {
        self.outcomes[txn as usize]
    }

    pub(super) fn steps(&self, txn: Txn) -> &[Step] {
        self.steps.row(txn as usize)
    }

    pub(super) fn list(&self, start: u32, length: u32) -> &[u32] {
        &self.elements[start as usize..][..length as usize]
    }

    pub(super) fn key_count(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn key(&self, key: u32) -> &Value {
        self.keys.get(key)
    }

    pub(super) fn value(&self, value: u32) -> &Value {
        self.values.get(value)
    }

    /// The transaction as an operation of the history; `None` if it failed.
    pub(super) fn op(&self, txn: Txn) -> Option<OpId> {
        ((txn as usize) < self.ops()).then_some(OpId(txn))
    }

    /// The transaction as one that failed; `None` if it did not.
    pub(super) fn failed(&self, txn: Txn) -> Option<&'h FailedOp> {
        let number = (txn as usize).checked_sub(self.ops())?;
        self.history.failed().get(number)
    }
}

/// The number of a value. It is copied only if it is new.
fn intern(table: &mut Interner<Value>, value: &Value) -> u32 {
    match table.find(value) {
        Some(number) => number,
        None => table.intern(value.clone()),
    }
}

/// A transaction as it stands in a history.
struct Recorded<'a> {
    method: &'a str,
    argument: &'a Value,
    result: Option<&'a Value>,
}

struct RecordedStep<'a> {
    key: &'a Value,
    action: Recording<'a>,
}

#[derive(Clone, Copy, PartialEq)]
enum Recording<'a> {
    Write(&'a Value),
    Append(&'a Value),
    Read(&'a Value),
    Unknown,
}

impl<'a> Recorded<'a> {
    fn steps(&self) -> Result<Vec<RecordedStep<'a>>, String> {
        match self.method {
            "txn" | "transaction" => self.of_list(),
            "read" | "r" => self.single_read(),
            "write" | "w" => self.single(Recording::Write),
            "append" => self.single(Recording::Append),
            other => Err(format!(
                "unknown method {other:?}: a transaction is txn([[\"r\", k, nil], [\"w\", k, v], [\"append\", k, v], ...]), or read(k), write([k, v]) or append([k, v])"
            )),
        }
    }

    fn single(
        &self,
        action: fn(&'a Value) -> Recording<'a>,
    ) -> Result<Vec<RecordedStep<'a>>, String> {
        match self.argument.as_list() {
            Some([key, value]) => Ok(vec![RecordedStep {
                key,
                action: action(value),
            }]),
            _ => Err(format!(
                "{} takes a key and a value, not {}",
                self.method, self.argument
            )),
        }
    }

    fn single_read(&self) -> Result<Vec<RecordedStep<'a>>, String> {
        let key = self.argument;
        if *key == Value::Nil {
            return Err(format!(
                "{} takes a key, and this one names none",
                self.method
            ));
        }
        let action = match self.result {
            None => Recording::Unknown,
            // The answer of a transaction with this step is understood too.
            Some(result) => match steps_of(result).as_deref() {
                Ok([step]) if step.key == key && matches!(step.action, Recording::Read(_)) => {
                    step.action
                }
                _ => Recording::Read(result),
            },
        };
        Ok(vec![RecordedStep { key, action }])
    }

    fn of_list(&self) -> Result<Vec<RecordedStep<'a>>, String> {
        let mut called = steps_of(self.argument)?;
        let Some(result) = self.result else {
            for step in &mut called {
                if let Recording::Read(_) = step.action {
                    step.action = Recording::Unknown;
                }
            }
            return Ok(called);
        };
        let reads = |step: &RecordedStep<'_>| matches!(step.action, Recording::Read(_));
        // A transaction without reads has only one possible answer, so the record may omit it.
        if matches!(result, Value::Nil | Value::Bool(true)) && !called.iter().any(reads) {
            return Ok(called);
        }
        let answered = steps_of(result)?;
        let fits = |(called, answered): (&RecordedStep<'_>, &RecordedStep<'_>)| {
            called.key == answered.key
                && match (called.action, answered.action) {
                    (Recording::Read(_), Recording::Read(_)) => true,
                    (called, answered) => called == answered,
                }
        };
        match called.len() == answered.len() && called.iter().zip(&answered).all(fits) {
            true => Ok(answered),
            false => {
                let result = result.to_string();
                Err(format!(
                    "{} is not an answer to the steps that the transaction asked for",
                    shortened(&result)
                ))
            }
        }
    }
}

fn steps_of(recorded: &Value) -> Result<Vec<RecordedStep<'_>>, String> {
    let not_a_list = || {
        let text = recorded.to_string();
        format!("a transaction is a list of steps, not {}", shortened(&text))
    };
    let steps = recorded.as_list().ok_or_else(not_a_list)?;
    steps.iter().map(step_of).collect()
}

fn step_of(recorded: &Value) -> Result<RecordedStep<'_>, String> {
    let malformed = || {
        let text = recorded.to_string();
        format!(
            "a step is [\"r\", key, nil], [\"w\", key, value] or [\"append\", key, value], not {}",
            shortened(&text)
        )
    };
    let (letter, key, value) = match recorded.as_list() {
        Some([letter, key]) => (letter, key, &Value::Nil),
        Some([letter, key, value]) => (letter, key, value),
        _ => return Err(malformed()),
    };
    let action = match letter.as_text().map(|text| text.trim_start_matches(':')) {
        Some("r" | "read") => Recording::Read(value),
        Some("w" | "write") => Recording::Write(value),
        Some("append") => Recording::Append(value),
        _ => return Err(malformed()),
    };
    Ok(RecordedStep { key, action })
}
