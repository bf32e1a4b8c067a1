//! Objects under the weak memory of loom, beside the same ones under sequential consistency.

use linpoint_test::{Coverage, Engine, FailureKind, Loom, Object, Verdict, object};

/// The objects, over the types of `$sync`.
macro_rules! objects {
    ($sync:path) => {
        use $sync as sync;

        use sync::Mutex;
        use sync::atomic::{AtomicBool, AtomicU32, Ordering};

        use super::{Object, object};

        /// A message with a flag that says whether it is there.
        pub(crate) struct Mailbox {
            message: AtomicU32,
            full: AtomicBool,
        }

        /// `[store, load]` are the orderings of the flag.
        pub(crate) fn mailbox([store, load]: [Ordering; 2]) -> Object<Mailbox> {
            let new = || Mailbox {
                message: AtomicU32::new(0),
                full: AtomicBool::new(false),
            };
            object(new)
                .op0("put", move |mailbox| {
                    mailbox.message.store(1, Ordering::Relaxed);
                    mailbox.full.store(true, store);
                })
                .op0("get", move |mailbox| {
                    let full = mailbox.full.load(load);
                    full.then(|| mailbox.message.load(Ordering::Relaxed))
                })
        }

        /// An increment may get lost.
        pub(crate) fn lossy_counter() -> Object<AtomicU32> {
            object(|| AtomicU32::new(0))
                .op0("inc", |count| {
                    let now = count.load(Ordering::Acquire);
                    count.store(now + 1, Ordering::Release);
                })
                .op0("get", |count| count.load(Ordering::Acquire))
        }

        pub(crate) fn locked_counter() -> Object<Mutex<u32>> {
            object(|| Mutex::new(0))
                .op0("inc", |count| *count.lock().unwrap() += 1)
                .op0("get", |count| *count.lock().unwrap())
        }
    };
}

mod weak {
    objects!(loom::sync);
}

mod strong {
    objects!(linpoint_test::sync);
}

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

fn under_loom<X: 'static>(object: Object<X>) -> Object<X> {
    object.under(Engine::Loom(Loom::default()))
}

#[test]
fn what_only_weak_memory_shows_is_found_and_labelled() {
    let relaxed = [Relaxed, Relaxed];
    let alone = strong::mailbox(relaxed).all(2, 2).check();
    assert!(
        alone.passed(),
        "nothing is wrong without weak memory: {alone}"
    );

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("loomed/mailbox.html");
    let report = under_loom(weak::mailbox(relaxed))
        .same_under_sc(strong::mailbox(relaxed))
        .all(2, 2)
        .html(&path)
        .check();
    let failure = report
        .failure()
        .expect("the flag may be seen before the message");
    assert_eq!(failure.kind, FailureKind::NoWitness, "{failure}");
    assert_eq!(failure.matrix, [["put"], ["get"]], "{failure}");
    let caveat = failure.caveat.as_deref().expect("it is no proof");
    assert!(
        caveat.starts_with("WEAK MEMORY ONLY, NEEDS REVIEW"),
        "{caveat}"
    );
    assert!(failure.to_string().contains(caveat));
    let page = std::fs::read_to_string(&path).expect("a page was asked for");
    assert_eq!(
        page.to_lowercase().matches("needs review").count(),
        1,
        "the headline says it"
    );

    let again = under_loom(weak::mailbox(relaxed))
        .replay(&failure.token)
        .check();
    let replayed = again.failure().expect("the token shows the failure");
    assert_eq!(replayed.history, failure.history);
    let caveat = replayed.caveat.as_deref().expect("it is no proof");
    assert!(caveat.contains("not compared"), "{caveat}");
}

#[test]
fn what_sequential_consistency_shows_as_well_is_a_proof() {
    let report = under_loom(weak::lossy_counter())
        .same_under_sc(strong::lossy_counter())
        .matrix([vec!["inc", "get"], vec!["inc"]])
        .check();
    let failure = report.failure().expect("increments get lost");
    assert_eq!(failure.caveat, None, "{failure}");
    assert_eq!(failure.preemptions, 1, "{failure}");
    assert!(!failure.interleaving.is_empty(), "{failure}");
}

#[test]
fn objects_that_are_right_pass() {
    let published = under_loom(weak::mailbox([Release, Acquire]))
        .all(2, 2)
        .check();
    assert!(
        matches!(
            published.verdict,
            Verdict::Pass(Coverage::WeakMemory(Some(2)))
        ),
        "{published}"
    );
    assert!(published.to_string().contains("no proof"), "{published}");
    let locked = under_loom(weak::locked_counter())
        .matrix([["inc"], ["inc"], ["get"]])
        .check();
    assert!(locked.passed(), "{locked}");
    let compared = strong::locked_counter().all(2, 2).check();
    assert!(compared.passed(), "{compared}");
}

#[test]
fn the_limits_of_loom_are_told() {
    let undecided = |report: linpoint_test::Report| match report.verdict {
        Verdict::Undecided(why) => why,
        _ => panic!("{report}"),
    };
    let few = undecided(
        weak::locked_counter()
            .under(Engine::Loom(Loom::default().executions(3)))
            .matrix([["inc", "get"], ["inc", "get"]])
            .check(),
    );
    assert!(few.contains("3 executions"), "{few}");

    let spinning = undecided(
        weak::locked_counter()
            .under(Engine::Loom(Loom::default().max_branches(5)))
            .matrix([["inc", "get"], ["inc", "get"]])
            .check(),
    );
    assert!(spinning.contains("branches"), "{spinning}");

    let waiting = undecided(
        under_loom(object(|| {
            (loom::sync::Mutex::new(()), loom::sync::Condvar::new())
        }))
        .op0("wait", |(lock, condition)| {
            drop(condition.wait(lock.lock().unwrap()).unwrap());
        })
        .may_block("wait")
        .matrix([["wait"], ["wait"]])
        .check(),
    );
    assert!(waiting.contains("waits for another"), "{waiting}");

    let threads = undecided(
        under_loom(weak::locked_counter())
            .matrix([["inc"], ["inc"], ["inc"], ["inc"]])
            .check(),
    );
    assert!(threads.contains("room for 3 threads"), "{threads}");
}
