//! The same history for linpoint and for each peer, and what each takes to decide it.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use linpoint::generate::Generator;
use linpoint::{Config, History, Value, Verdict, object_type};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};
use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History as TodcHistory};
use todc_utils::specifications::Specification;

/// Objects that are measured; the peers know the first two.
pub const OBJECTS: &[&str] = &["register", "queue", "cas-register"];

/// A history to decide.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub object: &'static str,
    pub ops: usize,
    pub processes: usize,
    pub seed: u64,
}

impl Case {
    pub fn history(&self) -> anyhow::Result<History> {
        let object = object_type(self.object, &Default::default())?;
        let generator =
            Generator { ops: self.ops, processes: self.processes, seed: self.seed, ..Generator::default() };
        Ok(generator.linearizable(&object)?)
    }
}

/// Who decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checker {
    Linpoint,
    TodcUtils,
    Stateright,
}

impl Checker {
    pub const PEERS: [Checker; 2] = [Checker::TodcUtils, Checker::Stateright];

    pub fn name(self) -> &'static str {
        match self {
            Checker::Linpoint => "linpoint",
            Checker::TodcUtils => "todc-utils",
            Checker::Stateright => "stateright",
        }
    }

    pub fn parse(name: &str) -> anyhow::Result<Self> {
        let all = [Checker::Linpoint, Checker::TodcUtils, Checker::Stateright];
        all.into_iter().find(|checker| checker.name() == name).context("unknown checker")
    }

    /// How long deciding takes, once the history is in the form that the checker wants.
    pub fn run(self, case: &Case, history: &History) -> anyhow::Result<Duration> {
        match self {
            Checker::Linpoint => {
                let object = object_type(case.object, &Default::default())?;
                let checker = linpoint::Checker::new(Config::default());
                let started = Instant::now();
                let report = checker.check_recorded(&object, history)?;
                let time = started.elapsed();
                ensure!(matches!(report.verdict, Verdict::Linearizable(_)), "linearizable by construction");
                Ok(time)
            }
            Checker::TodcUtils => match case.object {
                "register" => todc::<Register>(history),
                "queue" => todc::<Queue>(history),
                other => bail!("todc-utils was not taught {other}"),
            },
            Checker::Stateright => match case.object {
                "register" => stateright(history, RegisterState::default()),
                "queue" => stateright(history, QueueState::default()),
                other => bail!("stateright was not taught {other}"),
            },
        }
    }
}

/// An operation of any of the objects with its result, in the plainest form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Write(i64),
    Read(Option<i64>),
    Enqueue(i64),
    Dequeue(Option<i64>),
    Peek(Option<i64>),
}

/// Calls and returns in order: process, whether it is a return, operation with its result.
fn events(history: &History) -> anyhow::Result<Vec<(usize, bool, Op)>> {
    let mut events = Vec::new();
    for op in history.ops() {
        let process = op.process.as_int().context("processes are numbers")? as usize;
        let result = op.result.and_then(Value::as_int);
        let argument = op.argument.as_int().unwrap_or_default();
        let plain = match op.method {
            "write" => Op::Write(argument),
            "read" => Op::Read(result),
            "enq" => Op::Enqueue(argument),
            "deq" => Op::Dequeue(result),
            "peek" => Op::Peek(result),
            other => bail!("unexpected method {other}"),
        };
        events.push((op.call, (process, false, plain)));
        events.push((op.ret, (process, true, plain)));
    }
    events.sort_unstable_by_key(|(rank, _)| *rank);
    Ok(events.into_iter().map(|(_, event)| event).collect())
}

struct Register;

impl Specification for Register {
    type State = Option<i64>;
    type Operation = Op;

    fn init() -> Option<i64> {
        None
    }

    fn apply(op: &Op, state: &Option<i64>) -> (bool, Option<i64>) {
        match *op {
            Op::Write(value) => (true, Some(value)),
            Op::Read(value) => (value == *state, *state),
            _ => (false, *state),
        }
    }
}

struct Queue;

impl Specification for Queue {
    type State = VecDeque<i64>;
    type Operation = Op;

    fn init() -> VecDeque<i64> {
        VecDeque::new()
    }

    fn apply(op: &Op, state: &VecDeque<i64>) -> (bool, VecDeque<i64>) {
        let mut next = state.clone();
        let fits = match *op {
            Op::Enqueue(value) => {
                next.push_back(value);
                true
            }
            Op::Dequeue(value) => next.pop_front() == value,
            Op::Peek(value) => next.front().copied() == value,
            _ => false,
        };
        if fits { (true, next) } else { (false, state.clone()) }
    }
}

fn todc<S: Specification<Operation = Op>>(history: &History) -> anyhow::Result<Duration> {
    let actions = events(history)?.into_iter();
    let action = |(process, is_return, op)| (process, if is_return { Action::Response(op) } else { Action::Call(op) });
    let history = TodcHistory::from_actions(actions.map(action).collect());
    let started = Instant::now();
    let found = WGLChecker::<S>::is_linearizable(black_box(history));
    let time = started.elapsed();
    ensure!(found, "linearizable by construction");
    Ok(time)
}

#[derive(Clone, Default)]
struct RegisterState(Option<i64>);

#[derive(Clone, Default)]
struct QueueState(VecDeque<i64>);

impl SequentialSpec for RegisterState {
    type Op = Op;
    type Ret = Op;

    fn invoke(&mut self, op: &Op) -> Op {
        match *op {
            Op::Write(value) => {
                self.0 = Some(value);
                *op
            }
            _ => Op::Read(self.0),
        }
    }
}

impl SequentialSpec for QueueState {
    type Op = Op;
    type Ret = Op;

    fn invoke(&mut self, op: &Op) -> Op {
        match *op {
            Op::Enqueue(value) => {
                self.0.push_back(value);
                *op
            }
            Op::Dequeue(_) => Op::Dequeue(self.0.pop_front()),
            _ => Op::Peek(self.0.front().copied()),
        }
    }
}

fn stateright<S>(history: &History, initial: S) -> anyhow::Result<Duration>
where
    S: Clone + SequentialSpec<Op = Op, Ret = Op> + Send + 'static,
{
    let mut tester = LinearizabilityTester::new(initial);
    for (process, is_return, op) in events(history)? {
        let fed = if is_return { tester.on_return(process, op) } else { tester.on_invoke(process, op) };
        fed.map_err(anyhow::Error::msg)?;
    }
    // It recurses once for each operation: it gets the stack that it needs.
    let deep = std::thread::Builder::new().stack_size(4 << 30);
    let measured = deep.spawn(move || {
        let started = Instant::now();
        let found = tester.is_consistent();
        (found, started.elapsed())
    })?;
    let (found, time) = measured.join().map_err(|_| anyhow::anyhow!("panicked"))?;
    ensure!(found, "linearizable by construction");
    Ok(time)
}
