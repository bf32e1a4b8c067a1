//! Checkpoints: states of an execution before choices that the next execution may make differently.

use super::memory::MemoryMark;
use super::threads::Threads;
use super::trace::TraceMark;

/// The state of an execution before a choice.
#[derive(Debug)]
pub(super) struct Checkpoint {
    pub(super) threads: Threads,
    pub(super) memory: MemoryMark,
    pub(super) trace: TraceMark,
    /// How many entries of the log were answered. The next one is the request whose answer is chosen.
    pub(super) entries: usize,
    /// How many choices were made.
    choices: usize,
}

/// The checkpoints of an execution, in the order of its choices.
///
/// Those that are no longer in use are kept behind the others, for their buffers.
#[derive(Debug, Default)]
pub(super) struct Checkpoints {
    all: Vec<Checkpoint>,
    used: usize,
}

impl Checkpoints {
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }

    /// A new checkpoint after so many choices, to be filled in; `None` if there is one already.
    pub(super) fn next(&mut self, choices: usize) -> Option<&mut Checkpoint> {
        let last = self.all[..self.used].last();
        if last.is_some_and(|last| last.choices == choices) {
            return None;
        }
        if self.used == self.all.len() {
            self.all.push(Checkpoint {
                threads: Threads::new(),
                memory: MemoryMark::default(),
                trace: TraceMark::default(),
                entries: 0,
                choices,
            });
        }
        let next = &mut self.all[self.used];
        next.choices = choices;
        self.used += 1;
        Some(next)
    }

    /// The last checkpoint, if it is the one after so many choices.
    pub(super) fn last_at(&mut self, choices: usize) -> Option<&mut Checkpoint> {
        let last = self.all[..self.used].last_mut();
        last.filter(|last| last.choices == choices)
    }

    /// The checkpoint before the choice with this number. Forgets all later ones.
    pub(super) fn at(&mut self, choice: usize) -> &Checkpoint {
        while self.used > 0 && self.all[self.used - 1].choices > choice {
            self.used -= 1;
        }
        (self.all[..self.used].last())
            .filter(|checkpoint| checkpoint.choices == choice)
            .expect("bug: there is no checkpoint at a choice that is to be made differently")
    }
}
