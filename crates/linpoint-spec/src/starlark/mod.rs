//! Specification files: models in Starlark.

mod convert;
mod roles;

use std::panic::{AssertUnwindSafe, catch_unwind};

use linpoint::Value;
use linpoint::spec::{Kind, Params, Role};
use starlark::environment::{FrozenModule, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::Value as StarlarkValue;

use self::convert::{to_data, to_starlark};
use crate::data::Data;
use crate::model::{Model, ModelCall, ModelError, StateId, States};

/// The most instructions of one call of a function.
const MOST_TICKS: u64 = 2_000_000;

/// The most memory of one call of a function, in bytes.
const MOST_MEMORY: usize = 256 << 20;

/// The deepest recursion.
const DEEPEST_CALLS: usize = 200;

/// The functions that a file may define, with their parameters.
const FUNCTIONS: [(&str, &str); 8] = [
    ("init", "params"),
    ("step", "state, process, method, arg"),
    ("key", "method, arg"),
    ("is_pure", "method, arg, ret"),
    ("role", "method, arg, ret"),
    ("describe", "state"),
    ("validate", "method, arg, ret"),
    ("kind", "params"),
];

/// A model that is written in Starlark.
#[derive(Debug)]
pub struct StarlarkModel {
    /// The name of the file.
    file: String,
    module: FrozenModule,
    /// Which of [`FUNCTIONS`] the file has.
    defined: [bool; FUNCTIONS.len()],
    params: Data,
    kind: Option<Kind>,
    calls: Vec<(String, Value)>,
    /// The names of the methods, if the file lists them.
    methods: Option<Vec<String>>,
    states: States<Data>,
}

/// The functions by their place in [`FUNCTIONS`].
#[derive(Clone, Copy, Debug)]
enum Function {
    Init,
    Step,
    Key,
    IsPure,
    Role,
    Describe,
    Validate,
    Kind,
}

impl StarlarkModel {
    /// The model of this text, with these parameters. `name` is the name of its file, for messages.
    pub fn new(name: &str, text: &str, params: &Params) -> Result<Self, ModelError> {
        let dialect = Dialect {
            enable_f_strings: true,
            enable_load: false,
            enable_top_level_stmt: true,
            ..Dialect::Standard
        };
        let ast = AstModule::parse(name, text.to_owned(), &dialect)
            .map_err(|error| failed(name, &error))?;
        let module = Module::with_temp_heap(|module| {
            {
                let mut evaluator = limited(&module)?;
                evaluator
                    .eval_module(ast, &globals())
                    .map_err(|error| failed(name, &error))?;
            }
            module
                .freeze()
                .map_err(|error| ModelError(format!("{error:?}")))
        })?;
        let has = |function: &str| {
            module
                .get_option(function)
                .is_ok_and(|found| found.is_some())
        };
        let defined = FUNCTIONS.map(|(function, _)| has(function));
        let mut model = StarlarkModel {
            defined,
            params: Data::Dict(params_data(params)),
            kind: None,
            calls: Vec::new(),
            methods: None,
            states: States::default(),
            file: name.to_owned(),
            module,
        };
        for required in [Function::Init, Function::Step] {
            if !model.has(required) {
                let (function, params) = FUNCTIONS[required as usize];
                return Err(ModelError(format!(
                    "{name}: it does not define {function}: write def {function}({params})"
                )));
            }
        }
        model.kind = model.read_kind(name)?;
        model.calls = model.read_calls(name)?;
        model.methods = model.read_methods(name)?;
        Ok(model)
    }

    /// The data of a constant of the file.
    fn constant(&self, name: &str) -> Result<Option<Data>, ModelError> {
        let Ok(Some(value)) = self.module.get_option(name) else {
            return Ok(None);
        };
        to_data(value.value())
            .map(Some)
            .map_err(|what| ModelError(format!("{name} contains {what}")))
    }

    fn read_kind(&self, file: &str) -> Result<Option<Kind>, ModelError> {
        let kind = match self.module.get_option("kind") {
            Ok(Some(value)) if value.value().get_type() == "function" => {
                Some(self.call(Function::Kind, |_| vec![self.params.clone()], to_data)?)
            }
            _ => self.constant("kind")?,
        };
        let kind = roles::kind(&kind.unwrap_or(Data::None))
            .map_err(|reason| ModelError(format!("{file}: {reason}")))?;
        match kind.is_some() && !self.has(Function::Role) {
            true => Err(ModelError(format!(
                "{file}: it has a kind, so it must define role(method, arg, ret)"
            ))),
            false => Ok(kind),
        }
    }

    /// The list `calls`: pairs of method and argument.
    fn read_calls(&self, file: &str) -> Result<Vec<(String, Value)>, ModelError> {
        let wrong = |data: &Data| {
            ModelError(format!(
                "{file}: calls is {data}; it must be a list of pairs (method, argument)"
            ))
        };
        let pair = |data: &Data| match data {
            Data::Tuple(pair) | Data::List(pair) => match &**pair {
                [Data::Text(method), argument] => Ok((method.to_string(), argument.to_value())),
                _ => Err(wrong(data)),
            },
            data => Err(wrong(data)),
        };
        match self.constant("calls")? {
            None => Ok(Vec::new()),
            Some(Data::List(calls) | Data::Tuple(calls)) => calls.iter().map(pair).collect(),
            Some(data) => Err(wrong(&data)),
        }
    }

    /// The list `methods`: their names.
    fn read_methods(&self, file: &str) -> Result<Option<Vec<String>>, ModelError> {
        let wrong = |data: &Data| {
            ModelError(format!(
                "{file}: methods is {data}; it must be a list of names"
            ))
        };
        let Some(data) = self.constant("methods")? else {
            return Ok(None);
        };
        let (Data::List(names) | Data::Tuple(names)) = &data else {
            return Err(wrong(&data));
        };
        let names = names.iter().map(|name| match name {
            Data::Text(name) => Ok(name.to_string()),
            _ => Err(wrong(&data)),
        });
        names.collect::<Result<_, _>>().map(Some)
    }

    fn has(&self, function: Function) -> bool {
        self.defined[function as usize]
    }

    /// What a function of the file returns for these arguments, read by `read` while the memory of the call exists.
    fn call<T>(
        &self,
        function: Function,
        arguments: impl FnOnce(()) -> Vec<Data>,
        read: impl for<'v> FnOnce(StarlarkValue<'v>) -> Result<T, String>,
    ) -> Result<T, ModelError> {
        let (name, params) = FUNCTIONS[function as usize];
        let function = self
            .module
            .get(name)
            .map_err(|error| ModelError(format!("{error:?}")))?;
        let arguments = arguments(());
        let mut result = None;
        // The function is valid within this call only.
        function.map(|function| {
            let evaluate = || {
                Module::with_temp_heap(|module| {
                    let mut evaluator = limited(&module)?;
                    let heap = module.heap();
                    let arguments: Vec<_> = arguments
                        .iter()
                        .map(|data| to_starlark(heap, data))
                        .collect();
                    let returned = evaluator
                        .eval_function(function.to_value(), &arguments, &[])
                        .map_err(|error| {
                            failed(&format!("{}: {name}({params})", self.file), &error)
                        })?;
                    read(returned).map_err(|reason| {
                        ModelError(format!("{}: {name} returned {reason}", self.file))
                    })
                })
            };
            // A list of more than four gigabytes is one that the language cannot make.
            let caught = catch_unwind(AssertUnwindSafe(evaluate));
            result = Some(caught.unwrap_or_else(|_| {
                let reason = "it made a value that is too large";
                Err(ModelError(format!("{}: {name}: {reason}", self.file)))
            }));
            function
        });
        result.unwrap_or_else(|| Err(ModelError(format!("{name} was not called"))))
    }

    /// Method, argument and result as a function of the file gets them. A result that is not known is the empty tuple, which
    /// no history has; the file calls it `unknown`.
    fn call_and_result(call: &ModelCall, result: Option<&Value>) -> Vec<Data> {
        let [method, argument] = method_and_argument(call);
        let unknown = || Data::Tuple([].into());
        vec![method, argument, result.map_or_else(unknown, Data::from)]
    }
}

