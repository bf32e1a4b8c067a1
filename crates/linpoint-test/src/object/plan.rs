//! Plans: the tests of an object.

use std::collections::HashSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::Object;
use crate::matrix::{self, Matrix};
use crate::token::Token;

/// A set of tests to run.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    Matrix(Vec<Vec<usize>>),
    Random {
        threads: usize,
        ops: usize,
        tests: usize,
    },
    Auto(usize),
    All {
        threads: usize,
        ops: usize,
    },
    /// All tests of two threads with one operation, then larger and larger ones at random, without end.
    Growing,
    Replay(Token),
}

/// The plan of an object that has none.
const DEFAULT: Plan = Plan::Growing;

/// Threads and operations of the random tests that take turns in the default plan, and how many tests there are in a turn.
const SIZES: [(usize, usize, usize); 5] = [(2, 2, 8), (3, 1, 2), (2, 3, 4), (3, 2, 4), (3, 3, 4)];

/// After so many random tests in a row that have run already, a size is taken to be exhausted.
const REPEATED: usize = 100;

impl<X: 'static> Object<X> {
    /// Adds this test: the operations of each thread. All tests that are added, by this method or others, run.
    pub fn matrix<T, S>(mut self, threads: impl IntoIterator<Item = T>) -> Self
    where
        T: IntoIterator<Item = S>,
        S: AsRef<str>,
    {
        let threads = threads.into_iter().map(|ops| self.find_all(ops)).collect();
        self.plans.push(Plan::Matrix(threads));
        self
    }

    /// Adds random tests of this many threads and operations per thread (`RandomCheck` of the paper).
    pub fn random(mut self, threads: usize, ops: usize, tests: usize) -> Self {
        self.plans.push(Plan::Random {
            threads,
            ops,
            tests,
        });
        self
    }

    /// Adds all tests of k threads with k operations each, out of the first k, for k = 1 to `n` (`AutoCheck` of the paper).
    /// In their order, each operation comes with its first argument before any comes with its second. The report names the
    /// operations that never run.
    pub fn auto(mut self, n: usize) -> Self {
        self.plans.push(Plan::Auto(n));
        self
    }

    /// Adds all tests of this many threads and operations per thread.
    pub fn all(mut self, threads: usize, ops: usize) -> Self {
        self.plans.push(Plan::All { threads, ops });
        self
    }

    /// Repeats one execution instead of all tests, from the token that a report printed. If it no longer fails, its test is
    /// searched again, and the report [says so](crate::Report::notes).
    ///
    /// The environment variable `LINPOINT_REPLAY` does the same without a change to the source. It applies to all tests of
    /// the program; tests of objects to which the token does not belong run as usual.
    pub fn replay(mut self, token: &str) -> Self {
        match token.parse() {
            Ok(token) => self.plans = vec![Plan::Replay(token)],
            Err(error) => self.set_problem(error),
        }
        self
    }
}

/// The tests of a plan.
pub(crate) type Tests = Box<dyn Iterator<Item = Matrix> + Send>;

/// The work of an object.
pub(crate) enum Planned {
    /// The tests, and their number.
    Tests(Tests, usize),
    Replay(Token),
}

/// Returns the work of an object, or an error if it makes no sense.
pub(crate) fn planned<X: 'static>(
    object: &Object<X>,
    notes: &mut Vec<String>,
) -> Result<Planned, String> {
    if let Some(problem) = &object.problem {
        return Err(problem.clone());
    }
    object.check_observation_paths()?;
    let choices = object.invocations.len();
    if choices == 0 {
        return Err("the object has no operations".to_owned());
    }
    if let Ok(token) = std::env::var("LINPOINT_REPLAY")
        && !token.is_empty()
    {
        let token: Token = token.parse()?;
        if token.object == object.identity() {
            return Ok(Planned::Replay(token));
        }
        notes.push(
            "the token of LINPOINT_REPLAY belongs to another object; this test ran as usual"
                .to_owned(),
        );
    }
    if let Some(Plan::Replay(token)) = object.plans.last() {
        return Ok(Planned::Replay(token.clone()));
    }
    let plans = match &object.plans[..] {
        [] => &[DEFAULT],
        plans => plans,
    };
    let (mut tests, mut total): (Threads, usize) = (Box::new(std::iter::empty()), 0);
    for plan in plans {
        let (more, count) = tests_of(object, plan, notes);
        tests = Box::new(tests.chain(more));
        total = total.saturating_add(count);
    }
    let (init, last) = (object.init.clone(), object.last.clone());
    let tests = tests.map(move |threads| Matrix {
        init: init.clone(),
        threads,
        last: last.clone(),
    });
    Ok(Planned::Tests(Box::new(tests), total))
}

