//! Spinning: whether a thread that found nothing new would find nothing new for ever.
//!
//! A thread that comes to a hint, and nothing has changed that it read since the last one, may be in a loop that waits for
//! another thread, or in one that gives up after some rounds. The first sleeps until something changes, since running on
//! would only repeat what it has done; the second must be scheduled round by round. Which of the two it is shows a *probe*:
//! the thread runs on alone, without scheduling points. If each of many rounds is as those before, it sleeps; otherwise it
//! stays awake for as many rounds as it took to do something else. Then the execution is run again up to the probe, and
//! goes on with what is known now.
//!
//! What a probe shows depends on the causal past of the thread and on the objects that it touched, so it is kept for other
//! executions in which they are the same.

use std::collections::HashSet;
use std::panic::Location;

use super::super::MAIN;
use super::super::access::{Effect, Kind, Manner};
use super::super::causality::Past;
use super::super::coroutine::Switch;
use super::{End, Execution, Pending};
use crate::Map;

/// So many rounds without a change are for ever, if other threads can go on.
const PATIENCE: u32 = 64;
/// The same for the first visit to a loop.
const LONG_PATIENCE: u32 = 4096;
/// The same for later visits if no other thread can go on.
const LAST_PATIENCE: u32 = 256;
/// A thread that gives so many hints in a row, for each round of its patience, waits by hints alone.
const HINTS_PER_ROUND: u32 = 64;

/// What a probe has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    /// All rounds are the same.
    SpinsOn,
    /// After so many rounds the thread does something else.
    Leaves(u32),
}

/// Threads that were taken to spin for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assumed {
    /// The fewest rounds after which one was, if there is any.
    pub(crate) rounds: Option<u32>,
    /// Some thread changed something in each round, and the changes were taken to cancel each other.
    pub(crate) changes: bool,
}

impl Assumed {
    /// Adds what was assumed elsewhere.
    pub(crate) fn join(&mut self, other: Assumed) {
        self.rounds = match (self.rounds, other.rounds) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.changes |= other.changes;
    }
}

#[derive(Debug)]
struct Probe {
    thread: usize,
    /// The request at which it began, by its number in the log.
    request: usize,
    /// How many choices were made before.
    choices: usize,
    most: u32,
    /// A hash of the accesses of each round.
    rounds: Vec<Past>,
    round: Past,
    /// The hints so far, those of rounds without an access included.
    hints: u32,
    touched: Vec<u32>,
    changes: bool,
}

/// Identifies a loop: a line of an operation.
type Place = (Option<u32>, usize);

/// What was shown about a thread with some past.
#[derive(Clone, Debug)]
struct Known {
    shown: Shown,
    most: u32,
    touched: Vec<u32>,
    changes: bool,
    /// A hash of the contents of the objects that it touched.
    contents: Past,
}

/// What is known about spinning threads. It outlives single executions.
#[derive(Debug, Default)]
pub(super) struct Spins {
    probe: Option<Box<Probe>>,
    /// What was shown in the execution that is run again: by request and thread.
    here: Vec<(usize, usize, Known)>,
    known: Map<Past, Known>,
    /// The loops that were probed.
    visited: HashSet<Place, foldhash::fast::FixedState>,
    /// Those that need long patience.
    long: HashSet<Place, foldhash::fast::FixedState>,
    /// How many choices come before the probe that ended the execution.
    repeat: usize,
    pub(super) assumed: Assumed,
}

impl Spins {
    /// Whether a thread runs on alone.
    #[inline(always)]
    pub(super) fn probes(&self) -> bool {
        self.probe.is_some()
    }

    /// Another search begins.
    pub(super) fn forget(&mut self) {
        *self = Spins::default();
    }

    /// Another execution begins.
    pub(super) fn begin(&mut self) {
        self.here.clear();
    }

    /// How many choices come before the probe that ended the execution.
    pub(super) fn repeat(&self) -> usize {
        self.repeat
    }

    /// The probing thread touches an object.
    #[cold]
    pub(super) fn note(&mut self, object: u32, kind: Kind, effect: Effect) {
        let Some(probe) = &mut self.probe else { return };
        let what = u64::from(object) << 8 | (kind as u64) << 1 | u64::from(effect.is_change());
        probe.round = probe.round.then(what);
        probe.changes |= effect.is_change();
        if !probe.touched.contains(&object) {
            probe.touched.push(object);
        }
    }
}

