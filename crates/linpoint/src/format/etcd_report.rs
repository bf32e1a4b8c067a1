//! Reports of etcd's robustness tests: a directory with a folder for each client, in which `operations.json` has its operations as
//! porcupine has them, one on each line. All of them are one history.
//!
//! `watch.json` beside them has streams of events, which are no operations; it is left out, with a note.

use std::path::{Path, PathBuf};

use super::assemble::{LoggedOperation, Outcome};
use super::{Note, ReadOptions, RecordedHistory, input, porcupine};
use crate::error::Error;
use crate::spec::Params;
use crate::value::Value;

const OPERATIONS: &str = "operations.json";
const WATCH: &str = "watch.json";

/// The operations of the clients, in the order of their numbers, if `directory` is a report.
pub(super) fn files(directory: &Path) -> Option<Vec<PathBuf>> {
    let files = files_named(directory, OPERATIONS);
    (!files.is_empty()).then_some(files)
}

/// The files of this name in the folders of clients.
fn files_named(directory: &Path, name: &str) -> Vec<PathBuf> {
    let mut clients: Vec<(u64, PathBuf)> = Vec::new();
    for entry in directory.read_dir().into_iter().flatten().flatten() {
        let folder = entry.file_name();
        let number = folder
            .to_str()
            .and_then(|name| name.strip_prefix("client-"));
        let file = entry.path().join(name);
        if let Some(number) = number.and_then(|number| number.parse().ok())
            && file.is_file()
        {
            clients.push((number, file));
        }
    }
    clients.sort();
    clients.into_iter().map(|(_, file)| file).collect()
}

/// The history of a report.
pub(super) fn read(
    directory: &Path,
    files: &[(String, Vec<u8>)],
    options: &ReadOptions,
) -> Result<RecordedHistory, Error> {
    let texts = files.iter().map(|(name, bytes)| {
        let text = input::decode_utf8(bytes).map_err(|error| error.in_file(name))?;
        Ok((name.as_str(), text))
    });
    let texts: Vec<(&str, &str)> = texts.collect::<Result<_, Error>>()?;
    let mut recorded = porcupine::read_parts(&texts, options, |operations| {
        operations.iter_mut().for_each(leave_failed_pending);
    })?;
    recorded.object_type = Some(("etcd".to_owned(), Params::new()));
    match files_named(directory, WATCH).len() {
        0 => {}
        count => recorded.notes.push(Note::Watches(count)),
    }
    Ok(recorded)
}

/// An error does not tell whether the request took effect.
fn leave_failed_pending(operation: &mut LoggedOperation) {
    let error = operation.result.get("Error").and_then(Value::as_text);
    if error.is_some_and(|error| !error.is_empty()) {
        operation.outcome = Outcome::Unknown;
        operation.until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::super::read as read_path;
    use super::*;

    #[test]
    fn a_report_is_one_history() {
        let name = format!("linpoint-etcd-report-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        let write = |file: &str, text: &str| {
            let path = root.join("report").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let operation = |client: u32, call: u32| {
            format!(
                "{{\"ClientId\":{client},\"Input\":{{\"Type\":\"range\",\"Range\":{{}}}},\"Call\":{call},\"Output\":{{\"Revision\":{call}}},\"Return\":{}}}\n",
                call + 5
            )
        };
        write("client-2/operations.json", &operation(2, 3));
        write(
            "client-10/operations.json",
            &(operation(10, 1) + &operation(10, 8)),
        );
        write("client-10/watch.json", "{}\n");
        write("history.html", "<html>");
        let read_all = || {
            let mut all = Vec::new();
            read_path(&root, &ReadOptions::default(), |recorded| {
                all.push(recorded)
            });
            all
        };
        let all = read_all();
        assert_eq!(all.len(), 1);
        let recorded = all[0].as_ref().unwrap();
        assert!(recorded.input.ends_with("report"), "{}", recorded.input);
        assert_eq!(recorded.notes, [Note::Watches(1)]);
        assert_eq!(recorded.object_type.as_ref().unwrap().0, "etcd");
        let first = recorded.history.ops().next().unwrap();
        assert_eq!(
            first.text(),
            r#"range({"Range": {}, "Type": "range"}) → {"Revision": 1}"#
        );
        assert_eq!(recorded.history.len(), 3);

        write("client-2/operations.json", "{}\n");
        let error = read_all().remove(0).unwrap_err().to_string();
        assert!(
            error.contains("client-2/operations.json:1: Input is missing"),
            "{error}"
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}
