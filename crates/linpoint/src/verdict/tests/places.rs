//! Whether what is printed about one place of an object is true: a member of a set, a register of several, an index of a list.

use super::claims::{Case, Treated};
use super::orders::{AllOrders, Given};
use crate::history::{NEVER, Op, OpId};
use crate::spec::{CallView, KeyValue, MultiRegister, Recorded, Register, Set, Spec};
use crate::value::Value;
use crate::verdict::PlaceConflict;

/// "[Operation] misses [value], although [put] had returned before it was called, and no operation had removed it": as the
/// times, calls and answers say; and the value is there in all orders of the others, during the whole operation.
pub(super) fn check_missed<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    id: OpId,
    value: &Value,
    put: OpId,
) {
    let (op, put) = (case.op(id), case.op(put));
    let misses = match (op.method, op.result) {
        ("read", Some(Value::List(members))) => !members.contains(value),
        ("contains" | "remove", Some(answer)) => {
            op.argument == value && *answer == Value::Bool(false)
        }
        _ => false,
    };
    case.expect(misses, "the operation misses the value");
    case.expect(put.method == "add" && put.argument == value, "it was added");
    case.expect(put.ret < op.call, "it was added before");
    let mut called = case.called();
    let is_removed = called.any(|other| {
        let is_refused = case.has_returned(&other) && other.result == Some(&Value::Bool(false));
        let removes = other.method == "remove" && other.argument == value;
        removes && !is_refused
    });
    case.expect(!is_removed, "no operation removed it");
    let orders = case.orders(|other| match other == id {
        true => Treated::LeftOut,
        false => Treated::AsRecorded,
    });
    let mut states = orders.states_between(op.call, op.ret);
    let is_there = states.all(|state| {
        let state = case.object.state_value(state);
        state
            .as_list()
            .is_some_and(|members| members.contains(value))
    });
    case.expect(is_there, "the value is there");
}

/// "[Others] and [operation] contradict each other about [place]": what these operations say about the place has no order,
/// whatever the other operations did there, and has one without any of these results, unless one operation contradicts itself.
pub(super) fn check<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    op: OpId,
    place: &Value,
    others: &[OpId],
) {
    let named: Vec<OpId> = others.iter().copied().chain([op]).collect();
    let has_order = |told: &[OpId]| match case.name {
        "set" => has_order_at(case, &Set, told, |op| about_member(op, place)),
        "multi-register" => {
            let registers = MultiRegister {
                initial: Value::Nil,
            };
            has_order_at(case, &registers, told, |op| about_register(op, place))
        }
        "list" => {
            let index = Register {
                initial: Value::Nil,
                cas: true,
            };
            has_order_at(case, &index, told, |op| about_index(op, place))
        }
        "etcd" => {
            let map = KeyValue {
                missing: Value::Nil,
            };
            has_order_at(case, &map, told, |op| about_key(op, place))
        }
        name => panic!("{name} has no places"),
    };
    case.expect(!has_order(&named), "they contradict each other");
    let contradicts_itself = |&id: &OpId| !has_order(&[id]);
    for &id in named
        .iter()
        .filter(|_| !named.iter().any(contradicts_itself))
    {
        let rest: Vec<OpId> = named.iter().copied().filter(|&other| other != id).collect();
        case.expect(has_order(&rest), "each of them is needed");
    }
    let treated = |id: OpId| match named.contains(&id) {
        true => Treated::AsRecorded,
        false => Treated::Open,
    };
    case.expect(
        case.orders(treated).is_empty(),
        "the history has no such order",
    );
}

