//! The same objects and the same search under shuttle.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, Runner, hint, sync, thread};

include!("objects.rs");

/// The most executions: enough for all objects but two.
pub const MOST: u64 = 1_000_000;

/// Runs all executions with at most so many preemptions inside operations.
pub fn run<C: Tested>(test: [[super::Op; 3]; 3], bound: u32) -> super::Work {
    let own = |op: super::Op| match op {
        super::Op::Put(value) => Op::Put(value),
        super::Op::Take => Op::Take,
        super::Op::Set => Op::Set,
        super::Op::Reset => Op::Reset,
        super::Op::IsSet => Op::IsSet,
        super::Op::Wait => Op::Wait,
    };
    let test = test.map(|ops| ops.map(own));
    let counts = Rc::new(Counts::default());
    // How many workers have not finished; none have before all were started.
    let unfinished = Arc::new(PlainUsize::new(0));
    let bounded = Bounded { bound, levels: Vec::new(), step: 0, counts: counts.clone(), unfinished: unfinished.clone() };
    let start = super::busy_seconds();
    Runner::new(bounded, Config::default()).run(move || {
        let object = Arc::new(C::make());
        for ops in test {
            let (object, unfinished) = (object.clone(), unfinished.clone());
            thread::spawn(move || {
                for (index, op) in ops.into_iter().enumerate() {
                    // Between operations switches are free; the thread begins with one.
                    if index > 0 {
                        thread::yield_now();
                    }
                    black_box(object.run(op));
                }
                unfinished.fetch_sub(1, SeqCst);
            });
        }
        unfinished.store(test.len(), SeqCst);
        // As long as this task can go on, shuttle does not panic because of a deadlock.
        while unfinished.load(SeqCst) > 0 {
            thread::yield_now();
        }
    });
    let (executions, steps, accesses) = (counts.executions.get(), counts.steps.get(), counts.accesses.get());
    super::Work { executions, steps, accesses, seconds: super::busy_seconds() - start, share: 1.0, is_complete: executions < MOST }
}

#[derive(Default)]
struct Counts {
    executions: Cell<u64>,
    steps: Cell<u64>,
    accesses: Cell<u64>,
}

/// Depth-first search with a bound on preemptions.
struct Bounded {
    bound: u32,
    levels: Vec<Level>,
    step: usize,
    counts: Rc<Counts>,
    unfinished: Arc<PlainUsize>,
}

struct Level {
    options: Vec<TaskId>,
    chosen: usize,
    /// Preemptions before this choice.
    spent: u32,
    /// Whether any option but the first is one.
    is_preemption: bool,
}

impl Scheduler for Bounded {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.counts.executions.get() > 0 {
            while self.levels.last().is_some_and(|level| level.chosen + 1 == level.options.len()) {
                self.levels.pop();
            }
            self.levels.last_mut()?.chosen += 1;
        }
        if self.counts.executions.get() == MOST {
            return None;
        }
        self.counts.executions.set(self.counts.executions.get() + 1);
        self.step = 0;
        // Some are, if the last execution was stuck.
        self.unfinished.store(0, SeqCst);
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.counts.steps.set(self.counts.steps.get() + 1);
        // The main task starts the others, then waits: there is nothing to choose about it.
        let main = TaskId::from(0);
        if self.unfinished.load(SeqCst) == 0 {
            return Some(main);
        }
        let workers = || runnable.iter().map(|task| task.id()).filter(|&id| id != main);
        if workers().next().is_none() {
            // Stuck: this execution ends here.
            return None;
        }
        let running = current.filter(|&current| !is_yielding && workers().any(|id| id == current));
        // It stands before an access; otherwise it has ended, waits, or stands between two operations.
        self.counts.accesses.set(self.counts.accesses.get() + u64::from(running.is_some()));
        if self.step == self.levels.len() {
            let spent = self.levels.last().map_or(0, |level| level.spent + u32::from(level.is_preemption && level.chosen > 0));
            let others = workers().filter(|&id| Some(id) != running);
            let options = match running {
                Some(running) if spent == self.bound => vec![running],
                Some(running) => std::iter::once(running).chain(others).collect(),
                None => others.collect(),
            };
            self.levels.push(Level { options, chosen: 0, spent, is_preemption: running.is_some() });
        }
        let level = &self.levels[self.step];
        self.step += 1;
        Some(level.options[level.chosen])
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}
