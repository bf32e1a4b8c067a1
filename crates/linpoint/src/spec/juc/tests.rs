//! Elements, keys and values of all kinds. The answers are those of OpenJDK 17.

use super::*;
use crate::spec::laws::run;
use crate::spec::{CallView, DecodeError, Outcomes, Recorded, Spec};
use crate::value::Value;

fn collection(class: CollectionClass, capacity: Option<usize>) -> JavaCollection {
    JavaCollection {
        class,
        capacity,
        form: HistoryForm::default(),
    }
}

fn map(class: MapClass) -> JavaMap {
    JavaMap {
        class,
        form: HistoryForm::default(),
    }
}

fn json(text: &str) -> Value {
    let json = serde_json::from_str::<serde_json::Value>(text);
    json.expect("JSON").into()
}

fn decode<S: Recorded>(object: &S, method: &str, argument: &str) -> Result<S::Op, DecodeError> {
    object.decode(CallView {
        process: &Value::Nil,
        method,
        argument: &json(argument),
        hint: None,
    })
}

/// Why these calls are refused together: method, argument.
fn refused_together(object: &impl Recorded, calls: &[(&str, &str)]) -> Option<String> {
    let arguments: Vec<Value> = calls.iter().map(|(_, argument)| json(argument)).collect();
    let mut ops = calls
        .iter()
        .zip(&arguments)
        .map(|(&(method, _), argument)| {
            let call = CallView {
                process: &Value::Nil,
                method,
                argument,
                hint: None,
            };
            (call, None)
        });
    let refusal = object.check_together(&mut ops).err();
    refusal.map(|reason| reason.to_string())
}

#[test]
fn queues_hold_elements_of_any_kind() {
    run(
        &collection(CollectionClass::ConcurrentLinkedQueue, None),
        r#"
        offer(["a"]) "true"
        add([-5000000000]) "true"
        offer([true]) "true"
        offer(["1"]) "true"
        offer([null]) "java.lang.NullPointerException"
        addAll([["b", null]]) "java.lang.NullPointerException"
        addAll([null]) "java.lang.NullPointerException"
        contains([1]) "false"
        contains(["1"]) "true"
        contains([null]) "false"
        remove([null]) "false"
        toString() "[a, -5000000000, true, 1]"
        iterator() "[\"a\",-5000000000,true,\"1\"]"
        iterator() "[a,-5000000000,true,1]"
        removeAll([["a", 1, null]]) "true"
        removeIf([{"function": "even"}]) "true"
        poll() "1"
        poll() "null"
        "#,
    );
}

#[test]
fn classes_differ_in_what_an_exception_leaves() {
    run(
        &collection(CollectionClass::ArrayBlockingQueue, Some(2)),
        r#"
        addAll([["a", null, "b"]]) "java.lang.NullPointerException"
        toString() "[a]"
        put([null]) "java.lang.NullPointerException"
        offer(["b"]) "true"
        put([null]) "java.lang.NullPointerException"
        offer([null]) "java.lang.NullPointerException"
        "#,
    );
    run(
        &collection(CollectionClass::LinkedBlockingDeque, Some(2)),
        r#"
        addAll([["a", null, "b"]]) "java.lang.NullPointerException"
        removeFirstOccurrence([null]) "false"
        toString() "[]"
        addAll([["a", "b", "c"]]) "java.lang.IllegalStateException"
        toString() "[a, b]"
        "#,
    );
    run(
        &collection(CollectionClass::ConcurrentLinkedDeque, None),
        r#"
        push(["a"]) null
        remove([null]) "java.lang.NullPointerException"
        removeLastOccurrence([null]) "java.lang.NullPointerException"
        contains([null]) "false"
        "#,
    );
}

#[test]
fn a_set_is_sorted_as_java_compares() {
    run(
        &collection(CollectionClass::ConcurrentSkipListSet, None),
        r#"
        contains([1]) "false"
        contains([null]) "java.lang.NullPointerException"
        addAll([["9", "10", "B", "a", "～", "😀"]]) "true"
        toString() "[10, 9, B, a, 😀, ～]"
        descendingSet() "[\"\\uff5e\", \"\\ud83d\\ude00\", \"a\", \"B\", \"9\", \"10\"]"
        contains([1]) "java.lang.ClassCastException"
        remove([true]) "java.lang.ClassCastException"
        add([null]) "java.lang.NullPointerException"
        containsAll([["x", 1]]) "false"
        containsAll([[1, "x"]]) "java.lang.ClassCastException"
        removeAll([["9", 1, "10"]]) "java.lang.ClassCastException"
        retainAll([[1, "B", "a", null]]) "true"
        iterator() "[B,a]"
        floor(["b"]) "a"
        lower([1]) "java.lang.ClassCastException"
        headSet(["a"]) "[B]"
        headSet(["a", true]) "[\"B\", \"a\"]"
        tailSet(["B", false]) "[a]"
        subSet(["B", false, "a", false]) "[]"
        subSet([1, "a"]) "java.lang.ClassCastException"
        subSet([2, 1]) "java.lang.IllegalArgumentException"
        subSet([1, 2]) "java.lang.ClassCastException"
        headSet([null]) "java.lang.NullPointerException"
        clear() null
        subSet([1, 2]) "[]"
        add([1]) "true"
        "#,
    );
}

