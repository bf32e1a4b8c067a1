//! How an algorithm is written down: shared registers, what each process keeps for itself, and atomic steps.

use std::fmt::Debug;
use std::hash::Hash;

use super::bits::Bits;
use crate::error::{Error, did_you_mean};

/// What a step of an operation leaves to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<R> {
    /// Further steps.
    Go,
    /// Nothing: the operation returns this.
    Return(R),
}

/// What clients see of an algorithm: its operations, their results, and how many processes may call them.
pub trait Interface: Sync {
    /// An operation with its arguments.
    type Op: Clone + Eq + Hash + Debug + Send + Sync;
    /// A result.
    type Ret: Clone + Eq + Hash + Debug + Send + Sync;

    /// How many processes there are.
    fn processes(&self) -> usize;
}

/// A concurrent algorithm that implements an object.
///
/// An operation is a sequence of atomic steps. What a process does next is in its local variables, usually in one that
/// plays the program counter, so that [`step`](Self::step) is one `match` that reads like the pseudo-code. A counter with a
/// lost update, as read and write are two steps:
///
/// ```
/// use linpoint::explore::{Algorithm, Bits, Interface, Step};
///
/// #[derive(Debug)]
/// struct Racy;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Default)]
/// struct Local { at: u8, seen: u8 }
///
/// impl Interface for Racy {
///     type Op = ();
///     type Ret = u8;
///
///     fn processes(&self) -> usize { 2 }
/// }
///
/// impl Algorithm for Racy {
///     type Shared = u8;
///     type Local = Local;
///
///     fn call(&self, _: usize, _: &(), local: &mut Local) { local.at = 0; }
///     fn step(&self, _: usize, count: &mut u8, local: &mut Local) -> Step<u8> {
///         match local.at {
///             0 => { local.seen = *count; local.at = 1; Step::Go }
///             _ => { *count = local.seen + 1; Step::Return(std::mem::take(&mut local.seen)) }
///         }
///     }
///     fn next(&self, _: usize, local: &Local) -> String {
///         ["seen := count", "count := seen + 1"][local.at as usize].into()
///     }
///     fn registers(&self, count: &u8) -> String { format!("count={count}") }
///     fn layout<B: Bits>(&self, count: &mut u8, bits: &mut B) { bits.int(count, 4); }
///     fn layout_local<B: Bits>(&self, local: &mut Local, bits: &mut B) {
///         bits.int(&mut local.at, 1);
///         bits.int(&mut local.seen, 4);
///     }
/// }
/// ```
///
/// [`refine`](super::refine()) explores it against any [`Spec`](crate::Spec) with the same operations and results.
pub trait Algorithm: Interface {
    /// The shared registers. The default is what they hold at the start, unless [`shared`](Self::shared) says otherwise.
    type Shared: Clone + Eq + Debug + Default + Send + Sync;
    /// The variables of one process. They stay when an operation returns; what is dead by then should be reset, or equal
    /// states differ.
    type Local: Clone + Eq + Debug + Default + Send + Sync;

    /// The registers at the start.
    fn shared(&self) -> Self::Shared {
        Self::Shared::default()
    }

    /// Process `p` calls `op`: sets its variables so that the first step of `op` comes next. Nothing shared changes.
    fn call(&self, p: usize, op: &Self::Op, local: &mut Self::Local);

    /// The next step of process `p`, which has called an operation: one access to a shared register, and whatever it does
    /// with its own variables before and after.
    fn step(&self, p: usize, shared: &mut Self::Shared, local: &mut Self::Local)
    -> Step<Self::Ret>;

    /// What the next step of process `p` does, in words, for people who read an execution.
    fn next(&self, p: usize, local: &Self::Local) -> String;

    /// What the registers hold, in words.
    fn registers(&self, shared: &Self::Shared) -> String;

    /// The bits of the shared registers.
    fn layout<B: Bits>(&self, shared: &mut Self::Shared, bits: &mut B);

    /// The bits of the variables of a process.
    fn layout_local<B: Bits>(&self, local: &mut Self::Local, bits: &mut B);

    /// Whether, as things are, nobody can tell when process `p` makes its next step: it reads nothing that others may write
    /// and writes nothing that others may read, until `p` does something else. Such a step need not stand alone: it happens
    /// together with the one before.
    fn is_local(&self, p: usize, shared: &Self::Shared, local: &Self::Local) -> bool {
        let _ = (p, shared, local);
        false
    }

    /// Gives dead variables and registers fixed values, so that states which differ in nothing else become one.
    ///
    /// Every step from a state must have its like from the state in normal form: one step, or none. [`super::laws`] checks
    /// it on all states that small instances reach.
    fn normalize(&self, shared: &mut Self::Shared, locals: &mut [Self::Local]) {
        let _ = (shared, locals);
    }

    /// Whether processes may be [exchanged](Self::exchange): their numbers are only ever compared for equality.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// What the registers say of process `p`, as a number: those that stand alike can be told apart by their variables
    /// only. Needed for symmetry.
    fn standing(&self, shared: &Self::Shared, p: usize) -> u64 {
        let _ = (shared, p);
        0
    }

