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

use super::takes::{Take, Takes};
use super::{Observable, Online, Op, Stop, Time};
use crate::claim::{Change, Claim, Since};
use crate::history::precedes;
use crate::spec::{Need, Role};
use crate::value::Value;

/// A monitor of two states.
pub(super) struct Bits<O: Observable> {
    initial: bool,
    state: bool,
    last: Option<LastChange<O>>,
    /// The operations that may turn out to change the state to `false`, and to `true`. Each take has a note on the change
    /// before it.
    changes: [Takes<O, Since<Op<O>>>; 2],
    /// How many others are open.
    observers: usize,
}

/// The last change.
struct LastChange<O: Observable> {
    /// The event that forced it.
    at: Time,
    /// The operation that returned then.
    op: Op<O>,
    /// Whether this operation made the change, or shows that another one did.
    is_own: bool,
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

    fn flip(&mut self, now: Time, op: &Op<O>, is_own: bool) {
        self.state = !self.state;
        self.last = Some(LastChange {
            at: now,
            op: Op::clone(op),
            is_own,
        });
    }

    /// Some open operation must have changed the state right before `op` returned.
    fn take(&mut self, now: Time, op: &Op<O>) -> Result<(), Stop<O>> {
        let since = self.since(op);
        if self.changes[usize::from(!self.state)]
            .take(now, op, since.clone())
            .is_err()
        {
            return Err(Stop::violation(not_changed(op, self.state, since)));
        }
        self.flip(now, op, false);
        Ok(())
    }

    /// Since when the state is what it is, as seen from `op`.
    fn since(&self, op: &Op<O>) -> Since<Op<O>> {
        match &self.last {
            None => Since::Beginning,
            Some(last) if precedes(last.at, op.called) => Since::Return(Op::clone(&last.op)),
            Some(last) if last.is_own => Since::Change(Op::clone(&last.op)),
            Some(last) => Since::Sight(Op::clone(&last.op)),
        }
    }

    /// `op` is no longer a candidate.
    fn dismiss(&mut self, op: &Op<O>) -> Result<(), Stop<O>> {
        let Some(to) = Self::target(op)? else {
            self.observers -= 1;
            return Ok(());
        };
        let left = self.changes[usize::from(to)].dismiss(op);
        left.map_err(|Take { shown_by, note, .. }| match op.result() {
            Some(_) => Stop::violation(Claim::NoOther {
                op: Op::clone(op),
                shown_by,
                change: if to {
                    Change::Put(None)
                } else {
                    Change::Taken(None)
                },
            }),
            None => Stop::violation(not_changed(&shown_by, !to, note)).since_failed(op),
        })
    }

    fn saw(&mut self, op: &Op<O>, found: bool, now: Time) -> Result<(), Stop<O>> {
        let changed_meanwhile = self
            .last
            .as_ref()
            .is_some_and(|last| !precedes(last.at, op.called));
        if self.state == found || changed_meanwhile {
            return Ok(());
        }
        self.take(now, op)
    }
}

fn not_changed<O: Observable>(op: &Op<O>, state: bool, since: Since<Op<O>>) -> Claim<Op<O>> {
    Claim::NotChanged {
        op: Op::clone(op),
        member: None,
        state,
        since,
        used_up: None,
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
                if !self.changes[usize::from(to)].settle(op) {
                    if self.state == to {
                        self.take(now, op)?;
                    }
                    self.flip(now, op, true);
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
