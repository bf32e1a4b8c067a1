import csv
import gzip
import json
import os
import pathlib
import pickle
import signal
import threading
import time

import linpoint
import pytest
from conftest import FINE, VIOLATION, ops


def test_a_list_of_operations():
    report = linpoint.check(VIOLATION, type="queue")
    assert report.verdict == "not linearizable" and report.linearizable is False
    assert [operation["line"] for operation in report.core] == [1, 3]
    assert report.claims[0]["kind"] == "overtaken"
    assert report.sentence in str(report)
    assert report.witness is None
    report = linpoint.check(FINE, type="queue")
    assert report.verdict == "linearizable" and report.linearizable is True
    assert [operation["line"] for operation in report.witness] == [1, 2, 3]
    assert report.core == [] and report.sentence is None
    assert report.operations == 3 and report.type == "queue" and len(report) == 1


def test_other_iterables_and_values():
    values = (None, True, -(2**70), 2**63 - 1, 1.5, "ä\n\"\\", [1, [2]], {"k": (1, None)})
    writes = ops(*[(0, "write", value, None, 10 * i, 10 * i + 1) for i, value in enumerate(values)])
    for value in values:
        read = ops((1, "read", None, value, 3, 1000))
        assert linpoint.check(iter(writes + read), type="register").verdict == "linearizable", value
    read = ops((1, "read", None, 2**70, 3, 1000))
    assert linpoint.check((*writes, *read), type="register").verdict == "not linearizable"


def test_numpy_scalars_are_numbers():
    numpy = pytest.importorskip("numpy")
    history = ops((numpy.int64(0), "write", numpy.float64(1.5), None, numpy.int32(0), 1))
    history += ops((1, "read", None, numpy.bool_(True), 2, 3))
    report = linpoint.check(history, type="register")
    assert [operation["ret"] for operation in report.core] == [True]


def test_the_type_is_told_or_asked_for():
    assert linpoint.check(VIOLATION).type == "queue"
    bounded = "bounded-queue:capacity=1"
    history = ops((0, "offer", 1, True, 0, 1), (0, "offer", 2, True, 2, 3))
    assert linpoint.check(history, type=bounded).verdict == "not linearizable"
    with pytest.raises(linpoint.UsageError, match="do not determine the type"):
        linpoint.check(ops((0, "fly", 1, None, 0, 1)))
    with pytest.raises(linpoint.UsageError, match="unknown type"):
        linpoint.check(FINE, type="queu")
    with pytest.raises(linpoint.UsageError, match="unknown"):
        linpoint.check(FINE, type="queue", engine="steam")


def test_paths(tmp_path, corpus, command):
    path = corpus / "queue-violation.jsonl"
    for given in (path, str(path), [path]):
        report = linpoint.check(given)
        assert report.verdict == "not linearizable"
        assert str(report) == command("check", path).stdout.rstrip("\n")
    several = linpoint.check([path, corpus / "register-ok.jsonl"])
    assert len(several) == 2 and several.verdict == "not linearizable" and several.sentence == report.sentence
    printed = json.loads(command("check", "--json", path, corpus / "register-ok.jsonl").stdout)
    document = json.loads(several.to_json(tmp_path / "report.json"))
    assert document == json.loads((tmp_path / "report.json").read_text())
    for history in [*printed["histories"], *document["histories"]]:
        del history["seconds"]
    assert document == printed


