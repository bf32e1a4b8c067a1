"""Recording histories while they happen."""

from __future__ import annotations

import builtins
import json
import os
from typing import TYPE_CHECKING, Any, cast

from linpoint import _native

if TYPE_CHECKING:
    from types import TracebackType

    from linpoint._report import Report

__all__ = ["Recorder"]


class Recorder(_native.EventLog):
    """Records what clients do, in threads, tasks or processes.

    >>> import queue
    >>> q = queue.Queue()
    >>> recorder = linpoint.Recorder(type="queue")
    >>> with recorder.op(0, "enq", 1):
    ...     q.put(1)
    >>> with recorder.op(1, "deq") as op:
    ...     op.ret = q.get_nowait()
    >>> recorder.check().verdict
    'linearizable'

    `op(process, method, arg=None, *, object=None)` records the call when the `with` block begins and the return when it ends, with
    `op.ret` as the result. `process` names what makes one call at a time: a thread, a task, a client. It is anything that JSON can
    write. It works in coroutines as it does in threads.

    An exception leaves the block as ever. The operation is then recorded as *unknown*: it may have taken effect or not, as after a
    time-out. After exceptions of the classes in `failed` it is recorded as *failed*: it did not take effect. `op.fail()` and
    `op.unknown()` say so by themselves. What a process does after an unknown operation is recorded under another name, `3/2`, since the
    operation stays open.

    With a `path`, each event is appended to the file as a line of JSON by one call of the operating system before the block goes on, so
    the file has all that happened before the process was killed. Without, the lines are kept in memory. A file that exists is
    refused, unless `append` is true: then processes may share it, with different names for their own processes.

    `type` goes into the header of a new file, with parameters: `"bounded-queue:capacity=5"`. Times are monotonic nanoseconds.
    """

    #: The file; None if the lines are kept in memory.
    path: str | None
    #: The type that was given.
    type: str | None

    def __new__(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        type: str | None = None,
        failed: tuple[builtins.type[BaseException], ...] = (),
        append: bool = False,
    ) -> Recorder:
        header = None if type is None or append else _header(type)
        recorder = cast("Recorder", super().__new__(cls, path, header, append, failed))
        recorder.path = None if path is None else os.fspath(path)
        recorder.type = type
        return recorder

    def check(self, **options: Any) -> Report:
        """Decides what was recorded so far; the options are those of :func:`linpoint.check`."""
        from linpoint._check import check

        return check(self, **({"type": self.type} | options))

    def history(self) -> list[dict[str, Any]]:
        """The events so far, with a header if there is a type."""
        lines = self.lines()
        if lines is None:
            with open(self.path, "rb") as file:  # type: ignore[arg-type]
                lines = file.read()
        return [json.loads(line) for line in lines.splitlines()]

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self,
        _class: builtins.type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()


def _header(type: str) -> str:
    name, _, params = type.partition(":")
    header: dict[str, Any] = {"linpoint": 1, "type": name}
    if params:
        header["params"] = _native.params(type)
    return json.dumps(header)
