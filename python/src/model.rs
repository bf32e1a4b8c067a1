//! Specifications that are classes of Python.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use linpoint::Value;
use linpoint::spec::{Kind, Role};
use linpoint_cli::TypeChoice;
use linpoint_spec::{Asked, Model as Answers, ModelCall, ModelError, StateId, States};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::values::{NoValue, to_python, value_of};

/// How many steps are asked again when a check is done.
const SAMPLE: usize = 32;

/// The first exception that a class raised.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// A specification in Python, with what it answered so far. `linpoint.Spec` makes it.
#[pyclass(frozen, module = "linpoint._native")]
#[derive(Debug)]
pub(crate) struct Model {
    name: String,
    asked: Asked,
    /// How often the class was asked for a step.
    steps: Arc<AtomicU64>,
    failure: Failure,
}

#[pymethods]
impl Model {
    /// `adapter` has the functions of `linpoint._spec.Adapter`.
    #[new]
    fn new(py: Python<'_>, adapter: Py<PyAny>, name: String) -> PyResult<Self> {
        let failure = Failure::default();
        let steps = Arc::default();
        let topic = |topic: &str| adapter.bind(py).getattr(topic)?.extract::<bool>();
        let class = Class {
            name: name.clone(),
            uses_process: topic("uses_process")?,
            has_key: topic("has_key")?,
            has_is_pure: topic("has_is_pure")?,
            refuses: topic("refuses")?,
            adapter,
            states: States::default(),
            sample: Mutex::default(),
            steps: Arc::clone(&steps),
            failure: Arc::clone(&failure),
        };
        let asked = Asked::new(class).map_err(|error| {
            let cause = lock(&failure).take();
            cause.unwrap_or_else(|| PyTypeError::new_err(error.to_string()))
        })?;
        Ok(Model {
            name,
            asked,
            steps,
            failure,
        })
    }

    /// How often the class was asked for a step, and how many states it has shown.
    fn effort(&self) -> (u64, usize) {
        (self.steps.load(Relaxed), self.asked.model().states())
    }
}

impl Model {
    /// What histories are checked against. A failure of an earlier check is forgotten.
    pub(crate) fn choice(&self) -> TypeChoice {
        lock(&self.failure).take();
        TypeChoice::of_model(&self.name, self.asked.for_another())
    }

    /// The exception for which there is no verdict.
    pub(crate) fn take_failure(&self) -> Option<PyErr> {
        lock(&self.failure).take()
    }
}

/// The class, as a model.
#[derive(Debug)]
struct Class {
    name: String,
    adapter: Py<PyAny>,
    uses_process: bool,
    has_key: bool,
    has_is_pure: bool,
    refuses: bool,
    /// By the numbers of the adapter, which are the same.
    states: States<u32>,
    sample: Mutex<Sample>,
    steps: Arc<AtomicU64>,
    failure: Failure,
}

type Step = (StateId, ModelCall, Vec<(Value, StateId)>);

/// Some of the steps since the last check was done.
#[derive(Debug, Default)]
struct Sample {
    steps: Vec<Step>,
    of: u64,
    random: u64,
}

impl Sample {
    /// Every step has the same chance to be in the sample.
    fn add(&mut self, step: Step) {
        self.of += 1;
        if self.steps.len() < SAMPLE {
            return self.steps.push(step);
        }
        // An ordinary linear congruential generator: runs are to be alike.
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let place = (self.random >> 33) % self.of;
        if let Some(slot) = self.steps.get_mut(place as usize) {
            *slot = step;
        }
    }
}

impl Class {
    /// Asks a function of the adapter. An exception is kept, and its text is the error.
    fn ask<T>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T, ModelError> {
        Python::attach(|py| {
            ask(self.adapter.bind(py)).map_err(|error| {
                let text = format!("{}: {}", self.name, error);
                lock(&self.failure).get_or_insert(error);
                ModelError(text)
            })
        })
    }

