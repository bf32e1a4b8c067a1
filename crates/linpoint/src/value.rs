//! Values of arguments and results in recorded histories, and tables that number them.
//!
//! Engines work with the numbers ([`ValueId`]); reports show the original values.

use std::borrow::Cow;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// An argument or a result in a recorded history.
///
/// Two words wide and cheap to clone, because the states of the built-in specifications are made of values.
///
/// ```
/// use linpoint::Value;
/// assert_eq!(Value::from(3).to_string(), "3");
/// assert_eq!(Value::list([Value::from(1), Value::Nil]).to_string(), "[1, nil]");
/// assert_eq!(Value::from("a\"b").to_string(), r#""a\"b""#);
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    /// No value: `null`, `nil`, the result of a method that returns nothing, or the result of an empty container.
    #[default]
    Nil,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// Any other number, kept as text. Two such numbers are equal if their texts are.
    Number(Arc<String>),
    /// Text, including keywords and symbols.
    Text(Arc<String>),
    /// A sequence.
    List(Arc<Vec<Value>>),
    /// Pairs of key and value, sorted by key.
    Map(Arc<Vec<(Value, Value)>>),
}

impl Value {
    /// A list of `items`.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        Value::List(Arc::new(items.into_iter().collect()))
    }

    /// A map of `pairs`, which may come in any order.
    pub fn map(pairs: impl IntoIterator<Item = (Value, Value)>) -> Self {
        let mut pairs: Vec<_> = pairs.into_iter().collect();
        pairs.sort();
        Value::Map(Arc::new(pairs))
    }

    /// A number that is not a 64-bit integer, with the text of the input.
    pub fn number(text: impl Into<String>) -> Self {
        Value::Number(Arc::new(text.into()))
    }

    /// The integer, if this is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(b) => Some(*b),
            _ => None,
        }
    }

    /// The text, if this is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(t) => Some(t),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// The pairs, if this is a map.
    pub fn as_map(&self) -> Option<&[(Value, Value)]> {
        match self {
            Value::Map(pairs) => Some(pairs),
            _ => None,
        }
    }

    /// The value of `key`, if this is a map with that text key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map()?
            .iter()
            .find(|(k, _)| k.as_text() == Some(key))
            .map(|(_, v)| v)
    }

    /// Whether this is [`Value::Nil`].
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }

    /// The text of this value followed by that of `more`; nil counts as no text.
    ///
    /// ```
    /// use linpoint::Value;
    /// assert_eq!(Value::Nil.appended(&"a".into()).appended(&7.into()), "a7".into());
    /// ```
    #[must_use]
    pub fn appended(&self, more: &Value) -> Value {
        Value::from(self.plain_text().into_owned() + &more.plain_text())
    }

    /// Text without quotes, an empty text for nil, and the displayed form of any other value.
    pub(crate) fn plain_text(&self) -> Cow<'_, str> {
        match self {
            Value::Nil => Cow::Borrowed(""),
            Value::Text(text) => Cow::Borrowed(text.as_str()),
            other => Cow::Owned(other.to_string()),
        }
    }

    /// What kind of value this is, for error messages: "an integer", "a list", ...
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "a truth value",
            Value::Int(_) => "an integer",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// The JSON form of this value.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match self {
            Value::Nil => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => Json::from(*i),
            Value::Number(n) => {
                serde_json::from_str(n).unwrap_or_else(|_| Json::String(n.to_string()))
            }
            Value::Text(t) => Json::String(t.to_string()),
            Value::List(items) => items.iter().map(Value::to_json).collect(),
            Value::Map(pairs) => Json::Object(
                pairs
                    .iter()
                    .map(|(k, v)| {
                        let key = k.as_text().map_or_else(|| k.to_string(), str::to_owned);
                        (key, v.to_json())
                    })
                    .collect(),
            ),
        }
    }
}

