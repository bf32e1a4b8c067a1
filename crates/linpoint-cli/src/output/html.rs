//! The report page of a check.

use linpoint::report::{Page, PageOptions};

use crate::files::Output;
use crate::results::Checked;

/// A page that grows history by history.
pub(crate) struct HtmlReport {
    page: Page<Output>,
    /// How many operations it may still hold.
    ops_left: usize,
}

impl HtmlReport {
    pub(crate) fn new(out: Output, most_ops: usize) -> anyhow::Result<Self> {
        Ok(HtmlReport {
            page: Page::new(out)?,
            ops_left: most_ops,
        })
    }

    pub(crate) fn add(&mut self, checked: &Checked) -> anyhow::Result<()> {
        let history = &checked.recorded.history;
        let options = PageOptions {
            name: &checked.recorded.label(),
            object_type: &checked.type_name,
            most_ops: self.ops_left,
        };
        let data = checked
            .object
            .page_data(options, history, &checked.report)?;
        self.ops_left = self.ops_left.saturating_sub(history.len());
        Ok(self.page.add(&data)?)
    }

    pub(crate) fn finish(self) -> anyhow::Result<()> {
        self.page.finish()?.finish()
    }
}
