//! Decided histories.

use linpoint::Budget;
use linpoint_cli::Outcome;
use linpoint_cli::whole::{self, Detail};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::check::Limits;
use crate::errors::raise;
use crate::interrupt;
use crate::pool::pool;

/// Decided histories, of which `linpoint.Report` tells. JSON is passed as text, which Python reads when it is asked for.
#[pyclass(frozen, module = "linpoint._native")]
#[derive(Debug)]
pub(crate) struct Decided {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) limits: Limits,
}

impl Decided {
    fn checked(&self, number: usize) -> PyResult<&linpoint_cli::Checked> {
        let outcome = self
            .outcomes
            .get(number)
            .and_then(|outcome| outcome.as_ref().ok());
        outcome.ok_or_else(|| PyIndexError::new_err("there is no such history"))
    }
}

#[pymethods]
impl Decided {
    fn __len__(&self) -> usize {
        self.outcomes.len()
    }

    /// The name of a history.
    fn label(&self, number: usize) -> PyResult<String> {
        Ok(self.checked(number)?.recorded.label())
    }

    fn object_type(&self, number: usize) -> PyResult<String> {
        Ok(self.checked(number)?.type_name.clone())
    }

    fn operations(&self, number: usize) -> PyResult<usize> {
        Ok(self.checked(number)?.recorded.history.len())
    }

    fn verdict(&self, number: usize) -> PyResult<&'static str> {
        Ok(whole::verdict(self.checked(number)?))
    }

    /// The seconds that it took to decide a history, and to read it.
    fn seconds(&self, number: usize) -> PyResult<(f64, f64)> {
        let checked = self.checked(number)?;
        let reading = checked.recorded.reading.as_secs_f64();
        Ok((checked.time.as_secs_f64(), reading))
    }

    /// The text of the command line.
    fn text(&self) -> String {
        whole::text(&self.outcomes, Detail::Verdicts)
    }

    /// The same with the reasons.
    fn explanation(&self) -> String {
        whole::text(&self.outcomes, Detail::Reasons)
    }

    /// The document of `--json`.
    fn document(&self) -> String {
        whole::document(&self.outcomes).to_string()
    }

    /// One history of that document.
    fn history(&self, number: usize) -> PyResult<String> {
        Ok(whole::history(self.checked(number)?).to_string())
    }

    /// The operations in an order that explains them, as a list in JSON.
    fn witness(&self, number: usize) -> PyResult<Option<String>> {
        let witness = whole::witness(self.checked(number)?);
        Ok(witness.map(|operations| serde_json::Value::from(operations).to_string()))
    }

    /// The page.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let page = py.detach(|| whole::page(&self.outcomes));
        let page = page.map_err(|error| raise(py, &error))?;
        Ok(String::from_utf8_lossy(&page).into_owned())
    }
}

/// The proof of the verdict on a history, not compressed, made within the limits of the check.
#[pyfunction]
pub(crate) fn proof<'py>(
    decided: &Bound<'py, Decided>,
    number: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let py = decided.py();
    let shared = decided.clone().unbind();
    let limits = decided.get().limits.clone();
    decided.get().checked(number)?;
    let threads = pool(limits.threads).map_err(|error| raise(py, &error))?;
    let made = interrupt::run(py, &threads, move |stop| {
        let checked = shared.get().outcomes.get(number)?.as_ref().ok()?;
        let budget = Budget::new(limits.timeout, limits.memory).cancelled_by(stop);
        Some(whole::proof(checked, &budget).map(|proof| {
            let mut bytes = Vec::new();
            // Nothing fails that is written to memory.
            let _ = proof.write(&mut bytes);
            bytes
        }))
    })?;
    let made = made.ok_or_else(|| PyIndexError::new_err("there is no such history"))?;
    let bytes = made.map_err(|error| raise(py, &error))?;
    Ok(PyBytes::new(py, &bytes))
}
