//! Random programs that spin: what each search sees, compared with all that can be seen.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::live::Live;
use super::model::{self, Access, Between, CELLS, Code, Seen};
use crate::campaign::program;
use crate::check::{AtDeadline, Coverage, Found, Limits, Strategy, Test, check, explore};
use crate::matrix::Matrix;
use crate::object::{Object, object};
use crate::runtime::execution::{Causality, End, Settings, Switches, Words};
use crate::runtime::run::Flow;
use crate::runtime::search::Search;
use crate::search::dfs::Dfs;
use crate::search::dpor::Dpor;
use crate::search::random::Random;

/// Writes the code of a random operation.
struct Writer<'a> {
    rng: &'a mut ChaCha8Rng,
    code: Vec<Code>,
    loops: usize,
    /// What it writes may run for ever, so results must not grow there.
    endless: bool,
}

impl Writer<'_> {
    fn cell(&mut self) -> usize {
        self.rng.random_range(0..CELLS)
    }

    fn between(&mut self) -> Code {
        Code::Rest(match self.rng.random_range(0..2) {
            0 => Between::Hint,
            _ => Between::Yield,
        })
    }

    fn statement(&mut self, is_locked: bool) {
        let cell = self.cell();
        let access = match self.rng.random_range(0..12) {
            0..=1 => Access::Load(cell),
            2..=3 => Access::Store(cell, self.rng.random_range(0..2)),
            4 => Access::Add(cell),
            5 => Access::Cas(cell),
            6 => {
                let rest = self.between();
                return self.code.push(rest);
            }
            7 if !is_locked => {
                self.code.push(Code::Access(Access::Lock));
                self.statement(true);
                return self.code.push(Code::Access(Access::Unlock));
            }
            _ => return self.spin(is_locked),
        };
        let emit = self.emit();
        self.code.extend([Code::Access(access), emit]);
    }

    fn emit(&self) -> Code {
        match self.endless {
            true => Code::Keep,
            false => Code::Emit,
        }
    }

    /// Changes something, and changes it back.
    fn blink(&mut self, is_locked: bool) {
        let cell = self.cell();
        let (there, back) = match self.rng.random_range(0..2) {
            0 if !is_locked => (Access::Lock, Access::Unlock),
            _ => (Access::Store(cell, 1), Access::Store(cell, 0)),
        };
        self.code.extend([Code::Access(there), Code::Access(back)]);
    }

    /// An access of a loop. All come from the same line here, so those of an operation differ, as lines do elsewhere.
    fn attempt(&mut self, is_locked: bool) -> Access {
        let mut any = || {
            let cell = self.cell();
            match self.rng.random_range(0..9) {
                5 => Access::Cas(cell),
                6 => Access::Swap(cell),
                7 if !is_locked => Access::TryLock,
                8 if !is_locked => Access::TryLockFor,
                _ => Access::Load(cell),
            }
        };
        let mut attempts: Vec<Access> = (0..20).map(|_| any()).collect();
        attempts.retain(|&access| !self.code.contains(&Code::Access(access)));
        attempts.first().copied().unwrap_or(Access::Load(0))
    }

    /// A loop that ends when a number is not 0, or after some rounds.
    fn spin(&mut self, is_locked: bool) {
        let counter = self.loops;
        if counter == 2 {
            return;
        }
        self.loops += 1;
        let limit = match self.rng.random_range(0..5) {
            0..=1 => None,
            limit => Some(limit as u8 - 1),
        };
        let outside = self.endless;
        self.endless |= limit.is_none();
        self.code.push(Code::Clear(counter));
        let start = self.code.len();
        let mut exits = Vec::new();
        for _ in 0..self.rng.random_range(1..=2) {
            match self.rng.random_range(0..10) {
                0 => self.spin(is_locked),
                1 => self.blink(is_locked),
                _ => {}
            }
            let access = self.attempt(is_locked);
            let is_lock = matches!(access, Access::TryLock | Access::TryLockFor);
            self.code.push(Code::Access(access));
            // The number of an access in the middle may be looked at only later.
            if is_lock || self.rng.random_range(0..2) == 0 {
                exits.push((self.code.len(), is_lock));
                self.code.push(Code::Return);
            } else {
                let emit = self.emit();
                self.code.push(emit);
            }
            if self.rng.random_range(0..3) == 0 {
                let rest = self.between();
                self.code.push(rest);
            }
        }
        if exits.is_empty() {
            exits.push((self.code.len(), false));
            self.code.push(Code::Return);
        }
        let rest = self.between();
        self.code.push(rest);
        match limit {
            None => self.code.push(Code::Jump(start)),
            Some(limit) => self.code.push(Code::CountTo(counter, limit, start)),
        }
        self.endless = outside;
        if !outside {
            self.code.extend([Code::EmitKept, Code::EmitConstant(9)]);
        }
        let mut ends = vec![self.code.len()];
        self.code.push(Code::Return);
        for (number, (exit, is_lock)) in exits.into_iter().enumerate() {
            self.code[exit] = Code::JumpUnlessZero(self.code.len());
            if !outside {
                let number = Code::EmitConstant(number as u8);
                self.code.extend([Code::EmitKept, Code::Emit, number]);
            }
            if is_lock {
                self.code.push(Code::Access(Access::Unlock));
            }
            ends.push(self.code.len());
            self.code.push(Code::Return);
        }
        for end in ends {
            self.code[end] = Code::Jump(self.code.len());
        }
    }
}

