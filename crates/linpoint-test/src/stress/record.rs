//! Threads that call operations and write down when.
//!
//! What a thread records goes into a buffer of its own, which is handed over when all runs of a batch are done. Between the
//! time of a call and that of its return there is nothing but the operation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Random;
use super::clock::{CacheAligned, Clock, Ticks};

/// An operation that returned.
#[derive(Clone, Debug)]
pub(super) struct Record<O, R> {
    /// What was called.
    pub(super) op: O,
    /// What it returned.
    pub(super) ret: R,
    /// When it was called.
    pub(super) called: i64,
    /// When it returned.
    pub(super) returned: i64,
}

impl<O: Clone, R> Record<O, R> {
    /// Calls an operation and notes when. If it panics, it stays `pending`.
    #[inline]
    pub(super) fn of(
        op: O,
        ticks: &Ticks,
        pending: &mut Option<PendingCall<O>>,
        operation: impl FnOnce() -> R,
    ) -> Self {
        let mut call = PanicGuard {
            op: &op,
            called: 0,
            pending,
        };
        call.called = ticks.call();
        let ret = operation();
        let returned = ticks.ret();
        let called = call.called;
        // It was not: nothing of this costs anything then.
        std::mem::forget(call);
        Record {
            op,
            ret,
            called,
            returned,
        }
    }
}

/// An operation that was called and did not return.
#[derive(Clone, Debug)]
pub(super) struct PendingCall<O> {
    pub(super) op: O,
    pub(super) called: i64,
}

/// Leaves a call pending when a panic passes by.
struct PanicGuard<'a, O: Clone> {
    op: &'a O,
    called: i64,
    pending: &'a mut Option<PendingCall<O>>,
}

impl<O: Clone> Drop for PanicGuard<'_, O> {
    fn drop(&mut self) {
        *self.pending = Some(PendingCall {
            op: self.op.clone(),
            called: self.called,
        });
    }
}

/// What threads do to an object.
pub(super) trait Activity: Send + Sync + 'static {
    type Object: Send + Sync + 'static;
    type Op: Send + 'static;
    type Ret: Send + 'static;

    /// A new object.
    fn make(&self) -> Self::Object;

    /// The number of the operation that a thread calls next.
    fn choose(&self, thread: usize, random: &mut Random) -> usize;

    /// Calls it.
    fn invoke(
        &self,
        chosen: usize,
        object: &Self::Object,
        random: &mut Random,
        ticks: &Ticks,
        pending: &mut Option<PendingCall<Self::Op>>,
    ) -> Record<Self::Op, Self::Ret>;

    /// Its name.
    fn name(&self, chosen: usize) -> String;

    /// A record that means nothing, if one can be made up.
    fn blank(&self) -> Option<Record<Self::Op, Self::Ret>>;
}

/// How threads go about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSettings {
    pub(super) threads: usize,
    /// Operations of each thread in a run.
    pub(super) ops: usize,
    /// How often a thread pauses before an operation, in percent.
    pub(super) pauses: u8,
    pub(super) clock: Clock,
    /// How long nothing may happen before the threads count as stuck.
    pub(super) stuck_after: Duration,
}

/// Why a batch came to no end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// An operation panicked.
    Panicked {
        thread: usize,
        operation: String,
        message: String,
    },
    /// Nothing happened for too long while these threads were in these operations.
    Stuck { waiting: Vec<(usize, String)> },
}

/// What a thread recorded.
pub(super) struct Log<A: Activity> {
    /// The operations of the first run, those of the second, and so on.
    pub(super) records: Vec<Record<A::Op, A::Ret>>,
    /// The one after them, if it panicked.
    pub(super) pending: Option<PendingCall<A::Op>>,
    /// From the first call to the last return.
    span: Option<(Instant, Instant)>,
}

impl<A: Activity> Log<A> {
    fn empty() -> Self {
        Log {
            records: Vec::new(),
            pending: None,
            span: None,
        }
    }
}

/// What came of a batch.
pub(super) struct Recording<A: Activity> {
    /// What each thread recorded; nothing of those that did not come back.
    pub(super) logs: Vec<Option<Log<A>>>,
    /// From the first call to the last return.
    pub(super) time: Duration,
    /// Why it came to no end, and the run in which.
    pub(super) interruption: Option<(Interruption, usize)>,
}

