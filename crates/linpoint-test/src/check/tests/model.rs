//! A second opinion about spinning and waiting: small programs, run on the facade and, independently, by enumeration of all their states.
//!
//! The enumeration knows nothing of hints, classes or preemptions. A step is an access with the local work after it. Loops may
//! run for ever, so an execution is stuck if from its last state no call and no return can be reached. A thread that waits for a
//! notification may wake up without one at any time, and a weak compare-exchange may fail, up to so many times; but that is not how a
//! state is left that would be stuck without it.

use std::collections::{BTreeSet, HashMap, HashSet};

/// An operation on a shared object. It leaves a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Load(usize),
    Store(usize, u8),
    /// Leaves the number before.
    Add(usize),
    /// From 0 to 1. Leaves whether it was.
    Cas(usize),
    /// The same, and may fail for no reason.
    WeakCas(usize),
    /// Stores 1. Leaves whether there was 0.
    Swap(usize),
    Lock,
    /// Leaves whether it was free.
    TryLock,
    /// The same after some time.
    TryLockFor,
    Unlock,
    /// Unlocks, waits for a notification, and locks.
    Wait,
    /// The same for some time. Leaves whether it was notified.
    WaitTimeout,
    NotifyOne,
    NotifyAll,
    /// Takes the other lock, together with others.
    Share,
    /// Leaves whether it could.
    TryShare,
    Unshare,
    /// Takes the other lock alone.
    Exclude,
    /// Leaves whether it could.
    TryExclude,
    Unexclude,
    /// Says that it is this thread that may be unparked.
    Register,
    /// Leaves whether there is such a thread, and remembers it.
    Look,
    /// Unparks the thread that it remembers.
    Unpark,
    Park,
    ParkTimeout,
    /// One owner more.
    Clone,
    /// One owner less.
    Drop,
    /// Leaves the number of owners.
    Count,
}

/// What a thread does between two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Between {
    Hint,
    Yield,
}

/// An instruction. A thread has the number that its last access left, and counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Code {
    Access(Access),
    /// Appends the last number to the result.
    Emit,
    /// Keeps the last number, instead of the one that was kept before.
    Keep,
    EmitKept,
    EmitConstant(u8),
    Rest(Between),
    /// If the last number is not 0.
    JumpUnlessZero(usize),
    Jump(usize),
    Clear(usize),
    /// Counts on, and jumps if the counter is below a limit.
    CountTo(usize, u8, usize),
    Return,
}

pub(super) const CELLS: usize = 3;
const COUNTERS: usize = 2;

/// Local state of a thread in an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Local {
    pub(super) place: usize,
    pub(super) last: u8,
    kept: u8,
    counters: [u8; COUNTERS],
    pub(super) result: u64,
    /// The thread that it remembers.
    target: Option<usize>,
}

impl Local {
    fn emit(&mut self, number: u8) {
        self.result = (self.result << 4) | (u64::from(number) + 1);
    }

    /// Does what is not visible to others. Returns what comes then.
    pub(super) fn run(&mut self, code: &[Code]) -> Code {
        loop {
            let now = code[self.place];
            match now {
                Code::Access(_) | Code::Rest(_) | Code::Return => return now,
                Code::Emit => self.emit(self.last),
                Code::Keep => self.kept = self.last,
                Code::EmitKept => self.emit(self.kept),
                Code::EmitConstant(number) => self.emit(number),
                Code::JumpUnlessZero(target) if self.last != 0 => {
                    self.place = target;
                    continue;
                }
                Code::JumpUnlessZero(_) => {}
                Code::Jump(target) => {
                    self.place = target;
                    continue;
                }
                Code::Clear(counter) => self.counters[counter] = 0,
                Code::CountTo(counter, limit, target) => {
                    self.counters[counter] += 1;
                    if self.counters[counter] < limit {
                        self.place = target;
                        continue;
                    }
                }
            }
            self.place += 1;
        }
    }
}

/// What can be seen of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Seen {
    /// The operations that were called, one bit each.
    pub(super) called: u64,
    /// The results of those that returned.
    pub(super) results: Vec<Option<u64>>,
    /// For each operation, those that had returned at its call.
    pub(super) before: Vec<u64>,
}

