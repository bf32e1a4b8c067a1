//! One given schedule.

use crate::runtime::execution::{Choice, Threads, Trace};
use crate::runtime::search::{Decision, Point, Search};

/// Follows a schedule; where it ends or does not fit, goes on by default.
#[derive(Debug)]
pub(crate) struct Replay {
    schedule: Vec<Choice>,
    next: usize,
    diverged: bool,
}

impl Replay {
    pub(crate) fn new(schedule: Vec<Choice>) -> Self {
        Replay {
            schedule,
            next: 0,
            diverged: false,
        }
    }

    fn follow(&mut self) -> Option<Choice> {
        let choice = self.schedule.get(self.next).copied();
        self.next += 1;
        choice.filter(|_| !self.diverged)
    }
}

impl Search for Replay {
    fn choose(&mut self, _: &Trace, _: &Threads, point: Point) -> Option<Decision> {
        Some(Decision::now(match self.follow() {
            Some(Choice::Thread(thread)) if (point.enabled | point.asleep) & 1 << thread != 0 => {
                usize::from(thread)
            }
            Some(_) => {
                self.diverged = true;
                point.default_choice()
            }
            None => point.default_choice(),
        }))
    }

    fn pick(&mut self, _: &Trace, ways: usize) -> Option<usize> {
        Some(match self.follow() {
            Some(Choice::Pick(pick)) if usize::from(pick) < ways => usize::from(pick),
            Some(_) => {
                self.diverged = true;
                0
            }
            None => 0,
        })
    }

    #[cfg(feature = "loom")]
    fn given(&self) -> &[Choice] {
        &self.schedule
    }

    fn closed(&mut self, _: &Trace) {}

    fn advance(&mut self, _: &Trace) -> Option<usize> {
        None
    }
}
