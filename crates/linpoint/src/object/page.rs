//! Recorded histories on a page.

use super::ObjectType;
use crate::error::Error;
use crate::history::History;
use crate::report::{Story, Told, tell_recorded};
use crate::spec::Recorded;
use crate::verdict::Report;

pub(super) trait TellPage {
    fn tell(&self, told: Told<'_>, history: &History, report: &Report) -> Result<Story, Error>;
}

impl<S: Recorded> TellPage for S {
    fn tell(&self, told: Told<'_>, history: &History, report: &Report) -> Result<Story, Error> {
        tell_recorded(told, self, history, report)
    }
}

impl ObjectType {
    /// Returns what a report says about a history, for a [page](crate::report::Page).
    pub fn tell(&self, told: Told<'_>, history: &History, report: &Report) -> Result<Story, Error> {
        self.0.tell(told, history, report)
    }
}
