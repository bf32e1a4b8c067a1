//! What a step does to a shared object, and which steps commute.

use super::execution::ObjectName;

/// How an object is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Looks at it: a load, a compare-exchange or a try that failed.
    Read,
    /// Changes it, perhaps to the same value.
    Write,
    /// Takes it exclusively.
    Acquire,
    /// Gives it back.
    Release,
    /// Takes it together with others.
    Share,
    /// Gives its share back.
    Unshare,
    /// Leaves a permit.
    Give,
    /// Takes the permit.
    Take,
    /// Joins the threads that wait for a condition.
    Join,
    /// Waits for the condition no longer, without a notification.
    Leave,
    /// Lets all pass from now on.
    Open,
    /// Passes what is open.
    Pass,
}

/// What an access does to the object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Unchanged,
    Changed,
    /// The object is changed, and the thread waited until the access was possible.
    AwaitedChange,
}

impl Effect {
    #[inline(always)]
    pub(crate) fn changed_if(changed: bool) -> Self {
        match changed {
            true => Effect::Changed,
            false => Effect::Unchanged,
        }
    }

    #[inline(always)]
    pub(crate) fn is_change(self) -> bool {
        self != Effect::Unchanged
    }
}

/// How a thread comes to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// The access is always possible. Its kind is reported afterwards.
    Open,
    /// The access is always possible, and its kind and whether it changes the object are known beforehand.
    Known { changed: bool },
    /// The thread waits until it is possible.
    Blocking,
    /// The thread waits until the access is possible, or its time is up.
    Timed,
}

/// The state of an object as far as it can block a thread: how many threads share it, whether there is a permit, or [`EXCLUSIVE`].
pub(crate) type Hold = u32;

const EXCLUSIVE: Hold = 1 << 31;

impl Kind {
    /// Whether two accesses of one object by different threads may matter to each other.
    pub(crate) fn conflicts(self, other: Kind) -> bool {
        use Kind::*;
        !matches!(
            (self, other),
            (Read | Pass, Read | Pass)
                | (Share | Unshare, Share | Unshare)
                | (Join | Leave, Join | Leave)
        )
    }

    /// Whether it is one of the kinds of which accesses by many threads do not conflict, although they change the object.
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Kind::Share | Kind::Unshare | Kind::Join | Kind::Leave)
    }

    /// Whether a thread that waits for this access can have it.
    pub(crate) fn enabled(self, hold: Hold) -> bool {
        match self {
            Kind::Acquire => hold == 0,
            Kind::Share => hold & EXCLUSIVE == 0,
            Kind::Take | Kind::Pass => hold > 0,
            _ => true,
        }
    }

    /// The state after it.
    pub(crate) fn apply(self, hold: Hold) -> Hold {
        match self {
            Kind::Read | Kind::Write | Kind::Join | Kind::Leave | Kind::Pass => hold,
            Kind::Acquire => EXCLUSIVE,
            Kind::Release | Kind::Take => 0,
            Kind::Share => hold + 1,
            Kind::Unshare => hold.saturating_sub(1),
            Kind::Give | Kind::Open => 1,
        }
    }
}

/// One access of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    /// The object, by its place in the table of the execution.
    pub(crate) object: u32,
    pub(crate) name: ObjectName,
    pub(crate) kind: Kind,
    /// The thread waits until the access is possible.
    pub(crate) blocking: bool,
    /// The version of the object afterwards; it grows with each change.
    pub(crate) version: u32,
    pub(crate) changed: bool,
}
