use super::super::laws::run;
use super::*;

const STORE: Etcd = Etcd { revision: 1 };

#[test]
fn revisions_versions_and_ranges() {
    run(
        &STORE,
        r#"
        range("a") {"revision": 1, "kvs": [], "count": 0}
        put(["a", 5]) {"revision": 2}
        put({"key": "b", "value": "x"}) {"revision": 3}
        put(["a", 6]) {"revision": 4}
        range("a") {"revision": 4, "kvs": [{"key": "a", "value": 6, "mod": 4, "create": 2, "version": 2}], "count": 1}
        range({"key": "a", "end": "b"}) {"kvs": [{"key": "a", "value": 6}]}
        range({"key": "a", "end": "\u0000", "limit": 1}) {"kvs": [{"key": "a"}], "count": 2}
        range({"prefix": ""}) {"kvs": [{"key": "a"}, {"key": "b", "value": "x"}]}
        range({"prefix": "b"}) {"count": 1}
        range({"key": "b", "end": "a"}) {"count": 0}
        delete("c") {"revision": 4, "deleted": 0}
        delete({"key": "a", "end": "c"}) {"revision": 5, "deleted": 2}
        put(["a", 7]) {"revision": 6}
        range("a") {"kvs": [{"key": "a", "version": 1, "create": 6}]}
        put([1, {}]) {"revision": 7}
        range(1) {"kvs": [{"key": 1, "value": {}}]}
        range("1") {"kvs": [{"key": "1", "value": ""}]}
        "#,
    );
}

#[test]
fn transactions() {
    run(
        &STORE,
        r#"
        txn({"if": [{"key": "a", "mod": 0}], "then": [{"put": ["a", 1]}, {"range": "a"}], "else": [{"range": "a"}]}) {"revision": 2, "succeeded": true, "results": [{}, {"kvs": [{"key": "a", "value": 1, "mod": 2}]}]}
        txn({"if": [{"key": "a", "mod": 0}], "then": [{"put": ["a", 2]}], "else": [{"range": "a"}]}) {"revision": 2, "succeeded": false, "results": [{"count": 1}]}
        txn({"if": [{"key": "a", "version": 1}, {"key": "a", "value": 0, "is": ">"}], "then": [{"delete": "a"}, {"put": ["b", 1]}]}) {"revision": 3, "succeeded": true, "results": [{"deleted": 1}, {}]}
        txn({"if": [{"key": "a", "value": 1, "is": "!="}]}) {"revision": 3, "succeeded": false, "results": []}
        txn({}) {"succeeded": true}
        txn({"then": [{"range": {"key": "b", "revision": 2}}]}) {"revision": 3, "succeeded": true, "results": [{"kvs": []}]}
        txn({"then": [{"range": {"key": "b", "revision": 3}}, {"put": ["b", 2]}]}) {"revision": 4, "results": [{"kvs": [{"value": 1}]}, {}]}
        txn({"then": [{"put": ["b", 3]}, {"range": {"key": "b", "revision": 5}}]}) {"revision": 4, "error": "future"}
        txn({"then": [{"put": ["b", 3]}, {"range": {"key": "b", "revision": 4}}]}) {"revision": 5, "results": [{}, {"kvs": [{"value": 2}]}]}
        "#,
    );
}

#[test]
fn leases_and_compaction() {
    run(
        &STORE,
        r#"
        put({"key": "a", "value": 1, "lease": 7}) {"revision": 1, "error": "etcdserver: requested lease not found"}
        lease_grant(7) {"revision": 1}
        lease_grant(7) {"error": "lease already exists"}
        put({"key": "a", "value": 1, "lease": 7}) {"revision": 2}
        put({"key": "b", "value": 1, "lease": 7}) {"revision": 3}
        put(["b", 2]) {"revision": 4}
        lease_revoke(7) {"revision": 5}
        range({"prefix": ""}) {"revision": 5, "kvs": [{"key": "b", "lease": 0}]}
        lease_revoke(7) {"error": "requested lease not found"}
        compact(4) {"revision": 5}
        compact(4) {"error": "compacted"}
        compact(9) {"error": "future"}
        range({"key": "b", "revision": 3}) {"error": "compacted"}
        range({"key": "b", "revision": 4}) {"revision": 5, "kvs": [{"key": "b", "value": 2}]}
        range({"key": "b", "revision": 6}) {"error": "future"}
        defragment() {"revision": 5}
        "#,
    );
}

