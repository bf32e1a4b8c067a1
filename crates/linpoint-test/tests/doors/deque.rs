//! The work-stealing deque of Chase and Lev: its owner pushes and pops at one end, thieves steal at the other.

use linpoint_test::ends::{cloned, owned};
use linpoint_test::sync::Arc;
use linpoint_test::sync::atomic::{AtomicIsize, AtomicU32, Ordering::SeqCst};
use linpoint_test::{FailureKind, Object, ends, object_with};

use crate::{agreed, caught, passes};

const SLOTS: isize = 4;

#[derive(Default)]
struct Deque {
    top: AtomicIsize,
    bottom: AtomicIsize,
    slots: [AtomicU32; SLOTS as usize],
}

/// How the owner takes the last task.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pop {
    /// By the same compare-exchange as a thief.
    Contends,
    /// As if no thief could want it.
    Assumes,
}

struct Worker {
    deque: Arc<Deque>,
    pop: Pop,
}

#[derive(Clone)]
struct Stealer(Arc<Deque>);

fn deque(pop: Pop) -> (Worker, Stealer) {
    let deque = Arc::new(Deque::default());
    let stealer = Stealer(Arc::clone(&deque));
    (Worker { deque, pop }, stealer)
}

impl Deque {
    fn slot(&self, index: isize) -> &AtomicU32 {
        &self.slots[(index % SLOTS) as usize]
    }
}

impl Worker {
    fn push(&mut self, task: u32) {
        let bottom = self.deque.bottom.load(SeqCst);
        self.deque.slot(bottom).store(task, SeqCst);
        self.deque.bottom.store(bottom + 1, SeqCst);
    }

    fn pop(&mut self) -> Option<u32> {
        let bottom = self.deque.bottom.load(SeqCst) - 1;
        self.deque.bottom.store(bottom, SeqCst);
        let top = self.deque.top.load(SeqCst);
        if top > bottom {
            self.deque.bottom.store(bottom + 1, SeqCst);
            return None;
        }
        let task = self.deque.slot(bottom).load(SeqCst);
        if top < bottom || self.pop == Pop::Assumes {
            return Some(task);
        }
        let won = self
            .deque
            .top
            .compare_exchange(top, top + 1, SeqCst, SeqCst)
            .is_ok();
        self.deque.bottom.store(bottom + 1, SeqCst);
        won.then_some(task)
    }
}

impl Stealer {
    fn steal(&self) -> Option<u32> {
        loop {
            let top = self.0.top.load(SeqCst);
            if top >= self.0.bottom.load(SeqCst) {
                return None;
            }
            let task = self.0.slot(top).load(SeqCst);
            let won = self.0.top.compare_exchange(top, top + 1, SeqCst, SeqCst);
            if won.is_ok() {
                return Some(task);
            }
        }
    }
}

type Handles = ends::Handles<(ends::Owned<Worker>, ends::Cloned<Stealer>)>;

fn tested(pop: Pop) -> Object<Handles> {
    object_with(move || {
        let (worker, stealer) = deque(pop);
        (owned(worker), cloned(stealer))
    })
    .on("push", [1, 2], Worker::push)
    .on0("pop", Worker::pop)
    .on0("steal", |stealer: &mut Stealer| stealer.steal())
}

#[test]
fn only_the_owner_pushes_and_pops() {
    passes(&tested(Pop::Contends).all(2, 2));
    passes(&tested(Pop::Contends).random(2, 3, 10));
    assert!(agreed(|| {
        tested(Pop::Contends).matrix([vec!["push(1)", "pop"], vec!["steal"]])
    }));
}

#[test]
fn the_last_task_is_taken_twice() {
    let failure = caught(
        tested(Pop::Assumes).random(2, 3, 100),
        FailureKind::NoWitness,
    );
    let smallest = failure.matrix.concat();
    assert_eq!(failure.matrix.len(), 2, "{failure}");
    assert_eq!(smallest.len(), 3, "{failure}");
    assert!(smallest.contains(&"pop".to_owned()) && smallest.contains(&"steal".to_owned()));
    assert!(!agreed(|| {
        tested(Pop::Assumes).matrix([vec!["push(1)", "pop"], vec!["steal"]])
    }));
}
