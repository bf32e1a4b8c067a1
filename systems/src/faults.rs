//! Faults, and the cluster that suffers them.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
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

    /// What is noted when it begins and ends. The page of linpoint draws a span between notes that begin with such words.
    fn words(self) -> [&'static str; 2] {
        match self {
            Fault::Pause => ["pause", "resume"],
            Fault::Kill => ["kill", "recover"],
            Fault::Partition => ["partition", "heal"],
            Fault::Delay => ["start delay of", "stop delay of"],
        }
    }

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
    fn begin(&mut self, fault: Fault, member: usize) -> Result<()> {
        match (fault, &self.network) {
            (Fault::Pause, _) => self.members[member].pause(),
            (Fault::Kill, _) => self.members[member].kill(),
            (Fault::Partition, Some(network)) => network.cut_off(member)?,
            (Fault::Delay, Some(network)) => network.delay(member, true)?,
            (Fault::Partition | Fault::Delay, None) => bail!("{fault} needs a network"),
        }
        Ok(())
    }

    fn end(&mut self, fault: Fault, member: usize) -> Result<()> {
        match (fault, &self.network) {
            (Fault::Pause, _) => self.members[member].resume(),
            (Fault::Kill, _) => self.members[member].restart()?,
            (Fault::Partition, Some(network)) => network.reconnect(member)?,
            (Fault::Delay, Some(network)) => network.delay(member, false)?,
            (Fault::Partition | Fault::Delay, None) => bail!("{fault} needs a network"),
        }
        Ok(())
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
            let [begins, ends] = fault.words();
            self.begin(fault, member)?;
            recorder.note(&format!("{begins} m{member}"));
            std::thread::sleep(long);
            self.end(fault, member)?;
            recorder.note(&format!("{ends} m{member}"));
        }
        std::thread::sleep(end.saturating_duration_since(Instant::now()));
        Ok(())
    }
}
