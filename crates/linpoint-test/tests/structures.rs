//! The example `structures`: right structures pass, and the defects of the wrong ones are found.

#[path = "../examples/structures/locks.rs"]
mod locks;
#[path = "../examples/structures/nonblocking.rs"]
mod nonblocking;
#[path = "../examples/structures/plan.rs"]
#[allow(dead_code)]
mod plan;

use std::time::Duration;

use plan::{STRUCTURES, Tests, Variant};

#[test]
fn right_structures_pass_and_wrong_ones_fail() {
    for structure in STRUCTURES {
        let check = |variant, seconds| {
            (structure.check)(variant, Tests::Default, Duration::from_secs(seconds))
        };
        let right = check(Variant::Right, 5);
        assert!(right.failure().is_none(), "{}: {right}", structure.name);
        println!("{}: {right}", structure.name);
        // It ends with the first failure.
        let wrong = check(Variant::Wrong, 120);
        assert!(wrong.failure().is_some(), "{}: {wrong}", structure.name);
        let lines = plan::coverage(&wrong);
        println!("{} {:.1?}: {lines:?}", structure.name, wrong.elapsed);
    }
}
