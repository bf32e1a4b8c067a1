//! What a mapping says, as it is written in TOML.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::super::assemble::{LoggedOperation, Outcome};
use super::super::json;
use super::path::Path;
use super::time::{self, Unit};
use crate::value::Value;

/// A mapping, key by key.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    #[serde(default)]
    pub(super) source: Option<Source>,
    #[serde(default)]
    pub(super) cells: Cells,
    #[serde(default, rename = "type")]
    pub(super) object_type: Option<String>,
    #[serde(default)]
    pub(super) params: BTreeMap<String, serde_json::Value>,
    #[serde(default)]
    pub(super) process: Option<Selector>,
    #[serde(default)]
    pub(super) object: Option<Selector>,
    #[serde(default)]
    pub(super) key: Option<Selector>,
    pub(super) method: Selector,
    #[serde(default)]
    pub(super) methods: BTreeMap<String, String>,
    #[serde(default, alias = "arg")]
    pub(super) argument: ByMethod,
    #[serde(default, alias = "ret")]
    pub(super) result: ByMethod,
    #[serde(default)]
    pub(super) hint: Option<Selector>,
    #[serde(default)]
    pub(super) call: Option<Path>,
    #[serde(default, rename = "return")]
    pub(super) ret: Option<Path>,
    #[serde(default)]
    pub(super) duration: Option<Path>,
    #[serde(default)]
    pub(super) duration_unit: Option<Unit>,
    #[serde(default)]
    pub(super) event: Option<Event>,
    #[serde(default)]
    pub(super) id: Option<Selector>,
    #[serde(default)]
    pub(super) time: Option<Path>,
    #[serde(default)]
    pub(super) unit: Option<Unit>,
    #[serde(default)]
    pub(super) status: Option<Status>,
    #[serde(default)]
    pub(super) skip: Option<Skip>,
    #[serde(default)]
    pub(super) skew: Skew,
}

/// How the records of a log are written.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Source {
    /// JSON documents, one after the other: mostly one on each line.
    Jsonl,
    /// One JSON array.
    Json,
    /// Values separated by commas, with a header.
    Csv,
    /// Values separated by tabs, with a header.
    Tsv,
}

/// What the cells of a table hold.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Cells {
    /// A cell that is JSON is the value that it stands for, and any other cell is text.
    #[default]
    Json,
    /// All cells are text.
    Text,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selector {
    Path(Path),
    Constant(Value),
    /// A list of these.
    List(Vec<Selector>),
}

/// Where a value comes from, for each method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum ByMethod {
    /// There is none.
    #[default]
    None,
    All(Selector),
    /// By the name of the method after renaming. The methods that are not named have none.
    Each(BTreeMap<String, Selector>),
}

impl ByMethod {
    /// Where the value of this method comes from.
    pub(super) fn of(&self, method: &str) -> Option<&Selector> {
        match self {
            ByMethod::None => None,
            ByMethod::All(selector) => Some(selector),
            ByMethod::Each(selectors) => selectors.get(method),
        }
    }
}

/// Something that a record may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Test {
    /// The record has something other than null at this path.
    Has(Path),
    /// The value of the table's `path` is this one, as text.
    Is(String),
}

/// One test or several, of which one must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tests(pub(super) Vec<Test>);

/// Which records begin operations, and which end them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventTable {
    #[serde(default)]
    pub(super) path: Option<Path>,
    #[serde(default)]
    pub(super) call: Tests,
    #[serde(default, rename = "return")]
    pub(super) ret: Tests,
    #[serde(default)]
    pub(super) fail: Tests,
    #[serde(default)]
    pub(super) unknown: Tests,
    #[serde(default)]
    pub(super) ignore: Tests,
}

/// [`EventTable`], which may be written as its path alone.
#[derive(Clone, Debug)]
pub(super) struct Event(pub(super) EventTable);

/// [`StatusTable`], which may be written as its path alone.
#[derive(Clone, Debug)]
pub(super) struct Status(pub(super) StatusTable);

/// How operations ended, by what a record says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusTable {
    #[serde(default)]
    pub(super) path: Option<Path>,
    #[serde(default)]
    pub(super) ok: Tests,
    #[serde(default)]
    pub(super) fail: Tests,
    #[serde(default)]
    pub(super) unknown: Tests,
    /// What a record without the field says.
    #[serde(default)]
    pub(super) absent: Option<Outcome>,
    /// What any other value says.
    #[serde(default)]
    pub(super) other: Option<Outcome>,
}

