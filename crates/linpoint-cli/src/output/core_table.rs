//! The core of a violation as a small table: a column per process, rows in the order of events.

use linpoint::history::NEVER;
use linpoint::verdict::Core;
use linpoint::{History, OpId};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The name of a process is cut to this width.
const MAX_HEAD: usize = 40;

/// Texts within sentences are cut to this width.
const MAX_TEXT: usize = 400;

/// A text that takes more lines than this is cut.
const MAX_LINES: usize = 12;

/// Of more rows than this, the last ones are shown.
const MAX_ROWS: usize = 24;

/// No table is wider than this. Where processes are too many or texts too long, the process stands in front of each row, and
/// texts are wrapped.
const MAX_WIDTH: usize = 96;

/// The lines of the table. An operation that overlaps others of the core shows its call and its return.
pub(super) fn lines(history: &History, core: &Core) -> Vec<String> {
    let table = Table::new(history, core);
    let widths = table.widths();
    let mut lines = above(table.left_out);
    if widths.iter().sum::<usize>() + 3 * widths.len() > MAX_WIDTH {
        lines.extend(table.with_process_in_front());
    } else {
        lines.extend(table.with_columns(&widths));
    }
    lines
}

/// A row: the number of its column, and its only text.
struct Row {
    column: usize,
    text: String,
}

struct Table {
    /// The names of the processes, one for each column.
    heads: Vec<String>,
    rows: Vec<Row>,
    /// How many earlier rows there are besides.
    left_out: usize,
}

impl Table {
    fn new(history: &History, core: &Core) -> Self {
        let process_of = |id: OpId| history.process_column()[id.index()];
        let mut columns: Vec<_> = core.ops().iter().map(|&id| process_of(id)).collect();
        columns
            .sort_unstable_by_key(|process| (&history.processes()[process.0 as usize], *process));
        columns.dedup();
        let mut rows: Vec<Row> = moments(history, core)
            .into_iter()
            .map(|(id, text)| Row {
                column: columns
                    .iter()
                    .position(|&process| process == process_of(id))
                    .expect("bug: an operation of the core has no column"),
                text,
            })
            .collect();
        let left_out = rows.len().saturating_sub(MAX_ROWS);
        rows.drain(..left_out);
        let head = |number: usize| {
            let name = format!("process {}", history.processes()[number]);
            cut_to(&name, MAX_HEAD)
        };
        Table {
            heads: columns
                .iter()
                .map(|process| head(process.0 as usize))
                .collect(),
            rows,
            left_out,
        }
    }

    /// The width of each column: that of its widest text.
    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.heads.iter().map(|head| head.width()).collect();
        for row in &self.rows {
            let width = &mut widths[row.column];
            *width = row.text.width().max(*width);
        }
        widths
    }

    /// The rows, each with the name of its process before it.
    fn with_process_in_front(&self) -> Vec<String> {
        let width = self.heads.iter().map(|head| head.width()).max();
        let width = width.unwrap_or(0);
        let mut lines = Vec::new();
        for row in &self.rows {
            let mut head = self.heads[row.column].as_str();
            for line in wrapped(&row.text, MAX_WIDTH.saturating_sub(width + 3)) {
                lines.push(format!("{} │ {line}", pad(head, width)));
                head = "";
            }
        }
        lines
    }

    /// The names of the processes, a rule, and the rows, each with its text in the column of its process.
    fn with_columns(&self, widths: &[usize]) -> Vec<String> {
        let line = |text_in: &dyn Fn(usize) -> String| {
            let cells = widths.iter().enumerate();
            let cells: Vec<String> = cells
                .map(|(column, &width)| pad(&text_in(column), width))
                .collect();
            cells.join(" │ ").trim_end().to_owned()
        };
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        let head = line(&|column| self.heads[column].clone());
        let rows = self.rows.iter().map(|row| {
            line(&|column| {
                if column == row.column {
                    row.text.clone()
                } else {
                    String::new()
                }
            })
        });
        [head, rule.join("─┼─")].into_iter().chain(rows).collect()
    }
}

/// The calls and returns of the core in their order, as text. A return right after its call is on the same row.
fn moments(history: &History, core: &Core) -> Vec<(OpId, String)> {
    let mut events: Vec<(u32, OpId)> = Vec::new();
    for &id in core.ops() {
        let op = history.op(id);
        events.push((op.call, id));
        events.push((op.ret, id));
    }
    events.sort_unstable();
    // An operation is called and returns once, so events side by side of the same one are its call and its return.
    let groups = events.chunk_by(|(_, id), (_, next)| id == next);
    groups
        .map(|group| {
            let (rank, id) = group[0];
            let op = history.op(id);
            let text = match group {
                [_, (NEVER, _)] => format!("{} waits", op.call_text()),
                [_, _] => op.text(),
                [(NEVER, _)] => "└ waits".to_owned(),
                _ if rank == op.call => format!("┌ {}", op.call_text()),
                _ => match op.result {
                    Some(result) => format!("└ → {result}"),
                    None => "└ returns".to_owned(),
                },
            };
            (id, text)
        })
        .collect()
}

