//! Finds the built-in object types by name.

use std::ops::RangeInclusive;

use super::ObjectType;
use super::catalog::TYPES;
use crate::error::{Error, did_you_mean, most_similar};
use crate::history::History;
use crate::spec::{MethodInfo, Params, balances_of};
use crate::value::Value;

/// The documentation of a built-in type.
#[derive(Debug)]
pub struct TypeInfo {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// One line on what it is.
    pub summary: &'static str,
    /// Parameters, with their meaning and default.
    pub params: &'static [(&'static str, &'static str)],
    /// Its methods.
    pub methods: &'static [MethodInfo],
    pub(super) make: fn(&Given<'_>) -> Result<ObjectType, Error>,
}

impl TypeInfo {
    /// Adds the methods of this type, and the most similar one, to an error about a method that the type does not have. Other
    /// errors stay as they are.
    ///
    /// ```
    /// use linpoint::object::find_type;
    /// use linpoint::{Call, Checker, HistoryBuilder, Ties, object_type};
    /// let mut builder = HistoryBuilder::new();
    /// builder.call(1, 0.into(), Call::new("wrtie", 5))?;
    /// let history = builder.finish(Ties::default())?;
    /// let register = object_type("register", &Default::default())?;
    /// let error = Checker::default().check_recorded(&register, &history).unwrap_err();
    /// let error = find_type("register").unwrap().with_methods(error);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "line 1: unknown method \"wrtie\"; did you mean write? type register has read, write"
    /// );
    /// # Ok::<(), linpoint::Error>(())
    /// ```
    pub fn with_methods(&self, error: Error) -> Error {
        let Some(method) = error.unknown_method_name() else {
            return error;
        };
        let mut names: Vec<&str> = Vec::new();
        for call in self.methods.iter().map(|method| method.call) {
            let name = call.split('(').next().unwrap_or_default();
            // Some take several kinds of arguments.
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let meant = did_you_mean(method, names.iter().copied());
        let reason = format!(
            "{}; {meant}type {} has {}",
            error.reason(),
            self.name,
            names.join(", ")
        );
        error.with_reason(reason)
    }
}

/// The parameters that were given for a type.
#[derive(Debug)]
pub(super) struct Given<'a> {
    type_name: &'static str,
    params: &'a Params,
}

impl Given<'_> {
    pub(super) fn take(&self, name: &str) -> Option<Value> {
        self.params.get(name).cloned()
    }

    pub(super) fn integer(&self, name: &str) -> Result<Option<i64>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Int(i)) => Ok(Some(i)),
            Some(other) => Err(self.refuse(name, "an integer", &other)),
        }
    }

    /// Returns the parameter as a number within `bounds`; `None` if it is not given.
    pub(super) fn count(
        &self,
        name: &str,
        bounds: RangeInclusive<usize>,
    ) -> Result<Option<usize>, Error> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let count = value.as_int().and_then(|i| usize::try_from(i).ok());
        match count.filter(|count| bounds.contains(count)) {
            Some(count) => Ok(Some(count)),
            None => {
                let wanted = format!("a number from {} to {}", bounds.start(), bounds.end());
                Err(self.refuse(name, &wanted, &value))
            }
        }
    }

    pub(super) fn truth(&self, name: &str) -> Result<Option<bool>, Error> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(b)) => Ok(Some(b)),
            Some(other) => Err(self.refuse(name, "true or false", &other)),
        }
    }

    /// Returns the parameter as balances by account, sorted by account.
    pub(super) fn balances(&self, name: &str) -> Result<Option<Vec<(Value, i64)>>, Error> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let balances = balances_of(&value).filter(|balances| !balances.is_empty());
        let wanted = "a list of balances such as [100, 0], or a map such as {\"a\": 100}";
        match balances {
            Some(balances) => Ok(Some(balances)),
            None => Err(self.refuse(name, wanted, &value)),
        }
    }

    /// Returns the error about a required parameter that is missing.
    pub(super) fn missing(&self, name: &str) -> Error {
        Error::usage(format!(
            "type {} needs a parameter {name:?}",
            self.type_name
        ))
    }

    fn refuse(&self, name: &str, wanted: &str, value: &Value) -> Error {
        Error::usage(format!(
            "parameter {name:?} of type {} is {wanted}, not {value}",
            self.type_name
        ))
    }
}

/// All built-in types.
pub fn types() -> &'static [TypeInfo] {
    TYPES
}

