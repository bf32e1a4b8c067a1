//! Decides a problem by depth-first search: walks the events, opens a choice where a return forces one, and backtracks.
//!
//! After Wing and Gong (1993), with the memory of Lowe (2017): a configuration that was exhausted is not tried again.

mod neck;

use std::cmp::Ordering;

use neck::NextNeck;

use super::best::Best;
use super::machine::Machine;
use super::memo::Memo;
use super::{Problem, Stopped};
use crate::engine::{Budget, Limit, MOST_STATES, Ticker, set_bits};
use crate::history::{EventKind, NEVER};

/// The result of a search.
pub(super) enum SearchResult {
    Order(Vec<u32>),
    NoOrder { partial: Vec<u32>, reached: usize },
}

/// An operation that took effect.
#[derive(Clone, Copy)]
struct TrailEntry {
    op: u32,
    /// The state of its key before.
    state: u32,
    /// How many events were walked by then.
    position: u32,
}

/// A return that forced a choice.
#[derive(Clone, Copy)]
struct ReturnChoice {
    /// Length of the trail.
    trail: u32,
    position: u32,
    /// Where its alternatives begin, and the next one to try.
    start: u32,
    next: u32,
    /// Whether operations other than the one that returns were added to the alternatives.
    expanded: bool,
}

/// A choice that was left when the search went back to a choice of another key.
struct SuspendedChoice {
    position: u32,
    expanded: bool,
    /// The alternative that was taken, and those after it.
    alternatives: Vec<(u32, u32)>,
}

pub(super) struct Search<'a, M> {
    problem: &'a Problem,
    machine: M,
    ticker: Ticker<'a>,
    memo: Memo,

    position: usize,
    /// The state of each key.
    states: Vec<u32>,
    /// Open operations, by bit; and those of them that took effect.
    open: Vec<u64>,
    mask: Vec<u64>,
    at_bit: Vec<u32>,
    /// For each operation, how many that must precede it did not take effect yet.
    blocked: Vec<u32>,

    trail: Vec<TrailEntry>,
    choices: Vec<ReturnChoice>,
    /// Alternatives of all choices, one after the other: an operation and the state it leaves.
    alternatives: Vec<(u32, u32)>,
    /// Choices to be taken up again, for each key, the earliest last.
    suspended: Vec<Vec<SuspendedChoice>>,
    scratch: Vec<u32>,
    best: Best<u32>,
    /// Some states, of the key of the operation that returns there, in which the furthest event was reached.
    furthest_states: FewStates,
    next_neck: NextNeck,
    /// The position at which the search ends as if there were an order; `usize::MAX` unless it only probes a configuration,
    /// which may not be reachable.
    horizon: usize,
}

/// Up to [`MOST_STATES`] different states.
#[derive(Clone, Copy, Default)]
struct FewStates {
    states: [u32; MOST_STATES],
    count: usize,
}

impl FewStates {
    fn only(state: u32) -> Self {
        let mut states = [0; MOST_STATES];
        states[0] = state;
        FewStates { states, count: 1 }
    }

    fn all(&self) -> &[u32] {
        &self.states[..self.count]
    }

    /// Adds a state, unless there are enough.
    fn add(&mut self, state: u32) {
        if self.count < MOST_STATES && !self.all().contains(&state) {
            self.states[self.count] = state;
            self.count += 1;
        }
    }
}

/// The result of advancing through the events.
enum Advanced {
    End,
    /// This operation returns, but did not take effect.
    Forced(u32),
}

/// The positions of the set bits of these words, ascending.
fn bits(words: impl Iterator<Item = u64>) -> impl Iterator<Item = usize> {
    let words = words.enumerate();
    words.flat_map(|(w, word)| set_bits(word).map(move |bit| w * 64 + bit))
}

