//! The tables and the figure.

use super::published::{CLASSES, Published};
use super::{Findings, Row};
use crate::tables::chart::{Chart, Line, Scale, page};
use crate::tables::sheet::{Cell, Sheet};

/// The histories of a class.
struct Class<'a> {
    /// The usual name of the class.
    name: String,
    published: Option<&'static Published>,
    rows: Vec<&'a Row>,
}

impl<'a> Class<'a> {
    /// The histories that are not sequential; the tables are about these.
    fn concurrent(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.rows.iter().copied().filter(|row| !row.is_sequential())
    }

    fn linearizable(&self) -> impl Iterator<Item = &'a Row> + '_ {
        self.concurrent().filter(|row| row.is_linearizable())
    }

    fn shown_by(&self, d: usize) -> usize {
        self.linearizable().filter(|row| row.is_shown_by(d)).count()
    }
}

/// The largest, the mean and the sample deviation.
fn statistics(numbers: &[f64]) -> (f64, f64, f64) {
    let count = numbers.len() as f64;
    let most = numbers.iter().copied().fold(0.0, f64::max);
    if numbers.is_empty() {
        return (0.0, 0.0, 0.0);
    }
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let deviation = if numbers.len() > 1 {
        (squares / (count - 1.0)).sqrt()
    } else {
        0.0
    };
    (most, mean, deviation)
}

fn three(numbers: &[f64], decimals: usize) -> [Cell; 3] {
    let (most, mean, deviation) = statistics(numbers);
    [
        Cell::Count(most as usize),
        Cell::Rounded(mean, decimals),
        Cell::Rounded(deviation, decimals),
    ]
}

pub(super) fn share(part: usize, whole: usize) -> Cell {
    match whole {
        0 => Cell::Nothing,
        _ => Cell::Rounded(100.0 * part as f64 / whole as f64, 1),
    }
}

