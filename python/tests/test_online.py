import threading

import linpoint
import pytest


def test_a_violation_is_told_at_its_event():
    checker = linpoint.OnlineChecker("register")
    assert checker.call("a", "write", 1) is None
    assert checker.ret("a") is None
    assert checker.call("b", "write", 2) is None
    assert checker.ret("b") is None
    assert checker.call("a", "read") is None
    finding = checker.ret("a", 1)
    assert finding.is_violation and finding.event == 6
    assert finding.operations[0]["method"] == "read" and len(finding.operations) == 3
    assert "event 5" in finding.sentence and str(finding).startswith("event 6: not linearizable from here on: ")
    assert (checker.events, checker.operations, checker.pending) == (6, 3, 0)


def test_failed_and_lost_operations():
    checker = linpoint.OnlineChecker("kv")
    checker.call(0, "put", ["k", 1])
    assert checker.fail(0) is None
    checker.call(1, "put", ["k", 2])
    assert checker.crash(1) is None
    checker.call(0, "get", "k")
    finding = checker.ret(0, 1)
    assert finding.is_violation and finding.key == "k" and finding.object is None


def test_objects_are_apart():
    checker = linpoint.OnlineChecker("register")
    checker.call(0, "write", 1, object="x")
    checker.ret(0)
    checker.call(0, "read", object="y")
    assert checker.ret(0, None) is None


def test_events_that_make_no_sense():
    checker = linpoint.OnlineChecker("register")
    with pytest.raises(linpoint.Error, match="event 1"):
        checker.ret(0, 1)
    checker.call(0, "read")
    with pytest.raises(linpoint.Error):
        checker.call(0, "read")
    with pytest.raises(linpoint.Error, match="fly"):
        checker.call(1, "fly")
    with pytest.raises(linpoint.MalformedError, match="a set is no value"):
        checker.ret(0, {1})
    assert checker.ret(0) is None


def test_types_without_a_checker():
    with pytest.raises(linpoint.UsageError):
        linpoint.OnlineChecker("bank")
    with pytest.raises(linpoint.UsageError, match="unknown type"):
        linpoint.OnlineChecker("registr")


def test_threads():
    checker = linpoint.OnlineChecker("counter")
    findings = []

    def work(process):
        for _ in range(300):
            findings.append(checker.call(process, "inc"))
            findings.append(checker.ret(process))
            try:
                checker.ret(process)
            except linpoint.Error:
                findings.append(None)

    threads = [threading.Thread(target=work, args=(process,)) for process in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert findings == [None] * 3600 and checker.operations == 1200
