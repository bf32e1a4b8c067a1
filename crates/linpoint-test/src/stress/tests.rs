use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use linpoint::format::{ReadOptions, read};
use linpoint::{Outcomes, object_type};

use super::*;

type Queue = Mutex<VecDeque<i64>>;

fn queue() -> Stress<Named<Queue>> {
    stress(Queue::default)
        .op("enq", fresh, |queue, value| {
            queue.lock().expect("no panics").push_back(value);
        })
        .op0("deq", |queue| queue.lock().expect("no panics").pop_front())
        .object_type("queue")
        .threads(2)
}

/// Reads and writes as two steps.
#[derive(Default)]
struct TornCounter(AtomicI64);

impl TornCounter {
    fn inc(&self) {
        let count = self.0.load(Ordering::SeqCst);
        std::thread::yield_now();
        self.0.store(count + 1, Ordering::SeqCst);
    }

    fn get(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("linpoint-{name}-{}", std::process::id()))
}

#[test]
fn a_correct_queue_passes_in_short_runs_and_in_a_long_one() {
    let report = queue().ops(10).runs(200).run();
    assert_eq!((report.runs, report.operations), (200, 4000));
    let report = queue().runs(1).ops(20_000).clock(Clock::Time).run();
    assert_eq!((report.runs, report.operations), (1, 40_000));
    assert!(report.overlapping <= report.operations);
}

#[test]
fn a_lost_increment_is_caught_and_saved_with_the_same_verdict() {
    let folder = folder("torn");
    let report = stress(TornCounter::default)
        .op0("inc", TornCounter::inc)
        .op0("get", TornCounter::get)
        .object_type("counter")
        .save_in(&folder)
        .check()
        .expect("a test");
    let failure = report.violation().expect("increments are lost");
    let path = failure.saved.as_ref().expect("saved");
    let mut verdicts = Vec::new();
    read(path, &ReadOptions::default(), |recorded| {
        let recorded = recorded.expect("well-formed");
        assert_eq!(recorded.history.calls(), failure.history.calls());
        assert_eq!(recorded.history.rets(), failure.history.rets());
        let (name, params) = recorded.object_type.expect("the header names it");
        let object = object_type(&name, &params).expect("known");
        let again = Checker::default().check_recorded(&object, &recorded.history);
        verdicts.push(again.expect("decided").verdict);
    });
    assert!(matches!(verdicts[..], [Verdict::Violation(_)]));
    let page = failure.page.as_ref().expect("a page beside it");
    let page = page.as_ref().expect("written");
    let page = std::fs::read_to_string(page).expect("text");
    assert!(page.contains("not linearizable") && page.contains("counter"));
    let text = report.to_string();
    assert!(text.starts_with("NOT LINEARIZABLE: run "), "{text}");
    assert!(
        text.contains("thread 0") && text.contains("get() → "),
        "{text}"
    );
    std::fs::remove_dir_all(folder).expect("just made");
}

#[test]
fn a_stack_without_a_lock_is_caught() {
    /// Slots and the number of those in use, which are changed one after the other.
    #[derive(Default)]
    struct Unlocked {
        slots: [AtomicI64; 32],
        used: AtomicI64,
    }
    let report = stress(Unlocked::default)
        .op("push", fresh, |stack, value| {
            let used = stack.used.load(Ordering::SeqCst);
            stack.slots[used as usize].store(value, Ordering::SeqCst);
            std::thread::yield_now();
            stack.used.store(used + 1, Ordering::SeqCst);
        })
        .op0("pop", |stack| {
            let used = stack.used.load(Ordering::SeqCst);
            (used > 0).then(|| {
                stack.used.store(used - 1, Ordering::SeqCst);
                stack.slots[used as usize - 1].load(Ordering::SeqCst)
            })
        })
        .object_type("stack")
        .ops(12)
        .save_in(folder("unlocked"))
        .check()
        .expect("a test");
    assert!(report.violation().is_some(), "{report}");
    std::fs::remove_dir_all(folder("unlocked")).expect("just made");
}

/// A counter whose `Draw` returns the count before it.
struct Tickets;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Op {
    Draw,
    Look,
}

impl Spec for Tickets {
    type Op = Op;
    type Ret = i64;
    type State = i64;

    fn init(&self) -> i64 {
        0
    }

    fn apply(&self, &next: &i64, op: &Op) -> Outcomes<i64, i64> {
        Outcomes::One(next, if *op == Op::Draw { next + 1 } else { next })
    }
}

#[test]
fn specifications_of_users_are_checked() {
    let atomic = |counter: &AtomicI64, op: &Op| match op {
        Op::Draw => counter.fetch_add(1, Ordering::SeqCst),
        Op::Look => counter.load(Ordering::SeqCst),
    };
    let ops = [Op::Draw, Op::Look];
    let report = stress_spec(AtomicI64::default, Tickets, ops.clone(), atomic);
    assert!(report.ops(5).runs(300).run().is_linearizable());

    let torn = |counter: &TornCounter, op: &Op| {
        let count = counter.get();
        if *op == Op::Draw {
            counter.inc();
        }
        count
    };
    let report = stress_spec(TornCounter::default, Tickets, ops, torn)
        .ops(5)
        .save_in(folder("tickets"))
        .check()
        .expect("a test");
    let failure = report.violation().expect("tickets are drawn twice");
    assert!(failure.to_string().contains("Draw"), "{failure}");
    std::fs::remove_dir_all(folder("tickets")).expect("just made");
}

