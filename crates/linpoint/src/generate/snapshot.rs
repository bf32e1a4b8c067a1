//! Generates histories of single-writer snapshots that are linearizable or have one chosen fault.

use std::str::FromStr;

use super::GeneratedEvent;
use crate::error::Error;
use crate::history::{Call, History, HistoryBuilder, Ties};
use crate::spec::Sampler;
use crate::value::Value;

/// The values of updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SnapshotShape {
    /// Processes 0 and 1 write 0 up to some point and 1 from then on, all others write 0; scans show entries 0 and 1.
    Simple,
    /// All values are distinct.
    General,
}

/// A fault of a history. A generated history has no other fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SnapshotFault {
    /// Each of two concurrent scans shows an update that the other one misses.
    Inversion,
    /// A scan misses an update that an earlier scan shows.
    Decreasing,
    /// A scan misses an update that had returned before the scan was called.
    Stale,
    /// A scan shows an update that was called after the scan returned.
    Future,
    /// A scan shows an update, but misses one of another entry that precedes it.
    Order,
}

impl SnapshotFault {
    /// All faults with their names.
    pub const NAMES: [(&'static str, SnapshotFault); 5] = [
        ("inversion", SnapshotFault::Inversion),
        ("decreasing", SnapshotFault::Decreasing),
        ("stale", SnapshotFault::Stale),
        ("future", SnapshotFault::Future),
        ("order", SnapshotFault::Order),
    ];

    /// The number of scans that the fault needs, and the number of processes that call them.
    fn scans(self) -> (usize, usize) {
        match self {
            SnapshotFault::Inversion => (2, 2),
            SnapshotFault::Decreasing => (2, 1),
            _ => (1, 1),
        }
    }
}

impl FromStr for SnapshotFault {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, fault)| fault).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            Error::usage(format!(
                "unknown kind of violation {name:?}; known are {names}"
            ))
        })
    }
}

/// An event of a generated history. A process is also the entry that it updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SnapshotEvent {
    /// An update with this value is called.
    UpdateCalled(u32, i64),
    /// The open update of a process returns.
    UpdateReturned(u32),
    /// A scan is called.
    ScanCalled(u32),
    /// The open scan of a process returns these values, for the entries from 0 on.
    ScanReturned(u32, Vec<i64>),
    /// The open operation of a process never returns, and the process does not call again.
    Crashed(u32),
}

/// The settings of a generated history.
///
/// ```
/// use linpoint::generate::{SnapshotFault, SnapshotGenerator};
/// let generator = SnapshotGenerator { ops: 30, fault: Some(SnapshotFault::Order), ..Default::default() };
/// assert_eq!(generator.history()?.len(), 30);
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SnapshotGenerator {
    /// The number of operations.
    pub ops: usize,
    /// The number of processes that call operations at the same time.
    pub processes: u32,
    /// Equal seeds give equal histories.
    pub seed: u64,
    /// The values of updates.
    pub shape: SnapshotShape,
    /// How many of a million operations never return. A new process replaces the process of such an operation.
    pub pending_per_million: u32,
    /// The fault, if the history has one.
    pub fault: Option<SnapshotFault>,
}

impl Default for SnapshotGenerator {
    fn default() -> Self {
        SnapshotGenerator {
            ops: 100,
            processes: 4,
            seed: 0,
            shape: SnapshotShape::Simple,
            pending_per_million: 0,
            fault: None,
        }
    }
}

impl SnapshotGenerator {
    /// The history, for the object type `snapshot` with its default parameters.
    pub fn history(&self) -> Result<History, Error> {
        let mut builder = HistoryBuilder::new();
        self.recorded_events(&mut |event| match event {
            GeneratedEvent::Call(process, call) => builder.call(0, process, call),
            GeneratedEvent::Return(process, result) => builder.ret(0, &process, result),
            GeneratedEvent::Crash(process) => builder.crash(0, &process),
        })?;
        builder.finish(Ties::default())
    }

    /// Passes the events of this history to `each`, as they are recorded. After an error none are passed.
    pub fn recorded_events(
        &self,
        each: &mut dyn FnMut(GeneratedEvent) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let name = |process: u32| Value::from(i64::from(process));
        let mut failed = Ok(());
        self.events(&mut |event| {
            let event = match event {
                SnapshotEvent::UpdateCalled(process, value) => {
                    GeneratedEvent::Call(name(process), Call::new("update", value))
                }
                SnapshotEvent::ScanCalled(process) => {
                    GeneratedEvent::Call(name(process), Call::new("scan", Value::Nil))
                }
                SnapshotEvent::UpdateReturned(process) => {
                    GeneratedEvent::Return(name(process), Value::Nil)
                }
                SnapshotEvent::ScanReturned(process, values) => {
                    let values = values.into_iter().map(Value::from);
                    GeneratedEvent::Return(name(process), Value::list(values))
                }
                SnapshotEvent::Crashed(process) => GeneratedEvent::Crash(name(process)),
            };
            if failed.is_ok() {
                failed = each(event);
            }
        })?;
        failed
    }