pub(super) fn head(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

pub(super) fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

/// Where the figures of a line come from: measured in this run, or published in the paper.
const HERE: &str = "here";
const PAPER: &str = "published";

impl Findings {
    /// By name; the published ones in the order of the paper come first.
    fn classes(&self) -> Vec<Class<'_>> {
        let mut names: Vec<&str> = CLASSES.iter().map(|class| class.type_name).collect();
        let mut others: Vec<&str> = self.rows.iter().map(|row| row.type_name.as_str()).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|name| !names.contains(name));
        names.extend(others);
        let class = |name: &str| {
            let published = Published::of(name);
            Class {
                name: published
                    .map_or(name, |published| published.class)
                    .to_owned(),
                published,
                rows: self
                    .rows
                    .iter()
                    .filter(|row| row.type_name == name)
                    .collect(),
            }
        };
        let classes = names.into_iter().map(class);
        classes.filter(|class| !class.rows.is_empty()).collect()
    }

    /// All tables, with the names of their files.
    pub(super) fn sheets(&self) -> Vec<(&'static str, Sheet)> {
        let mut sheets = vec![
            ("table1", self.table_1()),
            ("table2", self.table_2()),
            ("table3", self.table_3()),
            ("figure4", self.figure_4()),
            ("overlap", self.overlaps()),
        ];
        if self.has_depths {
            sheets.push(("depths", self.depths()));
        }
        sheets
    }

    fn table_1(&self) -> Sheet {
        let mut rows = Vec::new();
        for class in self.classes() {
            let of = |number: fn(&Row) -> f64| class.concurrent().map(number).collect::<Vec<f64>>();
            let ops: Vec<f64> = class.rows.iter().map(|row| row.ops as f64).collect();
            let mut row = vec![
                text(&class.name),
                text(HERE),
                Cell::Count(class.rows.len()),
                Cell::Count(class.concurrent().count()),
                Cell::Rounded(statistics(&ops).1, 0),
            ];
            row.extend(three(&of(|row| row.shape.width as f64), 2));
            row.extend(three(&of(|row| row.shape.concurrent_pairs as f64), 2));
            rows.push(row);
            if let Some(published) = class.published {
                let (open, pairs) = (published.open, published.pairs);
                rows.push(vec![
                    text(&class.name),
                    text(PAPER),
                    Cell::Count(published.histories),
                    Cell::Count(published.concurrent),
                    Cell::Rounded(published.ops as f64, 0),
                    Cell::Count(open.0),
                    Cell::Rounded(open.1, 2),
                    Cell::Rounded(open.2, 2),
                    Cell::Count(pairs.0),
                    Cell::Rounded(pairs.1, 2),
                    Cell::Rounded(pairs.2, 2),
                ]);
            }
        }
        Sheet {
            title: "Table 1: histories. c: operations open at a time, cp: concurrent pairs, both over those that are not sequential"
                .into(),
            head: head(&[
                "class", "source", "histories", "not sequential", "ops", "max c", "mean c", "sd c", "max cp",
                "mean cp", "sd cp",
            ]),
            rows,
        }
    }

    fn table_2(&self) -> Sheet {
        let d_max = self.extent.d;
        let mut rows = Vec::new();
        for class in self.classes() {
            let mut row = vec![text(&class.name), text(HERE)];
            for d in 1..=d_max {
                let sizes = class
                    .concurrent()
                    .filter_map(|row| row.evaluation.sizes.get(d - 1));
                row.extend(three(
                    &sizes.map(|&size| size as f64).collect::<Vec<_>>(),
                    0,
                ));
            }
            rows.push(row);
            if let Some(published) = class.published {
                let mut row = vec![text(&class.name), text(PAPER)];
                for d in 1..=d_max {
                    row.extend(match published.schedules.get(d - 1) {
                        Some(&(most, mean, deviation)) => [
                            Cell::Count(most),
                            Cell::Rounded(mean as f64, 0),
                            Cell::Rounded(deviation as f64, 0),
                        ],
                        None => [Cell::Nothing, Cell::Nothing, Cell::Nothing],
                    });
                }
                rows.push(row);
            }
        }
        let mut names = head(&["class", "source"]);
        names.extend(
            (1..=d_max).flat_map(|d| ["max", "mean", "sd"].map(|what| format!("{what} d={d}"))),
        );
        Sheet {
            title: format!(
                "Table 2: distinct schedules of the families ({}, ties by {})",
                self.family.rule.name(),
                self.family.base.name()
            ),
            head: names,
            rows,
        }
    }

    fn table_3(&self) -> Sheet {
        let d_max = self.extent.d;
        let classes = self.classes();
        let mut rows = Vec::new();
        let row = |name: &str,
                   source: &str,
                   concurrent: usize,
                   linearizable: usize,
                   shown: &dyn Fn(usize) -> Option<usize>| {
            let mut row = vec![
                text(name),
                text(source),
                Cell::Count(concurrent),
                Cell::Count(linearizable),
            ];
            for d in 1..=d_max {
                row.extend(match shown(d) {
                    Some(count) => [Cell::Count(count), share(count, linearizable)],
                    None => [Cell::Nothing, Cell::Nothing],
                });
            }
            row
        };
        for class in &classes {
            let linearizable = class.linearizable().count();
            let shown = |d| Some(class.shown_by(d));
            rows.push(row(
                &class.name,
                HERE,
                class.concurrent().count(),
                linearizable,
                &shown,
            ));
            if let Some(paper) = class.published {
                let shown = |d| paper.shown_by(d);
                rows.push(row(
                    &class.name,
                    PAPER,
                    paper.concurrent,
                    paper.linearizable,
                    &shown,
                ));
            }
        }
        if classes.len() > 1 {
            let sum = |of: &dyn Fn(&Class<'_>) -> usize| classes.iter().map(of).sum::<usize>();
            let concurrent = sum(&|class| class.concurrent().count());
            let linearizable = sum(&|class| class.linearizable().count());
            let shown = |d| Some(sum(&|class| class.shown_by(d)));
            rows.push(row("all", HERE, concurrent, linearizable, &shown));
            let paper = |of: &dyn Fn(&Published) -> usize| CLASSES.iter().map(of).sum::<usize>();
            let shown = |d| {
                let shown = CLASSES.iter().map(|class| class.shown_by(d));
                shown.sum::<Option<usize>>()
            };
            let (concurrent, linearizable) = (
                paper(&|class| class.concurrent),
                paper(&|class| class.linearizable),
            );
            rows.push(row("all", PAPER, concurrent, linearizable, &shown));
        }
        let mut names = head(&["class", "source", "not sequential", "linearizable"]);
        names.extend((1..=d_max).flat_map(|d| [format!("d={d}"), "%".to_owned() + &d.to_string()]));
        Sheet {
            title: "Table 3: linearizable histories that are shown by d".into(),
            head: names,
            rows,
        }
    }

    /// The points of the figure: shares shown by d, in percent.
    fn points(class: &Class<'_>, d_max: usize) -> Vec<(f64, f64)> {
        let all = class.linearizable().count().max(1) as f64;
        let point = |d| (d as f64, 100.0 * class.shown_by(d) as f64 / all);
        (1..=d_max).map(point).collect()
    }

    fn published_points(published: &Published, d_max: usize) -> Vec<(f64, f64)> {
        let all = published.linearizable as f64;
        let point = |d| Some((d as f64, 100.0 * published.shown_by(d)? as f64 / all));
        (1..=d_max).map_while(point).collect()
    }

    fn figure_4(&self) -> Sheet {
        let d_max = self.extent.further_d;
        let mut rows = Vec::new();
        let row = |name: &str, source: &str, points: &[(f64, f64)]| {
            let cells = (0..d_max).map(|i| match points.get(i) {
                Some(&(_, share)) => Cell::Rounded(share, 1),
                None => Cell::Nothing,
            });
            [text(name), text(source)]
                .into_iter()
                .chain(cells)
                .collect()
        };
        for class in self.classes() {
            rows.push(row(&class.name, HERE, &Self::points(&class, d_max)));
            if let Some(published) = class.published {
                let points = Self::published_points(published, d_max);
                rows.push(row(&class.name, PAPER, &points));
            }
        }
        let mut names = head(&["class", "source"]);
        names.extend((1..=d_max).map(|d| format!("d={d}")));
        Sheet {
            title: "Figure 4: share of the linearizable histories that are shown by d, in percent"
                .into(),
            head: names,
            rows,
        }
    }

    /// The figure itself.
    pub(super) fn figure(&self) -> Chart<'static> {
        let d_max = self.extent.further_d;
        let classes = self.classes();
        let lines = classes.iter().map(|class| Line {
            name: class.name.clone(),
            points: Self::points(class, d_max),
        });
        chart("Shown by d, measured here", lines.collect())
    }

    /// The figure beside the published one.
    pub(super) fn page(&self) -> String {
        let d_max = self.extent.further_d;
        let lines = CLASSES.iter().map(|class| Line {
            name: class.class.to_owned(),
            points: Self::published_points(class, d_max),
        });
        let published = chart(
            "Shown by d, as published (as far as the text gives it)",
            lines.collect(),
        );
        let words = format!(
            "Of the linearizable histories of each class, the share that some schedule of a strong hitting family explains, by \
             the number d of operations that are delayed. Families: {}, ties by {}. After Figure 4 of Ozkan, Majumdar and \
             Niksic, <cite>Checking Linearizability Using Hitting Families</cite> (2019).",
            self.family.rule.name(),
            self.family.base.name(),
        );
        page(
            "Hitting families",
            "How many operations must be delayed",
            &words,
            &[self.figure(), published],
        )
    }

    /// How many histories have which depth.
    fn depths(&self) -> Sheet {
        let known = |row: &Row| row.depth.as_ref().and_then(|depth| depth.known().copied());
        let most = self.rows.iter().filter_map(known).max().unwrap_or(1);
        let mut rows = Vec::new();
        for class in self.classes() {
            let count = |depth: usize| {
                class
                    .linearizable()
                    .filter(|row| known(row) == Some(depth))
                    .count()
            };
            let unknown = class
                .linearizable()
                .filter(|row| known(row).is_none())
                .count();
            let mut row = vec![text(&class.name), Cell::Count(class.linearizable().count())];
            row.extend((1..=most).map(|depth| Cell::Count(count(depth))));
            row.push(Cell::Count(unknown));
            rows.push(row);
        }
        let mut names = head(&["class", "linearizable"]);
        names.extend((1..=most).map(|depth| format!("depth {depth}")));
        names.push("not found".into());
        Sheet {
            title: "Linearizability depths of the histories that are not sequential".into(),
            head: names,
            rows,
        }
    }
}

pub(super) fn chart(title: &'static str, lines: Vec<Line>) -> Chart<'static> {
    Chart {
        title,
        across: "d",
        up: "percent of the linearizable histories",
        scale: Scale::Linear,
        lines,
    }
}
