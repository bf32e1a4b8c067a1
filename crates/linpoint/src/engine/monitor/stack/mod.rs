//! Stacks whose values were each put in once, decided in O(n log n).
//!
//! After Lee and Mathur, *Efficient Linearizability Monitoring for Sets, Stacks, Queues and Priority Queues* (2024),
//! algorithms 3, 6 and 7, with their slips mended: values that nothing lies on are taken away until none is left. Tested
//! against all orders of small logs.

mod blocked;
mod buried;
mod least;
mod owner;
mod peel;
mod plan;
mod reach;
mod rows;
mod watch;

use super::lives::NoLives;
use super::{Act, Finding, Lives, Log, empties};

/// The values of a stack such that each can lie below all that follow whenever both are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The numbers of the values, the lowest first.
    pub values: Vec<u32>,
}

/// Values that lie on each other such that none of them can be taken away first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stuck {
    /// Their numbers, ascending.
    pub(super) values: Vec<u32>,
}

/// Decides a stack whose values were each put in once; or returns a value that was put in more often.
pub fn decide(log: &Log<Act>) -> Result<Finding<Layers>, u32> {
    let lives = match Lives::of(log) {
        Ok(lives) => lives,
        Err(NoLives::Ambiguous(value)) => return Err(value),
        Err(NoLives::Clash(clash)) => return Ok(Finding::Violation(clash)),
    };
    if let Err(clash) = empties::place(log, &lives) {
        return Ok(Finding::Violation(clash));
    }
    Ok(match layer(log, &lives) {
        Ok(layers) => Finding::Linearizable(layers),
        Err(stuck) => Finding::Violation(buried::clash(log, &lives, &stuck.values)),
    })
}

/// Puts the values in layers, whatever the empty results say.
pub(super) fn layer(log: &Log<Act>, lives: &Lives) -> Result<Layers, Stuck> {
    let values = peel::peel(log, lives);
    let all = lives.iter().count();
    if values.len() == all {
        return Ok(Layers { values });
    }
    let mut is_stuck = vec![true; log.distinct as usize];
    values
        .iter()
        .for_each(|&value| is_stuck[value as usize] = false);
    let stuck = lives
        .iter()
        .map(|(value, _)| value)
        .filter(|&value| is_stuck[value as usize]);
    Err(Stuck {
        values: stuck.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Clash, What, trial};
    use super::*;
    use crate::spec::Discipline;

    fn assert_no_value_too_many(log: &Log<Act>, clash: &Clash) {
        for &op in &clash.ops {
            let value = log.values[op as usize];
            let others: Vec<u32> = clash
                .ops
                .iter()
                .copied()
                .filter(|&op| log.values[op as usize] != value)
                .collect();
            assert!(
                trial::is_linearizable(Discipline::Lifo, &log.restricted(&others)),
                "{clash:?}\n{log:#?}"
            );
        }
    }

    #[test]
    fn agrees_with_the_reference() {
        let (mut good, mut bad) = (0, 0);
        trial::for_random_logs(Discipline::Lifo, |log| {
            let finding = decide(&log).expect("no value is put in twice");
            let expected = trial::is_linearizable(Discipline::Lifo, &log);
            assert_eq!(finding.is_linearizable(), expected, "{finding:?}\n{log:#?}");
            match finding {
                Finding::Linearizable(_) => good += 1,
                Finding::Violation(clash) => {
                    trial::assert_clashes(Discipline::Lifo, &log, &clash);
                    if clash.what == What::Buried {
                        assert_no_value_too_many(&log, &clash);
                    }
                    bad += 1;
                }
            }
        });
        assert!(good > bad / 4 && bad > good / 4, "{good} good, {bad} bad");
    }
}
