//! The search through configurations of both ends, and what it need not try.
//!
//! Everything below rests on exchanging operations in an order that works, with the conditions of the [module](super) in
//! mind. *Can be placed* means that they hold now.
//!
//! * **Empty results** that can be placed are, at once: everything before them gets less, and what comes after was looked
//!   at.
//! * **Peeks** of the value in front that can be placed are, at once; and of several removals of it, **the one that returns
//!   first** goes: if it goes later in an order that works, exchange it with the one that goes now. The only thing that
//!   can be wrong with that is an empty result in between, since its call then counts for the insertions after that. So
//!   it must be [safe](Walk::is_safe), or the other one be called later.
//! * Of several insertions of one value that can be placed, the one that returns first is tried, for the same reason.
//! * **A pair** goes at once, whatever else could: the first insertion of a value to return, of all that are left, and the
//!   first removal of it, if both can be placed, no peek can come between that cannot be placed now, and what is at the
//!   front is safe. In an order that works, exchange them with what puts in and takes out the value first: now they
//!   belong together, and with all that happens to the value they can be moved to the start. Where every value is put in
//!   once, nothing is ever tried in vain but around empty results.
//!
//! Removals that never returned count as those that return last.

use super::order::Placed;
use super::side::Taken;
use super::{EMPTY, Item, Queue, Side, peek_of, removal_of, value_of};
use crate::engine::Limit;
use crate::engine::search::best::Best;
use crate::engine::search::memo::Memo;
use crate::engine::{Budget, Ticker};
use crate::history::precedes;

/// What can be placed next: an insertion or an operation at the front, by its place among those that wait, or the next
/// removal that never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Add(u32),
    Front(u32),
    Lost,
}

/// An operation that was placed, and how to undo that.
#[derive(Clone, Copy)]
struct Step {
    what: What,
    /// The value in front, and the latest call at the front, before.
    front: Option<u32>,
    latest: u32,
}

#[derive(Clone, Copy)]
enum What {
    Add(Taken),
    Front(Taken),
    Lost(u32),
}

impl Step {
    fn placed(&self) -> Placed {
        match self.what {
            What::Add(taken) => Placed::Add(taken.op),
            What::Front(taken) => Placed::Front(taken.op),
            What::Lost(op) => Placed::Lost(op),
        }
    }
}

/// A configuration with several ways on.
#[derive(Clone, Copy)]
struct Choice {
    /// Length of the trail.
    trail: usize,
    /// Where its alternatives begin, and the next one to try.
    start: usize,
    next: usize,
}

