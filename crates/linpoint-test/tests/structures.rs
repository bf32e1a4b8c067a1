//! The example `structures`: right structures pass, and the defects of the wrong ones are found.

#[path = "../examples/structures/locks.rs"]
mod locks;
#[path = "../examples/structures/nonblocking.rs"]
mod nonblocking;
#[path = "../examples/structures/plan.rs"]
mod plan;

use std::time::Duration;

use plan::{STRUCTURES, Tests, Variant};

#[test]
fn right_structures_pass_and_wrong_ones_fail() {
    for structure in STRUCTURES {
        let check = |variant, tests| (structure.check)(variant, tests, Duration::from_secs(5));
        let right = check(Variant::Right, Tests::Default);
        assert!(right.passed(), "{}: {right}", structure.name);
        println!("{}: {right}", structure.name);
        for tests in [Tests::Default, Tests::Random(100)] {
            let wrong = check(Variant::Wrong, tests);
            assert!(wrong.failure().is_some(), "{}: {wrong}", structure.name);
            let lines = plan::coverage(&wrong);
            println!("{} {:.1?}: {lines:?}", structure.name, wrong.elapsed);
        }
    }
}
