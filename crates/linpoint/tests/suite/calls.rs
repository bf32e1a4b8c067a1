//! Random histories made of every method that the catalogue lists, with values that are easily confused.
//!
//! [`Simulated::sample`](linpoint::spec::Simulated::sample) makes the calls of typical clients; this module makes every call
//! that the object accepts.

use linpoint::object::{ObjectType, TypeInfo};
use linpoint::spec::{MethodInfo, Sampler};
use linpoint::{Call, History, HistoryBuilder, Ties, Value};

/// A method as the catalogue writes it: `cas([k, from, to])`.
#[derive(Debug)]
pub(crate) struct Template {
    pub(crate) method: &'static str,
    parameters: Vec<Parameter>,
    pub(crate) text: &'static str,
}

/// What stands for an argument or a part of one.
#[derive(Debug)]
enum Parameter {
    Named(&'static str),
    Text(&'static str),
    Nil,
    List(Vec<Parameter>),
    /// A list of any number of these.
    Several(Vec<Parameter>),
}

/// All calls that the catalogue lists for a type.
pub(crate) fn templates(info: &'static TypeInfo) -> Vec<Template> {
    let calls = |method: &'static MethodInfo| parse_calls(method.call);
    info.methods.iter().flat_map(calls).collect()
}

fn parse_calls(mut text: &'static str) -> Vec<Template> {
    let mut calls = Vec::new();
    while let Some((method, rest)) = text.split_once('(') {
        let (parameters, after) = parse_parameters(rest, ')');
        calls.push(Template {
            method,
            parameters,
            text: text[..text.len() - after.len()].trim_end_matches(", "),
        });
        text = after.trim_start_matches(", ");
    }
    assert!(text.is_empty() && !calls.is_empty(), "{text:?} is no call");
    calls
}

/// The parameters up to `end`, and what comes after that.
fn parse_parameters(mut text: &'static str, end: char) -> (Vec<Parameter>, &'static str) {
    let mut parameters = Vec::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if let Some(rest) = text.strip_prefix(end) {
            return (parameters, rest);
        }
        if let Some(rest) = text.strip_prefix('[') {
            let (inner, rest) = parse_parameters(rest, ']');
            parameters.push(Parameter::List(inner));
            text = rest;
        } else if let Some(rest) = text.strip_prefix("...") {
            parameters = vec![Parameter::Several(parameters)];
            text = rest;
        } else {
            let length = text.find([',', end]);
            let (word, rest) = text.split_at(length.expect("a parameter ends"));
            let quoted = word
                .strip_prefix('"')
                .and_then(|word| word.strip_suffix('"'));
            parameters.push(match (quoted, word) {
                (Some(quoted), _) => Parameter::Text(quoted),
                (None, "nil") => Parameter::Nil,
                (None, name) => Parameter::Named(name),
            });
            text = rest;
        }
    }
}

/// The values that a history is made of.
#[derive(Debug)]
pub(crate) enum Values {
    /// All distinct, as far as that can be.
    Distinct,
    /// Any of these.
    Any(Vec<Value>),
}

/// Values of which some look the same, or mean nothing to some objects.
fn palette() -> Vec<Value> {
    vec![
        Value::Nil,
        Value::from(""),
        Value::Int(0),
        Value::from("0"),
        Value::Bool(false),
        Value::from("a"),
        Value::from("b"),
        Value::from("ab"),
        Value::Int(1),
        Value::from("1"),
        Value::Bool(true),
        Value::list([]),
        Value::list([Value::Int(0)]),
        Value::list([Value::list([]), Value::from("")]),
        Value::map([(Value::from("a"), Value::Int(0))]),
    ]
}

impl Values {
    fn random(sampler: &mut Sampler) -> Self {
        match sampler.below(5) {
            0 => Values::Distinct,
            1 => Values::Any((0..2).map(Value::Int).collect()),
            2 => Values::Any((0..3).map(Value::Int).collect()),
            // Texts that appends make of each other.
            3 => Values::Any(["", "a", "b", "ab"].map(Value::from).to_vec()),
            _ => {
                let all = palette();
                let count = 2 + sampler.below(3);
                Values::Any((0..count).map(|_| sampler.pick(&all)).collect())
            }
        }
    }

