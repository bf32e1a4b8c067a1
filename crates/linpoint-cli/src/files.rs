//! Outputs: the standard output, or files that replace older ones when they are complete.
//!
//! Every file that a command writes is opened here, so that no output destroys an input or another output:
//!
//! * [`Files`] records what the command reads and writes, and refuses to open the same file twice, whatever its path: files
//!   are compared by device and inode where the system has them, and by canonical path elsewhere.
//! * [`Output`] writes a file under a temporary name in the same folder, and renames it when it is complete. A run that
//!   fails leaves the older file as it was, and no partial one. A symbolic link stays: the file that it names is replaced,
//!   or created if it does not exist.
//!
//! Devices, pipes and descriptors (`/dev/stdout`, `/dev/fd/3`) cannot be replaced: they are written directly.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use linpoint::Error;
use linpoint::format::{Format, files_at};

use crate::args::{OutputArgs, written_formats};

/// The format that the extension of a file stands for.
enum FormatOfName {
    Written(Format),
    /// A format that linpoint does not write, as text.
    Unwritten(&'static str),
}

impl FormatOfName {
    fn of(path: &Path) -> Self {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_lowercase().as_str() {
            "parquet" => FormatOfName::Written(Format::Parquet),
            "edn" => FormatOfName::Written(Format::Edn),
            "csv" | "tsv" => FormatOfName::Unwritten("a table in text"),
            "gz" | "tgz" | "zst" | "bz2" | "xz" | "zip" => {
                FormatOfName::Unwritten("a compressed file")
            }
            "tar" => FormatOfName::Unwritten("an archive"),
            _ => FormatOfName::Written(Format::Jsonl),
        }
    }
}

impl OutputArgs {
    /// Where to write; `None` is the standard output.
    fn path(&self) -> Option<&Path> {
        self.file.as_deref().filter(|path| !is_dash(path))
    }

    /// Returns the format to write: that of `--to`, or that of the extension of the file.
    pub(crate) fn format(&self) -> Result<Format, Error> {
        let format = match (self.to, self.path()) {
            (Some(format), _) => format,
            (None, None) => Format::Jsonl,
            (None, Some(path)) => match FormatOfName::of(path) {
                FormatOfName::Written(format) => format,
                FormatOfName::Unwritten(what) => {
                    return Err(Error::usage(format!(
                        "{} is the name of {what}, but histories are written as {}: choose one with --to, or another name",
                        path.display(),
                        written_formats()
                    )));
                }
            },
        };
        format.require()?;
        if format == Format::Parquet && self.path().is_none() && std::io::stdout().is_terminal() {
            let reason = "Parquet is not for a terminal: name a file with --output, or redirect";
            return Err(Error::usage(reason));
        }
        Ok(format)
    }

    pub(crate) fn open(&self, files: &mut Files) -> anyhow::Result<Output> {
        match self.path() {
            Some(path) => files.create("--output", path),
            None => Ok(Output::standard()),
        }
    }
}

/// Whether this path denotes the standard input or output.
fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// What makes two paths the same file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Inode { device: u64, inode: u64 },
    /// The canonical path, where there is no inode or the file does not exist yet.
    Path(PathBuf),
}

impl Identity {
    /// Returns the identity of the file at `path`; `None` for devices, pipes and directories, which can be shared.
    fn of_path(path: &Path) -> Option<Self> {
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => None,
            #[cfg(unix)]
            Ok(metadata) => Identity::of_metadata(&metadata),
            #[cfg(not(unix))]
            Ok(_) => path.canonicalize().ok().map(Identity::Path),
            Err(_) => {
                let path = follow_links(path).ok()?;
                let folder = match path.parent() {
                    Some(folder) if !folder.as_os_str().is_empty() => folder,
                    _ => Path::new("."),
                };
                let folder = folder.canonicalize().ok()?;
                Some(Identity::Path(folder.join(path.file_name()?)))
            }
        }
    }

    #[cfg(unix)]
    fn of_metadata(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        metadata.is_file().then(|| Identity::Inode {
            device: metadata.dev(),
            inode: metadata.ino(),
        })
    }

    #[cfg(not(unix))]
    fn of_metadata(_: &Metadata) -> Option<Self> {
        None
    }

    /// The identity of an open stream that was redirected from or to a file.
    fn of_stream(stream: Option<File>) -> Option<Self> {
        Identity::of_metadata(&stream?.metadata().ok()?)
    }
}

/// A second handle on the standard output, which shares its position.
fn standard_output() -> Option<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let owned = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
        Some(File::from(owned))
    }
    #[cfg(not(unix))]
    None
}

/// A second handle on the standard input.
fn standard_input() -> Option<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let owned = std::io::stdin().as_fd().try_clone_to_owned().ok()?;
        Some(File::from(owned))
    }
    #[cfg(not(unix))]
    None
}