/// An integer is hashed in one step, without a tag, since most values are integers.
impl std::hash::Hash for Value {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Value::Nil => state.write_u8(0),
            Value::Bool(b) => state.write_u8(1 + u8::from(*b)),
            Value::Int(i) => state.write_i64(*i),
            Value::Number(n) => n.hash(state),
            Value::Text(t) => t.hash(state),
            Value::List(items) => items.hash(state),
            Value::Map(pairs) => pairs.hash(state),
        }
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Value::Int(i)
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Value::Bool(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        letter(text).unwrap_or_else(|| Value::Text(Arc::new(text.to_owned())))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        letter(&text).unwrap_or_else(|| Value::Text(Arc::new(text)))
    }
}

/// The value of a text that is one ASCII character. Each thread has one value for each character, because histories of
/// transactions repeat such texts in every step.
fn letter(text: &str) -> Option<Value> {
    thread_local! {
        static LETTERS: [Value; 128] =
            std::array::from_fn(|code| Value::Text(Arc::new(char::from(code as u8).to_string())));
    }
    match text.as_bytes() {
        &[code] if code.is_ascii() => {
            LETTERS.with(|letters| Some(letters[usize::from(code)].clone()))
        }
        _ => None,
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Nil,
            Json::Bool(b) => Value::Bool(b),
            Json::Number(n) => n
                .as_i64()
                .map_or_else(|| Value::number(n.to_string()), Value::Int),
            Json::String(t) => Value::from(t),
            Json::Array(items) => Value::list(items.into_iter().map(Value::from)),
            Json::Object(pairs) => Value::map(
                pairs
                    .into_iter()
                    .map(|(k, v)| (Value::from(k), Value::from(v))),
            ),
        }
    }
}

/// The same as the display form, since messages also show user-defined types that hold values.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Nil => f.write_str("nil"),
            Value::Bool(b) => write!(f, "{b}"),
            Value::Int(i) => write!(f, "{i}"),
            Value::Number(n) => f.write_str(n),
            // The debug form escapes control characters too, so a report stays on its line.
            Value::Text(t) => write!(f, "{:?}", t.as_str()),
            Value::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{item}")?;
                }
                f.write_str("]")
            }
            Value::Map(pairs) => {
                f.write_str("{")?;
                for (i, (key, value)) in pairs.iter().enumerate() {
                    let comma = if i == 0 { "" } else { ", " };
                    write!(f, "{comma}{key}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

/// The number of an interned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A table that numbers items from 0 on, in the order of their first appearance. Equal items have the same number.
#[derive(Clone)]
pub struct Interner<T> {
    items: Vec<T>,
    table: HashTable<u32>,
    hasher: FixedState,
}

impl<T> fmt::Debug for Interner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interner({} items)", self.items.len())
    }
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner {
            items: Vec::new(),
            table: HashTable::new(),
            // The seed is fixed, so that runs are reproducible.
            hasher: FixedState::default(),
        }
    }
}

impl<T: Eq + std::hash::Hash> Interner<T> {
    /// The number of `item`, which is added when it is new.
    pub fn intern(&mut self, item: T) -> u32 {
        let hash = self.hasher.hash_one(&item);
        let (items, hasher) = (&self.items, &self.hasher);
        let entry = self.table.entry(
            hash,
            |&i| items[i as usize] == item,
            |&i| hasher.hash_one(&items[i as usize]),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                let id = u32::try_from(items.len()).expect("bug: more than 2^32 distinct items");
                slot.insert(id);
                self.items.push(item);
                id
            }
        }
    }

    /// The number of `item` if it was interned before.
    pub fn find<Q>(&self, item: &Q) -> Option<u32>
    where
        Q: std::hash::Hash + PartialEq<T> + ?Sized,
    {
        let hash = self.hasher.hash_one(item);
        self.table
            .find(hash, |&i| *item == self.items[i as usize])
            .copied()
    }

    /// The item with this number.
    pub fn get(&self, id: u32) -> &T {
        &self.items[id as usize]
    }

    /// All items, by number.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// All items, by number, without the table.
    pub(crate) fn into_items(self) -> Vec<T> {
        self.items
    }

    /// The number of distinct items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing was interned yet.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The bytes that are allocated when the next new item is added; old memory is freed afterwards.
    pub(crate) fn growth(&self) -> usize {
        growth(&self.items, &self.table)
    }
}

