//! Known answers in a file of their own, beside the histories: `name.labels.jsonl` for `name.jsonl`.
//!
//! Each line has the `index` of a history, counted from 0, and whether it is `linearizable`. Other keys are ignored, so
//! that a file of labels can hold more about each history.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::input::{self, Content};
use super::json;
use crate::engine::Budget;
use crate::error::Error;

/// Whether histories are linearizable, by their number.
pub(super) type Labels = HashMap<usize, bool>;

#[derive(Deserialize)]
struct Label {
    index: usize,
    linearizable: bool,
}

/// Whether this input holds labels, and so no histories: its first line is a label and nothing else.
pub(super) fn are_labels(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let first = lines.find(|line| !line.trim_ascii().is_empty());
    let text = first.and_then(|line| std::str::from_utf8(line).ok());
    let Some(Ok(json::Pairs(pairs))) = text.map(json::from_str::<json::Pairs<'_>>) else {
        return false;
    };
    let has = |name: &str| pairs.iter().any(|(key, _)| key == name);
    let of_a_history = ["linpoint", "ops", "event", "method", "schema"];
    has("index") && has("linearizable") && !of_a_history.into_iter().any(has)
}

/// The labels beside the histories in `file`, if there are any.
pub(super) fn beside(file: &Path, budget: &Budget) -> Option<Result<Labels, Error>> {
    let path = name_beside(file)?;
    let mut labels = None;
    input::open(&path, budget, &mut |name, _, content| {
        let read = content.and_then(|content| match content {
            Content::Bytes(bytes) => parse(&bytes),
            Content::Parquet(_) | Content::Report(_) => {
                Err(Error::malformed("labels are JSON lines"))
            }
        });
        labels = Some(read.map_err(|error| error.in_file(name)));
    });
    labels
}

/// The file with the labels of `file`; compressed or not, whatever `file` is.
pub(super) fn name_beside(file: &Path) -> Option<PathBuf> {
    let name = file.file_name()?.to_str()?;
    let plain = input::COMPRESSION
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    let stem = plain.strip_suffix(".jsonl")?;
    let candidates = std::iter::once("").chain(input::COMPRESSION.iter().copied());
    candidates
        .map(|ending| file.with_file_name(format!("{stem}.labels.jsonl{ending}")))
        .find(|path| path.is_file())
}

fn parse(bytes: &[u8]) -> Result<Labels, Error> {
    let text = input::decode_utf8(bytes)?;
    let mut labels = Labels::new();
    for (number, document) in json::documents(text) {
        let at = |reason| Error::malformed(reason).at_line(number);
        let Label {
            index,
            linearizable,
        } = document.and_then(json::from_str).map_err(at)?;
        if labels.insert(index, linearizable).is_some() {
            return Err(at(format!("history {index} is labelled twice")));
        }
    }
    Ok(labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_told_from_histories() {
        assert!(are_labels(
            br#"{"index":0,"linearizable":true,"witness":[0,1]}"#
        ));
        for no_labels in [
            r#"{"linearizable":true,"ops":[],"index":3}"#,
            r#"{"index":0,"event":"call","linearizable":true}"#,
            r#"{"index":0}"#,
            "",
            "push 1 2 3",
        ] {
            assert!(!are_labels(no_labels.as_bytes()), "{no_labels}");
        }
    }

    #[test]
    fn labels_are_numbered() {
        let text = "{\"index\":1,\"linearizable\":false}\n\n{\"index\":0,\"linearizable\":true}\n";
        let labels = parse(text.as_bytes()).unwrap();
        assert_eq!(labels, Labels::from([(1, false), (0, true)]));
        let error = parse(text.replace('0', "1").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "line 3: history 1 is labelled twice");
        let error = parse(b"{\"index\":0}").unwrap_err();
        assert_eq!(error.to_string(), "line 1: \"linearizable\" is missing");
    }
}
