//! Operations that are futures: cancelled, polled again, timed, and spawned.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use linpoint_test::ends::{Cloned, Handles, Owned, cloned, owned};
use linpoint_test::future::{self, Elapsed, block_on, sleep, spawn, timeout, yield_now};
use linpoint_test::specs::{Channel, ChannelOp, ChannelRet};
use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Mutex};
use linpoint_test::{FailureKind, Model, Object, Strategy, object, object_with};

use crate::{agreed, caught, passes};

/// What is wrong with a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bug {
    None,
    /// Looks for a message, and leaves its waker later.
    LeavesLate,
    /// Leaves the waker of the first poll only.
    KeepsFirst,
    /// A sender hands its message over to a receiver that waits, which may be dropped.
    HandsOver,
}

#[derive(Default)]
struct State {
    queue: VecDeque<u32>,
    senders: usize,
    waker: Option<Waker>,
    /// The message that was handed over.
    slot: Option<u32>,
}

#[derive(Clone)]
struct Shared {
    state: Arc<Mutex<State>>,
    bug: Bug,
}

struct Sender(Shared);
struct Receiver(Shared);

fn channel(bug: Bug) -> (Sender, Receiver) {
    let state = State {
        senders: 1,
        ..State::default()
    };
    let shared = Shared {
        state: Arc::new(Mutex::new(state)),
        bug,
    };
    (Sender(shared.clone()), Receiver(shared))
}