    fn pick(&self, sampler: &mut Sampler) -> Value {
        match self {
            Values::Distinct => sampler.value(),
            Values::Any(values) => sampler.pick(values),
        }
    }
}

/// What the parameters of a call are made of.
#[derive(Clone, Copy)]
struct Making<'a> {
    /// Small numbers instead, for methods that take nothing else.
    values: Option<&'a Values>,
    /// How many keys there are.
    keys: usize,
}

/// An argument that names a function.
fn function(name: &str) -> Value {
    Value::map([(Value::from("function"), Value::from(name))])
}

impl Making<'_> {
    fn value(self, sampler: &mut Sampler) -> Value {
        match self.values {
            Some(values) => values.pick(sampler),
            None => Value::Int(sampler.below(3) as i64),
        }
    }

    fn parameter(self, parameter: &Parameter, sampler: &mut Sampler) -> Value {
        let name = match parameter {
            Parameter::Named(name) => *name,
            Parameter::Text(text) => return Value::from(*text),
            Parameter::Nil => return Value::Nil,
            Parameter::List(items) => return self.list(items, sampler),
            Parameter::Several(_) => unreachable!("bug: several parameters are not in a list"),
        };
        match name {
            "k" | "l" => Value::Int(sampler.below(self.keys) as i64),
            "edge" => Value::Bool(sampler.percent(50)),
            "unit" => Value::from("MILLISECONDS"),
            "n" | "i" | "amount" | "timeout" => Value::Int(sampler.below(3) as i64),
            "v" | "w" | "x" | "y" | "text" => self.value(sampler),
            // What is compared was written before, if it is to be found.
            "from" | "to" => match self.values {
                Some(Values::Distinct) if name == "from" => sampler.guess(),
                _ => self.value(sampler),
            },
            "c" => {
                let items: Vec<Value> =
                    (0..sampler.below(3)).map(|_| self.value(sampler)).collect();
                Value::list(items)
            }
            "m" => {
                let pairs: Vec<_> = (0..sampler.below(2))
                    .map(|_| (Value::Int(sampler.below(2) as i64), self.value(sampler)))
                    .collect();
                Value::map(pairs)
            }
            "f" => function(sampler.pick(&["null", "first", "last", "sum", "successor"])),
            "p" => function(sampler.pick(&["even", "odd", "always", "never"])),
            "id" | "revision" => Value::Int(1 + sampler.below(3) as i64),
            "t" => self.transaction(sampler),
            other => panic!("the catalogue has a parameter {other:?} that no value is known for"),
        }
    }

    /// A transaction of an etcd store: a put if a key was not changed, and a read of it otherwise.
    fn transaction(self, sampler: &mut Sampler) -> Value {
        let key = Value::Int(sampler.below(self.keys) as i64);
        let map = |name: &str, value: Value| Value::map([(Value::from(name), value)]);
        let modified = ("mod".into(), Value::Int(sampler.below(4) as i64));
        let condition = Value::map([("key".into(), key.clone()), modified]);
        let put = map("put", Value::list([key.clone(), self.value(sampler)]));
        Value::map([
            ("if".into(), Value::list([condition])),
            ("then".into(), Value::list([put])),
            ("else".into(), Value::list([map("range", key)])),
        ])
    }

    fn list(self, items: &[Parameter], sampler: &mut Sampler) -> Value {
        if let [Parameter::Several(choices)] = items {
            let items: Vec<Value> = (0..sampler.below(4))
                .map(|_| {
                    let choice = sampler.below(choices.len());
                    self.parameter(&choices[choice], sampler)
                })
                .collect();
            return Value::list(items);
        }
        let items: Vec<Value> = items
            .iter()
            .map(|item| self.parameter(item, sampler))
            .collect();
        Value::list(items)
    }

    fn argument(self, template: &Template, sampler: &mut Sampler) -> Value {
        match &template.parameters[..] {
            [] => Value::Nil,
            [Parameter::Named("c" | "m")] => self.list(&template.parameters, sampler),
            [single] => self.parameter(single, sampler),
            several => self.list(several, sampler),
        }
    }
}

/// A type with all that can be called.
pub(crate) struct Callable {
    pub(crate) object: ObjectType,
    pub(crate) templates: Vec<Template>,
}

