//! Bugs that show between the polls of futures: the crates run as they are, a poll at a time.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use linpoint_gallery::{Bug, Finding, Means};
use linpoint_test::ends::{cloned, owned};
use linpoint_test::sync::Mutex;
use linpoint_test::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use linpoint_test::{future, object, object_with, thread};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::turns::{turn, turns};

pub(crate) const ALL: &[Bug] = &[
    FLUME_ORDER,
    KANAL,
    MOKA,
    TOKIO_CROWD,
    SHARED,
    FLUME_RENDEZVOUS,
];

/// The order of messages in a bounded channel whose sender waits.
const FLUME_ORDER: Bug = Bug {
    number: 4,
    name: "flume",
    buggy: "0.10.10",
    fixed: Some("0.10.11"),
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object_with(|| {
                let (sender, receiver) = flume_010::bounded(1);
                (owned(sender), owned(receiver))
            })
            .on_async(
                "send",
                [1, 2, 3],
                async |sender: &mut flume_010::Sender<u32>, message| {
                    turns(sender.send_async(message)).await.is_ok()
                },
            )
            .may_block("send")
            .repolled("send")
            .on0_async("recv", async |receiver: &mut flume_010::Receiver<u32>| {
                turns(receiver.recv_async()).await.ok()
            })
            .may_block("recv")
            .repolled("recv")
            .matrix([
                vec!["send(1)", "send(2)", "send(3)"],
                vec!["recv repolled", "recv repolled", "recv repolled"],
            ])
        })
    },
};

/// A receiver that is cancelled after a sender handed over its message.
const KANAL: Bug = Bug {
    number: 5,
    name: "kanal",
    buggy: "0.1.1",
    fixed: None,
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object_with(|| {
                let (sender, receiver) = kanal::bounded_async::<u32>(1);
                (owned(sender), owned(receiver))
            })
            .on(
                "try_send",
                [1],
                |sender: &mut kanal::AsyncSender<u32>, message| {
                    turn(|| sender.try_send(message)).ok()
                },
            )
            .on0_async("recv", async |receiver: &mut kanal::AsyncReceiver<u32>| {
                turns(receiver.recv()).await.ok()
            })
            .may_block("recv")
            .cancel_safe("recv")
            .on0("try_recv", |receiver: &mut kanal::AsyncReceiver<u32>| {
                turn(|| receiver.try_recv()).ok()
            })
            .matrix([vec!["try_send(1)"], vec!["recv cancelled", "try_recv"]])
        })
    },
};

/// Increments of an entry that are futures.
const MOKA: Bug = Bug {
    number: 12,
    name: "moka",
    buggy: "0.12.13",
    fixed: Some("0.12.14"),
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object(|| moka::future::Cache::<u32, u32>::new(10))
                .op0_async(
                    "increment",
                    async |cache: &moka::future::Cache<u32, u32>| {
                        let increment = cache.entry(1).and_upsert_with(|entry| async move {
                            future::yield_now().await;
                            entry.map_or(1, |entry| entry.into_value() + 1)
                        });
                        turns(increment).await.into_value()
                    },
                )
                .may_block("increment")
                .matrix([vec!["increment"], vec!["increment"], vec!["increment"]])
        })
    },
};

/// More waiters than are woken under one hold of the lock, and one that comes during the call.
const TOKIO_CROWD: Bug = Bug {
    number: 23,
    name: "tokio",
    buggy: "1.25.0",
    fixed: Some("1.26.0"),
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object(Crowd::new)
                .op0("notify_waiters", |crowd: &Crowd| crowd.notify.notify_waiters())
                .op0_async("wait twice", async |crowd: &Crowd| {
                    crowd.notify.notified().await;
                    crowd.notify.notified().await;
                })
                .may_block("wait twice")
                .matrix([vec!["notify_waiters"], vec!["wait twice"]])
        })
    },
};

/// A `Notify` that some wait for already. It is leaked: the waiters borrow it.
struct Crowd {
    notify: &'static Notify,
    _waiters: Vec<Pin<Box<Notified<'static>>>>,
}

/// Where the scheduler may switch to another thread.
struct Pause(AtomicUsize);

impl Wake for Pause {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Crowd {
    fn new() -> Self {
        let notify: &'static Notify = Box::leak(Box::default());
        let waker = Waker::from(Arc::new(Pause(AtomicUsize::new(0))));
        let waiters = (0..33).map(|_| {
            let mut waiter = Box::pin(notify.notified());
            let _ = waiter.as_mut().poll(&mut Context::from_waker(&waker));
            waiter
        });
        Crowd {
            notify,
            _waiters: waiters.collect(),
        }
    }
}

/// A clone that polls is cancelled, while another one relies on it.
const SHARED: Bug = Bug {
    number: 26,
    name: "futures-util",
    buggy: "0.3.34",
    fixed: None,
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object_with(|| {
                let event = linpoint_test::sync::Arc::new(Event::default());
                let waits = WaitsFor(linpoint_test::sync::Arc::clone(&event));
                let waits: BoxFuture<'static, ()> = Box::pin(waits);
                (owned(Finisher(event)), cloned(waits.shared()))
            })
            .on0("finish", |finisher: &mut Finisher| finisher.finish())
            .on0_async(
                "wait",
                async |shared: &mut Shared<BoxFuture<'static, ()>>| {
                    turns(shared.clone()).await;
                },
            )
            .may_block("wait")
            .cancel_safe("wait")
            .matrix([vec!["finish"], vec!["wait cancelled"], vec!["wait"]])
        })
    },
};

/// What the shared future waits for.
#[derive(Default)]
struct Event {
    is_done: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Finisher(linpoint_test::sync::Arc<Event>);

impl Finisher {
    fn finish(&self) {
        self.0.is_done.store(true, SeqCst);
        let waker = self.0.waker.lock().expect("no holder panics").take();
        if let Some(waker) = waker {
            turn(|| waker.wake());
        }
    }
}

struct WaitsFor(linpoint_test::sync::Arc<Event>);

impl Future for WaitsFor {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        *self.0.waker.lock().expect("no holder panics") = Some(context.waker().clone());
        if self.0.is_done.load(SeqCst) {
            return Poll::Ready(());
        }
        // What a real thread does at any time: others run before the poll is over.
        thread::yield_now();
        Poll::Pending
    }
}

/// A message that nothing receives is sent all the same.
const FLUME_RENDEZVOUS: Bug = Bug {
    number: 30,
    name: "flume",
    buggy: "0.12.0",
    fixed: None,
    means: Means::Controlled,
    check: |_| {
        Finding::of_object(|| {
            object_with(|| {
                let (sender, receiver) = flume_012::bounded(0);
                (owned(sender), owned(receiver))
            })
            .on_async(
                "send",
                [1],
                async |sender: &mut flume_012::Sender<u32>, message| {
                    turns(sender.send_async(message)).await.is_ok()
                },
            )
            .may_block("send")
            .on0_async("recv", async |receiver: &mut flume_012::Receiver<u32>| {
                turns(receiver.recv_async()).await.ok()
            })
            .may_block("recv")
            .cancel_safe("recv")
            .matrix([vec!["send(1)"], vec!["recv cancelled"]])
        })
    },
};