impl<A: Activity> Recording<A> {
    /// How many runs all threads completed.
    pub(super) fn whole_runs(&self, ops: usize) -> usize {
        let completed =
            |log: &Option<Log<A>>| log.as_ref().map_or(0, |log| log.records.len() / ops);
        self.logs.iter().map(completed).min().unwrap_or(0)
    }

    /// What each thread did in a run, as far as it came.
    pub(super) fn run(&self, run: usize, ops: usize) -> Vec<&[Record<A::Op, A::Ret>]> {
        let of_run = |log: &'_ Log<A>| {
            (run * ops).min(log.records.len())..((run + 1) * ops).min(log.records.len())
        };
        let logs = self.logs.iter().flatten();
        logs.map(|log| &log.records[of_run(log)]).collect()
    }
}

/// What the threads of a batch share.
struct Batch<A: Activity> {
    activity: Arc<A>,
    settings: RunSettings,
    objects: Vec<A::Object>,
    ticks: Ticks,
    gate: Gate,
    /// Where each thread stands: the number of its step, and that of the operation plus one while it is in one.
    places: Vec<CacheAligned<AtomicU64>>,
}

const OPERATION_BITS: u32 = 16;

/// How long nothing may happen before threads are given up of which one has panicked.
const STUCK_AFTER_PANIC: Duration = Duration::from_secs(2);

