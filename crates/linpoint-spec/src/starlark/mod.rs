//! Specification files: models in Starlark.

mod constants;
mod convert;
mod limits;
mod process;
mod roles;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::from_ref;

use linpoint::Value;
use linpoint::spec::{Kind, Params, Role};
use starlark::codemap::FileSpan;
use starlark::environment::{FrozenModule, Module};
use starlark::syntax::{AstModule, Dialect};
use starlark::values::Value as StarlarkValue;

use self::convert::{to_data, to_starlark};
use self::limits::{globals, limit_products, limited, reason};
use crate::data::Data;
use crate::model::{Model, ModelCall, ModelError, StateId, States, unknown_method};

/// The longest line, in bytes. The expressions of longer ones may be nested so deep that reading them overflows the stack.
const LONGEST_LINE: usize = 2000;

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
    /// Where the file defines them, for messages.
    places: [String; FUNCTIONS.len()],
    /// Whether `step` looks at the process.
    uses_process: bool,
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
        if let Some(line) = text.lines().position(|line| line.len() > LONGEST_LINE) {
            let place = format!("{name}:{}:{}", line + 1, LONGEST_LINE + 1);
            let reason = format!("a line has at most {LONGEST_LINE} bytes");
            return Err(ModelError(format!("{place}: {reason}")));
        }
        let mut ast = AstModule::parse(name, text.to_owned(), &dialect)
            .map_err(|error| failed(name, &error))?;
        if let Some(span) = limit_products(&mut ast) {
            let reason = "there is no *= here: write x = x * y instead";
            return Err(ModelError(format!("{}: {reason}", place(&span))));
        }
        let module = Module::with_temp_heap(|module| {
            {
                let mut evaluator = limited(&module)?;
                evaluator
                    .eval_module(ast, globals())
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
            uses_process: process::is_used(text),
            params: Data::None,
            kind: None,
            calls: Vec::new(),
            methods: None,
            states: States::default(),
            places: FUNCTIONS.map(|(function, _)| place_of(name, text, function)),
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
        model.read_constants(text, params)?;
        Ok(model)
    }

    fn has(&self, function: Function) -> bool {
        self.defined[function as usize]
    }

    /// What a function of the file returns for these arguments, read by `read` while the memory of the call exists.
    fn call<T>(
        &self,
        function: Function,
        arguments: &[Data],
        read: impl for<'v> FnOnce(StarlarkValue<'v>) -> Result<T, String>,
    ) -> Result<T, ModelError> {
        let (name, params) = FUNCTIONS[function as usize];
        let at = &self.places[function as usize];
        let called = || self.called_with(name, params, arguments);
        let function = self
            .module
            .get(name)
            .map_err(|error| ModelError(format!("{at}: {error:?}")))?;
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
                        .map_err(|error| failed(at, &error).within(&called()))?;
                    read(returned).map_err(|reason| {
                        ModelError(format!("{at}: {name} returned {reason}")).within(&called())
                    })
                })
            };
            // A text or a list of more than four gigabytes is one that the language cannot make.
            let caught = catch_unwind(AssertUnwindSafe(evaluate));
            result = Some(caught.unwrap_or_else(|_| {
                let reason = "it made a value that is too large";
                Err(ModelError(format!("{at}: {reason}")).within(&called()))
            }));
            function
        });
        result.unwrap_or_else(|| Err(ModelError(format!("{at}: {name} was not called"))))
    }

    /// A call of a function with its arguments, which are shortened if they are long.
    fn called_with(&self, function: &str, params: &str, arguments: &[Data]) -> String {
        const LONGEST: usize = 200;
        let is_given = |(param, _): &(&str, &Data)| *param != "process" || self.uses_process;
        let shown = |(param, argument): (&str, &Data)| {
            let text = match (param, argument) {
                ("ret", Data::Tuple(items)) if items.is_empty() => "unknown".to_owned(),
                _ => argument.to_string(),
            };
            match text.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{param} = {}...", &text[..end]),
                None => format!("{param} = {text}"),
            }
        };
        let arguments = params.split(", ").zip(arguments).filter(is_given);
        let arguments: Vec<String> = arguments.map(shown).collect();
        format!("{function}({})", arguments.join(", "))
    }
}

