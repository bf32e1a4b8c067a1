//! Decides objects that hold one value: registers, one key of a map or a set, locks.
//!
//! Ours. Each operation has a role that states the value it needs and the value it leaves ([`Role::Slot`],
//! [`Role::Appends`]). So the machine counts, for each value, the remaining operations that need it and those that write it.
//! Four rules prune and merge states by these counts:
//!
//! * **Needed values.** If an operation that returned still needs the current value and no remaining operation can restore
//!   that value, the current value must not be replaced. An append restores a value only if that value begins with what the
//!   slot then holds.
//! * **Deadlines.** Of the remaining operations that returned and need a value, consider the first by return. If no
//!   operation that was called before that return can still write, the slot must hold the value, or a prefix of it if there
//!   are appends.
//! * **Spent values.** A value is spent if no remaining operation mentions it and no appends turn it into a mentioned one. All
//!   spent values are one state, [`SPENT`]. An append keeps the state spent, since the longer text is a prefix of no
//!   mentioned one either.
//! * **Spent writes.** In [`SPENT`], a write of a value that would be spent changes nothing. If no remaining operation needs
//!   the slot to *differ* from a value, such a write takes effect at once. Moving it here from its place in a linearization
//!   is sound: there, the slot keeps the value it held, which no operation reads before the next write.

use std::collections::HashMap;

use super::machine::Machine;
use crate::engine::Facts;
use crate::history::{EventKind, NEVER};
use crate::spec::{Kind, Need, Role};
use crate::value::{Value, ValueTable};

/// The state of a slot whose value is spent. Invariant: no value has this number.
const SPENT: u32 = u32::MAX;

/// The value that an operation needs, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asks {
    Nothing,
    Is(u32),
    IsNot(u32),
}

/// The value that an operation leaves, by number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaves {
    Same,
    Put(u32),
    Appended(u32),
}

#[derive(Clone, Copy)]
struct SlotOp {
    asks: Asks,
    leaves: Leaves,
    /// It returned, so it must take effect.
    returned: bool,
}

/// The remaining operations, those that have not taken effect, on one value.
#[derive(Clone, Copy, Default)]
struct Outlook {
    /// Remaining operations that need the slot to hold it, or to differ from it.
    mentions: u32,
    /// Remaining operations that returned and need it.
    must: u32,
    /// Remaining operations that write it.
    makers: u32,
    /// Whether appends can turn it into another mentioned value.
    begins_another: bool,
}

/// An operation that returned and needs a value.
struct Deadline {
    op: u32,
    value: u32,
    /// The number of operations called before its return that write any value.
    puts_before: u32,
}

/// The machine of a slot, with the counts of the remaining operations.
pub(super) struct SlotMachine {
    ops: Vec<SlotOp>,
    initial: u32,
    values: ValueTable,
    outlook: Vec<Outlook>,
    /// The number of remaining operations that need the slot to differ from a value.
    differing: u32,
    /// The number of writes that remain.
    puts_left: u32,
    /// The number of writes that took effect.
    puts_done: u32,

    /// Operations that returned and need a value, in the order of their returns.
    deadlines: Vec<Deadline>,
    /// By operation: its index in `deadlines`.
    deadline_of: Vec<u32>,
    /// By index in `deadlines`: whether the operation took effect.
    met: Vec<bool>,
    /// Invariant: all deadlines before this one are met.
    next_deadline: usize,

    appends: Option<Appends>,
}

/// Facts about the appends of a task.
struct Appends {
    /// The texts that operations mention, sorted. Values made by appends matter only if they are prefixes of these.
    mentioned: Vec<String>,
    /// The state that an append left, by the state before and the appended text.
    left: HashMap<(u32, u32), u32, foldhash::fast::FixedState>,
}

impl Appends {
    /// Whether appends can turn `value` into another value that is mentioned.
    fn can_make_another(&self, value: &Value) -> bool {
        let text = value.plain_text();
        // Appending the empty text leaves a text as it is, and turns any other value into a text.
        let stays = value.as_text().is_some();
        let next = self.mentioned.partition_point(|mentioned| {
            let order = mentioned.as_str().cmp(&text);
            order.is_lt() || (stays && order.is_eq())
        });
        let next = self.mentioned.get(next);
        next.is_some_and(|mentioned| mentioned.starts_with(&*text))
    }
}

