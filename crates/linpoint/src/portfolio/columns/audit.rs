//! Compares what was read off the columns of a history with the specification.
//!
//! Patterns say what methods do, and the monitors believe them. To notice a pattern, or a reader, that is wrong:
//!
//! * the calls and results of a [sample](sample_size) of the operations are decoded, and the roles that the specification gives
//!   them must be what was read. The sample is spread evenly over the operations; the first operation of each method and all
//!   operations of a contradiction are compared too.
//! * as many operations at the beginning of every witness are replayed on the specification itself. The whole witness is
//!   replayed on integers (`verdict/replay.rs`).
//!
//! What does not agree is a bug, of linpoint or of a specification whose patterns break their contract, never a verdict.

use super::Gathered;
use crate::engine::Task;
use crate::engine::monitor::{Effect, Monitor};
use crate::error::Error;
use crate::history::{EventKind, History, OpId, TypedHistory, decode_action, events_in_order};
use crate::spec::{Recorded, Role};
use crate::value::Value;
use crate::verdict::certify;

/// How many operations of an object with `len` of them are compared: all of few, and a 128th of many, which adds little to the
/// time of a verdict.
fn sample_size(len: usize) -> usize {
    const FEW: usize = 256;
    match len {
        ..=FEW => len,
        _ => (len / 128).clamp(16, 1024),
    }
}

/// What the value column of a log stands for.
pub(super) enum Column {
    /// The value that an operation adds, removes, writes or sees.
    Value,
    /// The key of a slot, which holds one of two values.
    Key {
        /// The value that each key holds at first.
        initial: Value,
    },
}

/// What is asked of the specification of a recorded object. Without its type, columns are read and decided by code that is
/// compiled once.
pub(super) trait Described: Sync {
    /// The role of an operation.
    fn role_of(&self, history: &History, id: OpId) -> Result<Role, Error>;

    /// The key of an operation.
    fn key_of(&self, history: &History, id: OpId) -> Result<Option<Value>, Error>;

    /// Replays `order` on the specification. Each operation of it is a place in `ops`, and has a call and a return there.
    fn replay(&self, history: &History, ops: &[Timed], order: &[OpId]) -> Result<(), Error>;
}

/// An operation of a replay.
pub(super) struct Timed {
    id: OpId,
    call: u32,
    ret: u32,
}

impl<S: Recorded> Described for S {
    fn role_of(&self, history: &History, id: OpId) -> Result<Role, Error> {
        let action = decode_action(self, history, id)?;
        Ok(self.role(&action.op, action.ret.as_ref()))
    }

    fn key_of(&self, history: &History, id: OpId) -> Result<Option<Value>, Error> {
        let action = decode_action(self, history, id)?;
        Ok(self.key(&action.op))
    }

    fn replay(&self, history: &History, ops: &[Timed], order: &[OpId]) -> Result<(), Error> {
        let calls: Vec<u32> = ops.iter().map(|op| op.call).collect();
        let rets: Vec<u32> = ops.iter().map(|op| op.ret).collect();
        let mut results = vec![None; ops.len()];
        // A history of these operations alone.
        let mut typed = TypedHistory::new();
        for (op, kind) in events_in_order(&calls, &rets) {
            match kind {
                EventKind::Call => {
                    let action = decode_action(self, history, ops[op as usize].id)?;
                    typed.call(op, action.op);
                    results[op as usize] = action.ret;
                }
                EventKind::Return => {
                    if let Some(result) = results[op as usize].take() {
                        typed.ret(OpId(op), result);
                    }
                }
            }
        }
        let ids: Vec<OpId> = (0..ops.len() as u32).map(OpId).collect();
        certify::witness(&Task::new(self, &typed, &ids), order)
    }
}

/// What is needed for the comparison.
pub(super) struct Audit<'a, M> {
    pub(super) object: &'a dyn Described,
    pub(super) history: &'a History,
    pub(super) monitor: &'a M,
    pub(super) column: &'a Column,
}

