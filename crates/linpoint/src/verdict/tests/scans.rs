//! Whether what is printed about a scan of a snapshot is true.

use super::claims::{Case, Treated};
use crate::history::{Op, OpId};
use crate::spec::Spec;
use crate::value::Value;

/// Checks the sentence on a scan. Returns its kind.
///
/// "[Scan] has V in entry E, although ...": the scan shows V there; and what follows is true, and makes that impossible in all
/// orders of the other operations.
pub(super) fn check<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    id: OpId,
    sentence: &str,
) -> &'static str {
    let scan = case.op(id);
    let after = sentence.strip_prefix(&case.history.describe(id));
    let Some((wrong, reason)) = after.and_then(|rest| rest.split_once(", ")) else {
        panic!("{sentence}");
    };
    let entry = number_after(wrong, "in entry ");
    let value = shown(case, &scan, entry);
    case.expect(
        wrong == format!(" has {value} in entry {entry}"),
        "the scan shows the value",
    );
    // What was recorded after the scan may be wrong too.
    let orders = case.orders_without(id, |other| match case.op(other).ret < scan.ret {
        true => Treated::AsRecorded,
        false => Treated::Open,
    });
    let never = |is_seen: &dyn Fn(&[Value]) -> bool| {
        let mut states = orders.states_between(scan.call, scan.ret);
        let is_never = !orders.is_empty() && states.all(|state| !is_seen(&entries(case, state)));
        case.expect(is_never, "the entries never hold what the scan shows");
    };
    let at = |entries: &[Value], entry: usize| entries.get(entry).cloned().unwrap_or(initial(case));
    let named = |text: &str| named_in(case, text, id);
    if reason.contains("no update of that entry with it had begun") {
        let mut called = case.called().filter(|op| op.call < scan.ret);
        let puts = called.any(|op| update(case, &op) == Some((entry, value.clone())));
        case.expect(
            !puts && value != initial(case),
            "no update with the value had begun",
        );
        never(&|entries| at(entries, entry) == value);
        return "scan: future";
    }
    if let Some((_, rest)) = reason.split_once("although it has ") {
        let (other_entry, other_value) = check_order(case, &scan, entry, rest);
        never(&|entries| at(entries, entry) == value && at(entries, other_entry) == other_value);
        return "scan: order";
    }
    if let Some((other, rest)) = reason.split_once(" had seen the later value ") {
        let other = named(other);
        let later = shown(case, &other, entry);
        case.expect(
            rest.starts_with(&format!("{later} there before the scan began")) && later != value,
            "the other scan shows the later value",
        );
        case.expect(other.ret < scan.call, "the other scan came before");
        case.expect(
            comes_after(case, entry, &value, &later),
            "the value is later",
        );
        never(&|entries| at(entries, entry) == value);
        return "scan: decreasing";
    }
    if let Some((other, rest)) = reason.split_once(" has the later value ") {
        let other = named(other);
        let later = shown(case, &other, entry);
        let ahead = number_after(rest, "in entry ");
        case.expect(
            rest.starts_with(&format!(
                "{later}, although it is ahead of that in entry {ahead}"
            )),
            "the other scan shows the later value",
        );
        let (behind, before) = (shown(case, &other, ahead), shown(case, &scan, ahead));
        case.expect(
            comes_after(case, entry, &value, &later),
            "the value is later",
        );
        case.expect(
            comes_after(case, ahead, &behind, &before),
            "the scan is ahead",
        );
        return "scan: inversion";
    }
    let by = reason.split_once(" had finished before the scan began");
    let by = named(by.unwrap_or_else(|| panic!("{sentence}")).0);
    case.expect(by.ret < scan.call, "the update came before");
    let replaced = update(case, &by).expect("an update");
    case.expect(
        replaced.0 == entry && replaced.1 != value,
        "the update replaced the value",
    );
    never(&|entries| at(entries, entry) == value);
    "scan: stale"
}

/// Checks that the scan missed an update of `entry` that came before one that it saw. Returns the entry and the value of that one.
fn check_order<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    scan: &Op<'_>,
    entry: usize,
    rest: &str,
) -> (usize, Value) {
    let value = shown(case, scan, entry);
    let named = |text: &str| named_in(case, text, scan.id);
    let other_entry = number_after(rest, "in entry ");
    let other_value = shown(case, scan, other_entry);
    case.expect(
        rest.starts_with(&format!("{other_value} in entry {other_entry} and ")),
        "the scan shows the other value",
    );
    let (missed, seen) = rest
        .split_once(" had finished before ")
        .expect("two updates");
    let (missed, seen) = (named(missed), named(seen));
    case.expect(missed.ret < seen.call, "one update came before the other");
    let missed = update(case, &missed).expect("an update");
    let seen = update(case, &seen);
    case.expect(
        missed.0 == entry && missed.1 != value,
        "the missed update is of the entry",
    );
    case.expect(
        seen == Some((other_entry, other_value.clone())),
        "the scan saw the other update",
    );
    (other_entry, other_value)
}

fn initial<S: Spec<Ret = Value>>(case: &Case<'_, S>) -> Value {
    // As the types are set up for tests.
    match case.name {
        "snapshot" => Value::Int(0),
        _ => Value::Int(2),
    }
}

fn number_after(text: &str, words: &str) -> usize {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("{text}"));
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next();
    digits
        .and_then(|digits| digits.parse().ok())
        .expect("a number")
}

/// What a scan shows in an entry.
fn shown<S: Spec<Ret = Value>>(case: &Case<'_, S>, scan: &Op<'_>, entry: usize) -> Value {
    let entries = scan.result.and_then(Value::as_list).expect("a scan");
    entries.get(entry).cloned().unwrap_or(initial(case))
}

fn entries<S: Spec<Ret = Value>>(case: &Case<'_, S>, state: &S::State) -> Vec<Value> {
    let state = case.object.state_value(state);
    state.as_list().expect("entries").to_vec()
}

/// The entry and the value of an update.
fn update<S: Spec<Ret = Value>>(case: &Case<'_, S>, op: &Op<'_>) -> Option<(usize, Value)> {
    let number = |value: &Value| value.as_int().expect("an entry") as usize;
    match (op.method, op.argument.as_list()) {
        ("scan" | "read", _) => None,
        (_, Some([entry, value])) => Some((number(entry), value.clone())),
        _ if case.name == "snapshot" => Some((number(op.process), op.argument.clone())),
        _ => panic!("{op:?}"),
    }
}

/// Whether some update of the entry left `earlier` there, or it was there at first, and one that was called after that had
/// returned left `later`.
fn comes_after<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    entry: usize,
    earlier: &Value,
    later: &Value,
) -> bool {
    let updates = |value: &Value| {
        let sought = Some((entry, value.clone()));
        let called = case.called().filter(|op| update(case, op) == sought);
        called.map(|op| (op.call, op.ret)).collect::<Vec<_>>()
    };
    let laters = updates(later);
    let is_initial = *earlier == initial(case);
    let before =
        |&(call, _): &(u32, u32)| is_initial || updates(earlier).iter().any(|&(_, ret)| ret < call);
    laters.iter().any(before)
}

/// The operation that a text names, not the one with this number unless it names no other.
fn named_in<'a, S: Spec<Ret = Value>>(case: &Case<'a, S>, text: &str, except: OpId) -> Op<'a> {
    let others = case.called().filter(|op| op.id != except);
    let mut named = others.filter(|op| text.contains(&case.history.describe(op.id)));
    named
        .next()
        .unwrap_or_else(|| panic!("{text} names no operation"))
}