/// Records that are none of operations.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Skip {
    #[serde(default)]
    pub(super) path: Option<Path>,
    /// Records for which one of these holds.
    #[serde(default, rename = "if")]
    pub(super) tests: Tests,
    /// Records that have nothing, or null, at one of these paths.
    #[serde(default)]
    pub(super) without: Paths,
}

/// How far clocks may be off, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Skew {
    pub(super) default: i64,
    /// By process, as text.
    pub(super) of_process: BTreeMap<String, i64>,
}

impl Skew {
    pub(super) fn is_none(&self) -> bool {
        self.default == 0 && self.of_process.values().all(|&skew| skew == 0)
    }

    /// How far the clock of a process may be off.
    pub(super) fn of(&self, process: Option<&Value>) -> i64 {
        let own = process.and_then(|process| self.of_process.get(process.plain_text().as_ref()));
        own.copied().unwrap_or(self.default)
    }

    /// How many of the processes that it names have no operation among these.
    pub(super) fn unused(&self, operations: &[LoggedOperation]) -> u64 {
        if self.of_process.is_empty() {
            return 0;
        }
        let processes = operations.iter().filter_map(|op| op.process.as_ref());
        let used: HashSet<_> = processes.map(Value::plain_text).collect();
        let names = self.of_process.keys();
        names.filter(|name| !used.contains(name.as_str())).count() as u64
    }
}

impl Selector {
    fn parse(text: &str) -> Result<Self, String> {
        if let Some(constant) = text.strip_prefix('=') {
            let constant = constant.trim();
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(constant).is_ok();
            return Ok(Selector::Constant(match is_json {
                true => json::value(constant)?,
                false => Value::from(constant),
            }));
        }
        if text.starts_with(['.', '[']) {
            return Path::parse(text).map(Selector::Path);
        }
        Err(format!(
            "{text:?} is neither a path, which begins with a dot (.{text}), nor a constant, which begins with an equals sign (= {text})"
        ))
    }
}

/// Calls `each` with the paths of a selector.
pub(super) fn paths_of<'a>(selector: &'a mut Selector, each: &mut dyn FnMut(&'a mut Path)) {
    match selector {
        Selector::Path(path) => each(path),
        Selector::Constant(_) => {}
        Selector::List(selectors) => selectors
            .iter_mut()
            .for_each(|selector| paths_of(selector, each)),
    }
}

/// Makes a type readable that is written as text, as a list, or as a table.
trait Written: Sized {
    const EXPECTED: &'static str;

    fn from_text(_: &str) -> Result<Self, String> {
        Err(format!("expected {}", Self::EXPECTED))
    }

    fn from_list<'de, A: SeqAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("expected {}", Self::EXPECTED)))
    }

    fn from_table<'de, A: MapAccess<'de>>(_: A) -> Result<Self, A::Error> {
        Err(A::Error::custom(format!("expected {}", Self::EXPECTED)))
    }
}

struct WrittenVisitor<T>(PhantomData<T>);

impl<'de, T: Written> Visitor<'de> for WrittenVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        T::from_text(text).map_err(E::custom)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<T, E> {
        self.visit_str(&truth.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, integer: i64) -> Result<T, E> {
        self.visit_str(&integer.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::from_list(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::from_table(table)
    }
}

macro_rules! written {
    ($($name:ty),*) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(WrittenVisitor(PhantomData))
            }
        }
    )*};
}

written!(
    Path, Unit, Selector, ByMethod, Test, Tests, Event, Status, Skew, Paths
);

impl Written for Path {
    const EXPECTED: &'static str = "a path such as \".client_id\"";

    fn from_text(text: &str) -> Result<Self, String> {
        Path::parse(text)
    }
}

impl Written for Unit {
    const EXPECTED: &'static str = "a unit of time: \"ns\", \"us\", \"ms\" or \"s\"";

    fn from_text(text: &str) -> Result<Self, String> {
        Unit::parse(text)
    }
}

