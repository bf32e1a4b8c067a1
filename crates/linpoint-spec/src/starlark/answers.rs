//! Answers as values of histories, each of which is made once.

use std::sync::{PoisonError, RwLock};

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use linpoint::Value;

use crate::flat::{Flat, Reader, Text};

/// The answers of a model. Equal ones share their memory, and so do equal texts in them.
#[derive(Debug, Default)]
pub(super) struct Answers(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    answers: HashMap<Flat, Value, FixedState>,
    texts: HashMap<Vec<u8>, Value, FixedState>,
}

impl Answers {
    /// The value of these data.
    pub(super) fn read(&self, data: &[u8]) -> Value {
        self.get(data, |known| {
            let mut text = |written: Text<'_>| {
                let known = known.texts.entry_ref(written.bytes());
                known
                    .or_insert_with(|| Value::from(written.as_str()))
                    .clone()
            };
            Reader::new(data).value_of_texts(&mut text)
        })
    }

    /// The value of these data, which is equal to `value`.
    pub(super) fn of(&self, data: &[u8], value: &Value) -> Value {
        self.get(data, |_| value.clone())
    }

    fn get(&self, data: &[u8], make: impl FnOnce(&mut Known) -> Value) -> Value {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.answers.get(data) {
            return known.clone();
        }
        drop(known);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let answer = make(&mut known);
        if !matches!(answer, Value::Nil | Value::Bool(_) | Value::Int(_)) {
            let known = known.answers.entry(Flat::from(data));
            return known.or_insert(answer).clone();
        }
        answer
    }
}
