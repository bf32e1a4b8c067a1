//! The error type of the library.

use std::fmt;
use std::sync::Arc;

use crate::budget::Limit;
use crate::text;

/// An error with its reason and, where known, its position in the input.
///
/// The display form is `file:line: reason`, with the parts that are known; `file:history: line 7: reason` if a file holds
/// several histories; and `file: row 7: reason` if it is a table. "Undecided" is a verdict, never an error; but an input
/// that is too large to be read is one, of kind [`ErrorKind::Limit`] or [`ErrorKind::Timeout`].
#[derive(Clone, Debug, thiserror::Error)]
pub struct Error {
    kind: ErrorKind,
    file: Option<Arc<str>>,
    history: Option<Arc<str>>,
    line: Option<u64>,
    unit: Unit,
    reason: String,
    /// The method that a type does not have.
    method: Option<Arc<str>>,
}

/// The unit of positions in an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Lines of a text.
    #[default]
    Line,
    /// Rows of a table.
    Row,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Unit {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Line => "line",
            Unit::Row => "row",
        }
    }
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid: an unknown type, format or engine, or a parameter out of range.
    Usage,
    /// The input was read but is not a well-formed history of its type.
    Malformed,
    /// The input is malformed because its last line is cut off; the lines before it can be read by themselves.
    Truncated,
    /// The input is malformed because it calls a method that its type does not have.
    UnknownMethod,
    /// The input is not in the order in which it was to be read.
    Unsorted,
    /// The input could not be read at all.
    Unreadable,
    /// A limit of memory was hit before the input was read.
    Limit,
    /// The time was over before the input was read.
    Timeout,
    /// A specification that is a program of the user failed, so there is no verdict.
    Specification,
    /// A certificate failed: a bug in linpoint.
    Bug,
}

/// Part of a message about an unknown name: `did you mean ...? ` with the most similar known name, or an empty text if none
/// is similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    most_similar(name, known).map_or(String::new(), |known| format!("did you mean {known}? "))
}

/// The most similar one of the known names, if any is similar.
pub(crate) fn most_similar<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const ALIKE: f64 = 0.85;
    let name = name.to_lowercase();
    let likeness = known
        .into_iter()
        .map(|known| (known, strsim::jaro_winkler(&name, known)));
    let alike = likeness.filter(|(_, likeness)| *likeness >= ALIKE);
    let best = alike.max_by(|(_, a), (_, b)| a.total_cmp(b));
    best.map(|(known, _)| known)
}

impl Error {
    /// An error about an invalid request.
    pub fn usage(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Usage, reason)
    }

    /// An error about an input that is not a well-formed history.
    pub fn malformed(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Malformed, reason)
    }

    /// An error about an input that is not in the order in which it was to be read.
    pub fn unsorted(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Unsorted, reason)
    }

    /// An error about an input that calls a method which its type does not have.
    pub(crate) fn unknown_method(method: &str, reason: impl Into<String>) -> Self {
        Error {
            method: Some(method.into()),
            ..Error::new(ErrorKind::UnknownMethod, reason)
        }
    }

    /// An error about an input that cannot be read.
    pub fn unreadable(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Unreadable, reason)
    }

    /// An error about an input that cannot be read within a limit.
    pub(crate) fn limit(limit: Limit) -> Self {
        match limit {
            // How much of the time was left for reading says little.
            Limit::Time(_) => Error::new(ErrorKind::Timeout, "it was not read in time"),
            limit => {
                let reason = format!("it is too large to be read: {limit}");
                Error::new(ErrorKind::Limit, reason)
            }
        }
    }

    /// An error of a specification that is a program of the user.
    pub fn specification(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Specification, reason)
    }

    /// A bug in linpoint: a failed certificate or another violated invariant.
    pub fn bug(reason: impl Into<String>) -> Self {
        Error::new(ErrorKind::Bug, reason)
    }

    /// The same error, known to come from a last line that is cut off.
    #[must_use]
    pub(crate) fn by_truncation(self) -> Self {
        Error {
            kind: ErrorKind::Truncated,
            ..self
        }
    }

    fn new(kind: ErrorKind, reason: impl Into<String>) -> Self {
        Error {
            kind,
            file: None,
            history: None,
            line: None,
            unit: Unit::Line,
            reason: reason.into(),
            method: None,
        }
    }

    /// The same error with another reason.
    #[must_use]
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        Error {
            reason: reason.into(),
            ..self
        }
    }

    /// The same error at this line, counted from 1, unless the error has a line already.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line.get_or_insert(line);
        self
    }

    /// The same error with this unit of positions.
    #[must_use]
    pub(crate) fn counting(self, unit: Unit) -> Self {
        Error { unit, ..self }
    }

    /// The same error in this file, unless the error has a file already.
    #[must_use]
    pub fn in_file(mut self, file: &str) -> Self {
        self.file.get_or_insert_with(|| file.into());
        self
    }

    /// The same error in the history of this name, one of several in a file, unless the error has a history already.
    #[must_use]
    pub fn in_history(mut self, history: &str) -> Self {
        self.history.get_or_insert_with(|| history.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The method that the type does not have, if that is the reason.
    pub fn unknown_method_name(&self) -> Option<&str> {
        self.method.as_deref()
    }

    /// The file, if known.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The file or, if the file holds several histories, `file:history`.
    pub fn label(&self) -> Option<String> {
        let file = self.file.as_deref()?;
        Some(match &self.history {
            Some(history) => format!("{file}:{history}"),
            None => file.to_owned(),
        })
    }

    /// The line, or the row of a table, counted from 1, if known.
    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// The reason, without the position.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.unit;
        let position = self.history.as_deref().map(text::position_of_history);
        let position = position.unwrap_or_default();
        match (self.label(), self.line) {
            // `file:2:7` would look like a line and a column.
            (Some(label), Some(line)) if self.history.is_some() || unit == Unit::Row => {
                write!(f, "{label}{position}: {unit} {line}: ")?;
            }
            (Some(label), Some(line)) => write!(f, "{label}:{line}: ")?,
            (Some(label), None) => write!(f, "{label}{position}: ")?,
            (None, Some(line)) => write!(f, "{unit} {line}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_printed_once() {
        let error = Error::malformed("no call")
            .at_line(7)
            .at_line(9)
            .in_file("h.jsonl");
        assert_eq!(error.to_string(), "h.jsonl:7: no call");
        assert_eq!(error.kind(), ErrorKind::Malformed);
        let error = error.in_history("2").in_history("3");
        assert_eq!(
            error.to_string(),
            "h.jsonl:2 (3rd history): line 7: no call"
        );
        assert_eq!(error.label().as_deref(), Some("h.jsonl:2"));
        let error = Error::malformed("no call").at_line(7).counting(Unit::Row);
        assert_eq!(error.to_string(), "row 7: no call");
        let error = error.in_file("h.parquet").with_reason("no name");
        assert_eq!(error.to_string(), "h.parquet: row 7: no name");
    }
}
