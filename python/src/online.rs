//! Histories that are checked while they happen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linpoint::object::RecordedCall;
use linpoint::online::Finding;
use linpoint::{ObjectType, OnlineChecker, Value};
use linpoint_cli::{TypeChoice, whole};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::values::{NoValue, value_of};

/// A checker of events, of which `linpoint.OnlineChecker` tells. Findings are passed as JSON.
#[pyclass(frozen, module = "linpoint._native")]
pub(crate) struct Online(Mutex<Checker>);

struct Checker {
    checker: OnlineChecker<ObjectType>,
    /// How many events there were, calls and returns: the number of an event is that of its line in a file.
    events: u64,
}

#[pymethods]
impl Online {
    #[new]
    fn new(py: Python<'_>, object_type: &str) -> PyResult<Self> {
        let object = TypeChoice::parse(object_type).and_then(|choice| choice.build());
        let checker = object.and_then(OnlineChecker::new);
        let checker = checker.map_err(|error| raise(py, &error))?;
        Ok(Online(Mutex::new(Checker { checker, events: 0 })))
    }

    fn call(
        &self,
        process: &Bound<'_, PyAny>,
        method: &str,
        argument: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let process = value(process)?;
        let mut call = RecordedCall {
            object: value(object)?,
            method: Arc::from(method),
            argument: value(argument)?,
            line: 0,
        };
        self.take(argument.py(), |checker, line| {
            call.line = line;
            checker.call(process, call)
        })
    }

    fn ret(
        &self,
        process: &Bound<'_, PyAny>,
        result: &Bound<'_, PyAny>,
    ) -> PyResult<Option<String>> {
        let (py, process, result) = (process.py(), value(process)?, value(result)?);
        self.take(py, |checker, _| checker.ret(process, result))
    }

    fn fail(&self, process: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let (py, process) = (process.py(), value(process)?);
        self.take(py, |checker, _| checker.fail(process))
    }

    fn crash(&self, process: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
        let (py, process) = (process.py(), value(process)?);
        self.take(py, |checker, _| checker.crash(process).map(|()| None))
    }

    /// The objects and keys whose verdict depends on what pending operations did.
    fn unsettled(&self) -> Vec<String> {
        let checker = self.lock();
        let unsettled = checker.checker.unsettled().into_iter();
        let finding = |untold| whole::finding(&Finding::CannotTell(untold), checker.events);
        unsettled
            .map(|untold| finding(untold).to_string())
            .collect()
    }

    /// The number of events, of operations, and of those that are pending.
    fn counts(&self) -> (u64, u64, usize) {
        let checker = self.lock();
        let online = &checker.checker;
        (online.events(), online.operations(), online.pending())
    }
}

impl Online {
    fn lock(&self) -> MutexGuard<'_, Checker> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an event to the checker. An event that is refused is not counted.
    fn take(
        &self,
        py: Python<'_>,
        event: impl FnOnce(
            &mut OnlineChecker<ObjectType>,
            u64,
        ) -> Result<Option<Finding<ObjectType>>, linpoint::Error>,
    ) -> PyResult<Option<String>> {
        let mut checker = self.lock();
        let number = checker.events + 1;
        let found = event(&mut checker.checker, number);
        checker.events += u64::from(found.is_ok());
        // Raising runs code of Python, which may wait for another thread that waits for this lock.
        drop(checker);
        let found = found.map_err(|error| {
            let reason = format!("event {number}: {}", error.reason());
            raise(py, &error.with_reason(reason))
        })?;
        Ok(found.map(|finding| whole::finding(&finding, number).to_string()))
    }
}

fn value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_of(value).map_err(|NoValue(reason)| {
        let error = linpoint::Error::malformed(reason);
        raise(value.py(), &error)
    })
}
