//! A schedule as a picture: when each operation was open, and the moment at which it takes effect.

use linpoint::history::NEVER;
use linpoint::{History, OpId};
use unicode_width::UnicodeWidthStr;

use super::core_table::{cut_to, pad};
use crate::units::counted;

/// More columns than this are not drawn: moments share them.
const MOST_COLUMNS: usize = 72;

/// More operations than this are not drawn.
const MOST_ROWS: usize = 40;

/// The text of an operation is cut to this width, since the picture stands beside it.
const MAX_LABEL: usize = 40;

/// The lines of the picture: a row for each operation, in the order of the schedule, so that the moments go down and to
/// the right. Those in `marked` stand out.
pub(super) fn lines(history: &History, schedule: &[OpId], marked: &[OpId]) -> Vec<String> {
    // What is drawn: the operations up to the last one that is marked, as far as there is room.
    let last = schedule.iter().rposition(|id| marked.contains(id));
    let until = last.map_or(MOST_ROWS, |last| last + 4).max(MOST_ROWS);
    let until = until.min(schedule.len());
    let from = until.saturating_sub(MOST_ROWS);

    let mut moment = 0;
    let moments: Vec<u32> = schedule
        .iter()
        .map(|&id| {
            moment = moment.max(history.op(id).call);
            moment
        })
        .collect();
    let shown = &schedule[from..until];
    let first = shown.iter().map(|&id| history.op(id).call).min();
    let first = first.unwrap_or(0);
    let rets = shown.iter().map(|&id| history.op(id).ret);
    let end = rets
        .filter(|&ret| ret != NEVER)
        .chain(moments[from..until].iter().map(|&moment| moment + 1))
        .max()
        .unwrap_or(0);
    // Between two events there is a column for what happens there.
    let columns = (2 * (end - first) as usize + 1).min(MOST_COLUMNS);
    let span = 2 * (end - first).max(1) as usize;
    let column = |half_steps: usize| half_steps.min(span) * (columns - 1) / span;

    let label = |id: OpId| {
        let op = history.op(id);
        cut_to(&format!("{} │ {}", op.process, op.text()), MAX_LABEL)
    };
    let labels: Vec<String> = shown.iter().map(|&id| label(id)).collect();
    let width = labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let mut lines = Vec::new();
    if from > 0 {
        lines.push(not_shown(from, "before"));
    }
    for ((&id, &moment), label) in shown.iter().zip(&moments[from..]).zip(&labels) {
        let op = history.op(id);
        let start = column(2 * (op.call - first) as usize);
        let is_pending = op.ret == NEVER;
        let stop = if is_pending {
            columns - 1
        } else {
            column(2 * (op.ret - first) as usize)
        };
        let mut row = vec![' '; columns];
        row[start..=stop].fill('─');
        row[start] = '├';
        row[stop] = if is_pending { '╌' } else { '┤' };
        let at = column(2 * (moment - first) as usize + 1).clamp(start, stop);
        row[at] = '●';
        let mark = if marked.contains(&id) { '▶' } else { ' ' };
        let row: String = row.into_iter().collect();
        lines.push(format!("{mark} {}  {}", pad(label, width), row.trim_end()));
    }
    if until < schedule.len() {
        let more = schedule.len() - until;
        lines.push(not_shown(more, "after"));
    }
    lines
}

fn not_shown(count: usize, place: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!(
        "({} {place} these {are} not shown)",
        counted(count, "operation")
    )
}
