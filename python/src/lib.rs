//! linpoint as a module of Python: `linpoint._native`.
//!
//! What users call is written in Python, in `linpoint/`; this crate has what must be fast, and what only Rust can do.

mod check;
mod errors;
mod history;
mod interrupt;
mod model;
mod online;
mod pool;
mod recorder;
mod report;
mod values;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `linpoint` command with these arguments, of which the first one is its name. Returns the exit code.
#[pyfunction]
fn main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| linpoint_cli::main(args))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(check::conditions, module)?)?;
    module.add_function(wrap_pyfunction!(check::params, module)?)?;
    module.add_function(wrap_pyfunction!(report::proof, module)?)?;
    module.add_class::<report::Decided>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<online::Online>()?;
    module.add_class::<recorder::EventLog>()?;
    module.add_class::<recorder::Op>()
}
