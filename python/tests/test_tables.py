"""Tables of other libraries: what they hold is decided as the same operations in a list are."""

import linpoint
import pytest
from conftest import VIOLATION

pyarrow = pytest.importorskip("pyarrow")

NAMES = {"arg": "argument", "ret": "result"}


def columns(history=VIOLATION):
    return {NAMES.get(name, name): [row[name] for row in history] for name in history[0]}


def described(report):
    return report.verdict, [(operation["method"], operation["line"]) for operation in report.core], report.sentence


def expected():
    verdict, core, sentence = described(linpoint.check(VIOLATION, type="queue"))
    return verdict, core, sentence.replace("line", "row")


def test_pyarrow():
    table = pyarrow.table(columns())
    batch = table.to_batches()[0]
    for given in (table, batch, pyarrow.RecordBatchReader.from_batches(table.schema, [batch])):
        assert described(linpoint.check(given, type="queue")) == expected()
    chunked = pyarrow.concat_tables([table.slice(0, 1), table.slice(1, 1), table.slice(2)])
    assert chunked.column("call").num_chunks == 3
    assert described(linpoint.check(chunked, type="queue")) == expected()


@pytest.mark.parametrize("integer", ["int8", "int16", "int32", "int64", "uint8", "uint32", "uint64", "float64"])
@pytest.mark.parametrize("text", ["string", "large_string", "string_view"])
def test_all_types_of_columns(integer, text):
    schema = [(name, getattr(pyarrow, text if name == "method" else integer)()) for name in columns()]
    table = pyarrow.table(columns(), schema=pyarrow.schema(schema))
    assert described(linpoint.check(table, type="queue")) == expected()


@pytest.mark.parametrize("index", ["int8", "int32", "uint32", "int64"])
@pytest.mark.parametrize("text", ["string", "large_string"])
def test_dictionaries(index, text):
    kind = pyarrow.dictionary(getattr(pyarrow, index)(), getattr(pyarrow, text)())
    methods = pyarrow.array(columns()["method"], getattr(pyarrow, text)()).cast(kind)
    table = pyarrow.table(columns() | {"method": methods})
    assert described(linpoint.check(table, type="queue")) == expected()
    two = pyarrow.concat_tables([table.slice(0, 2), table.slice(2)])
    assert described(linpoint.check(two, type="queue")) == expected()


def test_texts_are_json_and_truth_values_are_themselves():
    history = {
        "process": ["a", "b", "a"],
        "object": ["x", "x", "x"],
        "method": ["write", "read", "read"],
        "argument": ['{"k": [1, null]}', None, None],
        "result": [None, '{"k": [1, null]}', '"other"'],
        "call": [0, 2, 4],
        "return": [1, 3, 5],
    }
    report = linpoint.check(pyarrow.table(history), type="register")
    assert [operation["ret"] for operation in report.core] == ["other"]
    assert report.core[0]["process"] == "a" and report.core[0]["object"] == "x"
    with pytest.raises(linpoint.MalformedError, match="argument.*other") as raised:
        linpoint.check(pyarrow.table(history | {"argument": [None, None, "other"]}), type="register")
    assert raised.value.line == 3
    history["argument"], history["result"] = [True, None, None], [None, True, False]
    assert linpoint.check(pyarrow.table(history), type="register").core[0]["ret"] is False


def test_pandas():
    pandas = pytest.importorskip("pandas", "2.2")
    frame = pandas.DataFrame(columns())
    assert described(linpoint.check(frame, type="queue")) == expected()
    frame["method"] = frame["method"].astype("category")
    assert described(linpoint.check(frame, type="queue")) == expected()


def test_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(columns())
    assert described(linpoint.check(frame, type="queue")) == expected()
    frame = frame.with_columns(polars.col("method").cast(polars.Categorical))
    assert described(linpoint.check(frame, type="queue")) == expected()


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    operations = pyarrow.table(columns())  # noqa: F841: DuckDB finds it
    relation = duckdb.sql("FROM operations")
    assert described(linpoint.check(relation, type="queue")) == expected()


def test_times_of_clocks_and_any_order_of_rows():
    clock = pyarrow.timestamp("ns")
    for unit in ("s", "ms", "us", "ns"):
        clock = pyarrow.timestamp(unit)
        times = {name: pyarrow.array(columns()[name], clock) for name in ("call", "return")}
        table = pyarrow.table(columns() | times)
        assert described(linpoint.check(table, type="queue")) == expected()
    backwards = pyarrow.table(columns()).take([2, 1, 0])
    report = linpoint.check(backwards, type="queue")
    assert report.verdict == "not linearizable"
    assert {operation["line"] for operation in report.core} == {1, 3}


def test_pending_operations_and_objects():
    table = pyarrow.table(columns() | {"return": [1, None, 5], "object": [1, 1, 2]})
    report = linpoint.check(table, type="queue", all=True)
    assert [part["verdict"] for part in report.parts] == ["linearizable", "not linearizable"]


