//! Progress on the standard error: a bar if it is a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use linpoint::Error;
use linpoint::engine::Budget;
use linpoint::explore::{Explored, Plan, Verification, verify};
use linpoint::format::RowProgress;

use crate::units::counted;

/// Shows the progress of a batch of checks. Clones show one bar.
#[derive(Clone)]
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

/// The progress of an input that is read object by object, or sorted.
#[derive(Debug, Default)]
pub(crate) struct StreamProgress {
    pub(crate) read: RowProgress,
    objects: AtomicUsize,
    is_shown: AtomicBool,
}

impl StreamProgress {
    /// Counts an object that was decided.
    pub(crate) fn count_object(&self) {
        self.objects.fetch_add(1, Relaxed);
    }

    /// Begins again, with another step of the work.
    pub(crate) fn restart(&self) {
        for count in [&self.read.rows, &self.read.done, &self.read.total] {
            count.store(0, Relaxed);
        }
    }

    /// Whether a bar shows it: no other progress is to be shown then.
    pub(crate) fn is_shown(&self) -> bool {
        self.is_shown.load(Relaxed)
    }

    /// Runs `work` while showing how far it is: `verb` says what is done.
    pub(crate) fn watch<T>(&self, watcher: &Watcher, verb: &str, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        self.is_shown.store(true, Relaxed);
        let text = || self.text(verb, started.elapsed());
        let done = watcher.watch_text(&text, work);
        self.is_shown.store(false, Relaxed);
        watcher.clear();
        done
    }

    /// What is done after this time: how much, how fast, and for how much longer.
    fn text(&self, verb: &str, elapsed: Duration) -> String {
        let seconds = elapsed.as_secs_f64().max(1e-3);
        let rows = self.read.rows.load(Relaxed);
        let rate = (rows as f64 / seconds) as usize;
        let rows = counted(rows as usize, "operation");
        let mut text = format!("{verb} {rows}, {rate} per second");
        if let objects @ 1.. = self.objects.load(Relaxed) {
            let objects = counted(objects, "object");
            text.push_str(&format!(", {objects} decided"));
        }
        let (done, total) = (self.read.done.load(Relaxed), self.read.total.load(Relaxed));
        if done > 0 && total >= done {
            let left = seconds * (total - done) as f64 / done as f64;
            let left = roughly(left.round() as u64);
            let percent = 100 * done / total;
            text.push_str(&format!(", {percent} % read, about {left} left"));
        }
        text
    }
}

/// A time that is estimated: "30 s", "5 min", "3 h".
fn roughly(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3_600)),
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
    fn streams_tell_their_rate_and_the_time_left() {
        let progress = StreamProgress::default();
        let after = Duration::from_secs(10);
        assert_eq!(
            progress.text("read", after),
            "read 0 operations, 0 per second"
        );
        progress.read.rows.store(1_000, Relaxed);
        progress.read.done.store(250, Relaxed);
        assert_eq!(
            progress.text("read", after),
            "read 1000 operations, 100 per second"
        );
        progress.read.total.store(1_000, Relaxed);
        progress.count_object();
        assert_eq!(
            progress.text("read", after),
            "read 1000 operations, 100 per second, 1 object decided, 25 % read, about 30 s left"
        );
    }

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
