//! The core of a violation as a small table: a column per process, rows in the order of events.

use linpoint::history::NEVER;
use linpoint::verdict::Core;
use linpoint::{History, OpId};
use unicode_width::UnicodeWidthStr;

/// No cell is wider than this; longer texts are cut.
const MAX_CELL: usize = 40;

/// Of more rows than this, the last ones are shown.
const MAX_ROWS: usize = 24;

/// No table is wider than this; where there are too many processes, the process stands in front of each row.
const MAX_WIDTH: usize = 96;

/// The lines of the table. An operation that overlaps others of the core shows its call and its return.
pub(super) fn lines(history: &History, core: &Core) -> Vec<String> {
    let mut events: Vec<(u32, OpId)> = Vec::new();
    for &id in core.ops() {
        let op = history.op(id);
        events.push((op.call, id));
        if op.ret != NEVER {
            events.push((op.ret, id));
        }
    }
    events.sort_unstable();

    let mut columns: Vec<_> = core
        .ops()
        .iter()
        .map(|&id| history.process_column()[id.index()])
        .collect();
    columns.sort_unstable_by_key(|process| (&history.processes()[process.0 as usize], *process));
    columns.dedup();
    let column_of = |id: OpId| {
        columns
            .iter()
            .position(|&p| p == history.process_column()[id.index()])
            .unwrap_or(0)
    };

    let mut rows: Vec<(usize, String)> = Vec::new();
    let mut i = 0;
    while i < events.len() {
        let (rank, id) = events[i];
        let op = history.op(id);
        if rank != op.call {
            rows.push((
                column_of(id),
                format!(
                    "└ {}",
                    op.result.map_or("returns".into(), |r| format!("→ {r}"))
                ),
            ));
        } else if events.get(i + 1).is_some_and(|&(_, next)| next == id) {
            rows.push((column_of(id), op.text()));
            i += 1;
        } else {
            rows.push((column_of(id), format!("┌ {}", op.call_text())));
        }
        i += 1;
    }

    let left_out = rows.len().saturating_sub(MAX_ROWS);
    rows.drain(..left_out);

    let heads: Vec<String> = columns
        .iter()
        .map(|process| {
            cut(&format!(
                "process {}",
                history.processes()[process.0 as usize]
            ))
        })
        .collect();
    let rows: Vec<(usize, String)> = rows
        .into_iter()
        .map(|(column, text)| (column, cut(&text)))
        .collect();
    let width = |column: usize| {
        let texts = rows
            .iter()
            .filter(|(c, _)| *c == column)
            .map(|(_, text)| text.width());
        texts.chain([heads[column].width()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();

    if widths.iter().sum::<usize>() + 3 * columns.len() > MAX_WIDTH {
        let head = heads.iter().map(|head| head.width()).max().unwrap_or(0);
        let row =
            |(column, text): &(usize, String)| format!("{} │ {text}", pad(&heads[*column], head));
        return above(left_out)
            .into_iter()
            .chain(rows.iter().map(row))
            .collect();
    }
    let row = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..columns.len())
            .map(|c| pad(&cell(c), widths[c]))
            .collect();
        cells.join(" │ ").trim_end().to_owned()
    };
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut lines = above(left_out);
    lines.extend([row(&|c| heads[c].clone()), rule.join("─┼─")]);
    lines.extend(rows.iter().map(|(column, text)| {
        row(&|c| {
            if c == *column {
                text.clone()
            } else {
                String::new()
            }
        })
    }));
    lines
}

/// Says how many rows are not shown.
fn above(left_out: usize) -> Vec<String> {
    let text = |left_out| {
        format!("({left_out} earlier calls and returns of the core are not shown; --json has all)")
    };
    (left_out > 0).then(|| text(left_out)).into_iter().collect()
}

/// The beginning of a text, if it is long.
pub(super) fn cut(text: &str) -> String {
    if text.width() <= MAX_CELL {
        return text.to_owned();
    }
    text.chars().take(MAX_CELL - 1).chain(['…']).collect()
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
