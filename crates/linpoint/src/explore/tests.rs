//! The explorer against itself, an independent count, and the methods against each other.

use std::time::Duration;

use super::algorithms::{
    AfekBounded, AfekUnbounded, AttiyaWelch, Bowman, Jayanti, Locked, Riany, SingleCollect,
};
use super::snapshot::{Answer, Request, SnapshotAlgorithm};
use super::*;
use crate::engine::Budget;
use crate::engine::Limit;

/// Whether to make the explorations that take more than a second, which `LINPOINT_EXPLORE=1` asks for.
pub(super) fn is_large_run() -> bool {
    std::env::var_os("LINPOINT_EXPLORE").is_some()
}

fn task(processes: usize, method: Method) -> Task {
    Task {
        processes,
        method,
        pair: (0, 1),
        watched: None,
        bounds: Bounds::default(),
        reductions: Reductions::ALL,
    }
}

fn run<A: SnapshotAlgorithm>(task: &Task, bug: Option<&str>) -> (Outcome<Request, Answer>, u64) {
    let explored = Explored::default();
    let outcome = explore::<A>(task, bug, &Budget::default(), &explored).unwrap();
    (outcome, explored.states.into_inner())
}

fn is_verified<A: SnapshotAlgorithm>(task: &Task, bug: Option<&str>) -> bool {
    match run::<A>(task, bug).0 {
        Outcome::Verified => true,
        Outcome::Bug(_) => false,
        Outcome::Undecided(limit) => panic!("{limit:?}"),
    }
}

/// States of Bowman's algorithm with the monitor, as an independent prototype counted them.
#[test]
fn the_states_of_bowman_are_as_many_as_elsewhere() {
    let every_step = Reductions {
        fake_operations: true,
        monitor_form: true,
        ..Reductions::NONE
    };
    let merged = Reductions {
        merged: true,
        ..every_step
    };
    let symmetric = Reductions {
        symmetry: true,
        ..merged
    };
    let mut counts = vec![
        (3, every_step, 80_591),
        (3, merged, 18_589),
        (3, symmetric, 18_589),
        (4, symmetric, 239_459),
        (3, Reductions::ALL, 2_057),
        (4, Reductions::ALL, 6_841),
        (6, Reductions::ALL, 30_733),
    ];
    if is_large_run() {
        counts.extend([
            (4, every_step, 2_969_267),
            (4, merged, 464_818),
            (5, symmetric, 1_956_245),
            (8, Reductions::ALL, 82_737),
            (10, Reductions::ALL, 173_669),
        ]);
    }
    for (processes, reductions, states) in counts {
        let task = Task {
            reductions,
            ..task(processes, Method::Automata)
        };
        let (outcome, found) = run::<Bowman>(&task, None);
        assert!(matches!(outcome, Outcome::Verified));
        assert_eq!(found, states, "{processes} processes, {reductions:?}");
    }
}

/// What an exploration must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Verified,
    Bug,
}

/// The verdict is the same with all reductions, with none, with each one alone, and with all but each one.
fn reductions_agree<A: SnapshotAlgorithm>(task: &Task, bug: Option<&str>, expected: Expected) {
    let set: [fn(&mut Reductions, bool); 6] = [
        |r, on| r.merged = on,
        |r, on| r.local_steps = on,
        |r, on| r.fake_operations = on,
        |r, on| r.symmetry = on,
        |r, on| r.dead_values = on,
        |r, on| r.monitor_form = on,
    ];
    let mut all = vec![Reductions::ALL, Reductions::NONE];
    for set in set {
        for (mut reductions, on) in [(Reductions::NONE, true), (Reductions::ALL, false)] {
            set(&mut reductions, on);
            all.push(reductions);
        }
    }
    for reductions in all {
        let task = Task {
            reductions,
            ..task.clone()
        };
        let explored = Explored::default();
        let outcome = explore::<A>(&task, bug, &Budget::default(), &explored);
        let found = outcome.map(|outcome| match outcome {
            Outcome::Verified => Some(Expected::Verified),
            Outcome::Bug(_) => Some(Expected::Bug),
            Outcome::Undecided(_) => None,
        });
        let found = found.map_err(|error| error.to_string());
        let case = format!("{} {bug:?} {reductions:?}", A::NAME);
        assert_eq!(found, Ok(Some(expected)), "{case}");
    }
}

