use super::*;
use crate::history::OpId;

fn operation(process: Option<i64>, called: i64, returned: Option<i64>) -> Operation {
    Operation {
        process: process.map(Value::from),
        call: Call::new("read", Value::Nil),
        result: Value::Nil,
        called,
        returned,
    }
}

#[test]
fn events_are_paired_and_failed_calls_left_out() {
    let mut builder = HistoryBuilder::new();
    builder.call(1, 0.into(), Call::new("write", 1)).unwrap();
    builder
        .call(2, 1.into(), Call::new("read", Value::Nil))
        .unwrap();
    builder.annotate("partition");
    builder.fail(3, &0.into()).unwrap();
    builder.ret(4, &1.into(), Value::Nil).unwrap();
    builder.call(5, 0.into(), Call::new("write", 2)).unwrap();
    builder.crash(6, &0.into()).unwrap();
    let history = builder.finish(Ties::default()).unwrap();
    let texts: Vec<_> = history.ops().map(|op| op.text()).collect();
    assert_eq!(texts, ["read() → nil", "write(2) → ?"]);
    assert_eq!(history.calls(), [0, 2]);
    assert_eq!(history.rets(), [1, NEVER]);
    assert_eq!(history.annotations()[0].rank, 1);
    let expected = FailedOp {
        process: 0.into(),
        call: Call::new("write", 1),
        line: 1,
        called: 0,
        failed: 1,
        times: (None, None),
    };
    assert_eq!(history.failed(), [expected]);
}

#[test]
fn processes_that_only_failed_are_not_counted() {
    let mut builder = HistoryBuilder::new();
    for process in [7, 8] {
        let call = Call::new("write", process);
        builder.call(1, process.into(), call.on("x")).unwrap();
    }
    builder.fail(2, &7.into()).unwrap();
    builder.ret(3, &8.into(), Value::Nil).unwrap();
    let history = builder.finish(Ties::default()).unwrap();
    assert_eq!(history.processes(), [Value::from(8)]);
    assert_eq!(history.op(OpId(0)).process, &Value::from(8));
    assert_eq!(history.failed()[0].process, Value::from(7));
}

#[test]
fn the_time_of_a_failure_is_optional() {
    for fails_at in [None, Some(15)] {
        let mut builder = HistoryBuilder::new();
        let read = || Call::new("read", Value::Nil);
        builder.call(1, 0.into(), read()).unwrap();
        builder.at(10);
        builder.fail(2, &0.into()).unwrap();
        fails_at.into_iter().for_each(|time| builder.at(time));
        builder.call(3, 0.into(), read()).unwrap();
        builder.at(20);
        builder.ret(4, &0.into(), Value::Nil).unwrap();
        builder.at(30);
        let history = builder.finish(Ties::default()).unwrap();
        assert_eq!(history.op(OpId(0)).times, Some((20, 30)));
        assert_eq!(history.failed()[0].times, (Some(10), fails_at));
    }
}

#[test]
fn malformed_events_are_refused() {
    let mut builder = HistoryBuilder::new();
    let error = builder.ret(3, &0.into(), Value::Nil).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 3: process 0 returns without an open call"
    );
    builder.call(4, 0.into(), Call::new("write", 1)).unwrap();
    let error = builder
        .call(5, 0.into(), Call::new("read", Value::Nil))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 5: process 0 calls \"read\" while its call of \"write\" on line 4 is still open: a client that goes on \
         after a timeout or a crash needs a new process number, and the open call stays pending"
    );
}

#[test]
fn operations_of_one_process_may_touch_but_not_overlap() {
    let mut builder = HistoryBuilder::new();
    builder
        .operation(1, operation(Some(0), 0, Some(2)))
        .unwrap();
    builder
        .operation(2, operation(Some(0), 2, Some(3)))
        .unwrap();
    assert!(builder.finish(Ties::default()).is_ok());

    let mut builder = HistoryBuilder::new();
    builder
        .operation(1, operation(Some(0), 0, Some(2)))
        .unwrap();
    builder
        .operation(2, operation(Some(0), 1, Some(3)))
        .unwrap();
    let error = builder.finish(Ties::default()).unwrap_err();
    assert_eq!(error.line(), Some(2));
}

#[test]
fn processes_are_made_up_without_overlap() {
    let mut builder = HistoryBuilder::new();
    for (called, returned) in [(0, Some(5)), (1, Some(2)), (3, None), (6, Some(7))] {
        builder
            .operation(1, operation(None, called, returned))
            .unwrap();
    }
    let history = builder.finish(Ties::default()).unwrap();
    let processes: Vec<_> = history.process_column().iter().map(|p| p.0).collect();
    assert_eq!(processes, [0, 1, 1, 0]);
}

#[test]
fn times_may_be_extreme() {
    let (first, last) = (i64::MIN, i64::MAX);
    for ties in [Ties::CallFirst, Ties::ReturnFirst] {
        // The rows are not in the order of time, so that the times are looked at.
        let mut builder = HistoryBuilder::new();
        for (process, called, returned) in [
            (0, last, None),
            (1, 0, Some(last)),
            (0, first, Some(0)),
            (2, first, Some(first + 1)),
            (3, first, None),
        ] {
            let operation = operation(Some(process), called, returned);
            builder.operation(1, operation).unwrap();
        }
        let history = builder.finish(ties).unwrap();
        let (last_call, last_return) = match ties {
            Ties::CallFirst => (6, 7),
            Ties::ReturnFirst => (7, 6),
        };
        let (middle_call, middle_return) = match ties {
            Ties::CallFirst => (4, 5),
            Ties::ReturnFirst => (5, 4),
        };
        let calls = [0, 1, 2, middle_call, last_call];
        let rets = [middle_return, 3, NEVER, last_return, NEVER];
        assert_eq!((history.calls(), history.rets()), (&calls[..], &rets[..]));
    }
}

#[test]
fn an_operation_that_ends_at_the_largest_time_precedes_a_pending_one() {
    let mut builder = HistoryBuilder::new();
    let pending = operation(Some(0), i64::MAX, None);
    builder.operation(1, pending).unwrap();
    let instant = operation(Some(0), i64::MAX, Some(i64::MAX));
    builder.operation(2, instant).unwrap();
    assert!(builder.finish(Ties::CallFirst).is_ok());
}

#[test]
fn filtering_closes_the_gaps() {
    let mut builder = HistoryBuilder::new();
    for (called, returned) in [(0, Some(5)), (1, Some(2)), (3, None)] {
        builder
            .operation(1, operation(None, called, returned))
            .unwrap();
    }
    let history = builder
        .finish(Ties::default())
        .unwrap()
        .filtered(|id| id != OpId(1));
    assert_eq!(history.calls(), [0, 1]);
    assert_eq!(history.rets(), [2, NEVER]);
}
