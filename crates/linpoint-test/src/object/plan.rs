//! Plans: the tests of an object.

use std::collections::HashSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::Object;
use super::ends::{self, Kind, Sharing};
use super::invocation::Use;
use crate::matrix::{self, Group, Matrix};
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

    /// Adds so many random tests of this many threads and operations per thread (`RandomCheck` of the paper). No test runs twice, in
    /// whichever order of its threads; if there are not so many, a note says so.
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
        } => {
            let (mut all, mut seen) = (random(object, threads, ops), Seen::of(object));
            let different: Vec<_> = std::iter::from_fn(|| seen.next_new(&mut all))
                .take(tests)
                .collect();
            let total = different.len();
            if total < tests {
                notes.push(format!(
                    "there are hardly more than {total} different tests of {threads}x{ops}: {tests} were asked for"
                ));
            }
            (Box::new(different.into_iter()), total)
        }
        &Plan::Auto(n) => {
            let order = one_of_each_first(object);
            notes.extend(never_run(object, &order[..n.min(choices)]));
            let (mut tests, mut total): (Threads, usize) = (Box::new(std::iter::empty()), 0);
            for k in 1..=n {
                let (more, count) = all(object, &order[..k.min(choices)], k, k);
                tests = Box::new(tests.chain(more));
                total = total.saturating_add(count);
            }
            (tests, total)
        }
        &Plan::All { threads, ops } => {
            let every: Vec<usize> = (0..choices).collect();
            all(object, &every, threads, ops)
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
    let every: Vec<usize> = (0..object.invocations.len()).collect();
    let (smallest, _) = all(object, &every, 2, 1);
    let mut seen = Seen::of(object);
    let mut sizes: Vec<_> = SIZES
        .into_iter()
        .map(|(threads, ops, tests)| (random(object, threads, ops), tests))
        .collect();
    let mut smallest = smallest.collect::<Vec<_>>().into_iter();
    let (mut turn, mut taken) = (0, 0);
    std::iter::from_fn(move || {
        if let Some(test) = smallest.find(|test| seen.is_new(test)) {
            return Some(test);
        }
        while !sizes.is_empty() {
            turn %= sizes.len();
            let (tests, in_a_turn) = &mut sizes[turn];
            match seen.next_new(tests) {
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

/// The tests so far. Those that differ in the order of their threads only are the same, unless threads are not alike.
struct Seen {
    tests: HashSet<Vec<Vec<usize>>>,
    has_alike: bool,
}

impl Seen {
    fn of<X>(object: &Object<X>) -> Self {
        Seen {
            tests: HashSet::new(),
            has_alike: Shape::of(object).has_alike(),
        }
    }

    fn is_new(&mut self, test: &[Vec<usize>]) -> bool {
        let mut threads = test.to_vec();
        if self.has_alike {
            threads.sort_unstable();
        }
        self.tests.insert(threads)
    }

    /// The next of these random tests that is new; `None` if there seems to be none.
    fn next_new(
        &mut self,
        tests: &mut impl Iterator<Item = Vec<Vec<usize>>>,
    ) -> Option<Vec<Vec<usize>>> {
        tests.take(REPEATED).find(|test| self.is_new(test))
    }
}

/// What a plan knows of an object.
#[derive(Clone)]
struct Shape {
    ends: Vec<Kind>,
    /// For each invocation, the threads that may call it, and the end that it uses.
    ops: Vec<(Option<Vec<usize>>, Option<Use>)>,
}

impl Shape {
    fn of<X>(object: &Object<X>) -> Self {
        let ops = object.invocations.iter();
        Shape {
            ends: object.ends.clone(),
            ops: ops.map(|op| (op.threads.clone(), op.uses)).collect(),
        }
    }

    /// Whether threads that have the same operations are alike.
    fn has_alike(&self) -> bool {
        self.ops.iter().all(|(threads, _)| threads.is_none())
            && self.ends.iter().all(|end| end.sharing != Sharing::Each)
    }

    /// Whether `op` may follow `ops` in a thread.
    fn may_follow(&self, ops: &[usize], op: usize) -> bool {
        ends::may_follow(|op| self.ops[op].1, ops, op)
    }
}

/// Which threads may call each invocation.
struct Roles<'a> {
    shape: &'a Shape,
    /// The thread of each end that is owned.
    owners: Vec<Option<usize>>,
}

impl<'a> Roles<'a> {
    /// All ways to give the ends that are owned to so many threads. Threads that have none yet are alike.
    fn all(shape: &'a Shape, threads: usize) -> Vec<Self> {
        let mut all = vec![(Vec::new(), 0)];
        for kind in &shape.ends {
            let more = |(owners, met): (Vec<Option<usize>>, usize)| {
                let options: Vec<Option<usize>> = match kind.sharing {
                    Sharing::Owned if shape.has_alike() => {
                        (0..threads.min(met + 1)).map(Some).collect()
                    }
                    Sharing::Owned => (0..threads).map(Some).collect(),
                    Sharing::Cloned | Sharing::Each => vec![None],
                };
                let with = move |owner: Option<usize>| {
                    let met = owner.map_or(met, |owner| met.max(owner + 1));
                    ([&owners[..], &[owner]].concat(), met)
                };
                options.into_iter().map(with).collect::<Vec<_>>()
            };
            all = all.into_iter().flat_map(more).collect();
        }
        let roles = all.into_iter().map(|(owners, _)| Roles { shape, owners });
        roles.collect()
    }

    /// Ends that are owned are given to threads at random.
    fn random(shape: &'a Shape, threads: usize, rng: &mut ChaCha8Rng) -> Self {
        let owner = |kind: &Kind| match kind.sharing {
            Sharing::Owned => Some(rng.random_range(0..threads)),
            Sharing::Cloned | Sharing::Each => None,
        };
        Roles {
            shape,
            owners: shape.ends.iter().map(owner).collect(),
        }
    }

    fn may_call(&self, thread: usize, op: usize) -> bool {
        let (threads, uses) = &self.shape.ops[op];
        let owner = uses.and_then(|uses| self.owners[uses.end]);
        owner.is_none_or(|owner| owner == thread)
            && threads
                .as_ref()
                .is_none_or(|threads| threads.contains(&thread))
    }

    /// The threads with the columns that they can have out of these invocations.
    fn groups(&self, ops: &[usize], threads: usize, length: usize) -> Vec<Group> {
        let mut groups: Vec<(Vec<usize>, Group)> = Vec::new();
        for thread in 0..threads {
            let mine: Vec<usize> = ops
                .iter()
                .copied()
                .filter(|&op| self.may_call(thread, op))
                .collect();
            let alike = groups.iter_mut().find(|(choices, _)| *choices == mine);
            match alike.filter(|_| self.shape.has_alike()) {
                Some((_, group)) => group.threads.push(thread),
                None => {
                    let columns = matrix::columns(&mine, length, |column, op| {
                        self.shape.may_follow(column, op)
                    });
                    let group = Group {
                        threads: vec![thread],
                        columns,
                    };
                    groups.push((mine, group));
                }
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

/// All tests of this size out of these invocations, and their number.
fn all<X>(object: &Object<X>, ops: &[usize], threads: usize, length: usize) -> (Threads, usize) {
    let (mut tests, mut total): (Threads, usize) = (Box::new(std::iter::empty()), 0);
    let shape = Shape::of(object);
    for roles in Roles::all(&shape, threads) {
        let groups = roles.groups(ops, threads, length);
        total = total.saturating_add(matrix::count(&groups));
        tests = Box::new(tests.chain(matrix::all(groups)));
    }
    (tests, total)
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

/// Returns random tests. A [sequence](Object::sequence) may take the place of an operation.
fn random<X: 'static>(
    object: &Object<X>,
    threads: usize,
    ops: usize,
) -> impl Iterator<Item = Vec<Vec<usize>>> + Send + 'static {
    let entries = (0..object.invocations.len()).map(|op| vec![op]);
    let entries: Vec<Vec<usize>> = entries.chain(object.sequences.iter().cloned()).collect();
    let shape = Shape::of(object);
    let mut rng = ChaCha8Rng::seed_from_u64(object.settings.seed);
    std::iter::repeat_with(move || {
        let roles = Roles::random(&shape, threads, &mut rng);
        let mut column = |thread: usize| {
            let may_call = |entry: &&Vec<usize>| entry.iter().all(|&op| roles.may_call(thread, op));
            let mine: Vec<&Vec<usize>> = entries.iter().filter(may_call).collect();
            let mut column: Vec<usize> = Vec::new();
            for _ in 0..ops {
                let follows = |entry: &&&Vec<usize>| {
                    let after = |place: usize| [&column[..], &entry[..place]].concat();
                    (0..entry.len()).all(|place| shape.may_follow(&after(place), entry[place]))
                };
                let next: Vec<&Vec<usize>> = mine.iter().filter(follows).copied().collect();
                if next.is_empty() {
                    break;
                }
                column.extend(next[rng.random_range(0..next.len())]);
            }
            column
        };
        (0..threads).map(&mut column).collect()
    })
}
