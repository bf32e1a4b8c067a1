//! Specifies the maps for the engines, and reads their calls.

use super::argument::{Argument, PairOrder, arguments, looks_like_integer, pair};
use super::form::key_argument;
use super::map::Pairs;
use super::methods::{self, map_methods};
use super::render::{self, NULL, Strings};
use super::{
    Bounds, Direction, Element, HistoryForm, JavaMap, MapClass, MapOp, MapView, Relation, Separator,
};
use crate::spec::{
    CallView, DecodeError, End, Outcomes, Recorded, RecordedOps, Sampler, Simulated, Spec,
    Vocabulary, words,
};
use crate::value::Value;

/// The operation of a call that has null where it takes a map or a function, if it is one.
fn of_null(method: &str, arguments: &[Argument]) -> Option<MapOp> {
    const TAKE_OBJECTS: [&str; 6] = [
        "putAll",
        "replaceAll",
        "compute",
        "computeIfAbsent",
        "computeIfPresent",
        "merge",
    ];
    let is_null = arguments.last() == Some(&Argument::Single(Element::Null));
    (is_null && TAKE_OBJECTS.contains(&method)).then_some(MapOp::OfNull)
}

/// The separator of what a view lists.
fn separator(view: &MapView) -> Separator {
    match view {
        MapView::Keys(_, separator) | MapView::Values(separator) => *separator,
        MapView::Print | MapView::Entries | MapView::Whole(_) | MapView::Part(_) => {
            Separator::CommaBlank
        }
    }
}

impl JavaMap {
    /// The answer of `op` in the form in which answers are compared.
    ///
    /// The hash map lists what it holds in the order of its table, whose size depends on how the map was filled. So the order of
    /// its listings says nothing, and they are sorted.
    fn normal(&self, op: &MapOp, answer: Value) -> Value {
        match (self.class, op) {
            (MapClass::ConcurrentHashMap, MapOp::List(view)) => {
                render::sorted(answer, separator(view))
            }
            _ => answer,
        }
    }

