//! How many histories are shown by d, by how much their operations overlap.

use super::sheets::{chart, head, share, text};
use super::{Findings, Row};
use crate::tables::chart::{Chart, Line};
use crate::tables::sheet::{Cell, Sheet};

/// The fewest histories whose share is drawn.
const FEWEST: usize = 10;

/// Linearizable histories whose operations overlap about as many others.
struct Group<'a> {
    /// In the mean, an operation overlaps at least this many others, and less than one more.
    least: usize,
    rows: Vec<&'a Row>,
}

impl Row {
    /// How many others an operation overlaps in the mean.
    fn overlap(&self) -> f64 {
        2.0 * self.shape.concurrent_pairs as f64 / self.ops.max(1) as f64
    }
}

impl Group<'_> {
    fn shown_by(&self, d: usize) -> usize {
        self.rows.iter().filter(|row| row.is_shown_by(d)).count()
    }

    fn mean_overlap(&self) -> f64 {
        self.rows.iter().map(|row| row.overlap()).sum::<f64>() / self.rows.len() as f64
    }
}

impl Findings {
    /// The groups that are not empty, by overlap. Sequential histories are left out.
    fn groups(&self) -> Vec<Group<'_>> {
        let counted = |row: &&Row| row.is_linearizable() && !row.is_sequential();
        let mut rows: Vec<&Row> = self.rows.iter().filter(counted).collect();
        rows.sort_by(|a, b| a.overlap().total_cmp(&b.overlap()));
        rows.chunk_by(|a, b| a.overlap().floor() == b.overlap().floor())
            .map(|rows| Group {
                least: rows[0].overlap() as usize,
                rows: rows.to_vec(),
            })
            .collect()
    }

    pub(super) fn overlaps(&self) -> Sheet {
        let d_max = self.extent.d;
        let row = |group: Group<'_>| {
            let mut cells = vec![
                text(&format!("{} to {}", group.least, group.least + 1)),
                Cell::Count(group.rows.len()),
            ];
            cells.extend((1..=d_max).map(|d| share(group.shown_by(d), group.rows.len())));
            cells
        };
        let mut names = head(&["overlapped", "linearizable"]);
        names.extend((1..=d_max).map(|d| format!("%{d}")));
        Sheet {
            title: "Overlap: linearizable histories that are shown by d, by how many others an operation overlaps in the mean"
                .into(),
            head: names,
            rows: self.groups().into_iter().map(row).collect(),
        }
    }

    /// The shares over the overlap, a line for each d. Groups of few histories are left out.
    pub(super) fn overlap_figure(&self) -> Chart<'static> {
        let mut groups = self.groups();
        groups.retain(|group| group.rows.len() >= FEWEST);
        let line = |d: usize| Line {
            name: format!("d = {d}"),
            points: groups
                .iter()
                .map(|group| {
                    let shown = 100.0 * group.shown_by(d) as f64 / group.rows.len() as f64;
                    (group.mean_overlap(), shown)
                })
                .collect(),
        };
        Chart {
            across: "operations that an operation overlaps, in the mean",
            ..chart(
                "Linearizable histories that are shown by d",
                (1..=self.extent.d).map(line).collect(),
            )
        }
    }
}