impl Sender {
    fn send(&mut self, message: u32) {
        let mut state = self.0.state.lock().unwrap();
        let waker = state.waker.take();
        match &waker {
            Some(_) if self.0.bug == Bug::HandsOver => state.slot = Some(message),
            _ => state.queue.push_back(message),
        }
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Clone for Sender {
    fn clone(&self) -> Self {
        self.0.state.lock().unwrap().senders += 1;
        Sender(self.0.clone())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let Ok(mut state) = self.0.state.lock() else {
            return;
        };
        state.senders -= 1;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// A receiver that waits no more takes its waker away.
struct Waiting<'a>(&'a Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Ok(mut state) = self.0.state.lock() {
            state.waker = None;
        }
    }
}

impl Receiver {
    async fn recv(&mut self) -> Option<u32> {
        let Shared { state, bug } = &self.0;
        let _waiting = Waiting(&self.0);
        let mut polls = 0;
        poll_fn(move |context| {
            polls += 1;
            let mut state_now = state.lock().unwrap();
            if polls > 1
                && let Some(message) = state_now.slot.take()
            {
                return Poll::Ready(Some(message));
            }
            if let Some(message) = state_now.queue.pop_front() {
                return Poll::Ready(Some(message));
            }
            if state_now.senders == 0 {
                return Poll::Ready(None);
            }
            if *bug == Bug::LeavesLate {
                drop(state_now);
                state_now = state.lock().unwrap();
            }
            if *bug != Bug::KeepsFirst || state_now.waker.is_none() {
                state_now.waker = Some(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }

    fn try_recv(&mut self) -> Option<u32> {
        self.0.state.lock().unwrap().queue.pop_front()
    }
}

type Ends = Handles<(Cloned<Sender>, Owned<Receiver>)>;

fn tested(bug: Bug) -> Object<Ends> {
    object_with(move || {
        let (sender, receiver) = channel(bug);
        (cloned(sender), owned(receiver))
    })
    .on("send", [1, 2], Sender::send)
    .drops::<Sender>("drop sender")
    .on0_async("recv", async |receiver: &mut Receiver| {
        receiver.recv().await
    })
    .may_block("recv")
    .on0("try_recv", Receiver::try_recv)
}

#[test]
fn an_async_channel_is_as_its_serial_executions() {
    let object = || tested(Bug::None).cancel_safe("recv").repolled("recv");
    passes(&object().all(2, 1));
    passes(&object().random(2, 2, 40));
    passes(&object().matrix([
        vec!["send(1)", "send(2)"],
        vec!["recv cancelled", "recv repolled"],
    ]));
}

#[test]
fn a_waker_that_is_left_late_is_a_lost_wake_up() {
    let failure = caught(
        tested(Bug::LeavesLate).random(2, 2, 100),
        FailureKind::NoStuckWitness,
    );
    assert_eq!(failure.matrix.concat().len(), 2, "{failure}");
}

#[test]
fn the_first_waker_is_not_the_one_to_wake() {
    // Without another waker there is nothing to see.
    passes(&tested(Bug::KeepsFirst).matrix([["send(1)"], ["recv"]]));
    let object = tested(Bug::KeepsFirst).repolled("recv");
    let failure = caught(
        object.matrix([["send(1)"], ["recv repolled"]]),
        FailureKind::NoStuckWitness,
    );
    assert!(
        failure
            .to_string()
            .contains("polled again with another waker"),
        "{failure}"
    );
}

#[test]
fn a_message_that_was_handed_over_is_lost_with_the_receiver() {
    passes(&tested(Bug::HandsOver).matrix([vec!["send(1)"], vec!["recv", "try_recv"]]));
    let test = [vec!["send(1)"], vec!["recv cancelled", "try_recv"]];
    let safe = || tested(Bug::HandsOver).cancel_safe("recv");
    let failure = caught(safe().matrix(&test), FailureKind::NoWitness);
    assert!(
        failure.to_string().contains("recv cancelled = cancelled"),
        "{failure}"
    );
    let report = safe().random(2, 2, 200).check();
    assert!(report.failure().is_some(), "{report}");
    // As an operation that may have taken effect, it is explained.
    passes(&tested(Bug::HandsOver).cancellable("recv").matrix(&test));
}

#[test]
fn every_search_decides_cancellations_as_plain_enumeration_does() {
    let tests = [
        vec![vec!["send(1)"], vec!["recv cancelled"]],
        vec![vec!["send(1)"], vec!["recv cancelled", "try_recv"]],
        vec![vec!["drop sender"], vec!["recv cancelled", "recv"]],
        vec![vec!["send(1)"], vec!["recv repolled"]],
        vec![vec!["send(1)"], vec!["recv cancelled", "recv cancelled"]],
    ];
    let mut failed = 0;
    for bug in [Bug::None, Bug::LeavesLate, Bug::KeepsFirst, Bug::HandsOver] {
        for test in &tests {
            let safe = || {
                tested(bug)
                    .cancel_safe("recv")
                    .repolled("recv")
                    .matrix(test)
            };
            let passes = agreed(safe);
            assert!(passes || bug != Bug::None, "{test:?}");
            failed += usize::from(!passes);
            agreed(|| {
                tested(bug)
                    .cancellable("recv")
                    .repolled("recv")
                    .matrix(test)
            });
        }
    }
    assert!(failed >= 4, "only {failed} failed");
}

#[test]
fn a_specification_decides_cancellations() {
    type Op = ChannelOp;
    type Ret = ChannelRet;
    let specified = |bug| {
        object_with(move || {
            let (sender, receiver) = channel(bug);
            (cloned(sender), owned(receiver))
        })
        .against_ends(
            |holders| Channel::unbounded(holders.count::<Sender>(), 1),
            |spec| {
                spec.on([Op::Send(1), Op::Send(2)], |sender: &mut Sender, op| {
                    if let Op::Send(message) = op {
                        sender.send(*message);
                    }
                    Ret::Sent
                })
                .on_async([Op::Recv], async |receiver: &mut Receiver, _: &Op| {
                    receiver
                        .recv()
                        .await
                        .map_or(Ret::Disconnected, Ret::Received)
                })
            },
        )
    };
    let test = [vec!["Send(1)", "Send(2)"], vec!["Recv cancelled", "Recv"]];
    passes(&specified(Bug::None).cancel_safe("Recv").matrix(&test));
    caught(
        specified(Bug::HandsOver).cancel_safe("Recv").matrix(&test),
        FailureKind::NoStuckWitness,
    );
    passes(&specified(Bug::HandsOver).cancellable("Recv").matrix(&test));
}

/// Leaves its waker behind when it is dropped, which a sender wakes in vain: to be seen without any interleaving.
#[test]
fn a_cancellation_with_an_effect_shows_in_serial_executions() {
    let object = object(|| Semaphore::new(0, false))
        .op0_async("leak", async |semaphore: &Semaphore| {
            let mut acquire = std::mem::ManuallyDrop::new(semaphore.acquire());
            poll_fn(|context| Pin::new(&mut *acquire).poll(context)).await;
        })
        .may_block("leak")
        .cancel_safe("leak")
        .op0("release", Semaphore::release)
        .op0("try_acquire", Semaphore::try_acquire)
        .matrix([["leak cancelled", "release", "try_acquire"]]);
    let failure = caught(object, FailureKind::Nondeterministic);
    assert!(
        failure.sentence.contains("cancelled had an effect"),
        "{failure}"
    );
}

/// A semaphore that gives its permits to those who wait, in their order.
#[derive(Clone)]
struct Semaphore {
    state: Arc<Mutex<Permits>>,
    /// A future that is dropped gives back what it was given.
    gives_back: bool,
}

#[derive(Default)]
struct Permits {
    free: u32,
    waiting: VecDeque<(u64, Waker)>,
    granted: Vec<u64>,
    next: u64,
}

struct Acquire<'a> {
    semaphore: &'a Semaphore,
    id: Option<u64>,
}

impl Semaphore {
    fn new(free: u32, gives_back: bool) -> Self {
        let permits = Permits {
            free,
            ..Permits::default()
        };
        Semaphore {
            state: Arc::new(Mutex::new(permits)),
            gives_back,
        }
    }

    fn acquire(&self) -> Acquire<'_> {
        Acquire {
            semaphore: self,
            id: None,
        }
    }

    fn try_acquire(&self) -> bool {
        let mut state = self.state.lock().unwrap();
        let free = state.free > 0;
        state.free -= u32::from(free);
        free
    }

    fn release(&self) {
        let mut state = self.state.lock().unwrap();
        match state.waiting.pop_front() {
            Some((id, waker)) => {
                state.granted.push(id);
                drop(state);
                waker.wake();
            }
            None => state.free += 1,
        }
    }
}

impl Future for Acquire<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.semaphore.state.lock().unwrap();
        let waker = context.waker().clone();
        match self.id {
            None if state.free > 0 => {
                state.free -= 1;
                return Poll::Ready(());
            }
            None => {
                let id = state.next;
                state.next += 1;
                state.waiting.push_back((id, waker));
                drop(state);
                self.id = Some(id);
            }
            Some(id) => {
                if let Some(place) = state.granted.iter().position(|&granted| granted == id) {
                    state.granted.remove(place);
                    drop(state);
                    self.id = None;
                    return Poll::Ready(());
                }
                if let Some(waiter) = state.waiting.iter_mut().find(|waiter| waiter.0 == id) {
                    waiter.1 = waker;
                }
            }
        }
        Poll::Pending
    }
}

impl Drop for Acquire<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let Ok(mut state) = self.semaphore.state.lock() else {
            return;
        };
        state.waiting.retain(|waiter| waiter.0 != id);
        let granted = state.granted.contains(&id);
        state.granted.retain(|&granted| granted != id);
        drop(state);
        if granted && self.semaphore.gives_back {
            self.semaphore.release();
        }
    }
}

