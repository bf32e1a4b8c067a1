//! The tables of the methods of each class. They document the types; calls are checked and sampled by them.

use super::{CollectionClass, Element, Function, MapClass};
use crate::spec::{CallView, DecodeError, MethodInfo, RecordedOps, Sampler};
use crate::value::Value;

macro_rules! group {
    ($name:ident: $($call:literal => $answers:literal),* $(,)?) => {
        const $name: &[MethodInfo] = &[$(MethodInfo { call: $call, answers: $answers }),*];
    };
}

group! { COLLECTION:
    "add(x)" => "true; a full queue throws, a set answers whether x is new",
    "addAll(c)" => "whether anything was added; a full queue throws when nothing more fits",
    "remove(x)" => "whether x was there",
    "removeAll(c)" => "whether anything was removed",
    "retainAll(c)" => "whether anything was removed",
    "removeIf(p)" => "whether anything was removed",
    "clear()" => "nil",
    "contains(x)" => "whether x is there",
    "containsAll(c)" => "whether all of c are there",
    "isEmpty()" => "whether nothing is there",
    "size()" => "how many elements there are",
    "iterator()" => "all elements, as \"[1,2]\"",
    "toArray()" => "all elements, as \"[1,2]\"",
    "toString()" => "all elements, as \"[1, 2]\"",
}

group! { QUEUE:
    "offer(x)" => "whether there was room",
    "poll()" => "the first element, taken out, or null",
    "remove()" => "the first element, taken out, or NoSuchElementException",
    "peek()" => "the first element, or null",
    "element()" => "the first element, or NoSuchElementException",
}

group! { DEQUE:
    "addFirst(x)" => "nil, or IllegalStateException if full",
    "addLast(x)" => "nil, or IllegalStateException if full",
    "push(x)" => "nil, or IllegalStateException if full",
    "offerFirst(x)" => "whether there was room",
    "offerLast(x)" => "whether there was room",
    "pop()" => "the first element, taken out, or NoSuchElementException",
    "pollFirst()" => "the first element, taken out, or null",
    "pollLast()" => "the last element, taken out, or null",
    "removeFirst()" => "the first element, taken out, or NoSuchElementException",
    "removeLast()" => "the last element, taken out, or NoSuchElementException",
    "peekFirst()" => "the first element, or null",
    "peekLast()" => "the last element, or null",
    "getFirst()" => "the first element, or NoSuchElementException",
    "getLast()" => "the last element, or NoSuchElementException",
    "removeFirstOccurrence(x)" => "whether x was there",
    "removeLastOccurrence(x)" => "whether x was there",
    "descendingIterator()" => "all elements from the last on, as \"[2,1]\"",
}

group! { TIMED:
    "offer(x, timeout, unit)" => "whether there was room, at some moment until it returned",
    "poll(timeout, unit)" => "the first element, taken out, or null if there was none at some moment until it returned",
}

group! { TIMED_DEQUE:
    "offerFirst(x, timeout, unit)" => "as offer(x, timeout, unit)",
    "offerLast(x, timeout, unit)" => "as offer(x, timeout, unit)",
    "pollFirst(timeout, unit)" => "as poll(timeout, unit)",
    "pollLast(timeout, unit)" => "the last element, as poll(timeout, unit)",
}

group! { CAPACITY:
    "remainingCapacity()" => "how many more elements fit",
    "drainTo(c)" => "how many elements were taken out: all",
    "drainTo(c, n)" => "how many elements were taken out: the first n, or all",
}

group! { BLOCKING:
    "put(x)" => "nil; waits until there is room",
    "take()" => "the first element, taken out; waits until there is one",
}

group! { BLOCKING_DEQUE:
    "putFirst(x)" => "nil; waits until there is room",
    "putLast(x)" => "nil; waits until there is room",
    "takeFirst()" => "the first element, taken out; waits until there is one",
    "takeLast()" => "the last element, taken out; waits until there is one",
}

group! { TRANSFER:
    "tryTransfer(x)" => "false: no consumer waits; not together with take() and poll(timeout, unit)",
    "hasWaitingConsumer()" => "false, likewise",
    "getWaitingConsumerCount()" => "0, likewise",
}

