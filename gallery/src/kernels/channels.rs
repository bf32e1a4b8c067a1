//! Channels whose last sender leaves.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, Waker};

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::ends::owned;
use linpoint_test::object_with;
use linpoint_test::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use linpoint_test::sync::{Arc, Mutex, MutexGuard};

/// `crossfire`, `src/shared.rs`, `try_recv`: the queue is looked at before the senders. If a message is sent and the last sender leaves
/// in between, the channel is said to be disconnected, and has a message.
pub(super) const CROSSFIRE: Bug = Bug {
    number: 1,
    name: "crossfire",
    buggy: "3.1.19",
    fixed: Some("3.1.20"),
    check: |version| {
        let order = match version {
            Version::Buggy => Order::QueueFirst,
            Version::Fixed => Order::SendersFirst,
        };
        check(order, |object| {
            object
                .on0("try_recv", |receiver: &mut Receiver| receiver.try_recv())
                .matrix([vec!["send(7)", "drop sender"], vec!["try_recv"]])
        })
    },
};

/// `flume`, `src/async.rs`, `poll_inner`: the same race in the second poll of a future that waits. The order is that of its first lines.
pub(super) const FLUME_POLLED: Bug = Bug {
    number: 2,
    name: "flume",
    buggy: "0.10.14",
    fixed: Some("0.11.0"),
    check: |version| {
        let order = match version {
            Version::Buggy => Order::QueueFirst,
            Version::Fixed => Order::Together,
        };
        check(order, |object| {
            object
                .on0_async("recv", Receiver::recv)
                .may_block("recv")
                .repolled("recv")
                .matrix([vec!["send(7)", "drop sender"], vec!["recv repolled"]])
        })
    },
};

/// `flume`, `src/async.rs`, `poll_inner`: the same race some lines later, after the waker was left once more.
pub(super) const FLUME_REGISTERED: Bug = Bug {
    number: 3,
    name: "flume",
    buggy: "0.10.3",
    fixed: Some("0.10.4"),
    check: |version| {
        let order = match version {
            Version::Buggy => Order::QueueThenWaker,
            Version::Fixed => Order::Together,
        };
        check(order, |object| {
            object
                .on0_async("recv", Receiver::recv)
                .may_block("recv")
                .repolled("recv")
                .matrix([vec!["send(7)", "drop sender"], vec!["recv repolled"]])
        })
    },
};

/// In which order a receiver looks at the queue and at the senders.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    QueueFirst,
    SendersFirst,
    /// The queue; then the waker is left; then the senders.
    QueueThenWaker,
    /// Both, or again the queue if there are no senders.
    Together,
}

type Channel = linpoint_test::Object<
    linpoint_test::ends::Handles<(
        linpoint_test::ends::Owned<Sender>,
        linpoint_test::ends::Owned<Receiver>,
    )>,
>;

fn check(order: Order, tested: impl Fn(Channel) -> Channel) -> Finding {
    Finding::of_object(|| {
        let object = object_with(move || {
            let shared = Arc::new(Shared::default());
            let sender = Sender(Arc::clone(&shared));
            (owned(sender), owned(Receiver { shared, order }))
        });
        tested(
            object
                .on("send", [7], |sender: &mut Sender, message| {
                    sender.send(message)
                })
                .drops::<Sender>("drop sender"),
        )
    })
}

#[derive(Default)]
struct Shared {
    queue: Mutex<VecDeque<u32>>,
    waker: Mutex<Option<Waker>>,
    disconnected: AtomicBool,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, VecDeque<u32>> {
        self.queue.lock().expect("no holder panics")
    }

