//! Structures that are linked, or whose ends move: a stack whose nodes are used again, a stack with elimination, the queue of Michael
//! and Scott, the deque of Chase and Lev, and a configuration that is copied, changed and published.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use linpoint_test::hint::spin_loop;
use linpoint_test::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use crate::plan::Variant;

fn swaps(cell: &AtomicUsize, old: usize, new: usize) -> bool {
    cell.compare_exchange(old, new, SeqCst, SeqCst).is_ok()
}

/// So many nodes has the stack that uses them again.
const NODES: usize = 3;

/// What is added to the top of a stack with each change: the place of a node is below it.
const CHANGE: usize = 16;

/// A stack whose nodes come from a list of free ones. The wrong one does not count its changes, so a compare-exchange takes a node
/// that came back for one that never left.
pub(crate) struct ReusingStack {
    values: [AtomicU32; NODES + 1],
    /// The place of the node below: 0 is none.
    next: [AtomicUsize; NODES + 1],
    top: AtomicUsize,
    free: AtomicUsize,
    change: usize,
}

impl ReusingStack {
    pub(crate) fn new(variant: Variant) -> Self {
        ReusingStack {
            values: Default::default(),
            next: std::array::from_fn(|place| AtomicUsize::new(place.saturating_sub(1))),
            top: AtomicUsize::new(0),
            free: AtomicUsize::new(NODES),
            change: match variant {
                Variant::Right => CHANGE,
                Variant::Wrong => 0,
            },
        }
    }

    fn put(&self, list: &AtomicUsize, place: usize) {
        loop {
            let top = list.load(SeqCst);
            self.next[place].store(top % CHANGE, SeqCst);
            if swaps(list, top, top - top % CHANGE + place + self.change) {
                return;
            }
        }
    }

    fn take(&self, list: &AtomicUsize) -> Option<usize> {
        loop {
            let top = list.load(SeqCst);
            let place = top % CHANGE;
            if place == 0 {
                return None;
            }
            let next = self.next[place].load(SeqCst);
            if swaps(list, top, top - place + next + self.change) {
                return Some(place);
            }
        }
    }

    pub(crate) fn push(&self, value: u32) -> bool {
        let Some(place) = self.take(&self.free) else {
            return false;
        };
        self.values[place].store(value, SeqCst);
        self.put(&self.top, place);
        true
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let place = self.take(&self.top)?;
        let value = self.values[place].load(SeqCst);
        self.put(&self.free, place);
        Some(value)
    }
}

struct Node {
    value: u32,
    next: AtomicUsize,
}

/// Nodes that are never used again. The place of the first one is 1.
#[derive(Default)]
struct Nodes(StdMutex<Vec<Arc<Node>>>);

impl Nodes {
    fn add(&self, value: u32, next: usize) -> usize {
        let node = Arc::new(Node {
            value,
            next: AtomicUsize::new(next),
        });
        let mut nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.push(node);
        nodes.len()
    }

    fn at(&self, place: usize) -> Arc<Node> {
        let nodes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&nodes[place - 1])
    }
}

/// A stack whose pushes and pops may meet beside it, if they find its top changing. In the wrong one a pop takes an offer without
/// claiming it.
pub(crate) struct EliminationStack {
    nodes: Nodes,
    top: AtomicUsize,
    /// 0 if there is none, otherwise the place of the node that a push offers; 1 is added if it is taken. Places are even here.
    offer: AtomicUsize,
    variant: Variant,
}

impl EliminationStack {
    pub(crate) fn new(variant: Variant) -> Self {
        EliminationStack {
            nodes: Nodes::default(),
            top: AtomicUsize::new(0),
            offer: AtomicUsize::new(0),
            variant,
        }
    }

    /// Whether a pop took the node.
    fn offers(&self, place: usize) -> bool {
        if !swaps(&self.offer, 0, 2 * place) {
            return false;
        }
        spin_loop();
        if swaps(&self.offer, 2 * place, 0) {
            return false;
        }
        self.offer.store(0, SeqCst);
        true
    }

    fn takes_offer(&self) -> Option<u32> {
        let offer = self.offer.load(SeqCst);
        if offer == 0 || offer % 2 == 1 {
            return None;
        }
        match self.variant {
            Variant::Right if !swaps(&self.offer, offer, offer + 1) => return None,
            Variant::Right => {}
            Variant::Wrong => self.offer.store(offer + 1, SeqCst),
        }
        Some(self.nodes.at(offer / 2).value)
    }

