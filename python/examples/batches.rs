//! What `linpoint.check` does with a table, without Python: prints the seconds, and the seconds of processor time, from the record batches of
//! a Parquet file to the verdict.

use std::time::Instant;

use arrow_array::RecordBatch;
use bytes::Bytes;
use linpoint::format::{ReadOptions, read_batches};
use linpoint::{Checker, Verdict};
use linpoint_cli::{Evidence, decide};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use rustix::time::{ClockId, clock_gettime};

/// Of all threads of this process, in seconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a Parquet file")?;
    let file = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(std::fs::read(path)?))?;
    let pairs = file.metadata().file_metadata().key_value_metadata();
    let pairs = pairs.into_iter().flatten();
    let metadata = pairs.map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default()));
    let metadata = metadata.collect();
    let schema = file.schema().as_ref().clone().with_metadata(metadata);
    let batches = file.build()?.collect::<Result<Vec<RecordBatch>, _>>()?;

    let (started, before) = (Instant::now(), processor_time());
    let recorded = read_batches(&schema, &batches, &ReadOptions::default())?;
    let checker = Checker::default();
    let checked = decide(
        recorded,
        None,
        &checker,
        Evidence::Report,
        None,
        &checker.budget(),
    )?;
    let (wall, processor) = (started.elapsed().as_secs_f64(), processor_time() - before);
    println!("{wall} {processor}");
    assert!(matches!(checked.report.verdict, Verdict::Linearizable(_)));
    Ok(())
}
