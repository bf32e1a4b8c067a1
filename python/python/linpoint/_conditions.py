"""What a check of conditions beside linearizability found."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Literal, cast

from linpoint._report import write

__all__ = ["ConditionReport"]

Verdict = Literal["holds", "violated", "undecided"]

_WORST: tuple[Verdict, ...] = ("violated", "undecided", "holds")


class ConditionReport:
    """What holds of a history. :func:`linpoint.check` makes it if it is asked about conditions.

    `print(report)` prints what the command prints. If the input held several histories, a condition holds if it holds of each: a
    violation counts most, then what is undecided.

    >>> history = [
    ...     {"process": 0, "method": "write", "arg": 1, "call": 0, "return": 1},
    ...     {"process": 1, "method": "read", "ret": None, "call": 2, "return": 3},
    ... ]
    >>> report = linpoint.check(history, type="register", condition=["linearizable", "sequential"])
    >>> report.verdict
    'violated'
    >>> report.verdicts
    {'linearizable': 'violated', 'sequential': 'holds'}
    >>> [operation["method"] for operation in report.decisions[0]["core"]]
    ['write', 'read']
    """

    def __init__(self, text: str, document: str):
        self._text = text
        self._document = document

    @cached_property
    def decisions(self) -> list[dict[str, Any]]:
        """What was decided about each condition, history by history, as in the document of `--json`: `condition`, `verdict`, and a
        `witness`, or a `core` with a `sentence`.
        """
        histories = json.loads(self._document)["histories"]
        return [decision for history in histories for decision in history["conditions"]]

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """The verdict on each condition: `"holds"`, `"violated"` or `"undecided"`."""
        verdicts: dict[str, Verdict] = {}
        for decision in self.decisions:
            name, verdict = decision["condition"], cast("Verdict", decision["verdict"])
            verdicts[name] = min(verdict, verdicts.get(name, verdict), key=_WORST.index)
        return verdicts

    @property
    def verdict(self) -> Verdict:
        """The worst of the verdicts."""
        return min(self.verdicts.values(), key=_WORST.index, default="holds")

    def __bool__(self) -> bool:
        raise TypeError("a report is neither true nor false, since a condition may be undecided: ask report.verdict")

    def __str__(self) -> str:
        return self._text.rstrip("\n")

    def __repr__(self) -> str:
        return f"<linpoint.ConditionReport: {self.verdicts}>"

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The document that `linpoint check --condition ... --json` prints; written to a file, too, if there is a path."""
        write(path, self._document.encode())
        return self._document
