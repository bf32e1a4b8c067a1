//! The built-in object types, by name.

use std::collections::BTreeMap;

use super::{Object, Register};
use crate::error::Error;
use crate::history::History;
use crate::portfolio::AnyObject;
use crate::value::Value;

/// Parameters of a type: `capacity`, `initial`, ...
pub type Params = BTreeMap<String, Value>;

/// A built-in type, ready to check histories.
pub type ObjectType = Box<dyn AnyObject>;

/// What there is to know about a built-in type.
#[derive(Debug)]
pub struct TypeInfo {
    /// Its name.
    pub name: &'static str,
    /// Other names it goes by.
    pub aliases: &'static [&'static str],
    /// One line on what it is.
    pub summary: &'static str,
    /// Parameters, with their meaning and default.
    pub params: &'static [(&'static str, &'static str)],
    /// Its methods.
    pub methods: &'static [MethodInfo],
    make: fn(&mut Given<'_>) -> Result<ObjectType, Error>,
}

/// What there is to know about a method.
#[derive(Debug)]
pub struct MethodInfo {
    /// How it is called: `cas([from, to])`.
    pub call: &'static str,
    /// What it answers.
    pub answers: &'static str,
}

/// Parameters on their way into a specification; what nobody takes is an error.
struct Given<'a> {
    type_name: &'static str,
    params: &'a Params,
    taken: Vec<&'static str>,
}

impl Given<'_> {
    fn take(&mut self, name: &'static str) -> Option<Value> {
        self.taken.push(name);
        self.params.get(name).cloned()
    }

    fn finish(self) -> Result<(), Error> {
        match self
            .params
            .keys()
            .find(|name| !self.taken.contains(&name.as_str()))
        {
            Some(name) => Err(Error::usage(format!(
                "type {} has no parameter {name:?}",
                self.type_name
            ))),
            None => Ok(()),
        }
    }
}

fn boxed(object: impl Object + 'static) -> Result<ObjectType, Error> {
    Ok(Box::new(object))
}

macro_rules! methods {
    ($($call:literal => $answers:literal),* $(,)?) => {
        &[$(MethodInfo { call: $call, answers: $answers }),*]
    };
}

const TYPES: &[TypeInfo] = &[
    TypeInfo {
        name: "register",
        aliases: &["rw-register"],
        summary: "a read/write register",
        params: &[("initial", "what it holds at first; nil by default")],
        methods: methods!["read()" => "the value", "write(v)" => "nil"],
        make: |given| {
            boxed(Register {
                initial: given.take("initial").unwrap_or_default(),
                cas: false,
            })
        },
    },
    TypeInfo {
        name: "cas-register",
        aliases: &[],
        summary: "a register with compare-and-set",
        params: &[("initial", "what it holds at first; nil by default")],
        methods: methods![
            "read()" => "the value",
            "write(v)" => "nil",
            "cas([from, to])" => "true if it held `from` and now holds `to`, else false",
        ],
        make: |given| {
            boxed(Register {
                initial: given.take("initial").unwrap_or_default(),
                cas: true,
            })
        },
    },
];

/// All built-in types.
pub fn types() -> &'static [TypeInfo] {
    TYPES
}

/// The built-in type called `name`; underscores and capitals do not matter.
///
/// ```
/// use linpoint::object_type;
/// assert!(object_type("cas-register", &Default::default()).is_ok());
/// assert!(object_type("sofa", &Default::default()).is_err());
/// ```
pub fn object_type(name: &str, params: &Params) -> Result<ObjectType, Error> {
    let info = find_type(name).ok_or_else(|| {
        let known: Vec<_> = TYPES.iter().map(|info| info.name).collect();
        Error::usage(format!(
            "unknown type {name:?}; known are {}",
            known.join(", ")
        ))
    })?;
    let mut given = Given {
        type_name: info.name,
        params,
        taken: Vec::new(),
    };
    let object = (info.make)(&mut given)?;
    given.finish()?;
    Ok(object)
}

fn find_type(name: &str) -> Option<&'static TypeInfo> {
    let name = name.to_lowercase().replace('_', "-");
    TYPES
        .iter()
        .find(|info| info.name == name || info.aliases.contains(&name.as_str()))
}

/// The type that a history is of, judged by its methods, where they leave no doubt.
pub fn guess_type(history: &History) -> Option<&'static str> {
    let methods: Vec<&str> = history.methods().iter().map(String::as_str).collect();
    let only = |known: &[&str]| methods.iter().all(|method| known.contains(method));
    let _ = only;
    None
}

/// Whether the single value that some formats record for a call of `method` is its result, not its argument.
pub fn value_is_result(method: &str) -> bool {
    const OBSERVERS: &[&str] = &[
        "read", "get", "peek", "pop", "deq", "dequeue", "poll", "take", "size",
    ];
    OBSERVERS.contains(&method)
}