impl Written for Selector {
    const EXPECTED: &'static str =
        "a path such as \".value\", a constant such as \"= 3\", or a list of these";

    fn from_text(text: &str) -> Result<Self, String> {
        Selector::parse(text)
    }

    fn from_list<'de, A: SeqAccess<'de>>(items: A) -> Result<Self, A::Error> {
        let items = Vec::deserialize(SeqAccessDeserializer::new(items))?;
        Ok(Selector::List(items))
    }
}

impl Written for ByMethod {
    const EXPECTED: &'static str = "a path such as \".value\", a constant such as \"= 3\", a list of these, or a table of \
         these by method";

    fn from_text(text: &str) -> Result<Self, String> {
        Selector::from_text(text).map(ByMethod::All)
    }

    fn from_list<'de, A: SeqAccess<'de>>(items: A) -> Result<Self, A::Error> {
        Selector::from_list(items).map(ByMethod::All)
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        let table = BTreeMap::deserialize(MapAccessDeserializer::new(table))?;
        Ok(ByMethod::Each(table))
    }
}

impl Written for Test {
    const EXPECTED: &'static str =
        "a value such as \"ok\", or a path such as \".error\" that a record may have";

    fn from_text(text: &str) -> Result<Self, String> {
        match text.starts_with('.') {
            true => Path::parse(text).map(Test::Has),
            false => Ok(Test::Is(text.to_owned())),
        }
    }
}

impl Written for Tests {
    const EXPECTED: &'static str = "a value such as \"ok\", a path such as \".error\" that a record may have, or a list of these";

    fn from_text(text: &str) -> Result<Self, String> {
        Test::from_text(text).map(|test| Tests(vec![test]))
    }

    fn from_list<'de, A: SeqAccess<'de>>(items: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(Tests)
    }
}

/// The test whether a value is one of these.
fn named(names: &[&str]) -> Tests {
    let tests = names.iter().map(|name| Test::Is((*name).to_owned()));
    Tests(tests.collect())
}

impl Written for Status {
    const EXPECTED: &'static str =
        "the path of the status, such as \".status\", or a table with path, ok, fail and unknown";

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Status(StatusTable {
            path: Some(Path::parse(text)?),
            ok: named(&["ok"]),
            fail: named(&["fail"]),
            unknown: named(&["unknown", "info"]),
            absent: None,
            other: None,
        }))
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        StatusTable::deserialize(MapAccessDeserializer::new(table)).map(Status)
    }
}

impl Written for Event {
    const EXPECTED: &'static str =
        "the path of the kind of event, such as \".type\", or a table with call and return";

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Event(EventTable {
            path: Some(Path::parse(text)?),
            call: named(&["call", "invoke", "start", "begin"]),
            ret: named(&["return", "ok", "finish", "end"]),
            fail: named(&["fail"]),
            unknown: named(&["unknown", "info", "crash"]),
            ignore: Tests::default(),
        }))
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        EventTable::deserialize(MapAccessDeserializer::new(table)).map(Event)
    }
}

impl Written for Skew {
    const EXPECTED: &'static str =
        "how far clocks may be off, such as \"5ms\", or a table of this by process";

    fn from_text(text: &str) -> Result<Self, String> {
        Ok(Skew {
            default: time::parse_skew(text)?,
            of_process: BTreeMap::new(),
        })
    }

    fn from_table<'de, A: MapAccess<'de>>(table: A) -> Result<Self, A::Error> {
        let table: BTreeMap<String, String> =
            BTreeMap::deserialize(MapAccessDeserializer::new(table))?;
        let mut skew = Skew::default();
        for (process, text) in table {
            let of_this = time::parse_skew(&text).map_err(A::Error::custom)?;
            match process.as_str() {
                "default" => skew.default = of_this,
                _ => {
                    skew.of_process.insert(process, of_this);
                }
            }
        }
        Ok(skew)
    }
}

/// One path or several.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths(pub(super) Vec<Path>);

impl Written for Paths {
    const EXPECTED: &'static str = "a path such as \".op\", or a list of paths";

    fn from_text(text: &str) -> Result<Self, String> {
        Path::parse(text).map(|path| Paths(vec![path]))
    }

    fn from_list<'de, A: SeqAccess<'de>>(items: A) -> Result<Self, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(items)).map(Paths)
    }
}
