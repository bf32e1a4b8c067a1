//! Whether what is printed about the count of a counter is true.

use super::claims::{Case, Treated};
use crate::history::Op;
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::Claim;

/// What an operation adds to the counter, and the count that it found.
pub(super) fn counts<S: Spec<Ret = Value>>(case: &Case<'_, S>, op: &Op<'_>) -> (i64, Option<i64>) {
    let by = match (op.method, op.argument.as_int()) {
        ("get" | "read", _) => 0,
        ("inc" | "inc_and_get", None) => 1,
        ("dec", None) => -1,
        (_, by) => by.expect("an amount"),
    };
    let answer = case.result(op.id).and_then(Value::as_int);
    let found = match op.method {
        "inc_and_get" | "add_and_get" => answer.map(|answer| answer - by),
        "get" | "read" | "fetch_add" => answer,
        _ => None,
    };
    (by, found)
}

/// Checks a claim about a count.
pub(super) fn check<S: Spec<Ret = Value>>(case: &Case<'_, S>, claim: &Claim) {
    let lowers = |op: &Op<'_>| counts(case, op).0 < 0;
    case.expect(
        !case.called().any(|op| lowers(&op)),
        "nothing lowers the count",
    );
    match claim {
        // "[One] and [other] both raised the count from n, and no operation had lowered it."
        Claim::CountedTwice { op, other, count } => {
            for id in [op, other] {
                let (by, found) = counts(case, &case.op(*id));
                case.expect(by > 0, "the operation raises the count");
                case.expect(found == Some(*count), "the operation found the count");
            }
            case.expect(op != other, "there are two operations");
        }
        // "[Operation] is too low: n operations that raise it had returned before it was called, so the count was at least
        // m when it was called": as the calls say, and in every order of the others, during the whole operation.
        Claim::CountTooLow {
            op,
            count,
            least,
            raised,
        } => {
            let op = case.op(*op);
            let before = case.called().filter(|other| other.ret < op.call);
            let raises = before.filter(|other| counts(case, other).0 > 0);
            case.expect(raises.count() == *raised, "so many raise it");
            case.expect(counts(case, &op).1 == Some(*count), "it found the count");
            case.expect(count < least, "it is too low");
            expect_count(case, &op, None, |now| now >= *least);
        }
        // "[Operation] is too high: with everything else that was called before it returned, the count before it
        // was at most m."
        Claim::CountTooHigh { op, count, most } => {
            let op = case.op(*op);
            case.expect(counts(case, &op).1 == Some(*count), "it found the count");
            case.expect(count > most, "it is too high");
            expect_count(case, &op, None, |now| now <= *most);
        }
        // "[Operation] is too low: when [since] had returned, before it was called, the count was at least m": in every order of
        // the others.
        Claim::CountFell {
            op,
            count,
            least,
            since,
        } => {
            let (op, since) = (case.op(*op), case.op(*since));
            case.expect(since.ret < op.call, "it returned before");
            case.expect(counts(case, &op).1 == Some(*count), "it found the count");
            case.expect(count < least, "it is too low");
            expect_count(case, &op, Some(&since), |now| now >= *least);
        }
        // "[Operation] is impossible: the count was n at first, and every operation that raises it adds m."
        Claim::BetweenSteps {
            op,
            count,
            initial,
            by,
        } => {
            let op = case.op(*op);
            let is_step = |op: &Op<'_>| [0, *by].contains(&counts(case, op).0);
            case.expect(case.called().all(|op| is_step(&op)), "all add so much");
            case.expect(counts(case, &op).1 == Some(*count), "it found the count");
            case.expect((count - initial) % by != 0, "it is between two steps");
            let orders = case.orders(|_| Treated::LeftOut);
            let at_first =
                |state: &S::State| case.object.state_value(state) == Value::Int(*initial);
            case.expect(
                orders.ends().into_iter().all(at_first),
                "it was so at first",
            );
        }
        _ => unreachable!("{claim:?}"),
    }
}

/// In every order of the others, the count fits until the operation returns: from its call on, or since another returned,
/// which has its result in any case.
fn expect_count<S: Spec<Ret = Value>>(
    case: &Case<'_, S>,
    op: &Op<'_>,
    since: Option<&Op<'_>>,
    fits: impl Fn(i64) -> bool,
) {
    let orders = case.orders_without(op.id, |other| match since {
        Some(since) if since.id == other => Treated::AsRecorded,
        _ => Treated::AnyResult,
    });
    let from = since.map_or(op.call, |since| since.ret);
    let mut states = orders.states_between(from, op.ret);
    let count = |state: &S::State| case.object.state_value(state).as_int();
    let all_fit = !orders.is_empty() && states.all(|state| count(state).is_some_and(&fits));
    case.expect(all_fit, "the count is within the bound");
}
