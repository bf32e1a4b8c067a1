//! Advice for violations that come from a wrong initial value: an operation observes a value that was never written, and that
//! objects of many systems hold at the start.

use linpoint::engine::Budget;
use linpoint::history::Op;
use linpoint::object::RecordedCall;
use linpoint::online::Observable;
use linpoint::spec::{Need, Role};
use linpoint::verdict::Violation;
use linpoint::{Call, History, ObjectType, Value};

use super::is_linearizable;
use crate::source::TypeChoice;

/// Returns a sentence, found within the budget, if the history is linearizable with such an initial value, and none was given.
pub(crate) fn initial_value(
    choice: &TypeChoice,
    history: &History,
    violation: &Violation,
    budget: &Budget,
) -> Option<String> {
    let info = choice.info()?;
    let has_initial = info.params.iter().any(|(name, _)| *name == "initial");
    if !has_initial || choice.params.contains_key("initial") {
        return None;
    }
    let object = choice.build_for(history).ok()?;
    let core = violation.core.ops().iter().map(|&id| history.op(id));
    let default = core
        .filter(|op| reads_result(&object, op))
        .filter_map(|op| op.result)
        .find(|result| is_usual_default(result))?;
    if history.ops().any(|op| mentions(op.argument, default)) {
        return None;
    }
    let mut other = choice.clone();
    other.params.insert("initial".to_owned(), default.clone());
    if !is_linearizable(&other, history, budget) {
        return None;
    }
    let value = default.to_json();
    let option = match default {
        Value::Int(_) | Value::Bool(_) => format!("-t {}:initial={value}", info.name),
        _ => format!("-t '{}:initial={value}'", info.name),
    };
    Some(format!(
        "{value} was read but never written; if it is the value at the start, {option} says so, and the history is linearizable"
    ))
}

/// Whether the result of an operation is the value that the object held, as far as that is known: the `false` of a failed
/// compare-and-set is not.
fn reads_result(object: &ObjectType, op: &Op<'_>) -> bool {
    let call = RecordedCall::from(Call::new(op.method, op.argument.clone()));
    match object
        .facts(op.process, &call, op.result)
        .map(|facts| facts.role)
    {
        Ok(Role::Slot {
            needs: Need::Is(held),
            ..
        }) => Some(&held) == op.result,
        Ok(Role::Slot { .. }) => false,
        _ => true,
    }
}

fn is_usual_default(value: &Value) -> bool {
    match value {
        Value::Int(0) | Value::Bool(false) => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}

/// Whether `argument` is `value` or a list with it.
fn mentions(argument: &Value, value: &Value) -> bool {
    argument == value
        || argument
            .as_list()
            .is_some_and(|items| items.contains(value))
}
