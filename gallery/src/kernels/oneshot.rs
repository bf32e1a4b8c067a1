//! A channel for one message.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::cell::UnsafeCell;
use linpoint_test::sync::Arc;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use linpoint_test::{Model, thread};

/// `oneshot`, `src/lib.rs`, `Drop for Receiver`: a receiver that was polled and is dropped says so, and only then drops the waker that it
/// left. A sender that comes in between owns the channel, and frees it.
pub(super) const ONESHOT: Bug = Bug {
    number: 29,
    name: "oneshot",
    buggy: "0.1.11",
    fixed: Some("0.1.12"),
    check: |version| {
        Finding::of_model(&Model::new(move || {
            let channel = Arc::new(Channel {
                state: AtomicUsize::new(RECEIVING),
                memory: UnsafeCell::new(()),
            });
            let sender = Arc::clone(&channel);
            let sender = thread::spawn(move || sender.send());
            channel.drop_receiver(version);
            sender.join().expect("it does not panic");
        }))
    },
};

const EMPTY: usize = 0;
const MESSAGE: usize = 1;
const RECEIVING: usize = 2;
const UNPARKING: usize = 3;
const DISCONNECTED: usize = 4;

/// A channel whose receiver was polled.
struct Channel {
    state: AtomicUsize,
    /// What is freed with the channel: to free it is to write.
    memory: UnsafeCell<()>,
}

// SAFETY: the memory is never reached through the pointers of the cell: an access is the calls of `with` and `with_mut` alone.
unsafe impl Sync for Channel {}

impl Channel {
    fn free(&self) {
        self.memory.with_mut(|_| ());
    }

    fn use_waker(&self) {
        self.memory.with(|_| ());
    }

    fn send(&self) {
        match self.state.fetch_add(1, SeqCst) {
            RECEIVING => {
                self.use_waker();
                self.state.swap(MESSAGE, SeqCst);
            }
            DISCONNECTED => self.free(),
            _ => {}
        }
    }

    fn drop_receiver(&self, version: Version) {
        let is_unpolled = || {
            self.state
                .compare_exchange(RECEIVING, EMPTY, SeqCst, SeqCst)
                .is_ok()
        };
        if version == Version::Fixed && is_unpolled() {
            self.use_waker();
        }
        match self.state.swap(DISCONNECTED, SeqCst) {
            MESSAGE => self.free(),
            RECEIVING => self.use_waker(),
            UNPARKING => {
                while self.state.load(SeqCst) != MESSAGE {
                    linpoint_test::hint::spin_loop();
                }
                self.free();
            }
            _ => {}
        }
    }
}
