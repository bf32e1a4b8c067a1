//! Depths of recorded histories: exactly the linearizable ones have a depth, and families show them no later.

use linpoint::engine::Budget;
use linpoint::engine::hitting::{Base, Extent, Family, Index, Measured, Rule};
use linpoint::format::RecordedHistory;
use rayon::prelude::*;

use crate::recorded::{corpus, labelled, read_all, type_of};

/// Compares the depths of all histories with their labels and with the families of every rule.
fn compare(histories: &[RecordedHistory]) {
    histories.par_iter().for_each(|recorded| {
        let label = recorded.label();
        let object = type_of(recorded);
        let history = &recorded.history;
        let budget = Budget::default();
        let parts = object.depths(history, Base::Return, usize::MAX, &budget);
        let depths = &parts.unwrap_or_else(|error| panic!("{label}: {error}"))[0].depths;
        if !labelled(recorded) {
            assert_eq!(depths.depth, Measured::Never, "{label}");
            assert_eq!(depths.shown_by, Measured::Never, "{label}");
        }
        let depth = depths.depth.known().map(|delayed| delayed.depth);
        assert_eq!(depth.is_some(), labelled(recorded), "{label}");
        let extent = Extent { d: 3, further_d: 4 };
        for (rule, base) in [
            (Rule::Canonical, Base::Return),
            (Rule::Printed, Base::Ids),
            (Rule::Artifact, Base::Ids),
        ] {
            let family = Family {
                rule,
                base,
                index: Index::Chains,
            };
            let evaluation = object.evaluate(history, family, extent, &budget);
            let evaluation = evaluation.unwrap_or_else(|error| panic!("{label}: {error}"));
            assert_eq!(evaluation.linearizable, Ok(labelled(recorded)), "{label}");
            match (evaluation.shown_by, depth) {
                (Measured::Never, None) => {}
                // The rule of the published tables is no strong one.
                (Measured::Is(d), Some(depth)) => {
                    assert!(d <= depth || rule == Rule::Artifact, "{label}")
                }
                (Measured::Above(d), Some(depth)) => {
                    assert!(d < depth || rule == Rule::Artifact, "{label}")
                }
                other => panic!("{label}: {other:?}"),
            }
        }
    });
}

#[test]
fn bundled() {
    compare(&read_all(&corpus().join("juc")));
    compare(&read_all(&corpus().join("hitting")));
}

mod data {
    use super::*;
    use crate::recorded::data;

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn java_collections() {
        let folder = data("juc");
        let mut all = Vec::new();
        for class in [
            "ABQ", "CHM", "CLD", "CLQ", "CSLM", "LBD", "LBQ", "LTQ", "PBQ",
        ] {
            let histories = read_all(&folder.join(format!("{class}.jsonl.gz")));
            all.extend(histories.into_iter().step_by(11));
        }
        compare(&all);
    }
}
