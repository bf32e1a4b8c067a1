//! Apache Parquet, and tables in memory: one row for each operation.
//!
//! Reading goes from the columns of the table to those of the history, a batch of rows at a time, and several columns at
//! once. Only numbers are stored for each row: a small integer is its own number, the number of another integer is found in
//! a table by its value, and the number of a text by its index in the dictionary of the file.

mod batches;
mod beside;
mod by_object;
mod ids;
mod panics;
mod read;
mod row_writer;
mod rows;
mod small;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use batches::read_batches;
pub(super) use read::{read_bytes, read_file};
pub(super) use row_writer::ParquetRowWriter;
pub(super) use rows::ParquetRows;
pub(super) use write::write;

/// The columns of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Object,
    Process,
    Method,
    Argument,
    Result,
    Call,
    Return,
    Hint,
}

impl Column {
    const ALL: [Column; 8] = [
        Column::Object,
        Column::Process,
        Column::Method,
        Column::Argument,
        Column::Result,
        Column::Call,
        Column::Return,
        Column::Hint,
    ];

    fn name(self) -> &'static str {
        match self {
            Column::Object => "object",
            Column::Process => "process",
            Column::Method => "method",
            Column::Argument => "argument",
            Column::Result => "result",
            Column::Call => "call",
            Column::Return => "return",
            Column::Hint => "hint",
        }
    }
}

/// The key of the file's metadata that has the header of a JSON lines file: type, parameters, rule for ties.
const HEADER: &str = "linpoint";

/// The key that tells, with the value [`RANKS`], that calls and returns have an order but no times.
const ORDER: &str = "linpoint.order";

const RANKS: &str = "ranks";

/// The key with what happened beside the operations.
const NOTES: &str = "linpoint.notes";

/// The key with the operations that failed.
const FAILED: &str = "linpoint.failed";
