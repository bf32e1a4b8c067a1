//! Redis: one server that writes every change into its file before it answers, or one with a replica that gets changes afterwards.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use linpoint_record::{Process, Recorder};

use crate::clients::{self, Answer, Random};
use crate::faults::{Cluster, Fault};
use crate::scenarios::Settings;
use crate::server::{Folder, Launch, Server, find_program, free_port, wait_until};
use crate::wire::{Redis, Reply};

const KEYS: [&str; 3] = ["a", "b", "c"];

/// A server on the loopback interface, which writes every change into its file before it answers.
pub struct Single {
    pub server: Server,
    pub address: String,
    _folder: Folder,
}

impl Single {
    pub fn start() -> Result<Self> {
        let folder = Folder::new()?;
        let port = free_port()?;
        let address = format!("127.0.0.1:{port}");
        let mut server = Server::start(launch(&folder, "m0", &address, None)?)?;
        wait_until("redis-server", &mut server, || answers(&address))?;
        Ok(Single {
            server,
            address,
            _folder: folder,
        })
    }
}

fn launch(folder: &Folder, name: &str, address: &str, namespace: Option<String>) -> Result<Launch> {
    let (host, port) = address.split_once(':').unwrap_or((address, "6379"));
    let data = folder.join(name);
    std::fs::create_dir_all(&data)?;
    let arguments = [
        "--bind",
        host,
        "--port",
        port,
        "--dir",
        &data.display().to_string(),
        "--save",
        "",
    ];
    let rest = "--protected-mode no --appendonly yes --appendfsync always --repl-diskless-sync-delay 0 --repl-ping-replica-period 1";
    Ok(Launch {
        program: find_program(&["redis-server"], "redis-server")?,
        arguments: arguments
            .into_iter()
            .chain(rest.split(' '))
            .map(str::to_owned)
            .collect(),
        output: folder.join(&format!("{name}.log")),
        namespace,
        user: None,
    })
}

/// Whether it answers, and is not loading its file.
fn answers(address: &str) -> bool {
    matches!(
        Redis::default().ask(address, &["PING"]),
        Answer::Returned(_)
    )
}

/// Records reads and writes of keys.
pub fn record(settings: &Settings, log: &Path) -> Result<()> {
    match settings.variant {
        "single" => record_single(settings, log),
        _ => record_pair(settings, log),
    }
}

fn record_single(settings: &Settings, log: &Path) -> Result<()> {
    let Single {
        server,
        address,
        _folder,
    } = Single::start()?;
    let end = Instant::now() + settings.time;
    let (recorder, running) = start_clients(
        settings,
        log,
        [address.clone(), address],
        Arc::default(),
        end,
    )?;
    let mut cluster = Cluster {
        members: vec![server],
        network: None,
    };
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

type Running = (Recorder, Vec<std::thread::JoinHandle<()>>);

/// Clients that write to the current one of two servers, and read there or, if the variant says so, from the other one.
fn start_clients(
    settings: &Settings,
    log: &Path,
    addresses: [String; 2],
    current: Arc<AtomicUsize>,
    end: Instant,
) -> Result<Running> {
    let recorder = Recorder::create(log, "kv")?;
    let fresh = Arc::new(AtomicI64::new(1));
    let reads_replica = settings.variant == "replica-reads";
    let client = || {
        let (addresses, current, fresh) = (addresses.clone(), current.clone(), fresh.clone());
        let mut connections = [Redis::default(), Redis::default()];
        move |process: &mut Process, random: &mut Random| {
            let key = KEYS[random.below(KEYS.len())];
            let primary = current.load(Ordering::SeqCst);
            if random.fraction() < 0.5 {
                let from = if reads_replica { 1 - primary } else { primary };
                let read = process.call("get", key);
                let answer = connections[from].ask(&addresses[from], &["GET", key]);
                answer.map(|reply| reply.int()).record(read);
            } else {
                let value = fresh.fetch_add(1, Ordering::Relaxed);
                let write = process.call("put", (key, value));
                let answer = connections[primary]
                    .ask(&addresses[primary], &["SET", key, &value.to_string()]);
                answer.map(|_| ()).record(write);
            }
        }
    };
    let list = (0..settings.clients).map(|_| client()).collect();
    let running = clients::start(
        &recorder,
        list,
        settings.seed,
        Duration::from_millis(10),
        end,
    );
    Ok((recorder, running))
}

/// A server and its replica. A replica is cut off for a while; then the server dies, and the replica takes its place.
fn record_pair(settings: &Settings, log: &Path) -> Result<()> {
    let folder = Folder::new()?;
    let network = settings.network(2)?;
    let address = |member| match &network {
        Some(network) => Ok(format!("{}:6379", network.address(member))),
        None => free_port().map(|port| format!("127.0.0.1:{port}")),
    };
    let addresses = [address(0)?, address(1)?];
    let mut members = Vec::new();
    for (member, address) in addresses.iter().enumerate() {
        let namespace = network.as_ref().map(|network| network.namespace(member));
        members.push(Server::start(launch(
            &folder,
            &format!("m{member}"),
            address,
            namespace,
        )?)?);
        wait_until("redis-server", &mut members[member], || answers(address))?;
    }
    follow(&addresses, 0, &mut members)?;
    let current = Arc::new(AtomicUsize::new(0));
    let end = Instant::now() + settings.time;
    let (recorder, running) =
        start_clients(settings, log, addresses.clone(), current.clone(), end)?;
    let mut cluster = Cluster { members, network };
    let mut random = Random::new(settings.seed, u64::MAX);
    let has = |fault| settings.faults.contains(&fault);
    while Instant::now() + Duration::from_millis(1500) < end {
        std::thread::sleep(random.millis(300, 700));
        let primary = current.load(Ordering::SeqCst);
        let replica = 1 - primary;
        let cut = cluster.network.as_ref().filter(|_| has(Fault::Partition));
        if let Some(network) = cut {
            network.cut_off(replica)?;
            recorder.note(&format!("partition m{replica}, the replica"));
            std::thread::sleep(random.millis(200, 500));
        }
        if has(Fault::Kill) {
            cluster.members[primary].kill();
            recorder.note(&format!("kill m{primary}"));
            Redis::default().ask(&addresses[replica], &["REPLICAOF", "NO", "ONE"]);
            current.store(replica, Ordering::SeqCst);
            recorder.note(&format!("m{replica} takes its place"));
        }
        if let Some(network) = cut {
            network.reconnect(replica)?;
            recorder.note("heal the network");
        }
        if has(Fault::Kill) {
            cluster.members[primary].restart()?;
            follow(&addresses, replica, &mut cluster.members)?;
            recorder.note(&format!("recover m{primary}, as the replica"));
        }
    }
    std::thread::sleep(end.saturating_duration_since(Instant::now()));
    clients::join(running)?;
    recorder.status()?;
    Ok(())
}

/// Makes the other server a replica of `primary`, and waits until it has all data.
fn follow(addresses: &[String; 2], primary: usize, members: &mut [Server]) -> Result<()> {
    let replica = 1 - primary;
    wait_until("redis-server", &mut members[replica], || {
        answers(&addresses[replica])
    })?;
    let (host, port) = addresses[primary].split_once(':').unwrap_or_default();
    Redis::default().ask(&addresses[replica], &["REPLICAOF", host, port]);
    wait_until("the replica", &mut members[replica], || {
        let info = Redis::default().ask(&addresses[replica], &["INFO", "replication"]);
        matches!(info, Answer::Returned(Reply::Text(text)) if text.contains("master_link_status:up"))
    })
}
