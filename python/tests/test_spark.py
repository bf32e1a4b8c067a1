"""Spark on a real cluster: one master and two workers on loopback, which this test starts and stops."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import linpoint
import pytest
from conftest import VIOLATION, ops

pyspark = pytest.importorskip("pyspark")
pyarrow = pytest.importorskip("pyarrow")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_until(condition, what: str, seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"{what} within {seconds} s"
        time.sleep(0.2)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a master with two workers, and the processes of these."""
    home = Path(pyspark.__file__).parent
    folder = tmp_path_factory.mktemp("spark")
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOG_DIR": str(folder),
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    log, processes = folder / "log.txt", []

    def start(*words):
        with log.open("ab") as out:
            command = [str(home / "bin" / "spark-class"), *map(str, words)]
            # A group of its own, so that the JVM ends with the script that started it.
            process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)
        processes.append(process)
        return process

    port, page = free_port(), free_port()
    start("org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p", port, "--webui-port", page)
    wait_until(lambda: "I have been elected leader" in log.read_text(), "a master")
    address = f"spark://127.0.0.1:{port}"
    worker = ("org.apache.spark.deploy.worker.Worker", "-h", "127.0.0.1", "-c", 1, "-m", "1g", "--webui-port", 0, address)
    workers = [start(*worker), start(*worker)]
    wait_until(lambda: log.read_text().count("Registering worker") == 2, "two workers")
    yield address, workers
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def session(cluster):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark.sql.SparkSession.builder.master(cluster[0])
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "700m",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def history_of(number: int):
    """Objects of which every fifth one is not linearizable, in rows that are in no order."""
    enqs = [(0, "enq", i, None, 10 * i, 10 * i + 1) for i in range(20)]
    deqs = [(1, "deq", None, i, 10 * i + 500, 10 * i + 501) for i in range(20)]
    if number % 5 == 0:
        deqs[3], deqs[4] = (*deqs[3][:3], 4, *deqs[3][4:]), (*deqs[4][:3], 3, *deqs[4][4:])
    rows = [row | {"id": f"{number}-{i}", "object": f"q{number}"} for i, row in enumerate(ops(*enqs, *deqs))]
    return rows[::-1]


@pytest.fixture(scope="module")
def rows():
    return [row for number in range(40) for row in history_of(number)]


SCHEMA = "process bigint, method string, argument bigint, result bigint, call bigint, return bigint, id string, object string"


def frame(session, rows):
    values = [tuple(row.values()) for row in rows]
    return session.createDataFrame(values, SCHEMA).repartition(4)


def test_one_row_for_each_object(session, rows):
    df = frame(session, rows)
    found = {row["object"]: row for row in linpoint.spark.check(df, type="queue", id="id").collect()}
    assert len(found) == 40
    for number in range(40):
        row, own = found[f"q{number}"], [row for row in rows if row["object"] == f"q{number}"]
        here = linpoint.check([{k: v for k, v in row.items() if k != "id"} for row in own], type="queue")
        assert (row["verdict"], row["operations"], row["error"]) == (here.verdict, 40, None)
        assert set(row["core"]) == {own[operation["line"] - 1]["id"] for operation in here.core}
        assert (row["verdict"] == "linearizable") == (number % 5 != 0)
    # The objects with a violation come here for their pages.
    table = linpoint.spark.history(df, "q5")
    assert table.num_rows == 40
    assert linpoint.check(table, type="queue").to_html().startswith("<!doctype html>")


def test_errors_are_rows(session):
    bad = ops((0, "enq", 1, None, 5, 1))[0] | {"id": "x", "object": "bad"}
    fine = [row | {"id": str(i), "object": "good"} for i, row in enumerate(VIOLATION)]
    found = {row["object"]: row for row in linpoint.spark.check(frame(session, [bad, *fine]), type="queue").collect()}
    assert found["bad"]["verdict"] == "error" and "before" in found["bad"]["error"] and found["bad"]["core"] is None
    assert found["good"]["verdict"] == "not linearizable"
    with pytest.raises(ValueError, match="no column 'key'"):
        linpoint.spark.check(frame(session, fine), object="key", type="queue")


def test_a_class_as_the_specification(session, rows):
    # The workers do not have this module: the class travels.
    from pyspark import cloudpickle
    from test_spec import Queue

    cloudpickle.register_pickle_by_value(sys.modules["test_spec"])
    df = frame(session, rows[: 40 * 6])
    found = linpoint.spark.check(df, spec=Queue()).collect()
    assert sorted(row["verdict"] for row in found) == ["linearizable"] * 4 + ["not linearizable"] * 2


def test_a_worker_that_is_killed_loses_nothing(session, cluster, rows):
    df = frame(session, rows)
    expected = {f"q{number}": "linearizable" if number % 5 else "not linearizable" for number in range(40)}
    job = linpoint.spark.check(df, type="queue")
    cluster[1][0].kill()
    assert {row["object"]: row["verdict"] for row in job.collect()} == expected
