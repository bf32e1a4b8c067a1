//! The records of a log: JSON documents, the items of a JSON array, or the rows of a table.

use serde_json::value::RawValue;

use super::super::json;
use super::fields::{Cells, Source};
use crate::value::Value;

/// A record with its line.
pub(super) type Record = (u64, Result<Value, String>);

/// How the records of `text` are written, as its first characters tell.
pub(super) fn detect(text: &str) -> Source {
    let start = text.trim_start();
    if start.starts_with('{') {
        return Source::Jsonl;
    }
    if start.starts_with('[') {
        return Source::Json;
    }
    match start.lines().next() {
        Some(header) if header.contains('\t') => Source::Tsv,
        _ => Source::Csv,
    }
}

/// Calls `each` with the records of `text` until it answers an error.
pub(super) fn records<E>(
    text: &str,
    source: Source,
    cells: Cells,
    mut each: impl FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    match source {
        Source::Jsonl | Source::Json => json::each(text, |line, document| {
            each((line, document.and_then(json::value)))
        }),
        Source::Csv => rows(text, b',', cells, each),
        Source::Tsv => rows(text, b'\t', cells, each),
    }
}

fn rows<E>(
    text: &str,
    separator: u8,
    cells: Cells,
    mut each: impl FnMut(Record) -> Result<(), E>,
) -> Result<(), E> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .from_reader(text.as_bytes());
    let header = match reader.headers() {
        Ok(header) => header.clone(),
        Err(error) => return each((1, Err(error.to_string()))),
    };
    let names: Vec<Value> = header.iter().map(|name| Value::from(name.trim())).collect();
    if let Some(twice) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        let reason = format!("the header has the column {} twice", names[twice]);
        return each((1, Err(reason)));
    }
    let mut row = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => return each((reader.position().line(), Err(error.to_string()))),
        }
        let line = row.position().map_or(0, csv::Position::line);
        if row.len() != names.len() {
            let reason = format!(
                "the row has {} cells, but the header has {} columns",
                row.len(),
                names.len()
            );
            each((line, Err(reason)))?;
            continue;
        }
        let pairs = names.iter().zip(&row);
        let pairs = pairs.map(|(name, text)| Ok((name.clone(), cell(text, cells)?)));
        each((line, pairs.collect::<Result<Vec<_>, _>>().map(Value::map)))?;
    }
}

/// The value of a cell. An empty one has none, but its column is there.
fn cell(text: &str, cells: Cells) -> Result<Value, String> {
    if text.is_empty() {
        return Ok(Value::Nil);
    }
    if cells == Cells::Json && serde_json::from_str::<&RawValue>(text).is_ok() {
        return json::value(text.trim());
    }
    Ok(Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, cells: Cells) -> Vec<String> {
        let mut all = Vec::new();
        let read = records::<()>(text, detect(text), cells, |(line, record)| {
            let shown = record.map_or_else(|reason| reason, |value| value.to_string());
            all.push(format!("{line}: {shown}"));
            Ok(())
        });
        assert_eq!(read, Ok(()));
        all
    }

    #[test]
    fn records_come_with_their_lines() {
        let expected = ["1: {\"a\": 1}", "3: {\"a\": 2}"];
        assert_eq!(read("{\"a\":1}\n\n{\"a\":2}\n", Cells::Json), expected);
        let array = "[{\"a\":1},\n\n {\"a\":2}]";
        assert_eq!(read(array, Cells::Json), expected);
        assert_eq!(
            read("a\n1\n\"2\"\n", Cells::Json),
            ["2: {\"a\": 1}", "3: {\"a\": 2}"]
        );
    }

    #[test]
    fn cells_are_json_or_text() {
        let table = "a\tb\tc\n1\tx y\t\n\"\"\"1\"\"\"\t[1, 2]\tnull\n";
        assert_eq!(
            read(table, Cells::Json),
            [
                r#"2: {"a": 1, "b": "x y", "c": nil}"#,
                r#"3: {"a": "1", "b": [1, 2], "c": nil}"#
            ]
        );
        assert_eq!(
            read("a,b\n1,true\n", Cells::Text),
            [r#"2: {"a": "1", "b": "true"}"#]
        );
    }

    #[test]
    fn broken_sources_are_refused() {
        let cases = [
            (
                "a,b\n1\n",
                "2: the row has 1 cells, but the header has 2 columns",
            ),
            ("a,a\n1,2\n", "1: the header has the column \"a\" twice"),
            (
                "{\"a\":1}\n{\"a\"\n",
                "2: not JSON: it is cut off after column 4",
            ),
            ("[{\"a\":1},\n", "2: not JSON: it is cut off after column 0"),
            ("[1, 2] 3", "1: not JSON: trailing characters at column 8"),
            (
                "{\"a\":1} 3\n",
                "1: not JSON: trailing characters at column 9",
            ),
            ("{\"a\":1,\"a\":2}\n", "1: key \"a\" is given twice"),
        ];
        for (text, reason) in cases {
            assert_eq!(read(text, Cells::Json).last().unwrap(), reason, "{text}");
        }
    }
}
