//! Specification files: models in Starlark.

mod answers;
mod constants;
mod convert;
mod limits;
mod parameters;
mod roles;
mod session;

use std::cell::RefCell;

use linpoint::Value;
use linpoint::spec::{Kind, Params, Role};
use starlark::codemap::FileSpan;
use starlark::environment::{FrozenModule, Module};
use starlark::syntax::{AstModule, Dialect};

use self::answers::Answers;
use self::limits::{globals, limit_products, limited, reason};
use self::session::{Failure, Functions, Returned};
use crate::data::Data;
use crate::flat::{Flat, Reader, Writer};
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
    functions: Functions<{ FUNCTIONS.len() }>,
    /// Where the file defines them, for messages.
    places: [String; FUNCTIONS.len()],
    /// Whether `step` looks at the process.
    uses_process: bool,
    /// Whether `is_pure` looks at the method, but not at the argument.
    purity_of_method: bool,
    /// Whether `is_pure` looks at the result.
    uses_result: bool,
    params: Flat,
    kind: Option<Kind>,
    calls: Vec<(String, Value)>,
    /// The names of the methods, if the file lists them.
    methods: Option<Vec<String>>,
    states: States<Flat>,
    answers: Answers,
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
        let is_used = |function, place| parameters::is_used(text, ast.statement(), function, place);
        let uses_process = is_used("step", 1);
        let purity_of_method = !is_used("is_pure", 1);
        let uses_result = is_used("is_pure", 2);
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
        let defined = FUNCTIONS.map(|(function, _)| module.get_option(function).ok().flatten());
        let mut model = StarlarkModel {
            functions: Functions::new(defined),
            uses_process,
            purity_of_method,
            uses_result,
            params: Flat::from([].as_slice()),
            kind: None,
            calls: Vec::new(),
            methods: None,
            states: States::default(),
            answers: Answers::default(),
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
        self.functions.has(function as usize)
    }

    /// What `read` makes of the data that a function of the file returns. `write` writes its arguments.
    fn call<T>(
        &self,
        function: Function,
        write: impl FnOnce(&mut Writer),
        read: impl FnOnce(&Returned) -> Result<T, String>,
    ) -> Result<T, ModelError> {
        thread_local! {
            static ARGUMENTS: RefCell<Writer> = RefCell::default();
        }
        let mut arguments = ARGUMENTS.take();
        arguments.clear();
        write(&mut arguments);
        let place = function as usize;
        let result = match self.functions.call(place, arguments.bytes(), read) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(reason)) => Err(Failure::Returned(reason)),
            Err(failure) => Err(failure),
        };
        let result = result.map_err(|failure| {
            let (name, params) = FUNCTIONS[place];
            let at = &self.places[place];
            let error = match failure {
                Failure::Failed(error) => failed(at, &error),
                Failure::Returned(reason) => ModelError(format!("{at}: {name} returned {reason}")),
                Failure::TooLarge => ModelError(format!("{at}: it made a value that is too large")),
                Failure::NoEvaluator(error) => error,
                Failure::NotDefined => ModelError(format!("{at}: {name} is not defined")),
            };
            error.within(&self.called_with(name, params, arguments.bytes()))
        });
        ARGUMENTS.set(arguments);
        result
    }

    fn state(&self, state: StateId) -> Data {
        Reader::new(self.states.get(state).bytes()).data()
    }

    /// A call of a function with its arguments, which are shortened if they are long.
    fn called_with(&self, function: &str, params: &str, arguments: &[u8]) -> String {
        const LONGEST: usize = 200;
        let mut arguments = Reader::new(arguments);
        let arguments = std::iter::from_fn(|| (!arguments.is_empty()).then(|| arguments.data()));
        let is_given = |(param, _): &(&str, Data)| *param != "process" || self.uses_process;
        let shown = |(param, argument): (&str, Data)| {
            let text = match (param, &argument) {
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

/// Writes method, argument and result as a function of the file gets them. A result that is not known is the empty tuple, which
/// no history has; the file calls it `unknown`.
fn write_call_and_result(arguments: &mut Writer, call: &ModelCall, result: Option<&Value>) {
    write_call(arguments, call);
    match result {
        Some(result) => arguments.value(result),
        None => arguments.tuple(0),
    }
}

fn write_call(arguments: &mut Writer, call: &ModelCall) {
    arguments.text(&call.method);
    arguments.value(&call.argument);
}

/// Whether an answer of the file that is equal to the value has this form: numbers may be written in other ways.
fn is_normal(value: &Value) -> bool {
    match value {
        Value::Number(_) => false,
        Value::List(items) => items.iter().all(is_normal),
        Value::Map(pairs) => {
            let both = |(key, value): &(Value, Value)| is_normal(key) && is_normal(value);
            pairs.iter().all(both)
        }
        _ => true,
    }
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

/// Why what a step returned is not a pair of answer and next state, or a list of such pairs.
fn no_outcomes(returned: &Returned) -> String {
    let expected = "it must return a tuple (answer, next state), a list of such tuples, or blocked";
    match returned.data().data() {
        Data::None => format!("None (or ended without a return): {expected}"),
        data => format!("{data}: {expected}"),
    }
}

impl Model for StarlarkModel {
    fn name(&self) -> &str {
        &self.file
    }

    fn depends_on_process(&self) -> bool {
        self.uses_process
    }

    fn init(&self) -> Result<StateId, ModelError> {
        let write = |arguments: &mut Writer| arguments.data(self.params.bytes());
        self.call(Function::Init, write, |state| {
            Ok(self.states.number_of(state.data().skip()))
        })
    }

    fn states(&self) -> usize {
        self.states.count()
    }

    fn step(&self, state: StateId, call: &ModelCall) -> Result<Vec<(Value, StateId)>, ModelError> {
        let write = |arguments: &mut Writer| {
            arguments.data(self.states.get(state).bytes());
            arguments.value(&call.process);
            write_call(arguments, call);
        };
        self.call(Function::Step, write, |returned| {
            let numbered =
                |(answer, next)| (self.answers.read(answer), self.states.number_of(next));
            let outcomes = returned.pairs().ok_or_else(|| no_outcomes(returned))?;
            Ok(outcomes.map(numbered).collect())
        })
    }

    fn key(&self, call: &ModelCall) -> Result<Option<Value>, ModelError> {
        if !self.has(Function::Key) {
            return Ok(None);
        }
        let write = |arguments: &mut Writer| write_call(arguments, call);
        let key = self.call(Function::Key, write, |key| Ok(key.data().value()))?;
        Ok(Some(key).filter(|key| !key.is_nil()))
    }

    fn is_pure(&self, call: &ModelCall, result: Option<&Value>) -> Result<bool, ModelError> {
        if !self.has(Function::IsPure) {
            return Ok(false);
        }
        let write = |arguments: &mut Writer| write_call_and_result(arguments, call, result);
        self.call(Function::IsPure, write, |returned| {
            match returned.data().data() {
                Data::Bool(is_pure) => Ok(is_pure),
                other => Err(format!("{other}: it must return True or False")),
            }
        })
    }

    fn purity_depends_on_argument(&self) -> bool {
        !self.purity_of_method
    }

    fn purity_depends_on_result(&self) -> bool {
        self.uses_result
    }

    fn kind(&self) -> Option<Kind> {
        self.kind.clone()
    }

    fn role(&self, call: &ModelCall, result: Option<&Value>) -> Result<Role, ModelError> {
        if self.kind.is_none() {
            return Ok(Role::Opaque);
        }
        let write = |arguments: &mut Writer| write_call_and_result(arguments, call, result);
        self.call(Function::Role, write, |role| {
            roles::role(&role.data().data())
        })
    }

    fn refuses_calls(&self) -> bool {
        self.methods.is_some() || self.has(Function::Validate)
    }

    fn refuses_results(&self) -> bool {
        self.has(Function::Validate)
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
        let write = |arguments: &mut Writer| write_call_and_result(arguments, call, result);
        self.call(Function::Validate, write, |returned| {
            match returned.data().data() {
                Data::None => Ok(None),
                Data::Text(reason) => Ok(Some(reason.to_string())),
                other => Err(format!(
                    "{other}: it must return None, or the reason why there is no such call"
                )),
            }
        })
    }

    fn normal(&self, result: &Value) -> Value {
        if matches!(result, Value::Nil | Value::Bool(_) | Value::Int(_)) {
            return result.clone();
        }
        thread_local! {
            static RESULT: RefCell<Writer> = RefCell::default();
        }
        let mut data = RESULT.take();
        data.clear();
        data.value(result);
        let normal = match is_normal(result) {
            true => self.answers.of(data.bytes(), result),
            false => self.answers.read(data.bytes()),
        };
        RESULT.set(data);
        normal
    }

    fn state_value(&self, state: StateId) -> Result<Value, ModelError> {
        Ok(self.state(state).distinct_value())
    }

    fn describe(&self, state: StateId) -> Result<String, ModelError> {
        if !self.has(Function::Describe) {
            return Ok(self.state(state).to_string());
        }
        let write = |arguments: &mut Writer| arguments.data(self.states.get(state).bytes());
        self.call(Function::Describe, write, |returned| {
            match returned.data().data() {
                Data::Text(text) => Ok(text.to_string()),
                other => Err(format!("{other}: it must return a text")),
            }
        })
    }

    fn sample_calls(&self) -> &[(String, Value)] {
        &self.calls
    }
}
