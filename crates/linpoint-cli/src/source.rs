//! From arguments to histories and their types.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "mapping")]
use linpoint::format::Mapping;
use linpoint::format::{IndependentKeys, ReadOptions, RecordedHistory, Truncated, read};
use linpoint::object::{ObjectType, TypeInfo, candidate_types, find_type, guess_type, why_no_type};
use linpoint::proof::Specification;
use linpoint::spec::Params;
use linpoint::{Budget, Error, ErrorKind, History, Value, object_type};
use linpoint_spec::{Asked, CommandOptions, Running, RunningChecks};

use crate::args::{InputArgs, ModelArgs, ObjectArgs};
use crate::exit::Exit;
use crate::interrupt;

/// What a history is checked against: a type or a specification with its parameters, as given on the command line
/// (`bounded-queue:capacity=5`, `lease.spec:ttl=3`) or by an input.
#[derive(Clone, Debug)]
pub struct TypeChoice {
    /// The name of the type, of the specification's file or of the model, or the command of a program.
    pub(crate) name: String,
    pub(crate) params: Params,
    definition: Definition,
}

/// Where the answers of an object are defined.
#[derive(Clone, Debug)]
enum Definition {
    BuiltIn,
    /// In a file.
    File(Arc<SpecFile>),
    /// By a program, which runs as long as this is needed.
    Program(Arc<Program>),
    /// By a model in this process.
    Model(Arc<Asked>),
}

/// A specification file with parameters, as given on the command line: `lease.spec:ttl=3`.
#[derive(Debug)]
pub(crate) struct SpecFile {
    name: String,
    text: String,
    params: Params,
}

impl SpecFile {
    /// The file that the command line names, and the text of its parameters. A colon may be part of the file's name.
    fn split(text: &str) -> (&str, &str) {
        match text.rsplit_once(':') {
            Some((path, params))
                if !Path::new(text).exists()
                    && (params.contains('=') || Path::new(path).exists()) =>
            {
                (path, params)
            }
            _ => (text, ""),
        }
    }

    /// Reads the file that the command line names.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (path, params) = SpecFile::split(text);
        Ok(SpecFile {
            name: path.to_owned(),
            text: linpoint_spec::read_text(Path::new(path))?,
            params: parse_params(path, params)?,
        })
    }

    pub(crate) fn specification(&self) -> Result<Asked, Error> {
        linpoint_spec::parse(&self.name, &self.text, &self.params)
    }
}

/// A program that is asked, with the checks that ask it.
#[derive(Debug)]
struct Program {
    spec: Asked,
    checks: Arc<RunningChecks>,
}

