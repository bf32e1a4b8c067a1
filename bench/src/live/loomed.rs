//! The same counter under the crate `lincheck`, which runs it in loom.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use lincheck::scenario::{Scenario, check_scenario_with_loom};
use lincheck::{ConcurrentSpec, SequentialSpec};
use loom::{hint, sync};

include!("objects.rs");

/// How many objects were made: one for each execution.
static MADE: AtomicU64 = AtomicU64::new(0);

struct Checked(CasCounter);

impl Default for Checked {
    fn default() -> Self {
        MADE.fetch_add(1, Relaxed);
        Checked(CasCounter::make())
    }
}

#[derive(Default)]
struct Serial(u32);

impl SequentialSpec for Serial {
    type Op = Op;
    type Ret = Option<u32>;

    fn exec(&mut self, op: Op) -> Option<u32> {
        match op {
            Op::Put(_) => {
                self.0 += 1;
                None
            }
            _ => Some(self.0),
        }
    }
}

impl ConcurrentSpec for Checked {
    type Seq = Serial;

    fn exec(&self, op: Op) -> Option<u32> {
        self.0.run(op)
    }
}

/// Executions, time, and whether the counter was found to be linearizable.
pub fn run() -> (u64, Duration, bool) {
    let ops = vec![Op::Put(1), Op::Take];
    let scenario = Scenario { init_part: Vec::new(), parallel_part: vec![ops.clone(), ops], post_part: Vec::new() };
    let start = Instant::now();
    let result = check_scenario_with_loom::<Checked>(scenario);
    (MADE.load(Relaxed), start.elapsed(), result.is_ok())
}
