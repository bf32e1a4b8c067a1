//! Specifies the maps: hash map and skip list map.

use std::collections::BTreeMap;

use super::argument::{Argument, arguments};
use super::methods::{map_methods, sample};
use super::render::{
    self, ILLEGAL_ARGUMENT, NO_SUCH_ELEMENT, NULL, NULL_POINTER, entry, text, text_or,
};
use super::{Bounds, Direction, Function, Relation, ResultForm, Separator};
use crate::spec::{
    CallView, DecodeError, End, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// A map of `java.util.concurrent`, at first empty.
#[derive(Clone, Debug)]
pub struct JavaMap {
    /// Which one.
    pub class: MapClass,
    /// How results are written, in explanations too.
    pub results: ResultForm,
}

/// The classes of [`JavaMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Java")]
pub enum MapClass {
    ConcurrentHashMap,
    ConcurrentSkipListMap,
}

/// A listing of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MapView {
    /// `keySet` and `keys`.
    Keys(Separator),
    /// `values` and `elements`.
    Values(Separator),
    /// `entrySet`.
    Entries,
    /// `toString` and `descendingMap`.
    Whole(Direction),
    /// `headMap`, `tailMap`, `subMap`.
    Part(Bounds),
}

/// An operation on a [`JavaMap`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapOp {
    /// `get`.
    Get(i64),
    /// `getOrDefault`.
    GetOrDefault(i64, i64),
    /// `containsKey`.
    ContainsKey(i64),
    /// `containsValue`, and `contains` of the hash map.
    ContainsValue(i64),
    /// `put`.
    Put(i64, i64),
    /// `putIfAbsent`.
    PutIfAbsent(i64, i64),
    /// `putAll`.
    PutAll(Vec<(i64, i64)>),
    /// `remove(k)`.
    Remove(i64),
    /// `remove(k, v)`.
    RemovePair(i64, i64),
    /// `replace(k, v)`.
    Replace(i64, i64),
    /// `replace(k, old, new)`.
    ReplacePair(i64, i64, i64),
    /// `compute`.
    Compute(i64, Function),
    /// `computeIfAbsent`.
    ComputeIfAbsent(i64, Function),
    /// `computeIfPresent`.
    ComputeIfPresent(i64, Function),
    /// `merge`.
    Merge(i64, i64, Function),
    /// `replaceAll`.
    ReplaceAll(Function),
    /// `clear`.
    Clear,
    /// `isEmpty`.
    IsEmpty,
    /// `size` and `mappingCount`.
    Size,
    /// `toString` and the views.
    List(MapView),
    /// `firstKey`, `lastKey`.
    EndKey(End),
    /// `firstEntry`, `lastEntry`.
    EndEntry(End),
    /// `pollFirstEntry`, `pollLastEntry`.
    PollEntry(End),
    /// `lowerKey`, `floorKey`, `ceilingKey`, `higherKey`.
    Neighbour(Relation, i64),
}

type Pairs = BTreeMap<i64, i64>;

fn end_entry(pairs: &Pairs, end: End) -> Option<(&i64, &i64)> {
    match end {
        End::Front => pairs.first_key_value(),
        End::Back => pairs.last_key_value(),
    }
}

fn list(pairs: &Pairs, view: MapView) -> Value {
    match view {
        MapView::Keys(separator) => render::list(pairs.keys(), separator),
        MapView::Values(separator) => render::list(pairs.values(), separator),
        MapView::Entries => render::list(pairs.iter().map(entry), Separator::CommaBlank),
        MapView::Whole(Direction::Forward) => render::braces(pairs.iter().map(entry)),
        MapView::Whole(Direction::Backward) => render::braces(pairs.iter().rev().map(entry)),
        MapView::Part(bounds) if bounds.are_crossed() => ILLEGAL_ARGUMENT.into(),
        MapView::Part(bounds) => {
            let part = pairs.iter().filter(|&(&key, _)| bounds.contains(key));
            render::braces(part.map(entry))
        }
    }
}

/// Lets `k` have the value, or none, and answers it.
fn set(pairs: &mut Pairs, k: i64, value: Option<i64>) -> Value {
    match value {
        Some(value) => pairs.insert(k, value),
        None => pairs.remove(&k),
    };
    text_or(value, NULL)
}

/// What a function that has values answers.
fn computed(function: Function, arguments: &[Option<i64>]) -> Option<i64> {
    let value = function.value(arguments);
    value.expect("bug: a function without values was decoded")
}

