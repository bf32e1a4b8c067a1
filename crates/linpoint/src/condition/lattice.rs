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
            if condition == weaker || weaker.is_set_in(condition) {
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