    fn ask_step(
        &self,
        state: StateId,
        call: &ModelCall,
    ) -> Result<Vec<(Value, StateId)>, ModelError> {
        self.steps.fetch_add(1, Relaxed);
        self.ask(|adapter| {
            let py = adapter.py();
            let arguments = (
                self.states.get(state),
                to_python(py, &call.process)?,
                &*call.method,
                to_python(py, &call.argument)?,
            );
            let outcomes = adapter.call_method1("step", arguments)?;
            let outcomes: Vec<(Bound<'_, PyAny>, u32)> = outcomes.extract()?;
            let numbered = |(answer, next): (Bound<'_, PyAny>, u32)| {
                let answer = value_of(&answer).map_err(|NoValue(reason)| {
                    let (method, argument) = (&call.method, &call.argument);
                    PyTypeError::new_err(format!("the answer of {method}({argument}): {reason}"))
                })?;
                Ok((answer, self.states.number(next)))
            };
            outcomes.into_iter().map(numbered).collect()
        })
    }

    /// Asks about a call and its result, if there is one.
    fn ask_about<T: for<'a, 'py> FromPyObject<'a, 'py, Error: Into<PyErr>>>(
        &self,
        topic: &str,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<T, ModelError> {
        self.ask(|adapter| {
            let py = adapter.py();
            let argument = to_python(py, &call.argument)?;
            let known = result.is_some();
            let result = result.map(|result| to_python(py, result)).transpose()?;
            let arguments = (&*call.method, argument, known, result);
            let answer = adapter.call_method1(topic, arguments)?;
            answer.extract().map_err(Into::into)
        })
    }
}

impl Answers for Class {
    fn name(&self) -> &str {
        &self.name
    }

    fn depends_on_process(&self) -> bool {
        self.uses_process
    }

    fn init(&self) -> Result<StateId, ModelError> {
        let number = self.ask(|adapter| adapter.call_method0("init")?.extract())?;
        Ok(self.states.number(number))
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let outcomes = self.ask_step(state, call)?;
        let step = (state, call.clone(), outcomes.clone());
        lock(&self.sample).add(step);
        Ok(outcomes)
    }

    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError> {
        if !self.has_key {
            return Ok(None);
        }
        self.ask(|adapter| {
            let argument = to_python(adapter.py(), &call.argument)?;
            let key = adapter.call_method1("key", (&*call.method, argument))?;
            let key = value_of(&key).map_err(|NoValue(reason)| {
                PyTypeError::new_err(format!("the key of {}: {reason}", call.method))
            })?;
            Ok(Some(key).filter(|key| !key.is_nil()))
        })
    }

    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError> {
        match self.has_is_pure {
            true => self.ask_about("is_pure", call, result),
            false => Ok(false),
        }
    }

    fn kind(&self) -> Option<Kind> {
        None
    }

    fn role(&self, _: &ModelCall, _: Option<&Value>) -> Result<Role, ModelError> {
        Ok(Role::Opaque)
    }

    fn refuses_calls(&self) -> bool {
        self.refuses
    }

    fn refuses_results(&self) -> bool {
        self.refuses
    }

    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError> {
        match self.refuses {
            true => self.ask_about("refusal", call, result),
            false => Ok(None),
        }
    }

    fn normal(&self, result: &Value) -> Value {
        result.clone()
    }

    fn state_value(&self, state: StateId) -> Result<Value, ModelError> {
        let number = self.states.get(state);
        let text: String =
            self.ask(|adapter| adapter.call_method1("shown", (number,))?.extract())?;
        Ok(Value::from(text))
    }

    fn describe(&self, state: StateId) -> Result<String, ModelError> {
        let number = self.states.get(state);
        self.ask(|adapter| adapter.call_method1("describe", (number,))?.extract())
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &[]
    }

    fn confirm(&self) -> Result<(), ModelError> {
        let steps = std::mem::take(&mut *lock(&self.sample)).steps;
        for (state, call, mut before) in steps {
            let mut now = self.ask_step(state, &call)?;
            let shown = |outcomes: &[(Value, StateId)]| {
                let answers = outcomes.iter().map(|(answer, _)| answer.to_string());
                answers.collect::<Vec<_>>().join(" or ")
            };
            let order =
                |(answer, next): &(Value, StateId)| (answer.clone(), self.states.get(*next));
            before.sort_by_key(order);
            now.sort_by_key(order);
            if before != now {
                return Err(ModelError(format!(
                    "{}: step answers the same question differently when it is asked again: {}({}) in state {}, first {}, then \
                     {}{}; what a call does must depend on the state and the call alone",
                    self.name,
                    call.method,
                    call.argument,
                    self.describe(state)?,
                    shown(&before),
                    shown(&now),
                    match shown(&before) == shown(&now) {
                        true => " with another next state",
                        false => "",
                    },
                )));
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