impl Seen {
    /// The operations that returned, one bit each.
    fn returned(&self) -> u64 {
        let returned = self.results.iter().enumerate();
        returned.fold(0, |mask, (op, result)| {
            mask | u64::from(result.is_some()) << op
        })
    }

    /// The operations that were called and did not return, one bit each.
    pub(super) fn pending(&self) -> u64 {
        self.called & !self.returned()
    }
}

/// Whether a thread waits for a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Waiting {
    No,
    Yes,
    /// For some time.
    Timed,
    /// It did, and waits for the lock. The wait will leave this number.
    Woken(u8),
}

impl Waiting {
    /// After a notification, or for no reason.
    fn woken(self) -> Self {
        Waiting::Woken(u8::from(self == Waiting::Timed))
    }

    fn can_be_notified(self) -> bool {
        matches!(self, Waiting::Yes | Waiting::Timed)
    }
}

/// What decides between several steps of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// There is only one.
    Only,
    /// It notifies this thread.
    Notifies(usize),
    /// It wakes up without a notification, or its access fails for no reason.
    Spurious,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    cells: [u8; CELLS],
    held: bool,
    waiting: Vec<Waiting>,
    /// How many share the other lock.
    shares: u8,
    excluded: bool,
    owners: u8,
    /// Which thread may be unparked, and who has a permit.
    parker: Option<usize>,
    permits: Vec<bool>,
    /// How often something may still happen for no reason.
    spurious: u32,
    /// The threads in the middle of an operation.
    locals: Vec<Option<Local>>,
    /// How many operations each thread has called.
    called: Vec<usize>,
    results: Vec<Option<u64>>,
    before: Vec<u64>,
    returned: u64,
}

