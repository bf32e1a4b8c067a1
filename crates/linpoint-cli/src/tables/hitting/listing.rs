//! The data of the tables: a line for each history and each error, and a summary.

use linpoint::Error;
use linpoint::engine::hitting::Measured;

use super::sheets::{head, text};
use super::{Findings, Row};
use crate::tables::sheet::{Cell, Sheet};
use crate::units::{counted, show_duration};

impl Findings {
    /// A line for each history.
    pub(super) fn histories(&self) -> Sheet {
        let mut names = head(&[
            "history",
            "class",
            "operations",
            "threads",
            "c",
            "cp",
            "sequential",
            "linearizable",
            "labelled",
        ]);
        names.extend((1..=self.extent.d).map(|d| format!("schedules d={d}")));
        names.extend(head(&[
            "shown by",
            "depth",
            "schedules tried",
            "microseconds",
        ]));
        let word =
            |truth: Option<bool>| truth.map_or(Cell::Nothing, |truth| text(&truth.to_string()));
        let number = |measured: &Measured<usize>| match measured {
            Measured::Is(number) => Cell::Count(*number),
            Measured::Above(most) => text(&format!(">{most}")),
            Measured::Never => Cell::Nothing,
            Measured::Unknown(_) => text("?"),
        };
        let line = |row: &Row| {
            let mut cells = vec![
                text(&row.label),
                text(&row.type_name),
                Cell::Count(row.ops),
                Cell::Count(row.threads),
                Cell::Count(row.shape.width),
                Cell::Count(row.shape.concurrent_pairs as usize),
                text(&row.is_sequential().to_string()),
                word(row.evaluation.linearizable.ok()),
                word(row.expected),
            ];
            cells.extend((0..self.extent.d).map(|i| {
                let size = row.evaluation.sizes.get(i);
                size.map_or(Cell::Nothing, |&size| Cell::Count(size))
            }));
            cells.push(number(&row.evaluation.shown_by));
            cells.push(row.depth.as_ref().map_or(Cell::Nothing, number));
            cells.push(Cell::Count(row.evaluation.schedules));
            cells.push(Cell::Count(row.time.as_micros() as usize));
            cells
        };
        Sheet {
            title: "Histories".into(),
            head: names,
            rows: self.rows.iter().map(line).collect(),
        }
    }

    pub(super) fn listed_errors(&self) -> Sheet {
        let line = |error: &Error| {
            vec![
                text(&error.label().unwrap_or_default()),
                text(&error.to_string()),
            ]
        };
        Sheet {
            title: "Errors".into(),
            head: head(&["history", "reason"]),
            rows: self.errors.iter().map(line).collect(),
        }
    }

    /// The summary: facts that the tables do not have.
    pub(super) fn summary(&self) -> Vec<String> {
        let count =
            |is_one: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| is_one(row)).count();
        let verdicts = [
            (count(&Row::is_sequential), "sequential"),
            (count(&Row::is_linearizable), "linearizable"),
            (
                count(&|row| row.evaluation.linearizable == Ok(false)),
                "not linearizable",
            ),
            (
                count(&|row| row.evaluation.linearizable.is_err()),
                "undecided",
            ),
        ];
        let verdicts = verdicts.iter().filter(|(count, _)| *count > 0);
        let verdicts: Vec<String> = verdicts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let mut lines = vec![format!(
            "{} in {}{}{}",
            counted(self.rows.len(), "history"),
            show_duration(self.time),
            if verdicts.is_empty() { "" } else { ": " },
            verdicts.join(", "),
        )];
        let shown = |row: &Row| row.evaluation.shown_by.known().copied();
        let most = self.rows.iter().filter_map(shown).max().unwrap_or(0);
        let left = count(&|row| row.is_linearizable() && shown(row).is_none());
        if left > 0 {
            let d = self.extent.further_d;
            lines.push(format!(
                "linearizable, but not shown up to d = {d}: {}",
                counted(left, "history")
            ));
        } else if most > 0 {
            lines.push(format!(
                "linearizable: each is shown by some d up to {most}"
            ));
        }
        if self.has_depths {
            let later = count(&|row| {
                let depth = row.depth.as_ref().and_then(Measured::known);
                let both = depth.zip(shown(row));
                both.is_some_and(|(&depth, shown)| shown > depth)
            });
            lines.push(match later {
                0 => "shown later than by its depth: none".to_owned(),
                later => format!(
                    "shown later than by its depth: {}, since the rule misses tuples",
                    counted(later, "history")
                ),
            });
        }
        let labelled = count(&|row| row.expected.is_some());
        if labelled > 0 {
            let wrong = count(&|row| {
                let both = row.expected.zip(row.evaluation.linearizable.ok());
                both.is_some_and(|(expected, found)| expected != found)
            });
            let falsely = count(&|row| row.expected == Some(false) && shown(row).is_some());
            lines.push(format!(
                "labelled: {}, {wrong} with another verdict, {falsely} labelled not linearizable but shown",
                counted(labelled, "history")
            ));
        }
        if !self.errors.is_empty() {
            lines.push(format!("not read or not evaluated: {}", self.errors.len()));
        }
        if self.interrupted {
            lines.push("(interrupted)".into());
        }
        lines
    }
}
