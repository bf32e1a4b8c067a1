//! Verdicts for GitHub Actions: annotations on the lines of the input, and a summary of the step.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use linpoint::{Error, Verdict};

use super::conditions::diagnosis_lines;
use super::text::{core_lines, part_name};
use super::undecided;
use crate::files::Files;
use crate::results::Outcome;
use crate::units::counted;

/// The file that a step's summary is appended to, if there is one.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// The most parts with an annotation of their own: GitHub shows ten annotations of a step.
const MOST_ANNOTATIONS: usize = 10;

/// Prints annotations at once, and collects the summary.
pub(crate) struct GithubReport {
    /// The file that the summary is appended to.
    summary: Option<PathBuf>,
    rows: Vec<String>,
    details: String,
    annotations: usize,
}

impl GithubReport {
    /// A report whose summary goes to the file that GitHub names.
    pub(crate) fn new(files: &mut Files) -> Result<Self, Error> {
        let summary = std::env::var_os(SUMMARY).map(PathBuf::from);
        if let Some(path) = &summary {
            files.claim(SUMMARY, path)?;
        }
        Ok(GithubReport {
            summary,
            rows: Vec::new(),
            details: String::new(),
            annotations: 0,
        })
    }

    pub(crate) fn add(&mut self, outcome: &Outcome, out: &mut dyn Write) -> std::io::Result<()> {
        let checked = match outcome {
            Ok(checked) => checked,
            Err(error) => {
                let label = error.label().unwrap_or_default();
                let line = error.line().unwrap_or(0);
                self.annotate(
                    out,
                    "error",
                    (&label, line),
                    "malformed",
                    &error.to_string(),
                )?;
                self.row("⚠️ error", &label, "", error.reason());
                return Ok(());
            }
        };
        let label = checked.recorded.label();
        let file = &*checked.recorded.input;
        let history = &checked.recorded.history;
        let still = checked.diagnosis.as_ref();
        let still = still.map_or_else(Vec::new, |found| diagnosis_lines(history, found));
        for part in &checked.report.parts {
            let name = format!("{}{}", checked.type_name, part_name(part));
            match &part.verdict {
                Verdict::Linearizable(_) => {}
                Verdict::Undecided(undecided) => {
                    let why = undecided::sentence(history, undecided);
                    let stuck = undecided.stuck.as_ref();
                    let line = stuck.map_or(0, |stuck| history.op(stuck.op).line);
                    self.annotate(out, "warning", (file, line.into()), "undecided", &why)?;
                    self.row("❔ undecided", &label, &name, &why);
                }
                Verdict::Violation(violation) => {
                    let line = u64::from(history.op(violation.last).line);
                    let sentence = violation.core.sentence();
                    let message: Vec<&str> = [sentence]
                        .into_iter()
                        .chain(still.iter().map(String::as_str))
                        .collect();
                    let message = message.join("\n");
                    self.annotate(out, "error", (file, line), "not linearizable", &message)?;
                    self.row("❌ not linearizable", &label, &name, sentence);
                    let mut lines = core_lines(history, &violation.core);
                    lines.extend(still.iter().cloned());
                    let lines = lines.join("\n");
                    let fence = fence(&lines);
                    self.details += &format!(
                        "\n#### {}: {}\n\n{fence}text\n{lines}\n{fence}\n",
                        escaped(&label),
                        escaped(sentence)
                    );
                }
            }
        }
        if let Verdict::Linearizable(_) = checked.report.verdict {
            let ops = counted(history.len(), "operation");
            self.row("✅ linearizable", &label, &checked.type_name, &ops);
        }
        Ok(())
    }

    fn annotate(
        &mut self,
        out: &mut dyn Write,
        level: &str,
        (file, line): (&str, u64),
        title: &str,
        message: &str,
    ) -> std::io::Result<()> {
        self.annotations += 1;
        if self.annotations > MOST_ANNOTATIONS {
            return Ok(());
        }
        let line = if line == 0 {
            String::new()
        } else {
            format!(",line={line}")
        };
        let file = property(file);
        writeln!(
            out,
            "::{level} file={file}{line},title={}::{}",
            property(title),
            data(message)
        )
    }

    fn row(&mut self, verdict: &str, history: &str, object: &str, why: &str) {
        self.rows.push(format!(
            "| {verdict} | {} | {} | {} |",
            escaped(history),
            escaped(object),
            escaped(why)
        ));
    }

    /// Appends the summary to the file that GitHub names.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Some(path) = &self.summary else {
            return Ok(());
        };
        let file = OpenOptions::new().append(true).create(true).open(path);
        let mut file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        writeln!(
            file,
            "### linpoint\n\n| verdict | history | object | why |\n|---|---|---|---|\n{}\n{}",
            self.rows.join("\n"),
            self.details
        )?;
        Ok(())
    }
}

/// A fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let mut fence = "```".to_owned();
    while text.contains(&fence) {
        fence.push('`');
    }
    fence
}

/// Text in a cell of a table: nothing in it is markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '@' => {
                escaped.extend(['\\', c])
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// The message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_cannot_be_broken_out_of() {
        assert_eq!(
            property("a:b,c\n::error::"),
            "a%3Ab%2Cc%0A%3A%3Aerror%3A%3A"
        );
        assert_eq!(data("50%\r\n"), "50%25%0D%0A");
        assert_eq!(escaped("<b>|`x`"), "&lt;b>\\|\\`x\\`");
        assert_eq!(fence("```` a"), "`````");
    }
}
