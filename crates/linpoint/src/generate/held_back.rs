//! The events of a generated history, one by one.
//!
//! A call that can never take effect is taken back, and is no part of the history. So a call is held back, with all that follows
//! it, until it took effect or its process crashed. Few calls wait for that at a time.

use std::collections::{HashMap, VecDeque};

use crate::error::Error;
use crate::history::Call;
use crate::value::Value;

/// An event of a generated history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratedEvent {
    /// A process calls.
    Call(Value, Call),
    /// The open call of a process returns this result.
    Return(Value, Value),
    /// The open call of a process never returns, and the process does not call again.
    Crash(Value),
}

/// What happens in a simulation.
pub(super) enum Step {
    Call(Value, Call),
    /// The open call of a process takes effect.
    Effect(Value),
    Return(Value, Value),
    Crash(Value),
    /// The open call of a process is no part of the history.
    TakeBack(Value),
}

/// Events that wait for an earlier call.
#[derive(Default)]
pub(super) struct HeldBack {
    events: VecDeque<Held>,
    /// The number of the first of these, among all events.
    first: u64,
    /// The numbers of calls that may yet be taken back, by process.
    undecided: HashMap<Value, u64>,
}

enum Held {
    Event(GeneratedEvent),
    /// A call that may yet be taken back.
    Undecided(GeneratedEvent),
    TakenBack,
}

impl HeldBack {
    /// Takes what happens next. Gives to `each` the events before the first call that may yet be taken back.
    pub(super) fn take(
        &mut self,
        step: Step,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        match step {
            Step::Call(process, call) => {
                let number = self.first + self.events.len() as u64;
                self.undecided.insert(process.clone(), number);
                let call = GeneratedEvent::Call(process, call);
                self.events.push_back(Held::Undecided(call));
            }
            Step::Effect(process) => self.decide(&process, Held::Event),
            Step::Return(process, result) => {
                let ret = GeneratedEvent::Return(process, result);
                self.events.push_back(Held::Event(ret));
            }
            Step::Crash(process) => {
                self.decide(&process, Held::Event);
                let crash = GeneratedEvent::Crash(process);
                self.events.push_back(Held::Event(crash));
            }
            Step::TakeBack(process) => self.decide(&process, |_| Held::TakenBack),
        }
        while let Some(event) = self.next() {
            each(event)?;
        }
        Ok(())
    }

    /// Gives to `each` what is left: calls that were not taken back by the end are pending.
    pub(super) fn finish(
        self,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for held in self.events {
            match held {
                Held::Event(event) | Held::Undecided(event) => each(event)?,
                Held::TakenBack => {}
            }
        }
        Ok(())
    }

    /// Replaces the call of a process, if it may yet be taken back.
    fn decide(&mut self, process: &Value, decided: impl Fn(GeneratedEvent) -> Held) {
        let Some(number) = self.undecided.remove(process) else {
            return;
        };
        let held = &mut self.events[(number - self.first) as usize];
        if let Held::Undecided(call) = std::mem::replace(held, Held::TakenBack) {
            *held = decided(call);
        }
    }

    /// The next event, unless a call before it may yet be taken back.
    fn next(&mut self) -> Option<GeneratedEvent> {
        loop {
            if let Held::Undecided(_) = self.events.front()? {
                return None;
            }
            self.first += 1;
            if let Held::Event(event) = self.events.pop_front()? {
                return Some(event);
            }
        }
    }
}