fn semaphore(gives_back: bool) -> Object<Semaphore> {
    object(move || Semaphore::new(1, gives_back))
        .op0_async("acquire", async |semaphore: &Semaphore| {
            semaphore.acquire().await
        })
        .may_block("acquire")
        .cancel_safe("acquire")
        .op0("try_acquire", Semaphore::try_acquire)
        .op0("release", Semaphore::release)
}

#[test]
fn a_semaphore_keeps_its_permits_when_a_waiter_leaves() {
    passes(&semaphore(true).all(2, 1));
    passes(&semaphore(true).random(2, 2, 30));
    let test = [
        vec!["try_acquire", "release"],
        vec!["acquire cancelled", "try_acquire"],
    ];
    assert!(agreed(|| semaphore(true).matrix(&test)));
    assert!(!agreed(|| semaphore(false).matrix(&test)));
    caught(semaphore(false).matrix(&test), FailureKind::NoWitness);
    let report = semaphore(false).random(2, 2, 300).check();
    assert!(report.failure().is_some(), "{report}");
}

/// A permit that is stored once; a notification may be given to a waiter that leaves.
fn notify(passes_on: bool) -> Object<Semaphore> {
    object(move || Semaphore::new(0, passes_on))
        .op0_async("notified", async |notify: &Semaphore| {
            notify.acquire().await
        })
        .may_block("notified")
        .cancel_safe("notified")
        .op0("notify_one", |notify| {
            if notify.state.lock().unwrap().free == 0 {
                notify.release();
            }
        })
}

