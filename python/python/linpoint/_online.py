"""Histories that are checked while they happen."""

from __future__ import annotations

import json
from typing import Any

from linpoint import _native

__all__ = ["Finding", "OnlineChecker"]


class Finding:
    """What an event brought to light: a violation, or that the object is used in a way that no monitor understands."""

    def __init__(self, document: dict[str, Any]):
        #: The finding as data, as `linpoint watch --json` prints it.
        self.document = document

    @property
    def is_violation(self) -> bool:
        """Whether the history is not linearizable; if not, it cannot be told any further."""
        return bool(self.document["notice"] == "violation")

    @property
    def sentence(self) -> str:
        """Why, in words."""
        return str(self.document.get("sentence") or self.document.get("reason"))

    @property
    def event(self) -> int:
        """The number of the event that brought it to light, counted from 1."""
        return int(self.document["event"])

    @property
    def object(self) -> Any:
        """The object; None where there is only one."""
        return self.document["object"]

    @property
    def key(self) -> Any:
        """The key, where each key is checked by itself."""
        return self.document["key"]

    @property
    def operations(self) -> list[dict[str, Any]]:
        """The operation whose result is impossible, and those that contradict it."""
        if not self.is_violation:
            return []
        return [self.document["operation"], *self.document["others"]]

    def __str__(self) -> str:
        what = "not linearizable from here on" if self.is_violation else "cannot tell any further"
        return f"event {self.event}: {what}: {self.sentence}"

    def __repr__(self) -> str:
        return f"<linpoint.Finding: {self}>"


class OnlineChecker:
    """Checks events as they come, and tells a violation at the event that makes it certain.

    >>> checker = linpoint.OnlineChecker("register")
    >>> checker.call(0, "write", 1)
    >>> checker.ret(0)
    >>> checker.call(1, "read")
    >>> finding = checker.ret(1, 7)
    >>> finding.is_violation, finding.sentence
    (True, 'read() → 7 by process 1 (event 3) is impossible: 7 had not been written by then')

    There are checkers of registers, maps, sets, mutexes, semaphores, counters, queues, priority queues and snapshots, and never a false alarm: each
    method returns a :class:`Finding`, or None. After a finding, that object, or key, is not followed any further. Memory is bounded by
    what is open and what is in the object. It may be called from several threads.
    """

    def __init__(self, type: str):
        self._online = _native.Online(type)

    def call(self, process: Any, method: str, arg: Any = None, *, object: Any = None) -> Finding | None:
        """A process calls an operation."""
        return _finding(self._online.call(process, method, arg, object))

    def ret(self, process: Any, ret: Any = None) -> Finding | None:
        """The open call of a process returns."""
        return _finding(self._online.ret(process, ret))

    def fail(self, process: Any) -> Finding | None:
        """The open call of a process did not take effect, and never will."""
        return _finding(self._online.fail(process))

    def crash(self, process: Any) -> Finding | None:
        """The open call of a process never returns: it may take effect later, or not. The process makes no further call."""
        return _finding(self._online.crash(process))

    def unsettled(self) -> list[Finding]:
        """The objects and keys whose verdict depends on what open calls did."""
        return [Finding(json.loads(finding)) for finding in self._online.unsettled()]

    @property
    def events(self) -> int:
        """How many events there were."""
        return self._online.counts()[0]

    @property
    def operations(self) -> int:
        """How many operations were called."""
        return self._online.counts()[1]

    @property
    def pending(self) -> int:
        """How many calls are open, those included that never return."""
        return self._online.counts()[2]


def _finding(document: str | None) -> Finding | None:
    return None if document is None else Finding(json.loads(document))
