//! A snapshot: updates of entries, and scans of all of them.
//!
//! **Decides**, at the first event that cannot be explained, by [`General`]. Updates of one entry must not overlap, and an
//! entry may be given a value again once no open scan can show the earlier one.
//!
//! **Cost:** for each return of a scan, the entries, and a search among the scans that are remembered. **Memory:** for each
//! entry the values, and the different scans, since the oldest open scan began. An update with what the entry holds already is
//! not remembered, so where entries change once, memory does not grow.

use std::collections::HashMap;

use super::{Online, Op, Stop, Time};
use crate::engine::monitor::snapshot::{Effect, Fault, General, Scanning, Unclear};
use crate::spec::Role;
use crate::value::Value;

/// A monitor of a snapshot.
pub(super) struct Snapshot {
    initial: Value,
    /// `None` is the initial value.
    general: General<Option<Value>, Op>,
    /// What is open, by the times of the calls.
    open: HashMap<Time, Open>,
}

enum Open {
    Update(u32, Effect),
    Scan(Scanning<Op>),
}

impl Snapshot {
    pub(super) fn new(initial: Value) -> Self {
        Snapshot {
            initial,
            general: General::new(None),
            open: HashMap::new(),
        }
    }

    fn violation(&self, fault: &Fault<Op>) -> Stop {
        let returned = |scan: &Op, entry: u32| {
            let entries = scan.result().and_then(Value::as_list).unwrap_or_default();
            let value = entries.get(entry as usize).unwrap_or(&self.initial);
            value.to_string()
        };
        let sentence = fault.sentence(Op::clone, returned);
        Stop::violation(&fault.scan, fault.others().into_iter().cloned(), sentence)
    }
}

impl Online for Snapshot {
    fn call(&mut self, op: &Op) -> Result<(), Stop> {
        let open = match &op.promise {
            Role::Updates { entry, value } => {
                let called = self
                    .general
                    .call_update(Op::clone(op), *entry, value.clone());
                let effect = called.map_err(|unclear| {
                    Stop::cannot_tell(match unclear {
                        Unclear::Overlap(entry) => {
                            format!("{op} overlaps another update of entry {entry}")
                        }
                        Unclear::Repeated(entry) => format!(
                            "{op} gives entry {entry} a value again that an open scan may still show from before"
                        ),
                    })
                })?;
                Open::Update(*entry, effect)
            }
            _ => Open::Scan(self.general.call_scan(Op::clone(op))),
        };
        self.open.insert(op.called, open);
        Ok(())
    }

    fn ret(&mut self, op: &Op, role: &Role, _: Time) -> Result<(), Stop> {
        match (self.open.remove(&op.called), role) {
            (Some(Open::Update(entry, _)), _) => {
                self.general.return_update(entry);
                self.general.forget_updates(entry);
            }
            (Some(Open::Scan(scan)), Role::Scans(values)) => {
                let returned = self.general.return_scan(scan, values);
                returned.map_err(|fault| self.violation(&fault))?;
                self.general.forget();
            }
            _ => {}
        }
        Ok(())
    }

    fn fail(&mut self, op: &Op, _: Time) -> Result<(), Stop> {
        match self.open.remove(&op.called) {
            Some(Open::Update(entry, effect)) => {
                self.general.undo_update(entry, effect).map_err(|scan| {
                    let sentence = format!(
                        "{scan} has in entry {entry} what {op} was to write, which did not happen"
                    );
                    Stop::violation(&scan, [Op::clone(op)], sentence)
                })
            }
            Some(Open::Scan(scan)) => {
                self.general.drop_scan(&scan);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn crash(&mut self, op: &Op) {
        // An update may still take effect at any time.
        if let Some(Open::Scan(scan)) = self.open.remove(&op.called) {
            self.general.drop_scan(&scan);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Notice, Watcher};
    use super::*;
    use crate::history::Call;
    use crate::object::object_type;

    /// A watcher, and what happens to it: `process` calls and returns.
    fn watcher() -> Watcher {
        Watcher::new(object_type("snapshot", &Default::default()).unwrap()).unwrap()
    }

    fn run(watcher: &mut Watcher, process: i64, call: Call, result: Value) -> Option<Notice> {
        assert!(watcher.call(0, process.into(), call).unwrap().is_none());
        watcher.ret(0, &process.into(), result).unwrap()
    }

    #[test]
    fn violations_are_told_in_words() {
        let mut watcher = watcher();
        run(&mut watcher, 1, Call::new("update", 1), Value::Nil);
        let scan = run(
            &mut watcher,
            4,
            Call::new("scan", Value::Nil),
            Value::list([]),
        );
        let Some(Notice::Violation(violation)) = scan else {
            panic!("missed")
        };
        assert_eq!(
            violation.sentence,
            "scan() → [] by process 4 has 0 in entry 1, although update(1) by process 1 had finished \
             before the scan began (appropriateness)"
        );
    }

    #[test]
    fn memory_does_not_grow() {
        let mut general: General<u32, u32> = General::new(0);
        let mut most = 0;
        for round in 0..1000 {
            for entry in 0..4 {
                general
                    .call_update(round, entry, u32::from(round > 500))
                    .unwrap();
                let scan = general.call_scan(round);
                general.return_update(entry);
                general.forget_updates(entry);
                let ones = if round > 500 { entry + 1 } else { 0 };
                let more = if round > 501 { 4 } else { ones };
                general
                    .return_scan(scan, &vec![1; more.max(ones) as usize])
                    .unwrap();
                general.forget();
                most = most.max(general.remembered());
            }
        }
        assert!(most < 15, "{most}");
    }
}