/// `replaceAll`: a value that would be null is an exception, before anything is changed.
fn replace_all(pairs: &mut Pairs, function: Function) -> Value {
    let replaced = pairs.iter().map(|(&k, &v)| {
        let value = computed(function, &[Some(k), Some(v)]);
        value.map(|value| (k, value))
    });
    match replaced.collect::<Option<Pairs>>() {
        Some(replaced) => {
            *pairs = replaced;
            Value::Nil
        }
        None => NULL_POINTER.into(),
    }
}

/// Applies `op` to `pairs` and returns its result.
fn perform(pairs: &mut Pairs, op: &MapOp) -> Value {
    match *op {
        MapOp::Get(k) => text_or(pairs.get(&k), NULL),
        MapOp::GetOrDefault(k, default) => text(pairs.get(&k).unwrap_or(&default)),
        MapOp::ContainsKey(k) => text(pairs.contains_key(&k)),
        MapOp::ContainsValue(v) => text(pairs.values().any(|&value| value == v)),
        MapOp::Put(k, v) => text_or(pairs.insert(k, v), NULL),
        MapOp::PutIfAbsent(k, v) => {
            let held = pairs.get(&k).copied();
            pairs.entry(k).or_insert(v);
            text_or(held, NULL)
        }
        MapOp::PutAll(ref more) => {
            pairs.extend(more.iter().copied());
            Value::Nil
        }
        MapOp::Remove(k) => text_or(pairs.remove(&k), NULL),
        MapOp::RemovePair(k, v) => {
            let there = pairs.get(&k) == Some(&v);
            if there {
                pairs.remove(&k);
            }
            text(there)
        }
        MapOp::Replace(k, v) => {
            let held = pairs.get_mut(&k).map(|held| std::mem::replace(held, v));
            text_or(held, NULL)
        }
        MapOp::ReplacePair(k, old, new) => {
            let there = pairs.get(&k) == Some(&old);
            if there {
                pairs.insert(k, new);
            }
            text(there)
        }
        MapOp::Compute(k, function) => {
            let held = pairs.get(&k).copied();
            let value = computed(function, &[Some(k), held]);
            set(pairs, k, value)
        }
        MapOp::ComputeIfAbsent(k, function) => {
            let held = pairs.get(&k).copied();
            let value = held.or_else(|| computed(function, &[Some(k)]));
            set(pairs, k, value)
        }
        MapOp::ComputeIfPresent(k, function) => {
            let held = pairs.get(&k).copied();
            let value = held.and_then(|held| computed(function, &[Some(k), Some(held)]));
            set(pairs, k, value)
        }
        MapOp::Merge(k, v, function) => {
            let held = pairs.get(&k).copied();
            let value = held.map_or(Some(v), |held| computed(function, &[Some(held), Some(v)]));
            set(pairs, k, value)
        }
        MapOp::ReplaceAll(function) => replace_all(pairs, function),
        MapOp::Clear => {
            pairs.clear();
            Value::Nil
        }
        MapOp::IsEmpty => text(pairs.is_empty()),
        MapOp::Size => text(pairs.len()),
        MapOp::List(view) => list(pairs, view),
        MapOp::EndKey(end) => text_or(end_entry(pairs, end).map(|(k, _)| k), NO_SUCH_ELEMENT),
        MapOp::EndEntry(end) => text_or(end_entry(pairs, end).map(entry), NULL),
        MapOp::PollEntry(end) => {
            let polled = match end {
                End::Front => pairs.pop_first(),
                End::Back => pairs.pop_last(),
            };
            text_or(polled.map(|(k, v)| entry((&k, &v))), NULL)
        }
        MapOp::Neighbour(relation, k) => text_or(relation.find(pairs.keys().copied(), k), NULL),
    }
}

impl JavaMap {
    /// The answer of `op` in the form in which answers are compared.
    ///
    /// The hash map lists what it holds in the order of its table, whose size depends on how the map was filled. So the order of
    /// its listings says nothing, and they are sorted.
    fn normal(&self, op: &MapOp, answer: Value) -> Value {
        match (self.class, op) {
            (MapClass::ConcurrentHashMap, MapOp::List(_)) => render::sorted(answer),
            _ => answer,
        }
    }
}

impl Spec for JavaMap {
    type Op = MapOp;
    type Ret = Value;
    type State = Pairs;

