//! Spinning: whether a thread that found nothing new would find nothing new for ever.
//!
//! A thread that comes to a hint, and nothing has changed that it read since the last one, may be in a loop that waits for
//! another thread, or in one that gives up after some rounds. The first sleeps until something changes, since running on
//! would only repeat what it has done; the second must be scheduled round by round. Which of the two it is shows a *probe*:
//! the thread runs on alone, without scheduling points. If what it does repeats itself many times, it sleeps; otherwise it
//! stays awake for as many rounds as it took to do something else. Then the execution is run again up to the probe, and
//! goes on with what is known now.
//!
//! Before it sleeps, it has to be seen at each place of its loop: a change may come when it has made some of the accesses
//! of a round, and a round that began before is not the same as one that begins after the change. And searches must know
//! whose changes it depends on. So it stays awake for one repetition, and sleeps then; but if what is repeated is a single access
//! that it has made already, it sleeps at once. More rounds would add nothing: in an execution that has them, one
//! repetition can be left out.
//!
//! What a probe shows depends on the causal past of the thread and on the objects that it touched, so it is kept for other
//! executions in which they are the same.

use std::collections::HashSet;
use std::panic::Location;
use std::rc::Rc;

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
    /// It repeats so many accesses, which are over within so many rounds.
    SpinsOn { accesses: usize, rounds: u32 },
    /// After so many rounds the thread does something else.
    Leaves(u32),
}

/// What was assumed of threads that spin and of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Assumed {
    /// The fewest rounds after which one was, if there is any.
    pub(crate) rounds: Option<u32>,
    /// Some thread changed something in each round, and the changes were taken to cancel each other.
    pub(crate) changes: bool,
    /// A thread looked at the clock.
    pub(crate) clock: bool,
    /// Something that could have happened for no reason did not, or not more often than the program asks for.
    pub(crate) nothing_spurious: bool,
}

impl Assumed {
    /// Adds what was assumed elsewhere.
    pub(crate) fn join(&mut self, other: Assumed) {
        self.rounds = match (self.rounds, other.rounds) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.changes |= other.changes;
        self.clock |= other.clock;
        self.nothing_spurious |= other.nothing_spurious;
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
    /// What it did, one hash for each access and each hint. Those of hints are odd.
    acts: Vec<u64>,
    /// Where the rounds end among them.
    rounds: Vec<usize>,
    /// The hints so far, those of rounds without an access included.
    hints: u32,
    touches: Touches,
}

/// The objects that a spinning thread touches.
#[derive(Clone, Debug, Default)]
struct Touches {
    all: Vec<u32>,
    changed: Vec<u32>,
    /// Those of which it sees more than whether it has to wait.
    looked_at: Vec<u32>,
}

impl Touches {
    fn add(&mut self, object: u32, kind: Kind, effect: Effect) {
        let note = |list: &mut Vec<u32>| {
            if !list.contains(&object) {
                list.push(object);
            }
        };
        note(&mut self.all);
        if effect.is_change() {
            note(&mut self.changed);
        }
        let waits = effect == Effect::AwaitedChange;
        let gives_back = matches!(kind, Kind::Release | Kind::Unshare);
        if !waits && !gives_back && !matches!(kind, Kind::Join | Kind::Leave) {
            note(&mut self.looked_at);
        }
    }
}

/// Identifies a loop: the lines of an operation with the hint and with the access before it. Many loops may have the line of the hint in
/// common, which may be in a function of its own.
type Place = (Option<u32>, [usize; 2]);

/// What was shown about a thread with some past.
#[derive(Clone, Debug)]
pub(super) struct Known {
    shown: Shown,
    most: u32,
    touches: Touches,
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
    /// The loops that spin on for long patience.
    visited: HashSet<Place, foldhash::fast::FixedState>,
    /// Those that need long patience.
    long: HashSet<Place, foldhash::fast::FixedState>,
    /// How many choices come before the probe that ended the execution.
    repeat: usize,
    pub(super) assumed: Assumed,
}

impl Known {
    /// After how many rounds the probe ended.
    pub(super) fn rounds(&self) -> u32 {
        self.most
    }