enum Turn {
    Idle,
    Called(usize, Value),
    Done(Value),
}

impl Callable {
    pub(crate) fn new(info: &'static TypeInfo, object: ObjectType) -> Self {
        Callable {
            object,
            templates: templates(info),
        }
    }

    /// A call that the object takes: the number of its template, and the argument.
    fn call(
        &self,
        process: &Value,
        choices: &[usize],
        making: Making<'_>,
        sampler: &mut Sampler,
    ) -> Option<(usize, Value)> {
        const ATTEMPTS: usize = 12;
        (0..ATTEMPTS).find_map(|attempt| {
            let chosen = sampler.pick(choices);
            let template = &self.templates[chosen];
            let making = Making {
                values: making.values.filter(|_| attempt % 2 == 0),
                ..making
            };
            let argument = making.argument(template, sampler);
            let is_taken = self.takes(process, template.method, &argument, None);
            is_taken.then_some((chosen, argument))
        })
    }

    /// Whether the object has such a call, with this result if one is given.
    pub(crate) fn takes(
        &self,
        process: &Value,
        method: &str,
        argument: &Value,
        result: Option<&Value>,
    ) -> bool {
        let mut builder = HistoryBuilder::new();
        let call = Call::new(method, argument.clone());
        builder.call(0, process.clone(), call).expect("well formed");
        if let Some(result) = result {
            builder
                .ret(0, process, result.clone())
                .expect("well formed");
        }
        let history = builder.finish(Ties::default()).expect("well formed");
        self.object.validate(&history).is_ok()
    }

    /// A small history that is linearizable: each operation takes effect on one simulated object. `used` is told the numbers
    /// of the templates of all calls.
    pub(crate) fn history(&self, seed: u64, used: &mut dyn FnMut(usize)) -> History {
        let mut sampler = Sampler::new(seed, None);
        let values = Values::random(&mut sampler);
        let making = Making {
            values: Some(&values),
            keys: 1 + sampler.below(2),
        };
        let ops = 2 + sampler.below(6);
        let pending_percent = sampler.pick(&[0, 0, 15, 40]);
        let mut names: Vec<i64> = (0..2 + sampler.below(3) as i64).collect();
        let mut turns: Vec<Turn> = names.iter().map(|_| Turn::Idle).collect();
        // Few methods at a time, so that they meet.
        let mut choices: Vec<usize> = (0..self.templates.len()).collect();
        for _ in 0..self.templates.len() - (2 + sampler.below(5)).min(self.templates.len()) {
            choices.swap_remove(sampler.below(choices.len()));
        }
        let mut simulation = self.object.simulate();
        let mut builder = HistoryBuilder::new();
        // Long enough for all to return; what is blocked by then stays pending.
        for _ in 0..ops * 12 {
            let chosen = sampler.below(turns.len());
            let name = Value::Int(names[chosen]);
            let turn = std::mem::replace(&mut turns[chosen], Turn::Idle);
            turns[chosen] = match turn {
                Turn::Idle if builder.len() >= ops => Turn::Idle,
                Turn::Idle => match self.call(&name, &choices, making, &mut sampler) {
                    None => Turn::Idle,
                    Some((template, argument)) => {
                        used(template);
                        let call = Call::new(self.templates[template].method, argument.clone());
                        builder.call(0, name, call).expect("well formed");
                        Turn::Called(template, argument)
                    }
                },
                Turn::Called(template, argument) => {
                    let method = self.templates[template].method;
                    let turn = match simulation.apply(&name, method, &argument, &mut sampler) {
                        Some(result) => Turn::Done(result),
                        None => Turn::Called(template, argument),
                    };
                    if sampler.percent(pending_percent) {
                        builder.crash(0, &name).expect("well formed");
                        names[chosen] += turns.len() as i64;
                        Turn::Idle
                    } else {
                        turn
                    }
                }
                Turn::Done(result) => {
                    builder.ret(0, &name, result).expect("well formed");
                    Turn::Idle
                }
            };
        }
        builder.finish(Ties::default()).expect("well formed")
    }
}

/// A result that a method might give by mistake.
pub(crate) fn confusing_value(sampler: &mut Sampler) -> Value {
    sampler.pick(&palette())
}
