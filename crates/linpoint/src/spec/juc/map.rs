//! What the maps do: hash map and skip list map.

use std::collections::BTreeMap;

use super::render::{
    self, CLASS_CAST, NO_SUCH_ELEMENT, NULL, NULL_POINTER, Strings, entry, text, text_or,
};
use super::{Bounds, Direction, Element, Function, HistoryForm, Relation, Separator};
use crate::spec::End;
use crate::value::Value;

/// A map of `java.util.concurrent`, at first empty.
#[derive(Clone, Debug)]
pub struct JavaMap {
    /// Which one.
    pub class: MapClass,
    /// How the history is written, if that is known.
    pub form: HistoryForm,
}

/// The classes of [`JavaMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as in Java")]
pub enum MapClass {
    ConcurrentHashMap,
    ConcurrentSkipListMap,
}

/// A listing of a map.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapView {
    /// `toString`.
    Print,
    /// `keySet`, `navigableKeySet`, `descendingKeySet` and `keys`.
    Keys(Direction, Separator),
    /// `values` and `elements`.
    Values(Separator),
    /// `entrySet`.
    Entries,
    /// `clone` and `descendingMap`.
    Whole(Direction),
    /// `headMap`, `tailMap`, `subMap`.
    Part(Bounds),
}

/// An operation on a [`JavaMap`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MapOp {
    /// `get`.
    Get(Element),
    /// `getOrDefault`.
    GetOrDefault(Element, Element),
    /// `containsKey`.
    ContainsKey(Element),
    /// `containsValue`, and `contains` of the hash map.
    ContainsValue(Element),
    /// `put`.
    Put(Element, Element),
    /// `putIfAbsent`.
    PutIfAbsent(Element, Element),
    /// `putAll`.
    PutAll(Vec<(Element, Element)>),
    /// `remove(k)`.
    Remove(Element),
    /// `remove(k, v)`.
    RemovePair(Element, Element),
    /// `replace(k, v)`.
    Replace(Element, Element),
    /// `replace(k, old, new)`.
    ReplacePair(Element, Element, Element),
    /// `compute`.
    Compute(Element, Function),
    /// `computeIfAbsent`.
    ComputeIfAbsent(Element, Function),
    /// `computeIfPresent`.
    ComputeIfPresent(Element, Function),
    /// `merge`.
    Merge(Element, Element, Function),
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
    Neighbour(Relation, Element),
    /// `lowerEntry`, `floorEntry`, `ceilingEntry`, `higherEntry`.
    NeighbourEntry(Relation, Element),
    /// Any method with null where it takes a map or a function.
    OfNull,
}

/// The keys with their values, none of which is null.
pub(super) type Pairs = BTreeMap<Element, Element>;

/// The name of an exception.
type Thrown = &'static str;

fn end_entry(pairs: &Pairs, end: End) -> Option<(&Element, &Element)> {
    match end {
        End::Front => pairs.first_key_value(),
        End::Back => pairs.last_key_value(),
    }
}

fn list(pairs: &Pairs, view: &MapView, strings: Strings) -> Value {
    match view {
        MapView::Print => render::braces(pairs.iter(), Strings::Bare),
        MapView::Keys(Direction::Forward, separator) => {
            render::list(pairs.keys(), *separator, strings)
        }
        MapView::Keys(Direction::Backward, separator) => {
            render::list(pairs.keys().rev(), *separator, strings)
        }
        MapView::Values(separator) => render::list(pairs.values(), *separator, strings),
        MapView::Entries => render::entries(pairs.iter(), strings),
        MapView::Whole(Direction::Forward) => render::braces(pairs.iter(), strings),
        MapView::Whole(Direction::Backward) => render::braces(pairs.iter().rev(), strings),
        MapView::Part(bounds) => match bounds.exception(pairs.keys().next()) {
            Some(thrown) => thrown.into(),
            None => {
                let part = pairs.iter().filter(|(key, _)| bounds.contains(key));
                render::braces(part, strings)
            }
        },
    }
}

/// Lets `k` have the value, or none if it is null, and answers it.
fn set(pairs: &mut Pairs, k: &Element, value: Element) -> Value {
    let answer = text(&value);
    match value {
        Element::Null => pairs.remove(k),
        value => pairs.insert(k.clone(), value),
    };
    answer
}

