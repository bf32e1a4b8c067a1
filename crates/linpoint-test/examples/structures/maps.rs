//! Structures in several parts: a map in shards, accounts, a pool that counts its idle members, and a cache.

use std::sync::PoisonError;

use linpoint_test::sync::atomic::{AtomicU32, Ordering::SeqCst};
use linpoint_test::sync::{Mutex, MutexGuard};

use crate::plan::Variant;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A set of the keys 0 to 3 in two shards. The wrong one counts the keys of one shard after the other.
pub(crate) struct ShardedSet {
    shards: [Mutex<[bool; 2]>; 2],
    variant: Variant,
}

impl ShardedSet {
    pub(crate) fn new(variant: Variant) -> Self {
        ShardedSet {
            shards: Default::default(),
            variant,
        }
    }

    pub(crate) fn insert(&self, key: usize) -> bool {
        !std::mem::replace(&mut lock(&self.shards[key % 2])[key / 2], true)
    }

    pub(crate) fn remove(&self, key: usize) -> bool {
        std::mem::replace(&mut lock(&self.shards[key % 2])[key / 2], false)
    }

    pub(crate) fn contains(&self, key: usize) -> bool {
        lock(&self.shards[key % 2])[key / 2]
    }

    pub(crate) fn len(&self) -> usize {
        let count = |keys: &[bool; 2]| keys.iter().filter(|&&is_in| is_in).count();
        if self.variant == Variant::Wrong {
            let counts = self.shards.each_ref().map(|shard| count(&lock(shard)));
            return counts.iter().sum();
        }
        let guards = self.shards.each_ref().map(lock);
        guards.iter().map(|keys| count(keys)).sum()
    }
}

/// Two accounts with ten each. The wrong one looks at one after the other.
pub(crate) struct Bank {
    accounts: [Mutex<u32>; 2],
    variant: Variant,
}

impl Bank {
    pub(crate) fn new(variant: Variant) -> Self {
        Bank {
            accounts: [Mutex::new(10), Mutex::new(10)],
            variant,
        }
    }

    /// Moves one from this account to the other.
    pub(crate) fn transfer(&self, from: usize) -> bool {
        let mut accounts = self.accounts.each_ref().map(lock);
        if *accounts[from] == 0 {
            return false;
        }
        *accounts[from] -= 1;
        *accounts[1 - from] += 1;
        true
    }

    pub(crate) fn total(&self) -> u32 {
        if self.variant == Variant::Wrong {
            let balances = self.accounts.each_ref().map(|account| *lock(account));
            return balances.iter().sum();
        }
        let accounts = self.accounts.each_ref().map(lock);
        accounts.iter().map(|account| **account).sum()
    }
}

/// A pool of connections. The wrong one puts a connection back before it counts it.
pub(crate) struct Pool {
    idle: Mutex<Vec<u32>>,
    count: AtomicU32,
    variant: Variant,
}

impl Pool {
    pub(crate) fn new(variant: Variant) -> Self {
        Pool {
            idle: Mutex::new(Vec::new()),
            count: AtomicU32::new(0),
            variant,
        }
    }

    pub(crate) fn release(&self, connection: u32) {
        let mut idle = lock(&self.idle);
        idle.push(connection);
        if self.variant == Variant::Wrong {
            drop(idle);
        }
        self.count.fetch_add(1, SeqCst);
    }

    pub(crate) fn acquire(&self) -> Option<u32> {
        let mut idle = lock(&self.idle);
        let connection = idle.pop()?;
        if self.variant == Variant::Wrong {
            drop(idle);
        }
        self.count.fetch_sub(1, SeqCst);
        Some(connection)
    }

    pub(crate) fn idle(&self) -> u32 {
        match self.variant {
            Variant::Wrong => self.count.load(SeqCst),
            Variant::Right => {
                let _idle = lock(&self.idle);
                self.count.load(SeqCst)
            }
        }
    }
}

/// What is stored, and a copy of it that is quicker to read. The wrong one fills its copy with what it read before a change.
pub(crate) struct Cache {
    stored: Mutex<u32>,
    copy: Mutex<Option<u32>>,
    variant: Variant,
}

impl Cache {
    pub(crate) fn new(variant: Variant) -> Self {
        Cache {
            stored: Mutex::new(0),
            copy: Mutex::new(None),
            variant,
        }
    }

    pub(crate) fn set(&self, value: u32) {
        if self.variant == Variant::Wrong {
            *lock(&self.stored) = value;
            *lock(&self.copy) = None;
            return;
        }
        let mut copy = lock(&self.copy);
        *lock(&self.stored) = value;
        *copy = None;
    }

    pub(crate) fn get(&self) -> u32 {
        if self.variant == Variant::Wrong {
            if let Some(value) = *lock(&self.copy) {
                return value;
            }
            let value = *lock(&self.stored);
            *lock(&self.copy) = Some(value);
            return value;
        }
        let mut copy = lock(&self.copy);
        *copy.get_or_insert_with(|| *lock(&self.stored))
    }
}