fn random_code(rng: &mut ChaCha8Rng) -> Vec<Code> {
    let statements = rng.random_range(1..=2);
    let mut writer = Writer {
        rng,
        code: Vec::new(),
        loops: 0,
        endless: false,
    };
    for _ in 0..statements {
        writer.statement(false);
    }
    writer.code.push(Code::Return);
    writer.code
}

/// A random object, and a test of it.
fn random_test(seed: u64) -> (Vec<Vec<Code>>, Vec<Vec<usize>>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ops = (0..3).map(|_| random_code(&mut rng)).collect();
    let (threads, length) = [(2, 1), (2, 2), (3, 1)][rng.random_range(0..3)];
    let mut column = || (0..length).map(|_| rng.random_range(0..3)).collect();
    (ops, (0..threads).map(|_| column()).collect())
}

fn live(ops: &[Vec<Code>], spurious: u32) -> Object<Live> {
    let ops = ops.to_vec();
    let numbers: Vec<usize> = (0..ops.len()).collect();
    object(Live::default)
        .op("op", numbers, move |live: &Live, op| live.run(&ops[op]))
        .may_block("op")
        .spurious(spurious)
}

/// The most executions of a search, and the most steps of each.
const MOST: u64 = 2_000;
const MOST_STEPS: usize = 400;

/// What a search has seen.
struct Shown {
    seen: BTreeSet<Seen>,
    executions: u64,
    /// Why it may not have seen everything.
    gap: Option<&'static str>,
}

fn shown<S: Search>(program: &Rc<dyn Test>, search: S, causality: Causality, most: u64) -> Shown {
    let settings = Settings {
        switches: Switches::Everywhere,
        causality,
        words: Words::Omitted,
        max_steps: MOST_STEPS,
    };
    let mut shown = Shown {
        seen: BTreeSet::new(),
        executions: 0,
        gap: None,
    };
    explore(program, settings, search, |trace, search| {
        shown.executions += 1;
        let history = trace.history();
        match trace.end() {
            _ if search.pruned() => {}
            End::Complete | End::Stuck => {
                let results = (history.outcomes.iter().enumerate())
                    .map(|(op, &outcome)| {
                        outcome.value()?;
                        program.describe(op, outcome).parse().ok()
                    })
                    .collect();
                let mut called = 0;
                for op in history.call_order() {
                    called |= 1 << op;
                }
                shown.seen.insert(Seen {
                    called,
                    results,
                    before: history.before.clone(),
                });
            }
            End::TooLong => shown.gap = Some("an execution was too long"),
            End::Livelock => shown.gap = Some("threads hinder each other"),
            end => panic!("{end:?}"),
        }
        if trace.assumed().changes {
            shown.gap = Some("changes were taken to cancel out");
        }
        if shown.executions == most {
            shown.gap = Some("there are too many executions");
            return Flow::Enough;
        }
        Flow::More
    });
    shown
}

/// The same without what differs between equivalent executions.
fn results(seen: &BTreeSet<Seen>) -> BTreeSet<Seen> {
    let without = |seen: &Seen| Seen {
        before: Vec::new(),
        ..seen.clone()
    };
    seen.iter().map(without).collect()
}

/// What was compared.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) complete: usize,
    pub(super) partial: usize,
    pub(super) stuck: usize,
    pub(super) failing: usize,
    /// What is not as it should be.
    pub(super) wrong: Vec<String>,
}

impl Tally {
    fn compare(&mut self, name: &str, expected: &BTreeSet<Seen>, shown: &Shown) {
        if let Some(extra) = shown.seen.difference(expected).next() {
            self.wrong.push(format!("{name} sees {extra:?}"));
        }
        if shown.gap.is_some() {
            self.partial += 1;
            return;
        }
        self.complete += 1;
        if let Some(missing) = expected.difference(&shown.seen).next() {
            self.wrong.push(format!("{name} does not see {missing:?}"));
        }
    }

