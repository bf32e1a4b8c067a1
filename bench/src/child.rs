//! One measurement in a process of its own, so that time and memory can be limited and measured.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::peers::{self, Case, Checker};

/// The argument that makes this program measure one case and answer.
pub const COMMAND: &str = "measure-one";

/// Limits of one measurement.
pub const TIME_LIMIT: Duration = Duration::from_secs(60);
const MEMORY_LIMIT_KIB: u64 = 8 << 20;

/// What one measurement found.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub seconds: f64,
    pub peak_mib: f64,
}

/// This program, in a process of its own with so much memory.
pub fn within(memory_kib: u64) -> anyhow::Result<Command> {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -v {memory_kib}; exec \"$0\" \"$@\"")).arg(std::env::current_exe()?);
    Ok(command)
}

/// Measures in a child process; `None` if it did not finish within the limits.
pub fn measure(checker: Checker, case: &Case) -> anyhow::Result<Option<Measured>> {
    let mut child = within(MEMORY_LIMIT_KIB)?
        .arg(COMMAND)
        .args([checker.name(), case.object, &case.ops.to_string(), &case.processes.to_string(), &case.seed.to_string()])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            let output = child.wait_with_output()?;
            if !status.success() {
                return Ok(None);
            }
            let text = String::from_utf8(output.stdout)?;
            let mut numbers = text.split_whitespace().map(str::parse::<f64>);
            let mut next = || numbers.next().context("no answer")?.context("not a number");
            return Ok(Some(Measured { seconds: next()?, peak_mib: next()? }));
        }
        if started.elapsed() > TIME_LIMIT + Duration::from_secs(5) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Measures here and prints seconds and peak memory.
pub fn answer(args: &[&str]) -> anyhow::Result<()> {
    let &[checker, object, ops, processes, seed] = args else { bail!("five arguments expected") };
    let checker = Checker::parse(checker)?;
    let object = peers::OBJECTS.iter().find(|name| **name == object).context("unknown object")?;
    let case = Case { object, ops: ops.parse()?, processes: processes.parse()?, seed: seed.parse()? };
    let history = case.history()?;
    let mut best = f64::INFINITY;
    let started = Instant::now();
    // Short runs are repeated: the shortest one is the least disturbed.
    for _ in 0..20 {
        best = best.min(checker.run(&case, &history)?.as_secs_f64());
        if started.elapsed() > Duration::from_millis(300) {
            break;
        }
    }
    if best > TIME_LIMIT.as_secs_f64() {
        bail!("over the time limit");
    }
    println!("{best} {}", peak_mib()?);
    Ok(())
}

pub fn peak_mib() -> anyhow::Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).context("no peak memory")?;
    let kib: f64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
    Ok(kib / 1024.0)
}
