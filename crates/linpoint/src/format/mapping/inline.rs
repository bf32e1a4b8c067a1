//! Mappings on one line: `process=.client, argument=[.key, .value], status.ok=ok|done`.

use toml::{Table, Value};

/// The table that `text` stands for.
pub(super) fn parse(text: &str) -> Result<Table, String> {
    let mut table = Table::new();
    for item in split(text) {
        let item = item.trim();
        if item.is_empty() {
            continue;
        }
        let (key, value) = item.split_once('=').ok_or_else(|| {
            format!("{item:?} has no value: a mapping on one line is key=value, key=value")
        })?;
        let (key, value) = (key.trim(), value.trim());
        match key.split_once('.') {
            None => insert(&mut table, key, one_or_list(value)?)?,
            Some((outer, inner)) => {
                let has_lists = matches!(outer, "status" | "event" | "skip");
                let value = match has_lists && value.contains('|') {
                    true => Value::Array(value.split('|').map(|one| one.trim().into()).collect()),
                    false => one_or_list(value)?,
                };
                let entry = table.entry(outer).or_insert_with(|| Table::new().into());
                if let Value::String(path) = entry {
                    // `event=.type, event.call=Start`
                    let path = Value::from(path.as_str());
                    *entry = Table::from_iter([("path".to_owned(), path)]).into();
                }
                match entry {
                    Value::Table(inside) => insert(inside, inner, value)?,
                    _ => return Err(format!("{outer:?} is given both alone and with a dot")),
                }
            }
        }
    }
    Ok(table)
}

fn insert(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    match table.insert(key.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(format!("{key:?} is given twice")),
    }
}

/// A text, or a list if it is in brackets and its items are paths or constants.
fn one_or_list(value: &str) -> Result<Value, String> {
    let Some(inside) = value.strip_prefix('[') else {
        return Ok(value.into());
    };
    if !inside.trim_start().starts_with(['.', '=']) {
        return Ok(value.into());
    }
    let inside = inside
        .strip_suffix(']')
        .ok_or_else(|| format!("the list {value} does not end"))?;
    Ok(Value::Array(
        split(inside).map(|item| item.trim().into()).collect(),
    ))
}

/// The parts of `text` between commas that are not in brackets, braces or quotes.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let (mut depth, mut quoted) = (0i32, false);
    text.split(move |c: char| {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' if !quoted => depth += 1,
            ']' | '}' if !quoted => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0 && !quoted
    })
}
