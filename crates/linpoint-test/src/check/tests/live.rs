//! The programs of the [model](super::model), run on the facade.

use std::time::Duration;

use super::model::{Access, Between, CELLS, Code, Local};
use crate::sync::atomic::{AtomicU32, Ordering::SeqCst};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::{hint, thread};

/// The object, made of types of the facade.
pub(super) struct Live {
    cells: [AtomicU32; CELLS],
    lock: Mutex<()>,
    changed: Condvar,
    other: RwLock<()>,
    owned: Arc<()>,
    /// How often a thread said that it may be unparked, and the last one that did.
    registered: AtomicU32,
    parker: std::sync::Mutex<Option<thread::Thread>>,
}

/// What a thread holds in an operation.
#[derive(Default)]
struct Held<'a> {
    guard: Option<MutexGuard<'a, ()>>,
    share: Option<RwLockReadGuard<'a, ()>>,
    all: Option<RwLockWriteGuard<'a, ()>>,
    target: Option<thread::Thread>,
    owned: Vec<Arc<()>>,
}

impl Default for Live {
    fn default() -> Self {
        Live {
            cells: Default::default(),
            lock: Mutex::default(),
            changed: Condvar::default(),
            other: RwLock::default(),
            owned: Arc::new(()),
            registered: AtomicU32::new(0),
            parker: std::sync::Mutex::default(),
        }
    }
}

impl Live {
    pub(super) fn run(&self, code: &[Code]) -> u64 {
        let mut local = Local::default();
        let mut held = Held::default();
        loop {
            match local.run(code) {
                Code::Access(access) => local.last = self.access(access, &mut held),
                Code::Rest(Between::Hint) => hint::spin_loop(),
                Code::Rest(Between::Yield) => thread::yield_now(),
                _ => return local.result,
            }
            local.place += 1;
        }
    }

    fn access<'a>(&'a self, access: Access, held: &mut Held<'a>) -> u8 {
        let guard = &mut held.guard;
        let number = match access {
            Access::Load(cell) => self.cells[cell].load(SeqCst),
            Access::Store(cell, value) => {
                self.cells[cell].store(value.into(), SeqCst);
                0
            }
            Access::Add(cell) => self.cells[cell].fetch_add(1, SeqCst),
            Access::Cas(cell) => self.cells[cell]
                .compare_exchange(0, 1, SeqCst, SeqCst)
                .is_ok()
                .into(),
            Access::WeakCas(cell) => self.cells[cell]
                .compare_exchange_weak(0, 1, SeqCst, SeqCst)
                .is_ok()
                .into(),
            Access::Swap(cell) => (self.cells[cell].swap(1, SeqCst) == 0).into(),
            Access::Wait => {
                let held = guard.take().expect("a thread waits without the lock");
                *guard = self.changed.wait(held).ok();
                return 0;
            }
            Access::WaitTimeout => {
                let held = guard.take().expect("a thread waits without the lock");
                let (held, timed_out) = self
                    .changed
                    .wait_timeout(held, Duration::ZERO)
                    .expect("no operation panics");
                *guard = Some(held);
                return u8::from(!timed_out.timed_out());
            }
            Access::NotifyOne => {
                self.changed.notify_one();
                return 0;
            }
            Access::NotifyAll => {
                self.changed.notify_all();
                return 0;
            }
            Access::Lock => return keep(guard, self.lock.lock().ok()),
            Access::TryLock => return keep(guard, self.lock.try_lock().ok()),
            Access::TryLockFor => {
                let lock = self.lock.try_lock_for(Duration::ZERO);
                return keep(guard, lock.ok());
            }
            Access::Unlock => return keep(guard, None),
            Access::Share => return keep(&mut held.share, self.other.read().ok()),
            Access::TryShare => return keep(&mut held.share, self.other.try_read().ok()),
            Access::Unshare => return keep(&mut held.share, None),
            Access::Exclude => return keep(&mut held.all, self.other.write().ok()),
            Access::TryExclude => return keep(&mut held.all, self.other.try_write().ok()),
            Access::Unexclude => return keep(&mut held.all, None),
            Access::Register => {
                self.registered.fetch_add(1, SeqCst);
                *self.parker() = Some(thread::current());
                0
            }
            Access::Look => {
                self.registered.load(SeqCst);
                held.target.clone_from(&self.parker());
                u32::from(held.target.is_some())
            }
            Access::Unpark => {
                let target = held.target.as_ref();
                target.expect("a thread unparks none").unpark();
                0
            }
            Access::Park => {
                thread::park();
                0
            }
            Access::ParkTimeout => {
                thread::park_timeout(Duration::ZERO);
                0
            }
            Access::Clone => {
                held.owned.push(Arc::clone(&self.owned));
                0
            }
            Access::Drop => {
                drop(held.owned.pop());
                0
            }
            Access::Count => Arc::strong_count(&self.owned) as u32,
        };
        number as u8
    }

    fn parker(&self) -> std::sync::MutexGuard<'_, Option<thread::Thread>> {
        self.parker
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Takes a lock, or gives it back. Returns whether it is taken.
fn keep<G>(guard: &mut Option<G>, new: Option<G>) -> u8 {
    let taken = new.is_some();
    *guard = new;
    u8::from(taken)
}
