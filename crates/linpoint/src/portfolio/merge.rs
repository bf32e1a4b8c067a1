//! Merges the verdicts of the parts of a history into one. A history is linearizable iff all its objects are (Herlihy and
//! Wing 1990, theorem 1), and an object with independent keys iff all its keys are (the contract of `Spec::key`).

use crate::history::OpId;
use crate::verdict::{PartReport, StuckWitness, Verdict, Witness};

/// Returns the first violation; else the first undecided verdict; else a witness of the whole history.
pub(super) fn merge(calls: &[u32], parts: &[PartReport]) -> Verdict {
    let first = |wanted: fn(&Verdict) -> bool| {
        parts
            .iter()
            .map(|part| &part.verdict)
            .find(|verdict| wanted(verdict))
    };
    let decisive = first(|verdict| matches!(verdict, Verdict::Violation(_)))
        .or_else(|| first(|verdict| matches!(verdict, Verdict::Undecided(_))));
    if let Some(verdict) = decisive {
        return verdict.clone();
    }
    // Each operation takes effect right after the latest call among itself and the operations before it in its part. These
    // moments ascend within a part and lie between call and return, so a stable sort by them merges the parts.
    let mut moments: Vec<(u32, OpId)> = Vec::with_capacity(calls.len());
    for part in parts {
        if let Verdict::Linearizable(witness) = &part.verdict {
            let mut moment = 0;
            moments.extend(witness.order.iter().map(|&id| {
                moment = moment.max(calls[id.index()]);
                (moment, id)
            }));
        }
    }
    if parts.len() > 1 {
        moments.sort_by_key(|&(moment, _)| moment);
    }
    Verdict::Linearizable(Witness {
        order: moments.into_iter().map(|(_, id)| id).collect(),
        shown_by: largest_family(parts),
        stuck: parts.iter().flat_map(stuck_witnesses).cloned().collect(),
    })
}

fn stuck_witnesses(part: &PartReport) -> &[StuckWitness] {
    match &part.verdict {
        Verdict::Linearizable(witness) => &witness.stuck,
        Verdict::Violation(_) | Verdict::Undecided(_) => &[],
    }
}

/// Returns the least d whose families contain the witnesses of all parts, if it is known for each part.
fn largest_family(parts: &[PartReport]) -> Option<usize> {
    let shown_by = parts.iter().map(|part| match &part.verdict {
        Verdict::Linearizable(witness) => witness.shown_by,
        Verdict::Violation(_) | Verdict::Undecided(_) => None,
    });
    shown_by.collect::<Option<Vec<_>>>()?.into_iter().max()
}
