//! The traits that an algorithm and its clients implement, and the settings of an exploration: reductions and bounds.

use std::fmt::Debug;
use std::hash::Hash;

use super::bits::Bits;
use crate::error::{Error, did_you_mean};

/// Whether an operation goes on after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<R> {
    /// The operation has further steps.
    Go,
    /// The operation returns this result.
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
/// An operation is a sequence of atomic steps. The local variables of a process say which step comes next, usually by one
/// variable that serves as program counter; then [`step`](Self::step) is one `match` that reads like the pseudo-code. The
/// example is a counter that can lose an update, since it reads and writes in two steps:
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
    /// The variables of one process. They keep their values when an operation returns. Reset those that are dead by then:
    /// otherwise states that behave alike count as different.
    type Local: Clone + Eq + Debug + Default + Send + Sync;

    /// The registers at the start.
    fn shared(&self) -> Self::Shared {
        Self::Shared::default()
    }

    /// Process `p` calls `op`: sets the variables of `p` so that the first step of `op` comes next. No register changes.
    fn call(&self, p: usize, op: &Self::Op, local: &mut Self::Local);

    /// Makes the next step of process `p`, which has an operation open: one access to a shared register, and any
    /// computation on the variables of `p` before and after it.
    fn step(&self, p: usize, shared: &mut Self::Shared, local: &mut Self::Local)
    -> Step<Self::Ret>;

    /// A description of the next step of process `p`, shown in a counterexample.
    fn next(&self, p: usize, local: &Self::Local) -> String;

    /// The contents of the registers, shown in a counterexample.
    fn registers(&self, shared: &Self::Shared) -> String;

    /// Visits the shared registers with the number of bits that each takes.
    fn layout<B: Bits>(&self, shared: &mut Self::Shared, bits: &mut B);

    /// Visits the variables of a process with the number of bits that each takes.
    fn layout_local<B: Bits>(&self, local: &mut Self::Local, bits: &mut B);

    /// Whether the next step of process `p` is local: from this state on, until `p` makes another step, it reads no
    /// register that another process may write, and writes none that another process may read. The other processes cannot
    /// observe when such a step is made, so the exploration makes it together with the step before.
    fn is_local(&self, p: usize, shared: &Self::Shared, local: &Self::Local) -> bool {
        let _ = (p, shared, local);
        false
    }

    /// Brings a state into normal form: sets dead variables and registers to fixed values, so that states that differ only
    /// in these become equal.
    ///
    /// Invariant: the state and its normal form can do the same. Each step from the state corresponds to one step, or to
    /// none, from the normal form. [`super::laws`] checks this on the states that small instances reach.
    fn normalize(&self, shared: &mut Self::Shared, locals: &mut [Self::Local]) {
        let _ = (shared, locals);
    }

    /// Whether processes may be [exchanged](Self::exchange), because the algorithm only compares their numbers for equality.
    fn is_symmetric(&self) -> bool {
        false
    }

    /// A number for what the registers hold about process `p`. Processes with equal numbers differ only in their variables.
    /// Required if [`is_symmetric`](Self::is_symmetric).
    fn standing(&self, shared: &Self::Shared, p: usize) -> u64 {
        let _ = (shared, p);
        0
    }

    /// Exchanges the process numbers `a` and `b` wherever registers and variables hold them. The caller has already swapped
    /// the variables of the two processes. Required if [`is_symmetric`](Self::is_symmetric).
    fn exchange(&self, shared: &mut Self::Shared, locals: &mut [Self::Local], a: usize, b: usize) {
        let _ = (shared, locals, a, b);
    }
}

/// Decides which operations each process may call.
pub trait Client<Op>: Sync {
    /// The operations that process `p` may call while its memory is `memory`, each with its memory after the call. The
    /// memory is 0 at first.
    fn offers(&self, p: usize, memory: u8) -> Vec<(Op, u8)>;
}

/// A client that calls any of these operations at any time.
impl<Op: Clone + Sync> Client<Op> for [Op] {
    fn offers(&self, _: usize, memory: u8) -> Vec<(Op, u8)> {
        self.iter().map(|op| (op.clone(), memory)).collect()
    }
}

/// The operations that a client offers, as a table by process and memory.
#[derive(Clone, Debug)]
pub(crate) struct Offers<Op>(Vec<Vec<Vec<(Op, u8)>>>);

impl<Op> Offers<Op> {
    /// The operations of a client within these bounds, for all memories that a process can reach.
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

    /// The operations that `p` may call while its memory is `memory`, each with its memory after the call.
    pub(crate) fn at(&self, p: usize, memory: u8) -> &[(Op, u8)] {
        &self.0[p][usize::from(memory)]
    }

    /// The number of different memories of a process.
    pub(crate) fn memories(&self) -> usize {
        self.0.iter().map(Vec::len).max().unwrap_or(0).max(1)
    }

    /// The largest number of moves that one state can have.
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
    /// An operation is called together with its first step and returns together with its last. This loses no bug: moving
    /// a call later, or a return earlier, across steps of other processes only adds real-time constraints.
    pub merged: bool,
    /// [Local](Algorithm::is_local) steps are made together with the step before.
    pub local_steps: bool,
    /// Updates of entries that no scan returns are shortened to the steps that other operations can observe.
    pub fake_operations: bool,
    /// Of states that differ only in the numbers of interchangeable processes, one is explored.
    pub symmetry: bool,
    /// States are brought into [normal form](Algorithm::normalize), in which dead values are fixed.
    pub dead_values: bool,
    /// The monitor drops constraints that no open or later scan can violate.
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

    /// The name of each reduction, with whether it is on.
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

    /// The same reductions without the one of this name.
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

/// Limits on the executions that are explored.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bounds {
    /// The largest number of operations that each process calls; unlimited by default.
    pub ops_per_process: Option<u8>,
    /// The processes that call operations, by number; all of them by default.
    pub active: Option<Vec<usize>>,
}

impl Bounds {
    /// Whether process `p` calls operations.
    pub(crate) fn is_active(&self, p: usize) -> bool {
        self.active.as_ref().is_none_or(|all| all.contains(&p))
    }
}
