//! The report page of a check.

use std::time::Duration;

use linpoint::ErrorKind;
use linpoint::engine::Budget;
use linpoint::report::{Page, PageOptions};

use crate::files::Output;
use crate::results::Checked;

/// The time for the states and orders of a history on the page, even if its own time is over.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// A page that grows history by history.
pub(crate) struct HtmlReport {
    page: Page<Output>,
    /// How many operations it may still hold.
    ops_left: usize,
    /// The memory of the process while it is made.
    memory: Option<u64>,
}

impl HtmlReport {
    pub(crate) fn new(out: Output, most_ops: usize, memory: Option<u64>) -> anyhow::Result<Self> {
        Ok(HtmlReport {
            page: Page::new(out)?,
            ops_left: most_ops,
            memory,
        })
    }

    /// Adds a history, in the time that is left of its own.
    pub(crate) fn add(&mut self, checked: &Checked) -> anyhow::Result<()> {
        let history = &checked.recorded.history;
        let label = checked.recorded.label();
        let options = PageOptions {
            name: &label,
            object_type: &checked.type_name,
            most_ops: self.ops_left,
        };
        let time = checked.time_left.max(LEAST_TIME);
        let budget = Budget::new(Some(time), self.memory);
        let (object, report) = (&checked.object, &checked.report);
        let data = match object.page_data_within(options, history, report, &budget) {
            Err(error) if error.kind() == ErrorKind::Limit => {
                eprintln!("linpoint: note: {label} is not on the page: {error}");
                return Ok(());
            }
            data => data?,
        };
        self.ops_left = self.ops_left.saturating_sub(history.len());
        Ok(self.page.add(&data)?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.page.finish()?.finish()
    }
}
