//! Enumerates the distinct schedules of a family, each with the least d whose family contains it, after Section 4 of the paper.
//!
//! Tuples contain only operations that overlap another one. Delaying an operation that overlaps none changes nothing, so a
//! family also contains the schedules of shorter tuples, as long as enough such operations exist to fill them up.

use std::borrow::Cow;

use super::family::{Family, Index, Maker, Rule};
use super::insert::Insertion;
use super::poset::Poset;
use crate::engine::Limit;
use crate::engine::Ticker;
use crate::value::Interner;

/// The distinct schedules of the families up to some d.
#[derive(Debug)]
pub(super) struct Enumerated {
    schedules: Interner<Vec<u32>>,
    /// By schedule: a bit for each number of contended members whose tuples yield it.
    members: Vec<u64>,
    /// The number of operations that overlap no other.
    free: usize,
    index: Index,
}

/// The most members of a tuple.
pub(super) const MOST_MEMBERS: usize = 63;

impl Enumerated {
    /// Returns the number of schedules in the d-th family.
    pub(super) fn size(&self, d: usize) -> usize {
        let most = match self.index {
            Index::Chains => d - 1,
            Index::Tuples => d,
        };
        let least = most.saturating_sub(self.free);
        let wanted = (u64::MAX >> (MOST_MEMBERS - most)) & (u64::MAX << least);
        self.members.iter().filter(|&&of| of & wanted != 0).count()
    }
}

/// Enumerates the families up to `d_max`. Calls `visit` for each new schedule with the least d known to contain it; schedules
/// of smaller families may follow those of larger ones.
pub(super) fn enumerate(
    poset: &Poset,
    family: Family,
    d_max: usize,
    ticker: &mut Ticker<'_>,
    visit: &mut dyn FnMut(usize, &[u32]),
) -> Result<Enumerated, Limit> {
    let is_contended = poset.contended();
    let ops = 0..poset.len() as u32;
    let contended: Vec<u32> = ops.filter(|&op| is_contended[op as usize]).collect();
    let most = d_max.saturating_sub(usize::from(family.index == Index::Chains));
    let mut enumeration = Enumeration {
        maker: Maker::new(Cow::Borrowed(poset), family),
        most: most.min(MOST_MEMBERS),
        found: Enumerated {
            schedules: Interner::default(),
            members: Vec::new(),
            free: poset.len() - contended.len(),
            index: family.index,
        },
        is_contended,
        contended,
        ticker,
        visit,
    };
    for chain in enumeration.chains() {
        match family.rule {
            Rule::Canonical => enumeration.extend(chain, &mut Vec::new())?,
            rule => enumeration.insert(&mut Insertion::new(poset, rule, chain), 0)?,
        }
    }
    Ok(enumeration.found)
}

struct Enumeration<'a, 'b, 'p> {
    maker: Maker<'p>,
    /// The most members of a tuple.
    most: usize,
    contended: Vec<u32>,
    is_contended: Vec<bool>,
    found: Enumerated,
    ticker: &'a mut Ticker<'b>,
    visit: &'a mut dyn FnMut(usize, &[u32]),
}

impl Enumeration<'_, '_, '_> {
    /// Returns the chains with contended operations, and one chain without.
    fn chains(&self) -> Vec<Option<u32>> {
        let poset = &self.maker.poset;
        if self.maker.family.index == Index::Tuples || poset.is_empty() {
            return vec![None];
        }
        let is_contended = |chain: &[u32]| chain.iter().any(|&op| self.is_contended[op as usize]);
        let mut others = 0;
        let chains = (0u32..).zip(poset.chains());
        let kept = chains.filter(|(_, chain)| {
            let keep = is_contended(chain);
            others += usize::from(!keep);
            keep || others == 1
        });
        kept.map(|(number, _)| Some(number)).collect()
    }

    /// Visits all tuples that begin with `tuple`.
    fn extend(&mut self, chain: Option<u32>, tuple: &mut Vec<u32>) -> Result<(), Limit> {
        self.ticker.tick()?;
        let order = self.maker.schedule(chain, tuple);
        self.note(tuple.len(), &order);
        if tuple.len() == self.most {
            return Ok(());
        }
        for i in 0..self.contended.len() {
            tuple.push(self.contended[i]);
            if self.maker.poset.is_feasible(tuple) {
                self.extend(chain, tuple)?;
            }
            tuple.pop();
        }
        Ok(())
    }

    /// Inserts the operations from `next` on, in the base order: each as a member at every place that real time allows, and
    /// as no member.
    fn insert(&mut self, partial: &mut Insertion<'_>, next: usize) -> Result<(), Limit> {
        let Some(&op) = self.maker.base.get(next) else {
            self.ticker.tick()?;
            self.note(partial.members().len(), &partial.schedule);
            return Ok(());
        };
        let at = partial.insert(op);
        self.insert(partial, next + 1)?;
        partial.remove(at);
        if !self.is_contended[op as usize] || partial.members().len() == self.most {
            return Ok(());
        }
        for place in (0..=partial.members().len()).rev() {
            let at = partial.insert_member(op, place);
            self.insert(partial, next + 1)?;
            partial.remove_member(at, place);
            // At any earlier place the tuple would contradict real time.
            if place > 0 && self.maker.poset.precedes(partial.members()[place - 1], op) {
                break;
            }
        }
        Ok(())
    }

    fn note(&mut self, members: usize, order: &[u32]) {
        let schedules = &mut self.found.schedules;
        let number = match schedules.find(order) {
            Some(number) => number as usize,
            None => {
                schedules.intern(order.to_vec());
                self.found.members.push(0);
                self.found.members.len() - 1
            }
        };
        let known = self.found.members[number];
        self.found.members[number] |= 1 << members;
        let is_smaller = known == 0 || members < known.trailing_zeros() as usize;
        if is_smaller {
            let d = match self.maker.family.index {
                Index::Chains => members + 1,
                Index::Tuples => members.max(1),
            };
            (self.visit)(d, order);
        }
    }
}
