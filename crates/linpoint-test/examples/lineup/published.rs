//! The figures of the paper: Burckhardt, Dern, Musuvathi, Tan, *Line-Up: A Complete and Automatic Linearizability Checker*
//! (PLDI 2010), Tables 1 and 2. Measured there on an 8-core Xeon at 2.33 GHz, one core for each test.

use super::classes::Seed::{self, *};

/// Table 1: the classes and the methods that were checked, each with the operation that stands for it here.
#[rustfmt::skip]
pub(crate) const TABLE_1: &[(&str, &[(&str, &str)])] = &[
    ("Lazy Initialization", &[("Value", "value"), ("ToString", "to_string"), ("IsValueCreated", "is_value_created")]),
    ("ManualResetEvent", &[("Set", "set"), ("Wait", "wait"), ("Reset", "reset"), ("IsSet", "is_set"), ("WaitOne", "wait_one")]),
    ("SemaphoreSlim", &[
        ("CurrentCount", "current_count"), ("Release", "release(1)"), ("Release(2)", "release(2)"), ("Wait", "wait"),
        ("Wait(0)", "wait(0)"),
    ]),
    ("CountdownEvent", &[
        ("IsSet", "is_set"), ("Wait", "wait"), ("Wait(0)", "wait(0)"), ("CurrentCount", "current_count"), ("WaitOne", "wait_one"),
        ("Signal", "signal(1)"), ("Signal(2)", "signal(2)"), ("AddCount", "add_count(1)"), ("AddCount(2)", "add_count(2)"),
        ("TryAddCount", "try_add_count(1)"), ("TryAddCount(2)", "try_add_count(2)"),
    ]),
    ("ConcurrentDictionary", &[
        ("Count", "count"), ("IsEmpty", "is_empty"), ("Clear", "clear"),
        ("TryAdd(10)", "try_add(10)"), ("TryRemove(10)", "try_remove(10)"), ("TryGet(10)", "try_get(10)"), ("get[10]", "get(10)"),
        ("set[10]", "set(10)"), ("TryUpdate(10)", "try_update(10)"), ("ContainsKey(10)", "contains_key(10)"),
        ("TryAdd(20)", "try_add(20)"), ("TryRemove(20)", "try_remove(20)"), ("TryGet(20)", "try_get(20)"), ("get[20]", "get(20)"),
        ("set[20]", "set(20)"), ("TryUpdate(20)", "try_update(20)"), ("ContainsKey(20)", "contains_key(20)"),
    ]),
    ("ConcurrentQueue", &[
        ("Count", "count"), ("IsEmpty", "is_empty"), ("Enqueue", "enqueue(200)"), ("ToArray", "to_array"),
        ("TryDequeue", "try_dequeue"), ("TryPeek", "try_peek"),
    ]),
    ("ConcurrentStack", &[
        ("Clear", "clear"), ("Count", "count"), ("Push", "push(1)"), ("PushRangeTen", "push_range_ten"), ("TryPop", "try_pop"),
        ("TryPopRangeOne", "try_pop_range(1)"), ("TryPopRangeTwo", "try_pop_range(2)"), ("TryPopRangeFour", "try_pop_range(4)"),
        ("TryPeek", "try_peek"), ("ToArrayOrderBy", "to_array_order_by"),
    ]),
    ("ConcurrentLinkedList", &[
        ("Count", "count"), ("AddFirst", "add_first(1)"), ("AddLast", "add_last(2)"), ("RemoveFirst", "remove_first"),
        ("RemoveFirst(out value)", "remove_first(out)"), ("RemoveList", "remove_list"), ("RemoveLast(out value)", "remove_last"),
    ]),
    ("BlockingCollection", &[
        ("Count", "count"), ("ToArray", "to_array"), ("TryAdd", "try_add(1)"), ("TryAdd(1)", "try_add(1 ms)"),
        ("IsCompleted", "is_completed"), ("IsAddingCompleted", "is_adding_completed"), ("CompleteAdding", "complete_adding"),
        ("Add", "add(2)"), ("Take", "take"), ("TakeWithEnum", "take_with_enum"), ("TryTake", "try_take"),
        ("TryTake(1)", "try_take(1 ms)"),
    ]),
    ("ConcurrentBag", &[
        ("Count", "count"), ("Add(10)", "add(10)"), ("Add(20)", "add(20)"), ("TryTake", "try_take"), ("IsEmpty", "is_empty"),
        ("TryPeek", "try_peek"), ("ToArray", "to_array"),
    ]),
    ("TaskCompletionSource", &[
        ("Exception", "exception"), ("TrySetCanceled", "try_set(Canceled)"), ("TrySetException", "try_set(Exception)"),
        ("TrySetResult", "try_set(Result)"), ("SetCanceled", "set(Canceled)"), ("SetException", "set(Exception)"),
        ("SetResult", "set(Result)"), ("Wait", "wait"), ("TryResult", "try_result"),
    ]),
    ("CancellationTokenSource", &[("Increment", "increment"), ("Cancel", "cancel")]),
    ("Barrier", &[
        ("SignalAndWait", "signal_and_wait"), ("ParticipantsRemaining", "participants_remaining"),
        ("RemoveParticipant", "remove_participant"), ("CancelToken", "cancel_token"),
        ("CurrentPhaseNumber", "current_phase_number"), ("ParticipantCount", "participant_count"),
        ("AddParticipant", "add_participant"),
    ]),
];