group! { NAVIGABLE_SET:
    "first()" => "the smallest element, or NoSuchElementException",
    "last()" => "the largest element, or NoSuchElementException",
    "pollFirst()" => "the smallest element, taken out, or null",
    "pollLast()" => "the largest element, taken out, or null",
    "lower(x)" => "the largest element below x, or null",
    "floor(x)" => "the largest element not above x, or null",
    "ceiling(x)" => "the smallest element not below x, or null",
    "higher(x)" => "the smallest element above x, or null",
    "headSet(x)" => "the elements below x, as \"[1, 2]\"",
    "tailSet(x)" => "the elements from x on, as \"[1, 2]\"",
    "subSet(x, y)" => "the elements from x to below y, or IllegalArgumentException if x > y",
    "headSet(x, edge)" => "the elements below x, and x if edge is true",
    "tailSet(x, edge)" => "the elements above x, and x if edge is true",
    "subSet(x, edge, y, edge)" => "the elements between x and y, and these where the edge is true",
    "clone()" => "all elements, as \"[1, 2]\"",
    "descendingSet()" => "all elements from the largest on, as \"[2, 1]\"",
    "descendingIterator()" => "all elements from the largest on, as \"[2,1]\"",
}

group! { MAP:
    "get(k)" => "the value, or null",
    "getOrDefault(k, v)" => "the value, or v",
    "containsKey(k)" => "whether k is there",
    "containsValue(v)" => "whether some key has v",
    "put(k, v)" => "the value before, or null",
    "putIfAbsent(k, v)" => "the value before, which stays, or null",
    "putAll(m)" => "nil",
    "remove(k)" => "the value before, or null",
    "remove(k, v)" => "whether k had v",
    "replace(k, v)" => "the value before, or null if there was none and is none",
    "replace(k, v, w)" => "whether k had v and has w",
    "compute(k, f)" => "the new value, f(k, the value before or null); null removes k",
    "computeIfAbsent(k, f)" => "the value, which is f(k) if there was none",
    "computeIfPresent(k, f)" => "the new value, f(k, the value before), or null if there was none",
    "merge(k, v, f)" => "the new value: v, or f(the value before, v); null removes k",
    "replaceAll(f)" => "nil, or NullPointerException if some f(k, v) is null",
    "clear()" => "nil",
    "isEmpty()" => "whether nothing is there",
    "size()" => "how many keys there are",
    "keySet()" => "all keys, as \"[1, 2]\"",
    "values()" => "all values, as \"[1, 2]\"",
    "entrySet()" => "all entries, as \"[1=0, 2=5]\"",
    "toString()" => "all entries, as \"{1=0, 2=5}\"",
}

group! { HASH_MAP:
    "contains(v)" => "whether some key has v",
    "mappingCount()" => "how many keys there are",
    "keys()" => "all keys, as \"[1,2]\"",
    "elements()" => "all values, as \"[1,2]\"",
}

group! { NAVIGABLE_MAP:
    "firstKey()" => "the smallest key, or NoSuchElementException",
    "lastKey()" => "the largest key, or NoSuchElementException",
    "firstEntry()" => "the entry of the smallest key, as \"1=0\", or null",
    "lastEntry()" => "the entry of the largest key, as \"1=0\", or null",
    "pollFirstEntry()" => "the entry of the smallest key, taken out, or null",
    "pollLastEntry()" => "the entry of the largest key, taken out, or null",
    "lowerKey(k)" => "the largest key below k, or null",
    "floorKey(k)" => "the largest key not above k, or null",
    "ceilingKey(k)" => "the smallest key not below k, or null",
    "higherKey(k)" => "the smallest key above k, or null",
    "lowerEntry(k)" => "the entry of the largest key below k, as \"1=0\", or null",
    "floorEntry(k)" => "the entry of the largest key not above k, or null",
    "ceilingEntry(k)" => "the entry of the smallest key not below k, or null",
    "higherEntry(k)" => "the entry of the smallest key above k, or null",
    "headMap(k)" => "the entries below k, as \"{1=0, 2=5}\"",
    "tailMap(k)" => "the entries from k on",
    "subMap(k, l)" => "the entries from k to below l, or IllegalArgumentException if k > l",
    "headMap(k, edge)" => "the entries below k, and that of k if edge is true",
    "tailMap(k, edge)" => "the entries above k, and that of k if edge is true",
    "subMap(k, edge, l, edge)" => "the entries between k and l, and theirs where the edge is true",
    "navigableKeySet()" => "all keys, as \"[1, 2]\"",
    "descendingKeySet()" => "all keys from the largest on",
    "clone()" => "all entries, as \"{1=0, 2=5}\"",
    "descendingMap()" => "all entries from the largest key on",
}

const fn total(groups: &[&[MethodInfo]]) -> usize {
    let (mut sum, mut g) = (0, 0);
    while g < groups.len() {
        sum += groups[g].len();
        g += 1;
    }
    sum
}

const fn joined<const N: usize>(groups: &[&[MethodInfo]]) -> [MethodInfo; N] {
    let mut all = [groups[0][0]; N];
    let (mut n, mut g) = (0, 0);
    while g < groups.len() {
        let mut i = 0;
        while i < groups[g].len() {
            all[n] = groups[g][i];
            n += 1;
            i += 1;
        }
        g += 1;
    }
    all
}

