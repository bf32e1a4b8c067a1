//! A stack in a linked list whose entries are counted references.

use linpoint_gallery::{Bug, Finding, Means, Version};
use linpoint_test::object;
use linpoint_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// `scc`, `src/stack.rs` and `src/queue.rs`, `cleanup_newest` and `cleanup_oldest`: to unlink a first entry that was deleted, the next one
/// is asked for a reference of its own. If that one was unlinked and released meanwhile, the answer is none, and the rest is cut off.
pub(super) const SCC: Bug = Bug {
    number: 20,
    name: "scc",
    buggy: "2.1.8",
    fixed: Some("2.1.9"),
    means: Means::Kernel,
    check: |version| {
        Finding::of_object(|| {
            object(move || Stack::new(version))
                .op("push", [1, 2, 3], |stack, value| stack.push(value))
                .op0("pop", Stack::pop)
                .init(["push(1)", "push(2)"])
                .finally(["pop"])
                .matrix([vec!["pop"], vec!["push(3)", "pop"]])
        })
    },
};

/// The number of an entry that does not exist.
const NONE: usize = usize::MAX;

/// An entry of the list.
struct Entry {
    deleted: AtomicUsize,
    /// Links to it, and references that threads hold for a moment. It is released with the last one.
    references: AtomicUsize,
    next: AtomicUsize,
}

/// The entry of a value has its number.
struct Stack {
    entries: Vec<Entry>,
    newest: AtomicUsize,
    version: Version,
}

impl Stack {
    fn new(version: Version) -> Self {
        let entry = |_| Entry {
            deleted: AtomicUsize::new(0),
            references: AtomicUsize::new(1),
            next: AtomicUsize::new(NONE),
        };
        Stack {
            entries: (0..4).map(entry).collect(),
            newest: AtomicUsize::new(NONE),
            version,
        }
    }

    fn is_deleted(&self, entry: usize) -> bool {
        self.entries[entry].deleted.load(SeqCst) == 1
    }

    /// Takes a reference of an entry that is not released.
    fn share(&self, entry: usize) -> Option<usize> {
        let references = &self.entries.get(entry)?.references;
        let more = |count| (count > 0).then_some(count + 1);
        references.fetch_update(SeqCst, SeqCst, more).ok()?;
        Some(entry)
    }

    fn give_back(&self, entry: usize) {
        let Some(Entry {
            references, next, ..
        }) = self.entries.get(entry)
        else {
            return;
        };
        if references.fetch_sub(1, SeqCst) == 1 {
            self.give_back(next.load(SeqCst));
        }
    }

    /// Moves a link, with the reference that the caller has of the new entry.
    fn link(&self, link: &AtomicUsize, from: usize, to: usize) -> bool {
        let moved = link.compare_exchange(from, to, SeqCst, SeqCst).is_ok();
        self.give_back(if moved { from } else { to });
        moved
    }

    /// The next entry that is not deleted. Those in between are unlinked.
    fn next(&self, entry: usize) -> usize {
        let first = self.entries[entry].next.load(SeqCst);
        let mut next = first;
        while next != NONE && self.is_deleted(next) {
            next = self.entries[next].next.load(SeqCst);
        }
        if next != first && (next == NONE || self.share(next).is_some()) {
            self.link(&self.entries[entry].next, first, next);
        }
        next
    }

    /// The same, with a reference for the caller.
    fn next_shared(&self, entry: usize) -> usize {
        let mut next = self.next(entry);
        loop {
            match self.share(next) {
                Some(shared) => return shared,
                None if next == NONE || self.version == Version::Buggy => return NONE,
                None => next = self.next(next),
            }
        }
    }

    /// The first entry that is not deleted; those before it are unlinked.
    fn clean_up(&self) -> usize {
        loop {
            let newest = self.newest.load(SeqCst);
            if newest == NONE || !self.is_deleted(newest) {
                return newest;
            }
            let next = self.next_shared(newest);
            self.link(&self.newest, newest, next);
        }
    }

    fn push(&self, entry: usize) {
        loop {
            let newest = self.newest.load(SeqCst);
            if newest == NONE || self.share(newest).is_some() {
                self.entries[entry].next.store(newest, SeqCst);
                if self
                    .newest
                    .compare_exchange(newest, entry, SeqCst, SeqCst)
                    .is_ok()
                {
                    // The link to it has become one to the new entry.
                    self.give_back(newest);
                    return;
                }
                self.give_back(newest);
            }
        }
    }

    fn pop(&self) -> Option<usize> {
        loop {
            let newest = self.clean_up();
            if newest == NONE {
                return None;
            }
            if self.entries[newest].deleted.swap(1, SeqCst) == 0 {
                self.clean_up();
                return Some(newest);
            }
        }
    }
}