def test_metadata_of_parquet_counts(tmp_path, command):
    parquet = pytest.importorskip("pyarrow.parquet")
    command("generate", "--type", "bounded-queue:capacity=3", "--ops", "40", "--violation", "-o", tmp_path / "h.parquet")
    # pyarrow reads the table without it.
    metadata = parquet.read_metadata(tmp_path / "h.parquet").metadata
    table = parquet.read_table(tmp_path / "h.parquet").replace_schema_metadata(metadata)
    report = linpoint.check(table)
    assert report.type == "bounded-queue"
    assert described(report) == described(linpoint.check(tmp_path / "h.parquet"))


@pytest.mark.parametrize(
    ("change", "row", "reason"),
    [
        ({"method": None}, None, 'column "method" is missing; the table has'),
        ({"call": None}, None, 'column "call" is missing'),
        ({"method": ["enq", None, "deq"]}, 2, 'there is no name'),
        ({"call": [0, 2, None]}, 3, "there is no time"),
        ({"method": [1, 2, 3]}, None, 'column "method" must hold text, but it is of type Int64'),
        ({"call": ["a", "b", "c"]}, None, 'column "call" must hold integers or times, but it is text'),
        ({"call": [0.5, 2.0, 4.0]}, 1, "0.5 is no integer"),
        ({"argument": [[1], [2], None]}, None, 'column "argument" must hold integers, truth values or JSON text'),
        ({"process": [[1], [2], None]}, None, 'column "process" must hold integers or text'),
        ({"call": [0, 2, 9]}, 3, "before"),
        ({"hint": ["a", "b", "c"]}, None, 'column "hint" must hold integers'),
        ({"process": [0, 0, 0], "call": [0, 0, 4]}, None, "call"),
    ],
)
def test_bad_tables(change, row, reason):
    changed = {name: values for name, values in (columns() | change).items() if values is not None}
    with pytest.raises(linpoint.MalformedError, match=reason) as raised:
        linpoint.check(pyarrow.table(changed), type="queue", name="mine")
    assert raised.value.file == "mine"
    if row is not None:
        assert raised.value.line == row and f"mine: row {row}: " in str(raised.value)


def test_limits_of_memory_are_errors_while_reading():
    many = pyarrow.table({name: values * 30_000 for name, values in columns().items()})
    with pytest.raises(linpoint.LimitError, match="memory"):
        linpoint.check(many, memory="1K")


def test_empty_tables():
    table = pyarrow.table(columns()).slice(0, 0)
    assert linpoint.check(table, type="queue").operations == 0


def test_rows():
    table = pyarrow.table(columns() | {"object": ["q"] * 3, "id": [7, 8, 9]})
    row = linpoint.tables.row(table, type="queue", id="id")
    assert (row["object"], row["verdict"], row["core"], row["operations"]) == ("q", "not linearizable", ["7", "9"], 3)
    assert row["error"] is None and row["sentence"] and row["first_bad_event"] == 5
    assert linpoint.tables.row(table, type="queue")["core"][0].startswith("{")
    for ids, reason in (([7, 7, 9], "7 more than once"), ([7, None, 9], "without an id: 1")):
        row = linpoint.tables.row(table.set_column(7, "id", [ids]), type="queue", id="id")
        assert row["verdict"] == "error" and reason in row["error"]
    row = linpoint.tables.row(table, type="queue", id="no")
    assert row["verdict"] == "error" and "no column 'no'" in row["error"]
    row = linpoint.tables.row(table, type="stack")
    assert row["verdict"] == "error" and "enq" in row["error"]
    with pytest.raises(ValueError, match="2 objects"):
        linpoint.tables.row(table.set_column(6, "object", [["q", "q", "p"]]), type="queue")


def test_the_recipe_for_polars():
    polars = pytest.importorskip("polars")
    frame = polars.concat([polars.DataFrame(columns()).with_columns(object=polars.lit(name)) for name in "ab"])
    rows = [linpoint.tables.row(group, type="queue") for _, group in frame.group_by("object")]
    verdicts = polars.DataFrame(rows)
    assert verdicts["verdict"].to_list() == ["not linearizable"] * 2


def test_the_recipe_for_duckdb():
    duckdb = pytest.importorskip("duckdb")
    frame = pyarrow.table(columns())  # noqa: F841: DuckDB finds it
    both = duckdb.sql("SELECT 'a' AS object, * FROM frame UNION ALL SELECT 'b', * REPLACE (process + 10 AS process) FROM frame WHERE call < 4")
    report = linpoint.check(both, type="queue", all=True)
    found = {part["object"]: part["verdict"] for part in report.parts}
    assert found == {"a": "not linearizable", "b": "linearizable"}
