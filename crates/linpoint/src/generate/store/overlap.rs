//! Registers that promise something of reads only where no write overlaps them, or no operation at all.

use super::{Answer, Key, Request, Store};
use crate::condition::Condition;
use crate::spec::Sampler;

pub(super) fn store(condition: Condition, sessions: usize, keys: usize) -> Option<Box<dyn Store>> {
    match condition {
        Condition::Regular | Condition::Safe => Some(Box::new(Registers {
            is_regular: condition == Condition::Regular,
            now: 0,
            called: vec![None; sessions],
            writes: (0..keys).map(|_| Vec::new()).collect(),
        })),
        Condition::Quiescent => Some(Box::new(Unordered {
            stable: vec![None; keys],
            written: vec![Vec::new(); keys],
        })),
        _ => None,
    }
}

struct Write {
    value: i64,
    call: u64,
    /// None while it is open.
    end: Option<u64>,
}

/// Registers whose reads may return what overlaps them, or the last before them; safe ones anything where a write overlaps them.
struct Registers {
    is_regular: bool,
    now: u64,
    /// By session: when its open operation was called.
    called: Vec<Option<u64>>,
    writes: Vec<Vec<Write>>,
}

impl Registers {
    fn read(&self, session: usize, key: Key, sampler: &mut Sampler) -> Option<i64> {
        let (writes, call) = (&self.writes[key], self.called[session].unwrap_or(self.now));
        let had_returned = |write: &&Write| write.end.is_some_and(|end| end < call);
        let overlaps = writes.iter().any(|write| !had_returned(&write));
        if !self.is_regular && overlaps {
            return Some(writes[sampler.below(writes.len())].value);
        }
        // The last that was begun of those that had returned: what returned before its call is overwritten.
        let latest = writes.iter().filter(had_returned).map(|write| write.call);
        let latest = latest.max();
        let is_current = |write: &&Write| match (write.end, latest) {
            (Some(end), Some(latest)) => end >= latest,
            _ => true,
        };
        let mut values: Vec<Option<i64>> = writes
            .iter()
            .filter(is_current)
            .map(|write| Some(write.value))
            .collect();
        if latest.is_none() {
            values.push(None);
        }
        values[sampler.below(values.len())]
    }
}

impl Registers {
    /// Leaves out old writes that no read may return any more, now and then.
    fn forget(&mut self, key: Key) {
        const KEPT: usize = 16;
        let writes = &mut self.writes[key];
        if writes.len() <= 4 * KEPT + self.called.len() {
            return;
        }
        let oldest = self
            .called
            .iter()
            .flatten()
            .min()
            .copied()
            .unwrap_or(self.now);
        let had_returned = |write: &&Write| write.end.is_some_and(|end| end < oldest);
        let latest = writes.iter().filter(had_returned).map(|write| write.call);
        let latest = latest.max().unwrap_or(0);
        let mut left = writes.len();
        writes.retain(|write| {
            left -= 1;
            left < KEPT || write.end.is_none_or(|end| end >= latest)
        });
    }
}

impl Store for Registers {
    fn call(&mut self, session: usize, request: &Request, _: &mut Sampler) {
        self.now += 1;
        self.called[session] = Some(self.now);
        if let Request::Put(key, value) = *request {
            let write = Write {
                value,
                call: self.now,
                end: None,
            };
            self.writes[key].push(write);
        }
    }

    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        match *request {
            Request::Put(..) => Answer::Done,
            Request::Get(key) => Answer::Read(vec![self.read(session, key, sampler)]),
            Request::Transaction(_) => Answer::Aborted,
        }
    }

    fn end(&mut self, session: usize, request: &Request) {
        self.now += 1;
        self.called[session] = None;
        if let Request::Put(key, value) = *request {
            let mut writes = self.writes[key].iter_mut().rev();
            if let Some(write) = writes.find(|write| write.value == value) {
                write.end = Some(self.now);
            }
            self.forget(key);
        }
    }
}

/// A store that orders operations only where all pause.
struct Unordered {
    /// By key: what it held at the last pause.
    stable: Vec<Option<i64>>,
    /// By key: what was written since.
    written: Vec<Vec<i64>>,
}

impl Store for Unordered {
    fn call(&mut self, _: usize, request: &Request, _: &mut Sampler) {
        if let Request::Put(key, value) = *request {
            self.written[key].push(value);
        }
    }

    fn answer(&mut self, _: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        match *request {
            Request::Put(..) => Answer::Done,
            Request::Get(key) => {
                let written = &self.written[key];
                let value = written.get(sampler.below(written.len() + 1)).copied();
                Answer::Read(vec![value.or(self.stable[key])])
            }
            Request::Transaction(_) => Answer::Aborted,
        }
    }

    fn rest(&mut self, sampler: &mut Sampler) {
        for (stable, written) in self.stable.iter_mut().zip(&mut self.written) {
            if !written.is_empty() {
                *stable = Some(written[sampler.below(written.len())]);
                written.clear();
            }
        }
    }
}
