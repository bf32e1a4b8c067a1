//! Bags: any value may be served next, so only each value by itself and empty results matter.

use super::lives::NoLives;
use super::{Act, Finding, Lives, Log, empties};

/// Decides a bag whose values were each put in once.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    let lives = match Lives::of(log) {
        Ok(lives) => lives,
        Err(NoLives::Ambiguous(value)) => return Err(value),
        Err(NoLives::Clash(clash)) => return Ok(Finding::Violation(clash)),
    };
    Ok(match empties::place(log, &lives) {
        Ok(_) => Finding::Linearizable(()),
        Err(clash) => Finding::Violation(clash),
    })
}

#[cfg(test)]
mod tests {
    use super::super::trial;
    use super::*;
    use crate::spec::Discipline;

    #[test]
    fn agrees_with_the_reference() {
        let (mut good, mut bad) = (0, 0);
        trial::for_random_logs(Discipline::Any, |log| {
            let finding = decide(&log).expect("no value is put in twice");
            let expected = trial::is_linearizable(Discipline::Any, &log);
            assert_eq!(finding.is_linearizable(), expected, "{finding:?}\n{log:#?}");
            match finding {
                Finding::Linearizable(()) => good += 1,
                Finding::Violation(clash) => {
                    trial::assert_clashes(Discipline::Any, &log, &clash);
                    bad += 1;
                }
            }
        });
        assert!(good > bad / 4 && bad > good / 4, "{good} good, {bad} bad");
    }
}
