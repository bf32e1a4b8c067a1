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
    /// Our own, which sees what each step touches: the one with all searches and reductions.
    #[default]
    Linpoint,
    /// The crate `shuttle`, for code that was ported to it. Searches have no reductions here, and
    /// [`Strategy::Automatic`](crate::Strategy::Automatic) is [`Strategy::Bounded`](crate::Strategy::Bounded).
    ///
    /// Its limits are those of shuttle: sequential consistency; timeouts never come; a thread that locks a mutex it holds panics
    /// instead of waiting; the stacks of stuck executions are never given back, so that a process can have some thousands of
    /// them; waiting by spinning is not seen as being stuck.
    #[cfg(feature = "shuttle")]
    Shuttle,
    /// The crate `loom`, which models weak memory, for small tests: two threads with two operations, or three with one.
    /// [Strategies](crate::Strategy) do not apply; loom has its own.
    ///
    /// A failure that it finds is not a proof: loom takes `SeqCst` loads and stores for weaker than they are. It is labelled, and
    /// [`Object::same_under_sc`](crate::Object::same_under_sc) compares it with sequential consistency. Operations that wait for
    /// others cannot be checked.
    #[cfg(feature = "loom")]
    Loom(Loom),
}

/// How far loom goes.
#[cfg(feature = "loom")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Loom {
    /// The most preemptions, calls and returns included; 2 unless told otherwise.
    pub preemptions: Option<u32>,
    /// The most points in an execution at which loom has a choice; 10,000 unless told otherwise.
    pub max_branches: usize,
    /// The most executions of a test; 200,000 unless told otherwise.
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
    /// With so many preemptions; all executions without a number.
    pub fn preemptions(self, most: impl Into<Option<u32>>) -> Self {
        Loom {
            preemptions: most.into(),
            ..self
        }
    }

    /// With so many points in an execution at which loom has a choice.
    pub fn max_branches(self, most: usize) -> Self {
        Loom {
            max_branches: most,
            ..self
        }
    }

    /// With so many executions of a test.
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

    /// Whether steps tell what they touch, so that equal states and equivalent executions are known.
    pub(crate) fn sees_accesses(self) -> bool {
        self == Engine::Linpoint
    }

    /// The modules whose types it controls, if it tells when they are used.
    pub(crate) fn types(self) -> Option<&'static str> {
        match self {
            Engine::Linpoint => Some("linpoint_test::sync"),
            #[cfg(feature = "shuttle")]
            Engine::Shuttle => Some("shuttle::sync"),
            #[cfg(feature = "loom")]
            Engine::Loom(_) => None,
        }
    }

    /// Whether it chooses the executions itself, under weak memory.
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