/// A line of Table 2.
pub(crate) struct Line {
    pub(crate) class: &'static str,
    /// The version that the line is about: one of those that our objects have.
    pub(crate) seeds: &'static [Seed],
    pub(crate) smallest: &'static str,
    /// Histories of phase 1, on average and at most.
    pub(crate) histories: (u32, u32),
    /// Minutes of phase 1, on average.
    pub(crate) phase1: f64,
    pub(crate) passed: u32,
    pub(crate) failed: u32,
    /// Minutes of phase 2 for a test that passes, and for one that fails.
    pub(crate) minutes: (Option<f64>, Option<f64>),
    pub(crate) preemptions: u32,
}

macro_rules! line {
    ($class:literal, [$($seed:ident),*], $smallest:literal, $average:literal, $most:literal, $phase1:literal,
        $passed:literal, $failed:literal, $pass:expr, $fail:expr, $bound:literal) => {
        Line {
            class: $class,
            seeds: &[$($seed),*],
            smallest: $smallest,
            histories: ($average, $most),
            phase1: $phase1,
            passed: $passed,
            failed: $failed,
            minutes: ($pass, $fail),
            preemptions: $bound,
        }
    };
}

/// The lines, preview releases ("Pre") where the flaw was found in one.
#[rustfmt::skip]
pub(crate) const TABLE_2: &[Line] = &[
    line!("Lazy Initialization", [Correct], "", 60, 68, 0.07, 100, 0, Some(9.7), None, 2),
    line!("ManualResetEvent", [A], "2x3", 828, 1680, 3.31, 93, 7, Some(12.9), Some(19.9), 2),
    line!("ManualResetEvent", [Correct], "", 76, 133, 0.07, 100, 0, Some(170.5), None, 2),
    line!("SemaphoreSlim", [Correct], "", 1511, 1680, 3.91, 100, 0, Some(18.1), None, 1),
    line!("CountdownEvent", [Correct], "", 410, 1680, 1.20, 100, 0, Some(6.3), None, 2),
    line!("ConcurrentDictionary", [Correct], "", 1678, 1680, 7.02, 100, 0, Some(6.8), None, 1),
    line!("ConcurrentQueue", [B], "2x2", 1680, 1680, 6.00, 43, 57, Some(33.8), Some(5.7), 2),
    line!("ConcurrentQueue", [Correct], "", 1680, 1680, 6.37, 100, 0, Some(33.7), None, 2),
    line!("ConcurrentLinkedList", [C], "2x2", 1674, 1680, 8.54, 80, 20, Some(5.8), Some(2.0), 1),
    line!("ConcurrentStack", [Correct], "", 1680, 1680, 3.49, 100, 0, Some(1.3), None, 2),
    line!("BlockingCollection", [D, D2, K], "2x2", 850, 1680, 4.09, 13, 87, Some(109.6), Some(47.4), 2),
    line!("BlockingCollection", [H], "2x2", 259, 501, 0.07, 43, 57, Some(205.3), Some(68.7), 2),
    line!("BlockingCollection", [I], "3x2", 259, 501, 0.07, 43, 57, Some(205.3), Some(68.7), 2),
    line!("ConcurrentBag", [E], "2x2", 1680, 1680, 4.18, 75, 25, Some(1.7), Some(0.4), 1),
    line!("ConcurrentBag", [J], "2x2", 1680, 1680, 4.05, 87, 13, Some(0.6), Some(3.2), 2),
    line!("TaskCompletionSource", [F], "2x2", 1432, 1680, 7.30, 65, 35, Some(32.9), Some(9.4), 2),
    line!("TaskCompletionSource", [G], "2x2", 1209, 1680, 5.98, 53, 47, Some(53.3), Some(3.7), 2),
    line!("CancellationTokenSource", [Correct], "", 1680, 1680, 4.49, 100, 0, Some(9.6), None, 2),
    line!("Barrier", [L], "2x2", 1166, 1680, 4.10, 22, 78, Some(7.0), Some(1.5), 2),
];

/// What the paper says about a version of a class.
pub(crate) fn line(class: &str, seed: Seed) -> Option<&'static Line> {
    let is_about = |line: &&Line| line.class == class && line.seeds.contains(&seed);
    TABLE_2.iter().find(is_about)
}
