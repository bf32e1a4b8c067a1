//! The observer for any specification: keeps all ways in which the execution so far can be linearized.
//!
//! A way consists of a state of the specification and, for each open operation, whether it has taken effect and with which
//! result. When an operation returns, the ways remain in which it has taken effect with that result, possibly after other
//! open operations. Sets of ways are numbered, and the successors of a set are computed once.

use std::sync::{Arc, RwLock};

use super::bits::Bits;
use super::observe::Observer;
use super::snapshot::{Answer, Bitwise, Request};
use crate::spec::{Outcomes, Spec};
use crate::value::Interner;

/// The observer of a specification.
pub(crate) struct Refinement<'a, S: Spec> {
    spec: &'a S,
    processes: usize,
    known: Arc<RwLock<Known<S>>>,
}

impl<S: Spec> Clone for Refinement<'_, S> {
    fn clone(&self) -> Self {
        Refinement {
            known: Arc::clone(&self.known),
            ..*self
        }
    }
}

/// One way to linearize: the state of the specification, and the open operation of each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Way {
    state: u32,
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Open {
    Nothing,
    /// The operation has not taken effect.
    Before(u32),
    /// The operation has taken effect with this result.
    After(u32),
}

/// An event of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ProcessEvent {
    Call(u32),
    Return(u32),
}

struct Known<S: Spec> {
    states: Interner<S::State>,
    ops: Interner<S::Op>,
    rets: Interner<S::Ret>,
    sets: Interner<Vec<Way>>,
    /// The set of ways after an event, by set and event; `None` if no way remains.
    after: hashbrown::HashMap<(u32, usize, ProcessEvent), Option<u32>, foldhash::fast::FixedState>,
}

impl<'a, S: Spec> Refinement<'a, S> {
    pub(crate) fn new(spec: &'a S, processes: usize) -> Self {
        let mut known = Known {
            states: Interner::default(),
            ops: Interner::default(),
            rets: Interner::default(),
            sets: Interner::default(),
            after: hashbrown::HashMap::default(),
        };
        let state = known.states.intern(spec.init());
        let open = vec![Open::Nothing; processes];
        // The set at the start has number 0.
        known.sets.intern(vec![Way { state, open }]);
        Refinement {
            spec,
            processes,
            known: Arc::new(RwLock::new(known)),
        }
    }

    fn follow(&self, set: u32, p: usize, event: Result<&S::Op, &S::Ret>) -> Option<u32> {
        {
            let known = self.known.read().expect("bug: a thread has panicked");
            let event = match event {
                Ok(op) => position(known.ops.items(), op).map(ProcessEvent::Call),
                Err(ret) => position(known.rets.items(), ret).map(ProcessEvent::Return),
            };
            if let Some(event) = event
                && let Some(&after) = known.after.get(&(set, p, event))
            {
                return after;
            }
        }
        let known = &mut *self.known.write().expect("bug: a thread has panicked");
        let (event, mut ways) = match event {
            Ok(op) => {
                let op = known.ops.intern(op.clone());
                let mut ways = known.sets.items()[set as usize].clone();
                for way in &mut ways {
                    way.open[p] = Open::Before(op);
                }
                (ProcessEvent::Call(op), ways)
            }
            Err(ret) => {
                let number = known.rets.intern(ret.clone());
                let ways = known.sets.items()[set as usize].clone();
                let mut found = Vec::new();
                for way in ways {
                    self.returning(known, way, p, (number, ret), &mut found);
                }
                (ProcessEvent::Return(number), found)
            }
        };
        ways.sort_unstable();
        ways.dedup();
        let after = (!ways.is_empty()).then(|| known.sets.intern(ways));
        known.after.insert((set, p, event), after);
        after
    }

    /// Adds all ways that follow `way` in which `p` has returned `ret`.
    fn returning(
        &self,
        known: &mut Known<S>,
        way: Way,
        p: usize,
        (number, ret): (u32, &S::Ret),
        found: &mut Vec<Way>,
    ) {
        let mut seen: Interner<Way> = Interner::default();
        seen.intern(way);
        let mut at = 0;
        while at < seen.items().len() {
            let way = seen.items()[at].clone();
            at += 1;
            if let Open::After(answer) = way.open[p] {
                if answer == number {
                    let mut way = way;
                    way.open[p] = Open::Nothing;
                    found.push(way);
                }
                continue;
            }
            let state = known.states.items()[way.state as usize].clone();
            for q in 0..self.processes {
                let Open::Before(op) = way.open[q] else {
                    continue;
                };
                let op = known.ops.items()[op as usize].clone();
                if q == p {
                    for next in self.spec.step(&state, &op, Some(ret)) {
                        let mut way = way.clone();
                        way.state = known.states.intern(next);
                        way.open[p] = Open::Nothing;
                        found.push(way);
                    }
                    continue;
                }
                let outcomes = match self.spec.apply(&state, &op) {
                    Outcomes::Blocked => Vec::new(),
                    Outcomes::One(answer, next) => vec![(answer, next)],
                    Outcomes::Many(all) => all,
                };
                for (answer, next) in outcomes {
                    let mut way = way.clone();
                    way.state = known.states.intern(next);
                    way.open[q] = Open::After(known.rets.intern(answer));
                    seen.intern(way);
                }
            }
        }
    }
}

/// Finds or adds an item. There are few different operations and results, so a linear search is fast enough.
fn position<T: Eq>(items: &[T], item: &T) -> Option<u32> {
    items
        .iter()
        .position(|known| known == item)
        .map(|i| i as u32)
}

impl<S: Spec> Observer<S::Op, S::Ret> for Refinement<'_, S> {
    /// The number of a set of ways.
    type State = u32;

    fn start(&self) -> u32 {
        0
    }

    fn called(&self, state: &mut u32, p: usize, op: &S::Op) {
        *state = self
            .follow(*state, p, Ok(op))
            .expect("bug: a call has no way to go on");
    }

    fn returned(&self, state: &mut u32, p: usize, ret: &S::Ret) -> Result<(), String> {
        match self.follow(*state, p, Err(ret)) {
            Some(after) => {
                *state = after;
                Ok(())
            }
            None => Err(format!(
                "no order of the operations explains that process {p} returns {ret:?}"
            )),
        }
    }

    fn layout<B: Bits>(&self, state: &mut u32, bits: &mut B) {
        let mut number = u64::from(*state);
        bits.number(&mut number, 32);
        *state = number as u32;
    }
}

/// The observer of a snapshot by its specification. Adds the process to each operation, which is the entry that it updates.
#[derive(Clone)]
pub(crate) struct SnapshotRefinement<'a>(pub(crate) Refinement<'a, Bitwise>);

impl Observer<Request, Answer> for SnapshotRefinement<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.start()
    }

    fn called(&self, state: &mut u32, p: usize, op: &Request) {
        self.0.called(state, p, &(p as u8, *op));
    }

    fn returned(&self, state: &mut u32, p: usize, ret: &Answer) -> Result<(), String> {
        self.0.returned(state, p, ret)
    }

    fn layout<B: Bits>(&self, state: &mut u32, bits: &mut B) {
        self.0.layout(state, bits);
    }
}