#[test]
fn a_panic_is_reported_with_its_operation_and_the_history_up_to_it() {
    let folder = folder("panics");
    let calls = AtomicI64::new(0);
    let report = queue()
        .op("enq", fresh, move |queue, value| {
            let is_last = calls.fetch_add(1, Ordering::SeqCst) == 100;
            queue.lock().expect("no panics").push_back(value);
            assert!(!is_last, "too many");
        })
        .save_in(&folder)
        .check()
        .expect("a test");
    let Outcome::Panicked {
        run,
        operation,
        message,
        saved,
        ..
    } = &report.outcome
    else {
        panic!("{report}")
    };
    assert_eq!((operation.as_str(), message.as_str()), ("enq", "too many"));
    // The runs before the panic are decided; the run of the panic is saved, with a pending operation.
    assert!(report.runs > 0 && report.runs == *run, "{report}");
    read(
        saved.as_ref().expect("saved"),
        &ReadOptions::default(),
        |recorded| {
            let history = recorded.expect("well-formed").history;
            let open: Vec<String> = history
                .ops()
                .filter(|op| op.result.is_none())
                .map(|op| op.call_text())
                .collect();
            assert!(
                matches!(&open[..], [one] if one.starts_with("enq(")),
                "{open:?}"
            );
            let verdict = queue_verdict(&history);
            assert!(matches!(verdict, Verdict::Linearizable(_)), "{verdict:?}");
        },
    );
    std::fs::remove_dir_all(folder).expect("just made");
}

fn queue_verdict(history: &linpoint::History) -> Verdict {
    let checker = Checker::default();
    let queue = object_type("queue", &Default::default()).expect("known");
    let report = checker.check_recorded(&queue, history);
    report.expect("decided").verdict
}

#[test]
fn a_history_is_not_saved_without_the_records_of_all_threads() {
    let report = queue()
        .op0("peek", |_| -> Option<i64> {
            std::thread::sleep(Duration::from_secs(3600));
            None
        })
        .only_on([1])
        .op0("size", |_| -> i64 { panic!("not yet written") })
        .only_on([0])
        .check()
        .expect("a test");
    let Outcome::Panicked { saved, .. } = &report.outcome else {
        panic!("{report}")
    };
    let why = saved.as_ref().expect_err("a thread is missing");
    assert!(why.contains("thread 1 has not ended"), "{why}");
}

#[test]
fn hangs_are_reported_with_their_operation() {
    let hangs = queue()
        .op0("peek", |_| {
            std::thread::sleep(Duration::from_secs(3600));
        })
        .stuck_after(Duration::from_millis(300))
        .check()
        .expect("a test");
    let Outcome::Stuck { waiting, .. } = &hangs.outcome else {
        panic!("{hangs}")
    };
    assert!(waiting.iter().any(|(_, operation)| operation == "peek"));
    let text = hangs.to_string();
    assert!(text.starts_with("STUCK: run 0, no operation"), "{text}");
    assert!(text.contains("history not saved"), "{text}");
}

#[test]
fn a_page_that_cannot_be_written_is_reported() {
    let folder = folder("no-page");
    let failing = || {
        stress(TornCounter::default)
            .op0("inc", TornCounter::inc)
            .op0("get", TornCounter::get)
            .object_type("counter")
            .save_in(&folder)
            .check()
            .expect("a test")
    };
    let first = failing();
    let saved = first
        .violation()
        .expect("increments are lost")
        .saved
        .clone();
    // A folder with the name of the next page keeps it from being written.
    let name = saved
        .expect("saved")
        .to_string_lossy()
        .replace("-1.jsonl", "-2.html");
    std::fs::create_dir(&name).expect("free");
    let text = failing().to_string();
    assert!(text.contains("page not written: "), "{text}");
    assert!(text.contains(&name), "{text}");
    std::fs::remove_dir_all(folder).expect("just made");
}

#[test]
fn one_is_no_plural() {
    let text = queue().runs(1).ops(1).threads(1).run().to_string();
    assert!(text.contains("\n1 run, 1 thread, 1 operation, "), "{text}");
}

#[test]
fn threads_keep_to_their_operations_and_weights() {
    let report = queue()
        .op0("size", |queue| queue.lock().expect("no panics").len())
        .only_on([1])
        .weight(1000)
        .runs(20)
        .run();
    assert_eq!(report.runs, 20);
    let on_no_thread = queue().only_on([1]).op0("peek", |_| ()).only_on([5]);
    assert!(on_no_thread.check().is_ok());
    let idle = stress(Queue::default).object_type("queue").check();
    assert_eq!(
        idle.expect_err("no operation").to_string(),
        "thread 0 has no operation"
    );
}

