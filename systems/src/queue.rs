//! A queue on a list of Redis: served once, or again if its consumer takes too long.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use linpoint_record::{Process, Recorder};

use crate::clients::{self, Answer, Random};
use crate::faults::Cluster;
use crate::redis::Single;
use crate::scenarios::Settings;
use crate::wire::{Redis, Reply};

/// How long a consumer may take before its item is served again.
const VISIBLE_AFTER: Duration = Duration::from_millis(150);

/// Records producers and consumers.
pub fn record(settings: &Settings, log: &Path) -> Result<()> {
    let single = Single::start()?;
    let address = single.address.clone();
    let recorder = Recorder::create(log, "queue")?;
    let fresh = Arc::new(AtomicI64::new(1));
    let redelivers = settings.variant == "redelivery";
    let client = || {
        let (address, fresh, mut redis) = (address.clone(), fresh.clone(), Redis::default());
        move |process: &mut Process, random: &mut Random| {
            if random.fraction() < 0.5 {
                let value = fresh.fetch_add(1, Ordering::Relaxed);
                let add = process.call("enq", value);
                redis
                    .ask(&address, &["LPUSH", "queue", &value.to_string()])
                    .map(|_| ())
                    .record(add);
                return;
            }
            let take = process.call("deq", ());
            if !redelivers {
                redis
                    .ask(&address, &["RPOP", "queue"])
                    .map(|reply| reply.int())
                    .record(take);
                return;
            }
            let taken = redis
                .ask(&address, &["RPOPLPUSH", "queue", "taken"])
                .map(|reply| reply.int());
            if let Some(Some(value)) = taken.record(take) {
                // Now and then the work takes too long.
                let work = if random.fraction() < 0.02 {
                    2 * VISIBLE_AFTER
                } else {
                    Duration::ZERO
                };
                thread::sleep(work);
                redis.ask(&address, &["LREM", "taken", "1", &value.to_string()]);
            }
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
    let is_over = Arc::new(AtomicBool::new(false));
    let (over, at) = (is_over.clone(), address.clone());
    let redelivery = redelivers.then(|| thread::spawn(move || redeliver(&at, &over)));
    let mut cluster = Cluster {
        members: vec![single.server],
        network: None,
    };
    cluster.disturb(
        &settings.faults,
        &recorder,
        &mut Random::new(settings.seed, u64::MAX),
        end,
    )?;
    clients::join(running)?;
    is_over.store(true, Ordering::SeqCst);
    clients::join(redelivery.into_iter().collect())?;
    recorder.status()?;
    Ok(())
}

/// Puts what was taken too long ago back to the end that is served next.
fn redeliver(address: &str, is_over: &AtomicBool) {
    let (mut redis, mut since) = (Redis::default(), HashMap::new());
    while !is_over.load(Ordering::SeqCst) {
        thread::sleep(Duration::from_millis(20));
        let Answer::Returned(Reply::List(taken)) =
            redis.ask(address, &["LRANGE", "taken", "0", "-1"])
        else {
            continue;
        };
        since.retain(|value, _| taken.contains(value));
        for value in taken {
            let Reply::Text(text) = &value else { continue };
            if since
                .entry(value.clone())
                .or_insert_with(Instant::now)
                .elapsed()
                > VISIBLE_AFTER
            {
                redis.ask(address, &["LREM", "taken", "1", text]);
                redis.ask(address, &["RPUSH", "queue", text]);
                since.remove(&value);
            }
        }
    }
}
