//! The lines of the protocol: how questions are written and answers are read.

use linpoint::Value;
use linpoint::format::{value_of_json, write_value};
use linpoint::spec::Params;

use crate::model::ModelCall;

/// The version of the protocol.
const VERSION: i64 = 1;

/// Why there is no answer in a line.
#[derive(Debug)]
pub(super) enum Wrong {
    /// The program says why it does not answer. It can be asked other questions.
    Refused(String),
    /// The line is not an answer, as the rest of the sentence "the answer ...".
    Answer(String),
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Wrong::Answer(reason)
    }
}

impl From<&str> for Wrong {
    fn from(reason: &str) -> Self {
        Wrong::Answer(reason.to_owned())
    }
}

/// The number that a program gave to a state.
pub(super) type ProgramState = i64;

/// What a step may answer, with the states that it leaves.
pub(super) type ProgramOutcomes = Vec<(Value, ProgramState)>;

/// The topic of a question, and the key of questions and answers about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Steps,
    Key,
    IsPure,
    Validate,
    Describe,
}

impl Topic {
    /// Those that a program need not answer.
    const OPTIONAL: [Topic; 4] = [Topic::Key, Topic::IsPure, Topic::Validate, Topic::Describe];

    pub(super) fn name(self) -> &'static str {
        match self {
            Topic::Steps => "steps",
            Topic::Key => "key",
            Topic::IsPure => "is_pure",
            Topic::Validate => "validate",
            Topic::Describe => "describe",
        }
    }
}

/// The first answer of a program: what it is.
#[derive(Debug, Default)]
pub(super) struct Hello {
    pub(super) init: ProgramState,
    /// The names of the methods, if the program lists them.
    pub(super) methods: Option<Vec<String>>,
    /// Whether it looks at processes.
    pub(super) process: bool,
    /// The optional topics that it answers.
    pub(super) answers: Vec<Topic>,
    /// Calls of random clients.
    pub(super) calls: Vec<(String, Value)>,
}

impl Hello {
    /// The first question.
    pub(super) fn question(params: &Params) -> String {
        let pairs = params.iter();
        let params = pairs.map(|(name, value)| (Value::from(name.as_str()), value.clone()));
        let params = json(&normal(&Value::map(params)));
        format!("{{\"linpoint\":{VERSION},\"params\":{params}}}")
    }

    /// Reads the answer to the first question.
    pub(super) fn read(line: &str) -> Result<Self, Wrong> {
        const KNOWN: &str = "linpoint, init, methods, process, answers, calls";
        let answer = object(line)?;
        let mut hello = Hello::default();
        let (mut version, mut init) = (None, None);
        for (key, value) in answer.as_map().unwrap_or_default() {
            match key.as_text().unwrap_or_default() {
                "linpoint" => version = Some(value),
                "init" => init = Some(state(value)?),
                "methods" => hello.methods = Some(texts("methods", value)?),
                "process" => {
                    hello.process = value
                        .as_bool()
                        .ok_or_else(|| wrong("process", "true or false", value))?;
                }
                "answers" => hello.answers = topics(value)?,
                "calls" => hello.calls = calls(value)?,
                "error" => return Err(refused(value)),
                other => {
                    return Err(
                        format!("has the unknown key {other:?}; it may have {KNOWN}").into(),
                    );
                }
            }
        }
        match version {
            Some(Value::Int(VERSION)) => {}
            Some(other) => {
                return Err(format!(
                    "is of version {other}; this linpoint speaks version {VERSION}"
                )
                .into());
            }
            None => return Err(format!("has no version: \"linpoint\": {VERSION}").into()),
        }
        hello.init = init.ok_or("has no \"init\", the number of the state at the start")?;
        Ok(hello)
    }
}

/// A question about each of these items, which are JSON.
pub(super) fn question(id: u64, topic: Topic, items: &[String]) -> String {
    let (topic, items) = (topic.name(), items.join(","));
    format!("{{\"id\":{id},\"{topic}\":[{items}]}}")
}

/// Reads the answer to [`question`]: as many values as items.
pub(super) fn answers(
    line: &str,
    id: u64,
    topic: Topic,
    count: usize,
) -> Result<Vec<Value>, Wrong> {
    let answer = object(line)?;
    match answer.get("id") {
        Some(Value::Int(found)) if u64::try_from(*found) == Ok(id) => {}
        Some(other) => {
            return Err(
                format!("has \"id\": {other}; it must be that of the question, {id}, and the only line for it").into(),
            );
        }
        None => return Err(format!("has no \"id\"; the question has {id}").into()),
    }
    if let Some(error) = answer.get("error") {
        return Err(refused(error));
    }
    let topic = topic.name();
    match answer.get(topic) {
        Some(Value::List(items)) if items.len() == count => Ok(items.to_vec()),
        Some(Value::List(items)) => {
            let (found, plural) = (items.len(), if items.len() == 1 { "" } else { "s" });
            Err(format!("has {found} item{plural} in \"{topic}\"; the question has {count}").into())
        }
        Some(other) => Err(wrong(topic, "a list", other).into()),
        None => Err(format!("has neither \"{topic}\" nor \"error\"").into()),
    }
}

/// The outcomes of a step: a list of pairs of answer and state.
pub(super) fn outcomes(item: &Value) -> Result<ProgramOutcomes, String> {
    let expected =
        "must be a list of pairs [answer, next state], which is empty if the call is blocked";
    let wrong = || format!("has the step {item}, which {expected}");
    let pairs = item.as_list().ok_or_else(wrong)?;
    let pair = |pair: &Value| match pair.as_list() {
        Some([answer, next]) => Ok((normal(answer), state(next)?)),
        _ => Err(wrong()),
    };
    pairs.iter().map(pair).collect()
}

