//! Reads the inputs at a path: files, compressed files, archives, directories.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use super::etcd_report;
#[cfg(not(feature = "archives"))]
use super::feature::missing;
#[cfg(feature = "archives")]
use super::zip_archive;
use crate::engine::{Budget, Limit};
use crate::error::Error;

/// What an input holds.
pub(super) enum Content {
    Bytes(Vec<u8>),
    /// Parquet in a file of its own, which its reader opens once for each column.
    Parquet(PathBuf),
    /// The files of one history with their names: the operations of each client of a report of etcd's robustness tests.
    Report(Vec<(String, Vec<u8>)>),
}

/// How Parquet begins.
pub(super) const PARQUET: &[u8] = b"PAR1";

/// Gets the name of an input, the file that it is the whole of, and its content.
pub(super) type Visit<'a> = dyn FnMut(&str, Option<&Path>, Result<Content, Error>) + 'a;

/// Hands every input at `path` to `visit`.
pub(super) fn open(path: &Path, budget: &Budget, visit: &mut Visit<'_>) {
    if path == Path::new("-") {
        return open_stream("<stdin>", None, Box::new(io::stdin()), budget, visit);
    }
    if path.is_dir() {
        return open_directory(path, budget, visit);
    }
    open_file(path, budget, visit);
}

fn open_file(path: &Path, budget: &Budget, visit: &mut Visit<'_>) {
    let name = path.to_string_lossy();
    match File::open(path) {
        Ok(file) if is_parquet(&file) => {
            visit(&name, Some(path), Ok(Content::Parquet(path.to_owned())));
        }
        Ok(file) => open_stream(&name, Some(path), Box::new(file), budget, visit),
        Err(error) => visit(&name, None, Err(Error::unreadable(error.to_string()))),
    }
}

/// Opens the text at `path`, `-` for the standard input, to be read line by line. It may be compressed.
pub fn open_text(path: &Path) -> Result<Box<dyn BufRead>, Error> {
    let name = path.to_string_lossy();
    let raw: Stream<'static> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => {
            let file = File::open(path);
            Box::new(file.map_err(|error| Error::unreadable(error.to_string()).in_file(&name))?)
        }
    };
    match unpack(raw).map_err(|error| error.in_file(&name))? {
        (stream, Unpacked::Plain, _) => Ok(Box::new(BufReader::new(stream))),
        (_, Unpacked::Tar | Unpacked::Zip, _) => {
            Err(Error::malformed("it is an archive: name a file in it").in_file(&name))
        }
    }
}

/// Whether something else writes the input at `path` while it is read: the standard input, or a pipe.
pub(super) fn is_written_meanwhile(path: &Path) -> bool {
    let metadata = path.metadata();
    path == Path::new("-") || metadata.is_ok_and(|of| !of.is_file() && !of.is_dir())
}

/// Whether this is a file, not a pipe, that begins like Parquet. Its position stays where it is.
pub(super) fn is_parquet(mut file: &File) -> bool {
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    let mut head = [0; PARQUET.len()];
    if !is_file {
        return false;
    }
    let is_parquet = file.read_exact(&mut head).is_ok() && head == PARQUET;
    file.rewind().is_ok() && is_parquet
}

/// The text of `bytes`, without the byte order mark that some editors put before it.
pub(super) fn decode_utf8(bytes: &[u8]) -> Result<&str, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = memchr::memchr_iter(b'\n', before).count() as u64 + 1;
        Error::malformed("not UTF-8 text").at_line(line)
    })
}

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

#[derive(Clone, Copy)]
enum Compression {
    Gzip,
    Zstd,
}

impl Compression {
    /// The compression whose files begin with `head`.
    fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(GZIP) {
            Some(Compression::Gzip)
        } else if head.starts_with(ZSTD) {
            Some(Compression::Zstd)
        } else {
            None
        }
    }
}

