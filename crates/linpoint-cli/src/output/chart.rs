//! Line charts with logarithmic axes, as SVG.

use std::fmt::Write;

/// A chart: lines over the same horizontal axis.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    pub(crate) across: &'a str,
    pub(crate) up: &'a str,
    pub(crate) lines: Vec<Line>,
}

pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 150.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 56.0;

/// Colours that stay apart for most eyes (after Okabe and Ito), and marks that do without colour.
const COLOURS: &[&str] = &[
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9",
];

/// A logarithmic axis, from one power of ten to another.
struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, start: f64, end: f64) -> Self {
        let (least, most) = values.filter(|value| *value > 0.0).fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        );
        let from = if least.is_finite() {
            least.log10().floor()
        } else {
            0.0
        };
        let to = if most.is_finite() {
            most.log10().ceil().max(from + 1.0)
        } else {
            1.0
        };
        Axis {
            from,
            to,
            start,
            end,
        }
    }

    fn at(&self, value: f64) -> f64 {
        let share = (value.max(f64::MIN_POSITIVE).log10() - self.from) / (self.to - self.from);
        self.start + share * (self.end - self.start)
    }

    /// The powers of ten.
    fn marks(&self) -> impl Iterator<Item = (f64, i32)> + '_ {
        (self.from as i32..=self.to as i32).map(|power| (self.at(10f64.powi(power)), power))
    }
}

impl Chart<'_> {
    pub(crate) fn svg(&self) -> String {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let across = Axis::new(points().map(|point| point.0), LEFT, WIDTH - RIGHT);
        let up = Axis::new(points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"13\" role=\"img\" aria-label=\"{}\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n",
            escaped(self.title),
        );
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for (x, power) in across.marks() {
            let label = power_of_ten(power);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {TOP}V{bottom}\" stroke=\"#ddd\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>",
                bottom + 18.0
            );
        }
        for (y, power) in up.marks() {
            let label = power_of_ten(power);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
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
                    "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
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

/// A circle, square, diamond or triangle, so that lines can be told apart without colours.
fn mark(line: usize, x: f64, y: f64, colour: &str) -> String {
    match line % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{colour}\"/>"),
        1 => format!(
            "<path d=\"M{:.1} {:.1}h7v7h-7z\" fill=\"{colour}\"/>",
            x - 3.5,
            y - 3.5
        ),
        2 => format!(
            "<path d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\" fill=\"{colour}\"/>",
            y - 5.0
        ),
        _ => format!(
            "<path d=\"M{x:.1} {:.1}l5 8h-10z\" fill=\"{colour}\"/>",
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
            lines: vec![Line {
                name: "one".into(),
                points: vec![(10.0, 0.5), (1000.0, 40.0)],
            }],
        };
        let across = Axis::new([10.0, 1000.0].into_iter(), 0.0, 100.0);
        assert_eq!(
            (across.at(10.0), across.at(100.0), across.at(1000.0)),
            (0.0, 50.0, 100.0)
        );
        let svg = chart.svg();
        assert!(svg.contains("a &lt; b") && svg.ends_with("</svg>\n"));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn nothing_to_draw_is_an_empty_chart() {
        let chart = Chart {
            title: "",
            across: "",
            up: "",
            lines: Vec::new(),
        };
        assert!(!chart.svg().contains("NaN"));
    }
}
