//! What still holds of a history that is not linearizable, for the page.

use serde::Serialize;

use super::PageData;
use crate::condition::{Condition, Diagnosis, Guarantees, Outcome};

/// A condition, and whether a history satisfies it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Judged {
    name: String,
    /// `None` if it is not known.
    holds: Option<bool>,
    /// Why it does not hold, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    why: String,
    /// The operations that violate it by themselves.
    core: Vec<u32>,
    /// The places of the conditions that follow from it, and from no other one in between.
    implies: Vec<usize>,
}

impl PageData {
    /// Adds what still holds of the history, which is drawn as a lattice.
    pub fn add_diagnosis(&mut self, diagnosis: &Diagnosis) {
        let shown: Vec<Condition> = diagnosis.defined.iter().copied().filter(is_shown).collect();
        // Of a read of the future, nothing else is said.
        if diagnosis.is_implausible {
            return;
        }
        self.lattice = shown
            .iter()
            .map(|&condition| judged(diagnosis, &shown, condition))
            .collect();
    }
}

/// The lattice is small: numbers are told in words, and of guarantees the page has those that a session can see by itself.
fn is_shown(condition: &Condition) -> bool {
    let ryw = Guarantees::READ_YOUR_WRITES;
    let mr = Guarantees::MONOTONIC_READS;
    let three = ryw.with(mr).with(Guarantees::MONOTONIC_WRITES);
    match condition {
        Condition::KAtomic(_) | Condition::DeltaAtomic(_) => false,
        Condition::Sessions(set) => [ryw, mr, three]
            .iter()
            .any(|known| known.of_each_session() == *set),
        _ => true,
    }
}

fn judged(diagnosis: &Diagnosis, shown: &[Condition], condition: Condition) -> Judged {
    let holds = match condition {
        Condition::Linearizable => Some(false),
        other => diagnosis.holds(other),
    };
    // Of the condition itself, or else of a weaker one.
    let mut decisions: Vec<_> = diagnosis.decisions.iter().collect();
    decisions.sort_by_key(|decision| decision.condition != condition);
    let refutation = decisions.into_iter().find_map(|decision| {
        let is_about_it = condition.implies(decision.condition);
        match &decision.outcome {
            Outcome::Violated(refutation) if is_about_it => Some((decision, refutation)),
            _ => None,
        }
    });
    let refutation = refutation.filter(|_| holds == Some(false));
    let why = refutation.map_or_else(String::new, |(decision, refutation)| {
        match decision.condition == condition {
            true => refutation.sentence.clone(),
            false => format!("{} fails: {}", decision.condition, refutation.sentence),
        }
    });
    let core = refutation.map_or_else(Vec::new, |(_, refutation)| {
        refutation.core.iter().map(|id| id.0).collect()
    });
    let is_below = |strong: Condition, weak: Condition| {
        strong != weak && strong.implies(weak) && !weak.implies(strong)
    };
    let is_direct = |weak: Condition| {
        let mut between = shown.iter();
        is_below(condition, weak)
            && !between.any(|&other| is_below(condition, other) && is_below(other, weak))
    };
    let implies = (0..shown.len()).filter(|&i| is_direct(shown[i])).collect();
    Judged {
        name: condition.to_string(),
        holds,
        why,
        core,
        implies,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Depth;
    use crate::format::parse;
    use crate::object::object_type;
    use crate::portfolio::Checker;

    #[test]
    fn the_page_has_what_holds_and_why_the_rest_does_not() {
        let text = r#"
            {"process": 0, "method": "put", "arg": ["x", 1], "call": 0, "return": 1}
            {"process": 0, "method": "get", "arg": "y", "ret": null, "call": 2, "return": 3}
            {"process": 1, "method": "put", "arg": ["y", 1], "call": 4, "return": 5}
            {"process": 1, "method": "get", "arg": "x", "ret": null, "call": 6, "return": 7}
        "#;
        let recorded = parse(text.as_bytes(), &Default::default()).remove(0);
        let history = recorded.expect("a history").history;
        let map = object_type("kv", &Default::default()).expect("a type");
        let checker = Checker::default();
        let diagnosis = checker.diagnose(&map, &history, Depth::All, &checker.budget());
        let diagnosis = diagnosis.expect("a diagnosis");
        let shown: Vec<Condition> = diagnosis.defined.iter().copied().filter(is_shown).collect();
        let of = |condition: Condition| judged(&diagnosis, &shown, condition);
        let convergent = of(Condition::CausalConvergence);
        assert_eq!((convergent.holds, convergent.core.len()), (Some(true), 0));
        let sequential = of(Condition::Sequential);
        assert_eq!((sequential.holds, sequential.core.len()), (Some(false), 4));
        assert!(!sequential.why.is_empty());
        let stronger = of(Condition::WriteLinearizable);
        assert_eq!(stronger.holds, Some(false));
        let next: Vec<Condition> = stronger.implies.iter().map(|&i| shown[i]).collect();
        assert_eq!(next, [Condition::Sequential]);
        assert_eq!(of(Condition::Linearizable).holds, Some(false));
    }
}
