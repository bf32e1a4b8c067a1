"""Deciding recorded histories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol, Union, overload

from linpoint import _native
from linpoint._conditions import ConditionReport
from linpoint._errors import UsageError
from linpoint._recorder import Recorder
from linpoint._report import Report
from linpoint._spec import Spec

__all__ = ["History", "assert_linearizable", "check"]


class ArrowStream(Protocol):
    """A table that speaks the Arrow PyCapsule interface: of pyarrow, polars, pandas, DuckDB and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """A record batch that speaks the Arrow PyCapsule interface."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


Path = Union[str, "os.PathLike[str]"]
History = Union[Path, Iterable[Path], Iterable[Mapping[str, Any]], ArrowStream, ArrowArray, Recorder]


@overload
def check(
    history: History,
    *,
    condition: None = ...,
    type: str | None = ...,
    spec: Spec | Path | None = ...,
    timeout: float | str | None = ...,
    memory: int | str | None = ...,
    explanation: float | str | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    format: str | None = ...,
    ties: str | None = ...,
    allow_truncated: bool = ...,
    whole: bool = ...,
    all: bool = ...,
    name: str = ...,
) -> Report: ...
@overload
def check(
    history: History,
    *,
    condition: str | Iterable[str],
    type: str | None = ...,
    spec: Spec | Path | None = ...,
    timeout: float | str | None = ...,
    memory: int | str | None = ...,
    explanation: float | str | None = ...,
    threads: int | None = ...,
    engine: str = ...,
    format: str | None = ...,
    ties: str | None = ...,
    allow_truncated: bool = ...,
    whole: bool = ...,
    all: bool = ...,
    name: str = ...,
) -> ConditionReport: ...
def check(
    history: History,
    *,
    condition: str | Iterable[str] | None = None,
    type: str | None = None,
    spec: Spec | Path | None = None,
    timeout: float | str | None = None,
    memory: int | str | None = None,
    explanation: float | str | None = None,
    threads: int | None = None,
    engine: str = "auto",
    format: str | None = None,
    ties: str | None = None,
    allow_truncated: bool = False,
    whole: bool = False,
    all: bool = False,
    name: str = "<history>",
) -> Report | ConditionReport:
    """Decides whether a history is linearizable, and returns a :class:`~linpoint.Report`.

    With a `condition`, or several, decides whether these hold instead, and returns a :class:`~linpoint.ConditionReport`. The names are
    those of `linpoint check --condition`: `"sequential"`, `"causal-memory"`, `"k-atomic=2"`, `"ryw+mr"` and so on.

    `history` is one of these:

    - a list of dicts, each of them an event or an operation, as the lines of a JSON lines file;
    - a path, or several: files of any format that the command reads, archives, directories. Each file is a history of its own;
    - a table with the columns `process`, `method`, `argument`, `result`, `call` and `return`, perhaps `object` and `hint`: anything
      that speaks the Arrow PyCapsule interface, such as tables of pyarrow, polars, pandas and DuckDB. Columns of integers are read
      where they are, without copies;
    - a :class:`~linpoint.Recorder`.

    `type` names the object, perhaps with parameters: `"queue"`, `"bounded-queue:capacity=5"`. Without it, the history says it or its
    methods tell. `spec` is a :class:`~linpoint.Spec`, or the path of a specification file.

    `timeout` is in seconds, or a text such as `"5m"`; `memory` in bytes, or `"4G"`. When they run out, the verdict is `undecided`. The
    other options are those of `linpoint check`.

    Ctrl-C ends the check. Other threads go on meanwhile. What is no history raises an :class:`~linpoint.Error` with its line.

    >>> history = [
    ...     {"process": 0, "event": "call", "method": "write", "arg": 1},
    ...     {"process": 1, "event": "call", "method": "read"},
    ...     {"process": 0, "event": "return"},
    ...     {"process": 1, "event": "return", "ret": 1},
    ... ]
    >>> linpoint.check(history, type="register").verdict
    'linearizable'
    >>> linpoint.check(history[:1] * 2, type="register")
    Traceback (most recent call last):
    ...
    linpoint.MalformedError: <history>:2: process 0 calls "write" while its call of "write" on line 1 is still open...
    """
    if isinstance(history, Recorder) and history.path is not None:
        history = history.path
    asked = {
        "type": type,
        "spec": spec.model() if isinstance(spec, Spec) else None if spec is None else os.fspath(spec),
        "timeout": timeout,
        "memory": memory,
        "explanation": explanation,
        "threads": threads,
        "engine": engine,
        "format": format,
        "ties": ties,
        "truncated": allow_truncated,
        "whole": whole,
        "all": all,
        "name": name,
    }
    if condition is None:
        return Report(_native.check(history, asked))
    given = {"explanation": explanation is not None, "engine": engine != "auto", "whole": whole, "all": all}
    for option, is_given in given.items():
        if is_given:
            raise UsageError(f"{option} says how linearizability is decided: it does not go with a condition")
    names = [condition] if isinstance(condition, str) else list(condition)
    if not names:
        raise UsageError("condition names none: leave it out to ask for linearizability")
    return ConditionReport(*_native.conditions(history, asked, names))


def assert_linearizable(history: History, **options: Any) -> Report | ConditionReport:
    """Fails with the core of the violation if the history is not linearizable, and with the limit if that is undecided.

    The options are those of :func:`check`; with a condition, it fails if that does not hold. With the pytest plugin, the page is left as a file, which the message names.

    >>> linpoint.assert_linearizable([{"process": 0, "method": "deq", "ret": 2, "call": 4, "return": 5}], type="queue")
    Traceback (most recent call last):
    ...
    AssertionError: <history>: not linearizable
    ...
    """
    __tracebackhide__ = True
    report: Report | ConditionReport = check(history, **options)
    if report.verdict not in ("linearizable", "holds"):
        raise AssertionError(str(report))
    return report
