//! What engines save work with. Each of these can be left out, and the verdict must be the same without it: that is
//! what the tests compare.

/// A way to save work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Shortcut {
    /// Linearizable histories are decided from their columns, without being decoded.
    Columns,
    /// Queues are searched at both ends at once, without their contents.
    QueueSearch,
    /// Stacks are searched without what lies below the top.
    StackSearch,
    /// Objects that hold one value are searched with a full view of the future.
    SlotSearch,
    /// Order that follows from results is kept. Eager removals rest on it.
    ImpliedOrder,
    /// Removals that no other operation can notice take effect at once.
    EagerRemovals,
    /// Operations that change no state take effect at once where they fit; pending ones are left out.
    PureOperations,
    /// Of open operations that do the same, the one that returns first goes first.
    EqualOperations,
    /// Where several keys are searched together, a return concerns its own key only.
    IndependentKeys,
    /// A configuration is tried once.
    Memory,
}

impl Shortcut {
    /// All of them.
    pub const ALL: [Shortcut; 10] = [
        Shortcut::Columns,
        Shortcut::QueueSearch,
        Shortcut::StackSearch,
        Shortcut::SlotSearch,
        Shortcut::ImpliedOrder,
        Shortcut::EagerRemovals,
        Shortcut::PureOperations,
        Shortcut::EqualOperations,
        Shortcut::IndependentKeys,
        Shortcut::Memory,
    ];

    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The ways to save work that are taken: all of them by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shortcuts(u16);

impl Default for Shortcuts {
    fn default() -> Self {
        Shortcuts(u16::MAX)
    }
}

impl Shortcuts {
    pub(crate) fn without(self, shortcut: Shortcut) -> Self {
        Shortcuts(self.0 & !shortcut.bit())
    }

    pub(crate) fn has(self, shortcut: Shortcut) -> bool {
        self.0 & shortcut.bit() != 0
    }
}
