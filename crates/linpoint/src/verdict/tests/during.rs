//! What holds all the time during an operation.

use super::claims::Case;
use super::claims::Treated::{AsRecorded, LeftOut};
use super::orders::AllOrders;
use crate::history::Op;
use crate::spec::Spec;
use crate::value::Value;

impl<'a, S: Spec<Ret = Value>> Case<'a, S> {
    /// Checks something about all states that the object may be in during an operation, in all orders of the others.
    pub(super) fn expect_during(
        &self,
        op: &Op<'a>,
        values: &[Value],
        holds: impl Fn(&[Value]) -> bool,
        what: &str,
    ) {
        self.expect(self.holds_during(op, values, holds), what);
    }

    pub(super) fn holds_during(
        &self,
        op: &Op<'a>,
        values: &[Value],
        holds: impl Fn(&[Value]) -> bool,
    ) -> bool {
        let content = |state: &S::State| match self.object.state_value(state) {
            Value::List(values) => values.to_vec(),
            other => panic!("{other} is no content"),
        };
        let holds_in = |orders: &AllOrders<'a, S>| {
            let mut states = orders.states_between(op.call, op.ret);
            !orders.is_empty() && states.all(|state| holds(&content(state)))
        };
        // Where another operation contradicts the others as well, by what it only saw, it is left out too.
        let only_saw = |other: &Op<'a>| {
            self.sees(other).is_some() && self.takes(other).is_none() && self.puts(other).is_none()
        };
        let without = |wrong: Op<'a>| {
            self.orders(|other| match other == op.id || other == wrong.id {
                true => LeftOut,
                false => AsRecorded,
            })
        };
        let mut others = self.called().filter(only_saw).map(without);
        holds_in(&self.orders_of(values, op.id)) || others.any(|orders| holds_in(&orders))
    }
}
