//! Whether `--timeout` and `--memory` bind the whole program, from the first byte read to the last byte written.
//!
//! Every object type, with a violation and without, with the chosen engine and with the general search, and with all
//! outputs. The program is `LINPOINT`, or `target/release/linpoint`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use linpoint::object::types;

/// Operations of a history. Fewer are taken where a violation of so many is not made in time.
const OPS: [usize; 3] = [30_000, 6_000, 1_000];
const PROCESSES: usize = 8;
const GENERATION_TIME: Duration = Duration::from_secs(3);

/// How much more than its limit a run may take: a tenth, and this much time.
const SHARE: f64 = 1.1;
const MORE_SECONDS: f64 = 0.2;

/// A run that takes longer is ended.
const MOST_TIME: Duration = Duration::from_secs(20);

/// The limits of a run.
struct Limits {
    seconds: f64,
    mib: Option<f64>,
}

/// What runs are given: limits, and outputs that are made under them.
const RUNS: &[(Limits, &[&str])] = &[
    (Limits { seconds: 2.0, mib: Some(100.0) }, &["--json", "--html", "--proof"]),
    (Limits { seconds: 2.0, mib: Some(200.0) }, &["--json", "--html", "--proof"]),
    (Limits { seconds: 1.0, mib: None }, &[]),
    (Limits { seconds: 1.0, mib: None }, &["--html"]),
    (Limits { seconds: 1.0, mib: None }, &["--json", "--proof"]),
];

/// A run that came closest to its limit, or went furthest over it, so far.
#[derive(Default)]
struct Worst {
    share: f64,
    name: String,
}

impl Worst {
    fn note(&mut self, share: f64, name: impl FnOnce() -> String) {
        if share > self.share {
            *self = Worst { share, name: name() };
        }
    }
}

/// What one run took.
pub struct Taken {
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub peak_mib: f64,
}

