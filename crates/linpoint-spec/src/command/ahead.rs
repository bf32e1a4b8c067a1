//! Questions about calls that are asked before their answers are needed.

use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use linpoint::Value;

use super::protocol::Topic;
use crate::model::ModelCall;

/// A call, with its result if that is known.
pub(super) type Subject = (ModelCall, Option<Value>);

/// The most calls of one question.
const MOST_CALLS: usize = 1000;

/// Calls that the program will be asked about, and the answers that came early.
///
/// All calls of a history are decoded before the first one is asked about, so a question about one of them can be about
/// all: a round trip takes much longer than an answer.
#[derive(Debug, Default)]
pub(super) struct Ahead(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    /// Calls whose keys will be asked for.
    keys: Vec<Subject>,
    /// Calls and results whose purity will be asked for.
    pure: Vec<Subject>,
    early: HashMap<(Topic, Subject), Value, FixedState>,
}

impl Table {
    /// What will be asked about, of this topic. Questions of the other topics are about one call.
    fn expected(&mut self, topic: Topic) -> Option<&mut Vec<Subject>> {
        match topic {
            Topic::Key => Some(&mut self.keys),
            Topic::IsPure => Some(&mut self.pure),
            Topic::Steps | Topic::Validate | Topic::Describe => None,
        }
    }
}

impl Ahead {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A history has this call: a question of this topic about it is expected.
    pub(super) fn expect(&self, topic: Topic, subject: Subject) {
        if let Some(expected) = self.lock().expected(topic) {
            expected.push(subject);
        }
    }

    /// The answer, if it came early. It is not kept, since the caller remembers it.
    pub(super) fn take(&self, topic: Topic, subject: &Subject) -> Option<Value> {
        self.lock().early.remove(&(topic, subject.clone()))
    }

    /// What to ask about in a question about `subject`: that first, then others.
    pub(super) fn with_others(&self, topic: Topic, subject: Subject) -> Vec<Subject> {
        let mut table = self.lock();
        let mut all = vec![subject];
        if let Some(expected) = table.expected(topic) {
            let others = take(expected).into_iter().filter(|other| *other != all[0]);
            let others: Vec<Subject> = others.collect();
            all.extend(others);
            *expected = all.split_off(all.len().min(MOST_CALLS));
        }
        all
    }

    /// Keeps answers until they are asked for.
    pub(super) fn keep(&self, topic: Topic, answers: impl Iterator<Item = (Subject, Value)>) {
        let mut table = self.lock();
        for (subject, answer) in answers {
            table.early.insert((topic, subject), answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_is_about_all_calls_that_are_expected() {
        let ahead = Ahead::default();
        let subject = |argument: usize| {
            let call = ModelCall {
                process: Value::Nil,
                method: "get".into(),
                argument: Value::from(argument as i64),
            };
            (call, None)
        };
        for argument in 0..MOST_CALLS + 10 {
            ahead.expect(Topic::Key, subject(argument));
        }
        let asked = ahead.with_others(Topic::Key, subject(7));
        assert_eq!(asked.len(), MOST_CALLS);
        assert_eq!(asked[0], subject(7));
        let answers = asked.into_iter().map(|subject| (subject, Value::from("k")));
        ahead.keep(Topic::Key, answers);
        assert_eq!(ahead.take(Topic::IsPure, &subject(3)), None);
        assert_eq!(ahead.take(Topic::Key, &subject(3)), Some("k".into()));
        assert_eq!(ahead.take(Topic::Key, &subject(3)), None);
        let last = subject(MOST_CALLS + 5);
        assert_eq!(ahead.take(Topic::Key, &last), None);
        // The ten that are left.
        assert_eq!(ahead.with_others(Topic::Key, last.clone()).len(), 10);
        assert_eq!(ahead.with_others(Topic::Key, last.clone()).len(), 1);
        assert_eq!(ahead.with_others(Topic::Validate, last).len(), 1);
    }
}
