//! Decides histories of a snapshot in which it is known which update each scan saw.
//!
//! The updates of an entry do not overlap, so they are numbered in their order, and a scan is a vector of numbers: the update
//! that it saw in each entry. The history is linearizable iff
//!
//! * **window**: each scan has a moment, between its call and its return, at which all updates that it saw had begun and
//!   no next one of any entry had finished;
//! * **chain**: of any two scans, one is in no entry behind the other;
//! * **real time**: a scan that begins after another one returned is in no entry behind it.
//!
//! This is Anderson's shrinking lemma (*Composite Registers*, 1993), with the order of scans in real time, which the version
//! in the appendix of Amram et al. (see [`simple`](super::simple)) leaves out and without which it does not hold. All of it is known
//! when a scan returns, so the first event that cannot be explained is found in one pass.
//!
//! An update that writes what the entry holds changes nothing and gets no number. An entry may be given a value again once
//! no scan can still return the earlier one. Both are ours.
//!
//! **Cost:** for each return of a scan, the number of entries and a search among the scans before; constant for all else.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::entry::{Entry, NEVER, Time, Update};
use super::fault::{Fault, FaultKind};
use crate::history::precedes;

/// Judges histories of a snapshot event by event. `V` are the values, `T` names operations.
///
/// ```
/// use linpoint::engine::monitor::snapshot::General;
/// let mut snapshot = General::new(0);
/// snapshot.call_update("u", 3, 5).unwrap();
/// let first = snapshot.call_scan("s");
/// let second = snapshot.call_scan("t");
/// assert!(snapshot.return_scan(first, &[0, 0, 0, 5]).is_ok());
/// // Both overlap, so the order in which they return does not matter.
/// assert!(snapshot.return_scan(second, &[]).is_ok());
/// let third = snapshot.call_scan("r");
/// let fault = snapshot.return_scan(third, &[]).unwrap_err();
/// assert_eq!(fault.name(), "decreasing");
/// ```
#[derive(Clone, Debug)]
pub struct General<V, T> {
    initial: V,
    now: Time,
    /// Those that were updated.
    entries: Vec<Entry<V, T>>,
    /// The place of each entry in that, by number.
    places: Vec<Option<u32>>,
    /// The vectors of the scans that returned, by their sums: in a chain, no two have the same.
    chain: BTreeMap<u64, Link<T>>,
    /// The open scans by the times of their calls, with the sums of the latest scans before them, if there were any.
    open: BTreeMap<Time, Option<u64>>,
}

/// A scan, or several that saw the same.
#[derive(Clone, Debug)]
pub(super) struct Link<T> {
    /// Which update it saw, by the place of the entry; 0 for entries that were updated only later.
    pub(super) seen: Vec<u64>,
    scan: T,
}

impl<T> Link<T> {
    fn saw(&self, place: usize) -> u64 {
        self.seen.get(place).copied().unwrap_or(0)
    }
}

/// An open scan.
#[derive(Clone, Debug)]
pub struct Scanning<T> {
    /// Its name.
    pub op: T,
    called: Time,
    /// The sum of the latest scan that had returned, if there was one.
    floor: Option<u64>,
}

/// What an update does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateEffect {
    /// It changes its entry.
    Changes,
    /// The entry holds the value already.
    Nothing,
}

/// Why it is not plain which update a scan saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unclear {
    /// Two updates of this entry overlap.
    Overlap(u32),
    /// This entry is given a value again that scans may still see from before.
    Repeated(u32),
}