def test_every_verdict_of_the_corpus(corpus):
    with (corpus / "verdicts.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 20
    for row in rows:
        verdicts = linpoint.check(corpus / row["file"], explanation=0).verdicts
        assert len(verdicts) == int(row["histories"]), row
        assert verdicts.count("not linearizable") == int(row["not linearizable"]), row


def test_pages(tmp_path):
    report = linpoint.check(VIOLATION, type="queue")
    page = report.to_html(tmp_path / "report.html")
    assert page.startswith("<!doctype html>") and "not linearizable" in page
    assert (tmp_path / "report.html").read_text() == page
    assert report._repr_html_().startswith("<iframe srcdoc=")


def test_proofs(tmp_path, command):
    for name, history in (("fine", FINE), ("violation", VIOLATION)):
        (tmp_path / "h.jsonl").write_text("".join(json.dumps(line) + "\n" for line in history))
        proof = linpoint.check(tmp_path / "h.jsonl", type="queue").proof(tmp_path / f"{name}.gz")
        assert gzip.decompress(proof)
        checked = command("verify-proof", tmp_path / f"{name}.gz", tmp_path / "h.jsonl")
        assert checked.returncode == 0, checked
    checked = command("verify-proof", tmp_path / "fine.gz", tmp_path / "h.jsonl")
    assert checked.returncode == 1


def test_a_report_is_neither_true_nor_false():
    with pytest.raises(TypeError, match=r"report\.verdict"):
        bool(linpoint.check(FINE))


class Slow(linpoint.Spec):
    """A register that takes its time."""

    def init(self):
        return None

    def step(self, state, method, arg):
        time.sleep(0.02)
        return (state, state) if method == "read" else (None, arg)


# All of them overlap.
MANY = ops(
    *[(i, "write", i, None, 0, 10_000) for i in range(40)],
    *[(100 + i, "read", None, i, 0, 10_000) for i in range(40)],
)


def test_undecided_is_a_verdict_and_no_assertion():
    report = linpoint.check(MANY, spec=Slow(), timeout=0.3)
    assert report.verdict == "undecided" and report.linearizable is None
    assert "undecided" in str(report) and report.core == [] and report.witness is None
    with pytest.raises(AssertionError, match="undecided"):
        linpoint.assert_linearizable(MANY, spec=Slow(), timeout="300ms")
    with pytest.raises(linpoint.LimitError, match="not read in time") as raised:
        linpoint.check(MANY, timeout=0)
    assert raised.value.file == "<history>"


@pytest.mark.parametrize(
    ("history", "line", "reason"),
    [
        (ops((0, "enq", 1, None, 0, 1)) * 2, 2, "while its call"),
        (ops((0, "enq", 1, None, 5, 1)), 1, "before"),
        (ops((0, "enq", {1, 2}, None, 0, 1)), 1, "a set is no value of a history"),
        (ops((0, "enq", float("nan"), None, 0, 1)), 1, "NaN is no value"),
        (ops((0, "enq", {1: 2}, None, 0, 1)), 1, "the key 1 of a dict is no text"),
        (ops((0, "enq", "\ud800", None, 0, 1)), 1, "surrogates not allowed"),
        (ops((0, "enq", 1, None, "soon", 1)), 1, "call"),
        (ops((0, "fly", 1, None, 0, 1)), 1, "fly"),
        ([{"process": 0, "method": "enq", "colour": "red", "call": 1}], 1, "colour"),
        ([{"process": 0, "event": "return"}], 1, "return"),
        ([FINE[0], {"process": 0, "event": "call", "method": "enq"}], 2, "cannot be mixed"),
        ([{"process": 0, "event": "call"}], 1, "method"),
    ],
)
def test_malformed_lists(history, line, reason):
    with pytest.raises(linpoint.MalformedError, match=reason) as raised:
        linpoint.check(history, type="queue", name="mine")
    assert raised.value.line == line and raised.value.file == "mine"
    assert f"mine:{line}: " in str(raised.value) and raised.value.reason in str(raised.value)


def test_what_is_no_history():
    for history in (None, 3, {"process": 0}, [FINE[0], 3], ["x.jsonl", FINE[0]]):
        with pytest.raises(TypeError, match="a history is"):
            linpoint.check(history)


def test_values_may_not_nest_without_end():
    value = []
    value.append(value)
    with pytest.raises(linpoint.MalformedError, match="nested more than 128 levels"):
        linpoint.check(ops((0, "write", value, None, 0, 1)))


def test_unreadable_files(tmp_path):
    with pytest.raises(linpoint.UnreadableError) as raised:
        linpoint.check(tmp_path / "none.jsonl")
    assert raised.value.file == str(tmp_path / "none.jsonl")
    (tmp_path / "cut.jsonl").write_text(json.dumps(FINE[0]) + "\n" + '{"process": 0, "me')
    with pytest.raises(linpoint.MalformedError) as raised:
        linpoint.check(tmp_path / "cut.jsonl")
    assert raised.value.line == 2
    assert linpoint.check(tmp_path / "cut.jsonl", allow_truncated=True).verdict == "linearizable"
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (copy.line, str(copy)) == (2, str(raised.value))


def test_bad_options():
    for options in ({"timeout": "soon"}, {"timeout": -1}, {"memory": "much"}, {"ties": "coin"}):
        with pytest.raises((ValueError, OverflowError)):
            linpoint.check(FINE, **options)
    with pytest.raises(TypeError, match="a type or a spec"):
        linpoint.check(FINE, type="queue", spec="queue.spec")


def test_no_operations():
    report = linpoint.check([])
    assert report.verdict == "linearizable" and "nothing was checked" in str(report)


def test_ctrl_c_ends_a_check_and_other_threads_go_on():
    counted, done = 0, threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    def interrupt():
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=count).start()
    threading.Thread(target=interrupt).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            linpoint.check(MANY, spec=Slow())
    finally:
        done.set()
    assert 0.4 < time.monotonic() - started < 20
    assert counted > 20
    # The next check is not affected.
    assert linpoint.check(FINE).verdict == "linearizable"


