"""Histories of many objects under Apache Spark 4: each object is decided by a task of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from linpoint.tables import FIELDS, row

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

__all__ = ["check", "history"]


def check(df: DataFrame, *, object: str = "object", id: str | None = None, **options: Any) -> DataFrame:
    """One row for each object of `df`, with its verdict: what :func:`linpoint.tables.row` says of it.

    `df` has the columns of a table of :func:`linpoint.check` and one that names the object. The rows may be in any order. The options
    are those of :func:`linpoint.check`; a `spec` is sent to the workers as cloudpickle does it. linpoint must be installed there.

    An object is decided on one core, by one task, which holds its operations in memory. Whether one is much larger than the others
    tells the column `operations`.
    """
    if not hasattr(df.groupBy(object), "applyInArrow"):
        raise RuntimeError("linpoint.spark needs PySpark 4 or later, which gives the rows of a group as an Arrow table")
    if object not in df.columns:
        raise ValueError(f"there is no column {object!r} of objects; the data frame has {', '.join(df.columns)}")
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    found = ", ".join(f"{name} {kind}" for name, kind in FIELDS.items())
    schema = StructType([df.schema[object], *cast("StructType", StructType.fromDDL(found)).fields])
    columns = to_arrow_schema(schema)

    def decide(table: pyarrow.Table) -> pyarrow.Table:
        found = row(table, object=object, id=id, **options)
        return type(table).from_pylist([found], schema=columns)

    return df.groupBy(object).applyInArrow(decide, schema)


def history(df: DataFrame, name: Any, *, object: str = "object") -> pyarrow.Table:
    """The operations of one object on this machine, for a page: `linpoint.check(linpoint.spark.history(df, "x")).to_html("x.html")`."""
    return df.where(df[object].eqNullSafe(name)).toArrow()
