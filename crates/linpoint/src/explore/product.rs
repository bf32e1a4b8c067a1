//! The product of an algorithm and an observer, which is what the search explores: its states, its moves, and the
//! reductions.

use std::sync::RwLock;

use smallvec::SmallVec;

use super::bits::{Bits, Measure, Reader, Writer, width};
use super::observe::Observer;
use super::program::{Algorithm, Bounds, Interface, Offers, Reductions, Step};
use super::search::{Found, MOST_SUCCESSORS, Model};
use crate::error::Error;
use crate::value::Interner;

/// A state of the product: registers, variables and callers of all processes, and the state of the observer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State<S, L, O> {
    pub(crate) shared: S,
    pub(crate) locals: Vec<L>,
    callers: Vec<Caller>,
    observed: O,
}

impl<S: Clone, L: Clone, O: Clone> State<S, L, O> {
    /// Copies another state into this one, reusing its memory.
    fn set_to(&mut self, other: &Self) {
        self.shared.clone_from(&other.shared);
        self.locals.clone_from(&other.locals);
        self.callers.clone_from(&other.callers);
        self.observed.clone_from(&other.observed);
    }
}

/// The state of the product of `A` and `O`.
pub(crate) type StateOf<A, O> = State<
    <A as Algorithm>::Shared,
    <A as Algorithm>::Local,
    <O as Observer<<A as Interface>::Op, <A as Interface>::Ret>>::State,
>;

/// What the client knows about a process: its memory, its number of calls, and its open operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Caller {
    memory: u8,
    calls: u8,
    phase: Phase,
    /// The number of the result while the phase is [`Phase::Returning`], else 0.
    ret: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    #[default]
    Idle,
    Running,
    /// All steps are made, and the return is a move of its own. Only without [`Reductions::merged`].
    Returning,
}

/// A possible next move of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) process: usize,
    /// The operation that it calls, as an index into its offers; 0 if it has an operation open.
    offer: usize,
}

/// What a move did, recorded for a counterexample.
#[derive(Clone, Debug)]
pub(crate) struct Happened<Op, Ret> {
    pub(crate) call: Option<Op>,
    pub(crate) steps: Vec<String>,
    pub(crate) ret: Option<Ret>,
}

impl<Op, Ret> Default for Happened<Op, Ret> {
    fn default() -> Self {
        Happened {
            call: None,
            steps: Vec::new(),
            ret: None,
        }
    }
}

/// What distinguishes a process from the others that it can be exchanged with.
type Key = (u64, u64, Caller, [u64; KEY_WORDS]);

/// The words of a key for the variables of a process. If they need more, symmetry is not used.
const KEY_WORDS: usize = 2;

/// Whether processes of the algorithm can be exchanged.
pub(super) fn can_exchange<A: Algorithm>(algorithm: &A) -> bool {
    let mut local = Measure::default();
    algorithm.layout_local(&mut A::Local::default(), &mut local);
    algorithm.is_symmetric() && local.0 as usize <= 64 * KEY_WORDS
}

/// The product of an algorithm and an observer.
pub(crate) struct Product<'a, A: Algorithm, O> {
    pub(crate) algorithm: &'a A,
    observer: O,
    offers: Offers<A::Op>,
    memory_width: u32,
    bounds: Bounds,
    reductions: Reductions,
    /// Processes that can be exchanged.
    alike: Vec<usize>,
    rets: RwLock<Interner<A::Ret>>,
    words: usize,
}

impl<'a, A: Algorithm, O: Observer<A::Op, A::Ret>> Product<'a, A, O> {
    /// The product. The caller states that the processes in `alike` have equal clients; they are exchanged if the
    /// algorithm is symmetric.
    pub(crate) fn new(
        algorithm: &'a A,
        offers: Offers<A::Op>,
        observer: O,
        bounds: Bounds,
        reductions: Reductions,
        alike: Vec<usize>,
    ) -> Result<Self, Error> {
        if offers.most_moves() > MOST_SUCCESSORS as usize {
            return Err(Error::usage(format!(
                "{} processes with this many operations to call have too many successors in one state; offer fewer operations",
                algorithm.processes()
            )));
        }
        let symmetric = reductions.symmetry && can_exchange(algorithm);
        let mut product = Product {
            algorithm,
            observer,
            memory_width: width(offers.memories()),
            offers,
            alike: if symmetric {
                alike.into_iter().filter(|&p| bounds.is_active(p)).collect()
            } else {
                Vec::new()
            },
            bounds,
            reductions,
            rets: RwLock::default(),
            words: 0,
        };
        let mut measure = Measure::default();
        product.layout(&mut product.start(), &mut measure);
        product.words = measure.0.div_ceil(64).max(1) as usize;
        Ok(product)
    }

