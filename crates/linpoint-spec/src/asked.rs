//! A specification that asks a model, and asks each question once.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use foldhash::fast::FixedState;
use hashbrown::{Equivalent, HashMap};
use linpoint::spec::{CallView, DecodeError, Kind, Recorded, Role, Sampler, Simulated, Vocabulary};
use linpoint::value::Interner;
use linpoint::{Outcomes, Spec, Value};

use crate::model::{Model, ModelCall, ModelError, StateId};

type Map<K, V> = HashMap<K, V, FixedState>;

/// A specification whose answers come from a [`Model`].
///
/// What a call does in a state is remembered, so the model is asked once for each pair, and so is what the model says about calls.
/// After the first error the model is not asked any more and every operation is blocked; [`Spec::failure`] has the error, so that
/// no verdict comes of it.
pub struct Asked {
    memory: Arc<Memory>,
    asking: Counts,
    failure: OnceLock<ModelError>,
    hidden: Hidden,
}

/// A model, and what it answered.
struct Memory {
    model: Box<dyn Model>,
    calls: Mutex<Interner<Arc<ModelCall>>>,
    methods: Mutex<Interner<Box<str>>>,
    steps: RwLock<Map<(StateId, u32), Outcomes<Value, StateId>>>,
    init: StateId,
    keys: Memo<Option<Value>>,
    purity: Memo<bool>,
    roles: Memo<Role>,
    refusals: Memo<Option<String>>,
}

/// What a specification does not tell although its model says it, so that decisions with and without it can be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Hidden {
    #[default]
    Nothing,
    Key,
    Purity,
    Kind,
    All,
}

impl Hidden {
    fn is(self, what: Hidden) -> bool {
        self == what || self == Hidden::All
    }
}

/// What a model said about calls, by the number of the call and its result.
struct Memo<T>(RwLock<Map<(u32, Option<Value>), T>>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Memo(RwLock::default())
    }
}

/// A question to a [`Memo`], which hashes as its key.
#[derive(Hash)]
struct Question<'a>(u32, Option<&'a Value>);

impl Equivalent<(u32, Option<Value>)> for Question<'_> {
    fn equivalent(&self, (number, result): &(u32, Option<Value>)) -> bool {
        self.0 == *number && self.1 == result.as_ref()
    }
}

impl<T: Clone> Memo<T> {
    /// What is known about the call with this number, or what `ask` answers.
    fn get(
        &self,
        number: u32,
        result: Option<&Value>,
        ask: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        if let Some(known) = read(&self.0).get(&Question(number, result)) {
            return Some(known.clone());
        }
        let answer = ask()?;
        write(&self.0).insert((number, result.cloned()), answer.clone());
        Some(answer)
    }
}

#[derive(Default)]
struct Counts {
    asked: AtomicU64,
    remembered: AtomicU64,
}

/// How often a model was asked what a call does in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    /// How often it had to answer.
    pub asked: u64,
    /// How often the answer was remembered.
    pub remembered: u64,
    /// The number of different states.
    pub states: usize,
}

/// A call of an [`Asked`] specification. Equal calls have equal numbers.
#[derive(Clone)]
pub struct Called {
    number: u32,
    call: Arc<ModelCall>,
}

impl PartialEq for Called {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Called {}

impl Hash for Called {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.number);
    }
}

impl fmt::Debug for Called {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelCall {
            method, argument, ..
        } = &*self.call;
        match argument {
            Value::Nil => write!(f, "{method}()"),
            argument => write!(f, "{method}({argument})"),
        }
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asked")
            .field("asking", &self.asking())
            .field("failure", &self.failure.get())
            .finish_non_exhaustive()
    }
}

impl Asked {
    /// A specification that asks `model`.
    pub fn new(model: impl Model + 'static) -> Result<Self, ModelError> {
        let init = model.init()?;
        let memory = Memory {
            model: Box::new(model),
            calls: Mutex::default(),
            methods: Mutex::default(),
            steps: RwLock::default(),
            init,
            keys: Memo::default(),
            purity: Memo::default(),
            roles: Memo::default(),
            refusals: Memo::default(),
        };
        Ok(Asked {
            memory: Arc::new(memory),
            asking: Counts::default(),
            failure: OnceLock::new(),
            hidden: Hidden::Nothing,
        })
    }

    /// The same specification, but for what is hidden.
    pub(crate) fn hiding(self, hidden: Hidden) -> Self {
        Asked { hidden, ..self }
    }

    /// The same specification for another history: it asks the same model and shares what is remembered, but a failure
    /// concerns one of them.
    pub fn for_another(&self) -> Self {
        Asked {
            memory: Arc::clone(&self.memory),
            asking: Counts::default(),
            failure: OnceLock::new(),
            hidden: self.hidden,
        }
    }

    /// The model that is asked.
    pub fn model(&self) -> &dyn Model {
        &*self.memory.model
    }

    /// How often the model was asked.
    pub fn asking(&self) -> Asking {
        Asking {
            asked: self.asking.asked.load(Relaxed),
            remembered: self.asking.remembered.load(Relaxed),
            states: self.memory.model.states(),
        }
    }

    /// The answer, unless this or an earlier one is an error.
    fn answer<T>(&self, ask: impl FnOnce() -> Result<T, ModelError>) -> Option<T> {
        if self.failure.get().is_some() {
            return None;
        }
        match ask() {
            Ok(answer) => Some(answer),
            Err(error) => {
                // The first error stays.
                let _ = self.failure.set(error);
                None
            }
        }
    }