pub fn run() -> anyhow::Result<()> {
    let program = program()?;
    let folder = std::env::temp_dir().join(format!("linpoint-limits-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    println!("## Limits\n");
    println!(
        "`linpoint check` under `--timeout` and `--memory`, in a process of its own: all {} types, with a violation and without, engines auto and search.",
        types().len()
    );
    println!("The bars: {SHARE} times the limit, and {MORE_SECONDS} s more for the time.\n");
    let measured = measure_all(&program, &folder);
    std::fs::remove_dir_all(&folder)?;
    let (runs, worst_time, worst_memory, over) = measured?;
    println!("| limit | runs | worst, as a share of its bar | which | holds |");
    println!("|---|---|---|---|---|");
    for (name, worst) in [("time", &worst_time), ("memory", &worst_memory)] {
        let holds = if worst.share <= 1.0 { "yes" } else { "no" };
        println!("| {name} | {runs} | {:.2} | {} | {holds} |", worst.share, worst.name);
    }
    println!();
    for line in &over {
        println!("- over its bar: {line}");
    }
    if !over.is_empty() {
        println!();
    }
    Ok(())
}

/// The number of runs, the worst of them by time and by memory, and those over a bar.
type Measured = (usize, Worst, Worst, Vec<String>);

fn measure_all(program: &Path, folder: &Path) -> anyhow::Result<Measured> {
    let (mut runs, mut over) = (0, Vec::new());
    let (mut worst_time, mut worst_memory) = (Worst::default(), Worst::default());
    for info in types() {
        for violation in [false, true] {
            let file = folder.join("history.jsonl");
            let is_bounded = info.params.iter().any(|(name, _)| *name == "capacity");
            let object = match is_bounded {
                true => format!("{}:capacity=8", info.name),
                false => info.name.to_owned(),
            };
            let Some(ops) = generate(program, &object, violation, &file)? else {
                println!("- no violation of {} was made in time", info.name);
                continue;
            };
            for engine in ["auto", "search"] {
                for (limits, outputs) in RUNS {
                    let taken = check(program, folder, &file, engine, limits, outputs)?;
                    runs += 1;
                    let what = if violation { "a violation" } else { "linearizable" };
                    let name = || {
                        let memory = limits.mib.map_or(String::new(), |mib| format!(" --memory {mib}M"));
                        format!(
                            "{} of {ops} operations, {what}, --engine {engine} --timeout {}s{memory} {}: {:.2} s, {:.0} MiB",
                            info.name, limits.seconds, outputs.join(" "), taken.seconds, taken.peak_mib
                        )
                    };
                    let time = taken.seconds / (SHARE * limits.seconds + MORE_SECONDS);
                    let memory = limits.mib.map_or(0.0, |mib| taken.peak_mib / (SHARE * mib));
                    worst_time.note(time, name);
                    worst_memory.note(memory, name);
                    if time > 1.0 || memory > 1.0 {
                        // The whole takes minutes.
                        eprintln!("over its bar: {}", name());
                        over.push(name());
                    }
                }
            }
        }
    }
    Ok((runs, worst_time, worst_memory, over))
}

/// The command line that is measured.
pub fn program() -> anyhow::Result<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/release/linpoint");
    let program = std::env::var_os("LINPOINT").map_or(built, PathBuf::from);
    ensure!(program.is_file(), "{} is missing: cargo build --release -p linpoint-cli", program.display());
    Ok(program)
}

/// Writes a history of a type. Returns the number of its operations, or `None` if it was not made in time.
fn generate(program: &Path, object: &str, violation: bool, file: &Path) -> anyhow::Result<Option<usize>> {
    for ops in OPS {
        let mut command = Command::new(program);
        command.args(["generate", "--type", object, "--ops", &ops.to_string(), "--processes", &PROCESSES.to_string()]);
        command.args(violation.then_some("--violation"));
        command.arg("--output").arg(file);
        let (code, _) = wait(command, GENERATION_TIME)?;
        match code {
            Some(0) => return Ok(Some(ops)),
            None => {}
            Some(code) => bail!("{object}: linpoint generate ended with {code}"),
        }
    }
    Ok(None)
}

fn check(program: &Path, folder: &Path, file: &Path, engine: &str, limits: &Limits, outputs: &[&str]) -> anyhow::Result<Taken> {
    let mut command = Command::new(program);
    command.arg("check").arg(file).args(["--engine", engine, "--timeout", &format!("{}s", limits.seconds)]);
    if let Some(mib) = limits.mib {
        command.args(["--memory", &format!("{mib}M")]);
    }
    for output in outputs {
        command.arg(output);
        if *output != "--json" {
            command.arg(folder.join(format!("output{output}")));
        }
    }
    let (code, taken) = wait(command, MOST_TIME)?;
    ensure!(matches!(code, None | Some(0..=2)), "{engine} {outputs:?} on {}: ended with {code:?}", file.display());
    Ok(taken)
}

/// Runs a command. Returns its exit code, `None` if it had to be ended, and what it took.
///
/// This program must stay small: the system counts its memory as that of the child until the other program is loaded.
pub fn wait(mut command: Command, most: Duration) -> anyhow::Result<(Option<i32>, Taken)> {
    let started = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let id = libc::pid_t::try_from(child.id()).context("a process number")?;
    loop {
        let (mut status, mut usage) = (0, std::mem::MaybeUninit::<libc::rusage>::zeroed());
        // SAFETY: both pointers are valid for writes, and a zeroed `rusage` is a valid one.
        let (ended, usage) = unsafe {
            let ended = libc::wait4(id, &mut status, libc::WNOHANG, usage.as_mut_ptr());
            (ended, usage.assume_init())
        };
        let seconds = started.elapsed().as_secs_f64();
        match ended {
            0 if seconds > most.as_secs_f64() => {
                child.kill()?;
                child.wait()?;
                return Ok((None, Taken { seconds, cpu_seconds: 0.0, peak_mib: 0.0 }));
            }
            0 => std::thread::sleep(Duration::from_millis(2)),
            -1 => return Err(std::io::Error::last_os_error()).context("waiting for linpoint"),
            _ => {
                let code = libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status));
                let code = code.context("linpoint was ended by a signal")?;
                let of = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
                let cpu_seconds = of(usage.ru_utime) + of(usage.ru_stime);
                // Linux counts in KiB.
                let peak_mib = usage.ru_maxrss as f64 / 1024.0;
                return Ok((Some(code), Taken { seconds, cpu_seconds, peak_mib }));
            }
        }
    }
}
