//! Histories whose evidence was wrong once. Random ones find these seldom.

use super::check_one;
use super::claims::Tally;
use crate::format::{ReadOptions, parse};
use crate::spec::Simulated;
use crate::spec::laws::{Visit, for_each_type};

/// The type, and the history.
const FOUND: [(&str, &str); 4] = [
    // A read of a member that was never added contradicts more than one fact: the answer of the failed add alone does not matter.
    (
        "set",
        r#"
        {"process": 1, "method": "add", "arg": 1, "ret": true, "call": 0, "return": 1}
        {"process": 2, "method": "read", "ret": [1], "call": 2, "return": 4}
        {"process": 1, "method": "add", "arg": 1, "ret": false, "call": 3, "return": 7}
        {"process": 2, "method": "read", "ret": [null], "call": 5, "return": 12}
        {"process": 0, "method": "remove", "arg": 0, "ret": false, "call": 6, "return": 8}
        {"process": 0, "method": "read", "ret": [2], "call": 9, "return": 10}
        {"process": 1, "method": "remove", "arg": 1, "ret": false, "call": 11, "return": 13}"#,
    ),
    (
        "set",
        r#"
        {"process": 2, "method": "remove", "arg": 1, "ret": false, "call": 0, "return": 5}
        {"process": 0, "method": "remove", "arg": 0, "ret": false, "call": 1, "return": 8}
        {"process": 3, "method": "contains", "arg": 1, "ret": false, "call": 2, "return": 3}
        {"process": 1, "method": "add", "arg": 1, "ret": true, "call": 4, "return": 6}
        {"process": 1, "method": "add", "arg": 0, "ret": false, "call": 7, "return": 15}
        {"process": 0, "method": "remove", "arg": 0, "ret": false, "call": 9, "return": 11}
        {"process": 2, "method": "read", "ret": [2], "call": 10, "return": 12}
        {"process": 0, "method": "contains", "arg": 0, "ret": true, "call": 13, "return": 14}"#,
    ),
    // Without the wrong operation, another one is wrong: what a third one saw still counts.
    (
        "counter",
        r#"
        {"process": 1, "method": "get", "ret": 1, "call": 0, "return": 3}
        {"process": 3, "method": "get", "ret": 2, "call": 1, "return": 5}
        {"process": 0, "method": "inc", "ret": null, "call": 2, "return": 13}
        {"process": 1, "method": "fetch_add", "arg": 1, "ret": 0, "call": 4, "return": 6}"#,
    ),
    // A removal that had not returned may have taken a value that was put in a second time.
    (
        "min-priority-queue",
        r#"
        {"process": 2, "method": "add", "arg": 1, "ret": null, "call": 0, "return": 4}
        {"process": 0, "method": "add", "arg": 0, "ret": null, "call": 1, "return": 3}
        {"process": 1, "method": "poll", "ret": 0, "call": 2, "return": 6}
        {"process": 0, "method": "peek", "ret": 1, "call": 5, "return": 9}
        {"process": 1, "method": "add", "arg": 0, "ret": null, "call": 7, "return": 10}
        {"process": 2, "method": "poll", "ret": 2, "call": 8, "return": 13}
        {"process": 0, "method": "poll", "ret": 0, "call": 11, "return": 14}
        {"process": 1, "method": "add", "arg": 2, "ret": null, "call": 12, "return": 15}"#,
    ),
];

struct Found;

impl Visit for Found {
    fn visit<S: Simulated>(&self, name: &str, object: &S) {
        for (_, text) in FOUND.iter().filter(|(of, _)| *of == name) {
            let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
            let history = recorded.expect("it is well formed").history;
            let violations = check_one(object, &history, name, 1, &mut Tally::default());
            assert_eq!(violations, 1, "{name}: {text}");
        }
    }
}

#[test]
fn evidence_of_histories_that_were_explained_wrongly() {
    for_each_type(&Found);
}
