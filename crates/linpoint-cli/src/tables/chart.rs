//! Line charts, as SVG.

use std::fmt::Write;

use linpoint::report::COLOURS as COLOUR_SHEET;

/// A chart: lines over the same horizontal axis.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) across: &'a str,
    pub(crate) up: &'a str,
    pub(crate) scale: Scale,
    pub(crate) lines: Vec<Line>,
}

/// How both axes are divided.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// By powers of ten.
    Logarithmic,
    /// In equal steps.
    Linear,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const HEIGHT: f64 = 440.0;
const LEFT: f64 = 80.0;
/// Where the lines end and their names begin, and the space for names: a minimum, and an amount for each letter.
const END: f64 = 570.0;
const NAMES: f64 = 150.0;
const LETTER: f64 = 7.5;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;

/// The colours of the report page, by name and for a figure by itself. They are distinct for most readers; the marks do not
/// depend on colour.
const COLOURS: &[&str] = &[
    "var(--point, #0067a3)",
    "var(--bad, #c04a00)",
    "var(--good, #00795a)",
    "var(--note, #a3527f)",
    "var(--open, #8a6100)",
    "var(--soft, #5b626d)",
];

const STYLE: &str = "text { fill: var(--ink, #1c2026) } .paper { fill: var(--card, #fff) } .grid { stroke: var(--line, #e4e2dc) }";

/// An axis, from one mark to another: powers of ten, or multiples of a step.
struct Axis {
    scale: Scale,
    step: f64,
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let is_drawn = |value: &f64| scale == Scale::Linear || *value > 0.0;
        let (least, most) = values.filter(is_drawn).fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        );
        let (least, most) = if least.is_finite() {
            (least, most)
        } else {
            (1.0, 1.0)
        };
        let mut axis = Axis {
            scale,
            step: 1.0,
            from: 0.0,
            to: 1.0,
            start,
            end,
        };
        let (least, most) = (axis.measure(least), axis.measure(most));
        if scale == Scale::Linear {
            axis.step = step(most - least);
        }
        axis.from = (least / axis.step).floor() * axis.step;
        axis.to = ((most / axis.step).ceil() * axis.step).max(axis.from + axis.step);
        axis
    }

    /// The value, or its logarithm.
    fn measure(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.place(self.measure(value))
    }

    fn place(&self, measure: f64) -> f64 {
        let share = (measure - self.from) / (self.to - self.from);
        self.start + share * (self.end - self.start)
    }

    /// The positions of the marks, with their labels.
    fn marks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        let steps = ((self.to - self.from) / self.step).round() as i32;
        (0..=steps).map(|i| {
            let measure = self.from + f64::from(i) * self.step;
            let label = match self.scale {
                Scale::Linear => format!("{measure}"),
                Scale::Logarithmic => power_of_ten(measure.round() as i32),
            };
            (self.place(measure), label)
        })
    }
}