/// The bytes that are allocated when one more item is added; old memory is freed afterwards.
fn growth<T>(items: &Vec<T>, table: &HashTable<u32>) -> usize {
    let items = if items.len() == items.capacity() {
        items.len() * 2 * size_of::<T>()
    } else {
        0
    };
    let table = if table.len() == table.capacity() {
        table.len() * 10
    } else {
        0
    };
    items + table
}

/// A value to look up in a [`ValueTable`]. A text that the table has already is not allocated again.
#[derive(Debug)]
pub(crate) enum ValueRef<'a> {
    /// Text, borrowed from the input.
    Text(&'a str),
    /// Any value.
    Value(Value),
}

impl From<Value> for ValueRef<'_> {
    fn from(value: Value) -> Self {
        ValueRef::Value(value)
    }
}

/// A table that numbers values from 0 on, in the order of their first appearance.
///
/// Like [`Interner`], but faster for the values of most histories: `nil` and dense integers are found without hashing, and
/// repeated texts without allocation.
#[derive(Clone, Default)]
pub(crate) struct ValueTable {
    items: Vec<Value>,
    nil: Option<u32>,
    /// The numbers of small integers; [`ValueTable::NONE`] for those that do not occur.
    integers: Vec<u32>,
    /// Whether `table` has integers.
    has_sparse_integers: bool,
    /// The numbers of all other values.
    table: HashTable<u32>,
    hasher: FixedState,
}

impl fmt::Debug for ValueTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueTable({} items)", self.items.len())
    }
}

impl ValueTable {
    /// Marks an integer without a number. Invariant: no value has this number, since there are fewer than 2^32 values.
    const NONE: u32 = u32::MAX;

    /// An empty table with capacity for this many values. The operating system provides the memory when it is first used.
    #[cfg(feature = "parquet")]
    pub(crate) fn with_room(values: usize) -> Self {
        ValueTable {
            items: Vec::with_capacity(values),
            ..ValueTable::default()
        }
    }

    /// The number of `value`, which is added when it is new.
    pub(crate) fn intern(&mut self, value: ValueRef<'_>) -> u32 {
        match value {
            ValueRef::Text(text) => self.intern_text(text),
            ValueRef::Value(Value::Text(text)) => self.intern_text(&text),
            ValueRef::Value(Value::Nil) => match self.nil {
                Some(id) => id,
                None => *self.nil.insert(push(&mut self.items, Value::Nil)),
            },
            ValueRef::Value(Value::Int(i)) => self.intern_integer(i),
            ValueRef::Value(value) => {
                let hash = self.hasher.hash_one(&value);
                self.intern_hashed(hash, |known| *known == value, || value.clone())
            }
        }
    }

    fn intern_text(&mut self, text: &str) -> u32 {
        let hash = self.hasher.hash_one(text);
        self.intern_hashed(
            hash,
            |known| known.as_text() == Some(text),
            || Value::from(text),
        )
    }

    /// The number of the integer `i`, which is added when it is new.
    #[inline]
    pub(crate) fn intern_integer(&mut self, i: i64) -> u32 {
        let index = usize::try_from(i).unwrap_or(usize::MAX);
        match self.integers.get(index) {
            Some(&id) if id != Self::NONE => id,
            _ => self.intern_rare_integer(i, index),
        }
    }

    fn intern_rare_integer(&mut self, i: i64, index: usize) -> u32 {
        // The array may be about eight times as long as the number of values; larger integers go into the hash table.
        let is_dense = index <= 1024 + 8 * self.items.len();
        if is_dense && self.integers.len() <= index {
            let room = (index + 1).next_power_of_two().max(1024);
            self.integers.resize(room, Self::NONE);
        }
        let id = if is_dense && !self.has_sparse_integers {
            push(&mut self.items, Value::Int(i))
        } else {
            // The integer may already be in the hash table, from a time when there were fewer values.
            let value = Value::Int(i);
            let hash = self.hasher.hash_one(&value);
            self.has_sparse_integers = true;
            self.intern_hashed(hash, |known| *known == value, || value.clone())
        };
        if is_dense {
            self.integers[index] = id;
        }
        id
    }

