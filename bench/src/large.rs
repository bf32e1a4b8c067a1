//! Inputs larger than memory: generated, sorted and checked by the command line, against what reading the columns alone takes.
//!
//! The program is `LINPOINT`, or `target/release/linpoint`.

use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::limits::{Taken, program, wait};

const OPS: u64 = 10_000_000;

/// The number of objects, where there are many.
const OBJECTS: u64 = 100_000;

/// What each run may have.
const MEMORY: &str = "2G";

const MOST_TIME: Duration = Duration::from_secs(3600);

pub fn run(args: &[&str]) -> anyhow::Result<()> {
    let ops = args.first().map_or(Ok(OPS), |ops| ops.parse()).context("a number of operations")?;
    let folder = std::env::temp_dir().join(format!("linpoint-large-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(ops, &folder);
    std::fs::remove_dir_all(&folder)?;
    measured
}

fn measure(ops: u64, folder: &Path) -> anyhow::Result<()> {
    println!("## Inputs larger than memory\n");
    println!("{ops} operations, 16 processes; `--memory {MEMORY}` for each run. \"Columns\" reads all columns into arrow arrays, on one thread.\n");
    println!("| step | wall | CPU | peak memory | columns | times columns |");
    println!("|---|---|---|---|---|---|");
    for object in ["queue", "register"] {
        let many = Input { object, objects: OBJECTS, ops, folder };
        let generated = many.generate()?;
        let sorted = many.sort(&generated)?;
        std::fs::remove_file(generated)?;
        many.check(&sorted, &["--stream"])?;
        std::fs::remove_file(sorted)?;
        let one = Input { objects: 1, ..many };
        let generated = one.generate()?;
        one.check(&generated, &[])?;
        one.check(&generated, &["--no-certify"])?;
        std::fs::remove_file(generated)?;
    }
    println!();
    Ok(())
}

/// A history that is measured.
struct Input<'a> {
    object: &'static str,
    objects: u64,
    ops: u64,
    folder: &'a Path,
}

impl Input<'_> {
    fn named(&self) -> String {
        format!("{}, {} objects", self.object, self.objects)
    }

    fn generate(&self) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("generated.parquet");
        let mut command = Command::new(program()?);
        command.args(["generate", "--processes", "16", "--type", self.object]);
        command.args(["--ops", &self.ops.to_string(), "--objects", &self.objects.to_string()]);
        command.arg("--output").arg(&path);
        self.step("generate", command, None)?;
        Ok(path)
    }

    fn sort(&self, generated: &Path) -> anyhow::Result<PathBuf> {
        let path = self.folder.join("sorted.parquet");
        let mut command = Command::new(program()?);
        command.arg("sort").arg(generated).args(["--memory", MEMORY]).arg("--output").arg(&path);
        self.step("sort", command, None)?;
        Ok(path)
    }

    fn check(&self, path: &Path, options: &[&str]) -> anyhow::Result<()> {
        let mut command = Command::new(program()?);
        command.arg("check").arg(path).args(["--memory", MEMORY]).args(options);
        let columns = columns(path)?;
        self.step(&["check", &options.join(" ")].join(" "), command, Some(columns))
    }

    /// Runs a step and prints what it took. An exit code of 2 is that of a limit.
    fn step(&self, name: &str, command: Command, columns: Option<f64>) -> anyhow::Result<()> {
        let (code, Taken { seconds, cpu_seconds, peak_mib }) = wait(command, MOST_TIME)?;
        ensure!(matches!(code, Some(0 | 2)), "{name} of {}: ended with {code:?}", self.named());
        let limit = if code == Some(2) { " (over the memory limit)" } else { "" };
        let against = columns.map_or("| |".to_owned(), |columns| format!("{columns:.1} s | {:.2} |", seconds / columns));
        println!("| {}: {name}{limit} | {seconds:.1} s | {cpu_seconds:.1} s | {peak_mib:.0} MiB | {against}", self.named());
        Ok(())
    }
}

/// How long it takes to read all columns.
fn columns(path: &Path) -> anyhow::Result<f64> {
    let started = Instant::now();
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.with_batch_size(1 << 16).build()?;
    for batch in reader {
        black_box(batch?);
    }
    Ok(started.elapsed().as_secs_f64())
}
