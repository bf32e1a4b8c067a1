//! Servers as processes of this machine, which end when this program ends, however that happens.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// A folder that is deleted in the end.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("linpoint-systems-{}-{number}", std::process::id()));
        fs::create_dir(&path).with_context(|| format!("{} cannot be made", path.display()))?;
        Ok(Folder(path))
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<String>,
    /// Where its output goes.
    pub output: PathBuf,
    /// The network namespace in which it runs.
    pub namespace: Option<String>,
    /// The user that it runs as, if not that of this program.
    pub user: Option<String>,
}

impl Launch {
    fn start(&self) -> Result<Child> {
        // The kernel kills the server when the thread that started it ends, so all servers are started by the main thread.
        let mut words: Vec<String> = Vec::new();
        if let Some(namespace) = &self.namespace {
            words.extend(["ip", "netns", "exec", namespace].map(str::to_owned));
        }
        words.extend(["setpriv", "--pdeathsig", "KILL"].map(str::to_owned));
        if let Some(user) = &self.user {
            words.extend([
                format!("--reuid={user}"),
                format!("--regid={user}"),
                "--clear-groups".to_owned(),
            ]);
        }
        words.push(self.program.display().to_string());
        words.extend(self.arguments.iter().cloned());
        let output = File::options()
            .create(true)
            .append(true)
            .open(&self.output)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        command
            .spawn()
            .with_context(|| format!("{} cannot be started", words.join(" ")))
    }
}

/// A server that was started.
pub struct Server {
    launch: Launch,
    child: Child,
}

impl Server {
    pub fn start(launch: Launch) -> Result<Self> {
        let child = launch.start()?;
        Ok(Server { launch, child })
    }

    /// Kills it with signal 9.
    pub fn kill(&mut self) {
        // A stopped process is killed, too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again after it was killed.
    pub fn restart(&mut self) -> Result<()> {
        self.child = self.launch.start()?;
        Ok(())
    }

    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)) | Err(_))
    }

    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    /// The last lines of what it printed.
    pub fn last_words(&self) -> String {
        let text = fs::read(&self.launch.output).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(5)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port of the loopback interface that is free now.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until `ready`, which is asked every 50 ms.
pub fn wait_until(what: &str, server: &mut Server, mut ready: impl FnMut() -> bool) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !ready() {
        if server.has_ended() {
            bail!("{what} ended at once:\n{}", server.last_words());
        }
        if Instant::now() > deadline {
            bail!(
                "{what} does not answer within 30 s:\n{}",
                server.last_words()
            );
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

/// The first of these programs that is there: a path, or a name on the PATH.
pub fn find_program(names: &[&str], package: &str) -> Result<PathBuf> {
    let folders: Vec<PathBuf> = std::env::var_os("PATH")
        .map_or_else(Vec::new, |path| std::env::split_paths(&path).collect());
    let found = names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file());
    found.ok_or_else(|| {
        Skipped(format!(
            "there is no {}; Debian has it in the package {package}",
            names[0]
        ))
        .into()
    })
}

/// Why something was not tried.
#[derive(Debug)]
pub struct Skipped(pub String);

impl std::fmt::Display for Skipped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Skipped {}
