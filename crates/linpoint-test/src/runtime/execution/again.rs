//! What an execution does again: it begins with choices of the one before, and must do the same under them.

use super::{Choice, End, Execution, Pending, Signature};
use crate::report::UNCONTROLLED;
use crate::search::Search;

impl Execution {
    /// Keeps the first choices of an execution, which the next one makes again, and what was done until then.
    pub(super) fn forget_after(&mut self, choices: usize) {
        self.schedule.truncate(choices);
        // Where loom chooses, steps come without choices.
        let is_kept = |step: &Signature| (1..=choices).contains(&step.choices);
        while self.signatures.pop_if(|step| !is_kept(step)).is_some() {}
        self.choices = 0;
    }

    /// What was chosen here in the execution before, if it is to be chosen again.
    #[inline(always)]
    pub(super) fn known_choice(&self) -> Option<Choice> {
        self.schedule.get(self.choices).copied()
    }

    /// Makes a choice.
    #[inline(always)]
    pub(super) fn choose(&mut self, choice: Choice) {
        if self.choices == self.schedule.len() {
            self.schedule.push(choice);
        }
        self.choices += 1;
    }

    /// The open step does something.
    #[inline(always)]
    pub(super) fn sign(&mut self, what: u64) {
        self.signature =
            (self.signature.rotate_left(21) ^ what).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// Whether the running thread takes its next step as in the execution before, and nobody looks at it.
    #[inline(always)]
    pub(super) fn steps_on(&mut self, pending: Pending) -> bool {
        let again = Choice::Thread(self.current as u8);
        let is_known = self.known_choice() == Some(again)
            && !self.settings.records()
            && matches!(self.end, End::Running)
            && (self.signatures.get(self.taken - 1))
                .is_some_and(|before| before.of_step == self.signature);
        if is_known {
            self.choices += 1;
            self.taken += 1;
            self.signature = self.current as u64;
            self.threads[self.current].pending = pending;
        }
        is_known
    }

    /// Whether the last step repeats one of the execution before; if so, it must have done the same.
    #[inline(always)]
    pub(super) fn repeats_step(&mut self) -> bool {
        match self.signatures.get(self.taken - 1) {
            Some(before) => {
                if before.of_step != self.signature {
                    self.differs();
                }
                true
            }
            None => {
                self.signatures.push(Signature {
                    of_step: self.signature,
                    choices: self.choices,
                });
                false
            }
        }
    }

    /// The program did not repeat itself: nothing can be said about it.
    pub(super) fn differs(&mut self) {
        if !matches!(self.end, End::Fault(_)) {
            self.end = End::Fault(format!(
                "the object did not do the same under the same schedule (step {}): it depends on {UNCONTROLLED}",
                self.taken
            ));
        }
    }

    /// The execution has ended.
    pub(crate) fn conclude(&mut self, search: &mut dyn Search) {
        self.pulse.beat();
        self.close(search);
        if self.choices < self.schedule.len() {
            self.differs();
        }
        if self.end == End::Running {
            self.end = End::Complete;
        }
    }
}
