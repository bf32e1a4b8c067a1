//! Faults, and the cluster that suffers them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::Result;
use linpoint_record::Recorder;

use crate::clients::Random;
use crate::network::Network;
use crate::server::Server;

/// What is done to a member for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Stopped with SIGSTOP, then resumed with SIGCONT.
    Pause,
    /// Killed with SIGKILL, then started again.
    Kill,
    /// Cut off from the other members, but not from clients.
    Partition,
    /// What it sends arrives 30 to 90 ms late.
    Delay,
}

impl Fault {
    const ALL: [(Fault, &'static str); 4] = [
        (Fault::Pause, "pause"),
        (Fault::Kill, "kill"),
        (Fault::Partition, "partition"),
        (Fault::Delay, "delay"),
    ];

    /// Whether it needs network namespaces.
    pub fn needs_network(self) -> bool {
        matches!(self, Fault::Partition | Fault::Delay)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Fault::ALL
            .iter()
            .find(|(fault, _)| fault == self)
            .map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = Fault::ALL.iter().find(|(_, name)| *name == text);
        known.map(|(fault, _)| *fault).ok_or_else(|| {
            format!("unknown fault {text:?}: known are pause, kill, partition, delay, none")
        })
    }
}

/// Servers, and the network between them if it can be cut.
pub struct Cluster {
    pub members: Vec<Server>,
    pub network: Option<Network>,
}

impl Cluster {
    fn begin(&mut self, fault: Fault, member: usize) -> Result<&'static str> {
        match (fault, &self.network) {
            (Fault::Pause, _) => {
                self.members[member].pause();
                Ok("is paused")
            }
            (Fault::Kill, _) => {
                self.members[member].kill();
                Ok("is killed")
            }
            (Fault::Partition, Some(network)) => network.cut_off(member).map(|()| "is cut off"),
            (Fault::Delay, Some(network)) => network.delay(member, true).map(|()| "is slow"),
            (Fault::Partition | Fault::Delay, None) => Ok("cannot be cut off"),
        }
    }

    fn end(&mut self, fault: Fault, member: usize) -> Result<&'static str> {
        match (fault, &self.network) {
            (Fault::Pause, _) => {
                self.members[member].resume();
                Ok("goes on")
            }
            (Fault::Kill, _) => self.members[member].restart().map(|()| "is started again"),
            (Fault::Partition, Some(network)) => {
                network.reconnect(member).map(|()| "is connected again")
            }
            (Fault::Delay, Some(network)) => {
                network.delay(member, false).map(|()| "is no longer slow")
            }
            (Fault::Partition | Fault::Delay, None) => Ok("is as before"),
        }
    }

    /// Disturbs members, one at a time, until shortly before the end, and notes it in the history.
    pub fn disturb(
        &mut self,
        faults: &[Fault],
        recorder: &Recorder,
        random: &mut Random,
        end: Instant,
    ) -> Result<()> {
        let settle = Duration::from_millis(500);
        loop {
            let (calm, long) = (random.millis(200, 600), random.millis(200, 1200));
            if faults.is_empty() || Instant::now() + calm + long + settle > end {
                break;
            }
            std::thread::sleep(calm);
            let fault = faults[random.below(faults.len())];
            let member = random.below(self.members.len());
            let what = self.begin(fault, member)?;
            recorder.note(&format!("m{member} {what}"));
            std::thread::sleep(long);
            let what = self.end(fault, member)?;
            recorder.note(&format!("m{member} {what}"));
        }
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        Ok(())
    }
}
