//! Deciding histories.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use linpoint::condition::{Condition, Depth};
use linpoint::format::{ReadOptions, RecordedHistory, Truncated};
use linpoint::transaction::Level;
use linpoint::{Budget, Checker, Config, Error, OnViolation, Partitioning, Ties};
use linpoint_cli::{Evidence, TypeChoice, decide, decide_conditions, whole};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rayon::prelude::*;

use crate::errors::raise;
use crate::history::Given;
use crate::interrupt;
use crate::model::Model;
use crate::pool::pool;
use crate::report::Decided;
use crate::values::to_python;

/// What the caller asks for; `linpoint.check` describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Asked<'py> {
    #[pyo3(item("type"))]
    object_type: Option<String>,
    spec: Option<Bound<'py, PyAny>>,
    timeout: Option<Bound<'py, PyAny>>,
    memory: Option<Bound<'py, PyAny>>,
    explanation: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
    engine: String,
    format: Option<String>,
    ties: Option<String>,
    truncated: bool,
    whole: bool,
    all: bool,
    name: String,
}

/// The limits of a check.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<usize>,
}

/// The parameters of a type: those of `bounded-queue:capacity=5`.
#[pyfunction]
pub(crate) fn params<'py>(py: Python<'py>, object_type: &str) -> PyResult<Bound<'py, PyDict>> {
    let choice = TypeChoice::parse(object_type).map_err(|error| raise(py, &error))?;
    let params = PyDict::new(py);
    for (name, value) in choice.params() {
        params.set_item(name, to_python(py, value)?)?;
    }
    Ok(params)
}

/// A time: a number of seconds, or a text such as `"5m"`.
fn duration(time: &Bound<'_, PyAny>) -> PyResult<Duration> {
    if let Ok(text) = time.cast::<PyString>() {
        return linpoint_cli::duration(&text.to_cow()?).map_err(PyValueError::new_err);
    }
    let seconds: f64 = time.extract()?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{seconds} seconds are no time")))
}

fn bytes(size: &Bound<'_, PyAny>) -> PyResult<u64> {
    match size.cast::<PyString>() {
        Ok(text) => linpoint_cli::bytes(&text.to_cow()?).map_err(PyValueError::new_err),
        Err(_) => size.extract(),
    }
}

/// What is known by a name, or an error that names what there is.
fn named<T: std::str::FromStr<Err = Error>>(
    py: Python<'_>,
    name: Option<&str>,
) -> PyResult<Option<T>> {
    let parsed = name.map(str::parse).transpose();
    parsed.map_err(|error| raise(py, &error))
}

fn ties(first: &str) -> PyResult<Ties> {
    match first {
        "call" => Ok(Ties::CallFirst),
        "return" => Ok(Ties::ReturnFirst),
        _ => Err(PyValueError::new_err(
            "ties: expected \"call\" or \"return\"",
        )),
    }
}

impl Asked<'_> {
    fn limits(&self) -> PyResult<Limits> {
        Ok(Limits {
            timeout: self.timeout.as_ref().map(duration).transpose()?,
            memory: self.memory.as_ref().map(bytes).transpose()?,
            threads: self.threads,
        })
    }

    fn config(&self, py: Python<'_>, limits: &Limits) -> PyResult<Config> {
        Ok(Config {
            timeout: limits.timeout,
            memory: limits.memory,
            explanation: self.explanation.as_ref().map(duration).transpose()?,
            engine: named(py, Some(&self.engine))?.unwrap_or_default(),
            partitioning: match self.whole {
                true => Partitioning::ByObject,
                false => Partitioning::ByKey,
            },
            on_violation: match self.all {
                true => OnViolation::Continue,
                false => OnViolation::Stop,
            },
            ..Config::default()
        })
    }

    fn reading(&self, py: Python<'_>, limits: &Limits) -> PyResult<ReadOptions> {
        Ok(ReadOptions {
            format: named(py, self.format.as_deref())?,
            object_type: self.object_type.as_ref().map(|text| {
                let name = text.split(':').next().unwrap_or_default();
                name.to_owned()
            }),
            truncated: match self.truncated {
                true => Truncated::ReadPrefix,
                false => Truncated::Refuse,
            },
            ties: self.ties.as_deref().map(ties).transpose()?,
            memory: limits.memory,
            timeout: limits.timeout,
            ..ReadOptions::default()
        })
    }
}

