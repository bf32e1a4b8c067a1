//! Networks in which members of a cluster can be cut off from each other: network namespaces on a bridge of their own.
//!
//! Clients stay outside and reach every member, as the clients of a data centre that has lost the link to another one do.

use std::cell::OnceCell;
use std::process::Command;

use anyhow::{Result, bail};

use crate::faults::Fault;
use crate::server::Skipped;

/// Network namespaces, which are deleted in the end.
pub struct Network {
    /// What the names begin with.
    prefix: String,
    subnet: String,
    members: usize,
}

impl Network {
    /// Makes a namespace for each member, or says why it cannot.
    pub fn new(members: usize) -> Result<Self> {
        remove_leftovers();
        let id = std::process::id();
        let network = Network {
            prefix: format!("lps{id}"),
            subnet: format!("10.213.{}", id % 250 + 1),
            members,
        };
        match network.make() {
            Ok(()) => Ok(network),
            Err(error) => {
                Err(Skipped(format!("network namespaces cannot be made: {error:#}")).into())
            }
        }
    }

    fn make(&self) -> Result<()> {
        let bridge = self.bridge();
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("addr add {}.254/24 dev {bridge}", self.subnet))?;
        ip(&format!("link set {bridge} up"))?;
        for member in 0..self.members {
            let (namespace, outside) =
                (self.namespace(member), format!("{}v{member}", self.prefix));
            ip(&format!("netns add {namespace}"))?;
            ip(&format!(
                "link add {outside} type veth peer name eth0 netns {namespace}"
            ))?;
            ip(&format!("link set {outside} master {bridge} up"))?;
            ip(&format!(
                "-n {namespace} addr add {}/24 dev eth0",
                self.address(member)
            ))?;
            ip(&format!("-n {namespace} link set eth0 up"))?;
            ip(&format!("-n {namespace} link set lo up"))?;
        }
        Ok(())
    }

    fn bridge(&self) -> String {
        format!("{}b", self.prefix)
    }

    pub fn namespace(&self, member: usize) -> String {
        format!("{}n{member}", self.prefix)
    }

    pub fn address(&self, member: usize) -> String {
        format!("{}.{}", self.subnet, member + 1)
    }

    /// Cuts a member off from all others, in both directions. Packets vanish, as on a lost link; no connection is refused.
    pub fn cut_off(&self, member: usize) -> Result<()> {
        self.routes("add", member)
    }

    pub fn reconnect(&self, member: usize) -> Result<()> {
        self.routes("del", member)
    }

    fn routes(&self, change: &str, member: usize) -> Result<()> {
        for other in (0..self.members).filter(|other| *other != member) {
            for (from, to) in [(member, other), (other, member)] {
                let (namespace, address) = (self.namespace(from), self.address(to));
                ip(&format!(
                    "-n {namespace} route {change} blackhole {address}/32"
                ))?;
            }
        }
        Ok(())
    }

    /// Delays what a member sends, or no longer.
    pub fn delay(&self, member: usize, is_on: bool) -> Result<()> {
        let change = if is_on { "add" } else { "del" };
        let delay = if is_on { " netem delay 60ms 30ms" } else { "" };
        run(
            "tc",
            &format!(
                "-n {} qdisc {change} dev eth0 root{delay}",
                self.namespace(member)
            ),
        )
    }
}

/// The faults that can be made here; the others are printed with the reason why not.
pub fn possible(mut faults: Vec<Fault>) -> Vec<Fault> {
    let network = OnceCell::new();
    faults.retain(|fault| {
        let possible = || -> Result<()> {
            let network = match (fault.needs_network(), network.get()) {
                (false, _) => return Ok(()),
                (true, Some(network)) => network,
                (true, None) => {
                    let made = Network::new(1)?;
                    network.get_or_init(|| made)
                }
            };
            match fault {
                Fault::Delay => network.delay(0, true),
                _ => Ok(()),
            }
        };
        let possible = possible();
        if let Err(error) = &possible {
            eprintln!("skipped: {fault}: {error:#}");
        }
        possible.is_ok()
    });
    faults
}

impl Drop for Network {
    fn drop(&mut self) {
        remove(&self.prefix);
    }
}

fn remove(prefix: &str) {
    for (list, delete) in [
        ("netns list", "netns del"),
        ("-o link show type veth", "link del"),
        ("-o link show type bridge", "link del"),
    ] {
        for name in names(list).filter(|name| owner(name).is_some_and(|_| name.starts_with(prefix)))
        {
            let _ = ip(&format!("{delete} {name}"));
        }
    }
}

/// Removes what earlier runs left that were killed.
fn remove_leftovers() {
    for name in names("netns list").chain(names("-o link show type bridge")) {
        if let Some(owner) =
            owner(&name).filter(|owner| !std::path::Path::new(&format!("/proc/{owner}")).exists())
        {
            remove(&format!("lps{owner}"));
        }
    }
}

/// The process that made a namespace or device of this name.
fn owner(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("lps")?;
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// The names in a list of namespaces or devices.
fn names(list: &str) -> impl Iterator<Item = String> {
    let output = Command::new("ip").args(list.split(' ')).output();
    let text = output.map_or_else(
        |_| String::new(),
        |output| String::from_utf8_lossy(&output.stdout).into_owned(),
    );
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("lps")))
        .map(|word| {
            word.trim_end_matches(':')
                .split('@')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .collect();
    names.into_iter()
}

fn ip(arguments: &str) -> Result<()> {
    run("ip", arguments)
}

fn run(program: &str, arguments: &str) -> Result<()> {
    let output = Command::new(program).args(arguments.split(' ')).output();
    match output {
        Err(error) => bail!("{program}: {error}"),
        Ok(output) if !output.status.success() => {
            bail!(
                "{program} {arguments}: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )
        }
        Ok(_) => Ok(()),
    }
}
