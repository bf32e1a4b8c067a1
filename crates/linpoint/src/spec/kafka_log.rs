//! Logs by key with sends and polls, as in Kafka.

use super::{
    CallView, DecodeError, Detail, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary, decode,
};
use crate::value::Value;

/// Append-only logs by key, at first empty.
///
/// A send appends a record with an offset that is larger than all before in that log; offsets may be left out. A poll sees records
/// of some logs, which stand together there, with their offsets: none of a log between the first and the last that it saw of it
/// may be missing. It may begin anywhere and end anywhere, since it depends on the consumer where it begins and on the
/// broker how much it gets.
#[derive(Clone, Debug)]
pub struct KafkaLog;

/// A step of an operation on a [`KafkaLog`]; an operation is a list of these, done at once. One without steps does nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KafkaStep {
    /// Appends a value to the log of a key.
    Send(Value, Value),
    /// Sees records.
    Poll,
}

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Record {
    /// Its offset, once that is told.
    pub offset: Option<i64>,
    /// Its value.
    pub value: Value,
}

/// The logs that are not empty, sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Logs(Vec<Log>);

/// A key and the records of its log.
type Log = (Value, Vec<Record>);

/// Records that a poll saw, by key.
type Seen = Vec<(Value, Vec<(i64, Value)>)>;

impl Logs {
    fn get(&self, key: &Value) -> &[Record] {
        let found = self.0.binary_search_by(|(k, _)| k.cmp(key));
        found.map_or(&[], |found| &self.0[found].1)
    }

    fn set(&self, key: &Value, log: Vec<Record>) -> Self {
        let mut logs = self.0.clone();
        match logs.binary_search_by(|(k, _)| k.cmp(key)) {
            Ok(found) => logs[found].1 = log,
            Err(place) => logs.insert(place, (key.clone(), log)),
        }
        Logs(logs)
    }

    /// The logs after a send, if its offset is possible.
    fn sent(&self, key: &Value, offset: Option<i64>, value: &Value) -> Option<Self> {
        let mut log = self.get(key).to_vec();
        log.push(Record {
            offset,
            value: value.clone(),
        });
        has_room(&log).then(|| self.set(key, log))
    }

    /// The logs in which a poll may have seen these records: some offsets are known then that were not before.
    fn polled(&self, seen: &Seen) -> Vec<Self> {
        let mut possible = vec![self.clone()];
        for (key, records) in seen.iter().filter(|(_, records)| !records.is_empty()) {
            let with_offsets = |logs: &Logs| -> Vec<Logs> {
                let told = told(logs.get(key), records);
                told.into_iter().map(|log| logs.set(key, log)).collect()
            };
            possible = possible.iter().flat_map(with_offsets).collect();
        }
        possible.sort();
        possible.dedup();
        possible
    }
}

/// Whether there are offsets from 0 on for all records, in their order.
fn has_room(log: &[Record]) -> bool {
    let mut least = Some(0);
    log.iter().all(|record| {
        let offset = record.offset.or(least);
        let fits = least.is_some() && offset >= least;
        least = offset.and_then(|offset| offset.checked_add(1));
        fits
    })
}

/// The log with the offsets that were seen, for each place at which the records may stand.
fn told(log: &[Record], seen: &[(i64, Value)]) -> Vec<Vec<Record>> {
    let places = 0..(log.len() + 1).saturating_sub(seen.len());
    let with_offsets = |first: usize| {
        let mut log = log.to_vec();
        for (record, (offset, value)) in log[first..].iter_mut().zip(seen) {
            if record.value != *value || record.offset.is_some_and(|known| known != *offset) {
                return None;
            }
            record.offset = Some(*offset);
        }
        has_room(&log).then_some(log)
    };
    places.filter_map(with_offsets).collect()
}

/// The offset after the end of a log, if all offsets that are not known are as small as they can be. `None` if there is none
/// left: offsets have 64 bits, as those of Kafka.
fn end(log: &[Record]) -> Option<i64> {
    log.iter().try_fold(0, |least, record| {
        record.offset.unwrap_or(least).checked_add(1)
    })
}

/// The most records of a log that explanations list: the last ones.
const MOST_RECORDS: usize = 12;

