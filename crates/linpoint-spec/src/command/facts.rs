//! What a program said about calls, and which calls it has not been asked about.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use linpoint::Value;

use super::protocol::Topic;
use crate::model::ModelCall;

/// A call, with its result if that is known.
pub(super) type Subject = (ModelCall, Option<Value>);

/// The most calls of one question.
const MOST_CALLS: usize = 1000;

/// The answers about calls.
///
/// All calls of a history are decoded before the first one is asked about, so a question about one of them can be about
/// all: a round trip takes much longer than an answer.
#[derive(Debug, Default)]
pub(super) struct Facts(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    known: HashMap<(Topic, Subject), Value, FixedState>,
    seen: HashSet<Subject, FixedState>,
    /// Those of `seen` that the program was not asked about.
    fresh: Fresh,
}

#[derive(Debug, Default)]
struct Fresh {
    keys: Vec<Subject>,
    pure: Vec<Subject>,
    /// Nothing: questions of other topics are about one call.
    others: Vec<Subject>,
}

impl Fresh {
    fn about(&mut self, topic: Topic) -> &mut Vec<Subject> {
        match topic {
            Topic::Key => &mut self.keys,
            Topic::IsPure => &mut self.pure,
            Topic::Steps | Topic::Validate | Topic::Describe => &mut self.others,
        }
    }
}

impl Facts {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A history has this call, or this result of it.
    pub(super) fn saw(&self, call: &ModelCall, result: Option<&Value>) {
        let subject = (call.clone(), result.cloned());
        let mut table = self.lock();
        if !table.seen.insert(subject.clone()) {
            return;
        }
        // Keys do not depend on results, and most calls have one.
        match result {
            None => table.fresh.keys.push(subject),
            Some(_) => table.fresh.pure.push(subject),
        }
    }

    pub(super) fn get(&self, topic: Topic, subject: &Subject) -> Option<Value> {
        self.lock().known.get(&(topic, subject.clone())).cloned()
    }

    /// What to ask about in a question of this topic: `subject` first, then others that were not asked about.
    pub(super) fn to_ask(&self, topic: Topic, subject: Subject) -> Vec<Subject> {
        let mut table = self.lock();
        let fresh = table.fresh.about(topic);
        let others = take(fresh).into_iter().filter(|other| *other != subject);
        let others: Vec<Subject> = others.collect();
        let mut all = vec![subject];
        all.extend(others);
        *fresh = all.split_off(all.len().min(MOST_CALLS));
        all
    }

    pub(super) fn insert(&self, topic: Topic, subjects: Vec<Subject>, answers: Vec<Value>) {
        let mut table = self.lock();
        for (subject, answer) in subjects.into_iter().zip(answers) {
            table.known.insert((topic, subject), answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_is_about_all_calls_that_were_seen() {
        let facts = Facts::default();
        let call = |argument: usize| ModelCall {
            process: Value::Nil,
            method: "get".into(),
            argument: Value::from(argument as i64),
        };
        for argument in 0..MOST_CALLS + 10 {
            facts.saw(&call(argument), None);
            facts.saw(&call(argument), None);
            facts.saw(&call(argument), Some(&Value::Nil));
        }
        let asked = facts.to_ask(Topic::Key, (call(7), None));
        assert_eq!(asked.len(), MOST_CALLS);
        assert_eq!(asked[0], (call(7), None));
        let answers = vec![Value::from("k"); asked.len()];
        facts.insert(Topic::Key, asked, answers);
        assert_eq!(facts.get(Topic::Key, &(call(3), None)), Some("k".into()));
        assert_eq!(facts.get(Topic::IsPure, &(call(3), None)), None);
        let last = (call(MOST_CALLS + 5), None);
        assert_eq!(facts.get(Topic::Key, &last), None);
        // The ten that are left.
        assert_eq!(facts.to_ask(Topic::Key, last).len(), 10);
        // The others would not be asked about.
        assert_eq!(facts.to_ask(Topic::Validate, (call(1), None)).len(), 1);
    }
}
