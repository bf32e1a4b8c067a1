"""What a check found."""

from __future__ import annotations

import gzip
import html
import json
import os
from functools import cached_property
from typing import Any, Literal, cast

from linpoint import _native

__all__ = ["Report"]

Verdict = Literal["linearizable", "not linearizable", "undecided"]

_WORST: tuple[Verdict, ...] = ("not linearizable", "undecided", "linearizable")


class Report:
    """The verdict on a history, with the evidence. :func:`linpoint.check` makes it.

    `print(report)` prints what the command prints, and a notebook shows the page.

    If the input held several histories, `len(report)` says how many, and `verdict` is that of all together: a violation counts most,
    then what is undecided. `core`, `claims`, `sentence`, `type` and `witness` are of the first history with that verdict, and `parts`
    are of all.

    >>> report = linpoint.check([{"process": 0, "method": "deq", "ret": 2, "call": 4, "return": 5}], type="queue")
    >>> report.verdict, report.linearizable, report.operations
    ('not linearizable', False, 1)
    >>> [operation["method"] for operation in report.core]
    ['deq']
    >>> [claim["kind"] for claim in report.claims]
    ['never-put']
    """

    def __init__(self, decided: _native.Decided):
        self._decided = decided
        #: The verdict on each history of the input.
        self.verdicts: list[Verdict] = [decided.verdict(i) for i in range(len(decided))]
        #: `"linearizable"`, `"not linearizable"` or `"undecided"`.
        self.verdict: Verdict = next((worst for worst in _WORST if worst in self.verdicts), "linearizable")
        self._first = self.verdicts.index(self.verdict) if self.verdicts else 0

    @property
    def linearizable(self) -> bool | None:
        """True, False, or None if it is undecided."""
        return {"linearizable": True, "not linearizable": False, "undecided": None}[self.verdict]

    def __bool__(self) -> bool:
        raise TypeError("a report is neither true nor false, since a history may be undecided: ask report.verdict")

    def __len__(self) -> int:
        return len(self._decided)

    def __str__(self) -> str:
        return self._decided.text().rstrip("\n")

    def __repr__(self) -> str:
        return f"<linpoint.Report: {self.verdict}, {self.operations} operations>"

    def explain(self) -> str:
        """The text with the engines that decided, and the reasons for them: `linpoint check --explain`."""
        return self._decided.explanation().rstrip("\n")

    @cached_property
    def _document(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self._decided.history(self._first)))

    @cached_property
    def _violations(self) -> list[dict[str, Any]]:
        return [part["violation"] for part in self._document["parts"] if "violation" in part]

    @property
    def parts(self) -> list[dict[str, Any]]:
        """The objects and keys, each with its verdict, its engine and its evidence, as in the document of `--json`."""
        documents = (json.loads(self._decided.history(i)) for i in range(len(self)))
        return [part for document in documents for part in document["parts"]]

    @property
    def type(self) -> str:
        """The type of the object, or what specifies it."""
        return self._decided.object_type(self._first)

    @property
    def operations(self) -> int:
        """How many operations were decided about."""
        return sum(self._decided.operations(i) for i in range(len(self)))

    @property
    def core(self) -> list[dict[str, Any]]:
        """The operations that contradict each other; none unless the verdict is `not linearizable`. `line` is the line of the file, the
        row of the table, or the position in the list, counted from 1.
        """
        return self._violations[0]["core"] if self._violations else []

    @property
    def claims(self) -> list[dict[str, Any]]:
        """Why the core is impossible, as data: one claim for each object or key with a violation. `kind` says which one it is."""
        return [violation["claim"] | {"sentence": violation["sentence"]} for violation in self._violations]

    @property
    def sentence(self) -> str | None:
        """Why it is not linearizable, in words."""
        return self._violations[0]["sentence"] if self._violations else None

    @property
    def first_bad_event(self) -> int | None:
        """The number of the first event that cannot be explained, counted from 0, if it is known."""
        return self._violations[0]["first_bad_event"] if self._violations else None

    @cached_property
    def witness(self) -> list[dict[str, Any]] | None:
        """The operations in an order that explains all results; None unless the verdict is `linearizable`."""
        text = self._decided.witness(self._first) if len(self) else None
        return None if text is None else json.loads(text)

    @property
    def seconds(self) -> float:
        """How long it took to decide."""
        return sum(self._decided.seconds(i)[0] for i in range(len(self)))

    @property
    def reading_seconds(self) -> float:
        """How long it took to read what was decided."""
        return sum(self._decided.seconds(i)[1] for i in range(len(self)))

    @property
    def notes(self) -> list[str]:
        """What has to be known about the verdict."""
        return list(self._document.get("notes", []))

    def proof(self, path: str | os.PathLike[str] | None = None) -> bytes:
        """The proof of the verdict, for `linpoint verify-proof`; written to a file, too, if there is a path.

        >>> report = linpoint.check([{"process": 0, "method": "read", "ret": 2, "call": 4, "return": 5}], type="register")
        >>> report.proof()[:2]  # compressed by gzip
        b'\\x1f\\x8b'
        """
        proofs = b"".join(_native.proof(self._decided, i) for i in range(len(self)))
        compressed = gzip.compress(proofs, mtime=0)
        write(path, compressed)
        return compressed

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """The document that `linpoint check --json` prints; written to a file, too, if there is a path."""
        text = self._decided.document()
        write(path, text.encode())
        return text

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The page, one file without a network; written to a file, too, if there is a path."""
        text = self._decided.page()
        write(path, text.encode())
        return text

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 600px; border: 0"></iframe>'


def write(path: str | os.PathLike[str] | None, content: bytes) -> None:
    """Writes a file, if there is a path."""
    if path is not None:
        with open(path, "wb") as file:
            file.write(content)