/// `8: ["a" at 0, "b" at 1]`.
fn log_words((key, log): &Log) -> String {
    let record = |record: &Record| match record.offset {
        Some(offset) => format!("{} at {offset}", record.value),
        None => format!("{} at an offset that is not known", record.value),
    };
    let hidden = log.len().saturating_sub(MOST_RECORDS);
    let records: Vec<String> = log[hidden..].iter().map(record).collect();
    let records = records.join(", ");
    match hidden {
        0 => format!("{key}: [{records}]"),
        _ => format!("{key}: [{hidden} records, {records}]"),
    }
}

fn send_answer(key: &Value, offset: Option<i64>, value: &Value) -> Value {
    let offset = offset.map_or(Value::Nil, Value::Int);
    let record = Value::list([offset, value.clone()]);
    Value::list(["send".into(), key.clone(), record])
}

fn poll_answer(seen: &Seen) -> Value {
    let record = |(offset, value): &(i64, Value)| Value::list([(*offset).into(), value.clone()]);
    let logs = seen
        .iter()
        .filter(|(_, records)| !records.is_empty())
        .map(|(key, records)| (key.clone(), Value::list(records.iter().map(record))));
    Value::list(["poll".into(), Value::map(logs)])
}

/// A few of the answers that a poll may get: nothing, the first record of each log, and all records after the last one whose
/// offset is not known.
fn some_polls(logs: &Logs) -> Vec<Seen> {
    let known = |log: &[Record]| -> Vec<(i64, Value)> {
        let from = log.iter().rposition(|record| record.offset.is_none());
        let known = &log[from.map_or(0, |last| last + 1)..];
        let pair = |record: &Record| Some((record.offset?, record.value.clone()));
        known.iter().filter_map(pair).collect()
    };
    let all: Seen = logs
        .0
        .iter()
        .map(|(key, log)| (key.clone(), known(log)))
        .collect();
    let first = all.iter().map(|(key, records)| {
        let first = records.iter().take(1).cloned().collect();
        (key.clone(), first)
    });
    let first: Seen = first.collect();
    let mut polls = vec![Seen::new(), first, all];
    polls.dedup_by_key(|seen| poll_answer(seen));
    polls
}

impl KafkaLog {
    /// What each step may answer, and the logs that it leaves; a few of the possible answers.
    fn outcomes_of(step: &KafkaStep, logs: &Logs) -> Vec<(Value, Logs)> {
        match step {
            KafkaStep::Send(key, value) => {
                let Some(next) = end(logs.get(key)) else {
                    return Vec::new();
                };
                let send = |offset| {
                    let sent = logs.sent(key, offset, value)?;
                    Some((send_answer(key, offset, value), sent))
                };
                let offsets = [Some(next), None].into_iter();
                offsets.filter_map(send).collect()
            }
            KafkaStep::Poll => some_polls(logs)
                .iter()
                .map(|seen| (poll_answer(seen), logs.clone()))
                .collect(),
        }
    }

    /// The logs that steps leave whose answers are not known: an offset that is not told stands for every possible one.
    fn left_untold(logs: &Logs, steps: &[KafkaStep]) -> Option<Logs> {
        steps
            .iter()
            .try_fold(logs.clone(), |logs, step| match step {
                KafkaStep::Send(key, value) => logs.sent(key, None, value),
                KafkaStep::Poll => Some(logs),
            })
    }

    /// The logs that a step with this answer may leave.
    fn left_by(step: &KafkaStep, answer: &Value, logs: &Logs) -> Vec<Logs> {
        match step {
            KafkaStep::Send(key, value) => {
                let sent = |offset| logs.sent(key, offset, value).into_iter().collect();
                offset_answered(answer).map_or_else(|_| Vec::new(), sent)
            }
            KafkaStep::Poll => {
                let polled = |seen| logs.polled(&seen);
                seen_by(answer).map_or_else(|_| Vec::new(), polled)
            }
        }
    }
}

