"""Real objects of Python, recorded and judged."""

import json
import multiprocessing
import queue
import sqlite3
import sys
import threading

import linpoint


def run(work, processes):
    threads = [threading.Thread(target=work, args=(process,)) for process in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_queue_is_a_queue():
    recorder, shared = linpoint.Recorder(type="queue"), queue.Queue()

    def work(process):
        for i in range(500):
            value = process * 1000 + i
            with recorder.op(process, "enq", value):
                shared.put(value)
            with recorder.op(process, "deq") as op:
                try:
                    op.ret = shared.get_nowait()
                except queue.Empty:
                    op.ret = None

    run(work, 4)
    for value in ("x", "y"):
        with recorder.op("last", "enq", value):
            shared.put(value)
    with recorder.op("last", "deq") as op:
        op.ret = shared.get_nowait()
    report = recorder.check()
    assert (report.verdict, report.operations) == ("linearizable", 4003)
    # The same queue is no stack.
    names = {"enq": "push", "deq": "pop"}
    history = [event | {"method": names[event["method"]]} if "method" in event else event for event in recorder.history()]
    assert linpoint.check(history[1:], type="stack").verdict == "not linearizable"


def test_a_racy_counter_loses_increments():
    recorder, count = linpoint.Recorder(type="counter"), 0
    between = threading.Barrier(2)

    def work(process):
        nonlocal count
        with recorder.op(process, "inc"):
            seen = count
            # Both have read before one of them writes.
            between.wait()
            count = seen + 1
        with recorder.op(process, "read") as op:
            between.wait()
            op.ret = count

    run(work, 2)
    report = recorder.check()
    assert report.verdict == "not linearizable"
    assert report.core[-1]["method"] == "read" and report.core[-1]["ret"] == 1


def test_a_racy_counter_under_load():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        recorder, count = linpoint.Recorder(type="counter"), 0

        def work(process):
            nonlocal count
            for _ in range(2000):
                with recorder.op(process, "inc"):
                    seen = count
                    for _ in range(10):
                        pass
                    count = seen + 1

        run(work, 4)
        with recorder.op("last", "read") as op:
            op.ret = count
    finally:
        sys.setswitchinterval(interval)
    # Increments are lost as the threads happen to run; the verdict is what the last read says.
    expected = "linearizable" if count == 8000 else "not linearizable"
    assert recorder.check().verdict == expected


def client(path, log, process):
    """Uses the file as a register with compare-and-set, and as a counter."""
    recorder = linpoint.Recorder(log, append=True, failed=(sqlite3.OperationalError,))
    database = sqlite3.connect(path, isolation_level=None, timeout=60)
    for i in range(60):
        value = process * 1000 + i
        with recorder.op(process, "write", value):
            database.execute("UPDATE cell SET value = ?", (value,))
        with recorder.op(process, "cas", [value, -value]) as op:
            done = database.execute("UPDATE cell SET value = ? WHERE value = ?", (-value, value))
            op.ret = done.rowcount == 1
        with recorder.op(process, "read") as op:
            op.ret = database.execute("SELECT value FROM cell").fetchone()[0]


def recorded(log):
    with open(log) as lines:
        return [json.loads(line) for line in lines]


def test_a_file_of_sqlite_is_a_register_for_four_processes(tmp_path):
    path, log = str(tmp_path / "cell.db"), str(tmp_path / "log.jsonl")
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE cell (value INTEGER)")
        database.execute("INSERT INTO cell VALUES (0)")
    database.close()
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=client, args=(path, log, process)) for process in range(1, 5)]
    for child in children:
        child.start()
    for child in children:
        child.join(300)
    assert [child.exitcode for child in children] == [0] * 4
    report = linpoint.check(log, type="cas-register:initial=0")
    assert (report.verdict, report.operations) == ("linearizable", 720)
    # A read that was changed is found out.
    history = recorded(log)
    event = next(event for event in history if isinstance(event.get("ret"), int) and not isinstance(event["ret"], bool))
    event["ret"] = 10_000
    assert linpoint.check(history, type="cas-register:initial=0").verdict == "not linearizable"