/// What a function that has values answers.
fn computed(function: Function, arguments: &[&Element]) -> Element {
    let value = function.value(arguments);
    value.expect("bug: a function without values was decoded")
}

/// `replaceAll`: a value that would be null is an exception, before anything is changed.
fn replace_all(pairs: &mut Pairs, function: Function) -> Result<Value, Thrown> {
    let replaced = pairs
        .iter()
        .map(|(k, v)| (k.clone(), computed(function, &[k, v])));
    let replaced: Pairs = replaced.collect();
    if replaced.values().any(Element::is_null) {
        return Err(NULL_POINTER);
    }
    *pairs = replaced;
    Ok(Value::Nil)
}

/// What is thrown if one of these arguments is null.
fn not_null(arguments: &[&Element]) -> Result<(), Thrown> {
    match arguments.iter().any(|argument| argument.is_null()) {
        true => Err(NULL_POINTER),
        false => Ok(()),
    }
}

impl JavaMap {
    /// What is thrown when `k` is looked for among the keys, any two of which compare in a sorted map.
    fn look_for(&self, pairs: &Pairs, k: &Element) -> Result<(), Thrown> {
        not_null(&[k])?;
        match (self.class, pairs.keys().next()) {
            (MapClass::ConcurrentSkipListMap, Some(held)) if !held.compares_with(k) => {
                Err(CLASS_CAST)
            }
            _ => Ok(()),
        }
    }

    fn put(&self, pairs: &mut Pairs, k: &Element, v: &Element) -> Result<Option<Element>, Thrown> {
        not_null(&[k, v])?;
        self.look_for(pairs, k)?;
        Ok(pairs.insert(k.clone(), v.clone()))
    }

    /// What `op` answers if it shows keys and values in a text with marks, and strings are written in this way.
    pub(super) fn listing(&self, pairs: &Pairs, op: &MapOp, strings: Strings) -> Option<Value> {
        let shown = |found: Option<(&Element, &Element)>| {
            text_or(found.map(|found| entry(found, strings)), NULL)
        };
        Some(match op {
            MapOp::List(view) => list(pairs, view, strings),
            MapOp::EndEntry(end) | MapOp::PollEntry(end) => shown(end_entry(pairs, *end)),
            MapOp::NeighbourEntry(relation, k) => match self.look_for(pairs, k) {
                Ok(()) => {
                    let found = relation.find(pairs.keys(), k);
                    shown(found.and_then(|found| pairs.get_key_value(found)))
                }
                Err(thrown) => thrown.into(),
            },
            _ => return None,
        })
    }

    /// Applies `op` to `pairs` and returns its result.
    pub(super) fn perform(&self, pairs: &mut Pairs, op: &MapOp) -> Value {
        let answer = match self.listing(pairs, op, self.form.strings()) {
            Some(listing) => {
                if let MapOp::PollEntry(end) = op {
                    match end {
                        End::Front => pairs.pop_first(),
                        End::Back => pairs.pop_last(),
                    };
                }
                Ok(listing)
            }
            None => self.answer(pairs, op),
        };
        answer.unwrap_or_else(Value::from)
    }

