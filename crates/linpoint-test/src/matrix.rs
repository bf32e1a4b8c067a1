//! Matrices: the operations of each thread of a test.

use std::sync::Arc;

use crate::runtime::MAX_WORKERS;
use crate::runtime::execution::Layout;

/// Operations are named by their place among the invocations of the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Matrix {
    pub(crate) init: Vec<usize>,
    /// The operations of each thread.
    pub(crate) threads: Vec<Vec<usize>>,
    pub(crate) last: Vec<usize>,
}

/// Threads by operations, as in "3x2".
pub(crate) fn dimension<T>(threads: &[Vec<T>]) -> String {
    let longest = threads.iter().map(Vec::len).max().unwrap_or(0);
    format!("{}x{longest}", threads.len())
}

impl Matrix {
    pub(crate) fn layout(&self) -> Layout {
        Layout {
            init: self.init.len(),
            threads: self.threads.iter().map(Vec::len).collect(),
            last: self.last.len(),
            started: self.threads.len(),
        }
    }

    /// The invocations in the order in which operations are numbered.
    pub(crate) fn invocations(&self) -> impl Iterator<Item = usize> + '_ {
        let threads = self.threads.iter().flatten();
        self.init.iter().chain(threads).chain(&self.last).copied()
    }

    /// Threads by operations, as in "3x2".
    pub(crate) fn dimension(&self) -> String {
        dimension(&self.threads)
    }

    /// Why the test cannot run, if it cannot.
    pub(crate) fn problem(&self) -> Option<String> {
        if self.threads.len() > MAX_WORKERS {
            return Some(format!(
                "a test has at most {MAX_WORKERS} threads, this one has {}",
                self.threads.len()
            ));
        }
        if self.threads.iter().all(Vec::is_empty) {
            return Some("a test without operations says nothing".to_owned());
        }
        let ops = self.layout().ops();
        (ops > 64).then(|| format!("a test has at most 64 operations, this one has {ops}"))
    }
}

/// A number of threads of a test with the columns that each of them can have.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// The threads, by number. They are alike, so that their columns come in ascending order: any other order is the same test.
    pub(crate) threads: Vec<usize>,
    pub(crate) columns: Arc<[Vec<usize>]>,
}

/// All columns of `ops` operations out of these, in the order of numbers whose digits they are. None has an operation that
/// `allowed` rejects after those before it.
pub(crate) fn columns(
    choices: &[usize],
    ops: usize,
    allowed: impl Fn(&[usize], usize) -> bool,
) -> Arc<[Vec<usize>]> {
    if choices.is_empty() {
        return Arc::new([Vec::new()]);
    }
    let mut columns = vec![Vec::new()];
    for _ in 0..ops {
        columns = columns
            .iter()
            .flat_map(|column: &Vec<usize>| {
                let more = choices.iter().filter(|&&op| allowed(column, op));
                let longer: Vec<Vec<usize>> =
                    more.map(|&op| [&column[..], &[op]].concat()).collect();
                match longer.is_empty() {
                    // A shorter column, since nothing can follow.
                    true => vec![column.clone()],
                    false => longer,
                }
            })
            .collect();
    }
    columns.into()
}

/// All tests of these groups, which have all threads from 0 on.
pub(crate) fn all(groups: Vec<Group>) -> impl Iterator<Item = Vec<Vec<usize>>> {
    let threads: usize = groups.iter().map(|group| group.threads.len()).sum();
    let possible = groups.iter().all(|group| !group.columns.is_empty());
    // For each group, the numbers of the columns of its threads.
    let first = groups.iter().map(|group| vec![0; group.threads.len()]);
    let mut next = possible.then(|| first.collect::<Vec<Vec<usize>>>());
    std::iter::from_fn(move || {
        let current = next.take()?;
        // The last thread whose column can be raised, and all after it in its group with it; those of later groups begin again.
        let raise = |(group, places): (usize, &Vec<usize>)| {
            let most = groups[group].columns.len();
            let place = places.iter().rposition(|&column| column + 1 < most)?;
            Some((group, place))
        };
        if let Some((group, place)) = current.iter().enumerate().rev().find_map(raise) {
            let mut raised = current.clone();
            let value = raised[group][place] + 1;
            raised[group][place..].fill(value);
            for later in &mut raised[group + 1..] {
                later.fill(0);
            }
            next = Some(raised);
        }
        let mut test = vec![Vec::new(); threads];
        for (group, places) in groups.iter().zip(current) {
            for (&thread, column) in group.threads.iter().zip(places) {
                test[thread].clone_from(&group.columns[column]);
            }
        }
        Some(test)
    })
}

/// The number of these tests.
pub(crate) fn count(groups: &[Group]) -> usize {
    let of_group = |group: &Group| {
        let columns = group.columns.len() as u128;
        let multisets = (0..group.threads.len() as u128).try_fold(1u128, |product, i| {
            let product = product.checked_mul(columns + i)?;
            Some(product / (i + 1))
        });
        multisets.and_then(|count| usize::try_from(count).ok())
    };
    groups
        .iter()
        .map(|group| of_group(group).unwrap_or(usize::MAX))
        .fold(1, usize::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn free(choices: &[usize], ops: usize) -> Arc<[Vec<usize>]> {
        columns(choices, ops, |_, _| true)
    }

    fn alike(choices: usize, threads: usize, ops: usize) -> Vec<Group> {
        let choices: Vec<usize> = (0..choices).collect();
        vec![Group {
            threads: (0..threads).collect(),
            columns: free(&choices, ops),
        }]
    }

    fn distinct(groups: Vec<Group>) -> usize {
        let distinct: std::collections::HashSet<_> = all(groups).collect();
        distinct.len()
    }

    #[test]
    fn threads_have_choices_of_their_own() {
        let choices: [&[usize]; 3] = [&[0, 2], &[], &[1, 2]];
        let groups = choices
            .into_iter()
            .enumerate()
            .map(|(thread, choices)| Group {
                threads: vec![thread],
                columns: free(choices, 2),
            });
        let groups: Vec<Group> = groups.collect();
        let tests: Vec<_> = all(groups.clone()).collect();
        assert_eq!(tests.len(), 16);
        assert_eq!(count(&groups), 16);
        assert_eq!(tests[1], [vec![0, 0], vec![], vec![1, 2]]);
        assert_eq!(distinct(groups), 16);
    }

    #[test]
    fn matrices_are_counted_as_multisets_of_columns() {
        for (choices, threads, ops, expected) in [(3, 3, 3, 3654), (2, 2, 2, 10), (1, 3, 1, 1)] {
            let groups = alike(choices, threads, ops);
            assert_eq!(count(&groups), expected);
            assert_eq!(all(groups).count(), expected);
        }
        assert_eq!(distinct(alike(3, 2, 2)), 45);
    }

    #[test]
    fn threads_of_different_groups_are_combined_freely() {
        let groups = vec![
            Group {
                threads: vec![0, 2],
                columns: free(&[0, 1], 1),
            },
            Group {
                threads: vec![1],
                columns: free(&[2, 3], 1),
            },
        ];
        assert_eq!(count(&groups), 6);
        let tests: Vec<_> = all(groups).collect();
        assert_eq!(tests.len(), 6);
        assert_eq!(tests[3], [vec![0], vec![3], vec![1]]);
    }

    #[test]
    fn nothing_follows_what_is_last() {
        let last = |column: &[usize], _| !column.contains(&1);
        let columns = columns(&[0, 1], 2, last);
        assert_eq!(*columns, [vec![0, 0], vec![0, 1], vec![1]]);
    }
}