impl<M: Monitor> Audit<'_, M>
where
    M::Act: PartialEq,
{
    /// Compares a sample of the operations of an object.
    pub(super) fn sample(&self, of: &Gathered<M::Act>) -> Result<(), Error> {
        let len = of.log.len();
        let step = (len / sample_size(len).max(1)).max(1);
        let spread = (0..len as u32).step_by(step);
        self.compare(of, spread.chain(self.first_of_methods(of)))
    }

    /// The first operation of each method that the object has: patterns are those of methods.
    fn first_of_methods(&self, of: &Gathered<M::Act>) -> Vec<u32> {
        let mut unseen = vec![true; self.history.methods().len()];
        let is_first = |op: &u32| {
            let method = self.history.method_column()[of.id(*op).index()];
            std::mem::take(&mut unseen[method.0 as usize])
        };
        let ops = 0..of.log.len() as u32;
        ops.filter(is_first)
            .take(self.history.methods().len())
            .collect()
    }

    /// Compares the operations at these positions of a log.
    pub(super) fn compare(
        &self,
        of: &Gathered<M::Act>,
        ops: impl Iterator<Item = u32>,
    ) -> Result<(), Error> {
        for op in ops {
            let id = of.id(op);
            let read = (of.log.acts[op as usize], of.value(op));
            if !self.agrees(id, read)? {
                let recorded = self.history.op(id);
                return Err(Error::bug(format!(
                    "the pattern of {:?} does not fit its specification",
                    recorded.text()
                )));
            }
        }
        Ok(())
    }

    /// Whether the specification says the same of an operation as was read.
    fn agrees(&self, id: OpId, (act, number): (M::Act, u32)) -> Result<bool, Error> {
        let role = self.object.role_of(self.history, id)?;
        let value = &*self.history.value(number);
        let (effect, is_value_right) = match self.column {
            Column::Value => {
                // The number may be any where the role has no value.
                let mut is_right = true;
                let effect = Effect::of(role, |named| {
                    is_right &= named == *value;
                    number
                });
                (effect, is_right)
            }
            Column::Key { initial } => {
                let key = self.object.key_of(self.history, id)?;
                let effect = Effect::of(role, |held| u32::from(held != *initial));
                (effect, key.as_ref() == Some(value))
            }
        };
        let reading = self.monitor.read(effect);
        Ok(is_value_right && reading.is_ok_and(|reading| reading.act == act))
    }

    /// Replays the beginning of a witness on the specification. The caller must have checked that the witness obeys real time.
    pub(super) fn replay(&self, of: &Gathered<M::Act>, order: &[u32]) -> Result<(), Error> {
        let mut ops: Vec<u32> = order[..sample_size(order.len())].to_vec();
        ops.sort_unstable();
        let timed = ops.iter().map(|&op| Timed {
            id: of.id(op),
            call: of.log.calls[op as usize],
            ret: of.log.rets[op as usize],
        });
        let timed: Vec<Timed> = timed.collect();
        let begin = order.iter().take(ops.len()).map(|op| {
            let place = ops.partition_point(|other| other < op);
            OpId(place as u32)
        });
        let begin: Vec<OpId> = begin.collect();
        self.object.replay(self.history, &timed, &begin)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ByColumns, check};
    use super::*;
    use crate::engine::Budget;
    use crate::history::{Call, HistoryBuilder, Operation, Ties};
    use crate::portfolio::Config;
    use crate::spec::{
        CallView, Container, ContainerOp, DecodeError, Discipline, Kind, Outcomes, Pattern, Role,
        Spec,
    };
    use std::collections::VecDeque;

    /// A queue whose peeks are said to have this pattern.
    struct Peeked(Pattern);

    const QUEUE: Container = Container {
        discipline: Discipline::Fifo,
        capacity: None,
    };

    impl Spec for Peeked {
        type Op = ContainerOp;
        type Ret = Value;
        type State = VecDeque<Value>;

        fn init(&self) -> Self::State {
            QUEUE.init()
        }

        fn apply(&self, state: &Self::State, op: &ContainerOp) -> Outcomes<Value, Self::State> {
            QUEUE.apply(state, op)
        }

        fn kind(&self) -> Option<Kind> {
            QUEUE.kind()
        }

        fn role(&self, op: &ContainerOp, ret: Option<&Value>) -> Role {
            QUEUE.role(op, ret)
        }
    }

    impl Recorded for Peeked {
        fn decode(&self, call: CallView<'_>) -> Result<ContainerOp, DecodeError> {
            QUEUE.decode(call)
        }

        fn decode_result(&self, op: &ContainerOp, result: &Value) -> Result<Value, DecodeError> {
            QUEUE.decode_result(op, result)
        }

        fn pattern(&self, method: &str) -> Option<Pattern> {
            match method {
                "peek" => Some(self.0),
                _ => QUEUE.pattern(method),
            }
        }
    }

    /// Values 0 to `values` are added, one after the other; the first is peeked at the end.
    fn history(values: i64) -> History {
        let mut builder = HistoryBuilder::new();
        let adds = (0..values).map(|i| (Call::new("enq", i), Value::Nil));
        let peek = (Call::new("peek", Value::Nil), Value::Int(0));
        for (i, (call, result)) in (0..).zip(adds.chain([peek])) {
            let operation = Operation {
                process: Some(Value::Int(0)),
                call,
                result,
                called: 2 * i,
                returned: Some(2 * i + 1),
            };
            builder.operation(0, operation).unwrap();
        }
        builder.finish(Ties::default()).unwrap()
    }

    fn check_peeks(pattern: Pattern, values: i64, config: Config) -> Result<ByColumns, Error> {
        let budget = Budget::new(None, None);
        check(&Peeked(pattern), &history(values), &config, &budget)
    }

    #[test]
    fn a_wrong_pattern_is_a_bug_and_no_verdict() {
        for values in [1, 5, 2_000] {
            for config in [Config::default(), Config::default().without_witnesses()] {
                let right = check_peeks(Pattern::Peeks, values, config.clone());
                assert!(matches!(right, Ok(ByColumns::Linearizable(_))));
                // Both explain the history, so that no replay of what was read could notice.
                let wrong = check_peeks(Pattern::Removes, values, config);
                let Err(error) = wrong else {
                    panic!("a pattern that is wrong is believed");
                };
                assert!(error.to_string().contains("pattern"), "{error}");
            }
        }
    }
}
