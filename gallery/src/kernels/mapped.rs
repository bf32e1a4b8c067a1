//! Maps.

use linpoint_gallery::{Bug, Finding, Version};
use linpoint_test::object;
use linpoint_test::sync::RwLock;
use linpoint_test::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// `dashmap`, `src/lib.rs`, `_len` and `_is_empty`: the shards are counted one after the other. A key that comes to a shard that was counted
/// and one that leaves a shard that was not make a map look empty that never was.
pub(super) const DASHMAP: Bug = Bug {
    number: 8,
    name: "dashmap",
    buggy: "6.2.1",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Shards {
                shards: Default::default(),
                version,
            })
            .op("insert", [0, 1], |map, key: usize| map.set(key, true))
            .op("remove", [0, 1], |map, key: usize| map.set(key, false))
            .op0("is_empty", Shards::is_empty)
            .init(["insert(1)"])
            .matrix([vec!["insert(0)", "remove(1)"], vec!["is_empty"]])
        })
    },
};

/// A map of two keys, each in a shard of its own.
struct Shards {
    shards: [RwLock<bool>; 2],
    version: Version,
}

impl Shards {
    fn set(&self, key: usize, is_there: bool) -> bool {
        let mut shard = self.shards[key].write().expect("no holder panics");
        std::mem::replace(&mut *shard, is_there)
    }

    fn is_empty(&self) -> bool {
        let counts = |key: usize| self.shards[key].read().expect("no holder panics");
        match self.version {
            Version::Buggy => !*counts(0) && !*counts(1),
            Version::Fixed => {
                let both = [counts(0), counts(1)];
                both.iter().all(|shard| !**shard)
            }
        }
    }
}

/// `crossbeam-skiplist`, `src/base.rs`, `insert_internal`: to insert a key that is there removes its entry first, so a reader meanwhile
/// finds none.
pub(super) const SKIPLIST: Bug = Bug {
    number: 16,
    name: "crossbeam-skiplist",
    buggy: "0.1.3",
    fixed: Some("mended"),
    check: |version| {
        Finding::of_object(|| {
            object(move || Key {
                removed: AtomicBool::new(false),
                version,
            })
            .op0("insert", Key::insert)
            .op0("get", |key| !key.removed.load(SeqCst))
            .matrix([vec!["insert"], vec!["get"]])
        })
    },
};

/// The entry of a key that is there.
struct Key {
    removed: AtomicBool,
    version: Version,
}

impl Key {
    fn insert(&self) {
        if self.version == Version::Buggy {
            self.removed.store(true, SeqCst);
        }
        self.removed.store(false, SeqCst);
    }
}
