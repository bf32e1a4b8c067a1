//! Changes of proofs that might turn a wrong argument into one that looks right.

use linpoint::spec::Sampler;
use serde_json::{Value as Json, json};

/// The same lines with one change; `None` if it does not apply.
pub(super) fn mutated(lines: &[String], sampler: &mut Sampler) -> Option<Vec<String>> {
    let mut lines = lines.to_vec();
    let starts = |start: &'static str| move |line: &str| line.starts_with(start);
    match sampler.below(12) {
        0 => lines.truncate(1 + sampler.below(lines.len() - 1).min(lines.len() - 2)),
        1..=4 => change_set(
            chosen(&mut lines, starts("{\"return\""), sampler)?.1,
            sampler,
        ),
        5 | 6 => {
            let (at, _) = chosen(&mut lines, starts("{\"order\":["), sampler)?;
            change_order(&mut lines, at, sampler);
        }
        7 => {
            let (at, _) = chosen(&mut lines, starts("{\"keep\":["), sampler)?;
            drop_operation(&mut lines, at, sampler)?;
        }
        8 => {
            let (at, _) = chosen(&mut lines, |line| line.contains("\"cut\""), sampler)?;
            relax_operation(&mut lines, at, sampler)?;
        }
        9 => change_field(
            chosen(&mut lines, |line| line.contains("\"cut\""), sampler)?.1,
            &["cut", "keep", "relax", "sets"],
            sampler,
        )?,
        10 => change_field(
            chosen(&mut lines, |line| line.contains("\"part\""), sampler)?.1,
            &["part", "operations", "key", "verdict", "order"],
            sampler,
        )?,
        _ => change_field(
            &mut lines[0],
            &[
                "linpoint-proof",
                "operations",
                "parts",
                "split",
                "ties",
                "verdict",
            ],
            sampler,
        )?,
    }
    Some(lines)
}

/// Any of the lines that are such.
fn chosen<'l>(
    lines: &'l mut [String],
    is_such: impl Fn(&str) -> bool,
    sampler: &mut Sampler,
) -> Option<(usize, &'l mut String)> {
    let such = |i: &usize| is_such(&lines[*i]);
    let such: Vec<usize> = (0..lines.len()).filter(such).collect();
    let at = (!such.is_empty()).then(|| sampler.pick(&such))?;
    Some((at, &mut lines[at]))
}

/// Another number, or another word, in a field of a line.
fn change_field(line: &mut String, fields: &[&str], sampler: &mut Sampler) -> Option<()> {
    let mut changed: Json = serde_json::from_str(line).expect("JSON");
    let field = changed.get_mut(sampler.pick(fields))?;
    let new = match field.as_i64() {
        Some(number) => json!((number + sampler.pick(&[-3, -1, 1, 2])).max(0)),
        None => sampler.pick(&[
            json!("linearizable"),
            json!("not linearizable"),
            json!("keys"),
            json!("objects"),
            json!(null),
        ]),
    };
    let is_changed = new != *field;
    *field = new;
    *line = changed.to_string();
    is_changed.then_some(())
}

/// A configuration less, another state, another set of operations; or the set comes after another return.
fn change_set(line: &mut String, sampler: &mut Sampler) {
    let mut changed: Json = serde_json::from_str(line).expect("JSON");
    let set = changed["set"].as_array_mut().expect("a list");
    let configuration = sampler.below(set.len());
    match sampler.below(4) {
        0 => {
            set.remove(configuration);
        }
        1 => {
            let states = [json!(null), json!([]), json!([1]), json!(2)];
            set[configuration][1] = sampler.pick(&states);
        }
        2 => set[configuration][0] = json!([sampler.below(8)]),
        _ => changed["return"] = json!(sampler.below(8)),
    }
    *line = changed.to_string();
}

/// Two operations of an order change places, or one is missing.
fn change_order(lines: &mut Vec<String>, at: usize, sampler: &mut Sampler) {
    let mut numbers = absolute(&list(&lines[at], "order"));
    let (a, b) = (sampler.below(numbers.len()), sampler.below(numbers.len()));
    if a != b {
        numbers.swap(a, b);
    } else {
        numbers.remove(a);
        lines[at - 1] = with_count(&lines[at - 1], "order", numbers.len());
    }
    match numbers.is_empty() {
        true => drop(lines.remove(at)),
        false => lines[at] = json!({ "order": differences(&numbers) }).to_string(),
    }
}

/// An operation is no longer kept.
fn drop_operation(lines: &mut [String], at: usize, sampler: &mut Sampler) -> Option<()> {
    let mut numbers = absolute(&list(&lines[at], "keep"));
    if numbers.len() < 2 {
        return None;
    }
    numbers.remove(sampler.below(numbers.len()));
    lines[at - 1] = with_count(&lines[at - 1], "keep", numbers.len());
    lines[at] = json!({ "keep": differences(&numbers) }).to_string();
    Some(())
}

/// Another operation is relaxed.
fn relax_operation(lines: &mut Vec<String>, at: usize, sampler: &mut Sampler) -> Option<()> {
    let kept = absolute(&list(&lines[at + 1], "keep"));
    let mut relaxed = match lines.get(at + 2) {
        Some(line) if line.starts_with("{\"relax\"") => absolute(&list(line, "relax")),
        _ => Vec::new(),
    };
    let more = sampler.pick(&kept);
    if relaxed.contains(&more) {
        return None;
    }
    if !relaxed.is_empty() {
        lines.remove(at + 2);
    }
    relaxed.push(more);
    relaxed.sort_unstable();
    lines[at] = with_count(&lines[at], "relax", relaxed.len());
    lines.insert(
        at + 2,
        json!({ "relax": differences(&relaxed) }).to_string(),
    );
    Some(())
}

/// The list on a line.
fn list(line: &str, name: &str) -> Json {
    let mut line: Json = serde_json::from_str(line).expect("JSON");
    line[name].take()
}

/// The same lines, in which the sets of the only refutation are these.
pub(super) fn with_sets(lines: &[String], sets: &[&str]) -> Vec<String> {
    let is_set = |line: &&String| line.starts_with("{\"return\"");
    let kept = lines.iter().filter(|line| !is_set(line));
    let kept = kept.map(|line| match line.contains("\"cut\"") {
        true => with_count(line, "sets", sets.len()),
        false => line.clone(),
    });
    kept.chain(sets.iter().map(|&set| set.to_owned())).collect()
}

fn with_count(line: &str, name: &str, count: usize) -> String {
    let mut line: Json = serde_json::from_str(line).expect("JSON");
    line[name] = json!(count);
    line.to_string()
}

/// The numbers whose differences a line lists.
pub(super) fn absolute(differences: &Json) -> Vec<i64> {
    let differences = differences.as_array().expect("a list").iter();
    let mut last = 0;
    let number = |difference: &Json| {
        last += difference.as_i64().expect("a number");
        last
    };
    differences.map(number).collect()
}

pub(super) fn differences(numbers: &[i64]) -> Json {
    let before = [0].iter().chain(numbers);
    numbers
        .iter()
        .zip(before)
        .map(|(number, before)| number - before)
        .collect()
}