/// A walk through the configurations.
pub(super) struct Walk<'a> {
    adds: Side,
    fronts: Side,
    lost: &'a [Item],
    /// How many of these took something out.
    lost_taken: u32,
    /// The value that is in front and was not taken out; the values that follow it were not put in.
    front: Option<u32>,
    /// The latest call at the front among what was placed.
    latest: u32,

    trail: Vec<Step>,
    choices: Vec<Choice>,
    alternatives: Vec<Move>,
    memo: Memo,
    scratch: Vec<u64>,
    ticker: Ticker<'a>,
    best: Best<Placed>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(queue: &'a Queue, budget: &'a Budget) -> Self {
        let values = queue.values as usize;
        let adds = Side::new(queue.adds.clone(), values);
        let fronts = Side::new(queue.fronts.clone(), 2 * values + 1);
        let words = adds.words() + fronts.words() + 1;
        Walk {
            adds,
            fronts,
            lost: &queue.lost,
            lost_taken: 0,
            front: None,
            latest: 0,
            trail: Vec::with_capacity(queue.adds.len() + queue.fronts.len()),
            choices: Vec::new(),
            alternatives: Vec::new(),
            memo: Memo::new(words),
            scratch: vec![0; words],
            ticker: Ticker::new(budget),
            best: Best::default(),
        }
    }

    /// Looks for a way to place everything at the front; whether there is one.
    pub(super) fn run(&mut self) -> Result<bool, Limit> {
        loop {
            while let Some(only) = self.forced() {
                self.ticker.tick()?;
                self.place(only);
            }
            self.note();
            if self.fronts.is_done() {
                return Ok(true);
            }
            if !self.is_known() {
                self.choose();
            }
            if !self.take_next_alternative()? {
                return Ok(false);
            }
        }
    }

    /// What was placed.
    pub(super) fn trail(&self) -> Vec<Placed> {
        self.trail.iter().map(Step::placed).collect()
    }

    /// The most that could be placed.
    pub(super) fn best(&self) -> &[Placed] {
        &self.best.order
    }

    fn note(&mut self) {
        let length = self.trail.len();
        self.best.note(length, &self.trail, Step::placed);
        self.best.report(self.ticker.budget(), 2 * length);
    }

    /// What may be placed without trying anything else.
    fn forced(&self) -> Option<Move> {
        let Some(value) = self.front else {
            return self.empty_result().or_else(|| self.pair());
        };
        let mut peeks = self.fronts.waiting_of(peek_of(value)).peekable();
        if peeks.peek().is_some() {
            let safe = peeks.find(|(_, peek)| self.is_safe(peek));
            return safe.map(|(place, _)| Move::Front(place));
        }
        let (place, first) = first_to_return(self.fronts.waiting_of(removal_of(value)))?;
        self.is_safe(&first).then_some(Move::Front(place))
    }

    /// An empty result that can be placed while the queue is empty.
    fn empty_result(&self) -> Option<Move> {
        let fits = |item: &Item| !precedes(self.adds.deadline(), self.latest.max(item.call));
        let mut empty = self.fronts.waiting_of(EMPTY);
        let found = empty.find(|(_, item)| fits(item));
        found.map(|(place, _)| Move::Front(place))
    }

    /// The insertion of a pair that goes at once; its removal is then [forced](Self::forced).
    fn pair(&self) -> Option<Move> {
        let removals = self.fronts.waiting();
        let removed = removals.filter_map(|(_, item)| match value_of(item.class)? {
            (value, true) => Some((value, item)),
            (_, false) => None,
        });
        removed
            .filter(|&(value, removal)| self.goes_with_its_peeks(value, &removal))
            .find_map(|(value, _)| {
                let (place, add) = first_to_return(self.adds.waiting_of(value))?;
                let goes = self.can_add(&add) && add.ret <= self.adds.upcoming(value).ret;
                goes.then_some(Move::Add(place))
            })
    }

    /// Whether the removal is the first one of this value to return, and it and all peeks before it are safe now.
    fn goes_with_its_peeks(&self, value: u32, removal: &Item) -> bool {
        let others = self.fronts.waiting_of(removal_of(value));
        let mut peeks = self.fronts.waiting_of(peek_of(value));
        self.is_safe(removal)
            && self.fronts.upcoming(removal_of(value)).ret > removal.ret
            && others
                .into_iter()
                .all(|(_, other)| removal.ret <= other.ret)
            && precedes(removal.ret, self.fronts.upcoming(peek_of(value)).call)
            && peeks.all(|(_, peek)| self.is_safe(&peek))
    }

    /// Whether an insertion that waits can be placed.
    fn can_add(&self, add: &Item) -> bool {
        !precedes(self.fronts.deadline(), add.call)
    }

    /// Whether a removal or a peek that can be placed may go earlier than it would: no insertion after an empty result
    /// that is passed by that returned before its call.
    fn is_safe(&self, item: &Item) -> bool {
        // Every insertion that is left returned later.
        !precedes(self.adds.deadline(), item.call)
            // Something that comes before was called later still.
            || item.call <= self.latest
            // No empty result is there. One that is called later follows an operation that returned before, but after this
            // call; so it also follows the insertions that returned before this call.
            || self.fronts.waiting_of(EMPTY).next().is_none()
    }

    /// Whether nothing comes of this configuration, as was found out before.
    fn is_known(&mut self) -> bool {
        self.write_configuration();
        let (called, state) = self.called_and_front();
        self.memo.contains(called, &self.scratch, state)
    }

    /// What is left tells what was placed, and so how many removals that never returned were.
    fn write_configuration(&mut self) {
        let (adds, rest) = self.scratch.split_at_mut(self.adds.words());
        let (fronts, called) = rest.split_at_mut(self.fronts.words());
        self.adds.write_waiting(adds);
        self.fronts.write_waiting(fronts);
        called[0] = u64::from(self.fronts.called());
    }

    fn called_and_front(&self) -> (u32, u32) {
        (self.adds.called(), self.front.map_or(0, |value| value + 1))
    }

    /// Opens a choice between all ways on, unless there is none.
    fn choose(&mut self) {
        let start = self.alternatives.len();
        match self.front {
            None => self.add_insertions(),
            Some(value) => self.add_fronts(value),
        }
        if self.alternatives.len() > start {
            self.choices.push(Choice {
                trail: self.trail.len(),
                start,
                next: start,
            });
        }
    }

    /// One insertion of each value that can then be seen or taken out, in the order of their returns.
    fn add_insertions(&mut self) {
        let lost = self.can_lose();
        let is_wanted = |value: u32| {
            lost || self.fronts.waiting_of(removal_of(value)).next().is_some()
                || self.fronts.waiting_of(peek_of(value)).next().is_some()
        };
        let possible = self.adds.waiting().filter(|(_, add)| self.can_add(add));
        let mut possible: Vec<(u32, Item)> = possible.collect();
        possible.sort_unstable_by_key(|(_, add)| (add.class, add.ret, add.call));
        possible.dedup_by_key(|(_, add)| add.class);
        possible.retain(|(_, add)| is_wanted(add.class));
        possible.sort_unstable_by_key(|(_, add)| (add.ret, add.call));
        let moves = possible.into_iter().map(|(place, _)| Move::Add(place));
        self.alternatives.extend(moves);
    }

    /// The peeks and removals of the value in front that none of the others makes superfluous.
    fn add_fronts(&mut self, value: u32) {
        let peeks = self.fronts.waiting_of(peek_of(value));
        let mut moves: Vec<Move> = peeks.map(|(place, _)| Move::Front(place)).collect();
        let mut removals: Vec<(Move, Item)> = self
            .fronts
            .waiting_of(removal_of(value))
            .map(|(place, item)| (Move::Front(place), item))
            .collect();
        if self.can_lose() {
            removals.push((Move::Lost, self.lost[self.lost_taken as usize]));
        }
        removals.sort_unstable_by_key(|(_, item)| item.ret);
        for (i, (removal, item)) in removals.iter().enumerate() {
            let goes_first =
                |(_, other): &(Move, Item)| self.is_safe(other) || other.call < item.call;
            if !removals[..i].iter().any(goes_first) {
                moves.push(*removal);
            }
        }
        self.alternatives.extend(moves);
    }

    /// Whether a removal that never returned can be placed.
    fn can_lose(&self) -> bool {
        let next = self.lost.get(self.lost_taken as usize);
        next.is_some_and(|lost| !precedes(self.fronts.deadline(), lost.call))
    }

    /// Goes back to the latest choice that has an alternative left and takes it; `false` if there is none.
    fn take_next_alternative(&mut self) -> Result<bool, Limit> {
        while let Some(choice) = self.choices.last_mut() {
            let length = choice.trail;
            let next = self.alternatives.get(choice.next).copied();
            choice.next += 1;
            let start = choice.start;
            self.go_back(length);
            self.ticker.tick()?;
            if let Some(next) = next {
                self.place(next);
                return Ok(true);
            }
            self.alternatives.truncate(start);
            self.choices.pop();
            self.write_configuration();
            let (called, state) = self.called_and_front();
            let budget = self.ticker.budget();
            self.memo.insert(budget, called, &self.scratch, state)?;
        }
        Ok(false)
    }

    fn place(&mut self, next: Move) {
        let (front, latest) = (self.front, self.latest);
        let what = match next {
            Move::Add(place) => {
                let taken = self.adds.take(place);
                self.front = Some(self.adds.items[taken.op as usize].class);
                What::Add(taken)
            }
            Move::Front(place) => {
                let taken = self.fronts.take(place);
                let item = self.fronts.items[taken.op as usize];
                self.latest = latest.max(item.call);
                if let Some((_, true)) = value_of(item.class) {
                    self.front = None;
                }
                What::Front(taken)
            }
            Move::Lost => {
                let lost = self.lost_taken;
                self.lost_taken += 1;
                self.latest = latest.max(self.lost[lost as usize].call);
                self.front = None;
                What::Lost(lost)
            }
        };
        self.trail.push(Step {
            what,
            front,
            latest,
        });
    }

    /// Undoes everything but the first so many steps.
    fn go_back(&mut self, length: usize) {
        for step in self.trail.drain(length..).rev() {
            match step.what {
                What::Add(taken) => self.adds.put_back(taken),
                What::Front(taken) => self.fronts.put_back(taken),
                What::Lost(_) => self.lost_taken -= 1,
            }
            (self.front, self.latest) = (step.front, step.latest);
        }
        self.best.go_back(length);
    }
}

/// The first one to return; the first one called, of those that do not.
fn first_to_return(items: impl Iterator<Item = (u32, Item)>) -> Option<(u32, Item)> {
    items.min_by_key(|(_, item)| (item.ret, item.call))
}
