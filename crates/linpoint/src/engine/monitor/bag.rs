//! Bags: any value may be served next, so only each value by itself and empty results matter.

use super::lives::judge;
use super::{Act, Finding, Log, empties};

/// Decides a bag whose values were each put in once; the value that was not, otherwise.
pub fn decide(log: &Log<Act>) -> Result<Finding, u32> {
    judge(log, |lives| empties::place(log, lives).map(|_| ()))
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
