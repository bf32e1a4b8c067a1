//! Histories for the tests of readers and writers.

use proptest::prelude::*;

use crate::history::{Call, FailedOp, History, HistoryBuilder, Operation, Ties};
use crate::value::Value;

/// The content of a history, without the numbers of its values, and without what failed.
pub(super) fn contents(history: &History) -> Vec<String> {
    let notes = history.annotations().iter().map(|note| format!("{note:?}"));
    let ops = history.ops().map(|op| {
        format!(
            "{:?} {:?} {:?} {:?} {:?} {} {} {:?} {:?}",
            op.process,
            op.object,
            op.method,
            op.argument,
            op.result,
            op.call,
            op.ret,
            op.times,
            op.hint
        )
    });
    ops.chain(notes).collect()
}

/// What failed in a history, without the lines.
pub(super) fn failures(history: &History) -> Vec<FailedOp> {
    let without_line = |op: &FailedOp| FailedOp {
        line: 0,
        ..op.clone()
    };
    history.failed().iter().map(without_line).collect()
}

pub(super) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Nil),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
        Just(Value::number("1.5")),
        Just(Value::number("-98765432109876543210")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::list),
            prop::collection::btree_map(".{0,3}", inner, 0..3)
                .prop_map(|map| Value::map(map.into_iter().map(|(k, v)| (k.into(), v)))),
        ]
    })
}

prop_compose! {
    pub(super) fn timed_history()(
        ops in prop::collection::vec(
            (any_value(), "[a-z\"\\\\]{0,3}", any_value(), any_value(), 0i64..20, prop::option::of(1i64..5)),
            0..12,
        ),
        response_first in any::<bool>(),
        is_hinted in prop::bool::weighted(0.25),
    ) -> History {
        let mut builder = HistoryBuilder::new();
        for (object, method, argument, result, called, length) in ops {
            let operation = Operation {
                process: None,
                call: Call { object, method, argument },
                result,
                called,
                returned: length.map(|length| called + length),
            };
            builder.operation(1, operation).unwrap();
            if is_hinted && called % 3 > 0 {
                builder.hint(called - 9);
            }
        }
        let ties = if response_first { Ties::ReturnFirst } else { Ties::CallFirst };
        builder.finish(ties).unwrap()
    }
}

prop_compose! {
    pub(super) fn event_history()(
        steps in prop::collection::vec((0i64..4, any_value(), any_value(), 0u8..8), 0..24),
        is_hinted in prop::bool::weighted(0.25),
    ) -> History {
        let mut builder = HistoryBuilder::new();
        for (process, object, value, what) in steps {
            let process = Value::from(process);
            let open = builder.open_call(&process).is_some();
            match what {
                0 => builder.annotate_at(value.to_string(), value.as_int()),
                1 if open => builder.fail(1, &process).unwrap(),
                2 if open && is_hinted => {
                    builder.ret(1, &process, value).unwrap();
                    builder.hint(7);
                }
                _ if open => builder.ret(1, &process, value).unwrap(),
                _ => builder.call(1, process, Call::new("m", value).on(object)).unwrap(),
            }
        }
        builder.finish(Ties::default()).unwrap()
    }
}
