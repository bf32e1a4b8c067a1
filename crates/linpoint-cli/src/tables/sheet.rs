//! Tables of figures: as text, Markdown, tab-separated values or JSON.

use unicode_width::UnicodeWidthStr;

use crate::output::core_table::pad;

/// A table.
pub(crate) struct Sheet {
    pub(crate) title: String,
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    Text(String),
    Count(usize),
    /// A number, and the decimals to which it is rounded for readers.
    Rounded(f64, usize),
    Nothing,
}

/// How precise the numbers of a table are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precision {
    /// Each number has the decimals of its cell.
    Rounded,
    /// Each number has all its digits.
    Full,
}

impl Cell {
    fn show(&self, precision: Precision) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => count.to_string(),
            Cell::Rounded(number, _) if precision == Precision::Full => number.to_string(),
            Cell::Rounded(number, decimals) => format!("{number:.decimals$}"),
            Cell::Nothing => "-".to_owned(),
        }
    }
}

impl Sheet {
    fn shown(&self, precision: Precision) -> Vec<Vec<String>> {
        let row = |row: &Vec<Cell>| row.iter().map(|cell| cell.show(precision)).collect();
        self.rows.iter().map(row).collect()
    }

    /// Aligned columns: text to the left, numbers to the right.
    pub(crate) fn text(&self, precision: Precision) -> String {
        let rows = self.shown(precision);
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].width());
            cells.chain([self.head[column].width()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let is_text = |column: usize| {
            let cell = self.rows.first().map(|row| &row[column]);
            matches!(cell, None | Some(Cell::Text(_)))
        };
        let line = |cells: &[String]| {
            let cells = cells.iter().enumerate().map(|(column, cell)| {
                let width = widths[column];
                match is_text(column) {
                    true => pad(cell, width),
                    false => " ".repeat(width.saturating_sub(cell.width())) + cell,
                }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            line.trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n\n{}", self.title, line(&self.head));
        rows.iter().for_each(|row| text += &line(row));
        text
    }

    pub(crate) fn markdown(&self, precision: Precision) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut text = format!("### {}\n\n{}", self.title, line(&self.head));
        text += &format!("|{}\n", "---|".repeat(self.head.len()));
        self.shown(precision)
            .iter()
            .for_each(|row| text += &line(row));
        text
    }

    pub(crate) fn tsv(&self, precision: Precision) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells
                .iter()
                .map(|cell| cell.replace(['\t', '\n', '\r'], " "))
                .collect();
            cells.join("\t") + "\n"
        };
        let rows = self.shown(precision);
        let rows = rows.iter().map(|row| line(row));
        [line(&self.head)].into_iter().chain(rows).collect()
    }

    /// An object for each row, with the heads as keys and full precision.
    pub(crate) fn json(&self) -> serde_json::Value {
        let value = |cell: &Cell| match cell {
            Cell::Text(text) => serde_json::Value::from(text.as_str()),
            Cell::Count(count) => (*count).into(),
            Cell::Rounded(number, _) => (*number).into(),
            Cell::Nothing => serde_json::Value::Null,
        };
        let row = |row: &Vec<Cell>| {
            let cells = self.head.iter().cloned().zip(row.iter().map(value));
            serde_json::Value::Object(cells.collect())
        };
        self.rows.iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rendering() {
        let sheet = Sheet {
            title: "Table".into(),
            head: vec!["class".into(), "mean".into()],
            rows: vec![
                vec![Cell::Text("a|b".into()), Cell::Rounded(1.25, 1)],
                vec![Cell::Text("longer\tname".into()), Cell::Nothing],
            ],
        };
        assert!(sheet.text(Precision::Rounded).starts_with("Table\n\nclass"));
        assert!(
            sheet.text(Precision::Rounded).contains("1.2\n")
                && sheet.text(Precision::Full).contains("1.25\n")
        );
        assert!(
            sheet
                .markdown(Precision::Rounded)
                .contains("| a\\|b | 1.2 |\n")
        );
        assert_eq!(
            sheet.tsv(Precision::Full),
            "class\tmean\na|b\t1.25\nlonger name\t-\n"
        );
        assert_eq!(sheet.json()[1]["mean"], serde_json::Value::Null);
    }
}
