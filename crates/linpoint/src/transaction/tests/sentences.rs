//! Whether what violations say is so, told from the recorded steps alone.

use crate::history::{History, Op};
use crate::transaction::{Edge, Member, Violation};
use crate::value::Value;

/// Panics if a violation says what is not so.
pub(super) fn check(history: &History, violation: &Violation) {
    let context = || format!("{violation:#?}");
    assert!(!violation.members.is_empty(), "{}", context());
    let links = violation
        .cycle
        .iter()
        .zip(violation.cycle.iter().cycle().skip(1));
    for (edge, next) in links {
        assert_eq!(edge.to, next.from, "{}", context());
    }
    assert!(violation.cycle.len() != 1, "{}", context());
    for edge in &violation.cycle {
        assert!(is_so(history, violation, edge), "{edge:?}: {}", context());
        said(history, violation, &edge.reason);
    }
    said(history, violation, &violation.sentence);
}

fn member<'h>(history: &'h History, violation: &Violation, number: usize) -> Option<Op<'h>> {
    match violation.members[number] {
        Member::Op(id) => Some(history.op(id)),
        Member::Failed(_) => None,
    }
}

/// A step: its letter, its key, and the value.
fn steps<'h>(op: &Op<'h>) -> Vec<(&'h str, &'h Value, &'h Value)> {
    let steps = op.result.unwrap_or(op.argument).as_list().expect("steps");
    let step = |step: &'h Value| match step.as_list() {
        Some([letter, key, value]) => (letter.as_text().expect("a letter"), key, value),
        _ => panic!("a step"),
    };
    steps.iter().map(step).collect()
}

fn is_so(history: &History, violation: &Violation, edge: &Edge) -> bool {
    let of = |number| member(history, violation, number).expect("an operation");
    let (from, to) = (of(edge.from), of(edge.to));
    let (first, second) = (steps(&from), steps(&to));
    let reads = |seen: &Value, value: &Value| match seen.as_list() {
        Some(list) => list.contains(value),
        None => seen == value,
    };
    let pairs = || {
        first
            .iter()
            .flat_map(|a| second.iter().map(move |b| (a, b)))
            .filter(|(a, b)| a.1 == b.1)
    };
    match edge.kind {
        "session" => from.process == to.process && from.id < to.id,
        "time" => from.ret < to.call,
        "wr" => pairs().any(|(a, b)| a.0 != "r" && b.0 == "r" && reads(b.2, a.2)),
        "rw" => {
            to.id != from.id && pairs().any(|(a, b)| a.0 == "r" && b.0 != "r" && !reads(a.2, b.2))
        }
        "ww" | "order" => pairs().any(|(a, b)| a.0 != "r" && b.0 != "r"),
        _ => false,
    }
}

/// Looks for "T1 read 5 from "x"", "T1 wrote 5" and "T1 appended 5", and for these steps.
fn said(history: &History, violation: &Violation, text: &str) {
    for (at, _) in text.match_indices('T') {
        let rest = &text[at + 1..];
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let Ok(number) = rest[..digits].parse::<usize>() else {
            continue;
        };
        assert!(number <= violation.members.len(), "{text}: {violation:#?}");
        let Some(op) = member(history, violation, number - 1) else {
            continue;
        };
        let words = &rest[digits..];
        if let Some(read) = words.strip_prefix(" read ")
            && let Some((value, key)) = read.split_once(" from ")
            && !value.contains("T")
        {
            let key: String = key.chars().take_while(|c| !" ,;:".contains(*c)).collect();
            let is_read = |(letter, of, seen): &(&str, &Value, &Value)| {
                *letter == "r" && of.to_string() == key && seen.to_string() == value
            };
            assert!(steps(&op).iter().any(is_read), "{text}: {violation:#?}");
        }
        let written = words
            .strip_prefix(" wrote ")
            .or(words.strip_prefix(" appended "));
        if let Some(written) =
            written.filter(|written| written.starts_with(|c: char| c.is_ascii_digit()))
        {
            let value: String = written.chars().take_while(char::is_ascii_digit).collect();
            let is_written = |(letter, _, of): &(&str, &Value, &Value)| {
                *letter != "r" && of.to_string() == value
            };
            assert!(steps(&op).iter().any(is_written), "{text}: {violation:#?}");
        }
    }
}
