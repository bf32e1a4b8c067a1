//! Finds the fields of a line; their values are decoded later.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::super::{json, number};
use super::scan;
use crate::error::did_you_mean;
use crate::value::{Value, ValueRef};

macro_rules! keys {
    ($($key:ident $name:literal,)*) => {
        /// The keys that lines may have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Key {
            $($key,)*
        }

        /// The names of the keys, in the order of their numbers.
        const NAMES: &[&str] = &[$($name,)*];

        impl Key {
            fn named(name: &str) -> Option<Key> {
                match name {
                    $($name => Some(Key::$key),)*
                    _ => None,
                }
            }
        }
    };
}

keys! {
    Process "process",
    Event "event",
    Object "object",
    Method "method",
    Arg "arg",
    Ret "ret",
    Call "call",
    Return "return",
    Value "value",
    Ok "ok",
    Inv "inv",
    Res "res",
    Text "text",
    Linpoint "linpoint",
    Type "type",
    Params "params",
    Ops "ops",
    Ties "ties",
    Linearizable "linearizable",
    Note "note",
    Ambiguous "ambiguous",
    Time "time",
    Index "index",
    Hint "hint",
    Clients "clients",
    Stuck "stuck",
    Clock "clock",
}

impl Key {
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// Keys that may stand on events and operations for the sake of other readers.
const INFORMATIONAL: Keys = Keys::of(&[Key::Time, Key::Index]);

/// A set of keys.
#[derive(Clone, Copy)]
pub(super) struct Keys(u32);

impl Keys {
    pub(super) const fn of(keys: &[Key]) -> Self {
        let mut set = 0;
        let mut i = 0;
        while i < keys.len() {
            set |= 1 << keys[i] as u32;
            i += 1;
        }
        Keys(set)
    }

    fn has(self, key: Key) -> bool {
        self.0 & (1 << key as u32) != 0
    }

    /// The key of this set that is more likely meant by one which is not in it.
    fn instead_of(self, name: &str) -> Option<Key> {
        let likely: &[Key] = match name {
            "type" if self.has(Key::Process) => return Some(Key::Event),
            "value" => &[Key::Arg, Key::Ret],
            "ok" => &[Key::Ret],
            "inv" => &[Key::Call],
            "res" => &[Key::Return, Key::Ret],
            _ => &[],
        };
        likely.iter().copied().find(|key| self.has(*key))
    }
}

/// The fields of a line, not yet decoded. An absent field is `None`; a `null` is not.
pub(super) struct Fields<'a> {
    raw: [Option<&'a str>; NAMES.len()],
    given: Keys,
}

impl<'a> Fields<'a> {
    pub(super) fn none() -> Self {
        Fields {
            raw: [None; NAMES.len()],
            given: Keys(0),
        }
    }

    /// Fills the fields, which must be empty, from a JSON object.
    pub(super) fn read(&mut self, text: &'a str) -> Result<(), String> {
        // Most lines are simple. The parser reads all others and words the errors.
        if scan::flat_object(text, |name, raw| self.set(Key::named(name)?, raw)).is_some() {
            return Ok(());
        }
        *self = Fields::none();
        self.parse(text)
    }

    fn parse(&mut self, text: &'a str) -> Result<(), String> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        Fill(self)
            .deserialize(&mut deserializer)
            .and_then(|()| deserializer.end())
            .map_err(|error| json::reason(&error))
    }

    /// Sets a field, unless it is set already.
    fn set(&mut self, key: Key, raw: &'a str) -> Option<()> {
        let field = &mut self.raw[key as usize];
        if field.is_some() {
            return None;
        }
        *field = Some(raw);
        self.given.0 |= 1 << key as u32;
        Some(())
    }

    pub(super) fn get(&self, key: Key) -> Option<&'a str> {
        self.raw[key as usize]
    }

    pub(super) fn has(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// The field, where `null` counts as absent.
    pub(super) fn given(&self, key: Key) -> Option<&'a str> {
        self.get(key).filter(|raw| *raw != "null")
    }

    pub(super) fn value_ref(&self, key: Key) -> Result<ValueRef<'a>, String> {
        match self.get(key) {
            Some(raw) => named(key, json::value_ref(raw)),
            None => Ok(ValueRef::Value(Value::Nil)),
        }
    }

    pub(super) fn value(&self, key: Key) -> Result<Value, String> {
        self.get(key)
            .map_or(Ok(Value::Nil), |raw| named(key, json::value(raw)))
    }

    pub(super) fn text(&self, key: Key) -> Result<Option<Cow<'a, str>>, String> {
        let Some(raw) = self.given(key) else {
            return Ok(None);
        };
        if !raw.starts_with('"') {
            return Err(format!("{:?} must be text, not {raw}", key.name()));
        }
        named(key, json::string(raw)).map(Some)
    }

    pub(super) fn integer(&self, key: Key) -> Result<Option<i64>, String> {
        let Some(raw) = self.given(key) else {
            return Ok(None);
        };
        json::integer(raw)
            .map(Some)
            .ok_or_else(|| format!("{:?} must be a 64-bit integer, not {raw}", key.name()))
    }

    /// The time in a field.
    pub(super) fn time(&self, key: Key) -> Result<Option<i64>, String> {
        let Some(raw) = self.given(key) else {
            return Ok(None);
        };
        let time = json::integer(raw).map(Some);
        time.ok_or_else(|| number::no_time(&format!("{:?}", key.name()), raw))
    }

    pub(super) fn truth(&self, key: Key) -> Result<Option<bool>, String> {
        match self.given(key) {
            None => Ok(None),
            Some("true") => Ok(Some(true)),
            Some("false") => Ok(Some(false)),
            Some(other) => Err(format!(
                "{:?} must be true or false, not {other}",
                key.name()
            )),
        }
    }

    /// Refuses keys that this kind of line does not have: they are more likely a mistake than an extension.
    pub(super) fn only(&self, what: &str, keys: Keys) -> Result<(), String> {
        let stray = self.given.0 & !(keys.0 | INFORMATIONAL.0);
        match NAMES.get(stray.trailing_zeros() as usize) {
            Some(name) => {
                let meant = keys.instead_of(name);
                let meant =
                    meant.map_or_else(String::new, |key| format!("; did you mean {}?", key.name()));
                Err(format!("{name:?} does not belong on {what}{meant}"))
            }
            None => Ok(()),
        }
    }
}