/// "[Other] got [place] too", "[other] found the same there and changed it too", "only [other] can have put in what it found, and that
/// has another place", "[by] left another value there, and no operation can have put back what it found": as the calls, times and
/// answers say.
pub(super) fn check_conflict<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    op: OpId,
    place: &Value,
    others: &[OpId],
    conflict: &PlaceConflict,
) {
    let effect = |id: OpId| match case.name {
        "set" => (None, None),
        name => found_and_left(name, &case.op(id), place),
    };
    let (found, left) = effect(op);
    match (conflict, others) {
        (PlaceConflict::GotTwice, [other]) => {
            let has_got = |id: OpId| {
                let op = case.op(id);
                op.method == "append" && op.result == Some(place)
            };
            case.expect(has_got(op) && has_got(*other), "both got the index");
        }
        (PlaceConflict::ChangedTwice, [other]) => {
            let (other_found, other_left) = effect(*other);
            case.expect(found.is_some() && found == other_found, "found the same");
            case.expect(
                [&left, &other_left]
                    .iter()
                    .all(|left| left.is_some() && **left != found),
                "both changed it",
            );
        }
        (PlaceConflict::PutElsewhere, [other]) => {
            let value = case.result(op).expect("it found a value");
            let appends = |op: &Op<'_>| op.method == "append" && op.argument == value;
            let elsewhere = case.op(*other);
            case.expect(appends(&elsewhere), "the other one appended it");
            case.expect(
                elsewhere.result.is_some_and(|index| index != place),
                "it has another index",
            );
            let count = case.called().filter(appends).count();
            case.expect(count == 1, "no other operation appended it");
        }
        (PlaceConflict::ChangedBefore(by), _) => {
            let (changed, op) = (case.op(*by), case.op(op));
            case.expect(others.contains(by), "it is one of them");
            case.expect(changed.ret < op.call, "it had returned before");
            case.expect(
                effect(*by).1.is_some_and(|left| Some(left) != found),
                "it left another value",
            );
            // An index that is given out keeps its value.
            let may_put_back = |other: &Op<'_>| {
                let left = found_and_left(case.name, other, place).1;
                case.name != "list"
                    && other.id != op.id
                    && other.ret > changed.call
                    && left.is_some()
                    && left == found
            };
            // What was changed was what the operation found: a single one had put it there, and not what came since.
            let puts = |other: &Op<'_>| {
                let left = found_and_left(case.name, other, place).1;
                other.id != op.id && other.id != changed.id && left.is_some() && left == found
            };
            let is_single = effect(*by).0 == found && case.called().filter(puts).count() == 1;
            let is_put_back = !is_single && case.called().any(|other| may_put_back(&other));
            case.expect(!is_put_back, "no operation can have put it back");
        }
        (PlaceConflict::TakenBefore(by), _) => {
            let changed = case.op(*by);
            let is_on =
                |other: &Op<'_>, method: &str| other.method == method && other.argument == place;
            case.expect(others.contains(by), "it is one of them");
            case.expect(changed.ret < case.op(op).call, "it had returned before");
            case.expect(is_on(&changed, "remove"), "it removed the member");
            // One that answered that the member was there has not added it.
            let adds = |other: &Op<'_>| {
                let has_failed = other.result == Some(&Value::Bool(false));
                is_on(other, "add") && other.id != op && !has_failed
            };
            // What was removed had been added: a single one did that, and not what came since.
            let may_add = |other: Op<'_>| adds(&other) && other.ret > changed.call;
            let is_single = case.called().filter(adds).count() == 1;
            case.expect(
                is_single || !case.called().any(may_add),
                "none added it since",
            );
        }
        (PlaceConflict::NeverPut, []) => {
            let can_put = |other: Op<'_>| {
                let left = found_and_left(case.name, &other, place).1;
                other.id != op && left.is_some() && left == found
            };
            case.expect(!case.called().any(can_put), "none put it in");
        }
        (PlaceConflict::Other, _) => {}
        _ => case.expect(false, "there is one other operation"),
    }
}

/// What an operation found at a place, and left there, if it says so or may do so.
fn found_and_left(name: &str, op: &Op<'_>, place: &Value) -> (Option<Value>, Option<Value>) {
    match name {
        "list" => match about_index(op, place) {
            Some(said) if said.method == "cas" => {
                let held = said.argument.as_list().map(|pair| pair[1].clone());
                (Some(Value::Nil), held)
            }
            said => (said.and_then(|said| said.result), None),
        },
        "etcd" => match about_key(op, place) {
            Some(said) if said.method == "put" => {
                let value = said.argument.as_list().map(|pair| pair[1].clone());
                (None, value)
            }
            Some(said) if said.method == "delete" => {
                let was_missing = said.result == Some(Value::Bool(false));
                (was_missing.then_some(Value::Nil), Some(Value::Nil))
            }
            said => (said.and_then(|said| said.result), None),
        },
        "multi-register" => {
            let Some(said) = about_register(op, place) else {
                return (None, None);
            };
            let steps = said.argument.as_list().expect("steps");
            let answers = said.result.as_ref().and_then(Value::as_list);
            let (mut found, mut left) = (None, None);
            for (i, step) in steps.iter().enumerate() {
                let step = step.as_list().expect("a step");
                if step[0].as_text() == Some("w") {
                    left = step.get(2).cloned();
                } else if let (None, Some(answers)) = (&left, answers) {
                    // A nil at the end may be left out.
                    let answer = answers[i].as_list();
                    found = answer.map(|answer| answer.get(2).cloned().unwrap_or_default());
                }
            }
            (found, left)
        }
        name => panic!("{name} has no such conflicts"),
    }
}

