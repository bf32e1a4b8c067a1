//! JSON histories in the shape of Violat: a `schema` and `events` that repeat its invocations.
//!
//! One history on each line, or one after the other over several lines. Other producers add keys of their own, so
//! unknown keys are ignored.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{ReadOptions, RecordedHistory, Sink, json};
use crate::error::Error;
use crate::history::Call;
use crate::spec::Params;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    for (line, document) in json::documents(text) {
        let recorded = document
            .and_then(json::from_str)
            .map_err(Error::malformed)
            .and_then(|document| read_history(line, &document, options));
        sink.put(recorded.map_err(|error| error.at_line(line)));
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    schema: Schema<'a>,
    #[serde(borrow)]
    events: Vec<ViolatEvent<'a>>,
    /// Not Violat's: the known answer, in collections of labelled histories.
    linearizable: Option<bool>,
}

#[derive(Deserialize)]
struct Schema<'a> {
    class: String,
    /// Of the constructor.
    #[serde(borrow, default)]
    arguments: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct ViolatEvent<'a> {
    kind: ViolatEventKind,
    sid: i64,
    #[serde(borrow)]
    invocation: Invocation<'a>,
    /// The result as text; absent where the method returns nothing.
    value: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ViolatEventKind {
    Call,
    Return,
}

#[derive(Deserialize)]
struct Invocation<'a> {
    id: i64,
    method: Method,
    #[serde(borrow, default)]
    arguments: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct Method {
    name: String,
}

fn read_history(
    line: u64,
    document: &Document<'_>,
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let mut builder = options.builder();
    // The invocation that each sequence has open.
    let mut open: Vec<(i64, i64)> = Vec::new();
    for event in &document.events {
        let process = Value::Int(event.sid);
        let (sid, id) = (event.sid, event.invocation.id);
        match event.kind {
            ViolatEventKind::Call => {
                open.push((sid, id));
                let call = Call::new(event.invocation.method.name.as_str(), arguments(event)?);
                builder.call(line, process, call)?;
            }
            ViolatEventKind::Return => {
                if let Some(position) = open.iter().position(|&(open_sid, _)| open_sid == sid) {
                    let (_, called) = open.swap_remove(position);
                    if called != id {
                        let reason = format!(
                            "invocation {id} returns in sequence {sid}, where {called} was called"
                        );
                        return Err(Error::malformed(reason));
                    }
                }
                let result = event.value.as_deref().map_or(Value::Nil, Value::from);
                builder.ret(line, &process, result)?;
            }
        }
    }
    Ok(RecordedHistory {
        line,
        history: builder.finish(options.ties.unwrap_or_default())?,
        object_type: Some((document.schema.class.clone(), params(&document.schema)?)),
        expected: document.linearizable,
        ..RecordedHistory::default()
    })
}

/// The arguments, always as a list: overloads differ in their number.
fn arguments(event: &ViolatEvent<'_>) -> Result<Value, Error> {
    let arguments = event
        .invocation
        .arguments
        .iter()
        .map(|raw| json::value(raw.get()));
    let arguments: Result<Vec<_>, _> = arguments.collect();
    Ok(Value::list(arguments.map_err(Error::malformed)?))
}

/// The only constructor argument in use is the capacity.
fn params(schema: &Schema<'_>) -> Result<Params, Error> {
    match schema.arguments.as_slice() {
        [] => Ok(Params::new()),
        [capacity] => {
            let capacity = json::value(capacity.get()).map_err(Error::malformed)?;
            Ok(Params::from([("capacity".to_owned(), capacity)]))
        }
        more => Err(Error::malformed(format!(
            "a constructor with {} arguments is not known",
            more.len()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::parse;

    fn document(events: &str) -> String {
        format!(
            r#"{{"schema":{{"id":1,"class":"java.util.concurrent.ArrayBlockingQueue","arguments":[20]}},"events":[{events}],"frequency":{{}}}}"#
        )
    }

    fn event(kind: &str, sid: i64, id: i64, rest: &str) -> String {
        format!(
            r#"{{"kind":"{kind}","sid":{sid},"invocation":{{"id":{id},"method":{{"name":"m{id}","void":true}},"arguments":[1,{{"0":2}}]}}{rest}}}"#
        )
    }

    #[test]
    fn histories_one_bad_among_them() {
        let good = document(
            &[
                event("call", 0, 0, ""),
                event("call", 1, 1, ""),
                event("return", 0, 0, r#","value":"null""#),
                event("return", 1, 1, ""),
            ]
            .join(","),
        );
        let swapped = document(&[event("call", 0, 0, ""), event("return", 0, 1, "")].join(","));
        let all = parse(
            format!("{good}\n{swapped}\n{{}}\n{good}\n").as_bytes(),
            &ReadOptions::default(),
        );
        assert_eq!(all.len(), 4);
        let recorded = all[0].as_ref().unwrap();
        let texts: Vec<_> = recorded.history.ops().map(|op| op.text()).collect();
        assert_eq!(texts, [r#"m0(1, {"0": 2}) → "null""#, r#"m1(1, {"0": 2})"#]);
        let (class, params) = recorded.object_type.clone().unwrap();
        assert_eq!(class, "java.util.concurrent.ArrayBlockingQueue");
        assert_eq!(params["capacity"], Value::Int(20));
        assert_eq!(
            all[1].as_ref().unwrap_err().to_string(),
            "line 2: invocation 1 returns in sequence 0, where 0 was called"
        );
        assert_eq!(
            all[2].as_ref().unwrap_err().to_string(),
            "line 3: \"schema\" is missing"
        );
        assert_eq!(all[3].as_ref().unwrap().history.len(), 2);
    }

    #[test]
    fn a_pretty_printed_history() {
        let text = document(&event("call", 0, 0, "")).replace(',', ",\n  ");
        let recorded = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap();
        assert_eq!(recorded.history.len(), 1);
        assert_eq!(recorded.name, None);
    }
}