impl SlotMachine {
    /// Returns the machine of a task; `None` unless every operation has the role of an operation on a slot. `events` are the
    /// calls and returns of the task in order.
    pub(super) fn new(task: &dyn Facts, events: &[(u32, EventKind)]) -> Option<Self> {
        let Some(Kind::Slot(initial)) = task.kind() else {
            return None;
        };
        let mut values: ValueTable = ValueTable::default();
        let initial = values.intern(initial.clone().into());
        let mut ops = Vec::with_capacity(task.ops().len());
        for &op in task.ops() {
            let (asks, leaves) = match task.role(op) {
                Role::Slot { needs, leaves } => {
                    let asks = match needs {
                        Need::Anything => Asks::Nothing,
                        Need::Is(value) => Asks::Is(values.intern(value.into())),
                        Need::IsNot(value) => Asks::IsNot(values.intern(value.into())),
                    };
                    (
                        asks,
                        leaves.map_or(Leaves::Same, |value| {
                            Leaves::Put(values.intern(value.into()))
                        }),
                    )
                }
                Role::Appends(text) => {
                    (Asks::Nothing, Leaves::Appended(values.intern(text.into())))
                }
                _ => return None,
            };
            ops.push(SlotOp {
                asks,
                leaves,
                returned: op.ret != NEVER,
            });
        }
        let appends = ops
            .iter()
            .any(|op| matches!(op.leaves, Leaves::Appended(_)));
        let appends = appends.then(|| Appends::new(&ops, &values));
        if appends.is_none() {
            forget_impossible_values(&mut ops, initial, values.items().len());
        }

        let deadlines = deadlines(&ops, events);
        let mut deadline_of = vec![0; ops.len()];
        (0u32..)
            .zip(&deadlines)
            .for_each(|(i, deadline)| deadline_of[deadline.op as usize] = i);
        let mut machine = SlotMachine {
            outlook: Vec::new(),
            initial,
            values,
            differing: 0,
            puts_left: 0,
            puts_done: 0,
            met: vec![true; deadlines.len()],
            next_deadline: 0,
            deadlines,
            deadline_of,
            appends,
            ops,
        };
        machine.add_outlooks();
        let ops = 0..machine.ops.len() as u32;
        ops.for_each(|op| machine.retract(op));
        machine.puts_done = 0;
        Some(machine)
    }

    /// Adds counts for the values that were interned since the last call.
    fn add_outlooks(&mut self) {
        for value in &self.values.items()[self.outlook.len()..] {
            let begins_another = self
                .appends
                .as_ref()
                .is_some_and(|appends| appends.can_make_another(value));
            self.outlook.push(Outlook {
                begins_another,
                ..Outlook::default()
            });
        }
    }

    fn normal(&self, state: u32) -> u32 {
        if state == SPENT || self.is_spent(state) {
            SPENT
        } else {
            state
        }
    }

    fn is_spent(&self, value: u32) -> bool {
        let outlook = self.outlook[value as usize];
        outlook.mentions == 0 && !outlook.begins_another
    }

    /// Returns the state that an append leaves, and remembers it.
    fn append(&mut self, state: u32, text: u32) -> u32 {
        let Some(appends) = &mut self.appends else {
            return SPENT;
        };
        if state == SPENT {
            return SPENT;
        }
        if let Some(&left) = appends.left.get(&(state, text)) {
            return left;
        }
        let longer = self.values.get(state).appended(self.values.get(text));
        let is_mentioned = |text: &str| {
            let mentioned = &appends.mentioned;
            mentioned.binary_search_by(|m| m.as_str().cmp(text)).is_ok()
        };
        let alive = longer.as_text().is_some_and(is_mentioned) || appends.can_make_another(&longer);
        let left = if alive {
            self.values.intern(longer.into())
        } else {
            SPENT
        };
        appends.left.insert((state, text), left);
        self.add_outlooks();
        left
    }

    /// Whether the first deadline that is not met can still be met from this state.
    fn next_deadline_can_be_met(&self, state: u32) -> bool {
        let Some(next) = self.deadlines.get(self.next_deadline) else {
            return true;
        };
        if next.puts_before > self.puts_done || state == next.value {
            return true;
        }
        self.appends_can_make(state, next.value)
    }

    /// Whether appends alone can lead from this state to `value`: that must be a text that begins with the current one.
    fn appends_can_make(&self, state: u32, value: u32) -> bool {
        if self.appends.is_none() || state == SPENT {
            return false;
        }
        let text = self.values.get(value).as_text();
        text.is_some_and(|text| text.starts_with(&*self.values.get(state).plain_text()))
    }
}

impl Appends {
    fn new(ops: &[SlotOp], values: &ValueTable) -> Self {
        let mentioned = ops.iter().filter_map(|op| match op.asks {
            Asks::Nothing => None,
            Asks::Is(value) | Asks::IsNot(value) => values.get(value).as_text(),
        });
        let mut mentioned: Vec<String> = mentioned.map(str::to_owned).collect();
        mentioned.sort_unstable();
        mentioned.dedup();
        Appends {
            mentioned,
            left: HashMap::default(),
        }
    }
}

