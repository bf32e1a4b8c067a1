//! Whether what is said of anchors is true.

use super::claims::Case;
use super::claims::Treated::{AsRecorded, LeftOut, Open};
use super::orders::AllOrders;
use crate::history::OpId;
use crate::spec::Spec;
use crate::value::Value;
use crate::verdict::{Anchor, Listed};

impl<S: Spec<Ret = Value>> Case<'_, S> {
    /// "When [operation] had returned, [states], whatever the order, with the effects of [taken], counting what [counted] had done
    /// only as far as the results need it, unless [open] had taken effect by then": some order of everything up to that return
    /// leads to each of the states without the open ones, every order has those taken, every order leads to one of the states and
    /// on from there by what operations did that were still open, and from there on no order explains the results of the core,
    /// no matter what the relaxed operations did.
    pub(super) fn check_anchor(&self, anchor: &Anchor) {
        let after = self.op(anchor.after);
        self.expect(after.ret < self.cut, "the anchor lies before");
        let orders = self.orders_until(after.ret, |_| AsRecorded);
        let ends = self.words(orders.ends().into_iter().cloned());
        let Listed { shown, count } = &anchor.states;
        let is_possible = shown.iter().all(|shown| ends.contains(shown));
        self.expect(
            is_possible && *count <= ends.len(),
            "the states are possible",
        );
        let clause = |state: &S::State| self.object.state_words(state, self.key);
        let core = &self.violation.core;
        let given = || {
            self.given_until(self.cut, |id| match () {
                () if anchor.taken.contains(&id) || self.op(id).ret <= after.ret => LeftOut,
                () if core.ops().contains(&id) => AsRecorded,
                () if core.relaxed().contains(&id) => Open,
                () => LeftOut,
            })
        };
        for state in orders.ends() {
            if shown.contains(&clause(state)) {
                let later = AllOrders::from(self.object, state.clone(), given());
                self.expect(
                    later.is_empty(),
                    "the core contradicts itself from there on",
                );
            }
        }
        let is_open = |id: &OpId| self.op(*id).call < after.ret && self.op(*id).ret > after.ret;
        self.expect(anchor.open.iter().all(is_open), "these were open");
        self.expect(anchor.taken.iter().all(is_open), "these were open");
        self.expect(anchor.counted.iter().all(is_open), "these were open");
        let is_taken = |(had, _): (Vec<OpId>, _)| anchor.taken.iter().all(|id| had.contains(id));
        self.expect(
            orders.wholes().all(is_taken),
            "these had taken effect in every order",
        );
        let has_open = |had: &[OpId]| anchor.open.iter().any(|id| had.contains(id));
        let without_open = orders.wholes().filter(|(had, _)| !has_open(had));
        let without_open = self.words(without_open.map(|(_, state)| state.clone()));
        self.expect(
            shown.iter().all(|shown| without_open.contains(shown)),
            "the states are possible without what may have taken effect besides",
        );
        if anchor.counted.is_empty() && shown.len() == *count {
            self.expect(
                without_open.iter().all(|state| shown.contains(state)),
                "no other state is possible without that",
            );
        }
        let has_counted =
            |(had, _): (Vec<OpId>, _)| anchor.counted.iter().any(|id| had.contains(id));
        self.expect(
            anchor.counted.is_empty() || orders.wholes().any(has_counted),
            "some of what is counted may have taken effect",
        );
        if shown.len() == *count {
            let is_listed = |state: &S::State| shown.contains(&clause(state));
            self.expect(orders.all_continue(is_listed), "no other state is possible");
        }
    }
}