/// The operations of each thread.
pub(super) type Threads<'a> = &'a [Vec<&'a [Code]>];

impl State {
    fn new(threads: Threads<'_>, spurious: u32) -> Self {
        let ops = threads.iter().map(Vec::len).sum();
        State {
            cells: [0; CELLS],
            held: false,
            waiting: vec![Waiting::No; threads.len()],
            shares: 0,
            excluded: false,
            owners: 1,
            parker: None,
            permits: vec![false; threads.len()],
            spurious,
            locals: vec![None; threads.len()],
            called: vec![0; threads.len()],
            results: vec![None; ops],
            before: vec![0; ops],
            returned: 0,
        }
    }

    /// How many calls and returns there were.
    fn events(&self) -> u32 {
        self.called.iter().sum::<usize>() as u32 + self.returned.count_ones()
    }

    fn seen(&self, threads: Threads<'_>) -> Seen {
        let (mut called, mut first) = (0, 0);
        for (ops, of_thread) in self.called.iter().zip(threads) {
            called |= ((1 << ops) - 1) << first;
            first += of_thread.len();
        }
        Seen {
            called,
            results: self.results.clone(),
            before: self.before.clone(),
        }
    }

    /// Whether an access can go this way.
    fn goes(&self, access: Access, thread: usize, way: Way) -> bool {
        let waits = |&thread: &usize| self.waiting[thread].can_be_notified();
        let waiting = (0..self.waiting.len()).filter(waits).count();
        match (access, way) {
            (Access::NotifyOne, Way::Only) => waiting == 0,
            (Access::NotifyOne, Way::Notifies(thread)) => waits(&thread),
            (Access::WeakCas(cell), Way::Spurious) => self.cells[cell] == 0 && self.spurious > 0,
            (Access::Park, Way::Spurious) => !self.permits[thread] && self.spurious > 0,
            (_, way) => way == Way::Only,
        }
    }

    /// What the access of a thread leaves; `None` if the thread has to wait.
    fn access(&mut self, access: Access, thread: usize, local: &mut Local, way: Way) -> Option<u8> {
        let cells = &mut self.cells;
        Some(match access {
            Access::WeakCas(_) | Access::Park if way == Way::Spurious => {
                self.spurious -= 1;
                0
            }
            Access::Wait | Access::WaitTimeout => {
                self.held = false;
                self.waiting[thread] = match access {
                    Access::Wait => Waiting::Yes,
                    _ => Waiting::Timed,
                };
                0
            }
            Access::NotifyOne | Access::NotifyAll => {
                for (other, waiting) in self.waiting.iter_mut().enumerate() {
                    let is_meant = access == Access::NotifyAll || way == Way::Notifies(other);
                    if is_meant && waiting.can_be_notified() {
                        *waiting = waiting.woken();
                    }
                }
                0
            }
            Access::Load(cell) => cells[cell],
            Access::Store(cell, value) => {
                cells[cell] = value;
                0
            }
            Access::Add(cell) => {
                cells[cell] += 1;
                cells[cell] - 1
            }
            Access::Cas(cell) | Access::WeakCas(cell) | Access::Swap(cell) => {
                let was_zero = cells[cell] == 0;
                if was_zero || matches!(access, Access::Swap(_)) {
                    cells[cell] = 1;
                }
                was_zero.into()
            }
            Access::Lock if self.held => return None,
            Access::Lock | Access::TryLock | Access::TryLockFor => {
                !std::mem::replace(&mut self.held, true) as u8
            }
            Access::Unlock => {
                self.held = false;
                0
            }
            Access::Share if self.excluded => return None,
            Access::Exclude if self.excluded || self.shares > 0 => return None,
            Access::TryShare if self.excluded => 0,
            Access::TryExclude if self.excluded || self.shares > 0 => 0,
            Access::Share | Access::TryShare => {
                self.shares += 1;
                1
            }
            Access::Exclude | Access::TryExclude => {
                self.excluded = true;
                1
            }
            Access::Unshare => {
                self.shares -= 1;
                0
            }
            Access::Unexclude => {
                self.excluded = false;
                0
            }
            Access::Register => {
                self.parker = Some(thread);
                0
            }
            Access::Look => {
                local.target = self.parker;
                u8::from(local.target.is_some())
            }
            Access::Unpark => {
                let target = local.target.expect("a thread unparks none");
                self.permits[target] = true;
                0
            }
            Access::Park if !self.permits[thread] => return None,
            Access::Park | Access::ParkTimeout => {
                self.permits[thread] = false;
                0
            }
            Access::Clone => {
                self.owners += 1;
                0
            }
            Access::Drop => {
                self.owners -= 1;
                0
            }
            Access::Count => self.owners,
        })
    }

    /// The states after the next step of a thread, each with its way; none if it has nothing to do or has to wait.
    fn steps(&self, threads: Threads<'_>, thread: usize) -> impl Iterator<Item = (Way, State)> {
        let notifies = (0..threads.len()).map(Way::Notifies);
        let ways = [Way::Only, Way::Spurious].into_iter().chain(notifies);
        ways.filter_map(move |way| Some((way, self.step(threads, thread, way)?)))
    }

    /// The state after the next step of a thread; `None` if it cannot go this way.
    fn step(&self, threads: Threads<'_>, thread: usize, way: Way) -> Option<State> {
        let mut next = self.clone();
        match self.waiting[thread] {
            Waiting::No => {}
            Waiting::Yes | Waiting::Timed if way == Way::Spurious && self.spurious > 0 => {
                next.spurious -= 1;
                next.waiting[thread] = self.waiting[thread].woken();
                return Some(next);
            }
            Waiting::Timed | Waiting::Woken(_) if way == Way::Only && !self.held => {}
            Waiting::Yes | Waiting::Timed | Waiting::Woken(_) => return None,
        }
        let first = threads[..thread].iter().map(Vec::len).sum::<usize>();
        let calls = self.locals[thread].is_none();
        let mut local = self.locals[thread].unwrap_or_default();
        if calls {
            if self.called[thread] == threads[thread].len() {
                return None;
            }
            next.before[first + self.called[thread]] = self.returned;
            next.called[thread] += 1;
        }
        let op = next.called[thread] - 1;
        let code = threads[thread][op];
        // Nothing has happened in this step. The step goes on after a hint at its beginning.
        let mut fresh = true;
        // No access has gone this way yet.
        let mut has_way = way != Way::Only;
        if self.waiting[thread] != Waiting::No {
            let left = match self.waiting[thread] {
                Waiting::Woken(left) => left,
                _ => 0,
            };
            (next.held, next.waiting[thread], fresh) = (true, Waiting::No, false);
            (local.last, local.place) = (left, local.place + 1);
            next.locals[thread] = Some(local);
        } else if !calls && matches!(local.run(code), Code::Rest(_)) {
            local.place += 1;
            next.locals[thread] = Some(local);
        }
        loop {
            match local.run(code) {
                Code::Access(access) if fresh && !next.goes(access, thread, way) => return None,
                Code::Access(access) if fresh => match next.access(access, thread, &mut local, way)
                {
                    Some(_) if matches!(access, Access::Wait | Access::WaitTimeout) => {
                        next.locals[thread] = Some(local);
                        return Some(next);
                    }
                    Some(left) => {
                        local.last = left;
                        (fresh, has_way) = (false, false);
                    }
                    None if next == *self => return None,
                    None => break,
                },
                Code::Rest(_) if fresh => fresh = false,
                Code::Return if has_way => return None,
                Code::Return => {
                    next.results[first + op] = Some(local.result);
                    next.returned |= 1 << (first + op);
                    next.locals[thread] = None;
                    return Some(next);
                }
                _ => break,
            }
            local.place += 1;
            next.locals[thread] = Some(local);
        }
        next.locals[thread] = Some(local);
        (!has_way).then_some(next)
    }
}

/// All that can be seen of the executions of these threads in which so much happens for no reason; `None` if they have more states.
pub(super) fn enumerate(
    threads: Threads<'_>,
    spurious: u32,
    most_states: usize,
) -> Option<BTreeSet<Seen>> {
    let first = State::new(threads, spurious);
    let mut numbers = HashMap::from([(first.clone(), 0)]);
    let mut states = vec![first];
    let mut before: Vec<Vec<usize>> = vec![Vec::new()];
    // The states from which a call or a return can be reached.
    let mut progress = Vec::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].clone();
        for (way, after) in (0..threads.len()).flat_map(|thread| state.steps(threads, thread)) {
            if way != Way::Spurious && after.events() > state.events() {
                progress.push(next);
            }
            let number = *numbers.entry(after).or_insert_with_key(|after| {
                states.push(after.clone());
                before.push(Vec::new());
                states.len() - 1
            });
            if way != Way::Spurious {
                before[number].push(next);
            }
        }
        next += 1;
        if states.len() > most_states {
            return None;
        }
    }
    let mut progresses = vec![false; states.len()];
    while let Some(state) = progress.pop() {
        if !std::mem::replace(&mut progresses[state], true) {
            progress.extend(&before[state]);
        }
    }
    let last = states
        .iter()
        .zip(progresses)
        .filter(|(_, goes_on)| !goes_on);
    Some(last.map(|(state, _)| state.seen(threads)).collect())
}

