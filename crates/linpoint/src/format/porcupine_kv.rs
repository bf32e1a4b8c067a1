//! The key-value histories that porcupine's tests come with: EDN maps with a `:key`.

use clojure_reader::edn::Edn;

use super::edn::{Forms, field, fields, name, value, with_form};
use super::jepsen::EventType;
use super::{ReadOptions, RecordedHistory, Sink};
use crate::error::Error;
use crate::history::{Call, History, HistoryBuilder};
use crate::spec::Params;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    let params = Params::from([("initial".to_owned(), Value::from(""))]);
    sink.put(read_history(text, options).map(|history| RecordedHistory {
        history,
        object_type: Some(("kv".to_owned(), params)),
        ..RecordedHistory::default()
    }));
}

fn read_history(text: &str, options: &ReadOptions) -> Result<History, Error> {
    let mut builder = options.builder();
    for form in Forms::unwrapped(text) {
        let form = form?;
        let event = with_form(form.text, read_event)
            .map_err(|reason| Error::malformed(reason).at_line(form.line))?;
        add(&mut builder, form.line, event)?;
    }
    builder.finish(options.ties.unwrap_or_default())
}

struct KvEvent {
    process: Value,
    kind: EventType,
    function: Function,
    key: Value,
    value: Value,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Function {
    Get,
    Put,
    Append,
}

impl Function {
    fn name(self) -> &'static str {
        match self {
            Function::Get => "get",
            Function::Put => "put",
            Function::Append => "append",
        }
    }
}

fn read_event(edn: &Edn<'_>) -> Result<KvEvent, String> {
    let map = fields(edn)?;
    let required = |name| {
        let found = field(map, name).ok_or_else(|| format!(":{name} is missing"))?;
        value(found)
    };
    let kind = name(map, "type")?.ok_or(":type is missing")?;
    let function = match name(map, "f")?.ok_or(":f is missing")?.as_str() {
        "get" => Function::Get,
        "put" => Function::Put,
        "append" => Function::Append,
        other => {
            return Err(format!(
                "unknown operation {other:?}; known are get, put, append"
            ));
        }
    };
    Ok(KvEvent {
        process: required("process")?,
        kind: EventType::named(&kind)?,
        function,
        key: required("key")?,
        value: field(map, "value").map_or(Ok(Value::Nil), value)?,
    })
}

fn add(builder: &mut HistoryBuilder, line: u64, event: KvEvent) -> Result<(), Error> {
    let KvEvent {
        process,
        kind,
        function,
        key,
        value,
    } = event;
    let argument = |value| match function {
        Function::Get => key.clone(),
        Function::Put | Function::Append => Value::list([key.clone(), value]),
    };
    match kind {
        EventType::Invoke => {
            let call = Call::new(function.name(), argument(value));
            builder.call(line, process, call)
        }
        EventType::Ok => {
            let called = builder.open_call(&process).map(|(method, argument)| {
                let same_key = match function {
                    Function::Get => *argument == key,
                    _ => argument.as_list().and_then(<[_]>::first) == Some(&key),
                };
                method == function.name() && same_key
            });
            if called == Some(false) {
                let reason =
                    format!("process {process} completes another operation than it has invoked");
                return Err(Error::malformed(reason).at_line(line));
            }
            let result = match function {
                Function::Get => value,
                Function::Put | Function::Append => Value::Nil,
            };
            builder.ret(line, &process, result)
        }
        EventType::Fail => builder.fail(line, &process),
        EventType::Info => builder.crash(line, &process),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse;

    #[test]
    fn a_small_store() {
        let text = r#"
{:process 0, :type :invoke, :f :get, :key "0", :value nil}
{:process 1, :type :invoke, :f :append, :key "0", :value "x"}
{:process 0, :type :ok, :f :get, :key "0", :value ""}
{:process 1, :type :ok, :f :append, :key "0", :value "x"}
{:process 1, :type :invoke, :f :put, :key "1", :value "y"}
"#;
        let recorded = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap();
        let texts: Vec<_> = recorded.history.ops().map(|op| op.text()).collect();
        assert_eq!(
            texts,
            [
                r#"get("0") → """#,
                r#"append("0", "x")"#,
                r#"put("1", "y") → ?"#
            ]
        );
        let (name, params) = recorded.object_type.unwrap();
        assert_eq!(
            (name.as_str(), &params["initial"]),
            ("kv", &Value::from(""))
        );
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        let first = r#"{:process 0, :type :invoke, :f :get, :key "0", :value nil}"#;
        let cases = [
            (
                r#"{:process 0, :type :ok, :f :get, :key "1"}"#,
                "process 0 completes another operation than it has invoked",
            ),
            (
                r#"{:process 0, :type :ok, :f :del, :key "1"}"#,
                "unknown operation \"del\"; known are get, put, append",
            ),
            ("{:process 0, :type :ok, :f :get}", ":key is missing"),
        ];
        for (second, reason) in cases {
            let text = format!("{first}\n{second}");
            let error = parse(text.as_bytes(), &ReadOptions::default())
                .remove(0)
                .unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
    }
}
