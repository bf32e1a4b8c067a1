//! Sequential consistency, write-linearizability and strict linearizability: saturation, then search.

use std::collections::{BTreeMap, HashMap};

use super::answer::{Answer, Decided, Why, Witness};
use super::memory::{INITIAL, Linked, Memory, Source};
use super::saturate::{Saturation, saturate};
use super::search::{Lines, Machine, search};
use crate::engine::{Budget, Limit};
use crate::history::{NEVER, OpId, TypedHistory};
use crate::spec::Spec;

/// What an order has to keep to besides the order of each process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeps {
    /// Nothing.
    Processes,
    /// The order of time among operations that are not pure.
    TimeOfWrites,
    /// The order of time, and crashes of the whole system: what was open then takes effect before or never.
    TimeAndCrashes,
}

/// Decides histories of registers and maps. Values may repeat.
pub(super) fn of_memory(memory: &Memory, keeps: Keeps, budget: &Budget) -> Decided {
    if keeps != Keeps::TimeAndCrashes
        && let Ok(linked) = Linked::of(memory)
    {
        let more = match keeps {
            Keeps::TimeOfWrites => time_of_writes(&linked, budget)?,
            _ => Vec::new(),
        };
        match saturate(&linked, &|_| true, &more, budget) {
            Ok(Ok(saturation)) => return search_saturated(&linked, &saturation, budget),
            Ok(Err(why)) => return Ok(Answer::Fails(why)),
            Err(Limit::Capacity(_)) => {}
            Err(limit) => return Err(limit.into()),
        }
    }
    let ops: Vec<PlainOp> = memory
        .ops
        .iter()
        .map(|op| PlainOp {
            id: op.id,
            process: op.process,
            call: op.call,
            ret: op.ret,
            deadline: match keeps {
                Keeps::TimeAndCrashes => op.deadline,
                _ => NEVER,
            },
            is_pure: !op.is_write(),
        })
        .collect();
    let plain = Plain::of(ops, keeps, budget)?;
    let mut values = Values::of(memory);
    plain.search(&mut values, budget)
}

/// Pairs of writes from which the order of time among them follows: for each write, the last one of each process that ended before.
fn time_of_writes(linked: &Linked, budget: &Budget) -> Result<Vec<(u32, u32)>, Limit> {
    let mut pairs = Vec::new();
    let writes: Vec<Vec<u32>> = linked
        .lines
        .iter()
        .map(|line| {
            line.iter()
                .copied()
                .filter(|&i| linked.op(i).is_write())
                .collect()
        })
        .collect();
    for (own, line) in writes.iter().enumerate() {
        budget.check()?;
        for (_, earlier) in writes.iter().enumerate().filter(|&(other, _)| other != own) {
            let mut last = None;
            for &write in line {
                let count = earlier.partition_point(|&x| linked.op(x).precedes(linked.op(write)));
                // What came before the one before needs no pair of its own.
                if count > 0 && last != Some(count) {
                    pairs.push((earlier[count - 1], write));
                }
                last = Some(count);
            }
        }
    }
    Ok(pairs)
}

fn search_saturated(linked: &Linked, saturation: &Saturation, budget: &Budget) -> Decided {
    let needs = |op: u32| Some(saturation.needs(op));
    let lines = Lines {
        lines: &linked.lines,
        is_pending: &|op| linked.op(op).is_pending(),
        call: &|op| linked.op(op).call,
        deadline: &|_| NEVER,
        needs: &needs,
    };
    let found = search(&mut Distinct::of(linked), &lines, budget)?;
    Ok(match found {
        Some(order) => Answer::Holds(Witness::Order(linked.ids(&order))),
        None => Answer::Fails(Why::NoOrder),
    })
}

/// A memory whose values are distinct: no write may come while its value still has readers that are to come.
struct Distinct<'l> {
    linked: &'l Linked,
    /// For each write, and past them for the initial value of each key, how many reads are to come.
    readers: Vec<u32>,
    /// The writes that are the latest ones of their keys: they follow from what was placed.
    latest: Vec<Vec<u32>>,
}

impl<'l> Distinct<'l> {
    fn of(linked: &'l Linked) -> Self {
        let keys = linked.writers.len();
        let mut readers = vec![0; linked.len() + keys];
        for (read, write) in linked.reads() {
            readers[slot(linked, read, write)] += 1;
        }
        let initial = (0..keys).map(|key| vec![(linked.len() + key) as u32]);
        Distinct {
            linked,
            readers,
            latest: initial.collect(),
        }
    }