/// Does `runs` runs, each on a new object.
///
/// The threads are not waited for if they hang: they are left behind, with what they recorded.
pub(super) fn record<A: Activity>(
    activity: &Arc<A>,
    settings: RunSettings,
    runs: usize,
    seed: u64,
) -> Recording<A> {
    let batch = Arc::new(Batch {
        activity: activity.clone(),
        settings,
        objects: (0..runs).map(|_| activity.make()).collect(),
        ticks: Ticks::start(settings.clock),
        gate: Gate::new(settings.threads),
        places: (0..settings.threads)
            .map(|_| CacheAligned::default())
            .collect(),
    });
    let (sender, receiver) = channel();
    for number in 0..settings.threads {
        let (batch, sender) = (batch.clone(), sender.clone());
        thread::spawn(move || {
            let random = Random::new(seed, number, batch.settings.threads);
            let mut log = Log::empty();
            let done = catch_unwind(AssertUnwindSafe(|| batch.work(number, random, &mut log)));
            if done.is_err() {
                batch.gate.close();
            }
            // The receiver is gone if the run ended without waiting for this thread.
            let _ = sender.send((number, log, done.err()));
        });
    }
    drop(sender);
    let mut logs: Vec<Option<Log<A>>> = (0..settings.threads).map(|_| None).collect();
    let mut interruption = None;
    let (mut stuck_after, mut last_step, mut last_places) =
        (settings.stuck_after, Instant::now(), batch.steps());
    while logs.iter().any(Option::is_none) {
        match receiver.recv_timeout(stuck_after.min(Duration::from_millis(200))) {
            Ok((number, log, panic)) => {
                logs[number] = Some(log);
                if let Some(panic) = panic.filter(|_| interruption.is_none()) {
                    interruption = Some((batch.panicked(number, &*panic), batch.run_of(number)));
                    // The others are only waited for to complete the history of the run.
                    stuck_after = stuck_after.min(STUCK_AFTER_PANIC);
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if batch.steps() != last_places => {
                (last_step, last_places) = (Instant::now(), batch.steps());
            }
            Err(RecvTimeoutError::Timeout) if last_step.elapsed() < stuck_after => {}
            Err(RecvTimeoutError::Timeout) => {
                interruption = interruption.or_else(|| Some(batch.stuck()));
                break;
            }
        }
    }
    let spans = logs.iter().flatten().filter_map(|log| log.span);
    let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    Recording {
        logs,
        time: span.map_or(Duration::ZERO, |(start, end)| end - start),
        interruption,
    }
}

impl<A: Activity> Batch<A> {
    /// Does all runs, and writes them down.
    fn work(&self, number: usize, mut random: Random, log: &mut Log<A>) {
        let RunSettings { ops, pauses, .. } = self.settings;
        let Log {
            records,
            pending,
            span,
        } = log;
        records.reserve_exact(self.objects.len() * ops);
        // The system hands out memory when it is first touched: not in the middle of an operation.
        records.extend((0..records.capacity()).map_while(|_| self.activity.blank()));
        records.clear();
        let mut start = None;
        let place = &self.places[number].0;
        for object in &self.objects {
            random.restart();
            if !self.gate.pass() {
                break;
            }
            start.get_or_insert_with(Instant::now);
            for _ in 0..ops {
                if pauses > 0 {
                    pause(pauses, &mut random);
                }
                let chosen = self.activity.choose(number, &mut random);
                let step = (records.len() as u64 + 1) << OPERATION_BITS;
                place.store(step + chosen as u64 + 1, Ordering::Relaxed);
                records.push(self.activity.invoke(
                    chosen,
                    object,
                    &mut random,
                    &self.ticks,
                    pending,
                ));
            }
            let step = (records.len() as u64 + 1) << OPERATION_BITS;
            place.store(step, Ordering::Relaxed);
        }
        *span = start.map(|start| (start, Instant::now()));
    }

    fn steps(&self) -> Vec<u64> {
        let places = self.places.iter();
        places
            .map(|place| place.0.load(Ordering::Relaxed))
            .collect()
    }

    /// The run that a thread is in.
    fn run_of(&self, number: usize) -> usize {
        let step = self.places[number].0.load(Ordering::Relaxed) >> OPERATION_BITS;
        step.saturating_sub(1) as usize / self.settings.ops
    }

    /// The operation that a thread is in.
    fn operation(&self, number: usize) -> Option<String> {
        let place = self.places[number].0.load(Ordering::Relaxed);
        let chosen = (place & ((1 << OPERATION_BITS) - 1)).checked_sub(1)?;
        Some(self.activity.name(chosen as usize))
    }

    fn panicked(&self, thread: usize, panic: &(dyn Any + Send)) -> Interruption {
        let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
        Interruption::Panicked {
            thread,
            operation: self.operation(thread).unwrap_or_default(),
            message: text.unwrap_or_else(|| "a value that is no text".to_owned()),
        }
    }

    /// The threads that are in an operation, and the run.
    fn stuck(&self) -> (Interruption, usize) {
        self.gate.close();
        let threads = 0..self.settings.threads;
        let waiting = threads.filter_map(|number| Some((number, self.operation(number)?)));
        let waiting: Vec<(usize, String)> = waiting.collect();
        let run = waiting
            .first()
            .map_or(0, |&(number, _)| self.run_of(number));
        (Interruption::Stuck { waiting }, run)
    }
}

/// Pauses now and then: mostly for some instructions, rarely until other threads had their turn.
fn pause(percent: u8, random: &mut Random) {
    let choice = random.next_u64();
    if choice % 100 >= u64::from(percent) {
        return;
    }
    if (choice >> 32).is_multiple_of(64) {
        thread::yield_now();
    } else {
        (0..(choice >> 40) % 64).for_each(|_| std::hint::spin_loop());
    }
}

/// Lets threads pass when all have come: a barrier that is busy at first, so that they start within a few instructions of
/// each other. Where there are fewer cores than threads, those who wait are in the way.
struct Gate {
    threads: usize,
    busy_rounds: usize,
    arrivals: CacheAligned<AtomicUsize>,
    closed: AtomicBool,
}

impl Gate {
    fn new(threads: usize) -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Gate {
            threads,
            busy_rounds: if threads <= cores { 20_000 } else { 500 },
            arrivals: CacheAligned::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Waits for the others; `false` if they will not all come.
    fn pass(&self) -> bool {
        let earlier = self.arrivals.0.fetch_add(1, Ordering::AcqRel);
        let all = (earlier / self.threads + 1) * self.threads;
        let mut rounds = 0;
        while self.arrivals.0.load(Ordering::Acquire) < all {
            if self.closed.load(Ordering::Acquire) {
                return false;
            }
            rounds += 1;
            if rounds < self.busy_rounds {
                std::hint::spin_loop();
            } else {
                thread::yield_now();
            }
        }
        true
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}
