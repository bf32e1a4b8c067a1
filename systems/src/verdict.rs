//! What linpoint says: the command is run on the logs.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What `linpoint check` says of a history.
pub struct Verdict {
    /// `linearizable`, `not linearizable` or `unknown`.
    pub word: String,
    /// The sentence about a violation.
    pub sentence: Option<String>,
    pub operations: u64,
}

/// Decides a history.
pub fn of(log: &Path) -> Result<Verdict> {
    let output = linpoint(&[
        "check".as_ref(),
        log.as_ref(),
        "--jsonl".as_ref(),
        "--no-diagnose".as_ref(),
    ])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let document: Option<Value> =
        serde_json::from_str(text.lines().next().unwrap_or_default()).ok();
    let Some(document) = document.filter(|document| document["verdict"].is_string()) else {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    };
    let parts = document["parts"].as_array().into_iter().flatten();
    let mut sentences = parts.filter_map(|part| part["violation"]["sentence"].as_str());
    Ok(Verdict {
        word: document["verdict"].as_str().unwrap_or_default().to_owned(),
        sentence: sentences.next().map(str::to_owned),
        operations: document["operations"].as_u64().unwrap_or(0),
    })
}

/// Prints the verdict, and writes the page. Returns the exit code of `linpoint check`.
pub fn print(log: &Path, page: &Path) -> Result<u8> {
    let output = linpoint(&[
        "check".as_ref(),
        log.as_ref(),
        "--html".as_ref(),
        page.as_ref(),
    ])?;
    print!("{}", String::from_utf8_lossy(&output.stdout));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    Ok(output
        .status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(70))
}

/// Merges logs of this machine.
pub fn merge(logs: &[PathBuf], merged: &Path) -> Result<()> {
    let mut arguments = vec!["merge".as_ref()];
    arguments.extend(logs.iter().map(|log| log.as_os_str()));
    arguments.extend(["--output".as_ref(), merged.as_os_str()]);
    let output = linpoint(&arguments)?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

fn linpoint(arguments: &[&std::ffi::OsStr]) -> Result<Output> {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let program = match PROGRAM.get() {
        Some(program) => program,
        None => {
            let found = find()?;
            PROGRAM.get_or_init(|| found)
        }
    };
    Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("{} cannot be run", program.display()))
}

/// The command that `LINPOINT` names, or that of this repository, which is built if needed.
fn find() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os("LINPOINT") {
        return Ok(named.into());
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    eprintln!("building linpoint (LINPOINT=PATH names one that is there)");
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "linpoint-cli",
            "--manifest-path",
        ])
        .arg(root.join("Cargo.toml"));
    if !build.status().context("cargo cannot be run")?.success() {
        bail!("linpoint cannot be built");
    }
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    Ok(target.join("release/linpoint"))
}
