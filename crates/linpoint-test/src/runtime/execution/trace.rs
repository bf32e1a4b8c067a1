//! What has happened: each step in its place, and what happened before it.

use super::super::access::Access;
use super::super::causality::{Clock, Past};
use super::{Execution, Pending, Step};
use crate::runtime::search::Search;

impl Execution {
    /// The open step is complete: its place in the order is known.
    #[inline(always)]
    pub(crate) fn close(&mut self, search: &mut dyn Search) {
        if !std::mem::take(&mut self.now.open) {
            return;
        }
        if self.settings.causality {
            self.place();
        }
        search.closed(self);
    }

    fn place(&mut self) {
        let position = self.steps.len() - 1;
        let step = self.steps[position];
        let index = usize::from(step.thread);
        let accesses = &self.accesses[step.accesses.0 as usize..step.accesses.1 as usize];
        let mut clock = self.now.threads[index].clock;
        let mut past = self.now.threads[index].past;
        clock.0[index] = step.number;
        past = past.then(
            u64::from(step.op) << 8
                | u64::from(step.pick.unwrap_or(0)) << 3
                | u64::from(step.blocked) << 2
                | u64::from(step.calls) << 1
                | u64::from(step.returns),
        );
        if step.calls && self.settings.real_time {
            past = past.then(self.before[step.op as usize]);
        }
        for access in accesses {
            let name = self.objects[access.object as usize].name;
            let causes = &self.causes[access.object as usize];
            causes.clocks.join_into(&mut clock, access.kind);
            past = past.then(u64::from(name) << 8 | access.kind as u64);
            past = causes.pasts.extend(past, access.kind);
        }
        if step.forced {
            for thread in &self.now.threads {
                clock.join(&thread.clock);
                past = past.with(thread.past);
            }
        } else if step.notified
            && let Some(&waker) = self.wakers_of(position).first()
        {
            clock.join(&self.clocks[waker as usize]);
            let waker = self.steps[waker as usize];
            past = past.then(u64::from(waker.thread) << 16 | u64::from(waker.number));
        }
        for access in accesses {
            let causes = self.causes.change(access.object);
            causes.clocks.note(&clock, access.kind);
            causes.pasts.note(past, access.kind);
        }
        self.now.threads[index].clock = clock;
        self.now.threads[index].past = past;
        self.clocks.push(clock);
    }

    pub(crate) fn accesses_of(&self, step: usize) -> &[Access] {
        let (from, to) = self.steps[step].accesses;
        &self.accesses[from as usize..to as usize]
    }

    /// The steps each of which let this one go on, in order; none if nothing had to.
    pub(crate) fn wakers_of(&self, step: usize) -> &[u32] {
        let (from, to) = self.steps[step].wakers;
        &self.wakers[from as usize..to as usize]
    }

    /// Whether a step happened before another one.
    pub(crate) fn happened_before(&self, first: usize, second: usize) -> bool {
        let Step { thread, number, .. } = self.steps[first];
        self.clocks[second].includes(usize::from(thread), number)
    }

    /// What a thread knows of the others.
    pub(crate) fn clock_of_thread(&self, thread: usize) -> &Clock {
        &self.now.threads[thread].clock
    }

    /// The step that notified a thread.
    pub(crate) fn notifier_of(&self, thread: usize) -> Option<u32> {
        self.now.threads[thread].notified
    }

    pub(crate) fn clock_of(&self, step: usize) -> &Clock {
        &self.clocks[step]
    }

    /// A hash of everything that determines what can happen from here on.
    pub(crate) fn state(&self) -> Past {
        let mut state = Past::default().then(u64::from(self.now.idle));
        for thread in &self.now.threads[..self.layout.threads.len()] {
            let stands = match thread.pending {
                Pending::Start(_) => 0,
                Pending::Yield => 1,
                Pending::Done => 2,
                Pending::Wake { .. } if thread.notified.is_some() => 3,
                _ => 4,
            };
            state = state.with(thread.past).then(stands);
        }
        state
    }
}
