"""An example: Hypothesis makes programs, threads run them, and linpoint judges what they saw."""

import threading

import linpoint
import pytest

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

STEP = st.one_of(st.tuples(st.just("write"), st.integers(0, 3)), st.tuples(st.just("read"), st.none()))
PROGRAMS = st.lists(st.lists(STEP, min_size=1, max_size=4), min_size=2, max_size=3)


class Cell:
    """A register of one cell."""

    def __init__(self):
        self.value = None

    def write(self, value):
        self.value = value

    def read(self):
        return self.value


class Forgetful(Cell):
    """It loses each third write."""

    writes = 0

    def write(self, value):
        self.writes += 1
        if self.writes % 3:
            self.value = value


def run(cell, programs):
    """Runs each program on a thread of its own."""
    recorder = linpoint.Recorder()
    together = threading.Barrier(len(programs))

    def client(process, program):
        together.wait()
        for method, arg in program:
            with recorder.op(process, method, arg) as op:
                op.ret = cell.write(arg) if method == "write" else cell.read()

    threads = [threading.Thread(target=client, args=pair) for pair in enumerate(programs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return recorder


@hypothesis.settings(deadline=None, max_examples=50)
@hypothesis.given(PROGRAMS)
def test_a_cell_is_linearizable(programs):
    linpoint.assert_linearizable(run(Cell(), programs), type="register")


def test_hypothesis_finds_the_lost_write():
    @hypothesis.settings(deadline=None, max_examples=300, database=None, derandomize=True)
    @hypothesis.given(PROGRAMS)
    def find(programs):
        linpoint.assert_linearizable(run(Forgetful(), programs), type="register")

    with pytest.raises(BaseException, match="not linearizable|Flaky|inconsistent"):
        find()