    pub(crate) fn start(&self) -> StateOf<A, O> {
        let processes = self.algorithm.processes();
        let mut start = State {
            shared: self.algorithm.shared(),
            locals: vec![A::Local::default(); processes],
            callers: vec![Caller::default(); processes],
            observed: self.observer.start(),
        };
        self.normalize(&mut start);
        start
    }

    fn layout<B: Bits>(&self, state: &mut StateOf<A, O>, bits: &mut B) {
        self.algorithm.layout(&mut state.shared, bits);
        for local in &mut state.locals {
            self.algorithm.layout_local(local, bits);
        }
        for caller in &mut state.callers {
            bits.int(&mut caller.memory, self.memory_width);
            if let Some(bound) = self.bounds.ops_per_process {
                bits.int(&mut caller.calls, width(usize::from(bound) + 1));
            }
            let mut phase = caller.phase as u8;
            bits.int(&mut phase, if self.reductions.merged { 1 } else { 2 });
            caller.phase = [Phase::Idle, Phase::Running, Phase::Returning][usize::from(phase)];
            if !self.reductions.merged {
                bits.set(&mut caller.ret, 16);
            }
        }
        self.observer.layout(&mut state.observed, bits);
    }

    pub(crate) fn pack(&self, state: &mut StateOf<A, O>, words: &mut [u64]) {
        self.layout(state, &mut Writer::new(words));
    }

    /// Overwrites a state with the one that these words hold.
    fn unpack(&self, words: &[u64], state: &mut StateOf<A, O>) {
        self.layout(state, &mut Reader::new(words));
    }

    /// Whether unpacking these words gives the same state.
    fn keeps_all(&self, state: &StateOf<A, O>, words: &[u64]) -> bool {
        let mut unpacked = self.start();
        self.unpack(words, &mut unpacked);
        unpacked == *state
    }

    pub(crate) fn packed(&self, state: &StateOf<A, O>) -> Vec<u64> {
        let mut words = vec![0; self.words];
        self.pack(&mut state.clone(), &mut words);
        words
    }

    /// All moves from a state.
    pub(crate) fn moves<'s>(&'s self, state: &'s StateOf<A, O>) -> impl Iterator<Item = Move> + 's {
        let bound = self.bounds.ops_per_process.unwrap_or(u8::MAX);
        let of_process = move |(process, caller): (usize, &Caller)| {
            let count = match caller.phase {
                Phase::Idle if caller.calls >= bound => 0,
                Phase::Idle => self.offers.at(process, caller.memory).len(),
                Phase::Running | Phase::Returning => 1,
            };
            (0..count).map(move |offer| Move { process, offer })
        };
        state.callers.iter().enumerate().flat_map(of_process)
    }

    /// The next move of a process that has an operation open.
    pub(crate) fn going_on(&self, state: &StateOf<A, O>, process: usize) -> Option<Move> {
        (state.callers[process].phase != Phase::Idle).then_some(Move { process, offer: 0 })
    }