/// Removes requirements to differ from a value that the slot can never hold, since they always hold.
fn forget_impossible_values(ops: &mut [SlotOp], initial: u32, values: usize) {
    let mut possible = vec![false; values];
    possible[initial as usize] = true;
    for op in &*ops {
        if let Leaves::Put(value) = op.leaves {
            possible[value as usize] = true;
        }
    }
    for op in ops {
        if matches!(op.asks, Asks::IsNot(value) if !possible[value as usize]) {
            op.asks = Asks::Nothing;
        }
    }
}

/// Returns the operations that returned and need a value, in the order of their returns.
fn deadlines(ops: &[SlotOp], events: &[(u32, EventKind)]) -> Vec<Deadline> {
    let mut deadlines = Vec::new();
    let mut puts_before = 0;
    for &(op, kind) in events {
        let SlotOp { asks, leaves, .. } = ops[op as usize];
        match (kind, asks) {
            (EventKind::Call, _) => puts_before += u32::from(matches!(leaves, Leaves::Put(_))),
            (EventKind::Return, Asks::Is(value)) => deadlines.push(Deadline {
                op,
                value,
                puts_before,
            }),
            (EventKind::Return, _) => {}
        }
    }
    deadlines
}

impl Machine for SlotMachine {
    fn start(&mut self, _: usize) -> Option<u32> {
        let hopeless = |(value, outlook): (u32, &Outlook)| {
            value != self.initial && outlook.must > 0 && outlook.makers == 0
        };
        if self.appends.is_none() && (0u32..).zip(&self.outlook).any(hopeless) {
            return None;
        }
        Some(self.normal(self.initial))
    }

    fn successors(&mut self, state: u32, op: u32, out: &mut Vec<u32>) {
        let SlotOp { asks, leaves, .. } = self.ops[op as usize];
        // `SPENT` is the number of no value, so it equals none that is needed, and differs from all.
        let fits = match asks {
            Asks::Nothing => true,
            Asks::Is(value) => state == value,
            Asks::IsNot(value) => state != value,
        };
        if fits {
            out.push(match leaves {
                Leaves::Same => state,
                Leaves::Put(value) => value,
                Leaves::Appended(text) => self.append(state, text),
            });
        }
    }

    fn is_harmless(&self, state: u32, op: u32) -> bool {
        let SlotOp { asks, leaves, .. } = self.ops[op as usize];
        match leaves {
            Leaves::Same => true,
            Leaves::Put(value) if asks == Asks::Is(value) => true,
            Leaves::Put(value) => {
                state == SPENT
                    && asks == Asks::Nothing
                    && self.differing == 0
                    && self.is_spent(value)
            }
            Leaves::Appended(_) => false,
        }
    }

    fn commit(&mut self, op: u32, state: u32, next: u32) -> Option<u32> {
        let SlotOp {
            asks,
            leaves,
            returned,
        } = self.ops[op as usize];
        if let Asks::Is(value) | Asks::IsNot(value) = asks {
            self.outlook[value as usize].mentions -= 1;
        }
        if let (Asks::Is(value), true) = (asks, returned) {
            self.outlook[value as usize].must -= 1;
            self.met[self.deadline_of[op as usize] as usize] = true;
            while self.met.get(self.next_deadline) == Some(&true) {
                self.next_deadline += 1;
            }
        }
        self.differing -= u32::from(matches!(asks, Asks::IsNot(_)));
        if let Leaves::Put(value) = leaves {
            self.outlook[value as usize].makers -= 1;
            self.puts_left -= 1;
            self.puts_done += 1;
        }
        if next != state && state != SPENT {
            let outlook = self.outlook[state as usize];
            // The value that an append leaves depends on the last write before it, so any remaining write may restore it.
            let makers = match self.appends {
                Some(_) => self.puts_left,
                None => outlook.makers,
            };
            if outlook.must > 0 && makers == 0 && !self.appends_can_make(next, state) {
                return None;
            }
        }
        self.next_deadline_can_be_met(next)
            .then(|| self.normal(next))
    }

    fn retract(&mut self, op: u32) {
        let SlotOp {
            asks,
            leaves,
            returned,
        } = self.ops[op as usize];
        if let Asks::Is(value) | Asks::IsNot(value) = asks {
            self.outlook[value as usize].mentions += 1;
        }
        if let (Asks::Is(value), true) = (asks, returned) {
            self.outlook[value as usize].must += 1;
            let deadline = self.deadline_of[op as usize] as usize;
            self.met[deadline] = false;
            self.next_deadline = self.next_deadline.min(deadline);
        }
        self.differing += u32::from(matches!(asks, Asks::IsNot(_)));
        if let Leaves::Put(value) = leaves {
            self.outlook[value as usize].makers += 1;
            self.puts_left += 1;
            self.puts_done = self.puts_done.wrapping_sub(1);
        }
    }

    fn growth(&self, _: u32) -> usize {
        self.values.growth()
    }
}