/// The type or the specification that was asked for.
fn choice(py: Python<'_>, asked: &Asked<'_>) -> PyResult<(Option<TypeChoice>, Option<Py<Model>>)> {
    let located = |error| raise(py, &error);
    match (&asked.object_type, &asked.spec) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err("give a type or a spec, not both")),
        (None, None) => Ok((None, None)),
        (Some(name), None) => Ok((Some(TypeChoice::parse(name).map_err(located)?), None)),
        (None, Some(spec)) => match spec.cast::<Model>() {
            Ok(model) => {
                let model = model.clone().unbind();
                Ok((Some(model.get().choice()), Some(model)))
            }
            Err(_) => {
                let path: String = spec.extract()?;
                Ok((Some(TypeChoice::parse_spec(&path).map_err(located)?), None))
            }
        },
    }
}

/// Decides the histories that Python gives.
#[pyfunction]
pub(crate) fn check(history: &Bound<'_, PyAny>, asked: Asked<'_>) -> PyResult<Decided> {
    let limits = asked.limits()?;
    let checked = each(history, asked, |recorded, chosen, checker, budget| {
        let depth = Some(Depth::Short);
        decide(recorded, chosen, checker, Evidence::Report, depth, budget)
    })?;
    Ok(Decided {
        outcomes: checked.into_iter().map(Ok).collect(),
        limits,
    })
}

/// Decides conditions beside linearizability: the text of the command line, and its document in JSON.
#[pyfunction]
pub(crate) fn conditions(
    history: &Bound<'_, PyAny>,
    asked: Asked<'_>,
    names: Vec<String>,
) -> PyResult<(String, String)> {
    let py = history.py();
    let conditions: Result<Vec<Condition>, Error> =
        names.iter().map(|name| condition(name)).collect();
    let conditions = conditions.map_err(|error| raise(py, &error))?;
    let decided = each(history, asked, move |recorded, chosen, checker, budget| {
        decide_conditions(recorded, &conditions, chosen, checker, budget)
    })?;
    let text = whole::conditions_text(&decided);
    Ok((text, whole::conditions_document(decided).to_string()))
}

fn condition(name: &str) -> Result<Condition, Error> {
    name.parse().map_err(|error: Error| {
        match Level::NAMES.iter().any(|(level, _)| *level == name) {
            true => Error::usage(format!(
                "{error}; as an isolation level of transactions, the command decides it: `linpoint check --condition {name}`"
            )),
            false => error,
        }
    })
}

/// Reads the histories that Python gives, and makes something of each, side by side. The error is that of the first one that
/// cannot be decided.
fn each<T: Send + 'static>(
    history: &Bound<'_, PyAny>,
    asked: Asked<'_>,
    decide: impl Fn(RecordedHistory, Option<&TypeChoice>, &Checker, &Budget) -> Result<T, Error>
    + Send
    + Sync
    + 'static,
) -> PyResult<Vec<T>> {
    let py = history.py();
    let limits = asked.limits()?;
    let (chosen, model) = choice(py, &asked)?;
    let options = asked.reading(py, &limits)?;
    let checker = Checker::new(asked.config(py, &limits)?);
    let given = Given::of(history, &asked.name)?;
    let name = asked.name;
    let threads = pool(limits.threads).map_err(|error| raise(py, &error))?;
    let decided = interrupt::run(py, &threads, move |stop| {
        let recorded: Result<Vec<_>, Error> = given.read(&options, &name).into_iter().collect();
        let decide_one = |recorded: RecordedHistory| {
            let budget = checker.budget().cancelled_by(Arc::clone(&stop));
            let budget = budget.after(recorded.reading);
            if stop.load(Relaxed) {
                return Err(Error::usage("interrupted"));
            }
            decide(recorded, chosen.as_ref(), &checker, &budget)
        };
        let decided: Result<Vec<T>, Error> = recorded?.into_par_iter().map(decide_one).collect();
        decided
    })?;
    decided.map_err(|error| {
        let raised = raise(py, &error);
        // What a class of Python raised is the cause, with its traceback.
        if let Some(cause) = model.and_then(|model| model.get().take_failure()) {
            raised.set_cause(py, Some(cause));
        }
        raised
    })
}