    fn wake(&self) {
        let waker = self.waker.lock().expect("no holder panics").take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

struct Sender(Arc<Shared>);

impl Sender {
    fn send(&mut self, message: u32) {
        self.0.queue().push_back(message);
        self.0.wake();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.0.disconnected.store(true, SeqCst);
        self.0.wake();
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum NoMessage {
    Empty,
    Disconnected,
}

struct Receiver {
    shared: Arc<Shared>,
    order: Order,
}

impl Receiver {
    fn try_recv(&mut self) -> Result<u32, NoMessage> {
        let shared = &self.shared;
        let was_disconnected =
            self.order == Order::SendersFirst && shared.disconnected.load(SeqCst);
        if let Some(message) = shared.queue().pop_front() {
            return Ok(message);
        }
        let is_disconnected = match self.order {
            Order::SendersFirst => was_disconnected,
            _ => shared.disconnected.load(SeqCst),
        };
        match is_disconnected {
            true => Err(NoMessage::Disconnected),
            false => Err(NoMessage::Empty),
        }
    }

    async fn recv(&mut self) -> Result<u32, NoMessage> {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<u32, NoMessage>> {
        let Receiver { shared, order } = self;
        if let Some(message) = shared.queue().pop_front() {
            return Poll::Ready(Ok(message));
        }
        if *order == Order::QueueFirst && shared.disconnected.load(SeqCst) {
            return Poll::Ready(Err(NoMessage::Disconnected));
        }
        *shared.waker.lock().expect("no holder panics") = Some(context.waker().clone());
        if *order == Order::QueueThenWaker && shared.disconnected.load(SeqCst) {
            return Poll::Ready(Err(NoMessage::Disconnected));
        }
        let is_disconnected = shared.disconnected.load(SeqCst);
        match shared.queue().pop_front() {
            Some(message) => Poll::Ready(Ok(message)),
            None if is_disconnected => Poll::Ready(Err(NoMessage::Disconnected)),
            None => Poll::Pending,
        }
    }
}

/// `tokio`, `src/sync/mpsc/list.rs`, `Rx::len`: the position of the senders is read before the mark that the last of them leaves, which takes
/// a position, too. If it leaves in between, the difference is negative.
pub(super) const TOKIO_LEN: Bug = Bug {
    number: 6,
    name: "tokio",
    buggy: "1.52.2",
    fixed: Some("1.52.3"),
    check: |version| {
        Finding::of_object(|| {
            object_with(move || {
                let block = Arc::new(Block::default());
                let receiver = BlockReceiver {
                    block: Arc::clone(&block),
                    version,
                };
                (owned(BlockSender(block)), owned(receiver))
            })
            .on0("send", |sender: &mut BlockSender| sender.send())
            .drops::<BlockSender>("drop sender")
            .on0("len", |receiver: &mut BlockReceiver| receiver.len())
            .matrix([vec!["send", "drop sender"], vec!["len"]])
        })
    },
};

/// The first block of the list, of which nothing is received.
#[derive(Default)]
struct Block {
    tail: AtomicUsize,
    /// A bit for each place that has its message.
    ready: AtomicUsize,
}

/// The bit that says that the senders have left.
const CLOSED: usize = 1 << 16;

struct BlockSender(Arc<Block>);

impl BlockSender {
    fn send(&mut self) {
        let place = self.0.tail.fetch_add(1, SeqCst);
        self.0.ready.fetch_or(1 << place, SeqCst);
    }
}

impl Drop for BlockSender {
    fn drop(&mut self) {
        self.0.tail.fetch_add(1, SeqCst);
        self.0.ready.fetch_or(CLOSED, SeqCst);
    }
}

struct BlockReceiver {
    block: Arc<Block>,
    version: Version,
}

impl BlockReceiver {
    fn len(&mut self) -> usize {
        let tail = self.block.tail.load(SeqCst);
        let ready = || self.block.ready.load(SeqCst);
        match self.version {
            Version::Buggy => tail.wrapping_sub(usize::from(ready() & CLOSED != 0)),
            Version::Fixed if tail == 0 => 0,
            // Only the last place may be that of the mark, or of a message that is being sent.
            Version::Fixed => tail - usize::from(ready() & 1 << (tail - 1) == 0),
        }
    }
}
