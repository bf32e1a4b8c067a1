//! From arguments to histories and their types.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use linpoint::format::{Format, ReadOptions, Recorded, read};
use linpoint::spec::{ObjectType, Params, find_type, guess_type};
use linpoint::{Error, Value, object_type};

use crate::args::{InputArgs, OutputArgs};
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

    /// The same with the parameters that an input gives, if it is of the same type: only those count more that the user gave.
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

    /// Hands over every history of every file, in order.
    pub(crate) fn read(&self, each: &mut dyn FnMut(Result<Recorded, Error>)) {
        let options = ReadOptions {
            format: self.format,
            independent: self.independent,
            ties: self.ties,
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

impl InputArgs {
    /// Hands over every history that can be read; what cannot is reported, and counts in the exit code.
    pub(crate) fn read_good(
        &self,
        each: &mut dyn FnMut(Recorded) -> anyhow::Result<()>,
    ) -> anyhow::Result<Exit> {
        let mut exit = Exit::default();
        let mut failed = None;
        self.read(&mut |recorded| match recorded {
            Ok(recorded) if failed.is_none() => failed = each(recorded).err(),
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

/// The type of a recorded history: what the user says, what the input says, or what its methods tell.
///
/// `None` if there is no operation that could tell.
pub(crate) fn type_of(
    recorded: &Recorded,
    chosen: Option<&TypeChoice>,
) -> Result<Option<TypeChoice>, Error> {
    if let Some(chosen) = chosen {
        return Ok(Some(match &recorded.object_type {
            Some((name, params)) => chosen.completed(name, params),
            None => chosen.clone(),
        }));
    }
    if let Some((name, params)) = &recorded.object_type {
        // Inputs use all kinds of aliases; reports use one name.
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
        let reason = format!(
            "which type of object is this? Its methods ({}) do not tell; use --type (see `linpoint types`)",
            methods.join(", ")
        );
        return Err(recorded.locate(Error::usage(reason)));
    };
    Ok(Some(TypeChoice {
        name: name.to_owned(),
        params: Params::new(),
    }))
}

/// The type of a recorded history, ready to check it. Without operations any type will do.
pub(crate) fn object_of(
    recorded: &Recorded,
    chosen: Option<&TypeChoice>,
) -> Result<(TypeChoice, ObjectType), Error> {
    let any = || TypeChoice {
        name: "register".into(),
        params: Params::new(),
    };
    let choice = type_of(recorded, chosen)?.unwrap_or_else(any);
    let object = choice.build().map_err(|error| {
        // A type that makes no sense is a mistake of whoever named it.
        recorded.locate(match chosen {
            Some(_) => error,
            None => Error::malformed(error.reason()),
        })
    })?;
    Ok((choice, object))
}

/// What the name of a file asks for, where the format is not given.
enum NameAsksFor {
    Written(Format),
    /// Something that linpoint does not write, in words.
    Unwritten(&'static str),
}

impl NameAsksFor {
    fn of(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_lowercase().as_str() {
            "parquet" => NameAsksFor::Written(Format::Parquet),
            "edn" => NameAsksFor::Unwritten("EDN"),
            "csv" | "tsv" => NameAsksFor::Unwritten("a table in text"),
            "gz" | "tgz" | "zst" | "bz2" | "xz" | "zip" => {
                NameAsksFor::Unwritten("a compressed file")
            }
            "tar" => NameAsksFor::Unwritten("an archive"),
            _ => NameAsksFor::Written(Format::Jsonl),
        }
    }
}

impl OutputArgs {
    /// Where to write; `None` is the standard output.
    fn path(&self) -> Option<&Path> {
        self.file.as_deref().filter(|path| !is_standard(path))
    }

    /// The format to write: the one asked for, or the one that the name of the file asks for.
    pub(crate) fn format(&self) -> Result<Format, Error> {
        let format = match (self.to, self.path()) {
            (Some(format), _) => format,
            (None, None) => Format::Jsonl,
            (None, Some(path)) => match NameAsksFor::of(path) {
                NameAsksFor::Written(format) => format,
                NameAsksFor::Unwritten(what) => {
                    return Err(Error::usage(format!(
                        "{} is the name of {what}, but histories are written as jsonl, parquet or snapshot: choose one \
                         with --to, or another name",
                        path.display()
                    )));
                }
            },
        };
        if format != Format::Parquet {
            return Ok(format);
        }
        format.require()?;
        if self.path().is_none() && std::io::stdout().is_terminal() {
            let reason = "Parquet is not for a terminal: name a file with --output, or redirect";
            return Err(Error::usage(reason));
        }
        Ok(format)
    }

    pub(crate) fn open(&self) -> anyhow::Result<Output> {
        self.path()
            .map_or_else(|| Ok(Output::standard()), Output::file)
    }
}

/// Whether this stands for the standard output.
fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Where output goes: the standard output, or a file that appears when it is complete.
///
/// A file is written beside its place first, so that a command may read and write the same file, and no half-written
/// one is left where somebody looks for a whole one.
pub(crate) struct Output {
    out: Box<dyn Write + Send>,
    /// Where it is written, and where it belongs.
    file: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// The standard output.
    pub(crate) fn standard() -> Self {
        Output {
            out: Box::new(BufWriter::new(std::io::stdout())),
            file: None,
        }
    }

    /// A file beside what is printed.
    pub(crate) fn file(path: &Path) -> anyhow::Result<Self> {
        if is_standard(path) {
            let reason = "the standard output is taken by the report: name a file instead of -";
            return Err(Error::usage(reason).into());
        }
        let cannot = || format!("{} cannot be written", path.display());
        // A device or a pipe cannot be replaced by a file.
        if path.exists() && !path.is_file() {
            let out = Box::new(BufWriter::new(File::create(path).with_context(cannot)?));
            return Ok(Output { out, file: None });
        }
        let mut name = path.file_name().with_context(cannot)?.to_owned();
        name.push(format!(".{}.tmp", std::process::id()));
        let temporary = path.with_file_name(name);
        let out = Box::new(BufWriter::new(
            File::create(&temporary).with_context(cannot)?,
        ));
        Ok(Output {
            out,
            file: Some((temporary, path.to_owned())),
        })
    }

    /// All is written.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        if let Some((temporary, path)) = self.file.take() {
            std::fs::rename(&temporary, &path)
                .with_context(|| format!("{} cannot be written", path.display()))?;
        }
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.file {
            // Nothing more can be done about a file that cannot be removed either.
            let _ = std::fs::remove_file(temporary);
        }
    }
}
