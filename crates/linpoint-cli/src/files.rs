//! Where output goes: the standard output, or files that replace older ones when they are complete.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use linpoint::Error;
use linpoint::format::Format;

use crate::args::OutputArgs;

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
        if !cfg!(feature = "parquet") {
            let reason = "this linpoint is built without Parquet (the feature `parquet`)";
            return Err(Error::usage(reason));
        }
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
