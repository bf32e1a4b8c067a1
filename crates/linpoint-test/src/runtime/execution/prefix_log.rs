//! The log of an execution, from which the next one repeats its prefix.
//!
//! The next execution begins as this one did, up to a choice that is made differently. The threads run that prefix again, since a
//! stack cannot be copied. But each request they make of the execution they have made before, so the log answers it, and the state of
//! the execution is not computed again: a [checkpoint](super::checkpoint) has it.

use super::super::access::{Effect, Kind, Manner};
#[cfg(any(feature = "loom", feature = "shuttle"))]
use super::Yields;
use super::memory::MOST_OBJECTS;
use super::{Notify, Pending};

/// What a thread requests or reports.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
enum Tag {
    Access,
    Border,
    Yield,
    Wake,
    TimedWake,
    Join,
    Done,
    Spin,
    Touch,
    Available,
    Return,
    Create,
    Notify,
    Wakeup,
    Pick,
    Spurious,
    Start,
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    Foreign,
}

/// A request or report of a thread, packed into a number so that it is compared at once; the lowest byte is left for the answer.
///
/// From the highest bit: 8 bits for the tag, 24 for its details, 24 for its subject, 8 for the answer. Different requests have
/// different numbers: objects, operations and threads all have numbers below [`MOST_OBJECTS`], which is 2^24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry(u64);

const ANSWER: u64 = 0xFF;

impl Entry {
    #[inline(always)]
    fn new(tag: Tag, subject: u32, details: u32) -> Self {
        debug_assert!(subject < MOST_OBJECTS && details < MOST_OBJECTS);
        Entry((tag as u64) << 56 | u64::from(details) << 32 | u64::from(subject) << 8)
    }

    #[inline(always)]
    pub(super) fn touch(object: u32, kind: Kind, effect: Effect) -> Self {
        let details = (kind as u32) << 1 | u32::from(effect != Effect::Unchanged);
        Entry::new(Tag::Touch, object, details)
    }

    #[inline(always)]
    pub(super) fn available(object: u32, kind: Kind) -> Self {
        Entry::new(Tag::Available, object, kind as u32)
    }

    #[inline(always)]
    pub(super) fn returns(op: usize) -> Self {
        Entry::new(Tag::Return, op as u32, 0)
    }

    #[inline(always)]
    pub(super) fn create(object: u32) -> Self {
        Entry::new(Tag::Create, object, 0)
    }

    pub(super) fn notify(condvar: u32, notify: Notify) -> Self {
        Entry::new(Tag::Notify, condvar, notify as u32)
    }

    /// The running thread is found to spin.
    #[inline(always)]
    pub(super) fn spins() -> Self {
        Entry::new(Tag::Spin, 0, 0)
    }

    /// The running thread asks what ended its wait.
    pub(super) fn wakeup() -> Self {
        Entry::new(Tag::Wakeup, 0, 0)
    }

    /// Something may happen for no reason.
    pub(super) fn spurious() -> Self {
        Entry::new(Tag::Spurious, 0, 0)
    }

    /// The running thread starts another one.
    pub(super) fn start() -> Self {
        Entry::new(Tag::Start, 0, 0)
    }

    pub(super) fn pick(ways: usize) -> Self {
        Entry::new(Tag::Pick, ways as u32, 0)
    }

    /// A foreign scheduler offers these threads, one bit each.
    #[cfg(any(feature = "loom", feature = "shuttle"))]
    pub(super) fn foreign(ready: u16, yields: Yields) -> Self {
        Entry::new(Tag::Foreign, u32::from(ready), yields as u32)
    }

    /// A thread comes to its next step.
    #[inline(always)]
    pub(super) fn comes_to(pending: Pending) -> Self {
        match pending {
            Pending::Access {
                object,
                kind,
                manner,
            } => {
                let manner = match manner {
                    Manner::Open => 0,
                    Manner::Blocking => 1,
                    Manner::Known { changed } => 2 | u32::from(changed),
                    Manner::Timed => 4,
                };
                Entry::new(Tag::Access, object, (kind as u32) << 3 | manner)
            }
            Pending::Start(op) => Entry::new(Tag::Border, op, 0),
            Pending::Yield => Entry::new(Tag::Yield, 0, 0),
            Pending::Wake {
                condvar,
                mutex,
                timed,
            } => {
                let tag = if timed { Tag::TimedWake } else { Tag::Wake };
                Entry::new(tag, condvar, mutex)
            }
            #[cfg(any(feature = "loom", feature = "shuttle"))]
            Pending::Foreign(_) => panic!("bug: the threads of a foreign scheduler do not ask"),
            Pending::Join => Entry::new(Tag::Join, 0, 0),
            Pending::Done => Entry::new(Tag::Done, 0, 0),
        }
    }

    #[inline(always)]
    fn with_answer(self, answer: u8) -> u64 {
        self.0 | u64::from(answer)
    }

    #[inline(always)]
    fn is_of(self, logged: u64) -> bool {
        logged & !ANSWER == self.0
    }
}

/// What the log says about a request.
pub(super) enum Recall {
    /// The prefix that is repeated is over.
    New,
    /// The same was requested before, with this answer.
    Same(u8),
    /// Something else was requested before.
    Different,
}

/// All entries of an execution, with their answers.
///
/// Invariant: while the prefix is repeated, `asked < known <= logged.len()`. The entry at `known`, if there is one, is that of
/// the choice that is made differently: the request must be the same, the answer need not be.
#[derive(Debug, Default)]
pub(super) struct PrefixLog {
    logged: Vec<u64>,
    /// How many requests this execution has made.
    asked: usize,
    /// How many of them get the answers of the execution before.
    known: usize,
}

