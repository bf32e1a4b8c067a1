//! Objects that are several handles.

use linpoint_test::ends::{Cloned, Handles, Owned, cloned, each, owned};
use linpoint_test::specs::{Channel, ChannelOp, ChannelRet};
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::mpsc::{self, SyncSender, TryRecvError, TrySendError};
use linpoint_test::sync::{Arc, Mutex};
use linpoint_test::{FailureKind, Object, Report, Strategy, Verdict, object_with};

use crate::lossy::{Bug, Receiver, Sender, channel};
use crate::{agreed, caught, passes};

type Ends = Handles<(Cloned<Sender>, Owned<Receiver>)>;

fn lossy(bug: Bug) -> Object<Ends> {
    object_with(move || {
        let (sender, receiver) = channel(bug);
        (cloned(sender), owned(receiver))
    })
    .on("send", [1, 2], Sender::send)
    .drops::<Sender>("drop sender")
    .on0("try_recv", Receiver::try_recv)
    .on0("recv", Receiver::recv)
    .may_block("recv")
    .on0("len", Receiver::len)
}

#[test]
fn a_channel_is_as_its_serial_executions() {
    passes(&lossy(Bug::None).random(2, 3, 20));
    passes(&lossy(Bug::None).all(3, 1));
    passes(&lossy(Bug::None).auto(2));
}

#[test]
fn a_receiver_that_looks_twice_is_disconnected_too_soon() {
    let failure = caught(
        lossy(Bug::LooksTwice).random(2, 3, 100),
        FailureKind::NoWitness,
    );
    assert_eq!(
        failure.matrix.concat().len(),
        3,
        "send, drop, and try_recv: {failure}"
    );
    assert_eq!(failure.matrix.len(), 2, "{failure}");
}

#[test]
fn a_length_underflows() {
    let test = lossy(Bug::LenUnderflows).matrix([vec!["send(1)"], vec!["try_recv", "len"]]);
    caught(test, FailureKind::NoWitness);
}

#[test]
fn a_receiver_that_is_not_woken_is_stuck() {
    let failure = caught(
        lossy(Bug::SilentDrop).random(2, 2, 100),
        FailureKind::NoStuckWitness,
    );
    assert_eq!(failure.matrix.concat().len(), 2, "{failure}");
    assert!(failure.blocked[0].contains("recv"), "{failure}");
}

#[test]
fn every_search_decides_drops_as_plain_enumeration_does() {
    let tests = [
        vec![vec!["send(1)", "drop sender"], vec!["try_recv"]],
        vec![vec!["send(1)", "drop sender"], vec!["recv", "try_recv"]],
        vec![
            vec!["drop sender"],
            vec!["send(1)", "drop sender"],
            vec!["recv"],
        ],
        vec![vec!["drop sender"], vec!["drop sender"], vec!["recv"]],
        vec![vec!["send(1)"], vec!["try_recv", "len"]],
        vec![vec!["send(1)", "send(2)"], vec!["recv", "len"]],
        vec![vec!["send(1)", "try_recv"], vec!["drop sender"]],
    ];
    let mut failed = 0;
    for bug in [
        Bug::None,
        Bug::LooksTwice,
        Bug::LenUnderflows,
        Bug::SilentDrop,
    ] {
        for test in &tests {
            let passes = agreed(|| lossy(bug).matrix(test));
            assert!(passes || bug != Bug::None, "{test:?}");
            failed += usize::from(!passes);
        }
    }
    assert!(failed >= 4, "only {failed} failed");
}

