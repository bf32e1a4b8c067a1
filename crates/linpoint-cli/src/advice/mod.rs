//! Advice about what a verdict rests on and may not be meant: balances that are not known or must not be negative, pairs that may be
//! keys, an order that the object may not promise, a lock that may be of another type.

mod balances;
mod initial;

use std::time::Duration;

use linpoint::engine::Budget;
use linpoint::format::{Note, RecordedHistory};
use linpoint::spec::Params;
use linpoint::{Checker, Config, History, Value, Verdict};

pub(crate) use balances::unknown_start;
pub(crate) use initial::initial_value;

use crate::source::TypeChoice;

/// How long it is tried whether a history is linearizable for another type.
const MOST_TIME: Duration = Duration::from_secs(1);

/// Returns that the values of a Jepsen history may have keys, if all are pairs and were not read as such.
pub(crate) fn pairs(recorded: &RecordedHistory) -> Option<String> {
    let is_split = recorded.notes.contains(&Note::IndependentKeys)
        || recorded
            .history
            .objects()
            .iter()
            .any(|object| !object.is_nil());
    if recorded.invocations.is_empty() || is_split {
        return None;
    }
    let is_pair = |value: &Value| value.as_list().is_some_and(|items| items.len() == 2);
    let with_argument = || recorded.history.ops().filter(|op| !op.argument.is_nil());
    let is_update = |method: &str| !matches!(method, "cas" | "txn" | "transfer");
    let is_found = with_argument().all(|op| is_pair(op.argument))
        && with_argument().any(|op| is_update(op.method));
    is_found.then(|| {
        "every value is a pair: if these are [key value] pairs of independent keys, --independent checks each key by itself"
            .to_owned()
    })
}

/// Returns that a Jepsen history is linearizable if the queue may serve its values in any order. Most queues that Jepsen tests
/// promise no order.
pub(crate) fn any_order(
    choice: &TypeChoice,
    recorded: &RecordedHistory,
    budget: &Budget,
) -> Option<String> {
    if recorded.invocations.is_empty() || choice.name != "queue" {
        return None;
    }
    let bag = TypeChoice::built_in("bag", Params::new());
    is_linearizable(&bag, &recorded.history, budget).then(|| {
        "if the queue promises no order, -t unordered-queue says so, and the history is linearizable".to_owned()
    })
}

/// Returns that the object may be a lock of another type, if `mutex` is a guess from the methods, which others have too.
pub(crate) fn other_lock(choice: &TypeChoice) -> Option<String> {
    (choice.name == "mutex").then(|| {
        "that it is a mutex is a guess from the methods, which fenced-lock, reentrant-mutex and semaphore have too: --type names it"
            .to_owned()
    })
}

/// Returns that the history of a bank is linearizable if accounts may be overdrawn.
pub(crate) fn overdraft(choice: &TypeChoice, history: &History, budget: &Budget) -> Option<String> {
    const PARAMETER: &str = "allow_negative";
    let is_bank = choice.info().is_some_and(|info| info.name == "bank");
    if !is_bank || choice.params.contains_key(PARAMETER) {
        return None;
    }
    let mut other = choice.clone();
    other.params.insert(PARAMETER.to_owned(), Value::Bool(true));
    is_linearizable(&other, history, budget).then(|| {
        format!("if accounts may be overdrawn, -t bank:{PARAMETER}=true says so, and the history is linearizable")
    })
}

/// Whether the history is found to be linearizable in little time.
fn is_linearizable(choice: &TypeChoice, history: &History, budget: &Budget) -> bool {
    let checker = Checker::new(Config::default().verdicts_only());
    let Ok(object) = choice.build_for(history) else {
        return false;
    };
    let report = checker.check_recorded_within(&object, history, &budget.slice(MOST_TIME));
    report.is_ok_and(|report| matches!(report.verdict, Verdict::Linearizable(_)))
}
