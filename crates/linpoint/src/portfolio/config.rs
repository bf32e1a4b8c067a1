//! The configuration of a check: limits, engine, evidence.

use std::time::Duration;

use super::EngineChoice;
use crate::history::Partitioning;

/// The configuration of a check.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The limit on time; none by default.
    pub timeout: Option<Duration>,
    /// The limit on memory, in bytes; four fifths of the available memory by default.
    pub memory: Option<u64>,
    /// The time for explaining all violations of a history together, within the limit on time; by default about a second, and as
    /// long again as deciding took.
    pub explanation: Option<Duration>,
    /// The number of threads; one for each core by default. A check that is called on a thread of a rayon pool uses that pool.
    pub threads: Option<usize>,
    /// The parts that the history is split into.
    pub partitioning: Partitioning,
    /// Whether violations are reduced to a core.
    pub cores: Cores,
    /// Whether linearizable histories come with a witness.
    pub witnesses: Witnesses,
    /// Whether the parts after the first one with a violation are decided.
    pub on_violation: OnViolation,
    /// The engine; by default the first one of a table that can decide the part.
    pub engine: EngineChoice,
    /// The largest d of the [hitting families](EngineChoice::Hitting) that are tried; no limit by default.
    pub depth_max: Option<usize>,
}

impl Config {
    /// Returns the configuration without the reduction of violations.
    #[must_use]
    pub fn verdicts_only(mut self) -> Self {
        self.cores = Cores::Whole;
        self
    }

    /// Returns the configuration without witnesses.
    #[must_use]
    pub fn without_witnesses(mut self) -> Self {
        self.witnesses = Witnesses::Omitted;
        self
    }

    /// Returns the configuration that decides all parts, also those after a violation.
    #[must_use]
    pub fn with_all_parts(mut self) -> Self {
        self.on_violation = OnViolation::Continue;
        self
    }

    /// Returns the configuration with this engine.
    #[must_use]
    pub fn with_engine(mut self, engine: EngineChoice) -> Self {
        self.engine = engine;
        self
    }

    /// Returns the configuration with this largest d of hitting families.
    #[must_use]
    pub fn with_depth_max(mut self, d: usize) -> Self {
        self.depth_max = Some(d);
        self
    }

    /// Returns the configuration with this partitioning.
    #[must_use]
    pub fn with_partitioning(mut self, partitioning: Partitioning) -> Self {
        self.partitioning = partitioning;
        self
    }

    /// Returns the configuration with this limit on time.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Returns the configuration with this time for explaining violations. Larger cores may be reduced further in more time.
    #[must_use]
    pub fn with_explanation(mut self, time: Duration) -> Self {
        self.explanation = Some(time);
        self
    }

    /// Returns the configuration with this limit on memory, in bytes.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Returns the configuration with this number of threads.
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
    /// To the smallest core found within a second.
    #[default]
    Reduced,
    /// Not reduced: the core is the whole part. For counting verdicts.
    Whole,
}

/// Whether linearizable histories come with a witness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Witnesses {
    /// Each witness is constructed and replayed.
    #[default]
    Certified,
    /// None is constructed: the fastest monitors take several times as long for a witness as for a verdict.
    Omitted,
}
