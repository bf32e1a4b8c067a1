//! Exit codes. They are part of the interface: scripts rely on them.

use std::process::ExitCode;

use linpoint::ErrorKind;

/// The outcome of a command. If several apply, the greatest one determines the exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Every history is linearizable.
    #[default]
    Linearizable,
    /// Some history is undecided, or too large to be read.
    Undecided,
    /// Some input cannot be read.
    Unreadable,
    /// Some input is malformed.
    Malformed,
    /// The request makes no sense.
    Usage,
    /// Some history is not linearizable: a proof, whatever else went wrong.
    Violation,
    /// A bug in linpoint.
    Bug,
}

impl Exit {
    /// The exit code of [`Exit::Undecided`].
    pub(crate) const UNDECIDED: u8 = 2;

    pub(crate) fn of_kind(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Exit::Usage,
            ErrorKind::Malformed
            | ErrorKind::Truncated
            | ErrorKind::UnknownMethod
            | ErrorKind::Unsorted
            | ErrorKind::Specification => Exit::Malformed,
            ErrorKind::Unreadable => Exit::Unreadable,
            ErrorKind::Limit | ErrorKind::Timeout => Exit::Undecided,
            _ => Exit::Bug,
        }
    }

    pub(crate) fn of_error(error: &anyhow::Error) -> Self {
        Exit::of_kind(kind_of(error))
    }
}

/// The kind of an error that ends a command.
pub(crate) fn kind_of(error: &anyhow::Error) -> ErrorKind {
    match error.downcast_ref::<linpoint::Error>() {
        Some(error) => error.kind(),
        // Every other error comes from a file that cannot be written.
        None => ErrorKind::Unreadable,
    }
}

impl Exit {
    /// The exit code of the program.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Linearizable => 0,
            Exit::Violation => 1,
            Exit::Undecided => Exit::UNDECIDED,
            Exit::Usage => 64,
            Exit::Malformed => 65,
            Exit::Unreadable => 66,
            Exit::Bug => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<std::io::Error>());
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
