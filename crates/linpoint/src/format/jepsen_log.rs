//! The log of a Jepsen test of a register, as published with linearizability checkers.
//!
//! Operations are the lines of the logger `jepsen.util`; all of these must be well formed. Other lines are skipped if
//! they are lines of a log, that is, name a level, or go on with one, that is, begin with a blank. Anything else is
//! refused: it is more likely damage than a log.

use super::edn::{Forms, value, with_form};
use super::jepsen::{self, Entry, EventType, FailedCas, JepsenEvent};
use super::{ReadOptions, RecordedHistory, Sink};
use crate::engine::Ticker;
use crate::error::Error;
use crate::spec::Params;
use crate::value::Value;

pub(super) fn read(text: &str, options: &ReadOptions, sink: &mut Sink<'_>) {
    sink.put(read_history(text, options));
}

const LOGGER: &str = "jepsen.util";

const LEVELS: &[&str] = &["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

fn read_history(text: &str, options: &ReadOptions) -> Result<RecordedHistory, Error> {
    let mut entries = Vec::new();
    let budget = options.budget();
    let mut ticker = Ticker::new(&budget);
    for (number, line) in (1..).zip(text.lines()) {
        let at = |reason: String| Error::malformed(reason).at_line(number);
        if let Some((_, message)) = line.split_once(LOGGER) {
            let allowed = ticker.tick();
            allowed.map_err(|limit| Error::limit(limit).at_line(number))?;
            entries.push((number, read_line(message).map_err(at)?));
        } else if !is_log_line(line) {
            return Err(at(
                "neither an operation nor another line of a log".to_owned()
            ));
        }
    }
    let recorded = jepsen::record(entries, FailedCas::ReturnedFalse, options)?;
    Ok(RecordedHistory {
        object_type: Some(("cas-register".to_owned(), Params::new())),
        ..recorded
    })
}

fn is_log_line(line: &str) -> bool {
    line.starts_with(char::is_whitespace)
        || line.is_empty()
        || line.split_whitespace().any(|word| LEVELS.contains(&word))
}

/// Reads ` - PROCESS :TYPE :OP VALUE`.
fn read_line(message: &str) -> Result<Entry, String> {
    if message.contains(LOGGER) {
        return Err("two operations on one line".to_owned());
    }
    let message = message.trim_start();
    let message = message.strip_prefix(['-', ':']).unwrap_or(message);
    let (process, rest) = word(message);
    let (kind, rest) = word(rest);
    let (function, rest) = word(rest);
    let (Some(kind), Some(function)) = (kind.strip_prefix(':'), function.strip_prefix(':')) else {
        let seen = message.trim();
        return Err(format!("expected PROCESS :TYPE :OP VALUE, not {seen:?}"));
    };
    let kind = EventType::named(kind)?;
    let value = match Forms::plain(rest).next() {
        Some(form) => {
            let form = form.map_err(|error| error.reason().to_owned())?;
            with_form(form.text, value)?
        }
        None => Value::Nil,
    };
    let Ok(process) = process.parse::<i64>() else {
        let Some(process) = process.strip_prefix(':') else {
            return Err(format!(
                "{process:?} is neither the number of a process nor a keyword"
            ));
        };
        return Ok(Entry::Other {
            process: process.to_owned(),
            function: function.to_owned(),
            value,
            time: None,
        });
    };
    Ok(Entry::Client(JepsenEvent {
        process: Value::Int(process),
        kind,
        object: Value::Nil,
        function: function.to_owned(),
        value,
        time: None,
        index: None,
    }))
}

/// The first word of `text` and what follows.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{IndependentKeys, Note, parse};

    #[test]
    fn a_log() {
        let text = "\
2016-02-01 INFO jepsen.core - set up
INFO  jepsen.util - 4\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:invoke\t:write\t1
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
INFO  jepsen.util - 4\t:ok\t:read\tnil
INFO  jepsen.util - 2\t:invoke\t:cas\t[2 4]
INFO  jepsen.util - 3\t:invoke\t:cas\t[1 3]
WARN  something else
\tat java.lang.Thread
INFO  jepsen.util - 2\t:fail\t:cas\t[2 4]
INFO  jepsen.util - 3\t:ok\t:cas\t[1 3]
INFO  jepsen.util - 1\t:info\t:write\t1\t:timed-out
INFO  jepsen.util - 4\t:invoke\t:read\tnil
INFO  jepsen.util - 4\t:fail\t:read\t:timed-out
";
        let recorded = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap();
        let texts: Vec<_> = recorded.history.ops().map(|op| op.text()).collect();
        let expected = [
            "read() → nil",
            "write(1) → ?",
            "cas(2, 4) → false",
            "cas(1, 3) → true",
        ];
        assert_eq!(texts, expected);
        assert_eq!(recorded.history.annotations()[0].text, "nemesis start");
        assert_eq!(
            recorded.object_type,
            Some(("cas-register".to_owned(), Params::new()))
        );
    }

    /// The objects and the operations of a log with two keys, and whether a note says so.
    fn of_two_keys(independent: IndependentKeys) -> (Vec<(String, String)>, bool) {
        let text = "\
INFO  jepsen.util - 0\t:invoke\t:write\t[3 1]
INFO  jepsen.util - 1\t:invoke\t:read\t[4 nil]
INFO  jepsen.util - 1\t:ok\t:read\t[4 nil]
INFO  jepsen.util - 1\t:invoke\t:cas\t[3 [1 2]]
INFO  jepsen.util - 1\t:fail\t:cas\t[3 [1 2]]
INFO  jepsen.util - 0\t:info\t:write\t:timed-out
INFO  jepsen.util - 2\t:invoke\t:cas\t[4 [1 2]]
INFO  jepsen.util - 2\t:fail\t:cas\t:timed-out
";
        let options = ReadOptions {
            independent,
            ..ReadOptions::default()
        };
        let recorded = parse(text.as_bytes(), &options).remove(0).unwrap();
        let ops = recorded.history.ops();
        let ops = ops.map(|op| (op.object.to_string(), op.text())).collect();
        (ops, recorded.notes == [Note::IndependentKeys])
    }

    #[test]
    fn independent_keys_are_objects() {
        let expected = [
            ("3", "write(1) → ?"),
            ("4", "read() → nil"),
            ("3", "cas(1, 2) → false"),
        ];
        let expected = expected.map(|(object, op)| (object.to_owned(), op.to_owned()));
        let (ops, has_note) = of_two_keys(IndependentKeys::Detect);
        assert_eq!(ops, expected);
        assert!(has_note);
        let (ops, has_note) = of_two_keys(IndependentKeys::Always);
        assert_eq!(ops, expected);
        assert!(!has_note, "they were asked for");
        let (ops, has_note) = of_two_keys(IndependentKeys::Never);
        assert_eq!(ops[0], ("nil".to_owned(), "write(3, 1) → ?".to_owned()));
        assert!(!has_note);
    }

    #[test]
    fn refusals_name_the_line_and_the_reason() {
        let cases = [
            (
                "1\t:ok\t:read\tnil",
                "process 1 returns without an open call",
            ),
            (
                "1\t:invoke",
                "expected PROCESS :TYPE :OP VALUE, not \"1\\t:invoke\"",
            ),
            (
                "x\t:invoke\t:read\tnil",
                "\"x\" is neither the number of a process nor a keyword",
            ),
            (
                "1\t:invoke\t:cas\t[1",
                "the form that begins here does not end",
            ),
            (
                "1\t:invoke\t:read\tnilINFO  jepsen.util - 1\t:ok\t:read\tnil",
                "two operations on one line",
            ),
        ];
        for (rest, reason) in cases {
            let text =
                format!("INFO  jepsen.util - :nemesis :info :x\nINFO  jepsen.util - {rest}\n");
            let error = parse(text.as_bytes(), &ReadOptions::default())
                .remove(0)
                .unwrap_err();
            assert_eq!(error.to_string(), format!("line 2: {reason}"));
        }
        let text = "INFO  jepsen.util - 1 :invoke :read nil\ngarbage\n";
        let error = parse(text.as_bytes(), &ReadOptions::default())
            .remove(0)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2: neither an operation nor another line of a log"
        );
    }
}
