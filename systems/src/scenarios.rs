//! What can be recorded: systems in their configurations, with the verdicts that are to be expected.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use crate::faults::Fault;
use crate::network::Network;
use crate::{etcd, lock, postgres, queue, redis};

/// A system in a configuration.
pub struct Scenario {
    pub system: &'static str,
    pub variant: &'static str,
    /// What is different about it.
    pub about: &'static str,
    /// The faults that it is to be recorded under.
    pub faults: &'static [Fault],
    /// Whether its histories are linearizable under these faults.
    pub is_linearizable: bool,
    pub record: fn(&Settings, &Path) -> Result<()>,
}

/// How a scenario is recorded.
pub struct Settings {
    pub variant: &'static str,
    pub faults: Vec<Fault>,
    pub time: Duration,
    pub clients: usize,
    pub seed: u64,
}

impl Settings {
    /// The network that the faults need, if they need one.
    pub fn network(&self, members: usize) -> Result<Option<Network>> {
        let is_needed = self.faults.iter().any(|fault| fault.needs_network());
        is_needed.then(|| Network::new(members)).transpose()
    }
}

use Fault::{Delay, Kill, Partition, Pause};

/// All scenarios; of each system, the first one is that of the command line.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        system: "etcd",
        variant: "linearizable",
        about: "three members, linearizable reads",
        faults: &[Pause, Kill, Partition, Delay],
        is_linearizable: true,
        record: etcd::record,
    },
    Scenario {
        system: "etcd",
        variant: "serializable",
        about: "three members, serializable reads",
        faults: &[Pause, Partition],
        is_linearizable: false,
        record: etcd::record,
    },
    Scenario {
        system: "redis",
        variant: "failover",
        about: "a replica that takes over",
        faults: &[Kill, Partition],
        is_linearizable: false,
        record: redis::record,
    },
    Scenario {
        system: "redis",
        variant: "replica-reads",
        about: "reads from the replica",
        faults: &[Partition],
        is_linearizable: false,
        record: redis::record,
    },
    Scenario {
        system: "redis",
        variant: "single",
        about: "one server, every change in its file",
        faults: &[Pause, Kill],
        is_linearizable: true,
        record: redis::record,
    },
    Scenario {
        system: "postgres",
        variant: "read-committed",
        about: "a counter is read and written, READ COMMITTED",
        faults: &[],
        is_linearizable: false,
        record: postgres::record,
    },
    Scenario {
        system: "postgres",
        variant: "serializable",
        about: "a counter is read and written, SERIALIZABLE",
        faults: &[Kill],
        is_linearizable: true,
        record: postgres::record,
    },
    Scenario {
        system: "lock",
        variant: "expiring",
        about: "a lock in Redis that expires, its holder is paused",
        faults: &[Pause],
        is_linearizable: false,
        record: lock::record,
    },
    Scenario {
        system: "lock",
        variant: "undisturbed",
        about: "the same lock",
        faults: &[],
        is_linearizable: true,
        record: lock::record,
    },
    Scenario {
        system: "queue",
        variant: "redelivery",
        about: "a list of Redis, served again if the consumer is slow",
        faults: &[],
        is_linearizable: false,
        record: queue::record,
    },
    Scenario {
        system: "queue",
        variant: "once",
        about: "a list of Redis",
        faults: &[Pause, Kill],
        is_linearizable: true,
        record: queue::record,
    },
];
