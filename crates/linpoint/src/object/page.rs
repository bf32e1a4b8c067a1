//! Builds the data of a page for recorded histories.

use super::ObjectType;
use crate::engine::Budget;
use crate::error::Error;
use crate::history::History;
use crate::report::{PageData, PageOptions, recorded_page_data};
use crate::spec::{Recorded, unless_failed};
use crate::verdict::Report;

pub(super) trait RecordedPage {
    fn page_data(
        &self,
        options: PageOptions<'_>,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<PageData, Error>;
}

impl<S: Recorded> RecordedPage for S {
    fn page_data(
        &self,
        options: PageOptions<'_>,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<PageData, Error> {
        let data = recorded_page_data(options, self, history, report, budget);
        unless_failed(self, data)
    }
}

impl ObjectType {
    /// Returns the data from which a [page](crate::report::Page) shows a history and its report.
    pub fn page_data(
        &self,
        options: PageOptions<'_>,
        history: &History,
        report: &Report,
    ) -> Result<PageData, Error> {
        self.page_data_within(options, history, report, &Budget::default())
    }

    /// The same within `budget`: the page shows fewer states and orders if there is no time for more.
    pub fn page_data_within(
        &self,
        options: PageOptions<'_>,
        history: &History,
        report: &Report,
        budget: &Budget,
    ) -> Result<PageData, Error> {
        self.0.page_data(options, history, report, budget)
    }
}
