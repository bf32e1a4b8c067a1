//! Snapshots by the whole portfolio: evidence where some updates are lost, or written by several processes.

use linpoint::format::{ReadOptions, parse};
use linpoint::{Checker, Verdict};

use crate::recorded::type_of;

/// An update that no scan saw and that never returned overlaps all later ones of its entry, among them one that changes
/// nothing.
#[test]
fn lost_updates_are_left_out_of_cores() {
    let text = r#"
        {"linpoint": 1, "type": "multi-writer-snapshot"}
        {"process": 0, "event": "call", "method": "update", "arg": [0, 7]}
        {"process": 0, "event": "crash"}
        {"process": 1, "event": "call", "method": "update", "arg": [0, 0]}
        {"process": 1, "event": "return"}
        {"process": 1, "event": "call", "method": "update", "arg": [1, 5]}
        {"process": 1, "event": "return"}
        {"process": 2, "event": "call", "method": "scan"}
        {"process": 2, "event": "return", "ret": [0, 0]}
    "#;
    let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
    let recorded = recorded.expect("well-formed");
    let checker = Checker::default();
    let report = checker.check_recorded(&type_of(&recorded), &recorded.history);
    let Verdict::Violation(violation) = report.expect("certified").verdict else {
        panic!("the update of entry 1 was missed");
    };
    assert_eq!(violation.core.ops().len(), 2);
    assert!(violation.core.is_minimal() && violation.core.is_certified() && violation.shortest);
    assert_eq!(
        violation.core.sentence(),
        "scan() → [0, 0] by process 2 (line 9) has 0 in entry 1, although update(1, 5) by process 1 (line 7) had finished before the scan \
         began"
    );
}