impl Chart<'_> {
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let across = points().map(|point| point.0);
        let across = Axis::new(self.scale, across, LEFT, END);
        let up = points().map(|point| point.1);
        let up = Axis::new(self.scale, up, HEIGHT - BOTTOM, TOP);
        let letters = self.lines.iter().map(|line| line.name.chars().count());
        let names = 36.0 + LETTER * letters.max().unwrap_or(0) as f64;
        let width = END + names.max(NAMES);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {HEIGHT}\" font-family=\"system-ui, sans-serif\" \
             font-size=\"13\" role=\"img\" aria-label=\"{}\">\n<style>{STYLE}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{HEIGHT}\"/>\n",
            escaped(self.title),
        );
        let (right, bottom) = (END, HEIGHT - BOTTOM);
        for (x, label) in across.marks() {
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" class=\"grid\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 18.0
            );
        }
        for (y, label) in up.marks() {
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" class=\"grid\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                LEFT - 8.0,
                y + 4.0
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{}</text>",
            escaped(self.title)
        );
        let middle = (LEFT + right) / 2.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 14.0,
            escaped(self.across)
        );
        let middle = (TOP + bottom) / 2.0;
        let _ = writeln!(
            svg,
            "<text transform=\"translate(20 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            escaped(self.up)
        );
        for (i, line) in self.lines.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let places: Vec<(f64, f64)> = line
                .points
                .iter()
                .map(|&(x, y)| (across.at(x), up.at(y)))
                .collect();
            let path: Vec<String> = places
                .iter()
                .map(|(x, y)| format!("{x:.1} {y:.1}"))
                .collect();
            if !path.is_empty() {
                let _ = writeln!(
                    svg,
                    "<path d=\"M{}\" fill=\"none\" style=\"stroke: {colour}\" stroke-width=\"2\"/>",
                    path.join("L")
                );
            }
            for (x, y) in &places {
                let _ = writeln!(svg, "{}", mark(i, *x, *y, colour));
            }
            let y = TOP + 12.0 + 20.0 * i as f64;
            let _ = writeln!(
                svg,
                "{}<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                mark(i, right + 18.0, y - 4.0, colour),
                right + 30.0,
                y,
                escaped(&line.name)
            );
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// A page of charts; `words` are HTML.
pub(crate) fn page(title: &str, heading: &str, words: &str, charts: &[Chart<'_>]) -> String {
    let charts: String = charts.iter().map(Chart::svg).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<style>\n{COLOUR_SHEET}\
         html {{ background: var(--paper); color: var(--ink); font: 15px/1.5 var(--sans); }}\n\
         body {{ max-width: 50em; margin: 2em auto; padding: 0 1em; }}\n\
         h1 {{ font-size: 21px; font-weight: 600; }}\n\
         svg {{ display: block; margin: 1.5em 0; border: 1px solid var(--line); border-radius: 10px; }}\n\
         </style>\n</head>\n<body>\n<h1>{heading}</h1>\n<p>{words}</p>\n{charts}</body>\n</html>\n"
    )
}

/// Returns one, two or five times a power of ten, such that at most ten steps cover this distance.
fn step(distance: f64) -> f64 {
    let least = (distance / 10.0).max(1.0);
    let power = 10f64.powf(least.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().map(|times| times * power);
    found
        .into_iter()
        .find(|&step| step >= least)
        .unwrap_or(10.0 * power)
}

/// A circle, square, diamond or triangle, so that lines can be distinguished without colours.
fn mark(line: usize, x: f64, y: f64, colour: &str) -> String {
    match line % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" style=\"fill: {colour}\"/>"),
        1 => format!(
            "<path d=\"M{:.1} {:.1}h7v7h-7z\" style=\"fill: {colour}\"/>",
            x - 3.5,
            y - 3.5
        ),
        2 => format!(
            "<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\" style=\"fill: {colour}\"/>",
            y - 5.0
        ),
        _ => format!(
            "<path d=\"M{x:.1} {:.1}l5 8h-10z\" style=\"fill: {colour}\"/>",
            y - 5.0
        ),
    }
}

fn power_of_ten(power: i32) -> String {
    match power {
        -3..=3 => format!("{}", 10f64.powi(power)),
        _ => format!("10<tspan dy=\"-5\" font-size=\"9\">{power}</tspan>"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_within_the_axes() {
        let chart = Chart {
            title: "a < b",
            across: "x",
            up: "y",
            scale: Scale::Logarithmic,
            lines: vec![Line {
                name: "one".into(),
                points: vec![(10.0, 0.5), (1000.0, 40.0)],
            }],
        };
        let across = Axis::new(Scale::Logarithmic, [10.0, 1000.0].into_iter(), 0.0, 100.0);
        assert_eq!(
            (across.at(10.0), across.at(100.0), across.at(1000.0)),
            (0.0, 50.0, 100.0)
        );
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn equal_steps() {
        let up = Axis::new(Scale::Linear, [54.7, 100.0].into_iter(), 0.0, 100.0);
        assert_eq!((up.from, up.to, up.step), (50.0, 100.0, 5.0));
        let labels: Vec<String> = up.marks().map(|mark| mark.1).collect();
        assert_eq!((labels[0].as_str(), labels[10].as_str()), ("50", "100"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_chart() {
        let chart = Chart {
            title: "",
            across: "",
            up: "",
            scale: Scale::Linear,
            lines: Vec::new(),
        };
        assert!(!chart.svg().contains("NaN"));
    }
}