impl<'a, M: Machine> Search<'a, M> {
    pub(super) fn new(problem: &'a Problem, machine: M, budget: &'a Budget) -> Self {
        let layout = &problem.layout;
        let ops = layout.rets.len();
        let keys = layout.key_count();
        let words = layout.word_count();
        let words_per_key = (0..keys).map(|key| layout.words_of(key).len()).max();
        let mut blocked = vec![
            0;
            if problem.successors.is_empty() {
                0
            } else {
                ops
            }
        ];
        if !problem.successors.is_empty() {
            (0..ops as u32)
                .flat_map(|op| problem.successors.of(op))
                .for_each(|&later| blocked[later as usize] += 1);
        }
        Search {
            problem,
            machine,
            ticker: Ticker::new(budget),
            memo: Memo::new(words_per_key.unwrap_or(1)),
            position: 0,
            states: Vec::with_capacity(keys),
            open: vec![0; words],
            mask: vec![0; words],
            at_bit: vec![0; words * 64],
            blocked,
            trail: Vec::with_capacity(ops),
            choices: Vec::new(),
            alternatives: Vec::new(),
            suspended: std::iter::repeat_with(Vec::new).take(keys).collect(),
            scratch: Vec::new(),
            best: Best::default(),
            furthest_states: FewStates::default(),
            next_neck: NextNeck::default(),
            horizon: usize::MAX,
        }
    }

    pub(super) fn run(mut self) -> Result<SearchResult, Stopped> {
        let found = self.find_order();
        self.best.note(self.position, &self.trail, |step| step.op);
        match found {
            Ok(true) => Ok(SearchResult::Order(
                self.trail.iter().map(|step| step.op).collect(),
            )),
            Ok(false) => Ok(SearchResult::NoOrder {
                partial: self.best.order,
                reached: self.best.reached,
            }),
            Err(limit) => Err(Stopped {
                states: self.furthest_state_words(),
                limit,
                reached: self.best.reached,
                order: self.best.order,
            }),
        }
    }

    /// Notes how far the walk came, which is to the return of `forced`.
    fn note(&mut self, forced: u32) {
        let state = || self.states[self.problem.layout.key(forced)];
        match self.position.cmp(&self.best.reached) {
            Ordering::Less => {}
            Ordering::Equal => self.furthest_states.add(state()),
            Ordering::Greater => {
                self.furthest_states = FewStates::only(state());
                self.best.note(self.position, &self.trail, |step| step.op);
                self.best.report(self.ticker.budget(), self.position);
            }
        }
    }

    fn furthest_state_words(&self) -> Vec<String> {
        let Some(&(forced, _)) = self.problem.events.get(self.best.reached) else {
            return Vec::new();
        };
        let states = self.furthest_states.all().iter();
        let words = states.filter_map(|&state| self.machine.state_words(state, forced));
        words.collect()
    }

    fn find_order(&mut self) -> Result<bool, Limit> {
        let layout = &self.problem.layout;
        for key in 0..layout.key_count() {
            let Some(start) = self.machine.start(key) else {
                return Ok(false);
            };
            self.states.push(start);
        }
        self.walk()
    }

    /// Searches on from the current configuration.
    fn walk(&mut self) -> Result<bool, Limit> {
        let layout = &self.problem.layout;
        loop {
            self.ticker.tick()?;
            let forced = match self.advance() {
                Advanced::End => return Ok(true),
                Advanced::Forced(_) if self.position > self.horizon => return Ok(true),
                Advanced::Forced(op) => op,
            };
            if self.horizon == usize::MAX {
                self.note(forced);
            }
            let key = layout.key(forced);
            let mask = &self.mask[layout.words_of(key)];
            if !self
                .memo
                .contains(self.position as u32, mask, self.states[key])
            {
                self.choose(forced)?;
            }
            if !self.take_next_alternative(key)? {
                return Ok(false);
            }
        }
    }

    /// The open operations of a key that did not take effect.
    fn waiting(&self, key: usize) -> impl Iterator<Item = u32> + use<'_, 'a, M> {
        let words = self.problem.layout.words_of(key);
        let at_bit = &self.at_bit[words.start * 64..];
        let (open, mask) = (&self.open[words.clone()], &self.mask[words]);
        bits(open.iter().zip(mask).map(|(open, mask)| open & !mask)).map(|bit| at_bit[bit])
    }

