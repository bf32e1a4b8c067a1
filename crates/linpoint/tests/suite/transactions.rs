//! Isolation levels of histories of transactions whose labels were found by enumeration.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod data {
    use std::io::Read;

    use linpoint::Budget;
    use linpoint::format::{ReadOptions, parse};
    use linpoint::transaction::{Level, Model, Verdict, check};

    use crate::recorded::data;

    /// The labels that are about transactions, and the levels that they mean: theirs keep sessions.
    const LABELS: [(&str, Level); 8] = [
        ("read-committed", Level::ReadCommitted),
        ("read-atomic", Level::ReadAtomic),
        ("causal", Level::Causal),
        ("prefix", Level::Prefix),
        ("snapshot-isolation", Level::SessionSnapshotIsolation),
        ("serializable-any-session", Level::Serializable),
        ("serializable", Level::SessionSerializable),
        ("strict-serializable", Level::StrictSerializable),
    ];

    #[test]
    #[ignore = "needs the collections of ../shared/data, or LINPOINT_DATA"]
    fn levels_are_as_labelled() {
        let file = std::fs::File::open(data("conditions/tricky.jsonl.gz")).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(file)
            .read_to_string(&mut text)
            .unwrap();
        let mut compared = 0;
        for line in text.lines() {
            let labels: serde_json::Value = serde_json::from_str(line).unwrap();
            if !matches!(labels["x-kind"].as_str(), Some("txn" | "list-append")) {
                continue;
            }
            let recorded = parse(line.as_bytes(), &ReadOptions::default()).remove(0);
            let recorded = recorded.unwrap();
            let named = recorded.object_type.as_ref();
            let named = named.map(|(name, params)| (name.as_str(), params));
            let model = Model::of(&recorded.history, named).unwrap();
            for (label, level) in LABELS {
                let Some(holds) = labels["x-conditions"][label].as_bool() else {
                    continue;
                };
                // What an aborted transaction wrote is then written by none, which violates the same levels.
                let reports =
                    check(&recorded.history, &model, &[level], &Budget::default()).unwrap();
                let found = matches!(reports[0].verdict, Verdict::Holds(_));
                assert_eq!(found, holds, "{label}: {line}");
                compared += 1;
            }
        }
        assert_eq!(compared, 892);
    }
}
