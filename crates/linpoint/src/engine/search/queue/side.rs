//! The operations at the back of a queue, or those at its front, and which of them took effect.

use super::QueueOp;
use crate::engine::search::Layout;
use crate::history::{NEVER, events_in_order, precedes};

/// Operations in the order of their calls, of which some took effect in an order that obeys real time.
///
/// The deadline is the first return of an operation that waits: an operation that is called after it cannot take effect
/// before the operation that waits, one that is called before it can. Invariant: exactly the operations called up to
/// the deadline are called, and those that took effect are the called ones without those that wait. So there are never
/// more waiting operations than overlap.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) items: Vec<QueueOp>,
    /// The operations of each class one after the other, and where each class begins.
    of_class: Vec<Upcoming>,
    layout: Layout,

    /// How many were called so far.
    called: u32,
    /// Those of them that did not take effect, in the order of their calls.
    waiting: Vec<u32>,
    /// The first return among these.
    deadline: u32,
    /// For each class, where its first operation stands that was not called so far.
    next_of_class: Vec<u32>,
}

/// The operations of a class that are not called yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upcoming {
    /// The first call.
    pub(super) call: u32,
    /// The first return.
    pub(super) ret: u32,
}

impl Upcoming {
    /// No operation is left.
    const NONE: Self = Upcoming {
        call: NEVER,
        ret: NEVER,
    };
}

/// An operation that took effect, and how to undo that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub(super) op: u32,
    place: u32,
    /// How many were called by its taking effect.
    entered: u32,
    deadline: u32,
}

impl Side {
    /// The operations, in the order of their calls, with classes below `classes`.
    pub(super) fn new(items: Vec<QueueOp>, classes: usize) -> Self {
        let (calls, rets): (Vec<u32>, Vec<u32>) =
            items.iter().map(|item| (item.call, item.ret)).unzip();
        let layout = Layout::new(&events_in_order(&calls, &rets), rets, None);
        // One place more for each class, with `Upcoming::NONE`, after its last operation.
        let mut next_of_class = vec![0; classes];
        items
            .iter()
            .for_each(|item| next_of_class[item.class as usize] += 1);
        let mut end = 0;
        for next in &mut next_of_class {
            end += *next + 1;
            *next = end - 1;
        }
        let mut of_class = vec![Upcoming::NONE; end as usize];
        for item in items.iter().rev() {
            let next = &mut next_of_class[item.class as usize];
            let later = of_class[*next as usize].ret;
            *next -= 1;
            of_class[*next as usize] = Upcoming {
                call: item.call,
                ret: item.ret.min(later),
            };
        }
        let mut side = Side {
            items,
            of_class,
            layout,
            called: 0,
            waiting: Vec::new(),
            deadline: NEVER,
            next_of_class,
        };
        side.call_until_due();
        side
    }

    /// Calls all operations that are called before the deadline. Returns how many.
    fn call_until_due(&mut self) -> u32 {
        let before = self.called;
        while let Some(item) = self.items.get(self.called as usize) {
            if precedes(self.deadline, item.call) {
                break;
            }
            self.deadline = self.deadline.min(item.ret);
            self.next_of_class[item.class as usize] += 1;
            self.waiting.push(self.called);
            self.called += 1;
        }
        self.called - before
    }

    /// The first return of an operation that did not take effect; [`NEVER`] if none of these returns.
    pub(super) fn deadline(&self) -> u32 {
        self.deadline
    }

    /// Whether every operation took effect.
    pub(super) fn is_done(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The operations that can take effect now as far as this side is concerned, with their places.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (u32, QueueOp)> {
        let item = |&op: &u32| self.items[op as usize];
        (0u32..).zip(self.waiting.iter().map(item))
    }

    /// The same of one class.
    pub(super) fn waiting_of(&self, class: u32) -> impl Iterator<Item = (u32, QueueOp)> {
        self.waiting().filter(move |(_, item)| item.class == class)
    }

    /// The operations of a class that are not called yet.
    pub(super) fn upcoming(&self, class: u32) -> Upcoming {
        self.of_class[self.next_of_class[class as usize] as usize]
    }

    /// The operation at this place among those that wait takes effect.
    pub(super) fn take(&mut self, place: u32) -> Taken {
        let op = self.waiting.remove(place as usize);
        let deadline = self.deadline;
        if self.items[op as usize].ret == deadline {
            let returns = self.waiting.iter().map(|&op| self.items[op as usize].ret);
            self.deadline = returns.min().unwrap_or(NEVER);
        }
        Taken {
            op,
            place,
            entered: self.call_until_due(),
            deadline,
        }
    }

    /// Undoes [`take`](Self::take), which must have been the latest one.
    pub(super) fn put_back(&mut self, taken: Taken) {
        for _ in 0..taken.entered {
            self.called -= 1;
            self.next_of_class[self.items[self.called as usize].class as usize] -= 1;
        }
        let left = self.waiting.len() - taken.entered as usize;
        self.waiting.truncate(left);
        self.waiting.insert(taken.place as usize, taken.op);
        self.deadline = taken.deadline;
    }

    /// How many words [`write_waiting`](Self::write_waiting) fills.
    pub(super) fn words(&self) -> usize {
        self.layout.words_of(0).len()
    }

    /// Writes which operations wait; with the number of [called](Self::called) ones, that determines which took effect.
    /// Invariant: operations that wait are open at the same time, so each has a bit of its own.
    pub(super) fn write_waiting(&self, words: &mut [u64]) {
        words.fill(0);
        for &op in &self.waiting {
            let bit = self.layout.bit[op as usize] as usize;
            words[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// How many operations were called so far.
    pub(super) fn called(&self) -> u32 {
        self.called
    }
}
