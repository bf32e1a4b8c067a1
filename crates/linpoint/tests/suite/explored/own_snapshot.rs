//! A snapshot algorithm that is not built in.

use linpoint::engine::Budget;
use linpoint::explore::laws::{Moves, check_data_independence, check_normal_form};
use linpoint::explore::snapshot::{Form, Request, SnapshotAlgorithm, history_of, spec_of};
use linpoint::explore::{
    AlgorithmInfo, Bounds, Client, Explored, Method, Outcome, Plan, Reductions, Verification,
};

use super::{is_linearizable, random_execution};
use double_collect::DoubleCollect;

#[path = "../../../examples/own_snapshot/double_collect.rs"]
mod double_collect;

const ALL: &[Request] = &[Request::Update(false), Request::Update(true), Request::Scan];

fn verify(bug: Option<&str>, change: impl FnOnce(&mut Plan)) -> Verification {
    let mut plan = Plan {
        bug: bug.map(str::to_owned),
        ..Plan::new(DoubleCollect::NAME, 2)
    };
    change(&mut plan);
    let info = AlgorithmInfo::of::<DoubleCollect>();
    let found = info.verify(&plan, &Budget::default(), &Explored::default());
    found.expect("the plan makes sense")
}

#[test]
fn sequence_numbers_are_right() {
    let methods = [Method::Automata, Method::Simple, Method::Full];
    for method in methods {
        let found = verify(None, |plan| plan.method = method);
        assert!(matches!(found.outcome, Outcome::Verified), "{method:?}");
    }
    let found = verify(None, |plan| plan.processes = 3);
    assert!(matches!(found.outcome, Outcome::Verified));
    assert_eq!(found.pairs, [(0, 1), (0, 2), (1, 2)]);
}

#[test]
fn reductions_change_no_verdict() {
    for reductions in [Reductions::ALL, Reductions::NONE] {
        let found = verify(None, |plan| plan.reductions = reductions);
        assert!(matches!(found.outcome, Outcome::Verified));
        let found = verify(Some("toggles"), |plan| {
            (plan.processes, plan.reductions) = (3, reductions);
        });
        assert!(matches!(found.outcome, Outcome::Bug(_)));
    }
}

#[test]
fn toggles_are_found_in_simple_executions() {
    for method in [Method::Automata, Method::Simple, Method::Full] {
        let found = verify(Some("toggles"), |plan| {
            (plan.processes, plan.method) = (3, method);
            plan.ops_per_process = Some(2);
        });
        assert!(matches!(found.outcome, Outcome::Bug(_)), "{method:?}");
    }
}

/// Simple executions cannot show that an algorithm depends on values.
#[test]
fn comparing_values_is_found_only_in_all_executions() {
    let simple = verify(Some("values"), |plan| plan.processes = 3);
    assert!(matches!(simple.outcome, Outcome::Verified));
    let full = verify(Some("values"), |plan| {
        (plan.processes, plan.method) = (3, Method::Full);
        plan.ops_per_process = Some(3);
    });
    assert!(matches!(full.outcome, Outcome::Bug(_)));
    let depends = |bug| check_data_independence(&DoubleCollect::new(Form::full(2), bug), 5000);
    assert!(depends(None).is_ok() && depends(Some("toggles")).is_ok());
    let reason = depends(Some("values")).expect_err("it compares values");
    assert!(reason.contains("depends on the values"), "{reason}");
}

#[test]
fn the_normal_form_behaves_alike() {
    for bug in [None, Some("toggles"), Some("values")] {
        for moves in [Moves::Steps, Moves::Merged] {
            let algorithm = DoubleCollect::new(Form::full(3), bug);
            let checked = check_normal_form(&algorithm, ALL, &Bounds::default(), moves, 1000);
            assert_eq!(checked, Ok(1000));
        }
    }
}

/// Two processes update, as in a simple execution, and the third scans.
struct Roles;

impl Client<Request> for Roles {
    fn offers(&self, p: usize, switched: u8) -> Vec<(Request, u8)> {
        match (p, switched) {
            (2, _) => vec![(Request::Scan, 0)],
            (_, 0) => vec![(Request::Update(false), 0), (Request::Update(true), 1)],
            _ => vec![(Request::Update(true), 1)],
        }
    }
}

/// Of random executions, no order explains some of those with toggles, and some order all of the others.
#[test]
fn the_reference_agrees() {
    let is_wrong = |bug, seed| {
        let algorithm = DoubleCollect::new(Form::full(3), bug);
        let events = random_execution(&algorithm, &Roles, 6, seed);
        !is_linearizable(&spec_of(3), &history_of(3, events))
    };
    let wrong = |bug, seeds: u64| (0..seeds).filter(|&seed| is_wrong(bug, seed)).count();
    assert_eq!(wrong(None, 2000), 0);
    assert_eq!(wrong(Some("values"), 2000), 0);
    assert!(wrong(Some("toggles"), 10_000) > 0);
}