    pub(crate) fn push(&self, value: u32) {
        let place = self.nodes.add(value, 0);
        let node = self.nodes.at(place);
        loop {
            let top = self.top.load(SeqCst);
            node.next.store(top, SeqCst);
            if swaps(&self.top, top, place) || self.offers(place) {
                return;
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        loop {
            let top = self.top.load(SeqCst);
            if top == 0 {
                return None;
            }
            let node = self.nodes.at(top);
            if swaps(&self.top, top, node.next.load(SeqCst)) {
                return Some(node.value);
            }
            if let Some(value) = self.takes_offer() {
                return Some(value);
            }
        }
    }
}

/// The queue of Michael and Scott. The wrong one moves its tail to a node before it links the node.
pub(crate) struct LinkedQueue {
    nodes: Nodes,
    head: AtomicUsize,
    tail: AtomicUsize,
    variant: Variant,
}

impl LinkedQueue {
    pub(crate) fn new(variant: Variant) -> Self {
        let nodes = Nodes::default();
        let first = nodes.add(0, 0);
        LinkedQueue {
            nodes,
            head: AtomicUsize::new(first),
            tail: AtomicUsize::new(first),
            variant,
        }
    }

    pub(crate) fn enqueue(&self, value: u32) {
        let place = self.nodes.add(value, 0);
        loop {
            let tail = self.tail.load(SeqCst);
            let last = self.nodes.at(tail);
            let next = last.next.load(SeqCst);
            if self.variant == Variant::Wrong {
                if swaps(&self.tail, tail, place) {
                    return last.next.store(place, SeqCst);
                }
            } else if next != 0 {
                swaps(&self.tail, tail, next);
            } else if swaps(&last.next, 0, place) {
                swaps(&self.tail, tail, place);
                return;
            }
        }
    }

    pub(crate) fn dequeue(&self) -> Option<u32> {
        loop {
            let head = self.head.load(SeqCst);
            let tail = self.tail.load(SeqCst);
            let next = self.nodes.at(head).next.load(SeqCst);
            if next == 0 {
                return None;
            }
            if head == tail && self.variant == Variant::Right {
                swaps(&self.tail, tail, next);
            } else if swaps(&self.head, head, next) {
                return Some(self.nodes.at(next).value);
            }
        }
    }
}

/// More than a test pushes.
const TASKS: usize = 8;

/// The deque of Chase and Lev. Its owner pushes and pops, all others steal. In the wrong one the owner takes the last task without
/// racing for it.
pub(crate) struct WorkDeque {
    tasks: [AtomicU32; TASKS],
    top: AtomicUsize,
    bottom: AtomicUsize,
    variant: Variant,
}

impl WorkDeque {
    pub(crate) fn new(variant: Variant) -> Self {
        WorkDeque {
            tasks: Default::default(),
            // Above 0, since the bottom may be one below the top for a moment.
            top: AtomicUsize::new(1),
            bottom: AtomicUsize::new(1),
            variant,
        }
    }

    pub(crate) fn push(&self, task: u32) {
        let bottom = self.bottom.load(SeqCst);
        self.tasks[bottom % TASKS].store(task, SeqCst);
        self.bottom.store(bottom + 1, SeqCst);
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let bottom = self.bottom.load(SeqCst) - 1;
        self.bottom.store(bottom, SeqCst);
        let top = self.top.load(SeqCst);
        if top > bottom {
            self.bottom.store(top, SeqCst);
            return None;
        }
        let task = self.tasks[bottom % TASKS].load(SeqCst);
        if top < bottom {
            return Some(task);
        }
        let won = match self.variant {
            Variant::Right => swaps(&self.top, top, top + 1),
            Variant::Wrong => {
                self.top.store(top + 1, SeqCst);
                true
            }
        };
        self.bottom.store(top + 1, SeqCst);
        won.then_some(task)
    }

    pub(crate) fn steal(&self) -> Option<u32> {
        loop {
            let top = self.top.load(SeqCst);
            if top >= self.bottom.load(SeqCst) {
                return None;
            }
            let task = self.tasks[top % TASKS].load(SeqCst);
            if swaps(&self.top, top, top + 1) {
                return Some(task);
            }
        }
    }
}

/// Two settings that are read together: a change copies them and publishes the copy. The wrong one publishes without looking whether
/// another change came first.
pub(crate) struct Published {
    copies: StdMutex<Vec<[u32; 2]>>,
    newest: AtomicUsize,
    variant: Variant,
}

impl Published {
    pub(crate) fn new(variant: Variant) -> Self {
        Published {
            copies: StdMutex::new(vec![[0; 2]]),
            newest: AtomicUsize::new(0),
            variant,
        }
    }

    pub(crate) fn increment(&self, which: usize) {
        loop {
            let newest = self.newest.load(SeqCst);
            let copy = {
                let mut copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
                let mut copy = copies[newest];
                copy[which] += 1;
                copies.push(copy);
                copies.len() - 1
            };
            if self.variant == Variant::Wrong {
                self.newest.store(copy, SeqCst);
                return;
            }
            if swaps(&self.newest, newest, copy) {
                return;
            }
        }
    }

    pub(crate) fn read(&self) -> [u32; 2] {
        let newest = self.newest.load(SeqCst);
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)[newest]
    }
}