fn method_and_argument(call: &ModelCall) -> [Data; 2] {
    [
        Data::Text(call.method.as_ref().into()),
        Data::from(&call.argument),
    ]
}

fn params_data(params: &Params) -> std::sync::Arc<[(Data, Data)]> {
    let pairs = params.iter();
    pairs
        .map(|(name, value)| (Data::Text(name.as_str().into()), Data::from(value)))
        .collect()
}

/// The functions and constants that every file sees.
fn globals() -> starlark::environment::Globals {
    let mut globals = GlobalsBuilder::extended_by(&[
        LibraryExtension::Filter,
        LibraryExtension::Map,
        LibraryExtension::Print,
    ]);
    // Lists of outcomes: none.
    globals.set("blocked", starlark::values::list::AllocList::EMPTY);
    globals.set(
        "unknown",
        starlark::values::tuple::AllocTuple::<[i32; 0]>([]),
    );
    globals.build()
}

fn limited<'v, 'a>(module: &'a Module<'v>) -> Result<Evaluator<'v, 'a, 'a>, ModelError> {
    let mut evaluator = Evaluator::new(module);
    let limits = evaluator
        .set_max_callstack_size(DEEPEST_CALLS)
        .and_then(|()| evaluator.set_max_tick_count(MOST_TICKS))
        .and_then(|()| evaluator.set_max_heap_size(MOST_MEMORY));
    limits.map_err(|error| ModelError(error.to_string()))?;
    Ok(evaluator)
}