/// The parameters of a type, which commas separate. Those within brackets, braces or quotes are part of a value.
fn split_params(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    let is_comma = |letter: char| {
        let was_escaped = escaped;
        escaped = quoted && letter == '\\' && !was_escaped;
        match letter {
            '"' if !was_escaped => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0 && !quoted
    };
    let params = text.split(is_comma);
    params.filter(|param| !param.is_empty()).collect()
}

impl TypeChoice {
    /// The built-in type of this name, with parameters: `bounded-queue:capacity=5`.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (name, params) = text.split_once(':').unwrap_or((text, ""));
        let choice = TypeChoice::built_in(name, parse_params(&format!("type {name}"), params)?);
        // An unknown type or parameter is a mistake even if no file is read with it.
        choice.build()?;
        Ok(choice)
    }

    /// The specification file at this path, with parameters: `lease.spec:ttl=3`.
    pub fn parse_spec(text: &str) -> Result<Self, Error> {
        let file = SpecFile::parse(text)?;
        // A broken specification is a mistake even if no history is read with it.
        file.specification()?;
        Ok(TypeChoice {
            name: file.name.clone(),
            params: file.params.clone(),
            definition: Definition::File(Arc::new(file)),
        })
    }

    /// The parameters that were given.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What this model says, which is called `name`.
    pub fn of_model(name: &str, spec: Asked) -> Self {
        TypeChoice {
            name: name.to_owned(),
            params: Params::new(),
            definition: Definition::Model(Arc::new(spec)),
        }
    }

    /// The program that the command line names.
    fn parse_command(command: &str, args: &ModelArgs) -> Result<Self, Error> {
        let options = args.options()?;
        let (params, checks) = (options.params.clone(), Arc::clone(&options.checks));
        let spec = linpoint_spec::command(command, options)?;
        Ok(TypeChoice {
            name: command.to_owned(),
            params,
            definition: Definition::Program(Arc::new(Program { spec, checks })),
        })
    }

    pub(crate) fn built_in(name: &str, params: Params) -> Self {
        TypeChoice {
            name: name.to_owned(),
            params,
            definition: Definition::BuiltIn,
        }
    }

    /// The object for one history: an error of a specification concerns one of them. A program remembers its answers for all.
    pub fn build(&self) -> Result<ObjectType, Error> {
        match &self.definition {
            Definition::BuiltIn => object_type(&self.name, &self.params),
            Definition::File(file) => file.specification().map(ObjectType::new),
            Definition::Program(program) => Ok(ObjectType::new(program.spec.for_another())),
            Definition::Model(spec) => Ok(ObjectType::new(spec.for_another())),
        }
    }

    /// Tells a program that a check with this budget asks it, until the result is dropped.
    pub(crate) fn running(&self, budget: &Budget) -> Option<Running<'_>> {
        match &self.definition {
            Definition::Program(program) => Some(program.checks.enter(budget)),
            Definition::BuiltIn | Definition::File(_) | Definition::Model(_) => None,
        }
    }

    /// The object of this history. Operations take effect in the order of their hints, where they have any.
    pub(crate) fn build_for(&self, history: &History) -> Result<ObjectType, Error> {
        let object = self.build()?;
        Ok(match history.has_hints() {
            true => object.with_hints(),
            false => object,
        })
    }

    /// The documentation of the type, if it is built in.
    pub(crate) fn info(&self) -> Option<&'static TypeInfo> {
        match self.definition {
            Definition::BuiltIn => find_type(&self.name),
            Definition::File(_) | Definition::Program(_) | Definition::Model(_) => None,
        }
    }

    /// The type or the specification, as messages name it.
    pub(crate) fn described(&self) -> String {
        match self.definition {
            Definition::BuiltIn => format!("type {}", self.name),
            Definition::File(_) | Definition::Model(_) => format!("specification {}", self.name),
            Definition::Program(_) => format!("model `{}`", self.name),
        }
    }

    /// The type or the specification with its parameters, as users write it.
    pub(crate) fn specified(&self) -> String {
        with_params(&self.name, &self.params)
    }

    /// The type as histories name it, if it is built in: a history names no file.
    pub(crate) fn named(&self) -> Option<(&str, &Params)> {
        match self.definition {
            Definition::BuiltIn => Some((&self.name, &self.params)),
            Definition::File(_) | Definition::Program(_) | Definition::Model(_) => None,
        }
    }

    /// The type as proofs name it. The folder of a specification file is left out: the proof may be checked elsewhere.
    pub(crate) fn specification(&self) -> Specification {
        match self.definition {
            Definition::BuiltIn => Specification::Type {
                name: self
                    .info()
                    .map_or(self.name.as_str(), |info| info.name)
                    .to_owned(),
                params: self.params.clone(),
            },
            Definition::File(_) => {
                let file = Path::new(&self.name).file_name();
                let file = file.map_or(self.name.as_str().into(), |name| name.to_string_lossy());
                Specification::Own(with_params(&file, &self.params))
            }
            Definition::Program(_) | Definition::Model(_) => {
                Specification::Own(with_params(&self.name, &self.params))
            }
        }
    }

    /// Adds the parameters that an input gives, if it has the same type. Parameters of the user take precedence.
    pub(crate) fn completed(&self, name: &str, params: &Params) -> Self {
        let known = |name: &str| find_type(name).map(|info| info.name);
        let is_same = match self.definition {
            Definition::BuiltIn => self.info().is_some() && known(name) == known(&self.name),
            Definition::File(_) => name == self.name,
            // It runs already.
            Definition::Program(_) | Definition::Model(_) => false,
        };
        let mut completed = self.clone();
        if !is_same || params.is_empty() {
            return completed;
        }
        for (key, value) in params {
            let given = completed.params.entry(key.clone());
            given.or_insert_with(|| value.clone());
        }
        if let Definition::File(file) = &self.definition {
            completed.definition = Definition::File(Arc::new(SpecFile {
                name: file.name.clone(),
                text: file.text.clone(),
                params: completed.params.clone(),
            }));
        }
        completed
    }
}