/// How a command uses a file.
#[derive(Debug)]
enum Use {
    /// It is read; the path as messages name it.
    Input(String),
    /// It is written; the option that names it.
    Output(String),
}

/// The files that a command reads and writes.
#[derive(Debug, Default)]
pub(crate) struct Files {
    used: Vec<(Identity, Use)>,
}

impl Files {
    /// Returns the files of a command that reads these paths: files, directories with all files below them, `-`. Labels beside
    /// histories are read too.
    ///
    /// Returns an error if the standard output is redirected to one of them.
    pub(crate) fn reading(inputs: &[PathBuf]) -> Result<Self, Error> {
        let mut files = Files::default();
        for input in inputs {
            if is_dash(input) {
                let identity = Identity::of_stream(standard_input());
                files.add(identity, Use::Input("the standard input".to_owned()));
                continue;
            }
            for path in files_at(input) {
                let identity = Identity::of_path(&path);
                files.add(identity, Use::Input(path.display().to_string()));
            }
        }
        let output = Identity::of_stream(standard_output());
        if let Some(output) = output {
            if let Some((_, Use::Input(input))) = files.find(&output) {
                let reason = format!("the standard output is {input}, which is read");
                return Err(Error::usage(reason));
            }
            files.add(Some(output), Use::Output("the standard output".to_owned()));
        }
        Ok(files)
    }

    fn add(&mut self, identity: Option<Identity>, used: Use) {
        self.used.extend(identity.map(|identity| (identity, used)));
    }

    fn find(&self, identity: &Identity) -> Option<&(Identity, Use)> {
        self.used.iter().find(|(known, _)| known == identity)
    }

    /// Opens a file for the output of `option`.
    ///
    /// Returns a usage error if the command reads the file or writes it for another option.
    pub(crate) fn create(&mut self, option: &str, path: &Path) -> anyhow::Result<Output> {
        if is_dash(path) {
            let reason = "the standard output is taken by the report: name a file instead of -";
            return Err(Error::usage(reason).into());
        }
        if let Some(stream) = open_descriptor(path) {
            let stream = stream.with_context(|| cannot_write(path))?;
            return Ok(Output::direct(stream));
        }
        self.claim(option, path)?;
        Output::file(path)
    }

    /// Opens a file for the output of `option`, which always begins with `beginning`.
    ///
    /// Returns a usage error if there is a file at `path` that does not begin so: it was not written by this option, and a name
    /// given by mistake must not destroy it.
    pub(crate) fn replace(
        &mut self,
        option: &str,
        path: &Path,
        beginning: &str,
    ) -> anyhow::Result<Output> {
        let is_file = path.metadata().is_ok_and(|metadata| metadata.is_file());
        let is_older = !is_file || open_descriptor(path).is_some() || {
            let older = head(path, beginning.len()).with_context(|| cannot_write(path))?;
            older.is_empty() || older == beginning.as_bytes()
        };
        // What is wrong with a file that is read is said by `create`.
        if !is_older && self.find_path(path).is_none() {
            let reason = format!(
                "{option} would write over {}, which it has not written: remove it, or name another file",
                path.display()
            );
            return Err(Error::usage(reason).into());
        }
        self.create(option, path)
    }

    fn find_path(&self, path: &Path) -> Option<&(Identity, Use)> {
        self.find(&Identity::of_path(path)?)
    }

    /// Records that `option` writes the file at `path`; see [`Files::create`].
    pub(crate) fn claim(&mut self, option: &str, path: &Path) -> Result<(), Error> {
        let Some(identity) = Identity::of_path(path) else {
            return Ok(());
        };
        let path = path.display();
        let reason = match self.find(&identity) {
            None => {
                self.add(Some(identity), Use::Output(option.to_owned()));
                return Ok(());
            }
            Some((_, Use::Input(input))) => {
                format!("{option} would write over {path}, which is read as {input}")
            }
            Some((_, Use::Output(other))) => {
                format!("{option} and {other} would both write {path}")
            }
        };
        Err(Error::usage(format!("{reason}: name another file")))
    }
}

/// The first bytes of a file, of what is in it if it is compressed.
fn head(path: &Path, length: usize) -> std::io::Result<Vec<u8>> {
    let first = |read: &mut dyn Read| {
        let mut bytes = Vec::new();
        read.take(length as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    #[cfg(feature = "archives")]
    if let Ok(bytes) = first(&mut flate2::read::GzDecoder::new(File::open(path)?)) {
        return Ok(bytes);
    }
    first(&mut File::open(path)?)
}

fn cannot_write(path: &Path) -> String {
    format!("{} cannot be written", path.display())
}

/// The number of links that Linux follows in a path.
const MOST_LINKS: usize = 40;

/// Returns the path that the symbolic links at `path` lead to, where no file need exist.
///
/// Returns an error if they form a loop.
fn follow_links(path: &Path) -> std::io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(target) = place.read_link() else {
            return Ok(place);
        };
        // A relative target is relative to the folder of the link.
        place.pop();
        place.push(target);
    }
    Err(std::io::Error::other("too many symbolic links"))
}

