//! Ten classes of `java.util.concurrent` as built-in types.

use super::ObjectType;
use super::catalog::MOST_PLACES;
use super::registry::{Given, TypeInfo};
use crate::error::Error;
use crate::spec::juc::{
    CollectionClass, HistoryForm, JavaCollection, JavaMap, MapClass, collection_methods,
    map_methods,
};

const CAPACITY: &str = "capacity";
const REQUIRED: &[(&str, &str)] = &[(CAPACITY, "how many elements it can hold; required")];
const OPTIONAL: &[(&str, &str)] = &[(
    CAPACITY,
    "how many elements it can hold; no limit by default",
)];

macro_rules! collection {
    ($constant:ident, $class:ident, $name:literal, $aliases:expr, $summary:literal, $params:expr, $capacity:expr) => {
        pub(super) const $constant: TypeInfo = TypeInfo {
            name: $name,
            aliases: &$aliases,
            summary: $summary,
            params: $params,
            methods: collection_methods(CollectionClass::$class),
            make: |given| {
                let class = CollectionClass::$class;
                let capacity = $capacity(given)?;
                Ok(ObjectType::new(JavaCollection {
                    class,
                    capacity,
                    form: HistoryForm::default(),
                }))
            },
        };
    };
}

macro_rules! map {
    ($constant:ident, $class:ident, $name:literal, $aliases:expr, $summary:literal) => {
        pub(super) const $constant: TypeInfo = TypeInfo {
            name: $name,
            aliases: &$aliases,
            summary: $summary,
            params: &[],
            methods: map_methods(MapClass::$class),
            make: |_| {
                let class = MapClass::$class;
                Ok(ObjectType::new(JavaMap {
                    class,
                    form: HistoryForm::default(),
                }))
            },
        };
    };
}

fn no_capacity(_: &Given<'_>) -> Result<Option<usize>, Error> {
    Ok(None)
}

fn optional_capacity(given: &Given<'_>) -> Result<Option<usize>, Error> {
    given.count(CAPACITY, 1..=MOST_PLACES)
}

fn required_capacity(given: &Given<'_>) -> Result<Option<usize>, Error> {
    match optional_capacity(given)? {
        None => Err(given.missing(CAPACITY)),
        some => Ok(some),
    }
}

collection! {
    ARRAY_BLOCKING_QUEUE, ArrayBlockingQueue, "array-blocking-queue",
    ["abq", "arrayblockingqueue", "java.util.concurrent.arrayblockingqueue"],
    "java.util.concurrent.ArrayBlockingQueue: a bounded queue in an array",
    REQUIRED, required_capacity
}

map! {
    CONCURRENT_HASH_MAP, ConcurrentHashMap, "concurrent-hash-map",
    ["chm", "concurrenthashmap", "java.util.concurrent.concurrenthashmap"],
    "java.util.concurrent.ConcurrentHashMap: a hash map"
}

collection! {
    CONCURRENT_LINKED_DEQUE, ConcurrentLinkedDeque, "concurrent-linked-deque",
    ["cld", "concurrentlinkeddeque", "java.util.concurrent.concurrentlinkeddeque"],
    "java.util.concurrent.ConcurrentLinkedDeque: an unbounded deque",
    &[], no_capacity
}

collection! {
    CONCURRENT_LINKED_QUEUE, ConcurrentLinkedQueue, "concurrent-linked-queue",
    ["clq", "concurrentlinkedqueue", "java.util.concurrent.concurrentlinkedqueue"],
    "java.util.concurrent.ConcurrentLinkedQueue: an unbounded queue",
    &[], no_capacity
}

map! {
    CONCURRENT_SKIP_LIST_MAP, ConcurrentSkipListMap, "concurrent-skip-list-map",
    ["cslm", "concurrentskiplistmap", "java.util.concurrent.concurrentskiplistmap"],
    "java.util.concurrent.ConcurrentSkipListMap: a sorted map"
}

collection! {
    CONCURRENT_SKIP_LIST_SET, ConcurrentSkipListSet, "concurrent-skip-list-set",
    ["csls", "concurrentskiplistset", "java.util.concurrent.concurrentskiplistset"],
    "java.util.concurrent.ConcurrentSkipListSet: a sorted set",
    &[], no_capacity
}

collection! {
    LINKED_BLOCKING_DEQUE, LinkedBlockingDeque, "linked-blocking-deque",
    ["lbd", "linkedblockingdeque", "java.util.concurrent.linkedblockingdeque"],
    "java.util.concurrent.LinkedBlockingDeque: an optionally bounded deque",
    OPTIONAL, optional_capacity
}

collection! {
    LINKED_BLOCKING_QUEUE, LinkedBlockingQueue, "linked-blocking-queue",
    ["lbq", "linkedblockingqueue", "java.util.concurrent.linkedblockingqueue"],
    "java.util.concurrent.LinkedBlockingQueue: an optionally bounded queue",
    OPTIONAL, optional_capacity
}

collection! {
    LINKED_TRANSFER_QUEUE, LinkedTransferQueue, "linked-transfer-queue",
    ["ltq", "linkedtransferqueue", "java.util.concurrent.linkedtransferqueue"],
    "java.util.concurrent.LinkedTransferQueue: an unbounded queue whose producers may wait for consumers",
    &[], no_capacity
}

collection! {
    PRIORITY_BLOCKING_QUEUE, PriorityBlockingQueue, "priority-blocking-queue",
    ["pbq", "priorityblockingqueue", "java.util.concurrent.priorityblockingqueue"],
    "java.util.concurrent.PriorityBlockingQueue: an unbounded queue that serves its smallest element first",
    &[], no_capacity
}