#[test]
fn a_notification_of_a_waiter_that_leaves_is_passed_on() {
    let test = [
        vec!["notified cancelled"],
        vec!["notified"],
        vec!["notify_one"],
    ];
    passes(&notify(true).matrix(&test));
    let failure = caught(notify(false).matrix(&test), FailureKind::NoStuckWitness);
    assert!(failure.blocked[0].contains("notified"), "{failure}");
}

/// Takes a permit, waits for a moment, and counts it: half an effect if it is dropped between.
#[test]
fn a_future_that_is_dropped_half_way_shows_it_in_one_thread() {
    let object = |drive: fn(Object<AtomicU32>) -> Object<AtomicU32>| {
        let object = object(|| AtomicU32::new(0))
            .op0_async("twice", async |count: &AtomicU32| {
                count.fetch_add(1, SeqCst);
                yield_now().await;
                count.fetch_add(1, SeqCst);
            })
            .op0("get", |count| count.load(SeqCst));
        drive(object).matrix([["twice cancelled", "get"]])
    };
    caught(
        object(|object| object.cancel_safe("twice")),
        FailureKind::NoWitness,
    );
    caught(
        object(|object| object.cancellable("twice")),
        FailureKind::NoWitness,
    );
}

#[test]
fn tasks_run_beside_each_other() {
    let test = |adds: fn(&AtomicU32)| {
        Model::new(move || {
            let count = Arc::new(AtomicU32::new(0));
            block_on(async {
                let tasks = [(); 2].map(|()| {
                    let count = Arc::clone(&count);
                    spawn(async move {
                        yield_now().await;
                        adds(&count);
                        7
                    })
                });
                for task in tasks {
                    assert_eq!(task.await, Ok(7));
                }
            });
            assert_eq!(count.load(SeqCst), 2);
        })
        .preemptions(1)
        .exhaustive_executions(2_000)
    };
    let report = test(|count| _ = count.fetch_add(1, SeqCst)).check();
    assert!(report.passed(), "{report}");
    let report = test(|count| count.store(count.load(SeqCst) + 1, SeqCst)).check();
    let failure = report.failure().expect("it loses an increment");
    assert_eq!(failure.kind, FailureKind::Panics, "{failure}");
}

#[test]
fn a_time_out_comes_when_the_scheduler_says_so() {
    let outcomes = std::sync::Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = std::sync::Arc::clone(&outcomes);
    let report = Model::new(move || {
        let (mut sender, mut receiver) = channel(Bug::None);
        let task = spawn(async move { timeout(Duration::from_secs(1), receiver.recv()).await });
        sender.send(1);
        let outcome = block_on(task).unwrap();
        seen.lock().unwrap().insert(outcome.map_err(|Elapsed| ()));
    })
    .strategy(Strategy::Exhaustive)
    .check();
    assert!(report.passed(), "{report}");
    let outcomes = outcomes.lock().unwrap();
    assert_eq!(
        outcomes.iter().copied().collect::<Vec<_>>(),
        [Ok(Some(1)), Err(())]
    );
    // The one that is up first fires first.
    let report = Model::new(|| {
        block_on(async {
            let late = timeout(Duration::from_secs(2), std::future::pending::<()>());
            let early = timeout(Duration::from_secs(1), late).await;
            assert_eq!(early, Err(Elapsed));
            sleep(Duration::from_secs(5)).await;
        });
    })
    .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn a_task_is_aborted_where_it_waits() {
    let report = Model::new(|| {
        let semaphore = Semaphore::new(0, true);
        let mine = semaphore.clone();
        let task = spawn(async move { mine.acquire().await });
        task.abort();
        assert_eq!(block_on(task), Err(future::Aborted));
        semaphore.release();
        assert!(semaphore.try_acquire());
    })
    .check();
    assert!(report.passed(), "{report}");
}

#[test]
fn outside_of_a_check_futures_run_on_threads() {
    let (mut sender, mut receiver) = channel(Bug::None);
    let task = spawn(async move {
        sleep(Duration::from_millis(5)).await;
        sender.send(3);
    });
    assert_eq!(block_on(receiver.recv()), Some(3));
    assert_eq!(block_on(task), Ok(()));
    let never = timeout(Duration::from_millis(5), std::future::pending::<()>());
    assert_eq!(block_on(never), Err(Elapsed));
}