#[test]
fn requests_of_the_robustness_tests() {
    run(
        &STORE,
        r#"
        txn({"Type": "txn", "Range": null, "Txn": {"Conditions": null, "OperationsOnSuccess": [{"Type": "put-operation", "Range": {"Start": "", "End": "", "Limit": 0}, "Put": {"Key": "k", "Value": {"Value": "4", "Hash": 0}, "LeaseID": 0}, "Delete": {"Key": ""}}], "OperationsOnFailure": null}}) {"Txn": {"Failure": false, "Results": [{"KVs": null, "Count": 0, "Deleted": 0}]}, "Range": null, "Revision": 2, "PartialResponse": false, "Error": ""}
        range({"Type": "range", "Range": {"Start": "k", "End": "", "Limit": 0, "Revision": 0}}) {"Txn": null, "Range": {"KVs": [{"Key": "k", "Value": {"Value": "4", "Hash": 0}, "ModRevision": 2}], "Count": 1}, "Revision": 2, "Error": ""}
        txn({"Conditions": [{"Key": "k", "ExpectedRevision": 2}], "OperationsOnSuccess": [{"Type": "delete-operation", "Delete": {"Key": "k"}}]}) {"Txn": {"Failure": false, "Results": [{"KVs": null, "Count": 0, "Deleted": 1}]}, "Revision": 3, "Error": ""}
        txn({"Conditions": [{"Key": "k", "ExpectedRevision": 2}], "OperationsOnSuccess": [], "OperationsOnFailure": [{"Type": "range-operation", "Range": {"Start": "k"}}]}) {"Txn": {"Failure": true, "Results": [{"KVs": [], "Count": 0, "Deleted": 0}]}, "Revision": 3}
        leaseGrant({"LeaseGrant": {"LeaseID": 3}}) {"Revision": -1, "LeaseGrant": {}}
        txn({"OperationsOnSuccess": [{"Type": "put-operation", "Put": {"Key": "k", "Value": {"Hash": 99}, "LeaseID": 3}}]}) {"Persisted": true, "PersistedRevision": 4, "Revision": 0}
        leaseRevoke({"LeaseRevoke": {"LeaseID": 3}}) {"Persisted": true, "Revision": 0}
        compact({"Compact": {"Revision": 3}}) {"Revision": -1, "Compact": {}}
        defragment({"Defragment": {}}) {"Revision": -1}
        range({"Range": {"Start": "k"}}) {"Range": {"KVs": [], "Count": 0}, "Revision": 5}
        "#,
    );
}

