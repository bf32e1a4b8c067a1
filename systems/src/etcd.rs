//! A cluster of etcd, by its JSON gateway.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use linpoint_record::{Process, RawJson, Recorder};
use serde_json::{Value, json};

use crate::clients::{self, Random};
use crate::faults::Cluster;
use crate::scenarios::Settings;
use crate::server::{Folder, Launch, Server, find_program, free_port, wait_until};
use crate::wire::post;

const MEMBERS: usize = 3;
const KEYS: [&str; 3] = ["a", "b", "c"];

/// Records clients that read, write, delete, and change what they read last; with serializable reads, each member answers what it has.
pub fn record(settings: &Settings, log: &Path) -> Result<()> {
    let program = find_program(&["etcd"], "etcd-server")?;
    let folder = Folder::new()?;
    let network = settings.network(MEMBERS)?;
    let mut addresses = Vec::new();
    for member in 0..MEMBERS {
        addresses.push(match &network {
            Some(network) => (
                format!("{}:2379", network.address(member)),
                format!("{}:2380", network.address(member)),
            ),
            None => (
                format!("127.0.0.1:{}", free_port()?),
                format!("127.0.0.1:{}", free_port()?),
            ),
        });
    }
    let peers = (0..)
        .zip(&addresses)
        .map(|(member, (_, peer)): (usize, _)| format!("m{member}=http://{peer}"));
    let peers = peers.collect::<Vec<_>>().join(",");
    let mut members = Vec::new();
    for (member, (client, peer)) in addresses.iter().enumerate() {
        let data = folder.join(&format!("m{member}")).display().to_string();
        let arguments = format!(
            "--name m{member} --data-dir {data} --listen-client-urls http://{client} --advertise-client-urls http://{client} \
             --listen-peer-urls http://{peer} --initial-advertise-peer-urls http://{peer} --initial-cluster {peers} \
             --logger zap --log-level error --heartbeat-interval 50 --election-timeout 500"
        );
        members.push(Server::start(Launch {
            program: program.clone(),
            arguments: arguments.split_whitespace().map(str::to_owned).collect(),
            output: folder.join(&format!("m{member}.log")),
            namespace: network.as_ref().map(|network| network.namespace(member)),
            user: None,
        })?);
    }
    for (member, (client, _)) in members.iter_mut().zip(&addresses) {
        let ask = || {
            matches!(
                post(client, "/v3/kv/range", &json!({"key": encoded("a")})),
                clients::Answer::Returned(_)
            )
        };
        wait_until("etcd", member, ask)?;
    }
    let addresses: Arc<[String]> = addresses.into_iter().map(|(client, _)| client).collect();
    let fresh = Arc::new(AtomicI64::new(1));
    let is_serializable = settings.variant == "serializable";
    let recorder = Recorder::create(log, "etcd")?;
    let client = || {
        let (addresses, fresh) = (addresses.clone(), fresh.clone());
        let mut seen = HashMap::new();
        move |process: &mut Process, random: &mut Random| {
            let address = &addresses[random.below(MEMBERS)];
            request(process, random, address, &fresh, &mut seen, is_serializable);
        }
    };
    let end = Instant::now() + settings.time;
    let list = (0..settings.clients).map(|_| client()).collect();
    let running = clients::start(
        &recorder,
        list,
        settings.seed,
        Duration::from_millis(10),
        end,
    );
    let mut cluster = Cluster { members, network };
    cluster.disturb(
        &settings.faults,
        &recorder,
        &mut Random::new(settings.seed, u64::MAX),
        end,
    )?;
    clients::join(running)?;
    recorder.status()?;
    Ok(())
}

/// Makes a random request and records it.
fn request(
    process: &mut Process,
    random: &mut Random,
    address: &str,
    fresh: &AtomicI64,
    seen: &mut HashMap<&'static str, i64>,
    is_serializable: bool,
) {
    let (chance, key) = (random.fraction(), KEYS[random.below(KEYS.len())]);
    let at = encoded(key);
    let value = fresh.fetch_add(1, Ordering::Relaxed);
    let put = json!({"key": at, "value": encoded(&value.to_string())});
    // The gateway leaves out a revision of 0, which stands for a missing key.
    let known = seen.get(key).copied().unwrap_or(0);
    let (method, argument, path, body) = if chance < 0.5 {
        (
            "range",
            json!(key),
            "range",
            json!({"key": at, "serializable": is_serializable}),
        )
    } else if chance < 0.8 {
        ("put", json!({"key": key, "value": value}), "put", put)
    } else if chance < 0.88 {
        ("delete", json!(key), "deleterange", json!({"key": at}))
    } else {
        let argument = json!({
            "if": [{"key": key, "mod": known}],
            "then": [{"put": {"key": key, "value": value}}],
            "else": [{"range": key}],
        });
        let body = json!({
            "compare": [{"key": at, "target": "MOD", "result": "EQUAL", "mod_revision": known.to_string()}],
            "success": [{"request_put": put}],
            "failure": [{"request_range": {"key": at}}],
        });
        ("txn", argument, "txn", body)
    };
    let operation = process.call(method, RawJson(argument.to_string()));
    let answer = post(address, &format!("/v3/kv/{path}"), &body).map(|answer| {
        let mut result = json!({"revision": integer(&answer["header"]["revision"])});
        match method {
            "range" => extend(&mut result, entries(&answer)),
            "delete" => result["deleted"] = json!(integer(&answer["deleted"])),
            "txn" => {
                let parts = answer["responses"].as_array().into_iter().flatten();
                result["succeeded"] = json!(answer["succeeded"] == true);
                result["results"] = parts
                    .map(|part| part.get("response_range").map_or(json!({}), entries))
                    .collect();
            }
            _ => {}
        }
        for entry in result["kvs"].as_array().into_iter().flatten() {
            seen.insert(key, integer(&entry["mod"]));
        }
        RawJson(result.to_string())
    });
    answer.record(operation);
}

/// The entries of an answer, with the numbers that etcd leaves out where they are 0.
fn entries(answer: &Value) -> Value {
    let kvs = answer["kvs"].as_array().into_iter().flatten().map(|entry| {
        json!({
            "key": decoded(&entry["key"]),
            "value": decoded(&entry["value"]).parse::<i64>().unwrap_or_default(),
            "mod": integer(&entry["mod_revision"]),
            "create": integer(&entry["create_revision"]),
            "version": integer(&entry["version"]),
        })
    });
    json!({"kvs": kvs.collect::<Value>(), "count": integer(&answer["count"])})
}

fn extend(result: &mut Value, more: Value) {
    if let (Value::Object(result), Value::Object(more)) = (result, more) {
        result.extend(more);
    }
}

/// An integer, which the gateway writes as text.
fn integer(value: &Value) -> i64 {
    value
        .as_str()
        .and_then(|text| text.parse().ok())
        .or(value.as_i64())
        .unwrap_or_default()
}

fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

fn decoded(value: &Value) -> String {
    let bytes = STANDARD
        .decode(value.as_str().unwrap_or_default())
        .unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}