/// The operations of each thread, for each test.
type Threads = Box<dyn Iterator<Item = Vec<Vec<usize>>> + Send>;

/// Returns the tests of a plan, and their number.
fn tests_of<X: 'static>(
    object: &Object<X>,
    plan: &Plan,
    notes: &mut Vec<String>,
) -> (Threads, usize) {
    let choices = object.invocations.len();
    match plan {
        Plan::Matrix(threads) => (Box::new(std::iter::once(threads.clone())), 1),
        &Plan::Random {
            threads,
            ops,
            tests,
        } => (Box::new(random(object, threads, ops).take(tests)), tests),
        &Plan::Auto(n) => {
            let sizes = (1..=n).map(move |k| (k, k.min(choices)));
            let roles = Roles::of(object);
            let order = one_of_each_first(object);
            let total = sizes
                .clone()
                .map(|(k, first)| roles.count(&order[..first], k, k))
                .fold(0, usize::saturating_add);
            notes.extend(never_run(object, &order[..n.min(choices)]));
            let tests = sizes.flat_map(move |(k, first)| roles.all(&order[..first], k, k));
            (Box::new(tests), total)
        }
        &Plan::All { threads, ops } => {
            let roles = Roles::of(object);
            let all: Vec<usize> = (0..choices).collect();
            let total = roles.count(&all, threads, ops);
            (roles.all(&all, threads, ops), total)
        }
        Plan::Growing => (Box::new(growing(object)), usize::MAX),
        Plan::Replay(_) => (Box::new(std::iter::empty()), 0),
    }
}

/// All tests of two threads with one operation, then random ones of the [`SIZES`] in turn. Those that differ from an earlier one in
/// the order of threads only are left out.
fn growing<X: 'static>(
    object: &Object<X>,
) -> impl Iterator<Item = Vec<Vec<usize>>> + Send + 'static {
    let roles = Roles::of(object);
    let all: Vec<usize> = (0..object.invocations.len()).collect();
    let smallest = roles.all(&all, 2, 1);
    let has_roles = roles.by_thread(&all, 1).is_some();
    let mut seen = HashSet::new();
    let mut is_new = move |test: &Vec<Vec<usize>>| {
        let mut threads = test.clone();
        if !has_roles {
            threads.sort_unstable();
        }
        seen.insert(threads)
    };
    let mut sizes: Vec<_> = SIZES
        .into_iter()
        .map(|(threads, ops, tests)| (random(object, threads, ops), tests))
        .collect();
    let mut smallest = smallest.collect::<Vec<_>>().into_iter();
    let (mut turn, mut taken) = (0, 0);
    std::iter::from_fn(move || {
        if let Some(test) = smallest.find(|test| is_new(test)) {
            return Some(test);
        }
        while !sizes.is_empty() {
            turn %= sizes.len();
            let (tests, in_a_turn) = &mut sizes[turn];
            match tests.by_ref().take(REPEATED).find(|test| is_new(test)) {
                Some(test) => {
                    taken += 1;
                    if taken == *in_a_turn {
                        (turn, taken) = (turn + 1, 0);
                    }
                    return Some(test);
                }
                None => {
                    drop(sizes.remove(turn));
                    taken = 0;
                }
            }
        }
        None
    })
}

/// The threads that may call each invocation.
#[derive(Clone)]
struct Roles(Vec<Option<Vec<usize>>>);

impl Roles {
    fn of<X>(object: &Object<X>) -> Self {
        let threads = object.invocations.iter().map(|op| op.threads.clone());
        Roles(threads.collect())
    }

    fn may_call(&self, thread: usize, op: usize) -> bool {
        self.0[op]
            .as_ref()
            .is_none_or(|threads| threads.contains(&thread))
    }

    /// Those of `ops` that each thread may call; `None` if all threads may call all of them.
    fn by_thread(&self, ops: &[usize], threads: usize) -> Option<Vec<Vec<usize>>> {
        let of_thread = |thread| {
            let mine = ops.iter().copied().filter(|&op| self.may_call(thread, op));
            mine.collect()
        };
        let differ = ops.iter().any(|&op| self.0[op].is_some());
        differ.then(|| (0..threads).map(of_thread).collect())
    }

