//! What has happened in an execution: its history, its schedule, and, as far as they are recorded, its steps.
//!
//! Searches, checks and reports read this, and nothing else of an execution.

use std::panic::Location;

use super::super::access::{Access, Hold, Kind};
use super::super::causality::{Clock, Past};
use super::super::history::History;
use super::super::memory_event::MemoryEvent;
use super::super::search::Search;
use super::{Assumed, Causality, Execution, Layout, ObjectName};

/// What a thread did between two scheduling points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) thread: u8,
    /// Its number among the steps of its thread, from 1.
    pub(crate) number: u16,
    pub(crate) op: u32,
    /// Contains the call.
    pub(crate) calls: bool,
    /// Contains the return.
    pub(crate) returns: bool,
    /// The call was made, or the thread woke up, and the next access was not possible: nothing happened.
    pub(crate) blocked: bool,
    /// A spinning thread tried again because no other thread could go on.
    pub(crate) forced: bool,
    /// Another thread notified it.
    pub(super) notified: bool,
    pub(super) accesses: (u32, u32),
    pub(super) wakers: (u32, u32),
    /// Which of several outcomes was picked.
    pub(crate) pick: Option<u8>,
    pub(crate) location: Option<&'static Location<'static>>,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Running,
    Complete,
    /// No thread can make progress.
    Stuck,
    /// The bound on steps was hit.
    TooLong,
    /// Each thread that is left spins, and some change what others look at: they may come out of it, or never.
    Livelock,
    /// It was found out whether a thread spins for ever. The execution is run again, and is not visited.
    Probed,
    /// The object did something that cannot be checked.
    Fault(String),
}

/// What a search decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Which thread goes on.
    Thread(u8),
    /// Which of several outcomes.
    Pick(u8),
}

/// The choices of an execution: enough to run it again.
///
/// Under a foreign scheduler an execution begins with choices of the one before, which are made again: `made < list.len()`
/// until then.
#[derive(Debug, Default)]
pub(super) struct Choices {
    list: Vec<Choice>,
    made: usize,
}

impl Choices {
    /// The next choice of the execution before, if it is to be made again.
    pub(super) fn known(&self) -> Option<Choice> {
        self.list.get(self.made).copied()
    }

    /// Makes a choice; a known one is not changed.
    #[inline(always)]
    pub(super) fn make(&mut self, choice: Choice) {
        if self.made == self.list.len() {
            self.list.push(choice);
        }
        self.made += 1;
    }

    /// How many choices were made.
    pub(super) fn made(&self) -> usize {
        self.made
    }

    /// Whether all known choices were made.
    pub(super) fn is_complete(&self) -> bool {
        self.made >= self.list.len()
    }
}

/// What is counted in an execution.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    /// Steps that were begun.
    pub(crate) steps: usize,
    /// Accesses of workers to objects under control.
    pub(crate) accesses: usize,
    /// Preemptions inside operations.
    pub(crate) preemptions: u32,
    /// Waits that ended and weak compare-exchanges that failed for no reason.
    pub(crate) spurious: u32,
}

/// A thread that waits in the middle of an operation when no thread can make progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockedThread {
    pub(crate) thread: usize,
    pub(crate) op: usize,
    pub(crate) wait: Wait,
    /// What has happened before its next step.
    pub(crate) clock: Clock,
    pub(crate) location: Option<&'static Location<'static>>,
}

/// What a blocked thread waits for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wait {
    /// For an object: a lock, or the permit of the thread.
    Access {
        object: u32,
        name: ObjectName,
        kind: Kind,
        /// The step that notified the thread, if it waits for the mutex of a condition variable.
        notifier: Option<u32>,
    },
    /// For a notification of this condition variable.
    Notification(ObjectName),
    /// For a change of something that it has read; without one, all of these rounds were the same.
    Change { rounds: u32 },
    /// For something that is not known, under a foreign scheduler.
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    Foreign,
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Trace {
    pub(super) history: History,
    pub(super) choices: Choices,
    pub(super) end: End,
    pub(super) repetitions: u64,
    pub(super) totals: Totals,
    pub(super) assumed: Assumed,
    /// Empty if steps are not recorded.
    pub(super) steps: Vec<Step>,
    accesses: Vec<Access>,
    pub(super) wakers: Vec<u32>,
    /// Of the steps that are complete, if causality is computed.
    clocks: Vec<Clock>,
    descriptions: Vec<(usize, String)>,
    pub(super) memory_events: Vec<MemoryEvent>,
    holds_at_start: Vec<Hold>,
    pub(super) blocked: Vec<BlockedThread>,
    /// Why an invariant of the object does not hold at the end.
    pub(super) broken: Option<String>,
}