/// The parameters of `name`, as given on the command line: `capacity=5,initial=0`.
fn parse_params(name: &str, text: &str) -> Result<Params, Error> {
    let params = split_params(text).into_iter();
    params.map(|param| parse_param(name, param)).collect()
}

/// A parameter of `name`: `capacity=5`.
fn parse_param(name: &str, param: &str) -> Result<(String, Value), Error> {
    let (key, value) = param.split_once('=').ok_or_else(|| {
        Error::usage(format!(
            "parameter {param:?} of {name} has no value: write {param}=..."
        ))
    })?;
    // A parameter is JSON where it can be, and text otherwise.
    let value = serde_json::from_str::<serde_json::Value>(value)
        .map_or_else(|_| Value::from(value), Value::from);
    Ok((key.trim().to_owned(), value))
}

/// A type or a specification with its parameters, as users write it.
pub(crate) fn with_params(name: &str, params: &Params) -> String {
    let params: Vec<_> = params
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    match params.is_empty() {
        true => name.to_owned(),
        false => format!("{name}:{}", params.join(",")),
    }
}

impl ModelArgs {
    /// How the program is asked.
    pub(crate) fn options(&self) -> Result<CommandOptions, Error> {
        let mut options = CommandOptions::default();
        let params = self.model_param.iter();
        options.params = params
            .map(|param| parse_param("--model-param", param))
            .collect::<Result<_, _>>()?;
        if let Some(timeout) = self.model_timeout {
            options.answer_timeout = timeout;
        }
        Ok(options)
    }
}

impl ObjectArgs {
    /// The type or the specification file that the command line names, without parameters.
    pub(crate) fn name(&self) -> Option<String> {
        let of_type = |text: &String| text.split(':').next().unwrap_or_default().to_owned();
        let of_file = |text: &String| SpecFile::split(text).0.to_owned();
        let object_type = self.object_type.as_ref().map(of_type);
        object_type.or_else(|| self.spec.as_ref().map(of_file))
    }

    /// What the command line names, if it names something.
    pub(crate) fn choice(&self) -> Result<Option<TypeChoice>, Error> {
        let choice = match (&self.object_type, &self.spec, &self.model.model_cmd) {
            (Some(name), _, _) => TypeChoice::parse(name),
            (_, Some(file), _) => {
                interrupt::expect_failed_specifications();
                TypeChoice::parse_spec(file)
            }
            (_, _, Some(command)) => TypeChoice::parse_command(command, &self.model),
            (None, None, None) => return Ok(None),
        };
        choice.map(Some)
    }
}

impl TypeChoice {
    /// The file that specifies the object, if one does.
    pub(crate) fn file(&self) -> Option<PathBuf> {
        match &self.definition {
            Definition::File(file) => Some(PathBuf::from(&file.name)),
            Definition::BuiltIn | Definition::Program(_) | Definition::Model(_) => None,
        }
    }
}

impl InputArgs {
    /// All files that a command reads: histories, the mapping, and the specification.
    pub(crate) fn paths(&self, chosen: Option<&TypeChoice>) -> Vec<PathBuf> {
        let mapping = self.map.iter().filter(|given| !is_inline(given));
        let files = self.files.iter().cloned();
        let others = mapping
            .map(PathBuf::from)
            .chain(chosen.and_then(TypeChoice::file));
        files.chain(others).collect()
    }

    pub(crate) fn type_choice(&self) -> Result<Option<TypeChoice>, Error> {
        self.object.choice()
    }

