//! From what Python has to a recorded history.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use linpoint::Error;
use linpoint::format::{Format, ReadOptions, RecordedHistory, parse, read, read_batches};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3_arrow::{PyRecordBatch, PyTable};

use crate::errors::raise;
use crate::recorder::EventLog;
use crate::values::write_json;

/// How many operations are converted before signals are looked for.
const BETWEEN_SIGNALS: usize = 1 << 16;

/// A history as Python gives it.
pub(crate) enum Given {
    /// Files, archives and directories.
    Paths(Vec<PathBuf>),
    /// The text of JSON lines.
    Lines(Vec<u8>),
    /// A table.
    Table(SchemaRef, Vec<RecordBatch>),
}

impl Given {
    /// A path, something with the interface of Arrow, or an iterable of paths or of dicts. `name` is what errors call it.
    pub(crate) fn of(history: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        if let Some(path) = path_of(history)? {
            return Ok(Given::Paths(vec![path]));
        }
        if let Ok(recorder) = history.cast::<EventLog>()
            && let Some(lines) = recorder.get().in_memory()
        {
            return Ok(Given::Lines(lines));
        }
        if history.hasattr("__arrow_c_stream__")? {
            let (batches, schema) = history.extract::<PyTable>()?.into_inner();
            return Ok(Given::Table(schema, batches));
        }
        if history.hasattr("__arrow_c_array__")? {
            let batch = history.extract::<PyRecordBatch>()?.into_inner();
            return Ok(Given::Table(batch.schema(), vec![batch]));
        }
        if history.is_instance_of::<PyDict>() || history.try_iter().is_err() {
            return Err(none_of_these(history));
        }
        let (mut paths, mut lines) = (Vec::new(), Vec::new());
        for (i, item) in history.try_iter()?.enumerate() {
            let item = item?;
            if i % BETWEEN_SIGNALS == 0 {
                history.py().check_signals()?;
            }
            if let Ok(line) = item.cast::<PyDict>() {
                write_json(line, &mut lines).map_err(|reason| {
                    let error = Error::malformed(reason.0).at_line(i as u64 + 1);
                    raise(history.py(), &error.in_file(name))
                })?;
                lines.push(b'\n');
            } else if let Some(path) = path_of(&item)? {
                paths.push(path);
            } else {
                return Err(none_of_these(&item));
            }
        }
        match (paths.is_empty(), lines.is_empty()) {
            (true, _) => Ok(Given::Lines(lines)),
            (false, true) => Ok(Given::Paths(paths)),
            (false, false) => Err(PyTypeError::new_err(
                "a history is a list of dicts or a list of paths, not of both",
            )),
        }
    }

    /// The histories in it, which are called `name` unless they are in files.
    pub(crate) fn read(
        self,
        options: &ReadOptions,
        name: &str,
    ) -> Vec<Result<RecordedHistory, Error>> {
        let named = |recorded: Result<RecordedHistory, Error>| match recorded {
            Ok(mut recorded) => {
                recorded.input = Arc::from(name);
                Ok(recorded)
            }
            Err(error) => Err(error.in_file(name)),
        };
        match self {
            Given::Paths(paths) => {
                let mut histories = Vec::new();
                for path in paths {
                    read(&path, options, |recorded| histories.push(recorded));
                }
                histories
            }
            Given::Lines(lines) => {
                let options = ReadOptions {
                    format: options.format.or(Some(Format::Jsonl)),
                    ..options.clone()
                };
                parse(&lines, &options).into_iter().map(named).collect()
            }
            Given::Table(schema, batches) => {
                vec![named(read_batches(&schema, &batches, options))]
            }
        }
    }
}

/// The path, if this is one.
fn path_of(item: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    if item.is_instance_of::<PyString>() || item.hasattr("__fspath__")? {
        return item.extract().map(Some);
    }
    Ok(None)
}

fn none_of_these(found: &Bound<'_, PyAny>) -> PyErr {
    let class = found.get_type().to_string();
    PyTypeError::new_err(format!(
        "a history is a list of dicts, a path or paths, or a table that speaks the Arrow PyCapsule interface, not {class}"
    ))
}