/// Returns the built-in type called `name`. Case is ignored, and an underscore is read as a hyphen.
///
/// ```
/// use linpoint::object_type;
/// assert!(object_type("cas-register", &Default::default()).is_ok());
/// assert!(object_type("sofa", &Default::default()).is_err());
/// ```
pub fn object_type(name: &str, params: &Params) -> Result<ObjectType, Error> {
    let info = find_type(name).ok_or_else(|| {
        if name == "list-append" {
            return Error::usage(
                "list-append is about transactions, of which isolation levels are checked: check --condition strict-serializable, or \
                 a weaker level, with --type list-append or without",
            );
        }
        let known: Vec<_> = TYPES.iter().map(|info| info.name).collect();
        let aliases = TYPES.iter().flat_map(|info| info.aliases);
        let meant = did_you_mean(name, aliases.chain(&known).copied());
        Error::usage(format!(
            "unknown type {name:?}; {meant}known are {}",
            known.join(", ")
        ))
    })?;
    let is_known = |name: &String| info.params.iter().any(|(known, _)| known == name);
    if let Some(unknown) = params.keys().find(|name| !is_known(name)) {
        let known: Vec<_> = info.params.iter().map(|(name, _)| *name).collect();
        let known = match known.as_slice() {
            [] => String::new(),
            known => format!("; it has {}", known.join(", ")),
        };
        let reason = format!("type {} has no parameter {unknown:?}{known}", info.name);
        return Err(Error::usage(reason));
    }
    (info.make)(&Given {
        type_name: info.name,
        params,
    })
}

/// Returns the documentation of the type called `name`.
pub fn find_type(name: &str) -> Option<&'static TypeInfo> {
    let name = name.to_lowercase().replace('_', "-");
    TYPES
        .iter()
        .find(|info| info.name == name || info.aliases.contains(&name.as_str()))
}

/// Types with the methods that identify them. A history is of the type if it calls at least one of the first methods, and no
/// method that is in neither list.
///
/// Methods that several types have, such as `add` and `poll`, identify no type.
const SIGNS: &[(&str, &[&str], &[&str])] = &[
    ("cas-register", &["cas"], &["read", "write"]),
    ("register", &["write"], &["read"]),
    ("kv", &["put"], &["get", "append", "cas", "delete"]),
    (
        "queue",
        &["enq", "enqueue", "deq", "dequeue"],
        &["peek", "size"],
    ),
    ("stack", &["push", "pop"], &["peek", "top", "size"]),
    (
        "deque",
        &["push_front", "push_back", "pop_front", "pop_back"],
        &["peek_front", "peek_back", "size"],
    ),
    (
        "set",
        &["contains"],
        &["add", "insert", "remove", "delete", "size", "read"],
    ),
    ("bag", &["take"], &["add", "peek", "size"]),
    (
        "counter",
        &["inc", "dec", "fetch_add", "inc_and_get"],
        &["read", "get", "add"],
    ),
    (
        "mutex",
        &["acquire", "lock", "try_lock"],
        &[
            "release",
            "unlock",
            "try_unlock",
            "try_acquire",
            "try_release",
        ],
    ),
    (
        "rw-lock",
        &["read_lock", "write_lock", "try_read_lock", "try_write_lock"],
        &["read_unlock", "write_unlock"],
    ),
    ("snapshot", &["scan"], &["update"]),
    ("multi-register", &["txn"], &[]),
    ("bank", &["transfer"], &["read"]),
    ("list", &["append"], &["read", "size"]),
    ("unique-ids", &["generate"], &[]),
    (
        "kafka-log",
        &["send", "assign", "subscribe"],
        &["poll", "txn", "crash", "debug-topic-partitions"],
    ),
];

/// Returns the type of a history if its methods identify one, or their results do.
pub fn guess_type(history: &History) -> Option<&'static str> {
    let name = type_with_methods(history.methods()).or_else(|| type_with_reads(history));
    name.filter(|_| !may_have_tokens(history))
}

/// The types that a lock may have whose results look like fencing tokens: only the first checks them.
const LOCKS_WITH_TOKENS: [&str; 2] = ["fenced-lock", "mutex"];

/// Whether a history of a lock has results that look like fencing tokens, which `mutex` ignores.
fn may_have_tokens(history: &History) -> bool {
    let is_token = |result: Option<&Value>| result.is_some_and(|result| result.as_int().is_some());
    type_with_methods(history.methods()) == Some("mutex")
        && history.ops().any(|op| is_token(op.result))
}

/// The type of a history whose methods do not tell it, but whose reads do. With `add`, it is a set if they answer lists, and a
/// counter if they answer integers. Without other methods it is a bank if they answer maps.
fn type_with_reads(history: &History) -> Option<&'static str> {
    let mut methods: Vec<&str> = history.methods().iter().map(String::as_str).collect();
    methods.sort_unstable();
    let reads = history.ops().filter(|op| op.method == "read");
    let mut results = reads.filter_map(|op| op.result).peekable();
    results.peek()?;
    match methods.as_slice() {
        ["read"] => results
            .all(|result| result.as_map().is_some())
            .then_some("bank"),
        ["add", "read"] if results.peek()?.as_list().is_some() => results
            .all(|result| result.as_list().is_some())
            .then_some("set"),
        ["add", "read"] => results
            .all(|result| result.as_int().is_some())
            .then_some("counter"),
        _ => None,
    }
}

