//! The report page of a check.

use std::time::Duration;

use linpoint::engine::Budget;
use linpoint::report::{Page, PageData, PageOptions};
use linpoint::{Error, ErrorKind};

use crate::files::Output;
use crate::results::Checked;

/// The time for the states and orders of a history on the page, even if its own time is over.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// What the page shows of a history, called `label`: at most so many operations of it.
pub(super) fn data(
    checked: &Checked,
    label: &str,
    most_ops: usize,
    memory: Option<u64>,
) -> Result<PageData, Error> {
    let options = PageOptions {
        name: label,
        object_type: &checked.type_name,
        most_ops,
    };
    let budget = Budget::new(Some(checked.time_left.max(LEAST_TIME)), memory);
    let (history, report) = (&checked.recorded.history, &checked.report);
    let object = &checked.object;
    object.page_data_within(options, history, report, &budget)
}

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
        let label = checked.recorded.label();
        let mut data = match data(checked, &label, self.ops_left, self.memory) {
            Err(error) if error.kind() == ErrorKind::Limit => {
                eprintln!("linpoint: note: {label} is not on the page: {error}");
                return Ok(());
            }
            data => data?,
        };
        if let Some(diagnosis) = &checked.diagnosis {
            data.add_diagnosis(diagnosis);
        }
        let ops = checked.recorded.history.len();
        self.ops_left = self.ops_left.saturating_sub(ops);
        Ok(self.page.add(&data)?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.page.finish()?.finish()
    }
}
