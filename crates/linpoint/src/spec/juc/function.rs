//! The functions that calls take as arguments, by the names that the Java recorder gives them.

use super::Element;
use crate::spec::DecodeError;
use crate::value::Value;

/// A function of a key and a value, of two values, or of an element. A history writes it as `{"function": "sum"}`. What is no
/// integer counts as one where one is needed: null as 0, and anything else as the length of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "described together")]
pub enum Function {
    /// Answers null.
    Null,
    /// Answers the first argument.
    First,
    /// Answers the last argument.
    Last,
    /// Answers the sum of all arguments.
    Sum,
    /// Answers the last argument plus one.
    Successor,
    /// Answers whether the last argument is even.
    Even,
    /// Answers whether it is odd.
    Odd,
    /// Answers true.
    Always,
    /// Answers false.
    Never,
}

impl Function {
    const NAMES: [(&'static str, Function); 9] = [
        ("null", Function::Null),
        ("first", Function::First),
        ("last", Function::Last),
        ("sum", Function::Sum),
        ("successor", Function::Successor),
        ("even", Function::Even),
        ("odd", Function::Odd),
        ("always", Function::Always),
        ("never", Function::Never),
    ];

    /// The function that this argument names, if it is written as one.
    pub(super) fn of(pairs: &[(Value, Value)]) -> Option<Result<Self, DecodeError>> {
        let [(key, Value::Text(name))] = pairs else {
            return None;
        };
        if key.as_text() != Some("function") {
            return None;
        }
        let named = Self::NAMES
            .iter()
            .find(|(known, _)| *known == name.as_str());
        Some(named.map(|&(_, function)| function).ok_or_else(|| {
            let names = Self::NAMES.map(|(name, _)| name).join(", ");
            format!("no function is called {name:?}; there are {names}").into()
        }))
    }

    /// The argument that names this function.
    pub(super) fn argument(name: &str) -> Value {
        Value::map([("function".into(), name.into())])
    }

    /// What it answers as a function whose values are elements or null; sums are those of Java's `int`. `None` for one that
    /// answers true or false.
    pub(super) fn value(self, arguments: &[&Element]) -> Option<Element> {
        let argument = |found: Option<&&Element>| found.map_or(Element::Null, |&x| x.clone());
        Some(match self {
            Function::Null => Element::Null,
            Function::First => argument(arguments.first()),
            Function::Last => argument(arguments.last()),
            Function::Sum => {
                let numbers = arguments.iter().map(|argument| argument.number());
                Element::Int(numbers.fold(0i32, i32::wrapping_add).into())
            }
            Function::Successor => {
                let last = argument(arguments.last()).number();
                Element::Int(last.wrapping_add(1).into())
            }
            Function::Even | Function::Odd | Function::Always | Function::Never => return None,
        })
    }

    /// Whether it answers an element or null.
    pub(super) fn has_values(self) -> bool {
        self.value(&[]).is_some()
    }

    /// What it answers of one element as a condition; `None` for one that answers elements.
    pub(super) fn holds(self, x: &Element) -> Option<bool> {
        match self {
            Function::Even => Some(x.number() % 2 == 0),
            Function::Odd => Some(x.number() % 2 != 0),
            Function::Always => Some(true),
            Function::Never => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CollectionClass, Element, HistoryForm, JavaCollection, JavaMap, MapClass};
    use crate::spec::laws::run;
    use crate::spec::{CallView, Outcomes, Recorded, Spec};
    use crate::value::Value;

    #[test]
    fn maps_take_functions() {
        for class in [MapClass::ConcurrentHashMap, MapClass::ConcurrentSkipListMap] {
            let form = HistoryForm::default();
            run(
                &JavaMap { class, form },
                r#"
                compute([3, {"function": "sum"}]) "3"
                compute([3, {"function": "sum"}]) "6"
                compute([3, {"function": "null"}]) "null"
                computeIfPresent([3, {"function": "first"}]) "null"
                computeIfAbsent([3, {"function": "successor"}]) "4"
                computeIfAbsent([3, {"function": "null"}]) "4"
                computeIfPresent([3, {"function": "first"}]) "3"
                merge([3, 4, {"function": "sum"}]) "7"
                merge([5, 4, {"function": "sum"}]) "4"
                replaceAll({"function": "first"}) null
                toString() "{3=3, 5=5}"
                replaceAll({"function": "null"}) "java.lang.NullPointerException"
                merge([5, 4, {"function": "null"}]) "null"
                "#,
            );
        }
    }

    #[test]
    fn blocking_queues_wait() {
        let queue = JavaCollection {
            class: CollectionClass::LinkedBlockingDeque,
            capacity: Some(2),
            form: HistoryForm::default(),
        };
        let op = |method: &str, argument: Value| {
            let call = CallView {
                process: &Value::Nil,
                method,
                argument: &argument,
                hint: None,
            };
            queue.decode(call).expect("a call")
        };
        let waits = |held: &[i64], method: &str, argument: Value| {
            let held: Vec<Element> = held.iter().copied().map(Element::Int).collect();
            let outcomes = queue.apply(&held.into(), &op(method, argument));
            outcomes == Outcomes::Blocked
        };
        for method in ["take", "takeFirst", "takeLast"] {
            assert!(waits(&[], method, Value::Nil) && !waits(&[1], method, Value::Nil));
        }
        for method in ["put", "putFirst", "putLast"] {
            assert!(waits(&[1, 2], method, 3.into()) && !waits(&[1], method, 3.into()));
        }
        run(
            &queue,
            r#"
            put(1) null
            putFirst(2) null
            takeLast() "1"
            putLast(4) null
            removeIf({"function": "odd"}) "false"
            drainTo([[], 1]) "1"
            take() "4"
            put(3) null
            drainTo([[]]) "1"
            drainTo([[], 2]) "0"
            "#,
        );
    }
}