/// Outcomes as the program writes them.
pub(super) fn written(outcomes: &ProgramOutcomes) -> String {
    let pair =
        |(answer, next): &(Value, ProgramState)| Value::list([answer.clone(), (*next).into()]);
    json(&Value::list(outcomes.iter().map(pair)))
}

fn state(value: &Value) -> Result<ProgramState, String> {
    value.as_int().ok_or_else(|| {
        format!("has the state {value}; a state is an integer, the number that the program gave it")
    })
}

/// A step as an item of a question.
pub(super) fn step(state: ProgramState, call: &ModelCall, with_process: bool) -> String {
    let process = match with_process {
        true => format!(",\"process\":{}", json(&call.process)),
        false => String::new(),
    };
    let call = method_and_argument(call);
    format!("{{\"state\":{state},{call}{process}}}")
}

/// A call, with its result if that is known, as an item of a question.
pub(super) fn call_and_result(call: &ModelCall, result: Option<&Value>) -> String {
    let result = result.map_or(String::new(), |result| {
        format!(",\"ret\":{}", json(&normal(result)))
    });
    format!("{{{}{result}}}", method_and_argument(call))
}

fn method_and_argument(call: &ModelCall) -> String {
    let method = json(&Value::from(&*call.method));
    let argument = json(&normal(&call.argument));
    format!("\"method\":{method},\"arg\":{argument}")
}

/// The value as JSON can express it: keys of maps are text, and numbers with a fraction those of 64 bits.
///
/// Programs get values and answer values in this form, so that a value that they return is the one that they got.
pub(super) fn normal(value: &Value) -> Value {
    match value {
        Value::Number(digits) => {
            let is_integer = digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-');
            match (is_integer, digits.parse::<f64>()) {
                (false, Ok(float)) if float.is_finite() => {
                    let shortest = value_of_json(&format!("{float:?}"));
                    shortest.unwrap_or_else(|_| value.clone())
                }
                _ => value_of_json(digits).unwrap_or_else(|_| Value::from(digits.as_str())),
            }
        }
        Value::List(items) => Value::list(items.iter().map(normal)),
        Value::Map(pairs) => Value::map(pairs.iter().map(|(key, value)| {
            let key = key.as_text().map_or_else(|| key.to_string(), str::to_owned);
            (Value::from(key), normal(value))
        })),
        value => value.clone(),
    }
}

/// JSON without characters beyond ASCII, which every program reads alike whatever its locale.
pub(super) fn json(value: &Value) -> String {
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = write_value(value, &mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    if text.is_ascii() {
        return text.into_owned();
    }
    let mut escaped = String::new();
    for char in text.chars() {
        if char.is_ascii() {
            escaped.push(char);
        } else {
            for unit in char.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    escaped
}

fn object(line: &str) -> Result<Value, String> {
    let not_json =
        |reason| format!("is {reason} (what is not an answer belongs on the standard error)");
    let answer = value_of_json(line).map_err(not_json)?;
    match answer {
        Value::Map(_) => Ok(answer),
        other => Err(format!("is {}, not an object", other.kind_name())),
    }
}

fn wrong(key: &str, expected: &str, found: &Value) -> String {
    format!("has \"{key}\": {found}; it must be {expected}")
}

/// What a program says that does not answer.
fn refused(reason: &Value) -> Wrong {
    let text = reason.as_text().map(str::to_owned);
    Wrong::Refused(text.unwrap_or_else(|| reason.to_string()))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    let wrong = || wrong(key, "a list of names", value);
    let items = value.as_list().ok_or_else(wrong)?;
    let text = |item: &Value| item.as_text().map(str::to_owned).ok_or_else(wrong);
    items.iter().map(text).collect()
}

fn topics(value: &Value) -> Result<Vec<Topic>, String> {
    let topic = |name: String| {
        let found = Topic::OPTIONAL
            .into_iter()
            .find(|topic| topic.name() == name);
        found.ok_or_else(|| {
            let known = Topic::OPTIONAL.map(Topic::name).join(", ");
            format!("has {name:?} in \"answers\"; it may have {known}")
        })
    };
    texts("answers", value)?.into_iter().map(topic).collect()
}

fn calls(value: &Value) -> Result<Vec<(String, Value)>, String> {
    let wrong = || wrong("calls", "a list of pairs [method, argument]", value);
    let items = value.as_list().ok_or_else(wrong)?;
    let call = |item: &Value| match item.as_list() {
        Some([Value::Text(method), argument]) => Ok((method.to_string(), argument.clone())),
        _ => Err(wrong()),
    };
    items.iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_programs_return_are_the_ones_that_they_got() {
        let int_key = Value::map([(Value::from(1), Value::from("é\u{1f600}"))]);
        assert_eq!(json(&normal(&int_key)), r#"{"1":"\u00e9\ud83d\ude00"}"#);
        for (written, normal_form) in [
            ("0.1000000000000000055511151231257827", "0.1"),
            (
                "123456789012345678901234567890",
                "123456789012345678901234567890",
            ),
            ("1e999", "1e999"),
            ("1.5e3", "1500"),
            (
                "[1e22, {\"a\": 2.50}]",
                "[10000000000000000000000,{\"a\":2.5}]",
            ),
        ] {
            let value = normal(&value_of_json(written).unwrap());
            assert_eq!(json(&value), normal_form);
            assert_eq!(normal(&value_of_json(normal_form).unwrap()), value);
        }
        assert_eq!(normal(&Value::number("1/3")), Value::from("1/3"));
    }
}
