//! Claims about the values of a container, by all orders of the operations on these values if any value may be served at any
//! time: what the others did may contradict each other.

use std::collections::VecDeque;

use super::claims::Case;
use super::orders::{AllOrders, Given};
use crate::history::{NEVER, Op, OpId};
use crate::spec::{Container, ContainerOp, Discipline, Spec};
use crate::value::Value;

/// What an operation does with one of the values, or may do because it did not return.
fn on_values<'a, S: Spec<Ret = Value>>(
    case: &Case<'a, S>,
    op: &Op<'a>,
    values: &[Value],
) -> Option<(ContainerOp, Option<&'a Value>)> {
    let is_meant = |value: &&Value| values.contains(value);
    if let Some((_, put)) = case.puts(op) {
        return is_meant(&put).then(|| (ContainerOp::Add(put.clone()), None));
    }
    let is_peek = op.method.starts_with("peek");
    match case.sees(op).filter(is_meant) {
        Some(seen) if is_peek => Some((ContainerOp::Peek, Some(seen))),
        Some(taken) => Some((ContainerOp::Remove, Some(taken))),
        None if !case.has_returned(op) && !is_peek && op.method != "size" => {
            Some((ContainerOp::Remove, None))
        }
        None => None,
    }
}

/// Calls `check` with all orders of the operations on the values that are `kept`.
fn with_orders<'a, S: Spec<Ret = Value>, T>(
    case: &Case<'a, S>,
    values: &[Value],
    kept: impl Fn(OpId) -> bool,
    check: impl FnOnce(&AllOrders<'_, Container>) -> T,
) -> T {
    let bag = Container::unbounded(Discipline::Any);
    let kept = case.called().filter(|op| kept(op.id));
    let in_bag: Vec<_> = kept
        .filter_map(|op| on_values(case, &op, values).map(|does| (op, does)))
        .collect();
    let given = in_bag.iter().map(|(op, (does, result))| Given {
        id: op.id,
        call: op.call,
        ret: match case.has_returned(op) {
            true => op.ret,
            false => NEVER,
        },
        op: does,
        result: *result,
    });
    check(&AllOrders::of(&bag, given.collect()))
}

fn is_peek<S: Spec<Ret = Value>>(case: &Case<'_, S>, id: OpId) -> bool {
    case.op(id).method.starts_with("peek")
}

/// Whether one of the values is there during an operation, whatever the order of the others that put them in or took them out.
pub(super) fn has_one_of<'a, S: Spec<Ret = Value>>(
    case: &Case<'a, S>,
    op: &Op<'a>,
    values: &[Value],
) -> bool {
    let is_there = |content: &VecDeque<Value>| values.iter().any(|v| content.contains(v));
    let holds = |orders: &AllOrders<'_, Container>| {
        !orders.is_empty() && orders.states_between(op.call, op.ret).all(is_there)
    };
    with_orders(case, values, |id| id != op.id && !is_peek(case, id), holds)
        || with_orders(case, values, |id| id != op.id, holds)
}

/// Whether one of the urgent values is there whenever the operation serves its value.
pub(super) fn serves_beside_one_of<'a, S: Spec<Ret = Value>>(
    case: &Case<'a, S>,
    op: &Op<'a>,
    served: &Value,
    urgent: &[Value],
) -> bool {
    let values: Vec<Value> = urgent.iter().chain([served]).cloned().collect();
    with_orders(
        case,
        &values,
        |_| true,
        |orders| {
            let effects = orders.effects(op.id);
            let serves = effects.iter().filter(|(_, answer)| answer == served);
            let mut contents = serves.map(|(content, _)| content);
            let is_there = |content: &VecDeque<Value>| urgent.iter().any(|v| content.contains(v));
            !orders.is_empty() && contents.all(is_there)
        },
    )
}

/// Whether every operation that puts the value in comes before `by` in all orders of the others than `op`, and there is no
/// order with `op`.
pub(super) fn is_gone_after<'a, S: Spec<Ret = Value>>(
    case: &Case<'a, S>,
    op: &Op<'a>,
    by: &Op<'a>,
    value: &Value,
) -> bool {
    let values = std::slice::from_ref(value);
    let puts = case.called().filter(|other| {
        let put = case.puts(other).map(|(_, put)| put);
        put == Some(value)
    });
    let puts: Vec<OpId> = puts.map(|put| put.id).collect();
    let is_last = |orders: &AllOrders<'_, Container>| {
        let comes_before = |put: &OpId| orders.always_before(*put, by.id);
        !orders.is_empty() && puts.iter().all(comes_before)
    };
    with_orders(case, values, |id| id != op.id, is_last)
        && with_orders(case, values, |_| true, |orders| orders.is_empty())
}
