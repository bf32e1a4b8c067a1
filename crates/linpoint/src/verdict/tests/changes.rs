//! Whether what is printed about changes of a register, a lock or a member of a set is true.

use super::claims::{Case, Treated};
use super::counts::counts;
use crate::history::{Op, OpId};
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{Change, Claim, Since, UsedUp};

/// Checks a claim about changes. Returns its kind.
pub(super) fn check<S: Spec<Ret = Value>>(case: &Case<'_, S>, claim: &Claim) -> &'static str {
    match claim {
        Claim::Replaced {
            op,
            value,
            before,
            by,
            until,
        } => {
            let op = case.op(*op);
            let by = case.op(*by);
            replaced(case, &op, value, *before, &by, *until)
        }
        Claim::NotChanged {
            op,
            member,
            state,
            since,
            used_up,
        } => {
            let member = member.as_ref();
            let is_of_part = case.key.is_none() || member == case.key;
            case.expect(is_of_part, "it is the member of the part");
            if let Some(used) = used_up {
                used_up_before(case, member, used, *op, *state, since);
            }
            let kind = not_changed(case, member, &case.op(*op), *state, since);
            match used_up {
                Some(_) => "not changed: used up",
                None => kind,
            }
        }
        Claim::NoOther {
            op,
            shown_by,
            change,
        } => no_other(case, *op, *shown_by, change),
        _ => unreachable!("{claim:?}"),
    }
}

/// "[By] was called after [before] had returned, and [until] had returned before it was called, so [value] was no longer there":
/// as the times, calls and answers say; and the object does not hold the value in any order of the others, during the whole
/// operation.
fn replaced<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    op: &Op<'_>,
    value: &Value,
    before: Option<OpId>,
    by: &Op<'_>,
    until: Option<OpId>,
) -> &'static str {
    let wrote_or_saw = |op: &Op<'_>| match case.puts(&case.op(op.id)) {
        Some((_, put)) => Some(put),
        None => case.result(op.id),
    };
    case.expect(case.result(op.id) == Some(value), "it saw the value");
    let other = wrote_or_saw(by);
    case.expect(other.is_some_and(|other| other != value), "it is replaced");
    let kind = match (before.map(|id| case.op(id)), until) {
        (None, _) => {
            case.expect(by.ret < op.call, "it was replaced before");
            let orders = case.orders(|_| Treated::LeftOut);
            let mut states = orders.ends().into_iter();
            let is_initial = states.all(|state| case.holds(state, case.key, value));
            case.expect(is_initial, "the value is the initial one");
            "replaced: initial"
        }
        (Some(before), until) => {
            case.expect(wrote_or_saw(&before) == Some(value), "it was there");
            case.expect(before.ret < by.call, "it was replaced after that");
            let until = until.map_or_else(|| case.op(by.id), |until| case.op(until));
            case.expect(wrote_or_saw(&until) == other, "it is the same value");
            case.expect(until.ret < op.call, "it was replaced before");
            "replaced: later"
        }
    };
    let orders = case.orders_without(op.id, |_| Treated::Open);
    let mut states = orders.states_between(op.call, op.ret);
    let is_gone = states.all(|state| !case.holds(state, case.key, value));
    case.expect(
        !orders.is_empty() && is_gone,
        "the value is no longer there",
    );
    kind
}

/// Which of its two states the object is in, or whether a set has the member.
fn state_of<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    member: Option<&Value>,
    state: &S::State,
) -> bool {
    match (case.object.state_value(state), member) {
        (Value::List(members), Some(member)) => members.contains(member),
        (Value::Text(state), _) => state.as_str() == "held",
        (other, _) => panic!("{}: {other} is not one of two states", case.name),
    }
}

/// The states in which an operation can have its recorded result.
fn needs<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    member: Option<&Value>,
    id: OpId,
    state: bool,
) -> bool {
    let action = case.typed.action(id);
    let everything = case.orders(|_| Treated::Open);
    let mut met = everything.met();
    met.all(|met| {
        let next = case.object.step(met, &action.op, action.ret.as_ref());
        next.is_empty() || state_of(case, member, met) == state
    })
}