    fn intern_hashed(
        &mut self,
        hash: u64,
        is_same: impl Fn(&Value) -> bool,
        make: impl FnOnce() -> Value,
    ) -> u32 {
        let (items, hasher) = (&self.items, &self.hasher);
        let entry = self.table.entry(
            hash,
            |&id| is_same(&items[id as usize]),
            |&id| match &items[id as usize] {
                Value::Text(text) => hasher.hash_one(text.as_str()),
                other => hasher.hash_one(other),
            },
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => *found.get(),
            hashbrown::hash_table::Entry::Vacant(slot) => {
                *slot.insert(push(&mut self.items, make())).get()
            }
        }
    }

    /// The value with this number.
    pub(crate) fn get(&self, id: u32) -> &Value {
        &self.items[id as usize]
    }

    /// All values, by number.
    pub(crate) fn items(&self) -> &[Value] {
        &self.items
    }

    /// All values, by number, without the table.
    pub(crate) fn into_items(self) -> Vec<Value> {
        self.items
    }

    /// Bytes that the next new value will make the tables take, while old and new ones are there.
    pub(crate) fn growth(&self) -> usize {
        growth(&self.items, &self.table)
    }
}

fn push(items: &mut Vec<Value>, value: Value) -> u32 {
    let id = u32::try_from(items.len()).expect("bug: more than 2^32 distinct values");
    items.push(value);
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_values_agrees_with_the_interner() {
        let mut interner = Interner::default();
        let mut table = ValueTable::default();
        // In this order some integers come when the table still has too few values to count them as dense.
        let integers = (0..6000i64).map(|i| Value::Int((i * 7919) % 5000 - 10));
        let others = (0..6000).map(|i| match i % 4 {
            0 => Value::Nil,
            1 => Value::from(format!("{}", i % 90)),
            2 => Value::list([Value::Int(i % 70)]),
            _ => Value::Int(i64::MAX - i % 50),
        });
        for (integer, other) in integers.zip(others) {
            for value in [integer, other] {
                let expected = interner.intern(value.clone());
                let id = match &value {
                    Value::Text(text) => table.intern(ValueRef::Text(text)),
                    _ => table.intern(value.clone().into()),
                };
                assert_eq!(id, expected, "{value}");
                assert_eq!(table.intern(value.clone().into()), expected);
                assert_eq!(table.get(id), &value);
            }
        }
        assert_eq!(table.into_items(), interner.items());
    }

    #[test]
    fn dense_and_sparse_integers_share_their_numbers() {
        let mut table = ValueTable::default();
        let integers = [3, 1, 3, 0, 1, 5, 1 << 40, 6, 1 << 40, 3];
        let ids = integers.map(|i| table.intern_integer(i));
        assert_eq!(ids, [0, 1, 0, 2, 1, 3, 4, 5, 4, 0]);
        let values = [3, 1, 0, 5, 1 << 40, 6].map(Value::Int);
        assert_eq!(table.into_items(), values);
    }

    #[test]
    fn values_are_two_words() {
        assert_eq!(size_of::<Value>(), 16);
    }

    #[test]
    fn json_round_trip() {
        let text = r#"{"a":[1,null,true,"x",1.5,12345678901234567890]}"#;
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(Value::from(json.clone()).to_json(), json);
    }

    #[test]
    fn interning_is_stable() {
        let mut table = Interner::default();
        let a = table.intern(Value::from("a"));
        let b = table.intern(Value::from("b"));
        assert_ne!(a, b);
        assert_eq!(table.intern(Value::from("a")), a);
        assert_eq!(table.get(b), &Value::from("b"));
        assert_eq!(table.find(&Value::from("b")), Some(b));
        assert_eq!(table.find(&Value::Nil), None);
    }
}
