//! Reads Jepsen histories in EDN: one map for each event, in a row or within one vector or list.

mod split;
mod value;

use std::borrow::Cow;

use clojure_reader::edn::Edn;

pub(super) use self::split::Forms;
pub(super) use self::value::{value, with_form};
use super::jepsen::{self, Entry, EventType, FailedCas, JepsenEvent};
use super::{ReadOptions, RecordedHistory, Sink, number};
use crate::engine::Ticker;
use crate::error::Error;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_history(text, options));
}

fn read_history(text: &str, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let mut entries = Vec::new();
    let budget = options.budget();
    let mut ticker = Ticker::new(&budget);
    for form in Forms::unwrapped(text) {
        let form = form?;
        let entry = with_form(form.text, read_event)
            .map_err(|reason| Error::malformed(reason).at_line(form.line))?;
        let allowed = ticker.tick();
        allowed.map_err(|limit| Error::limit(limit).at_line(form.line))?;
        entries.push((form.line, entry));
    }
    jepsen::record(entries, FailedCas::NotRun, options)
}

const NO_PROCESS: &str = ":process is missing: every event must name its process, since a completion belongs to the last \
                          invocation of the same process";

const NO_FUNCTION: &str = ":f is missing: every event must name its function, as in `:f :read`; for transactions, `:f :txn`";

fn read_event(edn: &Edn<'_>) -> Result<Entry, String> {
    let map = fields(edn)?;
    let process = match field(map, "process") {
        Some(process) => value(process)?,
        None => return Err(NO_PROCESS.to_owned()),
    };
    let function = name(map, "f")?;
    let time = field(map, "time").map(value).transpose()?;
    let time = number::time(":time", time.as_ref())?;
    let recorded = field(map, "value").map_or(Ok(Value::Nil), value)?;
    if !matches!(process, Value::Int(_) | Value::Number(_)) {
        let process = match process.as_text() {
            Some(text) => text.to_owned(),
            None => process.to_string(),
        };
        return Ok(Entry::Other {
            process,
            function: function.unwrap_or_default(),
            value: recorded,
            time,
        });
    }
    let kind = name(map, "type")?.ok_or(":type is missing")?;
    let kind = EventType::named(&kind)?;
    let function = function.ok_or(NO_FUNCTION)?;
    Ok(Entry::Client(JepsenEvent {
        process,
        kind,
        object: Value::Nil,
        function,
        value: recorded,
        time,
        index: field(map, "index").and_then(|index| value(index).ok()?.as_int()),
    }))
}

/// The map of an event, whatever it is tagged as.
pub(super) fn fields<'a, 'e>(
    mut edn: &'a Edn<'e>,
) -> Result<&'a std::collections::BTreeMap<Edn<'e>, Edn<'e>>, String> {
    while let Edn::Tagged(_, inner) = edn {
        edn = inner;
    }
    match edn {
        Edn::Map(map) => Ok(map),
        _ => Err("an event must be a map".to_owned()),
    }
}

/// The field with this keyword.
pub(super) fn field<'a, 'e>(
    map: &'a std::collections::BTreeMap<Edn<'e>, Edn<'e>>,
    name: &'e str,
) -> Option<&'a Edn<'e>> {
    map.get(&Edn::Key(Cow::Borrowed(name)))
}