    /// Exchanges the numbers `a` and `b` wherever registers and variables hold them; the variables of the two processes
    /// have changed places already. Needed for symmetry.
    fn exchange(&self, shared: &mut Self::Shared, locals: &mut [Self::Local], a: usize, b: usize) {
        let _ = (shared, locals, a, b);
    }
}

/// Who calls the operations: what each process may call next.
pub trait Client<Op>: Sync {
    /// What process `p` may call while it remembers `memory`, which is 0 at first, with what it remembers then.
    fn offers(&self, p: usize, memory: u8) -> Vec<(Op, u8)>;
}

/// Any of these operations at any time.
impl<Op: Clone + Sync> Client<Op> for [Op] {
    fn offers(&self, _: usize, memory: u8) -> Vec<(Op, u8)> {
        self.iter().map(|op| (op.clone(), memory)).collect()
    }
}

/// All that the processes may call, whoever offers it: by process and by what it remembers.
#[derive(Clone, Debug)]
pub(crate) struct Offers<Op>(Vec<Vec<Vec<(Op, u8)>>>);

impl<Op> Offers<Op> {
    /// What a client offers within these bounds, as far as a process can come to remember it.
    pub(crate) fn of(
        client: &(impl Client<Op> + ?Sized),
        processes: usize,
        bounds: &Bounds,
    ) -> Self {
        let of_process = |p| {
            if !bounds.is_active(p) {
                return vec![Vec::new()];
            }
            let mut offers = Vec::new();
            let mut most = 0;
            while offers.len() <= usize::from(most) {
                let next = client.offers(p, offers.len() as u8);
                most = next.iter().map(|(_, memory)| *memory).fold(most, u8::max);
                offers.push(next);
            }
            offers
        };
        Offers((0..processes).map(of_process).collect())
    }

    /// What `p` may call while it remembers `memory`, with what it remembers then.
    pub(crate) fn at(&self, p: usize, memory: u8) -> &[(Op, u8)] {
        &self.0[p][usize::from(memory)]
    }

    /// How many things a process may remember.
    pub(crate) fn memories(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0).max(1)
    }

    /// The most moves that there can be at once.
    pub(crate) fn most_moves(&self) -> usize {
        let most = |by_memory: &Vec<Vec<_>>| by_memory.iter().map(Vec::len).max();
        self.0
            .iter()
            .map(|of_process| most(of_process).unwrap_or(0).max(1))
            .sum()
    }
}

/// Ways to explore fewer states without changing the verdict. All are on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// An operation is called with its first step and returns with its last. Any execution can be changed so without
    /// making it more linearizable: calls move later and returns earlier, across steps of others only.
    pub merged: bool,
    /// [Local](Algorithm::is_local) steps happen together with the step before.
    pub local_steps: bool,
    /// Updates of entries that nobody looks at are shortened to what the rest notices of them.
    pub fake_operations: bool,
    /// Of states that differ in the numbers of equal processes only, one is explored.
    pub symmetry: bool,
    /// Dead values are [forgotten](Algorithm::normalize).
    pub dead_values: bool,
    /// The monitor forgets what no scan can run into any more.
    pub monitor_form: bool,
}

impl Reductions {
    /// All of them.
    pub const ALL: Reductions = Reductions {
        merged: true,
        local_steps: true,
        fake_operations: true,
        symmetry: true,
        dead_values: true,
        monitor_form: true,
    };

    /// None of them.
    pub const NONE: Reductions = Reductions {
        merged: false,
        local_steps: false,
        fake_operations: false,
        symmetry: false,
        dead_values: false,
        monitor_form: false,
    };

    /// Their names, with whether each is on.
    pub fn named(&self) -> [(&'static str, bool); 6] {
        [
            ("merged-steps", self.merged),
            ("local-steps", self.local_steps),
            ("fake-operations", self.fake_operations),
            ("symmetry", self.symmetry),
            ("dead-values", self.dead_values),
            ("monitor-form", self.monitor_form),
        ]
    }

    /// The others, without the one of this name.
    pub fn without(mut self, name: &str) -> Result<Self, Error> {
        match name {
            "merged-steps" => self.merged = false,
            "local-steps" => self.local_steps = false,
            "fake-operations" => self.fake_operations = false,
            "symmetry" => self.symmetry = false,
            "dead-values" => self.dead_values = false,
            "monitor-form" => self.monitor_form = false,
            _ => {
                let names = self.named().map(|(name, _)| name);
                let meant = did_you_mean(name, names);
                return Err(Error::usage(format!(
                    "unknown reduction {name:?}; {meant}known are {}",
                    names.join(", ")
                )));
            }
        }
        Ok(self)
    }
}

impl Default for Reductions {
    fn default() -> Self {
        Reductions::ALL
    }
}

/// Which executions are explored.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Each process calls at most so many operations.
    pub ops_per_process: Option<u8>,
    /// Only these processes call any, by number; all of them by default.
    pub active: Option<Vec<usize>>,
}

impl Bounds {
    /// Whether process `p` calls anything.
    pub(crate) fn is_active(&self, p: usize) -> bool {
        self.active.as_ref().is_none_or(|all| all.contains(&p))
    }
}
