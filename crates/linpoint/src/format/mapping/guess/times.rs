//! Which fields of a log tell when operations were called and returned.

use std::fmt::Write;

use super::fields::Field;
use super::words::*;
use super::{Proposal, last_name, list, quoted};

/// How events are told, the surest first: a call that timed out is not known to have failed, whatever else its name says.
const KINDS: [(&str, &[&str]); 4] = [
    ("unknown", UNKNOWNS),
    ("fail", FAILS),
    ("return", RETURNS),
    ("call", CALLS),
];

impl Proposal<'_> {
    /// Proposes times, or events. Returns whether these say what the method is, too.
    pub(super) fn propose_times(&mut self) -> bool {
        let call = self.find_time(CALL, MARKED_CALL, Field::is_time);
        self.taken.extend(call.clone());
        let ret = self.find_time(RETURN, MARKED_RETURN, Field::is_time);
        if let Some(call) = &call {
            self.taken.remove(call);
        }
        if let (Some(call), Some(ret)) = (&call, &ret) {
            self.set("call", call);
            self.set("return", ret);
            self.propose_unit(call);
            return false;
        }
        if let Some(path) = self.find(EVENT, |field| field.is_tagged() && has_both(field)) {
            return self.propose_tagged_events(&path).is_some();
        }
        let kinds = self.find(EVENT, |field| field.is_name() && has_both(field));
        if let Some(kinds) =
            kinds.or_else(|| self.find_any(|field| field.is_name() && has_both(field)))
        {
            self.propose_events(&kinds);
        } else if !self.propose_duration(call, ret) {
            let _ = writeln!(self.toml, "call = \".START\"\nreturn = \".END\"");
            self.unsure.push(
                "no fields look like the times of the call and the return, and none tells the beginning of an operation from its end: write the \
                 paths for `call` and `return`, or `event`"
                    .to_owned(),
            );
        }
        false
    }

    /// The first field with one of these names, which is not taken; the names of `marked` need a mark of a time.
    fn find_time(
        &self,
        names: &[&str],
        marked: &[&str],
        fits: impl Fn(&Field) -> bool,
    ) -> Option<String> {
        let is_named = |path: &str, name: &str, needs_mark: bool| {
            let plain = plain(last_name(path));
            (plain == name && !needs_mark) || without_time(&plain).contains(&name)
        };
        self.find_named(names, &fits, |path, name| is_named(path, name, false))
            .or_else(|| self.find_named(marked, &fits, |path, name| is_named(path, name, true)))
    }

    /// One time and a duration.
    fn propose_duration(&mut self, call: Option<String>, ret: Option<String>) -> bool {
        let Some(duration) = self.find_time(DURATION, &[], Field::is_length) else {
            return false;
        };
        let (key, time) = match (call, ret) {
            (Some(call), _) => ("call", call),
            (None, Some(ret)) => ("return", ret),
            (None, None) => {
                let Some(time) = self.find_time(TIME, &[], Field::is_time) else {
                    return false;
                };
                self.unsure.push(format!(
                    "{time} is taken for the time of the call; if it is that of the return, write `return` instead of `call`"
                ));
                ("call", time)
            }
        };
        self.set(key, &time);
        self.propose_unit(&time);
        self.set("duration", &duration);
        self.unsure.push(format!(
            "if {time} has fewer digits than {duration}, one of the two times of each operation is off by what was cut: allow for it with \
             `skew`"
        ));
        let Some(field) = self.fields.get(&duration) else {
            return true;
        };
        match unit_by_name(&duration) {
            _ if field.numbers == 0 => {}
            Some(unit) => {
                let _ = writeln!(self.toml, "duration_unit = \"{unit}\"");
            }
            None => self.unsure.push(format!(
                "the unit of {duration} is taken to be that of {time}: if not, add duration_unit = \"ns\", \"us\", \"ms\" or \"s\""
            )),
        }
        true
    }

    fn propose_unit(&mut self, path: &str) {
        let Some(field) = self.fields.get(path) else {
            return;
        };
        if field.dates == field.count {
            return;
        }
        let by_name = unit_by_name(path);
        let unit = match by_name {
            Some(unit) => unit,
            None => {
                // Seconds since 1970 are some 1.8e9 now.
                let by_size = [
                    (1e8..1e11, "s"),
                    (1e11..1e14, "ms"),
                    (1e14..1e17, "us"),
                    (1e17..1e19, "ns"),
                ];
                let by_size = by_size
                    .iter()
                    .find(|(sizes, _)| sizes.contains(&field.largest));
                match (by_size, field.fractions) {
                    (Some((_, unit)), _) => unit,
                    (None, 0) => {
                        self.unsure.push(format!(
                            "the unit of {path} is not known: add unit = \"ns\", \"us\", \"ms\" or \"s\" if you want to see times or to allow for \
                             clocks that are off (`skew`)"
                        ));
                        return;
                    }
                    (None, _) => "s",
                }
            }
        };
        let _ = writeln!(self.toml, "unit = \"{unit}\"");
        if by_name.is_none() {
            self.unsure.push(format!(
                "the unit of {path} is guessed from its size: {unit}"
            ));
        }
    }

    /// What pairs events, and their times.
    fn propose_pairs(&mut self) {
        if let Some(id) = self.find(ID, |_| true) {
            self.set("id", &id);
        }
        if let Some(time) = self.find_time(TIME, &[], Field::is_time) {
            self.set("time", &time);
            self.propose_unit(&time);
        }
    }

    /// Events whose kind is the value at a path.
    fn propose_events(&mut self, kinds: &str) {
        self.taken.insert(kinds.to_owned());
        self.propose_pairs();
        let table = self.sorted(kinds, &KINDS, "ignore");
        if table.contains(", fail = ") {
            self.unsure.push(
                "look at `event`: what is in `fail` is taken not to have happened; whatever may have happened belongs into `unknown`"
                    .to_owned(),
            );
        }
        let _ = writeln!(self.toml, "event = {{ path = {}{table} }}", quoted(kinds));
    }

    fn find_any(&self, fits: impl Fn(&Field) -> bool) -> Option<String> {
        let mut fields = self.fields.0.iter();
        let found = fields.find(|(path, field)| !self.taken.contains(*path) && fits(field));
        found.map(|(path, _)| path.clone())
    }

    /// Events whose kind is the name of a variant.
    fn propose_tagged_events(&mut self, path: &str) -> Option<()> {
        let field = self.fields.get(path)?;
        let named = |kind: &str| {
            let mut names = field.distinct.iter();
            names.find(|name| kind_of(name) == Some(kind)).cloned()
        };
        let (call, ret) = (named("call")?, named("return")?);
        let call = format!("{path}.{call}");
        let ret = format!("{path}.{ret}");
        self.taken.insert(path.to_owned());
        self.propose_pairs();
        let _ = writeln!(
            self.toml,
            "method = {}\nargument = {}\nresult = {}\nevent = {{ call = {}, return = {} }}",
            quoted(&format!("{call}@")),
            quoted(&format!("{call}.*")),
            quoted(&format!("{ret}.*")),
            quoted(&call),
            quoted(&ret),
        );
        self.propose_status_of_variants(&ret);
        self.unsure.push("`argument` and `result` are all that the variants hold; pick the parts that your type knows".to_owned());
        // The paths below the variants have a meaning now.
        let below: Vec<String> = self
            .fields
            .0
            .keys()
            .filter(|below| below.starts_with(path))
            .cloned()
            .collect();
        self.taken.extend(below);
        Some(())
    }

    fn propose_status_of_variants(&mut self, ret: &str) {
        let ends = self.fields.get(ret);
        let Some(ends) = ends.filter(|ends| ends.is_tagged() || ends.is_name()) else {
            return;
        };
        let is = |name: &str, words: &[&str]| words.iter().any(|word| plain(name).ends_with(word));
        let mut lists: [(&str, Vec<&String>); 3] =
            [("ok", vec![]), ("fail", vec![]), ("unknown", vec![])];
        for name in &ends.distinct {
            let list = match name {
                name if is(name, &["indefinitefailure", "unknown", "timeout"]) => 2,
                name if is(name, FAILS) => 1,
                _ => 0,
            };
            lists[list].1.push(name);
        }
        let listed = lists.iter().filter(|(_, names)| !names.is_empty());
        let listed: Vec<String> = listed
            .map(|(key, names)| format!("{key} = {}", list(names.iter())))
            .collect();
        let _ = writeln!(
            self.toml,
            "status = {{ path = {}, {} }}",
            quoted(&format!("{ret}@")),
            listed.join(", ")
        );
        self.look_at_status();
    }
}

fn kind_of(name: &str) -> Option<&'static str> {
    list_with(name, &KINDS).map(|place| KINDS[place].0)
}

/// Whether some values are kinds of calls, and some of returns.
fn has_both(field: &Field) -> bool {
    let has = |kind: &str| {
        field
            .distinct
            .iter()
            .any(|name| kind_of(name) == Some(kind))
    };
    has("call") && has("return")
}

/// The unit that the name of a field says.
fn unit_by_name(path: &str) -> Option<&'static str> {
    let name = plain(last_name(path));
    let mut units = UNITS.iter();
    let found = units.find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, unit)| *unit)
}
