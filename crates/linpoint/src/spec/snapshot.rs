//! Atomic snapshots, with one writer for each entry or with several.

use super::{
    CallView, DecodeError, Kind, Outcomes, Recorded, RecordedOps, Role, Sampler, Simulated, Spec,
    Vocabulary, decode, words,
};
use crate::value::Value;

/// The most entries of an object whose states list them all; a larger number is a mistake.
pub(crate) const MOST_ENTRIES: usize = 1 << 16;

/// The most entries that [`Snapshot::fitted_to`] counts: sentences list fewer, and each answer takes the memory of all.
const MOST_FITTED: usize = 64;

/// A snapshot: updates change one entry, a scan sees all entries at once.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The processes that may update an entry.
    pub writers: Writers,
    /// How many entries there are. Without it, scans may answer as many as they like: entries that are left out at the
    /// end hold the initial value.
    pub processes: Option<usize>,
    /// What every entry holds at first.
    pub initial: Value,
}

/// The processes that may update an entry of a [`Snapshot`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Writers {
    /// The process with its number, which need not name it.
    Single,
    /// Any process; each update names the entry.
    Many,
}

/// An operation on a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SnapshotOp {
    /// Lets this entry hold the value; answers nil.
    Update(usize, Value),
    /// Answers the list of all entries.
    Scan,
}

impl Snapshot {
    /// Without the initial values at the end: one state for one behaviour.
    fn trim(&self, entries: &mut Vec<Value>) {
        while entries.last() == Some(&self.initial) {
            entries.pop();
        }
    }

    /// With the initial values at the end, as far as the number of entries is known.
    fn padded(&self, mut entries: Vec<Value>) -> Vec<Value> {
        let length = self.processes.unwrap_or(0).max(entries.len());
        entries.resize(length, self.initial.clone());
        entries
    }

    /// The answer of a scan that sees these entries.
    fn listed(&self, entries: Vec<Value>) -> Value {
        Value::list(self.padded(entries))
    }

    /// Whether a scan that sees these entries has this answer.
    fn lists(&self, entries: &[Value], answer: &Value) -> bool {
        let Some(answer) = answer.as_list() else {
            return false;
        };
        let length = self.processes.unwrap_or(0).max(entries.len());
        let rest = &answer[entries.len().min(answer.len())..];
        answer.len() == length
            && answer.starts_with(entries)
            && rest.iter().all(|value| *value == self.initial)
    }

    /// How many entries a recorded operation shows that there are, at least.
    fn shown_entries(&self, call: CallView<'_>, result: Option<&Value>) -> usize {
        match self.decode(call) {
            Ok(SnapshotOp::Update(entry, _)) => entry + 1,
            Ok(SnapshotOp::Scan) => result.and_then(Value::as_list).map_or(0, <[_]>::len),
            Err(_) => 0,
        }
    }

    fn entry(&self, number: &Value) -> Result<usize, DecodeError> {
        let entries = self.processes.unwrap_or(MOST_ENTRIES).min(MOST_ENTRIES);
        number
            .as_int()
            .and_then(|i| usize::try_from(i).ok())
            .filter(|&i| i < entries)
            .ok_or_else(|| format!("there is no entry {number} among {entries}").into())
    }
}

impl Spec for Snapshot {
    type Op = SnapshotOp;
    type Ret = Value;
    /// The entries, without the initial values at the end.
    type State = Vec<Value>;

    fn init(&self) -> Vec<Value> {
        Vec::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the snapshot",
            put: "written",
            taken: "overwritten",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        match state.as_slice() {
            [] if self.processes.is_none() => {
                format!("the snapshot held only {}", self.initial)
            }
            entries => {
                let entries = self.padded(entries.to_vec());
                words::members("the snapshot", &entries)
            }
        }
    }

    fn state_value(&self, state: &Vec<Value>) -> Value {
        self.listed(state.clone())
    }

    fn apply(&self, state: &Vec<Value>, op: &SnapshotOp) -> Outcomes<Value, Vec<Value>> {
        match op {
            SnapshotOp::Update(i, value) => {
                let mut next = state.clone();
                next.resize(state.len().max(i + 1), self.initial.clone());
                next[*i] = value.clone();
                self.trim(&mut next);
                Outcomes::One(Value::Nil, next)
            }
            SnapshotOp::Scan => Outcomes::One(self.listed(state.clone()), state.clone()),
        }
    }

    fn step(&self, state: &Vec<Value>, op: &SnapshotOp, ret: Option<&Value>) -> Vec<Vec<Value>> {
        match op {
            // The answer need not be built to be compared.
            SnapshotOp::Scan if ret.is_none_or(|ret| self.lists(state, ret)) => vec![state.clone()],
            SnapshotOp::Scan => Vec::new(),
            SnapshotOp::Update(..) => self.apply(state, op).answering(ret),
        }
    }

