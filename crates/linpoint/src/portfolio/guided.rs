//! Witnesses that delay few operations first: families, then two searches in turns.
//!
//! Not what `auto` does: where the general search is slow, this is seldom faster (see `docs/engines.md`).

use std::time::Duration;

use crate::engine::hitting::{Family, Index, LimitedDiscrepancy, Measured, ShownBy};
use crate::engine::{Answer, Budget, GaveUp, Task, search};
use crate::spec::Spec;
use crate::verdict::Limit;

/// The name of this engine in reports.
pub(super) const NAME: &str = "guided";

/// How far families are looked at: nearly free, set by `bench` (hitting).
const FAMILIES: usize = 3;
const NODES: usize = 2_000;

/// How long the general search goes alone; later turns are longer, so that what it does again is little.
const FIRST_TURN: Duration = Duration::from_millis(50);
const LONGER: u32 = 4;

/// Decides `task`, and tells the d of the family that shows it, if one does.
pub(super) fn decide<S: Spec>(
    task: &Task<'_, S>,
    budget: &Budget,
) -> (Result<Answer, GaveUp>, Option<usize>) {
    let family = Family {
        index: Index::Tuples,
        ..Family::default()
    };
    let mut families = ShownBy::new(task, family).with_most_nodes(NODES);
    match families.up_to(FAMILIES, budget) {
        Measured::Is(shown) => return (Ok(Answer::Linearizable(shown.order)), Some(shown.d)),
        Measured::Never => return (Ok(Answer::nothing_fits()), None),
        Measured::Above(_) | Measured::Unknown(_) => {}
    }
    let mut other = LimitedDiscrepancy::new(task);
    let mut turn = FIRST_TURN;
    loop {
        let answer = search::decide(task, &budget.slice(turn));
        let gave_up = match answer {
            Ok(answer) => return (Ok(answer), None),
            Err(gave_up) => gave_up,
        };
        let limit = match other.go_on(&budget.slice(turn)) {
            Ok(answer) => return (Ok(answer), None),
            Err(limit) => limit,
        };
        // That a turn is over is no limit; all others are.
        let others = [gave_up.limit, limit]
            .into_iter()
            .find(|limit| !matches!(limit, Limit::Time(_)));
        if let Some(limit) = others.or(budget.check().err()) {
            return (Err(GaveUp { limit, ..gave_up }), None);
        }
        turn = turn.saturating_mul(LONGER);
    }
}