/// The name in a field, which is a keyword mostly.
pub(super) fn name<'e>(
    map: &std::collections::BTreeMap<Edn<'e>, Edn<'e>>,
    key: &'e str,
) -> Result<Option<String>, String> {
    match field(map, key) {
        None | Some(Edn::Nil) => Ok(None),
        Some(Edn::Key(name) | Edn::Symbol(name) | Edn::Str(name)) => Ok(Some(name.to_string())),
        Some(other) => Err(format!(":{key} must be a keyword, not {}", value(other)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, IndependentKeys, parse};

    fn read_one(text: &str, independent: IndependentKeys) -> Result<RecordedHistory, Error> {
        let options = ReadOptions {
            independent,
            ..ReadOptions::default()
        };
        let mut all = parse(text.as_bytes(), &options);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    fn texts(text: &str) -> Vec<String> {
        let recorded = read_one(text, IndependentKeys::Never).unwrap();
        recorded.history.ops().map(|op| op.text()).collect()
    }

    const HISTORY: &str = "\
{:type :invoke, :f :write, :value 1, :process 0, :time 10, :index 0}
{:type :invoke, :f :read, :value nil, :process 1, :time 11, :index 1}
{:type :info, :f :start, :process :nemesis, :time 12, :value \"cut n1\"}
#jepsen.history.Op{:type :ok, :f :read, :value 1, :process 1}
{:type :info, :f :write, :value 1, :process 0, :error :timeout}
{:type :invoke, :f :cas, :value [1 2], :process 5}
{:type :ok, :f :cas, :value [1 2], :process 5}
{:type :invoke, :f :cas, :value [7 2], :process 5}
{:type :fail, :f :cas, :value [7 2], :process 5}
{:type :invoke, :f :read, :process 1}
";

    #[test]
    fn a_register_with_faults() {
        let expected = [
            "write(1) → ?",
            "read() → 1",
            "cas(1, 2) → true",
            "read() → ?",
        ];
        assert_eq!(texts(HISTORY), expected);
        assert_eq!(texts(&format!("[{HISTORY}]")), expected);
        assert_eq!(texts(&format!("({HISTORY}) ; end")), expected);
        let recorded = read_one(HISTORY, IndependentKeys::Never).unwrap();
        // The input gives the index of the first two invocations; of the others, it is their position.
        assert_eq!(recorded.invocations, [0, 1, 5, 9]);
        let note = &recorded.history.annotations()[0];
        assert_eq!(
            (note.rank, note.text.as_str(), note.time),
            (2, "nemesis start \"cut n1\"", Some(12))
        );
    }

    #[test]
    fn times_are_kept_if_every_event_has_one_and_never_change_the_order() {
        let times = |text: &str| -> Option<Vec<(i64, i64)>> {
            let recorded = read_one(text, IndependentKeys::Never).unwrap();
            recorded.history.ops().map(|op| op.times).collect()
        };
        assert_eq!(times(HISTORY), None);
        let timed = "\
{:type :invoke, :f :write, :value 1, :process 0, :time 10}
{:type :invoke, :f :write, :value 2, :process 2, :time 11}
{:type :fail, :f :write, :value 2, :process 2, :time 12}
{:type :ok, :f :write, :value 1, :process 0, :time 13}
{:type :invoke, :f :read, :process 1, :time 9}
";
        assert_eq!(times(timed), Some(vec![(10, 13), (9, i64::MAX)]));
        let recorded = read_one(timed, IndependentKeys::Never).unwrap();
        assert_eq!(recorded.history.calls(), [0, 2]);
        let [failed] = recorded.history.failed() else {
            panic!("one operation failed")
        };
        assert_eq!(failed.call_text(), "write(2)");
        assert_eq!((&failed.process, failed.line), (&Value::from(2), 2));
        assert_eq!(failed.times, (Some(11), Some(12)));
    }

    #[test]
    fn independent_keys_are_objects() {
        let text = "\
{:type :invoke, :f :write, :value [:x 1], :process 0}
{:type :ok, :f :write, :value #jepsen.independent/tuple [:x 1], :process 0}
{:type :invoke, :f :read, :value #jepsen.independent.Tuple{:key :y, :value nil}, :process 0}
{:type :ok, :f :read, :value [:y 4], :process 0}
";
        let recorded = read_one(text, IndependentKeys::Always).unwrap();
        let ops: Vec<_> = recorded
            .history
            .ops()
            .map(|op| (op.object.to_string(), op.text()))
            .collect();
        let expected = [("\"x\"", "write(1)"), ("\"y\"", "read() → 4")];
        assert_eq!(ops, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let error = read_one(
            "{:type :invoke, :f :read, :process 0}",
            IndependentKeys::Always,
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1: with independent keys every value is a [key value] pair, but this is nil"
        );
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        let cases = [
            (
                "{:type :ok, :f :read, :process 0}",
                "process 0 returns without an open call",
            ),
            ("{:f :read, :process 0}", ":type is missing"),
            (
                "{:type :done, :f :read, :process 0}",
                "unknown event type \"done\"; known are invoke, ok, fail, info",
            ),
            ("{:type :invoke, :process 0}", NO_FUNCTION),
            (
                "{:type :invoke, :f 3, :process 0}",
                ":f must be a keyword, not 3",
            ),
            ("{:type :invoke, :f :read}", NO_PROCESS),
            (
                "{:type :invoke, :f :read, :process 0, :time 1.5}",
                ":time must be a 64-bit integer, not 1.5: times are integers, such as nanoseconds since the start of the run; \
                 multiply times in seconds by 1000000000 and round them down for calls, up for returns",
            ),
            (
                "{:type :info, :f :start, :process :nemesis, :time \"noon\"}",
                ":time must be a 64-bit integer, not \"noon\"",
            ),
            ("[1 2]", "an event must be a map"),
            (
                "{:type}",
                "not EDN: a map has a key without a value, or something does not end",
            ),
            (
                "{:type :invoke, :f :read, :process 0} {:type :ok, :f :write, :process 0}",
                "process 0 completes \"write\" but had invoked \"read\"",
            ),
        ];
        for (text, reason) in cases {
            let options = ReadOptions {
                format: Some(Format::Edn),
                ..ReadOptions::default()
            };
            let text = format!("{{:type :info :process :nemesis :f :x}}\n{text}");
            let error = parse(text.as_bytes(), &options).remove(0).unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
    }
}
