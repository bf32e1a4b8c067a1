//! Changes of proofs that might turn a wrong argument into one that looks right.

use linpoint::spec::Sampler;
use serde_json::{Value as Json, json};

/// The same lines with one change; `None` if it does not apply.
pub(super) fn mutated(lines: &[String], sampler: &mut Sampler) -> Option<Vec<String>> {
    let mut lines = lines.to_vec();
    let kind = sampler.below(11);
    if kind == 0 {
        lines.truncate(1 + sampler.below(lines.len() - 1).min(lines.len() - 2));
        return Some(lines);
    }
    let wanted = match kind {
        1..=3 | 9 => "set",
        4 | 5 => "order",
        6 => "keep",
        _ => "cut",
    };
    let fitting: Vec<usize> = (0..lines.len())
        .filter(|&i| match wanted {
            "set" => lines[i].starts_with("{\"return\""),
            "order" | "keep" => lines[i].starts_with(&format!("{{\"{wanted}\":[")),
            _ => lines[i].contains("\"cut\""),
        })
        .collect();
    if fitting.is_empty() {
        return None;
    }
    let at = sampler.pick(&fitting);
    let mut line: Json = serde_json::from_str(&lines[at]).expect("JSON");
    match kind {
        // A configuration less, another state, another set of operations.
        1..=3 => {
            let set = line["set"].as_array_mut().expect("a list");
            let chosen = sampler.below(set.len());
            match kind {
                1 => {
                    set.remove(chosen);
                }
                2 => set[chosen][1] = sampler.pick(&[json!(null), json!([]), json!([1]), json!(2)]),
                _ => set[chosen][0] = json!([sampler.below(8)]),
            }
        }
        // Two operations of an order change places, or one is missing.
        4 | 5 => {
            let mut numbers = absolute(&line["order"]);
            let (a, b) = (sampler.below(numbers.len()), sampler.below(numbers.len()));
            match kind {
                4 if a != b => numbers.swap(a, b),
                4 => return None,
                _ => {
                    numbers.remove(a);
                    lines[at - 1] = with_count(&lines[at - 1], "order", numbers.len());
                }
            }
            if numbers.is_empty() {
                lines.remove(at);
                return Some(lines);
            }
            line["order"] = differences(&numbers);
        }
        // An operation is no longer kept.
        6 => {
            let mut numbers = absolute(&line["keep"]);
            if numbers.len() < 2 {
                return None;
            }
            numbers.remove(sampler.below(numbers.len()));
            lines[at - 1] = with_count(&lines[at - 1], "keep", numbers.len());
            line["keep"] = differences(&numbers);
        }
        // A set comes after another return.
        9 => line["return"] = json!(sampler.below(8)),
        // There are more sets, or fewer.
        10 => {
            let sets = line["sets"].as_i64()?;
            let change = if sets > 0 { sampler.pick(&[-1, 1]) } else { 1 };
            line["sets"] = json!(sets + change);
        }
        // The cut moves, or another operation is relaxed.
        7 => {
            let cut = line["cut"].as_i64()?;
            line["cut"] = json!((cut + sampler.pick(&[-3, -1, 1, 2])).max(0));
        }
        _ => {
            let kept = absolute(&serde_json::from_str::<Json>(&lines[at + 1]).ok()?["keep"]);
            let relax = line["relax"].as_u64()?;
            let chosen = sampler.pick(&kept);
            if relax == 0 {
                lines.insert(at + 2, json!({ "relax": [chosen] }).to_string());
            } else {
                let mut relaxed =
                    absolute(&serde_json::from_str::<Json>(&lines[at + 2]).ok()?["relax"]);
                if relaxed.contains(&chosen) {
                    return None;
                }
                relaxed.push(chosen);
                relaxed.sort_unstable();
                lines[at + 2] = json!({ "relax": differences(&relaxed) }).to_string();
            }
            line["relax"] = json!(relax + 1);
        }
    }
    lines[at] = line.to_string();
    Some(lines)
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
