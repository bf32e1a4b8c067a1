//! Registers with transactions that read and write several at once.

use super::{
    AtPlace, CallView, DecodeError, Entries, Need, Outcomes, Recorded, Role, Sampler, Simulated,
    Spec, Vocabulary,
};
use crate::value::Value;

/// Registers by key, with transactions over them.
#[derive(Clone, Debug)]
pub struct MultiRegister {
    /// What every register holds at first.
    pub initial: Value,
}

/// A step of a transaction; a transaction is a list of these.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MicroOp {
    /// Sees what the register holds, after the earlier steps of the same transaction.
    Read(Value),
    /// The same as the only step of an operation that answers the value itself.
    Get(Value),
    /// Lets the register hold the value.
    Write(Value, Value),
}

impl MicroOp {
    fn key(&self) -> &Value {
        match self {
            MicroOp::Read(key) | MicroOp::Get(key) | MicroOp::Write(key, _) => key,
        }
    }

    /// The step as it stands in a transaction's answer: `["r", key, value]` or `["w", key, value]`.
    fn answer(&self, seen: Value) -> Value {
        let letter = match self {
            MicroOp::Read(_) | MicroOp::Get(_) => "r",
            MicroOp::Write(..) => "w",
        };
        Value::list([letter.into(), self.key().clone(), seen])
    }
}

/// A recorded step together with its value, which for a read is what it saw.
fn micro_op(recorded: &Value) -> Result<(MicroOp, Value), DecodeError> {
    let malformed =
        || format!("a step is [\"r\", key, nil] or [\"w\", key, value], not {recorded}");
    let (letter, key, value) = match recorded.as_list() {
        Some([letter, key]) => (letter, key, &Value::Nil),
        Some([letter, key, value]) => (letter, key, value),
        _ => return Err(malformed().into()),
    };
    let op = match letter.as_text().map(|text| text.trim_start_matches(':')) {
        Some("r" | "read") => MicroOp::Read(key.clone()),
        Some("w" | "write") => MicroOp::Write(key.clone(), value.clone()),
        Some("append") => {
            return Err("\"append\" is a step of a transaction on lists, which type multi-register does not have: isolation levels are \
                        decided of them, by `linpoint check --condition strict-serializable` or another level"
                .into());
        }
        Some("send" | "poll") => {
            return Err(format!(
                "{recorded} is a step on logs with sends and polls, which type kafka-log decides"
            )
            .into());
        }
        _ => return Err(malformed().into()),
    };
    Ok((op, value.clone()))
}

fn steps(recorded: &Value) -> Result<Vec<(MicroOp, Value)>, DecodeError> {
    recorded
        .as_list()
        .ok_or_else(|| format!("a transaction is a list of steps, not {recorded}"))?
        .iter()
        .map(micro_op)
        .collect()
}

impl Spec for MultiRegister {
    type Op = Vec<MicroOp>;
    type Ret = Value;
    /// What the registers hold that do not hold the initial value.
    type State = Entries;

    fn init(&self) -> Entries {
        Entries::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the registers",
            put: "written",
            taken: "overwritten",
            place: "register",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Self::State, key: Option<&Value>) -> String {
        match key {
            Some(key) => {
                let value = state.get(key).unwrap_or(&self.initial);
                format!("register {key} held {value}")
            }
            None => format!("the registers held {state:?}"),
        }
    }

    fn state_value(&self, state: &Entries) -> Value {
        state.as_pairs()
    }

    fn apply(&self, state: &Entries, op: &Vec<MicroOp>) -> Outcomes<Value, Entries> {
        let mut next = state.clone();
        let mut answers = Vec::with_capacity(op.len());
        for step in op {
            let value = match step {
                MicroOp::Read(key) | MicroOp::Get(key) => {
                    next.get(key).unwrap_or(&self.initial).clone()
                }
                MicroOp::Write(key, value) => {
                    next.set(key, (*value != self.initial).then(|| value.clone()));
                    value.clone()
                }
            };
            if let [MicroOp::Get(_)] = op.as_slice() {
                return Outcomes::One(value, next);
            }
            answers.push(step.answer(value));
        }
        Outcomes::One(Value::list(answers), next)
    }

    fn key(&self, op: &Vec<MicroOp>) -> Option<Value> {
        let key = op.first()?.key();
        op.iter().all(|step| step.key() == key).then(|| key.clone())
    }

    fn place_initially(&self) -> Option<Value> {
        Some(self.initial.clone())
    }

    fn places(&self, op: &Vec<MicroOp>, _: Option<&Value>) -> Vec<Value> {
        op.iter().map(|step| step.key().clone()).collect()
    }