    fn is_pure(&self, op: &SnapshotOp, _: Option<&Value>) -> bool {
        matches!(op, SnapshotOp::Scan)
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Snapshot(self.initial.clone()))
    }

    fn role(&self, op: &SnapshotOp, ret: Option<&Value>) -> Role {
        let noted = |value: &Value| (*value != self.initial).then(|| value.clone());
        match op {
            SnapshotOp::Update(entry, value) => Role::Updates {
                entry: *entry as u32,
                value: noted(value),
            },
            SnapshotOp::Scan => ret
                .and_then(Value::as_list)
                .map_or(Role::Opaque, |entries| {
                    Role::Scans(entries.iter().map(noted).collect())
                }),
        }
    }
}

impl Recorded for Snapshot {
    const FITS_SLOWLY: bool = true;

    const DEPENDS_ON_PROCESS: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<SnapshotOp, DecodeError> {
        match (call.method, call.argument.as_list()) {
            ("scan" | "read", _) => call.takes_nothing(SnapshotOp::Scan),
            ("update" | "write", Some([i, value])) => {
                Ok(SnapshotOp::Update(self.entry(i)?, value.clone()))
            }
            ("update" | "write", None) if self.writers == Writers::Single => Ok(
                SnapshotOp::Update(self.entry(call.process)?, call.argument.clone()),
            ),
            ("update" | "write", _) => {
                let wanted = match self.writers {
                    Writers::Single => "a value or [entry, value]",
                    Writers::Many => "[entry, value]",
                };
                Err(format!("{} takes {wanted}, not {}", call.method, call.argument).into())
            }
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &SnapshotOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            SnapshotOp::Update(i, value) => decode::done(result, &[&Value::Int(*i as i64), value]),
            SnapshotOp::Scan => {
                let mut entries = result
                    .as_list()
                    .ok_or_else(|| format!("scan answers a list, not {result}"))?
                    .to_vec();
                self.trim(&mut entries);
                match self.processes {
                    Some(n) if entries.len() > n => {
                        Err(format!("scan answers {n} entries, not {result}").into())
                    }
                    _ => Ok(self.listed(entries)),
                }
            }
        }
    }

    fn fitted_to(&self, history: RecordedOps<'_, '_>) -> Option<Self> {
        if self.processes.is_some() {
            return None;
        }
        let entries = history
            .map(|(call, result)| self.shown_entries(call, result))
            .max()?;
        (1..=MOST_FITTED).contains(&entries).then(|| Snapshot {
            processes: Some(entries),
            ..self.clone()
        })
    }
}

impl Simulated for Snapshot {
    fn sample(&self, _: &Vec<Value>, process: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        /// The number of entries that random clients update if the snapshot has no given number.
        const ENTRIES: usize = 4;
        match self.writers {
            Writers::Single if self.entry(&Value::Int(process.into())).is_err() => {}
            Writers::Single if sampler.percent(50) => return ("update", sampler.value()),
            Writers::Many if sampler.percent(50) => {
                let entry = sampler.below(self.processes.unwrap_or(ENTRIES));
                let argument = Value::list([Value::Int(entry as i64), sampler.value()]);
                return ("update", argument);
            }
            _ => {}
        }
        ("scan", Value::Nil)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        let updates = "scan() [0, 0, 0] \n update([1, 5]) null \n update(7) 7 \n";
        let initial = Value::Int(0);
        run(
            &Snapshot {
                writers: Writers::Single,
                processes: Some(3),
                initial: initial.clone(),
            },
            &format!("{updates} scan() [7, 5, 0] \n update([1, 0]) null \n scan() [7, 0, 0]"),
        );
        run(
            &Snapshot {
                writers: Writers::Single,
                processes: None,
                initial,
            },
            &format!("{updates} scan() [7, 5] \n scan() [7, 5, 0, 0]"),
        );
    }

    #[test]
    fn entries_that_do_not_exist_are_refused() {
        let mut snapshot = Snapshot {
            writers: Writers::Single,
            processes: Some(2),
            initial: Value::Nil,
        };
        for argument in [Value::list([2.into(), 0.into()]), Value::Int(5)] {
            let call = CallView {
                process: &Value::Int(2),
                method: "update",
                argument: &argument,
                hint: None,
            };
            assert!(snapshot.decode(call).is_err());
        }
        snapshot.writers = Writers::Many;
        let call = CallView {
            process: &Value::Int(0),
            method: "update",
            argument: &Value::Int(5),
            hint: None,
        };
        let refused = snapshot.decode(call).unwrap_err();
        assert_eq!(refused, "update takes [entry, value], not 5".into());
    }
}
