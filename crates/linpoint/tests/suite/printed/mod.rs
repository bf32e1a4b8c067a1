//! The seven algorithms of Lee and Mathur (*Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues*, 2024)
//! as they are printed, with their errors repaired. With one error put back, each decides a history of
//! `corpus/papers/monitors.jsonl` wrongly, as `docs/papers.md` says.

mod fast_stack;
mod prepare;
mod priority;
mod queue;
mod set;
mod stack;
mod tests;

use prepare::{empty_check, extended, non_trivialized, peeks_after_additions};

/// What an operation does: adds a value, removes it, or looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Add,
    Remove,
    Peek,
}

/// An operation that returned. Without a value it found the container empty; `answer` is that of sets, and true otherwise.
#[derive(Clone, Copy, Debug)]
struct Operation {
    method: Method,
    value: Option<u64>,
    answer: bool,
    call: i64,
    ret: i64,
}

/// What a history is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Container {
    Bag,
    Set,
    Stack,
    Queue,
    PriorityQueue,
}

/// An error of the paper, or a test that must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    EmptyCheckBeforeProposition32,
    Line13OfAlgorithm1,
    Line15OfAlgorithm1,
    Line11OfAlgorithm2,
    KeysNeverAdded,
    KeysNeverRemoved,
    NoBaseCase,
    PollForPop,
    OneGapTooMany,
    Line16OfAlgorithm3,
    Line20OfAlgorithm4,
    Line26OfAlgorithm4,
    ValuesNeverRemoved,
    LargestInvocation,
    PeeksBeforeAdditions,
    Line20OfAlgorithm5,
    Line13OfAlgorithm5,
    Line22OfAlgorithm6,
    ZeroIsNone,
    Lines7And9OfAlgorithm7,
    PositionsGone,
    EmptyIntervals,
}

/// What the algorithms say of a history whose values are added at most once each; of a stack both the slow and the fast one.
fn verdicts(container: Container, history: &[Operation], slip: Option<Slip>) -> Vec<bool> {
    if container == Container::Set {
        return vec![set::is_linearizable(history, slip)];
    }
    let no = vec![false; 1 + usize::from(container == Container::Stack)];
    let Some(matched) = extended(history) else {
        return no;
    };
    let unextended = history.to_vec();
    let mut operations = match slip {
        Some(Slip::ValuesNeverRemoved) => &unextended,
        _ => &matched,
    }
    .clone();
    if container == Container::PriorityQueue && slip != Some(Slip::PeeksBeforeAdditions) {
        operations = peeks_after_additions(&operations);
    }
    let Some(operations) = non_trivialized(&operations) else {
        return no;
    };
    let checked = match slip {
        Some(Slip::EmptyCheckBeforeProposition32) => &matched,
        _ => &operations,
    };
    if !empty_check(checked, slip) {
        return no;
    }
    let mut operations = operations;
    operations.retain(|o| o.value.is_some());
    match container {
        Container::Bag | Container::Set => vec![true],
        Container::Stack => vec![
            stack::is_linearizable(operations.clone(), slip),
            fast_stack::is_linearizable(&operations, slip),
        ],
        Container::Queue => vec![queue::is_linearizable(operations, slip)],
        Container::PriorityQueue => vec![priority::is_linearizable(&operations, slip)],
    }
}
