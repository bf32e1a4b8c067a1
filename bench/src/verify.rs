//! Exploring states: the table of linpoint against `stateright` on the same states.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use anyhow::{bail, ensure};
use linpoint::engine::Budget;
use linpoint::explore::algorithms::{Bowman, Jayanti};
use linpoint::explore::snapshot::SnapshotAlgorithm;
use linpoint::explore::{Bounds, Explored, Method, Outcome, Reductions, States, Task, explore};
use stateright::{Checker, Model, Property};

use crate::child::{peak_mib, within};

/// The argument that makes this program measure one case and answer.
pub const COMMAND: &str = "measure-verify";

/// Algorithms, and whether dead values are forgotten: with that, Bowman's has too few states to measure.
const CASES: &[(&str, usize, bool)] = &[("bowman", 5, false), ("bowman", 6, false), ("jayanti", 3, true)];

/// Memory of one measurement.
const MEMORY_LIMIT_KIB: u64 = 12 << 20;

pub fn run() -> anyhow::Result<()> {
    println!("## Exploring states\n");
    println!("The same packed states and the same function for what follows them, made by linpoint, in both engines; each run in a process of its own.");
    println!("Bytes for each state are the peak of the process. `stateright` keeps a hash of 64 bits for each state, linpoint the state itself.\n");
    println!("| algorithm | processes | states | engine | threads | seconds | million states per second | bytes per state |");
    println!("|---|---|---|---|---|---|---|---|");
    for (algorithm, processes, dead_values) in CASES {
        for engine in ["linpoint", "stateright"] {
            for threads in [1, 2] {
                let arguments = [*algorithm, &processes.to_string(), &dead_values.to_string(), engine, &threads.to_string()];
                let output = within(MEMORY_LIMIT_KIB)?.arg(COMMAND).args(arguments).output()?;
                if !output.status.success() {
                    println!("| {algorithm} | {processes} | - | {engine} | {threads} | does not end within {} GiB | - | - |", MEMORY_LIMIT_KIB >> 20);
                    eprintln!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
                    continue;
                }
                let text = String::from_utf8(output.stdout)?;
                let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
                let [states, seconds, mib] = numbers?[..] else { bail!("no answer") };
                println!(
                    "| {algorithm} | {processes} | {states} | {engine} | {threads} | {seconds:.1} | {:.2} | {:.0} |",
                    states / seconds / 1e6,
                    mib * 1024.0 * 1024.0 / states
                );
            }
        }
    }
    println!();
    Ok(())
}

/// Measures here and prints states, seconds and peak memory.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[algorithm, processes, dead_values, engine, threads] = args else { bail!("five arguments expected") };
    let task = Task {
        processes: processes.parse()?,
        method: Method::Automata,
        pair: (0, 1),
        watched: None,
        bounds: Bounds::default(),
        reductions: Reductions { dead_values: dead_values.parse()?, ..Reductions::ALL },
    };
    let threads = threads.parse()?;
    let started = Instant::now();
    let states = match (algorithm, engine) {
        ("bowman", "linpoint") => by_linpoint::<Bowman>(&task, threads)?,
        ("jayanti", "linpoint") => by_linpoint::<Jayanti>(&task, threads)?,
        ("bowman", "stateright") => by_stateright::<Bowman>(&task, threads)?,
        ("jayanti", "stateright") => by_stateright::<Jayanti>(&task, threads)?,
        _ => bail!("unknown algorithm {algorithm} or engine {engine}"),
    };
    println!("{states} {} {}", started.elapsed().as_secs_f64(), peak_mib()?);
    Ok(())
}

fn by_linpoint<A: SnapshotAlgorithm>(task: &Task, threads: usize) -> anyhow::Result<u64> {
    let explored = Explored::default();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let outcome = pool.install(|| explore::<A>(task, None, &Budget::default(), &explored))?;
    ensure!(matches!(outcome, Outcome::Verified), "not verified");
    Ok(explored.states.load(Relaxed))
}

fn by_stateright<A: SnapshotAlgorithm + 'static>(task: &Task, threads: usize) -> anyhow::Result<u64> {
    // The engine wants a model for ever, and this process is made for one.
    let algorithm: &'static A = Box::leak(Box::new(A::new(task.form(), None)));
    let states = States::new(algorithm, task)?;
    ensure!(states.words() <= MOST_WORDS, "states are too large");
    let checker = Same(states).checker().threads(threads).spawn_bfs().join();
    ensure!(checker.discovery("linearizable").is_none(), "not verified");
    Ok(checker.unique_state_count() as u64)
}

const MOST_WORDS: usize = 2;
type State = [u64; MOST_WORDS];

/// No packed state is this one: it stands for a step that cannot be linearized.
const BAD: State = [u64::MAX; MOST_WORDS];

struct Same(States<'static>);

impl Same {
    fn state(words: &[u64]) -> State {
        let mut state = [0; MOST_WORDS];
        state[..words.len()].copy_from_slice(words);
        state
    }
}

impl Model for Same {
    type State = State;
    /// Where it leads: what follows a state is made once.
    type Action = State;

    fn init_states(&self) -> Vec<State> {
        vec![Same::state(&self.0.initial())]
    }

    fn actions(&self, state: &State, actions: &mut Vec<State>) {
        if *state == BAD {
            return;
        }
        let words = self.0.words();
        match self.0.next(&state[..words]) {
            Some(next) => actions.extend(next.chunks_exact(words).map(Same::state)),
            None => actions.push(BAD),
        }
    }

    fn next_state(&self, _: &State, action: State) -> Option<State> {
        Some(action)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("linearizable", |_, state: &State| *state != BAD)]
    }
}