    fn held(&self, op: u32) -> u32 {
        let key = self.linked.op(op).key as usize;
        self.latest[key][self.latest[key].len() - 1]
    }
}

fn slot(linked: &Linked, read: u32, write: Option<u32>) -> usize {
    write.map_or(linked.len() + linked.op(read).key as usize, |write| {
        write as usize
    })
}

impl Machine for Distinct<'_> {
    /// What is held follows from the order so far.
    type State = ();

    fn init(&self) {}

    fn step(&self, (): &(), op: u32) -> Vec<()> {
        let fits = match self.linked.source[op as usize] {
            Source::Itself => true,
            Source::Write(write) => self.held(op) == write,
            Source::Initial => self.held(op) as usize >= self.linked.len(),
        };
        Vec::from_iter(fits.then_some(()))
    }

    fn is_pure(&self, op: u32) -> bool {
        !self.linked.op(op).is_write()
    }

    fn strands(&self, (): &(), op: u32) -> bool {
        self.readers[self.held(op) as usize] > 0
    }

    fn positions_tell(&self) -> bool {
        true
    }

    fn placed(&mut self, op: u32) {
        self.count(op, |readers| *readers -= 1);
        if self.linked.op(op).is_write() {
            self.latest[self.linked.op(op).key as usize].push(op);
        }
    }

    fn undone(&mut self, op: u32) {
        self.count(op, |readers| *readers += 1);
        if self.linked.op(op).is_write() {
            self.latest[self.linked.op(op).key as usize].pop();
        }
    }
}

impl Distinct<'_> {
    fn count(&mut self, op: u32, change: impl Fn(&mut u32)) {
        match self.linked.source[op as usize] {
            Source::Itself => {}
            Source::Write(write) => change(&mut self.readers[write as usize]),
            Source::Initial => {
                let key = self.linked.op(op).key as usize;
                change(&mut self.readers[self.linked.len() + key]);
            }
        }
    }
}

/// A memory whose values may repeat.
struct Values {
    /// For each operation: its key, its value, whether it is a write.
    ops: Vec<(u32, u32, bool)>,
    keys: usize,
}

impl Values {
    fn of(memory: &Memory) -> Self {
        let ops = memory
            .ops
            .iter()
            .map(|op| (op.key, op.value, op.is_write()))
            .collect();
        Values {
            ops,
            keys: memory.keys(),
        }
    }
}

impl Machine for Values {
    /// What each key holds.
    type State = Vec<u32>;

    fn init(&self) -> Vec<u32> {
        vec![INITIAL; self.keys]
    }

    fn step(&self, state: &Vec<u32>, op: u32) -> Vec<Vec<u32>> {
        match self.ops[op as usize] {
            (key, value, true) => {
                let mut next = state.clone();
                next[key as usize] = value;
                vec![next]
            }
            (key, value, false) if state[key as usize] == value => vec![state.clone()],
            _ => Vec::new(),
        }
    }

    fn is_pure(&self, op: u32) -> bool {
        !self.ops[op as usize].2
    }

    fn strands(&self, _: &Vec<u32>, _: u32) -> bool {
        false
    }

    fn positions_tell(&self) -> bool {
        false
    }

    fn placed(&mut self, _: u32) {}

    fn undone(&mut self, _: u32) {}
}

/// What matters of an operation besides what it does.
#[derive(Clone, Copy, Debug)]
struct PlainOp {
    id: OpId,
    process: u32,
    call: u32,
    ret: u32,
    /// See [`MemoryOp::deadline`](super::memory::MemoryOp::deadline).
    deadline: u32,
    is_pure: bool,
}

/// Operations in lines, with what has to come before each.
struct Plain {
    ops: Vec<PlainOp>,
    lines: Vec<Vec<u32>>,
    /// For each operation and process, how many operations have to come before it; empty if only processes count.
    needs: Vec<u32>,
}

impl Plain {
    fn of(ops: Vec<PlainOp>, keeps: Keeps, budget: &Budget) -> Result<Plain, Limit> {
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        let mut lines: Vec<Vec<u32>> = Vec::new();
        for (op, i) in ops.iter().zip(0u32..) {
            let next = lines.len();
            let line = *numbers.entry(op.process).or_insert(next);
            if line == next {
                lines.push(Vec::new());
            }
            // A pending operation that changes nothing says nothing.
            if !(op.is_pure && op.ret == NEVER) {
                lines[line].push(i);
            }
        }
        let mut plain = Plain {
            ops,
            lines,
            needs: Vec::new(),
        };
        match keeps {
            Keeps::Processes => {}
            Keeps::TimeOfWrites => plain.needs = plain.time(&|op| !op.is_pure, budget)?,
            Keeps::TimeAndCrashes => plain.needs = plain.time(&|_| true, budget)?,
        }
        Ok(plain)
    }