/// What an operation says about one place: a call, and the result if the record tells it.
struct Said {
    method: &'static str,
    argument: Value,
    result: Option<Value>,
}

/// Whether there is an order of what the operations of the beginning say about one place, of which only these have results.
fn has_order_at<S: Spec<Ret = Value>, P: Recorded>(
    case: &Case<'_, S>,
    place: &P,
    told: &[OpId],
    about: impl Fn(&Op<'_>) -> Option<Said>,
) -> bool {
    let called = case.called().filter(|op| case.ids.contains(&op.id));
    let said: Vec<_> = called
        .filter_map(|mut op| {
            let is_told = told.contains(&op.id) && case.has_returned(&op);
            op.result = op.result.filter(|_| is_told);
            let said = about(&op)?;
            let call = CallView {
                process: op.process,
                method: said.method,
                argument: &said.argument,
                hint: None,
            };
            let decoded = place.decode(call).expect("a call of the place");
            let result = said.result.map(|result| {
                let result = place.decode_result(&decoded, &result);
                result.expect("a result of the place")
            });
            Some((op, is_told, decoded, result))
        })
        .collect();
    let given = said.iter().map(|(op, is_told, decoded, result)| Given {
        id: op.id,
        call: op.call,
        ret: if *is_told { op.ret } else { NEVER },
        op: decoded,
        result: result.as_ref(),
    });
    !AllOrders::of(place, given.collect()).is_empty()
}

/// A read says of each member whether it is there.
fn about_member(op: &Op<'_>, member: &Value) -> Option<Said> {
    let (method, result) = match (op.method, op.result) {
        ("add", result) => ("add", result.cloned()),
        ("remove", result) => ("remove", result.cloned()),
        ("contains", Some(result)) => ("contains", Some(result.clone())),
        ("read", Some(Value::List(members))) => {
            let is_there = Value::Bool(members.contains(member));
            ("contains", Some(is_there))
        }
        _ => return None,
    };
    let is_about = op.method == "read" || op.argument == member;
    is_about.then(|| Said {
        method,
        argument: member.clone(),
        result,
    })
}

/// A put, a read or a removal of one key of a store.
fn about_key(op: &Op<'_>, key: &Value) -> Option<Said> {
    let argument = match op.argument {
        Value::Map(_) => op.argument.get("key")?,
        plain => plain,
    };
    if argument != key {
        return None;
    }
    let entries = op.result.and_then(|result| result.get("kvs")?.as_list());
    let deleted = op.result.and_then(|result| result.get("deleted"));
    let (method, argument, result) = match op.method {
        "put" => {
            let value = op.argument.get("value")?.clone();
            let pair = Value::list([key.clone(), value]);
            ("put", pair, op.result.map(|_| Value::Nil))
        }
        "range" => {
            let seen = entries?.first().map(|entry| entry.get("value").cloned());
            let seen = seen.unwrap_or(Some(Value::Nil))?;
            ("get", key.clone(), Some(seen))
        }
        "delete" => {
            let was_there = deleted.map(|count| Value::Bool(*count != Value::Int(0)));
            ("delete", key.clone(), was_there)
        }
        _ => return None,
    };
    Some(Said {
        method,
        argument,
        result,
    })
}

/// The steps of a transaction on one register.
fn about_register(op: &Op<'_>, register: &Value) -> Option<Said> {
    let is_about = |step: &&Value| {
        let step = step.as_list().expect("a step");
        step[1] == *register
    };
    let steps = |list: &Value| {
        let steps = list.as_list().expect("a transaction");
        Value::list(steps.iter().filter(is_about).cloned())
    };
    let argument = steps(op.argument);
    let has_steps = argument.as_list() != Some(&[]);
    // A transaction that only writes may answer nil.
    let result = op.result.map(|result| match result {
        Value::List(_) => steps(result),
        _ => argument.clone(),
    });
    has_steps.then_some(Said {
        method: "txn",
        argument,
        result,
    })
}

/// An index holds nothing until one append gets it, and what that appended from then on.
fn about_index(op: &Op<'_>, index: &Value) -> Option<Said> {
    let held = |value: &Value| Value::list([value.clone()]);
    match (op.method, op.result) {
        ("append", result) if result.is_none_or(|result| result == index) => Some(Said {
            method: "cas",
            argument: Value::list([Value::Nil, held(op.argument)]),
            result: result.map(|_| Value::Bool(true)),
        }),
        ("get", Some(found)) if op.argument == index && !found.is_nil() => Some(Said {
            method: "read",
            argument: Value::Nil,
            result: Some(held(found)),
        }),
        _ => None,
    }
}
