//! Searches the configurations of both ends of a queue. Ours.
//!
//! Each rule below is shown by exchanging operations in an order that works, under the conditions of the
//! [module](super). An operation *can be placed* if these conditions hold now.
//!
//! * **Empty results** that can be placed are placed at once: fewer operations then precede them, and what follows them
//!   is not affected.
//! * **Peeks** of the value in front that can be placed are placed at once. Of several removals of this value, **the
//!   one that returns first** is placed: if it is placed later in an order that works, it can be exchanged with the one
//!   that is placed now. Only an empty result in between can prevent the exchange, because the call of the removal then
//!   counts for the insertions after that result. So the removal must be [safe](QueueSearch::is_safe), or the other one
//!   must be called later.
//! * Of several insertions of one value that can be placed, only the one that returns first is tried, by the same
//!   exchange.
//! * **A pair** is placed at once, before all alternatives: the insertion of a value that returns first of all that are
//!   left, and the removal of the value that returns first, if both can be placed, every peek of the value that can
//!   come between them can be placed now, and the operations at the front are safe. In an order that works, exchange
//!   them with the operations that first insert and remove the value: now they belong together, and with all operations
//!   on the value they can be moved to the start. Where every value is inserted once, the search backtracks only around
//!   empty results.
//!
//! Pending removals are ordered as if they returned last.

use super::order::Placed;
use super::side::Taken;
use super::{EMPTY, FrontAction, Queue, QueueOp, Side, peek_of, removal_of};
use crate::engine::Limit;
use crate::engine::search::best::Best;
use crate::engine::search::memo::Memo;
use crate::engine::{Budget, Ticker};
use crate::history::precedes;

/// An operation that can be placed next: an insertion or an operation at the front, by its place among those that wait,
/// or the next pending removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Add(u32),
    Front(u32),
    Pending,
}

/// An operation that was placed, and how to undo that.
#[derive(Clone, Copy)]
struct Placement {
    op: PlacedOp,
    /// The value in front, and the latest call at the front, before.
    front: Option<u32>,
    latest: u32,
}

#[derive(Clone, Copy)]
enum PlacedOp {
    Add(Taken),
    Front(Taken),
    Pending(u32),
}

impl Placement {
    fn placed(&self) -> Placed {
        match self.op {
            PlacedOp::Add(taken) => Placed::Add(taken.op),
            PlacedOp::Front(taken) => Placed::Front(taken.op),
            PlacedOp::Pending(op) => Placed::Pending(op),
        }
    }
}

/// A configuration from which several operations can be placed.
#[derive(Clone, Copy)]
struct ChoicePoint {
    /// Length of the trail.
    trail: usize,
    /// Where its alternatives begin, and the next one to try.
    start: usize,
    next: usize,
}

/// A depth-first search through the configurations.
pub(super) struct QueueSearch<'a> {
    adds: Side,
    fronts: Side,
    pending: &'a [QueueOp],
    /// How many of these were placed.
    pending_taken: u32,
    /// The value whose insertion was placed last, unless its removal was placed too.
    front: Option<u32>,
    /// The latest call among the operations at the front that were placed.
    latest: u32,

    trail: Vec<Placement>,
    choices: Vec<ChoicePoint>,
    alternatives: Vec<Move>,
    memo: Memo,
    scratch: Vec<u64>,
    ticker: Ticker<'a>,
    best: Best<Placed>,
}

impl<'a> QueueSearch<'a> {
    pub(super) fn new(queue: &'a Queue, budget: &'a Budget) -> Self {
        let values = queue.values as usize;
        let adds = Side::new(queue.adds.clone(), values);
        let fronts = Side::new(queue.fronts.clone(), 2 * values + 1);
        let words = adds.words() + fronts.words() + 1;
        QueueSearch {
            adds,
            fronts,
            pending: &queue.pending,
            pending_taken: 0,
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

    /// Returns whether all operations at the front can be placed; if so, [`trail`](Self::trail) says how.
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
            if !self.is_memoized() {
                self.choose();
            }
            if !self.take_next_alternative()? {
                return Ok(false);
            }
        }
    }

    /// The operations that were placed, in their order.
    pub(super) fn trail(&self) -> Vec<Placed> {
        self.trail.iter().map(Placement::placed).collect()
    }

    /// The longest sequence of operations that could be placed.
    pub(super) fn best(&self) -> &[Placed] {
        &self.best.order
    }

    fn note(&mut self) {
        let length = self.trail.len();
        self.best.note(length, &self.trail, Placement::placed);
        self.best.report(self.ticker.budget(), 2 * length);
    }

