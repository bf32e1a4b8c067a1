//! The tests that pages of the guide show, run as they stand there.
#![expect(clippy::unwrap_used, reason = "as users write it")]

mod counter;
mod queue;
mod whole_test;

/// The examples in Rust of a page.
fn examples(page: &str) -> Vec<&str> {
    let blocks = page.split("```rust\n").skip(1);
    blocks
        .filter_map(|block| Some(block.split_once("```")?.0))
        .collect()
}

#[test]
fn pages_show_what_runs() {
    let shown = [
        examples(include_str!(
            "../../../../docs/guide/from-loom-and-shuttle.md"
        )),
        examples(include_str!("../../../../docs/guide/from-lincheck.md")),
    ];
    let run = [
        include_str!("whole_test.rs"),
        include_str!("counter.rs"),
        include_str!("queue.rs"),
    ];
    assert_eq!(shown.concat(), run);
}
