//! PostgreSQL: a counter that is read, and then written.

use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use linpoint_record::{Process, Recorder};

use crate::clients::{self, Answer, Random, lost};
use crate::faults::Cluster;
use crate::scenarios::Settings;
use crate::server::{Folder, Launch, Server, Skipped, free_port, wait_until};
use crate::wire::{Postgres, Rows};

/// Records clients that increment the counter in transactions, and read it.
pub fn record(settings: &Settings, log: &Path) -> Result<()> {
    let level = match settings.variant {
        "serializable" => "SERIALIZABLE",
        _ => "READ COMMITTED",
    };
    let folder = Folder::new()?;
    let port = free_port()?;
    let address = format!("127.0.0.1:{port}");
    let mut server = Server::start(launch(&folder, port)?)?;
    wait_until("postgres", &mut server, || connect(&address).is_ok())?;
    for statement in [
        "CREATE TABLE counter (count bigint)",
        "INSERT INTO counter VALUES (0)",
    ] {
        ensure!(
            matches!(connect(&address)?.query(statement)?, Rows::Rows(_)),
            "{statement} is refused"
        );
    }
    let recorder = Recorder::create(log, "counter")?;
    let client = || {
        let (address, mut connection) = (address.clone(), None);
        move |process: &mut Process, random: &mut Random| {
            let is_read = random.fraction() < 0.3;
            let operation = process.call(if is_read { "get" } else { "inc_and_get" }, ());
            let answer = match connection.take().map_or_else(|| connect(&address), Ok) {
                Err(error) => lost(&error, false),
                Ok(mut open) => {
                    let answer = if is_read {
                        read(&mut open)
                    } else {
                        increment(&mut open, level)
                    };
                    connection = answer.is_ok().then_some(open);
                    answer.unwrap_or_else(|answer| answer)
                }
            };
            answer.record(operation);
        }
    };
    let end = Instant::now() + settings.time;
    let list = (0..settings.clients).map(|_| client()).collect();
    let running = clients::start(
        &recorder,
        list,
        settings.seed,
        Duration::from_millis(5),
        end,
    );
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

/// What a request came to; the error is for a connection that is lost.
type Outcome = Result<Answer<i64>, Answer<i64>>;

fn read(connection: &mut Postgres) -> Outcome {
    match connection.query("SELECT count FROM counter") {
        Ok(Rows::Rows(rows)) => Ok(count(&rows).map_or(Answer::Unknown, Answer::Returned)),
        Ok(Rows::Refused(_)) => Ok(Answer::Failed),
        Err(error) => Err(lost(&error, true)),
    }
}

/// Increments the counter. A transaction that is not asked to commit has certainly no effect; what becomes of one whose commit is not
/// answered is unknown.
fn increment(connection: &mut Postgres, level: &str) -> Outcome {
    let mut prepare = || -> io::Result<Option<i64>> {
        connection.query(&format!("BEGIN ISOLATION LEVEL {level}"))?;
        let Rows::Rows(rows) = connection.query("SELECT count FROM counter")? else {
            return Ok(None);
        };
        let Some(next) = count(&rows).map(|count| count + 1) else {
            return Ok(None);
        };
        let update = connection.query(&format!("UPDATE counter SET count = {next}"))?;
        Ok(matches!(update, Rows::Rows(_)).then_some(next))
    };
    let next = match prepare() {
        Ok(Some(next)) => next,
        // Refused: another transaction was faster.
        Ok(None) => {
            return match connection.query("ROLLBACK") {
                Ok(_) => Ok(Answer::Failed),
                Err(_) => Err(Answer::Failed),
            };
        }
        Err(_) => return Err(Answer::Failed),
    };
    match connection.query("COMMIT") {
        Ok(Rows::Rows(_)) => Ok(Answer::Returned(next)),
        Ok(Rows::Refused(_)) => Ok(Answer::Failed),
        Err(error) => Err(lost(&error, true)),
    }
}

fn count(rows: &[Vec<Option<String>>]) -> Option<i64> {
    rows.first()?.first()?.as_ref()?.parse().ok()
}

fn connect(address: &str) -> io::Result<Postgres> {
    Postgres::connect(address, "postgres", "postgres")
}

/// Makes a database in the folder. PostgreSQL refuses to run as root, so it runs as the user of Debian's package then.
fn launch(folder: &Folder, port: u16) -> Result<Launch> {
    let programs = programs()?;
    let data = folder.join("data");
    std::fs::create_dir(&data)?;
    let mut initialise = Command::new("setpriv");
    let mut user = None;
    if rustix::process::getuid().is_root() {
        let id = Command::new("id").args(["-u", "postgres"]).output()?;
        let id = String::from_utf8_lossy(&id.stdout)
            .trim()
            .parse()
            .context("there is no user postgres")?;
        chown(folder.path(), Some(id), None)?;
        chown(&data, Some(id), None)?;
        initialise.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
        user = Some("postgres".to_owned());
    }
    let data = data.display().to_string();
    initialise.arg(programs.join("initdb")).args([
        "-D",
        &data,
        "-A",
        "trust",
        "-U",
        "postgres",
        "--no-sync",
        "--no-locale",
    ]);
    let done = initialise.output().context("initdb cannot be started")?;
    if !done.status.success() {
        bail!("initdb: {}", String::from_utf8_lossy(&done.stderr));
    }
    // A killed process loses nothing that was given to the system, so nothing has to reach the disk.
    let settings = format!("-D {data} -p {port} -h 127.0.0.1 -k {data} -F");
    Ok(Launch {
        program: programs.join("postgres"),
        arguments: settings.split(' ').map(str::to_owned).collect(),
        output: folder.join("postgres.log"),
        namespace: None,
        user,
    })
}

/// The folder of the programs, which Debian does not put on the PATH.
fn programs() -> Result<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let mut folders: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    let found = folders
        .into_iter()
        .rev()
        .find(|folder| folder.join("initdb").is_file());
    found.ok_or_else(|| {
        Skipped("there is no postgres; Debian has it in the package postgresql".to_owned()).into()
    })
}