    /// Whether the thread changes what the other one looks at.
    fn hinders(&self, other: &Known) -> bool {
        let mut changed = self.touches.changed.iter();
        changed.any(|object| other.touches.looked_at.contains(object))
    }
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
        if let Some(act) = probe.acts.last_mut() {
            *act = Past::default().then(*act).then(what).low() & !HINT;
        }
        probe.touches.add(object, kind, effect);
    }
}

impl Probe {
    /// The thread comes to a hint. Returns what the probe has shown, if it is over.
    fn hint(&mut self, is_round: bool) -> Option<Shown> {
        self.hints += 1;
        if is_round {
            self.rounds.push(self.acts.len());
        }
        if self.rounds.len() >= self.most as usize {
            return Some(judge(&self.acts, &self.rounds));
        }
        let most_hints = self.most.saturating_mul(HINTS_PER_ROUND);
        (self.hints >= most_hints).then_some(Shown::Leaves(1))
    }

    /// The thread leaves its loop.
    fn leaves(&self) -> Shown {
        Shown::Leaves(self.rounds.len() as u32 + 1)
    }
}

/// The bit of a hash that tells hints from accesses.
const HINT: u64 = 1;

/// So many repetitions of the same acts are needed at least.
const REPETITIONS: usize = 4;

/// Whether all acts repeat themselves; otherwise how many rounds there are before they do.
fn judge(acts: &[u64], rounds: &[usize]) -> Shown {
    // The shortest periods of the ends of the acts, by the failure function of Knuth, Morris and Pratt for the acts backwards.
    let backwards: Vec<u64> = acts.iter().rev().copied().collect();
    let mut borders = vec![0usize; backwards.len() + 1];
    let mut border = 0;
    let mut repeated = None;
    for length in 1..=backwards.len() {
        if length > 1 {
            while border > 0 && backwards[border] != backwards[length - 1] {
                border = borders[border];
            }
            border += usize::from(backwards[border] == backwards[length - 1]);
            borders[length] = border;
        }
        let period = length - border;
        if period * REPETITIONS <= length {
            repeated = Some((acts.len() - length, period));
        }
    }
    let rounds_until = |end: usize| rounds.partition_point(|&round| round < end) as u32 + 1;
    match repeated {
        Some((0, period)) => Shown::SpinsOn {
            accesses: acts[..period].iter().filter(|&act| act & HINT == 0).count(),
            rounds: rounds_until(period),
        },
        Some((others, _)) => Shown::Leaves(rounds_until(others)),
        None => Shown::Leaves(rounds.len() as u32),
    }
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
            Shown::SpinsOn { accesses, rounds } => {
                let thread = &self.threads.list[index];
                let has_seen = |object| thread.reads.iter().any(|&(read, _)| read == object);
                let sleeps = thread.tired
                    || accesses == 1 && known.touches.all.iter().all(|&object| has_seen(object));
                self.fall_asleep(index, &known);
                let thread = &mut self.threads.list[index];
                (thread.awake, thread.tired) = match sleeps {
                    true => (0, false),
                    false => (rounds, true),
                };
            }
        }
        self.threads.list[index].settled = true;
        self.renew_checkpoint();
        None
    }

    /// No thread can go on, but these wait for a change: one of them that goes on without it, or a probe that finds one. Without
    /// any, the execution is over.
    pub(super) fn force(&mut self, sleepers: u16) -> Result<usize, Switch> {
        for index in super::schedule::bits(sleepers) {
            if self.threads.list[index].pending != Pending::Yield {
                continue;
            }
            let thread = &self.threads.list[index];
            if thread.pushed == 0 && thread.spins.is_none() {
                let known = self.found_out(index, LAST_PATIENCE)?;
                match known.shown {
                    Shown::Leaves(rounds) => self.threads.list[index].pushed = rounds,
                    Shown::SpinsOn { .. } => {
                        self.fall_asleep(index, &known);
                        self.threads.list[index].spins = Some(Rc::new(known));
                    }
                }
                self.renew_checkpoint();
            }
            let thread = &mut self.threads.list[index];
            if thread.pushed > 0 {
                thread.pushed -= 1;
                thread.forced = true;
                return Ok(index);
            }
        }
        self.trace.end = match self.spinners_hinder_each_other() {
            true => End::Livelock,
            false => End::Stuck,
        };
        Err(Switch::Stuck)
    }

    /// Whether a thread that spins changes what another one looks at: each alone would spin for ever, both together may not.
    fn spinners_hinder_each_other(&self) -> bool {
        let spinning = || {
            self.threads
                .list
                .iter()
                .filter_map(|thread| thread.spins.as_deref())
        };
        spinning()
            .any(|one| spinning().any(|other| !std::ptr::eq(one, other) && one.hinders(other)))
    }

    /// What is known about a thread that waits at a hint, or a probe that finds it out: of at least so many rounds, of more
    /// unless the loop spun on for more, or if it was once left after more.
    fn found_out(&mut self, index: usize, least: u32) -> Result<Known, Switch> {
        let thread = &self.threads.list[index];
        let lines = [thread.location, thread.before_hint];
        let address = |line: Option<&'static Location<'static>>| {
            line.map_or(0, |line| std::ptr::from_ref(line).addr())
        };
        let place = (thread.op, lines.map(address));
        let most = match self.spins.visited.contains(&place) && !self.spins.long.contains(&place) {
            true => least,
            false => LONG_PATIENCE,
        };
        let known = match self.shown(index, most) {
            Some(known) => known,
            None => return Err(self.begin_probe(index, most)),
        };
        match known.shown {
            Shown::SpinsOn { .. } if known.most >= LONG_PATIENCE => {
                self.spins.visited.insert(place);
            }
            Shown::Leaves(rounds) if rounds > PATIENCE => {
                self.spins.long.insert(place);
            }
            _ => {}
        }
        Ok(known)
    }

    /// A thread waits for a change of anything that it touched while it spun, once it sleeps.
    fn fall_asleep(&mut self, index: usize, known: &Known) {
        let assumed = Assumed {
            rounds: Some(known.most),
            changes: !known.touches.changed.is_empty(),
            ..Assumed::default()
        };
        self.spins.assumed.join(assumed);
        let reads = &mut self.threads.list[index].reads;
        for &object in &known.touches.all {
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
            let Touches {
                all,
                changed,
                looked_at,
            } = &mut known.touches;
            for list in [all, changed, looked_at] {
                list.retain(|&object| object < objects);
            }
            if let Some(key) = self.key(index) {
                known.contents = self.contents(&known.touches.all);
                self.spins.known.insert(key, known.clone());
            }
            return Some(known);
        }
        let known = self.spins.known.get(&self.key(index)?)?;
        let enough = known.most >= most || matches!(known.shown, Shown::Leaves(_));
        let exist = known
            .touches
            .all
            .iter()
            .all(|&object| object < self.memory.len());
        let same = enough && exist && self.contents(&known.touches.all) == known.contents;
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
            acts: Vec::new(),
            rounds: Vec::new(),
            hints: 0,
            touches: Touches::default(),
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
        let act = Past::default().then(std::ptr::from_ref(location).addr() as u64);
        let thread = &self.threads.list[index];
        // A hint that stands for many accesses without one is no part of the loop.
        if pending != Pending::Yield {
            probe.acts.push(act.low() & !HINT);
        } else if thread.repeats < super::schedule::SPIN {
            probe.acts.push(act.low() | HINT);
        }
        match pending {
            Pending::Yield => {
                let is_round = !thread.reads.is_empty();
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
                self.touch(condvar, Kind::Leave, Effect::Changed);
                self.touch(mutex, Kind::Acquire, Effect::AwaitedChange);
                self.threads.running().hint();
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
                touches: probe.touches,
                contents: Past::default(),
            };
            self.spins.here.push((probe.request, probe.thread, known));
        }
        Switch::Stuck
    }
}