impl Probe {
    /// The thread comes to a hint. Returns what the probe has shown, if it is over.
    fn hint(&mut self, is_round: bool) -> Option<Shown> {
        self.hints += 1;
        if is_round {
            self.rounds.push(std::mem::take(&mut self.round));
        }
        if self.rounds.len() >= self.most as usize {
            return Some(judge(&self.rounds));
        }
        let most_hints = self.most.saturating_mul(HINTS_PER_ROUND);
        (self.hints >= most_hints).then_some(Shown::Leaves(1))
    }

    /// The thread leaves its loop.
    fn leaves(&self) -> Shown {
        Shown::Leaves(self.rounds.len() as u32 + 1)
    }
}

/// Whether rounds repeat themselves with a period of at most a quarter of them; otherwise how many come before they do.
fn judge(rounds: &[Past]) -> Shown {
    let periodic = |rounds: &[Past]| {
        (1..=rounds.len() / 4)
            .any(|period| rounds[period..].iter().zip(rounds).all(|(a, b)| a == b))
    };
    if periodic(rounds) {
        return Shown::SpinsOn;
    }
    let last = rounds.last();
    // Where the rounds that are all as the last one begin; longer periods are rare, and are found by the next probe.
    let other = rounds.iter().rposition(|round| Some(round) != last);
    Shown::Leaves(other.map_or(1, |place| place as u32 + 1))
}

impl Execution {
    /// Another search begins.
    pub(in crate::runtime) fn forget_spins(&mut self) {
        self.spins.forget();
    }

    /// Another execution begins, which is not run because of a probe.
    pub(in crate::runtime) fn forget_probes(&mut self) {
        self.spins.begin();
    }

    /// How many choices come before the probe that ended the execution, if one did.
    pub(in crate::runtime) fn probed(&self) -> Option<usize> {
        matches!(self.trace.end, End::Probed).then(|| self.spins.repeat())
    }

    /// The running thread came to a hint and finds nothing new, and others can go on: lets it sleep, or keeps it awake.
    /// Returns a switch if that must be found out first.
    pub(super) fn settle(&mut self) -> Option<Switch> {
        let index = self.threads.current;
        let known = match self.found_out(index, PATIENCE) {
            Ok(known) => known,
            Err(switch) => return Some(switch),
        };
        match known.shown {
            Shown::Leaves(rounds) => self.threads.list[index].awake = rounds,
            Shown::SpinsOn => self.fall_asleep(index, &known),
        }
        self.threads.list[index].settled = true;
        self.renew_checkpoint();
        None
    }

