//! Searches for an order of transactions on registers, over how far each session is. With distinct values the positions alone determine
//! every value that will still be read.

use foldhash::fast::FixedState;
use hashbrown::HashSet;

use crate::budget::{Limit, Ticker};
use crate::history::{NEVER, OpId};

use super::log::{Log, Txn};
use super::observed::Observed;
use super::replay::Moment;

/// What the transactions may do while others are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rules {
    /// Nothing: they run one after the other.
    Serial,
    /// They read a snapshot, and of two concurrent ones that write the same key only one commits.
    Snapshot,
    /// They read a snapshot.
    Prefix,
}

/// Which transactions have an order among themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Those of a session.
    Sessions,
    /// None.
    None,
}

/// What a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) rules: Rules,
    pub(super) lines: Lines,
    /// How many events after the return of a transaction that is not done another one may be called and start before it:
    /// none where the order is that of time.
    pub(super) ahead: u32,
}

impl Plan {
    /// Transactions may start in any order that their lines allow.
    pub(super) const ANY_TIME: u32 = NEVER;
}

/// Looks for a schedule; `None` if there is none. A serial one commits each transaction when it starts.
pub(super) fn search(
    log: &Log<'_>,
    observed: &Observed,
    plan: Plan,
    ticker: &mut Ticker<'_>,
) -> Result<Option<Vec<Moment>>, Limit> {
    Search::new(log, observed, plan).run(ticker)
}

/// A step of a schedule, and what it takes to undo it.
struct Done {
    line: usize,
    moment: Moment,
    /// The versions that were overwritten.
    overwritten: Vec<(u32, Txn)>,
    /// The lines that are still to be tried instead; none if this step does no harm.
    others: Vec<usize>,
}

struct Search<'a> {
    observed: &'a Observed,
    rets: &'a [u32],
    calls: &'a [u32],
    rules: Rules,
    ahead: u32,
    lines: Vec<Vec<Txn>>,
    /// By line: how many half steps were made. A transaction starts with the first and commits with the second.
    halves: Vec<u32>,
    /// By key: who wrote the current version.
    current: Vec<Txn>,
    /// By [slot](Observed::slot): how many transactions still have to read the version.
    readers: Vec<u32>,
    /// By key: how many open transactions write it.
    writing: Vec<u32>,
    /// What identifies the positions, and all that were seen.
    fingerprint: u128,
    seen: HashSet<u128, FixedState>,
    done: Vec<Done>,
    left: usize,
}

impl<'a> Search<'a> {
    fn new(log: &'a Log<'_>, observed: &'a Observed, plan: Plan) -> Self {
        let lines: Vec<Vec<Txn>> = match plan.lines {
            Lines::None => observed.txns.iter().map(|&txn| vec![txn]).collect(),
            Lines::Sessions => {
                let sessions = 0..observed.sessions.rows();
                let rows = sessions.map(|session| observed.sessions.row(session).to_vec());
                rows.filter(|row| !row.is_empty()).collect()
            }
        };
        let mut readers = vec![0; observed.slots()];
        for &txn in &observed.txns {
            for slot in read_slots(observed, txn) {
                readers[slot] += 1;
            }
        }
        Search {
            observed,
            rets: log.history.rets(),
            calls: log.history.calls(),
            rules: plan.rules,
            ahead: plan.ahead,
            halves: vec![0; lines.len()],
            lines,
            current: vec![observed.initial; observed.keys],
            readers,
            writing: vec![0; observed.keys],
            fingerprint: 0,
            seen: HashSet::with_hasher(FixedState::default()),
            done: Vec::new(),
            left: observed.txns.len(),
        }
    }

    fn run(mut self, ticker: &mut Ticker<'_>) -> Result<Option<Vec<Moment>>, Limit> {
        self.seen.insert(self.fingerprint);
        let mut choices = self.choices(ticker)?;
        while self.left > 0 {
            ticker.tick()?;
            let Some(line) = choices.pop() else {
                match self.undo() {
                    Some(others) => choices = others,
                    None => return Ok(None),
                }
                continue;
            };
            self.step(line, choices);
            choices = match self.seen.insert(self.fingerprint) {
                true => self.choices(ticker)?,
                false => Vec::new(),
            };
        }
        Ok(Some(
            self.done.into_iter().map(|done| done.moment).collect(),
        ))
    }

    /// The transaction of a line that is open or next, unless all are done.
    fn next(&self, line: usize) -> Option<Txn> {
        self.lines[line]
            .get(self.halves[line] as usize / 2)
            .copied()
    }

    fn is_open(&self, line: usize) -> bool {
        self.halves[line] % 2 == 1
    }

