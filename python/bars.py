"""Measures what the module costs, and fails where it costs more than it may. See docs/python.md.

    python bars.py RUST

RUST is the program of `cargo build --release --example batches` in this folder, which does the same without Python.
"""

import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import linpoint
import pyarrow
import pyarrow.parquet

OPS = 1_000_000


def generated(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.parquet"
    command = [Path(sys.executable).with_name("linpoint"), "generate", "--type", kind, "--ops", str(OPS), "--processes", "8", "-o", path]
    subprocess.run(command, check=True)
    return path


def seconds(work) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def tables(folder: Path, rust: str) -> bool:
    fine = True
    for kind in ("queue", "register"):
        path = generated(folder, kind)
        metadata = pyarrow.parquet.read_metadata(path).metadata
        table = pyarrow.parquet.read_table(path).replace_schema_metadata(metadata)
        ratios = []
        for _ in range(7):
            # One after the other, so that both meet the same machine.
            here = seconds(lambda table=table: linpoint.check(table))
            there = float(subprocess.run([rust, path], check=True, capture_output=True, text=True).stdout)
            ratios.append((here / there, here, there))
        ratio, here, there = sorted(ratios)[len(ratios) // 2]
        fine &= ratio <= 1.1
        print(f"check of a table, {kind}, {OPS} operations: {here:.3f} s, Rust {there:.3f} s, ratio {ratio:.2f} (median of 7; bar 1.10)")
    return fine


def lists(folder: Path) -> bool:
    path = folder / "queue.parquet"
    rows = pyarrow.parquet.read_table(path).to_pylist()
    names = {"argument": "arg", "result": "ret"}
    history = [{names.get(name, name): value for name, value in row.items() if value is not None} for row in rows]
    taken = statistics.median(seconds(lambda: linpoint.check(history, type="queue")) for _ in range(3))
    print(f"check of a list of {len(history)} dicts: {taken:.2f} s (median of 3; bar 2 s)")
    return taken <= 2


def recorder(folder: Path) -> bool:
    fine = True
    numbers = itertools.count()
    for where in ("in memory", "in a file"):
        for threads in (1, 4):
            times = []
            for _ in range(5):
                path = None if where == "in memory" else folder / f"{next(numbers)}.jsonl"
                times.append(record(path, threads, 200_000 // threads))
            cost = statistics.median(times)
            fine &= cost <= 1
            print(f"recorder {where}, {threads} threads: {cost:.2f} µs for each event (median of 5; bar 1 µs)")
    return fine


def record(path: Path | None, threads: int, each: int) -> float:
    """Microseconds for each event."""
    log = linpoint.Recorder(path)

    def work(process: int) -> None:
        for i in range(each):
            with log.op(process, "write", i) as op:
                op.ret = None

    workers = [threading.Thread(target=work, args=(process,)) for process in range(threads)]
    started = time.perf_counter()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    taken = time.perf_counter() - started
    assert log.events == 2 * threads * each
    return taken * 1e6 / log.events


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        results = [tables(Path(folder), sys.argv[1]), lists(Path(folder)), recorder(Path(folder))]
    print(json.dumps({"tables": results[0], "lists": results[1], "recorder": results[2]}))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
