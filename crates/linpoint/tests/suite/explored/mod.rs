//! Algorithms that are explored, against the reference: random executions are judged by trying all orders.

mod multi_writer;
mod own_snapshot;
mod queue;
mod strong;

use linpoint::explore::{Algorithm, Client, Step};
use linpoint::{Checker, Config, EngineChoice, Spec, TypedHistory, Verdict};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// The calls and returns of an execution, with their processes.
type Events<A> = Vec<(
    usize,
    Result<<A as linpoint::explore::Interface>::Op, <A as linpoint::explore::Interface>::Ret>,
)>;

/// A random execution with at most `calls` operations. Those that have not returned after some time are pending.
fn random_execution<A: Algorithm>(
    algorithm: &A,
    client: &(impl Client<A::Op> + ?Sized),
    calls: usize,
    seed: u64,
) -> Events<A> {
    const MOST_STEPS: usize = 60;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n = algorithm.processes();
    let mut shared = algorithm.shared();
    let mut locals = vec![A::Local::default(); n];
    let (mut memories, mut open) = (vec![0; n], vec![false; n]);
    let mut events = Vec::new();
    let mut called = 0;
    for _ in 0..MOST_STEPS {
        let p = rng.random_range(0..n);
        if !open[p] {
            let offers = client.offers(p, memories[p]);
            if called == calls || offers.is_empty() {
                continue;
            }
            called += 1;
            let (op, memory) = offers[rng.random_range(0..offers.len())].clone();
            (memories[p], open[p]) = (memory, true);
            algorithm.call(p, &op, &mut locals[p]);
            events.push((p, Ok(op)));
        } else if let Step::Return(ret) = algorithm.step(p, &mut shared, &mut locals[p]) {
            open[p] = false;
            events.push((p, Err(ret)));
        }
    }
    events
}

/// Whether some order explains the history; all are tried.
fn is_linearizable<S: Spec>(spec: &S, history: &TypedHistory<S::Op, S::Ret>) -> bool {
    let checker = Checker::new(Config::default().with_engine(EngineChoice::Brute));
    match checker.check(spec, history).expect("certified").verdict {
        Verdict::Linearizable(_) => true,
        Verdict::Violation(_) => false,
        Verdict::Undecided(limit) => panic!("{limit:?}"),
    }
}