/// The key and the value of a recorded step `["send", key, value]`, or `None` for a poll.
fn recorded_step(recorded: &Value) -> Result<KafkaStep, DecodeError> {
    let malformed = || format!("a step is [\"send\", key, value] or [\"poll\"], not {recorded}");
    let items = recorded.as_list().ok_or_else(malformed)?;
    let letter = items.first().and_then(Value::as_text);
    match (letter.map(|text| text.trim_start_matches(':')), items) {
        (Some("send"), [_, key, value]) => {
            let key = decode::name(key).ok_or_else(malformed)?;
            Ok(KafkaStep::Send(key, value.clone()))
        }
        (Some("poll"), [_] | [_, _]) => Ok(KafkaStep::Poll),
        _ => Err(malformed().into()),
    }
}

fn steps(recorded: &Value) -> Result<&[Value], DecodeError> {
    recorded
        .as_list()
        .ok_or_else(|| format!("the steps are a list, not {recorded}").into())
}

/// The offset in the answer `["send", key, [offset, value]]`.
fn offset_answered(answer: &Value) -> Result<Option<i64>, DecodeError> {
    let record = answer.as_list().and_then(|items| items.get(2));
    match record.and_then(Value::as_list) {
        Some([Value::Nil, _]) => Ok(None),
        Some([Value::Int(offset @ 0..), _]) => Ok(Some(*offset)),
        _ => Err(format!("a send answers [\"send\", key, [offset, value]], not {answer}").into()),
    }
}

/// The records in the answer `["poll", {key: [[offset, value], ...]}]`.
fn seen_by(answer: &Value) -> Result<Seen, DecodeError> {
    let malformed =
        || format!("a poll answers [\"poll\", {{key: [[offset, value], ...]}}], not {answer}");
    let logs = match answer.as_list() {
        Some([_]) | Some([_, Value::Nil]) => return Ok(Seen::new()),
        Some([_, Value::Map(logs)]) => logs,
        _ => return Err(malformed().into()),
    };
    let record = |record: &Value| match record.as_list() {
        Some([Value::Int(offset @ 0..), value]) => Ok((*offset, value.clone())),
        _ => Err(malformed()),
    };
    let mut seen = Seen::new();
    for (key, records) in logs.iter() {
        let key = decode::name(key).ok_or_else(malformed)?;
        let records = records.as_list().ok_or_else(malformed)?;
        let records = records.iter().map(record).collect::<Result<Vec<_>, _>>()?;
        seen.push((key, records));
    }
    Ok(seen)
}

impl Spec for KafkaLog {
    type Op = Vec<KafkaStep>;
    type Ret = Value;
    type State = Logs;

    fn init(&self) -> Logs {
        Logs::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the logs",
            put: "sent",
            taken: "removed",
            place: "log",
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Logs, _: Option<&Value>) -> String {
        match state.0.as_slice() {
            [] => "the logs were empty".to_owned(),
            logs => {
                let logs: Vec<String> = logs.iter().map(log_words).collect();
                format!("the logs held {{{}}}", logs.join(", "))
            }
        }
    }

    fn details(&self, op: &Vec<KafkaStep>, ret: Option<&Value>) -> Vec<Detail> {
        let answers = ret.and_then(Value::as_list);
        let of_step = |(place, step): (usize, &KafkaStep)| {
            let answer = answers.and_then(|answers| answers.get(place));
            match step {
                KafkaStep::Send(log, value) => vec![Detail::Sends {
                    log: log.clone(),
                    value: value.clone(),
                    offset: answer.and_then(|answer| offset_answered(answer).ok()?),
                }],
                KafkaStep::Poll => {
                    let seen = answer.and_then(|answer| seen_by(answer).ok());
                    let sees = |(log, records)| Detail::Sees { log, records };
                    seen.unwrap_or_default().into_iter().map(sees).collect()
                }
            }
        };
        op.iter().enumerate().flat_map(of_step).collect()
    }

    fn answer_words(&self, before: &Logs, op: &Vec<KafkaStep>, answer: &Value) -> String {
        let is_poll = |step: &KafkaStep| *step == KafkaStep::Poll;
        if let [KafkaStep::Send(key, _)] = op.as_slice()
            && let Some(least) = end(before.get(key))
        {
            format!("an offset of {least} or more")
        } else if op.is_empty() {
            answer.to_string()
        } else if op.iter().all(is_poll) {
            "some of these records, in their order and without gaps".to_owned()
        } else if op.iter().any(is_poll) {
            "larger offsets, and some of these records, in their order and without gaps".to_owned()
        } else {
            "larger offsets".to_owned()
        }
    }