/// Method, argument and result as a function of the file gets them. A result that is not known is the empty tuple, which no
/// history has; the file calls it `unknown`.
fn call_and_result(call: &ModelCall, result: Option<&Value>) -> [Data; 3] {
    let [method, argument] = method_and_argument(call);
    let unknown = || Data::Tuple([].into());
    [method, argument, result.map_or_else(unknown, Data::from)]
}

fn method_and_argument(call: &ModelCall) -> [Data; 2] {
    [
        Data::Text(call.method.as_ref().into()),
        Data::from(&call.argument),
    ]
}

/// Where a text defines a function or a constant: file, line and column, or the file alone.
fn place_of(file: &str, text: &str, name: &str) -> String {
    let defines = |line: &str| {
        let (line, sign) = match line.strip_prefix("def ") {
            Some(rest) => (rest.trim_start(), '('),
            None => (line, '='),
        };
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with(sign))
    };
    match text.lines().position(defines) {
        Some(line) => format!("{file}:{}:1", line + 1),
        None => file.to_owned(),
    }
}

fn place(span: &FileSpan) -> String {
    let begin = span.resolve_span().begin;
    format!("{}:{begin}", span.filename())
}

/// The error of a file: its place, or this one if it has none, the reason, and the line.
fn failed(at: &str, error: &starlark::Error) -> ModelError {
    let reason = reason(error);
    let Some(span) = error.span() else {
        return ModelError(format!("{at}: {reason}"));
    };
    let line = span.file.source_line_at_pos(span.span.begin());
    ModelError(format!("{}: {reason}\n    {}", place(span), line.trim()))
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
        self.uses_process
    }

    fn init(&self) -> Result<StateId, ModelError> {
        let state = self.call(Function::Init, from_ref(&self.params), to_data)?;
        Ok(self.states.number(state))
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let [method, argument] = method_and_argument(call);
        let state = self.states.get(state);
        let arguments = [state, Data::from(&call.process), method, argument];
        let outcomes = self.call(Function::Step, &arguments, |value| {
            to_data(value).and_then(outcomes)
        })?;
        let numbered = |(answer, next)| (answer, self.states.number(next));
        Ok(outcomes.into_iter().map(numbered).collect())
    }

    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError> {
        if !self.has(Function::Key) {
            return Ok(None);
        }
        let key = self.call(Function::Key, &method_and_argument(call), to_data)?;
        Ok(Some(key.to_value()).filter(|key| !key.is_nil()))
    }

    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError> {
        if !self.has(Function::IsPure) {
            return Ok(false);
        }
        let arguments = call_and_result(call, result);
        self.call(Function::IsPure, &arguments, |value| {
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
        let arguments = call_and_result(call, result);
        self.call(Function::Role, &arguments, |value| {
            roles::role(&to_data(value)?)
        })
    }

    fn refusal(
        &self,
        call: &ModelCall,
        result: Option<&Value>,
    ) -> Result<Option<String>, ModelError> {
        if let Some(methods) = &self.methods
            && let Some(reason) = unknown_method(call, methods)
        {
            return Ok(Some(reason));
        }
        if !self.has(Function::Validate) {
            return Ok(None);
        }
        let arguments = call_and_result(call, result);
        self.call(Function::Validate, &arguments, |value| {
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

    fn state_value(&self, state: StateId) -> Result<Value, ModelError> {
        Ok(self.states.get(state).distinct_value())
    }

    fn describe(&self, state: StateId) -> Result<String, ModelError> {
        let state = self.states.get(state);
        if !self.has(Function::Describe) {
            return Ok(state.to_string());
        }
        self.call(Function::Describe, &[state], |value| {
            let text = value.unpack_str().map(str::to_owned);
            text.ok_or_else(|| format!("{value}: it must return a text"))
        })
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &self.calls
    }
}