#[test]
fn a_priority_queue_compares_only_what_it_adds() {
    run(
        &collection(CollectionClass::PriorityBlockingQueue, None),
        r#"
        addAll([["b", "a", 1, "c"]]) "java.lang.ClassCastException"
        toString() "[a, b]"
        contains([1]) "false"
        remove([null]) "false"
        offer([false]) "java.lang.ClassCastException"
        offer(["", 5, null]) "true"
        poll([5, null]) "java.lang.NullPointerException"
        poll([5, "DAYS"]) ""
        drainTo([[]]) "2"
        offer([7]) "true"
        "#,
    );
}

#[test]
fn maps_hold_keys_and_values_of_any_kind() {
    run(
        &map(MapClass::ConcurrentHashMap),
        r#"
        put(["a", 1]) "null"
        put([1, "a"]) "null"
        put([true, "1"]) "null"
        put(["b", null]) "java.lang.NullPointerException"
        get([null]) "java.lang.NullPointerException"
        get(["1"]) "null"
        getOrDefault(["c", null]) "null"
        containsValue([1]) "true"
        containsValue([null]) "java.lang.NullPointerException"
        remove(["a", null]) "false"
        replace([1, null, "b"]) "java.lang.NullPointerException"
        toString() "{a=1, true=1, 1=a}"
        entrySet() "[true=\"1\", \"a\"=1, 1=\"a\"]"
        values() "[\"1\", 1, \"a\"]"
        merge([1, "bc", {"function": "sum"}]) "3"
        compute(["ab", {"function": "successor"}]) "1"
        compute(["ab", null]) "java.lang.NullPointerException"
        putAll([[["x", 1], [null, 2], ["y", 3]]]) "java.lang.NullPointerException"
        putAll([{"z": null}]) "java.lang.NullPointerException"
        keySet() "[1, true, ab, a, x]"
        "#,
    );
    run(
        &map(MapClass::ConcurrentSkipListMap),
        r#"
        get([1]) "null"
        put(["b", 1]) "null"
        put([1, 2]) "java.lang.ClassCastException"
        remove([1, null]) "false"
        remove([1, 2]) "java.lang.ClassCastException"
        computeIfAbsent([1, {"function": "null"}]) "java.lang.ClassCastException"
        putAll([[["a", 2], [3, 4], ["c", 5]]]) "java.lang.ClassCastException"
        toString() "{a=2, b=1}"
        clone() "{\"a\"=2, \"b\"=1}"
        floorEntry(["aa"]) "\"a\"=2"
        floorEntry(["aa"]) "a=2"
        ceilingEntry([1]) "java.lang.ClassCastException"
        higherEntry(["b"]) "null"
        descendingKeySet() "[\"b\", \"a\"]"
        subMap(["a", false, "b", true]) "{b=1}"
        pollFirstEntry() "\"a\"=2"
        pollLastEntry() "b=1"
        pollLastEntry() "null"
        putAll([[]]) null
        "#,
    );
}

#[test]
fn listings_that_show_other_elements_are_refused() {
    let queue = collection(CollectionClass::LinkedBlockingQueue, None);
    let held: Elements = vec![Element::of(&"1".into()).expect("an element")].into();
    let answers = |method: &str, answer: &str| {
        let op = decode(&queue, method, "[]").expect("a call");
        !queue.step(&held, &op, Some(&answer.into())).is_empty()
    };
    assert!(answers("iterator", "[1]") && answers("iterator", "[\"1\"]"));
    assert!(answers("toString", "[1]") && !answers("toString", "[\"1\"]"));
    assert!(!answers("iterator", "[\"2\"]") && !answers("poll", "\"1\""));
}

