//! From a violation to its core, by reductions that keep linearizable histories linearizable.
//!
//! Dropping operations at will is unsound: a read without its write looks wrong. What is allowed, and why:
//!
//! * **Cut** to a beginning: what was linearizable stays so, with the operations open at the cut left pending.
//! * **Drop an operation that changes no state**: the others never noticed it.
//! * **Drop all operations on some values** of a container or a slot ([`Role`]): that is the contract of the roles. In a
//!   slot, values that one operation exchanges for each other go together, and nothing may need the slot to *differ*
//!   from a value, since dropping a write uncovers an older value.
//! * **Relax** an operation: forget its result and its return. It may then have happened at any time after its call, with
//!   any result, or not at all; that includes what it did.
//!
//! What is left unrelaxed is the core: these results at these times contradict each other, whatever the others did.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::engine::{Answer, Budget, GaveUp, Task, TaskOp};
use crate::history::{NEVER, OpId};
use crate::spec::{Need, Role, Spec};
use crate::value::Value;

/// A smaller history that is not linearizable either.
pub(crate) struct Reduced<'a, S: Spec> {
    /// What is left.
    pub(crate) task: Task<'a, S>,
    /// The rank up to which the history was kept.
    pub(crate) cut: u32,
    /// Whether no further reduction keeps the contradiction.
    pub(crate) minimal: bool,
}

/// Where the history stops being linearizable.
pub(crate) struct BadPrefix {
    /// Events of the shortest beginning that is not linearizable.
    pub(crate) events: usize,
    /// Explains all but the last of them.
    pub(crate) partial: Vec<OpId>,
    /// Whether it is known to be the shortest.
    pub(crate) shortest: bool,
}

type Decide<'d, 'a, S> = &'d dyn Fn(&Task<'a, S>, &Budget) -> Result<Answer, GaveUp>;

/// The values that an operation with this role is about; `None` if that is not known.
pub(super) fn values_of(role: &Role) -> Option<Vec<Value>> {
    match role {
        // What an append leaves depends on what others wrote.
        Role::Opaque | Role::Appends(_) => None,
        Role::Slot { needs, leaves } => {
            let needs = match needs {
                Need::Anything => None,
                Need::Is(value) | Need::IsNot(value) => Some(value),
            };
            Some(needs.into_iter().chain(leaves).cloned().collect())
        }
        Role::Adds(value) | Role::Removes(value) | Role::Peeks(value) => Some(vec![value.clone()]),
        Role::RemovesSome | Role::Empty => Some(Vec::new()),
    }
}

/// The shortest beginning of `task`, which is not linearizable, that is not linearizable either.
///
/// The first `reached` events are known to be explained by `partial`.
pub(crate) fn shortest_bad_prefix<'a, S: Spec>(
    task: &Task<'a, S>,
    reached: usize,
    partial: Vec<OpId>,
    budget: &Budget,
    decide: Decide<'_, 'a, S>,
) -> BadPrefix {
    let mut found = BadPrefix {
        events: task.events(),
        partial,
        shortest: true,
    };
    let mut good = reached;
    // The engines usually come close: look near `reached` first.
    let mut stride = 1;
    while good + 1 < found.events {
        let probe = (good + stride)
            .min(good + (found.events - good) / 2)
            .max(good + 1);
        match decide(&task.prefix(probe), budget) {
            Ok(Answer::Linearizable(order)) => {
                (good, found.partial) = (probe, order);
                stride *= 2;
            }
            Ok(Answer::NotLinearizable { .. }) => {
                found.events = probe;
                stride = 1.max(stride / 4);
            }
            Err(_) => {
                found.shortest = false;
                return found;
            }
        }
    }
    found
}

/// Reduces `task`, which is not linearizable, as far as the budget allows.
pub(crate) fn reduce<'a, S: Spec>(
    task: Task<'a, S>,
    budget: &Budget,
    decide: Decide<'_, 'a, S>,
) -> Reduced<'a, S> {
    let ranks = task.ops.iter().flat_map(|op| [op.call, op.ret]);
    let cut = ranks.filter(|&rank| rank != NEVER).max().unwrap_or(0);
    let started = Instant::now();
    let _ = decide(&task, budget);
    // A reduced history may be far harder to decide than the whole one. Most of them are not worth waiting for: first take
    // what is cheap, then look at what is left with more patience.
    let quick = (started.elapsed() * 8).max(Duration::from_millis(2));
    let mut reducer = Reducer {
        task,
        budget,
        decide,
        patience: quick,
        undecided: false,
    };
    for patience in [quick, quick * 64] {
        reducer.patience = patience;
        loop {
            let before = reducer.task.ops.clone();
            reducer.undecided = false;
            reducer.drop_pure();
            reducer.drop_families();
            reducer.relax();
            if budget.check().is_err() || reducer.task.ops == before {
                break;
            }
        }
        if !reducer.undecided {
            break;
        }
    }
    Reduced {
        task: reducer.task,
        cut,
        minimal: !reducer.undecided,
    }
}