/// The channel against its specification.
fn specified(bug: Bug) -> Object<Ends> {
    type Op = ChannelOp;
    type Ret = ChannelRet;
    object_with(move || {
        let (sender, receiver) = channel(bug);
        (cloned(sender), owned(receiver))
    })
    .against_ends(
        |holders| Channel::unbounded(holders.count::<Sender>(), holders.count::<Receiver>()),
        |spec| {
            spec.on([Op::Send(1), Op::Send(2)], |sender: &mut Sender, op| {
                if let Op::Send(message) = op {
                    sender.send(*message);
                }
                Ret::Sent
            })
            .drops::<Sender>(Op::DropSender, Ret::Done)
            .on(
                [Op::Recv, Op::Len],
                |receiver: &mut Receiver, op| match op {
                    Op::Len => Ret::Count(receiver.len()),
                    _ => receiver.recv().map_or(Ret::Disconnected, Ret::Received),
                },
            )
        },
    )
}

#[test]
fn a_specification_counts_the_handles_of_each_test() {
    passes(&specified(Bug::None).random(2, 2, 30));
    passes(&specified(Bug::None).matrix([vec!["Recv"]]));
    caught(
        specified(Bug::SilentDrop).random(2, 2, 100),
        FailureKind::NoStuckWitness,
    );
    // An error that its serial executions have, too, so that only a specification finds it.
    let uncounted = |plan: fn(Object<Ends>) -> Object<Ends>| plan(specified(Bug::UncountedClone));
    let failure = uncounted(|object| object.all(2, 2)).check();
    assert!(failure.failure().is_some(), "{failure}");
    for bug in [Bug::None, Bug::SilentDrop, Bug::UncountedClone] {
        agreed(|| {
            specified(bug).matrix([
                vec!["Send(1)", "DropSender"],
                vec!["DropSender"],
                vec!["Recv"],
            ])
        });
    }
}

#[test]
fn the_bounded_channel_of_the_facade_is_what_it_should_be() {
    type Op = ChannelOp;
    type Ret = ChannelRet;
    type Receiver = mpsc::Receiver<u32>;
    let object = object_with(|| {
        let (sender, receiver) = mpsc::sync_channel::<u32>(1);
        (cloned(sender), owned(receiver))
    })
    .against_ends(
        |holders| Channel::bounded(1, holders.count::<SyncSender<u32>>(), 1),
        |spec| {
            spec.on(
                [Op::Send(1), Op::TrySend(2)],
                |sender: &mut SyncSender<u32>, op| match op {
                    Op::TrySend(message) => match sender.try_send(*message) {
                        Ok(()) => Ret::Sent,
                        Err(TrySendError::Full(_)) => Ret::Full,
                        Err(TrySendError::Disconnected(_)) => Ret::Disconnected,
                    },
                    Op::Send(message) => Ret::sent(sender.send(*message)),
                    _ => unreachable!(),
                },
            )
            .drops::<SyncSender<u32>>(Op::DropSender, Ret::Done)
            .on(
                [Op::Recv, Op::TryRecv],
                |receiver: &mut Receiver, op| match op {
                    Op::Recv => Ret::received(receiver.recv()),
                    _ => match receiver.try_recv() {
                        Ok(message) => Ret::Received(message),
                        Err(TryRecvError::Empty) => Ret::Empty,
                        Err(TryRecvError::Disconnected) => Ret::Disconnected,
                    },
                },
            )
            .drops::<Receiver>(Op::DropReceiver, Ret::Done)
        },
    );
    passes(&object.random(2, 3, 30).all(2, 1));
}

fn problem(report: &Report) -> &str {
    match &report.verdict {
        Verdict::Undecided(why) => why,
        _ => panic!("{report}"),
    }
}

#[test]
fn tests_that_no_program_could_be_are_refused() {
    let check = |test: Vec<Vec<&str>>| lossy(Bug::None).matrix(test).check();
    let report = check(vec![vec!["recv"], vec!["try_recv"]]);
    assert!(problem(&report).contains("one thread has the"), "{report}");
    let report = check(vec![vec!["drop sender", "send(1)"]]);
    assert!(problem(&report).contains("consumes the handle"), "{report}");
    let object = lossy(Bug::None).on0("stray", |count: &mut Vec<u8>| count.len());
    assert!(problem(&object.check()).contains("no end with such handles"));
    let object = object_with(|| (owned(1u8), cloned(2u8))).on0("get", |value: &mut u8| *value);
    assert!(problem(&object.check()).contains("two ends have handles of the type u8"));
    let report = lossy(Bug::None)
        .drops::<Receiver>("drop receiver")
        .init(["drop receiver"])
        .matrix([["recv"]])
        .check();
    assert!(problem(&report).contains("consumes the handle"), "{report}");
}

