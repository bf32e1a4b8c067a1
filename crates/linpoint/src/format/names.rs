//! The formats by name.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// How a history is written down.
///
/// ```
/// use linpoint::format::Format;
/// assert_eq!("jepsen-log".parse::<Format>()?, Format::JepsenLog);
/// assert_eq!(Format::PorcupineKv.to_string(), "porcupine-kv");
/// # Ok::<(), linpoint::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON lines: events, operations or whole histories. Linpoint's own format.
    Jsonl,
    /// A Jepsen history: EDN maps, one for each event. Needs the feature `edn`.
    Edn,
    /// A Jepsen history as JSON objects, one for each event, as elle-cli takes them.
    JepsenJson,
    /// A log of Jepsen with its `jepsen.util` lines. Needs the feature `edn`.
    JepsenLog,
    /// Operations or events of porcupine, as Go writes them in JSON.
    Porcupine,
    /// The key-value histories of porcupine's tests: EDN maps with a `:key`. Needs the feature `edn`.
    PorcupineKv,
    /// JSON histories of Violat: `schema` and `events`.
    Violat,
    /// Plain text of the published monitors: method, value, call and return on each line.
    Operations,
    /// Events of snapshots, as the tests of Amram et al. are written: `startScan!2;endScan!2,0,1;`.
    Snapshot,
    /// Apache Parquet: one row for each operation. Needs the feature `parquet`.
    Parquet,
}

impl Format {
    /// All formats, in the order in which they are documented.
    pub const ALL: [Format; 10] = [
        Format::Jsonl,
        Format::Edn,
        Format::JepsenJson,
        Format::JepsenLog,
        Format::Porcupine,
        Format::PorcupineKv,
        Format::Violat,
        Format::Operations,
        Format::Snapshot,
        Format::Parquet,
    ];

    /// The name by which users call it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Jsonl => "jsonl",
            Format::Edn => "edn",
            Format::JepsenJson => "jepsen-json",
            Format::JepsenLog => "jepsen-log",
            Format::Porcupine => "porcupine",
            Format::PorcupineKv => "porcupine-kv",
            Format::Violat => "violat",
            Format::Operations => "operations",
            Format::Snapshot => "snapshot",
            Format::Parquet => "parquet",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let known = Format::ALL.map(Format::name).join(", ");
            Error::usage(format!("unknown format {name:?}; known are {known}"))
        })
    }
}
