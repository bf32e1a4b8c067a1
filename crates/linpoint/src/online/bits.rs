//! Two states: a key of a set, a lock.
//!
//! Every operation is a change to one of the states, or saw one of them. **Decides** any such history, whatever repeats,
//! at the first event that cannot be explained. **Follows** the lazy rule: nothing takes effect until a return forces it.
//! A return that needs a change which has not happened shows that some open operation made it right before; which one is
//! left open (see [`takes`](super::takes)), since it is not known at the call whether an operation will turn out to have
//! changed anything. **Why the rule is exact:** with two states every change within the time of an observation passes
//! through the state that it saw, so an observation forces a change only if there was none in its time, and then the
//! latest moment has the most candidates; at all times as few operations have taken effect as possible.
//!
//! **Cost:** for each event, the candidates at most. **Memory:** the state, the last change and the pending operations. That
//! is enough: operations that have returned constrain later ones only through the state and the time of its last change.
//! Ours; the laziness is that of just-in-time linearization (Lowe, 2017), without its search.

use super::takes::Takes;
use super::{Observable, Online, Op, Stop, Time};
use crate::history::precedes;
use crate::spec::{Need, Role};
use crate::value::Value;

/// A monitor of two states.
pub(super) struct Bits<O: Observable> {
    initial: bool,
    state: bool,
    /// The last change: the event that forced it, and the operation that returned then.
    last: Option<(Time, Op<O>)>,
    /// The operations that may turn out to change the state to `false`, and to `true`.
    changes: [Takes<O>; 2],
    /// How many others are open.
    observers: usize,
}

/// What an operation did.
enum Did {
    /// It found the other state and left this one.
    Changed(bool),
    /// It found this state.
    Saw(bool),
    /// It neither needs nor leaves a particular state.
    Nothing,
}

fn did<O: Observable>(op: &Op<O>, role: &Role) -> Result<Did, Stop<O>> {
    let Role::Slot { needs, leaves } = role else {
        return Err(Stop::cannot_tell(format!(
            "what {op} tells cannot be watched"
        )));
    };
    let found = match needs {
        Need::Anything => None,
        Need::Is(Value::Bool(found)) => Some(*found),
        Need::IsNot(Value::Bool(other)) => Some(!other),
        _ => return Err(Stop::cannot_tell(format!("{op} speaks of a third state"))),
    };
    let left = match leaves {
        None => None,
        Some(Value::Bool(left)) => Some(*left),
        Some(_) => return Err(Stop::cannot_tell(format!("{op} leaves a third state"))),
    };
    Ok(match (found, left) {
        (None, None) => Did::Nothing,
        (Some(found), None) => Did::Saw(found),
        (Some(found), Some(left)) if found == left => Did::Saw(found),
        (Some(_), Some(left)) => Did::Changed(left),
        // Whether it changed anything is open even after its return, and both have to be tried.
        (None, Some(_)) => {
            let reason = format!("{op} does not tell whether it changed anything");
            return Err(Stop::cannot_tell(reason));
        }
    })
}

impl<O: Observable> Bits<O> {
    pub(super) fn new(initial: bool) -> Self {
        Bits {
            initial,
            state: initial,
            last: None,
            changes: [Takes::new(), Takes::new()],
            observers: 0,
        }
    }

    /// The state that `op` may turn out to change to.
    fn target(op: &Op<O>) -> Result<Option<bool>, Stop<O>> {
        match &op.pending_role {
            Role::Opaque => Ok(None),
            pending_role => match did(op, pending_role)? {
                Did::Changed(to) => Ok(Some(to)),
                Did::Saw(_) | Did::Nothing => Ok(None),
            },
        }
    }

    fn flip(&mut self, now: Time, op: &Op<O>) {
        self.state = !self.state;
        self.last = Some((now, Op::clone(op)));
    }

    /// Some open operation must have changed the state right before `op` returned.
    fn take(&mut self, now: Time, op: &Op<O>) -> Result<(), Stop<O>> {
        if self.changes[usize::from(!self.state)]
            .take(now, op)
            .is_err()
        {
            return Err(self.impossible(op));
        }
        self.flip(now, op);
        Ok(())
    }

    fn impossible(&self, op: &Op<O>) -> Stop<O> {
        match &self.last {
            Some((_, last)) => Stop::violation(
                op,
                [Op::clone(last)],
                format!(
                    "{op} is impossible after {last}: nothing that was open can have changed the state in between"
                ),
            ),
            None => Stop::violation(
                op,
                [],
                format!("{op} is impossible: nothing was called that could bring this about"),
            ),
        }
    }

    /// `op` is no longer a candidate.
    fn dismiss(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match Self::target(op)? {
            None => {
                self.observers -= 1;
                Ok(())
            }
            Some(to) => self.changes[usize::from(to)].dismiss(op).map_err(|shown_by| {
                let sentence = match op.result() {
                    Some(_) => format!(
                        "{shown_by} is impossible: no operation is left that can have changed the state before it, {op} did not"
                    ),
                    None => format!(
                        "{shown_by} is impossible: no operation is left that can have changed the state before it, {op} did not happen"
                    ),
                };
                Stop::violation(&shown_by, [Op::clone(op)], sentence)
            }),
        }
    }

    fn saw(&mut self, op: &Op<O>, found: bool, now: Time) -> Result<(), Stop<O>> {
        let changed_meanwhile = self
            .last
            .as_ref()
            .is_some_and(|(at, _)| !precedes(*at, op.called));
        if self.state == found || changed_meanwhile {
            return Ok(());
        }
        self.take(now, op)
    }
}

impl<O: Observable> Online<O> for Bits<O> {
    fn call(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        match Self::target(op)? {
            Some(to) => self.changes[usize::from(to)].call(op),
            None => self.observers += 1,
        }
        Ok(())
    }

    fn ret(&mut self, op: &Op<O>, role: &Role, now: Time) -> Result<(), Stop<O>> {
        let expected = Self::target(op)?;
        match did(op, role)? {
            Did::Changed(to) if expected != Some(to) => Err(Stop::cannot_tell(format!(
                "{op} did what it did not promise"
            ))),
            Did::Changed(to) => {
                if self.changes[usize::from(to)].settle(op).is_none() {
                    if self.state == to {
                        self.take(now, op)?;
                    }
                    self.flip(now, op);
                }
                Ok(())
            }
            Did::Saw(found) => {
                self.dismiss(op)?;
                self.saw(op, found, now)
            }
            Did::Nothing => self.dismiss(op),
        }
    }

    fn fail(&mut self, op: &Op<O>, _: Time) -> Result<(), Stop<O>> {
        self.dismiss(op)
    }

    fn crash(&mut self, op: &Op<O>) {
        // A candidate stays one.
        if let Ok(None) = Self::target(op) {
            self.observers -= 1;
        }
    }

    fn is_blank(&self) -> bool {
        self.state == self.initial
            && self.observers == 0
            && self.changes.iter().all(|takes| takes.open() == 0)
    }
}