/// "[Operation] is impossible: [state], and no operation can have changed that": the operation needs the other state, and the
/// object is in this one in all orders of the others, from the moment that the sentence names up to the return.
fn not_changed<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    member: Option<&Value>,
    op: &Op<'_>,
    state: bool,
    since: &Since,
) -> &'static str {
    case.expect(
        needs(case, member, op.id, !state),
        "it needs the other state",
    );
    let orders = case.orders_without(op.id, |_| Treated::LeftOut);
    let stays = |from: u32| {
        let mut states = orders.states_between(from, op.ret);
        let stays = states.all(|now| state_of(case, member, now) == state);
        case.expect(!orders.is_empty() && stays, "nothing changes the state");
    };
    match since {
        // "[State], and no operation was open that can have changed it."
        Since::Beginning => {
            stays(op.call);
            "not changed: beginning"
        }
        // "When [since] had returned, [state], and no operation can have changed it since."
        Since::Return(since) => {
            let since = case.op(*since);
            case.expect(since.ret < op.call, "it returned before");
            stays(since.ret);
            "not changed: return"
        }
        // "[Operation] is impossible together with [other]: both tell that [the other state] before, and no operation is left that
        // can have changed it in between": those that can have are needed between others.
        Since::Change(other) => {
            let other = case.op(*other);
            case.expect(case.has_returned(&other), "the other one has a result");
            let tells = needs(case, member, other.id, !state);
            case.expect(tells, "the other one needs the other state too");
            let overlap = op.call < other.ret && other.call < op.ret;
            case.expect(overlap, "neither precedes the other");
            stays(op.ret - 1);
            "not changed: change"
        }
        // "When [other] returned, [state] by another operation, and no operation is left that can have changed it in between."
        Since::Sight(other) => {
            let other = case.op(*other);
            case.expect(other.ret < op.ret, "it returned before");
            let mut states = orders.states_between(other.ret, other.ret + 1);
            let is_seen = states.all(|now| state_of(case, member, now) == state);
            case.expect(is_seen, "it shows the state");
            stays(op.ret - 1);
            "not changed: sight"
        }
    }
}

/// "[By] is the one that changed it after [after]": the operation from which the state is known was called when that had
/// returned, both leave the state, and without `by` no operation can change it in between.
fn used_up_before<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    member: Option<&Value>,
    used: &UsedUp,
    op: OpId,
    state: bool,
    since: &Since,
) {
    let (Since::Return(entry) | Since::Change(entry)) = *since else {
        panic!(
            "{}: {since:?} names no operation that changed it",
            case.name
        );
    };
    let (after, entry) = (case.op(used.after), case.op(entry));
    case.expect(after.ret < entry.call, "it was changed again later");
    let named = [used.by, after.id, entry.id, op];
    let are_distinct = (1..named.len()).all(|i| !named[..i].contains(&named[i]));
    case.expect(are_distinct, "they are different operations");
    let leaves = |id: OpId, state: bool| {
        let action = case.typed.action(id);
        let everything = case.orders(|_| Treated::Open);
        let mut met = everything.met();
        met.all(|met| {
            let next = case.object.step(met, &action.op, action.ret.as_ref());
            next.iter()
                .all(|next| state_of(case, member, next) == state)
        })
    };
    case.expect(leaves(after.id, state), "the earlier one enters the state");
    case.expect(leaves(entry.id, state), "the later one enters the state");
    case.expect(leaves(used.by, !state), "the one between leaves the state");
    let changes_nothing = |id: OpId| {
        let action = case.typed.action(id);
        let everything = case.orders(|_| Treated::Open);
        let mut met = everything.met();
        case.has_returned(&case.op(id))
            && met.all(|met| {
                let next = case.object.step(met, &action.op, action.ret.as_ref());
                next.iter().all(|next| next == met)
            })
    };
    let without = case.orders(|id| match id {
        id if id == used.by || id == op || changes_nothing(id) => Treated::LeftOut,
        id if id == entry.id || case.op(id).ret <= after.ret => Treated::AsRecorded,
        _ => Treated::Open,
    });
    case.expect(without.is_empty(), "no other operation can leave the state");
}

/// "[Operation] is impossible: [shown by] shows that [change] by then, and no other operation is left that can have done so": the
/// other one needs the state after the change; there is no order without the operation, and there are orders if it answers
/// otherwise.
fn no_other<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    op: OpId,
    shown_by: OpId,
    change: &Change,
) -> &'static str {
    let shows = case.op(shown_by);
    case.expect(
        op != shown_by && case.has_returned(&shows),
        "another operation returned",
    );
    let kind = match change {
        Change::Put(member) | Change::Taken(member) => {
            let state = matches!(change, Change::Put(_));
            case.expect(member.as_ref() == case.key, "it is the member of the part");
            case.expect(
                needs(case, member.as_ref(), shown_by, state),
                "it shows the change",
            );
            "no other: change"
        }
        Change::Raised => {
            let orders = case.orders(|_| Treated::LeftOut);
            let initial = orders.ends().into_iter().next();
            let initial = initial.and_then(|state| case.object.state_value(state).as_int());
            let found = counts(case, &shows).1;
            case.expect(found > initial, "it shows the change");
            "no other: raised"
        }
    };
    let with = |treated: Treated| {
        let orders = case.orders(|id| match id == op {
            true => treated,
            false => Treated::AsRecorded,
        });
        !orders.is_empty()
    };
    case.expect(!with(Treated::LeftOut), "no other operation is left");
    case.expect(with(Treated::Open), "this one can have done so");
    kind
}