    /// Makes a move. The error says why the return cannot be linearized. The new state is not yet in normal form.
    pub(crate) fn make(
        &self,
        state: &mut StateOf<A, O>,
        Move { process: p, offer }: Move,
        mut notes: Option<&mut Happened<A::Op, A::Ret>>,
    ) -> Result<(), String> {
        let mut shared_steps = 1;
        match state.callers[p].phase {
            Phase::Idle => {
                let caller = &mut state.callers[p];
                let (op, memory) = &self.offers.at(p, caller.memory)[offer];
                caller.memory = *memory;
                caller.phase = Phase::Running;
                if self.bounds.ops_per_process.is_some() {
                    caller.calls += 1;
                }
                self.observer.called(&mut state.observed, p, op);
                self.algorithm.call(p, op, &mut state.locals[p]);
                if let Some(notes) = notes.as_deref_mut() {
                    notes.call = Some(op.clone());
                }
                if !self.reductions.merged {
                    shared_steps = 0;
                }
            }
            Phase::Running => {}
            Phase::Returning => {
                let number = usize::from(std::mem::take(&mut state.callers[p].ret));
                let ret = {
                    let rets = self.rets.read().expect("bug: a thread has panicked");
                    rets.items()[number].clone()
                };
                return self.finish(state, p, ret, notes);
            }
        }
        // Makes `shared_steps` steps that are not local, and all local ones before and after. A call without merged steps
        // is followed by local steps only.
        loop {
            let is_local = self.algorithm.is_local(p, &state.shared, &state.locals[p]);
            match (is_local && self.reductions.local_steps, shared_steps) {
                (true, _) => {}
                (false, 0) => return Ok(()),
                (false, _) => shared_steps = 0,
            }
            if let Some(notes) = notes.as_deref_mut() {
                notes.steps.push(self.algorithm.next(p, &state.locals[p]));
            }
            let step = self
                .algorithm
                .step(p, &mut state.shared, &mut state.locals[p]);
            let Step::Return(ret) = step else { continue };
            if self.reductions.merged {
                return self.finish(state, p, ret, notes);
            }
            let mut rets = self.rets.write().expect("bug: a thread has panicked");
            state.callers[p].phase = Phase::Returning;
            state.callers[p].ret = rets.intern(ret) as u16;
            return Ok(());
        }
    }

    fn finish(
        &self,
        state: &mut StateOf<A, O>,
        p: usize,
        ret: A::Ret,
        notes: Option<&mut Happened<A::Op, A::Ret>>,
    ) -> Result<(), String> {
        state.callers[p].phase = Phase::Idle;
        let fine = self.observer.returned(&mut state.observed, p, &ret);
        if let Some(notes) = notes {
            notes.ret = Some(ret);
        }
        fine
    }

    /// Replaces a state by its normal form.
    pub(crate) fn normalize(&self, state: &mut StateOf<A, O>) {
        if self.reductions.dead_values {
            self.algorithm
                .normalize(&mut state.shared, &mut state.locals);
        }
        if self.alike.len() > 1 {
            self.sort(state);
        }
    }

    /// Sorts the processes that can be exchanged by their keys.
    fn sort(&self, state: &mut StateOf<A, O>) {
        let mut keys: SmallVec<[Key; 8]> = self.alike.iter().map(|&p| self.key(state, p)).collect();
        for from in 1..keys.len() {
            let mut at = from;
            while at > 0 && keys[at] < keys[at - 1] {
                keys.swap(at - 1, at);
                self.exchange(state, self.alike[at - 1], self.alike[at]);
                at -= 1;
            }
        }
    }

    fn key(&self, state: &mut StateOf<A, O>, p: usize) -> Key {
        let mut words = [0; KEY_WORDS];
        let local = &mut state.locals[p];
        self.algorithm
            .layout_local(local, &mut Writer::new(&mut words));
        (
            self.algorithm.standing(&state.shared, p),
            self.observer.standing(&state.observed, p),
            state.callers[p],
            words,
        )
    }

    fn exchange(&self, state: &mut StateOf<A, O>, a: usize, b: usize) {
        state.locals.swap(a, b);
        state.callers.swap(a, b);
        self.observer.exchange(&mut state.observed, a, b);
        self.algorithm
            .exchange(&mut state.shared, &mut state.locals, a, b);
    }
}

impl<A: Algorithm, O: Observer<A::Op, A::Ret>> Model for Product<'_, A, O> {
    fn words(&self) -> usize {
        self.words
    }

    fn initial(&self) -> Vec<u64> {
        self.packed(&self.start())
    }

    fn expand(&self, states: &[u64], found: &mut Found) {
        let mut state = self.start();
        let mut next = state.clone();
        for packed in states.chunks_exact(self.words) {
            self.unpack(packed, &mut state);
            let before = found.states.len();
            for a_move in self.moves(&state) {
                next.set_to(&state);
                if self.make(&mut next, a_move, None).is_err() {
                    found.states.truncate(before);
                    found.is_bad = true;
                    return;
                }
                self.normalize(&mut next);
                let at = found.states.len();
                found.states.resize(at + self.words, 0);
                self.pack(&mut next, &mut found.states[at..]);
                debug_assert!(
                    self.keeps_all(&next, &found.states[at..]),
                    "the layout does not hold all of {next:?}"
                );
            }
            let count = (found.states.len() - before) / self.words;
            found.counts.push(count as u32);
        }
    }
}
