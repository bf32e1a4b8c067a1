//! The same objects and the same search under shuttle.

use std::cell::Cell;
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use shuttle::{Config, Runner, sync, thread};

include!("objects.rs");

/// The most executions: enough for all objects but the queue of Michael and Scott.
pub const MOST: u64 = 2_000_000;

/// Runs all executions with at most so many preemptions inside operations.
pub fn run<C: Container>(test: [[super::Op; 3]; 3], bound: u32) -> super::Work {
    let own = |op: super::Op| match op {
        super::Op::Put(value) => Op::Put(value),
        super::Op::Take => Op::Take,
    };
    let test = test.map(|ops| ops.map(own));
    let counts = Rc::new(Counts::default());
    let bounded = Bounded { bound, levels: Vec::new(), step: 0, counts: counts.clone() };
    let start = super::busy_seconds();
    Runner::new(bounded, Config::default()).run(move || {
        let object = Arc::new(C::make());
        let workers: Vec<_> = test
            .into_iter()
            .map(|ops| {
                let object = object.clone();
                thread::spawn(move || {
                    for op in ops {
                        // Between operations switches are free.
                        thread::yield_now();
                        black_box(object.run(op));
                    }
                })
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join().expect("nobody panics here"));
    });
    let (executions, steps) = (counts.executions.get(), counts.steps.get());
    super::Work { executions, steps, seconds: super::busy_seconds() - start, is_complete: executions < MOST }
}

#[derive(Default)]
struct Counts {
    executions: Cell<u64>,
    steps: Cell<u64>,
}

/// Depth-first search with a bound on preemptions.
struct Bounded {
    bound: u32,
    levels: Vec<Level>,
    step: usize,
    counts: Rc<Counts>,
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
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.counts.steps.set(self.counts.steps.get() + 1);
        // The main task starts the others, then waits: there is nothing to choose about it.
        let main = TaskId::from(0);
        if runnable.iter().any(|task| task.id() == main) {
            return Some(main);
        }
        if self.step == self.levels.len() {
            let spent = self.levels.last().map_or(0, |level| level.spent + u32::from(level.is_preemption && level.chosen > 0));
            let running = current.filter(|&current| !is_yielding && runnable.iter().any(|task| task.id() == current));
            let others = runnable.iter().map(|task| task.id()).filter(|&id| Some(id) != running);
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