/// Where a tar header has its magic, and the magic itself.
const TAR: (usize, &[u8]) = (257, b"ustar");

/// How zip archives begin, with entries and without.
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

pub(super) type Stream<'a> = Box<dyn Read + 'a>;

fn open_stream(
    name: &str,
    file: Option<&Path>,
    raw: Stream<'_>,
    budget: &Budget,
    visit: &mut Visit<'_>,
) {
    match unpack(raw) {
        Ok((stream, Unpacked::Tar, compressed)) => {
            open_archive(name, stream, compressed, budget, visit)
        }
        Ok((stream, Unpacked::Zip, compressed)) => {
            match read_all(stream, compressed, budget) {
                // The directory of a zip archive is at its end, so all of it must be there.
                Ok(bytes) => open_zip(name, &bytes, budget, visit),
                Err(error) => visit(name, None, Err(error)),
            }
        }
        Ok((stream, Unpacked::Plain, compressed)) => {
            let bytes = read_all(stream, compressed, budget);
            visit(name, file, bytes.map(Content::Bytes));
        }
        Err(error) => visit(name, None, Err(error)),
    }
}

/// What an input holds once it is decompressed.
pub(super) enum Unpacked {
    Plain,
    Tar,
    Zip,
}

/// Whether bytes pass a decompressor. If they do, a failed read means a damaged input.
#[derive(Clone, Copy)]
pub(super) enum Packing {
    None,
    Compressed,
}

fn read_error(error: &io::Error, packing: Packing) -> Error {
    if error.kind() == io::ErrorKind::OutOfMemory
        && let Some(limit) = Budget::address_space()
    {
        return Error::limit(Limit::AddressSpace(limit));
    }
    match packing {
        Packing::None => Error::unreadable(error.to_string()),
        Packing::Compressed => Error::malformed(format!("cannot be decompressed: {error}")),
    }
}

#[cfg(feature = "archives")]
fn decompress(raw: Stream<'_>, compression: Compression) -> Result<Stream<'_>, Error> {
    Ok(match compression {
        Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(raw)),
        Compression::Zstd => {
            let decoder = zstd::Decoder::new(raw);
            Box::new(decoder.map_err(|error| read_error(&error, Packing::Compressed))?)
        }
    })
}

#[cfg(not(feature = "archives"))]
fn decompress(_: Stream<'_>, compression: Compression) -> Result<Stream<'_>, Error> {
    let what = match compression {
        Compression::Gzip => "gzip",
        Compression::Zstd => "zstd",
    };
    Err(missing("archives", what))
}

pub(super) fn unpack(raw: Stream<'_>) -> Result<(Stream<'_>, Unpacked, Packing), Error> {
    let (head, raw) =
        peek(raw, GZIP.len().max(ZSTD.len())).map_err(|error| read_error(&error, Packing::None))?;
    let (stream, packing) = match Compression::of(&head) {
        Some(compression) => (decompress(raw, compression)?, Packing::Compressed),
        None => (raw, Packing::None),
    };
    let (head, stream) =
        peek(stream, TAR.0 + TAR.1.len()).map_err(|error| read_error(&error, packing))?;
    let kind = if head[TAR.0.min(head.len())..] == *TAR.1 {
        Unpacked::Tar
    } else if ZIP.iter().any(|zip| head.starts_with(zip)) {
        Unpacked::Zip
    } else {
        Unpacked::Plain
    };
    Ok((stream, kind, packing))
}

/// The first `wanted` bytes, or fewer if there are no more, and a stream that still has them.
fn peek(mut stream: Stream<'_>, wanted: usize) -> io::Result<(Vec<u8>, Stream<'_>)> {
    let mut head = Vec::with_capacity(wanted);
    stream.by_ref().take(wanted as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(io::Cursor::new(head).chain(stream))))
}

