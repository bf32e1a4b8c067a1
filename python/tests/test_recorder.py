import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time

import linpoint
import pytest


def test_lines_in_memory():
    recorder = linpoint.Recorder(type="bounded-queue:capacity=2")
    with recorder.op("a", "enq", {"k": 1}, object="q") as op:
        op.ret = True
    recorder.note("n1 restarts")
    header, call, ret, note = recorder.history()
    assert header == {"linpoint": 1, "type": "bounded-queue", "params": {"capacity": 2}}
    assert call | {"time": 0} == {"process": "a", "event": "call", "method": "enq", "arg": {"k": 1}, "object": "q", "time": 0}
    assert ret | {"time": 0} == {"process": "a", "event": "return", "ret": True, "time": 0}
    assert note["text"] == "n1 restarts"
    assert call["time"] <= ret["time"] <= time.monotonic_ns()
    assert recorder.events == 3


def test_exceptions_and_what_follows():
    recorder = linpoint.Recorder(failed=(KeyError,))
    with pytest.raises(TimeoutError), recorder.op(0, "write", 1):
        raise TimeoutError
    with pytest.raises(KeyError), recorder.op(0, "write", 2):
        raise KeyError
    with recorder.op(0, "write", 3) as op:
        op.unknown()
    with recorder.op(0, "write", 4) as op:
        op.fail()
    with pytest.raises(KeyError), recorder.op("c", "read") as op:
        op.unknown()
        raise KeyError
    with recorder.op("c", "read") as op:
        op.ret = 1
    ends = [(event["process"], event["event"]) for event in recorder.history()[1::2]]
    assert ends == [(0, "crash"), ("0/2", "fail"), ("0/2", "crash"), ("0/3", "fail"), ("c", "crash"), ("c/2", "return")]
    report = recorder.check(type="register")
    assert report.verdict == "linearizable"


def test_what_cannot_be_recorded():
    recorder = linpoint.Recorder()
    with pytest.raises(linpoint.MalformedError, match="a set is no value"):
        recorder.op(0, "write", {1})
    with pytest.raises(linpoint.MalformedError, match="a object is no value|a type is no value"):  # noqa: SIM117
        with recorder.op(0, "read") as op:
            op.ret = object()
    assert [event["event"] for event in recorder.history()] == ["call", "crash"]
    with recorder.op(1, "read"), pytest.raises(linpoint.UsageError, match="process 1 calls"), recorder.op(1, "read"):
        pass
    op = recorder.op(2, "read")
    with op:
        pass
    with pytest.raises(RuntimeError, match="once"), op:
        pass
    recorder.check(type="register")


def test_threads():
    recorder = linpoint.Recorder(type="counter")
    lock, count = threading.Lock(), 0

    def work(process):
        nonlocal count
        for _ in range(200):
            with recorder.op(process, "inc") as op, lock:
                count += 1
                op.ret = None
        with recorder.op(process, "read") as op:
            op.ret = count

    threads = [threading.Thread(target=work, args=(process,)) for process in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report = recorder.check(type="counter")
    assert (report.verdict, report.operations) == ("linearizable", 804)


def test_tasks():
    recorder = linpoint.Recorder()

    async def client(process, queue):
        for i in range(20):
            with recorder.op(process, "enq", [process, i]):
                await asyncio.sleep(0)
                await queue.put([process, i])
            with recorder.op(process, "deq") as op:
                op.ret = await queue.get()

    async def clients():
        queue = asyncio.Queue()
        await asyncio.gather(*(client(process, queue) for process in range(5)))
        with pytest.raises(asyncio.TimeoutError), recorder.op("last", "deq"):
            await asyncio.wait_for(queue.get(), 0.01)

    asyncio.run(clients())
    report = recorder.check(type="queue")
    assert (report.verdict, report.operations) == ("linearizable", 201)
    assert recorder.history()[-1]["event"] == "crash"


def test_files(tmp_path):
    path = tmp_path / "h.jsonl"
    with linpoint.Recorder(path, type="register") as recorder:
        with recorder.op(0, "write", 1):
            # It is there before the operation takes effect.
            assert len(path.read_text().splitlines()) == 2
        assert recorder.check().verdict == "linearizable"
    with pytest.raises(OSError, match="closed"), recorder.op(0, "write", 1):
        pass
    with pytest.raises(FileExistsError):
        linpoint.Recorder(path)
    with pytest.raises(OSError):  # noqa: PT011
        linpoint.Recorder(tmp_path / "none" / "h.jsonl")
    with linpoint.Recorder(path, append=True) as recorder, recorder.op(1, "read") as op:
        op.ret = 1
    assert linpoint.check(path).operations == 2


def test_a_full_disk():
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    recorder = linpoint.Recorder("/dev/full", append=True)
    reached = []
    for _ in range(2):
        with pytest.raises(OSError, match="cannot be written"), recorder.op(0, "write", 1):
            reached.append("the operation")
    assert not reached


def record_for_ever(path, ready):
    recorder = linpoint.Recorder(path)
    for i in range(10**9):
        with recorder.op(0, "write", i):
            if i == 1000:
                ready.set()


def test_what_returned_before_a_kill_is_in_the_file(tmp_path):
    path = tmp_path / "h.jsonl"
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=record_for_ever, args=(str(path), ready))
    child.start()
    assert ready.wait(60)
    os.kill(child.pid, signal.SIGKILL)
    child.join()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(events) >= 2000
    # Every call but the last one has returned.
    assert [event["event"] for event in events[: len(events) // 2 * 2]] == ["call", "return"] * (len(events) // 2)
    assert linpoint.check(path, type="register").verdict == "linearizable"