    /// An operation that may be placed without trying any other.
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
        let fits = |item: &QueueOp| !precedes(self.adds.deadline(), self.latest.max(item.call));
        let mut empty = self.fronts.waiting_of(EMPTY);
        let found = empty.find(|(_, item)| fits(item));
        found.map(|(place, _)| Move::Front(place))
    }

    /// The insertion of a pair that may be placed at once; its removal is then [forced](Self::forced).
    fn pair(&self) -> Option<Move> {
        let removals = self.fronts.waiting();
        let removed = removals.filter_map(|(_, item)| match FrontAction::of(item.class) {
            FrontAction::Removes(value) => Some((value, item)),
            FrontAction::Peeks(_) | FrontAction::FindsNothing => None,
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
    fn goes_with_its_peeks(&self, value: u32, removal: &QueueOp) -> bool {
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
    fn can_add(&self, add: &QueueOp) -> bool {
        !precedes(self.fronts.deadline(), add.call)
    }

    /// Whether a removal or a peek that can be placed may be moved to here from a later place: no empty result that it
    /// passes is followed by an insertion that returned before its call.
    fn is_safe(&self, item: &QueueOp) -> bool {
        // All insertions that are left return after its call.
        !precedes(self.adds.deadline(), item.call)
            // An operation that was placed before is called even later.
            || item.call <= self.latest
            // No empty result waits. One that is called later follows an operation that returned before it, but after
            // this call; so it also follows the insertions that returned before this call.
            || self.fronts.waiting_of(EMPTY).next().is_none()
    }

    /// Whether this configuration was tried before and led to no order.
    fn is_memoized(&mut self) -> bool {
        self.write_configuration();
        let (called, state) = self.called_and_front();
        self.memo.contains(called, &self.scratch, state)
    }

    /// Writes the operations that are left; they determine those that were placed, and how many pending removals were.
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

    /// Opens a choice between the operations that can be placed, unless there is none.
    fn choose(&mut self) {
        let start = self.alternatives.len();
        match self.front {
            None => self.add_insertions(),
            Some(value) => self.add_fronts(value),
        }
        if self.alternatives.len() > start {
            self.choices.push(ChoicePoint {
                trail: self.trail.len(),
                start,
                next: start,
            });
        }
    }

    /// Adds one insertion of each value that can then be peeked or removed, in the order of their returns.
    fn add_insertions(&mut self) {
        let pending = self.can_remove_pending();
        let is_wanted = |value: u32| {
            pending
                || self.fronts.waiting_of(removal_of(value)).next().is_some()
                || self.fronts.waiting_of(peek_of(value)).next().is_some()
        };
        let possible = self.adds.waiting().filter(|(_, add)| self.can_add(add));
        let mut possible: Vec<(u32, QueueOp)> = possible.collect();
        possible.sort_unstable_by_key(|(_, add)| (add.class, add.ret, add.call));
        possible.dedup_by_key(|(_, add)| add.class);
        possible.retain(|(_, add)| is_wanted(add.class));
        possible.sort_unstable_by_key(|(_, add)| (add.ret, add.call));
        let moves = possible.into_iter().map(|(place, _)| Move::Add(place));
        self.alternatives.extend(moves);
    }

    /// Adds the peeks and removals of the value in front, without those that another one makes superfluous.
    fn add_fronts(&mut self, value: u32) {
        let peeks = self.fronts.waiting_of(peek_of(value));
        let mut moves: Vec<Move> = peeks.map(|(place, _)| Move::Front(place)).collect();
        let mut removals: Vec<(Move, QueueOp)> = self
            .fronts
            .waiting_of(removal_of(value))
            .map(|(place, item)| (Move::Front(place), item))
            .collect();
        if self.can_remove_pending() {
            removals.push((Move::Pending, self.pending[self.pending_taken as usize]));
        }
        removals.sort_unstable_by_key(|(_, item)| item.ret);
        for (i, (removal, item)) in removals.iter().enumerate() {
            let goes_first =
                |(_, other): &(Move, QueueOp)| self.is_safe(other) || other.call < item.call;
            if !removals[..i].iter().any(goes_first) {
                moves.push(*removal);
            }
        }
        self.alternatives.extend(moves);
    }

    /// Whether the next pending removal can be placed.
    fn can_remove_pending(&self) -> bool {
        let next = self.pending.get(self.pending_taken as usize);
        next.is_some_and(|pending| !precedes(self.fronts.deadline(), pending.call))
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
        let op = match next {
            Move::Add(place) => {
                let taken = self.adds.take(place);
                self.front = Some(self.adds.items[taken.op as usize].class);
                PlacedOp::Add(taken)
            }
            Move::Front(place) => {
                let taken = self.fronts.take(place);
                let item = self.fronts.items[taken.op as usize];
                self.latest = latest.max(item.call);
                if let FrontAction::Removes(_) = FrontAction::of(item.class) {
                    self.front = None;
                }
                PlacedOp::Front(taken)
            }
            Move::Pending => {
                let pending = self.pending_taken;
                self.pending_taken += 1;
                self.latest = latest.max(self.pending[pending as usize].call);
                self.front = None;
                PlacedOp::Pending(pending)
            }
        };
        self.trail.push(Placement { op, front, latest });
    }

    /// Undoes all placements but the first `length`.
    fn go_back(&mut self, length: usize) {
        for placement in self.trail.drain(length..).rev() {
            match placement.op {
                PlacedOp::Add(taken) => self.adds.put_back(taken),
                PlacedOp::Front(taken) => self.fronts.put_back(taken),
                PlacedOp::Pending(_) => self.pending_taken -= 1,
            }
            (self.front, self.latest) = (placement.front, placement.latest);
        }
        self.best.go_back(length);
    }
}

/// The operation that returns first; the one called first, if none returns.
fn first_to_return(items: impl Iterator<Item = (u32, QueueOp)>) -> Option<(u32, QueueOp)> {
    items.min_by_key(|(_, item)| (item.ret, item.call))
}