/// An earlier state of a [`Trace`].
#[derive(Debug, Default)]
pub(super) struct TraceMark {
    steps: usize,
    /// The last of them as it was, since it may not have been complete.
    last_step: Option<Step>,
    accesses: usize,
    wakers: usize,
    clocks: usize,
    events: usize,
    descriptions: usize,
    memory_events: usize,
}

impl Trace {
    pub(super) fn new() -> Self {
        Trace {
            history: History::new(),
            choices: Choices::default(),
            end: End::Complete,
            repetitions: 1,
            totals: Totals::default(),
            assumed: Assumed::default(),
            steps: Vec::new(),
            accesses: Vec::new(),
            wakers: Vec::new(),
            clocks: Vec::new(),
            descriptions: Vec::new(),
            memory_events: Vec::new(),
            holds_at_start: Vec::new(),
            blocked: Vec::new(),
            broken: None,
        }
    }

    /// Forgets everything but the first `known` choices.
    pub(super) fn reset(&mut self, layout: &Layout, known: usize) {
        self.history.reset(layout);
        self.choices.list.truncate(known);
        self.choices.made = 0;
        self.end = End::Running;
        self.repetitions = 1;
        self.steps.clear();
        self.accesses.clear();
        self.wakers.clear();
        self.clocks.clear();
        self.descriptions.clear();
        self.memory_events.clear();
        self.holds_at_start.clear();
        self.blocked.clear();
        self.broken = None;
    }

    /// Marks the present state, to go back to it later.
    pub(super) fn checkpoint(&self) -> TraceMark {
        TraceMark {
            steps: self.steps.len(),
            last_step: self.steps.last().copied(),
            accesses: self.accesses.len(),
            wakers: self.wakers.len(),
            clocks: self.clocks.len(),
            events: self.history.events.len(),
            descriptions: self.descriptions.len(),
            memory_events: self.memory_events.len(),
        }
    }

    /// Goes back to an earlier state, after so many choices.
    pub(super) fn return_to(&mut self, mark: &TraceMark, choices: usize) {
        self.history.truncate(mark.events);
        self.choices.list.truncate(choices);
        self.choices.made = choices;
        self.end = End::Running;
        self.steps.truncate(mark.steps);
        if let (Some(last), Some(marked)) = (self.steps.last_mut(), mark.last_step) {
            *last = marked;
        }
        self.accesses.truncate(mark.accesses);
        self.wakers.truncate(mark.wakers);
        self.clocks.truncate(mark.clocks);
        self.descriptions.truncate(mark.descriptions);
        self.memory_events.truncate(mark.memory_events);
        self.blocked.clear();
        self.broken = None;
    }

    /// Becomes the trace of an execution of which a foreign search has kept only the history.
    #[cfg(feature = "loom")]
    pub(super) fn show(&mut self, history: &History, choices: Vec<Choice>, repetitions: u64) {
        self.history.clone_from(history);
        self.choices = Choices {
            made: choices.len(),
            list: choices,
        };
        self.steps.clear();
        self.repetitions = repetitions;
        self.end = End::Complete;
    }

    /// Begins a step; its accesses and wakers follow.
    #[inline(always)]
    pub(super) fn begin_step(&mut self, mut step: Step) {
        let (accesses, wakers) = (self.accesses.len() as u32, self.wakers.len() as u32);
        step.accesses = (accesses, accesses);
        step.wakers = (wakers, wakers);
        self.steps.push(step);
    }

    /// Adds an access to the last step.
    pub(super) fn record(&mut self, access: Access) {
        if let Some(step) = self.steps.last_mut() {
            step.accesses.1 += 1;
            self.accesses.push(access);
        }
    }

    /// The last step goes on because of an earlier one.
    pub(super) fn record_waker(&mut self, waker: u32) {
        self.wakers.push(waker);
        if let Some(last) = self.steps.last_mut() {
            last.wakers.1 += 1;
        }
    }

    /// Adds words to the last step.
    pub(super) fn describe(&mut self, words: impl FnOnce() -> String) {
        if let Some(last) = self.steps.len().checked_sub(1) {
            self.descriptions.push((last, words()));
        }
    }

    /// The workers start, with objects that are held in this way.
    pub(super) fn note_start(&mut self, holds: impl Iterator<Item = Hold>) {
        self.holds_at_start.clear();
        self.holds_at_start.extend(holds);
    }

