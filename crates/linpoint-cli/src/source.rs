//! From arguments to histories and their types.

use std::time::Duration;

use linpoint::format::{IndependentKeys, ReadOptions, RecordedHistory, Truncated, read};
use linpoint::object::{ObjectType, find_type, guess_type, why_no_type};
use linpoint::proof::Specification;
use linpoint::spec::Params;
use linpoint::{Error, ErrorKind, Value, object_type};

use crate::args::InputArgs;
use crate::exit::Exit;

/// A type with its parameters, as given on the command line: `bounded-queue:capacity=5`.
#[derive(Clone, Debug)]
pub(crate) struct TypeChoice {
    pub(crate) name: String,
    pub(crate) params: Params,
}

impl TypeChoice {
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let (name, params) = text.split_once(':').unwrap_or((text, ""));
        let mut choice = TypeChoice {
            name: name.to_owned(),
            params: Params::new(),
        };
        for param in params.split(',').filter(|param| !param.is_empty()) {
            let (key, value) = param.split_once('=').ok_or_else(|| {
                Error::usage(format!(
                    "parameter {param:?} of type {name} has no value: write {param}=..."
                ))
            })?;
            // A parameter is JSON where it can be, and text otherwise.
            let value = serde_json::from_str::<serde_json::Value>(value)
                .map_or_else(|_| Value::from(value), Value::from);
            choice.params.insert(key.trim().to_owned(), value);
        }
        // An unknown type or parameter is a mistake even if no file is read with it.
        choice.build()?;
        Ok(choice)
    }

    pub(crate) fn build(&self) -> Result<ObjectType, Error> {
        object_type(&self.name, &self.params)
    }

    /// The type as proofs name it.
    pub(crate) fn specification(&self) -> Specification {
        let name = find_type(&self.name).map_or(self.name.as_str(), |info| info.name);
        Specification::Type {
            name: name.to_owned(),
            params: self.params.clone(),
        }
    }

    /// Adds the parameters that an input gives, if it has the same type. Parameters of the user take precedence.
    pub(crate) fn completed(&self, name: &str, params: &Params) -> Self {
        let known = |name: &str| find_type(name).map(|info| info.name);
        let mut completed = self.clone();
        if known(name) == known(&self.name) {
            for (key, value) in params {
                let given = completed.params.entry(key.clone());
                given.or_insert_with(|| value.clone());
            }
        }
        completed
    }
}

impl InputArgs {
    pub(crate) fn type_choice(&self) -> Result<Option<TypeChoice>, Error> {
        self.object_type
            .as_deref()
            .map(TypeChoice::parse)
            .transpose()
    }

    /// Calls `each` with every history of every file, in order. `memory` is what the process may have meanwhile, and
    /// `timeout` is the time for each history.
    pub(crate) fn read(
        &self,
        memory: Option<u64>,
        timeout: Option<Duration>,
        each: &mut dyn FnMut(Result<RecordedHistory, Error>),
    ) {
        let options = ReadOptions {
            format: self.format,
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
            ..ReadOptions::default()
        };
        let mut passed_over = Vec::new();
        for file in &self.files {
            passed_over.extend(read(file, &options, |recorded| {
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
        eprintln!("linpoint: note: {}: {note}", recorded.label());
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
        let name = find_type(name)
            .map_or(name.as_str(), |info| info.name)
            .to_owned();
        return Ok(Some(TypeChoice {
            name,
            params: params.clone(),
        }));
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
        let reason = format!(
            "the methods ({}) do not determine the type of the object{hint}: name it with --type (see `linpoint types`)",
            methods.join(", ")
        );
        return Err(recorded.locate(Error::usage(reason)));
    };
    Ok(Some(TypeChoice {
        name: name.to_owned(),
        params: Params::new(),
    }))
}

/// Returns the type of a recorded history, ready to check it; any type if there are no operations.
pub(crate) fn object_of(
    recorded: &RecordedHistory,
    chosen: Option<&TypeChoice>,
) -> Result<(TypeChoice, ObjectType), Error> {
    let any = || TypeChoice {
        name: "register".into(),
        params: Params::new(),
    };
    let choice = type_of(recorded, chosen)?.unwrap_or_else(any);
    let object = choice.build().map_err(|error| {
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
    match find_type(&choice.name) {
        Some(info) => info.with_methods(error),
        None => error,
    }
}
