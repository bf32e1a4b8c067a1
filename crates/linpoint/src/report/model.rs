//! What a page is told: plain data, written as one JSON block.

use serde::Serialize;

/// One history with its verdict and the evidence for it, ready to be shown.
///
/// Made by [`ObjectType::page_data`](crate::object::ObjectType::page_data) of a recorded history, or by [`page_data`](super::page_data) of one
/// that a program recorded about its own objects.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// What the history is called.
    pub name: String,
    /// The type of the object.
    pub object_type: String,
    /// The verdict on the whole, in words for machines.
    pub(crate) verdict: &'static str,
    /// How many operations were recorded.
    pub(crate) operations: usize,
    /// How many of them the page holds.
    pub(crate) embedded: usize,
    /// The objects or keys, in order of first appearance.
    pub(crate) parts: Vec<PartData>,
    pub(crate) processes: Vec<String>,
    pub(crate) methods: Vec<String>,
    /// Whether methods stand for whole calls, with their arguments.
    pub(crate) is_bare: bool,
    /// What the lines of operations are called: rows, in a table.
    pub(crate) line_unit: &'static str,
    /// What happened beside the operations: how many events came before, and the text.
    pub(crate) annotations: Vec<(u32, String)>,
    /// The verdict in the words of the page's headline, where the usual ones do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headline: Option<String>,
    /// What else there is to say about how the history came about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the history came about, where that is known: the moves of an algorithm, or the steps of threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub execution: Vec<Move>,
    /// Operations, orders, states and texts: columns, compressed; see [`pack`](super::pack).
    pub(crate) packed: String,
}

impl PageData {
    /// Calls processes by other names than they were recorded with, which is given.
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
    /// What it does.
    pub text: String,
    /// What the shared memory holds afterwards, where that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub memory: String,
}

/// One object or key.
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
    /// How many steps of the order stand before those that the page holds.
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
    /// Operations that cannot come next in the longest explanation.
    pub(crate) refused: Vec<Refused>,
    /// Orders with operations that the longest explanation leaves out.
    pub(crate) others: Vec<Other>,
}

/// An order that leaves the longest explanation after some steps, and cannot be continued either.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Other {
    /// So many steps are the same.
    pub(crate) after: usize,
    /// Operations by number, with the state after each.
    pub(crate) steps: Vec<(u32, String)>,
    /// Why none of the others can come next.
    pub(crate) refused: Vec<Refused>,
}

/// An operation that cannot take effect at some moment, and why.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The number of the operation, or its row in the core.
    pub(crate) op: u32,
    /// After so many steps.
    pub(crate) step: usize,
    /// The state at that moment.
    pub(crate) state: String,
    /// What it could have answered; nothing, if it would have had to wait.
    pub(crate) expected: Vec<String>,
    /// What it answered.
    pub(crate) recorded: String,
}

/// The few operations that contradict each other.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CoreData {
    pub(crate) sentence: String,
    pub(crate) minimal: bool,
    /// What confirmed the core, in words.
    pub(crate) confirmation: String,
    /// How many operations contradict each other, and how many are left open. If they are many, not all have rows.
    pub(crate) operations: usize,
    pub(crate) relaxed: usize,
    pub(crate) rows: Vec<CoreRow>,
    /// How many calls and returns the rows have.
    pub(crate) events: usize,
    /// Pairs of rows: the first returned before the second was called, and without that there is no contradiction.
    pub(crate) arrows: Vec<(usize, usize)>,
    /// The longest orders, such that every operation that fits into any is in one.
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
    /// Whatever it did, if anything, does not help.
    pub(crate) relaxed: bool,
    /// Places of call and return among the events of the core; no return if it is open.
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