    /// What has to come before each operation that `counts`: what returned before its call and counts.
    fn time(&self, counts: &dyn Fn(&PlainOp) -> bool, budget: &Budget) -> Result<Vec<u32>, Limit> {
        let width = self.lines.len();
        budget.reserve_for(self.ops.len(), width as u64 * size_of::<u32>() as u64)?;
        let mut needs = vec![0; self.ops.len() * width];
        for (number, line) in self.lines.iter().enumerate() {
            budget.check()?;
            let of_line = line.iter().zip(1u32..);
            let counted = of_line.filter(|&(&i, _)| counts(&self.ops[i as usize]));
            let counted: Vec<(u32, u32)> = counted.map(|(&i, place)| (i, place)).collect();
            for (i, op) in self.ops.iter().enumerate().filter(|(_, op)| counts(op)) {
                let ended = counted.partition_point(|&(x, _)| self.ops[x as usize].ret < op.call);
                needs[i * width + number] = ended.checked_sub(1).map_or(0, |last| counted[last].1);
            }
        }
        Ok(needs)
    }

    fn search<M: Machine>(&self, machine: &mut M, budget: &Budget) -> Decided {
        let width = self.lines.len();
        let needs = |op: u32| {
            let is_some = !self.needs.is_empty();
            is_some.then(|| &self.needs[op as usize * width..][..width])
        };
        let lines = Lines {
            lines: &self.lines,
            is_pending: &|op| self.ops[op as usize].ret == NEVER,
            call: &|op| self.ops[op as usize].call,
            deadline: &|op| self.ops[op as usize].deadline,
            needs: &needs,
        };
        let found = search(machine, &lines, budget)?;
        Ok(match found {
            Some(order) => {
                let ids = order.iter().map(|&i| self.ops[i as usize].id);
                Answer::Holds(Witness::Order(ids.collect()))
            }
            None => Answer::Fails(Why::NoOrder),
        })
    }
}

/// Decides histories of any object, of which `ops` are those on it. Each operation of the history has a deadline.
pub(super) fn of_any<S: Spec>(
    spec: &S,
    history: &TypedHistory<S::Op, S::Ret>,
    ops: &[OpId],
    deadlines: &[u32],
    keeps: Keeps,
    budget: &Budget,
) -> Decided {
    let plain = ops.iter().map(|&id| {
        let action = history.action(id);
        PlainOp {
            id,
            process: history.process(id),
            call: history.calls()[id.index()],
            ret: history.rets()[id.index()],
            deadline: match keeps {
                Keeps::TimeAndCrashes => deadlines[id.index()],
                _ => NEVER,
            },
            is_pure: spec.is_pure(&action.op, action.ret.as_ref()),
        }
    });
    let plain = Plain::of(plain.collect(), keeps, budget)?;
    plain.search(&mut Object { spec, history, ops }, budget)
}

/// Any object: the states of several ones, by the number of the object.
pub(super) struct Object<'s, S: Spec> {
    pub(super) spec: &'s S,
    pub(super) history: &'s TypedHistory<S::Op, S::Ret>,
    pub(super) ops: &'s [OpId],
}

impl<S: Spec> Machine for Object<'_, S> {
    type State = BTreeMap<u32, S::State>;

    fn init(&self) -> Self::State {
        Default::default()
    }

    fn step(&self, state: &Self::State, op: u32) -> Vec<Self::State> {
        let id = self.ops[op as usize];
        let object = self.history.object_column()[id.index()];
        let action = self.history.action(id);
        let own = state
            .get(&object)
            .map_or_else(|| self.spec.init(), Clone::clone);
        let next = self.spec.step(&own, &action.op, action.ret.as_ref());
        let with = |next| {
            let mut all = state.clone();
            all.insert(object, next);
            all
        };
        next.into_iter().map(with).collect()
    }

    fn is_pure(&self, op: u32) -> bool {
        let action = self.history.action(self.ops[op as usize]);
        self.spec.is_pure(&action.op, action.ret.as_ref())
    }

    fn strands(&self, _: &Self::State, _: u32) -> bool {
        false
    }

    fn positions_tell(&self) -> bool {
        false
    }

    fn placed(&mut self, _: u32) {}

    fn undone(&mut self, _: u32) {}
}
