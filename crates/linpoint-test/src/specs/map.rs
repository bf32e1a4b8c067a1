//! Maps.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use linpoint::{Outcomes, Spec};

use super::Value;

/// A map, at first empty, that knows how many entries it has.
#[derive(Clone, Debug, Default)]
pub struct Map<K = u32, V = u32>(PhantomData<fn() -> (K, V)>);

impl<K, V> Map<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Map(PhantomData)
    }
}

/// An operation on a [`Map`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapOp<K = u32, V = u32> {
    /// Sets the value of a key: [`Value`](MapRet::Value), the one before.
    Insert(K, V),
    /// Sets the value of a key that has none: [`Value`](MapRet::Value), the one that it has afterwards.
    GetOrInsert(K, V),
    /// Removes a key: [`Value`](MapRet::Value), the one that it had.
    Remove(K),
    /// [`Value`](MapRet::Value) of a key.
    Get(K),
    /// [`Is`](MapRet::Is) the key there?
    Contains(K),
    /// [`Count`](MapRet::Count) of the keys.
    Len,
    /// [`Is`](MapRet::Is) it empty?
    IsEmpty,
    /// Removes all keys: [`Done`](MapRet::Done).
    Clear,
}

/// A result of a [`MapOp`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapRet<V = u32> {
    /// A value, if there is or was one.
    Value(Option<V>),
    /// Yes or no.
    Is(bool),
    /// So many keys.
    Count(usize),
    /// It has no other answer.
    Done,
}

impl<K: Value + Ord, V: Value> Spec for Map<K, V> {
    type Op = MapOp<K, V>;
    type Ret = MapRet<V>;
    type State = BTreeMap<K, V>;

    fn init(&self) -> BTreeMap<K, V> {
        BTreeMap::new()
    }

    fn apply(
        &self,
        state: &BTreeMap<K, V>,
        op: &MapOp<K, V>,
    ) -> Outcomes<MapRet<V>, BTreeMap<K, V>> {
        let mut next = state.clone();
        let ret = match op {
            MapOp::Insert(key, value) => MapRet::Value(next.insert(key.clone(), value.clone())),
            MapOp::GetOrInsert(key, value) => {
                let value = next.entry(key.clone()).or_insert_with(|| value.clone());
                MapRet::Value(Some(value.clone()))
            }
            MapOp::Remove(key) => MapRet::Value(next.remove(key)),
            MapOp::Get(key) => MapRet::Value(state.get(key).cloned()),
            MapOp::Contains(key) => MapRet::Is(state.contains_key(key)),
            MapOp::Len => MapRet::Count(state.len()),
            MapOp::IsEmpty => MapRet::Is(state.is_empty()),
            MapOp::Clear => {
                next.clear();
                MapRet::Done
            }
        };
        Outcomes::One(ret, next)
    }
}
