//! Progress on the standard error: a bar if it is a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::{Explored, Plan, Verification, verify};

use crate::units::counted;

/// Shows the progress of a batch of checks.
pub(crate) struct Watcher {
    bar: ProgressBar,
}

impl Watcher {
    pub(crate) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Watcher {
                bar: ProgressBar::hidden(),
            };
        }
        let bar = ProgressBar::new_spinner();
        // A message that is wider than the terminal is cut off, so that the bar stays on one line.
        let style = "{spinner} {elapsed_precise} {wide_msg}";
        bar.set_style(
            ProgressStyle::with_template(style)
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        );
        Watcher { bar }
    }

    /// Runs `work` while showing what the budgets say of histories that were begun.
    pub(crate) fn watch<T>(
        &self,
        done_before: usize,
        budgets: &[OnceLock<Budget>],
        work: impl FnOnce() -> T,
    ) -> T {
        self.watch_text(&|| events_text(done_before, budgets), work)
    }

    /// Runs `work` while showing what `text` says.
    pub(crate) fn watch_text<T>(
        &self,
        text: &(dyn Fn() -> String + Sync),
        work: impl FnOnce() -> T,
    ) -> T {
        if self.bar.is_hidden() {
            return work();
        }
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                // Work that takes less than half a second gets no bar, which would only flicker.
                std::thread::park_timeout(Duration::from_millis(500));
                while !over.load(Relaxed) {
                    self.say(text());
                    std::thread::park_timeout(Duration::from_millis(200));
                }
            });
            let result = work();
            over.store(true, Relaxed);
            watcher.thread().unpark();
            result
        })
    }

    /// Shows what is being done.
    pub(crate) fn say(&self, what: String) {
        self.bar.set_message(what);
        if self.bar.is_finished() {
            self.bar.reset();
        }
        self.bar.tick();
    }

    /// Runs `print` while the bar is taken away.
    pub(crate) fn without_bar<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }

    /// Takes the bar away until [`say`](Self::say) is called again, so that other output can be written.
    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

/// Carries out a plan, and shows its progress.
pub(crate) fn explore(plan: &Plan, budget: &Budget) -> Result<Verification, Error> {
    let explored = Explored::default();
    let started = Instant::now();
    let watcher = Watcher::new();
    let text = || {
        let states = explored.states.load(Relaxed);
        let rate = states as f64 / started.elapsed().as_secs_f64();
        format!(
            "{states} states, {} transitions, depth {}, {rate:.0} states per second",
            explored.transitions.load(Relaxed),
            explored.depth.load(Relaxed),
        )
    };
    let found = watcher.watch_text(&text, || verify(plan, budget, &explored));
    watcher.clear();
    found
}

/// The progress of checks, as text.
fn events_text(done_before: usize, budgets: &[OnceLock<Budget>]) -> String {
    let begun = || budgets.iter().filter_map(OnceLock::get);
    let sum = |of: fn(&Budget) -> u64| begun().map(of).sum::<u64>();
    let done = sum(|budget| budget.progress().done.load(Relaxed));
    let total = sum(|budget| budget.progress().total.load(Relaxed));
    let histories = if done_before == 0 {
        String::new()
    } else {
        format!("{} decided, then ", counted(done_before, "history"))
    };
    let events = counted(total as usize, "event");
    match done {
        // Some engines know no progress within a history.
        0 => format!("{histories}{events} to explain"),
        done => format!("{histories}{done} of {events} explained"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_told_only_where_it_is_known() {
        let budgets: Vec<OnceLock<Budget>> = vec![OnceLock::new(), OnceLock::new()];
        let budget = budgets[0].get_or_init(Budget::default);
        budget.progress().total.store(40, Relaxed);
        assert_eq!(events_text(0, &budgets), "40 events to explain");
        budget.progress().done.store(7, Relaxed);
        assert_eq!(events_text(0, &budgets), "7 of 40 events explained");
        assert_eq!(
            events_text(3, &budgets),
            "3 histories decided, then 7 of 40 events explained"
        );
    }
}
