//! TaskCompletionSource: a result, an exception or a cancellation, whichever comes first.

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Condvar, Mutex};

use super::{Refused, Seed, lock, wait};

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Result = 2,
    Exception = 3,
    Canceled = 4,
}

const OPEN: u32 = 0;
const RESERVED: u32 = 1;

#[derive(Debug)]
pub struct TaskCompletionSource {
    seed: Seed,
    /// `OPEN`, `RESERVED` or an [`End`].
    state: AtomicU32,
    sleep: Mutex<()>,
    ended: Condvar,
}

impl TaskCompletionSource {
    pub fn new(seed: Seed) -> Self {
        TaskCompletionSource {
            seed,
            state: AtomicU32::new(OPEN),
            sleep: Mutex::new(()),
            ended: Condvar::new(),
        }
    }

    pub fn try_set(&self, end: End) -> bool {
        let is_first = match self.seed {
            // F: looks, then writes; two threads can both be first.
            Seed::F => {
                let is_open = self.state.load(SeqCst) == OPEN;
                if is_open {
                    self.state.store(end as u32, SeqCst);
                }
                is_open
            }
            // G: reserves the task before its end can be seen. A thread that is too late learns that the task has ended when
            // there is nothing to see of it yet.
            Seed::G => {
                let is_first = self.swap(RESERVED);
                if is_first {
                    self.state.store(end as u32, SeqCst);
                }
                is_first
            }
            _ => self.swap(end as u32),
        };
        if is_first {
            drop(lock(&self.sleep));
            self.ended.notify_all();
        }
        is_first
    }

    pub fn set(&self, end: End) -> Result<(), Refused> {
        self.try_set(end).then_some(()).ok_or(Refused)
    }

    pub fn exception(&self) -> bool {
        self.end() == Some(End::Exception)
    }

    /// The result, if there is one yet.
    pub fn try_result(&self) -> bool {
        self.end() == Some(End::Result)
    }

    pub fn wait(&self) -> End {
        let mut sleep = lock(&self.sleep);
        loop {
            match self.end() {
                Some(end) => return end,
                None => sleep = wait(&self.ended, sleep),
            }
        }
    }

    fn end(&self) -> Option<End> {
        let state = self.state.load(SeqCst);
        let ends = [End::Result, End::Exception, End::Canceled];
        ends.into_iter().find(|&end| end as u32 == state)
    }

    fn swap(&self, to: u32) -> bool {
        self.state
            .compare_exchange(OPEN, to, SeqCst, SeqCst)
            .is_ok()
    }
}
