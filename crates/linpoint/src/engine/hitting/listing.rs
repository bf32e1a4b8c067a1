//! Lists the schedules of a family, and counts them among all schedules.

use std::borrow::Cow;
use std::collections::HashSet;

use super::count::{Count, exact, schedule_count};
use super::measure::explains;
use super::runs::StateSets;
use super::{Family, poset_of};
use crate::engine::{Budget, Limit, Task, Ticker};
use crate::history::OpId;
use crate::spec::Spec;

/// The distinct schedules of a family.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The family.
    pub family: Family,
    /// The number of operations that its schedules delay.
    pub d: usize,
    /// The schedules, each with the first index that yields it.
    pub schedules: Vec<ListedSchedule>,
    /// The limit that was hit before all of them were listed.
    pub stopped: Option<Limit>,
    /// The number of all schedules, in the family or not.
    pub all: Result<Count, Limit>,
    /// How many of all schedules explain the history; `None` if they are too many to be counted.
    pub explaining: Option<u128>,
}

/// A schedule of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSchedule {
    /// The chain that is delayed as a whole, if one is.
    pub chain: Vec<OpId>,
    /// The operations that are delayed more than the chain, in their order.
    pub tuple: Vec<OpId>,
    /// All operations.
    pub order: Vec<OpId>,
    /// Whether it explains the history.
    pub explains: bool,
}

impl Listing {
    /// Lists the schedules of the d-th family, in at most half of the time.
    pub fn of<S: Spec>(task: &Task<'_, S>, family: Family, d: usize, budget: &Budget) -> Listing {
        let poset = poset_of(task);
        let mut runs = StateSets::new(task);
        let ids = |ops: &[u32]| ops.iter().map(|&op| task.ops[op as usize].id).collect();
        let listing = budget.slice(budget.left() / 4);
        let mut ticker = Ticker::new(&listing);
        let mut seen = HashSet::new();
        let mut schedules = Vec::new();
        let mut stopped = None;
        for schedule in family.schedules_of(Cow::Borrowed(&poset), d) {
            if let Err(limit) = ticker.tick() {
                stopped = Some(limit);
                break;
            }
            if seen.contains(&schedule.order) {
                continue;
            }
            let chain = schedule.chain.map(|chain| &poset.chains()[chain as usize]);
            schedules.push(ListedSchedule {
                chain: chain.map_or_else(Vec::new, |chain| ids(chain)),
                tuple: ids(&schedule.tuple),
                order: ids(&schedule.order),
                explains: explains(&mut runs, &schedule.order),
            });
            seen.insert(schedule.order);
        }
        let counting = budget.slice(budget.left() / 4);
        let all = schedule_count(&poset, &counting);
        let explaining = exact(&poset, &mut runs, &mut Ticker::new(&counting));
        Listing {
            family,
            d,
            schedules,
            stopped,
            all,
            explaining: explaining.ok().flatten(),
        }
    }
}