    /// The calls and returns.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.history.layout
    }

    /// The choices that run this execution again.
    pub(crate) fn schedule(&self) -> &[Choice] {
        &self.choices.list
    }

    pub(crate) fn end(&self) -> &End {
        &self.end
    }

    /// How many executions looked like this one.
    pub(crate) fn repetitions(&self) -> u64 {
        self.repetitions
    }

    /// What was counted, once the execution has ended.
    pub(crate) fn totals(&self) -> Totals {
        self.totals
    }

    /// What was assumed of spinning threads and of time in this execution or in one before it.
    pub(crate) fn assumed(&self) -> Assumed {
        self.assumed
    }

    /// The steps; none if they were not recorded.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The accesses of a step.
    pub(crate) fn accesses_of(&self, step: usize) -> &[Access] {
        let (from, to) = self.steps[step].accesses;
        &self.accesses[from as usize..to as usize]
    }

    /// The steps each of which let this one go on, in order; none if it did not have to wait.
    pub(crate) fn wakers_of(&self, step: usize) -> &[u32] {
        let (from, to) = self.steps[step].wakers;
        &self.wakers[from as usize..to as usize]
    }

    /// What happened before a step, the step included.
    pub(crate) fn clock_of(&self, step: usize) -> &Clock {
        &self.clocks[step]
    }

    /// Whether a step happened before another one.
    pub(crate) fn happened_before(&self, first: usize, second: usize) -> bool {
        let Step { thread, number, .. } = self.steps[first];
        self.clocks[second].includes(usize::from(thread), number)
    }

    /// The words about a step.
    pub(crate) fn descriptions_of(&self, step: usize) -> impl Iterator<Item = &str> {
        let of_step = self.descriptions.iter().filter(move |(at, _)| *at == step);
        of_step.map(|(_, words)| words.as_str())
    }

    /// What the threads did to memory and locks, if steps are described in words.
    pub(crate) fn memory_events(&self) -> &[MemoryEvent] {
        &self.memory_events
    }

    /// How an object was held when the workers started.
    pub(crate) fn hold_at_start(&self, object: u32) -> Hold {
        let hold = self.holds_at_start.get(object as usize);
        hold.copied().unwrap_or_default()
    }

    /// A hash of the accesses of all steps.
    pub(crate) fn fingerprint(&self) -> u32 {
        let mut past = Past::default();
        for (position, step) in self.steps.iter().enumerate() {
            past = past.then(u64::from(step.thread));
            for access in self.accesses_of(position) {
                // How a write counts that changes nothing depends on what the executions before came to.
                let kind = match access.kind {
                    Kind::Write if !access.changed => Kind::Read,
                    kind => kind,
                };
                past = past.then(access.name.code() << 8 | kind as u64);
            }
        }
        past.low() as u32
    }

    /// Why an invariant of the object does not hold at the end, if one does not.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// The threads that wait in the middle of an operation; none unless the execution has ended stuck.
    pub(crate) fn blocked(&self) -> &[BlockedThread] {
        &self.blocked
    }
}

impl Execution {
    /// The execution has ended.
    pub(in crate::runtime) fn conclude(&mut self, search: &mut dyn Search) {
        self.close(search);
        self.end();
    }

    /// The open step is complete: its place in the causal order is known.
    #[inline(always)]
    pub(super) fn close(&mut self, search: &mut dyn Search) {
        if !std::mem::take(&mut self.threads.step_is_open) {
            return;
        }
        if self.settings.has_causality() {
            self.place();
        }
        search.closed(&self.trace);
    }

    /// Computes the clock and the past of the last step.
    fn place(&mut self) {
        let (trace, memory) = (&mut self.trace, &mut self.memory);
        let position = trace.steps.len() - 1;
        let step = trace.steps[position];
        let index = usize::from(step.thread);
        let accesses = &trace.accesses[step.accesses.0 as usize..step.accesses.1 as usize];
        let mut clock = self.threads.list[index].clock;
        let mut past = self.threads.list[index].past;
        clock.0[index] = step.number;
        past = past.then(
            u64::from(step.op) << 8
                | u64::from(step.pick.unwrap_or(0)) << 3
                | u64::from(step.blocked) << 2
                | u64::from(step.calls) << 1
                | u64::from(step.returns),
        );
        if step.calls && self.settings.causality == Causality::RealTime {
            past = past.then(trace.history.before[step.op as usize]);
        }
        for access in accesses {
            let causes = memory.causes(access.object);
            causes.clocks.join_into(&mut clock, access.kind);
            past = past.then(access.name.code() << 8 | access.kind as u64);
            past = causes.pasts.extend(past, access.kind);
        }
        if step.forced {
            for thread in &self.threads.list {
                clock.join(&thread.clock);
                past = past.with(thread.past);
            }
        } else if step.notified
            && let Some(&waker) = trace.wakers.get(step.wakers.0 as usize)
        {
            clock.join(&trace.clocks[waker as usize]);
            let waker = trace.steps[waker as usize];
            past = past.then(u64::from(waker.thread) << 16 | u64::from(waker.number));
        }
        for access in accesses {
            let causes = memory.change_causes(access.object);
            causes.clocks.note(&clock, access.kind);
            causes.pasts.note(past, access.kind);
        }
        self.threads.list[index].clock = clock;
        self.threads.list[index].past = past;
        trace.clocks.push(clock);
    }
}