    /// Refuses a map that `putAll` puts in only up to a pair that depends on the order of the pairs, which is not known.
    fn check_order(&self, pairs: &[(Element, Element)]) -> Result<(), DecodeError> {
        let [(first, _), _, ..] = pairs else {
            return Ok(());
        };
        let is_sorted = self.class == MapClass::ConcurrentSkipListMap;
        let throws = |(k, v): &(Element, Element)| {
            k.is_null() || v.is_null() || is_sorted && !k.compares_with(first)
        };
        match pairs.iter().any(throws) {
            true => Err("putAll throws at one of these pairs, and those before it stay: \
                         write the map as the list of its pairs, [[key, value], ...], in the order of its iterator"
                .into()),
            false => Ok(()),
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

    fn answer_words(&self, _: &Self::State, _: &MapOp, answer: &Value) -> String {
        self.form.answer(answer)
    }

    fn state_value(&self, state: &Pairs) -> Value {
        let pairs = state.iter();
        Value::list(pairs.map(|(key, value)| Value::list([key.value(), value.value()])))
    }

    fn apply(&self, state: &Pairs, op: &MapOp) -> Outcomes<Value, Pairs> {
        let mut next = state.clone();
        let answer = self.perform(&mut next, op);
        Outcomes::One(self.normal(op, answer), next)
    }

    /// A listing, or an entry, may be written in two ways.
    fn step(&self, state: &Pairs, op: &MapOp, ret: Option<&Value>) -> Vec<Pairs> {
        let is_shown = |ret: &&Value| {
            Strings::ALL.into_iter().any(|strings| {
                let listing = self.listing(state, op, strings);
                listing.is_some_and(|listing| self.normal(op, listing) == **ret)
            })
        };
        match ret.filter(is_shown) {
            Some(_) => self.apply(state, op).answering(None),
            None => self.apply(state, op).answering(ret),
        }
    }

    /// A sorted map throws if a key cannot be compared with others. So keys of several kinds affect each other.
    fn key(&self, op: &MapOp) -> Option<Value> {
        let is_independent = |key: &&Element| {
            self.class == MapClass::ConcurrentHashMap
                || self.form.has_comparable_keys()
                || matches!(key, Element::Null | Element::Int(_))
        };
        op.key().filter(is_independent).map(Element::value)
    }

    fn is_pure(&self, op: &MapOp, ret: Option<&Value>) -> bool {
        let answers = |text: &str| ret.and_then(Value::as_text) == Some(text);
        let answers_with = |v: &Element| self.form.tells(v) && answers(&v.to_string());
        match op {
            // If the result is the value that it puts, the map held that value already.
            MapOp::Put(_, v) => answers_with(v),
            MapOp::Replace(_, v) => answers(NULL) || answers_with(v),
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
            | MapOp::Neighbour(..)
            | MapOp::NeighbourEntry(..)
            | MapOp::OfNull => true,
        }
    }
}

impl Recorded for JavaMap {
    fn fitted_to(&self, history: RecordedOps<'_, '_>) -> Option<Self> {
        Some(JavaMap {
            form: HistoryForm::of(history),
            ..self.clone()
        })
    }

    /// Keys of JSON objects that look like integers are integers, unless other keys are texts: then they may be either.
    fn check_together(&self, history: RecordedOps<'_, '_>) -> Result<(), DecodeError> {
        let (mut read_as_integer, mut has_texts) = (None, false);
        for (call, _) in history {
            let argument = match call.argument {
                Value::List(arguments) => arguments.first(),
                single => Some(single),
            };
            match argument.filter(|_| call.method == "putAll") {
                Some(Value::Map(pairs)) => {
                    for (key, _) in pairs.iter().filter(|(key, _)| key.as_text().is_some()) {
                        match looks_like_integer(key) {
                            Some(_) => read_as_integer = Some(key),
                            None => has_texts = true,
                        }
                    }
                }
                Some(Value::List(pairs)) => {
                    let mut keys = pairs.iter().filter_map(pair).map(|(key, _)| key);
                    has_texts |= keys.any(|key| key.as_text().is_some());
                }
                _ => has_texts |= key_argument(call).is_some_and(|key| key.as_text().is_some()),
            }
        }
        match read_as_integer.filter(|_| has_texts) {
            Some(key) => Err(format!(
                "the key {key} of a map may be a text or an integer, since other keys are texts: \
                 write the map as the list of its pairs, [[key, value], ...]"
            )
            .into()),
            None => Ok(()),
        }
    }

    fn decode(&self, call: CallView<'_>) -> Result<MapOp, DecodeError> {
        use Argument::{Collection, Function, Map, Single};
        use Direction::{Backward, Forward};
        use MapOp::*;
        let arguments = arguments(call.argument)?;
        methods::check(map_methods(self.class), call.method, arguments.len())?;
        if let Some(op) = of_null(call.method, &arguments) {
            return Ok(op);
        }
        let copy = Element::clone;
        Ok(match (call.method, &arguments[..]) {
            ("get", [Single(k)]) => Get(copy(k)),
            ("getOrDefault", [Single(k), Single(default)]) => GetOrDefault(copy(k), copy(default)),
            ("containsKey", [Single(k)]) => ContainsKey(copy(k)),
            ("containsValue" | "contains", [Single(v)]) => ContainsValue(copy(v)),
            ("put", [Single(k), Single(v)]) => Put(copy(k), copy(v)),
            ("putIfAbsent", [Single(k), Single(v)]) => PutIfAbsent(copy(k), copy(v)),
            ("putAll", [Map(pairs, order)]) => {
                if *order == PairOrder::Unknown {
                    self.check_order(pairs)?;
                }
                PutAll(pairs.clone())
            }
            ("putAll", [Collection(none)]) if none.is_empty() => PutAll(Vec::new()),
            ("remove", [Single(k)]) => Remove(copy(k)),
            ("remove", [Single(k), Single(v)]) => RemovePair(copy(k), copy(v)),
            ("replace", [Single(k), Single(v)]) => Replace(copy(k), copy(v)),
            ("replace", [Single(k), Single(old), Single(new)]) => {
                ReplacePair(copy(k), copy(old), copy(new))
            }
            ("compute", [Single(k), Function(f)]) if f.has_values() => Compute(copy(k), *f),
            ("computeIfAbsent", [Single(k), Function(f)]) if f.has_values() => {
                ComputeIfAbsent(copy(k), *f)
            }
            ("computeIfPresent", [Single(k), Function(f)]) if f.has_values() => {
                ComputeIfPresent(copy(k), *f)
            }
            ("merge", [Single(k), Single(v), Function(f)]) if f.has_values() => {
                Merge(copy(k), copy(v), *f)
            }
            ("replaceAll", [Function(f)]) if f.has_values() => ReplaceAll(*f),
            ("clear", []) => Clear,
            ("isEmpty", []) => IsEmpty,
            ("size" | "mappingCount", []) => Size,
            ("toString", []) => List(MapView::Print),
            ("keys", []) => List(MapView::Keys(Forward, Separator::Comma)),
            ("keySet" | "navigableKeySet", []) => {
                List(MapView::Keys(Forward, Separator::CommaBlank))
            }
            ("descendingKeySet", []) => List(MapView::Keys(Backward, Separator::CommaBlank)),
            ("elements", []) => List(MapView::Values(Separator::Comma)),
            ("values", []) => List(MapView::Values(Separator::CommaBlank)),
            ("entrySet", []) => List(MapView::Entries),
            ("clone", []) => List(MapView::Whole(Forward)),
            ("descendingMap", []) => List(MapView::Whole(Backward)),
            ("firstKey", []) => EndKey(End::Front),
            ("lastKey", []) => EndKey(End::Back),
            ("firstEntry", []) => EndEntry(End::Front),
            ("lastEntry", []) => EndEntry(End::Back),
            ("pollFirstEntry", []) => PollEntry(End::Front),
            ("pollLastEntry", []) => PollEntry(End::Back),
            ("lowerKey", [Single(k)]) => Neighbour(Relation::Lower, copy(k)),
            ("floorKey", [Single(k)]) => Neighbour(Relation::Floor, copy(k)),
            ("ceilingKey", [Single(k)]) => Neighbour(Relation::Ceiling, copy(k)),
            ("higherKey", [Single(k)]) => Neighbour(Relation::Higher, copy(k)),
            ("lowerEntry", [Single(k)]) => NeighbourEntry(Relation::Lower, copy(k)),
            ("floorEntry", [Single(k)]) => NeighbourEntry(Relation::Floor, copy(k)),
            ("ceilingEntry", [Single(k)]) => NeighbourEntry(Relation::Ceiling, copy(k)),
            ("higherEntry", [Single(k)]) => NeighbourEntry(Relation::Higher, copy(k)),
            (method, arguments) => match Bounds::of(method, arguments) {
                Some(bounds) => List(MapView::Part(bounds)),
                None => return Err(methods::mismatch(call)),
            },
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
        methods::sample(map_methods(self.class), sampler)
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
            form: HistoryForm::default(),
        };
        let held = Pairs::from([(1, 5), (4, 6)].map(|(k, v)| (Element::Int(k), Element::Int(v))));
        let answers = |class, view: &MapView, recorded: &str| {
            let (map, op) = (map(class), MapOp::List(view.clone()));
            let result = map.decode_result(&op, &recorded.into()).unwrap();
            !map.step(&held, &op, Some(&result)).is_empty()
        };
        let whole = MapView::Print;
        let listings = [
            (whole.clone(), ["{4=6, 1=5}", "{1=5, 4=6}"], "{4=5, 1=6}"),
            (
                MapView::Keys(Direction::Forward, Separator::Comma),
                ["[4,1]", "[1,4]"],
                "[4]",
            ),
            (
                MapView::Values(Separator::CommaBlank),
                ["[6, 5]", "[5, 6]"],
                "[6, 6]",
            ),
        ];
        for (view, right, wrong) in listings {
            for recorded in right {
                assert!(answers(MapClass::ConcurrentHashMap, &view, recorded));
            }
            assert!(!answers(MapClass::ConcurrentHashMap, &view, wrong));
        }
        assert!(!answers(
            MapClass::ConcurrentSkipListMap,
            &whole,
            "{4=6, 1=5}"
        ));
    }
}
