//! Objects that hold one value: registers, a key of a map or a set, a lock.
//!
//! Every operation says what the slot must hold and what it leaves ([`Role::Slot`]), so the whole future is known: how
//! often each value is still asked for, and how often it can still be put there. That prunes and merges:
//!
//! * A value that is still asked for by an operation that returned, and that nobody can put back, must not be
//!   overwritten: nothing can come of it.
//! * A value that no operation left mentions is as good as any other such value. All of them are one state, `SPENT`.
//! * In `SPENT`, a write of a value that nobody mentions changes nothing. If no operation left needs the slot to *differ*
//!   from something, such a write can be moved here in any order that works: at its old place the slot then keeps what it
//!   held, which the operations up to the next write do not look at. So it takes effect at once.

use super::machine::Machine;
use crate::engine::Task;
use crate::history::NEVER;
use crate::spec::{Kind, Need, Role, Spec};
use crate::value::{Interner, Value};

/// The state of a slot whose value nobody will ever ask for.
const SPENT: u32 = u32::MAX;

/// A need or an effect in terms of value numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    Is(u32),
    IsNot(u32),
}

#[derive(Clone, Copy)]
struct SlotOp {
    asks: Asks,
    leaves: Option<u32>,
    /// It returned, so it must take effect.
    returned: bool,
}

/// What the operations that did not take effect yet have to do with one value.
#[derive(Clone, Copy, Default)]
struct Outlook {
    /// Operations that ask whether the slot holds it.
    mentions: u32,
    /// Operations that returned and need it.
    must: u32,
    /// Operations that put it there.
    makers: u32,
}

pub(super) struct SlotMachine {
    ops: Vec<SlotOp>,
    outlook: Vec<Outlook>,
    initial: u32,
    /// Operations left that need the slot to differ from something.
    differing: u32,
}

impl SlotMachine {
    /// The machine of this task, if all its operations are those of a slot.
    pub(super) fn new<S: Spec>(task: &Task<'_, S>) -> Option<Self> {
        let Some(Kind::Slot(initial)) = task.kind() else {
            return None;
        };
        let roles = (0..task.ops.len()).map(|i| {
            let (op, ret) = task.action(i);
            match task.spec.role(op, ret) {
                Role::Slot { needs, leaves } => Some((needs, leaves)),
                _ => None,
            }
        });
        let roles = roles.collect::<Option<Vec<_>>>()?;
        let mut values: Interner<Value> = Interner::default();
        let initial = values.intern(initial.clone());
        let mut ops: Vec<SlotOp> = roles
            .into_iter()
            .zip(&task.ops)
            .map(|((needs, leaves), op)| SlotOp {
                asks: match needs {
                    Need::Anything => Asks::Nothing,
                    Need::Is(value) => Asks::Is(values.intern(value)),
                    Need::IsNot(value) => Asks::IsNot(values.intern(value)),
                },
                leaves: leaves.map(|value| values.intern(value)),
                returned: op.ret != NEVER,
            })
            .collect();
        let mut possible = vec![false; values.len()];
        possible[initial as usize] = true;
        ops.iter()
            .filter_map(|op| op.leaves)
            .for_each(|value| possible[value as usize] = true);
        for op in &mut ops {
            // The slot never holds that value.
            if matches!(op.asks, Asks::IsNot(value) if !possible[value as usize]) {
                op.asks = Asks::Nothing;
            }
        }
        let mut machine = SlotMachine {
            ops,
            outlook: vec![Outlook::default(); values.len()],
            initial,
            differing: 0,
        };
        (0..machine.ops.len() as u32).for_each(|op| machine.retract(op));
        Some(machine)
    }

    /// Values are compared by number, so `SPENT` fits no `Is` and every `IsNot`.
    fn fits(&self, state: u32, op: u32) -> bool {
        match self.ops[op as usize].asks {
            Asks::Nothing => true,
            Asks::Is(value) => state == value,
            Asks::IsNot(value) => state != value,
        }
    }

    fn normal(&self, state: u32) -> u32 {
        if state == SPENT || self.outlook[state as usize].mentions == 0 {
            SPENT
        } else {
            state
        }
    }
}

impl Machine for SlotMachine {
    fn start(&mut self) -> Option<u32> {
        let hopeless = |(value, outlook): (u32, &Outlook)| {
            value != self.initial && outlook.must > 0 && outlook.makers == 0
        };
        if (0u32..).zip(&self.outlook).any(hopeless) {
            return None;
        }
        Some(self.normal(self.initial))
    }

    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        if self.fits(state, op) {
            out.push(self.ops[op as usize].leaves.unwrap_or(state));
        }
    }

    fn is_harmless(&self, state: u32, op: u32) -> bool {
        let SlotOp { asks, leaves, .. } = self.ops[op as usize];
        match leaves {
            None => true,
            Some(value) if asks == Asks::Is(value) => true,
            Some(value) => {
                state == SPENT
                    && asks == Asks::Nothing
                    && self.differing == 0
                    && self.outlook[value as usize].mentions == 0
            }
        }
    }

    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32> {
        let SlotOp {
            asks,
            leaves,
            returned,
        } = self.ops[op as usize];
        if let Asks::Is(value) | Asks::IsNot(value) = asks {
            let outlook = &mut self.outlook[value as usize];
            outlook.mentions -= 1;
            outlook.must -= u32::from(returned && asks == Asks::Is(value));
        }
        self.differing -= u32::from(matches!(asks, Asks::IsNot(_)));
        if let Some(value) = leaves {
            self.outlook[value as usize].makers -= 1;
        }
        if next != state && state != SPENT {
            let outlook = self.outlook[state as usize];
            if outlook.must > 0 && outlook.makers == 0 {
                return None;
            }
        }
        Some(self.normal(next))
    }

    fn retract(&mut self, op: u32) {
        let SlotOp {
            asks,
            leaves,
            returned,
        } = self.ops[op as usize];
        if let Asks::Is(value) | Asks::IsNot(value) = asks {
            let outlook = &mut self.outlook[value as usize];
            outlook.mentions += 1;
            outlook.must += u32::from(returned && asks == Asks::Is(value));
        }
        self.differing += u32::from(matches!(asks, Asks::IsNot(_)));
        if let Some(value) = leaves {
            self.outlook[value as usize].makers += 1;
        }
    }

    fn growth(&self) -> usize {
        0
    }
}
