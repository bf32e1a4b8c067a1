//! Checks of what a verification rests on: that the normal form of an algorithm behaves like the state that it stands for,
//! and that a snapshot algorithm does not depend on values.

mod independence;

pub use independence::check_data_independence;

use std::collections::{HashSet, VecDeque};

use super::observe::NoObserver;
use super::product::{Happened, Move, Product, StateOf};
use super::program::{Algorithm, Bounds, Client, Interface, Offers, Reductions};

/// What a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One step.
    Steps,
    /// Several steps at once, by [`Reductions::merged`] and [`Reductions::local_steps`].
    Merged,
}

/// Checks on at most `most` reachable states, alternately near to and far from the start, that a state and its
/// [normal form](Algorithm::normalize) can do the same:
///
/// * Each move from the state has the same call, return and resulting normal form as some move from the normal form; or it
///   neither calls nor returns and leaves the normal form as it is.
/// * Each move from the normal form can be made from the state, after moves of the same process that leave the normal form
///   as it is.
///
/// Returns the number of states that were checked, or a description of the first one that violates this.
pub fn check_normal_form<A: Algorithm>(
    algorithm: &A,
    client: &(impl Client<A::Op> + ?Sized),
    bounds: &Bounds,
    moves: Moves,
    most: usize,
) -> Result<usize, String> {
    let reductions = Reductions {
        merged: moves == Moves::Merged,
        local_steps: moves == Moves::Merged,
        dead_values: true,
        ..Reductions::NONE
    };
    let product = Product::new(
        algorithm,
        Offers::of(client, algorithm.processes(), bounds),
        NoObserver,
        bounds.clone(),
        reductions,
        Vec::new(),
    )
    .map_err(|error| error.to_string())?;
    let start = product.start();
    let mut seen = HashSet::from([product.packed(&start)]);
    let mut waiting = VecDeque::from([start]);
    let mut looked_at = 0;
    let next_of = |waiting: &mut VecDeque<_>, looked_at| match looked_at % 2 {
        0 => waiting.pop_front(),
        _ => waiting.pop_back(),
    };
    while let Some(state) = next_of(&mut waiting, looked_at) {
        if looked_at == most {
            break;
        }
        looked_at += 1;
        let mut form = state.clone();
        product.normalize(&mut form);
        let packed = product.packed(&form);
        let from_form: Vec<_> = product
            .moves(&form)
            .map(|a_move| make(&product, &form, a_move).1)
            .collect();
        for a_move in product.moves(&state) {
            let (next, made) = make(&product, &state, a_move);
            if !made.stutters(&packed) && !from_form.contains(&made) {
                return Err(format!(
                    "process {} can do from\n  {state:?}\nwhat it cannot from its normal form\n  {form:?}",
                    made.process
                ));
            }
            if seen.insert(product.packed(&next)) {
                waiting.push_back(next);
            }
        }
        for wanted in &from_form {
            let mut moves = product.moves(&state);
            if !moves.any(|a_move| leads_to(&product, &state, a_move, &packed, wanted)) {
                return Err(format!(
                    "process {} can do from the normal form\n  {form:?}\nwhat it cannot from\n  {state:?}",
                    wanted.process
                ));
            }
        }
    }
    Ok(looked_at)
}

/// What can be observed of a move, and the normal form of the state after it.
#[derive(PartialEq)]
struct Made<Op, Ret> {
    process: usize,
    form: Vec<u64>,
    call: Option<Op>,
    ret: Option<Ret>,
}

impl<Op, Ret> Made<Op, Ret> {
    /// Whether the move neither calls nor returns, and leaves this normal form as it is.
    fn stutters(&self, form: &[u64]) -> bool {
        self.call.is_none() && self.ret.is_none() && self.form == form
    }
}

type Unobserved<'a, A> = Product<'a, A, NoObserver>;
type MadeBy<A> = Made<<A as Interface>::Op, <A as Interface>::Ret>;

