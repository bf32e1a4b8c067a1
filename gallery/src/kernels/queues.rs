//! Queues in arrays and in blocks.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::{hint, object};

/// `heapless`, `src/mpmc.rs`, `enqueue` and `dequeue`: a slot of which the value is being taken makes the queue look full to a thread
/// that has made room by another slot.
pub(super) const HEAPLESS: Bug = Bug {
    number: 7,
    name: "heapless",
    buggy: "0.9.3",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Ring::new(version))
                .op("enqueue", [1, 2, 3], |ring, value| ring.enqueue(value))
                .op0("dequeue", Ring::dequeue)
                .init(["enqueue(1)", "enqueue(2)"])
                .matrix([vec!["dequeue"], vec!["dequeue", "enqueue(3)"]])
        })
    },
};

/// A ring of two slots, each with the number of the turn that may use it next.
struct Ring {
    slots: [(AtomicUsize, AtomicUsize); 2],
    head: AtomicUsize,
    tail: AtomicUsize,
    version: Version,
}

impl Ring {
    fn new(version: Version) -> Self {
        let slot = |turn| (AtomicUsize::new(turn), AtomicUsize::new(0));
        Ring {
            slots: [slot(0), slot(1)],
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            version,
        }
    }

    fn dequeue(&self) -> Option<usize> {
        let mut place = self.head.load(SeqCst);
        loop {
            let (turn, value) = &self.slots[place % 2];
            let distance = turn.load(SeqCst) as isize - (place + 1) as isize;
            if distance < 0 {
                return None;
            }
            if distance > 0 {
                place = self.head.load(SeqCst);
                continue;
            }
            match self.head.compare_exchange(place, place + 1, SeqCst, SeqCst) {
                Ok(_) => {
                    let value = value.load(SeqCst);
                    turn.store(place + 2, SeqCst);
                    return Some(value);
                }
                Err(now) => place = now,
            }
        }
    }

    fn enqueue(&self, item: usize) -> bool {
        let mut place = self.tail.load(SeqCst);
        loop {
            let (turn, value) = &self.slots[place % 2];
            let distance = turn.load(SeqCst) as isize - place as isize;
            if distance < 0 {
                if self.version == Version::Fixed && self.head.load(SeqCst) + 2 > place {
                    // The slot is being emptied.
                    hint::spin_loop();
                    place = self.tail.load(SeqCst);
                    continue;
                }
                return false;
            }
            if distance > 0 {
                place = self.tail.load(SeqCst);
                continue;
            }
            match self.tail.compare_exchange(place, place + 1, SeqCst, SeqCst) {
                Ok(_) => {
                    value.store(item, SeqCst);
                    turn.store(place + 1, SeqCst);
                    return true;
                }
                Err(now) => place = now,
            }
        }
    }
}

/// `crossbeam-queue`, `src/seg_queue.rs`, `len`: if both indices stand on the end of a block, only that of the head is taken to the next
/// block, and the difference becomes negative.
pub(super) const CROSSBEAM_LEN: Bug = Bug {
    number: 9,
    name: "crossbeam-queue",
    buggy: "0.2.3",
    fixed: Some("0.3.0"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Blocks::new(version))
                .op("push", [1], |queue, value| queue.push(value))
                .op0("pop", Blocks::pop)
                .op0("len", Blocks::len)
                .matrix([vec!["push(1)"], vec!["pop"], vec!["len"]])
        })
    },
};

/// Places in a block, of which the last one holds no value.
const LAP: usize = 2;
const BLOCK_CAP: usize = LAP - 1;

/// A queue in blocks of one value. The values of all blocks are in one array.
struct Blocks {
    values: [AtomicUsize; 8],
    head: AtomicUsize,
    tail: AtomicUsize,
    version: Version,
}

impl Blocks {
    fn new(version: Version) -> Self {
        Blocks {
            values: std::array::from_fn(|_| AtomicUsize::new(0)),
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            version,
        }
    }

    /// Moves an index on, over the end of a block in two steps. Returns where it was.
    fn advance(index: &AtomicUsize, may: impl Fn(usize) -> bool) -> Option<usize> {
        loop {
            let place = index.load(SeqCst);
            if place % LAP == BLOCK_CAP {
                hint::spin_loop();
                continue;
            }
            if !may(place) {
                return None;
            }
            if index
                .compare_exchange(place, place + 1, SeqCst, SeqCst)
                .is_ok()
            {
                if (place + 1) % LAP == BLOCK_CAP {
                    index.store(place + 2, SeqCst);
                }
                return Some(place);
            }
        }
    }

    fn push(&self, value: usize) {
        let place = Blocks::advance(&self.tail, |_| true);
        self.values[place.expect("there is room")].store(value, SeqCst);
    }

    fn pop(&self) -> Option<usize> {
        let place = Blocks::advance(&self.head, |head| head != self.tail.load(SeqCst))?;
        loop {
            match self.values[place].load(SeqCst) {
                0 => hint::spin_loop(),
                value => return Some(value),
            }
        }
    }

    fn len(&self) -> usize {
        loop {
            let mut tail = self.tail.load(SeqCst);
            let mut head = self.head.load(SeqCst);
            if self.tail.load(SeqCst) != tail {
                continue;
            }
            if self.version == Version::Fixed {
                let after_end = |index: usize| index + usize::from(index % LAP == BLOCK_CAP);
                (tail, head) = (after_end(tail), after_end(head));
            }
            let lap = head / LAP * LAP;
            (tail, head) = (tail - lap, head - lap);
            if self.version == Version::Buggy {
                if head == BLOCK_CAP {
                    head = 0;
                    tail = tail.wrapping_sub(LAP);
                }
                if tail == BLOCK_CAP {
                    tail += 1;
                }
            }
            return tail.wrapping_sub(head).wrapping_sub(tail / LAP);
        }
    }
}

/// `concurrent-queue`, `src/single.rs`, `push` and `pop`: a slot that is being emptied is neither full nor empty, so `pop` says *empty*
/// and then `push` says *full*.
pub(super) const CONCURRENT_QUEUE: Bug = Bug {
    number: 17,
    name: "concurrent-queue",
    buggy: "2.5.0",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Single {
                state: AtomicUsize::new(0),
                slot: AtomicUsize::new(0),
                version,
            })
            .op("push", [1, 2], |queue, value| queue.push(value))
            .op0("pop", Single::pop)
            .init(["push(1)"])
            .matrix([vec!["pop"], vec!["pop", "push(2)"]])
        })
    },
};

const LOCKED: usize = 1;
const PUSHED: usize = 2;

/// A queue of one value.
struct Single {
    state: AtomicUsize,
    slot: AtomicUsize,
    version: Version,
}

impl Single {
    fn push(&self, value: usize) -> bool {
        loop {
            match self
                .state
                .compare_exchange(0, LOCKED | PUSHED, SeqCst, SeqCst)
            {
                Ok(_) => {
                    self.slot.store(value, SeqCst);
                    self.state.fetch_and(!LOCKED, SeqCst);
                    return true;
                }
                // It is being emptied.
                Err(LOCKED) if self.version == Version::Fixed => hint::spin_loop(),
                Err(_) => return false,
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            match self.state.compare_exchange(PUSHED, LOCKED, SeqCst, SeqCst) {
                Ok(_) => {
                    let value = self.slot.load(SeqCst);
                    self.state.fetch_and(!LOCKED, SeqCst);
                    return Some(value);
                }
                Err(state) if state & PUSHED == 0 => return None,
                Err(_) => hint::spin_loop(),
            }
        }
    }
}