impl PrefixLog {
    /// The next entry of the execution before, as long as its prefix is repeated.
    #[inline(always)]
    fn upcoming(&self) -> Option<u64> {
        self.logged[..self.known].get(self.asked).copied()
    }

    /// Whether what is said now was said in the prefix that is repeated: no request was new so far.
    pub(super) fn repeats(&self) -> bool {
        self.known > 0 && self.asked <= self.known
    }

    /// Asks for the answer to the next request.
    #[inline(always)]
    pub(super) fn recall(&mut self, entry: Entry) -> Recall {
        let Some(logged) = self.upcoming() else {
            return Recall::New;
        };
        if !entry.is_of(logged) {
            return Recall::Different;
        }
        self.asked += 1;
        Recall::Same(logged as u8)
    }

    /// The same, if the request is the expected one; otherwise nothing happens.
    #[inline(always)]
    pub(super) fn recall_same(&mut self, entry: Entry) -> Option<u8> {
        let logged = self.upcoming().filter(|&logged| entry.is_of(logged))?;
        self.asked += 1;
        Some(logged as u8)
    }

    /// The object that the execution before created next, if it created one.
    #[inline(always)]
    pub(super) fn next_created(&self) -> Option<u32> {
        Some((self.upcoming()? >> 8) as u32 & (MOST_OBJECTS - 1))
    }

    /// Whether the running thread was found to spin here in the execution before; `None` if the prefix is over.
    #[inline(always)]
    pub(super) fn recall_spin(&mut self) -> Option<bool> {
        let spins = Entry::spins().is_of(self.upcoming()?);
        self.asked += usize::from(spins);
        Some(spins)
    }

    /// Appends a request with its answer. Fails if the execution before made another request here.
    #[inline(always)]
    pub(super) fn append(&mut self, entry: Entry, answer: u8) -> Result<(), ()> {
        let new = entry.with_answer(answer);
        let is_other_choice = self.known > 0 && self.asked == self.known;
        let asked = self.asked;
        self.asked += 1;
        match self.logged.get_mut(asked) {
            None => self.logged.push(new),
            Some(logged) if *logged == new => {}
            Some(logged) if is_other_choice && entry.is_of(*logged) => *logged = new,
            Some(_) => return Err(()),
        }
        Ok(())
    }

    /// How many requests were made.
    pub(super) fn asked(&self) -> usize {
        self.asked
    }

    /// Repeats the first `known` requests in the next execution. The one after them gets another answer.
    pub(super) fn repeat(&mut self, known: usize) {
        self.logged.truncate(known + 1);
        self.known = known;
        self.asked = 0;
    }

    /// The request after those that are repeated may be another one, or get no answer.
    pub(super) fn forget_choice(&mut self) {
        self.logged.truncate(self.known);
    }

    /// From now on every request is new.
    pub(super) fn stop_repeating(&mut self) {
        self.known = 0;
    }

    /// Forgets all requests but those before a choice. A foreign scheduler makes them again: they are compared, not answered.
    pub(super) fn forget_after(&mut self, choices: usize) {
        self.logged.truncate(self.entries_before(choices));
        self.known = 0;
        self.asked = 0;
    }

    /// How many entries come before a choice, if each choice is one of a foreign scheduler.
    fn entries_before(&self, choice: usize) -> usize {
        #[cfg(any(feature = "loom", feature = "shuttle"))]
        if choice > 0 {
            let is_choice = |&at: &usize| self.logged[at] >> 56 == Tag::Foreign as u64;
            let mut choices = (0..self.logged.len()).filter(is_choice);
            return choices.nth(choice).unwrap_or(self.logged.len());
        }
        debug_assert_eq!(choice, 0);
        0
    }

    /// Whether all requests that were to be repeated were made.
    pub(super) fn is_complete(&self) -> bool {
        self.asked >= self.logged.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn different_requests_have_different_entries() {
        let numbers = [0, 1, 2, 0xFFFF, 0x1_0000, 0x1_0001, MOST_OBJECTS - 1];
        let mut seen = HashSet::new();
        for a in numbers {
            for b in numbers {
                for timed in [false, true] {
                    let wake = Pending::Wake {
                        condvar: a,
                        mutex: b,
                        timed,
                    };
                    assert!(seen.insert(Entry::comes_to(wake).0), "{wake:?}");
                }
            }
            for kind in [Kind::Read, Kind::Write, Kind::Acquire, Kind::Take] {
                for manner in [
                    Manner::Open,
                    Manner::Blocking,
                    Manner::Timed,
                    Manner::Known { changed: false },
                    Manner::Known { changed: true },
                ] {
                    let access = Pending::Access {
                        object: a,
                        kind,
                        manner,
                    };
                    assert!(seen.insert(Entry::comes_to(access).0), "{access:?}");
                }
                assert!(seen.insert(Entry::available(a, kind).0));
                assert!(seen.insert(Entry::touch(a, kind, Effect::Changed).0));
                assert!(seen.insert(Entry::touch(a, kind, Effect::Unchanged).0));
            }
            assert!(seen.insert(Entry::create(a).0));
            assert!(seen.insert(Entry::notify(a, Notify::One).0));
            assert!(seen.insert(Entry::notify(a, Notify::All).0));
        }
        assert!(seen.iter().all(|entry| entry & ANSWER == 0));
    }
}
