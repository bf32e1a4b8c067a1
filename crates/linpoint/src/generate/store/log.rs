//! Stores with one log of all writes. They differ in when a write comes into the log, and in how much of the log a read sees.

use super::{Answer, Key, LAG, Request, Store};
use crate::condition::{Condition, Guarantees};
use crate::spec::Sampler;

/// In how many of 100 turns a write that waits comes into the log.
const DELIVERIES: u32 = 30;

/// When writes come into the log.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// Before they return.
    AtOnce,
    /// Some time, those of a session in its order.
    LaterInOrder,
    /// Some time, in any order.
    LaterInAnyOrder,
}

/// How much of the log a read sees.
#[derive(Clone, Copy)]
enum Reads {
    /// Some beginning, with what its session is bound to see.
    Beginning(Bound),
    /// Of the key, one of the last so many values.
    Last(usize),
    /// All that had returned when it was called, and of the rest some beginning. Writes come into the log when they are called.
    Returned,
}

/// What reads of a session are bound to see.
#[derive(Clone, Copy, Default)]
struct Bound {
    /// What the session wrote.
    own_writes: bool,
    /// What earlier reads of the session saw.
    earlier_reads: bool,
    /// Of each key by itself.
    by_key: bool,
}

pub(super) fn store(condition: Condition, sessions: usize, keys: usize) -> Option<Box<dyn Store>> {
    const RYW: Guarantees = Guarantees::READ_YOUR_WRITES;
    const MR: Guarantees = Guarantees::MONOTONIC_READS;
    let bound = |own_writes, earlier_reads| Bound {
        own_writes,
        earlier_reads,
        by_key: false,
    };
    let both = Reads::Beginning(bound(true, true));
    let ryw = Reads::Beginning(bound(true, false));
    let mr = Reads::Beginning(bound(false, true));
    let by_key = Reads::Beginning(Bound {
        by_key: true,
        ..bound(true, true)
    });
    let (writes, reads) = match condition {
        Condition::WriteLinearizable => (Writes::AtOnce, both),
        Condition::Sequential => (Writes::LaterInOrder, both),
        Condition::Coherent => (Writes::AtOnce, by_key),
        Condition::KAtomic(Some(k)) => (Writes::AtOnce, Reads::Last(k as usize)),
        Condition::RegularAgreed => (Writes::AtOnce, Reads::Returned),
        Condition::Sessions(set) if set == RYW.with(MR) => (Writes::LaterInAnyOrder, both),
        Condition::Sessions(set) if set == RYW => (Writes::AtOnce, ryw),
        Condition::Sessions(set) if set == MR => (Writes::LaterInAnyOrder, mr),
        Condition::Sessions(set) if set == MR.with(Guarantees::MONOTONIC_WRITES) => {
            (Writes::AtOnce, mr)
        }
        _ => return None,
    };
    Some(Box::new(Logged {
        writes,
        reads,
        length: 0,
        values: vec![Vec::new(); keys],
        waiting: vec![Vec::new(); sessions],
        seen: vec![vec![0; keys]; sessions],
        called: vec![0; sessions],
        returned: vec![0; keys],
    }))
}

struct Logged {
    writes: Writes,
    reads: Reads,
    length: usize,
    /// By key: places in the log, and the values there.
    values: Vec<Vec<(usize, i64)>>,
    /// By session: writes that are not in the log yet.
    waiting: Vec<Vec<(Key, i64)>>,
    /// By session and key: how much of the log it is bound to see.
    seen: Vec<Vec<usize>>,
    /// By session: how much of the log had returned when it called.
    called: Vec<usize>,
    /// By key: how much of the log had returned.
    returned: Vec<usize>,
}

impl Logged {
    fn append(&mut self, session: usize, key: Key, value: i64) {
        self.values[key].push((self.length, value));
        self.length += 1;
        if let Reads::Beginning(bound) = self.reads
            && bound.own_writes
        {
            self.see(session, key, bound, self.length);
        }
    }

    /// From now on a session is bound to see so much.
    fn see(&mut self, session: usize, key: Key, bound: Bound, length: usize) {
        let seen = &mut self.seen[session];
        match bound.by_key {
            true => seen[key] = seen[key].max(length),
            false => seen.iter_mut().for_each(|seen| *seen = length.max(*seen)),
        }
    }

    /// The next write of a session comes into the log, if one waits.
    fn deliver(&mut self, session: usize, sampler: &mut Sampler) {
        let waiting = self.waiting[session].len();
        if waiting > 0 {
            let next = match self.writes {
                Writes::LaterInAnyOrder => sampler.below(waiting),
                _ => 0,
            };
            let (key, value) = self.waiting[session].remove(next);
            self.append(session, key, value);
        }
    }

    fn read(&mut self, session: usize, key: Key, sampler: &mut Sampler) -> Option<i64> {
        let length = match self.reads {
            Reads::Beginning(bound) => {
                if bound.own_writes {
                    while !self.waiting[session].is_empty() {
                        self.deliver(session, sampler);
                    }
                }
                let oldest = self.length.saturating_sub(sampler.below(LAG));
                let length = oldest.max(self.seen[session][key]);
                if bound.earlier_reads {
                    self.see(session, key, bound, length);
                }
                length
            }
            Reads::Last(count) => {
                let values = &self.values[key];
                let back = sampler.below(count);
                return values.iter().rev().nth(back).map(|&(_, value)| value);
            }
            Reads::Returned => {
                let (least, most) = (self.called[session], self.length);
                least + sampler.below(most - least + 1)
            }
        };
        let values = &self.values[key];
        let visible = values.partition_point(|&(place, _)| place < length);
        visible.checked_sub(1).map(|last| values[last].1)
    }
}

impl Store for Logged {
    fn call(&mut self, session: usize, request: &Request, _: &mut Sampler) {
        match (self.reads, request) {
            (_, Request::Get(key)) => self.called[session] = self.returned[*key],
            (Reads::Returned, &Request::Put(key, value)) => self.append(session, key, value),
            _ => {}
        }
    }

    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        let other = sampler.below(self.waiting.len());
        if sampler.percent(DELIVERIES) {
            self.deliver(other, sampler);
        }
        match *request {
            Request::Put(key, value) => {
                match (self.writes, self.reads) {
                    (Writes::AtOnce, Reads::Returned) => {}
                    (Writes::AtOnce, _) => self.append(session, key, value),
                    _ => self.waiting[session].push((key, value)),
                }
                Answer::Done
            }
            Request::Get(key) => Answer::Read(vec![self.read(session, key, sampler)]),
            Request::Transaction(_) => Answer::Aborted,
        }
    }

    fn end(&mut self, _: usize, request: &Request) {
        if let (Reads::Returned, &Request::Put(key, value)) = (self.reads, request) {
            let place = self.values[key].iter().rev().find(|(_, of)| *of == value);
            if let Some(&(place, _)) = place {
                self.returned[key] = self.returned[key].max(place + 1);
            }
        }
    }
}
