//! Lines of FPTLin's histories: `PROCESS CALL RETURN METHOD VALUE..`, where the text format of other monitors has the times last.
//!
//! Its types and methods have names of their own, which become those of the built-in types here.

use crate::history::OperationParts;
use crate::spec::Params;
use crate::value::Value;

/// The fields of a line of FPTLin: three integers and a method.
pub(super) struct FptlinLine<'a> {
    process: i64,
    called: i64,
    returned: i64,
    method: &'a str,
    values: Vec<i64>,
}

impl<'a> FptlinLine<'a> {
    /// The line, if it is one of FPTLin. Other lines have a method among their first two fields.
    pub(super) fn of(fields: &[&'a str]) -> Option<Result<Self, String>> {
        let [process, called, returned, method, values @ ..] = fields else {
            return None;
        };
        let integer = |text: &&str| text.parse::<i64>().ok();
        let (process, called, returned) = (integer(process)?, integer(called)?, integer(returned)?);
        if !method.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let values = values.iter().map(|value| {
            integer(value).ok_or_else(|| format!("values are integers, not {value:?}"))
        });
        Some(
            values
                .collect::<Result<Vec<_>, _>>()
                .map(|values| FptlinLine {
                    process,
                    called,
                    returned,
                    method,
                    values,
                }),
        )
    }

    /// The operation with the method of a built-in type.
    pub(super) fn operation(self) -> Result<OperationParts<'static>, String> {
        let nil = || Value::Nil;
        // An empty container answers -1.
        let removed = |value: i64| match value {
            -1 => Value::Nil,
            value => Value::Int(value),
        };
        let answer = |value: i64| match value {
            0 => Ok(Value::Bool(false)),
            1 => Ok(Value::Bool(true)),
            other => Err(format!(
                "the answer of {} is 0 or 1, not {other}",
                self.method
            )),
        };
        let (method, argument, result) = match (self.method, self.values.as_slice()) {
            ("PUSH", &[value]) => ("push", value.into(), nil()),
            ("POP", &[value]) => ("pop", nil(), removed(value)),
            ("ENQ", &[value]) => ("enq", value.into(), nil()),
            ("DEQ", &[value]) => ("deq", nil(), removed(value)),
            ("PEEK", &[value]) => ("peek", nil(), removed(value)),
            ("INSERT", &[value]) => ("insert", value.into(), nil()),
            ("POLL", &[value]) => ("poll", nil(), removed(value)),
            ("INSERT", &[value, done]) => ("add", value.into(), answer(done)?),
            ("REMOVE", &[value, done]) => ("remove", value.into(), answer(done)?),
            ("CONTAINS", &[value, there]) => ("contains", value.into(), answer(there)?),
            ("READ_MODIFY_WRITE", &[read, written]) => (
                "cas",
                Value::list([read.into(), written.into()]),
                Value::Bool(true),
            ),
            ("INCR", &[1]) => ("release", nil(), nil()),
            ("DECR", &[done]) => ("try_acquire", nil(), answer(done)?),
            (method, values) => {
                return Err(format!(
                    "{method} with {} values is no operation of FPTLin; known are PUSH, POP, ENQ, DEQ, PEEK, INSERT, POLL with one \
                     value, INSERT, REMOVE, CONTAINS, READ_MODIFY_WRITE with two, INCR 1, DECR 0, DECR 1",
                    values.len()
                ));
            }
        };
        Ok(OperationParts {
            process: Some(Value::Int(self.process).into()),
            object: Value::Nil.into(),
            method,
            argument: argument.into(),
            result: result.into(),
            called: self.called,
            returned: Some(self.returned),
        })
    }
}

/// The built-in type with its parameters that a header of FPTLin names.
pub(super) fn object_type(name: &str) -> (String, Params) {
    let with = |param: &str| Params::from([(param.to_owned(), Value::Int(0))]);
    match name {
        "rmw" => ("cas-register".to_owned(), with("initial")),
        "semaphore" => ("semaphore".to_owned(), with("permits")),
        _ => (super::operations::type_name(name), Params::new()),
    }
}