    /// All tests of this size out of these invocations.
    fn all(&self, ops: &[usize], threads: usize, length: usize) -> Threads {
        match self.by_thread(ops, threads) {
            Some(by_thread) => Box::new(matrix::each(by_thread, length)),
            None => {
                let all = matrix::all(ops.len(), threads, length);
                let ops = ops.to_vec();
                let named = move |column: Vec<usize>| column.iter().map(|&op| ops[op]).collect();
                Box::new(all.map(move |columns| columns.into_iter().map(&named).collect()))
            }
        }
    }

    /// How many these are.
    fn count(&self, ops: &[usize], threads: usize, length: usize) -> usize {
        match self.by_thread(ops, threads) {
            Some(by_thread) => by_thread
                .iter()
                .filter(|mine| !mine.is_empty())
                .map(|mine| mine.len().saturating_pow(length as u32))
                .fold(1, usize::saturating_mul),
            None => multisets(ops.len(), threads, length),
        }
    }
}

/// Returns the invocations in an order in which each operation comes with its first argument before any comes with its
/// second.
fn one_of_each_first<X>(object: &Object<X>) -> Vec<usize> {
    let name = |op: usize| &object.invocations[op].name;
    let mut order: Vec<usize> = (0..object.invocations.len()).collect();
    order.sort_by_key(|&op| (0..op).filter(|&other| name(other) == name(op)).count());
    order
}

/// Returns a note about the operations that never run: neither among `first`, nor before or after each test, nor in another
/// plan.
fn never_run<X>(object: &Object<X>, first: &[usize]) -> Option<String> {
    let elsewhere = object.plans.iter().flat_map(|plan| match plan {
        Plan::Matrix(threads) => threads.concat(),
        Plan::Random { .. } | Plan::All { .. } | Plan::Growing => {
            (0..object.invocations.len()).collect()
        }
        Plan::Auto(_) | Plan::Replay(_) => Vec::new(),
    });
    let elsewhere: Vec<usize> = elsewhere.collect();
    let runs = |name: &str| {
        let ends = object.init.iter().chain(&object.last);
        let mut run = first.iter().chain(ends).chain(&elsewhere);
        run.any(|&op| object.invocations[op].name == name)
    };
    let mut missing: Vec<&str> = Vec::new();
    for invocation in &object.invocations {
        let name = invocation.name.as_str();
        if !runs(name) && !missing.contains(&name) {
            missing.push(name);
        }
    }
    (!missing.is_empty()).then(|| {
        format!(
            "never run: {}; `.auto({})` would, and `.all(..)` or `.random(..)`",
            missing.join(", "),
            first.len() + missing.len(),
        )
    })
}

/// Returns the number of tests of this many threads and operations per thread. The order of threads does not matter.
fn multisets(choices: usize, threads: usize, ops: usize) -> usize {
    let columns = choices.saturating_pow(ops as u32) as u128;
    let count = (0..threads as u128).try_fold(1u128, |product, i| {
        product
            .checked_mul(columns + i)
            .map(|product| product / (i + 1))
    });
    count
        .and_then(|count| usize::try_from(count).ok())
        .unwrap_or(usize::MAX)
}

/// Returns random tests. A [sequence](Object::sequence) may take the place of an operation.
fn random<X>(
    object: &Object<X>,
    threads: usize,
    ops: usize,
) -> impl Iterator<Item = Vec<Vec<usize>>> + Send + 'static {
    let roles = Roles::of(object);
    let entries = (0..object.invocations.len()).map(|op| vec![op]);
    let entries: Vec<Vec<usize>> = entries.chain(object.sequences.iter().cloned()).collect();
    let of_thread = |thread| {
        let may_call = |entry: &&Vec<usize>| entry.iter().all(|&op| roles.may_call(thread, op));
        entries.iter().filter(may_call).cloned().collect()
    };
    let by_thread: Vec<Vec<Vec<usize>>> = (0..threads).map(of_thread).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(object.settings.seed);
    std::iter::repeat_with(move || {
        let mut column = |entries: &Vec<Vec<usize>>| {
            let ops = if entries.is_empty() { 0 } else { ops };
            (0..ops)
                .flat_map(|_| entries[rng.random_range(0..entries.len())].clone())
                .collect()
        };
        by_thread.iter().map(&mut column).collect()
    })
}
