//! What a pass does not cover, beside what its coverage says.

use crate::runtime::execution::Assumed;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct Gaps {
    pub(super) assumed: Assumed,
    /// The operations that ran in an execution that was too long, if there was one.
    pub(super) endless: Option<Vec<String>>,
    /// The same where threads that spin hinder each other.
    pub(super) livelock: Option<Vec<String>>,
}

impl Gaps {
    /// The gaps in words, if so much may happen for no reason in an execution of at most so many steps.
    pub(super) fn caveats(&self, most_spurious: u32, max_steps: usize) -> Vec<String> {
        let mut caveats = Vec::new();
        if let Some(rounds) = self.assumed.rounds {
            caveats.push(format!(
                "assumed: a loop that spins {rounds} times without a change spins for ever, and goes on in the same way after \
                 a change however often it spun"
            ));
        }
        if self.assumed.changes {
            caveats.push(
                "assumed: what a spinning thread changes in each round cancels out, as when it takes a lock and gives it back"
                    .to_owned(),
            );
        }
        if self.assumed.clock {
            caveats.push(
                "not covered: other times than those that the clock of the check shows, such as a deadline that passes sooner"
                    .to_owned(),
            );
        }
        if self.assumed.nothing_spurious {
            caveats.push(match most_spurious {
                0 => "not covered: spurious wake-ups of condition variables and `park`, and spurious failures of weak \
                      compare-exchanges, which `.spurious(n)` tries"
                    .to_owned(),
                most => format!(
                    "not covered: more than {most} spurious wake-ups and spurious failures of weak compare-exchanges in an \
                     execution"
                ),
            });
        }
        if let Some(operations) = &self.endless {
            caveats.push(format!(
                "not covered: an execution did not end within {} steps, in {}: perhaps a livelock, threads that hinder each \
                 other for ever",
                max_steps,
                operations.join(", ")
            ));
        }
        if let Some(operations) = &self.livelock {
            caveats.push(format!(
                "not covered: livelock, {} spin and change what the others look at: together they may come out of it, or never",
                operations.join(" and ")
            ));
        }
        caveats
    }
}
