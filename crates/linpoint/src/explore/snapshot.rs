//! Single-writer snapshots of bits: operations, clients, the trait of the built-in algorithms, and the specification.
//!
//! Process `p` updates entry `p` with 0 or 1; a scan returns all entries, as the set of those that are 1.

use super::program::{Algorithm, Bounds, Client, Interface};
use crate::history::TypedHistory;
use crate::spec::{Outcomes, Snapshot, SnapshotOp, Spec, Writers};
use crate::value::Value;

/// The size of the arrays by process in the algorithms. An algorithm has fewer processes than this.
pub const MOST_PROCESSES: usize = 16;

/// An operation of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    /// Writes 1 (`true`) or 0 into the entry of the calling process.
    Update(bool),
    /// Returns all entries.
    Scan,
}

/// A result of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// An update returns.
    Done,
    /// A scan returns the entries that are 1, as bits.
    View(u16),
}

/// The part of a snapshot that an algorithm keeps in its state.
///
/// A full snapshot keeps all entries. In an (i,j)-simple execution all entries except `i` and `j` are always 0, so an
/// algorithm need not store them or copies of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The number of processes, which is the number of entries.
    pub processes: usize,
    /// The entries that are kept, as bits.
    pub entries: u16,
    /// Updates of entries that are not kept are shortened to the steps that other operations can observe.
    pub short: bool,
    /// The processes that call operations, as bits. The registers of the others never change, so it does not matter when
    /// they are read.
    pub active: u16,
    /// The largest number of operations that each process calls.
    pub most_ops: Option<u8>,
}

impl Form {
    /// Keeps all entries.
    pub fn full(processes: usize) -> Self {
        Form {
            processes,
            entries: (1 << processes) - 1,
            short: false,
            active: (1 << processes) - 1,
            most_ops: None,
        }
    }

    /// Keeps these two entries. Updates of the others are not shortened.
    pub fn simple(processes: usize, (i, j): (usize, usize)) -> Self {
        Form {
            entries: 1 << i | 1 << j,
            ..Form::full(processes)
        }
    }

    /// The same form for executions within these bounds.
    #[must_use]
    pub fn within(mut self, bounds: &Bounds) -> Self {
        if let Some(active) = &bounds.active {
            self.active = active.iter().fold(0, |all, p| all | 1 << p);
        }
        self.most_ops = bounds.ops_per_process;
        self
    }

    /// Whether only `p` can access what `p` and `q` share: they are the same process, or `q` calls no operations.
    pub fn is_private(&self, p: usize, q: u8) -> bool {
        usize::from(q) == p || self.active >> q & 1 == 0
    }

    /// Advances `j` to the next register. Returns whether `j` was the last one; then it is the first one again.
    pub fn is_last_register(&self, j: &mut u8) -> bool {
        *j = (*j + 1) % self.processes as u8;
        *j == 0
    }

    /// Whether an entry is kept.
    pub fn keeps(&self, entry: usize) -> bool {
        self.entries >> entry & 1 != 0
    }

    /// The first entry that is kept, from `entry` on; the number of processes if there is none.
    pub fn entry_from(&self, entry: u8) -> u8 {
        let later = (u32::from(self.entries) >> entry).trailing_zeros();
        (u32::from(entry) + later).min(self.processes as u32) as u8
    }

    /// The first entry that is kept.
    pub fn first_entry(&self) -> u8 {
        self.entry_from(0)
    }

    /// Whether `entry` is beyond the last one.
    pub fn is_past(&self, entry: u8) -> bool {
        usize::from(entry) >= self.processes
    }

    /// A set of processes as a list of bits.
    pub fn show_set(&self, set: u16) -> String {
        let bit = |p: usize| if set >> p & 1 == 0 { '0' } else { '1' };
        (0..self.processes).map(bit).collect()
    }

    /// A text for each process, separated by commas.
    pub fn show_each(&self, text: impl Fn(usize) -> String) -> String {
        let texts: Vec<String> = (0..self.processes).map(text).collect();
        texts.join(",")
    }

    /// A set of entries as a list of bits, those that are left out as `.`.
    pub fn show(&self, view: u16) -> String {
        (0..self.processes)
            .map(|k| match (self.keeps(k), view >> k & 1) {
                (false, _) => '.',
                (true, 0) => '0',
                (true, _) => '1',
            })
            .collect()
    }
}

/// Sets or clears one entry of a view.
pub fn put(view: &mut u16, entry: usize, value: bool) {
    *view = *view & !(1 << entry) | u16::from(value) << entry;
}