/// Says how many rows are not shown.
fn above(left_out: usize) -> Vec<String> {
    let text = |left_out| {
        format!("({left_out} earlier calls and returns of the core are not shown; --json has all)")
    };
    (left_out > 0).then(|| text(left_out)).into_iter().collect()
}

/// The beginning of a text, if it is very long, for a sentence.
pub(super) fn cut(text: &str) -> String {
    cut_to(text, MAX_TEXT)
}

/// The beginning of a text that is wider than `most`.
pub(super) fn cut_to(text: &str, most: usize) -> String {
    if text.width() <= most {
        return text.to_owned();
    }
    let (beginning, _) = split_at_width(text, most - 1);
    format!("{beginning}…")
}

/// The longest beginning of `text` that fits `width` columns, but one character at least, and the rest.
fn split_at_width(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    let mut ends = text.char_indices().skip(1).map(|(at, _)| at);
    let end = text.chars().enumerate().find_map(|(i, c)| {
        used += c.width().unwrap_or(0);
        (used > width && i > 0).then_some(i)
    });
    match end.and_then(|count| ends.nth(count - 1)) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    }
}

/// `text` in lines of at most `width` columns. All but the first are indented by two.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let indent = if lines.is_empty() { "" } else { "  " };
        let (mut line, mut after) = split_at_width(rest, width.saturating_sub(indent.len()));
        // A line ends at a blank, unless that leaves more than half of it empty.
        if !after.is_empty()
            && let Some(blank) = line.rfind(' ').filter(|&blank| 2 * blank > line.len())
        {
            (line, after) = rest.split_at(blank + 1);
        }
        if lines.len() == MAX_LINES {
            lines.push(format!("{indent}…"));
            break;
        }
        lines.push(format!("{indent}{}", line.trim_end()));
        rest = after;
    }
    lines
}

/// `text` and as many blanks as it takes to fill `width` columns of a terminal.
pub(crate) fn pad(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

#[cfg(test)]
mod tests {
    use linpoint::format::{ReadOptions, parse};
    use linpoint::verdict::HarnessEvidence;

    use super::*;

    /// Overlapping operations of so many processes, with arguments of so many letters, as a table.
    fn table(processes: usize, letters: usize) -> Vec<String> {
        let value = "ä".repeat(letters);
        let operation = |p: usize| {
            let (call, ret) = (p, 100 + p);
            format!(
                "{{\"process\": {p}, \"method\": \"write\", \"arg\": \"{value}\", \"call\": {call}, \"return\": {ret}}}\n"
            )
        };
        let text: String = (0..processes).map(operation).collect();
        let recorded = parse(text.as_bytes(), &ReadOptions::default()).remove(0);
        let history = recorded.expect("a history").history;
        let core = Core::confirmed_by_harness(
            history.ops().map(|op| op.id).collect(),
            String::new(),
            HarnessEvidence::OneExecution,
        );
        lines(&history, &core)
    }

    #[test]
    fn texts_are_wrapped_and_not_cut() {
        let lines = table(2, 300);
        let shown: usize = lines.iter().map(|line| line.matches('ä').count()).sum();
        // The calls show them all; returns of a write show nothing.
        assert_eq!(shown, 600, "{lines:#?}");
        let words = ["one"; 40].join(", ");
        let lines = wrapped(&words, 30);
        assert!(lines.iter().all(|line| line.width() <= 30), "{lines:#?}");
        let joined: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert_eq!(joined.join(" "), words);
        assert_eq!(split_at_width("日本語", 4), ("日本", "語"));
        assert_eq!(split_at_width("日本語", 1), ("日", "本語"));
        assert_eq!(split_at_width("abc", 3), ("abc", ""));
    }

    #[test]
    fn the_picture_fits_into_a_hundred_columns() {
        for processes in [1, 2, 5, 9, 12] {
            for letters in [1, 20, 10_000] {
                let lines = table(processes, letters);
                let widest = lines.iter().map(|line| line.width()).max();
                // It is indented by four.
                assert!(
                    widest <= Some(MAX_WIDTH),
                    "{processes}, {letters}: {lines:#?}"
                );
                // One that overlaps nothing stands on one line.
                let shown = if processes == 1 { 1 } else { 2 * processes };
                assert!(lines.len() >= shown.min(MAX_ROWS), "{lines:#?}");
            }
        }
    }
}