    /// Calls `each` with every history of every file, in order. `memory` is what the process may have meanwhile, and
    /// `timeout` is the time for each history.
    pub(crate) fn read(
        &self,
        memory: Option<u64>,
        timeout: Option<Duration>,
        each: &mut dyn FnMut(Result<RecordedHistory, Error>),
    ) {
        match self.options(memory, timeout) {
            Ok(options) => self.read_files(&self.files, &options, each),
            Err(error) => each(Err(error)),
        }
    }

    /// Calls `each` with every history of these files, in order.
    pub(crate) fn read_files(
        &self,
        files: &[PathBuf],
        options: &ReadOptions,
        each: &mut dyn FnMut(Result<RecordedHistory, Error>),
    ) {
        let mut passed_over = Vec::new();
        for file in files {
            passed_over.extend(read(file, options, |recorded| {
                each(recorded.map_err(with_advice));
            }));
        }
        match passed_over.as_slice() {
            [] => {}
            [one] => eprintln!("linpoint: note: {one} holds labels, not histories: skipped"),
            [first, rest @ ..] => eprintln!(
                "linpoint: note: {first} and {} more hold labels, not histories: skipped",
                rest.len()
            ),
        }
    }
}

impl InputArgs {
    /// How the files are read. `memory` is what the process may have meanwhile, and `timeout` is the time for each history.
    pub(crate) fn options(
        &self,
        memory: Option<u64>,
        timeout: Option<Duration>,
    ) -> Result<ReadOptions, Error> {
        #[cfg(not(feature = "mapping"))]
        if self.map.is_some() {
            return Err(no_mappings());
        }
        Ok(ReadOptions {
            format: self.format,
            #[cfg(feature = "mapping")]
            mapping: self.mapping()?,
            independent: match (self.independent, self.no_independent) {
                (true, _) => IndependentKeys::Always,
                (_, true) => IndependentKeys::Never,
                _ => IndependentKeys::Detect,
            },
            truncated: if self.allow_truncated {
                Truncated::ReadPrefix
            } else {
                Truncated::Refuse
            },
            ties: self.ties,
            memory,
            timeout,
            object_type: self.object.name(),
        })
    }
}

/// The mapping that the argument of `--map` names or is.
#[cfg(feature = "mapping")]
pub(crate) fn mapping(given: &str) -> Result<Mapping, Error> {
    if is_inline(given) {
        return Mapping::from_inline(given).map_err(|error| error.in_file("--map"));
    }
    let text = std::fs::read_to_string(given).map_err(|error| {
        let reason = format!(
            "{error}; a mapping is a TOML file, or key=value, key=value on the command line"
        );
        Error::unreadable(reason).in_file(given)
    })?;
    Mapping::from_toml(&text).map_err(|error| error.in_file(given))
}

/// The error about `--map` in a build that does not know mappings.
#[cfg(not(feature = "mapping"))]
pub(crate) fn no_mappings() -> Error {
    Error::usage(
        "this linpoint is built without mappings: build it with the feature `mapping` (cargo's `--features mapping`)",
    )
}

#[cfg(feature = "mapping")]
impl InputArgs {
    /// The mapping of `--map`, for clocks as `--skew` says.
    fn mapping(&self) -> Result<Option<Arc<Mapping>>, Error> {
        let Some(given) = &self.map else {
            return Ok(None);
        };
        let mapping = mapping(given)?;
        Ok(Some(Arc::new(match self.skew {
            Some(skew) => mapping
                .with_skew(skew)
                .map_err(|error| error.in_file("--skew"))?,
            None => mapping,
        })))
    }
}

/// Whether this is a mapping itself, not the file of one.
fn is_inline(mapping: &str) -> bool {
    mapping.contains('=') && !Path::new(mapping).exists()
}

/// Adds to an error what can be done about it.
pub(crate) fn with_advice(error: Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::Truncated => "the lines before it can be read with --allow-truncated",
        ErrorKind::Limit => "allow more (--memory, ulimit -v), or split the history by objects",
        ErrorKind::Timeout => "allow more (--timeout), or split the history by objects",
        _ => return error,
    };
    let reason = format!("{}; {advice}", error.reason());
    error.with_reason(reason)
}

/// Prints the notes about how a history was read to the standard error.
pub(crate) fn print_notes(recorded: &RecordedHistory) {
    for note in &recorded.notes {
        eprintln!("linpoint: note: {}: {note}", recorded.title());
    }
}

