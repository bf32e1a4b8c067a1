//! How a check is done: limits, engine, evidence.

use std::time::Duration;

use super::EngineChoice;
use crate::history::Partitioning;

/// How a check is done.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Stop after this long.
    pub timeout: Option<Duration>,
    /// Use at most this many bytes of memory; four fifths of what the machine has left, by default.
    pub memory: Option<u64>,
    /// Threads; all cores by default. A check that is called on a thread of a rayon pool uses that pool.
    pub threads: Option<usize>,
    /// How finely the history is split.
    pub partitioning: Partitioning,
    /// How much evidence a violation comes with.
    pub cores: Cores,
    /// Whether linearizable histories come with a witness.
    pub witnesses: Witnesses,
    /// What happens to the other parts of a history after a violation was found in one.
    pub on_violation: OnViolation,
    /// The engine to use, instead of the one that fits best.
    pub engine: EngineChoice,
    /// The largest d up to which [hitting families](EngineChoice::Hitting) are looked at; all by default.
    pub depth_max: Option<usize>,
}

impl Config {
    /// Without the reduction of violations.
    #[must_use]
    pub fn verdicts_only(mut self) -> Self {
        self.cores = Cores::Whole;
        self
    }

    /// Without witnesses.
    #[must_use]
    pub fn without_witnesses(mut self) -> Self {
        self.witnesses = Witnesses::Omitted;
        self
    }

    /// Deciding all parts, also those after a violation.
    #[must_use]
    pub fn with_all_parts(mut self) -> Self {
        self.on_violation = OnViolation::Continue;
        self
    }

    /// With this engine.
    #[must_use]
    pub fn with_engine(mut self, engine: EngineChoice) -> Self {
        self.engine = engine;
        self
    }

    /// Looking at hitting families up to this d only.
    #[must_use]
    pub fn with_depth_max(mut self, d: usize) -> Self {
        self.depth_max = Some(d);
        self
    }

    /// With this partitioning.
    #[must_use]
    pub fn with_partitioning(mut self, partitioning: Partitioning) -> Self {
        self.partitioning = partitioning;
        self
    }

    /// With this limit on time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// With this limit on memory, in bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// With this many threads.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }
}

/// Whether the parts of a history after the first one with a violation are decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnViolation {
    /// They are skipped.
    #[default]
    Stop,
    /// All parts are decided.
    Continue,
}

/// Whether violations are reduced to a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Cores {
    /// To the smallest core that can be found in a second.
    #[default]
    Reduced,
    /// Not at all: the core is the whole part. For counting verdicts.
    Whole,
}

/// Whether linearizable histories come with a witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Witnesses {
    /// Each one is made and replayed.
    #[default]
    Certified,
    /// None is made or replayed: the fastest monitors take several times as long for a witness as for a verdict.
    Omitted,
}