    /// Walks the events until a return forces a choice. Harmless operations take effect on the way.
    fn advance(&mut self) -> Advanced {
        while let Some(&(op, kind)) = self.problem.events.get(self.position) {
            let bit = self.problem.layout.bit[op as usize] as usize;
            let (word, flag) = (bit / 64, 1 << (bit % 64));
            match kind {
                EventKind::Call => {
                    self.open[word] |= flag;
                    self.at_bit[bit] = op;
                    self.position += 1;
                    if self.take_if_harmless(op) {
                        self.settle(self.problem.layout.key(op));
                    }
                }
                EventKind::Return if self.mask[word] & flag == 0 => return Advanced::Forced(op),
                EventKind::Return => {
                    self.open[word] &= !flag;
                    self.mask[word] &= !flag;
                    self.position += 1;
                }
            }
        }
        Advanced::End
    }

    /// Lets the harmless open operations of a key take effect until none is left.
    fn settle(&mut self, key: usize) {
        loop {
            let mut changed = false;
            for word in self.problem.layout.words_of(key) {
                for bit in set_bits(self.open[word] & !self.mask[word]) {
                    let (op, before) = (self.at_bit[word * 64 + bit], self.states[key]);
                    changed |= self.take_if_harmless(op) && self.states[key] != before;
                }
            }
            if !changed {
                return;
            }
        }
    }

    fn take_if_harmless(&mut self, op: u32) -> bool {
        let state = self.states[self.problem.layout.key(op)];
        if !self.machine.is_harmless(state, op) || self.is_blocked(op) {
            return false;
        }
        self.scratch.clear();
        self.machine.successors(state, op, &mut self.scratch);
        match self.scratch.first() {
            Some(&next) => self.take(op, next),
            None => false,
        }
    }

    fn is_blocked(&self, op: u32) -> bool {
        self.blocked
            .get(op as usize)
            .is_some_and(|&count| count > 0)
    }

    /// Lets the operation take effect, which leaves `next`. Returns `false` if no linearization can follow.
    fn take(&mut self, op: u32, next: u32) -> bool {
        let state = &mut self.states[self.problem.layout.key(op)];
        let Some(normal) = self.machine.commit(op, *state, next) else {
            self.machine.retract(op);
            return false;
        };
        self.trail.push(TrailEntry {
            op,
            state: *state,
            position: self.position as u32,
        });
        *state = normal;
        let bit = self.problem.layout.bit[op as usize] as usize;
        self.mask[bit / 64] |= 1 << (bit % 64);
        if !self.blocked.is_empty() {
            self.problem
                .successors
                .of(op)
                .iter()
                .for_each(|&later| self.blocked[later as usize] -= 1);
        }
        true
    }

    /// Opens a choice at the return of `forced`. Its first alternatives are those in which `forced` takes effect now. A choice
    /// that was suspended is resumed instead.
    fn choose(&mut self, forced: u32) -> Result<(), Limit> {
        let start = self.alternatives.len() as u32;
        let suspended = self.suspended[self.problem.layout.key(forced)].pop();
        self.choices.push(ReturnChoice {
            trail: self.trail.len() as u32,
            position: self.position as u32,
            start,
            next: start,
            expanded: suspended
                .as_ref()
                .is_some_and(|suspended| suspended.expanded),
        });
        let Some(suspended) = suspended else {
            return self.add_alternatives(forced);
        };
        debug_assert_eq!(suspended.position as usize, self.position);
        self.alternatives.extend(suspended.alternatives);
        Ok(())
    }

    fn add_alternatives(&mut self, op: u32) -> Result<(), Limit> {
        if self.is_blocked(op) {
            return Ok(());
        }
        let growth = self.machine.growth(op);
        if growth > 1 << 20 {
            self.ticker.budget().reserve(growth as u64)?;
        }
        self.scratch.clear();
        let state = self.states[self.problem.layout.key(op)];
        self.machine.successors(state, op, &mut self.scratch);
        self.alternatives
            .extend(self.scratch.iter().map(|&next| (op, next)));
        Ok(())
    }

