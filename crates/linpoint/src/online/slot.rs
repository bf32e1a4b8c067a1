//! Objects that hold one value: chooses the monitor, [`bits`](super::bits) or [`register`](super::register).
//!
//! **Decides** by the initial value until an operation is called that can change it; the role of that operation determines
//! the monitor. **Memory:** the operations that are pending at that time. That is enough: the value was the initial one
//! until then, so operations that have returned constrain nothing later. Ours.

use super::bits::Bits;
use super::register::Register;
use super::{Observable, Online, Op, Stop, Time};
use crate::claim::{Claim, Since};
use crate::spec::{Need, Role};
use crate::value::Value;

/// An object that holds one value.
pub(super) struct Slot<O: Observable> {
    initial: Value,
    /// What was open when the first operation was called that can change the value.
    open: Vec<Op<O>>,
    monitor: Option<Box<dyn Online<O>>>,
}

impl<O: Observable> Slot<O> {
    pub(super) fn new(initial: Value) -> Self {
        Slot {
            initial,
            open: Vec::new(),
            monitor: None,
        }
    }

    /// The monitor that understands an operation with this role.
    fn choose(&self, pending_role: &Role) -> Result<Box<dyn Online<O>>, Stop<O>> {
        match (pending_role, &self.initial) {
            (
                Role::Slot {
                    needs: Need::Is(Value::Bool(from)),
                    leaves: Some(Value::Bool(to)),
                },
                Value::Bool(initial),
            ) if from != to => Ok(Box::new(Bits::new(*initial))),
            (
                Role::Slot {
                    needs: Need::Anything,
                    leaves: Some(_),
                },
                initial,
            ) => Ok(Box::new(Register::new(initial.clone()))),
            _ => Err(Stop::cannot_tell(
                "only reads and writes of a register can be watched",
            )),
        }
    }

    /// A result while nothing can have changed the value.
    fn observe(&self, op: &Op<O>, role: &Role) -> Result<(), Stop<O>> {
        let fits = match role {
            Role::Slot {
                needs,
                leaves: None,
            } => match needs {
                Need::Anything => true,
                Need::Is(value) => *value == self.initial,
                Need::IsNot(value) => *value != self.initial,
            },
            _ => {
                return Err(Stop::cannot_tell(format!(
                    "what {op} tells cannot be watched"
                )));
            }
        };
        if fits {
            return Ok(());
        }
        let op = Op::clone(op);
        Err(Stop::violation(match (role, &self.initial) {
            (_, Value::Bool(state)) => Claim::NotChanged {
                op,
                member: None,
                state: *state,
                since: Since::Beginning,
                used_up: None,
            },
            (
                Role::Slot {
                    needs: Need::Is(value),
                    ..
                },
                _,
            ) => Claim::never_put(op, value, std::iter::empty()),
            _ => Claim::Contradiction {
                op,
                others: Vec::new(),
            },
        }))
    }
}

impl<O: Observable> Online<O> for Slot<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        if op.pending_role == Role::Opaque && self.monitor.is_none() {
            self.open.push(Op::clone(op));
            return Ok(());
        }
        if self.monitor.is_none() {
            let mut monitor = self.choose(&op.pending_role)?;
            for earlier in self.open.drain(..) {
                monitor.call(&earlier)?;
            }
            self.monitor = Some(monitor);
        }
        self.monitor
            .as_mut()
            .map_or(Ok(()), |monitor| monitor.call(op))
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        match &mut self.monitor {
            Some(monitor) => monitor.ret(op, role, now),
            None => {
                self.crash(op);
                self.observe(op, role)
            }
        }
    }

    fn fail(&mut self, op: &Op<O>, now: Time) -> Result<(), Stop<O>> {
        match &mut self.monitor {
            Some(monitor) => monitor.fail(op, now),
            None => {
                self.crash(op);
                Ok(())
            }
        }
    }

    fn crash(&mut self, op: &Op<O>) {
        match &mut self.monitor {
            Some(monitor) => monitor.crash(op),
            None => self.open.retain(|open| open.called != op.called),
        }
    }

    fn is_blank(&self) -> bool {
        match &self.monitor {
            Some(monitor) => monitor.is_blank(),
            None => self.open.is_empty(),
        }
    }
}