macro_rules! join {
    ($($group:ident),*) => {{
        const GROUPS: &[&[MethodInfo]] = &[$($group),*];
        const ALL: [MethodInfo; total(GROUPS)] = joined(GROUPS);
        &ALL
    }};
}

/// The methods of a queue, deque or set.
pub(crate) const fn collection_methods(class: CollectionClass) -> &'static [MethodInfo] {
    match class {
        CollectionClass::ArrayBlockingQueue | CollectionClass::LinkedBlockingQueue => {
            join!(COLLECTION, QUEUE, CAPACITY, BLOCKING, TIMED)
        }
        CollectionClass::ConcurrentLinkedQueue => join!(COLLECTION, QUEUE),
        CollectionClass::ConcurrentLinkedDeque => join!(COLLECTION, QUEUE, DEQUE),
        CollectionClass::LinkedBlockingDeque => {
            join!(
                COLLECTION,
                QUEUE,
                DEQUE,
                CAPACITY,
                BLOCKING,
                BLOCKING_DEQUE,
                TIMED,
                TIMED_DEQUE
            )
        }
        CollectionClass::LinkedTransferQueue => {
            join!(COLLECTION, QUEUE, CAPACITY, BLOCKING, TIMED, TRANSFER)
        }
        CollectionClass::PriorityBlockingQueue => {
            join!(COLLECTION, QUEUE, CAPACITY, BLOCKING, TIMED)
        }
        CollectionClass::ConcurrentSkipListSet => join!(COLLECTION, NAVIGABLE_SET),
    }
}

/// The methods that random clients of a queue, deque or set call: all that can be in one history.
pub(super) const fn sampled_methods(class: CollectionClass) -> &'static [MethodInfo] {
    match class {
        CollectionClass::LinkedTransferQueue => {
            join!(COLLECTION, QUEUE, CAPACITY, BLOCKING, TIMED)
        }
        _ => collection_methods(class),
    }
}

/// The methods of a map.
pub(crate) const fn map_methods(class: MapClass) -> &'static [MethodInfo] {
    match class {
        MapClass::ConcurrentHashMap => join!(MAP, HASH_MAP),
        MapClass::ConcurrentSkipListMap => join!(MAP, NAVIGABLE_MAP),
    }
}

/// The name and the parameters of a method.
fn signature(method: &MethodInfo) -> (&'static str, impl Iterator<Item = &'static str>) {
    let (name, rest) = method.call.split_once('(').unwrap_or((method.call, ")"));
    let parameters = rest.trim_end_matches(')').split(", ");
    (name, parameters.filter(|parameter| !parameter.is_empty()))
}

/// Refuses a call of a method that is not among `methods`, or with another number of arguments.
pub(super) fn check(
    methods: &[MethodInfo],
    name: &str,
    arguments: usize,
) -> Result<(), DecodeError> {
    let mut named = methods
        .iter()
        .map(signature)
        .filter(|(method, _)| *method == name)
        .map(|(_, parameters)| parameters.count())
        .peekable();
    if named.peek().is_none() {
        Err(DecodeError::UnknownMethod(name.into()))
    } else if named.any(|count| count == arguments) {
        Ok(())
    } else {
        Err(format!("{name} does not take {arguments} arguments").into())
    }
}

/// Refuses the calls of `LinkedTransferQueue` that no sequential object has.
pub(super) fn check_transfer(name: &str, arguments: usize) -> Result<(), DecodeError> {
    let call = match (name, arguments) {
        ("transfer", 1) => "transfer(x)",
        ("tryTransfer", 3) => "tryTransfer(x, timeout, unit)",
        _ => return Ok(()),
    };
    Err(format!(
        "{call} takes effect twice, when its element is added and when a consumer takes it: \
         no order of single operations explains it"
    )
    .into())
}

/// Refuses a history of a `LinkedTransferQueue` with consumers that wait and calls that tell whether one does: a call that
/// waits is not an operation yet.
pub(super) fn check_consumers(history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
    let (mut waiting, mut telling) = (None, None);
    for (call, _) in history {
        match call.method {
            "take" => waiting = Some(call.method),
            "poll" if call.argument.as_list().is_some_and(|all| !all.is_empty()) => {
                waiting = Some("poll with a timeout");
            }
            "tryTransfer" | "hasWaitingConsumer" | "getWaitingConsumerCount" => {
                telling = Some(call.method);
            }
            _ => {}
        }
    }
    match (waiting, telling) {
        (Some(waiting), Some(telling)) => Err(format!(
            "{telling} tells whether a consumer waits, which no order of single operations explains: \
             it cannot be checked in a history with {waiting}"
        )
        .into()),
        _ => Ok(()),
    }
}

