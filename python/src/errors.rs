//! Errors of the library as exceptions of Python, which are defined in `linpoint/_errors.py`.

use linpoint::Error;
use linpoint::ErrorKind;
use pyo3::prelude::*;

/// The exception for an error: its class tells the kind; the reason, the file and the line are attributes.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let name = match error.kind() {
        ErrorKind::Usage => "UsageError",
        ErrorKind::Malformed
        | ErrorKind::Truncated
        | ErrorKind::UnknownMethod
        | ErrorKind::Unsorted => "MalformedError",
        ErrorKind::Unreadable => "UnreadableError",
        ErrorKind::Limit | ErrorKind::Timeout => "LimitError",
        ErrorKind::Specification => "SpecificationError",
        _ => "BugError",
    };
    let file = error.file();
    let arguments = (error.to_string(), error.reason(), file, error.line());
    let made = py
        .import("linpoint._errors")
        .and_then(|module| module.getattr(name)?.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
