//! `linpoint tables`: reproduces published tables and figures.

mod chart;
mod hitting;
mod monitors;
mod peak_memory;
mod sheet;
mod snapshot;
mod stand_ins;
mod verification;

use crate::args::{Table, TablesArgs};
use crate::exit::Exit;

pub(crate) fn run(args: &TablesArgs) -> anyhow::Result<Exit> {
    match &args.table {
        Table::Monitors(args) => monitors::run(args),
        Table::Hitting(args) => hitting::run(args),
        Table::Snapshot(args) => snapshot::run(args),
        Table::Verification(args) => verification::run(args),
    }
}
