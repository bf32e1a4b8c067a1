//! The lines of crates that have a bug, in words of our own, over the types of `linpoint_test`.

mod broadcast;
mod channels;
mod handover;
mod mapped;
mod notify;
mod oneshot;
mod parker;
mod placeholders;
mod pools;
mod queues;
mod rwlock;

use linpoint_gallery::Bug;

/// All of them, in the order of their numbers.
pub(crate) const ALL: &[Bug] = &[
    channels::CROSSFIRE,
    channels::FLUME_POLLED,
    channels::FLUME_REGISTERED,
    handover::KANAL,
    channels::TOKIO_LEN,
    queues::HEAPLESS,
    mapped::DASHMAP,
    queues::CROSSBEAM_LEN,
    pools::SQLX,
    rwlock::PARKING_LOT,
    mapped::SKIPLIST,
    queues::CONCURRENT_QUEUE,
    placeholders::QUICK_CACHE_TERMINATED,
    placeholders::QUICK_CACHE_POLLED,
    parker::PAPAYA,
    notify::TOKIO_CROWD,
    notify::TOKIO_NOTIFY,
    broadcast::TOKIO_BROADCAST,
    pools::BB8,
    oneshot::ONESHOT,
];
