//! A lock in Redis that expires, without fencing tokens. Its clients are programs, which are paused now and then.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use linpoint_record::Recorder;

use crate::clients::{Answer, Random};
use crate::faults::Cluster;
use crate::redis::Single;
use crate::scenarios::Settings;
use crate::server::{Folder, Launch, Server};
use crate::verdict;
use crate::wire::{Redis, Reply};

/// When the lock expires.
const EXPIRES: Duration = Duration::from_millis(1000);

/// How long a holder is paused.
const PAUSE: Duration = Duration::from_millis(1600);

/// Frees the lock if it is ours still.
const FREE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

/// Records programs that take and free the lock, each into a log of its own, and merges the logs.
pub fn record(settings: &Settings, log: &Path) -> Result<()> {
    let single = Single::start()?;
    let folder = Folder::new()?;
    let notes = folder.join("faults.jsonl");
    let recorder = Recorder::create(&notes, "mutex")?;
    let mut logs = vec![notes];
    let mut members = Vec::new();
    for client in 0..settings.clients.min(4) {
        let own = folder.join(&format!("c{client}.jsonl"));
        let arguments = [
            "lock-client".to_owned(),
            own.display().to_string(),
            single.address.clone(),
            format!("c{client}"),
        ];
        let rest = [
            settings.seed.to_string(),
            settings.time.as_millis().to_string(),
        ];
        members.push(Server::start(Launch {
            program: std::env::current_exe()?,
            arguments: arguments.into_iter().chain(rest).collect(),
            output: folder.join(&format!("c{client}.log")),
            namespace: None,
            user: None,
        })?);
        logs.push(own);
    }
    let end = Instant::now() + settings.time;
    let mut cluster = Cluster {
        members,
        network: None,
    };
    let mut random = Random::new(settings.seed, u64::MAX);
    while !settings.faults.is_empty() && Instant::now() + PAUSE + EXPIRES < end {
        std::thread::sleep(random.millis(100, 500));
        let Some(holder) = holder(&single.address) else {
            continue;
        };
        cluster.members[holder].pause();
        recorder.note(&format!("pause c{holder}, which holds the lock"));
        std::thread::sleep(PAUSE);
        cluster.members[holder].resume();
        recorder.note(&format!("resume c{holder}"));
    }
    let deadline = end + Duration::from_secs(5);
    while cluster.members.iter_mut().any(|client| !client.has_ended()) && Instant::now() < deadline
    {
        std::thread::sleep(Duration::from_millis(50));
    }
    recorder.status()?;
    verdict::merge(&logs, log)
}

/// The client that holds the lock now.
fn holder(address: &str) -> Option<usize> {
    match Redis::default().ask(address, &["GET", "lock"]) {
        Answer::Returned(Reply::Text(token)) => {
            token.strip_prefix('c')?.split('-').next()?.parse().ok()
        }
        _ => None,
    }
}

/// The program of a client: `lock-client LOG ADDRESS NAME SEED MILLISECONDS`.
pub fn client(arguments: &[String]) -> Result<()> {
    let [log, address, name, seed, millis] = arguments else {
        anyhow::bail!("lock-client is for this program itself");
    };
    let recorder = Recorder::create(log, "mutex")?;
    let mut process = recorder.process_named(name);
    let number = name.trim_start_matches('c').parse().context("a name")?;
    let mut random = Random::new(seed.parse().context("a seed")?, number);
    let end = Instant::now() + Duration::from_millis(millis.parse().context("milliseconds")?);
    let (mut redis, expires) = (Redis::default(), EXPIRES.as_millis().to_string());
    let mut round = 0;
    while Instant::now() < end {
        round += 1;
        let token = format!("{name}-{round}");
        let take = process.call("try_acquire", ());
        let answer = redis.ask(address, &["SET", "lock", &token, "NX", "PX", &expires]);
        if answer.map(|reply| reply != Reply::Nil).record(take) == Some(true) {
            std::thread::sleep(random.millis(5, 40));
            let free = process.call("release", ());
            match redis.ask(address, &["EVAL", FREE, "1", "lock", &token]) {
                // It had expired: nothing was freed.
                Answer::Returned(Reply::Int(0)) => free.failed(),
                answer => drop(answer.map(|_| ()).record(free)),
            }
        }
        std::thread::sleep(random.millis(5, 40));
    }
    recorder.status()?;
    Ok(())
}
