"""Is it linearizable, and if not, why not?

>>> import linpoint
>>> history = [
...     {"process": 0, "method": "enq", "arg": 1, "call": 0, "return": 1},
...     {"process": 0, "method": "enq", "arg": 2, "call": 2, "return": 3},
...     {"process": 1, "method": "deq", "ret": 2, "call": 4, "return": 5},
... ]
>>> report = linpoint.check(history, type="queue")
>>> report.verdict
'not linearizable'
>>> print(report.sentence)
1 was enqueued before 2, but deq() → 2 by process 1 (line 3) served 2 before 1

:func:`check` decides recorded histories, :class:`Recorder` records them, :class:`Spec` says what an object of your own answers,
:class:`OnlineChecker` follows histories while they happen, and :func:`assert_linearizable` is for tests.
"""

from linpoint import spark, tables
from linpoint._check import assert_linearizable, check
from linpoint._conditions import ConditionReport
from linpoint._errors import (
    BugError,
    Error,
    LimitError,
    MalformedError,
    SpecificationError,
    UnreadableError,
    UsageError,
)
from linpoint._native import __version__
from linpoint._online import Finding, OnlineChecker
from linpoint._recorder import Recorder
from linpoint._report import Report
from linpoint._spec import BLOCKED, Spec

__all__ = [
    "BLOCKED",
    "BugError",
    "ConditionReport",
    "Error",
    "Finding",
    "LimitError",
    "MalformedError",
    "OnlineChecker",
    "Recorder",
    "Report",
    "Spec",
    "SpecificationError",
    "UnreadableError",
    "UsageError",
    "__version__",
    "assert_linearizable",
    "check",
    "spark",
    "tables",
]