    /// Passes all events to the caller, in the order of time.
    pub fn events(&self, each: &mut dyn FnMut(SnapshotEvent)) -> Result<(), Error> {
        let (needed_ops, needed_processes) = match self.fault {
            None => (0, 1),
            Some(fault) => {
                let (scans, scanners) = fault.scans();
                (scans + 2, scanners as u32 + 2)
            }
        };
        if self.processes < needed_processes || self.ops < needed_ops {
            return Err(Error::usage(format!(
                "this takes at least {needed_processes} processes and {needed_ops} operations"
            )));
        }
        let mut sampler = Sampler::new(self.seed, None);
        let spare = self.ops - needed_ops;
        let switches = match self.fault {
            // The operation before which each entry changes is random; it may be beyond the last one.
            None => [0, 1].map(|_| sampler.below(spare + spare / 4 + 1)),
            Some(_) => [usize::MAX; 2],
        };
        let before = match self.fault {
            None => spare,
            Some(_) => sampler.below(spare + 1),
        };
        let mut run = GeneratorRun {
            generator: self,
            sampler,
            each,
            entries: vec![0; self.processes as usize],
            states: (0..self.processes)
                .map(|process| (process, ProcessState::Idle))
                .collect(),
            called: 0,
            switches,
        };
        run.go_on(before);
        if let Some(fault) = self.fault {
            run.go_wrong(fault);
            run.switches = [0; 2];
            run.go_on(self.ops);
        }
        Ok(())
    }
}

/// The state of a process.
#[derive(Clone, Copy)]
enum ProcessState {
    Idle,
    /// It called an update with this value, or a scan, which has not taken effect.
    Called(Option<i64>),
    /// Its update took effect.
    Updated,
    /// Its scan took effect, and its result is known.
    Scanned,
}

struct GeneratorRun<'a> {
    generator: &'a SnapshotGenerator,
    sampler: Sampler,
    each: &'a mut dyn FnMut(SnapshotEvent),
    entries: Vec<i64>,
    states: Vec<(u32, ProcessState)>,
    /// The number of operations that were called.
    called: usize,
    /// In a simple history, the number of operations that are called before entries 0 and 1 change.
    switches: [usize; 2],
}

