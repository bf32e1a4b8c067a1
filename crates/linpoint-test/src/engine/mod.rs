//! The engines that run the threads of a test: our own, shuttle, and loom.

pub(crate) mod explore;
#[cfg(feature = "loom")]
mod loom;
#[cfg(feature = "shuttle")]
mod shuttle;

/// The engine that runs the threads of a test; the object is made of its types.
///
/// | engine | the object uses | feature |
/// |---|---|---|
/// | [`Linpoint`](Self::Linpoint) | [`linpoint_test::sync`](crate::sync) | |
/// | `Shuttle` | `shuttle::sync`, `shuttle::thread` | `shuttle` |
/// | `Loom` | `loom::sync`, `loom::thread` | `loom` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Engine {
    /// The engine of this crate. It observes all accesses of each step, so all searches and reductions apply.
    #[default]
    Linpoint,
    /// The crate `shuttle`, for code that was ported to it. Searches have no reductions here, and
    /// [`Strategy::Automatic`](crate::Strategy::Automatic) is [`Strategy::Bounded`](crate::Strategy::Bounded).
    ///
    /// Its limits are those of shuttle: memory is sequentially consistent; timeouts never pass; a thread that locks a mutex it
    /// holds panics instead of waiting; the stacks of stuck executions are never freed, so a process can have some thousands
    /// of them; threads that wait by spinning are not recognised as stuck.
    #[cfg(feature = "shuttle")]
    Shuttle,
    /// The crate `loom`, which models weak memory, for small tests: two threads with two operations, or three with one.
    /// [Strategies](crate::Strategy) do not apply; loom has its own.
    ///
    /// A failure is not a proof, since loom treats `SeqCst` loads and stores as weaker than they are. The report says so, and
    /// [`Object::same_under_sc`](crate::Object::same_under_sc) compares it with sequential consistency. Operations that wait for
    /// others cannot be checked.
    #[cfg(feature = "loom")]
    Loom(Loom),
}

/// The bounds of a search by loom.
#[cfg(feature = "loom")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loom {
    /// The most preemptions, calls and returns included; 2 by default.
    pub preemptions: Option<u32>,
    /// The most points in an execution at which loom has a choice; 10,000 by default.
    pub max_branches: usize,
    /// The most executions of a test; 200,000 by default.
    pub executions: u32,
}

#[cfg(feature = "loom")]
impl Default for Loom {
    fn default() -> Self {
        Loom {
            preemptions: Some(2),
            max_branches: 10_000,
            executions: 200_000,
        }
    }
}

#[cfg(feature = "loom")]
impl Loom {
    /// Sets the most preemptions; `None` allows any number.
    pub fn preemptions(self, most: impl Into<Option<u32>>) -> Self {
        Loom {
            preemptions: most.into(),
            ..self
        }
    }

    /// Sets the most points in an execution at which loom has a choice.
    pub fn max_branches(self, most: usize) -> Self {
        Loom {
            max_branches: most,
            ..self
        }
    }

    /// Sets the most executions of a test.
    pub fn executions(self, most: u32) -> Self {
        Loom {
            executions: most,
            ..self
        }
    }
}

impl Engine {
    /// The name of the engine in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Linpoint => "controlled scheduler",
            #[cfg(feature = "shuttle")]
            Engine::Shuttle => "shuttle",
            #[cfg(feature = "loom")]
            Engine::Loom(_) => "loom",
        }
    }

    /// Whether the engine reports the accesses of each step, so that equal states and equivalent executions can be recognised.
    pub(crate) fn sees_accesses(self) -> bool {
        self == Engine::Linpoint
    }

    /// The modules whose types the engine controls, if it reports their use.
    pub(crate) fn types(self) -> Option<&'static str> {
        match self {
            Engine::Linpoint => Some("linpoint_test::sync"),
            #[cfg(feature = "shuttle")]
            Engine::Shuttle => Some("shuttle::sync"),
            #[cfg(feature = "loom")]
            Engine::Loom(_) => None,
        }
    }

    /// Whether the engine chooses the executions itself, under weak memory.
    pub(crate) fn searches_itself(self) -> bool {
        match self {
            #[cfg(feature = "loom")]
            Engine::Loom(_) => true,
            _ => false,
        }
    }

    /// Whether a panic comes from the engine, and not from the object.
    pub(crate) fn is_own_panic(self, message: &str) -> bool {
        match self {
            #[cfg(feature = "loom")]
            Engine::Loom(_) => loom::is_own_panic(message),
            _ => {
                let _ = message;
                false
            }
        }
    }
}
