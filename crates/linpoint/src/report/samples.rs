//! Histories for tests.

use crate::history::TypedHistory;
use crate::spec::{Register, RegisterOp, Sampler};
use crate::value::Value;

/// A register with the initial value nil.
pub(super) fn register() -> Register {
    Register {
        initial: Value::Nil,
        cas: false,
    }
}

/// A random history of a register: reads and writes of three processes, with random results.
pub(super) fn random(seed: u64) -> TypedHistory<RegisterOp, Value> {
    let mut sampler = Sampler::new(seed, Some(2));
    let mut history = TypedHistory::new();
    let mut open = [None; 3];
    for _ in 0..12 {
        let process = sampler.below(open.len());
        match open[process].take() {
            Some((op, is_read)) => {
                let answer = if is_read { sampler.value() } else { Value::Nil };
                history.ret(op, answer);
            }
            None => {
                let is_read = sampler.percent(50);
                let op = if is_read {
                    RegisterOp::Read
                } else {
                    RegisterOp::Write(sampler.value())
                };
                open[process] = Some((history.call(process as u32, op), is_read));
            }
        }
    }
    history
}