    /// The lines that can go on, the most urgent one last. One that does no harm is the only choice.
    fn choices(&self, ticker: &mut Ticker<'_>) -> Result<Vec<usize>, Limit> {
        let returned = |line: usize| self.next(line).map_or(NEVER, |txn| self.rets[txn as usize]);
        let first_return = match self.ahead {
            Plan::ANY_TIME => NEVER,
            _ => (0..self.lines.len()).map(returned).min().unwrap_or(NEVER),
        };
        let latest_call = first_return.saturating_add(self.ahead);
        let mut choices = Vec::new();
        for line in 0..self.lines.len() {
            let Some(txn) = self.next(line) else { continue };
            if self.is_open(line) {
                if self.observed.writes(txn).is_empty() {
                    return Ok(vec![line]);
                }
                if self.can_commit(txn) {
                    choices.push(line);
                }
                continue;
            }
            ticker.tick()?;
            if self.calls[txn as usize] > latest_call || !self.can_start(txn) {
                continue;
            }
            // A transaction that writes nothing can always go first; so can any snapshot where writes do not conflict.
            if self.observed.writes(txn).is_empty() || self.rules == Rules::Prefix {
                return Ok(vec![line]);
            }
            if self.is_atomic() && !self.can_commit(txn) {
                continue;
            }
            choices.push(line);
        }
        choices.sort_by_key(|&line| std::cmp::Reverse(returned(line)));
        Ok(choices)
    }

    fn is_atomic(&self) -> bool {
        self.rules == Rules::Serial
    }

    fn can_start(&self, txn: Txn) -> bool {
        let reads = self.observed.reads(txn).iter();
        let writes = self.observed.writes(txn).iter();
        reads
            .into_iter()
            .all(|read| self.current[read.key as usize] == read.from)
            && (self.rules != Rules::Snapshot
                || writes
                    .into_iter()
                    .all(|&key| self.writing[key as usize] == 0))
    }

    /// Whether no transaction that did not start has to read a version that this one overwrites.
    fn can_commit(&self, txn: Txn) -> bool {
        self.observed.writes(txn).iter().all(|&key| {
            let version = self.current[key as usize];
            let mut reads = self.observed.reads(txn).iter();
            let reads_it = |read: &super::observed::Read| read.key == key && read.from == version;
            let own = u32::from(self.is_atomic() && reads.any(reads_it));
            let slot = self.observed.slot(version, key);
            slot.is_none_or(|slot| self.readers[slot] <= own)
        })
    }

    fn step(&mut self, line: usize, others: Vec<usize>) {
        let Some(txn) = self.next(line) else { return };
        let (id, is_start) = (OpId(txn), !self.is_open(line));
        let mut overwritten = Vec::new();
        if is_start {
            for slot in read_slots(self.observed, txn) {
                self.readers[slot] -= 1;
            }
            for &key in self.observed.writes(txn) {
                self.writing[key as usize] += 1;
            }
        }
        if !is_start || self.is_atomic() {
            for &key in self.observed.writes(txn) {
                self.writing[key as usize] -= 1;
                let before = std::mem::replace(&mut self.current[key as usize], txn);
                overwritten.push((key, before));
            }
            self.left -= 1;
        }
        let halves = 1 + u32::from(self.is_atomic());
        self.halves[line] += halves;
        self.fingerprint = self
            .fingerprint
            .wrapping_add(weight(line).wrapping_mul(u128::from(halves)));
        let moment = match is_start {
            true => Moment::Start(id),
            false => Moment::Commit(id),
        };
        self.done.push(Done {
            line,
            moment,
            overwritten,
            others,
        });
    }

    /// Takes the last step back, and returns what can be done instead; `None` at the beginning.
    fn undo(&mut self) -> Option<Vec<usize>> {
        let done = self.done.pop()?;
        let (Moment::Start(id) | Moment::Commit(id)) = done.moment;
        let txn = id.0;
        let halves = 1 + u32::from(self.is_atomic());
        self.halves[done.line] -= halves;
        self.fingerprint = self
            .fingerprint
            .wrapping_sub(weight(done.line).wrapping_mul(u128::from(halves)));
        let is_start = !self.is_open(done.line);
        if !is_start || self.is_atomic() {
            for (key, before) in done.overwritten {
                self.current[key as usize] = before;
                self.writing[key as usize] += 1;
            }
            self.left += 1;
        }
        if is_start {
            for slot in read_slots(self.observed, txn) {
                self.readers[slot] += 1;
            }
            for &key in self.observed.writes(txn) {
                self.writing[key as usize] -= 1;
            }
        }
        Some(done.others)
    }
}

/// The versions that a transaction reads, each once.
fn read_slots(observed: &Observed, txn: Txn) -> impl Iterator<Item = usize> + '_ {
    let reads = observed.reads(txn);
    let distinct = reads
        .iter()
        .enumerate()
        .filter(|(i, read)| !reads[..*i].contains(read));
    distinct.filter_map(|(_, read)| observed.slot(read.from, read.key))
}

/// A number for each line that looks random, so that different positions have different sums in practice.
fn weight(line: usize) -> u128 {
    let mix = |seed: u64| {
        let mut x = (line as u64 + 1).wrapping_mul(seed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        u128::from(x ^ (x >> 31))
    };
    (mix(0x9e37_79b9_7f4a_7c15) << 64) | mix(0xd1b5_4a32_d192_ed03)
}
