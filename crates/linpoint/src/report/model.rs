//! The data of the report page, which is written as one JSON block.

use serde::Serialize;

use super::lattice::Judged;

/// One history with its verdict and the evidence for it, as the page shows them.
///
/// [`ObjectType::page_data`](crate::object::ObjectType::page_data) makes it for a recorded history, and
/// [`page_data`](super::page_data) for a history of Rust values.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// The name of the history.
    pub name: String,
    /// The type of the object.
    pub object_type: String,
    /// The verdict on the whole history: `linearizable`, `not linearizable` or `undecided`.
    pub(crate) verdict: &'static str,
    /// The number of recorded operations.
    pub(crate) operations: usize,
    /// The number of operations that the page holds.
    pub(crate) embedded: usize,
    /// The objects or keys, in order of first appearance.
    pub(crate) parts: Vec<PartData>,
    pub(crate) processes: Vec<String>,
    pub(crate) methods: Vec<String>,
    /// Whether `methods` holds whole calls, with their arguments.
    pub(crate) is_bare: bool,
    /// The unit of line numbers: `line`, or `row` for a table.
    pub(crate) line_unit: &'static str,
    /// Annotations: the number of events before each, and its text.
    pub(crate) annotations: Vec<(u32, String)>,
    /// The headline of the page, if it differs from the usual sentence for the verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// Notes on how the history was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What still holds of the history, where that was looked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) lattice: Vec<Judged>,
    /// The moves of an algorithm, or the steps of threads, that made the history, if they are known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub execution: Vec<Move>,
    /// The columns of operations, orders, states and texts, compressed; see [`pack`](super::pack).
    pub(crate) packed: String,
}

impl PageData {
    /// Renames the processes: `name` gets the recorded name of a process and returns the name to show.
    pub fn name_processes(&mut self, name: impl Fn(&str) -> String) {
        let violations = self.parts.iter_mut().flat_map(|part| &mut part.violation);
        let rows = violations.flat_map(|violation| &mut violation.core.rows);
        let processes = rows.map(|row| &mut row.process).chain(&mut self.processes);
        processes.for_each(|process| *process = name(process));
    }
}

/// One move of an execution that led to a history.
#[derive(Clone, Debug, Serialize)]
pub struct Move {
    /// The process.
    pub process: String,
    /// A description of the move.
    pub text: String,
    /// A description of the shared memory after the move, if it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub memory: String,
}

/// One part of a history: an object, or a key of an object.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct PartData {
    pub(crate) object: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) operations: usize,
    pub(crate) verdict: &'static str,
    pub(crate) engine: &'static str,
    pub(crate) reason: String,
    /// The state before the first step of the order.
    pub(crate) initial: String,
    /// The number of steps of the order before the first one that the page holds.
    pub(crate) steps_before: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) undecided: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) violation: Option<ViolationData>,
}

/// Why a part is not linearizable.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ViolationData {
    pub(crate) core: CoreData,
    /// The number of the operation whose return cannot be explained.
    pub(crate) last: u32,
    pub(crate) prefix_events: usize,
    pub(crate) shortest: bool,
    /// The number of the operation that waits for no reason at the end of a stuck history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) blocked: Option<u32>,
    /// Operations that cannot come next in the longest explanation.
    pub(crate) refused: Vec<Refused>,
    /// Orders with operations that the longest explanation leaves out.
    pub(crate) others: Vec<Other>,
}

/// An order that differs from the longest explanation after some steps, and cannot be continued either.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Other {
    /// The number of steps that are the same.
    pub(crate) after: usize,
    /// Operations by number, with the state after each.
    pub(crate) steps: Vec<(u32, String)>,
    /// Why none of the remaining operations can come next.
    pub(crate) refused: Vec<Refused>,
}

/// An operation that cannot take effect at some moment, and why.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The number of the operation, or its row in the core.
    pub(crate) op: u32,
    /// The number of steps before that moment.
    pub(crate) step: usize,
    /// The state at that moment.
    pub(crate) state: String,
    /// The results that it could have had; empty if it is blocked.
    pub(crate) expected: Vec<String>,
    /// Its recorded result.
    pub(crate) recorded: String,
    /// Whether it is recorded as waiting for ever, and would return.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) returns: bool,
}

/// The core of a violation: few operations that contradict each other.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CoreData {
    pub(crate) sentence: String,
    /// What the core starts from instead of the initial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) anchor: Option<String>,
    /// How far the core is reduced, in words.
    pub(crate) extent: String,
    /// What confirmed the core, in words.
    pub(crate) confirmation: String,
    /// The number of operations that contradict each other, and the number of relaxed ones. A large core does not have a
    /// row for each.
    pub(crate) operations: usize,
    pub(crate) relaxed: usize,
    pub(crate) rows: Vec<CoreRow>,
    /// The number of calls and returns of the rows.
    pub(crate) events: usize,
    /// Pairs of rows of which the first precedes the second. Without any one of these constraints there is no contradiction.
    pub(crate) arrows: Vec<(usize, usize)>,
    /// For each operation that can be in an order, a longest order with it.
    pub(crate) attempts: Vec<Attempt>,
    /// The state at the start.
    pub(crate) initial: String,
}

/// An operation of a core.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CoreRow {
    pub(crate) op: u32,
    pub(crate) process: String,
    pub(crate) call: String,
    pub(crate) result: Option<String>,
    /// Whether it is treated as pending: it may take effect with any result, or not at all.
    pub(crate) relaxed: bool,
    /// The positions of its call and return among the events of the core; `None` for a pending operation.
    pub(crate) from: usize,
    pub(crate) to: Option<usize>,
    /// The line of the input; 0 where unknown.
    pub(crate) line: u32,
}

/// An order of some operations of a core that cannot be continued.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Rows, with the state after each.
    pub(crate) steps: Vec<(usize, String)>,
    /// Why none of the others can come next.
    pub(crate) refused: Vec<Refused>,
}