/// The error of a file. It names its own place, or else this one, and the calls that led there, but for calls that repeat.
fn failed(place: &str, error: &starlark::Error) -> ModelError {
    let text = error.to_string();
    if error.span().is_none() {
        let is_reason = |line: &&str| line.starts_with("error: ");
        let reason = text.lines().find(is_reason).or_else(|| text.lines().next());
        let reason = reason.unwrap_or_default().trim_start_matches("error: ");
        return ModelError(format!("{place}: {reason}"));
    }
    let mut shown: Vec<&str> = Vec::new();
    for line in text.trim_end().lines() {
        // A call is a line with its place and a line with its text.
        let is_repeated = line.starts_with(' ') && shown.iter().rev().nth(1) == Some(&line);
        if !is_repeated {
            shown.push(line);
        }
    }
    ModelError(shown.join("\n"))
}

/// The outcomes of a step: a pair of answer and next state, or a list of such pairs.
fn outcomes(data: Data) -> Result<Vec<(Value, Data)>, String> {
    let expected = "it must return a tuple (answer, next state), a list of such tuples, or blocked";
    let pair = |data: &Data| match data {
        Data::Tuple(pair) => match &**pair {
            [answer, next] => Some((answer.to_value(), next.clone())),
            _ => None,
        },
        _ => None,
    };
    let found = match &data {
        Data::List(all) => all.iter().map(pair).collect(),
        one => pair(one).map(|pair| vec![pair]),
    };
    found.ok_or_else(|| match data {
        Data::None => format!("None (or ended without a return): {expected}"),
        data => format!("{data}: {expected}"),
    })
}

impl Model for StarlarkModel {
    fn name(&self) -> &str {
        &self.file
    }

    fn depends_on_process(&self) -> bool {
        true
    }

    fn init(&self) -> Result<StateId, ModelError> {
        let state = self.call(Function::Init, |()| vec![self.params.clone()], to_data)?;
        Ok(self.states.number(state))
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let arguments = |()| {
            let [method, argument] = method_and_argument(call);
            let state = self.states.get(state);
            vec![state, Data::from(&call.process), method, argument]
        };
        let outcomes = self.call(Function::Step, arguments, |value| {
            to_data(value).and_then(outcomes)
        })?;
        let numbered = |(answer, next)| (answer, self.states.number(next));
        Ok(outcomes.into_iter().map(numbered).collect())
    }

    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError> {
        if !self.has(Function::Key) {
            return Ok(None);
        }
        let arguments = |()| method_and_argument(call).to_vec();
        let key = self.call(Function::Key, arguments, to_data)?;
        Ok(Some(key.to_value()).filter(|key| !key.is_nil()))
    }

    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError> {
        if !self.has(Function::IsPure) {
            return Ok(false);
        }
        let arguments = |()| Self::call_and_result(call, result);
        self.call(Function::IsPure, arguments, |value| {
            let truth = value.unpack_bool();
            truth.ok_or_else(|| format!("{value}: it must return True or False"))
        })
    }

    fn kind(&self) -> Option<Kind> {
        self.kind.clone()
    }

    fn role(&self, call: &ModelCall, result: Option<&Value>) -> Result<Role, ModelError> {
        if self.kind.is_none() {
            return Ok(Role::Opaque);
        }
        let arguments = |()| Self::call_and_result(call, result);
        self.call(Function::Role, arguments, |value| {
            roles::role(&to_data(value)?)
        })
    }

    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError> {
        if let Some(methods) = &self.methods
            && !methods.iter().any(|method| **method == *call.method)
        {
            let (method, known) = (&call.method, methods.join(", "));
            return Ok(Some(format!(
                "unknown method {method:?}: the specification has {known}"
            )));
        }
        if !self.has(Function::Validate) {
            return Ok(None);
        }
        let arguments = |()| Self::call_and_result(call, result);
        self.call(Function::Validate, arguments, |value| {
            match (value.is_none(), value.unpack_str()) {
                (true, _) => Ok(None),
                (_, Some(reason)) => Ok(Some(reason.to_owned())),
                _ => Err(format!(
                    "{value}: it must return None, or the reason why there is no such call"
                )),
            }
        })
    }

    fn normal(&self, result: &Value) -> Value {
        Data::from(result).to_value()
    }

    fn state_value(&self, state: StateId) -> Value {
        self.states.get(state).distinct_value()
    }

    fn describe(&self, state: StateId) -> Result<String, ModelError> {
        let state = self.states.get(state);
        if !self.has(Function::Describe) {
            return Ok(state.to_string());
        }
        let arguments = |()| vec![state];
        self.call(Function::Describe, arguments, |value| {
            let text = value.unpack_str().map(str::to_owned);
            text.ok_or_else(|| format!("{value}: it must return a text"))
        })
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &self.calls
    }
}