impl InputArgs {
    /// Calls `each` with every history that can be read. Errors are printed and determine the exit code.
    pub(crate) fn read_good(
        &self,
        each: &mut dyn FnMut(RecordedHistory) -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::default();
        let mut failed = None;
        self.read(None, None, &mut |recorded| match recorded {
            Ok(recorded) if failed.is_none() => {
                print_notes(&recorded);
                failed = each(recorded).err();
            }
            Ok(_) => {}
            Err(error) => {
                eprintln!("linpoint: {error}");
                exit = exit.max(Exit::of_kind(error.kind()));
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(exit),
        }
    }
}

/// Returns the type of a recorded history: that of the command line, else that of the input, else the one that its methods
/// determine.
///
/// Returns `None` if the history has no operations.
pub(crate) fn type_of(
    recorded: &RecordedHistory,
    chosen: Option<&TypeChoice>,
) -> Result<Option<TypeChoice>, Error> {
    if let Some(chosen) = chosen {
        return Ok(Some(match &recorded.object_type {
            Some((name, params)) => chosen.completed(name, params),
            None => chosen.clone(),
        }));
    }
    if let Some((name, params)) = &recorded.object_type {
        // Inputs may use aliases; reports use one name.
        let name = find_type(name).map_or(name.as_str(), |info| info.name);
        return Ok(Some(TypeChoice::built_in(name, params.clone())));
    }
    if recorded.history.is_empty() {
        return Ok(None);
    }
    let Some(name) = guess_type(&recorded.history) else {
        let methods: Vec<_> = recorded
            .history
            .methods()
            .iter()
            .map(|method| format!("{method:?}"))
            .collect();
        let hint =
            why_no_type(&recorded.history).map_or_else(String::new, |why| format!(" ({why})"));
        let candidates = candidate_types(&recorded.history).into_iter();
        let options: Vec<String> = candidates.map(|name| format!("--type {name}")).collect();
        let options = match options.as_slice() {
            [] => "--type".to_owned(),
            [only] => only.clone(),
            [all @ .., last] => format!("{} or {last}", all.join(", ")),
        };
        let reason = format!(
            "the methods ({}) do not determine the type of the object{hint}: name it with {options} (see `linpoint types`), or specify it with --spec (see `linpoint spec`)",
            methods.join(", ")
        );
        return Err(recorded.locate(Error::usage(reason)));
    };
    Ok(Some(TypeChoice::built_in(name, Params::new())))
}

/// Returns the type of a recorded history, ready to check it; any type if there are no operations.
pub(crate) fn object_of(
    recorded: &RecordedHistory,
    chosen: Option<&TypeChoice>,
) -> Result<(TypeChoice, ObjectType), Error> {
    let any = || TypeChoice::built_in("register", Params::new());
    let choice = type_of(recorded, chosen)?.unwrap_or_else(any);
    let object = choice.build_for(&recorded.history).map_err(|error| {
        // A wrong type is a usage error if the command line names it, and a malformed input if the input does.
        recorded.locate(match chosen {
            Some(_) => error,
            None => Error::malformed(error.reason()),
        })
    })?;
    Ok((choice, object))
}

/// Adds the methods of the type to an error about an unknown method, which often comes from a wrong type.
pub(crate) fn with_methods(error: Error, choice: &TypeChoice) -> Error {
    match choice.info() {
        Some(info) => info.with_methods(error),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_parameters_may_hold_commas() {
        assert_eq!(split_params("a=1,b=2"), ["a=1", "b=2"]);
        assert_eq!(
            split_params("initial=[1,[2,3]],b=x"),
            ["initial=[1,[2,3]]", "b=x"]
        );
        let quoted = r#"initial={"a,\"}":1,"b":2},c=3"#;
        assert_eq!(split_params(quoted).len(), 2, "{:?}", split_params(quoted));
        assert_eq!(split_params("initial=[1,2"), ["initial=[1,2"]);
        assert_eq!(split_params(",a=],b=2"), ["a=]", "b=2"]);
    }
}
