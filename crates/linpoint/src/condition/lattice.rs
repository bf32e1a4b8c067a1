//! Which condition implies which.

use super::{Condition, Guarantees};

impl Condition {
    /// Whether every history that satisfies this condition satisfies `weaker` too.
    ///
    /// Each implication has a short proof: put each read right behind its write in the order that the stronger condition gives. They
    /// are tested on random histories, and so is that no other one holds.
    ///
    /// ```
    /// use linpoint::condition::Condition;
    /// assert!(Condition::Linearizable.implies(Condition::CausalConvergence));
    /// assert!(!Condition::CausalConvergence.implies(Condition::Pram));
    /// ```
    pub fn implies(self, weaker: Condition) -> bool {
        let mut known = vec![self];
        let mut next = 0;
        while let Some(&condition) = known.get(next) {
            if condition == weaker || weaker.is_set_in(condition) || weaker.allows_more(condition) {
                return true;
            }
            for implied in condition.implied() {
                if !known.contains(&implied) {
                    known.push(implied);
                }
            }
            next += 1;
        }
        false
    }

    /// Whether both ask for a bound, and this one is larger.
    fn allows_more(self, stronger: Condition) -> bool {
        match (self, stronger) {
            (Condition::KAtomic(Some(k)), Condition::KAtomic(Some(least))) => k > least,
            (Condition::DeltaAtomic(Some(delta)), Condition::DeltaAtomic(Some(least))) => {
                delta > least
            }
            _ => false,
        }
    }

    /// Whether both are guarantees of sessions, and these are some of those of `stronger`.
    fn is_set_in(self, stronger: Condition) -> bool {
        let (Condition::Sessions(weak), Condition::Sessions(strong)) = (self, stronger) else {
            return false;
        };
        let same = weak.arbitration() == strong.arbitration();
        strong.contains(weak) && (same || weak == weak.of_each_session())
    }

    /// Conditions from which all others that are implied follow.
    fn implied(self) -> Vec<Condition> {
        use Condition::*;
        let ryw = Guarantees::READ_YOUR_WRITES;
        let mr = Guarantees::MONOTONIC_READS;
        let three = ryw.with(mr).with(Guarantees::MONOTONIC_WRITES);
        let wfr = Guarantees::WRITES_FOLLOW_READS;
        match self {
            Strict => vec![Linearizable],
            Linearizable => vec![
                WriteLinearizable,
                Quiescent,
                RegularAgreed,
                KAtomic(Some(1)),
                DeltaAtomic(Some(0)),
            ],
            WriteLinearizable => vec![Sequential],
            Sequential => vec![CausalMemory, CausalConvergence],
            CausalConvergence => vec![Coherent, WeakCausal, Sessions(Guarantees::ALL)],
            CausalMemory => vec![Pram, Sessions(Guarantees::ALL.of_each_session())],
            Pram => vec![Sessions(three.of_each_session())],
            Coherent => vec![Sessions(ryw.with(mr))],
            WeakCausal => vec![Sessions(ryw.of_each_session()), Sessions(wfr)],
            RegularAgreed => vec![Regular, Quiescent, Sessions(ryw)],
            Regular => vec![Safe, KAtomic(None), Sessions(ryw.of_each_session())],
            KAtomic(Some(1)) => vec![Linearizable, KAtomic(None)],
            KAtomic(Some(_)) => vec![KAtomic(None)],
            DeltaAtomic(Some(0)) => vec![Linearizable, DeltaAtomic(None)],
            DeltaAtomic(Some(_)) => vec![DeltaAtomic(None)],
            DeltaAtomic(None) => vec![KAtomic(None)],
            KAtomic(None) => vec![Sessions(wfr)],
            Sessions(Guarantees::ALL) => vec![CausalConvergence],
            Sessions(set) if set == Guarantees::ALL.of_each_session() => vec![WeakCausal],
            Quiescent | Safe | Sessions(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::object::object_type;
    use crate::portfolio::Checker;

    /// Which of these conditions hold of each history of the corpus whose values are distinct.
    fn held(conditions: &[Condition]) -> Vec<Vec<bool>> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/conditions");
        let map = object_type("kv", &Default::default()).expect("a type");
        let mut all = Vec::new();
        for name in ["counterexamples.jsonl", "labelled.jsonl"] {
            let text = std::fs::read_to_string(root.join(name)).expect("the corpus");
            for json in text.lines() {
                let recorded = crate::format::parse(json.as_bytes(), &Default::default()).remove(0);
                let history = recorded.expect("a history").history;
                let decided = Checker::default().check_conditions(&map, &history, conditions);
                let decided = decided.expect("conditions of maps");
                let held: Option<Vec<bool>> = decided.iter().map(|of| of.holds()).collect();
                all.extend(held);
            }
        }
        all
    }

    #[test]
    fn what_does_not_follow_is_shown_by_a_history() {
        let mut conditions = Condition::all();
        // The smallest Δ exists where the smallest k does: both say that no read is of the future.
        conditions.retain(|condition| *condition != Condition::DeltaAtomic(None));
        conditions.push(Condition::KAtomic(Some(2)));
        let held = held(&conditions);
        assert!(held.len() > 50);
        for (i, strong) in conditions.iter().enumerate() {
            for (j, weak) in conditions.iter().enumerate() {
                let is_shown = held.iter().any(|held| held[i] && !held[j]);
                assert_eq!(is_shown, !strong.implies(*weak), "{strong} and {weak}");
            }
        }
    }
}