    fn state_value(&self, state: &Logs) -> Value {
        let record = |record: &Record| {
            let offset = record.offset.map_or(Value::Nil, Value::Int);
            Value::list([offset, record.value.clone()])
        };
        let log =
            |(key, log): &Log| Value::list([key.clone(), Value::list(log.iter().map(record))]);
        Value::list(state.0.iter().map(log))
    }

    fn apply(&self, state: &Logs, op: &Vec<KafkaStep>) -> Outcomes<Value, Logs> {
        let mut possible = vec![(Vec::new(), state.clone())];
        for step in op {
            let go_on = |(answers, logs): &(Vec<Value>, Logs)| {
                let extended = |(answer, next)| {
                    let mut answers = answers.clone();
                    answers.push(answer);
                    (answers, next)
                };
                let outcomes = Self::outcomes_of(step, logs).into_iter();
                outcomes.map(extended).collect::<Vec<_>>()
            };
            possible = possible.iter().flat_map(go_on).collect();
        }
        let listed = |(answers, logs): (Vec<Value>, Logs)| (Value::list(answers), logs);
        Outcomes::Many(possible.into_iter().map(listed).collect())
    }

    fn step(&self, state: &Logs, op: &Vec<KafkaStep>, ret: Option<&Value>) -> Vec<Logs> {
        let Some(answers) = ret.and_then(Value::as_list) else {
            return Self::left_untold(state, op).into_iter().collect();
        };
        if answers.len() != op.len() {
            return Vec::new();
        }
        let mut possible = vec![state.clone()];
        for (step, answer) in op.iter().zip(answers) {
            let left = |logs: &Logs| Self::left_by(step, answer, logs);
            possible = possible.iter().flat_map(left).collect();
        }
        possible.sort();
        possible.dedup();
        possible
    }

    /// An offset that is not told may be any that fits.
    fn stands_for(&self, state: &Logs, other: &Logs) -> bool {
        let record = |(record, other): (&Record, &Record)| {
            record.value == other.value
                && (record.offset.is_none() || record.offset == other.offset)
        };
        let log = |((key, log), (other, records)): (&Log, &Log)| {
            key == other && log.len() == records.len() && log.iter().zip(records).all(record)
        };
        state.0.len() == other.0.len() && state.0.iter().zip(&other.0).all(log)
    }

    fn key(&self, op: &Vec<KafkaStep>) -> Option<Value> {
        let key_of = |step: &KafkaStep| match step {
            KafkaStep::Send(key, _) => Some(key.clone()),
            KafkaStep::Poll => None,
        };
        let key = key_of(op.first()?)?;
        let is_same = |step: &KafkaStep| key_of(step).as_ref() == Some(&key);
        op.iter().all(is_same).then_some(key)
    }

    fn is_pure(&self, op: &Vec<KafkaStep>, _: Option<&Value>) -> bool {
        op.is_empty()
    }
}

