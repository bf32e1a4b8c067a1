//! The example `structures`: right structures pass, and the defects of the wrong ones are found.

#[path = "../examples/structures/cells.rs"]
mod cells;
#[path = "../examples/structures/locks.rs"]
mod locks;
#[path = "../examples/structures/maps.rs"]
mod maps;
#[path = "../examples/structures/nonblocking.rs"]
mod nonblocking;
#[path = "../examples/structures/plan.rs"]
#[allow(dead_code)]
mod plan;
#[path = "../examples/structures/pointers.rs"]
mod pointers;
#[path = "../examples/structures/waiting.rs"]
mod waiting;

use std::time::Duration;

use plan::{STRUCTURES, Tests, Variant};

#[test]
fn right_structures_pass_and_wrong_ones_fail() {
    for structure in STRUCTURES {
        let check = |variant, budget| (structure.check)(variant, Tests::Default, Some(budget));
        let right = check(Variant::Right, Duration::from_millis(400));
        assert!(right.failure().is_none(), "{}: {right}", structure.name);
        println!("{}: {right}", structure.name);
        // It ends with the first failure.
        let wrong = check(Variant::Wrong, Duration::from_secs(120));
        assert!(wrong.failure().is_some(), "{}: {wrong}", structure.name);
        let lines = plan::coverage(&wrong);
        println!("{} {:.1?}: {lines:?}", structure.name, wrong.elapsed);
    }
}