/// Reads a stream to its end, in the time of the budget from now on. Memory is asked for before it is taken: a small input may grow to any size when it is
/// decompressed.
pub(super) fn read_all(
    mut stream: impl Read,
    packing: Packing,
    budget: &Budget,
) -> Result<Vec<u8>, Error> {
    /// The bytes that are read without asking, and the least that are asked for at a time.
    const CHUNK: usize = 1 << 20;
    let mut bytes = Vec::new();
    // The time of an input starts with its first byte.
    let budget = budget.restarted();
    loop {
        let before = bytes.len();
        let wanted = CHUNK.max(before / 8);
        if before > 0 {
            let allowed = budget.check().and_then(|()| budget.reserve(wanted as u64));
            allowed.map_err(Error::limit)?;
            bytes.reserve_exact(wanted);
        }
        let read = stream.by_ref().take(wanted as u64).read_to_end(&mut bytes);
        let read = read.map_err(|error| read_error(&error, packing))?;
        if read < wanted {
            return Ok(bytes);
        }
    }
}

/// Every regular entry is an input of its own. Entries may be compressed, but archives within archives are not opened.
#[cfg(feature = "archives")]
fn open_archive(
    name: &str,
    stream: Stream<'_>,
    packing: Packing,
    budget: &Budget,
    visit: &mut Visit<'_>,
) {
    let broken = |error: &io::Error| match packing {
        Packing::None => Error::malformed(format!("the archive is broken: {error}")),
        Packing::Compressed => read_error(error, packing),
    };
    let mut archive = tar::Archive::new(stream);
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return visit(name, None, Err(broken(&error))),
    };
    for entry in entries {
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return visit(name, None, Err(broken(&error))),
        };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let entry_name = format!("{name}:{}", String::from_utf8_lossy(&entry.path_bytes()));
        // A cut-off archive ends its last entry early without an error.
        let content = match read_all(&mut entry, packing, budget) {
            Ok(bytes) if bytes.len() as u64 == entry.size() => unpack(Box::new(bytes.as_slice()))
                .and_then(|(stream, _, packing)| read_all(stream, packing, budget)),
            Ok(_) => Err(Error::malformed("the archive ends within this entry")),
            Err(error) => Err(error),
        };
        visit(&entry_name, None, content.map(Content::Bytes));
    }
}

#[cfg(feature = "archives")]
use zip_archive::open as open_zip;

#[cfg(not(feature = "archives"))]
fn open_zip(name: &str, _: &[u8], _: &Budget, visit: &mut Visit<'_>) {
    visit(name, None, Err(missing("archives", "zip")));
}

#[cfg(not(feature = "archives"))]
fn open_archive(name: &str, _: Stream<'_>, _: Packing, _: &Budget, visit: &mut Visit<'_>) {
    visit(name, None, Err(missing("archives", "tar")));
}

/// What Jepsen writes beside a history.
const JEPSEN_OUTPUTS: &[&str] = &["results.edn", "test.edn", "jepsen.log"];

const HISTORY: &[&str] = &[
    ".jsonl", ".json", ".edn", ".log", ".txt", ".history", ".parquet",
];

pub(super) const COMPRESSION: &[&str] = &[".gz", ".zst"];

const ARCHIVES: &[&str] = &[".tar", ".tgz", ".tar.gz", ".tar.zst", ".zip"];

fn is_history(name: &str) -> bool {
    let plain = COMPRESSION
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    !JEPSEN_OUTPUTS.contains(&plain)
        && (HISTORY.iter().any(|ending| plain.ends_with(ending))
            || ARCHIVES.iter().any(|ending| name.ends_with(ending)))
}

fn open_directory(path: &Path, budget: &Budget, visit: &mut Visit<'_>) {
    let found = match histories_below(path) {
        Ok(found) => found,
        Err((path, error)) => {
            let reason = Error::unreadable(error.to_string());
            return visit(&path.to_string_lossy(), None, Err(reason));
        }
    };
    if found.is_empty() {
        let reason = Error::unreadable("no histories in this directory");
        return visit(&path.to_string_lossy(), None, Err(reason));
    }
    for file in found {
        match etcd_report::files(&file) {
            Some(files) => {
                let name = file.to_string_lossy();
                visit(&name, None, read_report(&files, budget));
            }
            None => open_file(&file, budget, visit),
        }
    }
}