impl Recorded for KafkaLog {
    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        let mut names = decode::Names::default();
        let steps = |value: &'_ Value| value.as_list().unwrap_or_default().to_vec();
        for (call, result) in history {
            let answers = result.map_or_else(Vec::new, steps);
            for step in steps(call.argument).iter().chain(&answers) {
                match step.as_list() {
                    Some([_, key, _]) => names.add(key)?,
                    Some([_, Value::Map(logs)]) => names.add_keys(logs)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn decode(&self, call: CallView<'_>) -> Result<Vec<KafkaStep>, DecodeError> {
        match call.method {
            "poll" if call.argument.is_nil() => Ok(vec![KafkaStep::Poll]),
            "send" | "poll" | "txn" => {
                let steps = steps(call.argument)?;
                steps.iter().map(recorded_step).collect()
            }
            "assign" | "subscribe" | "crash" | "debug-topic-partitions" => Ok(Vec::new()),
            _ => call.unknown(),
        }
    }

    fn decode_result(&self, op: &Vec<KafkaStep>, result: &Value) -> Result<Value, DecodeError> {
        let only_sends = !op.contains(&KafkaStep::Poll);
        let answer = |(step, recorded): (&KafkaStep, &Value)| {
            match (step, recorded_step(recorded)?) {
                (KafkaStep::Poll, KafkaStep::Poll) => Ok(poll_answer(&seen_by(recorded)?)),
                (KafkaStep::Send(key, value), KafkaStep::Send(told, answered)) if *key == told => {
                    // Without an offset, the value is repeated alone.
                    if answered == *value {
                        return Ok(send_answer(key, None, value));
                    }
                    let offset = offset_answered(recorded)?;
                    let same = answered.as_list().and_then(|record| record.get(1)) == Some(value);
                    let answer = same.then(|| send_answer(key, offset, value));
                    answer
                        .ok_or_else(|| format!("{recorded} is no answer to sending {value}").into())
                }
                _ => Err(format!("{recorded} is not what the operation asked for").into()),
            }
        };
        match result {
            // What these answer says nothing about the logs.
            _ if op.is_empty() => Ok(Value::list([])),
            Value::Nil if only_sends => {
                let untold = |step: &KafkaStep| match step {
                    KafkaStep::Send(key, value) => Some(send_answer(key, None, value)),
                    KafkaStep::Poll => None,
                };
                Ok(Value::list(op.iter().filter_map(untold)))
            }
            _ => {
                let recorded = steps(result)?;
                if recorded.len() != op.len() {
                    return Err(format!("{result} is not what the operation asked for").into());
                }
                let answers = op.iter().zip(recorded).map(answer);
                Ok(Value::list(
                    answers.collect::<Result<Vec<_>, DecodeError>>()?,
                ))
            }
        }
    }
}

impl Simulated for KafkaLog {
    /// Sends tell their offsets, as brokers do.
    fn perform(
        &self,
        state: &mut Logs,
        op: &Vec<KafkaStep>,
        sampler: &mut Sampler,
    ) -> Option<Value> {
        let outcome = |step: &KafkaStep| {
            let outcomes = Self::outcomes_of(step, state);
            let (answer, next) = match step {
                KafkaStep::Send(..) => outcomes.into_iter().next()?,
                KafkaStep::Poll => sampler.pick(&outcomes),
            };
            *state = next;
            Some(answer)
        };
        let answers: Option<Vec<Value>> = op.iter().map(outcome).collect();
        answers.map(Value::list)
    }

    fn sample(&self, _: &Logs, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        if sampler.percent(50) {
            return ("poll", Value::Nil);
        }
        let key = Value::Int(sampler.below(2) as i64);
        let send = Value::list(["send".into(), key, sampler.value()]);
        ("send", Value::list([send]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn sequential_behaviour() {
        run(
            &KafkaLog,
            r#"
            poll() [["poll", {}]]
            send([["send", 8, "a"]]) [["send", 8, [0, "a"]]]
            subscribe([8]) null
            send([["send", 8, "b"], ["send", 9, "x"]]) [["send", 8, [3, "b"]], ["send", 9, [0, "x"]]]
            poll() [["poll", {"8": [[0, "a"], [3, "b"]]}]]
            poll() [["poll", {"8": [[3, "b"]], "9": [[0, "x"]]}]]
            send([["send", 8, "c"]]) null
            poll() [["poll", {"8": [[7, "c"]]}]]
            txn([["send", 8, "d"], ["poll"]]) [["send", 8, [8, "d"]], ["poll", {"8": [[7, "c"], [8, "d"]]}]]
            "#,
        );
    }

    /// The logs after these records were sent to the log of key 0; an offset of -1 is not told.
    fn logs(records: &[(i64, i64)]) -> Logs {
        let send = |logs: Logs, &(offset, value): &(i64, i64)| {
            let offset = Some(offset).filter(|&offset| offset >= 0);
            logs.sent(&0.into(), offset, &value.into()).unwrap()
        };
        records.iter().fold(Logs::default(), send)
    }

    #[test]
    fn polls_see_records_that_stand_together() {
        let poll = |logs: &Logs, seen: &[(i64, i64)]| {
            let seen = seen.iter().map(|&(offset, value)| (offset, value.into()));
            logs.polled(&vec![(0.into(), seen.collect())]).len()
        };
        let told = logs(&[(0, 5), (1, 6), (2, 7)]);
        assert_eq!(poll(&told, &[(0, 5), (1, 6)]), 1);
        assert_eq!(poll(&told, &[(0, 5), (2, 7)]), 0, "one was passed over");
        assert_eq!(poll(&told, &[(1, 6), (0, 5)]), 0, "the order is another");
        assert_eq!(poll(&told, &[(1, 7)]), 0, "another value is there");
        assert_eq!(poll(&told, &[(3, 8)]), 0, "it was not sent");
        // Two records with the same value: either may have the offset, if there is room for it.
        let untold = logs(&[(0, 5), (-1, 6), (-1, 6), (9, 7)]);
        assert_eq!(poll(&untold, &[(4, 6)]), 2);
        assert_eq!(poll(&untold, &[(1, 6)]), 1);
        assert_eq!(poll(&untold, &[(9, 6)]), 0);
    }

    #[test]
    fn offsets_grow() {
        let sent = |offset| logs(&[(3, 5), (-1, 6)]).sent(&0.into(), Some(offset), &7.into());
        assert!(sent(4).is_none(), "the record before has 4 at least");
        assert!(sent(5).is_some());
        let full = logs(&[(i64::MAX, 5)]);
        for offset in [Some(i64::MAX), None] {
            assert!(full.sent(&0.into(), offset, &6.into()).is_none());
        }
        let send = KafkaStep::Send(0.into(), 6.into());
        assert!(KafkaLog::outcomes_of(&send, &full).is_empty());
    }

    /// An open send may get any offset, so the state that it leaves must not have some of them only.
    #[test]
    fn an_offset_that_is_not_told_is_any() {
        let send = vec![KafkaStep::Send(0.into(), 6.into())];
        let left = KafkaLog.step(&logs(&[(3, 5)]), &send, None);
        assert_eq!(left, [logs(&[(3, 5), (-1, 6)])]);
    }

    /// In EDN, 1 and "1" are two logs; in JSON, the key "1" of a poll may mean the log 1.
    #[test]
    fn names_that_cannot_be_told_apart_are_refused() {
        use crate::format::{ReadOptions, parse};
        let read = |edn: &str| {
            let recorded = parse(edn.as_bytes(), &ReadOptions::default()).remove(0);
            let kafka = crate::object_type("kafka-log", &Default::default()).unwrap();
            kafka.validate(&recorded.unwrap().history)
        };
        let send = |key: &str, value: i64| {
            format!(
                "{{:type :invoke, :f :send, :value [[:send {key} {value}]], :process 0}}\n\
                 {{:type :ok, :f :send, :value [[:send {key} [0 {value}]]], :process 0}}\n"
            )
        };
        let poll = |logs: &str| {
            format!(
                "{{:type :invoke, :f :poll, :value nil, :process 0}}\n\
                 {{:type :ok, :f :poll, :value [[:poll {{{logs}}}]], :process 0}}\n"
            )
        };
        let both = read(&(send("1", 5) + &send("\"1\"", 6))).unwrap_err();
        assert!(both.to_string().contains("the names 1 and \"1\""), "{both}");
        assert!(read(&(send("1", 5) + &poll("1 [[0 5]], \"1\" [[0 6]]"))).is_err());
        assert!(read(&(send("1", 5) + &poll("\"1\" [[0 5]]"))).is_ok());
        assert!(read(&(send("\"1\"", 5) + &poll("\"1\" [[0 5]]"))).is_ok());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let send = vec![KafkaStep::Send(0.into(), 5.into())];
        let json = |text: &str| -> Value {
            serde_json::from_str::<serde_json::Value>(text)
                .unwrap()
                .into()
        };
        for answer in [
            "7",
            "[]",
            r#"[["send", 0, [0, 6]]]"#,
            r#"[["send", 1, [0, 5]]]"#,
            r#"[["send", 0, [-1, 5]]]"#,
            r#"[["poll", {}]]"#,
        ] {
            assert!(
                KafkaLog.decode_result(&send, &json(answer)).is_err(),
                "{answer}"
            );
        }
        for answer in ["null", r#"[["poll", 5]]"#, r#"[["poll", {"0": [5]}]]"#] {
            let poll = vec![KafkaStep::Poll];
            assert!(
                KafkaLog.decode_result(&poll, &json(answer)).is_err(),
                "{answer}"
            );
        }
    }
}