/// Returns the types that have all methods of a history, of those that methods can identify.
pub fn candidate_types(history: &History) -> Vec<&'static str> {
    match may_have_tokens(history) {
        true => LOCKS_WITH_TOKENS.to_vec(),
        false => types_with_all(history.methods()),
    }
}

fn types_with_all(methods: &[String]) -> Vec<&'static str> {
    let has_all = |(_, signs, others): &&(&str, &[&str], &[&str])| {
        let is_known = |name: &str| signs.contains(&name) || others.contains(&name);
        methods.iter().all(|method| is_known(method))
    };
    SIGNS
        .iter()
        .filter(has_all)
        .map(|&(name, ..)| name)
        .collect()
}

fn type_with_methods(methods: &[String]) -> Option<&'static str> {
    let fits = |(_, signs, others): &&(&str, &[&str], &[&str])| {
        let is_sign = |method: &String| signs.contains(&method.as_str());
        let is_known = |method: &String| is_sign(method) || others.contains(&method.as_str());
        methods.iter().any(is_sign) && methods.iter().all(is_known)
    };
    SIGNS.iter().find(fits).map(|&(name, ..)| name)
}

/// Returns why the methods of a history identify no type: a clause that names the types that have them, or a method that may
/// be misspelt.
pub fn why_no_type(history: &History) -> Option<String> {
    if may_have_tokens(history) {
        let [fenced, mutex] = LOCKS_WITH_TOKENS;
        return Some(format!(
            "results are integers: type {fenced} checks them as fencing tokens, and type {mutex} ignores them"
        ));
    }
    hint_on_methods(history.methods())
}