    fn init(&self) -> Pairs {
        Pairs::new()
    }

    fn vocabulary(&self) -> Vocabulary {
        words::MAP
    }

    fn state_words(&self, state: &Self::State, _: Option<&Value>) -> String {
        format!("the map held {state:?}")
    }

    fn answer_words(&self, _: &MapOp, answer: &Value) -> String {
        self.results.answer(answer)
    }

    fn state_value(&self, state: &Pairs) -> Value {
        let pairs = state.iter();
        Value::list(pairs.map(|(&key, &value)| Value::list([Value::Int(key), Value::Int(value)])))
    }

    fn apply(&self, state: &Pairs, op: &MapOp) -> Outcomes<Value, Pairs> {
        let mut next = state.clone();
        let answer = perform(&mut next, op);
        Outcomes::One(self.normal(op, answer), next)
    }

    fn key(&self, op: &MapOp) -> Option<Value> {
        match *op {
            MapOp::Get(k)
            | MapOp::GetOrDefault(k, _)
            | MapOp::ContainsKey(k)
            | MapOp::Put(k, _)
            | MapOp::PutIfAbsent(k, _)
            | MapOp::Remove(k)
            | MapOp::RemovePair(k, _)
            | MapOp::Replace(k, _)
            | MapOp::ReplacePair(k, ..)
            | MapOp::Compute(k, _)
            | MapOp::ComputeIfAbsent(k, _)
            | MapOp::ComputeIfPresent(k, _)
            | MapOp::Merge(k, ..) => Some(Value::Int(k)),
            _ => None,
        }
    }

    fn is_pure(&self, op: &MapOp, ret: Option<&Value>) -> bool {
        let answers = |text: &str| ret.and_then(Value::as_text) == Some(text);
        match op {
            // If the result is the value that it puts, the map held that value already.
            MapOp::Put(_, v) => answers(&v.to_string()),
            MapOp::Replace(_, v) => answers(NULL) || answers(&v.to_string()),
            MapOp::PutIfAbsent(..) => ret.is_some() && !answers(NULL),
            MapOp::Remove(_) | MapOp::PollEntry(_) => answers(NULL),
            MapOp::RemovePair(..) => answers("false"),
            MapOp::ReplacePair(_, old, new) => old == new || answers("false"),
            MapOp::PutAll(more) => more.is_empty(),
            MapOp::Compute(..)
            | MapOp::ComputeIfAbsent(..)
            | MapOp::ComputeIfPresent(..)
            | MapOp::Merge(..)
            | MapOp::ReplaceAll(_)
            | MapOp::Clear => false,
            MapOp::Get(_)
            | MapOp::GetOrDefault(..)
            | MapOp::ContainsKey(_)
            | MapOp::ContainsValue(_)
            | MapOp::IsEmpty
            | MapOp::Size
            | MapOp::List(_)
            | MapOp::EndKey(_)
            | MapOp::EndEntry(_)
            | MapOp::Neighbour(..) => true,
        }
    }
}

impl Recorded for JavaMap {
    fn fitted_to(&self, history: RecordedOps<'_, '_>) -> Option<Self> {
        Some(JavaMap {
            results: ResultForm::of(history),
            ..self.clone()
        })
    }

