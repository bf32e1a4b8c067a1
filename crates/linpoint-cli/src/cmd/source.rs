//! From arguments to histories and their types.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use linpoint::format::{ReadOptions, Recorded, read};
use linpoint::spec::{ObjectType, Params, guess_type};
use linpoint::{Error, Value, object_type};

use crate::args::InputArgs;

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
}

impl InputArgs {
    pub(crate) fn type_choice(&self) -> Result<Option<TypeChoice>, Error> {
        self.object_type
            .as_deref()
            .map(TypeChoice::parse)
            .transpose()
    }

    /// Hands over every history of every file, in order.
    pub(crate) fn read(&self, each: &mut dyn FnMut(Result<Recorded, Error>)) {
        let options = ReadOptions {
            format: self.format,
            independent: self.independent,
            ..ReadOptions::default()
        };
        let mut passed_over = Vec::new();
        for file in &self.files {
            passed_over.extend(read(file, &options, &mut *each));
        }
        match passed_over.as_slice() {
            [] => {}
            [one] => eprintln!("linpoint: note: {one} holds labels, not histories: passed over"),
            [first, rest @ ..] => eprintln!(
                "linpoint: note: {first} and {} more hold labels, not histories: passed over",
                rest.len()
            ),
        }
    }
}

/// The type of a recorded history: what the user says, what the input says, or what its methods tell.
pub(crate) fn type_of(
    recorded: &Recorded,
    chosen: Option<&TypeChoice>,
) -> Result<TypeChoice, Error> {
    if let Some(chosen) = chosen {
        return Ok(chosen.clone());
    }
    if let Some((name, params)) = &recorded.object_type {
        return Ok(TypeChoice {
            name: name.clone(),
            params: params.clone(),
        });
    }
    match guess_type(&recorded.history) {
        Some(name) => Ok(TypeChoice {
            name: name.to_owned(),
            params: Params::new(),
        }),
        // Without operations any type will do.
        None if recorded.history.is_empty() => Ok(TypeChoice {
            name: "register".into(),
            params: Params::new(),
        }),
        None => {
            let methods: Vec<_> = recorded
                .history
                .methods()
                .iter()
                .map(|method| format!("{method:?}"))
                .collect();
            let reason = format!(
                "which type of object is this? Its methods ({}) do not tell; use --type (see `linpoint types`)",
                methods.join(", ")
            );
            Err(recorded.locate(Error::usage(reason)))
        }
    }
}

/// Where output goes: a file, or the standard output.
pub(crate) fn output(path: Option<&Path>) -> anyhow::Result<Box<dyn Write>> {
    Ok(match path {
        None => Box::new(std::io::BufWriter::new(std::io::stdout().lock())),
        Some(path) => {
            let file = std::fs::File::create(path)
                .with_context(|| format!("{} cannot be written", path.display()))?;
            Box::new(std::io::BufWriter::new(file))
        }
    })
}