fn hint_on_methods(methods: &[String]) -> Option<String> {
    let unknown_in = |(_, signs, others): &(&str, &[&str], &[&str])| {
        let is_known = |name: &&str| signs.contains(name) || others.contains(name);
        let names = methods.iter().map(String::as_str);
        names
            .filter(|name| !is_known(name))
            .collect::<Vec<&'_ str>>()
    };
    match types_with_all(methods).as_slice() {
        [] => {}
        [only] => return Some(format!("type {only} has them, and others may")),
        [all @ .., last] => {
            let all = all.join(", ");
            return Some(format!("types {all} and {last} have them, and others may"));
        }
    }
    // The type that has the most of them, if every other one is like one of its methods.
    let nearest = SIGNS.iter().filter_map(|sign| {
        let (name, signs, others) = sign;
        let unknown = unknown_in(sign);
        let alike = |method: &&str| most_similar(method, signs.iter().chain(*others).copied());
        let meant: Option<Vec<&str>> = unknown.iter().map(alike).collect();
        let methods = signs.len() + others.len();
        Some((
            (unknown.len(), methods),
            *name,
            *unknown.first()?,
            *meant?.first()?,
        ))
    });
    if let Some((_, name, method, meant)) = nearest.min_by_key(|(unknown, ..)| *unknown) {
        return Some(format!(
            "type {name} has no {method:?}; did you mean {meant}?"
        ));
    }
    let signed = SIGNS.iter().filter(|(_, signs, _)| {
        let is_sign = |method: &String| signs.contains(&method.as_str());
        methods.iter().any(is_sign)
    });
    let nearest = signed.min_by_key(|sign| unknown_in(sign).len())?;
    let unknown = *unknown_in(nearest).first()?;
    Some(format!("type {} has no {unknown:?}", nearest.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_identify_no_type_are_explained() {
        let hint = |methods: &[&str]| {
            let methods: Vec<String> = methods.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(type_with_methods(&methods), None);
            hint_on_methods(&methods).unwrap_or_default()
        };
        let queue = r#"type queue has no "dequeu"; did you mean dequeue?"#;
        assert_eq!(hint(&["enq", "dequeu"]), queue);
        let register = r#"type register has no "wrtie"; did you mean write?"#;
        assert_eq!(hint(&["wrtie", "read"]), register);
        let several = "types set, bag and counter have them, and others may";
        assert_eq!(hint(&["add"]), several);
        assert_eq!(hint(&["enq", "launch"]), r#"type queue has no "launch""#);
        assert_eq!(hint(&["launch"]), "");
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = TYPES
            .iter()
            .flat_map(|info| info.aliases.iter().chain([&info.name]))
            .collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        for name in names {
            assert_eq!(
                *name,
                name.to_lowercase().replace('_', "-"),
                "not found as {name}"
            );
        }
    }

    #[test]
    fn names_that_were_nearly_right_are_found() {
        let refused = |name| object_type(name, &Params::new()).unwrap_err().to_string();
        assert!(refused("quue").contains("did you mean queue?"));
        assert!(refused("Registers").contains("did you mean register?"));
        assert!(!refused("sofa").contains("did you mean"));
    }

    #[test]
    fn guesses_name_types() {
        for (name, signs, _) in SIGNS {
            assert_eq!(find_type(name).map(|info| info.name), Some(*name));
            for sign in *signs {
                assert_eq!(type_with_methods(&[sign.to_string()]), Some(*name));
            }
        }
    }

    #[test]
    fn doubt_is_no_guess() {
        for methods in [
            &["add", "poll"][..],
            &["read"],
            &["add", "read"],
            &[],
            &["write", "pop"],
        ] {
            let methods: Vec<_> = methods.iter().map(|method| method.to_string()).collect();
            assert_eq!(type_with_methods(&methods), None, "{methods:?}");
        }
    }

    #[test]
    fn results_that_may_be_tokens_leave_the_type_of_a_lock_open() {
        let acquired = |result: Value| {
            let mut builder = crate::HistoryBuilder::new();
            let process = Value::Int(0);
            let call = crate::Call::new("acquire", Value::Nil);
            builder.call(0, process.clone(), call).unwrap();
            builder.ret(0, &process, result).unwrap();
            builder.finish(crate::Ties::default()).unwrap()
        };
        assert_eq!(guess_type(&acquired(Value::Nil)), Some("mutex"));
        let with_token = acquired(Value::Int(33));
        assert_eq!(guess_type(&with_token), None);
        assert_eq!(candidate_types(&with_token), LOCKS_WITH_TOKENS);
        assert!(why_no_type(&with_token).unwrap().contains("fencing tokens"));
        for name in LOCKS_WITH_TOKENS {
            assert!(find_type(name).is_some());
        }
    }

    #[test]
    fn reads_tell_sets_counters_and_banks_apart() {
        let guessed_after = |method: Option<&str>, results: &[Value]| {
            let mut builder = crate::HistoryBuilder::new();
            let process = Value::Int(0);
            let calls = method.into_iter().map(|method| (method, &Value::Nil));
            let reads = results.iter().map(|result| ("read", result));
            for (method, result) in calls.chain(reads) {
                let call = crate::Call::new(method, 1);
                builder.call(0, process.clone(), call).unwrap();
                builder.ret(0, &process, result.clone()).unwrap();
            }
            guess_type(&builder.finish(crate::Ties::default()).unwrap())
        };
        let guessed = |results: &[Value]| guessed_after(Some("add"), results);
        let list = Value::list([1.into()]);
        let map = Value::map([(0.into(), 10.into())]);
        assert_eq!(
            guessed_after(None, std::slice::from_ref(&map)),
            Some("bank")
        );
        assert_eq!(guessed_after(None, &[map.clone(), 0.into()]), None);
        assert_eq!(guessed(&[map]), None);
        assert_eq!(guessed(&[list.clone(), Value::list([])]), Some("set"));
        assert_eq!(guessed(&[(-2).into(), 0.into()]), Some("counter"));
        assert_eq!(guessed(&[list, 0.into()]), None);
        assert_eq!(guessed(&[Value::Nil]), None);
        assert_eq!(guessed(&[]), None);
    }

    #[test]
    fn parameters_are_checked() {
        let with = |name: &str, pairs: &[(&str, Value)]| {
            let params = pairs.iter().map(|(k, v)| (k.to_string(), v.clone()));
            object_type(name, &params.collect())
                .err()
                .map(|error| error.to_string())
        };
        assert_eq!(with("bounded_queue", &[("capacity", 3.into())]), None);
        assert_eq!(
            with("bounded-queue", &[]).as_deref(),
            Some("type bounded-queue needs a parameter \"capacity\"")
        );
        assert_eq!(
            with("bounded-queue", &[("capacity", 0.into())]).as_deref(),
            Some(
                "parameter \"capacity\" of type bounded-queue is a number from 1 to 2147483647, not 0"
            )
        );
        assert_eq!(
            with("set", &[("capacity", 3.into())]).as_deref(),
            Some("type set has no parameter \"capacity\"")
        );
        assert_eq!(
            with("bounded-queue", &[("capcity", 3.into())]).as_deref(),
            Some("type bounded-queue has no parameter \"capcity\"; it has capacity")
        );
        assert_eq!(
            with("counter", &[("initial", "x".into())]).as_deref(),
            Some("parameter \"initial\" of type counter is an integer, not \"x\"")
        );
    }
}
