//! Runs threads that call operations, and records the calls and returns.
//!
//! Each thread records into a buffer of its own and sends it when all runs of a batch are done. Between reading the time of
//! a call and that of its return, a thread does nothing but the operation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use linpoint_record::{CacheAligned, Clock, Ticks};

use super::Random;

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
    /// Calls `operation` and records it. If it panics, the call is stored in `pending`.
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
        // The operation returned, so the guard must not run.
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

/// Stores a call as pending if its operation unwinds.
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

    /// A record without a meaning, to fill memory with; `None` if the types have no default.
    fn blank(&self) -> Option<Record<Self::Op, Self::Ret>>;
}

/// How the threads of a run behave.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunSettings {
    pub(super) threads: usize,
    /// The number of operations of each thread in a run.
    pub(super) ops: usize,
    /// How often a thread pauses before an operation, in percent.
    pub(super) pauses: u8,
    pub(super) clock: Clock,
    /// The threads are stuck if none of them makes a step for this long.
    pub(super) stuck_after: Duration,
}

/// Why a batch is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Interruption {
    /// An operation panicked.
    Panicked {
        thread: usize,
        operation: String,
        message: String,
    },
    /// No thread made a step for too long. These threads were in these operations.
    Stuck { waiting: Vec<(usize, String)> },
}

/// What a thread recorded.
pub(super) struct Log<A: Activity> {
    /// The operations of the first run, those of the second, and so on.
    pub(super) records: Vec<Record<A::Op, A::Ret>>,
    /// The call after them, if its operation panicked.
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

/// The records of a batch.
pub(super) struct Recording<A: Activity> {
    /// The log of each thread; `None` if the thread has not ended.
    pub(super) logs: Vec<Option<Log<A>>>,
    /// From the first call to the last return.
    pub(super) time: Duration,
    /// Why the batch is incomplete, and in which run that happened.
    pub(super) interruption: Option<(Interruption, usize)>,
}

impl<A: Activity> Recording<A> {
    /// How many runs all threads completed.
    pub(super) fn whole_runs(&self, ops: usize) -> usize {
        let completed =
            |log: &Option<Log<A>>| log.as_ref().map_or(0, |log| log.records.len() / ops);
        self.logs.iter().map(completed).min().unwrap_or(0)
    }

    /// The records of each thread in a run, which may be incomplete.
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
    /// The position of each thread: the number of its step, shifted by [`OPERATION_BITS`], and in the low bits 0, or the number
    /// of the operation that it is in plus one.
    places: Vec<CacheAligned<AtomicU64>>,
}

const OPERATION_BITS: u32 = 16;

/// How long the other threads may take to make a step after one has panicked.
const STUCK_AFTER_PANIC: Duration = Duration::from_secs(2);

/// Does `runs` runs, each with a new object, and returns the records.
///
/// If threads hang, this returns without them; they keep running, and their records are lost.
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
            // Sending fails if `record` has returned without this thread.
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
                    // The other threads are awaited only to complete the history of the run.
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
    /// Does all runs of one thread, and records them.
    fn work(&self, number: usize, mut random: Random, log: &mut Log<A>) {
        let RunSettings { ops, pauses, .. } = self.settings;
        let Log {
            records,
            pending,
            span,
        } = log;
        records.reserve_exact(self.objects.len() * ops);
        // The system maps memory when it is first written, which must not happen in the middle of an operation.
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
            message: text.unwrap_or_else(|| "the panic has no message".to_owned()),
        }
    }

    /// Closes the gate, and returns the threads that are in an operation, and their run.
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

/// Pauses in `percent` of the calls: mostly for some instructions, rarely by yielding to other threads.
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

/// A barrier. Threads spin before they yield, so that all start within a few instructions of each other; with fewer cores
/// than threads they spin less, since a thread that spins keeps another one from arriving.
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

    /// Waits until all threads have arrived. Returns `false` if the gate was closed.
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