#[test]
fn tests_that_make_no_sense_are_refused() {
    let error = |stress: Stress<Named<Queue>>| stress.check().expect_err("no test").to_string();
    assert!(error(queue().object_type("sofa")).starts_with("unknown type"));
    // The error comes before anything runs.
    let made = || -> Queue { panic!("an object was made") };
    let unknown = stress(made)
        .op("enq", fresh, |_, _| ())
        .op0("levitate", |_| ())
        .object_type("queue");
    let unknown = error(unknown);
    assert!(
        unknown.starts_with("unknown method \"levitate\""),
        "{unknown}"
    );
    assert!(error(stress(Queue::default).op0("deq", |_| ())).contains("object_type"));
}

#[test]
fn a_panic_names_the_line_of_the_test() {
    static LINE: AtomicI64 = AtomicI64::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.payload_as_str().unwrap_or_default();
        match info
            .location()
            .filter(|_| message.contains("no type to check against"))
        {
            Some(location) if location.file().ends_with("tests.rs") => {
                LINE.store(location.line().into(), Ordering::SeqCst);
            }
            _ => before(info),
        }
    }));
    let line = line!() + 1;
    let run = std::panic::catch_unwind(|| stress(Queue::default).op0("deq", |_| ()).run());
    assert!(run.is_err());
    assert_eq!(LINE.load(Ordering::SeqCst), i64::from(line));
}

#[test]
fn overlaps_are_counted() {
    let record = |called, returned| Record {
        op: (),
        ret: (),
        called,
        returned,
    };
    let (a, b) = ([record(0, 1), record(4, 9)], [record(2, 3), record(5, 6)]);
    assert_eq!(overlapping(&[&a[..], &b[..]]), 2);
}

mod programs {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::specs::{Channel, ChannelOp as Op, ChannelRet as Ret};

    #[derive(Default)]
    struct Shared {
        queue: Mutex<VecDeque<u32>>,
        disconnected: AtomicBool,
    }

    struct Sender(Arc<Shared>);

    impl Drop for Sender {
        fn drop(&mut self) {
            self.0.disconnected.store(true, Ordering::SeqCst);
        }
    }

    struct Receiver(Arc<Shared>);

    impl Receiver {
        /// Looks for a message, and then for the sender, or the other way round.
        fn try_recv(&mut self, sender_first: bool) -> Ret {
            let shared = &self.0;
            let left = || shared.disconnected.load(Ordering::SeqCst);
            let before = sender_first && left();
            let message = shared.queue.lock().expect("no panics").pop_front();
            if !sender_first && message.is_none() {
                // Nearly always long enough for the sender to send and leave.
                let end = Instant::now() + Duration::from_millis(2);
                while !left() && Instant::now() < end {
                    std::thread::yield_now();
                }
            }
            match message {
                Some(message) => Ret::Received(message),
                None if before || (!sender_first && left()) => Ret::Disconnected,
                None => Ret::Empty,
            }
        }
    }

    fn channel(sender_first: bool) -> Stress<Programs<Channel>> {
        stress_threads(Channel::unbounded(1, 1), move || {
            let shared = Arc::new(Shared::default());
            let send = |sender: &mut Sender| {
                let mut queue = sender.0.queue.lock().expect("no panics");
                queue.push_back(7);
                Ret::Sent
            };
            let take = move |receiver: &mut Receiver| receiver.try_recv(sender_first);
            [
                Thread::with(Sender(Arc::clone(&shared)))
                    .call(Op::Send(7), send)
                    .call(Op::Send(7), send)
                    .drops::<Sender>(Op::DropSender, Ret::Done),
                Thread::with(Receiver(shared))
                    .call(Op::TryRecv, take)
                    .call(Op::TryRecv, take)
                    .call(Op::TryRecv, take),
            ]
        })
    }

    #[test]
    fn ends_that_are_dropped_pass_if_they_are_right() {
        let report = channel(true).runs(2_000).run();
        assert_eq!((report.runs, report.threads), (2_000, 2));
    }

    #[test]
    fn a_failure_is_reduced_to_the_steps_that_it_needs() {
        let found = channel(false)
            .runs(usize::MAX)
            .budget(Duration::from_secs(20));
        let each = Duration::from_millis(100);
        let found = found.check_smallest(each).expect("a test");
        assert!(found.report.violation().is_some(), "{found}");
        let steps: usize = found.programs.iter().map(Vec::len).sum();
        assert!(steps < 6, "{found}");
        assert!(
            found.programs[0].contains(&"DropSender".to_owned()),
            "{found}"
        );
    }

    #[test]
    fn a_wrong_number_of_threads_is_refused() {
        let error = channel(true).threads(3).check().expect_err("two programs");
        assert!(error.to_string().contains(".threads"), "{error}");
    }
}