    fn at_place(&self, op: &Vec<MicroOp>, ret: Option<&Value>, place: &Value) -> AtPlace {
        let seen = |i: usize| -> Option<&Value> {
            match op.as_slice() {
                [MicroOp::Get(_)] => ret,
                _ => ret?.as_list()?.get(i)?.as_list()?.get(2),
            }
        };
        let (mut needs, mut leaves) = (Need::Anything, None);
        let steps = op
            .iter()
            .enumerate()
            .filter(|(_, step)| step.key() == place);
        for (i, step) in steps {
            match (step, seen(i)) {
                (MicroOp::Write(_, value), _) => leaves = Some(value.clone()),
                // What a transaction reads of its own writes says nothing about other operations.
                (MicroOp::Read(_) | MicroOp::Get(_), Some(value)) if leaves.is_none() => {
                    needs = Need::Is(value.clone());
                }
                (MicroOp::Read(_) | MicroOp::Get(_), _) => {}
            }
        }
        match (&needs, &leaves) {
            (Need::Anything, None) => AtPlace::Nothing,
            _ => AtPlace::Does(Role::Slot { needs, leaves }),
        }
    }

    fn is_pure(&self, op: &Vec<MicroOp>, _: Option<&Value>) -> bool {
        op.iter().all(|step| !matches!(step, MicroOp::Write(..)))
    }
}

impl Recorded for MultiRegister {
    fn decode(&self, call: CallView<'_>) -> Result<Vec<MicroOp>, DecodeError> {
        match call.method {
            "txn" | "transaction" => Ok(steps(call.argument)?
                .into_iter()
                .map(|(op, _)| op)
                .collect()),
            "read" | "r" => Ok(vec![MicroOp::Get(call.takes_value()?)]),
            "write" | "w" => {
                let [key, value] = call.takes_list("key, value")?;
                Ok(vec![MicroOp::Write(key.clone(), value.clone())])
            }
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &Vec<MicroOp>, result: &Value) -> Result<Value, DecodeError> {
        let answer = |values: Vec<Value>| {
            Value::list(
                op.iter()
                    .zip(values)
                    .map(|(step, value)| step.answer(value)),
            )
        };
        // A transaction without reads has only one possible answer, so the record may omit it.
        let writes: Option<Vec<Value>> = op
            .iter()
            .map(|step| match step {
                MicroOp::Write(_, value) => Some(value.clone()),
                MicroOp::Read(_) | MicroOp::Get(_) => None,
            })
            .collect();
        if let [MicroOp::Get(key)] = op.as_slice() {
            // The answer of a transaction with this step is understood too.
            return Ok(match steps(result).as_deref() {
                Ok([(MicroOp::Read(read), value)]) if read == key => value.clone(),
                _ => result.clone(),
            });
        }
        if let (Some(writes), Value::Nil | Value::Bool(true)) = (writes, result) {
            return Ok(answer(writes));
        }
        let (answered, values): (Vec<_>, Vec<_>) = steps(result)?.into_iter().unzip();
        if answered == *op {
            let answer = answer(values);
            // Most records have this form already; one copy of an answer is enough for memory.
            Ok(if answer == *result {
                result.clone()
            } else {
                answer
            })
        } else {
            Err(format!("{result} is not what the transaction asked for").into())
        }
    }
}

impl Simulated for MultiRegister {
    fn sample(&self, _: &Entries, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        let steps = 1 + sampler.below(3);
        let txn = (0..steps).map(|_| {
            let key = Value::Int(sampler.below(5) as i64);
            if sampler.percent(50) {
                Value::list(["r".into(), key, Value::Nil])
            } else {
                Value::list(["w".into(), key, sampler.value()])
            }
        });
        ("txn", Value::list(txn.collect::<Vec<_>>()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    fn registers() -> MultiRegister {
        MultiRegister {
            initial: Value::Nil,
        }
    }

    #[test]
    fn sequential_behaviour() {
        run(
            &registers(),
            r#"
            txn([["r", 0, null], ["w", 0, 1], ["r", 0, null]]) [["r", 0, null], ["w", 0, 1], ["r", 0, 1]]
            txn([[":read", 0, null], [":write", 1, 2]]) [[":read", 0, 1], [":write", 1, 2]]
            txn([["w", 0, 5], ["w", 1, 6]]) null
            txn([["r", 1], ["r", 0]]) [["r", 1, 6], ["r", 0, 5]]
            txn([]) []
            read(0) 5
            read(0) [["r", 0, 5]]
            read(7) null
            write([7, [1, 2]]) null
            read(7) [1, 2]
            "#,
        );
    }

    #[test]
    fn a_result_must_answer_the_call() {
        let op = vec![MicroOp::Read(0.into())];
        for result in [
            Value::Nil,
            Value::list([]),
            Value::list([MicroOp::Read(1.into()).answer(5.into())]),
        ] {
            assert!(registers().decode_result(&op, &result).is_err(), "{result}");
        }
    }

    #[test]
    fn only_transactions_on_one_register_have_a_key() {
        let (read, write) = (MicroOp::Read(0.into()), MicroOp::Write(0.into(), 1.into()));
        let other = MicroOp::Read(1.into());
        assert_eq!(registers().key(&vec![read.clone(), write]), Some(0.into()));
        assert_eq!(registers().key(&vec![read, other]), None);
        assert_eq!(registers().key(&vec![]), None);
    }
}