def test_the_lock_of_the_interpreter_is_released(command, tmp_path):
    command("generate", "--type", "cas-register", "--ops", "300000", "--processes", "20", "-o", tmp_path / "h.parquet")
    longest, done, last = 0.0, threading.Event(), time.monotonic()

    def watch():
        nonlocal longest, last
        while not done.is_set():
            time.sleep(0.001)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.monotonic()
    assert linpoint.check(tmp_path / "h.parquet").operations == 300_000
    taken = time.monotonic() - started
    done.set()
    watcher.join()
    # While it decided, this thread was never without the lock for long.
    assert longest < max(taken / 2, 0.2), (longest, taken)


def test_checks_in_a_fork_and_in_threads():
    assert linpoint.check(FINE).verdict == "linearizable"
    child = os.fork()
    if child == 0:
        os._exit(0 if linpoint.check(VIOLATION).verdict == "not linearizable" else 1)
    assert os.waitpid(child, 0)[1] == 0
    verdicts = []
    threads = [threading.Thread(target=lambda: verdicts.append(linpoint.check(VIOLATION).verdict)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == ["not linearizable"] * 8


def test_the_command(command, corpus, tmp_path):
    assert command("--version").stdout.split() == ["linpoint", linpoint.__version__]
    assert command("check", corpus / "queue-violation.jsonl").returncode == 1
    assert command("check", corpus / "register-ok.jsonl").returncode == 0
    assert command("check", tmp_path / "none").returncode == 66
    assert command("check").returncode == 64
    refused = command("check", "--json")
    assert json.loads(refused.stdout)["error"]["kind"] == "usage"
    generated = command("generate", "--type", "queue", "--ops", "50", "-o", tmp_path / "q.parquet")
    assert generated.returncode == 0, generated
    assert linpoint.check(pathlib.Path(tmp_path / "q.parquet")).operations == 50


STALE = ops((0, "write", 1, None, 0, 1), (1, "read", None, None, 2, 3))


def test_conditions(tmp_path):
    report = linpoint.check(STALE, type="register", condition=["linearizable", "sequential", "k-atomic=2"])
    assert report.verdicts == {"linearizable": "violated", "sequential": "holds", "k-atomic=2": "holds"}
    assert report.verdict == "violated"
    assert [operation["line"] for operation in report.decisions[0]["core"]] == [1, 2]
    assert "sequential: holds" in str(report)
    document = json.loads(report.to_json(tmp_path / "report.json"))
    assert document["histories"][0]["conditions"] == report.decisions
    assert json.loads((tmp_path / "report.json").read_text()) == document
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(report)
    one = linpoint.check(STALE, type="register", condition="sequential")
    assert one.verdict == "holds" and list(one.verdicts) == ["sequential"]
    linpoint.assert_linearizable(STALE, type="register", condition="sequential")
    with pytest.raises(AssertionError, match="linearizable: violated"):
        linpoint.assert_linearizable(STALE, type="register", condition="linearizable")


def test_conditions_of_several_histories(tmp_path):
    paths = []
    for name, read in (("fine", 1), ("stale", None)):
        paths.append(tmp_path / f"{name}.jsonl")
        history = ops((0, "write", 1, None, 0, 1), (1, "read", None, read, 2, 3))
        paths[-1].write_text("".join(json.dumps(op) + "\n" for op in history))
    report = linpoint.check(paths, type="register", condition=["linearizable", "sequential"])
    assert report.verdicts == {"linearizable": "violated", "sequential": "holds"}
    assert len(report.decisions) == 4


@pytest.mark.parametrize(
    "condition, options, message",
    [
        ("seqential", {}, "sequential"),
        ("k-atomic=0", {}, "k-atomic"),
        ([], {}, "names none"),
        ("serializable", {}, "linpoint check --condition serializable"),
        ("sequential", {"engine": "search"}, "engine says how linearizability is decided"),
        ("sequential", {"whole": True}, "whole says how linearizability is decided"),
    ],
)
def test_conditions_that_make_no_sense(condition, options, message):
    with pytest.raises(linpoint.UsageError, match=message):
        linpoint.check(STALE, type="register", condition=condition, **options)


def test_conditions_of_what_is_no_history():
    with pytest.raises(linpoint.MalformedError) as raised:
        linpoint.check(STALE + ops((1, "read", None, 1, 2, 3)), type="register", condition="sequential")
    assert raised.value.line is not None