fn read_report(files: &[PathBuf], budget: &Budget) -> Result<Content, Error> {
    let read = files.iter().map(|file| {
        let name = file.to_string_lossy().into_owned();
        let opened = File::open(file).map_err(|error| Error::unreadable(error.to_string()));
        let bytes = opened.and_then(|file| read_all(file, Packing::None, budget));
        match bytes {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(error.in_file(&name)),
        }
    });
    read.collect::<Result<Vec<_>, _>>().map(Content::Report)
}

/// The histories below `root`, by name: files, and directories that hold one history. A directory that is reached twice, by a link,
/// is searched once.
pub(super) fn histories_below(root: &Path) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let mut stack = vec![root.to_owned()];
    while let Some(path) = stack.pop() {
        let at = |error| (path.clone(), error);
        if !path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_file() && is_history(&name) {
                found.push(path);
            }
            continue;
        }
        if !seen.insert(path.canonicalize().map_err(at)?) {
            continue;
        }
        // The directory of a Jepsen run: everything else in it is derived from its history.
        let history = path.join("history.edn");
        if history.is_file() {
            found.push(history);
            continue;
        }
        if etcd_report::files(&path).is_some() {
            found.push(path);
            continue;
        }
        let mut inside = Vec::new();
        for entry in path.read_dir().map_err(at)? {
            inside.push(entry.map_err(at)?.path());
        }
        inside.sort();
        stack.extend(inside.into_iter().rev());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::error::ErrorKind;

    /// A directory of its own for a test, removed afterwards.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(test: &str) -> Self {
            let name = format!("linpoint-input-{}-{test}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::create_dir_all(&path).unwrap();
            Scratch(path)
        }

        fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
            let path = self.0.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn open_all(path: &Path) -> Vec<(String, Result<Vec<u8>, Error>)> {
        let mut all = Vec::new();
        open(path, &Budget::default(), &mut |name, _, content| {
            let bytes = content.map(|content| match content {
                Content::Bytes(bytes) => bytes,
                Content::Parquet(path) => std::fs::read(path).unwrap(),
                Content::Report(files) => files.into_iter().flat_map(|(_, bytes)| bytes).collect(),
            });
            all.push((name.to_owned(), bytes))
        });
        all
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn tar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, bytes) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            builder.append_data(&mut header, name, *bytes).unwrap();
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn compression_is_told_from_the_content() {
        let scratch = Scratch::new("compression");
        let content = b"one\ntwo\n".as_slice();
        let packed = [
            ("plain.txt", content.to_vec()),
            ("gzip", gzip(content)),
            ("twice.gz", [gzip(b"one\n"), gzip(b"two\n")].concat()),
            ("zstd", zstd::encode_all(content, 0).unwrap()),
        ];
        for (name, bytes) in packed {
            let path = scratch.write(name, &bytes);
            let mut all = open_all(&path);
            let (input, read) = all.remove(0);
            assert_eq!(input, path.to_string_lossy());
            assert_eq!(read.unwrap(), content, "{name}");
        }
    }

    #[test]
    fn cut_off_inputs_are_malformed() {
        let scratch = Scratch::new("cut");
        let long: Vec<u8> = (0..60_000u32).flat_map(u32::to_le_bytes).collect();
        for (name, bytes) in [
            ("a.gz", gzip(&long)),
            ("a.zst", zstd::encode_all(long.as_slice(), 0).unwrap()),
            ("a.tar", tar(&[("x", &long)])),
            ("a.tar.gz", gzip(&tar(&[("x", &long)]))),
        ] {
            let path = scratch.write(name, &bytes[..bytes.len() / 2]);
            let errors: Vec<_> = open_all(&path)
                .into_iter()
                .filter_map(|(_, read)| read.err())
                .collect();
            assert!(!errors.is_empty(), "{name}");
            assert!(
                errors
                    .iter()
                    .all(|error| error.kind() == ErrorKind::Malformed),
                "{name}: {errors:?}"
            );
        }
    }

    /// A small file that is large when it is decompressed, in every packing.
    #[test]
    #[cfg(target_os = "linux")]
    fn memory_bounds_decompression() {
        let scratch = Scratch::new("memory");
        let zeros = vec![0; 5 << 20];
        let little = Budget::new(None, Some(1));
        for (name, bytes) in [
            ("plain", zeros.clone()),
            ("gzip", gzip(&zeros)),
            ("zstd", zstd::encode_all(zeros.as_slice(), 0).unwrap()),
            ("entry.tar", tar(&[("x", &gzip(&zeros))])),
        ] {
            let path = scratch.write(name, &bytes);
            let mut kinds = Vec::new();
            open(&path, &little, &mut |_, _, content| {
                kinds.push(content.err().map(|error| error.kind()));
            });
            assert_eq!(kinds, [Some(ErrorKind::Limit)], "{name}");
            let (_, read) = open_all(&path).remove(0);
            assert_eq!(read.unwrap().len(), zeros.len(), "{name}");
        }
    }

    #[test]
    fn archives_hold_inputs_of_their_own() {
        let scratch = Scratch::new("archive");
        let bytes = gzip(&tar(&[("d/a.log", b"one"), ("b.log.gz", &gzip(b"two"))]));
        let path = scratch.write("logs.tar.gz", &bytes);
        let all: Vec<_> = open_all(&path)
            .into_iter()
            .map(|(name, read)| (name, read.unwrap()))
            .collect();
        let name = path.to_string_lossy();
        let expected = [
            (format!("{name}:d/a.log"), b"one".to_vec()),
            (format!("{name}:b.log.gz"), b"two".to_vec()),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn directories_are_searched_in_order() {
        let scratch = Scratch::new("directory");
        for name in [
            "b.jsonl",
            "a/z.log.gz",
            "a/notes.md",
            "c.tgz",
            "jepsen.log",
            "results.edn",
            "x.tar.gz",
            "run/history.edn",
            "run/other.jsonl",
            "run/independent/1/history.edn",
        ] {
            scratch.write(name, b"x");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&scratch.0, scratch.0.join("a/loop")).unwrap();
            std::os::unix::fs::symlink(scratch.0.join("run"), scratch.0.join("zlatest")).unwrap();
        }
        let names: Vec<_> = open_all(&scratch.0)
            .into_iter()
            .map(|(name, _)| {
                let path = Path::new(&name)
                    .strip_prefix(&scratch.0)
                    .unwrap()
                    .to_owned();
                path.to_string_lossy().replace('\\', "/")
            })
            .collect();
        assert_eq!(
            names,
            [
                "a/z.log.gz",
                "b.jsonl",
                "c.tgz",
                "run/history.edn",
                "x.tar.gz"
            ]
        );
    }

    #[test]
    fn what_cannot_be_opened_is_unreadable() {
        let scratch = Scratch::new("unreadable");
        for path in [scratch.0.join("none.jsonl"), scratch.0.clone()] {
            let (name, read) = open_all(&path).remove(0);
            assert_eq!(name, path.to_string_lossy());
            assert_eq!(read.unwrap_err().kind(), ErrorKind::Unreadable);
        }
    }

    #[test]
    fn text_must_be_utf8() {
        let error = decode_utf8(b"a\nb\n\xff").unwrap_err();
        assert_eq!(error.to_string(), "line 3: not UTF-8 text");
        assert_eq!(decode_utf8(b"\xef\xbb\xbfa").unwrap(), "a");
    }
}