struct Reducer<'a, 'b, S: Spec> {
    task: Task<'a, S>,
    budget: &'b Budget,
    decide: Decide<'b, 'a, S>,
    /// How long one attempt may take.
    patience: Duration,
    /// Some attempt of the current round was not decided.
    undecided: bool,
}

impl<S: Spec> Reducer<'_, '_, S> {
    /// Keeps `ops` instead if the contradiction survives.
    fn try_with(&mut self, ops: Vec<TaskOp>) -> bool {
        let candidate = self.task.with_ops(ops);
        match (self.decide)(&candidate, &self.budget.slice(self.patience)) {
            Ok(Answer::NotLinearizable { .. }) => {
                self.task = candidate;
                true
            }
            Ok(Answer::Linearizable(_)) => false,
            Err(_) => {
                self.undecided = true;
                false
            }
        }
    }

    fn drop_pure(&mut self) {
        let pure = (0..self.task.ops.len()).filter(|&i| {
            let (op, ret) = self.task.action(i);
            self.task.spec.is_pure(op, ret)
        });
        let pure = pure.map(|i| vec![self.task.ops[i].id]).collect();
        self.in_chunks(pure, |ops, chosen| {
            ops.retain(|op| !chosen.contains(&op.id))
        });
    }

    fn drop_families(&mut self) {
        if let Some(families) = families(&self.task) {
            self.in_chunks(families, |ops, chosen| {
                ops.retain(|op| !chosen.contains(&op.id))
            });
        }
    }

    fn relax(&mut self) {
        let returned = self.task.ops.iter().filter(|op| op.ret != NEVER);
        let returned = returned.map(|op| vec![op.id]).collect();
        self.in_chunks(returned, |ops, chosen| {
            ops.iter_mut()
                .filter(|op| chosen.contains(&op.id))
                .for_each(|op| op.ret = NEVER);
        });
    }

    /// Applies a reduction to as many groups of operations as possible: many groups at once first, down to single ones.
    fn in_chunks(
        &mut self,
        groups: Vec<Vec<OpId>>,
        reduction: impl Fn(&mut Vec<TaskOp>, &HashSet<OpId>),
    ) {
        let mut size = groups.len();
        let mut left: Vec<&[Vec<OpId>]> = vec![&groups];
        while size >= 1 {
            let mut next = Vec::new();
            for chunk in left.into_iter().flat_map(|chunk| chunk.chunks(size)) {
                if self.budget.check().is_err() {
                    self.undecided = true;
                    return;
                }
                let mut ops = self.task.ops.clone();
                reduction(&mut ops, &chunk.iter().flatten().copied().collect());
                if !self.try_with(ops) {
                    next.push(chunk);
                }
            }
            left = next;
            size /= 2;
        }
    }
}

/// Groups of operations that may be dropped together, if any may.
fn families<S: Spec>(task: &Task<'_, S>) -> Option<Vec<Vec<OpId>>> {
    task.kind()?;
    let mut union = Union::default();
    let mut first_value = Vec::new();
    for i in 0..task.ops.len() {
        let (op, ret) = task.action(i);
        let role = task.spec.role(op, ret);
        if matches!(
            role,
            Role::Slot {
                needs: Need::IsNot(_),
                ..
            }
        ) {
            return None;
        }
        let values: Vec<usize> = values_of(&role)?
            .into_iter()
            .map(|value| union.number(value))
            .collect();
        values
            .windows(2)
            .for_each(|pair| union.join(pair[0], pair[1]));
        first_value.push(values.first().copied());
    }
    let mut families: HashMap<usize, Vec<OpId>> = HashMap::new();
    for (op, value) in task.ops.iter().zip(first_value) {
        if let Some(value) = value {
            families.entry(union.root(value)).or_default().push(op.id);
        }
    }
    let mut families: Vec<_> = families.into_values().collect();
    families.sort_unstable();
    Some(families)
}

/// Disjoint sets of values.
#[derive(Default)]
struct Union {
    numbers: HashMap<Value, usize>,
    parent: Vec<usize>,
}

impl Union {
    fn number(&mut self, value: Value) -> usize {
        let next = self.parent.len();
        let number = *self.numbers.entry(value).or_insert(next);
        if number == next {
            self.parent.push(next);
        }
        number
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b;
    }
}
