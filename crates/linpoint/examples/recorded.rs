//! An object type of your own, read from JSON lines: `cargo run -p linpoint --example recorded`.
//!
//! [`Spec`] says what the object does, [`Recorded`] how its methods and values are read.

use linpoint::format::{ReadOptions, parse};
use linpoint::spec::{CallView, DecodeError, Recorded};
use linpoint::{Checker, Error, Outcomes, Spec, Value, Verdict};

/// Hands out tickets, numbered from 0 in ascending order.
struct Tickets;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Draw;

impl Spec for Tickets {
    type Op = Draw;
    type Ret = Value;
    type State = i64;

    fn init(&self) -> i64 {
        0
    }

    fn apply(&self, &next: &i64, Draw: &Draw) -> Outcomes<Value, i64> {
        Outcomes::One(Value::from(next), next + 1)
    }
}

impl Recorded for Tickets {
    fn decode(&self, call: CallView<'_>) -> Result<Draw, DecodeError> {
        match (call.method, call.argument) {
            ("draw", Value::Nil) => Ok(Draw),
            ("draw", argument) => Err(format!("draw takes no argument, not {argument}").into()),
            (method, _) => Err(DecodeError::UnknownMethod(method.to_owned())),
        }
    }

    fn decode_result(&self, Draw: &Draw, result: &Value) -> Result<Value, DecodeError> {
        match result.as_int() {
            Some(_) => Ok(result.clone()),
            None => Err(format!("draw answers a number, not {result}").into()),
        }
    }
}

const HISTORY: &str = r#"
{"process": 0, "method": "draw", "ret": 0, "call": 0, "return": 2}
{"process": 1, "method": "draw", "ret": 1, "call": 1, "return": 3}
{"process": 0, "method": "draw", "ret": 1, "call": 4, "return": 5}
"#;

fn main() -> Result<(), Error> {
    for recorded in parse(HISTORY.as_bytes(), &ReadOptions::default()) {
        let report = Checker::default().check_recorded(&Tickets, &recorded?.history)?;
        match report.verdict {
            Verdict::Linearizable(_) => println!("linearizable"),
            Verdict::Violation(violation) => println!("{}", violation.core.sentence()),
            Verdict::Undecided(_) => println!("undecided"),
        }
    }
    Ok(())
}
