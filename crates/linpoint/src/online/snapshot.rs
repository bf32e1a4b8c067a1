//! A snapshot: updates of entries, and scans of all of them.
//!
//! **Decides**, at the first event that cannot be explained, by [`General`]. Updates of one entry must not overlap, and an
//! entry may be given a value again once no open scan can show the earlier one.
//!
//! **Cost:** for each return of a scan, the entries, and a search among the scans that are remembered. **Memory:** for each
//! entry the values, and the different scans, since the oldest open scan began. An update with what the entry holds already is
//! not remembered, so where entries change once, memory does not grow. That is enough: a scan that begins later sees only the
//! current values or later ones. Ours.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Observable, Online, Op, Stop, Time};
use crate::claim::Claim;
use crate::engine::monitor::snapshot::{
    Fault, FaultKind, General, Scanning, Unclear, UpdateEffect,
};
use crate::spec::Role;
use crate::value::Value;

/// A monitor of a snapshot.
pub(super) struct Snapshot<O: Observable> {
    initial: Value,
    /// Tells what a scan returned, to explain a violation.
    object: Arc<O>,
    /// `None` is the initial value.
    general: General<Option<Value>, Op<O>>,
    /// What is open, by the times of the calls.
    open: HashMap<Time, Open<O>>,
}

enum Open<O: Observable> {
    Update(u32, UpdateEffect),
    Scan(Scanning<Op<O>>),
}

impl<O: Observable> Snapshot<O> {
    pub(super) fn new(initial: Value, object: Arc<O>) -> Self {
        Snapshot {
            initial,
            object,
            general: General::new(None),
            open: HashMap::new(),
        }
    }

    /// What a scan shows in an entry.
    fn shown(&self, scan: &Op<O>, entry: u32) -> Value {
        let facts = self.object.facts(&scan.process, &scan.call, scan.result());
        let value = match facts.map(|facts| facts.role) {
            Ok(Role::Scans(values)) => values.into_iter().nth(entry as usize).flatten(),
            _ => None,
        };
        value.unwrap_or_else(|| self.initial.clone())
    }

    fn violation(&self, fault: Fault<Op<O>>) -> Stop<O> {
        let compared = fault.compared();
        Stop::violation(Claim::WrongScan {
            shown: self.shown(&fault.scan, fault.entry),
            compared: compared.map_or(Value::Nil, |(scan, entry)| self.shown(scan, entry)),
            fault,
        })
    }
}

impl<O: Observable> Online<O> for Snapshot<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        let open = match &op.pending_role {
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

    fn ret(&mut self, op: &Op<O>, role: &Role, _: Time) -> Result<(), Stop<O>> {
        match (self.open.remove(&op.called), role) {
            (Some(Open::Update(entry, _)), _) => {
                self.general.return_update(entry);
                self.general.forget_updates(entry);
            }
            (Some(Open::Scan(scan)), Role::Scans(values)) => {
                let returned = self.general.return_scan(scan, values);
                returned.map_err(|fault| self.violation(fault))?;
                self.general.forget();
            }
            _ => {}
        }
        Ok(())
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        match self.open.remove(&op.called) {
            Some(Open::Update(entry, effect)) => {
                let undone = self.general.undo_update(entry, effect);
                undone.map_err(|scan| {
                    let fault = Fault {
                        scan,
                        entry,
                        kind: FaultKind::Future { forgets: false },
                    };
                    self.violation(fault).since_failed(op)
                })
            }
            Some(Open::Scan(scan)) => {
                self.general.drop_scan(&scan);
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn crash(&mut self, op: &Op<O>) {
        // An update may still take effect at any time.
        if let Some(Open::Scan(scan)) = self.open.remove(&op.called) {
            self.general.drop_scan(&scan);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Finding, OnlineChecker};
    use super::*;
    use crate::history::Call;
    use crate::object::{ObjectType, object_type};

    fn checker() -> OnlineChecker<ObjectType> {
        OnlineChecker::new(object_type("snapshot", &Default::default()).unwrap()).unwrap()
    }

    /// `process` calls, and returns at once.
    fn run(
        checker: &mut OnlineChecker<ObjectType>,
        process: i64,
        call: Call,
        result: Value,
    ) -> Option<Finding<ObjectType>> {
        assert!(checker.call(process.into(), call).unwrap().is_none());
        checker.ret(process.into(), result).unwrap()
    }

    #[test]
    fn violations_are_told_in_words() {
        let mut checker = checker();
        run(&mut checker, 1, Call::new("update", 1), Value::Nil);
        let scan = run(
            &mut checker,
            4,
            Call::new("scan", Value::Nil),
            Value::list([]),
        );
        let Some(Finding::Violation(violation)) = scan else {
            panic!("missed")
        };
        assert_eq!(
            violation.sentence(),
            "scan() → [] by process 4 has 0 in entry 1, although update(1) by process 1 had finished \
             before the scan began"
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
