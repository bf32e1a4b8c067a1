//! The report page: an HTML file that shows histories with their verdicts.
//!
//! A [`Page`] is one file that needs no network and no server. It shows a [`PageData`] for each history: the verdict, the core
//! of a violation, the real-time constraints that contradict each other, the whole history on a timeline, and the state after
//! each step of the witness; of a violation, the state after each step of the longest order that explains a prefix.
//!
//! ```
//! use linpoint::report::{Page, PageOptions, page_data};
//! use linpoint::spec::{Register, RegisterOp};
//! use linpoint::{Checker, TypedHistory, Value};
//!
//! let mut history = TypedHistory::new();
//! let write = history.call(0, RegisterOp::Write(1.into()));
//! history.ret(write, Value::Nil);
//! let read = history.call(1, RegisterOp::Read);
//! history.ret(read, Value::Nil);
//! let register = Register { initial: Value::Nil, cas: false };
//! let report = Checker::default().check(&register, &history)?;
//!
//! let options = PageOptions { name: "stale read", object_type: "register", most_ops: 1_000_000 };
//! let mut html = Vec::new();
//! let mut page = Page::new(&mut html)?;
//! page.add(&page_data(options, &register, &history, &report))?;
//! page.finish()?;
//! assert!(html.starts_with(b"<!doctype html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assets;
mod build;
mod contradiction;
mod lattice;
mod model;
mod others;
mod pack;
#[cfg(test)]
mod samples;
mod source;
mod steps;

pub use assets::COLOURS;
pub use build::{PageOptions, page_data};
pub use model::{Move, PageData};

pub(crate) use build::recorded_page_data;

use std::io::{self, Write};

/// A report page that is being written.
#[derive(Debug)]
pub struct Page<W: Write> {
    out: W,
    is_empty: bool,
}

impl<W: Write> Page<W> {
    /// Begins a page.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(assets::head().as_bytes())?;
        write!(
            out,
            r#"{{"version":1,"generator":"linpoint {}","histories":["#,
            env!("CARGO_PKG_VERSION")
        )?;
        Ok(Page {
            out,
            is_empty: true,
        })
    }

    /// Adds a history.
    pub fn add(&mut self, data: &PageData) -> io::Result<()> {
        let comma = if self.is_empty { "\n" } else { ",\n" };
        self.is_empty = false;
        self.out.write_all(comma.as_bytes())?;
        let json = serde_json::to_string(data)?;
        self.out.write_all(escaped(&json).as_bytes())
    }

    /// Ends the page.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(b"\n]}")?;
        self.out.write_all(assets::tail().as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// Escapes JSON for an HTML script block: no value can end the block or begin another one. The escaped characters occur in
/// JSON strings only, where the escape with the number of the character means the same.
fn escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    let mut rest = json;
    let is_special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    while let Some(at) = rest.find(is_special) {
        let special = rest[at..].chars().next().unwrap_or_default();
        escaped.push_str(&rest[..at]);
        escaped.push_str(&format!("\\u{:04x}", special as u32));
        rest = &rest[at + special.len_utf8()..];
    }
    escaped.push_str(rest);
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_leave_the_block() {
        let hostile = "</script><!-- <script> & \u{2028} \0 ]]>";
        let json = serde_json::to_string(hostile).expect("text");
        let written = escaped(&json);
        for bad in ["<", ">", "&", "\u{2028}", "\0"] {
            assert!(!written.contains(bad), "{bad:?} in {written}");
        }
        let read: String = serde_json::from_str(&written).expect("JSON");
        assert_eq!(read, hostile);
    }
}
