//! Runs tests that fail under weak memory again under sequential consistency.

#[cfg(feature = "loom")]
use std::sync::Arc;

use crate::object::Object;
use crate::report::{Failure, Verdict};

#[cfg(feature = "loom")]
impl<X: 'static> Object<X> {
    /// Gives the same object, with the same operations, over the types of [`linpoint_test::sync`](crate::sync). A test that
    /// fails under weak memory runs again with it: if it fails there as well, the report has that failure, which is a proof.
    pub fn same_under_sc<Y: 'static>(mut self, same: Object<Y>) -> Self {
        self.under_sc = Some(Arc::new(move |failure: &Failure| {
            let same = Object {
                construct: Arc::clone(&same.construct),
                ends: same.ends.clone(),
                after_init: same.after_init,
                invocations: same.invocations.clone(),
                sequences: Vec::new(),
                init: Vec::new(),
                last: Vec::new(),
                spec: same.spec.clone(),
                under_sc: None,
                invariants: same.invariants.clone(),
                plans: Vec::new(),
                settings: same.settings.clone(),
                problem: same.problem.clone(),
            };
            let same = same.init(&failure.init).finally(&failure.finally);
            same.matrix(&failure.matrix).check().verdict
        }));
        self
    }
}

/// Returns the failure of the same test under sequential consistency, or this failure with a caveat if that test passes.
pub(super) fn reviewed<X>(object: &Object<X>, failure: &Failure) -> Failure {
    let caveat = match &object.under_sc {
        None => {
            "WEAK MEMORY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is, and not compared with \
             sequential consistency."
                .to_owned()
        }
        Some(under_sc) => match under_sc(failure) {
            Verdict::Fail(proof) => return *proof,
            Verdict::Pass(coverage) => format!(
                "WEAK MEMORY ONLY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is; otherwise the test \
                 passes, {coverage}."
            ),
            Verdict::Undecided(why) => format!(
                "WEAK MEMORY, NEEDS REVIEW: found in loom's model, which takes SeqCst for weaker than it is; whether sequential \
                 consistency shows it is undecided: {why}."
            ),
        },
    };
    Failure {
        caveat: Some(caveat),
        ..failure.clone()
    }
}