/// Makes a move from a state; the state after it, and what can be observed.
fn make<A: Algorithm>(
    product: &Unobserved<'_, A>,
    state: &StateOf<A, NoObserver>,
    a_move: Move,
) -> (StateOf<A, NoObserver>, MadeBy<A>) {
    let mut next = state.clone();
    let mut happened = Happened::default();
    // The observer accepts every return.
    let _ = product.make(&mut next, a_move, Some(&mut happened));
    let made = Made {
        process: a_move.process,
        form: product.form(&next),
        call: happened.call,
        ret: happened.ret,
    };
    (next, made)
}

/// Whether a move from a state, after moves of the same process that leave the normal form as it is, is the one `wanted`.
fn leads_to<A: Algorithm>(
    product: &Unobserved<'_, A>,
    state: &StateOf<A, NoObserver>,
    mut a_move: Move,
    form: &[u64],
    wanted: &MadeBy<A>,
) -> bool {
    if a_move.process != wanted.process {
        return false;
    }
    let mut state = state.clone();
    loop {
        let (next, made) = make(product, &state, a_move);
        if made == *wanted {
            return true;
        }
        // A move that changes nothing would be repeated for ever.
        if !made.stutters(form) || next == state {
            return false;
        }
        match product.going_on(&next, a_move.process) {
            Some(next_move) => (state, a_move) = (next, next_move),
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::algorithms::{
        AfekBounded, AfekUnbounded, AttiyaWelch, Bowman, Jayanti, Riany,
    };
    use crate::explore::snapshot::{FULL_CLIENT, Form, SimpleClient, SnapshotAlgorithm};
    use crate::explore::tests::is_large_run;

    fn check_within<A: SnapshotAlgorithm>(processes: usize, bug: Option<&str>, bounds: &Bounds) {
        let most = if is_large_run() { 100_000 } else { 300 };
        for moves in [Moves::Merged, Moves::Steps] {
            let case = format!("{} {bug:?}, {processes}, moves: {moves:?}", A::NAME);
            for pair in [(0, 1), (0, processes - 1)] {
                let form = Form {
                    short: true,
                    ..Form::simple(processes, pair)
                };
                let form = form.within(bounds);
                let client = SimpleClient { pair, others: true };
                let algorithm = A::new(form, bug);
                let checked = check_normal_form(&algorithm, &client, bounds, moves, most);
                assert!(checked.is_ok(), "{case}: {}", checked.unwrap_err());
            }
            let algorithm = A::new(Form::full(processes).within(bounds), bug);
            let checked = check_normal_form(&algorithm, FULL_CLIENT, bounds, moves, most);
            assert!(checked.is_ok(), "{case}, full: {}", checked.unwrap_err());
        }
    }

    /// The algorithm as it should be, and with each of its bugs.
    fn check<A: SnapshotAlgorithm>(bounds: &Bounds) {
        for processes in [2, 3] {
            check_within::<A>(processes, None, bounds);
            for (bug, _) in A::BUGS {
                check_within::<A>(processes, Some(bug), bounds);
            }
        }
    }

    #[test]
    fn normal_forms_of_bowman() {
        check::<Bowman>(&Bounds::default());
    }

    #[test]
    fn normal_forms_of_jayanti() {
        check::<Jayanti>(&Bounds::default());
    }

    #[test]
    fn normal_forms_of_afek_unbounded() {
        check::<AfekUnbounded>(&Bounds::default());
    }

    #[test]
    fn normal_forms_of_afek_bounded() {
        check::<AfekBounded>(&Bounds::default());
    }

    #[test]
    fn normal_forms_of_riany() {
        for bound in [1, 2, 3] {
            let bounds = Bounds {
                ops_per_process: Some(bound),
                ..Bounds::default()
            };
            check::<Riany>(&bounds);
        }
    }

    #[test]
    fn normal_forms_of_attiya_welch() {
        check::<AttiyaWelch>(&Bounds::default());
    }
}