/// Refuses what is neither a unit of time nor null.
pub(super) fn check_unit(unit: &Element) -> Result<(), DecodeError> {
    const UNITS: [&str; 7] = [
        "NANOSECONDS",
        "MICROSECONDS",
        "MILLISECONDS",
        "SECONDS",
        "MINUTES",
        "HOURS",
        "DAYS",
    ];
    match unit {
        Element::Null => Ok(()),
        Element::Text(name) if UNITS.contains(&name.as_str()) => Ok(()),
        _ => Err(format!("a unit of time is {}, not {unit:?}", UNITS.join(", ")).into()),
    }
}

/// The error about a call whose arguments are of the wrong kind.
pub(super) fn mismatch(call: CallView<'_>) -> DecodeError {
    format!("{} does not take {}", call.method, call.argument).into()
}

/// A random call of one of `methods` with small values.
pub(super) fn sample(methods: &[MethodInfo], sampler: &mut Sampler) -> (&'static str, Value) {
    // With uniform choice, removals would keep the collection empty most of the time.
    let inserts = |method: &&MethodInfo| {
        let prefixes = ["add", "offer", "put", "push"];
        prefixes
            .iter()
            .any(|prefix| method.call.starts_with(prefix))
    };
    let inserting: Vec<_> = methods.iter().filter(inserts).collect();
    let method = if sampler.percent(30) {
        sampler.pick(&inserting)
    } else {
        &methods[sampler.below(methods.len())]
    };
    let (name, parameters) = signature(method);
    let arguments: Vec<Value> = parameters
        .map(|parameter| match parameter {
            "c" => Value::list(small_integers(sampler)),
            "f" => Function::argument(sampler.pick(&["null", "first", "last", "sum", "successor"])),
            "p" => Function::argument(sampler.pick(&["even", "odd", "always", "never"])),
            "m" => {
                let keys = small_integers(sampler);
                let mut pairs: Vec<_> = keys
                    .into_iter()
                    .map(|k| (k, small_integer(sampler)))
                    .collect();
                pairs.dedup_by(|a, b| a.0 == b.0);
                Value::map(pairs)
            }
            "edge" => Value::Bool(sampler.percent(50)),
            "unit" => Value::from("MILLISECONDS"),
            _ => small_integer(sampler),
        })
        .collect();
    (name, Value::list(arguments))
}

fn small_integer(sampler: &mut Sampler) -> Value {
    Value::Int(sampler.below(4) as i64)
}

/// Up to three of them, sorted.
fn small_integers(sampler: &mut Sampler) -> Vec<Value> {
    let mut integers: Vec<_> = (0..sampler.below(4))
        .map(|_| small_integer(sampler))
        .collect();
    integers.sort();
    integers
}

#[cfg(test)]
mod tests {
    use super::super::{HistoryForm, JavaCollection};
    use super::*;
    use crate::spec::Recorded;

    fn refusal(object: &impl Recorded, method: &str, argument: Value) -> Option<String> {
        let call = CallView {
            process: &Value::Nil,
            method,
            argument: &argument,
            hint: None,
        };
        object.decode(call).err().map(|error| error.to_string())
    }

    #[test]
    fn calls_that_a_class_does_not_have_are_refused() {
        let queue = JavaCollection {
            class: CollectionClass::ConcurrentLinkedQueue,
            capacity: None,
            form: HistoryForm::default(),
        };
        let (one, list) = (Value::Int(1), Value::list([Value::Int(1), Value::Int(2)]));
        let arguments = |items: &[&Value]| Value::list(items.iter().copied().cloned());
        let refused = |method, argument| refusal(&queue, method, argument);
        assert_eq!(refused("offer", arguments(&[&one])), None);
        assert_eq!(refused("offer", one.clone()), None);
        assert_eq!(refused("remove", Value::Nil), None);
        assert_eq!(refused("addAll", arguments(&[&list])), None);
        assert_eq!(
            refused("pollLast", Value::Nil).as_deref(),
            Some("unknown method \"pollLast\"")
        );
        assert_eq!(
            refused("addAll", list.clone()).as_deref(),
            Some("addAll does not take 2 arguments")
        );
        assert_eq!(
            refused("offer", arguments(&[&list])).as_deref(),
            Some("offer does not take [[1, 2]]")
        );
        assert_eq!(refused("offer", arguments(&[&"x".into()])), None);
        assert_eq!(
            refused("offer", arguments(&[&Value::number("0.5")])).as_deref(),
            Some("an element is null, true, false, an integer of 64 bits or a text, not 0.5")
        );
    }
}