    /// Goes back to the latest choice on this key with an alternative left, and takes that. Returns `false` if there is none.
    fn take_next_alternative(&mut self, key: usize) -> Result<bool, Limit> {
        let layout = &self.problem.layout;
        while let Some(&choice) = self.choices.last() {
            self.go_back(choice);
            if self.has_failed_at_neck()? {
                return Ok(false);
            }
            let (forced, _) = self.problem.events[self.position];
            if layout.key(forced) != key {
                self.suspend(choice, layout.key(forced));
            } else if (choice.next as usize) < self.alternatives.len() {
                if let Some(top) = self.choices.last_mut() {
                    top.next += 1;
                }
                let (op, next) = self.alternatives[choice.next as usize];
                if self.take(op, next) {
                    self.settle(key);
                    return Ok(true);
                }
            } else if choice.expanded {
                // The configuration is exhausted, so it is not tried again. It does not recur below itself, so it is
                // remembered only now; a search that finds an order at once remembers nothing.
                if self.problem.remembers {
                    self.memo.insert(
                        self.ticker.budget(),
                        self.position as u32,
                        &self.mask[layout.words_of(key)],
                        self.states[key],
                    )?;
                }
                self.alternatives.truncate(choice.start as usize);
                self.choices.pop();
            } else {
                if let Some(top) = self.choices.last_mut() {
                    top.expanded = true;
                }
                self.expand()?;
            }
        }
        Ok(false)
    }

    /// Suspends the latest choice, which is on `key`, until the walk reaches its return again.
    fn suspend(&mut self, choice: ReturnChoice, key: usize) {
        let taken = choice.next as usize - 1;
        self.suspended[key].push(SuspendedChoice {
            position: choice.position,
            expanded: choice.expanded,
            alternatives: self.alternatives.split_off(taken),
        });
        self.alternatives.truncate(choice.start as usize);
        self.choices.pop();
    }

    /// Adds the other open operations of the same key to the alternatives of the latest choice, in the order of their
    /// returns.
    fn expand(&mut self) -> Result<(), Limit> {
        let Problem {
            classes, layout, ..
        } = self.problem;
        let rets = &layout.rets;
        let (forced, _) = self.problem.events[self.position];
        let mut others: Vec<u32> = self.waiting(layout.key(forced)).collect();
        let order = |op: u32| match rets[op as usize] {
            NEVER => (NEVER, u32::MAX - op),
            ret => (ret, op),
        };
        others.sort_unstable_by_key(|&op| order(op));
        for (i, &op) in others.iter().enumerate() {
            // There may be very many pending operations.
            self.ticker.tick()?;
            let class = classes[op as usize];
            let twin_goes_first = others[..i]
                .iter()
                .any(|&earlier| classes[earlier as usize] == class);
            if op != forced && !twin_goes_first {
                self.add_alternatives(op)?;
            }
        }
        Ok(())
    }

    /// Undoes all steps since the choice was opened.
    fn go_back(&mut self, choice: ReturnChoice) {
        while self.trail.len() > choice.trail as usize {
            let Some(step) = self.trail.pop() else { break };
            self.rewind(step.position as usize);
            let bit = self.problem.layout.bit[step.op as usize] as usize;
            self.mask[bit / 64] &= !(1 << (bit % 64));
            self.states[self.problem.layout.key(step.op)] = step.state;
            self.machine.retract(step.op);
            if !self.blocked.is_empty() {
                self.problem
                    .successors
                    .of(step.op)
                    .iter()
                    .for_each(|&later| self.blocked[later as usize] += 1);
            }
        }
        self.rewind(choice.position as usize);
        self.best.go_back(self.trail.len());
    }

    fn rewind(&mut self, position: usize) {
        while self.position > position {
            self.position -= 1;
            let (op, kind) = self.problem.events[self.position];
            let bit = self.problem.layout.bit[op as usize] as usize;
            let (word, flag) = (bit / 64, 1 << (bit % 64));
            match kind {
                EventKind::Call => self.open[word] &= !flag,
                EventKind::Return => {
                    self.open[word] |= flag;
                    self.mask[word] |= flag;
                    self.at_bit[bit] = op;
                }
            }
        }
    }
}