#[test]
fn timed_calls_do_not_wait_and_may_be_interrupted() {
    let queue = collection(CollectionClass::LinkedBlockingDeque, Some(1));
    run(
        &queue,
        r#"
        poll([1, "SECONDS"]) "null"
        offerFirst(["a", 1, "NANOSECONDS"]) "true"
        offerLast(["b", 1, "NANOSECONDS"]) "false"
        offer(["b", 1, "NANOSECONDS"]) "java.lang.InterruptedException"
        offer(["b", 1, null]) "java.lang.NullPointerException"
        pollLast([0, "DAYS"]) "a"
        "#,
    );
    let take = decode(&queue, "take", "[]").expect("a call");
    let interrupted = Value::from("java.lang.InterruptedException");
    let empty = queue.init();
    assert_eq!(queue.apply(&empty, &take), Outcomes::Blocked);
    let after = queue.step(&empty, &take, Some(&interrupted));
    assert_eq!(after, std::slice::from_ref(&empty));
    let poll = decode(&queue, "poll", "[]").expect("a call");
    assert!(queue.step(&empty, &poll, Some(&interrupted)).is_empty());
    let reason = decode(&queue, "poll", r#"[1, "second"]"#).unwrap_err();
    assert_eq!(
        reason.to_string(),
        "a unit of time is NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS, not \"second\""
    );
}

#[test]
fn calls_that_are_no_single_operations_are_refused() {
    let queue = collection(CollectionClass::LinkedTransferQueue, None);
    for (method, argument) in [("transfer", "[1]"), ("tryTransfer", r#"[1, 1, "DAYS"]"#)] {
        let reason = decode(&queue, method, argument).unwrap_err().to_string();
        assert!(reason.contains("takes effect twice"), "{reason}");
    }
    let asks = [("tryTransfer", "[1]"), ("poll", "[]"), ("put", "[1]")];
    assert_eq!(refused_together(&queue, &asks), None);
    let waits = [("take", "[]"), ("poll", r#"[1, "DAYS"]"#), ("poll", "[]")];
    assert_eq!(refused_together(&queue, &waits), None);
    let both = [("take", "[]"), ("hasWaitingConsumer", "[]")];
    assert_eq!(
        refused_together(&queue, &both).as_deref(),
        Some(
            "hasWaitingConsumer tells whether a consumer waits, which no order of single operations explains: \
             it cannot be checked in a history with take"
        )
    );
}

#[test]
fn maps_whose_order_or_keys_are_not_known_are_refused() {
    let sorted = map(MapClass::ConcurrentSkipListMap);
    let is_refused = |map: &JavaMap, argument: &str| decode(map, "putAll", argument).is_err();
    assert!(is_refused(&sorted, r#"[{"1": 2, "a": 3}]"#));
    assert!(is_refused(&sorted, r#"[{"1": 2, "2": null}]"#));
    assert!(!is_refused(&sorted, r#"[{"1": 2, "2": 3}]"#));
    assert!(!is_refused(&sorted, r#"[[["1", 2], ["2", null]]]"#));
    let hash = map(MapClass::ConcurrentHashMap);
    assert!(!is_refused(&hash, r#"[{"1": 2, "a": 3}]"#));
    let of_object = ("putAll", r#"[{"1": 2}]"#);
    assert_eq!(refused_together(&hash, &[of_object, ("get", "[1]")]), None);
    let texts = [of_object, ("get", r#"["1"]"#)];
    assert_eq!(
        refused_together(&hash, &texts).as_deref(),
        Some(
            "the key \"1\" of a map may be a text or an integer, since other keys are texts: \
             write the map as the list of its pairs, [[key, value], ...]"
        )
    );
    let pairs = [("putAll", r#"[[["1", 2]]]"#), ("get", r#"["1"]"#)];
    assert_eq!(refused_together(&hash, &pairs), None);
}

#[test]
fn keys_of_a_sorted_map_are_apart_only_if_they_compare() {
    let key = |map: &JavaMap, argument: &str| {
        let op = decode(map, "get", argument).expect("a call");
        map.key(&op)
    };
    let (hash, sorted) = (
        map(MapClass::ConcurrentHashMap),
        map(MapClass::ConcurrentSkipListMap),
    );
    assert_eq!(key(&hash, r#"["a"]"#), Some("a".into()));
    assert_eq!(key(&sorted, r#"["a"]"#), None);
    assert_eq!(key(&sorted, "[1]"), Some(1.into()));
    let argument = json(r#"["a"]"#);
    let get = CallView {
        process: &Value::Nil,
        method: "get",
        argument: &argument,
        hint: None,
    };
    let fitted = sorted.fitted_to(&mut [(get, None)].into_iter());
    let fitted = fitted.expect("a history tells the form");
    assert_eq!(key(&fitted, r#"["a"]"#), Some("a".into()));
}

#[test]
fn explanations_write_strings_as_the_history_does() {
    let sorted = map(MapClass::ConcurrentSkipListMap);
    let argument = json("[]");
    let call = CallView {
        process: &Value::Nil,
        method: "firstEntry",
        argument: &argument,
        hint: None,
    };
    let recorded = Value::from("\"a\"=1");
    let fitted = sorted.fitted_to(&mut [(call, Some(&recorded))].into_iter());
    let fitted = fitted.expect("a history tells the form");
    let key = Element::of(&"a".into()).expect("an element");
    let held = std::collections::BTreeMap::from([(key, Element::Int(1))]);
    let op = decode(&sorted, "firstEntry", "[]").expect("a call");
    let answer = |map: &JavaMap| match map.apply(&held, &op) {
        Outcomes::One(answer, _) => answer,
        _ => unreachable!("bug: a map has one answer"),
    };
    assert_eq!(answer(&sorted), "a=1".into());
    assert_eq!(answer(&fitted), recorded);
    for map in [sorted, fitted] {
        assert_eq!(map.step(&held, &op, Some(&"a=1".into())).len(), 1);
        assert_eq!(map.step(&held, &op, Some(&recorded)).len(), 1);
    }
}
