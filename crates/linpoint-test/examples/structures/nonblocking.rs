//! Structures without locks, or nearly so: a sequence lock, the bounded ring of Vyukov, and the list of Harris.

use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use linpoint_test::hint::spin_loop;
use linpoint_test::sync::atomic::{AtomicU32, AtomicUsize, Ordering::SeqCst};

use crate::plan::Variant;

/// Two words that are read together. The wrong one does not look at the sequence again after it has read them.
pub(crate) struct SeqLock {
    sequence: AtomicU32,
    words: [AtomicU32; 2],
    variant: Variant,
}

impl SeqLock {
    pub(crate) fn new(variant: Variant) -> Self {
        SeqLock {
            sequence: AtomicU32::new(0),
            words: Default::default(),
            variant,
        }
    }

    pub(crate) fn write(&self, value: u32) {
        let mut before = self.sequence.load(SeqCst);
        loop {
            if before % 2 == 1 {
                spin_loop();
                before = self.sequence.load(SeqCst);
                continue;
            }
            let taken = self
                .sequence
                .compare_exchange(before, before + 1, SeqCst, SeqCst);
            match taken {
                Ok(_) => break,
                Err(found) => before = found,
            }
        }
        for word in &self.words {
            word.store(value, SeqCst);
        }
        self.sequence.store(before + 2, SeqCst);
    }

    pub(crate) fn read(&self) -> [u32; 2] {
        loop {
            let before = self.sequence.load(SeqCst);
            if before.is_multiple_of(2) {
                let words = self.words.each_ref().map(|word| word.load(SeqCst));
                if self.variant == Variant::Wrong || self.sequence.load(SeqCst) == before {
                    return words;
                }
            }
            spin_loop();
        }
    }
}

const CAPACITY: usize = 2;

struct Slot {
    sequence: AtomicUsize,
    value: AtomicU32,
}

/// A bounded queue. It waits for those that have reserved a slot: only so can "full" and "empty" be linearizable. The wrong one
/// gives a slot free before it has read it.
pub(crate) struct Ring {
    slots: [Slot; CAPACITY],
    head: AtomicUsize,
    tail: AtomicUsize,
    variant: Variant,
}

impl Ring {
    pub(crate) fn new(variant: Variant) -> Self {
        Ring {
            slots: std::array::from_fn(|place| Slot {
                sequence: AtomicUsize::new(place),
                value: AtomicU32::new(0),
            }),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            variant,
        }
    }

    pub(crate) fn push(&self, value: u32) -> bool {
        let mut tail = self.tail.load(SeqCst);
        loop {
            let slot = &self.slots[tail % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence == tail {
                match self.tail.compare_exchange(tail, tail + 1, SeqCst, SeqCst) {
                    Ok(_) => {
                        slot.value.store(value, SeqCst);
                        slot.sequence.store(tail + 1, SeqCst);
                        return true;
                    }
                    Err(found) => tail = found,
                }
            } else if sequence < tail {
                if self.head.load(SeqCst) + CAPACITY == tail {
                    return false;
                }
                spin_loop();
                tail = self.tail.load(SeqCst);
            } else {
                tail = self.tail.load(SeqCst);
            }
        }
    }

    pub(crate) fn pop(&self) -> Option<u32> {
        let mut head = self.head.load(SeqCst);
        loop {
            let slot = &self.slots[head % CAPACITY];
            let sequence = slot.sequence.load(SeqCst);
            if sequence == head + 1 {
                match self.head.compare_exchange(head, head + 1, SeqCst, SeqCst) {
                    Ok(_) if self.variant == Variant::Wrong => {
                        slot.sequence.store(head + CAPACITY, SeqCst);
                        return Some(slot.value.load(SeqCst));
                    }
                    Ok(_) => {
                        let value = slot.value.load(SeqCst);
                        slot.sequence.store(head + CAPACITY, SeqCst);
                        return Some(value);
                    }
                    Err(found) => head = found,
                }
            } else if sequence < head + 1 {
                if self.tail.load(SeqCst) == head {
                    return None;
                }
                spin_loop();
                head = self.head.load(SeqCst);
            } else {
                head = self.head.load(SeqCst);
            }
        }
    }
}

struct Node {
    key: u32,
    /// Twice the place of the next one, 0 at the end, plus 1 if this node is removed.
    next: AtomicUsize,
}

/// A sorted list. The wrong one removes a node without marking it first.
pub(crate) struct HarrisList {
    /// A node is never used again, and the first one has no key.
    nodes: StdMutex<Vec<Arc<Node>>>,
    variant: Variant,
}

impl HarrisList {
    pub(crate) fn new(variant: Variant) -> Self {
        let list = HarrisList {
            nodes: StdMutex::default(),
            variant,
        };
        list.add(0, 0);
        list
    }

    fn add(&self, key: u32, next: usize) -> usize {
        let node = Arc::new(Node {
            key,
            next: AtomicUsize::new(next),
        });
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.push(node);
        nodes.len() - 1
    }

    fn node(&self, place: usize) -> Arc<Node> {
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&nodes[place])
    }

    /// The last node with a smaller key, and the place after it: 0, or that of the first node whose key is not smaller. Unlinks
    /// removed nodes on its way.
    fn find(&self, key: u32) -> (Arc<Node>, usize) {
        'again: loop {
            let mut before = self.node(0);
            let mut place = before.next.load(SeqCst) / 2;
            loop {
                if place == 0 {
                    return (before, 0);
                }
                let node = self.node(place);
                let next = node.next.load(SeqCst);
                if next % 2 == 1 {
                    let unlinked =
                        before
                            .next
                            .compare_exchange(2 * place, next - 1, SeqCst, SeqCst);
                    if unlinked.is_err() {
                        continue 'again;
                    }
                    place = next / 2;
                } else if node.key >= key {
                    return (before, place);
                } else {
                    before = node;
                    place = next / 2;
                }
            }
        }
    }

    fn has(&self, place: usize, key: u32) -> bool {
        place != 0 && self.node(place).key == key
    }

    pub(crate) fn insert(&self, key: u32) -> bool {
        loop {
            let (before, place) = self.find(key);
            if self.has(place, key) {
                return false;
            }
            let new = self.add(key, 2 * place);
            if before
                .next
                .compare_exchange(2 * place, 2 * new, SeqCst, SeqCst)
                .is_ok()
            {
                return true;
            }
        }
    }

    pub(crate) fn remove(&self, key: u32) -> bool {
        loop {
            let (before, place) = self.find(key);
            if !self.has(place, key) {
                return false;
            }
            let node = self.node(place);
            let next = node.next.load(SeqCst);
            if next % 2 == 1 {
                continue;
            }
            if self.variant == Variant::Wrong {
                if before
                    .next
                    .compare_exchange(2 * place, next, SeqCst, SeqCst)
                    .is_ok()
                {
                    return true;
                }
                continue;
            }
            if node
                .next
                .compare_exchange(next, next + 1, SeqCst, SeqCst)
                .is_ok()
            {
                let _ = before
                    .next
                    .compare_exchange(2 * place, next, SeqCst, SeqCst);
                return true;
            }
        }
    }

    pub(crate) fn contains(&self, key: u32) -> bool {
        let mut place = self.node(0).next.load(SeqCst) / 2;
        while place != 0 {
            let node = self.node(place);
            let next = node.next.load(SeqCst);
            if node.key >= key {
                return node.key == key && next.is_multiple_of(2);
            }
            place = next / 2;
        }
        false
    }
}