#[test]
fn reductions_change_no_verdict() {
    let with_bound = |processes, bound| Task {
        bounds: Bounds {
            ops_per_process: Some(bound),
            ..Bounds::default()
        },
        ..task(processes, Method::Automata)
    };
    reductions_agree::<Bowman>(&task(2, Method::Automata), None, Expected::Verified);
    reductions_agree::<Bowman>(&task(3, Method::Automata), Some("planted"), Expected::Bug);
    reductions_agree::<SingleCollect>(&task(4, Method::Automata), None, Expected::Bug);
    reductions_agree::<Locked>(&with_bound(4, 1), None, Expected::Verified);
    reductions_agree::<AfekUnbounded>(&with_bound(2, 2), None, Expected::Verified);
    reductions_agree::<AfekUnbounded>(
        &task(2, Method::Automata),
        Some("eager-borrow"),
        Expected::Bug,
    );
    reductions_agree::<Jayanti>(&with_bound(2, 1), None, Expected::Verified);
    reductions_agree::<AfekBounded>(&with_bound(2, 1), None, Expected::Verified);
    reductions_agree::<AttiyaWelch>(&with_bound(2, 1), None, Expected::Verified);
    reductions_agree::<Riany>(&with_bound(2, 1), None, Expected::Verified);
    if is_large_run() {
        reductions_agree::<Bowman>(&task(3, Method::Automata), None, Expected::Verified);
        reductions_agree::<AfekUnbounded>(&task(2, Method::Automata), None, Expected::Verified);
        reductions_agree::<AfekUnbounded>(
            &task(3, Method::Automata),
            Some("planted"),
            Expected::Bug,
        );
        reductions_agree::<Jayanti>(&with_bound(2, 3), None, Expected::Verified);
        reductions_agree::<AfekBounded>(&task(2, Method::Automata), None, Expected::Verified);
        reductions_agree::<AttiyaWelch>(&task(2, Method::Automata), None, Expected::Verified);
        let bug = Some("collected-view");
        reductions_agree::<AttiyaWelch>(&task(2, Method::Automata), bug, Expected::Bug);
        reductions_agree::<AttiyaWelch>(&with_bound(3, 1), Some("last-flag"), Expected::Bug);
    }
}

#[test]
fn all_methods_know_right_from_wrong() {
    for (_, method) in Method::NAMES {
        let mut task = task(3, *method);
        assert!(!is_verified::<SingleCollect>(&task, None), "{method:?}");
        assert!(!is_verified::<Bowman>(&task, Some("planted")), "{method:?}");
        task.bounds.ops_per_process = Some(1);
        assert!(is_verified::<Locked>(&task, None), "{method:?}");
        assert!(is_verified::<Bowman>(&task, None), "{method:?}");
    }
}

#[test]
fn watching_one_at_a_time_finds_the_same() {
    for (algorithm, bug, is_right) in [
        ("bowman", None, true),
        ("bowman", Some("planted"), false),
        ("jayanti", None, true),
        ("single-collect", None, false),
        ("afek-unbounded", Some("eager-borrow"), false),
    ] {
        let plan = Plan {
            bug: bug.map(str::to_owned),
            watch_each: true,
            ..Plan::new(algorithm, if algorithm == "jayanti" { 2 } else { 4 })
        };
        let found = verify(&plan, &Budget::default(), &Explored::default()).unwrap();
        assert_eq!(
            matches!(found.outcome, Outcome::Verified),
            is_right,
            "{algorithm} {bug:?}"
        );
    }
}