#[test]
fn the_main_thread_leaves_after_the_initial_sequence() {
    let object = |test: Vec<Vec<&str>>| lossy(Bug::None).init(["send(1)"]).matrix(test);
    // It sends and leaves, and no other sender is left: the second `recv` does not wait.
    let report = passes(&object(vec![vec!["recv", "recv"]]));
    assert_eq!(report.effort().stuck, 0, "{report}");
    let report = passes(&object(vec![vec!["recv", "recv", "recv"], vec!["send(2)"]]));
    assert!(
        report.effort().stuck > 0,
        "a sender lives until the end: {report}"
    );
    // It stays if it is needed after the threads.
    let report = passes(
        &object(vec![vec!["recv"], vec!["drop sender"]]).finally(["send(2)", "len", "try_recv"]),
    );
    assert_eq!(report.effort().stuck, 0, "{report}");
}

#[test]
fn handles_that_are_made_for_their_threads() {
    /// Adds to a cell of its own.
    struct Counter {
        cells: Arc<[AtomicU32; 4]>,
        mine: usize,
    }
    let counter = || {
        object_with(|| {
            let cells: Arc<[AtomicU32; 4]> = Arc::new(Default::default());
            each(move |mine| Counter {
                cells: Arc::clone(&cells),
                mine,
            })
        })
        .on0("inc", |counter: &mut Counter| {
            let cell = &counter.cells[counter.mine];
            cell.store(cell.load(SeqCst) + 1, SeqCst);
        })
        .on0("sum", |counter: &mut Counter| {
            counter
                .cells
                .iter()
                .map(|cell| cell.load(SeqCst))
                .sum::<u32>()
        })
    };
    passes(&counter().random(2, 3, 20));
    passes(
        &counter()
            .finally(["sum"])
            .matrix([["inc"], ["inc"], ["inc"]]),
    );
}

#[test]
fn a_handle_is_consumed_for_its_result() {
    let object = object_with(|| cloned(Arc::new(Mutex::new(0u32))))
        .on0("inc", |count: &mut Arc<Mutex<u32>>| {
            *count.lock().unwrap() += 1
        })
        .consumes("into_inner", |count: Arc<Mutex<u32>>| {
            Arc::into_inner(count).map(|count| count.into_inner().unwrap())
        });
    passes(&object.all(3, 2));
}

#[test]
fn generated_tests_give_an_end_that_is_owned_to_one_thread() {
    let report = lossy(Bug::None)
        .random(3, 2, 60)
        .strategy(Strategy::Random(1))
        .keep_going()
        .check();
    let mut owners = [0; 3];
    for test in &report.tests {
        let has_receiver =
            |ops: &Vec<String>| ops.iter().any(|op| op.contains("recv") || op == "len");
        let threads: Vec<usize> = (0..3)
            .filter(|&thread| has_receiver(&test.matrix[thread]))
            .collect();
        assert!(threads.len() <= 1, "{:?}", test.matrix);
        for thread in threads {
            owners[thread] += 1;
        }
        for ops in &test.matrix {
            let dropped = ops.iter().position(|op| op == "drop sender");
            let rest = dropped.map_or(&[][..], |place| &ops[place + 1..]);
            assert!(rest.iter().all(|op| !op.contains("send")), "{ops:?}");
        }
    }
    assert!(owners.iter().all(|&tests| tests > 5), "{owners:?}");
}