    /// The same for operations that do not list anything.
    fn answer(&self, pairs: &mut Pairs, op: &MapOp) -> Result<Value, Thrown> {
        if let Some(k) = op.key() {
            not_null(&[k])?;
        }
        Ok(match op {
            MapOp::Get(k) => {
                self.look_for(pairs, k)?;
                text_or(pairs.get(k), NULL)
            }
            MapOp::GetOrDefault(k, default) => {
                self.look_for(pairs, k)?;
                text(pairs.get(k).unwrap_or(default))
            }
            MapOp::ContainsKey(k) => {
                self.look_for(pairs, k)?;
                text(pairs.contains_key(k))
            }
            MapOp::ContainsValue(v) => {
                not_null(&[v])?;
                text(pairs.values().any(|value| value == v))
            }
            MapOp::Put(k, v) => text_or(self.put(pairs, k, v)?, NULL),
            MapOp::PutIfAbsent(k, v) => {
                not_null(&[v])?;
                self.look_for(pairs, k)?;
                let held = pairs.get(k).cloned();
                if held.is_none() {
                    pairs.insert(k.clone(), v.clone());
                }
                text_or(held, NULL)
            }
            MapOp::PutAll(more) => {
                // The pairs put before an exception stay.
                for (k, v) in more {
                    self.put(pairs, k, v)?;
                }
                Value::Nil
            }
            MapOp::Remove(k) => {
                self.look_for(pairs, k)?;
                text_or(pairs.remove(k), NULL)
            }
            // A value that is null is not looked for.
            MapOp::RemovePair(_, Element::Null) => text(false),
            MapOp::RemovePair(k, v) => {
                self.look_for(pairs, k)?;
                let there = pairs.get(k) == Some(v);
                if there {
                    pairs.remove(k);
                }
                text(there)
            }
            MapOp::Replace(..) | MapOp::ReplacePair(..) => self.replace(pairs, op)?,
            MapOp::Compute(..)
            | MapOp::ComputeIfAbsent(..)
            | MapOp::ComputeIfPresent(..)
            | MapOp::Merge(..) => self.compute(pairs, op)?,
            MapOp::ReplaceAll(function) => replace_all(pairs, *function)?,
            MapOp::Clear => {
                pairs.clear();
                Value::Nil
            }
            MapOp::IsEmpty => text(pairs.is_empty()),
            MapOp::Size => text(pairs.len()),
            MapOp::EndKey(end) => text_or(end_entry(pairs, *end).map(|(k, _)| k), NO_SUCH_ELEMENT),
            MapOp::Neighbour(relation, k) => {
                self.look_for(pairs, k)?;
                text_or(relation.find(pairs.keys(), k), NULL)
            }
            MapOp::OfNull => return Err(NULL_POINTER),
            MapOp::List(_)
            | MapOp::EndEntry(_)
            | MapOp::PollEntry(_)
            | MapOp::NeighbourEntry(..) => unreachable!("bug: a listing is answered as none"),
        })
    }

    /// `replace(k, v)` and `replace(k, old, new)`.
    fn replace(&self, pairs: &mut Pairs, op: &MapOp) -> Result<Value, Thrown> {
        let (k, old, new) = match op {
            MapOp::Replace(k, v) => (k, None, v),
            MapOp::ReplacePair(k, old, new) => (k, Some(old), new),
            _ => unreachable!("bug: {op:?} does not replace"),
        };
        not_null(&[old.unwrap_or(new), new])?;
        self.look_for(pairs, k)?;
        let held = pairs.get_mut(k);
        Ok(match (held, old) {
            (held, None) => text_or(held.map(|held| std::mem::replace(held, new.clone())), NULL),
            (Some(held), Some(old)) if held == old => {
                *held = new.clone();
                text(true)
            }
            _ => text(false),
        })
    }

    /// `compute`, `computeIfAbsent`, `computeIfPresent` and `merge`.
    fn compute(&self, pairs: &mut Pairs, op: &MapOp) -> Result<Value, Thrown> {
        if let MapOp::Merge(_, v, _) = op {
            not_null(&[v])?;
        }
        let Some(k) = op.key() else {
            unreachable!("bug: {op:?} has no key");
        };
        self.look_for(pairs, k)?;
        let held = pairs.get(k).cloned().unwrap_or(Element::Null);
        let value = match (op, held) {
            (MapOp::Compute(_, function), held) => computed(*function, &[k, &held]),
            (MapOp::ComputeIfAbsent(_, function), Element::Null) => computed(*function, &[k]),
            (MapOp::ComputeIfPresent(_, function), held) if !held.is_null() => {
                computed(*function, &[k, &held])
            }
            (MapOp::Merge(_, v, _), Element::Null) => v.clone(),
            (MapOp::Merge(_, v, function), held) => computed(*function, &[&held, v]),
            (_, held) => held,
        };
        Ok(set(pairs, k, value))
    }
}

impl MapOp {
    /// The only key that the operation is about, if there is one.
    pub(super) fn key(&self) -> Option<&Element> {
        match self {
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
            | MapOp::Merge(k, ..) => Some(k),
            _ => None,
        }
    }
}