impl GeneratorRun<'_> {
    fn say(&mut self, event: SnapshotEvent) {
        (self.each)(event);
    }

    /// The value of the next update of a process.
    fn next_value(&mut self, process: u32) -> i64 {
        match self.generator.shape {
            SnapshotShape::Simple => {
                let switch = self.switches.get(process as usize);
                i64::from(switch.is_some_and(|&switch| self.called > switch))
            }
            SnapshotShape::General => self.sampler.value().as_int().unwrap_or_default(),
        }
    }

    fn call_update(&mut self, process: u32, value: i64) {
        self.called += 1;
        self.say(SnapshotEvent::UpdateCalled(process, value));
    }

    fn call_scan(&mut self, process: u32) {
        self.called += 1;
        self.say(SnapshotEvent::ScanCalled(process));
    }

    /// A scan returns the values of the entries, except for the given ones.
    fn return_scan(&mut self, process: u32, but: &[(u32, i64)]) {
        let mut values = self.entries.clone();
        but.iter()
            .for_each(|&(entry, value)| values[entry as usize] = value);
        if self.generator.shape == SnapshotShape::Simple {
            values.truncate(2);
        }
        self.say(SnapshotEvent::ScanReturned(process, values));
    }

    fn return_update(&mut self, process: u32, value: i64) {
        self.entries[process as usize] = value;
        self.say(SnapshotEvent::UpdateReturned(process));
    }

    /// Lets processes take turns at random until this many operations were called and all of them returned.
    fn go_on(&mut self, ops: usize) {
        // The result of the open scan of each process.
        let mut seen: Vec<Vec<i64>> = vec![Vec::new(); self.states.len()];
        while self.called < ops
            || self
                .states
                .iter()
                .any(|(_, state)| !matches!(state, ProcessState::Idle))
        {
            let chosen = self.sampler.below(self.states.len());
            let (process, state) = self.states[chosen];
            self.states[chosen].1 = match state {
                ProcessState::Idle if self.called >= ops => ProcessState::Idle,
                ProcessState::Idle if self.sampler.percent(50) => {
                    let value = self.next_value(process);
                    self.call_update(process, value);
                    ProcessState::Called(Some(value))
                }
                ProcessState::Idle => {
                    self.call_scan(process);
                    ProcessState::Called(None)
                }
                ProcessState::Called(update) => {
                    let may_crash = self.generator.shape == SnapshotShape::General || process > 1;
                    let pending = self.generator.pending_per_million as usize;
                    let crashes = may_crash && self.sampler.below(1_000_000) < pending;
                    let happens = !crashes || self.sampler.percent(50);
                    if let Some(value) = update.filter(|_| happens) {
                        self.entries[process as usize] = value;
                    }
                    if crashes {
                        self.say(SnapshotEvent::Crashed(process));
                        self.states[chosen].0 = self.entries.len() as u32;
                        self.entries.push(0);
                        ProcessState::Idle
                    } else if update.is_some() {
                        ProcessState::Updated
                    } else {
                        seen[chosen].clone_from(&self.entries);
                        if self.generator.shape == SnapshotShape::Simple {
                            seen[chosen].truncate(2);
                        }
                        ProcessState::Scanned
                    }
                }
                ProcessState::Updated => {
                    self.say(SnapshotEvent::UpdateReturned(process));
                    ProcessState::Idle
                }
                ProcessState::Scanned => {
                    let values = std::mem::take(&mut seen[chosen]);
                    self.say(SnapshotEvent::ScanReturned(process, values));
                    ProcessState::Idle
                }
            };
        }
    }

    /// Adds the fault: one wrong result, or two that contradict each other. The only other open operations are updates that no
    /// scan shows.
    fn go_wrong(&mut self, fault: SnapshotFault) {
        let mut free: Vec<u32> = self.states.iter().map(|&(process, _)| process).collect();
        let mut writers = match self.generator.shape {
            SnapshotShape::Simple => vec![0, 1],
            SnapshotShape::General => (0..2).map(|_| self.take_one(&mut free)).collect(),
        };
        free.retain(|process| !writers.contains(process));
        if self.sampler.percent(50) {
            writers.reverse();
        }
        self.switches = [0; 2];
        let (i, j) = (writers[0], writers[1]);
        let (new_i, new_j) = match self.generator.shape {
            SnapshotShape::Simple => (1, 1),
            SnapshotShape::General => (self.next_value(i), self.next_value(j)),
        };
        let old_i = self.entries[i as usize];
        let scanners: Vec<u32> = (0..fault.scans().1)
            .map(|_| self.take_one(&mut free))
            .collect();
        let (a, b) = (scanners[0], scanners[scanners.len() - 1]);
        let (scans, _) = fault.scans();
        let room = self.generator.ops - self.called - scans - 2;
        free.truncate(room);
        free.retain(|_| self.sampler.percent(50));
        let noise: Vec<(u32, i64)> = free
            .iter()
            .map(|&process| (process, self.next_value(process)))
            .collect();
        noise
            .iter()
            .for_each(|&(process, value)| self.call_update(process, value));
        match fault {
            SnapshotFault::Stale => {
                self.call_update(i, new_i);
                self.return_update(i, new_i);
                self.call_scan(a);
                self.return_scan(a, &[(i, old_i)]);
            }
            SnapshotFault::Future => {
                self.call_scan(a);
                self.return_scan(a, &[(i, new_i)]);
                self.call_update(i, new_i);
                self.return_update(i, new_i);
            }
            SnapshotFault::Decreasing => {
                self.call_update(i, new_i);
                self.call_scan(a);
                self.return_scan(a, &[(i, new_i)]);
                self.call_scan(b);
                self.return_scan(b, &[]);
                self.return_update(i, new_i);
            }
            SnapshotFault::Inversion => {
                self.call_update(i, new_i);
                self.call_update(j, new_j);
                self.call_scan(a);
                self.call_scan(b);
                self.return_scan(a, &[(i, new_i)]);
                self.return_scan(b, &[(j, new_j)]);
                self.return_update(i, new_i);
                self.return_update(j, new_j);
            }
            SnapshotFault::Order => {
                self.call_scan(a);
                self.call_update(i, new_i);
                self.return_update(i, new_i);
                self.call_update(j, new_j);
                self.return_scan(a, &[(i, old_i), (j, new_j)]);
                self.return_update(j, new_j);
            }
        }
        noise
            .iter()
            .for_each(|&(process, value)| self.return_update(process, value));
    }

    fn take_one(&mut self, free: &mut Vec<u32>) -> u32 {
        let chosen = self.sampler.below(free.len());
        free.swap_remove(chosen)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::history::{NEVER, precedes};
    use crate::{Checker, Config, EngineChoice, Verdict, object_type};

    /// An update with the ranks of its call and return.
    struct Update {
        value: i64,
        call: u32,
        ret: u32,
    }

    /// The names of all faults that a history has, by their definitions.
    fn faults(history: &History) -> BTreeSet<&'static str> {
        let processes = history.processes().iter();
        let last = processes.filter_map(Value::as_int).max().unwrap_or(0);
        let entries = last as usize + 1;
        // The updates that change each entry, after one for the initial value.
        let mut updates: Vec<Vec<Update>> = Vec::new();
        updates.resize_with(entries, || {
            vec![Update {
                value: 0,
                call: 0,
                ret: 0,
            }]
        });
        let mut scans = Vec::new();
        for op in history.ops() {
            let entry = op.process.as_int().unwrap() as usize;
            if op.method == "update" {
                let value = op.argument.as_int().unwrap();
                if updates[entry].last().unwrap().value != value {
                    updates[entry].push(Update {
                        value,
                        call: op.call,
                        ret: op.ret,
                    });
                }
            } else if let Some(values) = op.result.and_then(Value::as_list) {
                scans.push((op.call, op.ret, values));
            }
        }
        let seen: Vec<Vec<usize>> = scans
            .iter()
            .map(|(.., values)| {
                let one = |entry: usize| {
                    let value = values.get(entry).map_or(0, |value| value.as_int().unwrap());
                    updates[entry]
                        .iter()
                        .position(|update| update.value == value)
                        .unwrap()
                };
                (0..entries).map(one).collect()
            })
            .collect();
        let mut found = BTreeSet::new();
        for (s, &(call, ret, _)) in scans.iter().enumerate() {
            for i in 0..entries {
                let missed = updates[i].get(seen[s][i] + 1);
                if missed.is_some_and(|missed| precedes(missed.ret, call)) {
                    found.insert("stale");
                }
                if precedes(ret, updates[i][seen[s][i]].call) {
                    found.insert("future");
                }
                for j in 0..entries {
                    let shown = &updates[j][seen[s][j]];
                    let contradicts = |missed: &Update| {
                        precedes(missed.ret, shown.call) && !precedes(missed.ret, call)
                    };
                    if missed.is_some_and(contradicts) && !precedes(ret, shown.call) {
                        found.insert("order");
                    }
                }
            }
            for (t, &(later, ..)) in scans.iter().enumerate() {
                let behind = (0..entries).any(|i| seen[t][i] < seen[s][i]);
                let ahead = (0..entries).any(|i| seen[t][i] > seen[s][i]);
                if precedes(ret, later) && behind {
                    found.insert("decreasing");
                }
                if behind && ahead {
                    found.insert("inversion");
                }
            }
        }
        found
    }

    #[test]
    fn each_fault_is_the_only_one() {
        let checker = Checker::new(Config::default().verdicts_only());
        let brute = Checker::new(
            Config::default()
                .verdicts_only()
                .with_engine(EngineChoice::Brute),
        );
        let object = object_type("snapshot", &Default::default()).unwrap();
        let wanted = SnapshotFault::NAMES.map(|(name, fault)| (Some(name), Some(fault)));
        let mut pending = 0;
        for (name, fault) in wanted.into_iter().chain([(None, None)]) {
            for (seed, shape) in (0..300).flat_map(|seed| {
                [SnapshotShape::Simple, SnapshotShape::General].map(|shape| (seed, shape))
            }) {
                let generator = SnapshotGenerator {
                    ops: 4 + seed as usize / 10,
                    processes: 4 + seed as u32 % 3,
                    seed,
                    shape,
                    pending_per_million: 50_000 * (seed as u32 % 2),
                    fault,
                };
                let history = generator.history().unwrap();
                assert_eq!(history.len(), generator.ops);
                let found = faults(&history);
                assert_eq!(found, name.into_iter().collect(), "{shape:?}, {seed}");
                let judge = if generator.ops < 9 { &brute } else { &checker };
                let report = judge.check_recorded(&object, &history).unwrap();
                let is_bad = matches!(report.verdict, Verdict::Violation(_));
                assert_eq!(is_bad, fault.is_some(), "{shape:?}, {seed}");
                let report = checker.check_recorded(&object, &history).unwrap();
                assert_eq!(report.parts[0].engine, "monitor");
                pending += history.rets().iter().filter(|&&ret| ret == NEVER).count();
            }
        }
        assert!(pending > 100, "{pending}");
    }

    #[test]
    fn what_cannot_be_made_is_refused() {
        let generator = SnapshotGenerator {
            processes: 3,
            fault: Some(SnapshotFault::Inversion),
            ..SnapshotGenerator::default()
        };
        assert_eq!(
            generator.history().unwrap_err().to_string(),
            "this takes at least 4 processes and 4 operations"
        );
        assert!("odd".parse::<SnapshotFault>().is_err());
    }
}