    /// Panics unless all is as it should be, and enough was compared.
    pub(super) fn judge(self) {
        let Tally {
            complete,
            partial,
            stuck,
            failing,
            wrong,
        } = self;
        println!(
            "{complete} complete searches, {partial} with gaps; {stuck} tests get stuck, {failing} fail"
        );
        assert!(
            wrong.is_empty(),
            "{} wrong\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        assert!(complete > partial && stuck > 5 && failing > 5);
    }

    /// Compares all searches on one test, in which so much happens for no reason.
    pub(super) fn examine(
        &mut self,
        ops: &[Vec<Code>],
        columns: &[Vec<usize>],
        spurious: u32,
        seed: u64,
    ) {
        let known = self.wrong.len();
        self.examine_all(ops, columns, spurious, seed);
        for wrong in &mut self.wrong[known..] {
            *wrong = format!("seed {seed}, {columns:?} of {ops:?}: {wrong}");
        }
    }

    fn examine_all(&mut self, ops: &[Vec<Code>], columns: &[Vec<usize>], spurious: u32, seed: u64) {
        let threads: Vec<Vec<&[Code]>> = columns
            .iter()
            .map(|column| column.iter().map(|&op| &*ops[op]).collect())
            .collect();
        let Some(expected) = model::enumerate(&threads, spurious, 20_000) else {
            return;
        };
        let matrix = Matrix {
            threads: columns.to_vec(),
            ..Matrix::default()
        };
        let program = program(&live(ops, spurious), &matrix);
        let serial = model::serial(&threads);
        let is_explained = expected.iter().all(|seen| model::explained(&serial, seen));
        self.stuck += usize::from(expected.iter().any(|seen| seen.pending() != 0));
        self.failing += usize::from(!is_explained);

        let states = || Dfs::new(None).remembering();
        let plain = shown(&program, Dfs::new(None), Causality::Ignored, MOST);
        self.compare("plain", &expected, &plain);
        let per_state = shown(&program, states(), Causality::RealTime, MOST);
        self.compare("states", &expected, &per_state);
        let expected = results(&expected);
        let mut by_class = |name, mut shown: Shown| {
            shown.seen = results(&shown.seen);
            self.compare(name, &expected, &shown);
        };
        let accesses = Causality::Accesses;
        by_class(
            "states of classes",
            shown(&program, states(), accesses, MOST),
        );
        by_class("classes", shown(&program, Dpor::new(), accesses, MOST));
        let random = Random::uniform(seed, 50);
        by_class("random", shown(&program, random, accesses, 50));

        for strategy in [Strategy::Exhaustive, Strategy::Bounded(64)] {
            let limits = Limits {
                strategy,
                preemptions: 2,
                bounded: None,
                deadline: Some(Instant::now() + Duration::from_millis(300)),
                at_deadline: AtDeadline::Undecided,
                exhaustive: 20_000,
                max_steps: MOST_STEPS,
                seed,
            };
            let checked = check(&program, &limits);
            let is_harmless = |caveat: &String| {
                caveat.starts_with("assumed: a loop that spins")
                    || caveat.contains("spurious wake-ups")
            };
            let covers_all = checked.caveats.iter().all(is_harmless);
            match checked.found {
                Found::Pass(Coverage::Exhaustive | Coverage::Preemptions(64))
                    if covers_all && !is_explained =>
                {
                    self.wrong.push(format!("{strategy:?} passes"));
                }
                Found::Fail(_) if is_explained => self.wrong.push(format!("{strategy:?} fails")),
                _ => {}
            }
        }
    }
}

/// The number in an environment variable.
pub(super) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn searches_see_all_that_spinning_threads_can_do() {
    let first = number("LINPOINT_SPINS_FROM").unwrap_or(0);
    let mut tally = Tally::default();
    for seed in first..first + number("LINPOINT_SPINS").unwrap_or(60) {
        let (ops, columns) = random_test(seed);
        tally.examine(&ops, &columns, 0, seed);
    }
    tally.judge();
}

/// A thread that sleeps depends on what its loop looks at, also on what it has not come to yet: the thread that holds the lock
/// makes it sleep before it tries to take the lock.
#[test]
fn a_thread_that_was_not_let_into_its_loop_depends_on_the_loop() {
    use Access::{Add, Load, Lock, TryLock, Unlock};
    let rest = Code::Rest(Between::Hint);
    let add = [Lock, Add(0), Unlock].map(Code::Access);
    let add = [add.to_vec(), vec![Code::Return]].concat();
    let spin = vec![
        Code::Clear(0),
        Code::Access(Load(0)),
        Code::JumpUnlessZero(12),
        rest,
        Code::Access(Load(2)),
        rest,
        Code::Access(TryLock),
        Code::JumpUnlessZero(9),
        Code::Jump(4),
        Code::Access(Unlock),
        Code::Access(Load(0)),
        Code::CountTo(0, 2, 1),
        Code::Emit,
        Code::Return,
    ];
    let mut tally = Tally::default();
    tally.examine(&[add, spin], &[vec![0], vec![0], vec![1]], 0, 0);
    assert!(tally.wrong.is_empty(), "{}", tally.wrong.join("\n"));
}
