//! A generator of identifiers of which no two are the same.

use super::{
    CallView, DecodeError, Keys, Kind, Outcomes, Recorded, Role, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// A generator of identifiers.
#[derive(Clone, Debug)]
pub struct UniqueIds;

/// An operation on [`UniqueIds`]: answers an identifier that no operation answered before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Generate {
    /// Answers this one.
    Id(Value),
    /// Is pending. It does nothing to the others: they can do without it, and it can always be left out.
    Pending,
    /// Answers any one.
    Fresh,
}

/// The identifiers that were answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Answered {
    /// All numbers from 1 to this one.
    numbers: i64,
    /// The others, sorted. Invariant: the number after `numbers` is not among them.
    others: Vec<Value>,
}

impl Answered {
    fn contains(&self, id: &Value) -> bool {
        matches!(id, Value::Int(id) if (1..=self.numbers).contains(id))
            || self.others.binary_search(id).is_ok()
    }

    fn insert(&mut self, id: Value) {
        let Err(place) = self.others.binary_search(&id) else {
            return;
        };
        self.others.insert(place, id);
        while let Some(next) = self.next_number()
            && let Ok(place) = self.others.binary_search(&Value::Int(next))
        {
            self.others.remove(place);
            self.numbers = next;
        }
    }

    fn next_number(&self) -> Option<i64> {
        self.numbers.checked_add(1)
    }

    fn sorted(&self) -> Vec<Value> {
        let numbers = (1..=self.numbers).map(Value::Int);
        let mut all: Vec<Value> = numbers.chain(self.others.iter().cloned()).collect();
        all.sort_unstable();
        all
    }
}

impl Spec for UniqueIds {
    type Op = Generate;
    type Ret = Value;
    type State = Answered;

    fn init(&self) -> Answered {
        Answered::default()
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary {
            object: "the list of ids given out",
            put: "given out",
            taken: "taken back",
            place: "id",
            keys: Keys::Identifiers,
            ..Vocabulary::default()
        }
    }

    fn state_words(&self, state: &Answered, key: Option<&Value>) -> String {
        match key {
            Some(key) => self.vocabulary().two_states(state.contains(key), Some(key)),
            None => words::members(self.vocabulary().object, state.sorted()),
        }
    }

    fn state_value(&self, state: &Answered) -> Value {
        Value::list(state.sorted())
    }

    /// Of the identifiers that may be answered, this lists the smallest number.
    fn apply(&self, state: &Answered, op: &Generate) -> Outcomes<Value, Answered> {
        let id = match op {
            Generate::Pending => return Outcomes::One(Value::Nil, state.clone()),
            Generate::Id(id) => id.clone(),
            Generate::Fresh => state.next_number().map_or_else(Value::default, Value::Int),
        };
        if state.contains(&id) {
            return Outcomes::Blocked;
        }
        let mut next = state.clone();
        next.insert(id.clone());
        Outcomes::One(id, next)
    }

    fn step(&self, state: &Answered, op: &Generate, ret: Option<&Value>) -> Vec<Answered> {
        match (op, ret) {
            (Generate::Fresh, Some(id)) => self.step(state, &Generate::Id(id.clone()), ret),
            _ => self.apply(state, op).answering(ret),
        }
    }

    fn key(&self, op: &Generate) -> Option<Value> {
        match op {
            Generate::Id(id) => Some(id.clone()),
            Generate::Pending => Some(Value::Nil),
            Generate::Fresh => None,
        }
    }

    fn is_pure(&self, op: &Generate, _: Option<&Value>) -> bool {
        *op == Generate::Pending
    }

    fn kind(&self) -> Option<Kind> {
        Some(Kind::Slot(Value::Bool(false)))
    }

    fn role(&self, op: &Generate, _: Option<&Value>) -> Role {
        match op {
            Generate::Id(_) => Role::replaces(Value::Bool(false), Value::Bool(true)),
            Generate::Pending | Generate::Fresh => Role::Opaque,
        }
    }
}

impl Recorded for UniqueIds {
    const DEPENDS_ON_RESULT: bool = true;

    fn decode(&self, call: CallView<'_>) -> Result<Generate, DecodeError> {
        match call.method {
            "generate" => call.takes_nothing(Generate::Fresh),
            _ => call.unknown(),
        }
    }

    fn decode_returned(
        &self,
        call: CallView<'_>,
        result: Option<&Value>,
    ) -> Result<Generate, DecodeError> {
        self.decode(call)?;
        Ok(match result {
            Some(id) => Generate::Id(id.clone()),
            None => Generate::Pending,
        })
    }

    fn decode_result(&self, _: &Generate, result: &Value) -> Result<Value, DecodeError> {
        match result {
            Value::Nil => Err("generate answers an id, not nil".into()),
            id => Ok(id.clone()),
        }
    }
}

impl Simulated for UniqueIds {
    fn sample(&self, _: &Answered, _: u32, _: &mut Sampler) -> (&'static str, Value) {
        ("generate", Value::Nil)
    }
}

#[cfg(test)]
mod tests {
    use super::super::laws::run;
    use super::*;

    #[test]
    fn any_id_is_answered_once() {
        run(
            &UniqueIds,
            "generate() 7 \n generate() \"a\" \n generate() [1, 2]",
        );
        let mut given = Answered::default();
        given.insert(7.into());
        let again = Generate::Id(7.into());
        assert_eq!(UniqueIds.apply(&given, &again), Outcomes::Blocked);
        assert_eq!(UniqueIds.step(&given, &Generate::Pending, None), [given]);
    }

    #[test]
    fn the_same_ids_are_the_same_state_in_any_order() {
        let mut ids: Vec<Value> = [3, 1, 0, 2, 5].map(Value::from).to_vec();
        ids.push("a".into());
        let answered = |ids: &[Value]| {
            let mut answered = Answered::default();
            ids.iter().for_each(|id| answered.insert(id.clone()));
            answered
        };
        let forwards = answered(&ids);
        assert!(ids.iter().all(|id| forwards.contains(id)));
        assert_eq!((forwards.numbers, forwards.others.len()), (3, 3));
        ids.reverse();
        assert_eq!(answered(&ids), forwards);
        ids.sort();
        assert_eq!(forwards.sorted(), ids);
        let fresh = UniqueIds.apply(&forwards, &Generate::Fresh);
        assert!(matches!(fresh, Outcomes::One(Value::Int(4), next) if next.numbers == 5));
    }
}
