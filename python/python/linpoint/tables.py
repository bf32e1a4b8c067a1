"""One row for each object: what engines of tables call for each group.

>>> import pyarrow
>>> table = pyarrow.table({
...     "object": ["a", "a"],
...     "process": [0, 1],
...     "method": ["enq", "deq"],
...     "argument": [1, None],
...     "result": [None, 2],
...     "call": [0, 2],
...     "return": [1, 3],
...     "id": ["first", "second"],
... })
>>> row = linpoint.tables.row(table, type="queue", id="id")
>>> row["object"], row["verdict"], row["core"]
('a', 'not linearizable', ['second'])
"""

from __future__ import annotations

import json
from typing import Any

from linpoint._check import check
from linpoint._errors import Error

__all__ = ["FIELDS", "row"]

#: The columns of a row beside the object, with their types as SQL writes them.
FIELDS = {
    "verdict": "string",
    "engine": "string",
    "operations": "bigint",
    "first_bad_event": "bigint",
    "core": "array<string>",
    "sentence": "string",
    "limit": "string",
    "seconds": "double",
    "error": "string",
}

_COLUMNS = ("process", "method", "argument", "result", "call", "return", "hint")


def row(
    table: Any, *, object: str = "object", id: str | None = None, threads: int = 1, **options: Any
) -> dict[str, Any]:
    """The verdict on the one object whose operations are in `table`, which speaks the Arrow PyCapsule interface.

    `object` is the column that names it, and `id` one that names operations, which `core` then lists; without it, `core` lists the
    operations as JSON. The other options are those of :func:`linpoint.check`. The order of the rows does not matter.

    The verdict is `linearizable`, `not linearizable`, `undecided`, or `error` if there is none: then `error` says why, with the row.
    """
    import pyarrow

    table = pyarrow.table(table)
    found: dict[str, Any] = {object: _only(table, object)} | dict.fromkeys(FIELDS)
    found["operations"] = table.num_rows
    try:
        if id is not None:
            _refuse_doubtful_ids(table, id)
        columns = [name for name in table.column_names if name in _COLUMNS]
        report = check(table.select(columns), threads=threads, name=str(found[object]), **options)
    except Error as error:
        return found | {"verdict": "error", "error": str(error)}
    parts = report.parts
    stopped = [part["undecided"]["limit"] for part in parts if "undecided" in part]
    return found | {
        "verdict": report.verdict,
        "engine": ", ".join(sorted({str(part["engine"]) for part in parts})),
        "first_bad_event": report.first_bad_event,
        "core": [_name(table, id, operation) for operation in report.core],
        "sentence": report.sentence,
        "limit": json.dumps(stopped[0]) if stopped else None,
        "seconds": report.seconds,
    }


def _only(table: Any, object: str) -> Any:
    """The one object of a table."""
    if object not in table.column_names or not table.num_rows:
        return None
    objects = table.column(object).unique()
    if len(objects) > 1:
        raise ValueError(f"the column {object!r} has {len(objects)} objects: a row is about one of them")
    return objects[0].as_py()


def _refuse_doubtful_ids(table: Any, id: str) -> None:
    if id not in table.column_names:
        raise Error(f"there is no column {id!r} of ids; the table has {', '.join(table.column_names)}")
    ids = table.column(id)
    if ids.null_count:
        raise Error(f"the column {id!r} has rows without an id: {ids.null_count}")
    if len(ids.unique()) < len(ids):
        import pyarrow.compute

        counts = pyarrow.compute.value_counts(ids)
        twice = next(count["values"] for count in counts.to_pylist() if count["counts"] > 1)
        raise Error(f"the column {id!r} has {twice!r} more than once: ids name operations")


def _name(table: Any, id: str | None, operation: dict[str, Any]) -> str:
    if id is None:
        return json.dumps(operation, ensure_ascii=False)
    return str(table.column(id)[operation["line"] - 1].as_py())
