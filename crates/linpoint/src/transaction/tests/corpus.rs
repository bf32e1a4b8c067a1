//! Histories that have some levels and not others: in the corpus for registers, here for lists.

use crate::budget::Budget;
use crate::transaction::{Level, Model, Verdict, check};

/// Appends that no read shows: write skew and a lost update; and a cycle of reads and a session.
const LISTS: &str = r#"
{"type":"list-append","ops":[{"process":0,"method":"txn","arg":[["r","x",null],["append","y",1]],"call":0,"ret":[["r","x",[]],["append","y",1]],"return":2},{"process":1,"method":"txn","arg":[["r","y",null],["append","x",1]],"call":1,"ret":[["r","y",[]],["append","x",1]],"return":3}],"x-claims":"!strict-serializable !session-serializable !serializable session-snapshot-isolation snapshot-isolation prefix causal read-atomic read-committed pl-2"}
{"type":"list-append","ops":[{"process":0,"method":"txn","arg":[["r","x",null],["append","x",1]],"call":0,"ret":[["r","x",[]],["append","x",1]],"return":2},{"process":1,"method":"txn","arg":[["r","x",null],["append","x",2]],"call":1,"ret":[["r","x",[]],["append","x",2]],"return":3}],"x-claims":"!strict-serializable !session-serializable !serializable !session-snapshot-isolation !snapshot-isolation prefix causal read-atomic read-committed pl-2"}
{"type":"list-append","ops":[{"process":1,"method":"txn","arg":[["r","x",null],["append","y",1]],"call":0,"ret":[["r","x",[1]],["append","y",1]],"return":1},{"process":2,"method":"txn","arg":[["r","y",null]],"call":2,"ret":[["r","y",[1]]],"return":3},{"process":2,"method":"txn","arg":[["append","x",1]],"call":4,"ret":[["append","x",1]],"return":5}],"x-claims":"!strict-serializable !session-serializable serializable !session-snapshot-isolation snapshot-isolation !prefix !causal !read-atomic !read-committed pl-2"}
"#;

/// The levels that each history of a text has, which are those that it claims.
fn held(text: &str) -> Vec<Vec<Level>> {
    let mut all = Vec::new();
    for json in text.lines().filter(|line| !line.is_empty()) {
        let document: serde_json::Value = serde_json::from_str(json).expect("JSON");
        let recorded = crate::format::parse(json.as_bytes(), &Default::default()).remove(0);
        let recorded = recorded.expect("a history");
        let named = recorded.object_type.as_ref();
        let named = named.map(|(name, params)| (name.as_str(), params));
        let model = Model::of(&recorded.history, named).expect("transactions");
        let mut levels = Vec::new();
        for claim in document["x-claims"].as_str().expect("claims").split(' ') {
            let level: Level = claim.trim_start_matches('!').parse().expect("a level");
            let found = check(&recorded.history, &model, &[level], &Budget::default());
            let holds = matches!(found.expect("levels")[0].verdict, Verdict::Holds(_));
            assert_eq!(holds, !claim.starts_with('!'), "{claim} of {json}");
            levels.extend(holds.then_some(level));
        }
        all.push(levels);
    }
    all
}

#[test]
fn levels_that_do_not_follow_are_shown_by_a_history() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/conditions/transactions.jsonl"
    );
    let registers = held(&std::fs::read_to_string(path).expect("the corpus"));
    let lists = held(LISTS);
    for (_, strong) in Level::NAMES {
        for (_, weak) in Level::NAMES {
            // On registers there is no PL-2, which is below all others.
            let is_shown =
                |levels: &Vec<Level>| levels.contains(&strong) && !levels.contains(&weak);
            let shown_on_registers = weak != Level::Pl2 && registers.iter().any(is_shown);
            let is_shown = shown_on_registers || lists.iter().any(is_shown);
            assert_eq!(is_shown, !strong.implies(weak), "{strong} and {weak}");
        }
    }
}
