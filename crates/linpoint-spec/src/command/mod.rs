//! Models that are programs in any language, which are asked over pipes.
//!
//! `docs/model-programs.md` describes the lines that are written and read.

#[cfg(unix)]
mod ahead;
mod checks;
#[cfg(unix)]
mod model;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod protocol;

use std::sync::Arc;
use std::time::Duration;

use linpoint::Error;
use linpoint::spec::Params;

use crate::asked::Asked;

pub use checks::{Running, RunningChecks};
#[cfg(unix)]
pub use model::CommandModel;

/// How a program is asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandOptions {
    /// The parameters of the object, which the program gets with its first line.
    pub params: Params,
    /// The time for one answer, ten seconds at first. The program is ended when it takes longer.
    pub answer_timeout: Duration,
    /// The checks that use the program. It is ended when it does not answer and none of them has time left.
    pub checks: Arc<RunningChecks>,
}

impl Default for CommandOptions {
    fn default() -> Self {
        CommandOptions {
            params: Params::new(),
            answer_timeout: Duration::from_secs(10),
            checks: Arc::default(),
        }
    }
}

/// The specification that a program answers, which is a command of the shell.
///
/// The program runs until the specification is dropped.
#[cfg(unix)]
pub fn command(command: &str, options: CommandOptions) -> Result<Asked, Error> {
    let model = CommandModel::start(command, options);
    let asked = model.and_then(Asked::new);
    asked.map_err(|error| Error::specification(error.to_string()))
}

/// The specification that a program answers, which is a command of the shell.
#[cfg(not(unix))]
pub fn command(_command: &str, _options: CommandOptions) -> Result<Asked, Error> {
    Err(Error::usage(
        "models that are programs need a Unix system: write a specification file",
    ))
}