/// The plan that finds a bug. Where the number of operations must be bounded, the bound is the smallest that shows the bug.
fn plan_for(info: &AlgorithmInfo, bug: &str, processes: usize) -> Plan {
    Plan {
        bug: Some(bug.to_owned()),
        ops_per_process: info.unbounded.then_some(1),
        ..Plan::new(info.name, processes)
    }
}

#[test]
fn every_bug_is_found() {
    // These need a million states and more.
    let large = [
        ("jayanti", "planted"),
        ("jayanti", "wrong-link"),
        ("afek-bounded", "planted"),
        ("afek-bounded", "shifted-handshake"),
        ("attiya-welch", "planted"),
        ("attiya-welch", "last-flag"),
        ("riany", "planted"),
    ];
    for info in ALGORITHMS {
        for (bug, _) in info.bugs {
            if large.contains(&(info.name, bug)) && !is_large_run() {
                continue;
            }
            let plan = plan_for(info, bug, 3);
            let found = verify(&plan, &Budget::default(), &Explored::default()).unwrap();
            let Outcome::Bug(execution) = found.outcome else {
                panic!("{} {bug}: {:?}", info.name, found.outcome);
            };
            // The return of the last row cannot be linearized.
            assert!(execution.rows.last().unwrap().ret.is_some());
        }
    }
}

#[test]
fn counterexamples_do_not_depend_on_the_number_of_threads() {
    let rows = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let outcome = pool
            .build()
            .unwrap()
            .install(|| run::<AfekUnbounded>(&task(3, Method::Automata), Some("planted")));
        format!("{outcome:?}")
    };
    assert_eq!(rows(1), rows(3));
}

#[test]
fn limits_leave_it_undecided() {
    let plan = Plan::new("jayanti", 3);
    let undecided = |budget: Budget| {
        let explored = Explored::default();
        let found = verify(&plan, &budget, &explored).unwrap();
        let Outcome::Undecided(limit) = found.outcome else {
            panic!("{:?}", found.outcome);
        };
        // The number of states that were reached is reported.
        let last = found.runs.last().unwrap();
        assert_eq!(last.states, explored.states.into_inner());
        (limit, last.states)
    };
    let time = Duration::from_millis(100);
    let (limit, states) = undecided(Budget::new(Some(time), None));
    assert_eq!(limit, Limit::Time(time));
    assert!(states > 1);
    let (limit, _) = undecided(Budget::new(None, Some(1 << 20)));
    assert_eq!(limit, Limit::Memory(1 << 20));
}

/// Of its sequence numbers only the order counts, so there are finitely many states.
#[test]
fn riany_is_verified_for_any_number_of_operations() {
    if is_large_run() {
        assert!(is_verified::<Riany>(&task(2, Method::Automata), None));
    }
}

#[test]
fn a_pair_that_is_given_twice_counts_once() {
    let plan = Plan {
        pairs: Some(vec![(0, 1); 3]),
        ops_per_process: Some(1),
        ..Plan::new("locked", 3)
    };
    let found = verify(&plan, &Budget::default(), &Explored::default()).unwrap();
    assert_eq!(found.pairs, [(0, 1)]);
    assert!(!found.covers_all(&plan));
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    let refused = |plan: Plan| {
        let found = verify(&plan, &Budget::default(), &Explored::default());
        found.unwrap_err().to_string()
    };
    assert!(refused(Plan::new("quicksort", 3)).contains("known are bowman"));
    assert!(refused(Plan::new("bowmann", 3)).contains("did you mean bowman?"));
    assert!(refused(Plan::new("bowman", 1)).contains("from 2 to 15, not 1"));
    let endless = Plan {
        reductions: Reductions::NONE,
        ..Plan::new("riany", 3)
    };
    assert!(refused(endless).contains("--ops-per-process"));
    let plan = Plan {
        bug: Some("none".into()),
        ..Plan::new("bowman", 3)
    };
    assert!(refused(plan).contains("known are planted"));
    let plan = Plan {
        pairs: Some(vec![(1, 1)]),
        ..Plan::new("bowman", 3)
    };
    assert!(refused(plan).contains("no pair 1,1"));
}
