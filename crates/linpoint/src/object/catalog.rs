//! The table of the built-in types.

use super::ObjectType;
use super::juc;
use super::registry::{Given, TypeInfo};
use crate::error::Error;
use crate::spec::*;
use crate::value::Value;

fn boxed(object: impl Simulated + 'static) -> Result<ObjectType, Error> {
    Ok(ObjectType::new(object))
}

/// Builds a snapshot whose number of entries is the parameter called `entries`.
fn snapshot(given: &Given<'_>, writers: Writers, entries: &str) -> Result<ObjectType, Error> {
    boxed(Snapshot {
        writers,
        processes: given.count(entries, 1..=MOST_ENTRIES)?,
        initial: given.take("initial").unwrap_or(Value::Int(0)),
    })
}

const SNAPSHOT_ENTRIES: &str = "how many entries there are; by default as many as the scans show";
const SNAPSHOT_INITIAL: &str = "what every entry holds at first; 0 by default";

macro_rules! methods {
    ($($call:literal => $answers:literal),* $(,)?) => {
        &[$(MethodInfo { call: $call, answers: $answers }),*]
    };
}

/// The largest capacity: that of the queues of Java.
pub(super) const MOST_PLACES: usize = i32::MAX as usize;

/// All built-in types. A static, since [`types`] is inlined into its callers, and a constant would compile all engines for all
/// types again in each caller.
pub(super) static TYPES: &[TypeInfo] = &[
    TypeInfo {
        name: "register",
        aliases: &["rw-register"],
        summary: "a read/write register",
        params: &[("initial", "what it holds at first; nil by default")],
        methods: methods!["read()" => "the value", "write(v)" => "nil"],
        make: |given| {
            boxed(Register {
                initial: given.take("initial").unwrap_or_default(),
                cas: false,
            })
        },
    },
    TypeInfo {
        name: "cas-register",
        aliases: &[],
        summary: "a register with compare-and-set",
        params: &[("initial", "what it holds at first; nil by default")],
        methods: methods![
            "read()" => "the value",
            "write(v)" => "nil",
            "cas([from, to])" => "true if it held `from` and now holds `to`, else false",
        ],
        make: |given| {
            boxed(Register {
                initial: given.take("initial").unwrap_or_default(),
                cas: true,
            })
        },
    },
    TypeInfo {
        name: "kv",
        aliases: &["key-value", "map"],
        summary: "a map from keys to values, checked key by key",
        params: &[(
            "initial",
            "what get, append and cas find under a missing key; nil by default",
        )],
        methods: methods![
            "get(k)" => "the value",
            "put([k, v])" => "nil",
            "append([k, text])" => "nil",
            "cas([k, from, to])" => "true if `k` held `from` and now holds `to`, else false",
            "delete(k)" => "whether `k` was there, as it is after put, append or cas, whatever the value; nil does not tell",
        ],
        make: |given| {
            boxed(KeyValue {
                missing: given.take("initial").unwrap_or_default(),
            })
        },
    },
    TypeInfo {
        name: "set",
        aliases: &[],
        summary: "a set; checked value by value unless the whole set is read",
        params: &[],
        methods: methods![
            "add(v)" => "whether `v` is new; nil does not tell",
            "remove(v)" => "whether `v` was there; nil does not tell",
            "contains(v)" => "whether `v` is there",
            "read()" => "the list of all values, in any order",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Set),
    },
    TypeInfo {
        name: "etcd",
        aliases: &[],
        summary: "an etcd store: revisions, transactions, leases, compaction",
        params: &[("revision", "the revision at the start; 1 by default")],
        methods: methods![
            "range(k), get(k)" => "{revision, kvs, count}; docs/etcd.md has all forms of arguments and answers",
            "put([k, v])" => "{revision}",
            "delete(k)" => "{revision, deleted}",
            "txn(t)" => "{revision, succeeded, results}",
            "lease_grant(id), lease_revoke(id)" => "{revision}",
            "compact(revision)" => "{revision}",
            "defragment()" => "{revision}",
        ],
        make: |given| {
            let revision = given.integer("revision")?.unwrap_or(1);
            boxed(Etcd { revision })
        },
    },
    TypeInfo {
        name: "bag",
        aliases: &["multiset", "pool", "unordered-queue", "total-queue"],
        summary: "a container that serves its values in any order",
        params: &[],
        methods: methods![
            "add(v), enqueue(v)" => "nil",
            "take(), dequeue()" => "any value, or nil if there is none",
            "peek()" => "any value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Container::unbounded(Discipline::Any)),
    },
    TypeInfo {
        name: "stack",
        aliases: &["lifo"],
        summary: "a stack: last in, first out",
        params: &[],
        methods: methods![
            "push(v)" => "nil",
            "pop()" => "the next value, or nil if there is none",
            "peek(), top()" => "the next value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Container::unbounded(Discipline::Lifo)),
    },
    TypeInfo {
        name: "queue",
        aliases: &["fifo", "fifo-queue"],
        summary: "an unbounded queue: first in, first out",
        params: &[],
        methods: methods![
            "enq(v), enqueue(v), offer(v), add(v)" => "nil",
            "deq(), dequeue(), poll()" => "the next value, or nil if there is none",
            "peek()" => "the next value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Container::unbounded(Discipline::Fifo)),
    },
    TypeInfo {
        name: "bounded-queue",
        aliases: &[],
        summary: "a queue that refuses values when it is full",
        params: &[("capacity", "how many values it can hold; required")],
        methods: methods![
            "enq(v), enqueue(v), offer(v), add(v)" => "true, or false if it was full",
            "deq(), dequeue(), poll()" => "the next value, or nil if there is none",
            "peek()" => "the next value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |given| {
            let capacity = given.count("capacity", 1..=MOST_PLACES)?;
            boxed(Container {
                discipline: Discipline::Fifo,
                capacity: Some(capacity.ok_or_else(|| given.missing("capacity"))?),
            })
        },
    },
    TypeInfo {
        name: "priority-queue",
        aliases: &["max-priority-queue"],
        summary: "a container that serves its largest value first; the value is the priority",
        params: &[],
        methods: methods![
            "add(v), insert(v), offer(v)" => "nil",
            "poll(), extract(), remove()" => "the largest value, or nil if there is none",
            "peek()" => "the largest value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Container::unbounded(Discipline::Largest)),
    },
    TypeInfo {
        name: "min-priority-queue",
        aliases: &[],
        summary: "a container that serves its smallest value first; the value is the priority",
        params: &[],
        methods: methods![
            "add(v), insert(v), offer(v)" => "nil",
            "poll(), extract(), remove()" => "the smallest value, or nil if there is none",
            "peek()" => "the smallest value, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Container::unbounded(Discipline::Smallest)),
    },
    TypeInfo {
        name: "deque",
        aliases: &[],
        summary: "a double-ended queue",
        params: &[],
        methods: methods![
            "push_front(v), push_back(v)" => "nil",
            "pop_front(), pop_back()" => "the value at that end, or nil if there is none",
            "peek_front(), peek_back()" => "the value at that end, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(Deque),
    },
    TypeInfo {
        name: "counter",
        aliases: &[],
        summary: "a counter of 64 bits that wraps around",
        params: &[("initial", "where it starts; 0 by default")],
        methods: methods![
            "get(), read()" => "the count",
            "add(n), inc(), dec()" => "nil",
            "fetch_add(n)" => "the count before",
            "add_and_get(n), inc_and_get()" => "the count after",
        ],
        make: |given| {
            boxed(Counter {
                initial: given.integer("initial")?.unwrap_or(0),
            })
        },
    },
    TypeInfo {
        name: "blocking-counter",
        aliases: &[],
        summary: "a counter that is never negative: dec waits until it is positive",
        params: &[("initial", "where it starts; 0 by default")],
        methods: methods![
            "get(), read()" => "the count",
            "set(n)" => "nil",
            "inc(), dec()" => "nil; dec waits while the count is 0",
        ],
        make: |given| {
            boxed(BlockingCounter {
                initial: given.count("initial", 0..=MOST_PLACES)?.unwrap_or(0) as u64,
            })
        },
    },
    TypeInfo {
        name: "mutex",
        aliases: &["lock"],
        summary: "a lock without owners, as in Knossos: not to be taken while held, nor freed while free",
        params: &[],
        methods: methods![
            "acquire(), lock()" => "nil; a fencing token, a positive integer, is not looked at",
            "release(), unlock()" => "nil",
            "try_acquire(), try_lock()" => "whether the lock was free and is now held",
            "try_release(), try_unlock()" => "whether the lock was held and is now free",
        ],
        make: |_| boxed(Mutex),
    },
    TypeInfo {
        name: "reentrant-mutex",
        aliases: &["reentrant-lock"],
        summary: "a lock that its owner (the process, or the argument) may take again",
        params: &[],
        methods: methods![
            "acquire(), lock()" => "nil; a fencing token, a positive integer, is not looked at",
            "release(), unlock()" => "nil",
            "try_acquire(), try_lock()" => "whether no other owner held the lock",
        ],
        make: |_| boxed(ReentrantMutex),
    },
    TypeInfo {
        name: "rw-lock",
        aliases: &["read-write-lock"],
        summary: "a lock for many readers or one writer, without owners",
        params: &[],
        methods: methods![
            "read_lock(), write_lock()" => "nil",
            "read_unlock(), write_unlock()" => "nil",
            "try_read_lock(), try_write_lock()" => "whether the lock could be taken",
        ],
        make: |_| boxed(RwLock),
    },
    TypeInfo {
        name: "semaphore",
        aliases: &[],
        summary: "a counting semaphore; a release may bring in more permits than at first",
        params: &[(
            "permits",
            "how many permits there are at first; 1 by default",
        )],
        methods: methods![
            "acquire(n)" => "nil; one permit if no number is given",
            "release(n)" => "nil",
            "try_acquire(n)" => "whether there were so many permits",
        ],
        make: |given| {
            boxed(Semaphore {
                permits: given.count("permits", 0..=MOST_PLACES)?.unwrap_or(1) as u64,
            })
        },
    },
    TypeInfo {
        name: "snapshot",
        aliases: &["single-writer-snapshot"],
        summary: "a single-writer snapshot: each process updates its entry, a scan sees all",
        params: &[
            ("processes", SNAPSHOT_ENTRIES),
            ("initial", SNAPSHOT_INITIAL),
        ],
        methods: methods![
            "update(v), update([i, v])" => "nil; without `i`, the entry is that of the process",
            "scan()" => "the list of all entries; those left out at the end hold the initial value",
        ],
        make: |given| snapshot(given, Writers::Single, "processes"),
    },
    TypeInfo {
        name: "multi-writer-snapshot",
        aliases: &["mw-snapshot"],
        summary: "a multi-writer snapshot: any process updates any entry, a scan sees all",
        params: &[("entries", SNAPSHOT_ENTRIES), ("initial", SNAPSHOT_INITIAL)],
        methods: methods![
            "update([i, v])" => "nil",
            "scan()" => "the list of all entries; those left out at the end hold the initial value",
        ],
        make: |given| snapshot(given, Writers::Many, "entries"),
    },
    TypeInfo {
        name: "multi-register",
        aliases: &["txn-register"],
        summary: "registers by key with transactions over them",
        params: &[(
            "initial",
            "what every register holds at first; nil by default",
        )],
        methods: methods![
            "txn([[\"r\", k, nil], [\"w\", k, v], ...])" => "the same list with what the reads saw",
            "read(k)" => "the value",
            "write([k, v])" => "nil",
        ],
        make: |given| {
            boxed(MultiRegister {
                initial: given.take("initial").unwrap_or_default(),
            })
        },
    },
    TypeInfo {
        name: "bank",
        aliases: &[],
        summary: "accounts with transfers between them",
        params: &[
            (
                "initial",
                "what the accounts hold at first: [100, 0, ...] for accounts numbered from 0, or {\"name\": 100, ...}; \
                 without this and the next two, the first read that takes effect tells it, and no account is overdrawn \
                 at first unless that is allowed",
            ),
            (
                "accounts",
                "how many accounts there are, numbered from 0; 5 by default if a balance is given",
            ),
            (
                "balance",
                "what each holds at first; 10 by default if accounts are given",
            ),
            (
                "allow_negative",
                "whether accounts may be overdrawn; false by default",
            ),
        ],
        methods: methods![
            "transfer([from, to, amount])" => "true, or false if it was refused; nil does not tell",
            "read()" => "the balances, as a list or a map by account",
        ],
        make: |given| {
            let negative = given.truth("allow_negative")?.unwrap_or(false);
            let overdraft = match negative {
                true => Overdraft::Allowed,
                false => Overdraft::Refused,
            };
            let accounts = given.count("accounts", 1..=MOST_ENTRIES)?;
            let balance = given.integer("balance")?;
            boxed(match (given.balances("initial")?, accounts, balance) {
                (None, None, None) => Bank {
                    initial: None,
                    overdraft,
                },
                (None, accounts, balance) => {
                    Bank::with_accounts(accounts.unwrap_or(5), balance.unwrap_or(10), overdraft)
                }
                (initial, None, None) => Bank { initial, overdraft },
                (Some(_), ..) => {
                    let reason =
                        "type bank takes either \"initial\", or \"accounts\" and \"balance\"";
                    return Err(Error::usage(reason));
                }
            })
        },
    },
    TypeInfo {
        name: "list",
        aliases: &["log", "append-list"],
        summary: "an append-only list",
        params: &[],
        methods: methods![
            "append(v)" => "the index of `v` in the list, from 0; nil does not tell",
            "read()" => "the whole list",
            "get(i)" => "the value with that index, or nil if there is none",
            "size()" => "how many values there are",
        ],
        make: |_| boxed(AppendList),
    },
    TypeInfo {
        name: "unique-ids",
        aliases: &["id-generator"],
        summary: "a generator of identifiers that never answers one twice",
        params: &[],
        methods: methods!["generate()" => "an id that was not answered before"],
        make: |_| boxed(UniqueIds),
    },
    TypeInfo {
        name: "fenced-lock",
        aliases: &["fenced-mutex", "owner-mutex", "owner-aware-mutex"],
        summary: "a lock that only its owner (the process, or the argument) can release, with fencing tokens that grow",
        params: &[],
        methods: methods![
            "acquire(), lock()" => "a token, a positive integer larger than all before; nil does not tell it",
            "release(), unlock()" => "nil, or its owner",
            "try_acquire(), try_lock()" => "a token, or false if the lock was held; true does not tell the token",
        ],
        make: |_| boxed(FencedLock),
    },
    TypeInfo {
        name: "kafka-log",
        aliases: &["kafka"],
        summary: "logs by key with sends and polls: offsets grow, and polls see records that stand together",
        params: &[],
        methods: methods![
            "send([[\"send\", k, v], ...])" => "[[\"send\", k, [offset, v]], ...] with offsets after the log; nil does not tell them",
            "poll()" => "[[\"poll\", {k: [[offset, v], ...]}]] with records that stand together in the log of `k`",
            "txn([[\"send\", k, v], [\"poll\"], ...])" => "the steps, each as above",
            "assign(c), subscribe(c)" => "anything; they do nothing",
        ],
        make: |_| boxed(KafkaLog),
    },
    juc::ARRAY_BLOCKING_QUEUE,
    juc::CONCURRENT_HASH_MAP,
    juc::CONCURRENT_LINKED_DEQUE,
    juc::CONCURRENT_LINKED_QUEUE,
    juc::CONCURRENT_SKIP_LIST_MAP,
    juc::CONCURRENT_SKIP_LIST_SET,
    juc::LINKED_BLOCKING_DEQUE,
    juc::LINKED_BLOCKING_QUEUE,
    juc::LINKED_TRANSFER_QUEUE,
    juc::PRIORITY_BLOCKING_QUEUE,
];
