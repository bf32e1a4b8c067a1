"""What is raised instead of a verdict. A history that is not linearizable is no error: see :class:`linpoint.Report`."""

from __future__ import annotations


class Error(Exception):
    """There is no verdict. `file` and `line` say where, as far as that is known: the line of a file, the row of a table, or the
    position in a list, counted from 1. `reason` is the message without them.
    """

    def __init__(self, message: str, reason: str | None = None, file: str | None = None, line: int | None = None):
        super().__init__(message)
        self.reason = message if reason is None else reason
        self.file = file
        self.line = line

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (str(self), self.reason, self.file, self.line))


class UsageError(Error, ValueError):
    """The request makes no sense: an unknown type, or a parameter out of range."""


class MalformedError(Error, ValueError):
    """The history is not well-formed, or has operations that are none of its type."""


class UnreadableError(Error, OSError):
    """The history cannot be read at all."""

    def __str__(self) -> str:
        return str(self.args[0])


class LimitError(Error):
    """A limit on time or memory was hit before the history was read. While it is decided, that is the verdict `undecided`."""


class SpecificationError(Error):
    """A specification of yours failed. The exception that it raised is the `__cause__`."""


class BugError(Error):
    """A bug in linpoint: the evidence for a verdict did not hold. Please report it."""


# As users name them.
for _class in (Error, UsageError, MalformedError, UnreadableError, LimitError, SpecificationError, BugError):
    _class.__module__ = "linpoint"