/// All serial executions: those of each order of the operations, up to the first one that does not return.
pub(super) fn serial(threads: Threads<'_>) -> BTreeSet<Seen> {
    let mut all = BTreeSet::new();
    let mut open = vec![State::new(threads, 0)];
    while let Some(state) = open.pop() {
        let mut is_last = true;
        for thread in 0..threads.len() {
            let (mut alone, mut visited) = (state.clone(), HashSet::new());
            while alone.returned == state.returned
                && visited.insert(alone.clone())
                && let Some(next) = alone.step(threads, thread, Way::Only)
            {
                alone = next;
            }
            if alone == state {
                continue;
            }
            is_last = false;
            match alone.returned == state.returned {
                true => _ = all.insert(alone.seen(threads)),
                false => open.push(alone),
            }
        }
        if is_last {
            all.insert(state.seen(threads));
        }
    }
    all
}

/// Whether serial executions explain an execution, by the definitions of the paper.
pub(super) fn explained(serial: &BTreeSet<Seen>, seen: &Seen) -> bool {
    let (returned, pending) = (seen.returned(), seen.pending());
    let is_witness = |witness: &&Seen, called: u64| {
        let respects_time = (0..seen.before.len())
            .filter(|op| called >> op & 1 == 1)
            .all(|op| {
                let earlier = seen.before[op] & called;
                witness.before[op] & earlier == earlier
            });
        witness.called == called && witness.results == seen.results && respects_time
    };
    let has_witness = |called| serial.iter().any(|witness| is_witness(&witness, called));
    match pending {
        0 => has_witness(returned),
        _ => (0..seen.before.len())
            .filter(|op| pending >> op & 1 == 1)
            .all(|op| has_witness(returned | 1 << op)),
    }
}
