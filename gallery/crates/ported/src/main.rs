//! Crates that can be built with `loom`, as they are published, at each access under the controlled scheduler.

use std::process::ExitCode;

use concurrent_queue::ConcurrentQueue;
use linpoint_gallery::{Bug, Finding, Means, Version, run};
use linpoint_test::object;

/// A queue of one value, of which a slot that is being emptied is neither full nor empty.
const CONCURRENT_QUEUE: Bug = Bug {
    number: 17,
    name: "concurrent-queue",
    buggy: "2.5.0",
    fixed: None,
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object(|| ConcurrentQueue::bounded(1))
                .op("push", [1, 2], |queue, value: u32| {
                    queue.push(value).is_ok()
                })
                .op0("pop", |queue| queue.pop().ok())
                .all(2, 2)
        })
    },
};

fn main() -> ExitCode {
    run(&[CONCURRENT_QUEUE], &[Version::Buggy])
}
