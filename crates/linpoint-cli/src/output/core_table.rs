//! The core of a violation as a small table: a column per process, rows in the order of events.

use linpoint::history::NEVER;
use linpoint::verdict::Core;
use linpoint::{History, OpId};

/// No cell is wider than this; longer texts are cut.
const MAX_CELL: usize = 40;

/// No table is wider than this; where there are too many processes, the process stands in front of each row.
const MAX_WIDTH: usize = 96;

/// The lines of the table. An operation that overlaps others of the core shows its call and its return.
pub(super) fn lines(history: &History, core: &Core) -> Vec<String> {
    let mut events: Vec<(u32, OpId)> = Vec::new();
    for &id in &core.ops {
        let op = history.op(id);
        events.push((op.call, id));
        if op.ret != NEVER {
            events.push((op.ret, id));
        }
    }
    events.sort_unstable();

    let mut columns: Vec<_> = core
        .ops
        .iter()
        .map(|&id| history.process_column()[id.index()])
        .collect();
    columns.sort_unstable();
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
            .map(|(_, text)| text.chars().count());
        texts
            .chain([heads[column].chars().count()])
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();

    if widths.iter().sum::<usize>() + 3 * columns.len() > MAX_WIDTH {
        let head = heads
            .iter()
            .map(|head| head.chars().count())
            .max()
            .unwrap_or(0);
        let row = |(column, text): &(usize, String)| format!("{:<head$} │ {text}", heads[*column]);
        return rows.iter().map(row).collect();
    }
    let row = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = (0..columns.len())
            .map(|c| format!("{:<width$}", cell(c), width = widths[c]))
            .collect();
        cells.join(" │ ").trim_end().to_owned()
    };
    let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
    let mut lines = vec![row(&|c| heads[c].clone()), rule.join("─┼─")];
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

fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_CELL {
        return text.to_owned();
    }
    text.chars().take(MAX_CELL - 1).chain(['…']).collect()
}