/// Opens a path that denotes an open descriptor: `/dev/stdout`, `/dev/fd/3`. Returns `None` for other paths.
///
/// Such a descriptor may be a regular file, which must not be truncated or replaced: the standard output of this command is
/// written to it as well.
fn open_descriptor(path: &Path) -> Option<std::io::Result<File>> {
    let folders = ["/dev/fd", "/proc/self/fd"];
    let number = match path.to_str()? {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        text => folders
            .iter()
            .find_map(|folder| text.strip_prefix(folder)?.strip_prefix('/'))?,
    };
    Some(match (number, standard_output()) {
        ("1", Some(stream)) => Ok(stream),
        _ => OpenOptions::new().append(true).open(path),
    })
}

/// The temporary files of all outputs that are not complete.
static INCOMPLETE: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes the temporary files of all outputs, for a run that ends at once.
pub(crate) fn remove_incomplete() {
    let mut incomplete = INCOMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
    for temporary in incomplete.drain(..) {
        // One that was renamed just now is not there.
        let _ = std::fs::remove_file(temporary);
    }
}

/// The standard output, or a file that appears when it is complete.
pub(crate) struct Output {
    out: Box<dyn Write + Send>,
    /// The temporary file, and the path to which it is renamed.
    file: Option<(PathBuf, PathBuf)>,
    /// The path as the user gave it; empty if there is none.
    given: PathBuf,
    announcement: Announcement,
}

/// Whether the standard error says that a file was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Announcement {
    Silent,
    Named,
}

impl Output {
    /// The standard output.
    pub(crate) fn standard() -> Self {
        Output::direct(std::io::stdout())
    }

    fn direct(out: impl Write + Send + 'static) -> Self {
        Output {
            out: Box::new(BufWriter::new(out)),
            file: None,
            given: PathBuf::new(),
            announcement: Announcement::Silent,
        }
    }

    fn file(path: &Path) -> anyhow::Result<Self> {
        let cannot = || cannot_write(path);
        let older = path.metadata().ok();
        let place = match &older {
            Some(older) if !older.is_file() => {
                return Ok(Output::direct(File::create(path).with_context(cannot)?));
            }
            Some(_) => path.canonicalize().with_context(cannot)?,
            None => follow_links(path).with_context(cannot)?,
        };
        let (file, temporary) = create_beside(&place).with_context(|| match path.is_symlink() {
            true => format!(
                "{} is a link to {}, which cannot be written",
                path.display(),
                place.display()
            ),
            false => cannot(),
        })?;
        let output = Output {
            out: Box::new(BufWriter::new(file)),
            file: Some((temporary, place)),
            given: path.to_owned(),
            announcement: Announcement::Silent,
        };
        if let (Some(older), Some((temporary, _))) = (older, &output.file) {
            if older.permissions().readonly() {
                let reason = format!("{} is read-only", path.display());
                return Err(anyhow::Error::msg(reason).context(cannot()));
            }
            std::fs::set_permissions(temporary, older.permissions()).with_context(cannot)?;
        }
        Ok(output)
    }

    /// The same output. If it is a file, the standard error names it when it is complete.
    pub(crate) fn announced(mut self) -> Self {
        self.announcement = Announcement::Named;
        self
    }

    /// Completes the output: the temporary file is renamed.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        self.out.flush()?;
        if let Some((temporary, path)) = &self.file {
            std::fs::rename(temporary, path).with_context(|| cannot_write(path))?;
            forget(temporary);
            if self.announcement == Announcement::Named {
                eprintln!("linpoint: wrote {}", self.given.display());
            }
        }
        self.file = None;
        Ok(())
    }
}

/// Creates a new temporary file in the folder of `path`. Returns it with its path.
fn create_beside(path: &Path) -> std::io::Result<(File, PathBuf)> {
    let name = path
        .file_name()
        .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::InvalidInput))?;
    let mut number = 0;
    loop {
        let mut temporary = name.to_owned();
        temporary.push(format!(".{}-{number}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        // Under the lock, so that no file is created that a run which ends at once does not see.
        let mut incomplete = INCOMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
        match File::create_new(&temporary) {
            Ok(file) => {
                incomplete.push(temporary.clone());
                return Ok((file, temporary));
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(error),
        }
    }
}

/// Forgets a temporary file that was renamed or removed.
fn forget(temporary: &Path) {
    let mut incomplete = INCOMPLETE.lock().unwrap_or_else(PoisonError::into_inner);
    incomplete.retain(|other| other != temporary);
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
            // An error here cannot be handled: the file stays.
            let _ = std::fs::remove_file(temporary);
            forget(temporary);
        }
    }
}