    fn decode(&self, call: CallView<'_>) -> Result<MapOp, DecodeError> {
        use Argument::{Function, Integer, Map};
        use MapOp::*;
        let arguments = arguments(call.argument)?;
        super::methods::check(map_methods(self.class), call.method, arguments.len())?;
        Ok(match (call.method, &arguments[..]) {
            ("get", &[Integer(k)]) => Get(k),
            ("getOrDefault", &[Integer(k), Integer(default)]) => GetOrDefault(k, default),
            ("containsKey", &[Integer(k)]) => ContainsKey(k),
            ("containsValue" | "contains", &[Integer(v)]) => ContainsValue(v),
            ("put", &[Integer(k), Integer(v)]) => Put(k, v),
            ("putIfAbsent", &[Integer(k), Integer(v)]) => PutIfAbsent(k, v),
            ("putAll", [Map(pairs)]) => PutAll(pairs.clone()),
            ("remove", &[Integer(k)]) => Remove(k),
            ("remove", &[Integer(k), Integer(v)]) => RemovePair(k, v),
            ("replace", &[Integer(k), Integer(v)]) => Replace(k, v),
            ("replace", &[Integer(k), Integer(old), Integer(new)]) => ReplacePair(k, old, new),
            ("compute", &[Integer(k), Function(f)]) if f.has_values() => Compute(k, f),
            ("computeIfAbsent", &[Integer(k), Function(f)]) if f.has_values() => {
                ComputeIfAbsent(k, f)
            }
            ("computeIfPresent", &[Integer(k), Function(f)]) if f.has_values() => {
                ComputeIfPresent(k, f)
            }
            ("merge", &[Integer(k), Integer(v), Function(f)]) if f.has_values() => Merge(k, v, f),
            ("replaceAll", &[Function(f)]) if f.has_values() => ReplaceAll(f),
            ("clear", []) => Clear,
            ("isEmpty", []) => IsEmpty,
            ("size" | "mappingCount", []) => Size,
            ("keys", []) => List(MapView::Keys(Separator::Comma)),
            ("keySet", []) => List(MapView::Keys(Separator::CommaBlank)),
            ("elements", []) => List(MapView::Values(Separator::Comma)),
            ("values", []) => List(MapView::Values(Separator::CommaBlank)),
            ("entrySet", []) => List(MapView::Entries),
            ("toString", []) => List(MapView::Whole(Direction::Forward)),
            ("descendingMap", []) => List(MapView::Whole(Direction::Backward)),
            ("headMap", &[Integer(to)]) => List(MapView::Part(Bounds(None, Some(to)))),
            ("tailMap", &[Integer(from)]) => List(MapView::Part(Bounds(Some(from), None))),
            ("subMap", &[Integer(from), Integer(to)]) => {
                List(MapView::Part(Bounds(Some(from), Some(to))))
            }
            ("firstKey", []) => EndKey(End::Front),
            ("lastKey", []) => EndKey(End::Back),
            ("firstEntry", []) => EndEntry(End::Front),
            ("lastEntry", []) => EndEntry(End::Back),
            ("pollFirstEntry", []) => PollEntry(End::Front),
            ("pollLastEntry", []) => PollEntry(End::Back),
            ("lowerKey", &[Integer(k)]) => Neighbour(Relation::Lower, k),
            ("floorKey", &[Integer(k)]) => Neighbour(Relation::Floor, k),
            ("ceilingKey", &[Integer(k)]) => Neighbour(Relation::Ceiling, k),
            ("higherKey", &[Integer(k)]) => Neighbour(Relation::Higher, k),
            _ => return Err(super::methods::mismatch(call)),
        })
    }

    fn decode_result(&self, op: &MapOp, result: &Value) -> Result<Value, DecodeError> {
        match op {
            MapOp::Clear | MapOp::PutAll(_) | MapOp::ReplaceAll(_) => render::recorded_void(result),
            _ => Ok(self.normal(op, render::recorded(result)?)),
        }
    }
}

impl Simulated for JavaMap {
    fn sample(&self, _: &Pairs, _: u32, sampler: &mut Sampler) -> (&'static str, Value) {
        sample(map_methods(self.class), sampler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On JDK 17 the table has four places here, so that 4 is listed before 1.
    #[test]
    fn a_hash_map_lists_its_keys_in_any_order() {
        let map = |class| JavaMap {
            class,
            results: ResultForm::default(),
        };
        let held = Pairs::from([(1, 5), (4, 6)]);
        let answers = |class, view, recorded: &str| {
            let (map, op) = (map(class), MapOp::List(view));
            let result = map.decode_result(&op, &recorded.into()).unwrap();
            !map.step(&held, &op, Some(&result)).is_empty()
        };
        let whole = MapView::Whole(Direction::Forward);
        let listings = [
            (whole, ["{4=6, 1=5}", "{1=5, 4=6}"], "{4=5, 1=6}"),
            (MapView::Keys(Separator::Comma), ["[4,1]", "[1,4]"], "[4]"),
            (
                MapView::Values(Separator::CommaBlank),
                ["[6, 5]", "[5, 6]"],
                "[6, 6]",
            ),
        ];
        for (view, right, wrong) in listings {
            for recorded in right {
                assert!(answers(MapClass::ConcurrentHashMap, view, recorded));
            }
            assert!(!answers(MapClass::ConcurrentHashMap, view, wrong));
        }
        assert!(!answers(
            MapClass::ConcurrentSkipListMap,
            whole,
            "{4=6, 1=5}"
        ));
    }
}
