//! Constructs families of schedules, indexed by a chain and a tuple (Section 4 of the paper) or by a tuple alone.
//!
//! The canonical rule, a stable sort by blocks, is ours.

use std::borrow::Cow;

use super::insert::Insertion;
use super::poset::{Base, Poset};

/// The rule by which the schedule of an index is constructed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Block after block, each in the base order.
    #[default]
    Canonical,
    /// Algorithm 1 of the paper: operations are inserted one by one, in the base order.
    Printed,
    /// The program behind the tables of the paper, which differs from Algorithm 1 and misses some tuples.
    Artifact,
}

impl Rule {
    /// All of them with their names.
    pub const NAMES: &'static [(&'static str, Rule)] = &[
        ("canonical", Rule::Canonical),
        ("printed", Rule::Printed),
        ("artifact", Rule::Artifact),
    ];

    /// The name by which users call it.
    pub fn name(self) -> &'static str {
        let found = Self::NAMES.iter().find(|(_, rule)| *rule == self);
        found.map_or("", |(name, _)| name)
    }
}

/// What indexes the schedules of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Index {
    /// A chain, delayed as a whole, and d - 1 operations.
    #[default]
    Chains,
    /// d operations. For [`Rule::Canonical`] only; the other rules put no chain in place of the first operation.
    Tuples,
}

/// A kind of strong hitting family: for every d operations, the d-th family contains a schedule that strongly hits them.
///
/// ```
/// use linpoint::engine::hitting::{Family, Poset};
/// let antichain = Poset::new(&[(0, 10, 0), (1, 11, 1), (2, 12, 2)]);
/// let family = Family::default();
/// // One schedule for each chain: it comes last.
/// let last: Vec<u32> = family.schedules(&antichain, 1).map(|schedule| schedule.order[2]).collect();
/// assert_eq!(last, [0, 1, 2]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Family {
    /// The rule that constructs schedules.
    pub rule: Rule,
    /// The order that breaks ties.
    pub base: Base,
    /// The index of schedules.
    pub index: Index,
}

impl Family {
    /// The family of the paper's tables.
    pub const PUBLISHED: Family = Family {
        rule: Rule::Artifact,
        base: Base::Ids,
        index: Index::Chains,
    };

    /// Returns the schedules of the d-th family, one for each index, so equal ones may occur several times. Families with d
    /// above the number of operations equal the family of that number.
    pub fn schedules<'p>(&self, poset: &'p Poset, d: usize) -> Schedules<'p> {
        self.schedules_of(Cow::Borrowed(poset), d)
    }

    pub(super) fn schedules_of<'p>(&self, poset: Cow<'p, Poset>, d: usize) -> Schedules<'p> {
        let d = d.clamp(1, poset.len().max(1));
        let (chains, members) = match self.index {
            Index::Chains => (poset.chains().len() as u32, d - 1),
            Index::Tuples => (1, d),
        };
        Schedules {
            tuples: Tuples {
                size: members.min(poset.len()),
                last: None,
            },
            maker: Maker::new(poset, *self),
            chains: chains.max(1),
            chain: 0,
        }
    }
}

/// A schedule with its index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The number of the chain that is delayed, if one is.
    pub chain: Option<u32>,
    /// The operations that are delayed more than the chain, in their order.
    pub tuple: Vec<u32>,
    /// All operations.
    pub order: Vec<u32>,
}

/// The schedules of a family; see [`Family::schedules`].
#[derive(Clone, Debug)]
pub struct Schedules<'p> {
    maker: Maker<'p>,
    chains: u32,
    chain: u32,
    tuples: Tuples,
}

impl Iterator for Schedules<'_> {
    type Item = Schedule;

    fn next(&mut self) -> Option<Schedule> {
        let tuple = match self.tuples.next(&self.maker.poset) {
            Some(tuple) => tuple,
            None => {
                self.chain += 1;
                if self.chain >= self.chains {
                    return None;
                }
                self.tuples.last = None;
                self.tuples.next(&self.maker.poset)?
            }
        };
        let has_chain = self.maker.family.index == Index::Chains && !self.maker.poset.is_empty();
        let chain = has_chain.then_some(self.chain);
        Some(Schedule {
            chain,
            order: self.maker.schedule(chain, &tuple),
            tuple,
        })
    }
}

/// Constructs the schedules of a family.
#[derive(Clone, Debug)]
pub(super) struct Maker<'p> {
    pub(super) poset: Cow<'p, Poset>,
    pub(super) family: Family,
    pub(super) base: Vec<u32>,
}

impl<'p> Maker<'p> {
    pub(super) fn new(poset: Cow<'p, Poset>, family: Family) -> Self {
        Maker {
            base: poset.base_order(family.base),
            poset,
            family,
        }
    }

    /// Returns the schedule that delays this chain as a whole and these operations still more. For all rules but the
    /// canonical one the tuple must be [feasible](Poset::is_feasible).
    pub(super) fn schedule(&self, chain: Option<u32>, tuple: &[u32]) -> Vec<u32> {
        match self.family.rule {
            Rule::Canonical => self.canonical(chain, tuple),
            rule => Insertion::new(&self.poset, rule, chain).schedule(&self.base, tuple),
        }
    }

    /// An operation belongs to the block of the last member that it is at or after. The blocks follow each other in the order
    /// of the tuple, each sorted by the base order.
    fn canonical(&self, chain: Option<u32>, tuple: &[u32]) -> Vec<u32> {
        let chain = chain.map_or(&[][..], |chain| &self.poset.chains()[chain as usize]);
        let mut level = vec![0u32; self.poset.len()];
        for (i, &member) in (1..).zip(chain.iter().chain(tuple)) {
            self.poset.up(member).for_each(|op| level[op as usize] = i);
        }
        let mut order = self.base.clone();
        order.sort_by_key(|&op| level[op as usize]);
        order
    }
}

/// Enumerates the [feasible](Poset::is_feasible) tuples of a given size.
#[derive(Clone, Debug)]
struct Tuples {
    size: usize,
    /// The last one; `None` before the first one.
    last: Option<Vec<u32>>,
}

impl Tuples {
    fn next(&mut self, poset: &Poset) -> Option<Vec<u32>> {
        // The next operation to try as the last member.
        let (mut tuple, mut candidate) = match self.last.take() {
            None => (Vec::new(), 0),
            Some(mut last) => {
                let end = last.pop()?;
                (last, end + 1)
            }
        };
        while tuple.len() < self.size {
            if candidate == poset.len() as u32 {
                candidate = tuple.pop()? + 1;
                continue;
            }
            tuple.push(candidate);
            if poset.is_feasible(&tuple) {
                candidate = 0;
            } else {
                tuple.pop();
                candidate += 1;
            }
        }
        self.last = Some(tuple.clone());
        Some(tuple)
    }
}