    /// An error if the object has no such call, or if the call never has this result.
    fn refuse(&self, op: &Called, result: Option<&Value>) -> Result<(), DecodeError> {
        let mut failed = None;
        let ask = || match self.memory.model.refusal(&op.call, result) {
            Ok(refusal) => Some(refusal),
            Err(error) => {
                failed = Some(DecodeError::Specification(error.to_string()));
                None
            }
        };
        let refusal = self.memory.refusals.get(op.number, result, ask).flatten();
        failed
            .or(refusal.map(DecodeError::Malformed))
            .map_or(Ok(()), Err)
    }

    fn ask(&self, state: StateId, call: &ModelCall) -> Option<Outcomes<Value, StateId>> {
        let mut found = self.answer(|| self.memory.model.step(state, call))?;
        Some(match found.len() {
            0 => Outcomes::Blocked,
            1 => {
                let (answer, next) = found.remove(0);
                Outcomes::One(answer, next)
            }
            _ => Outcomes::Many(found),
        })
    }
}

impl Spec for Asked {
    type Op = Called;
    type Ret = Value;
    type State = StateId;

    fn init(&self) -> StateId {
        self.memory.init
    }

    fn apply(&self, &state: &StateId, op: &Called) -> Outcomes<Value, StateId> {
        let pair = (state, op.number);
        if let Some(known) = read(&self.memory.steps).get(&pair) {
            self.asking.remembered.fetch_add(1, Relaxed);
            return known.clone();
        }
        self.asking.asked.fetch_add(1, Relaxed);
        let Some(outcomes) = self.ask(state, &op.call) else {
            return Outcomes::Blocked;
        };
        write(&self.memory.steps).insert(pair, outcomes.clone());
        outcomes
    }

    fn state_value(&self, &state: &StateId) -> Value {
        let value = self.answer(|| self.memory.model.state_value(state));
        value.unwrap_or_default()
    }

    fn key(&self, op: &Called) -> Option<Value> {
        if self.hidden.is(Hidden::Key) {
            return None;
        }
        let ask = || self.answer(|| self.memory.model.key(&op.call));
        self.memory.keys.get(op.number, None, ask).flatten()
    }

    fn is_pure(&self, op: &Called, ret: Option<&Value>) -> bool {
        if self.hidden.is(Hidden::Purity) {
            return false;
        }
        let Memory { model, purity, .. } = &*self.memory;
        let ret = ret.filter(|_| model.purity_depends_on_result());
        let ask = || self.answer(|| model.is_pure(&op.call, ret));
        let number = match model.purity_depends_on_argument() {
            true => op.number,
            false => lock(&self.memory.methods).intern(op.call.method.clone()),
        };
        purity.get(number, ret, ask).unwrap_or(false)
    }

    fn kind(&self) -> Option<Kind> {
        match self.hidden.is(Hidden::Kind) {
            true => None,
            false => self.memory.model.kind(),
        }
    }

    fn role(&self, op: &Called, ret: Option<&Value>) -> Role {
        if self.hidden.is(Hidden::Kind) {
            return Role::Opaque;
        }
        let ask = || self.answer(|| self.memory.model.role(&op.call, ret));
        self.memory
            .roles
            .get(op.number, ret, ask)
            .unwrap_or(Role::Opaque)
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::default()
    }

    fn state_words(&self, &state: &StateId, key: Option<&Value>) -> String {
        let described = self.answer(|| self.memory.model.describe(state));
        let described = described.unwrap_or_default();
        match key {
            Some(key) => format!("at key {key}, the state was {described}"),
            None => format!("the state was {described}"),
        }
    }

    fn failure(&self) -> Option<String> {
        // Checkers call this when they are done.
        let _ = self.answer(|| self.memory.model.confirm());
        self.failure.get().map(ModelError::to_string)
    }

    fn effort(&self) -> Option<String> {
        let Asking {
            asked,
            remembered,
            states,
        } = self.asking();
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let effort = format!(
            "the specification was asked for {asked} step{}, {remembered} more were remembered; {states} state{}",
            plural(asked),
            plural(states as u64),
        );
        Some(match self.memory.model.effort() {
            Some(more) => format!("{effort}; {more}"),
            None => effort,
        })
    }
}

impl Recorded for Asked {
    const DEPENDS_ON_PROCESS: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<Called, DecodeError> {
        let process = match self.memory.model.depends_on_process() {
            true => call.process.clone(),
            false => Value::Nil,
        };
        let call = Arc::new(ModelCall {
            process,
            method: call.method.into(),
            argument: call.argument.clone(),
        });
        let number = lock(&self.memory.calls).intern(Arc::clone(&call));
        let op = Called { number, call };
        if self.memory.model.refuses_calls() {
            self.refuse(&op, None)?;
        }
        Ok(op)
    }

    fn decode_result(&self, op: &Called, result: &Value) -> Result<Value, DecodeError> {
        if self.memory.model.refuses_results() {
            self.refuse(op, Some(result))?;
        }
        Ok(self.memory.model.normal(result))
    }
}

impl Simulated for Asked {
    fn sample(&self, _: &StateId, _: u32, sampler: &mut Sampler) -> (&str, Value) {
        let calls = self.memory.model.sample_calls();
        match calls.get(sampler.below(calls.len().max(1))) {
            Some((method, argument)) => (method, argument.clone()),
            None => {
                // The first error stays.
                let _ = self.failure.set(ModelError::no_calls(&*self.memory.model));
                ("", Value::Nil)
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