impl<V: Clone + Eq + Hash, T: Clone> General<V, T> {
    /// A snapshot of which every entry holds this at first.
    pub fn new(initial: V) -> Self {
        General {
            initial,
            now: 0,
            entries: Vec::new(),
            places: Vec::new(),
            chain: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    fn tick(&mut self) -> Time {
        self.now += 1;
        self.now
    }

    fn place(&self, number: u32) -> Option<usize> {
        let place = self.places.get(number as usize)?;
        place.map(|place| place as usize)
    }

    fn entry(&mut self, number: u32) -> usize {
        if let Some(place) = self.place(number) {
            return place;
        }
        let place = self.entries.len();
        let length = self.places.len().max(number as usize + 1);
        self.places.resize(length, None);
        self.places[number as usize] = Some(place as u32);
        self.entries.push(Entry::new(number, self.initial.clone()));
        place
    }

    /// An update is called.
    pub fn call_update(&mut self, op: T, number: u32, value: V) -> Result<UpdateEffect, Unclear> {
        let now = self.tick();
        let place = self.entry(number);
        let oldest = self.oldest();
        let floor = self.floor_of(oldest.1, place);
        let entry = &mut self.entries[place];
        if entry.is_busy {
            return Err(Unclear::Overlap(number));
        }
        let last = entry.last_index();
        let earlier = entry.with_value(&value);
        if earlier == Some(last) {
            entry.is_busy = true;
            return Ok(UpdateEffect::Nothing);
        }
        if let Some(earlier) = earlier
            && !entry.is_over(earlier, oldest.0, floor)
        {
            return Err(Unclear::Repeated(number));
        }
        entry.is_busy = true;
        entry.by_value.insert(value.clone(), last + 1);
        entry.updates.push_back(Update {
            op: Some(op),
            value,
            called: now,
            returned: NEVER,
        });
        Ok(UpdateEffect::Changes)
    }

    /// The open update of an entry returns.
    pub fn return_update(&mut self, number: u32) {
        let now = self.tick();
        let place = self.entry(number);
        let entry = &mut self.entries[place];
        entry.is_busy = false;
        if let Some(last) = entry.updates.back_mut()
            && last.returned == NEVER
        {
            last.returned = now;
        }
    }

    /// The open update of an entry, which has this effect, did not happen: an error, with the scan, if one saw it.
    pub fn undo_update(&mut self, number: u32, effect: UpdateEffect) -> Result<(), T> {
        self.tick();
        let place = self.entry(number);
        let mut scans = self.chain.values();
        let entry = &mut self.entries[place];
        entry.is_busy = false;
        if effect == UpdateEffect::Nothing {
            return Ok(());
        }
        // Of the scans that saw it, the first one.
        let last = entry.last_index();
        if let Some(link) = scans.find(|link| link.saw(place) == last) {
            return Err(link.scan.clone());
        }
        if let Some(update) = entry.updates.pop_back() {
            entry.by_value.remove(&update.value);
        }
        Ok(())
    }

    /// A scan is called.
    pub fn call_scan(&mut self, op: T) -> Scanning<T> {
        let called = self.tick();
        let floor = self.latest();
        self.open.insert(called, floor);
        Scanning { op, called, floor }
    }

    /// An open scan is over without a result.
    pub fn drop_scan(&mut self, scan: &Scanning<T>) {
        self.tick();
        self.open.remove(&scan.called);
    }

    /// An open scan returns the values of all entries, in the order of their numbers; those left out hold the initial value.
    ///
    /// Answers a number that grows from scan to scan in every order that explains the history.
    pub fn return_scan(&mut self, scan: Scanning<T>, values: &[V]) -> Result<u64, Fault<T>> {
        let now = self.tick();
        self.open.remove(&scan.called);
        let fault = |entry: u32, kind: FaultKind<T>| Fault {
            scan: scan.op.clone(),
            entry,
            kind,
        };
        for (number, value) in (0u32..).zip(values) {
            if *value != self.initial && self.place(number).is_none() {
                return Err(fault(number, FaultKind::Future { forgets: false }));
            }
        }
        let mut seen = Vec::with_capacity(self.entries.len());
        // The update that it saw which began last, and the next one of an entry which finished first.
        let (mut latest, mut began) = (None, scan.called);
        let (mut missed, mut ended) = (None, now);
        for entry in &self.entries {
            let value = values.get(entry.number as usize).unwrap_or(&self.initial);
            let Some(index) = entry.with_value(value) else {
                let forgets = entry.first > 0;
                return Err(fault(entry.number, FaultKind::Future { forgets }));
            };
            seen.push(index);
            let update = entry.update(index);
            if update.called > began {
                (latest, began) = (Some((entry, update)), update.called);
            }
            if index < entry.last_index() {
                let next = entry.update(index + 1);
                if next.returned < ended {
                    (missed, ended) = (Some((entry, next)), next.returned);
                }
            }
        }
        if precedes(ended, began)
            && let Some((
                behind,
                Update {
                    op: Some(missed), ..
                },
            )) = missed
        {
            let kind = match latest {
                Some((
                    other,
                    Update {
                        op: Some(update), ..
                    },
                )) if !precedes(ended, scan.called) => FaultKind::Order {
                    missed: missed.clone(),
                    seen: update.clone(),
                    entry: other.number,
                },
                _ => FaultKind::Stale(missed.clone()),
            };
            return Err(fault(behind.number, kind));
        }
        self.link(&scan, seen)
    }

    /// Puts a scan into the chain.
    fn link(&mut self, scan: &Scanning<T>, seen: Vec<u64>) -> Result<u64, Fault<T>> {
        let fault = |place: usize, kind: FaultKind<T>| Fault {
            scan: scan.op.clone(),
            entry: self.entries[place].number,
            kind,
        };
        let behind = |link: &Link<T>| (0..seen.len()).find(|&place| seen[place] < link.saw(place));
        let ahead = |link: &Link<T>| (0..seen.len()).find(|&place| seen[place] > link.saw(place));
        if let Some(floor) = scan.floor.and_then(|sum| self.chain.get(&sum))
            && let Some(place) = behind(floor)
        {
            return Err(fault(place, FaultKind::Decreasing(floor.scan.clone())));
        }
        let sum = seen.iter().sum();
        let before = self.chain.range(..=sum).next_back();
        let after = self.chain.range(sum..).next();
        for (_, link) in before.into_iter().chain(after) {
            if let (Some(place), Some(other)) = (behind(link), ahead(link)) {
                let kind = FaultKind::Inversion {
                    other: link.scan.clone(),
                    entry: self.entries[other].number,
                };
                return Err(fault(place, kind));
            }
        }
        self.chain.entry(sum).or_insert_with(|| Link {
            seen,
            scan: scan.op.clone(),
        });
        Ok(sum)
    }

    /// The sum of the latest scan that returned.
    fn latest(&self) -> Option<u64> {
        self.chain.last_key_value().map(|(&sum, _)| sum)
    }

    /// When the oldest scan was called that may still return, and the sum of the latest scan before it.
    fn oldest(&self) -> (Time, Option<u64>) {
        let oldest = self.open.first_key_value();
        oldest.map_or((NEVER, self.latest()), |(&called, &floor)| (called, floor))
    }

    /// What the scan with this sum saw in an entry; 0 if there is none.
    fn floor_of(&self, sum: Option<u64>, place: usize) -> u64 {
        let link = sum.and_then(|sum| self.chain.get(&sum));
        link.map_or(0, |link| link.saw(place))
    }

    /// Forgets what no scan can see any more in an entry, but for the last few.
    pub fn forget_updates(&mut self, number: u32) {
        let place = self.entry(number);
        let (called, floor) = self.oldest();
        let floor = self.floor_of(floor, place);
        self.entries[place].forget(called, floor);
    }

    /// Forgets all that no scan can see, or run into, any more.
    pub fn forget(&mut self) {
        let (called, floor) = self.oldest();
        let link = floor.and_then(|sum| self.chain.get(&sum));
        for (place, entry) in self.entries.iter_mut().enumerate() {
            entry.forget(called, link.map_or(0, |link| link.saw(place)));
        }
        while let Some(first) = self.chain.first_entry()
            && Some(*first.key()) < floor
        {
            first.remove();
        }
    }

    /// How many updates and scans are remembered.
    pub fn remembered(&self) -> usize {
        let updates: usize = self.entries.iter().map(|entry| entry.updates.len()).sum();
        updates + self.chain.len() + self.open.len()
    }

    /// The update of an entry, given by place, with this number.
    pub(super) fn update(&self, place: usize, index: u64) -> Option<&T> {
        self.entries[place].update(index).op.as_ref()
    }

    /// The number of the last update of each entry, by place.
    pub(super) fn last_updates(&self) -> Vec<u64> {
        self.entries.iter().map(Entry::last_index).collect()
    }

    /// The scans by their sums.
    pub(super) fn chain(&self) -> &BTreeMap<u64, Link<T>> {
        &self.chain
    }
}
