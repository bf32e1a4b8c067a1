//! Reports of etcd's robustness tests: a directory with a folder for each client, in which `operations.json` has its operations as
//! porcupine has them, one on each line. All of them are one history.
//!
//! `watch.json` beside them has streams of events. These are no operations, but tell which requests took effect although their
//! answers were lost.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::etcd_watch::Watched;
use super::input::Packing;
use super::{ReadOptions, RecordedHistory, input, porcupine};
use crate::error::Error;
use crate::spec::Params;

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
    let budget = options.budget();
    let mut watched = Watched::default();
    for path in files_named(directory, WATCH) {
        let name = path.display().to_string();
        let file = File::open(&path).map_err(|error| Error::unreadable(error.to_string()));
        let bytes = file.and_then(|file| input::read_all(file, Packing::None, &budget));
        let added = bytes.and_then(|bytes| watched.add(input::decode_utf8(&bytes)?, &budget));
        added.map_err(|error| error.in_file(&name))?;
    }
    let mut recorded =
        porcupine::read_parts(&texts, options, |operations| watched.refine(operations))?;
    recorded.object_type = Some(("etcd".to_owned(), Params::new()));
    Ok(recorded)
}

#[cfg(test)]
mod tests {
    use super::super::read as read_path;
    use super::*;
    use crate::error::ErrorKind;

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
        // The answer of a put was lost, and a watch showed it.
        let lost = r#"{"ClientId":3,"Input":{"Type":"txn","Txn":{"OperationsOnSuccess":[{"Type":"put-operation","Put":{"Key":"k","Value":{"Value":"7"}}}]}},"Call":2,"Output":{"Error":"timeout"},"Return":9}"#;
        write("client-3/operations.json", &format!("{lost}\n"));
        let watch = r#"{"Responses":[{"Events":[{"Type":"put-operation","Key":"k","Value":{"Value":"7"},"Revision":5}],"Time":20}]}"#;
        write("client-10/watch.json", &format!("{watch}\n{watch}\n"));
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
        assert_eq!(recorded.notes, []);
        assert_eq!(recorded.object_type.as_ref().unwrap().0, "etcd");
        let first = recorded.history.ops().next().unwrap();
        assert_eq!(
            first.text(),
            r#"range({"Range": {}, "Type": "range"}) → {"Revision": 1}"#
        );
        assert_eq!(recorded.history.len(), 4);
        let put = recorded.history.ops().nth(1).unwrap();
        assert!(
            put.text()
                .ends_with(r#"→ {"persisted": true, "revision": 5}"#)
        );
        assert_eq!(put.times, Some((2, 20)));

        // Without the watch nothing tells whether it took effect.
        write("client-10/watch.json", "{}\n");
        let recorded = read_all().remove(0).unwrap();
        assert_eq!(recorded.history.ops().nth(1).unwrap().result, None);

        write("client-2/operations.json", "{}\n");
        let error = read_all().remove(0).unwrap_err().to_string();
        assert!(
            error.contains("client-2/operations.json:1: Input is missing"),
            "{error}"
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
    /// A watch is one line, however long it is.
    #[test]
    #[cfg(target_os = "linux")]
    fn watches_count_for_the_limit_of_memory() {
        let name = format!("linpoint-etcd-watch-{}", std::process::id());
        let client = std::env::temp_dir().join(name).join("report/client-1");
        std::fs::create_dir_all(&client).unwrap();
        let operation = r#"{"ClientId":1,"Input":{"Type":"range","Range":{}},"Call":1,"Output":{"Revision":4},"Return":2}"#;
        std::fs::write(client.join(OPERATIONS), format!("{operation}\n")).unwrap();
        let event = r#"{"Type":"put-operation","Key":"k","Value":{"Value":"7"},"Revision":5}"#;
        let response = format!("{{\"Events\":[{event}],\"Time\":20}}");
        let responses = vec![response; 1_000].join(",");
        let watch = format!("{{\"Responses\":[{responses}]}}\n");
        std::fs::write(client.join(WATCH), watch).unwrap();
        let report = client.parent().unwrap();
        let read = |memory: Option<u64>| {
            let options = ReadOptions {
                memory,
                ..ReadOptions::default()
            };
            let mut all = Vec::new();
            read_path(report, &options, |recorded| all.push(recorded));
            all.remove(0)
        };
        assert_eq!(read(None).unwrap().history.len(), 1);
        let error = read(Some(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        assert!(error.to_string().contains("watch.json"), "{error}");
        std::fs::remove_dir_all(report.parent().unwrap()).unwrap();
    }
}
