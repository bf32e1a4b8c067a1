//! Matrices: the operations of each thread of a test.

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

/// All matrices with `threads` columns of `ops` of the first `choices` invocations. Columns come in ascending order: the
/// threads are alike, so that any other order is the same test.
pub(crate) fn all(
    choices: usize,
    threads: usize,
    ops: usize,
) -> impl Iterator<Item = Vec<Vec<usize>>> {
    let columns = choices.pow(ops as u32);
    let column = move |mut number: usize| -> Vec<usize> {
        let mut column = vec![0; ops];
        for place in column.iter_mut().rev() {
            *place = number % choices;
            number /= choices;
        }
        column
    };
    let mut next = (columns > 0).then(|| vec![0; threads]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        // The next multiset: raise the last column that can be raised, and all after it with it.
        if let Some(place) = (0..threads)
            .rev()
            .find(|&place| current[place] + 1 < columns)
        {
            let mut raised = current.clone();
            let value = current[place] + 1;
            raised[place..].fill(value);
            next = Some(raised);
        }
        Some(current.into_iter().map(column).collect())
    })
}

/// All matrices with a column of `ops` of its own invocations for each thread; an empty one if it has none.
pub(crate) fn each(choices: Vec<Vec<usize>>, ops: usize) -> impl Iterator<Item = Vec<Vec<usize>>> {
    let lengths: Vec<usize> = choices
        .iter()
        .flat_map(|choices| {
            std::iter::repeat_n(choices.len(), if choices.is_empty() { 0 } else { ops })
        })
        .collect();
    let mut next = Some(vec![0; lengths.len()]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        // The next number: raise the last digit that can be raised, and begin again after it.
        if let Some(place) = (0..current.len())
            .rev()
            .find(|&place| current[place] + 1 < lengths[place])
        {
            let mut raised = current.clone();
            raised[place] += 1;
            raised[place + 1..].fill(0);
            next = Some(raised);
        }
        let mut digits = current.into_iter();
        let mut column = |choices: &Vec<usize>| {
            let ops = if choices.is_empty() { 0 } else { ops };
            digits
                .by_ref()
                .take(ops)
                .map(|digit| choices[digit])
                .collect()
        };
        Some(choices.iter().map(&mut column).collect())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_choices_of_their_own() {
        let tests: Vec<_> = each(vec![vec![0, 2], vec![], vec![1, 2]], 2).collect();
        assert_eq!(tests.len(), 16);
        assert_eq!(tests[1], [vec![0, 0], vec![], vec![1, 2]]);
        let distinct: std::collections::HashSet<_> = tests.into_iter().collect();
        assert_eq!(distinct.len(), 16);
    }

    #[test]
    fn matrices_are_counted_as_multisets_of_columns() {
        assert_eq!(all(3, 3, 3).count(), 3654);
        assert_eq!(all(2, 2, 2).count(), 10);
        assert_eq!(all(1, 3, 1).count(), 1);
        let distinct: std::collections::HashSet<_> = all(3, 2, 2).collect();
        assert_eq!(distinct.len(), 45);
    }
}
