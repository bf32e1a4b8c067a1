//! Histories whose operations say where in the order of the object they took effect, against an oracle that tries all orders.

use linpoint::history::{Call, Operation};
use linpoint::spec::Sampler;
use linpoint::{
    Checker, Config, EngineChoice, History, HistoryBuilder, Ties, Value, Verdict, object_type,
};

/// An operation of a queue: what it puts in, or takes out; `None` for a removal that found nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Done {
    Enqueue(i64),
    Dequeue(Option<i64>),
}

#[derive(Clone, Debug)]
struct Draft {
    /// `None` for a pending removal.
    done: Option<Done>,
    call: i64,
    ret: Option<i64>,
    hint: Option<i64>,
}

/// A sequential run of a queue, drawn out in time, with numbers that are mostly right.
fn drafts(seed: u64) -> Vec<Draft> {
    let mut sampler = Sampler::new(seed, None);
    let mut queue = std::collections::VecDeque::new();
    let count = 2 + sampler.below(5) as i64;
    (0..count)
        .map(|i| {
            let done = match sampler.percent(50) {
                true => {
                    let value = sampler.below(3) as i64;
                    queue.push_back(value);
                    Done::Enqueue(value)
                }
                false => Done::Dequeue(queue.pop_front()),
            };
            let spread = [1, 4, 12][sampler.below(3)];
            let is_pending = sampler.percent(10);
            let hint = sampler
                .percent(60)
                .then(|| i + [0, 0, 0, 0, 1, -1, 2][sampler.below(7)]);
            Draft {
                done: (!is_pending || matches!(done, Done::Enqueue(_))).then_some(done),
                call: 2 * i - sampler.below(spread) as i64,
                ret: (!is_pending).then(|| 2 * i + 1 + sampler.below(spread) as i64),
                hint,
            }
        })
        .collect()
}

/// Whether some order of the operations obeys real time, the hints and the queue. Pending operations may be left out.
fn has_order(drafts: &[Draft]) -> bool {
    fn extend(drafts: &[Draft], used: &mut Vec<usize>, queue: &[i64]) -> bool {
        let left: Vec<usize> = (0..drafts.len()).filter(|i| !used.contains(i)).collect();
        if left.iter().all(|&i| drafts[i].ret.is_none()) {
            return true;
        }
        left.iter().any(|&i| {
            let next = &drafts[i];
            let is_first = left.iter().all(|&other| {
                let other = &drafts[other];
                // Touching operations overlap.
                other.ret.is_none_or(|ret| ret >= next.call)
            });
            let is_numbered = used.iter().all(|&before| {
                let hints = drafts[before].hint.zip(next.hint);
                hints.is_none_or(|(before, now)| before <= now)
            });
            let queue = match next.done {
                Some(Done::Enqueue(value)) => Some([queue, &[value]].concat()),
                Some(Done::Dequeue(value)) => (queue.first().copied() == value)
                    .then(|| queue.get(1..).unwrap_or_default().to_vec()),
                None => Some(queue.get(1..).unwrap_or_default().to_vec()),
            };
            let Some(queue) = queue.filter(|_| is_first && is_numbered) else {
                return false;
            };
            used.push(i);
            let found = extend(drafts, used, &queue);
            used.pop();
            found
        })
    }
    extend(drafts, &mut Vec::new(), &[])
}

fn history(drafts: &[Draft]) -> History {
    let mut builder = HistoryBuilder::new();
    for (process, draft) in (0i64..).zip(drafts) {
        let (call, result) = match draft.done {
            Some(Done::Enqueue(value)) => (Call::new("enq", value), Value::Nil),
            Some(Done::Dequeue(value)) => {
                let result = value.map_or(Value::Nil, Value::Int);
                (Call::new("deq", Value::Nil), result)
            }
            None => (Call::new("deq", Value::Nil), Value::Nil),
        };
        let operation = Operation {
            process: Some(process.into()),
            call,
            result,
            called: draft.call,
            returned: draft.ret,
        };
        builder.operation(0, operation).expect("an operation");
        if let Some(hint) = draft.hint {
            builder.hint(hint);
        }
    }
    builder.finish(Ties::CallFirst).expect("a history")
}

#[test]
fn hints_are_kept_as_the_definition_says() {
    let queue = object_type("queue", &Default::default())
        .unwrap()
        .with_hints();
    let (mut linearizable, mut against_hints) = (0, 0);
    const HISTORIES: u64 = 20_000;
    for seed in 0..HISTORIES {
        let drafts = drafts(seed);
        let expected = has_order(&drafts);
        let history = history(&drafts);
        for engine in [EngineChoice::Auto, EngineChoice::Brute] {
            let checker = Checker::new(Config::default().with_engine(engine));
            let report = checker.check_recorded(&queue, &history).unwrap();
            let found = matches!(report.verdict, Verdict::Linearizable(_));
            assert_eq!(found, expected, "{seed}: {drafts:?}");
            if let Verdict::Violation(violation) = &report.verdict {
                against_hints += u64::from(violation.core.claim().kind() == "against-hints");
            }
        }
        linearizable += u64::from(expected);
    }
    let violations = HISTORIES - linearizable;
    assert!(
        linearizable.min(violations) > HISTORIES / 50,
        "{linearizable}"
    );
    assert!(against_hints > HISTORIES / 100, "{against_hints}");
}

#[test]
fn hints_are_written_and_read_back() {
    for seed in 0..200 {
        let history = history(&drafts(seed));
        let mut text = Vec::new();
        linpoint::format::write_jsonl(&history, None, &mut text).unwrap();
        let read = linpoint::format::parse(&text, &Default::default()).remove(0);
        let hints = |history: &History| -> Vec<_> { history.ops().map(|op| op.hint).collect() };
        assert_eq!(hints(&read.unwrap().history), hints(&history));
    }
}

#[test]
fn a_failed_operation_has_no_hint() {
    let text = br#"{"process":0,"event":"call","method":"write","arg":1}
        {"process":0,"event":"crash","hint":5}
        {"process":0,"event":"fail"}
        {"process":1,"event":"call","method":"write","arg":2}"#;
    let read = linpoint::format::parse(text, &Default::default()).remove(0);
    assert!(!read.unwrap().history.has_hints());
}
