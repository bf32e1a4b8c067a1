//! A read/write register, with or without compare-and-set.

use super::{
    CallView, DecodeError, Kind, Outcomes, Pattern, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, decode,
};
use crate::value::Value;

/// A register: `read`, `write(v)`, and `cas(from, to)` where allowed.
#[derive(Clone, Debug)]
pub struct Register {
    /// What it holds at first.
    pub initial: Value,
    /// Whether it has `cas`.
    pub cas: bool,
}

/// An operation on a [`Register`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterOp {
    /// Answers what the register holds.
    Read,
    /// Puts a value in; answers nil.
    Write(Value),
    /// Puts the second value in if the register holds the first; answers whether it did.
    Cas(Value, Value),
}

/// The value after `op` if it can have this result.
fn left_by<'v>(held: &'v Value, op: &'v RegisterOp, ret: Option<&Value>) -> Option<&'v Value> {
    let answers = |answer: &Value| ret.is_none_or(|ret| ret == answer);
    match op {
        RegisterOp::Read if answers(held) => Some(held),
        RegisterOp::Write(value) if answers(&Value::Nil) => Some(value),
        RegisterOp::Cas(from, to) if from == held && answers(&Value::Bool(true)) => Some(to),
        RegisterOp::Cas(from, _) if from != held && answers(&Value::Bool(false)) => Some(held),
        _ => None,
    }
}

impl Spec for Register {
    type Op = RegisterOp;
    type Ret = Value;
    type State = Value;

    fn init(&self) -> Value {
        self.initial.clone()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the register",
            put: "written",
            taken: "overwritten",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        format!("the register held {state}")
    }

    fn state_value(&self, state: &Value) -> Value {
        state.clone()
    }

    fn apply(&self, state: &Value, op: &RegisterOp) -> Outcomes<Value, Value> {
        match op {
            RegisterOp::Read => Outcomes::One(state.clone(), state.clone()),
            RegisterOp::Write(value) => Outcomes::One(Value::Nil, value.clone()),
            RegisterOp::Cas(from, to) if from == state => {
                Outcomes::One(Value::Bool(true), to.clone())
            }
            RegisterOp::Cas(..) => Outcomes::One(Value::Bool(false), state.clone()),
        }
    }

    fn step(&self, state: &Value, op: &RegisterOp, ret: Option<&Value>) -> Vec<Value> {
        Vec::from_iter(left_by(state, op, ret).cloned())
    }

    fn step_into(&self, state: Value, op: &RegisterOp, ret: Option<&Value>, next: &mut Vec<Value>) {
        next.extend(left_by(&state, op, ret).cloned());
    }

    fn is_pure(&self, op: &RegisterOp, ret: Option<&Value>) -> bool {
        match op {
            RegisterOp::Read => true,
            RegisterOp::Write(_) => false,
            RegisterOp::Cas(from, to) => from == to || ret == Some(&Value::Bool(false)),
        }
    }

    fn state_after(&self, op: &RegisterOp, ret: &Value) -> Option<Value> {
        match op {
            RegisterOp::Read => Some(ret.clone()),
            RegisterOp::Write(value) => Some(value.clone()),
            RegisterOp::Cas(_, to) => (*ret == Value::Bool(true)).then(|| to.clone()),
        }
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(self.initial.clone()))
    }

    fn role(&self, op: &RegisterOp, ret: Option<&Value>) -> Role {
        match (op, ret) {
            (RegisterOp::Read, Some(value)) => Role::reads(value.clone()),
            (RegisterOp::Read, None) => Role::Opaque,
            (RegisterOp::Write(value), _) => Role::writes(value.clone()),
            (RegisterOp::Cas(from, _), Some(Value::Bool(false))) => Role::differs(from.clone()),
            // A pending operation that fails has no effect, so only its success counts.
            (RegisterOp::Cas(from, to), _) => Role::replaces(from.clone(), to.clone()),
        }
    }
}

impl Recorded for Register {
    fn decode(&self, call: CallView<'_>) -> Result<RegisterOp, DecodeError> {
        match (call.method, call.argument) {
            ("read" | "get", Value::Nil) => Ok(RegisterOp::Read),
            ("read" | "get", _) => Err("read takes no argument".into()),
            ("write" | "set" | "put", value) => Ok(RegisterOp::Write(value.clone())),
            ("cas" | "compare_and_set", argument) if self.cas => match argument.as_list() {
                Some([from, to]) => Ok(RegisterOp::Cas(from.clone(), to.clone())),
                _ => Err(format!("cas takes two values, [from, to], not {argument}").into()),
            },
            (_, _) => call.unknown(),
        }
    }

    fn decode_result(&self, op: &RegisterOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            RegisterOp::Read => Ok(result.clone()),
            RegisterOp::Write(value) => decode::done(result, &[value]),
            RegisterOp::Cas(..) => decode::truth(result),
        }
    }

    fn pattern(&self, method: &str) -> Option<Pattern> {
        match method {
            "read" | "get" => Some(Pattern::Reads),
            "write" | "set" | "put" => Some(Pattern::Writes),
            _ => None,
        }
    }
}

impl Simulated for Register {
    fn sample(&self, _: &Value, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        match sampler.below(if self.cas { 3 } else { 2 }) {
            0 => ("read", Value::Nil),
            1 => ("write", sampler.value()),
            _ => ("cas", Value::list([sampler.guess(), sampler.value()])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    fn register() -> Register {
        Register {
            initial: Value::Nil,
            cas: true,
        }
    }

    #[test]
    fn sequential_behaviour() {
        run(
            &register(),
            r#"
            read() null
            write(1) null
            write(2) 2
            write("a") "ok"
            write(3) true
            read() 3
            cas([3, 4]) true
            cas([3, 5]) false
            read() 4
            "#,
        );
    }

    #[test]
    fn a_write_that_failed_is_not_taken_for_done() {
        let write = RegisterOp::Write(Value::Int(1));
        for result in ["error: timeout".into(), Value::Bool(false), Value::Int(2)] {
            let decoded = register().decode_result(&write, &result);
            assert!(decoded.is_err(), "{result}");
        }
    }
}