#[test]
fn wrong_answers_do_not_fit() {
    let state = STORE.init();
    let state = &STORE.step(&state, &put_op("a", 1), None)[0];
    let fits = |call: &str, argument: Value, answer: &str| {
        let argument = &argument;
        let method = call;
        let process = &Value::Nil;
        let op = STORE
            .decode(CallView {
                process,
                method,
                argument,
                hint: None,
            })
            .unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let answer = STORE.decode_result(&op, &answer.into()).unwrap();
        !STORE.step(state, &op, Some(&answer)).is_empty()
    };
    let range = |answer: &str| fits("range", "a".into(), answer);
    assert!(range(
        r#"{"revision": 2, "kvs": [{"key": "a", "value": 1}]}"#
    ));
    for wrong in [
        r#"{"revision": 3}"#,
        r#"{"kvs": []}"#,
        r#"{"kvs": [{"key": "a", "value": 2}]}"#,
        r#"{"kvs": [{"key": "b", "value": 1}]}"#,
        r#"{"kvs": [{"key": "a", "version": 2}]}"#,
        r#"{"kvs": [{"key": "a", "mod": 1}]}"#,
        r#"{"kvs": [{"key": "a"}, {"key": "b"}]}"#,
        r#"{"count": 2}"#,
        r#"{"error": "refused"}"#,
    ] {
        assert!(!range(wrong), "{wrong}");
    }
    assert!(!fits(
        "put",
        Value::list(["a".into(), 2.into()]),
        r#"{"revision": 2}"#
    ));
    assert!(fits(
        "put",
        Value::list(["a".into(), 2.into()]),
        r#"{"persisted": true}"#
    ));
    assert!(!fits("compact", 9.into(), r#"{"persisted": true}"#));
    assert!(!fits("delete", "a".into(), r#"{"deleted": 0}"#));
    assert!(!fits(
        "delete",
        "a".into(),
        r#"{"persisted": true, "deleted": 0}"#
    ));
}

/// What is not compared shows nothing.
#[test]
fn only_reads_of_the_present_show_puts() {
    let shows = |argument: &str, answer: &str| {
        let value =
            |text: &str| Value::from(serde_json::from_str::<serde_json::Value>(text).unwrap());
        let call = CallView {
            process: &Value::Nil,
            method: "txn",
            argument: &value(argument),
            hint: None,
        };
        let op = STORE.decode(call).unwrap();
        let answer = STORE.decode_result(&op, &value(answer)).unwrap();
        !STORE.shows(&op, &answer).is_empty()
    };
    const READ: &str = r#"{"then": [{"range": "a"}]}"#;
    const ENTRY: &str = r#"[{"kvs": [{"key": "a", "value": 1, "mod": 2}]}]"#;
    let answer = |rest: &str| format!(r#"{{"results": {ENTRY}, {rest}}}"#);
    assert!(shows(READ, &answer(r#""succeeded": true"#)));
    for rest in [
        r#""succeeded": false"#,
        r#""revision": 3"#,
        r#""succeeded": true, "error": "refused""#,
    ] {
        assert!(!shows(READ, &answer(rest)), "{rest}");
    }
    for request in [
        r#"{"then": [{"range": {"key": "a", "revision": 2}}]}"#,
        r#"{"then": [{"put": ["a", 2]}]}"#,
        r#"{"then": [{"range": "a"}, {"put": ["a", 1]}]}"#,
    ] {
        assert!(
            !shows(request, &answer(r#""succeeded": true"#)),
            "{request}"
        );
    }
}

#[test]
fn malformed_requests_and_answers_are_refused() {
    let decode = |method: &str, argument: Value| {
        let call = CallView {
            process: &Value::Nil,
            method,
            argument: &argument,
            hint: None,
        };
        STORE.decode(call).map_err(|error| error.to_string())
    };
    let cases = [
        (
            "put",
            Value::from("a"),
            "put takes [key, value] or a map with both, not \"a\"",
        ),
        (
            "compact",
            Value::Int(0),
            "compact takes a revision, a number from 1 on, not 0",
        ),
        (
            "txn",
            Value::Nil,
            "txn takes a map with if, then and else, not nil",
        ),
        ("range", Value::Nil, "a key is a text, not nil"),
        ("watch", Value::Nil, "unknown method \"watch\""),
    ];
    for (method, argument, reason) in cases {
        assert_eq!(decode(method, argument).unwrap_err(), reason);
    }
    let answer = |text: &str| {
        let answer: serde_json::Value = serde_json::from_str(text).unwrap();
        let result = STORE.decode_result(&put_op("a", 1), &answer.into());
        result.map_err(|error| error.to_string())
    };
    assert_eq!(
        answer(r#"{"revison": 3}"#).unwrap_err(),
        "an answer has no \"revison\"; did you mean revision? known are revision, kvs, count, deleted, succeeded, results, \
         persisted, error"
    );
    assert!(
        answer(r#"{"Revision": 0, "Error": "timeout"}"#)
            .unwrap_err()
            .contains("is pending")
    );
    assert_eq!(answer("null"), Ok(Value::map([])));
}

fn put_op(key: &str, value: i64) -> EtcdOp {
    EtcdOp::Put(Put {
        key: key.into(),
        value: value.into(),
        lease: 0,
    })
}
