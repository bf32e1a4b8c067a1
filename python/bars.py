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
RECORDED = 200_000


def generated(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.parquet"
    command = [Path(sys.executable).with_name("linpoint"), "generate", "--type", kind, "--ops", str(OPS), "--processes", "8", "-o", path]
    subprocess.run(command, check=True)
    return path


class Taken:
    """The seconds of some work, and its seconds of processor time, which a busy machine changes less."""

    def __init__(self, work):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        self.wall, self.processor = time.perf_counter() - wall, time.process_time() - processor


def median(runs: list[Taken], of: int) -> tuple[float, float]:
    """The medians for each of so many things: wall and processor time."""
    return statistics.median(run.wall for run in runs) / of, statistics.median(run.processor for run in runs) / of


def tables(folder: Path, rust: str) -> bool:
    fine = True
    for kind in ("queue", "register"):
        path = generated(folder, kind)
        metadata = pyarrow.parquet.read_metadata(path).metadata
        table = pyarrow.parquet.read_table(path).replace_schema_metadata(metadata)
        walls, processors = [], []
        for _ in range(9):
            # In turns, so that both meet the same machine.
            here = Taken(lambda table=table: linpoint.check(table))
            printed = subprocess.run([rust, path], check=True, capture_output=True, text=True).stdout
            wall, processor = map(float, printed.split())
            walls.append((here.wall / wall, here.wall, wall))
            processors.append((here.processor / processor, here.processor, processor))
        for name, ratios in (("wall", walls), ("processor", processors)):
            ratio, ours, theirs = sorted(ratios)[len(ratios) // 2]
            print(f"table, {kind}, {OPS} operations, {name}: {ours:.3f} s, Rust {theirs:.3f} s, ratio {ratio:.2f} (median of 9; bar 1.10)")
        fine &= ratio <= 1.1
    return fine


def lists(folder: Path) -> bool:
    rows = pyarrow.parquet.read_table(folder / "queue.parquet").to_pylist()
    names = {"argument": "arg", "result": "ret"}
    history = [{names.get(name, name): value for name, value in row.items() if value is not None} for row in rows]
    wall, processor = median([Taken(lambda: linpoint.check(history, type="queue")) for _ in range(5)], 1)
    print(f"list of {len(history)} dicts: {wall:.2f} s, processor {processor:.2f} s (median of 5; bar 2 s)")
    return processor <= 2


def recorder(folder: Path) -> bool:
    fine = True
    numbers = itertools.count()
    for where in ("in memory", "in a file"):
        for threads in (1, 4):
            runs = []
            for _ in range(5):
                path = None if where == "in memory" else folder / f"{next(numbers)}.jsonl"
                runs.append(Taken(lambda path=path, threads=threads: record(path, threads)))
            wall, processor = median(runs, 2 * RECORDED)
            fine &= processor <= 1e-6
            print(
                f"recorder {where}, {threads} threads: {wall * 1e6:.2f} µs for each event, "
                f"processor {processor * 1e6:.2f} µs (median of 5; bar 1 µs)"
            )
    return fine


def record(path: Path | None, threads: int) -> None:
    log = linpoint.Recorder(path)

    def work(process: int) -> None:
        for i in range(RECORDED // threads):
            with log.op(process, "write", i) as op:
                op.ret = None

    workers = [threading.Thread(target=work, args=(process,)) for process in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert log.events == 2 * RECORDED


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        results = [tables(Path(folder), sys.argv[1]), lists(Path(folder)), recorder(Path(folder))]
    # The processor time is compared with the bars.
    print(json.dumps(dict(zip(("tables", "lists", "recorder"), results, strict=True))))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
