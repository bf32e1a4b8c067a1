//! The locks and cells of the facade themselves, against specifications: what they let through decides what all checks see.

use std::collections::VecDeque;

use linpoint::{Outcomes, Spec};
use linpoint_test::ends::{Cloned, Owned, cloned, each, owned};
use linpoint_test::specs::{
    Channel, ChannelOp, ChannelRet, Once, OnceOp, OnceRet, Semaphore, SemaphoreOp, SemaphoreRet,
};
use linpoint_test::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use linpoint_test::sync::{
    Condvar, Mutex, MutexGuard, OnceLock, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use linpoint_test::{object, object_with};

use crate::passes;

/// A lock with shares, whose value counts the times that it was held alone.
#[derive(Clone, Copy, Debug)]
struct Shares;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LockOp {
    Read,
    TryRead,
    Write,
    TryWrite,
    Unlock,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum LockRet {
    /// It is held, and the value was this.
    Held(u32),
    Refused,
    UnlockedShare,
    Unlocked,
    /// It was not held.
    Nothing,
}

impl Spec for Shares {
    type Op = LockOp;
    type Ret = LockRet;
    /// The shares; whether it is held alone; the value.
    type State = (u32, bool, u32);

    fn init(&self) -> Self::State {
        (0, false, 0)
    }

    fn apply(&self, state: &Self::State, op: &LockOp) -> Outcomes<LockRet, Self::State> {
        let &(shares, alone, value) = state;
        let shared = (LockRet::Held(value), (shares + 1, false, value));
        let held_alone = (LockRet::Held(value), (0, true, value + 1));
        let refused = (LockRet::Refused, *state);
        let one = |(ret, next)| Outcomes::One(ret, next);
        match op {
            LockOp::Read if alone => Outcomes::Blocked,
            LockOp::Read => one(shared),
            LockOp::TryRead if alone => one(refused),
            LockOp::TryRead => one(shared),
            LockOp::Write if alone || shares > 0 => Outcomes::Blocked,
            LockOp::Write => one(held_alone),
            LockOp::TryWrite if alone || shares > 0 => one(refused),
            LockOp::TryWrite => one(held_alone),
            // Which client unlocks is not part of the operation: its answer tells.
            LockOp::Unlock => {
                let mut all = vec![(LockRet::Nothing, *state)];
                if alone {
                    all.push((LockRet::Unlocked, (0, false, value)));
                }
                if shares > 0 {
                    all.push((LockRet::UnlockedShare, (shares - 1, false, value)));
                }
                Outcomes::Many(all)
            }
        }
    }
}

/// A thread with what it holds.
struct Reader {
    lock: &'static RwLock<u32>,
    share: Option<RwLockReadGuard<'static, u32>>,
    alone: Option<RwLockWriteGuard<'static, u32>>,
}

impl Reader {
    fn run(&mut self, op: LockOp) -> LockRet {
        match op {
            LockOp::Read => self.share(self.lock.read().ok()),
            LockOp::TryRead => self.share(self.lock.try_read().ok()),
            LockOp::Write => self.alone(self.lock.write().ok()),
            LockOp::TryWrite => self.alone(self.lock.try_write().ok()),
            LockOp::Unlock if self.share.take().is_some() => LockRet::UnlockedShare,
            LockOp::Unlock if self.alone.take().is_some() => LockRet::Unlocked,
            LockOp::Unlock => LockRet::Nothing,
        }
    }

    fn share(&mut self, guard: Option<RwLockReadGuard<'static, u32>>) -> LockRet {
        let Some(guard) = guard else {
            return LockRet::Refused;
        };
        let value = *guard;
        self.share = Some(guard);
        LockRet::Held(value)
    }

    fn alone(&mut self, guard: Option<RwLockWriteGuard<'static, u32>>) -> LockRet {
        let Some(mut guard) = guard else {
            return LockRet::Refused;
        };
        let value = *guard;
        *guard += 1;
        self.alone = Some(guard);
        LockRet::Held(value)
    }
}

#[test]
fn a_readers_writer_lock_is_one() {
    use LockOp::{Read, TryRead, TryWrite, Unlock, Write};
    let ops = [Read, TryRead, Write, TryWrite, Unlock];
    for threads in [
        [vec!["Write", "Unlock"], vec!["Write", "Unlock"]],
        [vec!["Read", "Unlock"], vec!["Write", "Unlock"]],
        [vec!["TryRead", "Unlock"], vec!["Write", "Unlock"]],
        [vec!["TryWrite", "Unlock"], vec!["Read", "Unlock"]],
        [
            vec!["TryWrite", "Unlock"],
            vec!["TryRead", "Unlock", "TryWrite"],
        ],
        [
            vec!["Read", "Unlock", "Write"],
            vec!["TryWrite", "Unlock", "Read"],
        ],
    ] {
        let object = object_with(|| {
            // Guards borrow the lock, and live as long as the handles.
            let lock: &'static RwLock<u32> = Box::leak(Box::new(RwLock::new(0)));
            each(move |_| Reader {
                lock,
                share: None,
                alone: None,
            })
        });
        let object = object.against_ends(
            |_| Shares,
            |spec| spec.on(ops, |reader: &mut Reader, op| reader.run(*op)),
        );
        passes(&object.matrix(threads));
    }
}

/// A thread with the mutex that it holds.
struct Holder {
    lock: &'static Mutex<u32>,
    held: Option<MutexGuard<'static, u32>>,
}

impl Holder {
    fn run(&mut self, op: LockOp) -> LockRet {
        let guard = match op {
            LockOp::Write => self.lock.lock().ok(),
            LockOp::TryWrite => self.lock.try_lock().ok(),
            _ => {
                return match self.held.take() {
                    Some(_) => LockRet::Unlocked,
                    None => LockRet::Nothing,
                };
            }
        };
        let Some(mut guard) = guard else {
            return LockRet::Refused;
        };
        let value = *guard;
        *guard += 1;
        self.held = Some(guard);
        LockRet::Held(value)
    }
}

#[test]
fn a_mutex_is_one() {
    for threads in [
        vec![vec!["Write", "Unlock"], vec!["Write", "Unlock"]],
        vec![
            vec!["Write", "Unlock", "TryWrite"],
            vec!["TryWrite", "Unlock"],
        ],
        vec![
            vec!["TryWrite", "Unlock"],
            vec!["TryWrite", "Unlock"],
            vec!["TryWrite"],
        ],
    ] {
        let object = object_with(|| {
            let lock: &'static Mutex<u32> = Box::leak(Box::new(Mutex::new(0)));
            each(move |_| Holder { lock, held: None })
        });
        let ops = [LockOp::Write, LockOp::TryWrite, LockOp::Unlock];
        let object = object.against_ends(
            |_| Shares,
            |spec| spec.on(ops, |holder: &mut Holder, op| holder.run(*op)),
        );
        passes(&object.matrix(threads));
    }
}

/// Permits under a mutex, with a condition variable.
struct Permits {
    count: Mutex<u32>,
    changed: Condvar,
}

#[test]
fn a_condition_variable_loses_no_notification() {
    let make = || Permits {
        count: Mutex::new(0),
        changed: Condvar::new(),
    };
    let ops = [SemaphoreOp::Acquire(1), SemaphoreOp::Release(1)];
    let object = object(make).against(Semaphore { permits: 0 }, ops, |permits, op| {
        let mut count = permits.count.lock().unwrap();
        match op {
            SemaphoreOp::Acquire(_) => {
                while *count == 0 {
                    count = permits.changed.wait(count).unwrap();
                }
                *count -= 1;
                SemaphoreRet::Acquired
            }
            _ => {
                *count += 1;
                drop(count);
                permits.changed.notify_one();
                SemaphoreRet::Done
            }
        }
    });
    let object = object.matrix([["Acquire(1)", "Release(1)"], ["Release(1)", "Acquire(1)"]]);
    passes(&object.spurious(1));
}

#[test]
fn a_once_lock_is_set_once() {
    let ops = [
        OnceOp::Set(1),
        OnceOp::Set(2),
        OnceOp::Get,
        OnceOp::GetOrInit(3),
    ];
    let object = object(OnceLock::<u32>::new).against(Once::new(), ops, |cell, op| match op {
        OnceOp::Set(value) => OnceRet::Set(cell.set(*value).is_ok()),
        OnceOp::Get => OnceRet::Got(cell.get().copied()),
        OnceOp::GetOrInit(value) => OnceRet::Got(Some(*cell.get_or_init(|| *value))),
        OnceOp::Wait => OnceRet::Got(None),
    });
    passes(&object.all(2, 2));
}

#[test]
fn a_channel_is_one() {
    type Ends = (Cloned<Sender<u32>>, Owned<Receiver<u32>>);
    let received = |result: Result<u32, TryRecvError>| match result {
        Ok(message) => ChannelRet::Received(message),
        Err(TryRecvError::Empty) => ChannelRet::Empty,
        Err(TryRecvError::Disconnected) => ChannelRet::Disconnected,
    };
    for threads in [
        vec![vec!["Send(1)", "DropSender"], vec!["TryRecv", "TryRecv"]],
        vec![
            vec!["Send(1)", "DropSender"],
            vec!["Send(2)"],
            vec!["Recv", "TryRecv"],
        ],
        vec![vec!["Send(1)", "Send(2)"], vec!["Recv", "DropReceiver"]],
    ] {
        let object = object_with(|| -> Ends {
            let (sender, receiver) = channel();
            (cloned(sender), owned(receiver))
        });
        let object = object.against_ends(
            |holders| Channel::unbounded(holders.count::<Sender<u32>>(), 1),
            |spec| {
                spec.on(
                    [ChannelOp::Send(1), ChannelOp::Send(2)],
                    |sender: &mut Sender<u32>, op| {
                        let ChannelOp::Send(message) = op else {
                            unreachable!("only messages are sent");
                        };
                        ChannelRet::sent(sender.send(*message))
                    },
                )
                .drops::<Sender<u32>>(ChannelOp::DropSender, ChannelRet::Done)
                .on([ChannelOp::Recv], |receiver: &mut Receiver<u32>, _| {
                    ChannelRet::received(receiver.recv())
                })
                .on(
                    [ChannelOp::TryRecv],
                    move |receiver: &mut Receiver<u32>, _| received(receiver.try_recv()),
                )
                .drops::<Receiver<u32>>(ChannelOp::DropReceiver, ChannelRet::Done)
            },
        );
        passes(&object.matrix(threads));
    }
}

/// What the tests above would say of locks that let too many through.
#[test]
fn a_lock_that_lets_two_through_is_caught() {
    struct TwoSteps {
        held: Mutex<bool>,
        log: Mutex<VecDeque<bool>>,
    }
    let make = || TwoSteps {
        held: Mutex::new(false),
        log: Mutex::default(),
    };
    let object = object(make).against(Shares, [LockOp::TryWrite], |lock, _| {
        if *lock.held.lock().unwrap() {
            return LockRet::Refused;
        }
        lock.log.lock().unwrap().push_back(true);
        *lock.held.lock().unwrap() = true;
        LockRet::Held(0)
    });
    let report = object.matrix([["TryWrite"], ["TryWrite"]]).check();
    assert!(report.failure().is_some(), "{report}");
}