/// Copies one entry of a view into another view.
pub fn copy(from: u16, entry: u8, to: &mut u16) {
    put(to, usize::from(entry), from >> entry & 1 != 0);
}

/// Why one pair of entries is enough for some algorithms; see [`SnapshotAlgorithm::ONE_PAIR`].
pub const ENTRIES_READ_IN_ORDER: &str =
    "entries are only read in order of their numbers, and process numbers only compared";

/// A built-in snapshot algorithm.
pub trait SnapshotAlgorithm: Algorithm<Op = Request, Ret = Answer> + Sized {
    /// Its name.
    const NAME: &'static str;
    /// Its authors and year.
    const SOURCE: &'static str;
    /// The bugs that can be planted in it: a name and a description each.
    const BUGS: &'static [(&'static str, &'static str)];
    /// Whether updates of entries that are not kept can be observed by other operations.
    const OTHERS_MATTER: bool = true;
    /// Why it is enough to explore one pair of entries, where it is.
    const ONE_PAIR: Option<&'static str> = None;
    /// Whether its registers grow without bound if states are not brought into normal form.
    const UNBOUNDED: bool = false;

    /// The algorithm, with this bug planted in it.
    fn new(form: Form, bug: Option<&str>) -> Self;

    /// The form that it was made with.
    fn form(&self) -> &Form;
}

/// All snapshot algorithms have the same operations, and as many processes as their form says.
impl<A: SnapshotAlgorithm> Interface for A {
    type Op = Request;
    type Ret = Answer;

    fn processes(&self) -> usize {
        self.form().processes
    }
}

/// The client of simple executions: all processes update with 0, and `i` and `j` with 1 from some time on.
#[derive(Clone, Copy, Debug)]
pub struct SimpleClient {
    /// The two processes.
    pub pair: (usize, usize),
    /// Whether processes other than these two call updates.
    pub others: bool,
}

impl Client<Request> for SimpleClient {
    fn offers(&self, p: usize, switched: u8) -> Vec<(Request, u8)> {
        use Request::{Scan, Update};
        let is_of_pair = p == self.pair.0 || p == self.pair.1;
        match (is_of_pair, switched) {
            (true, 0) => vec![(Update(false), 0), (Update(true), 1), (Scan, 0)],
            (true, _) => vec![(Update(true), 1), (Scan, 1)],
            (false, _) if self.others => vec![(Update(false), 0), (Scan, 0)],
            (false, _) => vec![(Scan, 0)],
        }
    }
}

/// The client of all executions: every process calls any update and any scan.
pub(crate) const FULL_CLIENT: &[Request] =
    &[Request::Update(false), Request::Update(true), Request::Scan];

/// The specification of a snapshot of which scans return some entries only.
#[derive(Clone, Copy, Debug)]
pub struct Bitwise {
    /// The entries that scans return.
    pub entries: u16,
}

/// An operation comes with its process, which is the entry that an update writes.
impl Spec for Bitwise {
    type Op = (u8, Request);
    type Ret = Answer;
    type State = u16;

    fn init(&self) -> u16 {
        0
    }

    fn apply(&self, state: &u16, (p, op): &(u8, Request)) -> Outcomes<Answer, u16> {
        match op {
            Request::Update(value) => {
                let mut next = *state;
                put(&mut next, usize::from(*p), *value);
                Outcomes::One(Answer::Done, next & self.entries)
            }
            Request::Scan => Outcomes::One(Answer::View(*state), *state),
        }
    }
}

/// The calls and returns of an execution as a history of the object type `snapshot`.
pub fn history_of(
    processes: usize,
    events: impl IntoIterator<Item = (usize, Result<Request, Answer>)>,
) -> TypedHistory<SnapshotOp, Value> {
    let mut history = TypedHistory::new();
    let mut open = vec![None; processes];
    for (p, event) in events {
        match event {
            Ok(Request::Update(value)) => {
                let op = SnapshotOp::Update(p, Value::Int(value.into()));
                open[p] = Some(history.call(p as u32, op));
            }
            Ok(Request::Scan) => open[p] = Some(history.call(p as u32, SnapshotOp::Scan)),
            Err(answer) => {
                let value = match answer {
                    Answer::Done => Value::Nil,
                    Answer::View(view) => {
                        Value::list((0..processes).map(|k| Value::Int((view >> k & 1).into())))
                    }
                };
                if let Some(id) = open[p].take() {
                    history.ret(id, value);
                }
            }
        }
    }
    history
}

/// The specification of [`history_of`].
pub fn spec_of(processes: usize) -> Snapshot {
    Snapshot {
        writers: Writers::Single,
        processes: Some(processes),
        initial: Value::Int(0),
    }
}