/// Names that other formats have for keys of this one.
const USUAL_NAMES: &[(Key, &[&str])] = &[
    (
        Key::Process,
        &[
            "thread",
            "client",
            "worker",
            "session",
            "proc",
            "pid",
            "tid",
            "actor",
            "node",
            "client_id",
            "thread_id",
            "clientid",
            "threadid",
        ],
    ),
    (Key::Event, &["kind", "phase", "status", "state"]),
    (Key::Object, &["obj", "instance", "target"]),
    (
        Key::Method,
        &[
            "f",
            "fn",
            "func",
            "function",
            "op",
            "operation",
            "name",
            "command",
            "cmd",
            "action",
        ],
    ),
    (
        Key::Arg,
        &[
            "args",
            "argument",
            "arguments",
            "input",
            "in",
            "param",
            "parameter",
            "parameters",
        ],
    ),
    (
        Key::Ret,
        &[
            "result",
            "results",
            "output",
            "out",
            "response",
            "answer",
            "returned",
            "returns",
            "retval",
            "return_value",
            "val",
        ],
    ),
    (
        Key::Call,
        &[
            "start",
            "begin",
            "invoke",
            "invocation",
            "called",
            "start_time",
            "call_time",
            "starttime",
            "calltime",
            "invoke_time",
        ],
    ),
    (
        Key::Return,
        &[
            "end",
            "finish",
            "stop",
            "complete",
            "completion",
            "end_time",
            "return_time",
            "endtime",
            "returntime",
            "complete_time",
        ],
    ),
    (Key::Time, &["timestamp", "ts", "at"]),
    (Key::Index, &["id", "i", "seq"]),
];

/// The key that other formats call `name`.
fn usual_key(name: &str) -> Option<Key> {
    let name = name.to_lowercase().replace('-', "_");
    let known = USUAL_NAMES.iter();
    let key = known.filter(|(_, names)| names.contains(&name.as_str()));
    key.map(|(key, _)| *key).next()
}

fn unknown_key(name: &str) -> String {
    let meant = match usual_key(name) {
        Some(key) => format!("did you mean {}? ", key.name()),
        None => did_you_mean(name, NAMES.iter().copied()),
    };
    format!(
        "unknown key {name:?}; {meant}known are {}, and keys of your own that begin with x-",
        NAMES.join(", ")
    )
}

pub(super) fn missing(key: Key) -> String {
    format!("{:?} is missing", key.name())
}

pub(super) fn named<T>(key: Key, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|reason| format!("{:?}: {reason}", key.name()))
}

/// Fills the fields in their place: they are too large to be handed from function to function for every line.
struct Fill<'f, 'de>(&'f mut Fields<'de>);

impl<'de> DeserializeSeed<'de> for Fill<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((FieldName(key), raw)) = map.next_entry::<FieldName, &RawValue>()? {
            if let Some(key) = key
                && self.0.set(key, raw.get()).is_none()
            {
                return Err(A::Error::custom(format!("{:?} is given twice", key.name())));
            }
        }
        Ok(())
    }
}

/// A key; `None` for extensions, whose names begin with `x-`.
struct FieldName(Option<Key>);

impl<'de> Deserialize<'de> for FieldName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl Visitor<'_> for NameVisitor {
            type Value = FieldName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                match Key::named(name) {
                    Some(key) => Ok(FieldName(Some(key))),
                    None if name.starts_with("x-") => Ok(FieldName(None)),
                    None => Err(E::custom(unknown_key(name))),
                }
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn simple_lines_are_scanned_as_they_are_parsed(
            text in r#" ?\{ ?("(arg|ret|call|x-a|odd|\\n)" ?: ?(-?[0-9]{1,3}|null|true|nul|"[a-zé\\\t ]{0,3}"|\[1\]|1\.5|01|-|1e3),? ?){0,4}\}? ?x?"#,
        ) {
            let mut parsed = Fields::none();
            let well_formed = parsed.parse(&text).is_ok();
            let mut read = Fields::none();
            prop_assert_eq!(read.read(&text).is_ok(), well_formed);
            if well_formed {
                prop_assert_eq!(read.raw, parsed.raw);
                prop_assert_eq!(read.given.0, parsed.given.0);
            }
        }
    }
}
