//! From a Parquet file to a verdict, against what reading its columns alone takes.

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use linpoint::format::{Format, ReadOptions, read, write};
use linpoint::generate::Generator;
use linpoint::{Checker, Config, Verdict, object_type};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const OPS: usize = 1_000_000;
const RUNS: usize = 40;

pub fn run() -> anyhow::Result<()> {
    println!("## From Parquet to a verdict\n");
    println!("{OPS} operations, 100 processes; best of {RUNS} runs, in one process. \"Columns\" reads all columns into arrow arrays.");
    println!("The first row is of 50 producers and 50 consumers; in the others every process does everything, peeks included.\n");
    println!("| object | size | columns | history | verdict | times columns | with a witness, replayed | times columns |");
    println!("|---|---|---|---|---|---|---|---|");
    let mixed = ["queue", "stack", "priority-queue", "set", "register"].map(|name| (name, None));
    for (name, producers) in std::iter::once(("queue", Some(50))).chain(mixed) {
        let path = std::env::temp_dir().join(format!("linpoint-bench-{name}.parquet"));
        let object = object_type(name, &Default::default())?;
        let history = Generator { ops: OPS, processes: 100, producers, ..Generator::default() }.linearizable(&object)?;
        let mut out = BufWriter::new(File::create(&path)?);
        write(Format::Parquet, &history, Some((name, &Default::default())), &mut out)?;
        out.flush()?;
        measure(name, &path)?;
        std::fs::remove_file(path)?;
    }
    println!();
    Ok(())
}

fn measure(name: &str, path: &Path) -> anyhow::Result<()> {
    let best = |work: &dyn Fn() -> anyhow::Result<()>| -> anyhow::Result<f64> {
        let mut best = f64::INFINITY;
        for _ in 0..RUNS {
            let started = Instant::now();
            work()?;
            best = best.min(started.elapsed().as_secs_f64());
        }
        Ok(best)
    };
    let columns = best(&|| {
        let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path)?)?.with_batch_size(1 << 16).build()?;
        for batch in reader {
            black_box(batch?);
        }
        Ok(())
    })?;
    let history = best(&|| {
        read(path, &ReadOptions::default(), |recorded| {
            black_box(recorded.is_ok());
        });
        Ok(())
    })?;
    let object = object_type(name, &Default::default())?;
    let verdict = |config: Config| {
        let checker = Checker::new(config);
        best(&|| {
            let mut verdict = None;
            read(path, &ReadOptions::default(), |recorded| {
                verdict = recorded.and_then(|r| checker.check_recorded(&object, &r.history)).ok();
            });
            ensure!(verdict.is_some_and(|report| matches!(report.verdict, Verdict::Linearizable(_))), "not decided");
            Ok(())
        })
    };
    let plain = verdict(Config::default().without_witnesses())?;
    let certified = verdict(Config::default())?;
    println!(
        "| {name} | {:.1} MB | {:.0} ms | {:.0} ms | {:.0} ms | {:.2} | {:.0} ms | {:.2} |",
        path.metadata()?.len() as f64 / 1e6,
        columns * 1e3,
        history * 1e3,
        plain * 1e3,
        plain / columns,
        certified * 1e3,
        certified / columns,
    );
    Ok(())
}