    /// No thread can go on, but these wait for a change: one of them that goes on without it, or a probe that finds one.
    pub(super) fn force(&mut self, sleepers: u16) -> Result<Option<usize>, Switch> {
        for index in super::schedule::bits(sleepers) {
            if self.threads.list[index].pending != Pending::Yield {
                continue;
            }
            let thread = &self.threads.list[index];
            if thread.pushed == 0 && thread.exhausted == 0 {
                let known = self.found_out(index, LAST_PATIENCE)?;
                match known.shown {
                    Shown::Leaves(rounds) => self.threads.list[index].pushed = rounds,
                    Shown::SpinsOn => {
                        self.fall_asleep(index, &known);
                        self.threads.list[index].exhausted = known.most;
                    }
                }
                self.renew_checkpoint();
            }
            let thread = &mut self.threads.list[index];
            if thread.pushed > 0 {
                thread.pushed -= 1;
                thread.forced = true;
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// What is known about a thread that waits at a hint, or a probe that finds it out: of at least so many rounds, of more if
    /// the loop is new or was once left after more.
    fn found_out(&mut self, index: usize, least: u32) -> Result<Known, Switch> {
        let thread = &self.threads.list[index];
        let location = thread.location.map(std::ptr::from_ref::<Location<'_>>);
        let place = (thread.op, location.map_or(0, <*const _>::addr));
        let most = match self.spins.visited.contains(&place) && !self.spins.long.contains(&place) {
            true => least,
            false => LONG_PATIENCE,
        };
        let known = match self.shown(index, most) {
            Some(known) => known,
            None => return Err(self.begin_probe(index, most)),
        };
        if known.most >= LONG_PATIENCE {
            self.spins.visited.insert(place);
        }
        if matches!(known.shown, Shown::Leaves(rounds) if rounds > PATIENCE) {
            self.spins.long.insert(place);
        }
        Ok(known)
    }

    /// A thread waits for a change of anything that it touched while it spun.
    fn fall_asleep(&mut self, index: usize, known: &Known) {
        let assumed = Assumed {
            rounds: Some(known.most),
            changes: known.changes,
        };
        self.spins.assumed.join(assumed);
        let reads = &mut self.threads.list[index].reads;
        for &object in &known.touched {
            if !reads.iter().any(|&(read, _)| read == object) {
                reads.push((object, self.memory.version(object)));
            }
        }
    }

    /// What is known about a thread that waits at a hint.
    fn shown(&mut self, index: usize, most: u32) -> Option<Known> {
        let request = self.log.asked();
        let here =
            self.spins.here.iter().find(|(at, thread, known)| {
                (*at, *thread) == (request, index) && known.most >= most
            });
        if let Some((.., known)) = here {
            let mut known = known.clone();
            // Those that the thread made while it ran alone are gone.
            let objects = self.memory.len();
            known.touched.retain(|&object| object < objects);
            if let Some(key) = self.key(index) {
                known.contents = self.contents(&known.touched);
                self.spins.known.insert(key, known.clone());
            }
            return Some(known);
        }
        let known = self.spins.known.get(&self.key(index)?)?;
        let enough = known.most >= most || matches!(known.shown, Shown::Leaves(_));
        let exist = known
            .touched
            .iter()
            .all(|&object| object < self.memory.len());
        let same = enough && exist && self.contents(&known.touched) == known.contents;
        same.then(|| known.clone())
    }

    /// What determines how a thread goes on, apart from the objects that it touches next.
    fn key(&self, index: usize) -> Option<Past> {
        let is_known = self.settings.has_causality() && index != MAIN;
        is_known.then(|| self.threads.list[index].past)
    }

    /// A hash of the contents of objects.
    fn contents(&self, objects: &[u32]) -> Past {
        objects.iter().fold(Past::default(), |contents, &object| {
            let named = contents.then(self.memory.name(object).code());
            self.memory.causes(object).pasts.extend(named, Kind::Read)
        })
    }

    /// A thread that waits at a hint runs on alone.
    fn begin_probe(&mut self, index: usize, most: u32) -> Switch {
        self.save_checkpoint();
        self.spins.probe = Some(Box::new(Probe {
            thread: index,
            request: self.log.asked(),
            choices: self.trace.choices.made(),
            most,
            rounds: Vec::new(),
            round: Past::default(),
            hints: 0,
            touched: Vec::new(),
            changes: false,
        }));
        self.threads.current = index;
        self.rest();
        Switch::To(index)
    }

    /// The probing thread goes on after a hint.
    fn rest(&mut self) {
        let thread = self.threads.running();
        thread.reads.clear();
        thread.repeats = 0;
    }

    /// The probing thread comes to its next step.
    #[cold]
    pub(super) fn probe_on(
        &mut self,
        pending: Pending,
        location: &'static Location<'static>,
    ) -> Switch {
        let Some(probe) = &mut self.spins.probe else {
            return Switch::Stuck;
        };
        let index = probe.thread;
        let place = std::ptr::from_ref(location).addr() as u64;
        probe.round = probe.round.then(place);
        match pending {
            Pending::Yield => {
                let is_round = !self.threads.list[index].reads.is_empty();
                match probe.hint(is_round) {
                    Some(shown) => return self.end_probe(shown),
                    None => self.rest(),
                }
            }
            Pending::Access {
                object,
                kind,
                manner: Manner::Blocking,
            } if !self.memory.available(object, kind) => return self.leave_probe(),
            Pending::Access { .. } => self.begin_access(pending),
            Pending::Wake {
                condvar,
                mutex,
                timed: true,
            } if self.memory.available(mutex, Kind::Acquire) => {
                self.touch(condvar, Kind::Write, Effect::Changed);
                self.touch(mutex, Kind::Acquire, Effect::AwaitedChange);
            }
            _ => return self.leave_probe(),
        }
        Switch::To(index)
    }

    /// The probing thread leaves its loop: it returns, or has to wait.
    pub(super) fn leave_probe(&mut self) -> Switch {
        match self.spins.probe.as_ref().map(|probe| probe.leaves()) {
            Some(shown) => self.end_probe(shown),
            None => Switch::Stuck,
        }
    }

    fn end_probe(&mut self, shown: Shown) -> Switch {
        if let Some(probe) = self.spins.probe.take() {
            if matches!(self.trace.end, End::Running) {
                self.trace.end = End::Probed;
            }
            self.spins.repeat = probe.choices;
            let known = Known {
                shown,
                most: probe.most,
                touched: probe.touched,
                changes: probe.changes,
                contents: Past::default(),
            };
            self.spins.here.push((probe.request, probe.thread, known));
        }
        Switch::Stuck
    }
}
