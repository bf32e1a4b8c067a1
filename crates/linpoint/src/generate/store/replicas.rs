//! Stores with a copy of everything for each session, to which the writes of the others come later.

use super::{Answer, Key, Request, Store};
use crate::condition::Condition;
use crate::spec::Sampler;

/// What copies keep to.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// A write comes after all that its session had seen, not only after the earlier ones of its session.
    pub(super) is_causal: bool,
    /// Of two writes, the one with the larger time stamp stays, not the one that came later.
    pub(super) is_convergent: bool,
}

pub(super) fn store(condition: Condition, sessions: usize, keys: usize) -> Option<Box<dyn Store>> {
    let (is_causal, is_convergent) = match condition {
        Condition::CausalConvergence => (true, true),
        Condition::CausalMemory => (true, false),
        Condition::Pram => (false, false),
        _ => return None,
    };
    let rules = Rules {
        is_causal,
        is_convergent,
    };
    Some(Box::new(Replicas::new(rules, sessions, keys)))
}

/// Writes of a session that come to others together.
struct Message {
    writes: Vec<(Key, i64)>,
    stamp: u64,
    /// How many messages of each session its own had seen.
    after: Vec<usize>,
}

/// What a session sees.
struct Copy {
    /// By key: the value, with its stamp and the session that wrote it.
    values: Vec<Option<(u64, usize, i64)>>,
    /// How many messages of each session have come.
    came: Vec<usize>,
    clock: u64,
}

pub(super) struct Replicas {
    rules: Rules,
    copies: Vec<Copy>,
    sent: Vec<Vec<Message>>,
}

impl Replicas {
    pub(super) fn new(rules: Rules, sessions: usize, keys: usize) -> Self {
        let copy = |_| Copy {
            values: vec![None; keys],
            came: vec![0; sessions],
            clock: 0,
        };
        Replicas {
            rules,
            copies: (0..sessions).map(copy).collect(),
            sent: (0..sessions).map(|_| Vec::new()).collect(),
        }
    }

    /// Some messages come to a session.
    pub(super) fn receive(&mut self, session: usize, sampler: &mut Sampler) {
        for _ in 0..sampler.below(2 * self.sent.len()) {
            let from = sampler.below(self.sent.len());
            let copy = &mut self.copies[session];
            let Some(message) = self.sent[from].get(copy.came[from]) else {
                continue;
            };
            let mut after = message.after.iter().zip(&copy.came);
            if from != session
                && (!self.rules.is_causal || after.all(|(after, came)| after <= came))
            {
                copy.came[from] += 1;
                copy.take(message, from, self.rules);
            }
        }
    }

    pub(super) fn send(&mut self, session: usize, writes: Vec<(Key, i64)>) {
        let copy = &mut self.copies[session];
        let message = Message {
            writes,
            stamp: copy.clock + 1,
            after: copy.came.clone(),
        };
        copy.came[session] += 1;
        copy.take(&message, session, self.rules);
        self.sent[session].push(message);
    }

    pub(super) fn read(&self, session: usize, key: Key) -> Option<i64> {
        self.copies[session].values[key].map(|(.., value)| value)
    }
}

impl Copy {
    fn take(&mut self, message: &Message, from: usize, rules: Rules) {
        self.clock = self.clock.max(message.stamp);
        for &(key, value) in &message.writes {
            let held = &mut self.values[key];
            let is_newer =
                held.is_none_or(|(stamp, writer, _)| (stamp, writer) <= (message.stamp, from));
            if !rules.is_convergent || is_newer {
                *held = Some((message.stamp, from, value));
            }
        }
    }
}

impl Store for Replicas {
    fn answer(&mut self, session: usize, request: &Request, sampler: &mut Sampler) -> Answer {
        self.receive(session, sampler);
        match *request {
            Request::Put(key, value) => {
                self.send(session, vec![(key, value)]);
                Answer::Done
            }
            Request::Get(key) => Answer::Read(vec![self.read(session, key)]),
            Request::Transaction(_) => Answer::Aborted,
        }
    }
}
